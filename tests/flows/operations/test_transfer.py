"""`lakatos transfer`: what it writes, and what it refuses."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import lakatos
from lakatos.experiments.errors import DataMissingError
from lakatos.flows.commands.main import app
from lakatos.flows.errors import TransferError
from lakatos.flows.operations.adopt import new_study
from lakatos.flows.operations.transfer import (
    TransferMeasured,
    TravellingTheory,
    check_target,
    check_travel,
    find_target,
    find_travelling,
    measure_transfer,
    read_target,
    write_transfer,
)

sys.path.insert(0, str(Path(__file__).parents[2] / "domains" / "declared"))
from tasks import GIFTS

ROOT = Path(__file__).resolve().parent.parent.parent.parent
RUNS = Path("no-runs-here")


def read(file: Path) -> TransferMeasured:
    return TransferMeasured.model_validate_json(file.read_bytes())


@pytest.fixture(scope="module")
def measured():
    theory = find_travelling("expected_value", RUNS, domain="risky")
    return measure_transfer(theory, find_target("allais", "*", RUNS), n_draws=32)


@pytest.mark.slow
def test_published_theories_and_learners_stand_beside_it(measured):
    assert [line.way for line in measured.of("theory")] == ["as it came", "rescaled", "relearned"]
    published = measured.of("published")
    assert len(published) + len(measured.failed) == 31
    assert published == sorted(published, key=lambda line: -line.score)
    (learner,) = measured.of("learner")
    assert len(learner.scores[0].n_choices) == 16
    assert "cannot be told apart" in measured.left_out


@pytest.mark.slow
def test_a_record_reads_back_as_it_was_measured(measured, tmp_path):
    assert read(write_transfer(measured, tmp_path)) == measured


def test_a_theory_of_another_domain_is_refused():
    theory = find_travelling("weighted_additive", RUNS, domain="risky")
    with pytest.raises(
        TransferError, match=r"is about multiattribute and the responses of allais are about risky"
    ):
        measure_transfer(theory, find_target("allais", "*", RUNS))


def test_answers_on_which_a_theory_was_found_are_refused():
    theory = find_travelling("expected_value", RUNS, domain="risky").theory
    found = TravellingTheory(theory, theory, "a run", "risky", {"allais": frozenset({"a", "b"})})
    with pytest.raises(TransferError, match=r"was found on b of allais"):
        check_travel(found, "allais", "risky", ["b", "c"])
    check_travel(found, "allais", "risky", ["c"])
    check_travel(found, "risky_cpc18", "risky", ["b"])


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(TransferError, match=r"no theory 'nonsense'.*no run is called so"):
        find_travelling("nonsense", RUNS, domain="risky")
    with pytest.raises(TransferError, match=r"cannot read the theory gone\.py: there is no"):
        find_travelling("gone.py", RUNS, domain="risky")
    with pytest.raises(DataMissingError, match="there are: kahneman_tversky_1979"):
        read_target("allais", "exp*", None)


def test_the_command_says_what_is_missing():
    refused = CliRunner().invoke(app, ["transfer", "tallying"])
    assert refused.exit_code == 2
    assert "Missing option '--to'" in refused.output
    refused = CliRunner().invoke(app, ["transfer", "tallying", "--to", "nowhere"])
    assert isinstance(refused.exception, DataMissingError)


@pytest.mark.slow
def test_a_run_s_answers_are_a_target_but_not_of_what_was_found_on_them(finished):
    target = find_target(str(finished), "*", RUNS)
    assert (target.name, target.domain) == (finished.name, "multiattribute")
    assert not target.archived
    published = find_travelling("tallying", RUNS, domain=target.domain)
    check_target(published, target)
    first = replace(target, name=str(finished), trials=target.trials[:1])
    assert measure_transfer(published, first, n_draws=16).data == str(finished)
    own = find_travelling(str(finished), RUNS)
    assert own.origin.endswith("found on simulated")
    with pytest.raises(TransferError, match=r"was found on the responses of 1\.1, which"):
        check_target(own, target)
    with pytest.raises(DataMissingError, match=r"called 'x\*'; it collected: 1\.1"):
        find_target(str(finished), "x*", RUNS)


def gift_answers(folder: Path, seed: int = 0) -> Path:
    """Answers of eight people to a declared task, in a file beside its declaration; one is left out."""
    rng = np.random.default_rng(seed)
    worth = [(a, b) for a in (1, 2, 4, 8) for b in (1, 2, 4, 8) if a != b]
    rows = [
        {
            "person": f"p{person}", "worth_l": a, "worth_r": b,
            "wrapping_l": rng.choice(["plain", "red"]), "wrapping_r": "gold",
            "choice": "" if (person, a, b) == (0, 1, 2) else "left" if rng.random() < a / (a + b) else "right",
        }
        for person in range(8)
        for a, b in worth
    ]  # fmt: skip
    (folder / "gifts.toml").write_text(GIFTS)
    pd.DataFrame(rows).to_csv(folder / "answers.csv", index=False)
    return folder / "answers.csv"


@pytest.mark.slow
def test_a_theory_is_tried_on_a_file_of_a_declared_task_and_recorded(tmp_path, monkeypatch):
    gift_answers(tmp_path)
    monkeypatch.chdir(tmp_path)
    words = [
        "transfer",
        "weighted_adding",
        "--to",
        "answers.csv",
        "--draws",
        "16",
        "--workers",
        "1",
    ]
    done = CliRunner().invoke(app, [*words, "--domain", "gifts.toml"])
    assert done.exit_code == 0, (done.output, done.exception)
    assert "choice is empty  1 (2)" in done.stderr
    file = tmp_path / "transfer" / "weighted_adding-to-answers" / "transfer.json"
    told = read(file)
    assert (told.domain, told.data, told.columns.participant) == ("gifts", "answers.csv", "person")
    assert len(told.of("published")) > 3


def test_a_file_of_a_domain_of_the_package_is_read_as_its_columns_say(tmp_path):
    rows = [(f"p{n % 3}", n % 2, 5, 9 + n, 0, 7 + n) for n in range(12)]
    names = ["who", "took", "ss_amount", "ll_amount", "ss_delay", "ll_delay"]
    file = tmp_path / "own.csv"
    pd.DataFrame(rows, columns=names).to_csv(file, index=False)
    said = {"participant": "who", "response": "took"}
    target = find_target(str(file), "*", RUNS, columns=said)
    assert (target.domain, target.trials[0].n_participants) == ("intertemporal", 3)
    again = find_target(str(file), "*", RUNS, task=target.task, columns=target.columns)
    assert again == target
    study = new_study(tmp_path / "own.toml", file, columns=said).study
    of_study = find_target(str(study), "*", RUNS)
    assert [item.digest for item in of_study.trials] == [item.digest for item in target.trials]
    assert find_travelling("hyperbolic", RUNS, domain=target.task).domain == "intertemporal"
    with pytest.raises(DataMissingError, match=r"no experiment of .*own\.csv is called 'x'"):
        find_target(str(file), "x", RUNS, columns=said)
    refused = CliRunner().invoke(
        app, ["transfer", "tallying", "--to", "allais", "--domain", "risky"]
    )
    assert "say how a file is read, and allais is none" in str(refused.exception)


@pytest.mark.slow
def test_the_leader_of_a_run_on_a_declared_task_travels_to_other_answers_of_it(tmp_path):
    for name, seed in (("here", 0), ("there", 1)):
        (tmp_path / name).mkdir()
        gift_answers(tmp_path / name, seed)
    outcome = lakatos.explain(
        tmp_path / "here" / "answers.csv", domain=str(tmp_path / "here" / "gifts.toml"), cycles=1,
        change={"theories": {"candidates": 2}, "validation": {"comparison_models": False}},
        runs=tmp_path / "runs", n_workers=1,
    )  # fmt: skip
    words = [
        "transfer",
        str(outcome.folder),
        "--draws",
        "16",
        "--workers",
        "1",
        "--out",
        str(tmp_path / "out"),
    ]
    done = CliRunner().invoke(app, [*words, "--to", str(tmp_path / "there" / "answers.csv")])
    assert done.exit_code == 0, (done.output, done.exception)
    assert read(tmp_path / "out" / "transfer.json").domain == "gifts"
    own = CliRunner().invoke(app, [*words, "--to", str(tmp_path / "here" / "answers.csv")])
    assert "was found on" in str(own.exception)
    assert find_target(str(outcome.folder), "*", RUNS).task.name == "gifts"


@pytest.mark.slow
def test_the_lines_of_a_record_are_compared_by_its_own_scores(measured, tmp_path):
    told = read(write_transfer(measured, tmp_path))
    (line, *_), best = told.of("theory"), told.of("published")[0]
    behind = told.behind_textbook(line)
    assert (line.behind, line.behind_error) == (behind.value, behind.standard_error)
    assert line.behind == pytest.approx(best.score - line.score)
    assert told.behind_textbook(best).value == best.behind == 0
    body = json.loads((tmp_path / "transfer.json").read_text())
    del body["n_options"]
    (tmp_path / "earlier.json").write_text(json.dumps(body))
    assert read(tmp_path / "earlier.json").lines == measured.lines


@pytest.mark.slow
def test_the_leader_of_a_run_travels_with_its_people(finished):
    theory = find_travelling(str(finished), RUNS)
    assert theory.domain == "multiattribute"
    assert not theory.found_on
    assert theory.theory.priors != theory.form.priors
    assert theory.theory.digest == theory.form.digest


@pytest.mark.slow
def test_the_tutorial_s_example_runs(capsys):
    text = (ROOT / "docs" / "tutorial.md").read_text()
    section = text[text.index("## 4. Try it on other people") : text.index("## 5. Check it")]
    (code,) = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    exec(compile(code.replace("n_draws=64", "n_draws=16"), "tutorial", "exec"), {})
    assert "unchanged" in capsys.readouterr().out
