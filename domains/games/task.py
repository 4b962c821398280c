"""Matrix games: two players choose at once, one a row and the other a column, and each gets a payoff of the cell.

The person chooses a row and sees both players' payoffs. ``own`` and ``other`` are ``(n_trials, 2, 2)``: by one's own
row and the other's column. Every game is played once with somebody new, and nothing is told of what the other chose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.domains.kit.settings import refuse_unknown
from lakatos.experiments.adoption.layouts import StimulusLayout
from lakatos.experiments.errors import EmptyDesignSpaceError, StimuliError
from lakatos.experiments.task import OneShot, Stimuli
from lakatos.experiments.variation import TrialVariation, pick, varied
from lakatos.theories.language.family import Family

Array = NDArray[Any]
PLAYERS = ("own", "other")
HIGHEST_PAYOFF = 1000.0
LARGEST_SPACE = 20_000


@dataclass(frozen=True)
class GameSettings:
    """A space of games: a fixed random sample of all whose payoffs are whole numbers in a range."""

    lowest: int = 1
    """Smallest payoff."""
    highest: int = 50
    """Largest payoff."""
    dominance: bool = True
    """Whether there are games in which one row pays more whatever the other does."""
    n_games: int = 600
    """Games in the space; fewer where so many different ones were not found."""
    seed: int = 0
    """Another number makes another sample."""

    def __post_init__(self) -> None:
        for name, least, most in (
            ("lowest", 0, HIGHEST_PAYOFF),
            ("highest", 0, HIGHEST_PAYOFF),
            ("n_games", 1, LARGEST_SPACE),
            ("seed", 0, 2**31),
        ):
            if not least <= getattr(self, name) <= most:
                raise StimuliError(
                    f"setting {name} of the games domain: give a whole number from {least} to {most:g}."
                )


def read_settings(settings: Mapping[str, Any]) -> GameSettings:
    """Settings of a study file.

    Raises:
        StimuliError: A setting is unknown or of the wrong type; the message says which and what there is.
    """
    known = GameSettings.__dataclass_fields__
    refuse_unknown(known, settings, "games")
    for name, value in settings.items():
        if type(value) is not type(known[name].default):
            raise StimuliError(f"setting {name!r} of the games domain cannot be {value!r}.")
    return GameSettings(**settings)


def check(stimuli: Stimuli) -> None:
    """Raise `StimuliError` naming the first trial that is no game."""
    if set(stimuli.arrays) != set(PLAYERS):
        raise StimuliError(
            f"games have the arrays {', '.join(PLAYERS)}, not {', '.join(sorted(stimuli.arrays))}."
        )
    for name in PLAYERS:
        payoffs = np.asarray(stimuli[name], dtype=np.float64)
        if payoffs.shape != (len(stimuli), 2, 2):
            raise StimuliError(
                f"array {name!r} has shape {payoffs.shape}, not {(len(stimuli), 2, 2)}."
            )
        fine = np.isfinite(payoffs) & (payoffs >= 0) & (payoffs <= HIGHEST_PAYOFF)
        for row in np.flatnonzero(~fine.all(axis=(1, 2))):
            raise StimuliError(
                f"trial {row} of the games domain: {name} is {payoffs[row].tolist()}; give payoffs from 0 to "
                f'{HIGHEST_PAYOFF:g}; where some are negative, add one number to all columns, as in "COLUMN + 10"; '
                'where some are larger, divide all by one number, as in "COLUMN / 10".'
            )


def swap_columns(stimuli: Stimuli) -> Stimuli:
    """The same games with the other player's columns exchanged."""
    return Stimuli({name: array[:, :, ::-1] for name, array in stimuli.arrays.items()})


def lead(payoffs: Array) -> Array:
    """The difference of the second row from the first, over the second axis."""
    return np.asarray(payoffs[:, 1] - payoffs[:, 0])


def dominant_row(own: Array) -> Array:
    """``(n_games,)`` 1 where the second row pays more whatever the other does, -1 where the first does, else 0."""
    ahead = lead(own)
    return np.asarray((ahead > 0).all(axis=1) * 1.0 - (ahead < 0).all(axis=1))


def n_equilibria(own: Array, other: Array) -> Array:
    """``(n_games,)`` cells that neither player would leave alone."""
    row_stays = own >= own[:, ::-1]
    column_stays = other >= other[:, :, ::-1]
    return np.asarray((row_stays & column_stays).sum(axis=(1, 2)) * 1.0)


