"""Preregistered exclusions: whose answers do not count, by rules that were fixed before anybody was asked.

Each rule says in words what it excludes, and gives the number that decided about a person. Rules look at how somebody
answered, never at whether the answers suit a theory.

References:
    Meade & Craig (2012), Identifying careless responses in survey data, Psychological Methods 17(3), 437-455.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from statistics import mean, median
from typing import ClassVar, Final, Protocol

from lakatos.experiments.participants.answers import LOOK_AHEAD, PersonAnswers

REVOKED = frozenset({"returned", "screened_out"})
"""People who took their answers back or were not admitted: none of their answers are used, whatever the rules."""


class ExclusionRule(Protocol):
    """A reason to exclude somebody."""

    key: ClassVar[str]

    @property
    def words(self) -> str:
        """The rule as a sentence, for the preregistration."""

    def decide(self, answers: PersonAnswers, earlier: Collection[str]) -> float | None:
        """The number for which somebody is excluded; None for those who stay.

        Args:
            answers: What the person did.
            earlier: People who took part before: pseudonyms.
        """


@dataclass(frozen=True)
class IncompleteAnswers:
    """People who did not finish."""

    key: ClassVar[str] = "incomplete"
    keep_partial: bool = False
    least_share: float = 0.0
    """Share of the presented trials that participants who stopped must have completed to count; at least one trial."""
    n_asked: int = 0
    """Presentations to each person; see `for_design`."""

    @property
    def words(self) -> str:
        """The rule in words, for the preregistration."""
        if self.keep_partial:
            least = (
                f" at least {self.least_share:.0%} of the trials"
                if self.least_share
                else " anything"
            )
            return (
                "People who took their answers back or were not admitted are excluded; those who stopped before the "
                f"end count with what they answered if they answered{least}."
            )
        return "People who did not complete the study are excluded."

    def decide(self, answers: PersonAnswers, earlier: Collection[str]) -> float | None:
        """The number of trials answered, where too little was done to count."""
        unused = answers.status in REVOKED if self.keep_partial else answers.status != "completed"
        least = (
            max(1, math.ceil(self.least_share * self.n_asked - 1e-9)) if self.keep_partial else 1
        )
        few = len(answers.trial) < least and (answers.status != "completed" or not answers.trial)
        return float(len(answers.trial)) if unused or few else None


@dataclass(frozen=True)
class RepeatedParticipation:
    """People who took part more than once."""

    key: ClassVar[str] = "duplicate"
    in_campaign: bool = False
    """Whether taking part in an earlier experiment of the campaign counts too."""

    @property
    def words(self) -> str:
        """The rule in words, for the preregistration."""
        if self.in_campaign:
            return "People who took part in this or an earlier experiment of the campaign before are excluded."
        return "Where a person took part more than once, only the first time counts."

    def decide(self, answers: PersonAnswers, earlier: Collection[str]) -> float | None:
        """Count how often the person took part before; None if never."""
        return float(n) if (n := sum(person == answers.person for person in earlier)) else None


@dataclass(frozen=True)
class TooFast:
    """People whose median response time is short, by their own clock, or whose answers arrived too fast."""

    key: ClassVar[str] = "too_fast"
    median_below_ms: float

    @property
    def words(self) -> str:
        """The rule in words, for the preregistration."""
        least = f"below {self.median_below_ms:g} ms"
        return (
            f"People whose median response time is {least} are excluded, and people whose mean time between answers, "
            f"by the server's clock, is {least}."
        )

    def decide(self, answers: PersonAnswers, earlier: Collection[str]) -> float | None:
        """The shorter of the two in milliseconds; nobody is excluded whose times are not known."""
        known = [median(answers.all_times_ms)] if answers.all_times_ms else []
        known += [mean(answers.server_time_ms)] if answers.server_time_ms else []
        value = min(known, default=self.median_below_ms)
        return value if value < self.median_below_ms else None


CLOCK_TOLERANCE_MS: Final = 100.0
"""Milliseconds by which a browser's clock and the server's may differ within one response."""


@dataclass(frozen=True)
class ImpossibleTimes:
    """People whose response times cannot be true, since the answers arrived before so much time had passed.

    A page has at most so many steps beyond the one shown (`LOOK_AHEAD`), so that the server's clock says how long an
    answer can have taken at most, also where several were sent at once after a lost connection.
    """

    key: ClassVar[str] = "impossible_times"
    share_above: float

    @property
    def words(self) -> str:
        """The rule in words, for the preregistration."""
        return (
            f"People are excluded of whose answers more than {self.share_above:.0%} came with response times that are "
            "longer than the server's clock allows."
        )

    def decide(self, answers: PersonAnswers, earlier: Collection[str]) -> float | None:
        """The share of impossible times; nobody is excluded whose times are not known by both clocks."""
        if not answers.response_time_ms or not answers.server_time_ms:
            return self._left_out(answers)
        impossible = are_impossible(answers.response_time_ms, answers.server_time_ms)
        n_left_out = sum(item.reason == "impossible" for item in answers.left_out)
        value = (sum(impossible) + n_left_out) / (len(impossible) + n_left_out)
        return value if value > self.share_above else None

    def _left_out(self, answers: PersonAnswers) -> float | None:
        """The share where no answer is left, since all were impossible."""
        return 1.0 if any(item.reason == "impossible" for item in answers.left_out) else None


def are_impossible(
    response_time_ms: Sequence[float], server_time_ms: Sequence[float]
) -> list[bool]:
    """Mark the response times that are longer than the server's clock allows.

    Args:
        response_time_ms: As the page said.
        server_time_ms: Milliseconds from the arrival of the answer before to that of this one.
    """
    arrived = list(accumulate(server_time_ms))
    found: list[bool] = []
    free = 0.0  # when the person can have turned to the next step at the earliest
    for number, claimed in enumerate(response_time_ms):
        before = number - LOOK_AHEAD - 1
        sent = arrived[before] if before >= 0 else 0.0
        finished = max(free, sent) + claimed
        found.append(finished > arrived[number] + CLOCK_TOLERANCE_MS)
        free = min(finished, arrived[number])
    return found


@dataclass(frozen=True)
class ClocksDisagree:
    """People whose browser's clock and the server's tell different times, where both time the same answers.

    The server's interval goes from the report that a target appeared to the answer's arrival, so that it differs by
    how long the two messages were on their way. Who makes times up, or has a very uneven connection, is found so.
    """

    key: ClassVar[str] = "clocks_disagree"
    by_ms: float
    share_above: float

    @property
    def words(self) -> str:
        """The rule in words, for the preregistration."""
        return (
            f"People are excluded of whose answers more than {self.share_above:.0%} have a response time by the "
            f"browser's clock that differs from the server's interval by more than {self.by_ms:g} ms."
        )

    def decide(self, answers: PersonAnswers, earlier: Collection[str]) -> float | None:
        """The share of answers about which the clocks disagree; nobody is excluded of whom no interval is known."""
        left_out = [
            (item.time_ms, item.interval_ms) for item in answers.left_out if item.key is not None
        ]
        pairs = [*zip(answers.response_time_ms, answers.interval_ms, strict=False), *left_out]
        known = [abs(time - interval) for time, interval in pairs if interval is not None]
        if not known:
            return None
        value = sum(difference > self.by_ms for difference in known) / len(known)
        return value if value > self.share_above else None


@dataclass(frozen=True)
class FastAnswers:
    """People with many fast answers."""

    key: ClassVar[str] = "fast_answers"
    below_ms: float
    share_above: float

    @property
    def words(self) -> str:
        """The rule in words, for the preregistration."""
        share = f"{self.share_above:.0%} of their answers"
        return f"People with more than {share} faster than {self.below_ms:g} ms are excluded."

    def decide(self, answers: PersonAnswers, earlier: Collection[str]) -> float | None:
        """The share of fast answers; nobody is excluded whose times are not known."""
        times = answers.all_times_ms
        if not times:
            return None
        value = sum(time < self.below_ms for time in times) / len(times)
        return value if value > self.share_above else None


@dataclass(frozen=True)
class OneKey:
    """People who press one key."""

    key: ClassVar[str] = "one_key"
    share_above: float

    @property
    def words(self) -> str:
        """The rule in words, for the preregistration."""
        return f"People who chose the same side in more than {self.share_above:.0%} of their answers are excluded."

    def decide(self, answers: PersonAnswers, earlier: Collection[str]) -> float | None:
        """The share of the side chosen most often."""
        chosen = answers.all_chosen
        if not chosen:
            return None
        value = max(Counter(chosen).values()) / len(chosen)
        return value if value > self.share_above else None


@dataclass(frozen=True)
class ConstantAlternation:
    """People who change sides all the time."""

    key: ClassVar[str] = "alternation"
    share_above: float

    @property
    def words(self) -> str:
        """The rule in words, for the preregistration."""
        return f"People who changed sides after more than {self.share_above:.0%} of their answers are excluded."

    def decide(self, answers: PersonAnswers, earlier: Collection[str]) -> float | None:
        """The share of answers to another side than the answer before."""
        pairs = list(zip(answers.chosen, answers.chosen[1:], strict=False))
        if not pairs:
            return None
        value = sum(first != second for first, second in pairs) / len(pairs)
        return value if value > self.share_above else None


@dataclass(frozen=True)
class FailedChecks:
    """People who fail attention checks."""

    key: ClassVar[str] = "failed_checks"
    above: int

    @property
    def words(self) -> str:
        """The rule in words, for the preregistration."""
        return f"People who failed more than {self.above} attention check{'' if self.above == 1 else 's'} are excluded."

    def decide(self, answers: PersonAnswers, earlier: Collection[str]) -> float | None:
        """The number of failed checks."""
        value = sum(not passed for passed in answers.checks)
        return float(value) if value > self.above else None


@dataclass(frozen=True)
class ComprehensionAttempts:
    """People who needed many attempts at the comprehension check."""

    key: ClassVar[str] = "comprehension"
    attempts_above: int

    @property
    def words(self) -> str:
        """The rule in words, for the preregistration."""
        return (
            f"People who needed more than {self.attempts_above} "
            f"attempt{'' if self.attempts_above == 1 else 's'} at the comprehension check are excluded."
        )

    def decide(self, answers: PersonAnswers, earlier: Collection[str]) -> float | None:
        """The person's number of attempts, if there were too many; else None."""
        value = answers.comprehension_attempts
        return float(value) if value > self.attempts_above else None


