"""Mechanisms for options that a researcher's file describes, written for its attributes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, permutations

from lakatos.domains.declared.declaration import TaskDeclaration
from lakatos.domains.declared.sources import (
    ANDERSON,
    CHARNESS,
    COOMBS,
    DAWES,
    FECHNER,
    FEHR,
    HARLESS,
    HUBER,
    KEENEY,
    LIMIT,
    MAZUR,
    RUBINSTEIN,
    RUSSO,
    SIMON,
    SIMONSON,
    STEPHENS,
    TVERSKY_ASPECTS,
    TVERSKY_LOSS,
    TVERSKY_ORDER,
    WEIGHT,
)
from lakatos.domains.declared.task import DeclaredDomain, TaskCue
from lakatos.domains.declared.words import (
    Literal,
    features,
    label_of,
    monotone,
)
from lakatos.domains.kit.among_several import DETERMINISTIC, LAPSE_CODE, LOGISTIC
from lakatos.domains.kit.parameter import LOG_ODDS, log_uniform, normal, uniform
from lakatos.theories.language.account import Wording
from lakatos.theories.language.grammar import Mechanism

MOST_REASONS = 3
"""Most reasons that are looked at one after another."""
MOST_COMBINED = 4
"""Attributes, the first ones, of which products and rates are formed."""
BY_ORDER = ("comparison by attribute", "attraction")
"""Mechanisms that read only which of two options has more of an attribute."""
BERNOULLI = "Bernoulli (1738/1954), Econometrica 22, 23-36"


def _mechanisms(domain: DeclaredDomain) -> Iterator[Mechanism]:
    """All mechanisms in the grammar's order."""
    if domain.cues:
        readers = tuple(_reading(domain))
        for item in _perception(domain):
            yield replace(item, rests_on=tuple(_readers_of(domain, item, readers)))
        yield from readers
    yield Mechanism(
        slot="position",
        name="side bias",
        code='evidence = evidence + parameters["first_place"][..., None] * '
        "(xp.arange(evidence.shape[-1]) == 0)",
        parameters={"first_place": normal(0.0, 1.0, 5.0, "log odds", "pull of the first place")},
        wording=Wording(
            clause="are {much}drawn to the option in the first place",
            opposite_clause="are {much}drawn away from the option in the first place",
            parameter="first_place",
            unit=LOG_ODDS,
            label="first places",
            opposite_label="later places",
        ),
        breaks=("sides",),
        needs=("sides",),
        source="Nisbett & Wilson (1977), Psychological Review 84, 231-259 (position effect)",
    )
    yield Mechanism(
        slot="choice",
        name="logistic",
        code=LOGISTIC,
        wording=Wording(
            clause="choose the better option more often, the stronger the evidence",
            taken_for_granted=True,
        ),
        source=f"Luce (1959), Individual choice behavior; {KEENEY}",
    )
    yield Mechanism(
        slot="choice",
        name="deterministic",
        code=DETERMINISTIC,
        clause=(
            "choose the best option, however small the difference, and "
            "guess among the best if there are several"
        ),
        predictions=({"property": "deterministic"},),
        is_null=True,
        source=HARLESS,
    )
    yield Mechanism(
        slot="lapse",
        name="random",
        code=LAPSE_CODE,
        parameters={"lapse": uniform(0.0, 0.4, "share of choices", "lapse rate")},
        wording=Wording(clause="choose at random {lapse~}"),
        is_null=True,
        source=HARLESS,
    )


def _reading(domain: DeclaredDomain) -> Iterator[Mechanism]:
    """Yield mechanisms that may read the attributes as they are perceived."""
    yield from _additive(domain)
    yield from _comparing(domain)
    yield from _of_kinds(domain.task)
    yield from _further(domain)
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


def _curved(parameter: str) -> Wording:
    """An exponent that bends nothing at 1."""
    return Wording(
        clause="value each further step {far}more than the one before",
        opposite_clause="value each further step {far}less than the one before",
        parameter=parameter,
        neutral=1.0,
        unit=0.4,
        log_ratio=True,
        label="increasing returns",
        opposite_label="diminishing returns",
    )


