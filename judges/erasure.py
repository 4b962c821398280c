"""Measurements by judges, counted only while everything they rest on holds; and which subjects to judge again.

Nothing is deleted. A measurement cites the seat of its judge (`judges.transition.JudgeSeated`) and whatever else went
into it, such as a memory, a prompt or examples that an earlier judge chose; `traces.validity.Validity` then says
whether it holds. A judge that returns to a slot takes a new seat: what it said from the old one stays erased.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Literal

from lakatos.judges.errors import EpochMismatchError, MeasurementError
from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.record import Record
from lakatos.traces.validity import Validity, ValidityLink


class JudgeMeasured(Record):
    """A judge gave one measurement."""

    kind: Literal["measured"] = "measured"
    version: Literal[1] = 1
    subject: Fingerprint
    """The theory or pair that was judged."""
    task: str
    """The question that was judged."""
    seat: Digest
    """The `JudgeSeated` record of the judge."""
    epoch: int
    """Epoch in which the measurement began; a late one stays in it."""
    sample: int = 0
    """Number of the repetition; deterministic judges have only 0."""
    value: float


class JudgeMeasurements:
    """All measurements of a run, read through validity."""

    def __init__(self, validity: Validity) -> None:
        """Use the validity of the run's trace, which the caller keeps up to date."""
        self.validity = validity
        self._by_subject: dict[Digest, dict[Digest, JudgeMeasured]] = defaultdict(dict)
        self._known: dict[tuple[Digest, str, Digest, int], tuple[Digest, float]] = {}

    def add(self, digest: Digest, measured: JudgeMeasured, epoch: int) -> bool:
        """Take a measurement in; True if it is a new one, False if it only repeats one that is known.

        Args:
            digest: Digest of its record.
            measured: The record.
            epoch: Epoch that is open now.

        Raises:
            MeasurementError: It is of a future epoch, or the same was measured before with another value.
        """
        if measured.epoch > epoch:
            raise MeasurementError(
                f"the measurement of {measured.subject[:8]} belongs to judge epoch {measured.epoch}, and epoch "
                f"{epoch} is open, which is earlier. Measure it again."
            )
        key = (measured.subject, measured.task, measured.seat, measured.sample)
        if key in self._known:
            if self._known[key][1] != measured.value:
                raise MeasurementError(
                    f"{measured.subject[:8]} was measured twice as sample {measured.sample} of {measured.task!r} by "
                    f"one judge, as {self._known[key][1]} and {measured.value}; number repeats of a judge that varies."
                )
            return False
        self._known[key] = digest, measured.value
        self._by_subject[measured.subject][digest] = measured
        return True

    def valid(self, subject: Digest) -> dict[Digest, JudgeMeasured]:
        """Measurements of a subject that hold."""
        return {
            digest: item
            for digest, item in self._by_subject[subject].items()
            if self.validity.valid(digest)
        }

    def mean(self, subject: Digest, epoch: int | None = None) -> float | None:
        """Mean over the measurements that hold; None where there are none.

        Args:
            subject: What was judged.
            epoch: Demand that all are of this epoch.

        Raises:
            EpochMismatchError: They are of several epochs, or not of the one demanded; names both.
        """
        found = list(self.valid(subject).values())
        if (
            epoch is not None
            and (other := next((item.epoch for item in found if item.epoch != epoch), None))
            is not None
        ):
            raise EpochMismatchError(
                f"measurements of {subject[:8]} are of judge epochs {other} and {epoch}; means are only of "
                "one epoch. Judge it again in the current one."
            )
        return sum(item.value for item in found) / len(found) if found else None

    def to_rescore(self, wanted: Mapping[Digest, float] | None = None) -> list[Digest]:
        """Subjects that lost measurements, most wanted first: by the fewest that hold, then by what is given.

        Args:
            wanted: How much the search wants each subject, such as a Thompson draw; larger comes first.
        """
        have = {
            subject: (len(self.valid(subject)), len(items))
            for subject, items in self._by_subject.items()
        }
        lost = [subject for subject, (n_valid, n) in have.items() if n_valid < n]
        want = wanted or {}
        return sorted(
            lost, key=lambda subject: (have[subject][0], -want.get(subject, 0.0), subject)
        )

    def explain(self, digest: Digest) -> list[ValidityLink]:
        """The way from a measurement to what does not hold; empty if it holds."""
        return self.validity.explain(digest)
