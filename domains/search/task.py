"""Sequential search: values come one after another, until the participant takes one; none can be taken later.

These are optimal stopping (secretary) problems. A trial is one decision, *continue* or *take*, about the value that is
there; the last value of a sequence must be taken, so that it is no trial. Participants see numbers from a distribution
that they know (full information), or only the rank of each candidate among those so far (rank information). They aim
for a high value, or for a low one as of prices, and are paid the value that they take, or for taking the best of the
whole sequence alone. What participants have seen is a part of each trial:

- ``seen``: values of this sequence before this one; ``candidates``: how many of them were the best so far when they
  came; ``since``: how many came after the last of these; ``best``: the best of them;
- ``value``: the value that is there, in standard deviations from the mean of the distribution, positive if it is
  better; of a rank its expected place among all candidates, as if places were uniform; ``rank``: the rank among the
  candidates so far, 1 for the best, and 0 where numbers are shown; ``leads``: 1 if it is the best so far;
- ``left``: values of this sequence after it; ``problems``: sequences before this one.

These have an axis of draws first, ``(n_draws or 1, n_sequences)``, as they depend on what was done. ``length`` is the
number of values of a sequence and ``kind`` is 0 for numbers from an unknown distribution, 1 from a uniform and 2 from a
normal one, and 3 for ranks. A session made here has a fixed number of decisions, not of sequences, as all participants
make equally many. Values are independent, and so are ranks: the k-th is equally likely to be any of 1 to k.

References:
    Gilbert & Mosteller (1966), Journal of the American Statistical Association 61, 35-73;
    Seale & Rapoport (1997), Organizational Behavior and Human Decision Processes 69(3), 221-236;
    Lee (2006), Cognitive Science 30(3), 555-580;
    Baumann, Singmann, Gershman & von Helversen (2020), PNAS 117(23), 12750-12755.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from lakatos.domains.kit.settings import check_limits, refuse_unknown
from lakatos.domains.kit.walked import WalkedDomain, shown_number
from lakatos.experiments.adoption.layouts import StimulusLayout
from lakatos.experiments.errors import StimuliError
from lakatos.experiments.task import Stimuli
from lakatos.theories.language.family import Family

Array = NDArray[Any]
MOST_STEPS = 2000
LONGEST = 100
"""Values of the longest sequence."""
UNKNOWN, UNIFORM, NORMAL, RANKS = range(4)
"""Kinds of values."""
SHOWN = ("available", "position", "length", "kind")
"""Arrays of a step that people see; the others are what would follow."""
HIDDEN = ("draw", "last", "luck", "center", "scale", "best_only")
SEEN = ("seen", "best", "candidates", "since", "problems")
"""Arrays of what people have seen before a step, which depends on what they did."""
NOW = ("value", "rank", "leads", "left")
"""Arrays of the value that is there."""
ENDS = ("", "taken", "last", "best", "other")
"""What followed a decision, by ``ended``: the sequence goes on, a value was taken, the last one had to be taken, and
where only the best of a sequence pays, it was the best or another one."""
SPREAD = 12**0.5
"""Range of a uniform distribution in standard deviations."""
VALUES = re.compile(r"(uniform|normal)\( *(-?\d+(?:\.\d+)?) *, *(-?\d+(?:\.\d+)?) *\)")
LARGEST = 1e6


@dataclass(frozen=True)
class SearchSettings:
    """A study's task after the checks."""

    n_steps: int = 120
    """Decisions of each participant."""
    length: int = 10
    """Values of a sequence."""
    values: str = "uniform(0, 100)"
    """Distribution of the numbers, "uniform(LOWEST, HIGHEST)" or "normal(MEAN, SD)", or "ranks"."""
    goal: str = "highest"
    """Which values are good: "highest" or "lowest"."""
    reward: str = "value"
    """What is paid: the "value" that was taken, or a point if it is the "best" of its sequence."""

    @property
    def distribution(self) -> tuple[int, float, float]:
        """The kind of values, their mean and their standard deviation."""
        found = VALUES.fullmatch(self.values)
        if found is None:
            return RANKS, 0.0, 0.0
        first, second = float(found[2]), float(found[3])
        if found[1] == "normal":
            return NORMAL, first, second
        return UNIFORM, (first + second) / 2, (second - first) / SPREAD


