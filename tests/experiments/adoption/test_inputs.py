"""What a file does not show, and which theories are therefore not considered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reading import DATA_SETS, read

from lakatos.domains import DOMAINS
from lakatos.experiments.adoption.inputs import _of_pairs, confounds_of, properties_of
from lakatos.experiments.adoption.layouts import known_layout
from lakatos.experiments.adoption.names import ORDER, SIDES
from lakatos.flows.errors import StudyError
from lakatos.flows.operations.adopt import new_study
from lakatos.flows.run.study import load_study
from lakatos.theories.discovery.induction.induce import _lean
from lakatos.theories.language.family import find_family


def made(name: str) -> pd.DataFrame:
    return DATA_SETS[name](np.random.default_rng(2)).frame


def holt_laury(n_people: int = 4) -> pd.DataFrame:
    """The ten rows of Holt and Laury (2002), the safe lottery first; participants switch in row 7."""
    rows = [
        (
            f"P{who}",
            row,
            2.0,
            row / 10,
            1.6,
            1 - row / 10,
            3.85,
            row / 10,
            0.1,
            1 - row / 10,
            "AB"[row > 6],
        )
        for who in range(n_people)
        for row in range(1, 11)
    ]
    names = [
        "subject",
        "trial",
        "a_x1",
        "a_p1",
        "a_x2",
        "a_p2",
        "b_x1",
        "b_p1",
        "b_x2",
        "b_p2",
        "choice",
    ]
    return pd.DataFrame(rows, columns=names).round(2)


def mixed(frame: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """The same trials in an order of one's own for each participant."""
    rng = np.random.default_rng(seed)
    parts = [part.sample(frac=1, random_state=rng) for _, part in frame.groupby("subject")]
    return pd.concat(parts).assign(trial=lambda rows: rows.groupby("subject").cumcount() + 1)


def turned(frame: pd.DataFrame) -> pd.DataFrame:
    """Every second row with the two gambles in each other's place."""
    other = {
        f"{a}_{rest}": f"{b}_{rest}" for a, b in ("ab", "ba") for rest in ("x1", "p1", "x2", "p2")
    }
    odd = frame.iloc[1::2]
    swapped = odd.rename(columns=other).assign(choice=odd["choice"].map({"A": "B", "B": "A"}))
    return pd.concat([frame.iloc[::2], swapped[frame.columns]]).sort_index()


def test_a_safe_gamble_that_is_always_first_closes_theories_about_places() -> None:
    found = read(mixed(holt_laury()))
    assert set(found.closed) == {SIDES}
    assert found.closed[SIDES].startswith("option 1 is always the safer one")
    assert found.first_option == "the safer one"
    assert any(
        note.startswith("effects of the options' positions are not tested, since")
        for note in found.notes
    )
    assert read(turned(mixed(holt_laury()))).closed == {}


def test_trials_that_always_come_in_one_order_close_theories_about_earlier_trials() -> None:
    found = read(holt_laury())
    assert found.closed[ORDER] == (
        "trials always come in the order of expected value and probability of the best amount"
    )
    assert ORDER not in read(mixed(holt_laury())).closed


def test_analyses_repeat_what_is_not_considered_and_not_what_goes_together() -> None:
    found = read(holt_laury())
    assert set(found.notes) - set(found.in_brief) == set(found.confounds) != set()
    assert any(note.startswith("effects of the options' positions") for note in found.in_brief)
    assert set(found.read_back) & set(found.in_brief) == {found.read_back[0]}


def test_properties_that_correlate_perfectly_are_listed() -> None:
    words = "expected value and probability of the best amount always go together (|r| = 1)"
    assert any(note.startswith(words) for note in read(mixed(holt_laury())).notes)
    varied = mixed(holt_laury()).assign(b_x1=lambda rows: 3 + rows["trial"] % 3)
    assert not any("|r| = 1" in note for note in read(varied).notes)


def test_a_sure_amount_and_a_gamble_are_compared_by_their_differences() -> None:
    rng = np.random.default_rng(5)
    sure, best, chance = rng.uniform(1, 30, 80), rng.uniform(6, 30, 80), rng.choice([0.25, 0.5], 80)
    nothing = np.zeros(80)
    values = {
        "expected value": np.column_stack([sure, best * chance]),
        "worst amount": np.column_stack([sure, nothing]),
        "best amount": np.column_stack([sure, best]),
    }
    assert not list(_of_pairs(values))
    values["its double"] = 1 + 2 * values["best amount"]
    (found,) = _of_pairs(values)
    assert found.fact == "best amount and its double always go together (|r| = 1)"


def test_without_a_column_of_order_there_is_no_memory_unless_the_user_says_so() -> None:
    frame = turned(mixed(holt_laury())).drop(columns="trial")
    assert "no column says in which order" in read(frame).closed[ORDER]
    assert read(frame, accept="row_order").closed == {}


