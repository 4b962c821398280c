"""Mechanisms for options that a researcher's file describes, written for its attributes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lakatos.domains.declared.declaration import TaskDeclaration
from lakatos.domains.declared.sources import (
    CHARNESS,
    DAWES,
    FECHNER,
    FEHR,
    HARLESS,
    HUBER,
    KEENEY,
    MAZUR,
    RUBINSTEIN,
    RUSSO,
    SIMON,
    SIMONSON,
    TVERSKY_ASPECTS,
    TVERSKY_LOSS,
    TVERSKY_ORDER,
    WEIGHT,
)
from lakatos.domains.declared.task import DeclaredDomain, TaskCue
from lakatos.domains.declared.words import (
    LOG_ODDS,
    Literal,
    _curved,
    _label,
    features,
    monotone,
    told,
)
from lakatos.domains.kit.among_several import DETERMINISTIC, LAPSE_CODE, LOGISTIC
from lakatos.domains.kit.parameter import log_uniform, normal, uniform
from lakatos.theories.language.grammar import Mechanism

MOST_REASONS = 3
"""Looked at one after another."""
BY_ORDER = ("comparison by attribute", "attraction")
"""Mechanisms that read only which of two options has more of an attribute."""
BERNOULLI = "Bernoulli (1738/1954), Econometrica 22, 23-36"


def _mechanisms(domain: DeclaredDomain) -> Iterator[Mechanism]:
    """In the grammar's order."""
    if domain.cues:
        readers = tuple(_reading(domain))
        for item in _perception(domain):
            yield replace(item, rests_on=tuple(_readers_of(domain, item, readers)))
        yield from readers
    yield Mechanism(
        "position",
        "side bias",
        "are drawn to the option in the first place",
        'evidence = evidence + parameters["first_place"][..., None] * '
        "(xp.arange(evidence.shape[-1]) == 0)",
        {"first_place": normal(0.0, 1.0, 5.0, "log odds", "pull of the first place")},
        (),
        "Nisbett & Wilson (1977), Psychological Review 84, 231-259 (position effect)",
        breaks=("sides",),
        words=(
            told("first_place", "are {much}drawn to the option in the first place",
                  "are {much}drawn away from the option in the first place", "first places", "later places"),
        ),
    )  # fmt: skip
    yield Mechanism(
        "choice", "logistic", "choose the better option the more often, the stronger the evidence",
        LOGISTIC, {}, (), f"Luce (1959), Individual choice behavior; {KEENEY}",
        words=(
            {"says": "choose the better option the more often, the stronger the evidence", "plain": True},
        ),
    )  # fmt: skip
    yield Mechanism(
        "choice", "deterministic",
        "always choose the option for which the evidence speaks, and any of the best when several are",
        DETERMINISTIC, {}, (), HARLESS, predictions=({"property": "deterministic"},), is_null=True,
        words=(
            {"says": "choose the option for which the evidence speaks, by however little, and any of the best where "
             "several are"},
        ),
    )  # fmt: skip
    yield Mechanism(
        "lapse", "random", "now and then choose at random", LAPSE_CODE,
        {"lapse": uniform(0.0, 0.4, "share of choices", "choices made without looking")},
        (), HARLESS, words=({"says": "{lapse~} choose at random ({lapse%} of the time)"},),
        is_null=True,
    )  # fmt: skip


def _reading(domain: DeclaredDomain) -> Iterator[Mechanism]:
    """What may read the attributes as they are perceived."""
    yield from _additive(domain)
    yield from _comparing(domain)
    yield from _of_kinds(domain.task)
    if len(domain.options) > 2:
        yield from _context(domain)
    yield from _screening(domain)


def _readers_of(
    domain: DeclaredDomain, perceived: Mechanism, readers: Sequence[Mechanism]
) -> Iterator[str]:
    """Mechanisms whose outcome hangs on what a mechanism of perception changes, each ``slot:mechanism``.

    Accounts of what attributes mean together read the trials themselves. Those that go by the order of options on an
    attribute alone see no difference between perceptions that keep it.
    """
    variables = [f"x_{cue.name}" for cue in domain.cues]
    changed = [name for name in variables if re.search(rf"(?m)^{name} = ", perceived.code)]
    keeps_order = perceived.name != "small differences ignored"
    for item in readers:
        reads = any(re.search(rf"\b{name}\b", item.code) for name in changed)
        if reads and not (keeps_order and item.name in BY_ORDER):
            yield f"{item.slot}:{item.name}"


