"""How often the same responses were analysed: by what they hold, not by their form, their file or the run's folder."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.experiments.task import Stimuli, Trials
from lakatos.flows.audit.audit import audit
from lakatos.flows.report.report import write_report
from lakatos.flows.run.analyses import analysed_in, analyses_in_words, has_same, units_of
from lakatos.flows.run.records import RECORD_TYPES, AnalysesNoted
from lakatos.flows.start import run_study
from lakatos.traces.files import JOURNAL_FILE
from lakatos.traces.head import known_key
from lakatos.traces.home import home
from lakatos.traces.journal import Journal
from lakatos.traces.step import Trace
from tests.flows.small import small_study

DOMAIN = DOMAINS["multiattribute"]
KEY = b"k" * 32


def table(seed: int = 1, n_people: int = 12, n_trials: int = 24) -> Trials:
    """Responses of participants who choose at random."""
    rng = np.random.default_rng(seed)
    space = small_study().space
    stimuli = DOMAIN.candidates(space, np.random.default_rng(5), n_trials)
    people = np.repeat(np.arange(n_people), len(stimuli))
    trials = np.tile(np.arange(len(stimuli)), n_people)
    responses = rng.integers(2, size=len(trials))
    return Trials("e", stimuli, people, trials, responses, np.ones(len(trials), dtype=int))


def rows(found: Trials, chosen: np.ndarray) -> Trials:
    return replace(
        found,
        participant=found.participant[chosen],
        trial=found.trial[chosen],
        response=found.response[chosen],
        count=found.count[chosen],
    )


def same(one: Trials, other: Trials) -> bool:
    return has_same(units_of([one], DOMAIN, KEY), units_of([other], DOMAIN, KEY))


def test_the_same_responses_in_another_order_with_other_names_and_sides_are_the_same() -> None:
    own = table()
    order = np.random.default_rng(2).permutation(len(own.trial))
    renamed = rows(own, order)
    renamed = replace(
        renamed, participant=np.random.default_rng(3).permutation(12)[renamed.participant]
    )
    assert same(own, replace(renamed, experiment="another"))
    assert same(
        own, replace(own, stimuli=DOMAIN.swap_sides(own.stimuli), response=1 - own.response)
    )
    places = np.random.default_rng(4).permutation(len(own.stimuli))
    moved = replace(own, stimuli=own.stimuli.take(places), trial=np.argsort(places)[own.trial])
    assert same(own, moved)


def test_responses_without_some_rows_or_participants_are_the_same() -> None:
    own = table()
    assert same(own, rows(own, np.arange(len(own.trial)) != 7))
    first = np.unique(own.participant, return_index=True)[1]
    one_each = np.setdiff1d(np.arange(len(own.trial)), first + np.arange(12))
    assert same(own, rows(own, one_each))
    assert same(own, rows(own, own.participant < 5))
    assert same(rows(own, own.participant < 5), own)


def changed(own: Trials, how: str) -> Trials:
    """A copy in which rows of every participant are changed."""
    rng, n = np.random.default_rng(6), len(own.trial)
    is_some = rng.random(n) < 0.05
    if how == "other trials are left out for each participant":
        return rows(own, ~is_some)
    if how == "three trials are left out for all, and one response is added":
        kept = np.flatnonzero(~np.isin(own.trial, [3, 40, 77]))
        more = rows(own, np.append(kept, kept[0]))
        return replace(more, participant=11 - more.participant)
    if how == "responses are turned round":
        return replace(own, response=np.where(is_some, 1 - own.response, own.response))
    if how == "each participant is there twice":
        twice = rows(own, np.tile(np.arange(n), 2))
        return replace(twice, participant=twice.participant + 12 * (np.arange(2 * n) >= n))
    assert how == "amounts are written in another precision"
    arrays = {name: array * (1 + 1e-9) for name, array in own.stimuli.arrays.items()}
    return replace(own, stimuli=Stimuli(arrays))


@pytest.mark.parametrize(
    "how",
    [
        "other trials are left out for each participant",
        "three trials are left out for all, and one response is added",
        "responses are turned round",
        "amounts are written in another precision",
        "each participant is there twice",
    ],
)
def test_copies_with_changes_in_the_rows_of_every_participant_are_the_same(how: str) -> None:
    own = table(n_trials=100)
    assert same(own, changed(own, how))
    assert same(changed(own, how), own)
    assert not same(table(2, n_trials=100), changed(own, how))


def test_participants_of_the_same_trials_who_agree_mostly_are_not_the_same() -> None:
    usual = np.random.default_rng(9).integers(2, size=100)
    both = []
    for seed in (1, 2):
        own = table(n_people=60, n_trials=100)
        is_other = np.random.default_rng(seed).random(len(own.trial)) < 0.1
        both.append(
            replace(own, response=np.where(is_other, 1 - usual[own.trial], usual[own.trial]))
        )
    assert not same(*both)


def test_other_responses_to_the_same_trials_are_not_the_same() -> None:
    assert not any(same(table(), table(seed)) for seed in range(2, 12))
    few = table(n_trials=6), table(2, n_trials=6)
    assert not same(*few)


def test_pooled_responses_are_compared_by_trial() -> None:
    own = table(n_people=40).in_counts()
    assert same(own, own)
    assert not same(own, table(2, n_people=40).in_counts())
    assert same(own, rows(own, own.trial != 3))


def test_digests_depend_on_the_key_of_the_laboratory() -> None:
    assert not set(units_of([table()], DOMAIN, KEY)) & set(units_of([table()], DOMAIN, b"other"))


def file_of(path: Path, own: Trials, order: np.ndarray) -> Path:
    ratings = own.stimuli["ratings"].reshape(len(own.stimuli), -1).astype(int)
    head = ",".join(["vp", *(f"r{n}" for n in range(ratings.shape[1])), "choice"])
    lines = [
        ",".join(
            map(str, [f"p{own.participant[row]}", *ratings[own.trial[row]], own.response[row]])
        )
        for row in order
    ]
    path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    return path


@pytest.mark.slow
def test_runs_on_the_same_file_are_counted_over_seeds_folders_and_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKATOS_HOME", str(tmp_path / "home"))
    own = table()
    n = len(own.trial)
    orders = [np.arange(n), np.arange(n)[::-1], np.delete(np.arange(n), 5)]
    for number, order in enumerate(orders):
        file = file_of(tmp_path / f"copy-{number}.csv", own, order)
        study = archived(file, seed=number)
        run_study(study, tmp_path / f"place-{number}" / "run", n_workers=1)
    shutil.rmtree(tmp_path / "place-0")
    last = tmp_path / "place-2" / "run"
    with Journal.open(last / JOURNAL_FILE, read_only=True) as journal:
        noted = analysed_in(journal)
    assert noted is not None
    assert [note.seed for note in noted[1]] == [0, 1]
    assert all(note.has_verdict and note.n_opened == 1 for note in noted[1])
    said = analyses_in_words(noted[1])
    assert (
        "in 2 other runs of this laboratory, with 2 verdicts, and sealed responses were opened 2 times"
        in said
    )
    (line,) = [item for item in audit(last, recompute="none").findings if item.name == "analyses"]
    assert (line.passed, line.detail) == (True, said)
    told = [noted_in(tmp_path / f"place-{number}" / "run") for number in (1, 2)]
    assert told == [[(1, 1, 1)], [(2, 2, 2)]]
    report = write_report(last).read_text("utf-8")
    assert (
        "analysed in 2 other runs of this laboratory, with 2 verdicts; sealed responses had"
        in report
    )
    known = known_key()
    monkeypatch.setenv("LAKATOS_HOME", str(tmp_path / "elsewhere"))
    elsewhere = audit(last, key=known, n_workers=1)
    assert elsewhere.passed, elsewhere.findings
    assert "analyses" not in {item.name for item in elsewhere.findings}
    monkeypatch.setenv("LAKATOS_HOME", str(tmp_path / "home"))
    assert write_report(last).read_text("utf-8") == report
    assert b"p1" not in b"".join(path.read_bytes() for path in (home() / "analyses").iterdir())


def noted_in(folder: Path) -> list[tuple[int, int, int]]:
    """Other runs, verdicts among them and openings that a run's journal notes."""
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        noted = [item.record for item in trace.records(AnalysesNoted)]
    return [(item.n_runs, item.n_verdicts, item.n_opened) for item in noted]


def archived(file: Path, seed: int):  # type: ignore[no-untyped-def]
    """A short study of a file."""
    return small_study(
        seed=seed,
        space={},
        participants={
            "source": "archival",
            "file": str(file),
            "columns": {
                "participant": "vp",
                "response": "choice",
                "stimulus": {
                    "ratings": [["r0", "r1", "r2"], ["r3", "r4", "r5"]],
                    "validities": [0.9, 0.7, 0.6],
                    "rating_max": 2,
                },
            },
        },
        theories={
            "seeds": ["take_the_best", "tallying"],
            "candidates": 0,
            "successors": 0,
            "induction": False,
            "draws": 32,
        },
        design={"trials": 12, "participants": 12, "refused": "cover", "power": 0.5},
        stop={"cycles": 1, "least_cycles": 1},
        validation={"comparison_models": False, "sealed_share": 0.25},
    )
