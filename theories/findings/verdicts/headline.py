"""The verdict in one sentence: one of three, by rules that every page, command and record shares.

A new theory is better than every published one; or none was shown to be better; or these data show no misfit of the
leading theory. Each states the misfit ratio of the leading theory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from lakatos.experiments.interval import LEAST_UNITS
from lakatos.theories.engine.scoreboard import Scoreboard
from lakatos.theories.engine.scoring.unexplained import ErrorRatio
from lakatos.theories.findings.verdicts.record import EXPLORATORY, CampaignConcluded
from lakatos.traces.wording import in_a_list, plural

NO_FINDING = "No finding"
"""Beginning of the verdict on too few participants."""
MISFIT_RATIO = (
    "the squared error on the presented trials after fitting the parameters, divided by its mean in data simulated "
    "from the theory"
)
"""Definition of the ratio, for pages."""
Verdict = Literal["better", "published", "nothing_left"]


def verdict_of(
    *,
    is_ahead: bool,
    is_new: bool,
    is_above_guessing: bool,
    is_ahead_of_published: bool | None,
    left: ErrorRatio | None,
) -> Verdict:
    """Decide which of the three verdicts the data support.

    Args:
        is_ahead: Whether the leading theory is ahead of every initial theory in every comparison of the report, the
            leaderboard among them, with at least ten participants.
        is_new: Whether its form was not published before, under whatever name.
        is_above_guessing: Whether it predicts better than guessing beyond chance.
        is_ahead_of_published: Whether it is ahead of the best published theory of the task that was estimated from the
            same responses; None where none was.
        left: What it leaves unexplained; None where this could not be measured.
    """
    if is_ahead and is_new and is_above_guessing and is_ahead_of_published is not False:
        return "better"
    if left is not None and not left.is_above_one:
        return "nothing_left"
    return "published"


def is_better(concluded: CampaignConcluded, *, is_published: bool = False) -> bool:
    """Whether a verdict states that a new theory is better than every published one.

    Args:
        concluded: The verdict; one of an earlier version is read by the rules of today, as far as it records them.
        is_published: Whether the leader's form was published before, for verdicts that do not record it.
    """
    if concluded.verdict:
        return concluded.verdict == "better"
    return concluded.holds and concluded.basis != EXPLORATORY and not is_published


def ratio_in_words(left: ErrorRatio | None, theory: str = "") -> str:
    """The misfit ratio of a theory, as the end of a sentence.

    Args:
        left: What the theory leaves unexplained.
        theory: Its name, where the sentence has another subject.
    """
    ratio = f"the misfit ratio of {theory}" if theory else "its misfit ratio"
    if left is None:
        return (
            f"{ratio} could not be computed, because the data have too few distinct trials or responses cannot be "
            "simulated"
        )
    return (
        f"{ratio} on the presented trials is {left.value:.2f} (1 is expected if the theory is true; 90% interval "
        f"{left.low:.2f} to {left.high:.2f})"
    )


def weak_support(left: ErrorRatio | None, others: Sequence[ErrorRatio | None]) -> str:
    """A sentence that the misfit ratio does not separate the leading theory from others; else empty.

    Args:
        left: What the leading theory leaves unexplained.
        others: The same of the other theories; None where it could not be measured.
    """
    known = [ratio for ratio in others if ratio is not None]
    n_alike = sum(not ratio.is_above_one for ratio in known)
    if left is None or left.is_above_one or not n_alike:
        return ""
    whose = (
        f"{n_alike} of the {len(known)} other theories" if len(known) > 1 else "the other theory"
    )
    which, give = ("ratios", "give") if n_alike > 1 else ("ratio", "gives")
    return f"This is weak support: the misfit {which} of {whose} {give} no evidence of a misfit either."


def no_finding(board: Scoreboard, *, pooled: bool) -> str:
    """State that too few participants responded for any finding; else empty."""
    n_units = board.leader.score.n_units if board.standings and not pooled else None
    if n_units is None or n_units >= LEAST_UNITS:
        return ""
    return (
        f"{NO_FINDING}: {plural(n_units, 'participant')} responded, and with fewer than {LEAST_UNITS} no difference is "
        "claimed."
    )


def headline(
    verdict: Verdict,
    leader: str,
    published: str,
    left: ErrorRatio | None,
    marks: Sequence[str],
    *,
    is_ahead_of_published: bool | None = True,
    n_others: int = 0,
    behind: str = "",
) -> str:
    """The verdict in one sentence.

    Args:
        verdict: Verdict of `verdict_of`.
        leader: Name of the leading theory.
        published: Name of the published (or initial) theory that it was not shown to be better than; the leader's own
            where the leader is published.
        left: What the leader leaves unexplained.
        marks: Properties of trials and participants that mark what is left.
        is_ahead_of_published: As of `verdict_of`; where it is None, only the initial theories were compared.
        behind: The closest initial theory, in words, where the leader is ahead of all initial ones.
        n_others: Number of theories beside ``published`` from which the data do not separate the leading one.
    """
    rest = ""
    if marks and left and left.is_above_one:
        rest = f"; the misfit is related to {in_a_list(marks)}"
    words = ratio_in_words(left)
    if verdict == "nothing_left" and behind:
        return f"{leader} predicts better than {behind}, and these data give no evidence of a misfit: {words}."
    others = f" and {plural(n_others, 'other theory', 'other theories')}" if n_others else ""
    undecided = f"Undecided: {leader} was not shown to predict better than {published}{others}"
    if verdict == "nothing_left" and leader != published:
        return f"{undecided}; these data give no evidence of its misfit: {words}."
    if verdict == "nothing_left":
        best, these = (
            ("No theory was shown to predict best, and ", "these") if n_others else ("", "These")
        )
        return f"{best}{these} data give no evidence of a misfit of {leader}: {words}."
    if verdict == "published":
        if leader == published:
            return f"No theory was shown to predict better than {published}; {words}{rest}."
        return f"{undecided}; {ratio_in_words(left, leader)}{rest}."
    others = "published one" if is_ahead_of_published else "initial theory"
    return f"{leader}, a new theory, predicts better than every {others}; {words}{rest}."
