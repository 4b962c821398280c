"""Files of sequences: how they are recognised, which decisions they become, what changes nothing, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import lakatos
from lakatos.domains import DOMAINS
from lakatos.domains.search.reader import CONTINUE, TAKE, code_of_decisions
from lakatos.domains.search.task import NORMAL, RANKS, UNIFORM, UNKNOWN
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.tables import table_of_frame
from lakatos.experiments.errors import ImplausibleError, TrialsError
from lakatos.experiments.outcomes import knows_outcomes
from lakatos.theories.discovery.induction.induce import induce
from lakatos.theories.engine.checks.check import check_theory
from lakatos.theories.engine.scoring.columns import step_columns

DOMAIN = DOMAINS["search"]
LENGTH = 6


def searched(n_people: int = 4, n_problems: int = 30) -> pd.DataFrame:
    """All values of sequences from 1 to 100, and whether a participant with a falling threshold would take them."""
    rng = np.random.default_rng(1)
    shape = (n_people * n_problems, LENGTH)
    values = rng.integers(1, 101, shape)
    takes = values + rng.normal(0, 8, shape) > 85 - 6 * np.arange(LENGTH)
    takes[:, -1] = True
    frame = pd.DataFrame(values, columns=[f"v{place + 1}" for place in range(LENGTH)])
    people = np.repeat([f"P{number + 1:02d}" for number in range(n_people)], n_problems)
    frame.insert(0, "participant", people)
    frame.insert(1, "problem", np.tile(np.arange(1, n_problems + 1), n_people))
    return frame.assign(stopped_at=takes.argmax(axis=1) + 1)


def in_rows(wide: pd.DataFrame, *, ranks: bool = False) -> pd.DataFrame:
    """The same sequences with a row for each value that was seen."""
    rows = []
    for own in wide.to_dict("records"):
        values = [own[f"v{place + 1}"] for place in range(own["stopped_at"])]
        for place, value in enumerate(values, 1):
            number = sum(other >= value for other in values[:place]) if ranks else value
            decision = "take" if place == own["stopped_at"] else "continue"
            rows.append((own["participant"], own["problem"], place, number, decision))
    names = ["participant", "problem", "position", "rank" if ranks else "value", "decision"]
    return pd.DataFrame(rows, columns=names)


def only(frame: pd.DataFrame, **said: Any) -> Any:
    """The decisions of the only experiment of a file."""
    (trials,) = lakatos.adopt(frame, "search", said).trials
    return trials


HAND = pd.DataFrame(
    {
        "who": ["a"] * 6 + ["b"] * 3,
        "place": [1, 2, 3, 1, 1, 2, 1, 2, 3],
        "value": [5, 8, 2, 9, 4, 6, 1, 2, 3],
        "taken": [0, 0, 1, 1, 0, 1, 0, 0, 1],
    }
)
SAID = {
    "participant": "who",
    "response": "taken",
    "stimulus": {"value": "value", "position": "place", "length": 3, "low": 0, "high": 10},
    "accept": ["row_order"],
}


def test_each_value_is_a_decision_but_the_last_one_of_a_sequence_must_be_taken():
    trials = only(HAND, **SAID)
    assert trials.response.tolist() == [0, 0, 1, 0, 1, 0, 0]
    assert trials.participant.tolist() == [0] * 5 + [1] * 2
    assert trials.stimuli["position"][trials.trial].tolist() == [0, 1, 2, 3, 4, 0, 1]
    shown = 5 + trials.stimuli["scale"] * trials.stimuli["draw"]
    assert shown[trials.trial] == pytest.approx([5, 8, 9, 4, 6, 1, 2])
    assert trials.feedback["ended"].tolist() == [0, 2, 1, 0, 1, 0, 2]
    assert trials.feedback["reward"] == pytest.approx([0, 2, 9, 0, 6, 0, 3])
    assert trials.feedback["problems"].tolist() == [0, 1, 2, 2, 3, 0, 1]


def test_what_follows_a_decision_of_a_file_is_what_the_task_makes_of_it():
    for frame in (in_rows(searched()), in_rows(searched(), ranks=True)):
        assert knows_outcomes(DOMAIN, lakatos.adopt(frame).trials[0])


def test_a_row_for_each_value_is_recognised_without_a_mapping():
    frame = in_rows(searched())
    found = describe_table(table_of_frame("search.csv", frame))
    assert found.domain == "search"
    assert found.mapping.stimulus == {"value": "value", "position": "position", "better": 1}
    assert found.mapping.responses == {"continue": CONTINUE, "take": TAKE}
    adopted = lakatos.adopt(frame)
    (trials,) = adopted.trials
    assert (trials.response == TAKE).sum() == (searched()["stopped_at"] < LENGTH).sum()
    assert "distribution" in adopted.closed


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("choice", ("0", "1")),
        ("accepted", ("false", "true")),
        ("answer", ("pass", "hire")),
        ("action", ("next", "buy")),
    ],
)
def test_decisions_are_read_by_where_sequences_end_whatever_they_are_called(name, cells):
    frame = in_rows(searched())
    other = frame.rename(columns={"decision": name, "position": "item", "value": "score"})
    other[name] = other[name].map({"continue": cells[0], "take": cells[1]})
    (found,), (plain,) = lakatos.adopt(other).trials, lakatos.adopt(frame).trials
    assert found.digest == plain.digest


def test_ranks_among_those_so_far_are_recognised_and_shown_as_they_were():
    frame = in_rows(searched(), ranks=True)
    (trials,) = lakatos.adopt(frame).trials
    assert (trials.stimuli["kind"] == RANKS).all()
    shown, seen = trials.stimuli.take(trials.trial), trials.feedback["seen"]
    before = np.where(shown["position"] > 0, np.append(0, seen[:-1]), 0)
    rank = DOMAIN.shown(shown.arrays, {"seen": before[None]})["rank"][0]
    assert rank.tolist() == frame["rank"][frame["position"] < LENGTH].tolist()


def test_a_row_for_each_sequence_holds_the_same_decisions():
    wide = searched()
    found = describe_table(table_of_frame("search.csv", wide))
    assert (found.domain, found.mapping.response) == ("search", "stopped_at")
    (trials,) = lakatos.adopt(wide).trials
    (plain,) = lakatos.adopt(in_rows(wide)).trials
    for name in ("response", "participant"):
        assert (getattr(trials, name) == getattr(plain, name)).all()
    assert trials.stimuli["draw"] == pytest.approx(plain.stimuli["draw"])


def domain_of(frame: pd.DataFrame) -> str:
    """The kind of task that a file is taken for without a mapping."""
    return describe_table(table_of_frame("search.csv", frame)).domain


def test_a_sequence_of_a_row_is_not_recognised_where_two_columns_may_be_the_place_that_was_taken():
    wide = searched()
    best = wide[[f"v{place + 1}" for place in range(LENGTH)]].to_numpy().argmax(axis=1) + 1
    assert (
        domain_of(wide.assign(best_position=best)) == "search"
    )  # it is what would have been right
    chosen = wide.rename(columns={"stopped_at": "chosen_position"})
    assert domain_of(chosen.assign(optimal_stop=best)) != "search"
    assert domain_of(wide.assign(chosen_position=best)) != "search"


def test_a_sequence_of_a_row_is_refused_where_its_numbers_may_mean_something_else():
    wide = searched()
    columns = [f"v{place + 1}" for place in range(LENGTH)]
    values = wide[columns].to_numpy(dtype=float)
    ranks = np.array(
        [[(row[:n] >= row[n - 1]).sum() for n in range(1, LENGTH + 1)] for row in values]
    )
    with pytest.raises(TrialsError, match="these seem to be ranks among the values so far"):
        lakatos.adopt(wide.assign(**dict(zip(columns, ranks.T, strict=True))))
    from_0 = wide.rename(columns={f"v{n + 1}": f"v{n}" for n in range(LENGTH)})
    before = from_0[from_0["stopped_at"] > 1].assign(stopped_at=lambda rows: rows["stopped_at"] - 1)
    with pytest.raises(TrialsError, match="the first value can be place 0 or place 1"):
        lakatos.adopt(before)


def test_other_numbers_of_a_row_are_neither_values_nor_the_length():
    rows = in_rows(searched())
    stimulus = describe_table(table_of_frame("s.csv", rows.assign(n_trials=30))).mapping.stimulus
    assert "length" not in stimulus
    stimulus = describe_table(table_of_frame("s.csv", rows.assign(length=LENGTH))).mapping.stimulus
    assert stimulus["length"] == "length"
    numbered = rows.rename(columns={"value": "weight"}).assign(
        item_number=np.random.default_rng(2).permutation(len(rows))
    )
    assert domain_of(numbered) != "search"
    places = rows["value"].rank(ascending=False).astype(int)
    assert domain_of(rows.drop(columns="value").assign(rank=places)) != "search"


def test_ranks_among_all_candidates_of_a_row_become_ranks_among_those_so_far():
    wide = searched()
    names = [f"v{place + 1}" for place in range(LENGTH)]
    ranked = wide.assign(**wide[names].rank(axis=1, method="first", ascending=False).astype(int))
    (trials,) = lakatos.adopt(ranked).trials
    assert (trials.stimuli["kind"] == RANKS).all()
    first = trials.stimuli.arrays["position"] == 0
    assert (np.floor(trials.stimuli["draw"][first]) == 0).all()  # the first one leads


# What changes nothing ------------------------------------------------------------------------


@pytest.mark.parametrize("change", [lambda v: 7 * v, lambda v: v + 1000, lambda v: v / 100 - 3])
def test_another_unit_of_values_without_a_known_distribution_changes_nothing(change):
    frame = in_rows(searched())
    (found,) = lakatos.adopt(frame.assign(value=change(frame["value"]))).trials
    assert found.digest == lakatos.adopt(frame).trials[0].digest


def test_prices_of_which_low_ones_are_taken_are_the_same_decisions():
    frame = in_rows(searched())
    prices = frame.assign(price=300 - frame.pop("value"))
    found = describe_table(table_of_frame("search.csv", prices))
    assert found.mapping.stimulus["better"] == -1
    (trials,), (plain,) = (lakatos.adopt(own).trials for own in (prices, in_rows(searched())))
    assert trials.digest == plain.digest


def test_a_known_distribution_and_its_values_in_another_unit_are_the_same_decisions():
    frame = in_rows(searched())
    said = {"response": "decision", "stimulus": {"value": "value", "position": "position"}}
    known = {**said, "stimulus": {**said["stimulus"], "low": 0, "high": 100}}
    other = {**said, "stimulus": {**said["stimulus"], "low": 0, "high": 1}}
    first, second = only(frame, **known), only(frame.assign(value=frame["value"] / 100), **other)
    assert (first.stimuli["kind"] == UNIFORM).all()
    assert first.stimuli["draw"] == pytest.approx(second.stimuli["draw"], abs=1e-8)


def test_the_order_of_rows_changes_nothing_where_columns_tell_the_order():
    frame = in_rows(searched()).assign(step=lambda own: own.groupby("participant").cumcount() + 1)
    shuffled = frame.sample(frac=1, random_state=2)
    said = {
        "participant": "participant", "order": "step", "response": "decision",
        "stimulus": {"value": "value", "position": "position"},
    }  # fmt: skip
    people = frame.sort_values("participant", kind="stable")["participant"].unique()
    shuffled = pd.concat([shuffled[shuffled["participant"] == own] for own in people])
    assert only(shuffled, **said).digest == only(frame, **said).digest


# What is refused -----------------------------------------------------------------------------

MAPPING = {
    "response": "decision",
    "stimulus": {"value": "value", "position": "position", "low": 0, "high": 100},
}


@pytest.mark.parametrize(
    ("row", "column", "cell", "words"),
    [
        (0, "decision", "take", "row 3: decision.*follows a row in which a value was taken"),
        (0, "value", 101, "row 2: value is '101', which is not from 0 to 100"),
        (1, "position", 3, "row 3: position is '3', which does not follow the row before"),
        (0, "value", "high", "row 2: value is 'high', which is no number"),
    ],
)
def test_impossible_rows_are_refused_with_their_number(row, column, cell, words):
    frame = in_rows(searched()).astype(object)
    assert frame.loc[0, "decision"] == "continue"
    frame.loc[row, column] = cell
    with pytest.raises(TrialsError, match=words):
        only(frame, **MAPPING)


def test_a_sequence_that_ends_without_a_value_that_was_taken_is_refused_with_its_rows():
    frame = in_rows(searched())
    is_middle = (frame["decision"] == "take") & frame["position"].between(2, 4)
    last = frame.index[is_middle][0]
    first = last - frame.loc[last, "position"] + 1
    with pytest.raises(TrialsError, match=rf"row(s)? {first + 2}.*its last decisions are missing"):
        only(frame.drop(index=last), **MAPPING)


def test_a_last_value_that_is_not_in_the_file_was_taken():
    frame = in_rows(searched())
    said = {**MAPPING, "stimulus": {**MAPPING["stimulus"], "length": LENGTH}}
    without = frame[frame["position"] < LENGTH]
    assert (only(without, **said).response == only(frame, **said).response).all()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"length": 3}, "is beyond the last value of its sequence|goes on after the last value"),
        ({"low": 0, "mean": 50}, "low = 0 and high = 100 and mean = 50 is no distribution"),
        ({"high": 0}, "is no distribution"),
        ({"better": 2}, "better is 2; say 1 if high values are good, and -1 if low ones are"),
    ],
)
def test_a_mapping_that_contradicts_the_file_is_refused(said, words):
    with pytest.raises(TrialsError, match=words):
        only(in_rows(searched()), **MAPPING | {"stimulus": MAPPING["stimulus"] | said})


def test_a_file_that_does_not_say_where_sequences_begin_is_refused():
    with pytest.raises(TrialsError, match="no column says where a sequence begins"):
        only(HAND.drop(columns="place"), **SAID | {"stimulus": {"value": "value"}})


def test_values_that_are_taken_although_they_are_worse_are_questioned():
    stimulus = MAPPING["stimulus"] | {"better": -1}
    with pytest.raises(ImplausibleError, match="are worse than the others"):
        only(in_rows(searched()), **MAPPING | {"stimulus": stimulus})


@pytest.mark.parametrize("cell", [0, LENGTH + 1])
def test_a_place_that_a_sequence_does_not_have_is_refused(cell):
    wide = searched()
    wide.loc[3, "stopped_at"] = cell
    names = [f"v{place + 1}" for place in range(LENGTH)]
    said = {"response": "stopped_at", "stimulus": {"value": names, "stop": "stopped_at"}}
    with pytest.raises(TrialsError, match=r"row 5: stopped_at.*is no place of a value"):
        only(wide, **said)


def test_sequences_of_a_row_may_differ_in_length():
    wide = searched().astype({"v6": object})
    wide.loc[wide["stopped_at"] < 5, "v6"] = ""
    names = [f"v{place + 1}" for place in range(LENGTH)]
    trials = only(wide, response="stopped_at", stimulus={"value": names, "stop": "stopped_at"})
    assert set(trials.stimuli["length"]) == {5, 6}
    wide = wide.astype({"v1": object})
    wide.loc[0, "v1"] = ""
    with pytest.raises(TrialsError, match=r"row 2: stopped_at.*comes after a value that is empty"):
        only(wide, response="stopped_at", stimulus={"value": names, "stop": "stopped_at"})


@pytest.mark.parametrize(
    ("name", "cells", "wanted"),
    [
        ("decision", ["reject", "accept"], {"reject": CONTINUE, "accept": TAKE}),
        ("took", ["0", "1"], {"0": CONTINUE, "1": TAKE}),
        ("continued", ["no", "yes"], {"no": TAKE, "yes": CONTINUE}),
        ("decision", ["0", "1"], {}),
        ("stop", ["1", "3", "5"], {"1": TAKE, "3": TAKE, "5": TAKE}),
    ],
)
def test_cells_that_do_not_say_what_was_decided_have_no_code(name, cells, wanted):
    assert code_of_decisions(name, cells) == wanted


def test_normal_values_and_unknown_ones_are_in_standard_deviations():
    said = MAPPING | {"stimulus": {"value": "value", "position": "position", "mean": 50, "sd": 10}}
    known = only(in_rows(searched()), **said)
    assert (known.stimuli["kind"] == NORMAL).all()
    own = in_rows(searched())
    wanted = (own["value"][own["position"] < LENGTH] - 50) / 10
    assert known.stimuli["draw"][known.trial] == pytest.approx(wanted.to_numpy())
    unknown = only(own, response="decision", stimulus={"value": "value", "position": "position"})
    assert (unknown.stimuli["kind"] == UNKNOWN).all()


def test_learners_see_the_value_that_is_there_and_what_was_seen_before_it():
    trials = only(in_rows(searched()), **MAPPING)
    columns = step_columns(DOMAIN, trials)[:, 0].T
    seen = trials.feedback["seen"]
    within = np.where(trials.stimuli["position"][trials.trial] > 0, np.append(0, seen[:-1]), 0)
    for wanted in (trials.stimuli["draw"][trials.trial], within, LENGTH - 1 - within):
        assert any(np.allclose(own, wanted) for own in columns)


def test_no_rules_are_induced_from_decisions():
    trials = only(in_rows(searched()), **MAPPING)
    assert induce(DOMAIN, [trials], np.random.default_rng(0)) == []


STUDIES = (
    {"n_steps": 80, "length": 8},
    {"n_steps": 80, "length": 10, "values": "normal(180, 20)", "goal": "lowest"},
    {"n_steps": 80, "length": 12, "values": "ranks", "reward": "best"},
)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fixed_threshold", "linear_threshold", "optimal_best", "cutoff"])
def test_published_theories_are_no_tables_of_the_steps_of_a_file_or_of_a_study(name, sandbox):
    program = DOMAIN.family().program(name)
    sessions = [DOMAIN.space(own) for own in STUDIES]
    for candidates in (only(in_rows(searched(6)), **MAPPING).stimuli, *sessions):
        check_theory(program, DOMAIN, sandbox, candidates=candidates).raise_for_failure()