# Perception -----------------------------------------------------------------------------------


RELATIVE = """
low = {x}.min(axis=-1)[..., None]
range_ = {x}.max(axis=-1)[..., None] - low
{x} = ({x} - low) / xp.where(range_ > 0, range_, 1.0)
""".strip()
REFERENCE = """
beyond = {x} - {x}.mean(axis=-1)[..., None]
{x} = xp.where(beyond < 0, parameters["loss_aversion"][..., None], 1.0) * beyond
""".strip()
CURVED = '{x} = xp.maximum({x}, 1e-12) ** parameters["curvature"][..., None]'
NOTICED = """
best = {x}.max(axis=-1)[..., None]
alike = best - {x} <= parameters["noticeable"][..., None]
{x} = xp.where(alike, best, {x})
""".strip()


def _for_each(cues: Sequence[TaskCue], code: str) -> str:
    """Code that is written once for each cue; ``{x}`` stands for its variable."""
    return "\n".join(code.format(x=f"x_{cue.name}") for cue in cues)


def _perception(domain: DeclaredDomain) -> Iterator[Mechanism]:
    """How cues are seen beside one another; words of a category are as they are."""
    numeric = [cue for cue in domain.cues if cue.word is None]
    if not numeric:
        return
    answers = features(numeric, "spread", "level", "difference")
    yield Mechanism(
        "perception", "relative to the range",
        "see each attribute relative to its range among the options at hand",
        _for_each(numeric, RELATIVE), {}, answers,
        "Parducci (1965), Psychological Review 72, 407-418; Soltani, De Martino & Camerer (2012), PLoS "
        "Computational Biology 8, e1002607",
    )  # fmt: skip
    aversion = "weight of what lies below the mean over that of what lies above"
    mean = "take the mean of the options at hand for a reference, and feel what lies"
    yield Mechanism(
        "perception", "reference point", f"{mean} below otherwise than what lies above",
        _for_each(numeric, REFERENCE), {"loss_aversion": log_uniform(0.2, 6.0, "ratio", aversion)},
        answers, TVERSKY_LOSS,
        words=(
            {
                "says": f"{mean} below {{far}}more than what lies above",
                "opposite": f"{mean} above {{far}}more than what lies below",
                "by": "loss_aversion", "null": 1.0, "unit": 0.4, "ratio": True,
                "label": "loss aversion", "opposite_label": "gain seeking",
            },
        ),
    )  # fmt: skip
    exponent = uniform(0.2, 3.0, "exponent", "1: each step alike; below 1: diminishing")
    yield Mechanism(
        "perception", "curved", "feel each further step of an attribute less than the one before, or more",
        _for_each(numeric, CURVED), {"curvature": exponent}, answers,
        f"{BERNOULLI}; {FECHNER}", words=(_curved("curvature"),),
    )  # fmt: skip
    threshold = uniform(0.0, 0.6, "share of the range", "largest difference that is not noticed")
    yield Mechanism(
        "perception", "small differences ignored",
        "take options that differ little from the best on an attribute for equal to it",
        _for_each(numeric, NOTICED), {"noticeable": threshold}, answers, RUBINSTEIN,
        words=(
            {"says": "take options that differ little from the best on an attribute ({noticeable%} of its range) for "
             "equal to it", "label": "ignored differences"},
        ),
    )  # fmt: skip
    ratios = [cue for cue in numeric if domain.task.attributes[cue.attribute].lowest > 0]
    if ratios:
        yield Mechanism(
            "perception", "ratios", "see how many times as much there is, not how much more",
            "\n".join(_as_ratio(domain.task, cue) for cue in ratios), {},
            features(ratios, "spread", "level", "difference"),
            f"Weber (1834), De pulsu, resorptione, auditu et tactu; {FECHNER}",
        )  # fmt: skip


def _as_ratio(task: TaskDeclaration, cue: TaskCue) -> str:
    """A cue as the share of the way from its lowest to its highest number in ratios; 1 is the best as before."""
    attribute = task.attributes[cue.attribute]
    low, high = attribute.lowest, attribute.highest
    array = f'trials["{cue.attribute}"]'
    above = f"{high:.10g} / {array}" if attribute.sign < 0 else f"{array} / {low:.10g}"
    return f"x_{cue.name} = xp.log({above}) / xp.log({high / low:.3g})"