def read_settings(settings: Mapping[str, Any]) -> SearchSettings:
    """Read a study's settings of the space, and refuse those that make no sense.

    Raises:
        StimuliError: A setting is unknown or out of range; the message names it.
    """
    known = SearchSettings.__dataclass_fields__
    refuse_unknown(known, settings, "search")
    for name, value in settings.items():
        if type(value) is not type(known[name].default):
            raise StimuliError(f"setting {name} of the search domain cannot be {value!r}.")
    read = SearchSettings(**settings)
    check_limits(read, {"n_steps": (1, MOST_STEPS), "length": (2, LONGEST)})
    for name, words in (("goal", ("highest", "lowest")), ("reward", ("value", "best"))):
        if getattr(read, name) not in words:
            raise StimuliError(
                f"setting {name} of the search domain is {getattr(read, name)!r}; give {' or '.join(words)}."
            )
    kind, center, spread = read.distribution
    if read.values != "ranks" and (
        kind == RANKS or not spread > 0 or abs(center) + spread > LARGEST
    ):
        raise StimuliError(
            f"setting values of the search domain is {read.values!r}; give ranks, uniform(LOWEST, HIGHEST) or "
            f"normal(MEAN, SD), with numbers up to {LARGEST:,.0f}."
        )
    if kind == RANKS and (read.reward, read.goal) != ("best", "highest"):
        raise StimuliError(
            'setting values of the search domain is ranks, of which 1 is the best: give reward = "best" and '
            'goal = "highest".'
        )
    return read


def decisions(
    length: Array | float,
    draw: Array,
    *,
    kind: int = UNKNOWN,
    center: float = 0.0,
    scale: Array | float = 1.0,
    last: Array | None = None,
    luck: Array | None = None,
    best_only: bool = False,
    position: Array | None = None,
) -> Stimuli:
    """The steps of a session.

    Args:
        length: Values of a sequence, for all steps or for each.
        draw: ``(n_steps,)`` the value that is there, in standard deviations and positive if it is better; of ranks a
            number from 0 to below 1, which decides the rank.
        kind: Kind of values: `UNKNOWN`, `UNIFORM`, `NORMAL` or `RANKS`.
        center: Mean of the distribution.
        scale: Its standard deviation, for all steps or for each; negative where low values are good.
        last: ``(n_steps,)`` the last value, like ``draw``, if it must be taken after this step. None: unknown.
        luck: ``(n_steps,)`` numbers from 0 to 1 that decide whether a value is the best of its whole sequence: the
            lower, the sooner. None: unknown.
        best_only: Whether only the best value of a sequence pays.
        position: ``(n_steps,)`` number of each step in its session, from 0; None: all are of one session.
    """
    n_steps = len(draw)
    numbers = {
        "length": length,
        "kind": kind,
        "center": center,
        "scale": scale,
        "best_only": best_only,
    }
    nothing = np.zeros(n_steps)
    return Stimuli(
        {name: np.broadcast_to(np.asarray(own, float), n_steps).copy() for name, own in numbers.items()}
        | {
            "available": np.ones((n_steps, 2)),
            "position": np.arange(n_steps, dtype=np.float64) if position is None else 1.0 * position,
            "draw": np.asarray(draw, dtype=np.float64),
            "last": nothing if last is None else np.asarray(last, dtype=np.float64),
            "luck": nothing if luck is None else np.asarray(luck, dtype=np.float64),
        }
    )  # fmt: skip


def share_below(kind: Array, value: Array) -> Array:
    """Probability of a worse value than one in standard deviations; 0 for an unknown distribution."""
    by_kind = [np.clip(0.5 + value / SPREAD, 0, 1), ndtr(value)]
    return np.select([kind == UNIFORM, kind == NORMAL], by_kind, 0.0)


