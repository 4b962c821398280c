"""What options of a file would have paid, estimated from the responses to them, for participants who are simulated.

A file holds the outcomes of chosen options only. Two cases allow an estimate:

1. Participants who chose the same option at the same step received the same: the schedule was fixed, and each outcome
   that anybody received is known.
2. An option pays at a constant rate within a block, the same for all participants: outcomes are drawn from those that
   participants received for this option in this block.

The second is tested. With r the reward of a choice minus the mean of its option and block, and m a mean of the same
participant's earlier r, the product r m has expectation 0 whatever participants chose, if rates are constant; where
they reverse, wander or differ between participants, it has not. Products of one step are summed, since outcomes may be
shared, and the sums of all steps are a martingale difference sequence: their sum over its standard error is compared
with the normal distribution.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Stimuli, Trials

Array = NDArray[Any]
LEAST_SHARED = 10
"""Steps at which several participants chose one option, from which on equal outcomes show a fixed schedule."""
MOST_DEVIATION = 2.5
"""Standard errors of the test of constant rates, beyond which outcomes are not estimated."""
MOST_SHOWN = 6
STEP_ARRAYS = (
    "available", "stage", "block_start", "position", "payoff", "next_state", "cue", "set_size", "go",
    "has_losses",
)  # fmt: skip
"""Arrays of a step other than attributes of its options."""
HOW = (
    'Give a column for each option of what it would have paid at each step: --column \'payoff=["A_COLUMN", '
    '"B_COLUMN"]\', in Python columns={"stimulus": {"payoff": [...]}}.'
)


def estimated_schedule(
    trials: Trials, n_people: int, rng: np.random.Generator
) -> tuple[Stimuli, str]:
    """Schedules of simulated participants; see `experiments.outcomes.EstimatesOutcomes`.

    Raises:
        TrialsError: Rates are not constant, an option was never chosen in a block, or there are two stages.
    """
    if trials.stimuli["stage"].any():
        raise _not_known(
            trials,
            "rewards of a second stage change from trial to trial, and a file has only those received.",
        )
    table = known_outcomes(trials)
    n_trials, n_states, n_options = trials.stimuli["payoff"].shape
    shared = _shared_outcomes(table)
    if shared is None:
        _check_unrelated(trials)
        _check_constant(table, trials)
    # Where participants have schedules of their own, each step is that of one participant, and one draw is enough.
    n_drawn = n_people if (trials.stimuli["position"] == 0).sum() == 1 else 1
    payoff = np.zeros((n_drawn, n_trials, n_options))
    block = _blocks(trials.stimuli)
    received = table.groupby(["block", "option"])["reward"]
    for number in np.unique(block).tolist():
        steps = np.flatnonzero(block == number)
        offered = trials.stimuli["available"][steps].any(axis=0)
        for option in np.flatnonzero(offered).tolist():
            if (number, option) not in received.groups:
                raise _not_known(
                    trials,
                    f"nobody chose option {option + 1} {_named(trials, number)}, so that its rate is not known.",
                )
            own = received.get_group((number, option)).to_numpy()
            payoff[:, steps, option] = rng.choice(own, size=(n_drawn, len(steps)))
    if shared is not None:
        for (step, option), reward in shared.items():
            payoff[:, step, option] = reward
    arrays = {
        name: np.concatenate([array] * n_drawn) for name, array in trials.stimuli.arrays.items()
    }
    by_state = np.repeat(payoff.reshape(n_drawn * n_trials, 1, n_options), n_states, axis=1)
    return Stimuli(arrays | {"payoff": by_state}), _note(trials, table, shared)


def _blocks(stimuli: Stimuli) -> Array:
    """``(n_trials,)`` number of the block of each step, of each schedule from 0; each cue of a block counts as one."""
    block = np.cumsum(np.asarray(stimuli["block_start"]) > 0)
    first = block[
        np.maximum.accumulate(np.where(stimuli["position"] == 0, np.arange(len(block)), 0))
    ]
    n_states = stimuli["payoff"].shape[1] if "cue" in stimuli.arrays else 1
    return np.asarray((block - first) * n_states + stimuli.arrays.get("cue", 0)).astype(np.intp)


def _named(trials: Trials, number: int) -> str:
    """A block, and its cue where there are cues, in words."""
    if "cue" not in trials.stimuli.arrays:
        return f"in block {number + 1}"
    block, cue = divmod(number, trials.stimuli["payoff"].shape[1])
    return f"for cue {cue + 1} in block {block + 1}"


def known_outcomes(trials: Trials) -> pd.DataFrame:
    """A row for each outcome that participants saw, in the order of their steps: of the chosen option, or of each."""
    columns = {
        "person": trials.participant,
        "step": trials.trial,
        "block": _blocks(trials.stimuli)[trials.trial],
    }
    n_options = trials.stimuli["available"].shape[1]
    each = [f"outcome_{place + 1}" for place in range(n_options)]
    if set(each) <= set(trials.feedback):
        parts = [
            pd.DataFrame({**columns, "option": place, "reward": trials.feedback[name]})
            for place, name in enumerate(each)
        ]
    else:
        parts = [
            pd.DataFrame(
                {**columns, "option": trials.response, "reward": trials.feedback["reward"]}
            )
        ]
    table = pd.concat(parts, ignore_index=True)
    return table.sort_values(["person", "step"], kind="stable").reset_index(drop=True)


def _shared_outcomes(table: pd.DataFrame) -> Mapping[tuple[int, int], float] | None:
    """Outcomes by step and option where they were the same for all participants; None where they were not."""
    cells = table.groupby(["step", "option"])["reward"].agg(["min", "max", "size"])
    several = cells[cells["size"] > 1]
    is_same = bool((several["max"] - several["min"] < 1e-9).all())
    if not is_same or len(several) < LEAST_SHARED or np.ptp(several["min"]) == 0:
        return None
    return {
        (int(step), int(option)): float(value) for (step, option), value in cells["min"].items()
    }


def deviation_from_constant(table: pd.DataFrame) -> float:
    """Standard errors by which outcomes depart from constant rates, the larger of two: after the last, after all."""
    mean = table.groupby(["block", "option"])["reward"].transform("mean")
    own = table.assign(rest=table["reward"] - mean)
    rest = own.groupby(["person", "block", "option"])["rest"]
    n_before = rest.cumcount()
    earlier = {
        "last": rest.shift(1),
        "all": (rest.cumsum() - own["rest"]) / n_before.where(n_before > 0),
    }
    found = [0.0]
    for values in earlier.values():
        by_step = (own["rest"] * values).dropna().groupby(own["step"]).sum().to_numpy()
        error = float(np.sqrt((by_step**2).sum()))
        found.append(abs(float(by_step.sum())) / error if error > 0 else 0.0)
    return max(found)


def _check_unrelated(trials: Trials) -> None:
    """Refuse tasks whose outcomes may depend on what options show at a step."""
    others = set(trials.stimuli.arrays) - {*STEP_ARRAYS}
    varying = [
        name for name in sorted(others) if (trials.stimuli[name] != trials.stimuli[name][:1]).any()
    ]
    if varying:
        raise _not_known(
            trials, f"it may depend on {' and '.join(varying)}, which change from step to step."
        )


def _check_constant(table: pd.DataFrame, trials: Trials) -> None:
    """Refuse outcomes whose rates are not constant within a block and equal for all participants."""
    deviation = deviation_from_constant(table)
    if deviation > MOST_DEVIATION:
        raise _not_known(
            trials,
            "rates of reward cannot be estimated by option and block either: they change within a block or differ "
            f"between participants ({deviation:.1f} standard errors from constant rates).",
        )


def _not_known(trials: Trials, why: str) -> TrialsError:
    """The refusal to simulate."""
    return TrialsError(
        f"{trials.experiment}: participants cannot be simulated, since what unchosen options would have paid is not "
        f"known; {why} {HOW}"
    )


def _note(
    trials: Trials, table: pd.DataFrame, shared: Mapping[tuple[int, int], float] | None
) -> str:
    """Describe how the outcomes of simulated participants were estimated."""
    begin = f"{trials.experiment}: outcomes of simulated participants are estimated from the file"
    if shared is not None:
        n_cells = int(np.asarray(trials.stimuli["available"]).sum())
        return (
            f"{begin}: participants who chose one option at one step received the same, so these outcomes are kept; "
            f"the {n_cells - len(shared)} of {n_cells} that nobody received are drawn by option and block"
        )
    means = table.groupby(["block", "option"])["reward"].mean()
    n_blocks = table["block"].nunique()
    words = [
        f"{f'{_named(trials, block)}, ' if n_blocks > 1 else ''}option {option + 1}: {mean:.2f}"
        for (block, option), mean in list(means.items())[:MOST_SHOWN]
    ]
    more = "; ..." if len(means) > MOST_SHOWN else ""
    deviation = deviation_from_constant(table)
    return (
        f"{begin}: drawn from rewards received for the same option in the same block (mean {'; '.join(words)}{more}),"
        " as if rates were constant there and the same for all participants, from which rewards depart by "
        f"{deviation:.1f} standard errors"
    )
