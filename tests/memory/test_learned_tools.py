"""From a recurring plan to a tool: what the codifier sees, what validation refuses, how a tool fails in use."""

import asyncio
from dataclasses import fields, is_dataclass
from typing import get_args, get_type_hints

import pytest

from lakatos.language_models.errors import ToolError
from lakatos.memory.codifier import compile_plan, draft_of_source, instructions
from lakatos.memory.draft import PlanBundle, bundle_of
from lakatos.memory.errors import CodifierError, PlanError, ToolFailedError, ToolRejectedError
from lakatos.memory.plan import Plan, check_plan
from lakatos.memory.retirement import ToolStanding
from lakatos.memory.signature import canonical_form, follow_form
from lakatos.memory.use import LearnedTool, run_tool, use_tool
from lakatos.memory.validation import RUNGS, validate_tool
from lakatos.traces.digest import digest_of
from lakatos.traces.record import Record

EVIDENCE = (digest_of("record"),)


@pytest.fixture(scope="module")
def plans(study_of):
    return [
        study_of("one", "prospect", "regret"),
        study_of("two", "minimax", "hurwicz", 5),
        study_of("three", "salience", "weighted", 6),
    ]


@pytest.fixture(scope="module")
def draft(plans, shop):
    return compile_plan(bundle_of(plans[:2], shop.VERBS))


def validated(draft, plans, shop, sandbox, call=None, verbs=None):
    return validate_tool(
        draft, plans[:2], plans[2], verbs or shop.VERBS, call or shop.caller(), sandbox
    )


def test_a_compiled_plan_passes_every_rung(draft, plans, shop, tool_sandbox):
    passed = validated(draft, plans, shop, tool_sandbox).passed
    assert [line.partition(":")[0] for line in passed] == list(RUNGS)


def test_a_tool_gives_for_new_values_what_the_text_gives(
    draft, plans, shop, tool_sandbox, study_of
):
    form = canonical_form(study_of("four", "new", "newer", 9).steps)
    arguments = {
        item.name: value for item, value in zip(draft.parameters, form.values, strict=True)
    }
    expected = follow_form(form.operations, form.values, shop.caller())
    assert run_tool(draft, arguments, shop.caller(), tool_sandbox) == expected


def changed(draft, before, after):
    assert before in draft.source
    return draft.model_copy(update={"source": draft.source.replace(before, after)})


@pytest.mark.parametrize(
    ("before", "after", "rung"),
    [
        ("def run", "import os\n\n\ndef run", "parse"),
        ("    return", "    open('x')\n    return", "parse"),
        ("    return", "    use = call\n    return", "parse"),
        ("call('draw'", "call(arguments['experiment']", "parse"),
        ("arguments['experiment']", "arguments['other']", "parse"),
        ("call('draw'", "call('publish'", "closure"),
        ("    return", "    step_0 = {'lines': []}\n    return", "differential"),
        ("n_trials=arguments['n_trials']", "n_trials=4", "differential"),
        ("    return", "    return {'steps': []}\n    return", "differential"),
        ("    return", "    1 / 0\n    return", "differential"),
        ("experiment=arguments['experiment']", "experiment='first'", "properties"),
    ],
)
def test_a_flawed_draft_is_refused_at_its_rung(
    draft, plans, shop, tool_sandbox, before, after, rung
):
    with pytest.raises(ToolRejectedError) as caught:
        validated(changed(draft, before, after), plans, shop, tool_sandbox)
    assert caught.value.rung == rung


def test_what_works_only_for_the_studies_it_was_made_from_is_refused_on_the_one_held_out(
    draft, plans, shop, tool_sandbox
):
    trick = changed(
        draft, "n_trials=arguments['n_trials']", "n_trials=min(arguments['n_trials'], 5)"
    )
    with pytest.raises(ToolRejectedError) as caught:
        validated(trick, plans, shop, tool_sandbox)
    assert caught.value.rung == "held out"


def test_a_draft_for_another_version_of_what_it_calls_is_refused(draft, plans, shop, tool_sandbox):
    verb = shop.VERBS["draw"]
    verbs = {**shop.VERBS, "draw": type(verb)(**{**vars(verb), "version": 2})}
    with pytest.raises(ToolRejectedError, match="draw is not the version"):
        validated(draft, plans, shop, tool_sandbox, verbs=verbs)


def test_retries_of_one_study_support_nothing(draft, plans, shop, tool_sandbox):
    with pytest.raises(ToolRejectedError, match="2 supporting studies"):
        validate_tool(
            draft, [plans[0], plans[0]], plans[2], shop.VERBS, shop.caller(), tool_sandbox
        )


def test_what_changes_the_world_stays_text(shop):
    plan = shop.plan_of(("publish", {"theory": "a", "design": "b"}))
    with pytest.raises(CodifierError, match="from text"):
        compile_plan(bundle_of([plan], shop.VERBS))


def test_a_plan_that_names_a_tool_which_does_not_exist_says_what_is_closest(plans, shop):
    steps = (plans[0].steps[0].model_copy(update={"tool": "drew"}), *plans[0].steps[1:])
    with pytest.raises(PlanError, match="closest are draw"):
        check_plan(plans[0].model_copy(update={"steps": steps}), shop.VERBS)


