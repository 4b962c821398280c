"""In a campaign: inquiries are recorded calls, learned tools are used and fall back to text, and no fault stops it."""

import pytest

from lakatos.flows.roles.remember import keep_library, library_path, rebuild_library
from lakatos.flows.run.run import open_run, read_state
from lakatos.flows.start import resume_run, run_study
from lakatos.language_models.tool_record import ToolCalled
from lakatos.memory.item import PlanUsed
from lakatos.memory.plan import Plan
from lakatos.memory.signature import canonical_form
from lakatos.traces.fold import canonical_digest
from tests.flows.remembering import write_run, write_tool
from tests.flows.small import small_study

SMALL = {
    "stop": {"cycles": 1, "least_cycles": 1},
    "design": {"trials": 6, "participants": 20, "candidates": 25, "power": 0.5, "refused": "cover"},
    "theories": {
        "seeds": ["take_the_best", "tallying", "weighted_additive"],
        "candidates": 4,
        "successors": 1,
        "draws": 64,
        "rivals": 3,
        "induction": False,
    },
}


def study(**memory):
    return small_study(**SMALL, memory={"inquiries": True, **memory})


def uses(folder):
    state, trace = read_state(folder)
    with trace:
        return (
            state,
            [item.record for item in trace.records(PlanUsed)],
            [i.record for i in trace.records(ToolCalled)],
        )


@pytest.fixture
def runs(tmp_path):
    """Three studies that followed the plan of sounding out."""
    folder = tmp_path / "runs"
    folder.mkdir()
    return folder, [write_run(folder, number) for number in range(3)]


@pytest.mark.long
def test_an_inquiry_is_recorded_call_by_call_and_read_off_as_the_plan_that_was_followed(runs):
    folder, plans = runs
    run_study(study(arm="text", shared=True), folder / "a", n_workers=1)
    state, _, calls = uses(folder / "a")
    (made,) = [item.record for item in state.memory.inquiries]
    assert [item.tool for item in calls] == ["search_design", "recover"] * 2
    ((_, plan),) = state.memory.library.all(Plan)
    assert plan.evidence == made.calls
    assert (
        canonical_form(plan.steps).digest == made.signature == canonical_form(plans[0].steps).digest
    )
    assert any(item.record.passed for item in state.roles.trials_proposed)
    assert state.memory.taken.record.n_lessons == 3
    keep_library(folder)
    assert library_path(folder).read_bytes() == rebuild_library(folder).to_bytes()


@pytest.mark.long
def test_a_learned_tool_is_used_where_its_plan_recurs(runs):
    folder, plans = runs
    draft = write_tool(folder, plans)
    keep_library(folder)
    run_study(study(arm="tools", shared=True), folder / "a", n_workers=1)
    state, used, calls = uses(folder / "a")
    assert [item.record.tool for item in state.memory.inquiries] == [draft.name]
    assert [(item.tool, item.success, item.calls_saved) for item in used] == [(draft.name, True, 3)]
    assert [item.tool for item in calls] == [draft.name]
    assert rebuild_library(folder).standing(draft.name).successes == 1
    # What was done is found again: another pass records nothing.
    with open_run(folder / "a", n_workers=1) as run:
        before = canonical_digest(run.trace.journal.events())
    resume_run(folder / "a", n_workers=1)
    with open_run(folder / "a", n_workers=1) as run:
        assert canonical_digest(run.trace.journal.events()) == before


@pytest.mark.long
def test_a_tool_that_would_call_something_else_hands_over_to_its_text_and_is_retired(runs):
    folder, plans = runs

    def broken(draft):
        return draft.model_copy(update={"steps": draft.steps[:1]})

    draft = write_tool(folder, plans, broken)
    keep_library(folder)
    run_study(study(arm="tools", shared=True), folder / "a", n_workers=1)
    state, used, _ = uses(folder / "a")
    assert [item.record.complete for item in state.memory.inquiries] == [True]
    assert [item.record.tool for item in state.memory.inquiries] == [""]
    assert [(item.success, item.failure) for item in used] == [(False, "difference")]
    assert state.campaign.concluded is not None
    assert rebuild_library(folder).standing(draft.name).status == "retired"


@pytest.mark.long
def test_with_a_corrupt_library_the_campaign_recalls_what_the_traces_say(runs):
    folder, _ = runs
    keep_library(folder)
    whole = library_path(folder).read_bytes()
    library_path(folder).write_bytes(b"torn")
    run_study(study(arm="text", shared=True), folder / "a", n_workers=1)
    state, trace = read_state(folder / "a")
    with trace:
        assert trace.artifacts.get(state.memory.taken.record.library) == whole
    assert state.memory.taken.record.n_lessons == 3
    assert state.campaign.concluded is not None
