"""`lakatos transfer`: what it writes, that it comes out again, and what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lakatos.experiments.errors import DataMissingError
from lakatos.flows.commands.main import app
from lakatos.flows.errors import TransferError
from lakatos.flows.operations.transfer import (
    TravellingTheory,
    check_target,
    check_transfer,
    check_travel,
    find_target,
    find_theory,
    measure_transfer,
    read_target,
    read_transfer,
    write_transfer,
)

ROOT = Path(__file__).resolve().parent.parent.parent.parent
RUNS = Path("no-runs-here")


@pytest.fixture(scope="module")
def measured():
    theory = find_theory("expected_value", RUNS, domain="risky")
    return measure_transfer(theory, "allais", read_target("allais", "*", None), n_draws=32)


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
def test_a_record_comes_out_again_and_a_forged_one_does_not(measured, tmp_path):
    file = write_transfer(measured, tmp_path)
    told = read_transfer(file)
    assert told == measured
    assert check_transfer(told) == ""
    body = json.loads(file.read_text())
    body["lines"][0]["score"] += 0.01
    file.write_text(json.dumps(body))
    assert "lines[0].score" in check_transfer(read_transfer(file))


@pytest.mark.slow
def test_a_record_of_other_code_or_none_is_refused(measured, tmp_path):
    with pytest.raises(TransferError, match="computed by other code"):
        check_transfer(measured.model_copy(update={"science": "0" * 64}))
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(TransferError, match="no record of a transfer"):
        read_transfer(tmp_path / "x.json")
    with pytest.raises(TransferError, match="cannot read"):
        read_transfer(tmp_path / "y.json")


def test_a_theory_of_another_domain_is_refused():
    theory = find_theory("weighted_additive", RUNS, domain="risky")
    with pytest.raises(
        TransferError, match=r"is about multiattribute and the answers of allais are about risky"
    ):
        measure_transfer(theory, "allais", read_target("allais", "*", None))


def test_answers_on_which_a_theory_was_found_are_refused():
    theory = find_theory("expected_value", RUNS, domain="risky").theory
    found = TravellingTheory(theory, theory, "a run", "risky", {"allais": frozenset({"a", "b"})})
    with pytest.raises(TransferError, match=r"was found on b of allais"):
        check_travel(found, "allais", "risky", ["b", "c"])
    check_travel(found, "allais", "risky", ["c"])
    check_travel(found, "risky_cpc18", "risky", ["b"])


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(TransferError, match=r"no theory 'nonsense'.*no run is called so"):
        find_theory("nonsense", RUNS, domain="risky")
    with pytest.raises(TransferError, match=r"cannot read the theory gone\.py: there is no"):
        find_theory("gone.py", RUNS, domain="risky")
    with pytest.raises(DataMissingError, match="there are: kahneman_tversky_1979"):
        read_target("allais", "exp*", None)


def test_the_command_says_what_is_missing():
    refused = CliRunner().invoke(app, ["transfer", "tallying"])
    assert isinstance(refused.exception, TransferError)
    assert "say which theory and which data" in str(refused.exception)
    refused = CliRunner().invoke(app, ["transfer", "tallying", "--to", "nowhere"])
    assert isinstance(refused.exception, DataMissingError)


@pytest.mark.slow
def test_a_run_s_answers_are_a_target_but_not_of_what_was_found_on_them(finished):
    target = find_target(str(finished), "*", RUNS)
    assert (target.name, target.domain) == (finished.name, "multiattribute")
    assert not target.archived
    published = find_theory("tallying", RUNS, domain=target.domain)
    check_target(published, target)
    measured = measure_transfer(
        published, str(finished), target.trials[:1], domain=target.domain, n_draws=16
    )
    assert check_transfer(measured) == ""
    own = find_theory(str(finished), RUNS)
    assert own.origin.endswith("found on simulated")
    with pytest.raises(TransferError, match=r"was found on the answers of 1\.1, which"):
        check_target(own, target)
    with pytest.raises(DataMissingError, match=r"called 'x\*'; it collected: 1\.1"):
        find_target(str(finished), "x*", RUNS)


def test_the_answers_of_a_declared_task_have_no_published_theories():
    theory = find_theory("tallying", RUNS, domain="multiattribute")
    with pytest.raises(TransferError, match="about a declared task"):
        measure_transfer(theory, "a run", (), domain="tasks/dots.toml")


@pytest.mark.slow
def test_the_leader_of_a_run_travels_with_its_people(finished):
    theory = find_theory(str(finished), RUNS)
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
    assert "as it came" in capsys.readouterr().out
