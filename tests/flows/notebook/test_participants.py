"""The table of participants, and files of simulated ones."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import lakatos
from lakatos.experiments.errors import TrialsError
from lakatos.flows.commands.main import app

sys.path.insert(0, str(Path(__file__).parent))
from test_groups import two_groups
from test_learning_file import bandit

N_PARAMETERS = 3


def sessions(n_people: int = 12) -> pd.DataFrame:
    """Two groups of participants, each in two sessions, the second with some other choices."""
    table = two_groups(0.1)
    table = table[table.age < 20 + n_people]
    later = table.assign(choice=np.where(np.arange(len(table)) % 5 == 0, "later", table.choice))
    return pd.concat([table.assign(session="first"), later.assign(session="second")])


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with a participant who never responded."""
    table = sessions()
    table.loc[table.subject == "p3", "choice"] = ""
    path = tmp_path_factory.mktemp("people") / "answers.csv"
    table.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def fitted(file: Path) -> lakatos.FittedParticipants:
    found = lakatos.fit(file, "hyperbolic", simulate=file.with_name("new.csv"))
    assert isinstance(found, lakatos.FittedParticipants)
    return found


def test_an_excluded_participant_is_in_the_table_with_the_reason(
    fitted: lakatos.FittedParticipants,
) -> None:
    table = fitted.participants.set_index("participant")
    assert table.loc["p3", "flags"] == "excluded: choice is empty"
    assert table.responses["p3"] == 0
    assert np.isnan(table.discount_rate_mean["p3"])
    others = table.drop("p3")
    assert (others.responses == 24).all()
    assert not others["flags"].str.contains("excluded").any()
    assert list(others.group[:2]) == ["young", "old"]
    fitted.plot()  # has no place for who has no estimate


def test_bic_counts_parameters_and_responses(fitted: lakatos.FittedParticipants) -> None:
    table = fitted.participants[fitted.participants.responses > 0]
    expected = N_PARAMETERS * np.log(table.responses) - 2 * table.log_likelihood
    assert np.allclose(table.bic, expected)
    assert f"Mean BIC {expected.mean():.1f}" in fitted.headline


def test_of_fewer_than_ten_participants_no_claim_is_stated(
    fitted: lakatos.FittedParticipants,
) -> None:
    assert fitted.n_people == 11
    assert fitted.claim in fitted.headline
    few = replace(fitted, n_people=9, participants=fitted.participants[:4])
    assert few.headline.startswith(
        f"{few.name}: no claim about people from 9 participants; at least 10 are needed. The population "
        "distribution, and values that are shrunken towards it, rest on 9 participants alone. Mean BIC "
    )
    assert "interval" not in few.headline  # of a mean over fewer than five participants


def test_simulated_responses_stand_in_the_rows_of_the_file(
    file: Path, fitted: lakatos.FittedParticipants
) -> None:
    """So that whatever reads the file reads them, with its conditions and what is known of participants."""
    old, new = pd.read_csv(file).dropna(subset="choice"), pd.read_csv(file.with_name("new.csv"))
    assert list(new) == list(old)
    key = ["subject", "ss_amount", "ll_amount", "ll_delay", "session"]
    both = old.merge(new, on=key, suffixes=("", "_new"), validate="one_to_one")
    assert len(both) == len(old) == len(new)
    assert (both.age == both.age_new).all()
    assert 0.5 < (both.choice == both.choice_new).mean() < 1
    truth = pd.read_csv(file.with_name("new_parameters.csv"))
    people = fitted.participants[fitted.participants.responses > 0]
    assert list(truth.participant) == list(people.participant)
    found = lakatos.effects(file.with_name("new.csv"), "hyperbolic", formula="~ session + age")
    assert set(found.to_frame().varies) == {"within", "between"}


@pytest.mark.slow
def test_simulated_participants_differ_by_condition_as_the_responses_do(file: Path) -> None:
    """And their estimates are looked at in each condition."""
    out = file.with_name("by.csv")
    words = ["theory", "fit", "hyperbolic", str(file), "--by", "session", "--by", "group"]
    told = CliRunner().invoke(app, [*words, "--recovery", "--simulate", str(out)])
    assert told.exit_code == 0, told.output
    truth = pd.read_csv(out.with_name("by_parameters.csv"))
    assert list(truth)[:3] == ["participant", "session", "group"]
    assert len(truth) == 22
    median = truth.groupby(["session", "group"]).discount_rate.median()
    assert median["first", "old"] > 3 * median["first", "young"]
    lines = [line.split() for line in told.stderr.splitlines()]
    names = {tuple(line[-2:]) for line in lines if line[:1] == ["discount_rate"]}
    assert {"old", "young"} == {name[1] for name in names if name[0].endswith(",")}
    header, *rows = told.stdout.splitlines()
    assert header.startswith("participant,session,group,responses,log_likelihood,bic,")
    assert sum(row.startswith("p0,") for row in rows) == 2


def test_conditions_of_a_learning_theory_are_not_fitted_apart() -> None:
    table = bandit().assign(half=lambda own: np.where(own.trial > 20, "late", "early"))
    answers = lakatos.adopt(table, "learning", {"attributes": ["half"]})
    with pytest.raises(TrialsError, match=r"half varies within .* learns from trial\s+to trial"):
        lakatos.fit(answers, "rescorla_wagner", by="half")


def test_responses_without_a_condition_are_refused() -> None:
    table = sessions()
    table.loc[table.subject == "p1", "session"] = ""
    with pytest.raises(TrialsError, match="24 responses have no session"):
        lakatos.fit(table, "hyperbolic", by="session")
    with pytest.raises(TrialsError, match=r"there is no column 'sesion'.*session"):
        lakatos.fit(table, "hyperbolic", by="sesion")
