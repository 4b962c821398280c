"""Learning from feedback: bandits, reversals, cues, go/no-go and the two-step task, as schedules of steps.

At each step a person picks one of the options that are *available* and sees a *reward* and, in the two-step task, the
*state* that the choice led to, in which the next pick is made. A schedule fixes beforehand what would follow every
choice; that is never shown. Participants of a file may have schedules of their own, one after the other; others go
through the same steps in the same order.

A step may have a *cue*: a stimulus, a context or a pair of options. Values are learned apart for each cue, as they are
for each state: the cue is the ``state``, and ``set_size`` is the number of cues of the game. Where one of two options
is to withhold a response, ``go`` is 1 if the second one is to respond and -1 if the first one is; else it is 0.

Theories see, besides the arrays of the step, ``state``: the cue, or 0 where there is only one and at the first stage;
1 or 2 at the second stage. It has an axis of draws first, ``(n_draws or 1, n_sequences)``, as it depends on what was
done. ``states`` are the numbers of all states, on a last axis. What follows a response is ``reward`` and
``next_state``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lakatos.domains.kit.settings import check_limits
from lakatos.domains.learning.outcomes import estimated_schedule
from lakatos.experiments.adoption.layouts import StimulusLayout
from lakatos.experiments.errors import StimuliError
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.language.family import Family

Array = NDArray[Any]
Task = Literal["bandit", "reversal", "two_step", "go_nogo"]
N_STATES = 3
"""The first stage and the two states of the second; tasks with one stage use the first only."""
MOST_OPTIONS = 6
MOST_CUES = 24
N_GO_CUES = 4
"""Go and no-go, to win and to avoid a loss."""
MOST_STEPS = 2000
SHOWN = ("available", "stage", "block_start", "position")
"""Arrays that people see; the others are what would follow."""
SEEN_IN_SOME = ("cue", "set_size", "go", "has_losses")
"""Arrays that people see where there are cues, an option to withhold a response, or losses; each ``(n_steps,)``."""
HIDDEN = ("payoff", "next_state")
TwoStepTrial = tuple[int, int, int, int]
"""First pick, state it led to (1 or 2), second pick, reward."""


@dataclass(frozen=True)
class LearningSettings:
    """A study's task after the checks."""

    task: Task = "bandit"
    n_steps: int = 100
    """Choices of each person; in the two-step task two for each trial."""
    n_options: int = 2
    n_blocks: int = 1
    """Games with new options; what was learned in one says nothing about the next."""
    best: float = 0.7
    """Bandit and reversal: probability of reward of the best option."""
    others: float = 0.3
    """Bandit and reversal: probability of reward of the other options."""
    reversal_every: int = 20
    """Reversal: steps, about, after which another option is the best."""
    drift: float = 0.025
    """Two-step: standard deviation of the steps by which probabilities of reward wander between 0.25 and 0.75."""
    common: float = 0.7
    """Two-step: probability with which a first choice leads to its common state."""
    n_cues: int = 1
    """Bandit and reversal: cues for each of which another option may be the best; go/no-go has four."""
    fewest_cues: int = 0
    """Cues of the first block, where further blocks have one more each, up to ``n_cues``; 0 for ``n_cues`` in all."""


