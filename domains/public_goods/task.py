"""Public goods games: members of a group keep coins or give them to a fund, which is multiplied and shared equally.

The answer is how many of 20 coins are given. A trial is what somebody knows before giving: the rules of the game, and
what happened in the round before; in a first round nothing did, and all that is past is 0. Arrays have one number for
each trial (`NUMBERS` says what they mean and how far they go); ``available`` is ``(n_trials, 21)``, 1 for each number
of coins that may be given. Turning the sides of a trial means that the coins lie in the other fund to begin with.

References:
    Ledyard (1995), Public goods: a survey of experimental research, in The handbook of experimental economics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lakatos.domains.kit.settings import check_limits, refuse_unknown
from lakatos.experiments.adoption.layouts import StimulusLayout
from lakatos.experiments.answer_scale import levels
from lakatos.experiments.errors import EmptyDesignSpaceError, StimuliError
from lakatos.experiments.task import OneShot, Stimuli
from lakatos.experiments.variation import TrialVariation, varied
from lakatos.theories.language.family import Family
from lakatos.theories.language.option_score import LandmarkCode

Array = NDArray[Any]
ENDOWMENT = 20
"""Coins that everybody has in each round."""
SCALE = levels(range(ENDOWMENT + 1), "coins")
LARGEST_SPACE = 20_000
TrialChanges = dict[str, tuple[Any, str, Any]]
"""Whether a variation is possible, what it does, and how, by its name (see `experiments.variation.varied`)."""
SANCTIONS = ("deduction_cost", "deduction_effect", "reward_cost", "reward_effect")


class TrialNumber(NamedTuple):
    """Meaning of a number of a trial, and its range."""

    meaning: str
    low: float
    high: float
    whole: bool = False
    past: bool = False
    """Whether it tells of earlier rounds, so that it is 0 in the first one."""


NUMBERS: Mapping[str, TrialNumber] = {
    "round": TrialNumber("number of the round, from 1", 1, 200, whole=True),
    "end_known": TrialNumber("1 if it is told how many rounds there are", 0, 1, whole=True),
    "rounds_left": TrialNumber("rounds after this one; 0 where that is not told", 0, 200, whole=True),
    "group_size": TrialNumber("people who are in the group now", 2, 100, whole=True),
    "multiplier": TrialNumber("by which the fund is multiplied before it is shared", 0, 100),
    "starts_in_fund": TrialNumber("1 if the coins lie in the public fund to begin with", 0, 1, whole=True),
    "talk": TrialNumber("1 if people can talk to one another", 0, 1, whole=True),
    "deduction_cost": TrialNumber("coins that a deduction costs; 0 where there are none", 0, 100),
    "deduction_effect": TrialNumber("coins that a deduction takes away", 0, 100),
    "reward_cost": TrialNumber("coins that a reward costs; 0 where there are none", 0, 100),
    "reward_effect": TrialNumber("coins that a reward brings", 0, 100),
    "own": TrialNumber("share given in the last round", 0, 1, past=True),
    "own_average": TrialNumber("share given on average in all rounds so far", 0, 1, past=True),
    "others": TrialNumber("mean share that the others gave in the last round", 0, 1, past=True),
    "others_lowest": TrialNumber("lowest share among the others then", 0, 1, past=True),
    "others_highest": TrialNumber("highest share among the others then", 0, 1, past=True),
    "deducted": TrialNumber("taken away by others in the last round, in endowments", 0, 1000, past=True),
    "rewarded": TrialNumber("brought by others' rewards then, in endowments", 0, 1000, past=True),
    "ahead": TrialNumber("own gain of that round minus the others' mean gain, in endowments", -1000, 1000, past=True),
}  # fmt: skip


@dataclass(frozen=True)
class PublicGoodsSettings:
    """A space of trials: a fixed random sample of situations in games whose rules lie in these ranges."""

    n_trials: int = 600
    """Situations; one in six is a first round."""
    group_sizes: tuple[int, ...] = (4, 10)
    multipliers: tuple[float, ...] = (1.6, 2.8)
    rounds: int = 10
    """Rounds of a game; in half of the games participants know the number."""
    all_or_nothing: bool = True
    """Whether in half of the games only all coins or none may be given."""
    deductions: bool = True
    """Whether in half of the games people can take coins from one another."""
    rewards: bool = True
    """Whether in half of the games people can give coins to one another."""
    talk: bool = True
    """Whether in half of the games people can talk to one another."""
    seed: int = 0
    """Another number makes another sample."""


def read_settings(settings: Mapping[str, Any]) -> PublicGoodsSettings:
    """Settings of a study file.

    Raises:
        StimuliError: A setting is unknown or wrong; the message says which and what there is.
    """
    known = PublicGoodsSettings.__dataclass_fields__
    refuse_unknown(known, settings, "public goods")
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()
    }
    for name, value in values.items():
        if type(value) is not type(known[name].default):
            raise StimuliError(f"setting {name!r} of the public goods domain cannot be {value!r}.")
    read = PublicGoodsSettings(**values)
    limits = {"n_trials": (0, LARGEST_SPACE), "rounds": (1, 200), "seed": (0, 2**31)}
    check_limits(read, limits)
    for name, low in (("group_sizes", 2), ("multipliers", 0)):
        numbers = getattr(read, name)
        if not all(isinstance(item, int | float) and low <= item <= 100 for item in numbers):
            raise StimuliError(f"setting {name} is {numbers}; give numbers from {low} to 100.")
    return read


def situations(
    numbers: Mapping[str, Sequence[float] | Array], all_or_nothing: Sequence[bool] | Array
) -> Stimuli:
    """Trials from `NUMBERS`, of which those left out are 0, and whether only all coins or none may be given."""
    n_trials = len(all_or_nothing)
    arrays = {
        name: np.asarray(numbers.get(name, np.zeros(n_trials)), dtype=np.float64)
        for name in NUMBERS
    }
    coins = np.arange(ENDOWMENT + 1)
    free = ~np.asarray(all_or_nothing, dtype=bool)[:, None] | (coins % ENDOWMENT == 0)
    return Stimuli(arrays | {"available": free * 1.0})


def check(stimuli: Stimuli) -> None:
    """Raise `StimuliError` naming the first trial that cannot be."""
    if set(stimuli.arrays) != {*NUMBERS, "available"}:
        raise StimuliError(
            f"public goods games have the arrays {', '.join((*NUMBERS, 'available'))}, not "
            f"{', '.join(sorted(stimuli.arrays))}."
        )
    n_trials = len(stimuli)
    for name in (*NUMBERS, "available"):
        shape = (n_trials, ENDOWMENT + 1) if name == "available" else (n_trials,)
        if stimuli[name].shape != shape:
            raise StimuliError(f"array {name!r} has shape {stimuli[name].shape}, not {shape}.")
    rules: list[tuple[Any, str]] = [
        (_in_range(stimuli[name], number), f"{name} is {_range_in_words(number)}")
        for name, number in NUMBERS.items()
    ]
    first, free = stimuli["round"] == 1, stimuli["available"]
    past = np.stack([stimuli[name] for name, number in NUMBERS.items() if number.past])
    lowest, highest = stimuli["others_lowest"], stimuli["others_highest"]
    rounding = 1e-6
    between = (lowest <= stimuli["others"] + rounding) & (stimuli["others"] <= highest + rounding)
    rules += [
        (~first | (past == 0).all(axis=0), "in a first round all that is past is 0"),
        (between, "others lies between others_lowest and others_highest"),
        ((stimuli["end_known"] == 1) | (stimuli["rounds_left"] == 0),
         "rounds_left is 0 where the end is not known"),
        (np.isin(free, (0, 1)).all(axis=1), "available is 0 or 1"),
        (free.sum(axis=1) >= 2, "at least two numbers of coins may be given"),
    ]  # fmt: skip
    for fine, words in rules:
        for row in np.flatnonzero(~fine):
            raise StimuliError(f"trial {row} of the public goods domain: {words}.")


def _in_range(values: Array, number: TrialNumber) -> Array:
    values = np.asarray(values, dtype=np.float64)
    fine = np.isfinite(values) & (values >= number.low) & (values <= number.high)
    return np.asarray(fine & (values == np.round(values)) if number.whole else fine)


def _range_in_words(number: TrialNumber) -> str:
    kind = "a whole number" if number.whole else "a number"
    return f"{kind} from {number.low:g} to {number.high:g}"


def return_of(stimuli: Stimuli) -> Array:
    """``(n_trials,)`` marginal per capita return: what a coin given brings each member, oneself included."""
    return np.asarray(stimuli["multiplier"] / stimuli["group_size"])


def is_all_or_nothing(stimuli: Stimuli) -> Array:
    """``(n_trials,)`` whether only two numbers of coins may be given."""
    return np.asarray(stimuli["available"].sum(axis=1) == 2)


EXTREMES: Mapping[str, Sequence[float]] = {
    "round": [1, 1, 10, 10, 2, 200],
    "end_known": [0, 1, 1, 1, 0, 1],
    "rounds_left": [0, 9, 0, 0, 0, 0],
    "group_size": [2, 100, 4, 4, 4, 3],
    "multiplier": [1.0, 100.0, 0.0, 1.6, 4.0, 3.0],
    "starts_in_fund": [0, 1, 0, 1, 0, 1],
    "talk": [0, 1, 0, 1, 1, 0],
    "deduction_cost": [0, 0, 0, 1, 1, 4],
    "deduction_effect": [0, 0, 0, 3, 1, 15],
    "reward_cost": [0, 0, 0, 0, 2, 1],
    "reward_effect": [0, 0, 0, 0, 3, 1],
    "own": [0, 0, 0, 1, 0.5, 1],
    "own_average": [0, 0, 0, 1, 0.5, 0],
    "others": [0, 0, 0, 1, 0.5, 0],
    "others_highest": [0, 0, 0, 1, 1, 0],
    "others_lowest": [0, 0, 0, 1, 0, 0],
    "deducted": [0, 0, 0, 0, 2, 1000],
    "rewarded": [0, 0, 0, 0, 0.15, 0.05],
    "ahead": [0, 0, 0, 0, -2, -1000],
}
"""Situations, a column each: nobody gave, all gave all, a last round, much was taken away."""
ARE_ALL_OR_NOTHING = [False, True, False, True, False, True]


LANDMARKS = {
    "own": "own last contribution",
    "own_average": "own mean contribution",
    "others": "mean contribution of the others",
    "others_lowest": "lowest contribution of the others",
    "others_highest": "highest contribution of the others",
}
"""Shares of the last rounds near which contributions may lie, and what they are called."""
TRIAL_NOUNS = {
    **{name: f"{noun}, as a share of the coins," for name, noun in LANDMARKS.items()},
    "round": "number of the round",
    "end_known": "a known number of rounds",
    "rounds_left": "number of rounds left",
    "group_size": "group size",
    "starts_in_fund": "a start with all coins in the fund",
    "talk": "communication",
    "deducted": "deduction in the last round, in endowments,",
    "rewarded": "reward in the last round, in endowments,",
    "ahead": "lead over the others' mean gain, in endowments,",
}
"""Nouns of a trial's numbers in conditions."""