def test_a_tool_that_fails_hands_back_its_plan_and_what_was_done(draft, plans, shop, tool_sandbox):
    asked = []

    def call(name, arguments):
        asked.append(name)
        if name == "attempt":
            raise ToolError("the laboratory is closed.")
        return shop.caller()(name, arguments)

    form = canonical_form(plans[0].steps)
    arguments = {
        item.name: value for item, value in zip(draft.parameters, form.values, strict=True)
    }
    with pytest.raises(ToolFailedError, match="the laboratory is closed") as caught:
        run_tool(draft, arguments, call, tool_sandbox)
    assert caught.value.plan == draft.plan_text
    assert caught.value.kind == "call"
    assert not caught.value.hard
    assert len(caught.value.done) == len(asked) - 1 == 2


def test_a_result_that_no_call_gave_is_a_failed_postcondition(draft, plans, shop, tool_sandbox):
    liar = changed(draft, "    return", "    step_0 = {'lines': []}\n    return")
    form = canonical_form(plans[0].steps)
    results, used = use_tool(
        liar,
        form.operations,
        form.values,
        shop.caller(),
        tool_sandbox,
        study="x",
        evidence=EVIDENCE,
        shadow=False,
    )
    assert (used.success, used.failure, used.hard) == (False, "postcondition", True)
    assert results == follow_form(form.operations, form.values, shop.caller())


def test_on_probation_the_text_runs_too_and_a_difference_is_seen(draft, plans, shop, tool_sandbox):
    form = canonical_form(plans[1].steps)
    given = {"study": "x", "evidence": EVIDENCE, "shadow": True}
    wrong = changed(draft, "n_trials=arguments['n_trials']", "n_trials=4")
    for tool, same in ((draft, True), (wrong, False)):
        results, used = use_tool(
            tool, form.operations, form.values, shop.caller(), tool_sandbox, **given
        )
        assert used.shadow_matches is same
        assert results == follow_form(form.operations, form.values, shop.caller())


def test_a_program_calls_nothing_that_it_did_not_declare(shop, tool_sandbox):
    source = "def run(arguments, call):\n    return call('pub' + 'lish', theory='a', design='b')\n"
    ran = tool_sandbox.run(source, {}, shop.caller(), allowed={"draw"})
    assert (ran.kind, ran.results) == ("program", ())
    assert "'publish'" in ran.failure


def test_a_program_reaches_no_file(shop, tool_sandbox):
    ran = tool_sandbox.run(
        "def run(arguments, call):\n    return open('/etc/passwd').read()\n", {}, shop.caller()
    )
    assert ran.kind == "program"


def test_a_program_without_end_is_stopped(draft, plans, shop):
    from lakatos.memory.runner import LIMITS, ToolSandbox

    limits = type(LIMITS)(wall_seconds=1.0, cpu_seconds=1.0, memory_bytes=2**28, output_bytes=2**20)
    with ToolSandbox(limits=limits) as sandbox:
        ran = sandbox.run(
            "def run(arguments, call):\n    while True:\n        pass\n", {}, shop.caller()
        )
    assert ran.kind == "limit"


def test_a_learned_tool_is_offered_with_its_record_and_every_call_goes_through_the_trace(
    draft, plans, shop, tool_sandbox
):
    invoked = []

    async def invoke(name, arguments):
        invoked.append(name)
        return shop.caller()(name, arguments)

    tool = LearnedTool(
        draft, ToolStanding(status="active", successes=4, failures=1), invoke, tool_sandbox
    )
    assert "4 of 5 uses succeeded" in tool.description
    form = canonical_form(plans[0].steps)
    given = {item.name: value for item, value in zip(draft.parameters, form.values, strict=True)}
    steps = asyncio.run(tool.call(tool.arguments(**given)))
    assert steps == follow_form(form.operations, form.values, shop.caller())
    assert sorted(invoked) == ["attempt", "attempt", "draw", "rank"]


def test_the_codifier_has_no_path_to_a_trajectory_by_type():
    allowed = {str, int, float, bool, type(None)}

    def reached(kind, seen):
        if kind in seen:
            return
        seen.add(kind)
        inner = []
        if isinstance(kind, type) and is_dataclass(kind):
            inner = [get_type_hints(kind)[field.name] for field in fields(kind)]
        elif isinstance(kind, type) and hasattr(kind, "model_fields"):
            inner = [field.annotation for field in kind.model_fields.values()]
        else:
            inner = list(get_args(kind))
        for item in inner:
            reached(item, seen)

    seen: set = set()
    reached(PlanBundle, seen)
    classes = {kind for kind in seen if isinstance(kind, type) and kind not in allowed}
    assert not any(issubclass(kind, Record) for kind in classes if isinstance(kind, type))
    assert Plan not in seen
    assert "Called" not in {kind.__name__ for kind in classes}


def test_what_came_back_reaches_neither_prompt_nor_source(shop):
    def plan(study, names):
        return shop.plan_of(
            ("rank", {"theories": names, "experiment": "first"}),
            ("describe", {"theory": names[0], "question": ""}),
            ("describe", {"theory": names[1], "question": "<1.text"}),
            study=study,
            world=f"CANARY-{study}",
        )

    bundle = bundle_of([plan("one", ["a", "b"]), plan("two", ["c", "d"])], shop.VERBS)
    assert "CANARY" not in instructions(bundle) + compile_plan(bundle).model_dump_json()


def test_a_source_that_a_model_wrote_climbs_the_same_ladder(draft, plans, shop, tool_sandbox):
    bundle = bundle_of(plans[:2], shop.VERBS)
    written = draft_of_source(bundle, f"Here it is:\n```python\n{draft.source}```\n", "model")
    assert validated(written, plans, shop, tool_sandbox).draft.author == "model"
