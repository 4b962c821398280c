"""Whether a candidate is worth people's time: what its judges expect of it against what asking people costs.

A plan that learned from settled candidates what every critic's word is worth, and could refine a candidate or adopt it
unseen, stood here before. It was worth no more than the panel's probability until some fifteen candidates had been
settled, which few campaigns reach (`docs/what_brought_nothing.md`).
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import model_validator

from lakatos.judges.judge import Verdict
from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.record import Record

VERIFY, QUIT = "verify", "quit"
WORTH, COST = 100.0, 50.0
"""Worth of a better theory, and cost of recruiting people for a candidate: at even odds recruiting just pays."""
EARLIER = ("family", "critics", "heard", "mends", "breaks", "tables", "n_lost", "n_won", "values")
"""Fields on which decisions of earlier versions rested besides."""


class CandidateDecided(Record):
    """Decision whether a candidate is tested on participants, with the reason."""

    kind: Literal["candidate_decided"] = "candidate_decided"
    version: Literal[1, 2] = 2
    verdict: Digest
    """The panel's prediction, which participants' responses will settle."""
    candidate: Digest
    incumbent: Digest
    cycle: int
    belief: float
    """Probability that the candidate will win."""
    action: str
    """Verify or quit; version 1 also has intermediate actions."""
    rule: str
    """The odds, or a free place in the next experiment; version 1 has other rules."""
    text: str

    @model_validator(mode="before")
    @classmethod
    def _read_version_1(cls, body: Any) -> Any:
        if not isinstance(body, dict) or body.get("version") != 1:
            return body
        return {name: value for name, value in body.items() if name not in EARLIER}


class CriticAnswered(Record):
    """A critic with a cost assessed a candidate; occurs in records of earlier versions only."""

    kind: Literal["critic_answered"] = "critic_answered"
    version: Literal[1] = 1
    critic: str
    critic_version: Fingerprint
    candidate: Digest
    incumbent: Digest
    cycle: int
    value: float
    level: int


def decide(verdict: Verdict, digest: Digest, cost: float, *, has_place: bool) -> CandidateDecided:
    """Ask people about a candidate where finding a better theory is worth it, or where asking costs nothing.

    Args:
        verdict: Verdict of the panel.
        digest: Digest of its record.
        cost: Cost of recruiting people, where a better theory is worth `WORTH`.
        has_place: Whether the candidate is among those that the next experiment compares with the leader anyway.
    """
    belief = verdict.probability
    pays = WORTH * belief >= cost
    action = VERIFY if pays or has_place else QUIT
    side = "is at least" if pays else "is below"
    odds = (
        f"the expected value of a test, {WORTH * belief:.3g}, {side} its cost, {cost:g}, if a better theory is worth "
        f"{WORTH:g}"
    )
    done = "chosen for a test" if action == VERIFY else "not tested"
    place = "few theories were ahead of it, and an experiment that includes it costs no more"
    return CandidateDecided(
        verdict=digest,
        candidate=verdict.candidate,
        incumbent=verdict.incumbent,
        cycle=verdict.cycle,
        belief=belief,
        action=action,
        rule="odds" if pays or not has_place else "place",
        text=f"{done}: {odds if pays or not has_place else place}.",
    )
