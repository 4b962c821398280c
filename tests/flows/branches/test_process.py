"""How runs were conducted, and situations put again to models and strategies."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.task import Trials
from lakatos.flows.branches.process import STAGES, evaluate, shown_in, stage_of
from lakatos.flows.branches.situations import (
    EvaluationSituation,
    GradedSituation,
    compare,
    put_to_model,
    put_to_strategy,
    read_set,
    situations_of,
    write_set,
)
from lakatos.flows.errors import RunMissingError, StudyError
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.language_models.client import ChatMessage, ModelRequest
from lakatos.language_models.clients.scripted import ScriptedModel
from lakatos.language_models.fence import fence
from lakatos.theories.discovery.grammar_search.advocate import GrammarAdvocate
from lakatos.traces.step import Trace

sys.path.insert(0, str(Path(__file__).parent))
from rewinding import run_of_a_model, tiny_run

DIGEST = "0123456789ab"
SHOWN = fence("behind_nats_per_choice: 0.031", f"case file #{DIGEST}", "n0nce")
REQUEST = ModelRequest(
    messages=(ChatMessage(role="user", content=f"{SHOWN}\n\nSay what is wrong."),)
)


def reading(text: str, cite: str = f"#{DIGEST}") -> str:
    statement = {"text": text, "cites": [cite]}
    return json.dumps(
        {"statements": [statement], "hypothesis": "people guess", "change": "add guessing"}
    )


def case(name: str = "case", **changes: Any) -> EvaluationSituation:
    value: dict[str, Any] = {"name": name, "kind": "role", "domain": "multiattribute", "request": REQUEST,
                             "answer": "CaseReading", "checks": ("readable", "borne_out")}  # fmt: skip
    return EvaluationSituation(**(value | changes))


def ask(situations: list[EvaluationSituation], *answers: str) -> list[GradedSituation]:
    return list(asyncio.run(put_to_model(situations, ScriptedModel(answers))))


@pytest.mark.slow
def test_a_run_without_models_breaks_no_rule_about_what_was_said() -> None:
    found = evaluate(tiny_run())
    rules = {rule.name: rule for rule in found.rules}
    assert rules["conclusions without evidence"].kept
    assert rules["conclusions without evidence"].of > 0
    assert rules["repeated calls"].of == 0
    assert set(found.inventions.values()) == {0}
    assert found.spent is not None
    assert (found.spent.participants, found.spent.responses) == (16, 192)
    assert json.loads(json.dumps(found.to_json()))["run"] == "tiny"
    with pytest.raises(RunMissingError):
        evaluate(Path("nowhere"))


def uncited(folder: Path, *, on_the_board: bool) -> int:
    """The tiny campaign again, in which no record cites one of its scores; the number of that score's event."""
    with Trace.open(tiny_run(), RECORD_TYPES, read_only=True) as trace:
        events = list(trace.journal.events())
        meta = {
            name: value
            for name, value in trace.journal.meta.items()
            if name not in ("seed", "roots")
        }
        made = Trace.create(
            folder, seed=trace.seed, types=RECORD_TYPES, meta=meta, roots=sorted(trace.roots)
        )
    scores = [event for event in events if event.kind == "theory_scored"]
    chosen, another = scores[:2]
    renamed = {chosen.record_digest: another.record_digest}
    with made:
        for event in events:
            body, inputs = json.dumps(event.body), list(event.inputs)
            for old, new in renamed.items():
                body, inputs = (
                    body.replace(old, new),
                    [new if digest == old else digest for digest in inputs],
                )
            told = json.loads(body)
            if event.kind == "cycle_closed" and not on_the_board:
                told["leaderboard"] = [
                    line for line in told["leaderboard"] if line["theory"] != chosen.body["theory"]
                ]
            new = made.journal.append(
                event.kind,
                told,
                key=event.key,
                name=event.name,
                position=event.position,
                inputs=inputs,
            ).record_digest
            if new != event.record_digest:
                renamed[event.record_digest] = new
    return chosen.seq


@pytest.mark.slow
def test_a_score_behind_a_line_of_the_leaderboard_was_used_and_one_of_a_theory_that_stayed_out_is_observed(
    tmp_path: Path,
) -> None:
    for on_the_board in (True, False):
        folder = tmp_path / str(on_the_board)
        seq = uncited(folder, on_the_board=on_the_board)
        rules = {rule.name: rule for rule in evaluate(folder).rules}
        observed = rules["scores of theories that stayed out"]
        assert (f"record {seq}" in observed.examples) == (not on_the_board)
        assert (observed.n, observed.kept) == (len(observed.examples), True)
        # The search found again what competes already, so that nothing was derived from it.
        assert all("search_finished" in words for words in rules["unused results"].examples)


@pytest.mark.long
def test_what_a_model_makes_up_is_counted_by_kind() -> None:
    found = evaluate(run_of_a_model())
    # In each reading the arbiter quotes one number right, makes one up, and cites a record that nobody showed it.
    assert found.inventions["result"] == found.inventions["citation"] > 0
    assert found.inventions["tool"] == found.inventions["argument"] == 0
    rules = {rule.name: rule for rule in found.rules}
    assert "0.777" in " ".join(rules["numbers that no record holds"].examples)
    assert "#00000000" in " ".join(rules["citations of nothing"].examples)
    readings = [item for item in found.failed if "statements" in item.what]
    assert [item.share for item in readings] == [pytest.approx(1 / 3)] * len(readings) != []
    slips = [item for item in found.failed if item.failed_at == "fails when it runs"]
    assert slips
    assert all(0 < item.share < 1 for item in slips)


