"""What right and wrong forms leave unexplained: the error on presented trials relative to its sampling noise.

    python benchmarks/run.py theories/unexplained      # resumes; benchmarks/raw/theories/unexplained.json

Simulated participants follow a published theory, whose numbers are drawn from the inner four fifths of their ranges
with differences between participants. The same form (right) and another published theory (wrong) are fitted to the
responses, and what each leaves unexplained is measured with its interval. Responses come in three layouts: everybody
answers the same trials, everybody answers trials of their own, or counts only. Wrong forms whose predictions, once
fitted, are within .001 of the truth's (mean squared error) are as good as right, and are counted apart.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cells import complete
from benchmarks.provenance import ROOT
from benchmarks.theories.explanations import SPACES, planted
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.task import Stimuli, Trials, with_random_sides
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.generic_learners.completeness import completeness
from lakatos.theories.findings.generic_learners.learners import predict_left_out
from lakatos.theories.findings.verdicts.unexplained import left_unexplained
from lakatos.theories.language.theory import Theory, read_program

RESULT = ROOT / "benchmarks" / "raw" / "theories" / "unexplained.json"
PAIRS = (
    ("multiattribute", "weighted_additive", "take_the_best", "same"),
    ("multiattribute", "take_the_best", "tallying", "same"),
    ("multiattribute", "lexicographic_semiorder", "weighted_additive", "own"),
    ("risky", "cumulative_prospect_theory", "expected_value", "same"),
    ("risky", "expected_utility", "priority_heuristic", "same"),
    ("risky", "transfer_of_attention", "mean_variance", "own"),
    ("risky", "rank_dependent_utility", "minimax", "counts"),
    ("intertemporal", "hyperbolic", "fixed_cost", "same"),
    ("intertemporal", "magnitude_hyperbolic", "exponential", "own"),
    ("intertemporal", "proportional_difference", "hyperbolic", "counts"),
    ("intertemporal", "proportional_difference", "exponential", "single"),
    ("risky", "expected_utility", "expected_value", "single"),
    ("learning", "rescorla_wagner", "win_stay_lose_shift", "same"),
    ("learning", "perseveration", "averaging", "same"),
    ("learning", "two_rates", "random", "same"),
    ("offers", "loss_averse", "equal_weights", "same"),
    ("offers", "satisficing", "cheapest", "own"),
    ("games", "inequity_aversion", "level_1", "same"),
    ("games", "quantal_response", "maximin", "counts"),
    ("estimation", "exemplars", "straight_line", "same"),
    ("public_goods", "conditional_cooperation", "free_riding", "same"),
    ("attention", "fading_pull", "ex_gaussian", "same"),
)
"""Domain, theory that participants follow, another theory, and layout."""
N_PEOPLE, N_TRIALS = 40, 40
N_OWN = 800
"""Trials of which everybody answers some of their own."""
N_DRAWS = 512
NEAR = 0.001


def responses(domain: str, truth: Theory, layout: str, lab: Laboratory, seed: int) -> Trials:
    """What participants respond who follow a theory."""
    rng = np.random.default_rng(seed)
    kind = DOMAINS[domain]
    n_trials = {"own": N_OWN, "single": N_PEOPLE * N_TRIALS}.get(layout, N_TRIALS)
    stimuli = kind.candidates(SPACES.get(domain, {}), rng, n_trials)
    if not kind.sequential:
        stimuli = with_random_sides(kind, stimuli, rng)
    asked = None
    if layout == "own":
        asked = np.zeros((N_PEOPLE, len(stimuli)), dtype=np.int64)
        for own in asked:
            own[rng.choice(len(stimuli), min(N_TRIALS, len(stimuli)), replace=False)] = 1
    if layout == "single":
        asked = np.repeat(np.eye(N_PEOPLE, dtype=np.int64), N_TRIALS, axis=1)
    (found,) = lab.simulate([truth], stimuli, N_PEOPLE, rng, n_draws=256, asked=asked)
    found = replace(found, experiment="1")
    return found.in_counts() if layout == "counts" else found


def cell(domain: str, truth: str, wrong: str, layout: str, seed: int) -> dict[str, Any]:
    """The right and a wrong form on one sample of responses."""
    family = FAMILIES[domain]
    rng = np.random.default_rng(seed)
    rule = planted(family.grammar, family.seeds[truth][1], rng)
    found: dict[str, Any] = {
        "domain": domain, "truth": truth, "wrong": wrong, "layout": layout, "seed": seed,
    }  # fmt: skip
    with Laboratory(DOMAINS[domain], 1) as lab:
        trials = responses(domain, rule, layout, lab, seed)
        learner = predict_left_out(DOMAINS[domain], [trials], seed=0).scores if seed == 0 else None
        for name, form in (("right", truth), ("other", wrong)):
            found |= {f"{name}_{key}": value for key, value in of_form(
                lab, read_program(family.program(form)), trials, rule, learner
            ).items()}  # fmt: skip
    return found


def of_form(
    lab: Laboratory, form: Theory, trials: Trials, rule: Theory, learner: Any
) -> dict[str, Any]:
    """What a fitted form leaves unexplained, its completeness and its distance from the truth."""
    (people,) = lab.people_of([form], [{}], [trials])
    if isinstance(people, TheoryError):
        return {"r": None, "low": None, "high": None, "completeness": None, "distance": None}
    theory = form.with_people(people, pooled=trials.pooled)
    ratio = left_unexplained(lab, theory, [trials], N_DRAWS)
    share = None
    if learner is not None:
        (scored,) = lab.scores_of([theory], [trials], N_DRAWS)
        if not isinstance(scored, TheoryError):
            known = completeness([item.left_out for item in scored], learner, [trials.n_options])
            share = known.value if known else None
    rng = np.random.default_rng(99)
    some: Stimuli = trials.stimuli
    if not lab.domain.sequential and len(some) > 200:
        some = some.take(rng.permutation(len(some))[:200])
    own, true = (lab.proportions(item, some, 256) for item in (theory, rule))
    return {
        "r": ratio.value if ratio else None,
        "low": ratio.low if ratio else None,
        "high": ratio.high if ratio else None,
        "completeness": share,
        "distance": float(np.mean((own - true)[..., -1] ** 2)),
    }


def main() -> None:
    """Compute the cells that are missing and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--domains", nargs="+", default=sorted({pair[0] for pair in PAIRS}))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULT)
    known = parser.parse_args()
    wanted = [(*pair, seed) for seed in known.seeds for pair in PAIRS if pair[0] in known.domains]
    fields = ("domain", "truth", "wrong", "layout", "seed")
    order = partial(_place, wanted)
    cells = complete(known.out, cell, wanted, fields, known.workers, order=order)
    for item in cells:
        right, other = (
            f"{_of(item[f'{kind}_r'])} ({_of(item[f'{kind}_low'])} to {_of(item[f'{kind}_high'])}), "
            f"completeness {_of(item[f'{kind}_completeness'])}, distance {_of(item[f'{kind}_distance'], 4)}"
            for kind in ("right", "other")
        )
        print(f"{item['domain']:15s} {item['layout']:6s} {item['truth']}: {right}\n"
              f"{'':22s} {item['wrong']}: {other}")  # fmt: skip
    right = [item for item in cells if item["right_low"] is not None]
    covered = sum(item["right_low"] <= 1 <= item["right_high"] for item in right)
    wrong = [
        item for item in cells if item["other_low"] is not None and item["other_distance"] > NEAR
    ]
    above = sum(item["other_low"] > 1 for item in wrong)
    print(
        f"right: 1 is in the interval in {covered} of {len(right)}; wrong: above 1 in {above} of {len(wrong)}"
    )


def _of(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _place(wanted: list[tuple[Any, ...]], item: dict[str, Any]) -> tuple[Any, ...]:
    return item["seed"], item["domain"], item["truth"], item["layout"]


if __name__ == "__main__":
    main()
