"""Theories of answers in conflict: evidence for the right answer gathers while a distractor pulls elsewhere.

The skeleton: *habit* is what keys and repetitions do before anything is seen; *control* is what a conflict or an error
in the trial before changes; *clearness* says whether evidence is as clear in all trials; *patience* says how the
evidence that is asked for falls while somebody waits. A *process* turns this into right and wrong answers by bins of
time, and some answers are *lapses*.

``conflict`` is 1 where the distractor suggests the right answer, -1 where it suggests another, ``(n_draws or 1,
n_trials)``. ``lean`` is the start of the evidence, from -1 (at the wrong bound) to 1; ``caution`` multiplies the
distance of bounds, ``clarity`` the evidence; ``late`` is added to the delay, in seconds. Evidence is in units of the
noise of one second; the delay is what seeing and pressing take, with a logistic distribution. ``span`` is the share of
the bounds' distance over which the start varies between trials, ``remaining`` a function of time, the share of that
distance which is left then; None where nothing varies.

References:
    Ulrich, Schröter, Leuthold & Birngruber (2015), Cognitive Psychology 78, 148-174;
    White, Ratcliff & Starns (2011), Cognitive Psychology 63, 210-238;
    Hübner, Steinhauser & Lehle (2010), Psychological Review 117, 759-784;
    Brown & Heathcote (2008), Cognitive Psychology 57, 153-178;
    Tillman, Van Zandt & Logan (2020), Psychonomic Bulletin & Review 27, 911-936;
    Hawkins, Forstmann, Wagenmakers, Ratcliff & Brown (2015), Journal of Neuroscience 35, 2476-2484.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from math import ceil
from typing import Any

from lakatos.domains.attention.task import EDGES
from lakatos.domains.kit.lapses import lapse
from lakatos.domains.kit.outcomes import (
    CHANGING_DRIFT,
    EX_GAUSSIAN,
    RACE,
    SHIFTED_WALD,
    outcome_helpers,
)
from lakatos.domains.kit.parameter import log_uniform, normal, uniform
from lakatos.theories.language.account import Wording
from lakatos.theories.language.family import Family
from lakatos.theories.language.grammar import Composition, Grammar, Mechanism, SkeletonSlot

RATCLIFF = "Ratcliff (1978), Psychological Review 85, 59-108"
ULRICH = "Ulrich, Schröter, Leuthold & Birngruber (2015), Cognitive Psychology 78, 148-174"
WHITE = "White, Ratcliff & Starns (2011), Cognitive Psychology 63, 210-238"
HUBNER = "Hübner, Steinhauser & Lehle (2010), Psychological Review 117, 759-784"
MCKOON = "Ratcliff & McKoon (2008), Neural Computation 20, 873-922"
HEATHCOTE = "Heathcote, Popiel & Mewhort (1991), Psychological Bulletin 109, 340-347"
BOTVINICK = (
    "Botvinick, Braver, Barch, Carter & Cohen (2001), Psychological Review 108, 624-652; "
    "Gratton, Coles & Donchin (1992), Journal of Experimental Psychology: General 121, 480-506"
)
NEGLECT = (
    "Kane & Engle (2003), Journal of Experimental Psychology: General 132, 47-70 (goal neglect)"
)
BERTELSON = "Bertelson (1965), Science 150, 217-218 (repetitions)"
DUTILH = (
    "Dutilh, Vandekerckhove, Forstmann, Keuleers, Brysbaert & Wagenmakers (2012), Attention, Perception, & "
    "Psychophysics 74, 454-465"
)
NOTEBAERT = "Notebaert, Houtman, Van Opstal, Gevers, Fias & Verguts (2009), Cognition 111, 275-279"
TUERLINCKX = "Ratcliff & Tuerlinckx (2002), Psychonomic Bulletin & Review 9, 438-481"
HAWKINS = "Hawkins, Forstmann, Wagenmakers, Ratcliff & Brown (2015), Journal of Neuroscience 35, 2476-2484"
CHURCHLAND = "Churchland, Kiani & Shadlen (2008), Nature Neuroscience 11, 693-702 (urgency)"
TILLMAN = "Tillman, Van Zandt & Logan (2020), Psychonomic Bulletin & Review 27, 911-936"
BROWN = "Brown & Heathcote (2008), Cognitive Psychology 57, 153-178"

HELPERS = '''
def distinct(seen, xp):
    """Trials that differ in what a theory looks at, and which of them each trial is, so that none is followed twice."""
    table = xp.stack([item[0] for item in seen], axis=-1)
    _, rows, place = xp.unique(table, axis=0, return_index=True, return_inverse=True)
    return rows, place.reshape(-1)


def mean_between(moved, begin, end):
    """What has been moved between two times, for each second."""
    return (moved(end) - moved(begin)) / (end - begin)


def described_bins(edges, odds, mean, sd, tail, wrong_tail, span, remaining, xp):
    """Right and wrong answers, times of both ex-Gaussian, of answers between the first and the last edge.

    ``odds`` are the log odds of being right; a start that varies adds to them, and they fall with what remains.
    """
    odds = odds[..., None]
    if remaining is not None:
        odds = odds * xp.clip(remaining(0.5 * (edges[1:] + edges[:-1])), 0.05, 1.0)
    right = sum(
        share * 0.5 * (1 + xp.tanh(0.5 * (odds + at)))
        for at, share in (((0.0, 1.0),) if span is None else three_leans(span[..., None]))
    )
    def bins(slow):
        below = ex_gaussian(edges, mean[..., None], sd[..., None], slow[..., None], xp)
        return xp.maximum(below[..., 1:] - below[..., :-1], 0.0)
    p = xp.concatenate([right * bins(tail), (1 - right) * bins(wrong_tail)], axis=-1) + 1e-300
    return p / p.sum(axis=-1)[..., None]


def three_leans(span):
    """Log odds of starts that vary evenly over a share of the bounds' distance, and their weights (Gauss-Legendre)."""
    away = 2 * 0.6**0.5 * span
    return ((-away, 5 / 18), (0.0, 4 / 9), (away, 5 / 18))