def read_settings(settings: Mapping[str, Any]) -> LearningSettings:
    """Read a study's settings of the space, and refuse those that make no sense.

    Raises:
        StimuliError: A setting is unknown or out of range; the message names it.
    """
    known = LearningSettings.__dataclass_fields__
    unknown = sorted(set(settings) - set(known))
    if unknown:
        raise StimuliError(
            f"unknown settings of the learning domain: {', '.join(unknown)}; it has {', '.join(known)}."
        )
    if settings.get("task", "bandit") not in get_args(Task):
        raise StimuliError(
            f"setting task is {settings['task']!r}; give one of {', '.join(get_args(Task))}."
        )
    for name, value in settings.items():
        whole = known[name].type == "int"
        if name != "task" and (
            isinstance(value, bool) or not isinstance(value, int if whole else int | float)
        ):
            raise StimuliError(f"setting {name!r} of the learning domain cannot be {value!r}.")
    read = LearningSettings(**settings)
    limits = {
        "n_steps": (1, MOST_STEPS),
        "n_options": (2, MOST_OPTIONS),
        "n_blocks": (1, read.n_steps),
        "best": (0, 1),
        "others": (0, 1),
        "reversal_every": (1, MOST_STEPS),
        "drift": (0, 1),
        "common": (0, 1),
        "n_cues": (1, MOST_CUES),
        "fewest_cues": (0, read.n_cues),
    }
    check_limits(read, limits)
    if read.task in ("two_step", "go_nogo") and (read.n_cues > 1 or read.fewest_cues):
        raise StimuliError(f"n_cues and fewest_cues are no settings of the {read.task} task.")
    if read.task == "go_nogo" and read.n_options != 2:
        raise StimuliError("the go/no-go task has 2 options.")
    n_cues, n_steps = n_cues_of(read), read.n_steps // read.n_blocks
    if n_cues > 1 and n_steps < 2 * n_cues:
        raise StimuliError(
            f"n_steps: in blocks of {n_steps} steps some of {n_cues} cues come once, so that nothing can be learned "
            "about them; give more steps, or fewer blocks or cues."
        )
    if read.task == "two_step" and (
        read.n_options != 2 or read.n_steps % 2 or (read.n_steps // 2) % read.n_blocks
    ):
        raise StimuliError(
            "the two-step task has 2 options, an even number of steps, and equal blocks."
        )
    return read


def n_cues_of(settings: LearningSettings) -> int:
    """Cues of a study's task; 1 without any."""
    return N_GO_CUES if settings.task == "go_nogo" else settings.n_cues


def steps(
    n_steps: int,
    n_options: int,
    *,
    stage: Array | None = None,
    block_start: Array | None = None,
    payoff: Array | None = None,
    next_state: Array | None = None,
    cue: Array | None = None,
    go: int = 0,
    losses: bool = False,
) -> Stimuli:
    """A schedule; what would follow is 0 where it is not known, as in archives.

    Args:
        n_steps: Rows.
        n_options: Options of each step.
        stage: ``(n_steps,)`` 0 for a first or only stage, 1 for the second.
        block_start: ``(n_steps,)`` 1 where a new game begins; by default at the first step alone.
        payoff: ``(n_steps, n_states, n_options)`` reward by state and option; states are cues, or three.
        next_state: ``(n_steps, n_states, n_options)`` where each choice leads.
        cue: ``(n_steps,)`` from 0; none where there is one.
        go: 1 if the second option is to respond and the first to withhold a response, -1 the other way round.
        losses: Whether rewards are gains and losses, between -1 and 1.
    """
    first = (np.arange(n_steps) == 0).astype(np.float64)
    n_states = N_STATES if cue is None else int(np.max(cue)) + 1
    shape = (n_steps, n_states, n_options) if payoff is None else np.shape(payoff)
    found = Stimuli(
        {
            "available": np.ones((n_steps, n_options)),
            "stage": np.zeros(n_steps) if stage is None else np.asarray(stage, dtype=np.float64),
            "block_start": first
            if block_start is None
            else np.asarray(block_start, dtype=np.float64),
            "position": np.arange(n_steps, dtype=np.float64),
            "payoff": np.zeros(shape) if payoff is None else np.asarray(payoff, dtype=np.float64),
            "next_state": np.zeros(shape)
            if next_state is None
            else np.asarray(next_state, dtype=np.float64),
        }
    )
    added = {"go": np.full(n_steps, float(go))} if go else {}
    added |= {"has_losses": np.ones(n_steps)} if losses else {}
    if cue is not None:
        added |= {"cue": np.asarray(cue, dtype=np.float64), "set_size": _set_sizes(found, cue)}
    return Stimuli(dict(found.arrays) | added)


def _set_sizes(stimuli: Stimuli, cue: Array) -> Array:
    """``(n_steps,)`` number of different cues of the game."""
    pairs = np.unique(np.stack([games(stimuli), cue], axis=1), axis=0)
    sizes = np.bincount(pairs[:, 0].astype(np.intp)).astype(np.float64)
    return np.asarray(sizes[games(stimuli)])


def games(stimuli: Stimuli) -> NDArray[np.intp]:
    """``(n_steps,)`` number of the game of each step, from 0, those of schedules one after the other."""
    begins = np.asarray(stimuli["block_start"]) > 0
    return np.asarray(np.maximum(np.cumsum(begins) - 1, 0))


def schedule(settings: LearningSettings, rng: np.random.Generator) -> Stimuli:
    """One schedule drawn at random."""
    n_steps, n_options = settings.n_steps, settings.n_options
    if settings.task == "two_step":
        return _two_step(settings, rng)
    block = np.arange(n_steps) * settings.n_blocks // n_steps
    block_start = np.diff(block, prepend=-1) > 0
    n_cues = n_cues_of(settings)
    best = np.zeros((n_steps, n_cues), dtype=int)
    until = 0
    for step in range(n_steps):
        if block_start[step]:
            best[step:] = rng.integers(n_options, size=n_cues)
            until = step + steps_to_reversal(settings.reversal_every, rng)
        elif settings.task == "reversal" and step >= until:
            best[step:] = (best[step] + 1 + rng.integers(n_options - 1)) % n_options
            until = step + steps_to_reversal(settings.reversal_every, rng)
    if settings.task == "go_nogo":
        best = np.tile([1, 1, 0, 0], (n_steps, 1))
    is_best = np.arange(n_options) == best[..., None]
    chance = np.where(is_best, settings.best, settings.others)
    payoff = np.zeros((n_steps, n_cues if n_cues > 1 else N_STATES, n_options))
    payoff[:, :n_cues] = rng.random((n_steps, n_cues, n_options)) < chance
    if settings.task == "go_nogo":  # what is not won is nothing, or a loss
        payoff -= np.array([0, 1, 0, 1])[:, None]
    cue = _cues(settings, block, rng) if n_cues > 1 else None
    is_go = settings.task == "go_nogo"
    return steps(
        n_steps,
        n_options,
        block_start=block_start,
        payoff=payoff,
        cue=cue,
        go=int(is_go),
        losses=is_go,
    )


def _cues(settings: LearningSettings, block: Array, rng: np.random.Generator) -> Array:
    """``(n_steps,)`` cue of each step: all cues of the block in an order by lot, again and again."""
    most = n_cues_of(settings)
    fewest = settings.fewest_cues or most
    found = np.zeros(len(block))
    for number in range(settings.n_blocks):
        rows = np.flatnonzero(block == number)
        found[rows] = balanced(fewest + number % (most - fewest + 1), len(rows), rng)
    return found


def balanced(n: int, n_steps: int, rng: np.random.Generator) -> Array:
    """``(n_steps,)`` numbers below ``n``: all in an order by lot, again and again."""
    rounds = [rng.permutation(n) for _ in range(-(-n_steps // n))]
    return np.concatenate(rounds)[:n_steps]


def steps_to_reversal(mean: int, rng: np.random.Generator) -> int:
    """Steps to the next reversal: within a fifth of the mean, so that it cannot be counted out."""
    around = mean // 5
    return int(rng.integers(mean - around, mean + around + 1))


def _two_step(settings: LearningSettings, rng: np.random.Generator) -> Stimuli:
    """Alternating stages; second-stage probabilities wander between reflecting walls.

    References:
        Daw, Gershman, Seymour, Dayan & Dolan (2011), Neuron 69(6), 1204-1215.
    """
    n_trials = settings.n_steps // 2
    per_block = n_trials // settings.n_blocks
    payoff = np.zeros((settings.n_steps, N_STATES, 2))
    next_state = np.zeros((settings.n_steps, N_STATES, 2))
    chance = np.zeros((2, 2))
    for trial in range(n_trials):
        if trial % per_block == 0:
            chance = rng.uniform(0.25, 0.75, (2, 2))
        payoff[2 * trial + 1, 1:] = rng.random((2, 2)) < chance
        is_common = rng.random() < settings.common
        next_state[2 * trial, 0] = (1, 2) if is_common else (2, 1)
        wandered = np.abs(chance + rng.normal(0, settings.drift, (2, 2)) - 0.25) + 0.25
        chance = np.clip(np.where(wandered > 0.75, 1.5 - wandered, wandered), 0.0, 1.0)
    row = np.arange(settings.n_steps)
    return steps(
        settings.n_steps,
        2,
        stage=row % 2,
        block_start=(row % (2 * per_block) == 0),
        payoff=payoff,
        next_state=next_state,
    )


def two_step_trials(
    experiment: str,
    people: Sequence[Sequence[TwoStepTrial]],
    attributes: Mapping[str, Array] | None = None,
    *,
    losses: bool = False,
) -> Trials:
    """Published answers to the two-step task, person by person; what other picks would have done is not known."""
    n_steps = 2 * max(map(len, people))
    lengths = [2 * len(own) for own in people]
    table = np.array([trial for own in people for trial in own])
    response = table[:, [0, 2]].astype(np.int64).ravel()
    nothing = np.zeros(len(table))
    return Trials(
        experiment=experiment,
        stimuli=steps(n_steps, 2, stage=np.arange(n_steps) % 2, losses=losses),
        participant=np.repeat(np.arange(len(people)), lengths),
        trial=np.concatenate([np.arange(length) for length in lengths]),
        response=response,
        count=np.ones(len(response), dtype=np.int64),
        n_people=len(people),
        feedback={
            "reward": np.stack([nothing, table[:, 3]], axis=1).ravel(),
            "next_state": np.stack([table[:, 1], nothing], axis=1).ravel(),
        },
        attributes=attributes or {},
    )


def _is_cue(stimuli: Stimuli, n_states: int) -> Array:
    """``(n_steps, 1)`` whether a cue is the number of a state, where there are cues."""
    cue = stimuli.arrays.get("cue")
    if cue is None:
        return np.ones((len(stimuli), 1), dtype=bool)
    is_one = np.isin(cue, range(n_states)) & (stimuli["stage"] == 0)
    return np.asarray(is_one)[:, None]


def _comes_again(stimuli: Stimuli) -> Array:
    """``(n_steps, 1)`` whether some game, of any schedule, has the cue of the step twice, where there are cues."""
    cue = stimuli.arrays.get("cue")
    if cue is None or not len(stimuli):
        return np.ones((len(stimuli), 1), dtype=bool)
    pairs, n = np.unique(np.stack([games(stimuli), cue], axis=1), axis=0, return_counts=True)
    return np.isin(cue, pairs[n > 1, 1])[:, None]


class LearningDomain:
    """Choices whose consequences are seen."""

    name: str = "learning"
    options: tuple[str, ...] = ("A", "B")
    sequential: bool = True

    def layout(self) -> StimulusLayout:
        """Return how trials are written as columns of a file."""
        from lakatos.domains.learning.reader import LAYOUT

        return LAYOUT

    def family(self) -> Family:
        """The theories about this task."""
        from lakatos.domains.learning.theories import FAMILY

        return FAMILY

    def n_options(self, stimuli: Stimuli) -> int:
        """Number of options that a step can have; the schedule says which of them are there."""
        return int(stimuli["available"].shape[-1])

    def sizes(self, stimuli: Stimuli) -> NDArray[np.intp]:
        """Steps of a schedule are asked one by one; see `experiments.task.Domain.sizes`."""
        return np.ones(len(stimuli), dtype=np.intp)

    def shown(
        self, arrays: Mapping[str, Array], before: Mapping[str, Array]
    ) -> Mapping[str, Array]:
        """The arrays that people see, and the state that they are in."""
        n_sequences, n_states = arrays["payoff"].shape[:2]
        here = np.zeros((1, n_sequences))
        seen = {name: arrays[name] for name in (*SHOWN, *SEEN_IN_SOME) if name in arrays}
        if "cue" in arrays:
            here = here + arrays["cue"]
        elif "next_state" in before:
            here = before["next_state"] * (arrays["stage"] > 0)
        none = np.zeros((1, n_sequences))
        usual = {"set_size": none + 1, "go": none, "has_losses": none}
        states = np.tile(np.arange(n_states, dtype=np.float64), (1, n_sequences, 1))
        return usual | seen | {"state": here, "states": states}

    def feedback(
        self, arrays: Mapping[str, Array], shown: Mapping[str, Array], response: Array
    ) -> dict[str, Array]:
        """``reward`` and ``next_state``, as the schedule has fixed them for each state and option."""
        state = np.broadcast_to(shown["state"], response.shape).astype(np.intp)
        sequence = np.arange(response.shape[1])
        return {
            "reward": arrays["payoff"][sequence, state, response],
            "next_state": arrays["next_state"][sequence, state, response],
        }

    def lacking(self, settings: Mapping[str, Any]) -> Mapping[str, str]:
        """See `experiments.outcomes.LacksInputs`: cues, and an option to withhold a response.

        Raises:
            StimuliError: A setting is wrong.
        """
        read = read_settings(settings)
        why = {
            "cue": "" if n_cues_of(read) > 1 else "its steps have no cues (n_cues)",
            "go": "" if read.task == "go_nogo" else "no option is to withhold a response (go_nogo)",
        }
        return {name: words for name, words in why.items() if words}

    def estimated_outcomes(
        self, trials: Trials, n_people: int, rng: np.random.Generator
    ) -> tuple[Stimuli, str]:
        """Estimate what unchosen options would have paid; see `experiments.outcomes.EstimatesOutcomes`.

        Raises:
            TrialsError: The responses do not say it.
        """
        return estimated_schedule(trials, n_people, rng)

    def candidates(
        self, settings: Mapping[str, Any], rng: np.random.Generator, n_most: int
    ) -> Stimuli:
        """One schedule drawn at random, whole, whatever ``n_most``: its steps mean nothing without one another.

        Raises:
            StimuliError: A setting is wrong.
        """
        return schedule(read_settings(settings), rng)

    def space(self, settings: Mapping[str, Any]) -> Stimuli:
        """One schedule that stands for all: they are too many to list.

        Raises:
            StimuliError: A setting is wrong.
        """
        return schedule(read_settings(settings), np.random.default_rng(0))

    def check(self, stimuli: Stimuli) -> None:
        """Raise `StimuliError` naming the first step that no schedule can have."""
        names = (*SHOWN, *(name for name in SEEN_IN_SOME if name in stimuli.arrays), *HIDDEN)
        if set(stimuli.arrays) != set(names):
            raise StimuliError(
                f"schedules have the arrays {', '.join(names)}, not {', '.join(sorted(stimuli.arrays))}."
            )
        n_steps, n_options = len(stimuli), stimuli["available"].shape[-1]
        n_states = stimuli["payoff"].shape[1] if "cue" in names else N_STATES
        shapes = {"available": (n_steps, n_options), "payoff": (n_steps, n_states, n_options)}
        shapes |= {"next_state": shapes["payoff"]}
        for name in names:
            if stimuli[name].shape != shapes.get(name, (n_steps,)):
                raise StimuliError(
                    f"array {name!r} has shape {stimuli[name].shape}, not {shapes.get(name, (n_steps,))}."
                )
        flat = {
            name: np.asarray(stimuli[name], dtype=np.float64).reshape(n_steps, -1) for name in names
        }
        rules = (
            (
                np.isfinite(np.concatenate(list(flat.values()), axis=1)),
                "all numbers must be finite",
            ),
            (np.isin(flat["available"], (0, 1)), "available is 0 or 1"),
            (
                flat["available"].sum(axis=1, keepdims=True) >= 1,
                "at least one option must be available",
            ),
            (np.isin(flat["stage"], (0, 1)), "stage is 0 or 1"),
            (np.isin(flat["block_start"], (0, 1)), "block_start is 0 or 1"),
            (np.isin(flat["next_state"], range(n_states)), f"next_state is 0 to {n_states - 1}"),
            (
                _is_cue(stimuli, n_states),
                f"cue is 0 to {n_states - 1}, and there is no second stage",
            ),
            (
                _comes_again(stimuli),
                "its cue comes once only, so that nothing can be learned about it",
            ),
        )
        for holds, words in rules:
            if not holds.all():
                raise StimuliError(
                    f"step {int(np.flatnonzero(~holds.all(axis=1))[0])} of the schedule: {words}."
                )

    def admits(self, settings: Mapping[str, Any], stimuli: Stimuli) -> Array:
        """See `experiments.task.Domain.admits`: schedules of the study's length and number of options, whole."""
        read = read_settings(settings)
        fits = stimuli["available"].shape == (read.n_steps, read.n_options)
        return np.full(len(stimuli), fits)

    def probes(self, rng: np.random.Generator) -> Sequence[Stimuli]:
        """Short schedules of every task, with two and three options, one block and several, gains and losses."""
        plans = (
            {"task": "bandit", "n_steps": 12},
            {"task": "bandit", "n_steps": 12, "n_options": 3, "n_blocks": 3},
            {
                "task": "reversal",
                "n_steps": 15,
                "n_options": 3,
                "reversal_every": 5,
                "best": 1.0,
                "others": 0.0,
            },
            {"task": "two_step", "n_steps": 16, "n_blocks": 2},
            {"task": "go_nogo", "n_steps": 16},
        )
        sets = [schedule(read_settings(plan), rng) for plan in plans]
        losses = dict(sets[0].arrays) | {
            "payoff": sets[0]["payoff"] * rng.uniform(-1, 1, sets[0]["payoff"].shape),
            "has_losses": np.ones(len(sets[0])),
        }
        return [*sets, Stimuli(losses)]

    def features(self, stimuli: Stimuli) -> Mapping[str, Array]:
        """Properties of steps that are known beforehand."""
        starts = np.flatnonzero(np.asarray(stimuli["block_start"]) > 0)
        position = np.arange(len(stimuli), dtype=np.float64)
        places = np.searchsorted(starts, position, side="right") - 1
        since = position - np.where(
            places >= 0, starts[np.maximum(places, 0)] if len(starts) else 0, 0
        )
        return {
            "position": np.asarray(stimuli["position"], dtype=np.float64),
            "steps_since_start": since,
            "stage": np.asarray(stimuli["stage"], dtype=np.float64),
            "block_start": np.asarray(stimuli["block_start"], dtype=np.float64),
            "n_available": np.asarray(stimuli["available"], dtype=np.float64).sum(axis=-1),
            **({"set_size": stimuli["set_size"]} if "set_size" in stimuli.arrays else {}),
        }

    def swap_sides(self, stimuli: Stimuli) -> Stimuli:
        """The same schedule with the options in the opposite order."""
        turned = ("available", *HIDDEN)
        arrays = {
            name: array[..., ::-1] if name in turned else array
            for name, array in stimuli.arrays.items()
        }
        return Stimuli(arrays | {name: -arrays[name] for name in ("go",) if name in arrays})

    def picture(self, stimuli: Stimuli, row: int) -> str:
        """The options of one step as a row of boxes."""
        cell = "border:1px solid #bbb;border-radius:6px;padding:12px 20px;display:inline-block;margin:4px"
        boxes = "".join(
            f'<span style="{cell};{"" if free else "opacity:.3"}">{escape(label)}</span>'
            for label, free in zip(
                self.option_names(stimuli, row), stimuli["available"][row], strict=True
            )
        )
        text = f"Step {int(stimuli['position'][row]) + 1}{cue_in_words(stimuli, row)}" + (
            ", second stage" if stimuli["stage"][row] else ""
        )
        return f'<div style="font-family:system-ui,sans-serif;color:#222"><p>{text}. Pick one.</p>{boxes}</div>'

    def option_names(self, stimuli: Stimuli, row: int) -> list[str]:
        """The options of a step: letters, or to withhold a response and to respond."""
        go = stimuli.arrays.get("go", np.zeros(len(stimuli)))[row]
        if go:
            return ["withhold", "respond"][:: int(go)]
        return [chr(65 + option) for option in range(stimuli["available"].shape[-1])]

    def describe(self, stimuli: Stimuli, row: int) -> str:
        """Number, stage and options of a step, in a line."""
        free = stimuli["available"][row]
        names = [
            name
            for name, is_free in zip(self.option_names(stimuli, row), free, strict=True)
            if is_free
        ]
        stage = ", second stage" if stimuli["stage"][row] else ""
        start = ", a new game begins" if stimuli["block_start"][row] else ""
        step = f"step {int(stimuli['position'][row]) + 1}{cue_in_words(stimuli, row)}"
        return f"{step}{stage}{start}: {' or '.join(names)}"


def cue_in_words(stimuli: Stimuli, row: int, names: Sequence[str] = ()) -> str:
    """The cue of a step, behind a comma, by its name or its number from 1; empty without cues."""
    if "cue" not in stimuli.arrays:
        return ""
    cue = int(stimuli["cue"][row])
    return f", {names[cue]}" if names else f", cue {cue + 1}"


DOMAIN = LearningDomain()