def test_without_right_keys_there_are_no_habits_of_keys() -> None:
    found = read(made("conflicts"))
    assert found.closed == {"keys": "no column or number says which key was right"}
    left = find_family(DOMAINS["attention"]).without(found.closed)
    habits = {item.name for item in left.grammar.mechanisms if item.slot == "habit"}
    assert habits == {"now this, now that"}
    sides = np.where(np.arange(len(made("conflicts"))) % 2, "left", "right")
    assert read(made("conflicts").assign(side=sides), stimulus={"side": "side"}).closed == {}


def test_options_that_are_named_by_what_they_are_have_no_places() -> None:
    frame = made("delays")
    assert SIDES in read(frame).closed
    # Some waits turned, so that the place of an option tells nothing: names still say no place.
    later = frame["delay_later"]
    odd = np.arange(len(frame)) % 2 == 1
    frame = frame.assign(
        delay_later=later.where(~odd, 0),
        delay_sooner=later.where(odd, 0),
        amount_later=frame["amount_later"].where(~odd, frame["amount_sooner"]),
        amount_sooner=frame["amount_sooner"].where(~odd, frame["amount_later"]),
        choice=frame["choice"].where(~odd, 1 - frame["choice"]),
    )
    assert (
        read(frame).closed[SIDES].startswith("options are named by what they are (later, sooner)")
    )
    sides = frame.rename(
        columns=lambda name: name.replace("sooner", "left").replace("later", "right")
    )
    assert read(sides).closed == {}


@pytest.mark.parametrize("name", sorted(DOMAINS))
def test_every_kind_of_task_finds_a_property_that_tells_another(name: str) -> None:
    """Trials in which one property is a straight line of another, and others in which nothing is."""
    domain = DOMAINS[name]
    layout = known_layout(domain)
    shown = domain.probes(np.random.default_rng(3))[0]
    found = properties_of(shown, layout, domain)
    if domain.sequential:  # steps without attributes have no properties
        assert not found
        return
    assert found
    first, values = next((key, value) for key, value in found.items() if np.ptp(value) > 0)
    twin = replace(layout, properties=lambda _: {first: values, "its double": 1 + 2 * values})
    answers: Any = type("Answers", (), {"stimuli": shown})()
    (confound, *_) = [
        item for item in confounds_of([answers], twin, domain, in_order=False) if "|r|" in item.fact
    ]
    assert confound.fact == f"{first} and its double always go together (|r| = 1)"


def test_a_study_of_such_a_file_has_theories_that_can_be_tested_and_refuses_others(
    tmp_path: Path,
) -> None:
    data = tmp_path / "hl.csv"
    holt_laury(12).to_csv(data, index=False)
    made_study = new_study(tmp_path / "hl.toml", data)
    config = load_study(made_study.study)
    assert set(config.participants.closed) == {SIDES, ORDER}
    assert config.participants.first_option == "the safer one"
    family = find_family(DOMAINS["risky"])
    grammar = family.without(config.participants.closed).grammar
    assert not any(item.slot in ("side", "history") for item in grammar.mechanisms)
    assert family.without(()) is family
    # What was released goes on: a study without the key considers all theories.
    older = config.participants.model_copy(update={"closed": {}, "first_option": ""})
    assert "closed" not in older.model_dump()


def test_a_seed_that_cannot_be_tested_is_refused_with_another(tmp_path: Path) -> None:
    rows = [
        (group, who, number, 20 - 2 * number, 4, 1.6)
        for group in "ab"
        for who in range(4)
        for number in range(1, 6)
    ]
    frame = pd.DataFrame(
        rows, columns=["group_id", "subject", "round", "contribution", "group_size", "multiplier"]
    )
    frame["subject"] = frame["group_id"] + frame["subject"].astype(str)
    frame.to_csv(tmp_path / "gifts.csv", index=False)
    said = {"response": "contribution"}
    place = tmp_path / "gifts.toml"
    study = new_study(place, tmp_path / "gifts.csv", "public_goods", columns=said).study
    assert load_study(study).participants.closed["n_rounds"]
    text = study.read_text()
    begin = text.index("seeds = ")
    end = text.index("\n", begin)
    study.write_text(text[:begin] + 'seeds = ["decaying_warm_glow", "habit"]' + text[end:])
    with pytest.raises(StudyError, match=r"'decaying_warm_glow' cannot be tested.*how many rounds"):
        load_study(study)


def test_a_lean_in_an_induced_rule_is_told_by_what_the_first_option_is() -> None:
    term = _lean("outcomes", "the safer one")
    assert term.opposite == "take the safer one, whatever the numbers"
    assert term.words == "take the other option than the safer one, whatever the numbers"
    assert _lean("outcomes", "").opposite == "take A, whatever the numbers"
