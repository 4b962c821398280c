"""From a file of one's own to a run that needs the file no more."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import lakatos
from lakatos.experiments.errors import DataMissingError, TrialsError
from lakatos.experiments.participants.archival import trials_to_use_all
from lakatos.flows.audit.audit import audit
from lakatos.flows.errors import StudyError
from lakatos.flows.operations.adopt import describe_file, new_study
from lakatos.flows.report.report import write_report
from lakatos.flows.report.why import why
from lakatos.flows.run.evidence import trials_in
from lakatos.flows.run.progress import CampaignProgress, PlainLines
from lakatos.flows.run.run import create_run, open_run, read_state, started
from lakatos.flows.run.study import CampaignConfig, load_study
from lakatos.flows.start import run_study

HEAD = "subject,age,trial_no,ss_amount,ll_amount,ss_delay,ll_delay,choice,rt"


def answers(path: Path, labels: tuple[str, str] = ("sooner", "later"), n_people: int = 8) -> Path:
    """Answers of people who discount hyperbolically, as a laboratory would keep them."""
    rng = np.random.default_rng(5)
    trials = [(x, x * r, t) for x in (5, 20) for r in (1.1, 1.5, 2.2) for t in (7, 90)]
    lines = [HEAD]
    for person in range(n_people):
        k = np.exp(rng.normal(-4, 0.8))
        for place, (soon, late, wait) in enumerate(rng.permutation(trials).tolist(), 1):
            waits = rng.random() < 1 / (1 + np.exp((soon - late / (1 + k * wait)) / (0.1 * soon)))
            cells = (
                f"anna-{person}",
                20 + person,
                place,
                soon,
                late,
                0,
                wait,
                labels[int(waits)],
                900,
            )
            lines.append(",".join(map(str, cells)))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def quick(study: Path) -> Path:
    """The study with no search, so that it ends in seconds."""
    text = re.sub(
        r"seeds = .*",
        'seeds = ["exponential", "hyperbolic"]\ninduction = false',
        study.read_text(encoding="utf-8"),
    )
    text = re.sub(r"(candidates|successors) = \d+", r"\1 = 0", text)
    study.write_text(
        re.sub(r"\ncycles = \d+\nleast_cycles = \d+", "\ncycles = 1\nleast_cycles = 1", text),
        encoding="utf-8",
    )
    return study


def test_a_file_says_whose_answers_it_holds(tmp_path: Path) -> None:
    found = describe_file(answers(tmp_path / "a.csv"))
    assert found.domain == "intertemporal"
    meanings = {item.name: item.meaning for item in found.columns}
    assert meanings["subject"] == "participant"
    assert meanings["choice"] == "response"
    assert "8 participants with 12 rows each" in found.facts
    assert "12 different trials, each in 8.0 rows on average" in found.facts


@pytest.mark.slow
def test_a_study_is_written_and_its_run_needs_the_file_no_more(tmp_path: Path) -> None:
    data = answers(tmp_path / "a.csv")
    made = new_study(tmp_path / "mine.toml", data)
    assert made.open_questions == ()
    study = quick(made.study)
    verdict = run_study(study, tmp_path / "run")
    data.unlink()
    state, trace = read_state(tmp_path / "run")
    with trace:
        (collected,) = state.experiments.collected
        assert trials_in(trace.artifacts, state, collected).n_people == 8
    open_run(tmp_path / "run").close()
    found = audit(tmp_path / "run")
    assert found.passed, found
    page = write_report(tmp_path / "run").read_text()
    assert "responses in the file a.csv" in page
    assert ">Experiment 1.1<" in page
    words = re.sub(r"<[^>]*>", "", page)
    assert "1.1 answers" not in words  # the name of its records, which reads as a count
    told = why(tmp_path / "run")
    assert "1.1 answers" not in "\n".join([*told.brief, *told.tree()])
    assert verdict.leader
    assert b"anna-" not in b"".join(
        path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()
    )


def test_rows_left_out_are_told_by_the_study_and_change_nothing_else(tmp_path: Path) -> None:
    data = answers(tmp_path / "a.csv")
    whole = data.read_text()
    made = new_study(tmp_path / "mine.toml", data)
    before = load_study(made.study)
    data.write_text(whole + "anna-99,20,1,,10,0,7,sooner,900\n")
    after = load_study(made.study)
    assert after.participants.told[0] == "1 row is left out: ss_amount is empty (row 98)"
    assert "1 person has no row left" in after.participants.told
    assert "anna" not in "".join(after.participants.told)
    assert before.participants.answers == after.participants.answers
    assert before.digest == after.digest


def test_a_study_is_the_same_wherever_its_files_are(tmp_path: Path) -> None:
    configs = []
    for folder, name in (("here", "a.csv"), ("there", "b.csv")):
        (tmp_path / folder).mkdir()
        data = answers(tmp_path / folder / name)
        made = new_study(tmp_path / folder / "mine.toml", data, question="How do people wait?")
        configs.append(load_study(made.study))
    assert configs[0].participants.file != configs[1].participants.file
    assert configs[0].digest == configs[1].digest
    assert started(configs[0]) == started(configs[1])
    placed = CampaignConfig.model_validate(started(configs[0]).config)
    found = placed.with_places(configs[1].model_dump(mode="json"))
    assert found == configs[1]


@pytest.mark.parametrize(
    ("numbers", "n_designs", "size"),
    [([120], 4, 30), ([120], 1, 120), ([121], 4, 31), ([40, 10, 10], 4, 20), ([5, 5, 5], 3, 5)],
)
def test_designs_together_ask_for_every_trial(
    numbers: list[int], n_designs: int, size: int
) -> None:
    assert trials_to_use_all(numbers, n_designs) == size


@pytest.mark.slow
@pytest.mark.parametrize("trials", [0, 3])
def test_the_start_and_the_verdict_say_which_part_of_a_file_is_used(
    tmp_path: Path, trials: int, capsys: pytest.CaptureFixture[str]
) -> None:
    made = new_study(tmp_path / "mine.toml", answers(tmp_path / "a.csv"), cycles=1)
    study = quick(made.study)
    if trials:
        study.write_text(re.sub(r"\ntrials = \d+ ", f"\ntrials = {trials} ", study.read_text()))
    text = run_study(study, tmp_path / "run", progress=CampaignProgress(PlainLines())).text
    begins = capsys.readouterr().err
    warning = "1 experiment of 3 trials do not use all of the 12 different ones: design.trials = 12"
    assert (warning in begins) == bool(trials)
    if trials:
        assert "Of 96 available responses, 24 were used in the search, and 72 were not used" in text
        assert "design.trials" in text
    else:
        assert "Of 96 available responses, 96 were used in the search." in text


def test_what_cannot_be_guessed_is_asked(tmp_path: Path) -> None:
    made = new_study(tmp_path / "mine.toml", answers(tmp_path / "a.csv", ("f", "j")))
    assert len(made.open_questions) == 1
    assert "which option is each of" in made.open_questions[0]
    with pytest.raises(TrialsError, match="names no option that is known"):
        load_study(made.study)


def test_a_file_of_unknown_trials_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("who,colour\na,red\nb,blue\n")
    with pytest.raises(StudyError, match="cannot be guessed from its columns"):
        new_study(tmp_path / "mine.toml", tmp_path / "a.csv")
    assert not (tmp_path / "mine.toml").exists()


def test_an_existing_study_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("mine")
    with pytest.raises(StudyError, match="exists"):
        new_study(tmp_path / "mine.toml", answers(tmp_path / "a.csv"))
    assert (tmp_path / "mine.toml").read_text() == "mine"


def test_a_file_that_changed_since_the_study_was_read_is_refused(tmp_path: Path) -> None:
    data = answers(tmp_path / "a.csv")
    config = load_study(quick(new_study(tmp_path / "mine.toml", data).study))
    data.write_text(data.read_text().replace("sooner", "later", 1))
    with pytest.raises(DataMissingError, match="was changed since the study was read"):
        create_run(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_that_participants_are_too_few_is_stated_before_questions_are_answered(
    tmp_path: Path,
) -> None:
    words = "No finding: the file has responses of 2 participants"
    unknown = answers(tmp_path / "open.csv", ("left", "right"), n_people=2)
    made = new_study(tmp_path / "open.toml", unknown)
    assert made.open_questions
    assert made.too_few.startswith(words)
    wrong = answers(tmp_path / "wrong.csv", n_people=2)
    wrong.write_text(wrong.read_text().replace(",5.0,", ",oops,", 1))
    with pytest.raises(TrialsError, match=f"oops.*{words}"):
        new_study(tmp_path / "wrong.toml", wrong)


def test_a_file_of_fewer_than_five_participants_gives_no_finding(tmp_path: Path) -> None:
    few, enough = (answers(tmp_path / f"{n}.csv", n_people=n) for n in (2, 5))
    assert new_study(tmp_path / "few.toml", few).too_few == (
        "No finding: the file has responses of 2 participants. Responses of at least 10 are needed."
    )
    assumed = new_study(tmp_path / "enough.toml", enough).assumed
    assert "kind of task = intertemporal" in assumed
    assert not any(set("{[") & set(line) for line in assumed)  # names, and no Python
    assert new_study(tmp_path / "again.toml", enough).too_few == ""
    with pytest.raises(StudyError, match="No finding: the file has responses of 2 participants"):
        lakatos.explain(few, runs=tmp_path / "runs")
    assert not list((tmp_path / "runs").glob("*/journal.sqlite"))