class PublicGoodsDomain(OneShot):
    """Coins are kept or given to a fund that is multiplied and shared by all."""

    name = "public_goods"
    scale = SCALE
    options: tuple[str, ...] = SCALE.labels

    def layout(self) -> StimulusLayout:
        """Return how trials are written as columns of a file."""
        from lakatos.domains.public_goods.reader import LAYOUT

        return LAYOUT

    def family(self) -> Family:
        """The theories about this task."""
        from lakatos.domains.public_goods.theories import FAMILY

        return FAMILY

    def space(self, settings: Mapping[str, Any]) -> Stimuli:
        """The sample of situations that the settings fix.

        Raises:
            StimuliError: A setting is wrong.
            EmptyDesignSpaceError: It has no trials.
        """
        read = read_settings(settings)
        if not (read.n_trials and read.group_sizes and read.multipliers):
            raise EmptyDesignSpaceError(
                "give at least one trial, one size of the group and one multiplier."
            )
        stimuli = _draw(read, np.random.default_rng(read.seed))
        row_of = {key: row for row, key in reversed(list(enumerate(stimuli.keys)))}
        return stimuli.take(sorted(row_of.values()))

    def check(self, stimuli: Stimuli) -> None:
        """See `check`."""
        check(stimuli)

    def admits(self, settings: Mapping[str, Any], stimuli: Stimuli) -> Array:
        """See `experiments.task.Domain.admits`: games with the rules that the settings allow."""
        read = read_settings(settings)
        fits = np.isin(stimuli["group_size"], read.group_sizes)
        fits &= np.isin(stimuli["multiplier"], read.multipliers)
        fits &= stimuli["round"] + stimuli["rounds_left"] <= read.rounds
        fits &= read.all_or_nothing | ~is_all_or_nothing(stimuli)
        fits &= read.deductions | (stimuli["deduction_effect"] == 0)
        fits &= read.rewards | (stimuli["reward_effect"] == 0)
        fits &= read.talk | (stimuli["talk"] == 0)
        return np.asarray(fits)

    def probes(self, rng: np.random.Generator) -> Sequence[Stimuli]:
        """Random situations, and extremes: nobody gave, all gave all, a last round, much was taken away."""
        ordinary = self.space({"n_trials": 30, "seed": int(rng.integers(1000))})
        extreme = situations(EXTREMES, ARE_ALL_OR_NOTHING)
        return (ordinary, self.swap_sides(ordinary), extreme, self.swap_sides(extreme))

    def features(self, stimuli: Stimuli) -> Mapping[str, Array]:
        """Properties of situations: the rules, what happened, and how these differ."""
        left = np.where(stimuli["end_known"] == 1, stimuli["rounds_left"], np.inf)
        return {
            "return": return_of(stimuli),
            "group_size": stimuli["group_size"],
            "first_round": 1.0 * (stimuli["round"] == 1),
            "round": stimuli["round"],
            "nearness_of_end": 1.0 / (1.0 + left),
            "all_or_nothing": 1.0 * is_all_or_nothing(stimuli),
            "starts_in_fund": stimuli["starts_in_fund"],
            "talk": stimuli["talk"],
            "deduction_effect": stimuli["deduction_effect"],
            "reward_effect": stimuli["reward_effect"],
            "own": stimuli["own"],
            "own_average": stimuli["own_average"],
            "others": stimuli["others"],
            "others_minus_own": stimuli["others"] - stimuli["own"],
            "others_lowest": stimuli["others_lowest"],
            "others_highest": stimuli["others_highest"],
            "deducted": np.minimum(stimuli["deducted"], 2.0),
            "rewarded": np.minimum(stimuli["rewarded"], 2.0),
            "ahead": stimuli["ahead"].clip(-2.0, 2.0),
        }

    def landmarks(self, stimuli: Stimuli) -> dict[str, Array]:
        """See `experiments.answer_scale.HasLandmarks`: coins that oneself and the others gave."""
        return {name: ENDOWMENT * stimuli[name] for name in LANDMARKS}

    def trial_nouns(self) -> Mapping[str, str]:
        """See `theories.language.option_score.HasTrialNouns`."""
        return TRIAL_NOUNS

    def landmark_codes(self) -> tuple[LandmarkCode, ...]:
        """The same, as theories write them."""
        return tuple(
            LandmarkCode(f'{ENDOWMENT} * trials["{name}"]', noun)
            for name, noun in LANDMARKS.items()
        )

    def variations(
        self, stimuli: Stimuli, rng: np.random.Generator
    ) -> Mapping[str, TrialVariation]:
        """See `experiments.variation.HasVariations`."""
        later = stimuli["round"] > 1
        n_trials = len(stimuli)
        shares = rng.integers(0, ENDOWMENT + 1, (n_trials, 3)) / ENDOWMENT
        lowest, others, highest = np.sort(shares, axis=1).T
        amount = rng.integers(1, ENDOWMENT + 1, n_trials) / ENDOWMENT
        changes: TrialChanges = {
            "own_past": (
                later, "what oneself gave in earlier rounds is another amount",
                lambda before, rows: {"own": shares[rows, 0], "own_average": shares[rows, 1]},
            ),
            "others_past": (
                later, "what the others gave in the last round is another amount",
                lambda before, rows: {
                    "others_lowest": lowest[rows], "others": others[rows], "others_highest": highest[rows],
                },
            ),
            "deducted": (
                later & (stimuli["deduction_effect"] > 0), "others have taken away more",
                lambda before, rows: {"deducted": np.minimum(before["deducted"] + amount[rows], 1000.0)},
            ),
            "rewarded": (
                later & (stimuli["reward_effect"] > 0), "others have given more as a reward",
                lambda before, rows: {"rewarded": np.minimum(before["rewarded"] + amount[rows], 1000.0)},
            ),
            "ahead": (
                later, "one has gained more than the others by another amount",
                lambda before, rows: {"ahead": 4.0 * amount[rows] - 2.0},
            ),
            "time": (
                later & (stimuli["end_known"] == 1),
                "it is another round of the game, and another number of rounds are left",
                lambda before, rows: {
                    "round": 1.0 + np.ceil(9 * amount[rows]), "rounds_left": np.ceil(9 * shares[rows, 2]),
                },
            ),
        }  # fmt: skip
        changes |= _changes_of_rules(stimuli, amount)
        return {name: varied(stimuli, *change) for name, change in changes.items()}

    def swap_sides(self, stimuli: Stimuli) -> Stimuli:
        """The same trials with the coins in the other fund to begin with."""
        return Stimuli(dict(stimuli.arrays) | {"starts_in_fund": 1.0 - stimuli["starts_in_fund"]})

    def picture(self, stimuli: Stimuli, row: int) -> str:
        """The rules and the last round as a table."""
        cell = "border:1px solid #bbb;padding:6px 14px"
        rows = "".join(
            f'<tr><td style="{cell}">{words}</td><td style="{cell}"><b>{value}</b></td></tr>'
            for words, value in _shown(stimuli.take([row]))
        )
        return (
            '<table style="font-family:system-ui,sans-serif;color:#222;border-collapse:collapse">'
            f"{rows}</table>"
        )

    def describe(self, stimuli: Stimuli, row: int) -> str:
        """Describe a trial, such as ``Round: 3 of 10, Players: 4, ..., You gave: 20``."""
        return ", ".join(f"{words}: {value}" for words, value in _shown(stimuli.take([row])))


