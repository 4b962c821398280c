"""Layout of the trials of a kind of task as columns of a table, and the interpretation of columns' names.

Each kind of task says so itself, by a method ``layout`` of its domain.

A *part* of a trial is an array of the domain, or what it is made of. In a study file each part is given as a column,
a number that holds for all rows, or a list of these, nested where there are options with several values each::

    [participants.columns.stimulus]
    amounts = ["ss_x", "ll_x"]
    delays_days = ["ss_t", "ll_t"]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.adoption.names import letters_of, words_of
from lakatos.experiments.domain_lookup import all_domains
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Domain, Stimuli, Trials

Array = NDArray[np.float64]
HUNDREDTHS = {"cents", "cent", "pence", "penny"}
"""Words for hundredths of a unit of money."""
DAYS = {"hours": 1 / 24, "days": 1.0, "weeks": 7.0, "months": 30.4375, "years": 365.25}


@dataclass(frozen=True)
class NeededParts:
    """Parts of a trial without which some theories have nothing to work on."""

    parts: tuple[str, ...]
    """One of them is enough."""
    words: str
    """Meaning in words, as in "which key was right"."""
    told_by_it: str
    """Theories or effects that are not considered where none is there, in words."""


@dataclass(frozen=True)
class Reading:
    """Interpretation of the values of a table's columns."""

    stimulus: Mapping[str, Any]
    """Parts of the trials."""
    shown: tuple[str, ...] = ()
    """Columns that describe the trials."""
    sides: tuple[str, str] = ("", "")
    """Words for the first and for the second option."""
    response: str = ""
    responses: Mapping[str, int] = field(default_factory=dict)
    order: str = ""
    time: str = ""
    experiment: str = ""
    feedback: Mapping[str, str] = field(default_factory=dict)
    recode: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Keys of the mapping, where they are recognised too."""
    notes: tuple[str, ...] = ()
    """Assumptions, for the user to check."""
    questions: tuple[str, ...] = ()
    """Questions that values leave open, with the readings that there are and the option for each."""


@dataclass(frozen=True)
class StimulusLayout:
    """A domain's trials as columns."""

    parts: Mapping[str, str]
    """Meaning of each part, for people to read."""
    needed: tuple[str, ...]
    """Parts without which there is no trial."""
    build: Callable[[Mapping[str, Array]], Stimuli] | None
    """Trials from the parts, each with first axis ``n_rows``; empty cells are NaN. None: not made row by row."""
    guess: Callable[[Sequence[str]], dict[str, Any]] = lambda names: {}
    """Parts that names of columns suggest; nothing where they suggest none."""
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Parts whose cells are words, which stand for their places among these."""
    texts: tuple[str, ...] = ()
    """Parts whose cells are texts of any kind, which ``build`` receives as they are written."""
    ragged: tuple[str, ...] = ()
    """Parts of which a trial may have fewer than there are columns, so that cells may be empty."""
    guess_cells: Callable[[pd.DataFrame], dict[str, Any]] | None = None
    """Guess in place of ``guess`` where cells show more than names."""
    recognise: Callable[[Any], Reading | None] | None = None
    """Function that recognises a `TableSignature` by its values; None where it holds no such trials."""
    hint: Callable[[Any], str] | None = None
    """What files of this kind need, in a sentence, where a `TableSignature` shows signs of this kind; else empty."""
    kind: str = ""
    """Description of trials of this kind in a few words."""
    guess_rank: int | None = None
    """Kinds of tasks are guessed in the order of these numbers; None: only where a user names the task."""
    from_rows: Callable[..., tuple[Stimuli, Array, Array, Array]] | None = None
    """Makes trials and responses from all rows at once, where a trial depends on the responses before it."""
    in_favour: Callable[[Stimuli], Array] | None = None
    """``(n_trials,)`` how much speaks for the second of two options, which a reversed code goes against."""
    dominance: Callable[[Stimuli], Array] | None = None
    """``(n_trials,)`` 1 where the second of two options is better whatever one's taste, -1 where the first one is."""
    properties: Callable[[Stimuli], Mapping[str, Array]] | None = None
    """``(n_trials, n_options)`` properties of options by which they are compared, by their names in words;
    ``(n_trials,)`` those of the whole trial. None: the domain's attributes."""
    always: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """For each property, descriptions of an option that always has less of it than the others, and of one that always
    has more."""
    inputs: Mapping[str, NeededParts] = field(default_factory=dict)
    """Parts that some theories need, by the name by which mechanisms say so (`Mechanism.needs`)."""
    neutral: Mapping[str, float] = field(default_factory=dict)
    """Numbers by which the options are alike in parts that a file may not have, for the user to say."""
    from_steps: Callable[..., tuple[Trials, Array]] | None = None
    """Makes the responses of an experiment whose trials are the steps of one schedule, and says of which row each is;
    a row may hold several."""
    code: Callable[[str, Sequence[str]], dict[str, int]] | None = None
    """The option that each cell of a column of responses stands for, by the column's name and its cells; nothing where
    that is not clear. None: by the labels of the options, or by numbers."""

    def guessed(self, frame: pd.DataFrame) -> dict[str, Any]:
        """Parts that a table's columns suggest; nothing where they suggest none."""
        names = [str(name) for name in frame.columns]
        return self.guess_cells(frame) if self.guess_cells else self.guess(names)


