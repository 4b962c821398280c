"""Whether planted theories of newer kinds of task are named, and participants' parameters recovered.

    python benchmarks/run.py theories/tasks_recovered    # resumes; benchmarks/raw/theories/tasks_recovered.json

Simulated participants follow a published theory; their parameters are drawn from ranges that are usual for it. All
published theories of the task are fitted to the same responses, and each participant is predicted by the others. As in
a campaign, the simplest theory within one standard error of the best leads. The verdict is *right* if the truth leads,
*not told* if its difference from the leader is a tie, and *wrong* otherwise. With ``--recovery``, the parameters of
each participant are estimated on the first seeds, one for each truth (`lakatos theory fit --recovery`); figures are in
``tasks_recovered_parameters.json``.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from benchmarks.cells import complete
from benchmarks.provenance import ROOT, provenance
from lakatos.domains import DOMAINS
from lakatos.experiments.task import Domain, Stimuli, Trials
from lakatos.flows.notebook.fitted import draws_for
from lakatos.flows.stages.score import decided_by_chance
from lakatos.theories.engine.checks.complexity import code_length
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.record import TheoryChecked, TheoryScored, UnitLogPredictives
from lakatos.theories.engine.scoreboard import Scoreboard, scoreboard
from lakatos.theories.engine.scoring.score import UnitScores
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.participant_estimate import (
    SimulatedResponses,
    recover_parameters,
    simulate_participants,
)
from lakatos.theories.language.family import find_family
from lakatos.theories.language.theory import Theory, read_program
from lakatos.traces.digest import digest_of

RESULT = ROOT / "benchmarks" / "raw" / "theories" / "tasks_recovered.json"
PARAMETERS = RESULT.with_name("tasks_recovered_parameters.json")
N_SEEDS = 20
MOST_DRAWS, MOST_WALKED = 2048, 512
"""Draws up to which the scores of theories that chance could reorder are computed anew."""


@dataclass(frozen=True)
class Case:
    """A kind of task with a usual study of it."""

    domain: str
    settings: Mapping[str, Any]
    n_people: int
    truths: tuple[str, ...]
    """Published theories that participants follow, in turn."""
    ranges: Mapping[str, tuple[float, float]]
    """Usual values of each parameter of the truths; of one theory's alone after its name."""
    repetitions: int = 1
    is_turned: bool = False
    """Whether each trial is presented with its sides in both orders."""
    rivals: tuple[str, ...] = ()
    """Published theories that are compared with the truths; empty for all of the domain."""


