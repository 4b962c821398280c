"""The verdict in one sentence: one of three, by rules that every page, command and record shares.

A new theory is better than every published one; or none better than the published one was found; or nothing is left
that these data can show. Each states how much is left unexplained.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from lakatos.theories.engine.scoring.unexplained import ErrorRatio
from lakatos.theories.findings.verdicts.record import EXPLORATORY, CampaignConcluded

Verdict = Literal["better", "published", "nothing_left"]


def verdict_of(
    *,
    is_ahead: bool,
    is_new: bool,
    is_above_guessing: bool,
    is_ahead_of_published: bool | None,
    left: ErrorRatio | None,
) -> Verdict:
    """Which of the three verdicts the data support.

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


def ratio_in_words(left: ErrorRatio | None) -> str:
    """How much is left unexplained, as the end of a sentence."""
    if left is None:
        return (
            "how much is left unexplained could not be measured, because the data have too few distinct trials or "
            "responses cannot be simulated"
        )
    return (
        f"its error on the presented trials is {left.value:.2f} times the sampling noise "
        f"(90% interval {left.low:.2f} to {left.high:.2f})"
    )


def headline(
    verdict: Verdict,
    leader: str,
    published: str,
    left: ErrorRatio | None,
    marks: Sequence[str],
    *,
    is_ahead_of_published: bool | None = True,
) -> str:
    """The verdict in one sentence.

    Args:
        verdict: Of `verdict_of`.
        leader: Name of the leading theory.
        published: Name of the published (or initial) theory that it was not shown to be better than; the leader's own
            where the leader is published.
        left: What the leader leaves unexplained.
        marks: Properties of trials and participants that mark what is left.
        is_ahead_of_published: As of `verdict_of`; where it is None, only the initial theories were compared.
    """
    rest = f", marked by {', '.join(marks)}" if marks and left and left.is_above_one else ""
    words = ratio_in_words(left)
    if verdict == "nothing_left":
        return f"Nothing is left that these data can show: {leader} leads, and {words}."
    if verdict == "published":
        leads = "" if leader == published else f"{leader} leads, and "
        return f"No theory was found that predicts better than {published}; {leads}{words}{rest}."
    others = "published one" if is_ahead_of_published else "initial theory"
    return f"{leader}, a new theory, predicts better than every {others}; {words}{rest}."