def _perception(domain: DeclaredDomain) -> Iterator[Mechanism]:
    """Yield mechanisms of how cues are seen beside one another; words of a category are as they are."""
    numeric = [cue for cue in domain.cues if cue.word is None]
    if not numeric:
        return
    repairs = features(numeric, "spread", "level", "difference")
    yield Mechanism(
        slot="perception",
        name="relative to the range",
        clause="see each attribute relative to its range among the options at hand",
        code=_for_each(numeric, RELATIVE),
        repairs=repairs,
        source="Parducci (1965), Psychological Review 72, 407-418; Soltani, De Martino & Camerer (2012), PLoS "
        "Computational Biology 8, e1002607",
    )
    aversion = "weight of what lies below the mean over that of what lies above"
    mean = "take the mean of the options at hand for a reference, and feel what lies"
    yield Mechanism(
        slot="perception",
        name="reference point",
        code=_for_each(numeric, REFERENCE),
        parameters={"loss_aversion": log_uniform(0.2, 6.0, "ratio", aversion)},
        wording=Wording(
            clause=f"{mean} below {{far}}more than what lies above",
            opposite_clause=f"{mean} above {{far}}more than what lies below",
            parameter="loss_aversion",
            neutral=1.0,
            unit=0.4,
            log_ratio=True,
            label="loss aversion",
            opposite_label="gain seeking",
        ),
        repairs=repairs,
        source=TVERSKY_LOSS,
    )
    exponent = uniform(0.2, 3.0, "exponent", "1: each step alike; below 1: diminishing")
    yield Mechanism(
        slot="perception",
        name="curved",
        code=_for_each(numeric, CURVED),
        parameters={"curvature": exponent},
        wording=_curved("curvature"),
        repairs=repairs,
        source=f"{BERNOULLI}; {FECHNER}",
    )
    threshold = uniform(0.0, 0.6, "share of the range", "largest difference that is not noticed")
    yield Mechanism(
        slot="perception",
        name="small differences ignored",
        code=_for_each(numeric, NOTICED),
        parameters={"noticeable": threshold},
        wording=Wording(
            clause="take options that differ little from the best on an attribute ({noticeable%} of its range) for "
            "equal to it",
            label="ignored differences",
        ),
        repairs=repairs,
        source=RUBINSTEIN,
    )
    ratios = [cue for cue in numeric if domain.task.attributes[cue.attribute].lowest > 0]
    if ratios:
        yield Mechanism(
            slot="perception",
            name="ratios",
            clause="compare the ratios of magnitudes, not their differences",
            code="\n".join(_as_ratio(domain.task, cue) for cue in ratios),
            repairs=features(ratios, "spread", "level", "difference"),
            source=f"Weber (1834), De pulsu, resorptione, auditu et tactu; {FECHNER}",
        )


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
    return {f"{cue.name}_weight": normal(0.0, 4.0, LIMIT, WEIGHT, f"taste for {cue.aim}")}


def _weight_wording(cue: TaskCue) -> Wording:
    """Make the wording of what a weight makes people do."""
    prefer = Wording(
        clause=f"{{much}}prefer {cue.aim}",
        parameter=f"{cue.name}_weight",
        unit=LOG_ODDS,
        feature=f"{cue.name}_difference",
    )
    if cue.is_directed:
        return prefer
    less = f"no {cue.noun}" if cue.word is not None else f"a low {cue.noun}"
    return replace(
        prefer,
        opposite_clause=f"{{much}}avoid {cue.aim}",
        label=label_of(cue.aim),
        opposite_label=label_of(less),
    )


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
            slot="evaluation",
            name="weighted adding",
            clause="weigh every attribute and add up",
            code=_weighted(cues),
            parameters={name: prior for cue in cues for name, prior in _weight(cue).items()},
            wording=tuple(_weight_wording(cue) for cue in cues),
            repairs=features(cues, "difference"),
            predictions=tuple(monotone(domain, directed)),
            source=KEENEY,
        )
    for cue in cues:
        others = [name for name in domain.task.attributes if name != cue.attribute]
        yield Mechanism(
            slot="evaluation",
            name=f"{cue.name} alone",
            clause=f"look only for {cue.aim}",
            code=_weighted([cue]),
            parameters=_weight(cue),
            wording=_weight_wording(cue),
            repairs=features([cue], "difference"),
            predictions=(
                *monotone(domain, [cue] * cue.is_directed),
                *({"property": "ignores", "in": name} for name in others),
            ),
            source="Gigerenzer & Goldstein (1996), Psychological Review 103, 650-669 (one reason)",
        )
    if len(directed) > 1:
        yield Mechanism(
            slot="evaluation",
            name="equal weights",
            clause="give every attribute the same weight and add up",
            code=f'evidence = evidence + parameters["sensitivity"][..., None] * '
            f"({' + '.join(f'x_{cue.name}' for cue in directed)})",
            parameters={
                "sensitivity": log_uniform(0.05, 60.0, WEIGHT, "how strongly the sum counts")
            },
            repairs=(*features(directed, "difference"), "total_difference"),
            predictions=tuple(monotone(domain, directed)),
            source=DAWES,
        )


