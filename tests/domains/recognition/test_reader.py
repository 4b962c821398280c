"""Files of recognition and detection: what columns are recognised as, which trials they are, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import lakatos
from lakatos.domains.recognition.task import MOST, n_categories
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.tables import table_of_frame
from lakatos.experiments.errors import ImplausibleError, TrialsError


def ratings(n_people: int = 5, n_trials: int = 60, seed: int = 1) -> pd.DataFrame:
    """Words, of which half were studied, and ratings from 1 (surely new) to 6 (surely old)."""
    rng = np.random.default_rng(seed)
    n = n_people * n_trials
    old = rng.permutation(np.repeat([0, 1], n // 2))
    evidence = rng.normal(1.5 * old - 0.75)
    return pd.DataFrame(
        {
            "subject": np.repeat([f"s{who}" for who in range(n_people)], n_trials),
            "trial": np.tile(np.arange(1, n_trials + 1), n_people),
            "item_type": np.array(["new", "old"])[old],
            "rating": 1 + np.searchsorted([-1, -0.5, 0, 0.5, 1], evidence),
            "rt": (500 + rng.gamma(2.0, 300.0, n)).round(1),
        }
    )


def only(frame: pd.DataFrame, **said: Any) -> Any:
    """The trials of the only experiment of a file of recognition."""
    (trials,) = lakatos.adopt(frame, "recognition", said).trials
    return trials


def described(frame: pd.DataFrame) -> Any:
    return describe_table(table_of_frame("rows.csv", frame))


def categories(trials: Any) -> Any:
    """Category of each response, from -5 to 5."""
    return trials.response - MOST


def test_ratings_are_recognised_and_read_row_by_row():
    frame = ratings()
    found = described(frame)
    assert (found.domain, found.mapping.response) == ("recognition", "rating")
    assert found.mapping.stimulus == {"item": "item_type"}
    adopted = lakatos.adopt(frame)
    (trials,) = adopted.trials
    assert (trials.stimuli["old"][trials.trial] == (frame["item_type"] == "old")).all()
    assert (
        categories(trials) == frame["rating"].map({1: -3, 2: -2, 3: -1, 4: 1, 5: 2, 6: 3})
    ).all()
    assert {"strengths", "lures", "base_rates"} <= set(adopted.closed)


def test_a_reversed_scale_is_turned_round_and_the_user_reads_so():
    frame = ratings()
    turned = frame.assign(rating=7 - frame["rating"])
    found = described(turned)
    assert any("1 is read as surely old and 6 as surely new" in line for line in found.odd)
    assert only(turned).digest == only(frame).digest


WORDS = [("old", "new"), ("target", "lure"), ("studied", "foil"), ("signal", "noise"), ("1", "0")]


@pytest.mark.parametrize(("old", "new"), WORDS)
@pytest.mark.parametrize(("yes", "no"), [("old", "new"), ("yes", "no"), ("1", "0")])
def test_old_and_new_and_yes_and_no_are_read_by_their_words(old, new, yes, no):
    frame = ratings()
    name = "signal_present" if old == "1" else "item_type"
    answers = pd.DataFrame(
        {
            "subject": frame["subject"],
            "trial": frame["trial"],
            name: frame["item_type"].map({"old": old, "new": new}),
            "response": np.where(frame["rating"] > 3, yes, no),
        }
    )
    found = described(answers)
    assert (found.domain, found.mapping.response) == ("recognition", "response")
    trials = only(answers)
    assert set(n_categories(trials.stimuli)) == {2}
    assert (categories(trials) == np.where(frame["rating"] > 3, 1, -1)).all()
    assert trials.stimuli["lure"].max() == 0


def test_accuracy_becomes_responses():
    frame = ratings()
    said_old = frame["rating"] > 3
    judged = frame.assign(correct=(said_old == (frame["item_type"] == "old")).astype(int))
    found = described(judged.drop(columns="rating"))
    assert (found.domain, found.mapping.response) == ("recognition", "correct")
    assert (categories(only(judged.drop(columns="rating"))) == np.where(said_old, 1, -1)).all()


@pytest.mark.parametrize("in_words", [False, True])
def test_confidence_beside_a_response_makes_one_scale(in_words):
    frame = ratings()
    confidence = (frame["rating"] - 3.5).abs() + 0.5
    words = {1: "guess", 2: "probably", 3: "sure"}
    two = frame.drop(columns="rating").assign(
        response=np.where(frame["rating"] > 3, "old", "new"),
        confidence=confidence.map(words) if in_words else confidence.astype(int),
    )
    found = described(two)
    parts = {"item": "item_type", "confidence": "confidence"}
    assert found.mapping.stimulus == parts | ({} if in_words else {"categories": 6})
    assert only(two).digest == only(frame).digest


def test_confidence_of_which_1_is_the_surest_is_refused_and_turned_by_an_expression():
    frame = ratings()
    sure = ((frame["rating"] - 3.5).abs() + 0.5).astype(int)
    said = np.where(frame["rating"] > 3, "old", "new")
    two = frame.drop(columns="rating").assign(response=said, confidence=sure)
    turned = two.assign(confidence=4 - sure)
    with pytest.raises(
        ImplausibleError, match=r'less often right .*"confidence": "4 - confidence"'
    ):
        only(turned)
    found = lakatos.adopt(turned, "recognition", {"stimulus": {"confidence": "4 - confidence"}})
    assert found.trials[0].digest == only(two).digest
    assert "4 - confidence: 1 is the least sure and 3 the surest response" in found.notes
    assert any(f"response = {said[0]}, confidence = {4 - sure[0]}" in note for note in found.notes)
    assert only(turned, accept="reversed_code").n_responses == len(frame)
    with pytest.raises(ImplausibleError, match=r'"confidence": "4 - \(4 - confidence\)"'):
        only(two, stimulus={"confidence": "4 - confidence"})


def forms() -> dict[str, pd.DataFrame]:
    """The same responses as files of several laboratories and programs write them."""
    frame = ratings()
    old, said = frame["item_type"] == "old", frame["rating"] > 3
    who = frame[["subject", "trial"]]
    sure = ((frame["rating"] - 3.5).abs() + 0.5).astype(int)
    kinds = np.where(old, "right", "left"), np.where(said, "right", "left")
    words = {
        1: "sure new",
        2: "probably new",
        3: "maybe new",
        4: "maybe old",
        5: "probably old",
        6: "sure old",
    }
    outcome = np.where(old, np.where(said, "hit", "miss"), np.where(said, "fa", "cr"))
    return {
        "codes": who.assign(Stimulus=old + 1, Response=said + 1, Confidence=sure, RT_dec=frame["rt"] / 1000),
        "words": who.assign(stimulus=kinds[0], response=kinds[1], confidence=sure),
        "letters": who.assign(
            study_status=np.where(old, "studied", "unstudied"), resp=np.where(said, "O", "N"), conf=sure
        ),
        "true and false": who.assign(isOld=old, saidOld=said, confidence=20 * sure),
        "one column": who.assign(type=frame["item_type"], rating=frame["rating"].map(words)),
        "outcomes": who.assign(item=frame["item_type"], outcome=outcome),
        "times": who.assign(
            signal=old.astype(int), response=np.where(said, "yes", "no"), correct=(old == said).astype(int),
            rt=frame["rt"],
        ),
    }  # fmt: skip


@pytest.mark.parametrize("name", forms())
def test_files_of_laboratories_are_read_without_a_mapping(name):
    rating, found = ratings()["rating"], lakatos.adopt(forms()[name])
    assert found.domain.name == "recognition"
    (trials,) = found.trials
    wanted = rating.map({1: -3, 2: -2, 3: -1, 4: 1, 5: 2, 6: 3})
    if name in ("outcomes", "times"):
        wanted = np.sign(wanted)
    assert (categories(trials) == wanted).all()


def test_two_kinds_of_stimuli_keep_their_strengths():
    frame = (
        forms()["codes"]
        .drop(columns="RT_dec")
        .assign(Contrast=np.where(np.arange(300) % 3, 0.2, 0.1))
    )
    (trials,) = lakatos.adopt(frame).trials
    assert (trials.stimuli["strength"][trials.trial] == frame["Contrast"] / 0.2).all()


def test_a_rating_that_contains_the_decision_is_the_response():
    frame = ratings().assign(said_old=lambda rows: (rows["rating"] > 3).astype(int))
    found = described(frame)
    assert (found.mapping.response, found.mapping.stimulus) == ("rating", {"item": "item_type"})


@pytest.mark.parametrize("is_turned", [False, True])
def test_a_scale_from_new_to_old_beside_the_same_words_for_items_and_responses_is_the_response(
    is_turned: bool,
):
    frame = ratings()
    said = np.where(frame["rating"] > 3, "old", "new")
    own = 7 - frame["rating"] if is_turned else frame["rating"]
    two = frame.assign(judgment=said, rating=own)
    assert described(two).mapping.response == "rating"
    assert (categories(only(two)) == categories(only(frame))).all()


def test_a_scale_from_new_to_old_is_refused_as_the_sureness_of_a_response():
    frame = ratings()
    two = frame.assign(judgment=np.where(frame["rating"] > 3, "old", "new"))
    columns = {"response": "judgment", "stimulus": {"confidence": "rating"}}
    with pytest.raises(TrialsError, match=r"judgment follows from rating, .* no sureness"):
        lakatos.adopt(two, "recognition", columns)


def test_weak_and_strong_items_beside_new_ones_have_strengths():
    frame = ratings()
    strong = np.arange(len(frame)) % 2 == 0
    classes = np.where(frame["item_type"] == "new", "new", np.where(strong, "strong", "weak"))
    adopted = lakatos.adopt(frame.assign(item_type=classes))
    (trials,) = adopted.trials
    wanted = np.where(classes == "weak", 0.5, 1.0)
    assert (trials.stimuli["strength"][trials.trial] == wanted).all()
    assert "strengths" not in adopted.closed


def test_contrasts_are_strengths_of_signals():
    frame = ratings()
    contrast = np.where(
        frame["item_type"] == "new", 0.0, np.where(np.arange(len(frame)) % 2, 2.0, 8.0)
    )
    signal = frame.assign(signal=frame["item_type"].map({"old": 1, "new": 0}), contrast=contrast)
    adopted = lakatos.adopt(signal.drop(columns=["item_type", "rt"]))
    assert adopted.domain.name == "recognition"
    (trials,) = adopted.trials
    assert (trials.stimuli["strength"][trials.trial] == contrast / 8).all()


def test_lures_are_new_items_of_their_own_beside_foils():
    frame = ratings()
    classes = frame["item_type"].where(frame.index % 4 > 0, "lure")
    adopted = lakatos.adopt(frame.assign(item_type=classes))
    (trials,) = adopted.trials
    assert (trials.stimuli["lure"][trials.trial] == (classes == "lure")).all()
    assert (trials.stimuli["old"][trials.trial] == (classes == "old")).all()
    assert "lures" not in adopted.closed


def test_fine_ratings_are_joined_into_ten_categories():
    frame = ratings()
    fine = frame.assign(rating=16 * frame["rating"] + np.arange(len(frame)) % 16 - 15)
    fine.loc[:1, "rating"] = [1, 100]
    adopted = lakatos.adopt(fine)
    assert set(n_categories(adopted.trials[0].stimuli)) == {10}
    assert any("1 to 100 are joined into 10 categories" in note for note in adopted.notes)


def test_categories_that_nobody_used_can_be_named():
    frame = ratings().query("rating < 6")
    assert set(n_categories(only(frame).stimuli)) == {5}
    assert set(n_categories(only(frame, stimulus={"item": "item_type", "categories": 6}).stimuli)) == {6}  # fmt: skip


def test_a_share_of_old_items_opens_base_rates():
    adopted = lakatos.adopt(ratings(), "recognition", {"stimulus": {"old_share": 0.5}})
    assert "base_rates" not in adopted.closed
    with pytest.raises(
        TrialsError, match="old_share is the share of old items, above 0 and below 1"
    ):
        only(ratings(), stimulus={"old_share": 1})


def test_more_false_alarms_than_hits_are_refused_unless_accepted():
    frame = ratings()
    turned = frame.drop(columns="rating").assign(
        response=np.where(frame["rating"] > 3, "new", "old")
    )
    with pytest.raises(
        ImplausibleError, match=r"false alarms are more frequent than hits .*\"new\": 1, \"old\": 0"
    ):
        only(turned)
    assert only(turned, accept="reversed_code").n_responses == len(frame)


def test_a_constant_response_is_refused_unless_accepted():
    frame = ratings().assign(rating=4)
    with pytest.raises(ImplausibleError, match="rating has the same category in all 300 rows"):
        only(frame, response="rating", stimulus={"item": "item_type"})


def test_a_file_without_new_items_is_refused():
    frame = ratings().assign(item_type="old")
    with pytest.raises(TrialsError, match="all items of item_type are old"):
        only(frame, response="rating", stimulus={"item": "item_type"})


def test_an_item_of_another_name_and_a_response_of_no_scale_are_refused_by_row():
    frame = ratings()
    frame.loc[3, "item_type"] = "primed"
    with pytest.raises(TrialsError, match=r"row 5: item_type is 'primed', which names no item"):
        only(frame, response="rating", stimulus={"item": "item_type"})


def test_a_scale_is_the_same_in_all_experiments_of_a_file():
    frame = ratings()
    half = frame.assign(experiment=np.where(frame.index % 2, "a", "b"))
    half = half[(half["experiment"] == "a") | (half["rating"] > 1)]
    confident = half.assign(
        response=np.where(half["rating"] > 3, "old", "new"),
        conf=((half["rating"] - 3.5).abs() + 0.5).astype(int),
    )
    confident = confident[(confident["experiment"] == "a") | (confident["conf"] < 3)]
    for own in (half, confident.drop(columns="rating"), half.assign(rating=8 * half["rating"])):
        found = lakatos.adopt(own, "recognition", {"experiment": "experiment"}).trials
        assert len({int(n) for item in found for n in n_categories(item.stimuli)}) == 1


def test_hits_and_misses_alone_are_no_code_of_old_and_new():
    frame = ratings()
    judged = np.where((frame["rating"] > 3) == (frame["item_type"] == "old"), "hit", "miss")
    file = frame.drop(columns="rating").assign(outcome=judged)
    with pytest.raises(TrialsError, match=r"outcome is '(hit|miss)' or '(hit|miss)'"):
        only(file, response="outcome", stimulus={"item": "item_type"})


def test_fine_ratings_in_the_opposite_order_are_questioned_and_turned_by_an_expression():
    frame = ratings()
    fine = frame.assign(rating=101 - (16 * frame["rating"] + np.arange(len(frame)) % 16 - 15))
    with pytest.raises(ImplausibleError, match=r"response.{1,5}NUMBER - rating"):
        only(fine)
    turned = only(fine, response="101 - rating")
    assert turned.response[turned.stimuli["old"][turned.trial] == 1].mean() > 5.5


@pytest.mark.parametrize("mark", [9, -9, 99])
def test_a_mark_of_a_missing_value_is_no_category(mark: int):
    frame = ratings()
    marked = frame.assign(rating=frame["rating"].where(frame["rating"] < 5))
    marked.loc[marked.index[3::40], "rating"] = mark
    marked = marked.dropna(subset="rating").astype({"rating": int})
    with pytest.raises(ImplausibleError, match=rf'"rating": {mark}'):
        only(marked)
    kept = marked[marked["rating"] != mark]
    missing = only(marked, missing={"rating": [str(mark)]})
    assert (categories(missing) == categories(only(kept))).all()


def test_responses_beyond_the_stated_number_of_categories_are_refused():
    frame = ratings()
    with pytest.raises(TrialsError, match="is beyond the 4 categories of the scale"):
        only(frame, stimulus={"categories": 4})
    assert set(categories(only(frame, stimulus={"categories": 8}))) == {-4, -3, -2, -1, 1, 2}