# Evaluation -----------------------------------------------------------------------------------


def _weight(cue: TaskCue) -> dict[str, Literal]:
    """Prior of the weight of a cue."""
    if cue.is_directed:
        return {f"{cue.name}_weight": log_uniform(0.05, 60.0, WEIGHT, f"weight of {cue.aim}")}
    return {f"{cue.name}_weight": normal(0.0, 4.0, 40.0, WEIGHT, f"taste for {cue.aim}")}


def _weight_words(cue: TaskCue) -> Literal:
    """How a weight is told."""
    shows = f"{cue.name}_difference"
    if cue.is_directed:
        return {
            "says": f"{{much}}prefer {cue.aim}",
            "by": f"{cue.name}_weight",
            "unit": LOG_ODDS,
            "shows": shows,
        }
    return told(
        f"{cue.name}_weight", f"{{much}}prefer {cue.aim}", f"{{much}}avoid {cue.aim}",
        _label(cue.aim), _label(f"no {cue.noun}" if cue.word is not None else f"a low {cue.noun}"), shows,
    )  # fmt: skip


def _weighted(cues: Sequence[TaskCue]) -> str:
    return "\n".join(
        f'evidence = evidence + parameters["{cue.name}_weight"][..., None] * x_{cue.name}'
        for cue in cues
    )


def _additive(domain: DeclaredDomain) -> Iterator[Mechanism]:
    cues = domain.cues
    directed = [cue for cue in cues if cue.is_directed]
    if len(cues) > 1:
        yield Mechanism(
            "evaluation",
            "weighted adding",
            "weigh every attribute and add up",
            _weighted(cues),
            {name: prior for cue in cues for name, prior in _weight(cue).items()},
            features(cues, "difference"),
            KEENEY,
            predictions=tuple(monotone(domain, directed)),
            words=tuple(_weight_words(cue) for cue in cues),
        )
    for cue in cues:
        others = [name for name in domain.task.attributes if name != cue.attribute]
        yield Mechanism(
            "evaluation",
            f"{cue.name} alone",
            f"look for {cue.aim} and nothing else",
            _weighted([cue]),
            _weight(cue),
            features([cue], "difference"),
            "Gigerenzer & Goldstein (1996), Psychological Review 103, 650-669 (one reason)",
            predictions=(
                *monotone(domain, [cue] * cue.is_directed),
                *({"property": "ignores", "in": name} for name in others),
            ),
            words=(_weight_words(cue),),
        )
    if len(directed) > 1:
        yield Mechanism(
            "evaluation",
            "equal weights",
            "give every attribute the same weight and add up",
            f'evidence = evidence + parameters["sensitivity"][..., None] * '
            f"({' + '.join(f'x_{cue.name}' for cue in directed)})",
            {"sensitivity": log_uniform(0.05, 60.0, WEIGHT, "how strongly the sum counts")},
            (*features(directed, "difference"), "total_difference"),
            DAWES,
            predictions=tuple(monotone(domain, directed)),
        )


def _comparing(domain: DeclaredDomain) -> Iterator[Mechanism]:
    cues = domain.cues
    directed = [cue for cue in cues if cue.is_directed]
    yield Mechanism(
        "evaluation",
        "comparison by attribute",
        "compare options attribute by attribute, and weigh on each how many they beat, not by how much",
        "def beaten(x):\n"
        "    return xp.sign(x[..., :, None] - x[..., None, :]).sum(axis=-1) / (x.shape[-1] - 1)\n"
        + "\n".join(
            f'evidence = evidence + parameters["{cue.name}_weight"][..., None] * beaten(x_{cue.name})'
            for cue in cues
        ),
        {name: prior for cue in cues for name, prior in _weight(cue).items()},
        features(cues, "difference"),
        RUSSO,
        predictions=tuple(monotone(domain, directed)),
        words=tuple(_weight_words(cue) for cue in cues),
    )
    if can_eliminate(cues):
        yield _elimination(cues)


def can_eliminate(cues: Sequence[TaskCue]) -> bool:
    """Whether there are aspects to choose from."""
    return sum(cue.is_directed or cue.word is not None for cue in cues) > 1


