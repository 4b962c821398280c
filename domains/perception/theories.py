"""Theories of perceptual decisions: how strong evidence is, how a response is decided from it, and when it is given.

The skeleton: *lean* is what one response has ahead before anything is seen; *evidence* follows from the strength of
the stimulus; *variability* says what differs between trials; *patience* says how the evidence that is required falls
while a participant waits. A *process* turns this into correct and wrong responses by bins of time, and some responses
are *lapses*.

``lean`` is the start of the evidence, from -1 (at the wrong bound) to 1, and ``near`` how far that is from a bound,
whichever response is correct; ``evidence`` and ``criterion`` add up to the drift towards the correct response. Evidence
is in units of the noise of one second. ``spread`` is the range of delays in seconds; `kit.first_passages` explains
``unevenness``, ``span`` and ``remaining``, which are None where nothing varies.

References:
    Ratcliff (1978), Psychological Review 85, 59-108; Ratcliff & McKoon (2008), Neural Computation 20, 873-922;
    Palmer, Huk & Shadlen (2005), Journal of Vision 5(5), 376-404;
    Brown & Heathcote (2008), Cognitive Psychology 57, 153-178;
    Tillman, Van Zandt & Logan (2020), Psychonomic Bulletin & Review 27, 911-936;
    Heathcote & Love (2012), Frontiers in Psychology 3, 292;
    Hawkins, Forstmann, Wagenmakers, Ratcliff & Brown (2015), Journal of Neuroscience 35, 2476-2484.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from lakatos.domains.kit.first_passages import DIFFUSION, PANELS, RACERS, WIENER
from lakatos.domains.kit.lapses import lapse
from lakatos.domains.kit.outcomes import CONTAMINATED, PASSAGES, STARTS, outcome_helpers
from lakatos.domains.kit.parameter import log_uniform, normal, uniform
from lakatos.domains.perception.task import EDGES
from lakatos.theories.language.account import Wording
from lakatos.theories.language.family import Family
from lakatos.theories.language.grammar import Composition, Grammar, Mechanism, SkeletonSlot

RATCLIFF = "Ratcliff (1978), Psychological Review 85, 59-108"
MCKOON = "Ratcliff & McKoon (2008), Neural Computation 20, 873-922"
PALMER = "Palmer, Huk & Shadlen (2005), Journal of Vision 5(5), 376-404"
NAKA = (
    "Naka & Rushton (1966), Journal of Physiology 185, 536-555; Albrecht & Hamilton (1982), Journal of "
    "Neurophysiology 48, 217-237"
)
QUICK = "Quick (1974), Kybernetik 16, 65-67 (thresholds)"
WHITE = "White & Poldrack (2014), Journal of Experimental Psychology: Learning, Memory, and Cognition 40, 385-398"
TUERLINCKX = "Ratcliff & Tuerlinckx (2002), Psychonomic Bulletin & Review 9, 438-481"
HAWKINS = "Hawkins, Forstmann, Wagenmakers, Ratcliff & Brown (2015), Journal of Neuroscience 35, 2476-2484"
CHURCHLAND = "Churchland, Kiani & Shadlen (2008), Nature Neuroscience 11, 693-702 (urgency)"
TILLMAN = "Tillman, Van Zandt & Logan (2020), Psychonomic Bulletin & Review 27, 911-936"
BROWN = "Brown & Heathcote (2008), Cognitive Psychology 57, 153-178"
LOVE = "Heathcote & Love (2012), Frontiers in Psychology 3, 292"

TIME_EDGES = '''
def time_edges(low, high, n_bins, xp):
    """Edges of bins of time, each as many times the one before, to three digits."""
    edges = low * (high / low) ** (xp.arange(1, n_bins) / n_bins)
    unit = 10.0 ** (xp.floor(xp.log10(edges)) - 2)
    return xp.concatenate([[low], xp.round(edges / unit) * unit, [high]])
'''


def grid_of(edges: Sequence[float]) -> str:
    """The first and the last edge and the number of bins, as arguments of ``time_edges``."""
    return f"{edges[0]!r}, {edges[-1]!r}, {len(edges) - 1}"


GRID = grid_of(EDGES)
EVIDENCE, SECONDS = "noise of a second, each second", "s"
HALF = "half of the bounds' distance"
RATE = log_uniform(0.1, 12.0, EVIDENCE, "evidence of the strongest stimulus")
BOUND = log_uniform(0.4, 6.0, "noise of a second", "distance of the bounds")
DELAY = uniform(0.05, 1.0, SECONDS, "what perception and movement take")
AT_BOUND = Wording(clause="respond when the evidence reaches one of two bounds")
DISTANCE = Wording(
    clause="set a distance of bounds ({bound} SDs of the noise in a second)", taken_for_granted=True
)
NEEDS_TIME = Wording(
    clause="need further time for perception and movement (about {delay} s)", taken_for_granted=True
)
GROWS = ("strength",)
LOG_NORMAL = ("process:a log-normal race",)


def _evidence(
    name: str, code: str, wording: Wording, source: str, quicker: str, **own: Any
) -> Mechanism:
    """Make the mechanism of how evidence follows from the strength of a stimulus, where 1 is the strongest one.

    Its first clause is ``quicker`` in a race of log-normal decision times, where nothing is accumulated.
    """
    return Mechanism(
        slot="evidence",
        name=name,
        code=f'evidence = parameters["rate"] * {code}',
        parameters={"rate": RATE, **own},
        wording=wording,
        beside=(LOG_NORMAL, f"decide on the correct response {quicker}"),
        repairs=GROWS,
        source=source,
        needs=("strengths",) if own else (),
    )


LEAN = (
    Mechanism(
        slot="lean",
        name="one response",
        code="""
        lean = lean + parameters["key_bias"] * side
        near = 1 - xp.abs(parameters["key_bias"])
        """,
        parameters={"key_bias": normal(0.0, 0.15, 0.8, HALF, "start towards the second response")},
        wording=Wording(
            clause="{much}begin nearer to the bound of the second response",
            clause_short="that of the second",
            opposite_clause="{much}begin nearer to the bound of the first response",
            opposite_short="that of the first",
            parameter="key_bias",
            unit=0.1,
            label="second-response bias",
            opposite_label="first-response bias",
        ),
        repairs=("side",),
        breaks=("sides",),
        needs=("keys",),
        source=MCKOON,
    ),
    Mechanism(
        slot="lean",
        name="one category",
        code='criterion = criterion + parameters["criterion"] * side',
        parameters={
            "criterion": normal(0.0, 0.5, 4.0, EVIDENCE, "evidence for the second response")
        },
        wording=Wording(
            subject="the drift",
            clause="is {much}biased towards the response to the second category",
            opposite_clause="is {much}biased towards the response to the first category",
            opposite_short="towards that to the first",
            clause_short="towards that to the second",
            parameter="criterion",
            unit=0.3,
            label="second-category bias",
            opposite_label="first-category bias",
        ),
        repairs=("side",),
        breaks=("sides",),
        needs=("keys",),
        source=f"{MCKOON}; {WHITE}",
    ),
)
STRENGTH = (
    Mechanism(
        slot="evidence",
        name="any strength",
        code='evidence = parameters["rate"] + none',
        parameters={"rate": RATE},
        wording=Wording(
            clause="accumulate evidence at the same mean rate for all stimuli (drift rate {rate} per "
            "second; noise SD 1)"
        ),
        beside=(
            LOG_NORMAL,
            "decide on the correct response more quickly, as much for all stimuli (by {rate} log units)",
        ),
        predictions=({"property": "ignores", "in": "strength"},),
        source=RATCLIFF,
    ),
    _evidence(
        "in proportion",
        "strength",
        Wording(
            clause=(
                "accumulate evidence in proportion to the strength of the stimulus "
                "(drift rate {rate} per second for the strongest; noise SD 1)"
            )
        ),
        PALMER,
        "more quickly in proportion to the strength of the stimulus (by {rate} log units for the strongest)",
    ),
    _evidence(
        "a power",
        'strength ** parameters["exponent"]',
        Wording(
            clause=(
                "accumulate evidence at a rate that is a power of the strength of the stimulus "
                "(exponent {exponent}, drift rate {rate} per second for the strongest; noise SD 1)"
            ),
            label="power law",
        ),
        PALMER,
        "more quickly by a power of the strength of the stimulus (exponent {exponent}, {rate} log units for the "
        "strongest)",
        exponent=log_uniform(0.2, 5.0, "exponent", "1: evidence is proportional to strength"),
    ),
    _evidence(
        "saturating",
        'strength * (1 + parameters["half"]) / (strength + parameters["half"])',
        Wording(
            clause=(
                "accumulate evidence at a rate that saturates with the strength of the stimulus "
                "(half-saturation at {half} times the strongest stimulus)"
            ),
            label="saturation",
        ),
        NAKA,
        "more quickly by an amount that saturates with the strength of the stimulus (half-saturation at {half} times "
        "the strongest stimulus)",
        half=log_uniform(0.02, 20.0, "share of the strongest", "strength at half of the limit"),
    ),
    _evidence(
        "beyond a threshold",
        'xp.maximum(strength - parameters["threshold"], 0.0) / (1 - parameters["threshold"])',
        Wording(
            clause="accumulate no evidence from stimuli below a sensory threshold ({threshold%} of "
            "the strongest stimulus)",
            label="sensory threshold",
        ),
        QUICK,
        "more quickly if the stimulus is stronger than a sensory threshold ({threshold%} of the strongest stimulus)",
        threshold=uniform(0.0, 0.9, "share of the strongest", "strength below which none is seen"),
    ),
)
VARIABILITY = (
    Mechanism(
        slot="variability",
        name="varying evidence",
        code='unevenness = parameters["unevenness"]',
        parameters={
            "unevenness": log_uniform(
                0.05, 4.0, EVIDENCE, "standard deviation of the evidence between trials"
            )
        },
        wording=Wording(
            clause="accumulate evidence at a rate that varies between trials (SD {unevenness})",
            label="varying evidence",
        ),
        source=f"{RATCLIFF}; {TUERLINCKX}",
    ),
    Mechanism(
        slot="variability",
        name="varying start",
        code='span = parameters["start_range"]',
        parameters={
            "start_range": uniform(
                0.0, 0.9, "share of the bounds' distance", "over which the start varies"
            )
        },
        wording=Wording(
            clause="varies {much}between trials (range {start_range%} of the distance to the bounds)",
            parameter="start_range",
            unit=0.3,
            label="varying start",
            subject="the starting point",
        ),
        source=f"{TUERLINCKX}; {BROWN}",
    ),
    Mechanism(
        slot="variability",
        name="varying delay",
        code='spread = parameters["delay_range"]',
        parameters={"delay_range": uniform(0.0, 0.6, SECONDS, "range of the delay between trials")},
        wording=Wording(
            clause="varies {much}between trials (range {delay_range} s)",
            parameter="delay_range",
            unit=0.1,
            label="varying delay",
            subject="the non-decision time",
        ),
        source=f"{MCKOON}; {TUERLINCKX}",
    ),
)


def _patience(
    name: str, left: str, parameter: str, prior: Any, clause: str, label: str, source: str
) -> Mechanism:
    """Make the mechanism of how much of the bounds' distance is left at a time; only a diffusion depends on it."""
    return Mechanism(
        slot="patience",
        name=name,
        code=f"\ndef remaining(t):\n    return {left}\n",
        parameters={parameter: prior},
        wording=Wording(clause=clause, label=label),
        rests_on=("process:diffusion",),
        source=source,
    )


