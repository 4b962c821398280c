"""A study whose domain is a file: what is kept of it, what a resume refuses, and what is never run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "domains" / "declared"))

from feedback_tasks import BANDIT
from tasks import gifts

from lakatos.domains import find_domain, open_domain
from lakatos.domains.declared import program as task_program
from lakatos.domains.declared import watch as task_watch
from lakatos.domains.declared.task import DeclaredDomain
from lakatos.experiments.errors import TaskFileError
from lakatos.experiments.task_file import TaskFile, task_file_of
from lakatos.flows.errors import StudyError
from lakatos.flows.run.code import used_by
from lakatos.flows.run.run import create_run, open_run, read_state
from lakatos.flows.run.study import CampaignConfig, load_study
from lakatos.flows.run.task import check_unchanged, code_part, domain_of, family_of
from lakatos.flows.start import run_study
from lakatos.flows.view.watch import RunWatch
from lakatos.theories.errors import GrammarError
from lakatos.traces.digest import digest_bytes

STUDY = """
name = "presents"
question = "Which gifts do people take?"
seed = 4
[domain]
file = "{file}"
[theories]
seeds = ["worth_alone", "equal_weights"]
candidates = 0
induction = false
draws = 64
[design]
trials = 8
participants = 20
candidates = 30
power = 0.5
refused = "cover"
[participants]
source = "simulated"
theory = "weighted_adding"
[stop]
cycles = 1
least_cycles = 1
[validation]
comparison_models = false
"""
TWO_NUMBERS = gifts(
    ('kind = "category"', 'kind = "rating"'), ('["plain", "red", "gold"]', '[1, 2, 3]\nbetter = "more"')
)  # fmt: skip
PROGRAM = f'''
"""Gifts of which people see the worth in words."""

from lakatos.domains.declared.task import DeclaredDomain
from lakatos.domains.declared.theories import declared_family


class GiftsDomain(DeclaredDomain):
    def picture(self, stimuli, row):
        return "<p>drawn by a program</p>"


DOMAIN = GiftsDomain({TWO_NUMBERS!r})
FAMILY = declared_family(DOMAIN)
'''


def study_with(folder: Path, text: str = TWO_NUMBERS, file: str = "gifts.toml") -> Path:
    (folder / file).write_text(text)
    study = folder / "presents.toml"
    study.write_text(STUDY.format(file=file))
    return study


def test_a_study_keeps_the_whole_declaration_and_needs_the_file_no_more(tmp_path: Path) -> None:
    config = load_study(study_with(tmp_path))
    (tmp_path / "gifts.toml").unlink()
    again = CampaignConfig.model_validate(config.model_dump(mode="json"))
    assert again.digest == config.digest
    assert domain_of(again) == DeclaredDomain(TWO_NUMBERS)
    assert again.domain == "gifts"
    assert "worth_alone" in family_of(again).seeds


def test_the_fingerprint_of_a_declared_domain_is_part_of_its_studies_only(tmp_path: Path) -> None:
    config = load_study(study_with(tmp_path))
    value = config.model_dump(mode="json")
    assert code_part(value) == "declared"
    assert code_part({"domain": "risky"}) == "risky"
    program = value | {"domain_file": {"file": "gifts.py", "text": ""}}
    assert code_part(program) == ""  # it may use anything
    texts = {
        "domains/declared/task.py": b"from lakatos.domains.declared import declaration",
        "domains/declared/declaration.py": b"",
        "domains/risky/task.py": b"",
        "domains/declared/theories.py": b"",
        "theories/engine/checks/check.py": b"from lakatos.theories.language.family import find_family",
    }
    risky = {"domains/risky/task.py", "theories/engine/checks/check.py"}
    assert set(used_by(texts, "risky")) == risky
    assert set(used_by(texts, "declared")) == set(texts) - {"domains/risky/task.py"}
    plain = CampaignConfig.model_validate(
        {key: item for key, item in value.items() if key != "domain_file"}
        | {"domain": "risky", "theories": {"seeds": ["expected_value", "expected_utility"]},
           "participants": {"source": "simulated", "theory": "expected_utility"}}
    )  # fmt: skip
    assert "domain_file" not in plain.model_dump()


def test_a_run_keeps_the_file_as_an_artifact_and_a_changed_file_is_not_resumed(
    tmp_path: Path,
) -> None:
    config = load_study(study_with(tmp_path))
    create_run(config, tmp_path / "run").close()
    _, trace = read_state(tmp_path / "run")
    assert config.domain_file is not None
    assert trace.artifacts.get(config.domain_file.digest) == TWO_NUMBERS.encode()
    trace.close()
    file = tmp_path / "gifts.toml"
    file.write_text(TWO_NUMBERS.replace("Worth", "Value"))
    with pytest.raises(TaskFileError, match=r"changed since this run began.*Put it back"):
        open_run(tmp_path / "run")
    file.write_text(TWO_NUMBERS)
    open_run(tmp_path / "run").close()
    file.unlink()
    open_run(tmp_path / "run").close()


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ('file = "none.toml"', "cannot read the domain"),
        ('path = "gifts.toml"', r"\[domain\] has one key, file"),
        ('file = "gifts.csv"', "declares no domain: give a file in TOML or Python"),
    ],
)
def test_a_study_that_names_no_declaration_is_refused(
    tmp_path: Path, section: str, words: str
) -> None:
    study = study_with(tmp_path)
    study.write_text(study.read_text().replace('file = "gifts.toml"', section))
    with pytest.raises((StudyError, TaskFileError), match=words):
        load_study(study)


def test_the_name_of_a_domain_of_the_package_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="called 'risky' as one of the package"):
        load_study(study_with(tmp_path, TWO_NUMBERS.replace('"gifts"', '"risky"')))


def test_a_name_of_a_theory_that_the_task_has_not_is_refused_with_those_that_it_has(
    tmp_path: Path,
) -> None:
    study = study_with(tmp_path)
    study.write_text(study.read_text().replace("worth_alone", "worth_alne"))
    with pytest.raises(StudyError, match="no theory 'worth_alne'; did you mean 'worth_alone'"):
        load_study(study)


# Domains that are programs


def test_a_program_is_a_domain_that_draws_its_own_pictures(tmp_path: Path) -> None:
    config = load_study(study_with(tmp_path, PROGRAM, "gifts.py"))
    domain = domain_of(config)
    assert domain.picture(domain.space({}), 0) == "<p>drawn by a program</p>"
    elsewhere = find_domain(domain.name, task_file_of(domain))
    assert elsewhere.picture(elsewhere.space({}), 0) == "<p>drawn by a program</p>"
    assert "worth_alone" in family_of(config).seeds


def test_a_program_is_never_run_from_a_study_but_only_from_an_unchanged_file(
    tmp_path: Path,
) -> None:
    mark = tmp_path / "was-run"
    text = f"from pathlib import Path\nPath({str(mark)!r}).touch()\n" + PROGRAM
    for there in (None, PROGRAM):
        file = tmp_path / "gifts.py"
        if there is not None:
            file.write_text(there)
        with pytest.raises(TaskFileError, match=r"is not (here|what it was) .*put it back"):
            find_domain("gifts", TaskFile(file=str(file), text=text))
    assert not mark.exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\nDOMAIN = y\n", "line 2: NameError: name 'y'"),
        ("DOMAIN = (\n", "SyntaxError"),
        ("x = 1\n", "it has no DOMAIN"),
        ("DOMAIN = 3\n", "its DOMAIN lacks name, options"),
    ],
)
def test_a_program_that_is_no_domain_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "gifts.py").write_text(text)
    with pytest.raises(TaskFileError, match=words):
        open_domain(str(tmp_path / "gifts.py"))


def reading(digest: str) -> str:
    """The program of a domain that reads its declaration from a file, and says which one."""
    declared = repr(TWO_NUMBERS)
    read = 'Path(__file__).with_name("gifts.toml").read_text()'
    return f'from pathlib import Path\n{PROGRAM.replace(declared, read)}READS = {{"gifts.toml": "{digest}"}}\n'


def test_a_file_that_a_program_reads_counts_by_its_digest(tmp_path: Path) -> None:
    declaration = tmp_path / "gifts.toml"
    declaration.write_text(TWO_NUMBERS)
    digest = digest_bytes(TWO_NUMBERS.encode())
    with pytest.raises(TaskFileError, match=f'reads gifts.toml, .*READS = .*"{digest}"') as refused:
        load_study(study_with(tmp_path, reading(""), "gifts.py"))
    assert "Put the file back" in str(refused.value)
    config = load_study(study_with(tmp_path, reading(digest), "gifts.py"))
    check_unchanged(config)
    declaration.write_text(TWO_NUMBERS.replace("red", "green") + "# other\n")
    with pytest.raises(TaskFileError, match="or a file that it reads, was changed since this run"):
        check_unchanged(config)
    with pytest.raises(TaskFileError, match=r"reads gifts\.toml, which holds something else"):
        load_study(tmp_path / "presents.toml")
    declaration.unlink()
    with pytest.raises(TaskFileError, match=r"reads gifts\.toml|FileNotFoundError"):
        load_study(tmp_path / "presents.toml")


def test_what_a_program_says_it_reads_is_a_mapping(tmp_path: Path) -> None:
    with pytest.raises(
        TaskFileError, match=r"has READS that is no mapping .* each with its SHA-256"
    ):
        load_study(study_with(tmp_path, f'{PROGRAM}READS = ["gifts.toml"]\n', "gifts.py"))


@pytest.mark.parametrize(
    "where",
    [
        "loading",
        "describe",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("features", "swap_sides")),
    ],
)
def test_a_program_that_loops_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    loop = "while True:\n    pass\n"
    if where != "loading":
        loop = (
            f"{PROGRAM}\ndef loop(*trial):\n    while True:\n        pass\nDOMAIN.{where} = loop\n"
        )
    if where == "loading":
        monkeypatch.setattr(task_program, "LONGEST_START_S", 4)
    monkeypatch.setattr(task_watch, "LONGEST_CALL_S", 0.5)
    (tmp_path / "gifts.py").write_text(loop)
    words = "not there after 4 s" if where == "loading" else f"{where} had not ended after 0.5 s"
    with pytest.raises(TaskFileError, match=f"{words}: it loops"):
        open_domain(str(tmp_path / "gifts.py"))


@pytest.mark.parametrize(
    "where",
    [
        "space",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("admits", "swap_sides", "candidates")
        ),
    ],
)
def test_a_call_that_loops_is_given_up_whenever_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setattr(task_watch, "LONGEST_CALL_S", 0.5)
    loop = f"""