def _elimination(cues: Sequence[TaskCue]) -> Mechanism:
    """One aspect after another, drawn by its weight."""
    used = [cue for cue in cues if cue.is_directed or cue.word is not None]
    aspects, priors = [], {}
    for cue in used:
        enough = f"{cue.name}_enough"
        if cue.is_directed:
            aspects.append(f'1.0 * (x_{cue.name} >= parameters["{enough}"][..., None])')
            priors[enough] = uniform(
                0.05, 0.95, "share of the range", f"from where on an option has {cue.aim}"
            )
        else:
            aspects.append(f"x_{cue.name} + 0.0 * evidence")
    weights = [f"{cue.name}_first" for cue in used[1:]]
    for cue in used[1:]:
        meaning = f"how much sooner than {used[0].aim}: {cue.aim}"
        priors[f"{cue.name}_first"] = log_uniform(0.02, 50.0, "ratio", meaning)
    listed = ", ".join(f'parameters["{name}"]' for name in weights)
    return Mechanism(
        "evaluation",
        "elimination by aspects",
        "look for one aspect at a time, the more important the sooner, and drop the options that do not have it",
        f"aspects = [{', '.join(aspects)}]\n"
        f"weights = [1.0, {listed}]\n"
        "evidence = evidence + xp.log(xp.maximum(eliminate(aspects, weights, xp), 1e-12))",
        priors,
        features(used, "difference"),
        TVERSKY_ASPECTS,
    )


def _of_kinds(task: TaskDeclaration) -> Iterator[Mechanism]:
    """Accounts of what attributes of certain kinds mean together."""
    own, other = task.of_kind("own"), task.of_kind("other")
    if own and other:
        yield from _social(task, own, other)
    amount = task.of_kind("amount")
    if not amount:
        return
    size = max(abs(task.attributes[amount].lowest), abs(task.attributes[amount].highest))
    sign = "-" if task.attributes[amount].sign < 0 else ""
    money = f'{sign}trials["{amount}"] / {size:.10g}'
    sensitivity = {"sensitivity": log_uniform(0.05, 60.0, "log odds", "how strongly it counts")}
    if chance := task.of_kind("probability"):
        yield Mechanism(
            "evaluation",
            "expected utility",
            "multiply the amount, as it is felt, by its probability",
            f"amount = {money}\n"
            'felt = xp.sign(amount) * xp.maximum(xp.abs(amount), 1e-12) ** parameters["utility"][..., None]\n'
            f'evidence = evidence + parameters["sensitivity"][..., None] * felt * trials["{chance}"]',
            sensitivity
            | {
                "utility": uniform(0.2, 3.0, "exponent", "1: each unit alike; below 1: diminishing")
            },
            (f"{amount}_difference", f"{chance}_difference", "expected_value_difference"),
            BERNOULLI,
            words=(_curved("utility"),),
        )
    if delay := task.of_kind("delay"):
        longest = task.attributes[delay].highest
        yield Mechanism(
            "evaluation",
            "hyperbolic discounting",
            "take an amount for the smaller, the longer they wait for it",
            f"amount = {money}\n"
            f'wait = 1.0 + parameters["impatience"][..., None] * trials["{delay}"] / {longest:.10g}\n'
            'evidence = evidence + parameters["sensitivity"][..., None] * amount / wait',
            sensitivity
            | {
                "impatience": log_uniform(
                    0.01, 100.0, "per longest delay", "how fast amounts lose worth"
                )
            },
            (f"{amount}_difference", f"{delay}_difference"),
            MAZUR,
        )


