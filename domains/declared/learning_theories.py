"""Theories of declared tasks with feedback: general accounts of learning, beside those of the attributes at hand.

The skeleton: people begin with an *expectation* of every option, outcomes move it at a certain *rate*, and what became
of the *other* options may change, too. The value that was learned is one reason to choose among others: a *bonus* for
the unknown, *habits*, what the attributes say and *lessons* about them. Mechanisms of learning are those of
`domains.learning.theories`, those of attributes of `domains.declared.theories`; here they add to one ``evidence`` in
log odds. Outcomes enter as shares of the range that the declaration allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from lakatos.domains.declared.feedback_task import FeedbackDomain
from lakatos.domains.declared.mechanisms import can_eliminate
from lakatos.domains.declared.task import TaskCue
from lakatos.domains.declared.theories import declared_family, with_known_breaks
from lakatos.domains.kit.among_several import ELIMINATE
from lakatos.domains.kit.parameter import LOG_ODDS, log_uniform, normal, uniform
from lakatos.domains.learning.mechanisms.cues import CUE, GAIN, GO
from lakatos.domains.learning.mechanisms.past import TABLE
from lakatos.domains.learning.theories import (
    BEFORE,
    BEFORE_LEARN,
    GRAMMAR,
    HEADS,
    HELPERS,
    SEEDS,
)
from lakatos.experiments.adoption.names import SIDES
from lakatos.theories.language.account import Wording
from lakatos.theories.language.family import Family
from lakatos.theories.language.grammar import Composition, Grammar, Mechanism, SkeletonSlot

LEARNING_SLOTS = (
    "expectation", "bonus", "habit", "outcome", "rate", "credit", "others", "bias", "memory",
)  # fmt: skip
IMAGINED = "what would have been"
"""Mechanism of learning that takes the place of outcomes which are not shown."""
Slots = dict[str, str | tuple[str, ...]]
"""Mechanisms of each slot, one of them by its name alone."""
NOTHING_LEARNED: Slots = {
    "expectation": "even",
    "rate": "none",
    "credit": "direct",
}
VALUE = 'evidence = evidence + parameters["value_weight"][..., None] * value'
VALUE_WEIGHT = log_uniform(
    0.3, 50.0, "log odds over the range of outcomes", "how strongly a learned value counts"
)
LAPSE = (
    'lapse = parameters["lapse"][..., None]\n'
    "p = lapse * available / available.sum(axis=-1)[..., None] + (1 - lapse) * p"
)
"""Lapses among the options that are available."""
PAVLOVIAN = normal(
    0.0, 1.0, 20.0, "log odds over the range of outcomes", "weight of a cue's value for responding"
)
CURIOSITY = normal(0.0, 1.0, 8.0, "log odds", "pull of an option that nothing is known of")
BOORMAN = (
    "Boorman, Behrens & Rushworth (2011), PLoS Biology 9(6), e1001093 (counterfactual learning)"
)
WIDROW = "Widrow & Hoff (1960); Gluck & Bower (1988), Journal of Experimental Psychology: General 117, 227-247"


@lru_cache(maxsize=16)
def feedback_family(domain: FeedbackDomain) -> Family:
    """The grammar of a declared task with feedback, and the published accounts that it starts from."""
    still = declared_family(domain.described)
    attributes = [
        replace(
            item,
            predictions=_of_single_trials(item),
            code=LAPSE if item.slot == "lapse" else item.code,
        )
        for item in still.grammar.mechanisms
        if not (domain.go and SIDES in item.needs)
    ]
    lessons = [_attribute_weights(domain.cues)] if domain.cues else []
    mechanisms = [*_learning(domain), *lessons, *attributes]
    stated = tuple(_predictions(domain))
    unpacked = [f"x_{cue.name} = {cue.code}" for cue in domain.cues]
    before = BEFORE.replace("evidence = value\n", "evidence = 0.0 * value\n")
    grammar = Grammar(
        domain=domain.name,
        slots=(
            SkeletonSlot("expectation"),
            SkeletonSlot("bonus", 0, 1, sentence=2),
            SkeletonSlot("habit", 0, 2, sentence=2),
            *((SkeletonSlot("outcome", 0, 1),) if domain.cue_names else ()),
            SkeletonSlot("rate"),
            SkeletonSlot("credit"),
            SkeletonSlot("others", 0, 1),
            *((SkeletonSlot("bias", 0, 2, sentence=3),) if domain.go else ()),
            *((SkeletonSlot("lessons", 0, 1),) if lessons else ()),
            *(slot for slot in still.grammar.slots if slot.name != "lapse"),
            *((SkeletonSlot("memory", 0, 1, sentence=3),) if domain.cue_names else ()),
            *(slot for slot in still.grammar.slots if slot.name == "lapse"),
        ),
        mechanisms=with_known_breaks(tuple(mechanisms), stated),
        heads=_heads(still.grammar),
        before="\n".join([before.strip(), *unpacked, "kept = available + evidence"]),
        before_learn=_before_learn(domain),
        after="return p",
        helpers=HELPERS + (ELIMINATE if can_eliminate(domain.cues) else ""),
        predictions=stated,
    )
    return Family(domain.name, grammar, _seeds(domain, still))


def _before_learn(domain: FeedbackDomain) -> str:
    """Write the code that reads an outcome: as a share of the range, and whether it is a gain."""
    low, high = domain.outcome_range
    shifted = f'(feedback["reward"] - {low:.10g})' if low else 'feedback["reward"]'
    read = (
        f"reward = {shifted} / {high - low:.10g}\n"
        f'won = (feedback["reward"] > {domain.win_above:.10g}) * 1.0'
    )
    return BEFORE_LEARN.replace('reward = feedback["reward"]', read)


def _predictions(domain: FeedbackDomain) -> Iterator[Mapping[str, Any]]:
    """Yield predictions of theories that only learn by outcomes: an outcome of 0, as in claims, is bad news."""
    low, high = domain.outcome_range
    yield {"property": "non_decreasing", "in": "last_reward"}
    if (0 - low) / (high - low) <= 0.5:
        yield {"property": "non_increasing", "in": "last_choice"}


def _of_single_trials(item: Mechanism) -> tuple[Mapping[str, Any], ...]:
    """Predictions that do not compare two trials: attributes of a step belong to its schedule."""
    return tuple(prediction for prediction in item.predictions if "in" not in prediction)


# Mechanisms -----------------------------------------------------------------------------------


def _learning(domain: FeedbackDomain) -> Iterator[Mechanism]:
    """Mechanisms of learning, which add to the evidence in log odds."""
    unfit = _unfit(domain)
    for item in GRAMMAR.mechanisms:
        if item.slot in LEARNING_SLOTS and item.name not in unfit:
            yield _adapted(item, domain)
    if domain.told.shows == "all":
        yield from _counterfactual(domain)


def _unfit(domain: FeedbackDomain) -> frozenset[str]:
    """Mechanisms of learning that mean nothing in this task."""
    there = {CUE} if domain.cue_names else set()
    there |= {GO} if domain.go else set()
    lacking = {item.name for item in GRAMMAR.mechanisms if not set(item.needs) <= there}
    return frozenset(lacking | ({IMAGINED} if domain.told.shows == "all" else set()))


def _adapted(item: Mechanism, domain: FeedbackDomain) -> Mechanism:
    """A mechanism of the domain of learning, with values, habits and curiosity as reasons in log odds."""
    low, high = domain.outcome_range
    nothing = f"{-low / (high - low):.10g}"
    learn = item.learn.replace(GAIN, f"(reward - {nothing})")
    learn = learn.replace("reward > 0", "won > 0").replace("reward <= 0", "won <= 0")
    item = replace(
        item, learn=learn, code=item.code.replace("habit = habit +", "evidence = evidence +")
    )
    if item.slot == "rate" and item.name != "none":
        parameters = {"value_weight": VALUE_WEIGHT} | dict(item.parameters)
        return replace(
            item, code="\n".join(filter(None, [item.code, VALUE])), parameters=parameters
        )
    if item.slot == "bonus":
        return replace(item, parameters={"curiosity": CURIOSITY})
    if item.name == "nothing":
        return replace(item, start=f'state["value"] = {nothing} + {TABLE}')
    if item.name == "Pavlovian":
        wording = replace(item.wordings[0], unit=LOG_ODDS)
        return replace(item, parameters={"pavlovian": PAVLOVIAN}, wording=wording)
    if item.name in _EXPECTED:
        return replace(item, **_EXPECTED[item.name])
    return item


_EXPECTED: Mapping[str, dict[str, Any]] = {
    "even": {
        "wording": Wording(
            clause="initially expect the middle of the possible outcomes from every option",
            taken_for_granted=True,
        ),
    },
    "prior belief": {
        "parameters": {
            "first_value": uniform(
                0.0, 1.0, "share of the range", "value of an option that was never tried"
            )
        },
        "wording": Wording(
            clause="begin with expectations of their own ({first_value%} of the way from worst to best)",
            label="prior beliefs",
        ),
    },
}
OUTCOMES = """
seen = (xp.stack([{outcomes}], axis=-1) - {low:.10g}) / {span:.10g}
left = here[..., None] * ((1 - response) * trials["available"])[..., None, :]
missed = seen[..., None, :] - state["value"]
state["value"] = state["value"] + left * {rate}[..., None, None] * missed
"""


def _counterfactual(domain: FeedbackDomain) -> Iterator[Mechanism]:
    """Yield mechanisms of what people learn from outcomes of options that they did not choose."""
    low, high = domain.outcome_range
    outcomes = ", ".join(f'feedback["{name}"]' for name in domain.outcome_names[1:])

    def code(rate: str) -> str:
        return OUTCOMES.format(outcomes=outcomes, low=low, span=high - low, rate=rate)

    yield Mechanism(
        slot="others",
        name="forgone outcomes",
        learn=code('parameters["forgone_rate"]'),
        parameters={
            "forgone_rate": uniform(
                0.0, 1.0, "share", "share of a surprise about another option that is learned"
            )
        },
        wording=Wording(
            clause="learn also from forgone outcomes of unchosen options ({forgone_rate%} of each surprise)",
            parameter="forgone_rate",
            unit=0.1,
            label="forgone outcomes",
        ),
        breaks=("last_choice", "ignores last_choice"),
        source=BOORMAN,
    )
    yield Mechanism(
        slot="others",
        name="outcomes alike",
        learn=code("(rate + 0.0 * reward)"),
        wording=Wording(
            clause="learn from forgone outcomes of unchosen options as from their own outcomes",
            label="all outcomes alike",
        ),
        breaks=("last_choice", "ignores last_choice", "last_reward"),
        source=BOORMAN,
    )


def _attribute_weights(cues: tuple[TaskCue, ...]) -> Mechanism:
    """Make the mechanism that learns weights of attributes by the delta rule; steps do not depend on their number."""
    n = len(cues)
    worth = " + ".join(
        f'state["weights"][..., {place}, None] * ({cue.code})' for place, cue in enumerate(cues)
    )
    held = ", ".join(f"(response * ({cue.code})).sum(axis=-1) + 0.0 * reward" for cue in cues)
    return Mechanism(
        slot="lessons",
        name="weights of attributes",
        code=f'evidence = evidence + parameters["lesson_weight"][..., None] * ({worth})',
        start=f'state["weights"] = 0.5 * (xp.arange({n + 1}) == {n}) + xp.zeros((1, 1, {n + 1}))',
        learn=f"held = xp.stack([{held}, 1.0 + 0.0 * reward], axis=-1)\n"
        'missed = reward - (held * state["weights"]).sum(axis=-1)\n'
        f'step = (parameters["lesson_rate"] * missed / {n + 1})[..., None]\n'
        'state["weights"] = state["weights"] + step * held',
        parameters={
            "lesson_weight": log_uniform(
                0.3,
                100.0,
                "log odds over the range of outcomes",
                "how strongly learned worths count",
            ),
            "lesson_rate": uniform(0.0, 1.0, "share", "share of a surprise that is learned"),
        },
        wording=Wording(
            clause="learn the value of each attribute from the outcome of the chosen option ({lesson_rate%} of each "
            "surprise)",
            label="learned attributes",
        ),
        repairs=("steps_since_start",),
        breaks=("last_reward", "last_choice"),
        source=WIDROW,
    )


# Published accounts ---------------------------------------------------------------------------


def _heads(still: Grammar) -> tuple[tuple[tuple[str, ...], str], ...]:
    """Names of forms: of lessons and of learning first, and where nothing is learned those of the attributes."""
    learned = [
        (needed, name)
        for needed, name in HEADS
        if needed and needed != ("rate:none",) and not _is_elsewhere(needed)
    ]
    first = (("lessons", "rate:none"), "Learned attributes")
    return (first, *learned, *still.heads)


def _is_elsewhere(needed: tuple[str, ...]) -> bool:
    """Whether a form has mechanisms that declared tasks lack."""
    return any(word.startswith(("planning", "choice")) for word in needed)


def _seeds(domain: FeedbackDomain, still: Family) -> dict[str, tuple[str, Composition]]:
    """Accounts of learning, of learned values beside attributes, and of attributes alone."""
    plain: Slots = {"choice": "logistic", "lapse": "random"}
    unfit = _unfit(domain)
    found: dict[str, tuple[str, Composition]] = {}
    for name, (title, form) in SEEDS.items():
        used: Slots = {slot: names for slot, names in form.slots.items() if slot != "choice"}
        fits = all(
            slot in (*LEARNING_SLOTS, "lapse") and not unfit & set(names)
            for slot, names in used.items()
        )
        if fits and form.slots["choice"] == ("softmax",):
            found[name] = (title, Composition.of(used | plain))
    delta = NOTHING_LEARNED | {"rate": "constant"} | plain
    if domain.told.shows == "all":
        title = "Counterfactual learning"
        found["counterfactual"] = (title, Composition.of(delta | {"others": "forgone outcomes"}))
        title = "Learning from all outcomes alike"
        found["all_outcomes"] = (title, Composition.of(delta | {"others": "outcomes alike"}))
    if domain.cues:
        lessons = NOTHING_LEARNED | plain | {"lessons": "weights of attributes"}
        found["learned_attributes"] = ("Learned attributes", Composition.of(lessons))
        base = "weighted adding" if len(domain.cues) > 1 else f"{domain.cues[0].name} alone"
        both = Composition.of(delta | {"evaluation": base})
        found["value_and_attributes"] = ("Learned value and attributes", both)
    for name, (title, form) in still.seeds.items():
        found[name] = (title, Composition.of(NOTHING_LEARNED | dict(form.slots)))
    return found
