"""Everything that was learned: a fold over the traces, the same byte for byte whenever it is made.

Nothing leaves the library. A lesson that was corrected is passed over, one whose evidence no longer holds is flagged
and counts less, uses that a displaced judge called successes do not count, and a tool that failed is no longer offered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal, TypeVar

from lakatos.memory.errors import LessonError, LibraryCorruptError, ToolUnavailableError
from lakatos.memory.item import (
    Fact,
    PlanUsed,
    ToolRefused,
    ToolValidated,
    ToolWithdrawn,
)
from lakatos.memory.plan import Plan
from lakatos.memory.signature import canonical_form
from lakatos.memory.tool import ToolDraft, ToolStanding, after
from lakatos.memory.verb import LaboratoryVerb
from lakatos.memory.winner import TheoryWon
from lakatos.traces.digest import Digest, canonical_json, digest_bytes
from lakatos.traces.errors import RecordError
from lakatos.traces.journal import Event
from lakatos.traces.record import Record, RecordTypes, body_of, kind_of, parse_record

R = TypeVar("R", bound=Record)
Valid = Callable[[Digest], bool]
"""Whether a record still holds; see `traces.validity.Validity.valid`."""
LIBRARY_VERSION: Final = 1
DOUBTFUL_WEIGHT: Final = 0.5
"""Weight of a lesson whose evidence is no longer valid."""


class Pitfall(Record):
    """A mistake, the situation that leads to it, and its consequence."""

    kind: Literal["pitfall"] = "pitfall"
    version: Literal[1, 2] = 2
    domain: str
    trigger: str
    """The situation: the diagnosis, or the work in progress."""
    mistake: str
    """The change that was made, in the grammar's words."""
    consequence: str
    evidence: tuple[Digest, ...]
    """Records that show it."""
    justified_by: tuple[Digest, ...] = ()
    """The judges' verdict on which it rests and their seats; empty if it rests on records alone."""


Lesson = Plan | Fact | Pitfall | TheoryWon
RECORDS: Final[RecordTypes] = {
    kind_of(record): record
    for record in (
        Pitfall,
        Plan,
        Fact,
        TheoryWon,
        PlanUsed,
        ToolDraft,
        ToolValidated,
        ToolRefused,
        ToolWithdrawn,
    )
}
"""All that memory is made of, for the table of a trace's types."""


def always(digest: Digest) -> bool:
    """Say of every record that it holds."""
    return True


def holds(digest: Digest, item: Record, valid: Valid) -> bool:
    """Whether an entry still counts: its own record holds, and so does what justified it."""
    return valid(digest) and all(map(valid, getattr(item, "justified_by", ())))


def weight_of(digest: Digest, item: Record, valid: Valid) -> float:
    """Return the weight of a lesson: less where its evidence no longer holds."""
    return 1.0 if holds(digest, item, valid) else DOUBTFUL_WEIGHT


