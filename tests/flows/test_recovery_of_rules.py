"""Whole small campaigns find hidden rules in games and in estimates of functions, where answers are numbers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from lakatos.flows.run.run import read_state
from lakatos.flows.start import run_study

sys.path.insert(0, str(Path(__file__).parent))
from small import small_study

OUTSIDE_GAMES = '''"""Outside: people take the row of more equal payoffs, unless the other pays ten more somewhere."""
PARAMETERS = {"care": {"prior": "uniform", "low": 0.7, "high": 0.95}}


def choose(parameters, trials, xp):
    own = trials["own"]
    unlike = xp.abs(own[:, :, 1] - own[:, :, 0])
    best = own.max(axis=-1)
    tempted = xp.abs(best[:, 1] - best[:, 0]) >= 10
    second = xp.where(tempted, best[:, 1] > best[:, 0], unlike[:, 1] < unlike[:, 0])
    p = 0.5 + (parameters["care"] - 0.5) * xp.where(second, 1.0, -1.0)[None]
    return xp.stack([1 - p, p], axis=-1)
'''
OUTSIDE_ESTIMATION = '''"""Outside: people answer the height of the highest point, with some scatter."""
from scipy import special

PARAMETERS = {"scatter": {"prior": "uniform", "low": 0.1, "high": 0.3}}


def choose(parameters, trials, xp):
    highest = (trials["points_y"] - 1e6 * (1 - trials["shown"])).max(axis=-1)[None, :, None]
    edges = xp.linspace(-1.1, 1.1, 23)
    below = special.ndtr((edges[1:-1] - highest) / parameters["scatter"][..., None])
    none = 0.0 * below[..., :1]
    below = xp.concatenate([none, below, none + 1.0], axis=-1)
    return below[..., 1:] - below[..., :-1]
'''
GAMES: dict[str, Any] = {
    "domain": "games",
    "space": {"n_games": 120},
    "theories__seeds": ["level_1", "maximin"],
}
ESTIMATION: dict[str, Any] = {
    "domain": "estimation",
    "space": {"n_queries": 5, "n_samples": 2},
    "theories__seeds": ["average", "straight_line"],
}
CASES = {
    "inequity aversion": (GAMES, {"theory": "inequity_aversion"}, 0.002),
    "maximax": (GAMES, {"theory": "maximax"}, 0.002),
    "unlike payoffs": (GAMES, {"program": OUTSIDE_GAMES}, 0.03),
    "extrapolated associations": (ESTIMATION, {"theory": "exam"}, 0.0005),
    "growth expected": (ESTIMATION, {"theory": "growth_prior"}, 0.0005),
    "highest point": (ESTIMATION, {"program": OUTSIDE_ESTIMATION}, 0.007),
}
"""Domain and first rivals, the hidden rule, and a bound of the leader's mean squared error against it. Rules outside
the grammar are found in part in games, and not where answers are numbers, of which induction finds no rules."""


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_a_hidden_rule_is_found_from_wrong_first_rivals(name, tmp_path):
    domain, hidden, most = CASES[name]
    study = small_study(
        **domain,
        participants={"source": "simulated", **hidden},
        theories__candidates=30,
        design={
            "trials": 24,
            "participants": 60,
            "candidates": 60,
            "power": 0.5,
            "refused": "cover",
        },
    )
    run_study(study, tmp_path / "run", n_workers=1)
    state, trace = read_state(tmp_path / "run")
    trace.close()
    assert state.campaign.truth is not None
    errors = state.campaign.truth.record.corrected
    leader = errors[state.board().leader.theory]
    assert leader < most
    assert leader <= min(errors[name] for name in state.seeds)
