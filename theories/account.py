"""What a theory says in words, computed from its form and the numbers that were learned.

A source lists its clauses beside its parameters::

    CLAUSES = [
        "add everything up",
        {"says": "are {much}drawn to the product that more cues favour",
         "opposite": "{much}shun the product that more cues favour",
         "by": "majority_bonus", "unit": 0.5, "shows": "n_cues_favouring"},
    ]

A clause continues "people ...". Where it names a parameter, that parameter's learned distribution over people decides
which side of the clause is true, how strongly, and of how many people; no string of the source says so by itself.
`theories.checks.claim` tries each clause on the code, with the same numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.theories.errors import TheorySourceError
from lakatos.theories.prior import Prior
from lakatos.theories.topic import topic_of

Array = NDArray[np.float64]
STRENGTHS = ((0.12, "hardly "), (0.5, "slightly "), (2.0, ""), (np.inf, "strongly "))
"""Distance from the null value, in units of the clause, below which a word applies."""
SHARES = (
    (0.03, "hardly any"), (0.15, "about a tenth of"), (0.29, "about a quarter of"), (0.42, "about a third of"),
    (0.58, "about half of"), (0.71, "about two thirds of"), (0.83, "about three quarters of"),
    (0.97, "about nine in ten"), (1.01, "nearly all"),
)  # fmt: skip
"""Share of people below which words apply."""
MIXED = (0.1, 0.9)
"""Shares of people above the null value between which both sides are told."""
SURE = 2.0
"""Standard errors by which a spread is made smaller before people are divided by it; one that they exceed says nothing
of shares."""
UNSETTLED = (0.25, 0.75)
"""Shares of a declared range above the null value between which it says nothing about the side."""
AT_LIMIT = 0.01
"""Of the declared range: a centre nearer to a limit than this is said to lie there."""
N_PEOPLE = 400
"""Quantiles by which a distribution over people is read."""
MOST_SENTENCES = 3
MOST_WORDS = 5
"""Of a name."""
PLACE = re.compile(r"\{(\w+)([%+]?)\}")


@dataclass(frozen=True)
class ClauseWording:
    """How one part of a theory is told, whatever its numbers turn out to be."""

    says: str
    """Continues "people ..."; true where the parameter is above the null value. ``{much}`` stands where a word for how
    strong belongs, ``{who}`` where a number of people does, and ``({name})``, ``({name%})`` or ``({name+})`` for a
    learned value as it is, in percent, or rounded up to a whole number."""
    by: str = ""
    """Parameter whose learned value decides; empty where the clause is true whatever was learned."""
    opposite: str = ""
    """What is true below the null value; empty where nothing lies there."""
    null: float = 0.0
    """Value at which the clause says nothing."""
    unit: float = 1.0
    """Distance from the null value that is worth its name: half of it is slight, twice as much strong."""
    ratio: bool = False
    """Whether distances are log ratios."""
    times: str = ""
    """Parameter that the distance is multiplied by before it is judged."""
    shows: str = ""
    """Feature or variation of the domain along which the clause moves choices of the last option upwards."""
    label: str = ""
    """For the theory's name: "with ..."."""
    opposite_label: str = ""
    sentence: int = 1
    turns: bool = False
    """Whether it may turn round what other clauses say, so that only the size of their effects can be tried."""

    def to_literal(self) -> str | dict[str, Any]:
        """As a source declares it."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        told = {
            item.name: values[item.name]
            for item in fields(self)
            if values[item.name] != item.default
        }
        return self.says if list(told) == ["says"] else told


@dataclass(frozen=True)
class ToldClause:
    """A clause at the numbers that were learned."""

    text: str
    wording: ClauseWording
    direction: int
    """1 or -1: the side of the null value where most people are; 0 where the range was not learned yet, or where
    nothing is to be decided."""
    strength: str
    """One of `STRENGTHS`, without the space."""
    size: float
    """Distance from the null value in units of the clause."""
    at_limit: bool = False
    of_some: bool = False
    """Whether the text names the people whom it is true of."""
    idle: bool = False
    """Whether no trial that people were asked depends on its parameter: it is no part of the claim then."""


@dataclass(frozen=True)
class TheoryAccount:
    """What a theory says in words at the numbers that it learned."""

    name: str
    claim: str
    """At most three sentences."""
    clauses: tuple[ToldClause, ...]


def read_clauses(literal: Any, parameters: Mapping[str, Any]) -> tuple[ClauseWording, ...]:
    """The clauses that a source declares.

    Raises:
        TheorySourceError: The literal is no list of clauses, or one names a parameter that is not declared.
    """
    known = {item.name for item in fields(ClauseWording)}
    if not isinstance(literal, list | tuple):
        raise TheorySourceError(
            "CLAUSES must be a list of strings and of dictionaries with an entry 'says'."
        )
    found = []
    for number, item in enumerate(literal, start=1):
        entry = {"says": item} if isinstance(item, str) else item
        if (
            not isinstance(entry, dict)
            or not isinstance(entry.get("says"), str)
            or set(entry) - known
        ):
            raise TheorySourceError(
                f"CLAUSES, number {number}: {item!r} must have 'says', and of {sorted(known)} only."
            )
        clause = ClauseWording(**entry)
        named = {
            clause.by,
            clause.times,
            *(name for name, _ in PLACE.findall(clause.says + clause.opposite)),
        }
        missing = named - {"", "much", "who", *parameters}
        if missing:
            raise TheorySourceError(
                f"CLAUSES, number {number}: {', '.join(sorted(missing))} is no declared parameter of this theory."
            )
        found.append(clause)
    return tuple(found)


def account_of(
    head: str,
    clauses: Sequence[ClauseWording],
    priors: Mapping[str, Prior],
    *,
    pooled: bool = False,
) -> TheoryAccount:
    """The theory in words, at the learned distributions of its parameters.

    Args:
        head: Short name of the form; the strongest clause with a label that is short enough is added to it.
        clauses: In the order in which they are told.
        priors: Declared, or as the newest fit has them.
        pooled: Whether people could not be told apart, so that a spread is what is not known of one shared value.
    """
    told = tuple(tell_clause(clause, priors, pooled=pooled) for clause in clauses)
    return TheoryAccount(_account_name(head, told), " ".join(_sentences(told)), told)


def _account_name(head: str, told: Sequence[ToldClause]) -> str:
    """The form's name with the label of its strongest clause, if that is short enough."""
    strong = [item for item in told if item.strength != "hardly" and not item.idle]
    for item in sorted(strong, key=lambda item: -item.size):
        label = _label(item)
        name = f"{head} with {label}"
        if label and len(name.split()) <= MOST_WORDS:
            return name
    return head