def _further(domain: DeclaredDomain) -> Iterator[Mechanism]:
    """Reasons that lie in no attribute by itself: an ideal level, two of them together, one per unit of another.

    They read the trials themselves, whatever is perceived.
    """
    numeric = [cue for cue in domain.cues if cue.word is None]
    for cue in numeric:
        if not cue.is_directed:
            yield _ideal_level(domain.task, cue)
    for first, second in combinations(numeric[:MOST_COMBINED], 2):
        yield _both_together(first, second)
    for over, under in permutations(numeric[:MOST_COMBINED], 2):
        attribute = domain.task.attributes[under.attribute]
        if attribute.lowest > 0 and domain.task.attributes[over.attribute].lowest >= 0:
            yield _rate(domain.task, over, under)


def _ideal_level(task: TaskDeclaration, cue: TaskCue) -> Mechanism:
    """Neither too little nor too much of an attribute."""
    attribute = task.attributes[cue.attribute]
    low, high = attribute.lowest, attribute.highest
    ideal, weight = f"ideal_{cue.name}", f"{cue.name}_ideal_weight"
    unit = f" {attribute.unit}" if attribute.unit else ""
    return Mechanism(
        slot="further",
        name=f"ideal {cue.name}",
        code=f'away = xp.abs(trials["{cue.attribute}"] - parameters["{ideal}"][..., None]) / {high - low:.10g}\n'
        f'evidence = evidence - parameters["{weight}"][..., None] * away',
        parameters={
            ideal: uniform(low, high, attribute.unit or "units", f"{cue.noun} that is liked best"),
            weight: log_uniform(0.2, 60.0, WEIGHT, f"how strongly another {cue.noun} counts"),
        },
        wording=Wording(
            clause=f"{{much}}prefer an ideal level of {cue.noun} (about {{{ideal}}}{unit}) to less and to more",
            parameter=weight,
            unit=LOG_ODDS,
            label=f"an ideal {cue.noun}",
        ),
        repairs=features([cue], "difference", "level", "spread"),
        breaks=(cue.attribute, f"ignores {cue.attribute}"),
        source=COOMBS,
    )


def _both_together(first: TaskCue, second: TaskCue) -> Mechanism:
    """The product of two attributes, each as a share of its range."""
    parameter = f"{first.name}_with_{second.name}"
    nouns = label_of(first.noun), label_of(second.noun)
    return _of_two(
        (first, second),
        name=f"{first.name} with {second.name}",
        code=f'evidence = evidence + parameters["{parameter}"][..., None] * ({first.code}) * ({second.code})',
        prior={
            parameter: normal(
                0.0,
                4.0,
                LIMIT,
                "log odds for both at their ends",
                f"{first.aim} and {second.aim} at once",
            )
        },
        which=f"options that have both {first.aim} and {second.aim}",
        labels=(f"{nouns[0]} times {nouns[1]}", f"{nouns[0]} against {nouns[1]}"),
        source=ANDERSON,
    )


def _rate(task: TaskDeclaration, over: TaskCue, under: TaskCue) -> Mechanism:
    """One attribute for each unit of another."""
    highest = task.attributes[over.attribute].highest / task.attributes[under.attribute].lowest
    parameter = f"{over.name}_per_{under.name}"
    label = f"{label_of(over.noun)} per {label_of(under.noun)}"
    return _of_two(
        (over, under),
        name=f"{over.name} per {under.name}",
        code=f'rate = trials["{over.attribute}"] / trials["{under.attribute}"] / {highest:.10g}\n'
        f'evidence = evidence + parameters["{parameter}"][..., None] * rate',
        prior={
            parameter: normal(
                0.0,
                4.0,
                LIMIT,
                "log odds for the highest rate",
                f"much {over.noun} for each {under.noun}",
            )
        },
        which=f"options with more {over.noun} for each unit of {under.noun}",
        labels=(label, f"little {label}"),
        source=STEPHENS,
    )