PATIENCE = (
    _patience(
        "falling evenly",
        '1 - t / parameters["meeting"][..., None]',
        "meeting",
        log_uniform(0.3, 40.0, SECONDS, "when the bounds meet"),
        "lower both bounds linearly with time (to zero at {meeting} s)",
        "collapsing bounds",
        HAWKINS,
    ),
    _patience(
        "falling at first",
        '1 / (1 + t / parameters["halving"][..., None])',
        "halving",
        log_uniform(0.1, 40.0, SECONDS, "when the bounds are half as far apart"),
        "lower both bounds hyperbolically with time (to a half at {halving} s)",
        "urgency",
        CHURCHLAND,
    ),
    _patience(
        "a deadline",
        'xp.exp(-((t / parameters["deadline"][..., None]) ** 3))',
        "deadline",
        log_uniform(0.2, 20.0, SECONDS, "when a third (1/e) of the bounds' distance is left"),
        "need less evidence as a deadline approaches (about {deadline} s)",
        "deadline",
        f"{HAWKINS} (a Weibull distribution of shape 3)",
    ),
)


def _race(
    *,
    name: str,
    arrive: str,
    pace: str,
    gap: str,
    sd: str,
    near: str,
    own: Mapping[str, Any],
    **more: Any,
) -> Mechanism:
    """Accumulators of their own for both responses.

    ``arrive`` names a function of `kit.first_passages` for one's time, ``pace`` is what both rates have in common,
    ``gap`` the distance that both go, ``sd`` what varies by itself, and ``near`` a time that is short beside theirs.
    """
    code = f"""
delay = parameters["delay"]
varied = 0.0 * delay if unevenness is None else unevenness
late = 0.0 * delay if spread is None else spread
ends = panels({near}, xp.maximum(edges[-1] - delay + 0.5 * late, 0.05), xp)
t = points_of(ends, xp)

def arrive(rate, distance):
    return {arrive}(t, rate[..., None], sd[..., None], distance[..., None], xp)

sd, gap, common, lean = {sd}, {gap}, {pace}, xp.clip(lean, -0.9, 0.9)
first = common + evidence + criterion, gap * (1 - lean)
second = common - criterion, gap * (1 + lean)
racers = [at_starts(arrive, rate, distance, span, xp) for rate, distance in (first, second)]
p = decided_bins(first_of(racers, xp), edges, ends, delay, late, xp)
"""
    return Mechanism(
        slot="process", name=name, code=code, parameters={**own, "delay": DELAY}, **more
    )