DOMAIN = PublicGoodsDomain()


def _changes_of_rules(stimuli: Stimuli, amount: Array) -> TrialChanges:
    """Variations of what holds for the whole game."""
    return {
        "multiplier": (
            np.ones(len(stimuli), dtype=bool), "the fund is multiplied by another number",
            lambda before, rows: {"multiplier": 0.5 + 4.0 * amount[rows]},
        ),
        "talk": (
            np.ones(len(stimuli), dtype=bool), "people can talk where they could not, or the other way round",
            lambda before, rows: {"talk": 1.0 - before["talk"]},
        ),
        "sanctions": (
            stimuli["deduction_effect"] + stimuli["reward_effect"] == 0,
            "people can take coins away from one another, and give rewards",
            lambda before, rows: dict.fromkeys(SANCTIONS, np.ones(len(rows))),
        ),
    }  # fmt: skip


def _shown(trial: Stimuli) -> list[tuple[str, str]]:
    """Return what people see of one trial: words and a number each."""
    of = {name: float(array[0]) for name, array in trial.arrays.items() if array.ndim == 1}
    coins = {
        name: f"{of[name] * ENDOWMENT:.10g}" for name, number in NUMBERS.items() if number.past
    }
    last = f"{of['round'] + of['rounds_left']:.0f}" if of["end_known"] else "?"
    shown = [
        ("Round", f"{of['round']:.0f} / {last}"),
        ("Players", f"{of['group_size']:.0f}"),
        ("Fund is multiplied by", f"{of['multiplier']:.10g}"),
        ("Coins in your own fund", "0" if of["starts_in_fund"] else str(ENDOWMENT)),
        ("Coins in the public fund", str(ENDOWMENT) if of["starts_in_fund"] else "0"),
    ]
    if is_all_or_nothing(trial)[0]:
        shown.append(("All or nothing", "✓"))
    if of["talk"]:
        shown.append(("Players can talk", "✓"))
    for name, words in (
        ("deduction", "Deduction: cost → coins taken"),
        ("reward", "Reward: cost → coins given"),
    ):
        if of[f"{name}_effect"]:
            shown.append((words, f"{of[f'{name}_cost']:.10g} → {of[f'{name}_effect']:.10g}"))
    if of["round"] == 1:
        return shown
    span = f"{coins['others_lowest']} – {coins['others_highest']}"
    shown += [
        ("You gave last", coins["own"]),
        ("You gave on average", coins["own_average"]),
        ("Others gave on average", coins["others"]),
        ("Others gave from – to", span),
        ("Your gain minus others’", coins["ahead"]),
    ]
    if of["deduction_effect"]:
        shown.append(("Taken from you", coins["deducted"]))
    if of["reward_effect"]:
        shown.append(("Rewards for you", coins["rewarded"]))
    return shown


