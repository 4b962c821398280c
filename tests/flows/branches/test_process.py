"""How runs were conducted."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from lakatos.flows.branches.process import STAGES, evaluate, shown_in, stage_of
from lakatos.flows.errors import RunMissingError
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.language_models.client import ChatMessage, ModelRequest
from lakatos.language_models.fence import fence
from lakatos.traces.step import Trace

sys.path.insert(0, str(Path(__file__).parent))
from rewinding import run_of_a_model, tiny_run

DIGEST = "0123456789ab"
SHOWN = fence("behind_nats_per_choice: 0.031", f"case file #{DIGEST}", "n0nce")
REQUEST = ModelRequest(
    messages=(ChatMessage(role="user", content=f"{SHOWN}\n\nSay what is wrong."),)
)


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