class SearchDomain(WalkedDomain):
    """Decisions to take a value or to search on."""

    name: str = "search"
    options: tuple[str, ...] = ("continue", "take")
    shown_arrays = SHOWN
    hidden_arrays = HIDDEN
    seen_arrays = SEEN

    def layout(self) -> StimulusLayout:
        """Return how sequences are written as columns of a file."""
        from lakatos.domains.search.reader import LAYOUT

        return LAYOUT

    def family(self) -> Family:
        """The theories about this task."""
        from lakatos.domains.search.theories import FAMILY

        return FAMILY

    def shown(
        self, arrays: Mapping[str, Array], before: Mapping[str, Array]
    ) -> Mapping[str, Array]:
        """The arrays that people see, what they have seen of this sequence, and the value that is there."""
        seen = self.seen(arrays, before)
        place, is_rank = seen["seen"] + 1, arrays["kind"] == RANKS
        rank = np.where(is_rank, np.floor(arrays["draw"] * place) + 1, 0.0)
        value = np.where(is_rank, SPREAD * (0.5 - rank / (place + 1)), arrays["draw"])
        is_best = (seen["seen"] == 0) | (value > seen["best"])
        leads = 1.0 * np.where(is_rank, rank == 1, is_best)
        now = {"value": value, "rank": rank, "leads": leads, "left": arrays["length"] - place}
        return {name: arrays[name] for name in SHOWN} | seen | now

    def feedback(
        self, arrays: Mapping[str, Array], shown: Mapping[str, Array], response: Array
    ) -> dict[str, Array]:
        """How a sequence ``ended`` (see `ENDS`), its ``reward``, the value there, and what was seen before the next."""
        is_taken, leads = np.asarray(response) == 1, shown["leads"] > 0
        place, length, is_rank = shown["seen"] + 1, arrays["length"], arrays["kind"] == RANKS
        is_over = is_taken | (place >= length - 1)
        best = np.where(leads, shown["value"], shown["best"])
        # all values that are left are worse; the last of n ranks is the first with probability 1 / n
        worse = share_below(arrays["kind"], shown["value"]) ** (length - place)
        stays = leads & (arrays["luck"] < np.where(is_rank, place / length, worse))
        is_last_best = np.where(is_rank, arrays["last"] < 1 / length, arrays["last"] > best)
        is_best = np.where(is_taken, stays, is_last_best)
        got = arrays["center"] + arrays["scale"] * np.where(
            is_taken, shown["value"], arrays["last"]
        )
        pays_best = arrays["best_only"] > 0
        ended = np.where(pays_best, np.where(is_best, 3.0, 4.0), np.where(is_taken, 1.0, 2.0))
        return {
            "ended": np.where(is_over, ended, 0.0),
            "reward": np.where(is_over, np.where(pays_best, 1.0 * is_best, got), 0.0),
            "seen": np.where(is_over, 0.0, place),
            "best": np.where(is_over, 0.0, best),
            "candidates": np.where(is_over, 0.0, shown["candidates"] + leads),
            "since": np.where(is_over | leads, 0.0, shown["since"] + 1),
            "problems": shown["problems"] + is_over,
            **{name: shown[name] + 0.0 * is_taken for name in NOW},
        }

    def outcome_of(self, feedback: Mapping[str, float]) -> str:
        """Return what followed a decision; see `experiments.outcomes.NamesOutcomes`."""
        return ENDS[int(feedback["ended"])]

    def candidates(
        self, settings: Mapping[str, Any], rng: np.random.Generator, n_most: int
    ) -> Stimuli:
        """One session, whole, whatever ``n_most``; its values are drawn at random.

        Raises:
            StimuliError: A setting is wrong.
        """
        read = read_settings(settings)
        kind, center, spread = read.distribution
        scale = spread if read.goal == "highest" else -spread
        draw, last, luck = rng.random((3, read.n_steps))
        if kind != RANKS:
            draw, last = (_as_shown(own, kind, center, scale) for own in (draw, last))
        return decisions(
            read.length,
            draw,
            kind=kind,
            center=center,
            scale=scale,
            last=last,
            luck=luck,
            best_only=read.reward == "best",
        )

    def rules(self, stimuli: Stimuli) -> Sequence[tuple[Array, str]]:
        """See `WalkedDomain.rules`: lengths, kinds and values."""
        draws = np.stack([stimuli["draw"], stimuli["last"]])
        return (
            (
                np.isin(stimuli["length"], np.arange(2, LONGEST + 1)),
                f"length is a whole number from 2 to {LONGEST}",
            ),
            (np.isin(stimuli["kind"], range(4)), "kind is 0, 1, 2 or 3"),
            (
                np.isfinite(draws).all(axis=0)
                & ((stimuli["kind"] != RANKS) | ((draws >= 0) & (draws < 1)).all(axis=0)),
                "draw and last are numbers, of ranks from 0 to below 1",
            ),
            ((stimuli["luck"] >= 0) & (stimuli["luck"] <= 1), "luck is a number from 0 to 1"),
            (np.isin(stimuli["best_only"], (0, 1)), "best_only is 0 or 1"),
            *((np.isfinite(stimuli[name]), f"{name} is a number") for name in ("center", "scale")),
        )

    def admits(self, settings: Mapping[str, Any], stimuli: Stimuli) -> Array:
        """See `experiments.task.Domain.admits`: sessions of the study's length with its kind of sequences, whole."""
        own = self.space(settings)
        names = ("length", "kind", "center", "scale", "best_only")
        alike = [stimuli[name] == own[name][0] for name in names]
        return np.asarray(np.all(alike, axis=0) & (len(stimuli) == len(own)))

    def probes(self, rng: np.random.Generator) -> Sequence[Stimuli]:
        """Short sessions with numbers of both distributions, with ranks, and with an unknown distribution."""
        plans: tuple[dict[str, Any], ...] = (
            {"n_steps": 16, "length": 5},
            {"n_steps": 20, "length": 12, "values": "normal(180, 20)", "goal": "lowest"},
            {"n_steps": 20, "length": 8, "reward": "best"},
            {"n_steps": 24, "length": 20, "values": "ranks", "reward": "best"},
        )
        sessions = [self.candidates(plan, rng, 0) for plan in plans]
        return [*sessions, decisions(6, rng.normal(size=12), last=rng.normal(size=12))]

    def features(self, stimuli: Stimuli) -> Mapping[str, Array]:
        """Properties of steps that are known beforehand."""
        names = {"position": "position", "length": "length", "draw": "value"}
        return {words: np.asarray(stimuli[name], np.float64) for name, words in names.items()}

    def picture(self, stimuli: Stimuli, row: int) -> str:
        """The value that is there, its place in the sequence, and what is known of all values."""
        place, length = (shown_number(stimuli, name, row) for name in ("seen", "length"))
        where = f"{place + 1:g} of {length:g}"
        if stimuli["kind"][row] == RANKS:
            title, large = f"Candidate {where}", f"Rank {self._rank(stimuli, row):g}"
            below = f"among {place + 1:g} so far; rank 1 is the best"
        else:
            title, large = f"Number {where}", _as_text(self._shown_value(stimuli, row))
            goal = "high" if stimuli["scale"][row] > 0 else "low"
            below = f"{self._source(stimuli, row)}{goal.capitalize()} numbers are good."
        paid = "<p>Only the best of a sequence counts.</p>" if stimuli["best_only"][row] else ""
        return (
            '<div style="font-family:system-ui,sans-serif;color:#222;text-align:center">'
            f"<p>{title}</p>"
            '<p style="font:600 44px system-ui,sans-serif;margin:.3em auto;padding:.4em;max-width:6em;'
            f'border:1px solid #999;border-radius:10px">{large}</p>'
            f'<p style="color:#555">{below}</p>{paid}</div>'
        )

    def _rank(self, stimuli: Stimuli, row: int) -> float:
        """Rank among the candidates so far; 1 where it is not known how many there were."""
        return max(shown_number(stimuli, "rank", row), 1.0)

    def _shown_value(self, stimuli: Stimuli, row: int) -> float:
        """The number as participants see it; of an unknown distribution in standard deviations."""
        return float(stimuli["center"][row] + stimuli["scale"][row] * stimuli["draw"][row])

    def _source(self, stimuli: Stimuli, row: int) -> str:
        """What is known of the distribution, in a sentence."""
        center, spread = float(stimuli["center"][row]), abs(float(stimuli["scale"][row]))
        if stimuli["kind"][row] == UNIFORM:
            low, high = (center + sign * SPREAD / 2 * spread for sign in (-1, 1))
            return f"All numbers from {_as_text(low)} to {_as_text(high)} are equally likely. "
        if stimuli["kind"][row] == NORMAL:
            low, high = (center + sign * spread for sign in (-1, 1))
            return f"Two of three numbers are from {_as_text(low)} to {_as_text(high)}. "
        return ""

    def describe(self, stimuli: Stimuli, row: int) -> str:
        """Describe a decision in a line: its sequence, its place and its value, where these are known."""
        words = f"decision {int(stimuli['position'][row]) + 1}"
        if "seen" not in stimuli.arrays:
            return words
        problem, place = (shown_number(stimuli, name, row) + 1 for name in ("problems", "seen"))
        kind, length = int(stimuli["kind"][row]), stimuli["length"][row]
        if kind == RANKS:
            own = f"rank {self._rank(stimuli, row):g} so far"
        elif kind == UNKNOWN:
            own = f"{stimuli['draw'][row]:+.2f} SD, where more is better"
        else:
            own = f"value {_as_text(self._shown_value(stimuli, row))}"
        return f"{words}: sequence {problem:g}, {place:g} of {length:g}, {own}"


def _as_shown(share: Array, kind: int, center: float, scale: float) -> Array:
    """Values of a distribution below which these shares lie, rounded as they are shown, in standard deviations."""
    value = SPREAD * (share - 0.5) if kind == UNIFORM else ndtri(np.clip(share, 1e-9, None))
    digits = max(0, 1 - int(np.floor(np.log10(abs(scale)))))
    return np.asarray((np.round(center + scale * value, digits) - center) / scale)


def _as_text(value: float) -> str:
    return f"{round(value, 6) + 0.0:.10g}"


DOMAIN = SearchDomain()
