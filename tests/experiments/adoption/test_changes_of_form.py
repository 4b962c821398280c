"""The same responses in another form are read as the same trials, or refused; there is no third outcome.

`benchmarks/forms` draws data sets of every kind of task and the changes of their form; its benchmark runs 2,000 chains.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.forms.chains import (
    REASONS,
    Chain,
    ThirdResultError,
    are_equal,
    drawn_chain,
    plain_file,
    reason_of,
    run_chain,
)
from benchmarks.forms.changes import GROUPS
from benchmarks.forms.data_sets import KINDS, domain_of
from benchmarks.forms.verdicts import EQUAL, SAME, compare_studies, compare_verdicts
from lakatos.domains import DOMAINS
from lakatos.experiments.adoption.layouts import layout_of
from lakatos.experiments.errors import TrialsError

MUST_BE_READ = (
    ("money now or later", "1.0 and 0.0"),
    ("money now or later", "-1 and 1"),
    ("money now or later", "now"),
    ("money now or later", "SS and LL"),
    ("money now or later", "delays in weeks"),
    ("money now or later", "missed: -999, said"),
    ("money now or later", "a row for each participant, said"),
    ("money now or later", "a row for each alternative, said"),
    ("money now or later", "semicolons and decimal commas"),
    ("money now or later", "UTF-16"),
    ("money now or later", "JSON, a list for each participant"),
    ("money now or later", "files that name participants"),
    ("gambles", "rows shuffled"),
    ("mixed gambles", "losses with their sign"),
    ("rated products", "named by the first"),
    ("offers", "a row for each alternative, said"),
    ("matrix games", "camelNames"),
    ("estimates", "0 to 100, said"),
    ("gifts to a group", "100 coins, said"),
    ("conflict tasks, keys", "seconds"),
    ("conflict tasks, keys", "no numbers of trials"),
    ("conflict tasks, right or wrong", "error"),
    ("two arms", "rewards x 50"),
    ("two arms", "rewards: TRUE"),
    ("two arms", "trials begin anew, with a column of blocks"),
    ("two arms", "missed: NA"),
    ("two steps", "options from 0"),
    ("graded rewards", "rewards x 0.01"),
    ("declared: plants", "files of some rows each"),
)
"""Changes that are no reason for a refusal, so that refusing everything is no way to pass."""


def test_all_kinds_of_tasks_whose_responses_a_file_can_hold_are_drawn() -> None:
    drawn = {domain_of(kind).name for kind in KINDS}
    assert {name for name, domain in DOMAINS.items() if layout_of(domain) is not None} <= drawn


def test_names_of_changes_are_those_of_one_change_each() -> None:
    names = [name for group in GROUPS for name in group]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(("kind", "change"), MUST_BE_READ)
def test_a_change_of_form_changes_nothing(kind: str, change: str) -> None:
    outcome = run_chain(Chain(kind, 3, (change,), is_named=True))
    assert outcome.changes == (change,)
    assert outcome.reason == "", outcome.message


@pytest.mark.parametrize("kind", KINDS)
def test_a_chain_of_changes_changes_nothing_or_is_refused(kind: str) -> None:
    run_chain(drawn_chain(kind, 0))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 7))
@pytest.mark.parametrize("kind", KINDS)
def test_more_chains_change_nothing_or_are_refused(kind: str, seed: int) -> None:
    run_chain(drawn_chain(kind, seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [12, 34, 75])
def test_scores_of_a_theory_whose_fit_depends_on_the_order_of_rows_are_equal(
    seed: int,
) -> None:
    outcome = run_chain(drawn_chain("matrix games", seed), with_scores=True)
    assert outcome.reason == ""
    assert outcome.n_scores > 10


# A study of the file ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_rows_in_another_order_other_ids_and_several_files_are_the_same_study(kind: str) -> None:
    changes = ("ids falling", "rows shuffled", "files of some participants each")
    chain = Chain(kind, 3, changes, is_named=True)
    assert compare_studies(chain)["changes"] == "; ".join(changes)
    assert compare_studies(chain)["study"] == SAME


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("money now or later", "delays in months"),
        ("money now or later", "JSON lines"),
        ("gambles", "short, said"),
        ("two arms", "files that name participants"),
        ("graded rewards", "rewards x 1/7"),
        ("conflict tasks, keys", "seconds"),
        ("estimates", "0 to 100, said"),
        ("rated products", "study"),
    ],
)
def test_units_names_and_layouts_are_the_same_study(kind: str, change: str) -> None:
    found = compare_studies(Chain(kind, 3, (change,), is_named=True))
    assert (found["changes"], found["study"]) == (change, SAME)


def test_a_file_that_no_longer_says_the_order_of_trials_is_more_than_another_form() -> None:
    found = compare_studies(Chain("gambles", 3, ("no numbers of trials",), is_named=True))
    assert found["study"] == "says less, or more, of the order of trials"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        (
            "money now or later",
            ("trials begin anew, with a column of sessions", "JSON lines"),
        ),
        ("two arms", ("rewards x 50", "ids falling", "rows shuffled")),
        ("declared: fairness", ("ids falling", "rows from the end", "NAMES, said")),
        ("gambles", ("first and second", "rows shuffled", "files of some rows each")),
    ],
)
def test_the_verdict_is_that_of_the_same_responses_in_another_form(
    kind: str, changes: tuple[str, ...]
) -> None:
    chain = Chain(kind, 3, changes, is_named=True)
    assert compare_studies(chain)["changes"] == "; ".join(changes)
    assert compare_verdicts(chain)["verdict"] == EQUAL


# The comparison can fail ----------------------------------------------------------------------


def test_a_response_that_is_read_as_another_option_is_a_difference() -> None:
    _, found = plain_file("money now or later", 0)
    (trials,) = found.trials
    response = trials.response.copy()
    response[5] = 1 - response[5]
    assert are_equal([trials], [trials], 0)
    assert not are_equal([trials], [replace(trials, response=response)], 1e-6)


def test_steps_of_learning_in_another_order_are_a_difference() -> None:
    _, found = plain_file("two arms", 0)
    (trials,) = found.trials
    order = np.arange(len(trials.response))
    place = int(np.flatnonzero(np.diff(trials.response[:20]) != 0)[0])
    order[[place, place + 1]] = order[[place + 1, place]]
    other = {name: values[order] for name, values in trials.feedback.items()}
    swapped = replace(trials, response=trials.response[order], feedback=other)
    assert not are_equal([trials], [swapped], 1e-6)


def test_a_row_that_is_lost_is_a_difference() -> None:
    _, found = plain_file("gambles", 0)
    (trials,) = found.trials
    kept = replace(
        trials,
        **{
            name: getattr(trials, name)[1:]
            for name in ("participant", "trial", "response", "count")
        },
    )
    assert not are_equal([trials], [kept], 1e-6)


def test_a_coding_the_other_way_round_that_nobody_says_is_a_third_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def turned(file: object, rng: object) -> object:
        return file.with_cells(choice=1 - file.frame["choice"])  # type: ignore[attr-defined]

    monkeypatch.setitem(GROUPS[0], "turned", turned)  # type: ignore[arg-type]
    with pytest.raises(ThirdResultError, match="numbers differ"):
        run_chain(Chain("matrix games", 3, ("turned",), is_named=True))


def test_refusals_have_reasons() -> None:
    assert reason_of(TrialsError("answers.csv has no column 'x'.")) == "a column is not there"
    assert reason_of(TrialsError("")) == "other"
    assert len(set(REASONS.values())) > 5


def test_meanings_that_a_user_says_follow_the_names_of_columns() -> None:
    plain, _ = plain_file("two arms", 0)
    file = replace(plain, names={"choice": "Wahl", "reward": "G"}, is_said=True)
    said = file.saying(missing={"choice": ["9"]}).columns()
    assert said["response"] == "Wahl"
    assert said["feedback"] == {"reward": "G"}
    assert said["missing"] == {"Wahl": ["9"]}