BOUNDED = {"pace": 'parameters["base_rate"]', "gap": 'parameters["bound"]'}
BASE_RATE = log_uniform(0.05, 8.0, EVIDENCE, "evidence for a response whatever is seen")
PROCESS = (
    Mechanism(
        slot="process",
        name="diffusion",
        clause="weigh evidence for one response against evidence for the other until it reaches a bound",
        code="""
        start = 0.5 + 0.5 * xp.clip(lean, -0.9, 0.9)
        bound, delay = parameters["bound"], parameters["delay"]
        p = diffusion_bins(
            edges, evidence + criterion, bound, start, near, delay, spread, unevenness, span, remaining, xp
        )
        """,
        parameters={"bound": BOUND, "delay": DELAY},
        wording=(AT_BOUND, DISTANCE, NEEDS_TIME),
        source=RATCLIFF,
    ),
    _race(
        name="a race",
        arrive="noisy",
        **BOUNDED,
        sd="varied",
        near='0.03 * parameters["bound"] ** 2 / (1 + parameters["bound"] * parameters["rate"])',
        own={"bound": BOUND, "base_rate": BASE_RATE},
        wording=(
            Wording(
                clause=(
                    "add evidence to the rate of the correct response's accumulator (mean rate {base_rate} per second "
                    "without evidence), and give the response whose accumulator first reaches its bound ({bound})"
                )
            ),
            NEEDS_TIME,
        ),
        source=TILLMAN,
    ),
    _race(
        name="a race without noise",
        arrive="even_paced",
        **BOUNDED,
        sd="(1 + varied**2) ** 0.5",
        near='0.03 * parameters["bound"] / (1 + parameters["rate"])',
        own={"bound": BOUND, "base_rate": BASE_RATE},
        wording=(
            Wording(
                clause=(
                    "add evidence to the rate of the correct response's accumulator (rates are constant within a "
                    "trial, on average {base_rate} per second without evidence), and give the response whose "
                    "accumulator first reaches its bound ({bound})"
                )
            ),
            NEEDS_TIME,
        ),
        source=BROWN,
    ),
    _race(
        name="a log-normal race",
        arrive="log_normal",
        pace='-xp.log(parameters["median"])',
        gap="1.0",
        sd='(parameters["scatter_of_times"] ** 2 + varied**2) ** 0.5',
        near='0.05 * parameters["median"] / (1 + parameters["rate"])',
        own={
            "median": log_uniform(0.05, 10.0, SECONDS, "median time of the wrong response alone"),
            "scatter_of_times": log_uniform(0.05, 2.0, "log ratio", "scatter of such times"),
        },
        wording=(
            Wording(
                clause="have a log-normal decision time for each response (median {median} s for a stimulus of no "
                "strength, SD of its logarithm {scatter_of_times}), and give the response that is decided first"
            ),
            NEEDS_TIME,
        ),
        source=LOVE,
    ),
)
LAPSE = (
    lapse(
        "anything",
        'p = contaminated(p, parameters["lapse"], widths, xp)',
        "give a random response at a random time {lapse~}",
        TUERLINCKX,
        meaning="responses that have nothing to do with the trial",
        unit="share of responses",
    ),
)

