"""Which of two sequences looks more random: spaces, measures by hand, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.domains.sequences.measures import (
    alternation,
    encoding,
    imbalance,
    is_mirrored,
    length_of,
    longest_run,
    repeats_motif,
    share_of_first_letter,
)
from lakatos.domains.sequences.task import LONGEST, SequencesDomain, sequences, text_of
from lakatos.experiments.errors import EmptyDesignSpaceError, StimuliError
from lakatos.experiments.task import Stimuli
from lakatos.experiments.testing import DomainContract

DOMAIN = SequencesDomain()


class TestSequences(DomainContract):
    @pytest.fixture
    def domain(self):
        return DOMAINS["sequences"]

    @pytest.fixture
    def settings(self):
        return {"lengths": [3, 4], "n_trials": 40}

    @pytest.fixture
    def empty_settings(self):
        return {"lengths": []}


def letters_of(*texts):
    return sequences([(text, "HT") for text in texts], "HT")["letters"][:, 0]


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        # H      HH   HTHTHT  HHTTHH  HTTTH  TTTTTTTT
        (length_of, [1, 2, 6, 6, 5, 8]),
        (alternation, [0, 0, 1, 2 / 5, 2 / 4, 0]),
        (longest_run, [1, 2, 1, 2, 3, 8]),
        (encoding, [1, 1, 2, 3, 3, 1]),
        (is_mirrored, [0, 0, 0, 1, 1, 1]),
        (repeats_motif, [0, 0, 1, 0, 0, 0]),
    ],
)
def test_measures_of_known_sequences(measure, expected):
    letters = letters_of("H", "HH", "HTHTHT", "HHTTHH", "HTTTH", "TTTTTTTT")
    assert measure(letters).astype(float).tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "units"),
    # Falk & Konold (1997): each streak counts 1, each alternating stretch 2
    [("TTTHHHTHTH", 4), ("HTHTHTHTHT", 2), ("HHHHTTTT", 2), ("HTTHTHHT", 6), ("HHTHTHTT", 4)],
)
def test_the_difficulty_of_encoding_counts_streaks_and_alternating_stretches(text, units):
    assert encoding(letters_of(text)).tolist() == [units]


def test_a_motif_may_be_cut_short_and_a_streak_is_none():
    found = repeats_motif(letters_of("HHTHHTH", "HHTHH", "HTHT", "HTH", "HHHH", "HHTTHHTT"))
    assert found.tolist() == [True, False, True, False, False, True]


def test_imbalance_is_zero_for_equal_shares_over_any_alphabet():
    two = sequences([("HHTT", "HHHH")])
    assert imbalance(two["letters"], two["alphabet"]).tolist() == [[0.0, 0.5]]
    three = sequences([("ABCABC", "AAABBB")])
    assert imbalance(three["letters"], three["alphabet"])[0] == pytest.approx([0, 1 / 3])
    assert share_of_first_letter(three["letters"], three["alphabet"])[0] == pytest.approx(
        [1 / 3, 1 / 2]
    )


def test_sequences_are_read_back_as_they_were_written():
    pairs = [("HTH", "T"), ("TTTT", "HTHTHTHTHTHTHTHT")]
    stimuli = sequences(pairs)
    assert [tuple(map(text_of, row)) for row in stimuli["letters"]] == pairs
    assert DOMAIN.describe(stimuli, 0) == "HTH | T"
    assert ">H</span>" in DOMAIN.picture(stimuli, 0)


def test_the_space_holds_different_sequences_of_the_lengths_set():
    space = DOMAIN.space({"lengths": [3, 5], "n_trials": 50})
    lengths = length_of(space["letters"])
    assert len(space) == 50
    assert set(lengths.ravel().tolist()) == {3, 5}
    equal = DOMAIN.space({"lengths": [3, 5], "n_trials": 50, "same_length": True})
    lengths = length_of(equal["letters"])
    assert (lengths[:, 0] == lengths[:, 1]).all()


def test_a_small_space_is_listed_completely():
    # HH, HT, TH and TT make six pairs
    assert len(DOMAIN.space({"lengths": [2]})) == 6
    # with the eight of three letters: 66 pairs of twelve, 6 + 28 of equal length
    assert len(DOMAIN.space({"lengths": [2, 3], "n_trials": 100})) == 66
    assert len(DOMAIN.space({"lengths": [2, 3], "same_length": True, "n_trials": 100})) == 34


def test_sequences_over_another_alphabet_are_not_admitted():
    settings = {"lengths": [3], "n_trials": 10}
    other = sequences([("ABA", "ABB")])
    assert DOMAIN.admits(settings, other).tolist() == [False]
    assert DOMAIN.admits(settings | {"alphabet": "AB"}, other).tolist() == [True]


def test_reading_backwards_keeps_the_end_of_shorter_sequences():
    stimuli = sequences([("HTT", "HHHTH")])
    after = DOMAIN.variations(stimuli, np.random.default_rng(0))["backwards"].after
    assert DOMAIN.describe(after, 0) == "TTH | HTHHH"
    after = DOMAIN.variations(stimuli, np.random.default_rng(0))["letter_names"].after
    assert DOMAIN.describe(after, 0) == "THH | TTTHT"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"letters": "HT"}, "unknown settings .* letters"),
        ({"alphabet": "H"}, "alphabet .* is 'H'; give 2 to 6"),
        ({"alphabet": "HH"}, "alphabet"),
        ({"alphabet": "H T"}, "alphabet"),
        ({"lengths": [1]}, "lengths .* from 2 to 16"),
        ({"lengths": [2.5]}, "'lengths' .* cannot be"),
        ({"lengths": 4}, "'lengths' .* cannot be 4"),
        ({"n_trials": 0}, "n_trials"),
        ({"same_length": 1}, "'same_length' .* cannot be 1"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(StimuliError, match=message):
        DOMAIN.space(settings)


def test_no_lengths_make_an_empty_space():
    with pytest.raises(EmptyDesignSpaceError, match="Give lengths"):
        DOMAIN.space({"lengths": []})


@pytest.mark.parametrize(
    ("pairs", "alphabet", "message"),
    [
        ([("HT", "TT"), ("HX", "TT")], "HT", "trial 1 .* the letter 'X'; the alphabet is HT"),
        ([("HT", "")], "HT", "trial 0 .* '' has 0 letters; give 1 to 16"),
        ([("HT", "H" * (LONGEST + 1))], "HT", "has 17 letters"),
        ([("HH", "HH")], "", r"2 to 6 different letters, not of 1 \(H\)"),
    ],
)
def test_sequences_that_cannot_be_shown_are_refused(pairs, alphabet, message):
    with pytest.raises(StimuliError, match=message):
        sequences(pairs, alphabet)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda letters, alphabet: (letters * 0, alphabet), "a sequence is empty"),
        (lambda letters, alphabet: (np.where(np.arange(LONGEST) == 1, 0, letters), alphabet), "has a gap"),
        (lambda letters, alphabet: (letters + (letters > 0), alphabet), "not in the alphabet"),
        (lambda letters, alphabet: (letters, alphabet[:, ::-1]), "letters in order"),
    ],
)  # fmt: skip
def test_arrays_that_are_no_sequences_are_refused(change, message):
    good = sequences([("HTH", "TTH")])
    letters, alphabet = change(good["letters"], good["alphabet"])
    with pytest.raises(StimuliError, match=f"trial 0 .*{message}"):
        DOMAIN.check(Stimuli({"letters": letters, "alphabet": alphabet}))