def _social(task: TaskDeclaration, own: str, other: str) -> Iterator[Mechanism]:
    """Accounts of one's own and somebody else's payoff."""
    span = task.attributes[own].highest - task.attributes[own].lowest
    payoffs = f'mine, theirs = trials["{own}"] / {span:.10g}, trials["{other}"] / {span:.10g}\n'
    prior = log_uniform(
        0.05, 60.0, "log odds over the range of one's own payoff", "how strongly it counts"
    )
    yield Mechanism(
        "evaluation",
        "inequality aversion",
        "weigh their own payoff, and how much more or less the other gets",
        payoffs + 'worth = mine - parameters["envy"][..., None] * xp.maximum(theirs - mine, 0.0)\n'
        'worth = worth - parameters["guilt"][..., None] * xp.maximum(mine - theirs, 0.0)\n'
        'evidence = evidence + parameters["sensitivity"][..., None] * worth',
        {
            "sensitivity": prior,
            "envy": normal(0.0, 1.0, 6.0, "own payoff", "cost of each unit that the other has more"),
            "guilt": normal(0.0, 1.0, 6.0, "own payoff", "cost of each unit that the other has less"),
        },
        (f"{own}_difference", f"{other}_difference", "envy_difference", "guilt_difference"),
        FEHR,
        words=(
            {"says": "{much}prefer a high payoff for themselves", "by": "sensitivity", "unit": LOG_ODDS},
            told("envy", "{much}dislike getting less than the other", "{much}like getting less than the other",
                  "envy", "self-denial", unit=0.25),
            told("guilt", "{much}dislike getting more than the other", "{much}like getting more than the other",
                  "guilt", "spite", unit=0.25),
        ),
    )  # fmt: skip
    yield Mechanism(
        "evaluation",
        "total and worst off",
        "weigh their own payoff, the sum for both, and what the worse off gets",
        payoffs + 'worth = mine + parameters["total"][..., None] * (mine + theirs)\n'
        'worth = worth + parameters["worst_off"][..., None] * xp.minimum(mine, theirs)\n'
        'evidence = evidence + parameters["sensitivity"][..., None] * worth',
        {
            "sensitivity": prior,
            "total": normal(0.0, 1.0, 6.0, "own payoff", "worth of a unit for either of both"),
            "worst_off": normal(0.0, 1.0, 6.0, "own payoff", "worth of a unit for the worse off"),
        },
        (f"{own}_difference", f"{other}_difference", "envy_difference", "guilt_difference"),
        CHARNESS,
        words=(
            {"says": "{much}prefer a high payoff for themselves", "by": "sensitivity", "unit": LOG_ODDS},
            told("total", "{much}like a large sum for both", "{much}dislike a large sum for both",
                  "efficiency", "waste", unit=0.25),
            told("worst_off", "{much}care for the worse off", "{much}grudge the worse off what they get",
                  "care", "disregard", unit=0.25),
        ),
    )  # fmt: skip


# Context, screening ---------------------------------------------------------------------------


SIMILARITY = """
seen = xp.stack([{stacked}], axis=-1)
apart = xp.abs(seen[..., :, None, :] - seen[..., None, :, :]).mean(axis=-1)
itself = xp.arange(apart.shape[-1])[:, None] == xp.arange(apart.shape[-1])
nearest = xp.where(itself, 1e9, apart).min(axis=-1)
evidence = evidence + parameters["distinctness"][..., None] * nearest
""".strip()
COMPROMISE = """
middle = 0.5 * ({{x}}.max(axis=-1) + {{x}}.min(axis=-1))[..., None]
evidence = evidence - parameters["compromise"][..., None] * xp.abs({{x}} - middle) / {n_cues}
""".strip()
ATTRACTION = """
def one_to_one(x, least):
    difference = x[..., :, None] - x[..., None, :]
    return 1.0 * (difference >= -1e-12) if least else 1.0 * (xp.abs(difference) < 1e-12)
better = {better}
beats = better * (1.0 - better.swapaxes(-1, -2))
evidence = evidence + parameters["attraction"][..., None] * (beats.sum(axis=-1) > 0)
""".strip()


def _context(domain: DeclaredDomain) -> Iterator[Mechanism]:
    """What options of a menu of three or more do to each other."""
    cues, every = domain.cues, tuple(domain.task.attributes)
    breaks = tuple(word for name in every for word in (name, f"ignores {name}"))
    stacked = ", ".join(f"x_{cue.name} + 0.0 * evidence" for cue in cues)
    yield Mechanism(
        "context", "similarity", "find an option less attractive where another one is like it",
        SIMILARITY.format(stacked=stacked),
        {"distinctness": normal(0.0, 4.0, 40.0, WEIGHT, "worth of being unlike the nearest option")},
        ("middling",), f"{TVERSKY_ASPECTS} (similarity effect)", breaks=breaks,
        words=(
            told("distinctness", "find an option {far}less attractive where another one is like it",
                  "find an option {far}more attractive where another one is like it", "distinctness", "likeness"),
        ),
    )  # fmt: skip
    yield Mechanism(
        "context", "compromise", "are drawn to options that lie in the middle of what is on offer",
        _for_each(cues, COMPROMISE.format(n_cues=len(cues))),
        {"compromise": normal(0.0, 4.0, 40.0, WEIGHT, "worth of lying in the middle")},
        ("middling",), SIMONSON, breaks=breaks,
        words=(
            told("compromise", "are {much}drawn to options in the middle of what is on offer",
                  "are {much}drawn to extreme options", "compromise", "extremes", "middling"),
        ),
    )  # fmt: skip
    directed = [f"one_to_one(x_{cue.name}, 1.0)" for cue in cues if cue.is_directed]
    if not directed:
        return
    equal = [f"(one_to_one(x_{cue.name}, 0.0))" for cue in cues if not cue.is_directed]
    yield Mechanism(
        "context", "attraction", "are drawn to an option that is better than another one whatever one's taste",
        ATTRACTION.format(better=" * ".join([*directed, *equal])),
        {"attraction": normal(0.0, 2.0, 20.0, "log odds", "worth of being better than a decoy")},
        ("dominating",), HUBER, breaks=breaks,
        words=(
            told("attraction", "are {much}drawn to an option that beats another one whatever one's taste",
                  "are {much}drawn away from an option that beats another one whatever one's taste",
                  "attraction", "repulsion", "dominating"),
        ),
    )  # fmt: skip