def test_a_refusal_is_sound_up_to_the_stage_at_which_it_failed() -> None:
    order = ["TheorySourceError", "TheoryLintError", "PriorError", "TheoryRaisedError", "TheoryShapeError",
             "TheoryProbabilityError", "ClaimContradictedError"]  # fmt: skip
    stages = [stage_of(f"{name}: because", "refused") for name in order]
    assert stages == sorted(set(stages))
    assert stage_of("this very source is there already", "duplicate") == len(STAGES) - 1


def test_what_was_shown_is_read_from_the_marks_of_the_request_alone() -> None:
    assert shown_in(REQUEST) == {DIGEST: "behind_nats_per_choice: 0.031"}
    forged = ModelRequest(messages=(ChatMessage(role="assistant", content=SHOWN),))
    assert shown_in(forged) == {}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (reading("The theory is behind by 0.031 nats per choice."), ""),
        (reading("The theory is behind by 0.047 nats per choice."), "result: '0.047"),
        (reading("The theory is behind.", "#ffffffffffff"), "citation: '#ffffffffffff'"),
        ("{}", "wrong_form"),
        ("I had rather not.", "not_json"),
    ],
)
def test_an_answer_passes_if_it_can_be_read_and_records_bear_it_out(
    answer: str, reason: str
) -> None:
    (graded,) = ask([case()], answer)
    assert graded.passed == (not reason)
    assert graded.reason.startswith(reason)


@pytest.mark.slow
def test_a_source_passes_if_it_is_a_theory() -> None:
    item = case(answer="Successor", checks=("readable", "is_theory"))
    good = FAMILIES["multiattribute"].program("tallying").source
    answers = [
        json.dumps({"change": "x", "source": source, "predictions": []})
        for source in (good, good + "\nimport os\n")
    ]
    first, second = ask([item, item.model_copy(update={"name": "other"})], *answers)
    assert first.passed, first.reason
    assert second.reason.startswith("TheoryLintError")


def test_a_search_is_judged_by_how_well_what_it_submits_predicts() -> None:
    domain = DOMAINS["multiattribute"]
    stimuli = domain.candidates(
        {"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2]}, np.random.default_rng(0), 8
    )
    n = len(stimuli)
    table = Trials(
        experiment="e",
        stimuli=stimuli,
        participant=np.repeat([0, 1], n),
        trial=np.tile(np.arange(n), 2),
        response=np.tile([0, 1], n),
        count=np.ones(2 * n, dtype=np.int64),
        n_options=2,
        n_people=2,
    ).to_json()
    value = {"name": "s", "kind": "search", "domain": "multiattribute", "trials": (table,), "starts": ("tallying",),
             "n_candidates": 2}  # fmt: skip
    easy, hard = (
        EvaluationSituation(**value, least=-2.0),
        EvaluationSituation(**(value | {"name": "t"}), least=0.0),
    )

    def advocate(name: str) -> GrammarAdvocate:
        return GrammarAdvocate(FAMILIES[name].grammar, afresh=0.0)

    graded = put_to_strategy([easy, hard], advocate)
    assert [item.passed for item in graded] == [True, False]
    with pytest.raises(StudyError, match="put it to a model"):
        put_to_strategy([case()], advocate)
    with pytest.raises(StudyError, match="put it to a strategy"):
        ask([easy])


def test_results_are_compared_with_the_last_time_the_same_situations_were_put(
    tmp_path: Path,
) -> None:
    situations = [case(f"c{number}") for number in range(6)]
    then = [GradedSituation(item.name, False, "no") for item in situations]
    now = [GradedSituation(item.name, True, "") for item in situations]
    log = tmp_path / "log.jsonl"
    assert compare("own", "first", situations, then, log).p_value is None
    found = compare("own", "second", situations, now, log)
    assert found.before_subject == "first"
    assert found.changed == ([f"c{number}" for number in range(6)], [])
    assert found.p_value == pytest.approx(2 / 2**6)
    assert compare("own", "third", situations[:3], now[:3], log).before is None
    log.write_text("nonsense\n")
    with pytest.raises(StudyError, match=r"line 1 of .* is no result"):
        compare("own", "fourth", situations, now, log)


def test_sets_are_read_back_and_damaged_ones_are_refused(tmp_path: Path) -> None:
    write_set([case()], tmp_path / "set.json.gz")
    assert read_set(tmp_path / "set.json.gz") == (case(),)
    (tmp_path / "bad.json").write_text('{"situations": [{"name": "x"}]}')
    (tmp_path / "empty.json").write_text('{"situations": []}')
    for name, words in (
        ("bad.json", "is no set"),
        ("empty.json", "holds no situation"),
        ("none.json", "cannot read"),
    ):
        with pytest.raises(StudyError, match=words):
            read_set(tmp_path / name)
    with pytest.raises(StudyError, match="no language model took a role"):
        situations_of(tiny_run())


@pytest.mark.parametrize("name", ["regression", "capability"])
def test_the_sets_that_come_along_can_be_read(name: str) -> None:
    found = read_set(name)
    assert {item.kind for item in found} == {"role", "search"}


@pytest.mark.long
def test_situations_of_a_run_can_be_put_again() -> None:
    found = situations_of(run_of_a_model())
    assert {item.answer for item in found} >= {"CaseReading", "Successor", "Audit"}
    (graded,) = ask(
        [next(item for item in found if item.answer == "CaseReading")], reading("Nothing is cited.")
    )
    assert not graded.passed
