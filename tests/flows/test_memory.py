"""What runs have learned is kept beside them, can be rebuilt, looked at and acted on, and says what is wrong."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from lakatos.flows.commands.main import app
from lakatos.flows.errors import StudyError
from lakatos.flows.operations.known_errors import known_errors
from lakatos.flows.roles.remember import recorded_calls, shared_library
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.study import parse_study
from lakatos.flows.stages.consolidate import outdated
from lakatos.judges.transition import JudgeSeated
from lakatos.memory.errors import MemoryLibraryError
from lakatos.memory.item import Fact, ToolRefused, ToolWithdrawn
from lakatos.memory.library import Library
from lakatos.memory.plan import Plan
from lakatos.memory.recall import LexicalRecall, RecallSituation
from lakatos.memory.tool import ToolDraft
from lakatos.memory.tools import TOOLS
from lakatos.theories.errors import BenchError
from lakatos.traces.digest import digest_of
from lakatos.traces.head import write_head
from lakatos.traces.step import Trace
from tests.flows.remembering import DOMAIN, tool_in, write_run, write_tool
from tests.flows.small import STUDY


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    """Three studies, and a tool made of what they did."""
    runs = tmp_path_factory.mktemp("studied")
    plans = [write_run(runs, number) for number in range(3)]
    write_tool(runs, plans)
    return runs


@pytest.fixture
def runs(studied, tmp_path):
    """A copy of them, to be changed."""
    import shutil

    return shutil.copytree(studied, tmp_path / "runs")


def call(*words):
    return CliRunner().invoke(app, [*map(str, words)])


def a_fact(statement):
    """A fact of the domain with made-up evidence."""
    return Fact(domain=DOMAIN, subject="level", statement=statement, evidence=(digest_of("none"),))


def with_facts(runs, *facts, seat=None):
    """A further run that learned facts, the last of them on the word of a judge whose seat is then erased."""
    with Trace.create(runs / "run8", seed=8, types=RECORD_TYPES) as trace:
        judge = trace.record(
            JudgeSeated(slot="program", epoch=0, judge=digest_of("judge")), name="seat"
        )
        for number, (subject, statement) in enumerate(facts):
            by = (judge.digest,) if seat == number else ()
            fact = Fact(
                domain=DOMAIN,
                subject=subject,
                statement=statement,
                evidence=(judge.digest,),
                justified_by=by,
            )
            trace.record(fact, name="lesson", position={"number": number})
        if seat is not None:
            trace.journal.append(
                "tombstone",
                {"target": judge.digest, "reason": "displaced"},
                key=digest_of("erase"),
                name="erase",
                position={},
                inputs=[],
                attempt=1,
            )
    write_head(runs / "run8", begins=True)


def test_the_same_traces_make_the_same_library_byte_for_byte(runs):
    assert shared_library(runs).to_bytes() == shared_library(runs).to_bytes()


def test_a_file_of_an_earlier_version_that_somebody_wrote_is_not_believed(runs):
    before = call("memory", "list", "--runs", runs).stdout
    forged = Library().with_record(digest_of("no trace has it"), a_fact("choices follow the moon"))
    (runs / ".memory").mkdir(exist_ok=True)
    (runs / ".memory" / "library.json").write_bytes(forged.to_bytes())
    assert call("memory", "list", "--runs", runs).stdout == before


def test_the_list_names_runs_of_which_nothing_counts(runs):
    for head in runs.rglob("heads.jsonl"):
        head.unlink()
    shown = call("memory", "list", "--runs", runs).stdout.replace("\n", " ")
    assert "nothing is taken from" in shown
    assert "nothing has been learned yet" in shown


def test_a_run_that_cannot_be_read_is_passed_over(runs):
    library = shared_library(runs)
    (runs / "broken").mkdir()
    (runs / "broken" / "journal.sqlite").write_bytes(b"no journal")
    assert shared_library(runs) == library


def test_what_a_displaced_judge_justified_is_flagged_and_comes_back_last(runs):
    facts = [("level of conflict", "conflict matters"), ("conflict seen", "conflict matters")]
    with_facts(runs, *facts, seat=1)
    library = shared_library(runs)
    assert len(library.doubted) == 1
    found = LexicalRecall(library).recall(RecallSituation(domain=DOMAIN, failed="conflict matters"))
    assert [item.note for item in found.lessons] == [
        "",
        "unverified: what it rested on was displaced",
    ]


def test_contradictory_facts_are_both_kept_and_marked(runs):
    with_facts(runs, ("level of noise", "it is low"), ("level of noise", "it is high"))
    found = call("memory", "list", "--runs", runs, "--kind", "fact")
    assert found.stdout.count("contradic") == 2
    digest = shared_library(runs).all(Fact)[0][0]
    assert "contradicted by" in call("memory", "show", digest[:10], "--runs", runs).stdout


def test_lessons_can_be_listed_shown_and_recalled(runs):
    with_facts(runs, ("composition that led in a study", "utility:linear, choice:logistic"))
    assert call("memory", "list", "--runs", runs, "--domain", "risky").stdout.startswith("nothing")
    digest, plan = shared_library(runs).all(Plan)[0]
    shown = call("memory", "show", digest[:12], "--runs", runs).stdout
    assert "search_design" in shown
    assert plan.evidence[0] in shown
    found = call("memory", "recall", DOMAIN, "which composition led", "--runs", runs).stdout
    assert "utility:linear" in found
    assert "nothing comes back" in call("memory", "recall", DOMAIN, "zebra", "--runs", runs).stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("memory", "show", "nothing"), "memory list"),
        (("memory", "list", "--kind", "idea"), "no kind 'idea'"),
        (("memory", "recall", "chess", "openings"), "no domain 'chess'"),
    ],
)
def test_bad_words_are_answered_with_what_to_do(runs, words, message):
    found = call(*words, "--runs", runs)
    assert isinstance(found.exception, known_errors())
    assert message in str(found.exception)


def test_errors_of_memory_and_of_the_bench_are_known_to_the_command_line():
    assert issubclass(MemoryLibraryError, known_errors())
    assert issubclass(BenchError, known_errors())


def test_the_list_of_tools_names_learned_ones_with_their_status(studied):
    shown = call("tools", "list", "--runs", studied).stdout
    assert "active" in shown
    assert "search_design" in shown


def test_a_tool_that_a_command_of_an_earlier_version_retired_stays_retired(runs):
    name = tool_in(shared_library(runs))
    retired = ToolWithdrawn(name=name, reason="people asked for it", until_validated=False)
    desk = runs / ".memory" / "desk"
    desk.mkdir(parents=True)
    with Trace.create(desk, seed=0, types=RECORD_TYPES, meta={"desk": True}) as trace:
        trace.record(retired, name="retire tool", position={"number": 0})
    library = shared_library(runs)
    assert library.offers(TOOLS) == {}
    assert library.standing(name).reason == "people asked for it"


def test_a_tool_whose_dependency_changed_is_not_offered(studied):
    library = shared_library(studied)
    verbs = {**TOOLS, "recover": replace(TOOLS["recover"], version=2)}
    assert library.offers(verbs) == {}
    assert library.changed_dependency(tool_in(library), verbs) == "recover"


def test_an_outdated_tool_is_validated_again_unless_that_was_tried_or_another_took_its_place(
    studied,
):
    library = shared_library(studied)
    assert outdated(library, lambda digest: True) == []
    old = Library(
        tuple(
            (digest, item.model_copy(update={"dependencies": (("recover", "0" * 64),)}))
            if isinstance(item, ToolDraft)
            else (digest, item)
            for digest, item in library.entries
        )
    )
    (draft,) = [item for _, item in old.all(ToolDraft)]
    assert outdated(old, lambda digest: True) == [draft.signature]
    refused = ToolRefused(signature=draft.signature, rung="differential", reason="another result")
    assert outdated(old.with_record(digest_of("refused"), refused), lambda digest: True) == []


def test_recorded_calls_are_found_wherever_a_trace_holds_them(studied):
    plans = [plan for _, plan in shared_library(studied).all(Plan)]
    found = recorded_calls(studied, plans)
    assert set(found) == {digest for plan in plans for digest in plan.evidence}
    assert {tool for tool, _, _ in found.values()} == {"search_design", "recover"}


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"arm": "none", "shared": True}, "recalls nothing"),
        ({"arm": "tools"}, "shared = true"),
        ({"arm": "all"}, "memory.arm"),
        ({"recal": "text"}, "unknown key"),
    ],
)
def test_a_study_that_says_the_impossible_about_memory_is_refused(section, message):
    with pytest.raises(StudyError, match=message):
        parse_study({**STUDY, "memory": section}, "small")


def test_a_study_without_the_section_is_written_as_before():
    study = {name: section for name, section in STUDY.items() if name != "memory"}
    assert "memory" not in json.loads(parse_study(study, "small").model_dump_json())