def _screening(domain: DeclaredDomain) -> Iterator[Mechanism]:
    """Options that are left out, in the order of the attributes."""
    for cue in domain.cues:
        # Of three options, one that is raised may take out the rival of a third one.
        several = tuple(domain.task.attributes) if len(domain.options) > 2 else ()
        breaks = tuple({*several, f"ignores {cue.attribute}"})
        if cue.word is not None:
            yield Mechanism(
                "screening", f"{cue.name} first", f"look only at options with {cue.aim} if there are any left",
                f"best = xp.where(kept > 0, x_{cue.name}, -1e9).max(axis=-1)[..., None]\n"
                f"kept = kept * (x_{cue.name} >= best)",
                {}, features([cue], "difference"), TVERSKY_ORDER, breaks=breaks,
                words=({"says": f"look only at options with {cue.aim} if there are any left",
                        "label": f"{_label(cue.noun)} screening", "turns": True},),
            )  # fmt: skip
            continue
        ends = (("highest", ""), ("lowest", "-")) if not cue.is_directed else (("best", ""),)
        for end, sign in ends:
            yield _about_the_best(cue, end, sign, breaks)
        if cue.is_directed:
            yield Mechanism(
                "screening",
                f"{cue.name} good enough",
                f"look at all options with {cue.aim} that is good enough, or where there are none at the best",
                f"best = xp.where(kept > 0, x_{cue.name}, -1e9).max(axis=-1)[..., None]\n"
                f'kept = kept * (x_{cue.name} >= xp.minimum(parameters["{cue.name}_aspiration"][..., None], best))',
                {
                    f"{cue.name}_aspiration": uniform(
                        0.0, 1.0, "share of the range", f"how good {cue.aim} must be"
                    )
                },
                features([cue], "difference", "level"),
                SIMON,
                breaks=breaks,
                words=(
                    {"says": f"look at all options with {cue.aim} that is good enough "
                     f"({{{cue.name}_aspiration%}} of the range), or where there are none at the best",
                     "label": "good-enough screening", "turns": True},
                ),
            )  # fmt: skip


def _about_the_best(cue: TaskCue, end: str, sign: str, breaks: tuple[str, ...]) -> Mechanism:
    """One step of a lexicographic order."""
    name = f"{cue.name}_noticeable" if end != "lowest" else f"{cue.name}_noticed"
    says = f"look only at the options with about the {end} {cue.noun}"
    return Mechanism(
        "screening",
        f"{cue.name} {end}",
        says,
        f"own = {sign}x_{cue.name}\n"
        "best = xp.where(kept > 0, own, -1e9).max(axis=-1)[..., None]\n"
        f'kept = kept * (own >= best - parameters["{name}"][..., None])',
        {
            name: log_uniform(
                0.001, 1.0, "share of the range", f"largest difference in {cue.noun} not noticed"
            )
        },
        features([cue], "difference"),
        TVERSKY_ORDER,
        breaks=breaks if end != "lowest" else (*breaks, cue.attribute),
        words=(
            {"says": f"{says}, among which they do not notice differences up to ({{{name}%}}) of its range",
             "label": f"{cue.name.replace('_', ' ')} screening", "turns": True},
        ),
    )  # fmt: skip