def _of_two(
    cues: tuple[TaskCue, TaskCue],
    *,
    name: str,
    code: str,
    prior: dict[str, Literal],
    which: str,
    labels: tuple[str, str],
    source: str,
) -> Mechanism:
    """A reason that lies in two attributes together and attracts or repels; ``which`` says which options have it."""
    (parameter,) = prior
    attributes = [cue.attribute for cue in cues]
    return Mechanism(
        slot="further",
        name=name,
        code=code,
        parameters=prior,
        wording=Wording(
            clause=f"{{much}}prefer {which}",
            opposite_clause=f"{{much}}avoid {which}",
            parameter=parameter,
            unit=LOG_ODDS,
            label=labels[0],
            opposite_label=labels[1],
        ),
        repairs=features(cues, "difference"),
        breaks=(*attributes, *(f"ignores {attribute}" for attribute in attributes)),
        source=source,
    )


def _comparing(domain: DeclaredDomain) -> Iterator[Mechanism]:
    cues = domain.cues
    directed = [cue for cue in cues if cue.is_directed]
    yield Mechanism(
        slot="evaluation",
        name="comparison by attribute",
        clause="compare options attribute by attribute, and weigh on each how many they beat, not by how much",
        code="def beaten(x):\n"
        "    return xp.sign(x[..., :, None] - x[..., None, :]).sum(axis=-1) / (x.shape[-1] - 1)\n"
        + "\n".join(
            f'evidence = evidence + parameters["{cue.name}_weight"][..., None] * beaten(x_{cue.name})'
            for cue in cues
        ),
        parameters={name: prior for cue in cues for name, prior in _weight(cue).items()},
        wording=tuple(_weight_wording(cue) for cue in cues),
        repairs=features(cues, "difference"),
        predictions=tuple(monotone(domain, directed)),
        source=RUSSO,
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
        slot="evaluation",
        name="elimination by aspects",
        clause="look for one aspect at a time, important ones first, and drop the options that do not have it",
        code=f"aspects = [{', '.join(aspects)}]\n"
        f"weights = [1.0, {listed}]\n"
        "evidence = evidence + xp.log(xp.maximum(eliminate(aspects, weights, xp), 1e-12))",
        parameters=priors,
        repairs=features(used, "difference"),
        source=TVERSKY_ASPECTS,
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
            slot="evaluation",
            name="expected utility",
            clause="multiply the utility of the amount by its probability",
            code=f"amount = {money}\n"
            'felt = xp.sign(amount) * xp.maximum(xp.abs(amount), 1e-12) ** parameters["utility"][..., None]\n'
            f'evidence = evidence + parameters["sensitivity"][..., None] * felt * trials["{chance}"]',
            parameters=sensitivity
            | {
                "utility": uniform(0.2, 3.0, "exponent", "1: each unit alike; below 1: diminishing")
            },
            wording=_curved("utility"),
            repairs=(f"{amount}_difference", f"{chance}_difference", "expected_value_difference"),
            source=BERNOULLI,
        )
    if delay := task.of_kind("delay"):
        longest = task.attributes[delay].highest
        yield Mechanism(
            slot="evaluation",
            name="hyperbolic discounting",
            clause="discount an amount more, the longer its delay",
            code=f"amount = {money}\n"
            f'wait = 1.0 + parameters["impatience"][..., None] * trials["{delay}"] / {longest:.10g}\n'
            'evidence = evidence + parameters["sensitivity"][..., None] * amount / wait',
            parameters=sensitivity
            | {
                "impatience": log_uniform(
                    0.01, 100.0, "per longest delay", "how fast amounts lose worth"
                )
            },
            repairs=(f"{amount}_difference", f"{delay}_difference"),
            source=MAZUR,
        )


