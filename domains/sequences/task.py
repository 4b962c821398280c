"""Which of two sequences looks more random: choices between strings over a small alphabet, such as coin flips.

A trial shows two sequences, such as HTHHT and TTTTT, which may differ in length. People say which of the two looks more
like the work of chance. Every sequence of fair flips of one length is equally likely, so that there is no right answer:
the choices show what people take for random.

References:
    Kahneman & Tversky (1972), Cognitive Psychology 3(3), 430-454;
    Falk & Konold (1997), Psychological Review 104(2), 301-318;
    Griffiths, Daniels, Austerweil & Tenenbaum (2018), Cognitive Psychology 103, 85-109.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.domains.kit.settings import check_limits, refuse_unknown
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
from lakatos.experiments.adoption.layouts import StimulusLayout
from lakatos.experiments.errors import EmptyDesignSpaceError, StimuliError
from lakatos.experiments.task import OneShot, Stimuli
from lakatos.experiments.variation import TrialVariation, varied
from lakatos.theories.language.family import Family

Array = NDArray[Any]
LONGEST = 16
"""Letters of the longest sequence that a trial can show."""
MOST_LETTERS = 6
"""Letters of the largest alphabet."""
LARGEST_SPACE = 20_000
MOST_DRAWS = 200
"""Sequences drawn for each wanted trial before a space counts as used up."""
SHAPES = {"letters": (2, LONGEST), "alphabet": (MOST_LETTERS,)}
"""Arrays of a set of trials and their shapes, after ``n_trials``: the sequences of both sides as code points, 0 past
their end, and the code points of all letters that the task has, in ascending order, 0 where there are fewer."""


@dataclass(frozen=True)
class SequencesSettings:
    """A space of trials: pairs of different sequences."""

    alphabet: str = "HT"
    """The letters that sequences are made of."""
    lengths: tuple[int, ...] = (4, 6, 8)
    """Lengths of sequences."""
    same_length: bool = False
    """Whether both sequences of a trial are equally long."""
    n_trials: int = 400
    """Pairs in the space; fewer where there are not so many."""
    seed: int = 0
    """Another number makes another sample."""

    def __post_init__(self) -> None:
        letters = set(self.alphabet)
        if (
            not 2 <= len(letters) == len(self.alphabet) <= MOST_LETTERS
            or not self.alphabet.isalnum()
        ):
            raise StimuliError(
                f"setting alphabet of the sequences domain is {self.alphabet!r}; give 2 to {MOST_LETTERS} different "
                "letters or digits."
            )
        if any(not 2 <= length <= LONGEST for length in self.lengths):
            raise StimuliError(
                f"setting lengths of the sequences domain: give whole numbers from 2 to {LONGEST}."
            )
        check_limits(self, {"n_trials": (1, LARGEST_SPACE), "seed": (0, 2**31)})


def read_settings(settings: Mapping[str, Any]) -> SequencesSettings:
    """Settings of a study file.

    Raises:
        StimuliError: A setting is unknown or of the wrong type; the message says which and what there is.
    """
    known = SequencesSettings.__dataclass_fields__
    refuse_unknown(known, settings, "sequences")
    values: dict[str, Any] = {}
    for name, value in settings.items():
        wanted = type(known[name].default)
        is_list = wanted is tuple and isinstance(value, list | tuple)
        if is_list and all(type(item) is int for item in value):
            values[name] = tuple(sorted(set(value)))
        elif type(value) is wanted and wanted is not tuple:
            values[name] = value
        else:
            raise StimuliError(f"setting {name!r} of the sequences domain cannot be {value!r}.")
    return SequencesSettings(**values)


def sequences(pairs: Sequence[tuple[str, str]], alphabet: str = "") -> Stimuli:
    """Trials from written-out pairs of sequences.

    Args:
        pairs: The first and the second sequence of each trial.
        alphabet: All letters of the task; those that occur where it is empty.

    Raises:
        StimuliError: A sequence is too short, too long, or has a letter outside the alphabet.
    """
    known = sorted(set(alphabet) or {letter for pair in pairs for own in pair for letter in own})
    if not 2 <= len(known) <= MOST_LETTERS:
        raise StimuliError(
            f"sequences are made of 2 to {MOST_LETTERS} different letters, not of {len(known)} "
            f"({', '.join(known[:8])})."
        )
    letters = np.zeros((len(pairs), 2, LONGEST))
    for row, pair in enumerate(pairs):
        for side, own in enumerate(pair):
            if not 1 <= len(own) <= LONGEST:
                raise StimuliError(
                    f"trial {row} of the sequences domain: {own!r} has {len(own)} letters; give 1 to {LONGEST}."
                )
            if outside := sorted(set(own) - set(known)):
                raise StimuliError(
                    f"trial {row} of the sequences domain: {own!r} has the letter {outside[0]!r}; the alphabet is "
                    f"{''.join(known)}."
                )
            letters[row, side, : len(own)] = [ord(letter) for letter in own]
    codes = np.zeros(MOST_LETTERS)
    codes[: len(known)] = [ord(letter) for letter in known]
    stimuli = Stimuli({"letters": letters, "alphabet": np.tile(codes, (len(pairs), 1))})
    check(stimuli)
    return stimuli


def check(stimuli: Stimuli) -> None:
    """Raise `StimuliError` naming the first trial that is no pair of sequences."""
    if set(stimuli.arrays) != set(SHAPES):
        raise StimuliError(
            f"sequences have the arrays {', '.join(SHAPES)}, not {', '.join(sorted(stimuli.arrays))}."
        )
    for name, shape in SHAPES.items():
        if stimuli[name].shape[1:] != shape:
            raise StimuliError(
                f"array {name!r} has shape {stimuli[name].shape}, not {(len(stimuli), *shape)}."
            )
    letters, alphabet = stimuli["letters"], stimuli["alphabet"]
    there = letters > 0
    known = (letters[..., None] == alphabet[:, None, None, :]).any(axis=-1)
    n_letters = (alphabet > 0).sum(axis=-1)
    ascending = (np.diff(alphabet, axis=-1) > 0) | (alphabet[:, 1:] == 0)
    allowed = (
        (there[..., 0].all(axis=-1), "a sequence is empty"),
        (~(there[..., 1:] & ~there[..., :-1]).any(axis=(-1, -2)), "a sequence has a gap"),
        ((known | ~there).all(axis=(-1, -2)), "a letter is not in the alphabet"),
        ((n_letters >= 2) & ascending.all(axis=-1), "the alphabet is not two or more letters in order"),
    )  # fmt: skip
    for fine, words in allowed:
        rows = np.flatnonzero(~fine)
        if rows.size:
            raise StimuliError(f"trial {rows[0]} of the sequences domain: {words}.")


def text_of(letters: Array) -> str:
    """A sequence ``(LONGEST,)`` of code points as it is written."""
    return "".join(chr(int(code)) for code in letters if code > 0)


def n_pairs(read: SequencesSettings) -> int:
    """Number of pairs of different sequences that the settings allow."""
    sizes = [len(read.alphabet) ** length for length in set(read.lengths)]
    groups = sizes if read.same_length else [sum(sizes)]
    return sum(comb(size, 2) for size in groups)


def _drawn(settings: SequencesSettings, length: int, rng: np.random.Generator) -> str:
    """A sequence with a number of runs that is drawn first, so that streaks and alternations are as frequent."""
    n_runs = int(rng.integers(1, length + 1))
    ends = np.sort(rng.choice(np.arange(1, length), n_runs - 1, replace=False)).tolist()
    text, letter = "", ""
    for start, end in zip([0, *ends], [*ends, length], strict=True):
        letter = str(rng.choice([own for own in settings.alphabet if own != letter]))
        text += letter * (end - start)
    return text


EXTREMES = (
    ("H", "T"),
    ("HH", "HT"),
    ("T" * LONGEST, "HT" * (LONGEST // 2)),
    ("H" * LONGEST, "T"),
    ("HTTH", "HTHT"),
)
"""Sequences of one letter, the longest ones, streaks and alternations."""


class SequencesDomain(OneShot):
    """Choices of which of two sequences looks more random."""

    name = "sequences"
    options: tuple[str, ...] = ("first", "second")

    def layout(self) -> StimulusLayout:
        """Return how trials are written as columns of a file."""
        from lakatos.domains.sequences.reader import LAYOUT

        return LAYOUT

    def family(self) -> Family:
        """The theories about this task."""
        from lakatos.domains.sequences.theories import FAMILY

        return FAMILY

    def space(self, settings: Mapping[str, Any]) -> Stimuli:
        """The sample of pairs that the settings describe, the same at every call.

        Raises:
            EmptyDesignSpaceError: The settings make no pair.
            StimuliError: A setting is wrong.
        """
        read = read_settings(settings)
        if not read.lengths:
            raise EmptyDesignSpaceError(
                f"the settings {dict(settings)} of the sequences domain make no trial. Give lengths."
            )
        rng = np.random.default_rng(read.seed)
        found: dict[frozenset[str], tuple[str, str]] = {}
        wanted = min(read.n_trials, n_pairs(read))
        for _ in range(MOST_DRAWS * read.n_trials):
            if len(found) == wanted:
                break
            first, second = (int(length) for length in rng.choice(read.lengths, 2))
            pair = (
                _drawn(read, first, rng),
                _drawn(read, first if read.same_length else second, rng),
            )
            if pair[0] != pair[1]:
                found.setdefault(frozenset(pair), pair)
        return sequences(list(found.values()), read.alphabet)

    def check(self, stimuli: Stimuli) -> None:
        """Raise `StimuliError` naming the first trial that is no pair of sequences."""
        check(stimuli)

    def admits(self, settings: Mapping[str, Any], stimuli: Stimuli) -> Array:
        """See `experiments.task.Domain.admits`: two different sequences over the alphabet, of the lengths set."""
        read = read_settings(settings)
        lengths = length_of(stimuli["letters"])
        alphabet = sorted(ord(letter) for letter in read.alphabet)
        own = stimuli["alphabet"][:, : len(alphabet)]
        kept = np.isin(lengths, read.lengths).all(axis=1)
        kept &= (own == alphabet).all(axis=1)
        kept &= (stimuli["alphabet"][:, len(alphabet) :] == 0).all(axis=1)
        kept &= (stimuli["letters"][:, 0] != stimuli["letters"][:, 1]).any(axis=-1)
        return np.asarray(kept & ((lengths[:, 0] == lengths[:, 1]) | (not read.same_length)))

    def probes(self, rng: np.random.Generator) -> Sequence[Stimuli]:
        """Ordinary random pairs, mirrored ones, extremes, and sequences over a larger alphabet."""
        space = self.space({"n_trials": 60})
        ordinary = space.take(rng.choice(len(space), 24, replace=False))
        extremes = sequences(EXTREMES)
        several = self.space({"n_trials": 8, "alphabet": "ABCD"})
        return (
            ordinary,
            self.swap_sides(ordinary),
            extremes,
            self.swap_sides(extremes),
            several,
            extremes.take([0]),
        )

    def features(self, stimuli: Stimuli) -> Mapping[str, Array]:
        """Properties of trials; differences are those of the second sequence over the first."""
        letters, alphabet = stimuli["letters"], stimuli["alphabet"]
        length = length_of(letters)
        run = longest_run(letters)
        of_each = {
            "length": length,
            "alternation": alternation(letters),
            "changes": alternation(letters) * np.maximum(length - 1, 0),
            "longest_run": run,
            "longest_run_share": run / length,
            "imbalance": imbalance(letters, alphabet),
            "encoding": encoding(letters),
            "mirror": 1.0 * is_mirrored(letters),
            "motif": 1.0 * repeats_motif(letters),
            "first_letter_share": share_of_first_letter(letters, alphabet),
        }
        return {
            **{f"{name}_difference": own[:, 1] - own[:, 0] for name, own in of_each.items()},
            "shorter_length": length.min(axis=1),
            "highest_alternation": of_each["alternation"].max(axis=1),
            "lowest_alternation": of_each["alternation"].min(axis=1),
        }

    def swap_sides(self, stimuli: Stimuli) -> Stimuli:
        """The same trials with the two sequences exchanged."""
        return Stimuli(dict(stimuli.arrays) | {"letters": stimuli["letters"][:, ::-1]})

    def variations(
        self, stimuli: Stimuli, rng: np.random.Generator
    ) -> Mapping[str, TrialVariation]:
        """See `experiments.variation.HasVariations`."""
        every = np.full(len(stimuli), True)
        return {
            "letter_names": varied(
                stimuli,
                every,
                "the first and the second letter of the alphabet are exchanged",
                lambda before, _: {"letters": _with_letters_exchanged(before)},
            ),
            "backwards": varied(
                stimuli,
                every,
                "both sequences are read backwards",
                lambda before, _: {"letters": _backwards(before["letters"])},
            ),
        }

    def picture(self, stimuli: Stimuli, row: int) -> str:
        """The two sequences side by side, on a narrow screen one above the other, each letter in a box."""
        sides = "".join(
            '<div style="flex:1 1 20em;border:1px solid #bbb;border-radius:6px;padding:10px 4px;text-align:center;'
            'white-space:nowrap">'
            + "".join(
                '<span style="display:inline-block;min-width:1em;margin:1px;padding:3px 1px;border:1px solid #ccc;'
                f'border-radius:4px;font:600 clamp(12px,3.6vw,17px) ui-monospace,monospace">{escape(letter)}</span>'
                for letter in text_of(own)
            )
            + "</div>"
            for own in stimuli["letters"][row]
        )
        return (
            '<div style="font-family:system-ui,sans-serif;max-width:760px;color:#222">'
            f'<div style="display:flex;flex-wrap:wrap;gap:12px;align-items:center">{sides}</div></div>'
        )

    def describe(self, stimuli: Stimuli, row: int) -> str:
        """Describe a trial, such as ``HTHH | TTTTT``."""
        return " | ".join(text_of(own) for own in stimuli["letters"][row])


DOMAIN = SequencesDomain()


def _with_letters_exchanged(stimuli: Stimuli) -> Array:
    letters = stimuli["letters"]
    first, second = (stimuli["alphabet"][:, place][:, None, None] for place in (0, 1))
    return np.where(letters == first, second, np.where(letters == second, first, letters))


def _backwards(letters: Array) -> Array:
    places = np.arange(LONGEST)
    length = length_of(letters).astype(np.intp)[..., None]
    source = np.where(places < length, length - 1 - places, places)
    return np.take_along_axis(letters, source, axis=-1)
