"""Branches of a run, and exact comparison of replays."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from scipy.stats import fisher_exact

from lakatos.flows.audit.audit import audit, signed_list
from lakatos.flows.branches.branch import (
    RecordEdit,
    branch,
    edited,
    find_record,
    origin_of,
    parse_edit,
)
from lakatos.flows.branches.rates import (
    ReplayArm,
    baseline_repeats,
    difference_interval,
    fisher_p,
    holm,
)
from lakatos.flows.branches.rewind import OUTCOMES, carry_branch_on, rewind
from lakatos.flows.errors import RewindError, RunMissingError
from lakatos.flows.report.limits import limits
from lakatos.flows.report.reader import RunReading
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import read_state
from lakatos.traces.fold import canonical_digest
from lakatos.traces.journal import INTENT
from lakatos.traces.record import Record
from lakatos.traces.step import StepContext, Trace
from lakatos.traces.verify import verify

sys.path.insert(0, str(Path(__file__).parent))
from rewinding import tiny_run
from small import form

# -- rates -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "n", "m", "n_base"), [(3, 10, 8, 12), (0, 5, 5, 5), (7, 7, 1, 9), (2, 40, 9, 40)]
)
def test_the_exact_test_is_fishers(k: int, n: int, m: int, n_base: int) -> None:
    table = [[k, n - k], [m, n_base - m]]
    assert fisher_p(ReplayArm(k, n), ReplayArm(m, n_base)) == pytest.approx(fisher_exact(table)[1])


def test_holm_is_the_step_down_of_the_textbook() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
    assert holm([]) == ()
    assert max(holm([0.9, 0.8, 0.7])) == 1.0


@pytest.mark.slow
def test_exact_intervals_hold_the_rate_at_least_as_often_as_they_say() -> None:
    rng = np.random.default_rng(5)
    n_sim, held, held_difference = 2000, 0, 0
    for k, m in zip(rng.binomial(20, 0.3, n_sim), rng.binomial(20, 0.6, n_sim), strict=True):
        low, high = ReplayArm(int(k), 20).interval()
        held += low <= 0.3 <= high
        low, high = difference_interval(ReplayArm(int(k), 20), ReplayArm(int(m), 20))
        held_difference += low <= -0.3 <= high
    slack = 3 * np.sqrt(0.95 * 0.05 / n_sim)
    assert held / n_sim >= 0.95 - slack
    assert held_difference / n_sim >= 0.95 - slack
    assert ReplayArm(0, 10).interval() == pytest.approx((0.0, 0.3085), abs=1e-4)


def test_equal_arms_are_not_told_apart() -> None:
    assert fisher_p(ReplayArm(7, 20), ReplayArm(7, 20)) == 1.0
    assert baseline_repeats(80, 6) == 196


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="3 successes in 2"):
        ReplayArm(3, 2)


# -- branches of small traces ----------------------------------------------------------------------------------------


class Setting(Record):
    kind: Literal["setting"] = "setting"
    version: Literal[1] = 1
    on: bool
    words: tuple[str, ...] = ("a", "b")
    sizes: dict[str, float] = {"x": 1.0}  # noqa: RUF012


class Outcome(Record):
    kind: Literal["outcome"] = "outcome"
    version: Literal[1] = 1
    value: float


TYPES: dict[str, type[Record]] = {"setting": Setting, "outcome": Outcome}


async def carry_on(folder: Path) -> float:
    """Two settings that do not depend on each other, and an outcome that depends on the first alone."""
    with Trace.open(folder, TYPES) as trace:
        first = await trace.step("first", lambda context: Setting(on=True), returns=Setting)
        await trace.step("second", lambda context: Setting(on=False), returns=Setting)

        def draw(context: StepContext) -> Outcome:
            return Outcome(value=float(context.rng.random()) + (10 if first.record.on else 0))

        return (await trace.step("end", draw, returns=Outcome, inputs=[first.digest])).record.value


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    Trace.create(tmp_path / "origin", seed=4, types=TYPES, meta={"study": "toy"}).close()
    asyncio.run(carry_on(tmp_path / "origin"))
    return tmp_path / "origin"


def test_an_unchanged_branch_with_the_same_seed_repeats_its_origin(
    origin: Path, tmp_path: Path
) -> None:
    cited = branch(origin, tmp_path / "same", "2", types=TYPES)
    asyncio.run(carry_on(tmp_path / "same"))
    assert form(tmp_path / "same") == form(origin)
    assert verify(tmp_path / "same", TYPES).ok
    with Trace.open(tmp_path / "same", TYPES, read_only=True) as trace:
        assert origin_of(trace.journal.meta) == cited
        assert cited.run == "origin"
        assert cited.field == ""


def test_another_seed_changes_what_follows_and_nothing_before(origin: Path, tmp_path: Path) -> None:
    branch(origin, tmp_path / "other", "4", seed=99, types=TYPES)
    before, after = (asyncio.run(carry_on(folder)) for folder in (origin, tmp_path / "other"))
    assert before != after
    with (
        Trace.open(origin, TYPES, read_only=True) as one,
        Trace.open(tmp_path / "other", TYPES, read_only=True) as two,
    ):
        kept = [
            [e.record_digest for e in trace.journal.events() if e.kind == "setting"]
            for trace in (one, two)
        ]
    assert kept[0] == kept[1]


def test_a_change_reaches_what_was_derived_from_it_and_leaves_the_rest(
    origin: Path, tmp_path: Path
) -> None:
    branch(origin, tmp_path / "off", "2", edit=RecordEdit("on", False), types=TYPES)
    assert asyncio.run(carry_on(tmp_path / "off")) < 1
    branch(origin, tmp_path / "unrelated", "4", edit=RecordEdit("on", True), types=TYPES)
    assert asyncio.run(carry_on(tmp_path / "unrelated")) == asyncio.run(carry_on(origin))


def test_a_branch_changes_exactly_one_field_of_the_right_type(origin: Path, tmp_path: Path) -> None:
    record = Setting(on=True)
    assert edited(record, RecordEdit("words.1", "c")) == Setting(on=True, words=("a", "c"))
    assert edited(record, RecordEdit("sizes.x", 2.5)) == Setting(on=True, sizes={"x": 2.5})
    wrong = {
        "off": ("there is no field 'off': the setting record has kind, version, on", False),
        "words.5": ("words has 0, 1", "c"),
        "on.deeper": ("on has nothing further", 1),
        "on": ("cannot be: .*boolean", "perhaps"),
        "kind": ("is the kind of the record", "outcome"),
    }
    for field, (words, value) in wrong.items():
        with pytest.raises(RewindError, match=words):
            edited(record, RecordEdit(field, value))
    with pytest.raises(RewindError, match="is true already"):
        branch(origin, tmp_path / "none", "2", edit=RecordEdit("on", True), types=TYPES)
    assert not (tmp_path / "none").exists()


def test_records_are_found_by_number_or_digest_and_intents_are_none(origin: Path) -> None:
    with Trace.open(origin, TYPES, read_only=True) as trace:
        events = list(trace.journal.events())
    result = next(event for event in events if event.kind == "outcome")
    assert (
        find_record(events, str(result.seq))
        == find_record(events, result.record_digest[:9])
        == result
    )
    intent = next(event for event in events if event.kind == INTENT)
    for name in (str(intent.seq), "77", result.record_digest[:3], ""):
        with pytest.raises(RewindError, match="0 records are called"):
            find_record(events, name)


def test_settings_are_read_as_json_or_text() -> None:
    assert parse_edit("a.b=0.5") == RecordEdit("a.b", 0.5)
    assert parse_edit("a=[1, 2]").value == [1, 2]
    assert parse_edit("a=take it").value == "take it"
    with pytest.raises(RewindError, match="write FIELD=VALUE"):
        parse_edit("accepted")


# -- campaigns -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_replay_that_cannot_be_is_refused_before_anything_is_run(tmp_path: Path) -> None:
    folder = tiny_run()
    with pytest.raises(RewindError, match="there is no field 'colour'"):
        rewind(folder, "1", [RecordEdit("colour", 1)], repeats=1, branches=tmp_path)
    with pytest.raises(RewindError, match="there is no outcome 'best'"):
        rewind(folder, "1", [], repeats=1, outcome="best", branches=tmp_path)
    with pytest.raises(RewindError, match="0 repeats show nothing"):
        rewind(folder, "1", [], repeats=0, branches=tmp_path)
    with pytest.raises(RewindError, match="listed twice"):
        rewind(
            folder, "1", [RecordEdit("config.design.trials", 4)] * 2, repeats=1, branches=tmp_path
        )
    with pytest.raises(RunMissingError):
        rewind(tmp_path / "nothing", "1", [], repeats=1)
    assert not any(tmp_path.iterdir())


@pytest.mark.slow
def test_a_campaign_branched_late_with_its_own_seed_comes_out_as_it_did(tmp_path: Path) -> None:
    folder = tiny_run()
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        closed = [event for event in trace.journal.events() if event.kind == "cycle_closed"][-1]
        whole = canonical_digest(trace.journal.events())
    branch(folder, tmp_path / "late", str(closed.seq))
    carry_branch_on(tmp_path / "late", folder, n_workers=1)
    with Trace.open(tmp_path / "late", RECORD_TYPES, read_only=True) as trace:
        assert canonical_digest(trace.journal.events()) == whole
    (state, one), (before, two) = read_state(tmp_path / "late"), read_state(folder)
    one.close()
    two.close()
    assert OUTCOMES["same_leader"](state, before) is True


@pytest.mark.slow
def test_the_audit_says_that_what_a_branch_concludes_is_counterfactual(tmp_path: Path) -> None:
    origin = tiny_run()
    with Trace.open(origin, RECORD_TYPES, read_only=True) as trace:
        closed = [event for event in trace.journal.events() if event.kind == "cycle_closed"][-1]
    cited = branch(origin, tmp_path / "late", str(closed.seq), seed=5)
    carry_branch_on(tmp_path / "late", origin, n_workers=1)
    found = audit(tmp_path / "late", n_workers=1)
    assert found.passed, [item for item in found.findings if not item.passed]
    assert found.counterfactual
    findings = {item.name: item for item in found.findings}
    assert findings["branch"].state == "counterfactual"
    assert (
        f"record {closed.seq} of {origin.name} with nothing changed, seed 5"
        in findings["branch"].detail
    )
    assert 'with stop set to "enough", seed' in replace(cited, field="stop", value="enough").words
    assert findings["recomputation"].state == "skipped"
    assert found.to_json()["counterfactual"] is True
    assert signed_list(found).count("no finding") == 2
    for place, said in ((tmp_path / "late", 1), (origin, 0)):
        state, trace = read_state(place)
        with trace:
            told = limits(RunReading(place, state, trace))
        assert sum("counterfactual and no finding" in text for text in told) == said
    whole = audit(origin, recompute=False)
    assert not whole.counterfactual
    assert "counterfactual" not in signed_list(whole)


@pytest.mark.long
def test_two_numbers_of_participants_are_compared_with_replays_without_a_change(
    tmp_path: Path,
) -> None:
    doses = [RecordEdit("config.design.participants", n) for n in (4, 6)]
    found = rewind(
        tiny_run(), "1", doses, repeats=2, effects="live", branches=tmp_path, n_workers=1
    )
    assert found.kind == "campaign_started"
    assert found.baseline.n == 3
    assert [item.arm.n for item in found.compared] == [2, 2]
    assert all(item.interval[0] <= item.difference <= item.interval[1] for item in found.compared)
    again = rewind(
        tiny_run(), "1", doses, repeats=2, effects="live", branches=tmp_path, n_workers=1
    )
    assert again == found