def _social(task: TaskDeclaration, own: str, other: str) -> Iterator[Mechanism]:
    """Accounts of one's own and somebody else's payoff."""
    span = task.attributes[own].highest - task.attributes[own].lowest
    payoffs = f'mine, theirs = trials["{own}"] / {span:.10g}, trials["{other}"] / {span:.10g}\n'
    prior = log_uniform(
        0.05, 60.0, "log odds over the range of one's own payoff", "how strongly it counts"
    )
    yield Mechanism(
        slot="evaluation",
        name="inequality aversion",
        clause="weigh their own payoff, and how much more or less the other gets",
        code=payoffs
        + 'worth = mine - parameters["envy"][..., None] * xp.maximum(theirs - mine, 0.0)\n'
        'worth = worth - parameters["guilt"][..., None] * xp.maximum(mine - theirs, 0.0)\n'
        'evidence = evidence + parameters["sensitivity"][..., None] * worth',
        parameters={
            "sensitivity": prior,
            "envy": normal(
                0.0, 1.0, 6.0, "own payoff", "cost of each unit that the other has more"
            ),
            "guilt": normal(
                0.0, 1.0, 6.0, "own payoff", "cost of each unit that the other has less"
            ),
        },
        wording=(
            Wording(
                clause="{much}prefer a high payoff for themselves",
                parameter="sensitivity",
                unit=LOG_ODDS,
            ),
            Wording(
                clause="{much}dislike getting less than the other",
                opposite_clause="{much}like getting less than the other",
                parameter="envy",
                unit=0.25,
                label="envy",
                opposite_label="self-denial",
            ),
            Wording(
                clause="{much}dislike getting more than the other",
                opposite_clause="{much}like getting more than the other",
                parameter="guilt",
                unit=0.25,
                label="guilt",
                opposite_label="spite",
            ),
        ),
        repairs=(f"{own}_difference", f"{other}_difference", "envy_difference", "guilt_difference"),
        source=FEHR,
    )
    yield Mechanism(
        slot="evaluation",
        name="total and worst off",
        clause="weigh their own payoff, the sum for both, and what the worse off gets",
        code=payoffs + 'worth = mine + parameters["total"][..., None] * (mine + theirs)\n'
        'worth = worth + parameters["worst_off"][..., None] * xp.minimum(mine, theirs)\n'
        'evidence = evidence + parameters["sensitivity"][..., None] * worth',
        parameters={
            "sensitivity": prior,
            "total": normal(0.0, 1.0, 6.0, "own payoff", "worth of a unit for either of both"),
            "worst_off": normal(0.0, 1.0, 6.0, "own payoff", "worth of a unit for the worse off"),
        },
        wording=(
            Wording(
                clause="{much}prefer a high payoff for themselves",
                parameter="sensitivity",
                unit=LOG_ODDS,
            ),
            Wording(
                clause="{much}like a large sum for both",
                opposite_clause="{much}dislike a large sum for both",
                parameter="total",
                unit=0.25,
                label="efficiency",
                opposite_label="waste",
            ),
            Wording(
                clause="{much}care for the worse off",
                opposite_clause="{much}dislike a gain of the worse off",
                parameter="worst_off",
                unit=0.25,
                label="care",
                opposite_label="disregard",
            ),
        ),
        repairs=(f"{own}_difference", f"{other}_difference", "envy_difference", "guilt_difference"),
        source=CHARNESS,
    )


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
    """Yield mechanisms of what options of a menu of three or more do to each other."""
    cues, every = domain.cues, tuple(domain.task.attributes)
    breaks = tuple(word for name in every for word in (name, f"ignores {name}"))
    stacked = ", ".join(f"x_{cue.name} + 0.0 * evidence" for cue in cues)
    yield Mechanism(
        slot="context",
        name="similarity",
        code=SIMILARITY.format(stacked=stacked),
        parameters={
            "distinctness": normal(
                0.0, 4.0, LIMIT, WEIGHT, "worth of being unlike the nearest option"
            )
        },
        wording=Wording(
            clause="find an option {far}less attractive if another one is like it",
            opposite_clause="find an option {far}more attractive if another one is like it",
            parameter="distinctness",
            unit=LOG_ODDS,
            label="distinctness",
            opposite_label="likeness",
        ),
        repairs=("middling",),
        breaks=breaks,
        source=f"{TVERSKY_ASPECTS} (similarity effect)",
    )
    yield Mechanism(
        slot="context",
        name="compromise",
        code=_for_each(cues, COMPROMISE.format(n_cues=len(cues))),
        parameters={"compromise": normal(0.0, 4.0, LIMIT, WEIGHT, "worth of lying in the middle")},
        wording=Wording(
            clause="are {much}drawn to options in the middle of what is on offer",
            opposite_clause="are {much}drawn to extreme options",
            parameter="compromise",
            unit=LOG_ODDS,
            feature="middling",
            label="compromise",
            opposite_label="extremes",
        ),
        repairs=("middling",),
        breaks=breaks,
        source=SIMONSON,
    )
    directed = [f"one_to_one(x_{cue.name}, 1.0)" for cue in cues if cue.is_directed]
    if not directed:
        return
    equal = [f"(one_to_one(x_{cue.name}, 0.0))" for cue in cues if not cue.is_directed]
    yield Mechanism(
        slot="context",
        name="attraction",
        code=ATTRACTION.format(better=" * ".join([*directed, *equal])),
        parameters={
            "attraction": normal(0.0, 2.0, 20.0, "log odds", "worth of being better than a decoy")
        },
        wording=Wording(
            clause="are {much}drawn to an option that dominates another one",
            opposite_clause="are {much}drawn away from an option that dominates another one",
            parameter="attraction",
            unit=LOG_ODDS,
            feature="dominating",
            label="attraction",
            opposite_label="repulsion",
        ),
        repairs=("dominating",),
        breaks=breaks,
        source=HUBER,
    )


