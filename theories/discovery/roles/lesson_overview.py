"""Overview of behaviour after outcomes, short enough for a prompt: staying, switching, lags, curves, some sequences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import AnswerSequences, Trials
from lakatos.theories.discovery.roles.exhibit import Exhibit, rounded, share_text
from lakatos.theories.discovery.roles.option_name import option_names
from lakatos.theories.discovery.roles.typed_claim import PEOPLE, ClaimFact, facts_in
from lakatos.traces.digest import Digest

REWARD: Final = "reward"
"""Outcome of the chosen option, in every task with feedback."""
BEGINS: Final = "block_start"
"""Array of trials that is 1 where a new game begins."""
N_LAGS: Final = 5
N_PICKS: Final = {0: 3, 1: 3, 2: 3, 3: 2, 4: 2}
"""Last picks that are looked at together, by the number of levels of their outcomes."""
N_BLOCKS: Final = 6
MOST_LEVELS: Final = 4
"""Different outcomes up to which each is a level of its own; of more, thirds are."""
MOST_STEPS: Final = 40
"""Steps of a sequence that are shown."""
LEAST: Final = 5
"""Responses from which on a share is shown."""

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def lessons_exhibit(trials: Trials, digest: Digest, name: str, place: int) -> Exhibit | None:
    """Show how an experiment's responses depend on what followed earlier ones; None where outcomes are unknown.

    Args:
        trials: Trials of one experiment of a task with feedback, not counts.
        digest: Digest of the record of the responses.
        name: Name of the experiment.
        place: Place of the experiment among those of the study, from 1 on.
    """
    if trials.pooled or REWARD not in trials.feedback or (trials.count != 1).any():
        return None
    answers = trials.sequences
    given, games = answers.trial >= 0, games_of(trials)
    reward = np.asarray(answers.feedback[REWARD], dtype=np.float64)
    levels = outcome_levels(reward, given)
    names = option_names(trials.n_options)
    value: dict[str, Any] = {
        "share that stays with the last option, after an outcome": repeats_of_lag(
            answers, levels, games, 1, counted=True
        ),
        "share that chooses as so many steps before, by the outcome then": {
            f"{lag} before": shares
            for lag in range(2, N_LAGS + 1)
            if (shares := repeats_of_lag(answers, levels, games, lag))
        },
        f"share of {names[-1] if len(names) == 2 else 'each option'}, by the last outcome of each option": (
            shares_by_last_outcomes(answers, levels, games, names)
        ),
        "share that stays, by the last picks, newest first: "
        f"s the same option as the last, o another, outcomes as {_signs(levels)}": (
            stays_by_pattern(answers, levels, games)
        ),
        f"by sixth of the session: share of {' / '.join(names)}; mean outcome": learning_curve(
            answers, reward, trials.n_options
        ),
        f"option and outcome of the first {MOST_STEPS} steps, outcomes as {_signs(levels)}": (
            some_sequences(answers, reward, levels)
        ),
    }
    value = {title: item for title, item in value.items() if item}
    facts = [
        ClaimFact(item.quantity, item.value, PEOPLE, experiment=name, decimals=2)
        for item in facts_in(value)
    ]
    title = f"experiment {name}: what follows outcomes"
    return Exhibit(title, _shares_as_shown(value), digest, tuple(facts), place)


def _shares_as_shown(value: Any) -> Any:
    """Values with their shares as text."""
    if isinstance(value, Mapping):
        return {name: _shares_as_shown(item) for name, item in value.items()}
    return share_text(value) if isinstance(value, float) else value


def outcome_levels(reward: Floats, given: Bools) -> list[tuple[str, Bools]]:
    """Levels of an outcome, each with the places that have it: its values, or thirds where there are many."""
    values = np.unique(reward[given])
    if len(values) <= MOST_LEVELS:
        return [(f"{rounded(float(value)):g}", given & (reward == value)) for value in values]
    low, high = np.quantile(reward[given], [1 / 3, 2 / 3])
    return [
        (f"up to {rounded(low)}", given & (reward <= low)),
        ("between", given & (reward > low) & (reward < high)),
        (f"from {rounded(high)}", given & (reward >= high) & (reward > low)),
    ]


def games_of(trials: Trials) -> NDArray[np.intp]:
    """``(n_participants, n_steps)`` number of the game of each step; nothing of one game is known in the next."""
    steps = trials.sequences.trial
    if BEGINS not in trials.stimuli.arrays:
        return np.zeros(steps.shape, dtype=np.intp)
    begins = np.asarray(trials.stimuli[BEGINS])[steps] > 0
    return np.asarray(np.cumsum(begins, axis=1))


def repeats_of_lag(
    answers: AnswerSequences,
    levels: Sequence[tuple[str, Bools]],
    games: NDArray[np.intp],
    lag: int,
    *,
    counted: bool = False,
) -> dict[str, Any]:
    """Share of responses that equal the one ``lag`` steps before, by the outcome of that one."""
    given, response = answers.trial >= 0, answers.response
    same = response[:, lag:] == response[:, :-lag]
    found: dict[str, Any] = {}
    for name, places in levels:
        at = places[:, :-lag] & given[:, lag:] & (games[:, lag:] == games[:, :-lag])
        if (n := int(at.sum())) < LEAST:
            continue
        share = float(same[at].mean())
        found[name] = {"share": share, "responses": n} if counted else share
    return found


def stays_by_pattern(
    answers: AnswerSequences, levels: Sequence[tuple[str, Bools]], games: NDArray[np.intp]
) -> dict[str, Any]:
    """Share of responses that equal the last one, by option and outcome of the last `N_PICKS` picks."""
    given, response, n = answers.trial >= 0, answers.response, N_PICKS[len(levels)]
    signs = _signs_of(levels, given.shape)
    stayed: dict[str, list[bool]] = {}
    for row, step in zip(*np.nonzero(given[:, n:]), strict=True):
        past = range(step + n - 1, step - 1, -1)
        now, last = response[row, step + n], response[row, step + n - 1]
        if games[row, step] != games[row, step + n]:
            continue
        key = " ".join(("s" if response[row, k] == last else "o") + signs[row, k] for k in past)
        stayed.setdefault(key, []).append(now == last)
    return {key: float(np.mean(stayed[key])) for key in sorted(stayed) if len(stayed[key]) >= LEAST}


def shares_by_last_outcomes(
    answers: AnswerSequences,
    levels: Sequence[tuple[str, Bools]],
    games: NDArray[np.intp],
    names: Sequence[str],
) -> dict[str, Any]:
    """Choices by what followed each option when it was chosen last.

    Of two options, the share of the second for each pair of last outcomes; of more, how often an option is chosen by
    its own last outcome.
    """
    given, response, n_options = answers.trial >= 0, answers.response, len(names)
    last = np.full((len(given), n_options), -1)
    level = np.full(given.shape, -1)
    for place, (_, places) in enumerate(levels):
        level[places] = place
    chosen: dict[str, list[bool]] = {}
    titles = ["not yet chosen", *(name for name, _ in levels)]
    for step in range(given.shape[1]):
        if step:
            last[games[:, step] != games[:, step - 1]] = -1
        for row in np.flatnonzero(given[:, step]):
            now = int(response[row, step])
            if n_options == 2:
                key = ", ".join(
                    f"{name} {titles[last[row, place] + 1]}" for place, name in enumerate(names)
                )
                chosen.setdefault(key, []).append(now == 1)
            else:
                for place in range(n_options):
                    chosen.setdefault(titles[last[row, place] + 1], []).append(now == place)
            last[row, now] = level[row, step]
    return {key: float(np.mean(chosen[key])) for key in sorted(chosen) if len(chosen[key]) >= LEAST}


def learning_curve(answers: AnswerSequences, reward: Floats, n_options: int) -> list[str]:
    """Shares of options and mean outcome in each sixth of a session."""
    given = answers.trial >= 0
    n_steps = given.sum(axis=1, keepdims=True)
    block = np.arange(given.shape[1])[None] * N_BLOCKS // np.maximum(n_steps, 1)
    lines = []
    for number in range(N_BLOCKS):
        at = given & (block == number)
        if not at.any():
            continue
        shares = [
            share_text(float((answers.response[at] == option).mean()))
            for option in range(n_options)
        ]
        lines.append(f"{number + 1}. {' / '.join(shares)}; {rounded(float(reward[at].mean()))}")
    return lines


def some_sequences(
    answers: AnswerSequences, reward: Floats, levels: Sequence[tuple[str, Bools]]
) -> dict[str, str]:
    """Sequences of the participants with the lowest, the middle and the highest mean outcome."""
    given = answers.trial >= 0
    n_steps = given.sum(axis=1)
    mean = np.where(n_steps > 0, (reward * given).sum(axis=1) / np.maximum(n_steps, 1), np.nan)
    order = np.argsort(mean, kind="stable")[: int((n_steps > 0).sum())]
    if not len(order):
        return {}
    signs = _signs_of(levels, given.shape)
    found = {}
    for title, row in zip(
        ("lowest", "middle", "highest"), (order[0], order[len(order) // 2], order[-1]), strict=True
    ):
        steps = np.flatnonzero(given[row])[:MOST_STEPS]
        text = "".join(f"{answers.response[row, step] + 1}{signs[row, step]}" for step in steps)
        found[f"participant {int(row)}, {title} mean outcome ({rounded(float(mean[row]))})"] = text
    return found


_SIGNS: Final = {0: "", 1: "+", 2: "-+", 3: "-o+", 4: "-,o+"}
"""A mark for each level of an outcome, from the lowest on."""


def _signs_of(levels: Sequence[tuple[str, Bools]], shape: tuple[int, ...]) -> NDArray[np.str_]:
    """The mark of each outcome; empty where there is none."""
    signs = np.full(shape, "", dtype="U1")
    for place, (_, places) in enumerate(levels):
        signs[places] = _SIGNS[len(levels)][place]
    return signs


def _signs(levels: Sequence[tuple[str, Bools]]) -> str:
    return ", ".join(
        f"{sign} {name}" for sign, (name, _) in zip(_SIGNS[len(levels)], levels, strict=True)
    )