def _sentences(told: Sequence[ToldClause]) -> list[str]:
    """What people do, and what they do besides, sentence by sentence."""
    spoken = [item for item in told if item.text and not item.idle]
    sentences: list[str] = []
    for number in range(1, MOST_SENTENCES + 1):
        own = [item for item in spoken if item.wording.sentence == number]
        if own:
            sentences.append(_sentence("they" if sentences else "people", own))
    return sentences


def tell_clause(
    clause: ClauseWording, priors: Mapping[str, Prior], *, pooled: bool = False
) -> ToldClause:
    """One clause at the learned numbers: the side that is true, how strongly, and of how many people."""
    if not clause.by:
        return ToldClause(_filled(clause.says, "", priors), clause, 0, "", 0.0)
    prior = priors[clause.by]
    if prior.idle:
        of_some = "{who}" in clause.says
        text = _filled(clause.says.replace("{who}", "some people"), "", priors)
        return ToldClause(text, clause, 0, "", 0.0, of_some=of_some, idle=True)
    values = prior.quantile((np.arange(N_PEOPLE) + 0.5) / N_PEOPLE)
    distances = _distances(clause, values, priors)
    above = float(np.mean(distances > 0))
    if "{who}" in clause.says:
        unknown = is_open(clause, prior) or SURE * prior.doubt > 1
        share = "some" if unknown else share_in_words(above)
        text = _filled(clause.says.replace("{who}", f"{share} people"), "", priors)
        return ToldClause(text, clause, 0, "", above, of_some=True)
    if is_open(clause, prior):
        return ToldClause(_open_text(clause, above, priors), clause, 0, "", 0.0)
    return _tell_settled(clause, prior, priors, distances, pooled=pooled)


def _open_text(clause: ClauseWording, above: float, priors: Mapping[str, Prior]) -> str:
    """A clause about which nothing was learned: the side of more of its range, or either one."""
    says = clause.says if above >= 0.5 or not clause.opposite else clause.opposite
    is_even = clause.opposite and UNSETTLED[0] < above < UNSETTLED[1]
    return _filled(says, "", priors) + (", or the other way round" if is_even else "")