HEADS = (
    (("process:diffusion", "evidence:any strength"), "Diffusion with constant drift"),
    (("process:diffusion", "patience"), "Diffusion with collapsing bounds"),
    (("process:diffusion", "variability"), "Diffusion of varying parameters"),
    (("process:diffusion",), "Diffusion"),
    (("process:a race",), "Racing diffusion"),
    (("process:a race without noise",), "Ballistic race"),
    ((), "Log-normal race"),
)

GRAMMAR = Grammar(
    domain="perception",
    slots=(
        SkeletonSlot("lean", least=0, most=2, sentence=3),
        SkeletonSlot("evidence"),
        SkeletonSlot("variability", least=0, most=3, sentence=3),
        SkeletonSlot("patience", least=0, sentence=3),
        SkeletonSlot("process", sentence=2),
        SkeletonSlot("lapse", least=0, sentence=3),
    ),
    mechanisms=(*LEAN, *STRENGTH, *VARIABILITY, *PATIENCE, *PROCESS, *LAPSE),
    heads=HEADS,
    before=f"""
        strength, side = trials["strength"][None], trials["side"][None]
        edges = time_edges({GRID}, xp)
        widths = xp.concatenate([edges[1:] - edges[:-1], edges[1:] - edges[:-1]])
        none, lean, criterion, near = 0.0 * strength, 0.0, 0.0, 1.0
        unevenness, span, spread, remaining = None, None, None, None
        """,
    after="return p",
    helpers=outcome_helpers(
        TIME_EDGES, STARTS, PASSAGES, PANELS, WIENER, DIFFUSION, RACERS, CONTAMINATED
    ),
    predictions=({"property": "ignores", "in": "sides"},),
)