@dataclass(frozen=True)
class MissingAnswers:
    """People who let the time for many trials run out, or sessions of a language model that gave no answer to them."""

    key: ClassVar[str] = "missing_answers"
    share_above: float
    n_asked: int = 0
    """Presentations in each session; see `for_design`."""

    @property
    def words(self) -> str:
        """The rule in words, for the preregistration."""
        return f"Sessions without an answer to more than {self.share_above:.0%} of the trials are excluded."

    def decide(self, answers: PersonAnswers, earlier: Collection[str]) -> float | None:
        """The share of trials without an answer."""
        value = 1 - len(answers.trial) / self.n_asked
        return value if value > self.share_above + 1e-9 else None


def for_design(rules: Sequence[ExclusionRule], n_asked: int) -> list[ExclusionRule]:
    """The rules for people of whom each was asked ``n_asked`` presentations, where a rule depends on it."""
    return [
        replace(rule, n_asked=n_asked)
        if isinstance(rule, IncompleteAnswers | MissingAnswers)
        else rule
        for rule in rules
    ]


@dataclass(frozen=True)
class Exclusion:
    """One person, one broken rule, and the number that decided."""

    place: int
    """Place of the participant's responses among those examined."""
    rule: ExclusionRule
    value: float


def exclude(
    people: Sequence[PersonAnswers], rules: Sequence[ExclusionRule], earlier: Collection[str] = ()
) -> list[Exclusion]:
    """Every rule that somebody breaks, for all of ``people`` in the order in which they answered.

    Args:
        people: What they did.
        rules: Each is tried on everybody, so that it can be told what each of them excludes.
        earlier: Pseudonyms of people in earlier experiments. They count for a `RepeatedParticipation` in
            the whole campaign.
    """
    found: list[Exclusion] = []
    before: list[str] = []
    for place, answers in enumerate(people):
        for rule in rules:
            seen = (
                [*before, *earlier]
                if isinstance(rule, RepeatedParticipation) and rule.in_campaign
                else before
            )
            value = rule.decide(answers, seen)
            if value is not None:
                found.append(Exclusion(place, rule, value))
        if answers.trial:  # who left before the first trial may come back
            before.append(answers.person)
    return found
