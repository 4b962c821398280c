import asyncio
import os
import signal
import subprocess
import sys
import threading
from typing import Literal

import pytest

from lakatos.traces.errors import ReadOnlyError, RecordError, StepInterruptedError, StepResultError
from lakatos.traces.fold import canonical_digest, canonical_form, fold
from lakatos.traces.journal import INTENT, Journal
from lakatos.traces.record import Record, Tombstone
from lakatos.traces.step import JOURNAL_FILE, Trace, step_rng
from lakatos.traces.verify import verify


class Draw:
    """A step that counts how often it ran."""

    def __init__(self, record_type, error=None):
        self.record_type, self.error, self.n_runs = record_type, error, 0

    async def __call__(self, context):
        self.n_runs += 1
        await asyncio.sleep(0)
        if self.error:
            raise self.error
        return self.record_type(value=context.rng.random())


def step(trace, function, **options):
    options = {"returns": function.record_type, "position": {"number": 1}} | options
    return asyncio.run(trace.step("draw", function, **options))


def test_a_recorded_step_is_returned_and_not_run_again(trace, drawn):
    draw = Draw(drawn)
    first = step(trace, draw)
    assert step(trace, draw) == first
    assert draw.n_runs == 1
    assert trace.recorded("draw", (), {"number": 1}) == first
    assert trace.recorded("draw", (), {"number": 2}) is None
    assert trace.get(first.digest, drawn) == first.record
    assert list(trace.records(drawn)) == [first]


def test_an_intent_is_written_before_the_step_runs(trace, drawn):
    def draw(context):
        assert [event.kind for event in trace.journal.events()] == [INTENT]
        assert trace.journal.attempts(context.key) == 1
        return drawn(value=0.5)

    asyncio.run(trace.step("draw", draw, returns=drawn))
    assert [event.kind for event in trace.journal.events()] == [INTENT, "drawn"]


@pytest.mark.parametrize("effect", ["repeatable", "external"])
def test_an_intent_says_whether_running_again_does_harm_and_what_is_noted(trace, drawn, effect):
    def draw(context):
        context.note({"try": 1})
        return drawn(value=0.5)

    def begin():
        return {"try": 0}

    asyncio.run(trace.step("draw", draw, returns=drawn, effect=effect))
    asyncio.run(
        trace.step("draw", draw, returns=drawn, effect=effect, note=begin, position={"number": 2})
    )
    intents = [event.body for event in trace.journal.events() if event.kind == INTENT]
    noted = [{"effect": effect, "note": {"try": number}} for number in range(2)]
    assert intents == [{"effect": effect}, noted[1], *noted]


def test_notes_are_written_at_once_and_are_no_part_of_the_canonical_form(tmp_path, drawn):
    forms = []
    for number, details in enumerate([[], [{"try": 1}, {"try": 2}]]):

        def step(context, details=details):
            for detail in details:
                context.note(detail)
            return drawn(value=1)

        with Trace.create(tmp_path / str(number), seed=1, types={"drawn": drawn}) as trace:
            note = (lambda: {"reserved": 3}) if details else None
            asyncio.run(trace.step("draw", step, returns=drawn, note=note))
            asyncio.run(trace.step("draw", step, returns=drawn, note=note))
            intents = [event for event in trace.journal.events() if event.kind == INTENT]
            assert [event.body.get("note") for event in intents] == (
                [{"reserved": 3}, *details] if details else [None]
            )
            assert {event.attempt for event in intents} == {1}
            forms.append(canonical_form(trace.journal.events()))
        assert verify(tmp_path / str(number), {"drawn": drawn}, unsigned=True).ok
    assert forms[0] == forms[1]


@pytest.mark.parametrize("fails", [False, True])
def test_a_last_note_is_written_with_the_result_or_before_the_step_fails(trace, drawn, fails):
    seen = []

    def work(context):
        context.note({"try": 1})
        context.last_note({"try": 2})
        seen.append([event.body.get("note") for event in trace.journal.events()])
        if fails:
            raise ValueError("no")
        return drawn(value=1)

    if fails:
        with pytest.raises(ValueError, match="no"):
            asyncio.run(trace.step("draw", work, returns=drawn))
    else:
        asyncio.run(trace.step("draw", work, returns=drawn))
    assert seen == [[None, {"try": 1}]]
    notes = [event.body.get("note") for event in trace.journal.events() if event.kind == INTENT]
    assert notes == [None, {"try": 1}, {"try": 2}]
    assert sum(event.kind != INTENT for event in trace.journal.events()) == (not fails)


def test_a_step_whose_note_raises_is_not_begun(trace, drawn):
    def refuse():
        raise ValueError("no money left")

    with pytest.raises(ValueError, match="no money left"):
        asyncio.run(trace.step("draw", lambda context: drawn(value=1), returns=drawn, note=refuse))
    assert list(trace.journal.events()) == []
    assert asyncio.run(
        trace.step("draw", lambda context: drawn(value=1), returns=drawn)
    ).record == drawn(value=1)


