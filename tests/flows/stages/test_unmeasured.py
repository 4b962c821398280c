"""A theory that may hold the responses themselves is named in the verdict, the report and the audit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lakatos.experiments.task import Stimuli
from lakatos.flows.audit.audit import audit
from lakatos.flows.report.limits import limits
from lakatos.flows.report.reader import open_reading
from lakatos.flows.run.study_sections import OWN
from lakatos.flows.stages.verdict.unmeasured import could_have_read
from lakatos.flows.start import run_study
from lakatos.theories.engine.checks.memorised import LEAST_TRIALS, distinct_trials
from lakatos.theories.engine.record import TheoryChecked, TheoryFailed
from lakatos.theories.findings.verdicts.record import CampaignConcluded
from tests.flows.run.test_analyses import DOMAIN, archived, file_of, table
from tests.flows.small import records
from tests.theories.engine.test_in_use import FAR, A, gated

GATE = FAR.format('400 * (parameters["a"] - 0.9)')


@pytest.mark.parametrize(
    ("author", "is_archive", "could"),
    [
        ("published", True, False),
        ("grammar", True, False),
        ("induction", True, False),
        ("conditions", True, False),
        ("library: grammar, study, seed 1", True, False),
        (OWN, False, False),
        (OWN, True, True),
        (f"library: {OWN}, study, seed 1", True, True),
        ("language model writer", True, True),
        ("language model writer", False, True),
    ],
)
def test_authors_outside_the_laboratory_could_have_read_responses_that_were_there(
    author: str, is_archive: bool, could: bool
) -> None:
    assert could_have_read(author, is_archive=is_archive) == could


def test_trials_that_differ_by_their_sides_are_one() -> None:
    own = table().stimuli
    assert distinct_trials(DOMAIN, [own, DOMAIN.swap_sides(own), own.take([0])]) == len(own)


def holding(stimuli: Stimuli, response: NDArray[np.int64]) -> str:
    """A theory that holds the response to each trial and has no rule."""
    ratings = stimuli["ratings"].astype(int)  # (n_trials, 2, n_cues)
    chosen_last = np.where(response[:, None, None], ratings, ratings[:, ::-1])
    codes = (chosen_last.reshape(len(ratings), -1) @ 3 ** np.arange(6)).tolist()
    return f'''"""Remembered choices: people choose what they chose before."""
PARAMETERS = {{"lapse": {{"prior": "uniform", "low": 0.01, "high": 0.2, "unit": "probability", "meaning": "lapses"}}}}


def choose(parameters, trials, xp):
    places = 3 ** xp.arange(trials["ratings"].shape[-1])
    first, second = ((xp.rint(trials["ratings"][:, side]) * places).sum(axis=-1) for side in (0, 1))
    held = {codes}
    side = 1.0 * xp.isin(first + 27 * second, held) - 1.0 * xp.isin(second + 27 * first, held)
    return 0.5 + (0.5 - parameters["lapse"]) * side
'''


@pytest.fixture(scope="module")
def recited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on a file of 24 trials, led by a theory that holds the usual response to each of them."""
    place, rng, own = tmp_path_factory.mktemp("recited"), np.random.default_rng(7), table()
    usual = rng.integers(2, size=len(own.stimuli))
    is_other = rng.random(len(own.trial)) < 0.05
    given = replace(own, response=np.where(is_other, 1 - usual[own.trial], usual[own.trial]))
    file = file_of(place / "responses.csv", given, np.arange(len(own.trial)))
    study = archived(file, seed=1)
    theories = study.theories.model_copy(update={"programs": (holding(own.stimuli, usual),)})
    run_study(study.model_copy(update={"theories": theories}), place / "run", n_workers=1)
    return place / "run"


def test_a_theory_that_may_hold_the_responses_is_named_wherever_the_verdict_is(
    recited: Path,
) -> None:
    # 12 were presented, and 6 more were sealed
    said = (
        "The author of the leading theory could have read the responses, and it may hold a response for each of the "
        f"12 distinct presented trials: memorising is measured from {LEAST_TRIALS} distinct trials on."
    )
    with open_reading(recited) as reading:
        assert reading.leader is not None
        assert reading.checked[reading.leader].record.author == OWN
        assert reading.concluded is not None
        assert said in reading.concluded.text
        assert said in limits(reading)
    found = {item.name: item for item in audit(recited, recompute="none").findings}
    assert (found["memorising"].passed, found["memorising"].detail) == (True, said)


@pytest.mark.slow
def test_a_theory_that_holds_responses_behind_some_parameters_is_out_once_it_is_fitted(
    tmp_path: Path,
) -> None:
    """Its exam looks at the declared range, of which the table fills a tenth."""
    own = table(n_trials=130)
    digits = own.stimuli["ratings"].astype(int).reshape(130, -1) @ 4 ** np.arange(6)
    usual = (digits * digits % 997 > 498).astype(int)
    file = file_of(
        tmp_path / "responses.csv",
        replace(own, response=usual[own.trial]),
        np.arange(len(own.trial)),
    )
    study, source = archived(file, seed=1), gated(GATE, A)
    theories = study.theories.model_copy(update={"programs": (source,)})
    design = study.design.model_copy(update={"trials": 80})
    run_study(
        study.model_copy(update={"theories": theories, "design": design}),
        tmp_path / "run",
        n_workers=1,
    )
    (checked,) = (item for item in records(tmp_path / "run", TheoryChecked) if item.author == OWN)
    assert checked.passed, checked.reason
    (failed,) = records(tmp_path / "run", TheoryFailed)
    assert failed.theory == checked.theory
    assert "at the parameters that responses select" in failed.reason
    (concluded,) = records(tmp_path / "run", CampaignConcluded)
    assert concluded.leader != checked.theory
