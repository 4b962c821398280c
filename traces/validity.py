"""Validity of records: those hold that are known, not erased, and derived only from records that hold."""

from collections import defaultdict, deque
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass

from lakatos.traces.digest import Digest
from lakatos.traces.journal import INTENT, Event

ERASES = "erases"
"""Field of a record that, once written, erases all records that it lists, as one tombstone each would; such a record
has a ``reason`` too."""


@dataclass(frozen=True, slots=True)
class ValidityLink:
    """One record on the way from a record that does not hold to the reason."""

    digest: Digest
    name: str
    """Name of the step that recorded it; empty where it is unknown."""
    problem: str
    """Reason why it does not hold."""


class Validity:
    """Validity over the transitive closure of inputs, kept up to date as events arrive.

    Each event costs the number of its inputs; a tombstone costs the number of records downstream of its target.
    Whatever a record was derived from must be known, or the record does not hold: unknown means invalid.
    """

    def __init__(
        self,
        events: Iterable[Event] = (),
        *,
        roots: Container[Digest] | Callable[[Digest], bool] = frozenset(),
        acts: Container[str] = frozenset(),
    ) -> None:
        """Learn what rests on what from ``events``, the first ones of a journal.

        Args:
            events: Events in the order of the journal.
            roots: Digests that need no record: artifacts (`ArtifactStore.has`) and declared external sources.
            acts: Kinds of records of what was done, such as asking people. What was done stays done, whatever becomes
                of the evidence on which it was decided; only its own tombstone ends it.
        """
        self._acts = acts
        self._is_root: Callable[[Digest], bool] = roots if callable(roots) else roots.__contains__
        self._inputs: dict[Digest, tuple[Digest, ...]] = {}
        self._names: dict[Digest, str] = {}
        self._dependents: dict[Digest, list[Digest]] = defaultdict(list)
        self._erased: dict[Digest, str] = {}
        self._holds: set[Digest] = set()
        for event in events:
            self.add(event)

    def add(self, event: Event) -> None:
        """Take one more event into account."""
        if event.kind == INTENT or event.record_digest in self._inputs:
            return
        digest, inputs = event.record_digest, event.inputs
        if event.is_bare:
            self._erase(digest, "a person withdrew")
        if event.kind == "tombstone":
            target = str(event.body["target"])
            # The tombstone may cite what it erases; it stands all the same.
            inputs = tuple(cited for cited in inputs if cited != target)
            self._erase(target, str(event.body["reason"]))
        elif event.kind in self._acts:
            inputs = ()
        if erased := event.body.get(ERASES):
            # One record erases all of them or, cut short, none; it may cite them and stands all the same.
            inputs = tuple(cited for cited in inputs if cited not in erased)
            for target in erased:
                self._erase(str(target), str(event.body["reason"]))
        self._inputs[digest], self._names[digest] = inputs, event.name
        for cited in dict.fromkeys(inputs):
            self._dependents[cited].append(digest)
        self._settle(digest)

    def valid(self, digest: Digest) -> bool:
        """Whether a record (or a root) holds."""
        return digest in self._holds or self._root_holds(digest)

    def explain(self, digest: Digest) -> list[ValidityLink]:
        """The shortest way from a record to an erased or unknown one; empty if the record holds."""
        if self.valid(digest):
            return []
        came_from: dict[Digest, Digest | None] = {digest: None}
        queue = deque([digest])
        while queue:
            current = queue.popleft()
            if current in self._erased or current not in self._inputs:
                way = [current]
                while (previous := came_from[way[-1]]) is not None:
                    way.append(previous)
                return [self._link(step, last=step == current) for step in reversed(way)]
            for cited in self._inputs[current]:
                if cited not in came_from and not self.valid(cited):
                    came_from[cited] = current
                    queue.append(cited)
        # Only a forged journal, whose records cite each other in a circle, gets here.
        return [ValidityLink(digest, self._names[digest], "cites itself through its inputs")]

    def downstream(self, digest: Digest) -> list[Digest]:
        """Everything derived from a record, nearest first; the record itself is not included."""
        found: dict[Digest, None] = {}
        queue = deque([digest])
        while queue:
            for dependent in self._dependents.get(queue.popleft(), ()):
                if dependent not in found and dependent != digest:
                    found[dependent] = None
                    queue.append(dependent)
        return list(found)

    def _root_holds(self, digest: Digest) -> bool:
        return digest not in self._inputs and digest not in self._erased and self._is_root(digest)

    def _erase(self, target: Digest, reason: str) -> None:
        self._erased.setdefault(target, reason)
        self._holds.discard(target)
        stack = [target]
        while stack:  # whatever holds below the target is reached through records that hold
            for dependent in self._dependents.get(stack.pop(), ()):
                if dependent in self._holds:
                    self._holds.discard(dependent)
                    stack.append(dependent)

    def _settle(self, digest: Digest) -> None:
        """Decide on a new record, and on earlier ones that cite it and waited for it."""
        queue = deque([digest])
        while queue:
            current = queue.popleft()
            if current in self._holds or current in self._erased:
                continue
            if all(self.valid(cited) for cited in self._inputs[current]):
                self._holds.add(current)
                queue.extend(self._dependents.get(current, ()))

    def _link(self, digest: Digest, *, last: bool) -> ValidityLink:
        if not last:
            problem = "was derived from the next"
        elif digest in self._erased:
            problem = f"was erased: {self._erased[digest]}"
        else:
            problem = "is unknown: no record, artifact or declared root has this digest"
        return ValidityLink(digest, self._names.get(digest, ""), problem)