def guesses(n_answers, widths, xp):
    """Bins of answers that have nothing to do with the trial: any key at any time."""
    at_any_time = widths / widths.sum() + 0.0 * n_answers[..., None]
    right = (1 / n_answers)[..., None]
    return xp.concatenate([right * at_any_time, (1 - right) * at_any_time], axis=-1)


def exchanged(p, xp):
    """Right and wrong answers in each other's place."""
    n = p.shape[-1] // 2
    return xp.concatenate([p[..., n:], p[..., :n]], axis=-1)
'''
EVIDENCE, SECONDS = "noise of a second, each second", "s"
SHARED: Mapping[str, Mapping[str, Any]] = {
    "bound": log_uniform(0.5, 2.5, "noise of a second", "distance of the bounds"),
    "delay": uniform(0.05, 0.8, SECONDS, "what seeing and pressing take"),
    "delay_spread": log_uniform(0.01, 0.2, SECONDS, "scale of how that varies between trials"),
}
RATE = log_uniform(0.2, 8.0, EVIDENCE, "evidence for the right answer")
DIFFUSION = """
rows, place = distinct(seen, xp)
conflict, lean, caution, clarity, late = (item[..., rows] for item in (conflict, lean, caution, clarity, late))
p = changing_drift_bins(
    edges, evidence, parameters["bound"] * caution, 0.5 + 0.5 * xp.clip(lean, -0.9, 0.9),
    parameters["delay"] + late, parameters["delay_spread"], unevenness, xp, span, remaining
)[..., place, :]
"""
RIVALS = """
rows, place = distinct(seen, xp)
conflict, lean, caution, clarity, late = (item[..., rows] for item in (conflict, lean, caution, clarity, late))
times, lean, keys = race_times(xp), xp.clip(lean, -0.9, 0.9), n_answers[..., rows]
gap, pull = parameters["bound"] * caution, parameters["interference"]
runners = (
    (clarity * (parameters["rate"] + pull * xp.maximum(conflict, 0.0)), gap * (1 - lean)),
    (clarity * (parameters["wrong_rate"] + pull * xp.maximum(-conflict, 0.0)), gap * (1 + lean)),
    (clarity * parameters["wrong_rate"] + 0.0 * conflict, gap * (1 + lean)),
)
below = [arrive(drift, distance) for drift, distance in runners]
# of two keys there is one wrong one: the third never arrives
below[2] = below[2] * (keys - 2)[..., None]
p = race_bins(edges, times, below, parameters["delay"] + late, parameters["delay_spread"], xp)[..., place, :]
"""
CONFLICT = ("congruence",)
NEEDS_TIME = Wording(
    clause="need further time for perception and movement (about {delay} s)", taken_for_granted=True
)
GATHERS = (
    Wording(
        clause="accumulate evidence for the response to the target and press a key when it reaches one of two bounds",
    ),
    Wording(
        clause="set a distance of bounds ({bound} SDs of the noise in a second) and accumulate evidence at a mean rate "
        "({rate} such SDs per second)",
        taken_for_granted=True,
    ),
    NEEDS_TIME,
)
FROM_BOTH = Wording(
    clause="accumulate evidence {far}more quickly if the distractor suggests the correct response",
    clause_short="more quickly",
    opposite_clause="accumulate evidence {far}more slowly if the distractor suggests the correct response",
    opposite_short="more slowly",
    parameter="interference",
    unit=0.4,
    label="interference",
    opposite_label="contrast",
)
RACED = replace(
    FROM_BOTH,
    clause="accumulate evidence {far}more quickly for the response that the distractor suggests",
    opposite_clause="accumulate evidence {far}more slowly for the response that the distractor suggests",
)


def _process(*, evidence: str, own: Mapping[str, Mapping[str, Any]], **more: Any) -> Mechanism:
    """A diffusion between two bounds; ``evidence`` is the body of a function of two times."""
    lines = "\n".join(f"    {line.strip()}" for line in evidence.strip().splitlines())
    code = f"\ndef evidence(begin, end):\n{lines}\n{DIFFUSION}"
    return Mechanism(slot="process", code=code, parameters={**own, **SHARED}, **more)


HABIT = (
    Mechanism(
        slot="habit",
        name="one key",
        code="""
        lean, seen = lean + parameters["key_bias"] * side, [*seen, side]
        """,
        parameters={
            "key_bias": normal(
                0.0, 0.15, 0.8, "half of the bounds' distance", "start towards the right key"
            )
        },
        wording=Wording(
            clause="start {far}closer to the bound for the key on the right",
            clause_short="closer to that for the key on the right",
            opposite_clause="start {far}closer to the bound for the key on the left",
            opposite_short="closer to that for the key on the left",
            parameter="key_bias",
            unit=0.1,
            label="right-key bias",
            opposite_label="left-key bias",
        ),
        repairs=("side",),
        breaks=("sides",),
        needs=("keys",),
        source=MCKOON,
    ),
    Mechanism(
        slot="habit",
        name="the last key",
        code="""
        same = repeats - later * (1 - repeats) / (n_answers - 1)
        lean, seen = lean + parameters["repetition"] * same, [*seen, repeats, later]
        """,
        parameters={
            "repetition": normal(
                0.0, 0.15, 0.8, "half of the bounds' distance", "start towards the last key"
            )
        },
        wording=Wording(
            clause="{much}favour the key that they pressed last",
            opposite_clause="{much}disfavour the key that they pressed last",
            parameter="repetition",
            unit=0.1,
            label="repetition",
            opposite_label="alternation",
        ),
        repairs=("repeats",),
        breaks=("repeats",),
        needs=("keys",),
        source=BERTELSON,
    ),
    Mechanism(
        slot="habit",
        name="quick repetitions",
        code="""
        late, seen = late - parameters["saving"] * repeats, [*seen, repeats]
        """,
        parameters={"saving": normal(0.0, 0.05, 0.3, SECONDS, "time saved")},
        wording=Wording(
            clause="are {far}quicker to repeat their last response",
            opposite_clause="are {far}slower to repeat their last response",
            parameter="saving",
            unit=0.03,
            label="quick repetitions",
            opposite_label="slow repetitions",
        ),
        repairs=("repeats",),
        breaks=("repeats",),
        needs=("keys",),
        source=BERTELSON,
    ),
    Mechanism(
        slot="habit",
        name="now this, now that",
        code='span = parameters["start_range"]',
        parameters={
            "start_range": uniform(
                0.0, 0.9, "share of the bounds' distance", "over which the start varies"
            )
        },
        wording=Wording(
            clause=(
                "vary from trial to trial in their starting point (range {start_range%} of "
                "the distance to the bound)"
            ),
            parameter="start_range",
            unit=0.3,
            label="varying start",
        ),
        source=f"{TUERLINCKX}; {BROWN}",
    ),
)
CONTROL = (
    Mechanism(
        slot="control",
        name="after conflict",
        code="""
        conflict = conflict * (1 - parameters["adaptation"] * after_conflict)
        seen = [*seen, after_conflict]
        """,
        parameters={
            "adaptation": normal(
                0.0, 0.3, 1.5, "share", "part of the distractor's effect that is missing then"
            )
        },
        wording=Wording(
            clause="are {far}less influenced by the distractor after an incongruent trial",
            opposite_clause="are {far}more influenced by the distractor after an incongruent trial",
            parameter="adaptation",
            unit=0.3,
            label="adaptation",
            opposite_label="exhaustion",
        ),
        repairs=("congruence_after_conflict",),
        breaks=("previous_congruence",),
        source=BOTVINICK,
    ),
    Mechanism(
        slot="control",
        name="caution after errors",
        code="""
        caution, seen = caution * xp.exp(parameters["post_error_caution"] * after_error), [*seen, after_error]
        """,
        parameters={
            "post_error_caution": normal(
                0.0, 0.1, 0.7, "log ratio", "how much further the bounds are apart then"
            )
        },
        wording=Wording(
            clause="require {far}more evidence after an error",
            opposite_clause="require {far}less evidence after an error",
            parameter="post_error_caution",
            unit=0.1,
            label="post-error caution",
            opposite_label="post-error haste",
        ),
        repairs=("after_error",),
        breaks=("previous_error",),
        source=DUTILH,
    ),
    Mechanism(
        slot="control",
        name="distraction after errors",
        code="""
        clarity, seen = clarity * xp.exp(-parameters["distraction"] * after_error), [*seen, after_error]
        """,
        parameters={
            "distraction": normal(
                0.0, 0.2, 1.5, "log ratio", "how much slower evidence gathers then"
            )
        },
        wording=Wording(
            clause="accumulate evidence {far}more slowly after an error",
            opposite_clause="accumulate evidence {far}faster after an error",
            parameter="distraction",
            unit=0.2,
            label="post-error distraction",
            opposite_label="post-error focus",
        ),
        repairs=("after_error",),
        breaks=("previous_error",),
        source=NOTEBAERT,
    ),
    Mechanism(
        slot="control",
        name="pause after errors",
        code="""
        late, seen = late + parameters["pause"] * after_error, [*seen, after_error]
        """,
        parameters={"pause": normal(0.0, 0.05, 0.4, SECONDS, "time added")},
        wording=Wording(
            clause="begin to accumulate evidence {far}later after an error",
            opposite_clause="begin to accumulate evidence {far}sooner after an error",
            parameter="pause",
            unit=0.03,
            label="post-error pauses",
            opposite_label="post-error hurry",
        ),
        repairs=("after_error",),
        breaks=("previous_error",),
        source=NOTEBAERT,
    ),
)
CLEARNESS = (
    Mechanism(
        slot="clearness",
        name="varying",
        code='unevenness = parameters["unevenness"]',
        parameters={
            "unevenness": log_uniform(
                0.05, 4.0, EVIDENCE, "standard deviation of the evidence between trials"
            )
        },
        wording=Wording(
            clause=(
                "accumulate evidence at a rate that varies between trials (SD {unevenness} per second)"
            ),
            label="varying clearness",
        ),
        source=f"{RATCLIFF}; {TUERLINCKX}",
    ),
)
PATIENCE = (
    Mechanism(
        slot="patience",
        name="falling evenly",
        code="""
        def remaining(t):
            return 1 - t / parameters["meeting"][..., None]
        """,
        parameters={"meeting": log_uniform(0.3, 20.0, SECONDS, "when the bounds meet")},
        wording=Wording(
            clause="lower both bounds linearly with time (to zero at {meeting} s)",
            label="collapsing bounds",
        ),
        source=HAWKINS,
    ),
    Mechanism(
        slot="patience",
        name="falling at first",
        code="""
        def remaining(t):
            return 1 / (1 + t / parameters["halving"][..., None])
        """,
        parameters={
            "halving": log_uniform(0.1, 20.0, SECONDS, "when the bounds are half as far apart")
        },
        wording=Wording(
            clause=("lower both bounds hyperbolically with time (to a half at {halving} s)"),
            label="early collapsing bounds",
        ),
        source=CHURCHLAND,
    ),
    Mechanism(
        slot="patience",
        name="a deadline",
        code="""
        def remaining(t):
            return xp.exp(-((t / parameters["deadline"][..., None]) ** 3))
        """,
        parameters={
            "deadline": log_uniform(
                0.2, 10.0, SECONDS, "when a third (1/e) of the bounds' distance is left"
            )
        },
        wording=Wording(
            clause="need less evidence as a deadline approaches (about {deadline} s)",
            label="deadline",
        ),
        source=f"{HAWKINS} (a Weibull distribution of shape 3)",
    ),
)


def _race(*, arrive: str, unit: str, **more: Any) -> Mechanism:
    """Accumulators of their own for each key; ``arrive`` gives one's distribution function of time."""
    lines = "\n".join(f"    {line.strip()}" for line in arrive.strip().splitlines())
    own = {
        "rate": log_uniform(0.2, 8.0, unit, "evidence for the right answer"),
        "wrong_rate": log_uniform(0.05, 8.0, unit, "evidence for each wrong answer"),
        "interference": normal(
            0.0, 0.5, 4.0, unit, "what the distractor adds to the answer that it suggests"
        ),
    }
    return Mechanism(
        slot="process",
        code=f"\ndef arrive(drift, distance):\n{lines}\n{RIVALS}",
        parameters={**own, **SHARED},
        repairs=CONFLICT,
        breaks=("congruence",),
        **more,
    )


PROCESS = (
    _process(
        name="without conflict",
        evidence="""
        steady = clarity * parameters["rate"] + 0.0 * conflict
        return steady[..., None] + 0.0 * begin
        """,
        own={"rate": RATE},
        wording=(
            *GATHERS,
            Wording(
                clause="accumulate evidence for the correct response, whatever the distractor suggests"
            ),
        ),
        source=RATCLIFF,
    ),
    _process(
        name="evidence from both",
        clause="accumulate evidence from target and distractor throughout the trial",
        evidence="""
        steady = clarity * (parameters["rate"] + parameters["interference"] * conflict)
        return steady[..., None] + 0.0 * begin
        """,
        own={
            "rate": RATE,
            "interference": normal(
                0.0, 0.5, 4.0, EVIDENCE, "what the distractor adds where it agrees"
            ),
        },
        wording=(*GATHERS, FROM_BOTH),
        repairs=CONFLICT,
        breaks=("congruence",),
        source=MCKOON,
    ),
    _process(
        name="a pull that fades",
        evidence="""
        fade = parameters["fade"][..., None]
        size = (0.5 * parameters["bound"] * parameters["pull"] * conflict)[..., None]
        steady = (clarity * parameters["rate"])[..., None]
        return steady + mean_between(lambda t: size * t / fade * xp.exp(1 - t / fade), begin, end)
        """,
        own={
            "rate": RATE,
            "pull": normal(
                0.0, 0.2, 0.6, "half of the bounds' distance", "how far the distractor pulls"
            ),
            "fade": log_uniform(0.03, 1.0, SECONDS, "when the pull is strongest"),
        },
        wording=(
            *GATHERS,
            Wording(
                clause=(
                    "are {much}drawn to the distractor's response by an influence that peaks "
                    "(about {fade} s after onset) and then decays"
                ),
                opposite_clause=(
                    "are {much}driven away from the distractor's response by an influence that "
                    "peaks (about {fade} s after onset) and then decays"
                ),
                parameter="pull",
                unit=0.1,
                label="pull",
                opposite_label="push",
            ),
        ),
        repairs=CONFLICT,
        breaks=("congruence",),
        source=ULRICH,
    ),
    _process(
        name="a narrowing spotlight",
        evidence="""
        narrowing = parameters["narrowing"][..., None]
        outside = parameters["capture"][..., None] * narrowing
        elsewhere = mean_between(lambda t: -outside * xp.exp(-t / narrowing), begin, end)
        mixed = 1 - elsewhere * (1 - conflict[..., None])
        return (clarity * parameters["rate"])[..., None] * mixed
        """,
        own={
            "rate": RATE,
            "capture": uniform(
                0.0, 1.0, "share", "part of the evidence that is the distractor's at first"
            ),
            "narrowing": log_uniform(
                0.03, 3.0, SECONDS, "time in which that falls to a third (1/e)"
            ),
        },
        wording=(
            *GATHERS,
            Wording(
                clause=(
                    "attend to the distractor at first ({capture%} of the evidence) and narrow "
                    "their attention to the target (within about {narrowing} s)"
                ),
                parameter="capture",
                unit=0.3,
            ),
        ),
        repairs=CONFLICT,
        breaks=("congruence",),
        source=f"{WHITE} (the spotlight's tails taken as an exponential)",
    ),
    _process(
        name="a late selection",
        clause=(
            "accumulate evidence from target and distractor until they have selected the "
            "target, and then from the target alone"
        ),
        evidence="""
        both = (clarity * (parameters["rate"] + parameters["interference"] * conflict))[..., None]
        alone = (clarity * parameters["selected_rate"])[..., None]
        early = xp.clip((parameters["selection"][..., None] - begin) / (end - begin), 0.0, 1.0)
        return both * early + alone * (1 - early)
        """,
        own={
            "rate": RATE,
            "interference": normal(
                0.0, 0.5, 4.0, EVIDENCE, "what the distractor adds where it agrees"
            ),
            "selected_rate": log_uniform(0.2, 8.0, EVIDENCE, "evidence of the target alone"),
            "selection": log_uniform(0.05, 1.0, SECONDS, "when the target is selected"),
        },
        wording=(
            *GATHERS,
            FROM_BOTH,
            Wording(
                clause="accumulate evidence from the target alone once it is selected (after about {selection} s)"
            ),
        ),
        repairs=CONFLICT,
        breaks=("congruence",),
        source=f"{HUBNER} (the selection at a fixed time)",
    ),
    Mechanism(
        slot="process",
        name="description",
        clause="are slower and less accurate on incongruent trials",
        code="""
        odds = clarity * caution * parameters["accuracy"] + parameters["accuracy_effect"] * conflict + 2 * lean
        mean = parameters["time"] * caution + late - parameters["slowing"] * conflict
        sd, tail = parameters["time_sd"] + 0.0 * mean, parameters["tail"] + 0.0 * mean
        wrong_tail = tail if unevenness is None else tail * (1 + unevenness)
        p = described_bins(edges, odds, mean, sd, tail, wrong_tail, span, remaining, xp)
        """,
        parameters={
            "accuracy": uniform(0.0, 8.0, "log odds", "of being right"),
            "accuracy_effect": normal(
                0.0, 0.5, 4.0, "log odds", "what the distractor adds where it agrees"
            ),
            "time": uniform(0.2, 1.5, SECONDS, "mean of the normal part of the time"),
            "slowing": normal(
                0.0, 0.03, 0.4, SECONDS, "time that the distractor takes where it disagrees"
            ),
            "time_sd": log_uniform(0.02, 0.5, SECONDS, "standard deviation of that part"),
            "tail": log_uniform(0.02, 1.5, SECONDS, "mean of the exponential part"),
        },
        wording=(
            Wording(
                clause="are {far}slower on incongruent trials",
                opposite_clause="are {far}faster on incongruent trials",
                parameter="slowing",
                unit=0.03,
                label="slowing",
                opposite_label="speeding",
            ),
            Wording(
                clause="are {far}less accurate on incongruent trials",
                opposite_clause="are {far}more accurate on incongruent trials",
                parameter="accuracy_effect",
                unit=0.4,
                label="errors",
                opposite_label="fewer errors",
            ),
            Wording(
                clause="have ex-Gaussian response times (mean of the normal part about {time} s, of "
                "the exponential part "
                "about {tail} s)"
            ),
        ),
        repairs=CONFLICT,
        breaks=("congruence",),
        source=HEATHCOTE,
    ),
    _race(
        name="a race",
        arrive="return arrivals(times, drift, distance, span, unevenness, remaining, xp)",
        unit=EVIDENCE,
        wording=(
            Wording(
                clause=(
                    "accumulate evidence for each response separately (mean rate {wrong_rate} per second for a "
                    "wrong one, {rate} for the correct one) and make the response that "
                    "first reaches its bound (threshold {bound})"
                )
            ),
            RACED,
            NEEDS_TIME,
        ),
        source=TILLMAN,
    ),
    _race(
        name="a race without noise",
        arrive="""
        varied = 1.0 if unevenness is None else (1 + unevenness[..., None] ** 2) ** 0.5
        started = 0.0 if span is None else span[..., None]
        left = 1.0 if remaining is None else xp.clip(remaining(times), 0.05, 1.0)
        wanted = distance[..., None] * left + 0.0 * times
        # bounds fall by as much for every start
        return ballistic(times, drift[..., None], varied, wanted, started / left, xp)
        """,
        unit="standard deviation of the pace between trials",
        wording=(
            Wording(
                clause=(
                    "accumulate evidence for each response at a rate that is constant within a trial (on average "
                    "{rate} per second for the correct one, {wrong_rate} for a wrong one) and make the response that "
                    "first reaches its bound (threshold {bound})"
                )
            ),
            RACED,
            NEEDS_TIME,
        ),
        source=BROWN,
    ),
)
LAPSE = (
    Mechanism(
        slot="lapse",
        name="the distractor's answer",
        code="""
        neglect = parameters["neglect"] * (congruence == -1)
        p = p + neglect[..., None] * (exchanged(p, xp) - p)
        """,
        parameters={"neglect": uniform(0.0, 1.0, "share of answers", "answers to the distractor")},
        wording=Wording(
            clause="respond to the distractor instead of the target {neglect~}",
            label="goal neglect",
        ),
        repairs=CONFLICT,
        breaks=("congruence",),
        source=NEGLECT,
    ),
    lapse(
        "anything",
        'p = p + parameters["lapse"][..., None] * (guesses(n_answers, widths, xp) - p)',
        "press a random key at a random time {lapse~}",
        TUERLINCKX,
        meaning="answers that have nothing to do with the trial",
    ),
)

HEADS = (
    (("process:evidence from both", "lapse:the distractor's answer"), "Goal neglect"),
    (("process:evidence from both",), "Diffusion"),
    (("process:a pull that fades",), "Conflict diffusion"),
    (("process:a narrowing spotlight",), "Narrowing spotlight"),
    (("process:a late selection",), "Late selection"),
    (("process:description",), "Ex-Gaussian times"),
    (("process:a race",), "Racing diffusion"),
    (("process:a race without noise",), "Ballistic race"),
    ((), "Diffusion without conflict"),
)

GRAMMAR = Grammar(
    domain="attention",
    slots=(
        SkeletonSlot("habit", least=0, most=2, sentence=3),
        SkeletonSlot("control", least=0, most=3, sentence=2),
        SkeletonSlot("clearness", least=0, sentence=3),
        SkeletonSlot("patience", least=0, sentence=3),
        SkeletonSlot("process"),
        SkeletonSlot("lapse", least=0, most=2, sentence=3),
    ),
    mechanisms=(*HABIT, *CONTROL, *CLEARNESS, *PROCESS, *LAPSE, *PATIENCE),
    heads=HEADS,
    before=f"""
        congruence, side = trials["congruence"][None], trials["side"][None]
        n_answers, later = trials["n_answers"][None], trials["has_previous"][None]
        repeats, after_error = trials["repeats"][None], trials["previous_error"][None]
        after_conflict = 1.0 * (trials["previous_congruence"][None] == -1)
        edges = xp.array({list(EDGES)})
        widths = edges[1:] - edges[:-1]
        conflict, none, unevenness, span, remaining = 1.0 * congruence, 0.0 * congruence, None, None, None
        lean, caution, clarity, late = none, 1.0 + none, 1.0 + none, none
        seen = [congruence, n_answers]
        """,
    after="return p",
    helpers=outcome_helpers(CHANGING_DRIFT, EX_GAUSSIAN, SHIFTED_WALD, RACE, HELPERS),
    predictions=(
        {"property": "ignores", "in": "sides"},
        {"property": "ignores", "in": "congruence"},
        {"property": "ignores", "in": "previous_congruence"},
        {"property": "ignores", "in": "previous_error"},
        {"property": "ignores", "in": "repeats"},
    ),
)


def _composition(process: str, **slots: str | tuple[str, ...]) -> Composition:
    return Composition.of({"process": process, "lapse": "anything", **slots})


SEEDS: Mapping[str, tuple[str, Composition]] = {
    "steady": ("Diffusion without conflict", _composition("without conflict")),
    "ratcliff": (
        "Diffusion of varying drift",
        _composition("evidence from both", clearness="varying"),
    ),
    "fading_pull": ("Conflict diffusion", _composition("a pull that fades")),
    "spotlight": ("Narrowing spotlight", _composition("a narrowing spotlight")),
    "late_selection": ("Late selection", _composition("a late selection")),
    "adapting_pull": (
        "Conflict diffusion that adapts",
        _composition("a pull that fades", control="after conflict"),
    ),
    "goal_neglect": (
        "Goal neglect",
        _composition("evidence from both", lapse=("the distractor's answer", "anything")),
    ),
    "ex_gaussian": ("Ex-Gaussian times", _composition("description")),
    "full_diffusion": (
        "Diffusion with varying start",
        _composition("evidence from both", clearness="varying", habit="now this, now that"),
    ),
    "impatient": (
        "Diffusion with collapsing bounds",
        _composition("evidence from both", patience="falling evenly"),
    ),
    "racing_diffusion": (
        "Racing diffusion",
        _composition("a race", habit="now this, now that"),
    ),
    "ballistic": (
        "Linear ballistic accumulators",
        _composition("a race without noise", habit="now this, now that"),
    ),
}

FAMILY = Family("attention", GRAMMAR, SEEDS)


@lru_cache(maxsize=8)
def family_within(edges: tuple[float, ...]) -> Family:
    """The theories where responses count between other times: the same texts with other bins of time."""
    if edges == EDGES:
        return FAMILY
    n_late = max(20, ceil((edges[-1] - 1.0) / 0.1))
    grammar = replace(
        GRAMMAR,
        before=GRAMMAR.before.replace(f"{list(EDGES)}", f"{list(edges)}"),
        helpers=GRAMMAR.helpers.replace("xp.arange(1, 21)", f"xp.arange(1, {n_late + 1})"),
    )
    return replace(FAMILY, grammar=grammar)
