"""Bodies of records that are kept apart from the journal: read as before, erased with the responses, never guessed."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import pytest

from lakatos.traces import standalone
from lakatos.traces.apart import APART, SALT, SECRET_FILE, ApartKinds
from lakatos.traces.digest import Digest, canonical_json, digest_bytes
from lakatos.traces.journal import stored_of
from lakatos.traces.record import Record, RowsErased, Tombstone
from lakatos.traces.step import JOURNAL_FILE, Recorded, StepContext, Trace
from lakatos.traces.validity import Validity
from lakatos.traces.verify import verify


class Answered(Record):
    """A participant responded."""

    kind: Literal["answered"] = "answered"
    version: Literal[1] = 1
    answers: Digest


class Scored(Record):
    """The responses of all participants were scored."""

    kind: Literal["scored"] = "scored"
    version: Literal[1] = 1
    scores: tuple[float, ...]
    table: Digest


class Found(Record):
    """A theory was found in responses."""

    kind: Literal["found"] = "found"
    version: Literal[1] = 1
    theory: Digest
    parents: tuple[Digest, ...] = ()


class Frozen(Record):
    """Predictions of theories were frozen."""

    kind: Literal["frozen"] = "frozen"
    version: Literal[1] = 1
    predictions: Digest


class Decided(Record):
    """Something was done after a look at scores."""

    kind: Literal["decided"] = "decided"
    version: Literal[1] = 1
    what: str


TYPES = {"answered": Answered, "scored": Scored, "decided": Decided}
ACTS = frozenset(["answered", "decided"])
APART_KINDS = ApartKinds(roots=frozenset(["answered"]), stay=ACTS | {"tombstone"})
ANSWERS = (b"0110", b"0111")


def begin(folder: Path, scores: tuple[float, ...] = (-1.5, -2.5)) -> list[Recorded[Record]]:
    """A run of two participants whose scores led to a decision."""
    with Trace.create(folder, seed=1, types=TYPES, apart=APART_KINDS) as trace:
        found: list[Recorded[Record]] = [
            trace.record(Answered(answers=trace.artifacts.put(answers)), name=f"answer {number}")
            for number, answers in enumerate(ANSWERS)
        ]
        table = trace.artifacts.put_json({"all": [0, 1, 1, 0, 0, 1, 1, 1], "scores": list(scores)})
        scored = Scored(scores=scores, table=table)
        cited = [item.digest for item in found]
        found.append(trace.record(scored, name="score", inputs=cited))
        decided = Decided(what="go on")
        found.append(trace.record(decided, name="decide", inputs=[found[-1].digest]))
    return found


def withdraw(folder: Path, person: Digest) -> int:
    """Erase one participant's responses, and what was computed from them."""
    with Trace.open(folder, TYPES) as trace:
        trace.record(Tombstone(target=person, reason="withdrew"), name="erase")
        trace.artifacts.erase(trace.get(person, Answered).answers)
        return trace.erase_derived([person], acts=ACTS, sweep=True)


def bodies(folder: Path) -> list[dict[str, object]]:
    """Bodies as they stand in the journal's rows."""
    with Trace.open(folder, TYPES, read_only=True) as trace:
        return [json.loads(row.body) for row in trace.journal.store.rows()]


def test_what_derives_from_responses_is_read_from_an_artifact_and_acts_stand_in_the_journal(
    tmp_path: Path,
) -> None:
    items = begin(tmp_path / "run")
    rows = bodies(tmp_path / "run")
    assert [set(body) == {APART} for body in rows] == [False, False, True, False]
    with Trace.open(tmp_path / "run", TYPES, read_only=True) as trace:
        assert trace.get(items[2].digest, Scored).scores == (-1.5, -2.5)
        assert [item.record for item in trace.records(Scored)] == [items[2].record]
    assert verify(tmp_path / "run", TYPES, unsigned=True).ok


