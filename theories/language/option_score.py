"""Pieces of source from which terms are made: scores of options, and arrays that describe them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

from numpy.typing import NDArray

from lakatos.experiments.task import Stimuli

Array = NDArray[Any]
TINY = 1e-9
"""Leads closer to 0 are ties: sums of validities differ by rounding."""
MOST_LEVELS = 8
"""Rating levels for which terms of their own are written; more are thinned out evenly."""
MOST_CUES_PAIRED = 6


@dataclass(frozen=True)
class PricedExpression:
    """A piece of source with words and a price; in a table it may have places to fill, as in ``x >= {level:g}``."""

    code: str
    """Expression in the variables that the prelude sets."""
    words: str
    """Noun phrase for what it says."""
    price: float
    """Nats that its choice costs: what is unusual must explain more."""

    def filled(self, more: float = 0, **places: object) -> Self:
        """The expression with its places filled and ``more`` added to its price."""
        code, words = self.code.format(**places), self.words.format(**places)
        return replace(self, code=code, words=words, price=self.price + more)


Priced = TypeVar("Priced", bound=PricedExpression)


def filled(table: Iterable[Priced], more: float = 0, **places: object) -> Iterator[Priced]:
    """Every line of a table with its places filled and ``more`` added to its price."""
    for line in table:
        yield line.filled(more, **places)


@dataclass(frozen=True)
class OptionScore(PricedExpression):
    """A number for each option: an expression of shape ``(n_trials, 2)``."""

    is_basic: bool = False
    """Whether gates are made of it."""
    is_worth: bool = False
    """Whether it may be what an option is worth where a condition on the option holds."""
    apart: str = ""
    """Condition that options differ in it by more than ``{cut}`` or ``{percent}``, where that has words of its own."""

    @property
    def is_property(self) -> bool:
        """Whether a product has it or not."""
        depth, outside = 0, ""
        for character in self.code:
            depth += (character in "([") - (character in ")]")
            outside += character if depth == 0 else ""
        return any(
            sign in outside for sign in (" >= ", " == ", " != ", " > ", ".all", ".any", ".prod")
        )

    @property
    def stated(self) -> str:
        """A property as it is stated of an option: "with a top rating", "being better"."""
        is_clause = self.words.startswith(("being ", "having ", "paying "))
        return self.words if is_clause else f"with {self.words}"

    @property
    def is_flag(self) -> bool:
        """Whether its number is 1 where a product has a property, else 0."""
        return re.fullmatch(r"\(.+ (==|<|>|>=) .+\) \* 1\.0", self.code) is not None


class OptionNumbers(PricedExpression):
    """A list of numbers for each option: an expression of shape ``(n_trials, 2, n)``."""


@dataclass(frozen=True)
class OptionCue:
    """A number of each option by which people may compare any number of options."""

    code: str
    """Expression of shape ``(n_trials, n_options)``, in the attribute's own unit."""
    noun: str
    """Name of the number; of what an option has or has not, with its article ("a local supplier")."""
    share: str = ""
    """The same as a share of its range, which may be put beside those of other cues; empty for yes or no."""
    better: int = 0
    """1 where more is better for everybody, -1 where less is; 0 where tastes may differ."""
    unit: str = ""
    """Cues of one unit may be compared with one another; empty for one that is only compared with itself."""


@dataclass(frozen=True)
class LandmarkCode:
    """A number of each trial near which responses may lie, in their unit (`experiments.answer_scale.HasLandmarks`)."""

    code: str
    """Expression of shape ``(n_trials,)``."""
    noun: str
    helper: str = ""
    """Function at module level that the code calls."""


@runtime_checkable
class HasOptionCues(Protocol):
    """A domain that says by which numbers its options are compared."""

    def option_cues(self) -> tuple[OptionCue, ...]:
        """Return these numbers."""


@runtime_checkable
class HasLandmarkCodes(Protocol):
    """A domain that says near which numbers responses may lie."""

    def landmark_codes(self) -> tuple[LandmarkCode, ...]:
        """Return these numbers."""


@runtime_checkable
class HasTrialNouns(Protocol):
    """A domain that says what the numbers of a trial are called; of what a trial has or has not, with "a"."""

    def trial_nouns(self) -> Mapping[str, str]:
        """Names by array."""


@dataclass(frozen=True)
class TermVocabulary:
    """Vocabulary in which a domain's terms are written."""

    helpers: tuple[str, ...]
    """Functions at module level, each may use those before it."""
    prelude: str
    """Statements at the beginning of ``choose`` and ``learn``."""
    scores: tuple[OptionScore, ...]
    n_cues: tuple[int, ...] = ()
    """Number of cues of rated products in every experiment."""
    levels: tuple[float, ...] = ()
    """Ratings that occur."""
    lists: tuple[OptionNumbers, ...] = ()
    """Lists of numbers that each option has, which more scores are made of."""
    further: tuple[OptionScore, ...] = ()
    """Scores that are tried only together with others."""
    noun: str = "option"
    """Noun for an option in its words."""
    unordered: str = ""
    """A shorter prelude that leaves lists in the order in which they are shown; empty where there is none."""
    probes: Stimuli | None = None
    """Trials on which scores that hang on an order have other numbers with ``unordered``."""
    has_one_unit: bool = True
    """Whether one score of A may be put beside another one of B; days and amounts may not."""


