"""Choice among four offers described by attributes: who shall supply a household's electricity.

Each supplier states a price per kWh, or that its rate varies by the time of day or by the season, the length of the
contract it asks for, and who it is: a local company, a well-known one, or neither. A rate that varies has the price 0
here, which means that there is no single one: it is the same for all suppliers that have it (11 cents by day and 5 by
night; 10 in summer, 8 in winter, 6 in between), and what a household would pay for a kWh depends on when it uses it.

References:
    Revelt & Train (2000), Customer-specific taste parameters and mixed logit, University of California, Berkeley;
    Huber & Train (2001), Marketing Letters 12, 259-269.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.domains.kit.settings import refuse_unknown
from lakatos.experiments.adoption.layouts import StimulusLayout
from lakatos.experiments.errors import EmptyDesignSpaceError, StimuliError
from lakatos.experiments.task import OneShot, Stimuli
from lakatos.theories.language.family import Family
from lakatos.theories.language.option_score import OptionCue

Array = NDArray[Any]
N_OFFERS = 4
ATTRIBUTES = ("price", "contract_years", "local", "well_known", "time_of_day", "seasonal")
"""Arrays of a set of trials, ``(n_trials, 4)`` each; the last four are 1 for yes and 0 for no."""
YES_OR_NO = ATTRIBUTES[2:]
LOWEST_PRICE, HIGHEST_PRICE = 0.01, 1000.0
"""Cents per kWh."""
LONGEST_CONTRACT_YEARS = 50.0
LARGEST_SPACE = 20_000

Offer = tuple[float, float, float, float, float, float]
"""One supplier: its attributes in the order of `ATTRIBUTES`."""


@dataclass(frozen=True)
class OffersSettings:
    """A space of trials: a fixed random sample of the sets of four among all suppliers that the levels make."""

    prices: tuple[float, ...] = (7.0, 9.0)
    """Fixed prices, cents per kWh."""
    contracts_years: tuple[float, ...] = (0.0, 1.0, 5.0)
    """Lengths of contract; 0 for none."""
    time_of_day: bool = True
    """Whether there are suppliers whose rates vary by the time of day."""
    seasonal: bool = True
    """Whether there are suppliers whose rates vary by the season."""
    reputations: bool = True
    """Whether there are local and well-known suppliers besides those that are neither."""
    n_trials: int = 400
    """Sets of four in the space; all of them where there are no more."""
    seed: int = 0
    """Another number makes another sample."""

    def __post_init__(self) -> None:
        for name, low, high in (
            ("prices", LOWEST_PRICE, HIGHEST_PRICE),
            ("contracts_years", 0.0, LONGEST_CONTRACT_YEARS),
        ):
            if any(not low <= value <= high for value in getattr(self, name)):
                raise StimuliError(
                    f"setting {name} of the offers domain: give numbers from {low:g} to {high:g}."
                )
        for name, least, most in (("n_trials", 1, LARGEST_SPACE), ("seed", 0, 2**31)):
            if not least <= getattr(self, name) <= most:
                raise StimuliError(
                    f"setting {name} of the offers domain: give a whole number from {least} to {most}."
                )

    @property
    def suppliers(self) -> list[Offer]:
        """Every combination of a rate, a contract and a reputation."""
        rates = [(price, 0.0, 0.0) for price in self.prices]
        rates += [(0.0, 1.0, 0.0)] * self.time_of_day + [(0.0, 0.0, 1.0)] * self.seasonal
        reputations = ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0)) if self.reputations else ((0.0, 0.0),)
        return [
            (price, years, local, known, by_day, by_season)
            for (price, by_day, by_season), years, (local, known) in product(
                rates, self.contracts_years, reputations
            )
        ]


def read_settings(settings: Mapping[str, Any]) -> OffersSettings:
    """Settings of a study file.

    Raises:
        StimuliError: A setting is unknown or of the wrong type; the message says which and what there is.
    """
    known = OffersSettings.__dataclass_fields__
    refuse_unknown(known, settings, "offers")
    values: dict[str, Any] = {}
    for name, value in settings.items():
        kind = type(known[name].default)
        try:
            if kind is tuple:
                values[name] = tuple(sorted({float(item) for item in value}))
            elif type(value) is not kind:
                raise TypeError
            else:
                values[name] = value
        except (TypeError, ValueError):
            raise StimuliError(
                f"setting {name!r} of the offers domain cannot be {value!r}."
            ) from None
    return OffersSettings(**values)


def offered(trials: Sequence[Sequence[Offer]]) -> Stimuli:
    """Trials from written-out suppliers, four each.

    Raises:
        StimuliError: A trial has another number of suppliers, or one of them is not allowed.
    """
    for row, trial in enumerate(trials):
        if len(trial) != N_OFFERS:
            raise StimuliError(
                f"trial {row} of the offers domain has {len(trial)} offers; give {N_OFFERS}."
            )
    table = np.asarray(trials, dtype=np.float64).reshape(len(trials), N_OFFERS, len(ATTRIBUTES))
    stimuli = Stimuli({name: table[:, :, place] for place, name in enumerate(ATTRIBUTES)})
    check(stimuli)
    return stimuli


def check(stimuli: Stimuli) -> None:
    """Raise `StimuliError` naming the first trial that is no set of four suppliers."""
    if set(stimuli.arrays) != set(ATTRIBUTES):
        raise StimuliError(
            f"offers have the arrays {', '.join(ATTRIBUTES)}, not {', '.join(sorted(stimuli.arrays))}."
        )
    for name in ATTRIBUTES:
        if stimuli[name].shape != (len(stimuli), N_OFFERS):
            raise StimuliError(
                f"array {name!r} has shape {stimuli[name].shape}, not {(len(stimuli), N_OFFERS)}."
            )
    price, years = stimuli["price"], stimuli["contract_years"]
    rates = (price > 0) * 1.0 + stimuli["time_of_day"] + stimuli["seasonal"]
    allowed = [
        *((name, (stimuli[name] == 0) | (stimuli[name] == 1), "give 0 or 1") for name in YES_OR_NO),
        (
            "price",
            (price == 0) | ((price >= LOWEST_PRICE) & (price <= HIGHEST_PRICE)),
            f"give cents from {LOWEST_PRICE:g} to {HIGHEST_PRICE:g}, or 0 for a rate that varies",
        ),
        (
            "contract_years",
            (years >= 0) & (years <= LONGEST_CONTRACT_YEARS),
            f"give years from 0 to {LONGEST_CONTRACT_YEARS:g}",
        ),
        (
            "price",
            rates == 1,
            "give each offer either a fixed price, or one kind of rate that varies and the price 0",
        ),
    ]
    for name, fine, words in allowed:
        rows = np.flatnonzero(~fine.all(axis=1))
        if rows.size:
            raise StimuliError(
                f"trial {rows[0]} of the offers domain: {name} is {stimuli[name][rows[0]]}; {words}."
            )


def _sets_of_four(n_suppliers: int, n_trials: int, rng: np.random.Generator) -> Array:
    """``(n_sets, 4)`` suppliers: different sets in random order, each set once, whatever its order."""
    n_sets = comb(n_suppliers, N_OFFERS)
    if n_sets <= 4 * n_trials:
        every = np.array(list(combinations(range(n_suppliers), N_OFFERS)), dtype=np.intp).reshape(
            -1, N_OFFERS
        )
        sets = rng.permutation(every)[:n_trials]
        return rng.permuted(sets, axis=1)
    found: dict[frozenset[int], Array] = {}
    while len(found) < n_trials:
        drawn = rng.choice(n_suppliers, N_OFFERS, replace=False)
        found.setdefault(frozenset(drawn.tolist()), drawn)
    return np.stack(list(found.values()))


_PLAIN: Offer = (7, 0, 0, 0, 0, 0)
_BY_DAY: Offer = (0.0, 0.0, 0.0, 0.0, 1.0, 0.0)
_BY_SEASON: Offer = (0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
_CHEAP: Offer = (LOWEST_PRICE, 0.0, 0.0, 0.0, 0.0, 0.0)
_DEAR: Offer = (HIGHEST_PRICE, 0.0, 0.0, 0.0, 0.0, 0.0)
EXTREMES: Sequence[Sequence[Offer]] = (
    (_PLAIN, _PLAIN, _PLAIN, _PLAIN),
    (_BY_DAY, _BY_DAY, _BY_DAY, _BY_DAY),
    (_BY_SEASON, _BY_SEASON, _BY_DAY, _BY_DAY),
    (_PLAIN, _BY_DAY, _BY_SEASON, _PLAIN),
    (_CHEAP, _DEAR, _BY_DAY, _PLAIN),
    (_DEAR, _DEAR, _DEAR, _CHEAP),
    (
        _PLAIN,
        (7, LONGEST_CONTRACT_YEARS, 0, 0, 0, 0),
        (7, 1, 0, 0, 0, 0),
        (7, 5, 0, 0, 0, 0),
    ),
    ((7, 0, 1, 1, 0, 0), (7, 0, 1, 0, 0, 0), (7, 0, 0, 1, 0, 0), _PLAIN),
    ((9, 5, 0, 0, 0, 0), (9, 5, 0, 0, 0, 0), (9, 5, 0, 0, 0, 0), (7, 0, 1, 1, 0, 0)),
    (
        (8, 1, 0, 1, 0, 0),
        (8.01, 1, 0, 1, 0, 0),
        (8.02, 1, 0, 1, 0, 0),
        (8.03, 1, 0, 1, 0, 0),
    ),
)
"""Offers that are all alike, without a fixed price, with tiny and huge numbers."""


USUAL_PRICE = 8.0
"""Cents per kWh that a varying rate is taken for where offers are compared by their price."""
CUES = (
    OptionCue(
        f'trials["price"] + {USUAL_PRICE} * (trials["time_of_day"] + trials["seasonal"])', "price"
    ),
    OptionCue('1.0 * (trials["price"] > 0)', "a fixed price"),
    OptionCue('trials["contract_years"]', "contract length"),
    OptionCue('trials["local"]', "a local supplier"),
    OptionCue('trials["well_known"]', "a well-known supplier"),
    OptionCue('trials["time_of_day"]', "a rate by the time of day"),
    OptionCue('trials["seasonal"]', "a rate by the season"),
)
"""Cues by which offers are compared."""


class OffersDomain(OneShot):
    """Choices among four suppliers of electricity."""

    name = "offers"
    measured: tuple[str, ...] = ("price",)
    options: tuple[str, ...] = ("A", "B", "C", "D")

    def layout(self) -> StimulusLayout:
        """Return how trials are written as columns of a file."""
        from lakatos.domains.offers.reader import LAYOUT

        return LAYOUT

    def option_cues(self) -> tuple[OptionCue, ...]:
        """Return the cues by which offers are compared."""
        return CUES

    def family(self) -> Family:
        """The theories about this task."""
        from lakatos.domains.offers.theories import FAMILY

        return FAMILY

    def space(self, settings: Mapping[str, Any]) -> Stimuli:
        """The sample of sets of four suppliers that the settings describe, the same at every call.

        Raises:
            EmptyDesignSpaceError: The levels make fewer than four suppliers.
            StimuliError: A setting is wrong.
        """
        read = read_settings(settings)
        suppliers = np.array(read.suppliers).reshape(-1, len(ATTRIBUTES))
        if len(suppliers) < N_OFFERS:
            raise EmptyDesignSpaceError(
                f"the settings {dict(settings)} make {len(suppliers)} suppliers, too few for a trial of {N_OFFERS}. "
                "Give more prices or contracts."
            )
        table = suppliers[
            _sets_of_four(len(suppliers), read.n_trials, np.random.default_rng(read.seed))
        ]
        return Stimuli({name: table[:, :, place] for place, name in enumerate(ATTRIBUTES)})

    def check(self, stimuli: Stimuli) -> None:
        """Raise `StimuliError` naming the first trial that is no set of four suppliers."""
        check(stimuli)

    def admits(self, settings: Mapping[str, Any], stimuli: Stimuli) -> Array:
        """See `experiments.task.Domain.admits`: prices and contracts within the levels, four different offers."""
        read = read_settings(settings)
        price, years = stimuli["price"], stimuli["contract_years"]
        fixed = price > 0
        inside = (years >= min(read.contracts_years, default=0)) & (
            years <= max(read.contracts_years, default=-1)
        )
        inside &= ~fixed | (
            (price >= min(read.prices, default=0)) & (price <= max(read.prices, default=-1))
        )
        inside &= (stimuli["time_of_day"] == 0) | read.time_of_day
        inside &= (stimuli["seasonal"] == 0) | read.seasonal
        inside &= (stimuli["local"] + stimuli["well_known"] == 0) | read.reputations
        table = np.stack([stimuli[name] for name in ATTRIBUTES], axis=-1)
        differ = [
            (table[:, a] != table[:, b]).any(axis=-1) for a, b in combinations(range(N_OFFERS), 2)
        ]
        return np.asarray(inside.all(axis=1) & np.all(differ, axis=0))

    def probes(self, rng: np.random.Generator) -> Sequence[Stimuli]:
        """Ordinary random trials, reversed ones, and extremes: all alike, no fixed price, tiny and huge numbers."""
        space = self.space({})
        ordinary = space.take(rng.choice(len(space), 24, replace=False))
        extremes = offered(EXTREMES)
        return (
            ordinary,
            self.swap_sides(ordinary),
            extremes,
            self.swap_sides(extremes),
            extremes.take([0]),
        )

    def features(self, stimuli: Stimuli) -> Mapping[str, Array]:
        """Properties of trials; differences are the last offer minus the mean of the others.

        Prices are compared among fixed ones alone: where the last offer has none, or is the only one that has,
        ``price_difference`` is 0.
        """
        price = stimuli["price"]
        fixed = price > 0
        others = fixed[:, :-1].sum(axis=1)
        mean_of_others = price[:, :-1].sum(axis=1) / np.maximum(others, 1)
        lowest = np.where(fixed, price, np.inf).min(axis=1)
        lowest = np.where(np.isfinite(lowest), lowest, 0.0)
        cheapest = (fixed & (price == lowest[:, None])) * 1.0
        compared: dict[str, Array] = {
            "cheapest": cheapest,
            "no_contract": (stimuli["contract_years"] == 0) * 1.0,
            **{name: stimuli[name] for name in ATTRIBUTES[1:]},
        }
        return {
            "price_difference": np.where(
                fixed[:, -1] & (others > 0), price[:, -1] - mean_of_others, 0.0
            ),
            **{
                f"{name}_difference": own[:, -1] - own[:, :-1].mean(axis=1)
                for name, own in compared.items()
            },
            "lowest_price": lowest,
            "price_range": np.where(fixed.any(axis=1), price.max(axis=1) - lowest, 0.0),
            "n_fixed_prices": fixed.sum(axis=1) * 1.0,
            "n_cheapest": cheapest.sum(axis=1),
        }

    def swap_sides(self, stimuli: Stimuli) -> Stimuli:
        """The same trials with the offers in the opposite order."""
        return Stimuli({name: array[:, ::-1] for name, array in stimuli.arrays.items()})

    def picture(self, stimuli: Stimuli, row: int) -> str:
        """The four offers side by side."""
        sides = "".join(
            '<div style="flex:1;min-width:0;overflow-wrap:anywhere;border:1px solid #bbb;'
            'border-radius:6px;padding:10px;text-align:center">'
            f'<div style="font-weight:600;margin-bottom:6px">{label}</div>'
            + "".join(
                f'<div style="margin:4px 0">{escape(line)}</div>'
                for line in _lines(stimuli, row, place)
            )
            + "</div>"
            for place, label in enumerate(self.options)
        )
        return (
            '<div style="font-family:system-ui,sans-serif;max-width:760px;color:#222">'
            f'<div style="display:flex;gap:12px">{sides}</div></div>'
        )

    def describe(self, stimuli: Stimuli, row: int) -> str:
        """Describe a trial, such as ``7c, no contract, local | time of day, 1 year, well known | ...``."""
        return " | ".join(", ".join(_lines(stimuli, row, place)) for place in range(N_OFFERS))


DOMAIN = OffersDomain()


def _lines(stimuli: Stimuli, row: int, place: int) -> list[str]:
    """One offer's attributes in words."""
    price, years, local, known, by_day, _ = (
        float(stimuli[name][row, place]) for name in ATTRIBUTES
    )
    rate = f"{price:.10g}c" if price else "time of day" if by_day else "seasonal"
    contract = f"{years:.10g} year{'' if years == 1 else 's'}" if years else "no contract"
    standing = ["local"] * bool(local) + ["well known"] * bool(known)
    return [rate, contract, *(standing or ["unknown"])]