@dataclass(frozen=True)
class Library:
    """All lessons and tools, in the order in which they were learned."""

    entries: tuple[tuple[Digest, Record], ...] = ()
    doubted: frozenset[Digest] = frozenset()
    """Entries that do not count in the trace that they come from."""

    def counting(self, valid: Valid = always) -> Valid:
        """Return the test for records that count, without those that are doubted where they come from."""
        return lambda digest: digest not in self.doubted and valid(digest)

    def joined(self, other: Library) -> Library:
        """This library followed by all entries of another one."""
        entries = dict(self.entries) | {
            digest: item for digest, item in other.entries if digest not in self._known
        }
        return Library(tuple(entries.items()), self.doubted | other.doubted)

    @cached_property
    def _known(self) -> frozenset[Digest]:
        return frozenset(digest for digest, _ in self.entries)

    def with_record(self, digest: Digest, record: Record) -> Library:
        """The library after one more record; one that is known already is not repeated."""
        if digest in self._known:
            return self
        return Library((*self.entries, (digest, record)), self.doubted)

    def all(self, record_type: type[R]) -> tuple[tuple[Digest, R], ...]:
        """All records of a type, whether or not they still count."""
        return tuple(
            (digest, item) for digest, item in self.entries if isinstance(item, record_type)
        )

    @property
    def pitfalls(self) -> tuple[tuple[Digest, Pitfall], ...]:
        """All pitfalls of the library, with their digests."""
        return self.all(Pitfall)

    def lessons(self) -> list[tuple[Digest, Lesson]]:
        """All lessons, oldest first."""
        return [(digest, item) for digest, item in self.entries if isinstance(item, Lesson)]

    def winners(self, domain: str, valid: Valid = always) -> list[TheoryWon]:
        """The best theories of a domain, oldest first; without those whose evidence no longer holds."""
        counts = self.counting(valid)
        return [
            item
            for digest, item in self.lessons()
            if isinstance(item, TheoryWon) and item.domain == domain and holds(digest, item, counts)
        ]

    def without(self, left_out: Iterable[Digest], doubted: Iterable[Digest]) -> Library:
        """The library without some of its entries, with further ones doubted."""
        gone = frozenset(left_out)
        kept = tuple(entry for entry in self.entries if entry[0] not in gone)
        return Library(kept, self.doubted | frozenset(doubted))

    def of_kind(self, record_type: type[Record]) -> Library:
        """The library with the records of one type alone."""
        kept = self.all(record_type)
        return Library(kept, self.doubted & {digest for digest, _ in kept})

    def contradictions(self) -> list[tuple[Digest, Digest]]:
        """Pairs of facts that count and cannot both be true."""
        facts = [(digest, item) for digest, item in self.lessons() if isinstance(item, Fact)]
        return [
            (first, second)
            for place, (second, item) in enumerate(facts)
            for first, other in facts[:place]
            if item.contradicts(other)
        ]

    def changes_to_avoid(
        self, domain: str, situation: str, most: int = 5, valid: Valid = always
    ) -> tuple[str, ...]:
        """Changes that failed in situations like this one, by the pitfalls whose triggers share most words with it.

        The newest comes first among equals. A pitfall whose evidence no longer holds counts half, so that two of them
        are needed.
        """
        weights: dict[str, float] = {}
        for weight, item in self._recalled(domain, situation, most, valid):
            change = item.mistake.split("; ")[-1]
            weights[change] = weights.get(change, 0.0) + weight
        return tuple(change for change, weight in weights.items() if weight >= 1.0)

    def _recalled(
        self, domain: str, situation: str, most: int, valid: Valid
    ) -> list[tuple[float, Pitfall]]:
        """Pitfalls of situations like this one, each with how much it counts."""
        wanted, counts = words(situation), self.counting(valid)
        scored = [
            (
                len(wanted & words(item.trigger)) * weight_of(digest, item, counts),
                place,
                digest,
                item,
            )
            for place, (digest, item) in enumerate(self.pitfalls)
            if item.domain == domain
        ]
        scored.sort(key=lambda entry: (-entry[0], -entry[1]))
        found = [(digest, item) for overlap, _, digest, item in scored if overlap > 0]
        return [(weight_of(digest, item, counts), item) for digest, item in found[:most]]

    def plans_by_signature(self, valid: Valid = always) -> dict[Digest, list[Plan]]:
        """Plans that count, whose evidence still holds, by what they do."""
        counts = self.counting(valid)
        found: dict[Digest, list[Plan]] = {}
        for digest, item in self.lessons():
            if isinstance(item, Plan) and holds(digest, item, counts):
                found.setdefault(canonical_form(item.steps).digest, []).append(item)
        return found

    def plans_with(self, signature: Digest, valid: Valid = always) -> list[Plan]:
        """Plans that count, of one signature."""
        return self.plans_by_signature(valid).get(signature, [])

    def n_refused(self, signature: Digest) -> int:
        """Number of drafts of a plan that validation refused."""
        return sum(item.signature == signature for _, item in self.all(ToolRefused))

    def drafts(self) -> dict[str, tuple[Digest, ToolDraft]]:
        """The newest validated draft of each name."""
        known = dict(self.all(ToolDraft))
        return {
            item.name: (item.draft, known[item.draft])
            for _, item in self.all(ToolValidated)
            if item.draft in known
        }

    def standing(self, name: str, valid: Valid = always) -> ToolStanding:
        """Return the standing of a tool, from its uses since it was last validated.

        Raises:
            ToolUnavailableError: There is no such tool.
        """
        drafts = self.drafts()
        if name not in drafts:
            raise ToolUnavailableError(
                f"there is no learned tool {name[:80]!r}; there are: {', '.join(drafts) or 'none'}."
            )
        standing, counts = ToolStanding(), self.counting(valid)
        for digest, item in self.entries:
            if isinstance(item, ToolValidated) and item.name == name:
                standing = ToolStanding()
            elif isinstance(item, ToolWithdrawn) and item.name == name:
                status: Literal["suspended", "retired"] = (
                    "suspended" if item.until_validated else "retired"
                )
                standing = replace(standing, status=status, reason=item.reason)
            elif isinstance(item, PlanUsed) and item.tool == name and holds(digest, item, counts):
                standing = after(standing, item)
        return standing

    def changed_dependency(self, name: str, verbs: Mapping[str, LaboratoryVerb]) -> str:
        """Return the verb of a tool that is missing or changed since the tool was validated; else empty."""
        for called, digest in self.drafts()[name][1].dependencies:
            if called not in verbs or verbs[called].digest != digest:
                return called
        return ""

    def offers(
        self, verbs: Mapping[str, LaboratoryVerb], valid: Valid = always
    ) -> dict[str, tuple[ToolDraft, ToolStanding]]:
        """Learned tools that may be called, with their record of success."""
        found = {}
        for name, (_, draft) in self.drafts().items():
            standing = self.standing(name, valid)
            if standing.status == "active" and not self.changed_dependency(name, verbs):
                found[name] = (draft, standing)
        return found

    def doubtful(self, valid: Valid) -> frozenset[Digest]:
        """Lessons that count and whose evidence no longer holds."""
        counts = self.counting(valid)
        return frozenset(
            digest for digest, item in self.lessons() if not holds(digest, item, counts)
        )

    def to_bytes(self) -> bytes:
        """The library as a file: its digest on the first line, then canonical JSON."""
        entries = [[digest, kind_of(type(item)), body_of(item)] for digest, item in self.entries]
        body = canonical_json(
            {"version": LIBRARY_VERSION, "entries": entries, "doubted": sorted(self.doubted)}
        )
        return f"{digest_bytes(body)}\n".encode() + body + b"\n"


