"""Settled comparisons and events for tests of judges."""

from dataclasses import dataclass, field

import numpy as np

from lakatos.judges.anchor import AnchorItem
from lakatos.judges.answer import JudgeAnswers
from lakatos.judges.judge import JudgeSubmission
from lakatos.traces.digest import digest_of
from lakatos.traces.journal import Event


def submission(name, **features):
    return JudgeSubmission(
        candidate=digest_of(["candidate", name]),
        incumbent=digest_of(["incumbent", name]),
        advantage=0.01,
        standard_error=0.01,
        extra_parameters=1,
        n_choices=500,
        distance=0.1,
        features=features,
    )


def item(name, label=True, *, problems=None, people=None, features=None, **strata):
    return AnchorItem(
        submission=submission(name, **(features or {})),
        label=label,
        strata={"origin": "human", **strata},
        problems=tuple(problems or (f"problem {name}",)),
        people=tuple(people or (f"people {name}",)),
        provenance="simulated",
    )


def answers(judge, probability):
    """Answers with these probabilities; NaN is a failure."""
    p = np.asarray(probability, dtype=float)
    failures = {int(place): "no answer" for place in np.flatnonzero(np.isnan(p))}
    side = np.where(np.isnan(p), 0, np.sign(np.nan_to_num(p, nan=0.5) - 0.5)).astype(int)
    return JudgeAnswers(digest_of(judge), p, side, failures)


@dataclass(frozen=True)
class Scripted:
    """A judge that answers by a function of the submission."""

    say: object
    name: str = "scripted"
    version: str = field(default="1")

    @property
    def digest(self):
        return digest_of(["scripted", self.version])

    def judge(self, submission):
        return self.say(submission)


def event(name, inputs=(), kind="noted", **body):
    digest = digest_of(name)
    return Event(
        0,
        "",
        kind,
        digest,
        str(name),
        {},
        1,
        tuple(map(digest_of, inputs)),
        body,
        digest,
        "",
        digest,
    )