@runtime_checkable
class HasAttributes(Protocol):
    """A domain whose options are described by attributes, each an array ``(n_trials, n_options)``."""

    options: tuple[str, ...]
    sequential: bool

    def attribute_labels(self) -> Mapping[str, str]:
        """Return the label of each attribute, for people to read."""

    def attribute_words(self) -> Mapping[str, Sequence[str]]:
        """The words of attributes that are categories."""


@runtime_checkable
class HasLayout(Protocol):
    """A domain that says how its trials are written as columns."""

    def layout(self) -> StimulusLayout:
        """Return how trials are written as columns."""


def layout_of(domain: Domain) -> StimulusLayout | None:
    """Return how a domain's trials are written as columns; None where there is no way."""
    if isinstance(domain, HasLayout):
        return domain.layout()
    return layout_of_attributes(domain) if isinstance(domain, HasAttributes) else None


def layout_of_attributes(domain: HasAttributes) -> StimulusLayout:
    """The layout of trials whose options are described by attributes: a column for each option and attribute."""
    labels, options = domain.attribute_labels(), domain.options

    def build(parts: Mapping[str, Array]) -> Stimuli:
        return Stimuli({name: parts[name] for name in labels})

    def guess(names: Sequence[str]) -> dict[str, Any]:
        return guess_attributes(tuple(labels), options, names)

    parts = {
        name: f"{words}: a column, or a number, for each option" for name, words in labels.items()
    }
    return StimulusLayout(parts, tuple(labels), build, guess, domain.attribute_words())


def known_layout(domain: Domain) -> StimulusLayout:
    """Return how a domain's trials are written as columns.

    Raises:
        TrialsError: There is no way.
    """
    layout = layout_of(domain)
    if layout is None:
        raise TrialsError(
            f"answers of the domain {domain.name!r} cannot be brought in as a file; there are: "
            f"{', '.join(names_with_layouts())}. A reader in domains/NAME/archives can."
        )
    return layout


def counts_options(domain: Domain) -> bool:
    """Whether a file of a kind of task may have any number of options, which its mapping says."""
    layout = layout_of(domain) if domain.sequential else None
    return layout is not None and "options" in layout.parts


def layouts_to_guess() -> dict[str, StimulusLayout]:
    """Layouts of the package's domains that columns may suggest, by the domain's name, the most telling first."""
    found = {name: layout_of(domain) for name, domain in all_domains().items()}
    ranked = [
        (layout.guess_rank, name, layout)
        for name, layout in found.items()
        if layout is not None and layout.guess_rank is not None
    ]
    return {name: layout for _, name, layout in sorted(ranked, key=lambda item: item[:2])}


def names_with_layouts() -> list[str]:
    """Names of the package's domains whose responses a file can hold."""
    return [name for name, domain in all_domains().items() if layout_of(domain) is not None]


# Names of columns -----------------------------------------------------------------------------

SIDES: tuple[tuple[str, str], ...] = (
    ("a", "b"), ("left", "right"), ("l", "r"), ("ss", "ll"), ("sooner", "later"),
    ("now", "later"), ("now", "then"), ("today", "later"), ("soon", "late"), ("early", "late"),
    ("immediate", "delayed"), ("top", "bottom"),
    ("first", "second"), ("safe", "risky"), ("sure", "gamble"), ("small", "large"), ("smaller", "larger"), ("s", "l"),
    ("x", "y"), ("1", "2"), ("0", "1"),
)  # fmt: skip
"""Words for the first and the second option; numbers last, since they may count the outcomes of one option."""
AMOUNTS = [
    "amount", "amt", "amounts", "x", "v", "val", "value",
    "payoff", "outcome", "out", "reward", "money", "gain", "o", "magnitude",
]  # fmt: skip
CHANCES = ["p", "prob", "probs", "probability", "chance", "pr", "likelihood"]
DELAYS = ["t", "d", "delay", "delays", "days", "time", "wait", "weeks", "months"]
NOW = ["now", "today", "immediate"]
"""Words for an option without a delay."""
QUERIES = {"query", "asked", "at", "probe", "test"}
"""Words for the place at which a function is asked for."""
RATINGS = [
    "rating",
    "ratings",
    "expert",
    "cue",
    "star",
    "stars",
    "score",
    "e",
    "c",
    "q",
    "attr",
    "attribute",
]