def _draw(read: PublicGoodsSettings, rng: np.random.Generator) -> Stimuli:
    """Random situations: the others' gifts lie around a level of the group, one's own is any."""
    n = read.n_trials

    def half(allowed: bool) -> Array:
        return (rng.random(n) < 0.5) & allowed

    # Games, and the round that is to be played; a sixth are first ones.
    size, multiplier = rng.choice(read.group_sizes, n), rng.choice(read.multipliers, n)
    number = np.where(rng.random(n) < 1 / 6, 1, rng.integers(1, read.rounds + 1, n))
    later = number > 1
    end_known, all_or_nothing = half(True), half(read.all_or_nothing)
    deductions, rewards = half(read.deductions), half(read.rewards)

    def in_coins(share: Array) -> Array:
        whole = np.round(share * ENDOWMENT) / ENDOWMENT
        return later * np.where(all_or_nothing, np.round(share), whole)

    # Gifts of the round before: one's own, and the others' between a lowest and a highest one.
    level, own = rng.random(n), in_coins(rng.random(n))
    low = in_coins(level * rng.random(n))
    high = in_coins(level + (1 - level) * rng.random(n))
    others = (low + (high - low) * rng.random(n)).round(2)

    def up_to_three() -> Array:
        coins = rng.integers(0, 4, n)
        return coins * (rng.random(n) < 0.5)

    # Coins that others spent on taking from one, and on giving; what they take triples, what they give doubles.
    taken = later * deductions * up_to_three() * 3 / ENDOWMENT
    given = later * rewards * up_to_three() * 2 / ENDOWMENT

    effects = {"deduction_cost": 1, "deduction_effect": 3, "reward_cost": 1, "reward_effect": 2}
    there = {"deduction": deductions, "reward": rewards}
    return situations(
        {
            **{name: there[name.split("_")[0]] * value for name, value in effects.items()},
            "round": number,
            "end_known": end_known,
            "rounds_left": end_known * (read.rounds - number),
            "group_size": size,
            "multiplier": multiplier,
            "starts_in_fund": half(True),
            "talk": half(read.talk),
            "own": own,
            "own_average": in_coins((own + rng.random(n)) / 2),
            "others": others.clip(low, high),
            "others_lowest": low,
            "others_highest": high,
            "deducted": taken,
            "rewarded": given,
            "ahead": (others - own - taken + given).round(4) * later,
        },
        all_or_nothing,
    )
