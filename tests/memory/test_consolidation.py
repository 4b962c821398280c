"""After a cycle: recorded calls become plans, plans that recur that recur become validated tools."""

import asyncio
from dataclasses import replace
from json import dumps

import numpy as np
import pytest

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.flows.stages.consolidate import one_of_each_study, values_of
from lakatos.language_models.client import ToolCall
from lakatos.language_models.tool import Toolbox, ToolResult, as_json
from lakatos.language_models.tool_record import RECORDS as CALL_RECORDS
from lakatos.language_models.tool_record import ToolCalled, TracedTools
from lakatos.memory.consolidation import pitfall, plan_of_calls, recurring
from lakatos.memory.errors import LessonError, ToolRejectedError
from lakatos.memory.item import ToolRefused, ToolValidated
from lakatos.memory.library import RECORDS, Library
from lakatos.memory.recall import RecallNothing
from lakatos.memory.signature import canonical_form
from lakatos.memory.tool import WAITING, draft_tool, validate_tool
from lakatos.memory.tools import TOOLS
from lakatos.memory.tools.laboratory import caller_on, tools_on
from lakatos.theories.discovery.bench import TheoryBench
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.language.theory import read_program
from lakatos.traces.digest import digest_of
from lakatos.traces.record import body_of
from lakatos.traces.step import Trace

SPACE = {"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2]}


def library_of(*records):
    library = Library()
    for number, record in enumerate(records):
        library = library.with_record(digest_of([number, body_of(record)]), record)
    return library


def test_a_plan_may_become_a_tool_when_it_recurs_in_enough_studies(study_of):
    plans = [study_of(f"study {number}", f"a{number}", "b") for number in range(4)]
    assert [len(recurring(library_of(*plans[:n]))) for n in range(1, 5)] == [0, 0, 1, 1]
    retried = [study_of("study 0", f"a{number}", "b") for number in range(4)]
    repeated = [study_of(f"study {number}", "a", "b") for number in range(4)]
    assert recurring(library_of(*retried)) == recurring(library_of(*repeated)) == []


def test_a_plan_that_has_a_tool_or_was_refused_is_not_drafted_again(study_of, shop):
    plans = [study_of(f"study {number}", f"a{number}", "b") for number in range(3)]
    draft = draft_tool(plans[0], shop.VERBS)
    validated = ToolValidated(draft=digest_of("draft"), name=draft.name, passed=())
    library = library_of(*plans).with_record(digest_of("draft"), draft)
    assert recurring(library.with_record(digest_of("passed"), validated)) == []
    refused = ToolRefused(signature=draft.signature, rung="studies", reason="another result")
    assert recurring(library_of(*plans, refused)) == []


def test_a_plan_that_only_waited_for_studies_may_become_a_tool_later(study_of, shop):
    plans = [study_of(f"study {number}", f"a{number}", "b") for number in range(3)]
    draft = draft_tool(plans[0], shop.VERBS)
    with pytest.raises(ToolRejectedError) as caught:
        validate_tool(draft, plans[:2], shop.VERBS, lambda name, arguments: None)
    assert caught.value.rung == WAITING
    assert recurring(library_of(*plans)) == [draft.signature]


def test_each_study_is_stood_for_by_a_plan_with_values_of_its_own(study_of):
    plans = [
        study_of("study 0", "a", "b"),
        study_of("study 1", "c", "b"),
        study_of("study 0", "c", "b"),  # newer, and the same as in study 1
        study_of("study 2", "d", "b"),
    ]
    chosen = one_of_each_study(plans)
    assert [plan.study for plan in chosen] == ["study 0", "study 1", "study 2"]
    assert len(set(map(values_of, chosen))) == 3


def test_one_call_becomes_no_tool(shop):
    plans = [
        shop.plan_of(
            ("rank", {"theories": [f"a{n}", "b"], "experiment": "first"}), study=f"study {n}"
        )
        for n in range(3)
    ]
    assert recurring(library_of(*plans)) == []
    with pytest.raises(ToolRejectedError, match="one call"):
        draft_tool(plans[0], shop.VERBS)


def test_a_doubted_lesson_counts_half():
    failed = [
        pitfall(
            "risky",
            "choice at the end",
            f"tried {n}; add veto to accent",
            "refused",
            (digest_of(n),),
        )
        for n in range(2)
    ]
    library = library_of(*failed)
    first, second = (digest for digest, _ in library.pitfalls)

    def avoided(library):
        return library.changes_to_avoid("risky", "choice at the end")

    assert avoided(library) == ("add veto to accent",)
    assert avoided(library.without([second], [first])) == ()
    assert avoided(library.without([second], [])) == ("add veto to accent",)
    assert avoided(library.without([], [first])) == ("add veto to accent",)
    assert avoided(library.without([], [first, second])) == ("add veto to accent",)
    assert library.changes_to_avoid("risky", "something else") == ()


def test_a_pitfall_without_evidence_is_refused():
    with pytest.raises(LessonError):
        pitfall("risky", "design", "asked too few", "refused", ())


@pytest.mark.slow
def test_recorded_calls_of_the_laboratorys_verbs_become_a_tool_that_does_the_same(tmp_path):
    family, domain = FAMILIES["multiattribute"], DOMAINS["multiattribute"]
    theories = [read_program(family.program(name)) for name in list(family.seeds)[:4]]
    stimuli = domain.candidates(SPACE, np.random.default_rng(0), 12)
    with (
        Laboratory(domain, n_workers=1) as laboratory,
        Trace.create(tmp_path / "run", seed=0, types={**CALL_RECORDS, **RECORDS}) as trace,
    ):
        (answers,) = laboratory.simulate(theories[:1], stimuli, 16, np.random.default_rng(1))
        experiments = {
            f"experiment{number}": replace(answers, experiment=f"{number}") for number in range(3)
        }
        pool = {theory.digest: theory for theory in theories}
        bench = TheoryBench(laboratory, pool, experiments, trace.artifacts, SPACE, n_draws=32)
        box = Toolbox(tools_on(bench, RecallNothing()))

        async def asked(study, position, name, arguments):
            prepared = box.prepare(ToolCall(call_id="x", name=name, arguments=arguments))
            assert not hasattr(prepared, "reason"), prepared

            async def work():
                return ToolResult(
                    outcome="returned", value=as_json(await prepared.tool.call(prepared.arguments))
                )

            _, done = await TracedTools(trace, {"study": study})(position, prepared, work)
            return done.value

        async def compares(study, first, second, n_trials):
            both = [first.digest, second.digest]
            given = {"theories": both, "experiments": [f"experiment{study}"]}
            await asked(study, 0, "score", dumps(given))
            search = {"theories": both, "n_trials": n_trials, "n_candidates": 32}
            found = await asked(study, 1, "search_design", dumps(search))
            await asked(
                study,
                2,
                "recover",
                dumps({"theories": both, "design": found["design"], "n_simulations": 20}),
            )

        plans = []
        for study, (first, second, n_trials) in enumerate(((0, 1, 3), (0, 2, 4), (1, 3, 5))):
            asyncio.run(compares(study, theories[first], theories[second], n_trials))
            calls = list(trace.records(ToolCalled))[3 * study :]
            plans.append(
                plan_of_calls(
                    "multiattribute", f"study {study}", "design", calls, trace.artifacts, TOOLS
                )
            )
        assert len({canonical_form(plan.steps).digest for plan in plans}) == 1
        draft = draft_tool(plans[-1], TOOLS)
        made = validate_tool(draft, plans, TOOLS, caller_on(bench, RecallNothing()))
    assert "design=@" in made.draft.plan_text