def _composition(process: str = "diffusion", **slots: str | tuple[str, ...]) -> Composition:
    return Composition.of(
        {"evidence": "in proportion", "process": process, "lapse": "anything", **slots}
    )


SEEDS: Mapping[str, tuple[str, Composition]] = {
    "ddm": ("Diffusion", _composition()),
    "power_ddm": ("Diffusion with power-law evidence", _composition(evidence="a power")),
    "full_ddm": (
        "Full diffusion",
        _composition(variability=("varying evidence", "varying start", "varying delay")),
    ),
    "lba": (
        "Linear ballistic accumulators",
        _composition("a race without noise", variability="varying start"),
    ),
    "racing_diffusion": ("Racing diffusion", _composition("a race", variability="varying start")),
    "collapsing": ("Diffusion with collapsing bounds", _composition(patience="falling evenly")),
    "ratcliff": ("Diffusion of varying drift", _composition(variability="varying evidence")),
    "saturating_ddm": ("Diffusion with saturation", _composition(evidence="saturating")),
    "biased_start": ("Diffusion with a biased start", _composition(lean="one response")),
    "biased_evidence": ("Diffusion with biased evidence", _composition(lean="one category")),
    "urgency": ("Diffusion with urgency", _composition(patience="falling at first")),
    "lognormal_race": ("Log-normal race", _composition("a log-normal race")),
    "same_rate": ("Diffusion with constant drift", _composition(evidence="any strength")),
}

FAMILY = Family("perception", GRAMMAR, SEEDS)


@lru_cache(maxsize=8)
def family_within(edges: tuple[float, ...]) -> Family:
    """The theories where responses count between other times: the same texts with other bins of time."""
    if edges == EDGES:
        return FAMILY
    before = GRAMMAR.before.replace(GRID, grid_of(edges))
    return replace(FAMILY, grammar=replace(GRAMMAR, before=before))