def test_a_step_asked_for_twice_at_once_runs_once(trace, drawn):
    draw = Draw(drawn)

    async def both():
        return await asyncio.gather(*(trace.step("draw", draw, returns=drawn) for _ in range(5)))

    assert len(set(asyncio.run(both()))) == 1
    assert draw.n_runs == 1


def test_a_step_asked_for_in_several_threads_runs_once(trace, drawn):
    draw = Draw(drawn)
    threads = [threading.Thread(target=step, args=(trace, draw)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert draw.n_runs == 1


def test_random_numbers_depend_on_seed_and_place_only(trace, drawn, tmp_path):
    numbers = [
        step(trace, Draw(drawn), position={"number": number}).record.value for number in (1, 2)
    ]
    with Trace.create(tmp_path / "other", seed=7, types={"drawn": drawn}) as other:
        again = [
            step(other, Draw(drawn), position={"number": number}).record.value for number in (2, 1)
        ]
    assert numbers == again[::-1]
    assert numbers[0] != numbers[1]
    assert step_rng(1, "a" * 64).random() != step_rng(2, "a" * 64).random()


def test_random_numbers_follow_from_the_place_and_not_from_the_numbers_computed_before(
    tmp_path, drawn
):
    def values(folder, identity, first):
        with Trace.create(
            tmp_path / folder, seed=7, types={"drawn": drawn}, identity=identity
        ) as trace:
            before = trace.record(drawn(value=first), name="fit")
            found = step(trace, Draw(drawn), inputs=[before.digest], position={"cycle": 1})
            other = step(trace, Draw(drawn), inputs=[before.digest], position={"cycle": 2})
        return found.record.value, other.record.value

    one = values("one", "a" * 64, 0.5)
    assert one == values("rounded", "a" * 64, 0.5 + 1e-15)
    assert one[0] != one[1]
    assert one != values("another", "b" * 64, 0.5)
    # Journals of earlier versions name no identity: random numbers follow from the step's key.
    assert values("old", "", 0.5) != values("old_rounded", "", 0.5 + 1e-15)


def test_a_trace_that_is_opened_again_draws_the_same_random_numbers(tmp_path, drawn):
    with Trace.create(tmp_path / "one", seed=7, types={"drawn": drawn}, identity="a" * 64) as trace:
        value = step(trace, Draw(drawn)).record.value
    Trace.create(tmp_path / "two", seed=7, types={"drawn": drawn}, identity="a" * 64).close()
    with Trace.open(tmp_path / "two", {"drawn": drawn}) as again:
        assert step(again, Draw(drawn)).record.value == value


def test_a_step_that_raises_can_be_tried_again(trace, drawn):
    with pytest.raises(ConnectionError):
        step(trace, Draw(drawn, ConnectionError()))
    step(trace, Draw(drawn))
    assert [(event.kind, event.attempt) for event in trace.journal.events()] == [
        (INTENT, 1),
        (INTENT, 2),
        ("drawn", 2),
    ]


def test_an_external_step_that_was_cut_short_waits_for_a_person(trace, drawn):
    with pytest.raises(ConnectionError):
        step(trace, Draw(drawn, ConnectionError()), effect="external")
    draw = Draw(drawn)
    with pytest.raises(
        StepInterruptedError, match=r"'draw' at {'number': 1} was cut short.*retry_external=True"
    ):
        step(trace, draw, effect="external")
    assert draw.n_runs == 0
    step(trace, draw, effect="external", retry_external=True)
    assert draw.n_runs == 1


def test_what_an_external_step_did_can_be_recorded_by_hand(trace, drawn):
    with pytest.raises(ConnectionError):
        step(trace, Draw(drawn, ConnectionError()), effect="external")
    by_hand = trace.record(drawn(value=0.25), name="draw", position={"number": 1})
    assert step(trace, Draw(drawn), effect="external") == by_hand


def test_another_class_than_promised_is_not_recorded(trace, drawn, scored):
    with pytest.raises(StepResultError, match="returned Drawn instead of Scored"):
        asyncio.run(trace.step("draw", Draw(drawn), returns=scored))
    assert [event.kind for event in trace.journal.events()] == [INTENT]


def test_a_class_that_could_not_be_read_again_is_refused_before_running(trace):
    class Unlisted(Record):
        kind: Literal["unlisted"] = "unlisted"
        version: Literal[1] = 1

    draw = Draw(Unlisted)
    with pytest.raises(RecordError, match="types of this trace do not list"):
        step(trace, draw)
    assert draw.n_runs == 0


def test_an_input_that_nothing_has_is_refused_before_running(trace, drawn):
    draw = Draw(drawn)
    with pytest.raises(RecordError, match=r"cites aaaa.*which no record or artifact"):
        step(trace, draw, inputs=("a" * 64,))
    assert trace.journal.head[0] == draw.n_runs == 0


def test_records_artifacts_and_roots_can_be_inputs(tmp_path, drawn):
    with Trace.create(tmp_path / "run", seed=1, types={"drawn": drawn}, roots=("a" * 64,)) as trace:
        first = step(trace, Draw(drawn), inputs=("a" * 64, trace.artifacts.put(b"table")))
        step(trace, Draw(drawn), inputs=(first.digest,))
    assert verify(tmp_path / "run", {"drawn": drawn}, unsigned=True).ok


def test_writing_down_the_same_again_changes_nothing(trace, drawn):
    first = trace.record(drawn(value=1), name="note")
    assert trace.record(drawn(value=1), name="note") == first
    assert trace.journal.head[0] == 1


def test_writing_down_another_content_under_the_same_name_is_refused(trace, drawn):
    trace.record(drawn(value=1), name="note")
    with pytest.raises(StepResultError, match="recorded as event 1 with another content"):
        trace.record(drawn(value=2), name="note")


def test_a_read_only_trace_returns_what_is_recorded_and_runs_nothing(tmp_path, trace, drawn):
    first = step(trace, Draw(drawn))
    with Trace.open(tmp_path / "run", {"drawn": drawn}, read_only=True) as reader:
        draw = Draw(drawn)
        assert step(reader, draw) == first
        with pytest.raises(ReadOnlyError):
            step(reader, draw, position={"number": 2})
        assert draw.n_runs == 0


def test_the_state_is_a_fold_over_the_journal(trace, drawn):
    for number in range(4):
        trace.record(drawn(value=number), name="note", position={"number": number})
    assert fold(trace.journal.events(), 0.0, lambda total, event: total + event.body["value"]) == 6


def test_the_canonical_form_does_not_depend_on_order_or_attempts(tmp_path, drawn):
    forms = []
    for name, numbers in (("forwards", (1, 2)), ("backwards", (2, 1))):
        with Trace.create(tmp_path / name, seed=7, types={"drawn": drawn}) as trace:
            if name == "backwards":
                with pytest.raises(ConnectionError):
                    step(trace, Draw(drawn, ConnectionError()))
            for number in numbers:
                step(trace, Draw(drawn), position={"number": number})
            forms.append(canonical_form(trace.journal.events()))
            hashes = {event.hash for event in trace.journal.events()}
    assert forms[0] == forms[1]
    assert not any(digest.encode() in forms[1] for digest in hashes)


def campaign(folder, *options):
    script = os.path.join(os.path.dirname(__file__), "campaign.py")
    root = os.path.dirname(os.path.dirname(os.path.dirname(script)))
    return subprocess.run(
        [sys.executable, script, str(folder), *options],
        env=os.environ | {"PYTHONPATH": root},
        check=False,
    ).returncode


def canonical(folder):
    with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
        return canonical_digest(journal.events())


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("uninterrupted") / "run"
    assert campaign(folder) == 0
    return canonical(folder)


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("write", range(1, 9))  # each of four steps writes an intent and a result
def test_a_run_killed_at_any_write_resumes_to_the_same_form(
    tmp_path, uninterrupted, when, write, monkeypatch
):
    folder = tmp_path / "run"
    assert campaign(folder, when, str(write)) == -signal.SIGKILL
    with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
        assert journal.head[0] == write - (when == "before")
    assert campaign(folder) == 0
    assert canonical(folder) == uninterrupted
    # Cut short between intent and result, and only then, a step is begun a second time.
    interrupted = (write % 2 == 0) if when == "before" else (write % 2 == 1)
    with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
        assert max(event.attempt for event in journal.events()) == 1 + interrupted
    monkeypatch.syspath_prepend(os.path.dirname(__file__))
    from campaign import TYPES

    report = verify(folder, TYPES, unsigned=True)
    assert report.ok, report.failures


def test_a_run_killed_again_and_again_resumes_to_the_same_form(tmp_path, uninterrupted):
    folder = tmp_path / "run"
    while campaign(folder, "after", "2"):
        pass
    assert canonical(folder) == uninterrupted


def test_erasing_twice_with_different_targets_is_not_taken_for_one(trace, drawn):
    targets = [
        trace.record(drawn(value=n), name="note", position={"number": n}).digest for n in (1, 2)
    ]
    trace.record(Tombstone(target=targets[0], reason="withdrawn"), name="erase")
    with pytest.raises(StepResultError, match="another content"):
        trace.record(Tombstone(target=targets[1], reason="withdrawn"), name="erase")