def _tell_settled(
    clause: ClauseWording,
    prior: Prior,
    priors: Mapping[str, Prior],
    distances: Array,
    *,
    pooled: bool,
) -> ToldClause:
    """A clause about whose number something was learned: its side and strength, or both sides if people differ.

    Args:
        clause: It says something of everybody.
        prior: Of its number.
        priors: Of all.
        distances: ``(N_PEOPLE,)`` from what says nothing, of people with this prior.
        pooled: As in `account_of`.
    """
    middle = float(_distances(clause, prior.quantile(np.array([0.5])), priors)[0])
    size = abs(middle) if pooled else float(np.median(np.abs(distances)))
    strength = next(word for limit, word in STRENGTHS if size < limit)
    is_strong = strength != "hardly "
    direction = 1 if middle >= 0 or not clause.opposite else -1
    mixed = (
        not pooled
        and clause.opposite != ""
        and is_strong
        and MIXED[0] < _share_at_least(clause, prior, priors) < MIXED[1]
    )
    if mixed:
        text = _mixed(clause, float(np.mean(distances > 0)), priors)
    else:
        side = clause.says if direction > 0 else clause.opposite
        text = _filled(side, strength, priors)
    limit = at_limit(prior)
    if limit and is_strong:
        text += " (as far as the range allowed)"
    return ToldClause(text, clause, direction, strength.strip(), size, limit, mixed)


def is_open(clause: ClauseWording, prior: Prior) -> bool:
    """Whether a range is as declared: even, or a wide normal around a null value that lies within the range."""
    if prior.kind in ("uniform", "log_uniform"):
        return True
    wide = prior.spread >= 0.5 * clause.unit and prior.low < clause.null < prior.high
    return prior.kind == "normal" and prior.center == clause.null and wide


def at_limit(prior: Prior) -> bool:
    """Whether the centre of a learned distribution lies at a limit of its range."""
    if prior.kind in ("uniform", "log_uniform"):
        return False
    low, high = (float(value) for value in prior.latent(np.array([prior.low, prior.high])))
    return min(prior.center - low, high - prior.center) < AT_LIMIT * (high - low)


def share_in_words(share: float) -> str:
    """A share of people, for the place before the word "people"."""
    return next(words for limit, words in SHARES if share < limit)


def _distances(clause: ClauseWording, values: Array, priors: Mapping[str, Prior]) -> Array:
    """Signed distances from the null value, in units of the clause."""
    distance = np.log(values / clause.null) if clause.ratio else values - clause.null
    if clause.times and clause.times in priors:
        distance = distance * priors[clause.times].quantile(np.array([0.5]))[0]
    return np.asarray(distance / clause.unit)


def _share_at_least(clause: ClauseWording, prior: Prior, priors: Mapping[str, Prior]) -> float:
    """Share of people above the null value if they differ no more than their answers show."""
    alike = prior.spread * np.exp(-SURE * prior.doubt)
    values = prior.narrowed(prior.center, float(alike)).quantile(
        (np.arange(N_PEOPLE) + 0.5) / N_PEOPLE
    )
    return float(np.mean(_distances(clause, values, priors) > 0))


def _mixed(clause: ClauseWording, above: float, priors: Mapping[str, Prior]) -> str:
    """The side of a clause that most people are on, and how many they are."""
    first = clause.says if above >= 0.5 else clause.opposite
    share = share_in_words(max(above, 1 - above))
    return f"{share} people {_filled(first, '', priors)}, the others the other way round"


def _filled(text: str, strength: str, priors: Mapping[str, Prior]) -> str:
    """A clause with its word of strength and its learned values; values that were not learned are left out."""
    if strength and "{much}" not in text:
        text = "{much}" + text
    text = text.replace("{much}", strength)

    def value(match: re.Match[str]) -> str:
        prior = priors[match[1]]
        middle = float(prior.quantile(np.array([0.5]))[0])
        if match[2] == "+":
            return f"{int(np.ceil(middle))}"
        return f"{100 * middle:.0f}%" if match[2] else f"{middle:.2g}"

    unknown = [
        name for name, _ in PLACE.findall(text) if priors[name].kind in ("uniform", "log_uniform")
    ]
    for name in unknown:
        text = re.sub(r"\s*\([^()]*\{" + name + r"[%+]?\}[^()]*\)", "", text)
    return PLACE.sub(value, text)


def _label(told: ToldClause) -> str:
    label, opposite = told.wording.label, told.wording.opposite_label
    if told.direction == 0:
        return topic_of(label, opposite)
    return opposite if told.direction < 0 else label


def _sentence(subject: str, clauses: Sequence[ToldClause]) -> str:
    """Clauses one after another; those that name their people come last."""
    ordered = sorted(clauses, key=lambda item: item.of_some)
    first = re.sub(r"^(but|and) (then )?", "", ordered[0].text)
    text = first if ordered[0].of_some else f"{subject} {first}"
    for place, item in enumerate(ordered[1:], start=2):
        joined = item.text.startswith(("but ", "and "))
        text += ", " if joined else "; and " if place == len(ordered) > 2 else "; "
        text += item.text
    return text[0].upper() + text[1:] + "."