LEAD = '''
def lead(score):
    """Of the second option over the first, (n_trials,)."""
    return 1.0 * score[:, 1] - score[:, 0]
'''
SIDE = '''
def side(difference, xp):
    """1 for the second option, -1 for the first, 0 for a tie."""
    return xp.sign(xp.where(xp.abs(difference) < 1e-9, 0.0, difference))
'''
BY_VALIDITY = '''
def by_validity(trials, xp):
    """Ratings (n_trials, 2, n_cues) and validities (n_trials, 1, n_cues), the most valid cue first."""
    validities = trials["validities"]
    place = xp.arange(validities.shape[-1])
    above = validities[:, None, :] > validities[:, :, None]
    tied = (validities[:, None, :] == validities[:, :, None]) & (place[None, :] < place[:, None])
    order = xp.argsort((above | tied).sum(axis=-1), axis=-1)[:, None, :]
    ratings = xp.take_along_axis(trials["ratings"], order, axis=-1)
    return ratings, xp.take_along_axis(validities[:, None, :], order, axis=-1)
'''
CUE = '''
def cue(x, k):
    """Ratings on the cue of rank k, counted from 0; 0 where there are fewer cues."""
    return x[..., k] if k < x.shape[-1] else 0.0 * x[..., 0]
'''
OTHERS = '''
def others(x, k, xp):
    """Ratings on all cues but that of rank k; all of them where there is just one."""
    return xp.concatenate([x[..., :k], x[..., k + 1 :]], axis=-1) if x.shape[-1] > 1 else x
'''
LONGEST_RUN = '''
def longest_run(x, xp):
    """Length of the longest row of equal neighbours."""
    run = longest = 1.0 + 0.0 * x[..., 0]
    for k in range(1, x.shape[-1]):
        run = xp.where(x[..., k] == x[..., k - 1], run + 1, 1.0)
        longest = xp.maximum(longest, run)
    return longest
'''
CHANGES = '''
def changes(x, xp):
    """From cue to cue; 0 where there is just one."""
    return xp.diff(x, axis=-1) if x.shape[-1] > 1 else 0.0 * x
'''
UPPER = '''
def upper(x, xp):
    """All but the lowest; all of them where there is just one."""
    return xp.sort(x, axis=-1)[..., 1:] if x.shape[-1] > 1 else x
'''
LOWER = '''
def lower(x, xp):
    """All but the highest; all of them where there is just one."""
    return xp.sort(x, axis=-1)[..., :-1] if x.shape[-1] > 1 else x
'''
EXTREME = '''
def extreme(x, end, xp):
    """Which are the highest ("max") or the lowest."""
    best = x.max(axis=-1, keepdims=True) if end == "max" else x.min(axis=-1, keepdims=True)
    return xp.abs(x - best) < 1e-9
'''
HIGHEST_WHERE = '''
def highest_where(chosen, x, xp):
    """The highest of those chosen."""
    return xp.where(chosen, x, -1e9).max(axis=-1)
'''
FIRST_WHERE = '''
def first_where(chosen, x, none, xp):
    """The first of those chosen; ``none`` where there is not one."""
    found = xp.take_along_axis(x, (1 * chosen).argmax(axis=-1)[..., None], axis=-1)[..., 0]
    return xp.where(chosen.any(axis=-1), found, none)
'''
UNMATCHED = '''
def unmatched(x, xp):
    """Which ratings are left when equal ones of the two products cancel out in pairs, wherever they stand."""
    place = xp.arange(x.shape[-1])
    copy = ((x[..., None] == x[..., None, :]) * (place[:, None] >= place)).sum(axis=-1)
    return copy > (x[..., None] == x[:, ::-1, None]).sum(axis=-1)
'''
REACHED = '''
def reached(x, level, xp):
    """Side of the running total when it first is ``level`` away from 0; 0 where it never is."""
    total = xp.cumsum(x, axis=-1)
    return xp.sign(first_where(xp.abs(total) >= level - 1e-9, total, 0.0, xp))
'''
LIFTED = '''
def lifted(marks, x, xp):
    """Marks on the cues, (n_draws, n_trials, n_cues); none where no cue without one tells the products apart."""
    return marks * (((x[:, 0] != x[:, 1]) * (1.0 - marks)).sum(axis=-1)[..., None] > 0)
'''
CLASSES = '''
def classes(score, cuts, xp):
    """To which of the classes between ``cuts`` each option belongs, (n_trials, 2, n_classes)."""
    number = 0.0 * score
    for cut in cuts:
        number = number + (score > cut)
    return 1.0 * (number[..., None] == xp.arange(len(cuts) + 1))
'''
CUES = '''
def cues(x, i, j, xp):
    """Ratings on the cues of two ranks; 0 where there are fewer."""
    return xp.stack([cue(x, i), cue(x, j)], axis=-1)
'''
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