def _screening(domain: DeclaredDomain) -> Iterator[Mechanism]:
    """Options that are left out, in the order of the attributes."""
    for cue in domain.cues:
        # Of three options, one that is raised may take out the rival of a third one.
        several = tuple(domain.task.attributes) if len(domain.options) > 2 else ()
        breaks = tuple({*several, f"ignores {cue.attribute}"})
        if cue.word is not None:
            yield Mechanism(
                slot="screening",
                name=f"{cue.name} first",
                code=f"best = xp.where(kept > 0, x_{cue.name}, -1e9).max(axis=-1)[..., None]\n"
                f"kept = kept * (x_{cue.name} >= best)",
                wording=Wording(
                    clause=f"look only at options with {cue.aim} if there are any left",
                    label=f"{label_of(cue.noun)} screening",
                    overrides=True,
                ),
                repairs=features([cue], "difference"),
                breaks=breaks,
                source=TVERSKY_ORDER,
            )
            continue
        ends = (("highest", ""), ("lowest", "-")) if not cue.is_directed else (("best", ""),)
        for end, sign in ends:
            yield _about_the_best(cue, end, sign, breaks)
        if cue.is_directed:
            yield Mechanism(
                slot="screening",
                name=f"{cue.name} good enough",
                code=f"best = xp.where(kept > 0, x_{cue.name}, -1e9).max(axis=-1)[..., None]\n"
                f'kept = kept * (x_{cue.name} >= xp.minimum(parameters["{cue.name}_aspiration"][..., None], best))',
                parameters={
                    f"{cue.name}_aspiration": uniform(
                        0.0, 1.0, "share of the range", f"how good {cue.aim} must be"
                    )
                },
                wording=Wording(
                    clause=f"look at all options with {cue.aim} that is good enough "
                    f"({{{cue.name}_aspiration%}} of the range), or where there are none at the best",
                    label="good-enough screening",
                    overrides=True,
                ),
                repairs=features([cue], "difference", "level"),
                breaks=breaks,
                source=SIMON,
            )


def _about_the_best(cue: TaskCue, end: str, sign: str, breaks: tuple[str, ...]) -> Mechanism:
    """One step of a lexicographic order."""
    name = f"{cue.name}_noticeable" if end != "lowest" else f"{cue.name}_noticed"
    says = f"look only at the options with about the {end} {cue.noun}"
    return Mechanism(
        slot="screening",
        name=f"{cue.name} {end}",
        code=f"own = {sign}x_{cue.name}\n"
        "best = xp.where(kept > 0, own, -1e9).max(axis=-1)[..., None]\n"
        f'kept = kept * (own >= best - parameters["{name}"][..., None])',
        parameters={
            name: log_uniform(
                0.001, 1.0, "share of the range", f"largest difference in {cue.noun} not noticed"
            )
        },
        wording=Wording(
            clause=f"{says}, among which they do not notice small differences (up to {{{name}%}} of its range)",
            label=f"{cue.name.replace('_', ' ')} screening",
            overrides=True,
        ),
        repairs=features([cue], "difference"),
        breaks=breaks if end != "lowest" else (*breaks, cue.attribute),
        source=TVERSKY_ORDER,
    )