def by_side(
    names: Sequence[str], kind: Sequence[str], pairs: Sequence[tuple[str, str]] = SIDES
) -> tuple[list[str], list[str]] | None:
    """Columns of a kind for the first and for the second option, each in the order of their numbers.

    The first two words that both name columns of the kind are those of the options, even where one option has more
    columns than the other: another pair of words would then number outcomes, not options.

    Args:
        names: Names of all columns.
        kind: Words for what the columns hold.
        pairs: Words that may tell the two options apart, the most telling first.

    Returns:
        None where no pair of words names both options, or where a column's name holds both words.
    """
    found = words_and_sides(names, kind, pairs)
    return found and found[1]


def words_and_sides(
    names: Sequence[str], kind: Sequence[str], pairs: Sequence[tuple[str, str]] = SIDES
) -> tuple[tuple[str, str], tuple[list[str], list[str]]] | None:
    """The words that tell the two options apart, and the columns as `by_side` returns them."""
    found = _words_and_sides({name: words_of(name) for name in names}, kind, pairs)
    if found is not None or not set(kind) & {"x", "t", "p"}:
        return found
    # Names of two letters, as in RA, RB, DA and DB: what the column holds, and the option.
    letters = {name: letters_of(name) for name in names if letters_of(name)}
    own = [word for word in kind if len(word) == 1] + (["r", "a", "m"] if "amount" in kind else [])
    return _words_and_sides(letters, own, pairs)


def _words_and_sides(
    named: Mapping[str, Sequence[str]], kind: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> tuple[tuple[str, str], tuple[list[str], list[str]]] | None:
    """`words_and_sides`, given the words of each name."""
    for pair in pairs:
        first, second = (
            [name for name, words in named.items() if side in words and _is_of(words, side, kind)]
            for side in pair
        )
        if not first or not second:
            continue
        if set(first) & set(second):
            return None
        left, right = (
            sorted(own, key=lambda name: (number_in(named[name], side), name))
            for own, side in ((first, pair[0]), (second, pair[1]))
        )
        return pair, (left, right)
    return None


def _is_of(words: Sequence[str], side: str, kind: Sequence[str]) -> bool:
    rest = list(words)
    rest.remove(side)
    return any(word in kind for word in rest)


def number_in(words: Sequence[str], side: str) -> int:
    """The first number among the words of a name beside the word of a side; 0 where there is none."""
    rest = list(words)
    rest.remove(side)
    return next((int(word) for word in rest if word.isdigit()), 0)


def guess_attributes(
    attributes: Sequence[str], options: Sequence[str], names: Sequence[str]
) -> dict[str, Any]:
    """Find as many columns as there are options, whose names hold that of the attribute; all of them or none."""
    found = {}
    for attribute in attributes:
        of_attribute = set(attribute.split("_"))
        words = {name: set(words_of(name)) for name in names}
        own = {
            name: name_words - of_attribute
            for name, name_words in words.items()
            if of_attribute <= name_words
        }
        if len(own) != len(options):
            return {}
        found[attribute] = _by_option(own, options)
    return found


def _by_option(words: Mapping[str, set[str]], options: Sequence[str]) -> list[str]:
    """A column for each option, in the order of the options.

    Their names hold the options' labels, words such as soon and late, or numbers; otherwise they are in the order of
    the alphabet.
    """
    labels = [set(words_of(option)) or {option} for option in options]
    for sides in (labels, *([{first}, {second}] for first, second in SIDES)):
        by_side = [
            [name for name, name_words in words.items() if side <= name_words] for side in sides
        ]
        if len(sides) == len(words) and all(len(own) == 1 for own in by_side):
            return [own[0] for own in by_side]
    numbers = {
        name: [int(word) for word in name_words if word.isdigit()]
        for name, name_words in words.items()
    }
    if all(len(own) == 1 for own in numbers.values()):
        return sorted(words, key=lambda name: numbers[name])
    return sorted(words)


def as_table(values: Array) -> Array:
    """``(n_rows, n_columns)`` of a part, however its columns are nested."""
    return values.reshape(len(values), -1)