CUES = {
    "rate": (0.1, 0.5),
    "rate_up": (0.3, 0.6),
    "rate_down": (0.05, 0.2),
    "sensitivity": (2.0, 8.0),
    "stickiness": (0.5, 1.5),
    "lapse": (0.0, 0.1),
}
GO_NO_GO = ("gng_noise", "gng_bias", "gng_pavlovian", "gng_pavlovian_losses")
SEARCH = {
    "level": (0.8, 1.6), "fall": (0.08, 0.25), "sensitivity": (3.0, 8.0), "ambition": (-0.6, 0.2),
    "depth": (-0.05, 0.1), "neglect": (4.0, 7.0), "cutoff": (0.2, 0.5), "wait": (1.0, 4.0), "number": (1.5, 4.0),
}  # fmt: skip
CASES = {
    "perception": Case(
        "perception",
        {"strengths": [0.1, 0.2, 0.4, 0.7, 1.0]},
        20,
        ("ddm", "ratcliff", "lba", "racing_diffusion", "collapsing"),
        {
            "rate": (2.0, 5.0), "bound": (1.0, 2.0), "delay": (0.2, 0.4), "lapse": (0.0, 0.04),
            "base_rate": (0.8, 2.0), "start_range": (0.2, 0.7), "unevenness": (0.6, 1.4),
            "meeting": (1.0, 2.0),
        },
        repetitions=40,
        is_turned=True,
    ),
    "recognition": Case(
        "recognition",
        {"strengths": [0.5, 1.0]},
        30,
        ("sdt", "uvsd", "dual_process", "mixture", "two_high_threshold"),
        {
            "sensitivity": (1.0, 2.5), "criterion": (-0.4, 0.4), "spacing": (0.3, 0.8),
            "old_sd": (1.2, 1.6), "recollection": (0.2, 0.6), "rejection": (0.2, 0.6),
            "attention": (0.4, 0.8), "doubt": (0.2, 0.6),
        },
        repetitions=70,
    ),
    "stopping": Case(
        "stopping",
        {"n_steps": 200, "most": 16},
        24,
        ("bart_par4", "bart_ewmv", "fixed_target", "moving_target", "learned_value"),
        {
            "first_belief": (0.05, 0.3), "experience": (0.02, 0.2), "boldness": (0.5, 1.2),
            "sensitivity": (0.5, 1.5), "fading": (0.005, 0.1), "loss_aversion": (0.5, 2.0),
            "risk_seeking": (-0.1, 0.1), "fall": (0.15, 0.35), "rise": (0.03, 0.12),
            "fixed_target boldness": (4.0, 9.0), "moving_target boldness": (5.0, 9.0),
        },
    ),
    "search": Case(
        "search",
        {"n_steps": 200, "length": 10},
        24,
        ("linear_threshold", "fixed_threshold", "biased_optimal", "optimal_value"),
        SEARCH,
    ),
    "search by ranks": Case(
        "search",
        {"n_steps": 200, "length": 12, "values": "ranks", "reward": "best"},
        24,
        ("cutoff", "successive_noncandidates", "candidate_count", "optimal_best"),
        SEARCH,
    ),
    "sequences": Case(
        "sequences",
        {"n_trials": 60},
        30,
        ("representativeness", "bayesian", "encoding", "local_balance", "regularities"),
        {
            "ideal_alternation": (0.5, 0.8), "weight_of_rate": (2.0, 8.0),
            "weight_of_balance": (2.0, 8.0), "stays": (0.6, 0.9), "motif_of_two": (0.1, 0.6),
            "trust": (0.4, 1.5), "difficulty": (0.3, 1.0), "weight_of_windows": (2.0, 10.0),
            "pull_of_streak": (-6.0, -2.0), "pull_of_mirror": (-1.5, 0.0),
            "pull_of_motif": (-1.5, 0.0), "pull_of_alternating_throughout": (-1.5, 0.0),
            "lapse": (0.0, 0.1),
        },
    ),
    "cues": Case(
        "learning",
        {"n_steps": 180, "n_cues": 3, "best": 0.75, "others": 0.25},
        24,
        ("pst_q", "pst_gainloss_q", "perseveration"),
        CUES,
        rivals=("rescorla_wagner", "two_rates", "forgetting", "fictive_learning", "win_stay_lose_shift"),
    ),
    "go or no-go": Case(
        "learning",
        {"task": "go_nogo", "n_steps": 160, "best": 0.8, "others": 0.2},
        24,
        GO_NO_GO,
        CUES | {"go_bias": (0.2, 1.4), "pavlovian": (0.5, 1.5), "loss_weight": (1.5, 4.0)},
        rivals=("pst_q", "pst_gainloss_q", "perseveration"),
    ),
    "working memory": Case(
        "learning",
        {
            "n_steps": 200, "n_blocks": 5, "n_cues": 6, "fewest_cues": 2, "n_options": 3,
            "best": 1.0, "others": 0.0,
        },
        24,
        ("rlwm", "rescorla_wagner", "forgetting"),
        CUES
        | {
            "reliance": (0.6, 1.0), "capacity": (2.0, 4.0), "decay": (0.02, 0.2),
            "forgetting": (0.05, 0.3),
        },
        rivals=("pst_q", "two_rates", "perseveration"),
    ),
    "two steps": Case(
        "learning",
        {"task": "two_step", "n_steps": 300},
        24,
        ("model_free", "model_based", "hybrid"),
        CUES | {"eligibility": (0.3, 0.9), "planning": (0.2, 0.8)},
        rivals=("rescorla_wagner", "perseveration", "win_stay_lose_shift"),
    ),
}  # fmt: skip


def who_follow(hidden: str, form: Theory, ranges: Mapping[str, tuple[float, float]]) -> Theory:
    """A theory whose participants have the mean and the spread of usual values."""
    people = {}
    for name, prior in form.priors.items():
        own = ranges.get(f"{hidden} {name}") or ranges[name]
        low, high = prior.latent(np.array(own))
        people[name] = prior.narrowed(float(low + high) / 2, float(high - low) / np.sqrt(12))
    return form.with_people(people)


def presented(case: Case, domain: Domain, rng: np.random.Generator) -> Trials:
    """Trials of all participants, to which responses are still to come."""
    stimuli = domain.candidates(case.settings, rng, 200)
    if case.is_turned:
        stimuli = Stimuli.concatenate([stimuli, domain.swap_sides(stimuli)])
    shown = domain.shown(stimuli.arrays, {})
    nothing = np.zeros((1, len(stimuli)), dtype=np.int64)
    feedback = domain.feedback(stimuli.arrays, shown, nothing) if domain.sequential else {}
    n_each = len(stimuli) * case.repetitions
    n_rows = case.n_people * n_each
    return Trials(
        experiment="1",
        stimuli=stimuli,
        participant=np.repeat(np.arange(case.n_people), n_each),
        trial=np.tile(np.arange(n_each) % len(stimuli), case.n_people),
        response=np.zeros(n_rows, dtype=np.int64),
        count=np.ones(n_rows, dtype=np.int64),
        n_options=domain.n_options(stimuli),
        feedback={name: np.zeros(n_rows) for name in feedback},
    )


def board_of(forms: Mapping[str, Theory], scores: Mapping[str, UnitScores]) -> Scoreboard:
    """The scoreboard of a campaign on one experiment, each theory under the digest of its name."""
    own = {
        digest_of(name): TheoryScored(
            theory=digest_of(name), experiment="1", trials=digest_of("1"), engine="", n_draws=0,
            left_out=UnitLogPredictives.of(item), frozen=None, proportions=(), error=0.0, correlation=None,
        )
        for name, item in scores.items()
    }  # fmt: skip
    checked = {
        digest_of(name): TheoryChecked(
            theory=digest_of(name), passed=True, name=form.name, claim="", author="", parents=(), change="",
            cycle=0, n_parameters=len(form.priors), code_length=code_length(form.program.source), checks=(),
            reason="",
        )
        for name, form in forms.items()
    }  # fmt: skip
    return scoreboard(list(own), ["1"], {(name, "1"): item for name, item in own.items()}, checked)