def library_from_bytes(data: bytes) -> Library:
    """Read the library that `Library.to_bytes` wrote.

    Raises:
        LibraryCorruptError: It was changed, cut short, or written by a later version.
    """
    line, _, body = data.partition(b"\n")
    body = body.removesuffix(b"\n")
    if digest_bytes(body).encode() != line:
        raise LibraryCorruptError(
            "the library of this run was changed or cut short; audit the run."
        )
    try:
        value: Any = json.loads(body)
        if value["version"] != LIBRARY_VERSION:
            raise LibraryCorruptError(
                f"the library of this run has version {value['version']} and this laboratory reads {LIBRARY_VERSION}."
            )
        entries = tuple(
            (digest, parse_record(kind, item, RECORDS)) for digest, kind, item in value["entries"]
        )
        return Library(entries, frozenset(value["doubted"]))
    except (ValueError, KeyError, TypeError, RecordError) as error:
        raise LibraryCorruptError(f"the library of this run cannot be read: {error}.") from None


def rebuild(
    events: Iterable[Event], library: Library = Library(), valid: Valid = always
) -> Library:
    """The library after the events of one more trace, of which ``valid`` says what holds.

    Traces are given one after the other in the order in which their campaigns began; then the same traces make the
    same library, byte for byte.
    """
    found, doubted = dict(library.entries), set(library.doubted)
    for event in events:
        if event.kind in RECORDS and event.record_digest not in found:
            item = found[event.record_digest] = parse_record(event.kind, event.body, RECORDS)
            if not holds(event.record_digest, item, valid):
                doubted.add(event.record_digest)
    return Library(tuple(found.items()), frozenset(doubted))


def words(text: str) -> set[str]:
    """Words without punctuation: situations are lists, "conflict, level", and so are triggers."""
    return set(re.findall(r"\w+", text.lower()))


def pitfall_from_overturned(
    domain: str,
    trigger: str,
    change: str,
    probability: float,
    advantage: float,
    experiment: str,
    evidence: tuple[Digest, ...],
    justified_by: tuple[Digest, ...] = (),
) -> Pitfall:
    """A change that looked better and was not, once new data came.

    Args:
        domain: Domain of the campaign.
        trigger: Location that the diagnosis had named.
        change: What the successor changed.
        probability: Probability that the judges gave to the successor.
        advantage: Advantage of the successor over its forerunner on the new data; negative, nats per choice.
        experiment: Name of the new experiment.
        evidence: The scores, and what the verdict was about.
        justified_by: The verdict, and the seats of the judges who gave it.

    Raises:
        LessonError: Nothing supports it.
    """
    if not evidence:
        raise LessonError(
            f"the pitfall about {change!r} cites no record; give the verdict and the scores behind it."
        )
    return Pitfall(
        domain=domain,
        trigger=trigger,
        mistake=change,
        evidence=evidence,
        justified_by=justified_by,
        consequence=(
            f"promised with probability {probability:.2f}, it lost {-advantage:.4f} nats per choice on {experiment}"
        ),
    )