NAMED_GAMES = (
    (((30, 1), (45, 10)), ((30, 45), (1, 10))),  # the prisoner's dilemma
    (((40, 5), (25, 25)), ((40, 25), (5, 25))),  # stag hunt
    (((20, 10), (40, 1)), ((20, 40), (10, 1))),  # chicken
    (((40, 1), (1, 40)), ((1, 40), (40, 1))),  # matching pennies
    (((10, 10), (10, 10)), ((10, 10), (10, 10))),  # all alike
    (((0, 0), (0, 1)), ((0, 1), (0, 0))),  # nearly nothing
    (((1000, 0), (0, 1000)), ((0, 1000), (1000, 0))),  # large stakes
    (((7, 7), (7, 8)), ((8, 7), (7, 7))),  # nearly all alike
)
"""Own payoffs and the other's, rows of two each."""


class GamesDomain(OneShot):
    """One-shot games of two rows and two columns."""

    name = "games"
    options: tuple[str, ...] = ("A", "B")
    measured: tuple[str, ...] = PLAYERS

    def layout(self) -> StimulusLayout:
        """Return how trials are written as columns of a file."""
        from lakatos.domains.games.reader import LAYOUT

        return LAYOUT

    def family(self) -> Family:
        """The theories about this task."""
        from lakatos.domains.games.theories import FAMILY

        return FAMILY

    def space(self, settings: Mapping[str, Any]) -> Stimuli:
        """The sample of games that the settings fix, each in one arrangement of its rows and columns only.

        Raises:
            StimuliError: A setting is wrong.
            EmptyDesignSpaceError: No game fits.
        """
        read = read_settings(settings)
        if read.lowest >= read.highest:
            raise EmptyDesignSpaceError(
                f"payoffs from {read.lowest} to {read.highest} make no game; give two numbers, the smaller one first."
            )
        rng = np.random.default_rng(read.seed)
        drawn = rng.integers(read.lowest, read.highest + 1, (4 * read.n_games, 2, 2, 2))
        stimuli = Stimuli({"own": drawn[:, 0] * 1.0, "other": drawn[:, 1] * 1.0})
        stimuli = stimuli.take(np.flatnonzero(self.admits(settings, stimuli)))
        turned = [stimuli, swap_columns(stimuli)]
        turned += [self.swap_sides(item) for item in turned]
        first: dict[bytes, int] = {}
        for row, keys in enumerate(zip(*(item.keys for item in turned), strict=True)):
            first.setdefault(min(keys), row)
        if not first:
            raise EmptyDesignSpaceError(f"no game fits the settings {dict(settings)}.")
        return stimuli.take(list(first.values())[: read.n_games])

    def check(self, stimuli: Stimuli) -> None:
        """See `check`."""
        check(stimuli)

    def admits(self, settings: Mapping[str, Any], stimuli: Stimuli) -> Array:
        """See `experiments.task.Domain.admits`: payoffs in the range; rows and columns matter to who chooses them."""
        read = read_settings(settings)
        own, other = stimuli["own"], stimuli["other"]
        both = np.stack([own, other])
        inside = ((both >= read.lowest) & (both <= read.highest)).all(axis=(0, 2, 3))
        matters = (lead(own) != 0).any(axis=1)
        matters &= (other[:, :, 1] != other[:, :, 0]).any(axis=1)
        return np.asarray(inside & matters & (read.dominance | (dominant_row(own) == 0)))

    def probes(self, rng: np.random.Generator) -> Sequence[Stimuli]:
        """Random games, known ones (prisoner's dilemma, stag hunt, chicken, pennies), and extremes."""
        ordinary = self.space({"n_games": 24, "seed": int(rng.integers(1000))})
        named = games(NAMED_GAMES)
        return (ordinary, self.swap_sides(ordinary), named, swap_columns(named), named.take([4]))

    def features(self, stimuli: Stimuli) -> Mapping[str, Array]:
        """Properties of games; differences are the second row minus the first."""
        own, other = stimuli["own"], stimuli["other"]
        n_games = np.arange(len(stimuli))
        # the column that pays the other more if one's own row is as likely as not
        reply = (other.mean(axis=1)[:, 1] >= other.mean(axis=1)[:, 0]).astype(int)
        both, gap = own + other, np.abs(own - other)
        flat = both.reshape(len(stimuli), 4)
        excess = np.abs(lead(own)).mean(axis=1) - np.abs(lead(own).mean(axis=1))
        return {
            "mean_difference": lead(own.mean(axis=2)),
            "worst_difference": lead(own.min(axis=2)),
            "best_difference": lead(own.max(axis=2)),
            "reply_difference": lead(own)[n_games, reply],
            "other_mean_difference": lead(other.mean(axis=2)),
            "inequality_difference": lead(gap.mean(axis=2)),
            "behind_difference": lead(np.maximum(other - own, 0).mean(axis=2)),
            "largest_sum": lead((both == flat.max(axis=1)[:, None, None]).any(axis=2) * 1.0),
            "dominant_row": dominant_row(own),
            "dominant_column": np.abs(dominant_row(other.swapaxes(1, 2))),
            "n_equilibria": n_equilibria(own, other),
            "trade_off": excess,
            "payoff_range": own.max(axis=(1, 2)) - own.min(axis=(1, 2)),
            "payoff_size": own.mean(axis=(1, 2)),
        }

    def variations(
        self, stimuli: Stimuli, rng: np.random.Generator
    ) -> Mapping[str, TrialVariation]:
        """See `experiments.variation.HasVariations`; what is raised is of the second row."""
        own, other = stimuli["own"], stimuli["other"]
        n_games = len(stimuli)
        more = rng.integers(1, 21, n_games).astype(np.float64)
        second = np.array([[0.0, 0.0], [1.0, 1.0]])
        cell = np.zeros((n_games, 2, 2))
        cell[np.arange(n_games), 1, pick(np.ones((n_games, 2)), rng)] = 1.0
        fits = np.maximum(own, other).max(axis=(1, 2)) + more <= HIGHEST_PAYOFF
        dealt = rng.permuted(other.reshape(n_games, 4), axis=1).reshape(n_games, 2, 2)

        def raised(name: str, where: Array) -> Any:
            spread = np.broadcast_to(where, (n_games, 2, 2))
            return lambda before, rows: {name: before[name] + spread[rows] * more[rows, None, None]}

        everywhere = np.ones(n_games, dtype=bool)
        return {
            "payoff": varied(
                stimuli, fits, "one of the own payoffs of the second row is raised",
                raised("own", cell),
            ),
            "payoffs": varied(
                stimuli, fits, "both own payoffs of the second row are raised alike",
                raised("own", second),
            ),
            "common_payoff": varied(
                stimuli, fits, "all own payoffs are raised alike",
                raised("own", np.ones((2, 2))),
            ),
            "other_payoffs": varied(
                stimuli, everywhere, "the other's payoffs are dealt to the cells in another way",
                lambda before, rows: {"other": dealt[rows]},
            ),
            "columns": varied(
                stimuli, everywhere, "the other's two columns are exchanged",
                lambda before, rows: dict(swap_columns(before).arrays),
            ),
            "scale": varied(
                stimuli,
                2 * np.maximum(own, other).max(axis=(1, 2)) <= HIGHEST_PAYOFF,
                "all payoffs of both are doubled",
                lambda before, rows: {name: 2 * before[name] for name in PLAYERS},
            ),
        }  # fmt: skip

    def swap_sides(self, stimuli: Stimuli) -> Stimuli:
        """The same games with the two rows exchanged."""
        return Stimuli({name: array[:, ::-1] for name, array in stimuli.arrays.items()})

    def picture(self, stimuli: Stimuli, row: int) -> str:
        """The game as a table: rows to choose from, and in each cell what both would get."""
        cell = "border:1px solid #bbb;padding:10px 18px;text-align:center"
        own, other = stimuli["own"][row], stimuli["other"][row]
        body = "".join(
            f'<tr><th style="{cell}">{label}</th>'
            + "".join(
                f'<td style="{cell}"><b>{own[place, column]:.10g}</b> | {other[place, column]:.10g}</td>'
                for column in (0, 1)
            )
            + "</tr>"
            for place, label in enumerate(self.options)
        )
        head = f'<tr><td></td><th style="{cell}">1</th><th style="{cell}">2</th></tr>'
        return (
            '<table style="font-family:system-ui,sans-serif;color:#222;border-collapse:collapse">'
            f"{head}{body}</table>"
        )

    def describe(self, stimuli: Stimuli, row: int) -> str:
        """Describe a trial by the payoffs of both, such as ``A: 30|30 or 1|45, B: 45|1 or 10|10``."""
        own, other = stimuli["own"][row], stimuli["other"][row]
        return ", ".join(
            f"{label}: "
            + " or ".join(
                dict.fromkeys(f"{own[place, k]:.10g}|{other[place, k]:.10g}" for k in (0, 1))
            )
            for place, label in enumerate(self.options)
        )


DOMAIN = GamesDomain()


def games(payoffs: Sequence[Sequence[Sequence[Sequence[float]]]]) -> Stimuli:
    """Trials from written-out games: own payoffs and the other's, rows of two each.

    Raises:
        StimuliError: One is no game of two rows and two columns.
    """
    table = np.asarray(payoffs, dtype=np.float64).reshape(len(payoffs), 2, 2, 2)
    stimuli = Stimuli({"own": table[:, 0], "other": table[:, 1]})
    check(stimuli)
    return stimuli