def simulated(
    kind: str, seed: int, laboratory: Laboratory
) -> tuple[dict[str, Theory], str, SimulatedResponses]:
    """Theories of a task, the one that participants follow, and what these responded."""
    case, rng = CASES[kind], np.random.default_rng([7, seed])
    family = find_family(laboratory.domain)
    names = (*case.truths, *case.rivals) if case.rivals else tuple(family.seeds)
    forms = {name: read_program(family.program(name)) for name in names}
    hidden = case.truths[seed % len(case.truths)]
    truth = who_follow(hidden, forms[hidden], case.ranges)
    empty = presented(case, laboratory.domain, rng)
    return forms, hidden, simulate_participants(truth, [empty], laboratory, rng)


def compared(
    forms: Mapping[str, Theory], trials: Sequence[Trials], laboratory: Laboratory
) -> tuple[Scoreboard, int]:
    """The scoreboard of fitted theories, and the draws that it needed, as a campaign raises them."""
    fitted, failed = laboratory.with_people_of(forms, trials)
    if failed:
        raise RuntimeError(str(failed))
    n_draws = draws_for(fitted.values(), laboratory.domain)
    most = MOST_WALKED if laboratory.domain.sequential else MOST_DRAWS
    wanted, scores = set(fitted), dict[str, UnitScores]()
    while True:
        own = [name for name in fitted if name in wanted]
        found = laboratory.scores_of([fitted[name] for name in own], trials, n_draws)
        for name, item in zip(own, found, strict=True):
            if isinstance(item, TheoryError):
                raise item
            scores[name] = item[0].left_out
        board = board_of(fitted, scores)
        unclear = decided_by_chance(board)
        if not unclear or 4 * n_draws > most:
            return board, n_draws
        wanted, n_draws = {name for name in fitted if digest_of(name) in unclear}, 4 * n_draws


def cell(kind: str, seed: int) -> dict[str, Any]:
    """Which theory leads in one study."""
    with Laboratory(DOMAINS[CASES[kind].domain], 1) as laboratory:
        forms, hidden, done = simulated(kind, seed, laboratory)
        board, n_draws = compared(forms, done.trials, laboratory)
    called = {digest_of(name): name for name in forms}
    standing = board.of(digest_of(hidden))
    leads = board.leader.theory == standing.theory
    ties = [called[line.theory] for line in board.standings[1:] if line.tied]
    return {
        "commit": provenance()["commit"],
        "kind": kind,
        "seed": seed,
        "truth": hidden,
        "leader": called[board.leader.theory],
        "verdict": "right" if leads else "not told" if standing.tied else "wrong",
        "truth behind": standing.behind.value,
        "standard error": standing.behind.standard_error,
        "draws": n_draws,
        "theories tied with the leader": len(ties),
        "ties": " ".join(ties),
    }


def recovery(kind: str, seed: int) -> dict[str, Any]:
    """How well the parameters of the participants of one study are recovered."""
    with Laboratory(DOMAINS[CASES[kind].domain], 1) as laboratory:
        forms, hidden, done = simulated(kind, seed, laboratory)
        found = recover_parameters(done, forms[hidden], laboratory)
    return {
        "commit": provenance()["commit"],
        "kind": kind,
        "seed": seed,
        "intervals that hold the truth": float(np.mean([item.covered for item in found])),
        **{
            f"{hidden} {item.parameter}": {
                "correlation": correlation(item.correlation_mean, CASES[kind].n_people),
                "bias": item.bias_mean,
            }
            for item in found
        },
    }


def correlation(value: float, n_people: int) -> dict[str, float]:
    """A correlation with its 95% interval, by Fisher's transformation."""
    middle, half = np.arctanh(value), 1.96 / np.sqrt(n_people - 3)
    low, high = np.tanh([middle - half, middle + half]).tolist()
    return {"value": value, "low": low, "high": high, "n": n_people}


def main() -> None:
    """Run what is missing and print the verdicts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kinds", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--seeds", type=int, default=N_SEEDS)
    parser.add_argument("--recovery", action="store_true")
    chosen = parser.parse_args()
    order = itemgetter("kind", "seed")
    if chosen.recovery:
        wanted = [(kind, seed) for kind in chosen.kinds for seed in range(len(CASES[kind].truths))]
        complete(PARAMETERS, recovery, wanted, ("kind", "seed"), 1, order=order)
        return
    wanted = [(kind, seed) for seed in range(chosen.seeds) for kind in chosen.kinds]
    cells = complete(RESULT, cell, wanted, ("kind", "seed"), 1, order=order)
    for kind in chosen.kinds:
        print(kind, Counter(item["verdict"] for item in cells if item["kind"] == kind))