calls = []
usual = DOMAIN.{where}
def loop(*given):
    while {where!r} != "swap_sides" or len(calls) > 9:  # which is called when the file is looked at
        try:
            pass
        except Exception:
            pass
    calls.append(1)
    return usual(*given)
DOMAIN.{where} = loop
"""
    (tmp_path / "gifts.py").write_text(PROGRAM + loop)
    domain = open_domain(str(tmp_path / "gifts.py"))
    some = domain.probes(np.random.default_rng(0))[0]
    given = {
        "space": ({},),
        "admits": ({}, some),
        "swap_sides": (some,),
        "candidates": ({}, np.random.default_rng(0), 5),
    }[where]

    def call_often():
        for _ in range(20):
            getattr(domain, where)(*given)

    with pytest.raises(TaskFileError, match=rf"{where} had not ended after 0.5 s: it loops"):
        call_often()


def test_a_study_with_a_program_is_the_same_study_in_every_folder(tmp_path: Path) -> None:
    found = []
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        found.append(load_study(study_with(tmp_path / name, PROGRAM, "gifts.py")))
    assert found[0].domain_file != found[1].domain_file
    assert found[0].digest == found[1].digest
    other = load_study(study_with(tmp_path / "here", PROGRAM + "\n# other\n", "gifts.py"))
    assert other.digest != found[0].digest


def test_a_run_of_a_program_is_read_with_the_file_where_it_is(tmp_path: Path) -> None:
    config = load_study(study_with(tmp_path, PROGRAM, "gifts.py"))
    create_run(config, tmp_path / "run").close()
    run = open_run(tmp_path / "run")
    assert run.config.domain_file == config.domain_file
    assert run.domain.name == "gifts"
    run.close()


def test_a_program_reads_what_stands_beside_its_file(tmp_path: Path) -> None:
    text = (
        PROGRAM
        + "\nfrom pathlib import Path\nBESIDE = Path(__file__).with_name('beside.txt').read_text()\n"
    )
    (tmp_path / "beside.txt").write_text("a table")
    config = load_study(study_with(tmp_path, text, "gifts.py"))
    assert config.domain_file is not None
    assert task_program.module_in(config.domain_file).BESIDE == "a table"


def test_a_program_without_theories_is_refused_with_what_to_add(tmp_path: Path) -> None:
    text = PROGRAM.replace("FAMILY = declared_family(DOMAIN)", "FAMILY = None")
    with pytest.raises((StudyError, GrammarError), match="has no FAMILY with seeds"):
        load_study(study_with(tmp_path, text, "gifts.py"))


# Whole campaigns


@pytest.mark.slow
def test_a_campaign_about_a_declared_task_recovers_the_hidden_rule(tmp_path: Path) -> None:
    study = study_with(tmp_path)
    text = study.read_text().replace('"equal_weights"]', '"weighted_adding"]')
    study.write_text(text.replace("participants = 20", "participants = 120"))
    verdict = run_study(study, tmp_path / "run", n_workers=1)
    state, trace = read_state(tmp_path / "run")
    trace.close()
    assert "Weighted adding" in verdict.text
    assert state.campaign.truth is not None
    domain = domain_of(load_study(study))
    assert state.campaign.truth.record.n_trials == len(domain.space({}))
    errors, leader = state.campaign.truth.record.corrected, state.board().leader.theory
    assert np.sqrt(min(errors[name] for name in (leader, *state.seeds))) < 0.05


@pytest.mark.long
def test_a_campaign_about_a_task_with_feedback_finds_that_people_learn(tmp_path: Path) -> None:
    study = study_with(tmp_path, BANDIT, "decks.toml")
    text = study.read_text().replace(
        '"worth_alone", "equal_weights"', '"rescorla_wagner", "random"'
    )
    text = text.replace("trials = 8\n", "").replace(
        'theory = "weighted_adding"', 'theory = "rescorla_wagner"'
    )
    study.write_text(text)
    verdict = run_study(study, tmp_path / "run", n_workers=1)
    assert verdict.text.startswith("Rescorla-Wagner")
    state, trace = read_state(tmp_path / "run")
    trace.close()
    assert state.campaign.truth is not None
    errors, leader = state.campaign.truth.record.corrected, state.board().leader.theory
    assert np.sqrt(min(errors[name] for name in (leader, *state.seeds))) < 0.05


@pytest.mark.slow
def test_a_campaign_about_a_program_runs_to_its_verdict(tmp_path: Path) -> None:
    run = tmp_path / "run"
    verdict = run_study(study_with(tmp_path, PROGRAM, "gifts.py"), run, n_workers=1)
    assert "people" in verdict.text.lower()
    assert RunWatch(name="run", folder=run).look().concluded is not None

    # processes that have not read the program yet
    for command in ("report", "audit", "resume"):
        order = [sys.executable, "-m", "lakatos.flows.commands.main", command, str(run)]
        found = subprocess.run(order, capture_output=True, text=True, check=False)
        assert found.returncode == 0, (command, found.stderr[-2000:])