def test_a_withdrawal_leaves_no_number_in_any_file_of_the_run(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    items = begin(folder)
    assert withdraw(folder, items[1].digest) == 1
    stored = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"-1.5" not in stored
    with Trace.open(folder, TYPES, read_only=True) as trace:
        held = [trace.artifacts.get(digest) for digest in trace.artifacts.digests()]
        kinds = [event.kind for event in trace.journal.events()]
    assert held == [ANSWERS[0]]  # of the participant who stays
    assert kinds == ["answered", "answered", "erased", "decided", "tombstone", "rows_erased"]
    assert verify(folder, TYPES, unsigned=True).ok
    assert withdraw(folder, items[1].digest) == 0


def test_theories_that_were_found_in_withdrawn_responses_go_unless_a_frozen_plan_names_them(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "run"
    acts = frozenset(["answered", "found", "frozen"])
    kinds = ApartKinds(
        roots=frozenset(["answered"]),
        stay=frozenset(["answered", "frozen", "tombstone"]),
        named=frozenset(["found"]),
    )
    types = {"answered": Answered, "found": Found, "frozen": Frozen}
    with Trace.create(folder, seed=1, types=types, apart=kinds) as trace:
        put = trace.artifacts.put
        texts = [put(f"weight {number}".encode()) for number in range(3)]
        answered = trace.record(Answered(answers=put(ANSWERS[0])), name="answer")
        for number, parents in ((0, ()), (1, (texts[0],)), (2, (texts[1],))):
            trace.record(
                Found(theory=texts[number], parents=parents),
                name=f"check {number}",
                inputs=[answered.digest],
                position={"theory": texts[number]},
            )
        plan = trace.artifacts.put_json({"theories": [texts[1]]})
        trace.record(Frozen(predictions=plan), name="freeze", inputs=[answered.digest])
    for n_erased in (1, 0):
        with Trace.open(folder, types) as trace:
            if n_erased:
                trace.record(Tombstone(target=answered.digest, reason="withdrew"), name="erase")
            gone = [answered.digest]
            assert (
                trace.erase_derived(gone, acts=acts, made={"found": "theory"}, sweep=True)
                == n_erased
            )
            assert [trace.artifacts.has(text) for text in texts] == [True, True, False]
            left = [item.record.theory for item in trace.records(Found)]
            assert left == texts[:2]
    assert texts[2].encode() not in (folder / JOURNAL_FILE).read_bytes()
    assert verify(folder, types, unsigned=True).ok


def test_two_runs_that_differ_in_withdrawn_responses_hold_the_same_afterwards(
    tmp_path: Path,
) -> None:
    held = []
    for number, scores in enumerate([(-1.5, -2.5), (-1.5, -7.25)]):
        folder = tmp_path / str(number)
        items = begin(folder, scores)
        withdraw(folder, items[1].digest)
        with Trace.open(folder, TYPES, read_only=True) as trace:
            events = [(event.kind, event.body) for event in trace.journal.events()]
            held.append((events[:4], list(trace.artifacts.digests())))
    assert held[0] == held[1]


def test_the_digest_of_an_erased_body_cannot_be_found_by_trying_all_scores(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    items = begin(folder)
    before = (folder / SECRET_FILE).read_bytes()
    record = items[2].record.model_dump(mode="json")
    (pointer,) = [body[APART] for body in bodies(folder) if set(body) == {APART}]
    with Trace.open(folder, TYPES, read_only=True) as trace:
        row = list(trace.journal.store.rows())[2]
    withdraw(folder, items[1].digest)
    after = (folder / SECRET_FILE).read_bytes()
    assert before != after
    assert pointer != digest_bytes(canonical_json(record))
    salt = sha256(after + row.key.encode()).hexdigest()
    tried = b'{"salt":"%b","body":%b}' % (salt.encode(), canonical_json(record))
    assert pointer != digest_bytes(tried)  # the secret that is left does not lead to the salt
    salt = sha256(before + row.key.encode()).hexdigest()
    tried = b'{"salt":"%b","body":%b}' % (salt.encode(), canonical_json(record))
    assert pointer == digest_bytes(tried)  # the one that was overwritten did


def test_a_body_that_is_missing_although_nothing_was_erased_fails_the_check(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    begin(folder)
    (pointer,) = [str(body[APART]) for body in bodies(folder) if set(body) == {APART}]
    os.remove(folder / "artifacts" / pointer[:2] / pointer)
    (failure,) = verify(folder, TYPES, unsigned=True).failures
    assert failure.name == "references"
    assert "a scored record is missing, although nothing that it rests on was erased" in (
        failure.detail
    )


def test_a_changed_body_fails_the_check(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    begin(folder)
    (pointer,) = [str(body[APART]) for body in bodies(folder) if set(body) == {APART}]
    file = folder / "artifacts" / pointer[:2] / pointer
    data = file.read_bytes()  # of a salt that is drawn, so that its last byte may be anything
    file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert not verify(folder, TYPES, unsigned=True).ok


def test_an_erasure_that_was_cut_short_is_ended_by_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    items = begin(folder)
    with Trace.open(folder, TYPES) as trace:
        trace.record(Tombstone(target=items[1].digest, reason="withdrew"), name="erase")
        erase: Callable[[Digest], None] = trace.artifacts.erase
        left = [2]

        def cut(digest: Digest) -> None:
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt
            erase(digest)

        with monkeypatch.context() as patch:
            patch.setattr("lakatos.traces.artifact.ArtifactStore.erase", lambda _, name: cut(name))
            with pytest.raises(KeyboardInterrupt):
                trace.erase_derived([items[1].digest], acts=ACTS)
    with Trace.open(folder, TYPES) as trace:
        assert trace.erase_derived([items[1].digest], acts=ACTS) == 1
        assert [event.kind for event in trace.journal.events()][2] == "erased"


def test_a_journal_without_the_rule_keeps_all_bodies_and_erases_none(tmp_path: Path) -> None:
    with Trace.create(tmp_path / "run", seed=1, types=TYPES) as trace:
        item = trace.record(Answered(answers=trace.artifacts.put(b"0")), name="answer")
        scored = Scored(scores=(-1.0,), table=trace.artifacts.put(b"t"))
        trace.record(scored, name="score", inputs=[item.digest])
        assert not trace.journal.erases
        assert trace.erase_derived([item.digest], acts=ACTS, sweep=True) == 0
    assert all(APART not in body for body in bodies(tmp_path / "run"))
    assert not (tmp_path / "run" / SECRET_FILE).exists()


def test_what_was_done_stays_valid_and_readable(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    items = begin(folder)
    withdraw(folder, items[1].digest)
    with Trace.open(folder, TYPES, read_only=True) as trace:
        validity = Validity(trace.journal.events(), roots=trace.artifacts.has, acts=ACTS)
        assert validity.valid(items[3].digest)
        assert not validity.valid(items[2].digest)
        assert trace.get(items[3].digest, Decided).what == "go on"


def begin_erased(folder: Path) -> list[Recorded[Record]]:
    """A run whose second participant withdrew after the scores."""
    items = begin(folder)
    withdraw(folder, items[1].digest)
    return items


def test_an_erased_row_keeps_its_place_in_the_chain_and_nothing_else(tmp_path: Path) -> None:
    items = begin(tmp_path / "run")
    with Trace.open(tmp_path / "run", TYPES, read_only=True) as trace:
        before = list(trace.journal.store.rows())[2]
    withdraw(tmp_path / "run", items[1].digest)
    with Trace.open(tmp_path / "run", TYPES, read_only=True) as trace:
        row = list(trace.journal.store.rows())[2]
        (listed,) = trace.records(RowsErased)
    kept = (before.seq, before.record_digest, before.previous_hash, before.hash)
    assert (row.seq, row.record_digest, row.previous_hash, row.hash) == kept
    assert row.key == row.hash
    told = (row.time_utc, row.kind, row.name, row.position, row.attempt, row.inputs)
    assert told == ("", "erased", "", "{}", 0, "[]")
    assert listed.record.rows == ((3, 3),)
    stored = b"".join(path.read_bytes() for path in (tmp_path / "run").iterdir() if path.is_file())
    assert before.key.encode() not in stored
    assert before.time_utc.encode() not in stored


def test_rows_of_scores_that_began_and_of_others_that_stay_are_told_apart(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    items = begin(folder)

    def score(_: StepContext) -> Scored:
        return Scored(scores=(-3.0,), table=items[2].record.table)  # type: ignore[attr-defined]

    with Trace.open(folder, TYPES) as trace:
        for number, item in enumerate(items[:2]):
            asyncio.run(trace.step(f"alone {number}", score, returns=Scored, inputs=[item.digest]))
    withdraw(folder, items[1].digest)
    with Trace.open(folder, TYPES, read_only=True) as trace:
        names = [(event.kind, event.name) for event in trace.journal.events()]
    assert names[4:6] == [("intent", "alone 0"), ("scored", "alone 0")]
    assert names[6:8] == [("erased", ""), ("erased", "")]
    assert verify(folder, TYPES, unsigned=True).ok


def test_neither_name_nor_inputs_nor_time_of_an_erased_row_can_be_found_by_trying(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "run"
    items = begin(folder)

    def score(_: StepContext) -> Scored:
        return Scored(scores=(-3.0,), table=items[2].record.table)  # type: ignore[attr-defined]

    with Trace.open(folder, TYPES) as trace:
        asyncio.run(trace.step("alone", score, returns=Scored, inputs=[items[1].digest]))
        began, scored = map(stored_of, list(trace.journal.store.rows())[-2:])
    # What is known of the step and a reader does not find in the bundle afterwards.
    body, salt = json.loads(began.body), sha256((folder / SECRET_FILE).read_bytes() + began.key)
    assert body == {"effect": "repeatable", SALT: salt.hexdigest()}
    withdraw(folder, items[1].digest)
    after = (folder / SECRET_FILE).read_bytes()
    tried = [{"effect": "repeatable"}, {**body, SALT: sha256(after + began.key).hexdigest()}]
    for held in tried:
        guess = began._replace(body=canonical_json(held))
        assert standalone.record_digest_of(guess) != began.record_digest
    for row in (began, scored):
        assert standalone.hash_of(row) == row.hash
        short = datetime.fromisoformat(row.time_utc.decode()).isoformat(timespec="microseconds")
        assert standalone.hash_of(row._replace(time_utc=short.encode())) != row.hash
    assert verify(folder, TYPES, unsigned=True).ok


def change(folder: Path, statement: str) -> None:
    """Change a row of the journal as only its owner can, behind the triggers."""
    with closing(sqlite3.connect(folder / JOURNAL_FILE)) as sql, sql:
        (refused,) = sql.execute("SELECT sql FROM sqlite_schema WHERE name = 'event_update'")
        sql.execute("DROP TRIGGER event_update")
        sql.execute(statement)
        sql.execute(refused[0])


def test_a_row_that_is_emptied_without_a_withdrawal_fails_the_check(tmp_path: Path) -> None:
    begin(tmp_path / "run")
    change(
        tmp_path / "run",
        "UPDATE event SET time_utc = '', kind = 'erased', name = '', position = '{}', attempt = 0, inputs = '[]', "
        """body = '{"kind":"erased","version":1,"was":""}', key = hash WHERE seq = 3""",
    )
    (failure,) = verify(tmp_path / "run", TYPES, unsigned=True).failures
    assert failure.name == "chain"
    assert "event 3 has no content, and no later record lists it as erased" in failure.detail


def test_what_stands_before_an_erased_row_cannot_be_written_anew(tmp_path: Path) -> None:
    begin_erased(tmp_path / "run")
    change(
        tmp_path / "run",
        f"UPDATE event SET record_digest = '{'0' * 64}', previous_hash = previous_hash WHERE seq = 3",
    )
    failures = verify(tmp_path / "run", TYPES, unsigned=True).failures
    assert "lists erased rows ((3, 3),), which were changed" in failures[0].detail.replace(
        "[[3, 3]]", "((3, 3),)"
    )


def test_an_erasure_that_ended_between_the_list_and_the_rows_is_ended_by_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    items = begin(folder)
    with monkeypatch.context() as patch:
        patch.setattr("lakatos.traces.journal.Journal.erase_rows", _killed)
        with pytest.raises(KeyboardInterrupt):
            withdraw(folder, items[1].digest)
    assert verify(folder, TYPES, unsigned=True).ok
    with Trace.open(folder, TYPES) as trace:
        trace.erase_derived([items[1].digest], acts=ACTS)
        assert [event.is_bare for event in trace.journal.events()][2]
        assert len(list(trace.records(RowsErased))) == 1
    assert verify(folder, TYPES, unsigned=True).ok


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


class PlainBundle:
    """A run as its bundle holds it, without a list of files."""

    def __init__(self, folder: Path) -> None:
        with Trace.open(folder, TYPES, read_only=True) as trace:
            rows = [json.dumps(list(row)).encode() for row in trace.journal.store.rows()]
            meta = json.dumps(trace.journal.store.meta()).encode()
            held = {f"artifacts/{digest}": trace.artifacts.get(digest)
                    for digest in trace.artifacts.digests()}  # fmt: skip
        self.files = {
            "journal/events.jsonl": b"\n".join(rows),
            "journal/meta.json": meta,
            **held,
        }
        self.names = list(self.files)

    def read(self, name: str) -> bytes:
        return self.files[name]


def fault_of_chain(folder: Path) -> str:
    """What is wrong with the chain; a bundle's own verifier finds the same as the audit."""
    chain = next(
        check for check in verify(folder, TYPES, unsigned=True).checks if check.name == "chain"
    )
    bundle: Any = PlainBundle(folder)
    good, text = standalone.verify_run(bundle, "", "")[0]
    assert good == chain.ok
    assert good or text.removeprefix("chain: ").split("; what")[0] == chain.detail.removesuffix(".")
    return "" if chain.ok else chain.detail


def hide(folder: Path, *seqs: int) -> None:
    """List rows as erased and empty them, as an owner with the key can at any time."""
    with Trace.open(folder, TYPES) as trace:
        trace.list_erased(seqs)
        trace.journal.erase_rows(set(seqs))


def test_only_rows_between_withdrawn_responses_and_their_list_can_be_erased(tmp_path: Path) -> None:
    items = begin(tmp_path / "early")
    with Trace.open(tmp_path / "early", TYPES) as trace:
        trace.record(Tombstone(target=items[1].digest, reason="withdrew"), name="erase")
    shutil.copytree(tmp_path / "early", tmp_path / "later")
    hide(tmp_path / "early", 1, 3)
    assert "lists event 1 as erased, which stands before all responses that were withdrawn" in (
        fault_of_chain(tmp_path / "early")
    )
    hide(tmp_path / "later", 3)
    assert fault_of_chain(tmp_path / "later") == ""


@pytest.mark.parametrize("target", [None, 2, 3])
def test_no_row_is_erased_without_a_withdrawal_of_responses(
    tmp_path: Path, target: int | None
) -> None:
    items = begin(tmp_path / "run")
    if target is not None:  # a score or a decision that no longer holds is no withdrawal
        with Trace.open(tmp_path / "run", TYPES) as trace:
            trace.record(Tombstone(target=items[target].digest, reason="changed"), name="erase")
    hide(tmp_path / "run", 3)
    found = fault_of_chain(tmp_path / "run")
    assert "lists event 3 as erased, and no responses were withdrawn since the last such" in found


def test_a_withdrawal_allows_one_list_of_erased_rows(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    items = begin(folder)
    withdraw(folder, items[0].digest)
    with Trace.open(folder, TYPES) as trace:
        trace.record(Decided(what="go on again"), name="decide again")
        later = trace.journal.head[0]
    assert fault_of_chain(folder) == ""
    hide(folder, later)
    found = fault_of_chain(folder)
    assert f"lists event {later} as erased, and no responses were withdrawn since" in found


def test_a_second_withdrawal_erases_only_rows_after_its_own_responses(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    items = begin(folder)
    withdraw(folder, items[0].digest)
    with Trace.open(folder, TYPES) as trace:
        again = trace.record(
            Answered(answers=trace.artifacts.put(b"0001")), name="another participant"
        )
        trace.record(Decided(what="go on"), name="decide again", inputs=[items[1].digest])
    decided = 4  # between both arrivals
    with Trace.open(folder, TYPES) as trace:
        trace.record(Tombstone(target=again.digest, reason="withdrew"), name="erase another")
    hide(folder, decided)
    found = fault_of_chain(folder)
    assert "lists event 4 as erased, which stands before all responses that were withdrawn" in found


def test_what_rests_on_an_erased_row_is_erased_with_it(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    items = begin(folder)
    with Trace.open(folder, TYPES) as trace:
        table = trace.artifacts.put_json([1.5])
        again = Scored(scores=(-3.0,), table=table)
        trace.record(again, name="score anew", inputs=[items[2].digest])
        trace.record(Tombstone(target=items[1].digest, reason="withdrew"), name="erase")
    hide(folder, 3)
    assert "event 5 rests on event 3, which was erased, and would be erased with it" in (
        fault_of_chain(folder)
    )
    hide(folder, 5)
    assert "lists event 5 as erased, and no responses were withdrawn" in fault_of_chain(folder)


@pytest.mark.parametrize("rows", [[[1, 10**15]], [[-5, 3]], [[0, 0]], [[3, 2]], [3], [[3]], 3, None])  # fmt: skip
def test_a_list_of_erased_rows_that_cannot_be_is_refused_at_once(rows: object) -> None:
    body = json.dumps({"rows": rows, "digest": "0" * 64}).encode()
    row = standalone.StoredRow(9, b"", b"rows_erased", b"", b"", b"{}", 1, b"[]", body, b"", b"", b"")  # fmt: skip
    check = standalone.ErasureCheck({}, lambda _: False)
    try:
        check.add(row)
    except (KeyError, TypeError, ValueError):
        return
    fault = check.fault()
    assert fault is not None
    assert fault[0] == 9
