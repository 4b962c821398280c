"""One simulated experiment in the forms in which laboratories keep it: each is read to the same decisions, or refused.

Participants take the first value above a threshold that falls, out of six values; the last one must be taken. A form
changes names, codes and the layout of the file, never what was decided.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lakatos
from lakatos.domains import DOMAINS
from lakatos.domains.search.task import RANKS, UNKNOWN
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Trials

LENGTH, N_PEOPLE, N_PROBLEMS = 6, 4, 40
NAMES = [f"v{place}" for place in range(1, LENGTH + 1)]
Form = Callable[[], pd.DataFrame]


@cache
def _wide() -> pd.DataFrame:
    rng = np.random.default_rng(11)
    shape = (N_PEOPLE * N_PROBLEMS, LENGTH)
    values = rng.integers(1, 101, shape)
    takes = values + rng.normal(0, 8, shape) > 85 - 6 * np.arange(LENGTH)
    takes[:, -1] = True
    frame = pd.DataFrame(values, columns=NAMES)
    people = np.repeat([f"P{number + 1:02d}" for number in range(N_PEOPLE)], N_PROBLEMS)
    frame.insert(0, "participant", people)
    frame.insert(1, "problem", np.tile(np.arange(1, N_PROBLEMS + 1), N_PEOPLE))
    return frame.assign(stopped_at=takes.argmax(axis=1) + 1)


def wide() -> pd.DataFrame:
    """A row for each sequence, with the place of the value that was taken."""
    return _wide().copy()


def rows(*, all_values: bool = False) -> pd.DataFrame:
    """A row for each value that was seen, or for each value."""
    long = wide().melt(["participant", "problem", "stopped_at"], NAMES, "position", "value")
    long["position"] = long["position"].str[1:].astype(int)
    long = long.sort_values(["participant", "problem", "position"], ignore_index=True)
    long["decision"] = np.where(long["position"] == long["stopped_at"], "take", "continue")
    is_seen = long["position"] <= long["stopped_at"]
    long.loc[~is_seen, "decision"] = ""
    long = long if all_values else long[is_seen].reset_index(drop=True)
    return long.drop(columns="stopped_at")


def ranks() -> pd.DataFrame:
    """A row for each value that was seen, with its rank among those so far in place of it."""
    own = rows()
    so_far = own.groupby(["participant", "problem"])["value"].expanding()
    own["rank"] = so_far.rank(method="max", ascending=False).to_numpy().astype(int)
    return own.drop(columns="value")


def unseen_empty(first: int = 1) -> pd.DataFrame:
    """A row for each sequence, whose values after the one that was taken are empty; stops are counted from 0 or 1."""
    own = wide()
    is_seen = np.arange(LENGTH) < own["stopped_at"].to_numpy()[:, None]
    own[NAMES] = own[NAMES].where(is_seen)
    return own.assign(stopped_at=own["stopped_at"] - 1 + first)


def never_at(place: int) -> pd.DataFrame:
    """The sequences that were not stopped at a place, all of which could have been."""
    own = wide()
    return own[own["stopped_at"] != place].reset_index(drop=True)


def turned(own: pd.DataFrame, names: list[str], is_low: Any) -> pd.DataFrame:
    """Values of some rows on a scale on which low ones are good."""
    return own.assign(**{name: np.where(is_low, 101 - own[name], own[name]) for name in names})


def is_second_half(own: pd.DataFrame) -> Any:
    return own["problem"] > N_PROBLEMS // 2


def goals(name: str, high: Any, low: Any, frame: Form = rows) -> pd.DataFrame:
    """Low values are good in the second half of the experiment, as a column states."""
    own = frame()
    names = ["value"] if "value" in own else NAMES
    is_low = is_second_half(own)
    return turned(own, names, is_low).assign(**{name: np.where(is_low, low, high)})


def goals_of_people(name: str, high: Any, low: Any) -> pd.DataFrame:
    """Low values are good for half of the participants, as a column states."""
    own = rows()
    is_low = own["participant"].isin(["P02", "P04"])
    return turned(own, ["value"], is_low).assign(**{name: np.where(is_low, low, high)})


def flags() -> pd.DataFrame:
    """A row for each sequence, with a column of decisions beside each column of values."""
    own = wide()
    stop = own.pop("stopped_at").to_numpy()
    for place in range(1, LENGTH + 1):
        own[f"d{place}"] = np.where(stop < place, "", (stop == place).astype(int).astype(str))
    return own


def cut() -> pd.DataFrame:
    """The values that were seen without the last one of six, which had to be taken."""
    own = rows()
    return own[own["position"] < LENGTH].reset_index(drop=True)


def german() -> pd.DataFrame:
    names = {"participant": "vp", "problem": "runde", "value": "wert", "decision": "entscheidung"}
    own = rows().rename(columns=names)
    words = {"take": "nehmen", "continue": "weiter"}
    return own.assign(entscheidung=own["entscheidung"].map(words))


def german_wide() -> pd.DataFrame:
    names = {name: f"wert{name[1:]}" for name in NAMES}
    names |= {"participant": "vp", "problem": "runde", "stopped_at": "gestoppt_bei"}
    return wide().rename(columns=names)


def numbered_from_0(frame: Form = wide) -> pd.DataFrame:
    """The columns of values are numbered from 0."""
    return frame().rename(columns={name: f"v{int(name[1:]) - 1}" for name in NAMES})


def with_places(name: str, first: int) -> pd.DataFrame:
    own = rows()
    return own.rename(columns={"position": name}).assign(**{name: own["position"] - 1 + first})


def two_lengths() -> pd.DataFrame:
    """Sequences of four values in the second half of the experiment, in which the fourth value had to be taken."""
    own = rows()
    is_short = is_second_half(own)
    own = own[~is_short | (own["position"] <= 4)].reset_index(drop=True)
    own.loc[is_second_half(own) & (own["position"] == 4), "decision"] = "take"
    return own


FORMS: dict[str, Form] = {
    # a row for each value
    "rows": rows,
    "rows, places from 0": lambda: with_places("position", 0),
    "rows, places called item": lambda: with_places("item", 1),
    "rows, places called index from 0": lambda: with_places("index", 0),
    "rows in German": german,
    "rows, flags": lambda: rows().assign(decision=lambda own: (own["decision"] == "take") * 1),
    "rows, accepted": lambda: (
        rows().assign(accepted=lambda own: own["decision"] == "take").drop(columns="decision")
    ),
    "rows, hire or pass": lambda: rows().replace({"take": "hire", "continue": "pass"}),
    "rows of all values": lambda: rows(all_values=True),
    "rows of all values, continue after the take": lambda: (
        rows(all_values=True).replace({"decision": {"": "continue"}})
    ),
    "rows with the length": lambda: rows().assign(length=LENGTH),
    "rows without the last value": cut,
    "rows without the last value, n_items": lambda: cut().assign(n_items=LENGTH),
    "rows without the last value, N": lambda: cut().assign(N=LENGTH),
    "rows without the last value, candidates": lambda: cut().assign(candidates=LENGTH),
    "rows without the last value, list_length": lambda: cut().assign(list_length=LENGTH),
    "rows without the last value, horizon": lambda: cut().assign(horizon=LENGTH),
    "rows without the last value, Anzahl": lambda: cut().assign(Anzahl=LENGTH),
    "rows, two lengths": two_lengths,
    "rows, two lengths in blocks": lambda: two_lengths().assign(
        block=lambda own: np.where(is_second_half(own), "b", "a")
    ),
    "rows, two lengths, condition": lambda: two_lengths().assign(
        size_of_pool=lambda own: np.where(is_second_half(own), 4, LENGTH)
    ),
    "rows of prices": lambda: turned(rows(), ["value"], True).rename(columns={"value": "price"}),
    "rows, goal": lambda: goals("goal", "maximise", "minimise"),
    "rows, frame": lambda: goals("frame", "gain", "loss"),
    "rows, frame of prices": lambda: goals("frame", "quality", "price"),
    "rows, minimise": lambda: goals("minimise", 0, 1),
    "rows, maximize": lambda: goals("maximize", "True", "False"),
    "rows, direction": lambda: goals("direction", "highest", "lowest"),
    "rows, block": lambda: goals("block", 1, 2),
    "rows, without a column of goals": lambda: turned(
        rows(), ["value"], rows()["participant"] == "P03"
    ),
    "rows, group": lambda: goals_of_people("group", "A", "B"),
    "rows, goal of a group": lambda: goals_of_people("goal", "max", "min"),
    "rows, Ziel": lambda: goals("Ziel", "maximieren", "minimieren"),
    "rows, two columns of values": lambda: goals("goal", "max", "min").assign(
        price=lambda own: own["value"].where(own["goal"] == "min"),
        quality=lambda own: own["value"].where(own["goal"] == "max"),
    ).drop(columns=["value", "goal"]),
    "rows without places": lambda: rows().drop(columns="position"),
    "rows without sequences": lambda: rows().drop(columns="problem"),
    "rows, a mark where it was taken": lambda: rows().replace({"continue": "", "take": "x"}),
    "rows, ranks": ranks,
    "rows, ranks from 0": lambda: ranks().assign(rank=lambda own: own["rank"] - 1),
    "rows, ranks of which high ones are good": lambda: ranks().assign(
        rank=lambda own: own["position"] + 1 - own["rank"]
    ),
    # a row for each sequence
    "wide": wide,
    "wide, columns from 0 and stops from 0": lambda: numbered_from_0(
        lambda: wide().assign(stopped_at=lambda own: own["stopped_at"] - 1)
    ),
    "wide, columns from 0": numbered_from_0,
    "wide, stops from 0": lambda: wide().assign(stopped_at=lambda own: own["stopped_at"] - 1),
    "wide, never at the first, stops from 0": lambda: never_at(1).assign(
        stopped_at=lambda own: own["stopped_at"] - 1
    ),
    "wide, never at the last": lambda: never_at(LENGTH),
    "wide, columns from 0, never at the last": lambda: numbered_from_0(lambda: never_at(LENGTH)),
    "wide, empty where unseen": unseen_empty,
    "wide, empty where unseen, stops from 0": lambda: unseen_empty(0),
    "wide, last values never seen": lambda: unseen_empty()[lambda own: own["stopped_at"] < 5],
    "wide, last values never seen, stops from 0": lambda: unseen_empty(0)[
        lambda own: own["stopped_at"] < 4
    ],
    "wide, zeros where unseen": lambda: unseen_empty().fillna(0),
    "wide, -1 where unseen": lambda: unseen_empty().fillna(-1),
    "wide, length": lambda: wide().assign(length=LENGTH),
    "wide, n_items": lambda: wide().assign(n_items=LENGTH),
    "wide in German": german_wide,
    "wide, offers": lambda: wide().rename(columns={n: f"offer_{n[1:]}" for n in NAMES}),
    "wide, two digits": lambda: wide().rename(columns={n: f"candidate0{n[1:]}" for n in NAMES}),
    "wide, prices": lambda: turned(wide(), NAMES, True),
    "wide, goal": lambda: goals("goal", "max", "min", wide),
    "wide, block": lambda: goals("block", 1, 2, wide),
    "wide, minimise": lambda: goals("minimise", "no", "yes", wide),
    "wide, chosen value": lambda: wide().assign(
        chosen=lambda own: own[NAMES].to_numpy()[np.arange(len(own)), own["stopped_at"] - 1]
    ).drop(columns="stopped_at"),
    "wide, values viewed": lambda: wide().rename(columns={"stopped_at": "n_viewed"}),
    "wide, flags": flags,
    "wide, lists": lambda: wide()[["participant", "problem", "stopped_at"]].assign(
        values=wide()[NAMES].to_numpy().tolist()
    ).astype({"values": str}),
    "wide, ranks": lambda: wide().assign(
        **wide()[NAMES].rank(axis=1, method="first", ascending=False).astype(int)
    ),
}  # fmt: skip


# Forms that cannot be read as they are: what the message names, and, where there is one, the mapping by which they are
# read. A form that is not among these is read without a mapping.
Answer = dict[str, Any] | None
LENGTH_6: Answer = {"stimulus": {"length": LENGTH}}
BLOCKS: Answer = {"recode": {"block": {"1": 1, "2": -1}}, "stimulus": {"better": "block"}}
GENERAL = "a file needs a row for each value that was seen"
REFUSED: dict[str, tuple[str, Answer]] = {
    "rows in German": ("runde says the same in several rows", {"order": ""}),
    "rows of all values": (GENERAL, None),
    "rows of all values, continue after the take": (GENERAL, None),
    "rows without the last value": ('goes on after value 5.*"length": 6', LENGTH_6),
    "rows, two lengths": ("halves of the experiment all end at value 4.*length", None),
    "rows, two lengths in blocks": (
        "6 where block is a and 4 where block is b",
        {"recode": {"block": {"a": 6, "b": 4}}, "stimulus": {"length": "block"}},
    ),
    "rows, block": ("where block is 2, values that were taken are worse", BLOCKS),
    "rows, without a column of goals": ("worse than those that were not for 1 of 4 .*P03", None),
    "rows, group": (
        "where group is B, values that were taken are worse",
        {"recode": {"group": {"A": 1, "B": -1}}, "stimulus": {"better": "group"}},
    ),
    "rows, two columns of values": (GENERAL, None),
    "rows without places": (GENERAL, None),
    "rows, a mark where it was taken": (GENERAL, None),
    "rows, ranks from 0": (
        "whole number from 0 up to the place",
        {"stimulus": {"value": "rank + 1", "ranked": 1}},
    ),
    "rows, ranks of which high ones are good": (
        "If rank 1 is not the best",
        {"stimulus": {"value": "position + 1 - rank", "ranked": 1}},
    ),
    "wide, never at the first, stops from 0": (
        "is from 1 to 5 in sequences of 6 values",
        {"stimulus": {"first": 0}},
    ),
    "wide, never at the last": ("can be place 0 or place 1", {"stimulus": {"first": 1}}),
    "wide, columns from 0, never at the last": (
        "can be place 0 or place 1",
        {"stimulus": {"first": 1}},
    ),
    "wide, block": ("where block is 2, values that were taken are worse", BLOCKS),
    "wide, chosen value": (GENERAL, None),
    "wide, values viewed": ("that is a task of your own", None),
    "wide, flags": ("nothing says yet which column, number or cell is response", None),
    "wide, lists": (GENERAL, None),
}  # fmt: skip
OTHER_SEQUENCES: dict[str, Form] = {
    "rows, two lengths": two_lengths,
    "rows, two lengths in blocks": two_lengths,
    "rows, two lengths, condition": two_lengths,
    "wide, never at the first, stops from 0": lambda: rows_of(never_at(1)),
    "wide, never at the last": lambda: rows_of(never_at(LENGTH)),
    "wide, columns from 0, never at the last": lambda: rows_of(never_at(LENGTH)),
    "wide, last values never seen": lambda: rows_of(wide()[lambda own: own["stopped_at"] < 5]),
    "wide, last values never seen, stops from 0": lambda: rows_of(
        wide()[lambda own: own["stopped_at"] < 5]
    ),
}
"""Sequences, a row for each value that was seen, of the forms that have not all of them."""


def rows_of(own: pd.DataFrame) -> pd.DataFrame:
    """The rows of some of the sequences."""
    return rows().merge(own[["participant", "problem"]])


def lengths_of(name: str, own: pd.DataFrame) -> Any:
    """The number of values of the sequence of each row."""
    is_short = is_second_half(own) if "two lengths" in name else np.zeros(len(own), dtype=bool)
    return np.where(is_short, 4, LENGTH)


def check_same(name: str, trials: Trials) -> None:
    """Check that trials are the decisions of the sequences, in any unit of their values."""
    own = OTHER_SEQUENCES.get(name, rows)()
    length = lengths_of(name, own)
    kept = own["position"] < length
    assert trials.response.tolist() == (own["decision"] == "take")[kept].astype(int).tolist()
    assert trials.participant.tolist() == pd.factorize(own["participant"][kept])[0].tolist()
    assert trials.stimuli["length"][trials.trial].tolist() == length[kept].tolist()
    is_rank = "ranks" in name
    assert set(trials.stimuli["kind"]) == {RANKS if is_rank else UNKNOWN}
    if is_rank:
        shown, seen = trials.stimuli.take(trials.trial), trials.feedback["seen"]
        before = np.where(shown["position"] > 0, np.append(0, seen[:-1]), 0)
        found = DOMAINS["search"].shown(shown.arrays, {"seen": before[None]})["rank"][0]
        assert found.tolist() == ranks()["rank"][kept].tolist()
    else:
        both = own[kept].assign(draw=trials.stimuli["draw"][trials.trial])
        assert both[["draw", "value"]].corr().iloc[0, 1] > 0.9999
        # sequences with one goal have one unit
        for _, alike in both.groupby(["participant", is_second_half(both)]):
            assert alike[["draw", "value"]].corr().iloc[0, 1] == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("name", [name for name in FORMS if name not in REFUSED])
def test_a_form_is_read_to_the_same_decisions(name):
    (trials,) = lakatos.adopt(FORMS[name]()).trials
    check_same(name, trials)


@pytest.mark.parametrize("name", REFUSED)
def test_a_form_that_may_mean_something_else_is_refused_and_read_once_the_mapping_says_it(name):
    words, columns = REFUSED[name]
    with pytest.raises(TrialsError, match=words):
        lakatos.adopt(FORMS[name]())
    if columns is not None:
        (trials,) = lakatos.adopt(FORMS[name](), columns=columns).trials
        check_same(name, trials)


def test_each_form_is_expected_to_be_read_or_refused():
    assert set(REFUSED) < set(FORMS)
