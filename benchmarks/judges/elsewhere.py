"""Can a judge say which of nearly tied theories predicts better elsewhere? The choice of a leader, with and without.

    python benchmarks/judges/elsewhere.py            # resumes; benchmarks/results/judges/elsewhere.json
    python benchmarks/judges/elsewhere.py --judge    # sums up the worlds that are there

In every world two or three experiments with half of the people teach some thirty theories who their people are:
published ones, and two generations of elaborations of those that fit best, one half of them chosen without any price
for ornaments. Elsewhere are the other people of the same experiments, other experiments, and another data set:

- *cardinal*, *binary* (AutoCog): two experiments; the others of the kind; the other kind.
- *framing* (Ericson et al., 2015): two framings, 40 people each; the others.
- *gambles* (Spektor et al., 2024): two sets; the others; the choice prediction data, and Kahneman and Tversky's.
- *simulated multiattribute*, *risky*, *intertemporal*, *offers*: people follow a rule drawn from the grammar. Other
  experiments have other trials, the other data set other people, half of whose parameters have another center.

One theory is named: *score* takes the best by experiments predicted from the others; *simplest* the simplest within one
paired standard error of it, which is the laboratory's rule; *judge* one of the same by features of all of them
(`FEATURES`); *middle* the one whose choices on untried trials are nearest to the mean of those within two standard
errors; *by lot* any of the same. The judge's weights are learned on the other groups only: every group is a domain, an
archive or a kind of people that it has never seen. Regret is how far a named theory is behind the best elsewhere of
those within one standard error, in nats per choice; *any* is the same for the best of all theories, which is negative.

*Drafts*: could cheap drafts be screened before they are fitted? Every theory is also asked what it says of the answers
with its declared people, before a fit (in worlds that have this); counted is how often the best of all by experiments
left out is among the best fifth by that.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from scipy.optimize import minimize  # noqa: E402
from scipy.special import expit  # noqa: E402

from benchmarks.cells import complete, mean_interval  # noqa: E402
from benchmarks.memory.winners import SPACES, drawn  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from lakatos.domains import DOMAINS, FAMILIES  # noqa: E402
from lakatos.domains.published_data import load_archive  # noqa: E402
from lakatos.experiments.interval import wilson_interval  # noqa: E402
from lakatos.experiments.task import Stimuli, Trials, with_random_sides  # noqa: E402
from lakatos.theories.discovery.grammar_search.search_tree import ArchiveMap  # noqa: E402
from lakatos.theories.engine.checks.complexity import code_length  # noqa: E402
from lakatos.theories.engine.fitting.evaluate import EvaluatedComposition  # noqa: E402
from lakatos.theories.engine.fitting.fit import Scored  # noqa: E402
from lakatos.theories.engine.laboratory import Laboratory  # noqa: E402
from lakatos.theories.engine.scoring.score import (  # noqa: E402
    UnitScores,
    log_predictive,
    paired_difference,
    telling,
)
from lakatos.theories.errors import TheoryError  # noqa: E402
from lakatos.theories.language.grammar import Composition, Grammar  # noqa: E402
from lakatos.theories.language.prior import Prior  # noqa: E402
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program  # noqa: E402

Array = NDArray[np.float64]
RESULT = ROOT / "benchmarks" / "results" / "judges" / "elsewhere.json"
ARCHIVES = {
    "cardinal": ("multiattribute_autocog", "multiattribute"),
    "binary": ("multiattribute_autocog", "multiattribute"),
    "framing": ("intertemporal_ericson2015", "intertemporal"),
    "gambles": ("risky_spektor2024", "risky"),
}
OTHER_DATA = {"gambles": ("risky_cpc18", "allais")}
SIMULATED = ("multiattribute", "risky", "intertemporal", "offers")
GROUPS = (*ARCHIVES, *(f"simulated {name}" for name in SIMULATED))
N_TAUGHT, N_OTHERS, N_SIMULATED_TRIALS, N_SIMULATED_PEOPLE = 2, 3, 16, 60
MOST_PEOPLE, N_PUBLISHED, N_ELABORATED, N_DRAWS, N_OUTSIDE = 80, 10, (10, 8), 128, 120
PLACES = ("people", "experiments", "data")
FEATURES = (
    "behind",
    "behind error",
    "uneven",
    "worst",
    "optimism",
    "error",
    "code length",
    "parameters",
    "mechanisms",
    "generation",
    "at limits",
    "apart inside",
    "apart outside",
    "further",
    "more extreme",
    "unstable",
)
PENALTY = 3.0
"""Of the squared weights on standardised features; it was not varied."""
NEAR_LIMIT = 0.05
"""Share of a parameter's range at either end of which its center counts as at a limit."""


@dataclass(frozen=True)
class SplitWorld:
    """What teaches theories, and what they predict afterwards."""

    domain: str
    taught: list[Trials]
    elsewhere: dict[str, list[Trials]]
    """Other people, other experiments, other data."""


def archived_world(group: str, rng: np.random.Generator, data: Path) -> SplitWorld:
    """Experiments of an archive, divided by lot, and another archive or another kind."""
    archive, domain = ARCHIVES[group]
    found = list(load_archive(archive, data))
    if archive == "multiattribute_autocog":
        own = [item for item in found if item.experiment.startswith(group)]
        other = [item for item in found if not item.experiment.startswith(group)]
        other = [other[place] for place in rng.permutation(len(other))[:N_OTHERS]]
    else:
        own = found
        other = [item for name in OTHER_DATA.get(group, ()) for item in load_archive(name, data)]
    chosen = [few_people(own[place], rng) for place in rng.permutation(len(own))]
    halves = [half_of_people(item, rng) for item in chosen[:N_TAUGHT]]
    elsewhere = {
        "people": [rest for _, rest in halves],
        "experiments": chosen[N_TAUGHT : N_TAUGHT + N_OTHERS],
        "data": other,
    }
    return SplitWorld(
        domain, [first for first, _ in halves], {k: v for k, v in elsewhere.items() if v}
    )


def few_people(trials: Trials, rng: np.random.Generator) -> Trials:
    """At most `MOST_PEOPLE` of an experiment's, and the trials that they saw."""
    n = trials.n_participants
    if n <= MOST_PEOPLE:
        return trials
    chosen = np.zeros(n, dtype=bool)
    chosen[rng.choice(n, MOST_PEOPLE, replace=False)] = True
    return without_unseen(trials.of_people(chosen))


def half_of_people(trials: Trials, rng: np.random.Generator) -> tuple[Trials, Trials]:
    """An experiment's people in two halves."""
    chosen = np.zeros(trials.n_participants, dtype=bool)
    chosen[rng.choice(len(chosen), len(chosen) // 2, replace=False)] = True
    return without_unseen(trials.of_people(chosen)), without_unseen(trials.of_people(~chosen))


def without_unseen(trials: Trials) -> Trials:
    """Without trials that nobody answered."""
    seen, place = np.unique(trials.trial, return_inverse=True)
    return replace(trials, stimuli=trials.stimuli.take(seen), trial=place)


def simulated_world(domain: str, rng: np.random.Generator, laboratory: Laboratory) -> SplitWorld:
    """People who follow a rule drawn from the grammar, and others of the same rule."""
    source = FAMILIES[domain].grammar.write(drawn(domain, rng), "hidden")
    rule = read_program(TheoryProgram(source, "hidden"))
    centers = {name: rng.uniform(0.15, 0.85) for name in rule.priors}
    moved = {
        name: rng.uniform(0.15, 0.85) if rng.random() < 0.5 else centers[name] for name in centers
    }

    def answered(name: str, at: Mapping[str, float], n_people: int) -> Trials:
        own = rule.with_people({key: around(rule.priors[key], at[key]) for key in rule.priors})
        space = DOMAINS[domain]
        stimuli = with_random_sides(
            space, space.candidates(SPACES[domain], rng, N_SIMULATED_TRIALS), rng
        )
        (trials,) = laboratory.simulate([own], stimuli, n_people, rng, n_draws=64)
        return replace(trials, experiment=name)

    n = N_SIMULATED_PEOPLE
    both = [answered(str(number), centers, n) for number in range(N_TAUGHT)]
    halves = [half_of_people(item, rng) for item in both]
    later = range(N_TAUGHT, N_TAUGHT + N_OTHERS)
    elsewhere = {
        "people": [rest for _, rest in halves],
        "experiments": [answered(str(number), centers, n) for number in later],
        "data": [answered(f"other {number}", moved, n) for number in later],
    }
    return SplitWorld(domain, [first for first, _ in halves], elsewhere)


def around(prior: Prior, share: float) -> Prior:
    """People near one quantile of what a rule declares."""
    low, center, high = prior.latent(prior.quantile(np.array([0.16, share, 0.84])))
    return prior.narrowed(float(center), max(float(high - low) / 4, 1e-3))


def tried_theories(
    grammar: Grammar, laboratory: Laboratory, trials: Sequence[Trials], seed: int, domain: str
) -> list[tuple[EvaluatedComposition, int]]:
    """Fitted theories with the generation in which each was made: published ones, then elaborations of the best."""
    rng, has_memory = np.random.default_rng([seed, 3]), ArchiveMap(grammar).has_memory
    published = [item for _, item in FAMILIES[domain].seeds.values() if not has_memory(item)]
    batch = [published[place] for place in rng.permutation(len(published))[:N_PUBLISHED]]
    seen: set[object] = set()
    found: list[tuple[EvaluatedComposition, int]] = []
    for generation in range(len(N_ELABORATED) + 1):
        seen |= {item.key for item in batch}
        fitted = laboratory.evaluate(
            grammar, [(item, None) for item in batch], trials, n_draws=N_DRAWS
        )
        found += [(item, generation) for item in fitted if not isinstance(item, TheoryError)]
        if generation < len(N_ELABORATED):
            batch = elaborations(grammar, [item for item, _ in found], seen, rng, generation)
    return found


def elaborations(
    grammar: Grammar,
    fitted: Sequence[EvaluatedComposition],
    seen: set[object],
    rng: np.random.Generator,
    generation: int,
) -> list[Composition]:
    """New compositions one or two edits away from the best, half of them additions alone."""
    has_memory = ArchiveMap(grammar).has_memory
    best = [item.composition for item in sorted(fitted, key=lambda item: -item.mean)[:4]]
    found: dict[object, Composition] = {}
    for number in range(40 * N_ELABORATED[generation]):
        if len(found) == N_ELABORATED[generation]:
            break
        form = best[rng.integers(len(best))]
        for _ in range(rng.integers(1, 3)):
            edits = grammar.edits(form)
            if number % 2:
                edits = [item for item in edits if item[0].startswith("add ")] or edits
            form = edits[rng.integers(len(edits))][1]
        if form.key not in seen and not has_memory(form):
            found[form.key] = form
    return list(found.values())


def cell(group: str, seed: int, data: Path) -> dict[str, Any]:
    """One world: every theory with its features and how it does elsewhere."""
    began = time.time()
    rng = np.random.default_rng([seed, GROUPS.index(group)])
    domain = ARCHIVES[group][1] if group in ARCHIVES else group.split()[1]
    family = FAMILIES[domain]
    with Laboratory(DOMAINS[domain], n_workers=1) as laboratory:
        if group in ARCHIVES:
            world = archived_world(group, rng, data)
        else:
            world = simulated_world(domain, rng, laboratory)
        tried = tried_theories(family.grammar, laboratory, world.taught, seed, domain)
        forms = [item.theory for item, _ in tried]
        scored = laboratory.scores_of(forms, world.taught, N_DRAWS)
        kept = [
            (item, generation, own)
            for (item, generation), own in zip(tried, scored, strict=True)
            if not isinstance(own, TheoryError)
        ]
        lines = described(laboratory, world, kept, rng)
        unfitted = unfitted_scores(laboratory, family.grammar, world.taught, kept)
        for line, (item, _, _), score in zip(lines, kept, unfitted, strict=True):
            line["unfitted"] = score
            parts = [trials for found in world.elsewhere.values() for trials in found]
            means = iter(
                [
                    log_predictive(own).mean
                    for own in laboratory.evidence(item.theory, parts, N_DRAWS)
                ]
            )
            for place, found in world.elsewhere.items():
                own_means = [next(means) for _ in found]
                line[f"elsewhere {place}"] = round(float(np.mean(own_means)), 6)
    return {
        "group": group,
        "seed": seed,
        "theories": lines,
        "seconds": round(time.time() - began, 1),
    }


def unfitted_scores(
    laboratory: Laboratory,
    grammar: Grammar,
    trials: Sequence[Trials],
    kept: Sequence[tuple[EvaluatedComposition, int, Sequence[Scored]]],
) -> list[float]:
    """What each theory says of the answers before anybody's people were learned, nats per choice."""
    sources = [grammar.write(Composition(item.composition.slots)) for item, _, _ in kept]
    declared = [read_program(TheoryProgram(source, "grammar")) for source in sources]
    found = laboratory.evidence_of(declared, trials, N_DRAWS)
    return [
        round(float(np.mean([log_predictive(item).mean for item in evidence])), 6)
        for evidence in found
    ]


def described(
    laboratory: Laboratory,
    world: SplitWorld,
    kept: Sequence[tuple[EvaluatedComposition, int, Sequence[Scored]]],
    rng: np.random.Generator,
) -> list[dict[str, Any]]:
    """Features of every theory that are known before anything elsewhere is."""
    own_scores: list[list[UnitScores]] = [[item.left_out for item in own] for _, _, own in kept]
    means = np.array([[item.mean for item in own] for own in own_scores])
    best = int(means.mean(axis=1).argmax())
    behind = [paired_difference(own_scores[best], own) for own in own_scores]
    near = [item.value <= max(2 * item.standard_error, 0.005) for item in behind]
    outside = outside_trials(world, rng)
    shares = [
        [telling(item.mean).ravel() for item in own]
        + [telling(laboratory.proportions(item.theory, outside, N_DRAWS)).ravel()]
        for item, _, own in kept
    ]
    inside = np.stack([np.concatenate(parts[:-1]) for parts in shares])
    beyond = np.stack([parts[-1] for parts in shares])
    lines = []
    for place, (item, generation, _) in enumerate(kept):
        theory, gap = item.theory, means[best] - means[place]
        line: dict[str, Any] = {
            "behind": behind[place].value,
            "behind error": behind[place].standard_error,
            "within": item.mean,
            "left out": float(means[place].mean()),
            "uneven": float(gap.std(ddof=1)) if len(gap) > 1 else 0.0,
            "worst": float(gap.max()),
            "error": item.error,
            "code length": code_length(theory.program.source),
            "parameters": len(theory.priors),
            "mechanisms": item.n_mechanisms,
            "generation": generation,
            "at limits": share_at_limits(theory),
            "apart inside": distance(inside[place], inside[near].mean(axis=0)),
            "apart outside": distance(beyond[place], beyond[near].mean(axis=0)),
            "extreme inside": float(np.abs(inside[place] - 0.5).mean()),
            "extreme outside": float(np.abs(beyond[place] - 0.5).mean()),
            "unstable": None,
        }
        if near[place]:
            line["unstable"] = instability(laboratory, theory, world.taught)
        lines.append(
            {
                name: round(value, 6) if isinstance(value, float) else value
                for name, value in line.items()
            }
        )
    return lines


def outside_trials(world: SplitWorld, rng: np.random.Generator) -> Stimuli:
    """Trials of the domain, whatever the experiments were; of one with several kinds those of the taught kind."""
    domain = DOMAINS[world.domain]
    if world.domain == "multiattribute":
        ratings = world.taught[0].stimuli["ratings"]
        settings = {
            "validities": world.taught[0].stimuli["validities"][0].tolist(),
            "levels": list(range(int(ratings.max()) + 1)),
        }
        return with_random_sides(domain, domain.candidates(settings, rng, N_OUTSIDE), rng)
    settings = SPACES[world.domain]
    return with_random_sides(domain, domain.candidates(settings, rng, N_OUTSIDE), rng)


def distance(first: Array, second: Array) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean((first - second) ** 2)))


def limits_of(prior: Prior) -> tuple[float, float]:
    low, high = prior.latent(np.array([prior.low, prior.high]))
    return float(low), float(high)


def share_at_limits(theory: Theory) -> float:
    """Share of the parameters whose center lies at an end of its range."""
    found = []
    for prior in theory.priors.values():
        low, high = limits_of(prior)
        middle = float(prior.latent(prior.quantile(np.array([0.5])))[0])
        place = (middle - low) / max(high - low, 1e-12)
        found.append(min(place, 1 - place) < NEAR_LIMIT)
    return float(np.mean(found)) if found else 0.0


def instability(laboratory: Laboratory, theory: Theory, taught: Sequence[Trials]) -> float:
    """How far centers move, in shares of their ranges, where one experiment alone teaches them."""
    if not theory.priors:
        return 0.0
    moved = []
    for trials in taught:
        (people,) = laboratory.people_of([theory], [theory.priors], [trials])
        if isinstance(people, TheoryError):
            return 1.0
        for name, prior in people.items():
            low, high = limits_of(prior)
            moved.append(abs(prior.center - theory.priors[name].center) / max(high - low, 1e-12))
    return float(np.mean(moved))


def features_of(theory: dict[str, Any]) -> Array:
    """What the judge looks at, one number each; all were chosen before any weight was learned."""
    derived = {
        "optimism": theory["within"] - theory["left out"],
        "further": theory["apart outside"] - theory["apart inside"],
        "more extreme": theory["extreme outside"] - theory["extreme inside"],
        "unstable": theory["unstable"] or 0.0,
    }
    return np.array([(theory | derived)[name] for name in FEATURES], dtype=np.float64)


def near_best(cell: dict[str, Any], errors: float) -> list[dict[str, Any]]:
    """Theories within so many standard errors of the best by experiments left out."""
    return [
        item
        for item in cell["theories"]
        if item["behind"] <= errors * item["behind error"] or item["behind"] == 0
    ]


def reached(theory: dict[str, Any], places: Sequence[str]) -> float:
    """Nats per choice elsewhere, averaged over those of the places that there are."""
    found = [theory[name] for name in (f"elsewhere {place}" for place in places) if name in theory]
    return float(np.mean(found)) if found else float("nan")


@dataclass(frozen=True)
class SettledPairs:
    """Pairs of theories of the same world, and which of the two did better elsewhere."""

    differences: Array
    """``(n_pairs, n_features)``, the first theory's less the second's."""
    first_better: Array
    weights: Array
    """``(n_pairs,)``; every world counts the same."""


def settled_pairs(cells: Sequence[dict[str, Any]]) -> SettledPairs:
    """All pairs within two standard errors of the best, each in every place elsewhere."""
    rows = []
    for cell in cells:
        theories = near_best(cell, 2)
        for first, second in combinations(theories, 2):
            for name in (f"elsewhere {place}" for place in PLACES):
                if name in first:
                    better = float(first[name] > second[name])
                    weight = 1 / (len(theories) * (len(theories) - 1))
                    rows.append((features_of(first) - features_of(second), better, weight))
    differences, first_better, counts = (np.array(column) for column in zip(*rows, strict=True))
    return SettledPairs(differences, first_better, counts / counts.mean())


def learned_weights(pairs: SettledPairs) -> Array:
    """Weights of a logistic regression without intercept, penalised on the scale of the pairs' differences."""
    scale = pairs.differences.std(axis=0) + 1e-12
    scaled = pairs.differences / scale

    def loss(beta: Array) -> tuple[float, Array]:
        odds = scaled @ beta
        lost = pairs.weights * (np.logaddexp(0, odds) - pairs.first_better * odds)
        slope = scaled.T @ (pairs.weights * (expit(odds) - pairs.first_better))
        return float(lost.sum() + PENALTY * beta @ beta / 2), slope + PENALTY * beta

    found = minimize(loss, np.zeros(scaled.shape[1]), jac=True)
    return np.asarray(found.x / scale)


def named_by(weights: Array, near: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The theory that each rule names among those within one standard error."""
    return {
        "score": min(near, key=lambda item: item["behind"]),
        "simplest": min(near, key=lambda item: item["code length"]),
        "judge": max(near, key=lambda item: float(features_of(item) @ weights)),
        "middle": min(near, key=lambda item: item["apart outside"]),
    }


def right_share(weights: Array, pairs: SettledPairs) -> float:
    """Share of pairs of which a judge with these weights names the one that did better elsewhere."""
    right = (pairs.differences @ weights > 0) == (pairs.first_better > 0)
    return float(np.average(right, weights=pairs.weights))


def summary(cells: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Regret of every rule, by place, with the judge's weights learned on all groups but the world's own."""
    alone = {
        "score": -np.eye(len(FEATURES))[FEATURES.index("behind")],
        "simplest": -np.eye(len(FEATURES))[FEATURES.index("code length")],
    }
    regrets: dict[str, list[dict[str, float]]] = {name: [] for name in ("all", *PLACES)}
    pairwise: dict[str, dict[str, float]] = {}
    for group in dict.fromkeys(cell["group"] for cell in cells):
        own = [cell for cell in cells if cell["group"] == group]
        weights = learned_weights(settled_pairs([cell for cell in cells if cell not in own]))
        pairs = settled_pairs(own)
        pairwise[group] = {
            name: right_share(value, pairs) for name, value in (alone | {"judge": weights}).items()
        }
        for cell in own:
            near = near_best(cell, 1)
            named = named_by(weights, near)
            for place in regrets:
                places = PLACES if place == "all" else (place,)
                best = max(reached(item, places) for item in near)
                line = {name: best - reached(item, places) for name, item in named.items()}
                line["by lot"] = best - float(np.mean([reached(item, places) for item in near]))
                line["any"] = best - max(reached(item, places) for item in cell["theories"])
                if np.isfinite(best):
                    regrets[place].append(line | {"n near": float(len(near))})
    return {
        "regret": {place: regret_lines(rows) for place, rows in regrets.items()},
        "right pairs": pairwise,
        "drafts": screened_drafts([cell for cell in cells if "unfitted" in cell["theories"][0]]),
    }


def screened_drafts(cells: Sequence[dict[str, Any]]) -> dict[str, float]:
    """How often the best theory is among the fifth that says most of the answers before any fit, with Wilson's 95%."""
    kept = []
    for cell in cells:
        theories = cell["theories"]
        order = sorted(theories, key=lambda item: -item["unfitted"])
        best = max(theories, key=lambda item: item["left out"])
        kept.append(best in order[: round(len(order) / 5)])
    low, high = wilson_interval(sum(kept), len(kept)) if kept else (0.0, 1.0)
    return {"kept": sum(kept) / max(len(kept), 1), "low": low, "high": high, "n": len(kept)}


def regret_lines(rows: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Means over worlds with 95% intervals, and what each rule gains over the laboratory's."""
    names = list(rows[0])
    found: dict[str, Any] = {name: mean_interval([row[name] for row in rows]) for name in names}
    for name in ("score", "judge", "middle"):
        gains = [row["simplest"] - row[name] for row in rows]
        found[f"{name} less than simplest"] = mean_interval(gains)
    return found | {"n": len(rows)}


def main() -> None:
    """Run some of the worlds that are missing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 15), help="from, to")
    parser.add_argument("--most", type=int, default=1000, help="worlds at most, this time")
    parser.add_argument("--groups", nargs="*", default=GROUPS)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("LAKATOS_DATA", "data")))
    parser.add_argument(
        "--judge", action="store_true", help="only sum up the worlds that are there"
    )
    options = parser.parse_args()
    wanted = [(group, seed) for seed, group in product(range(*options.seeds), options.groups)]
    done = json.loads(options.out.read_text())["cells"] if options.out.exists() else []
    have = {(item["group"], item["seed"]) for item in done}
    todo = [item for item in wanted if item not in have][: 0 if options.judge else options.most]
    cells = complete(
        options.out, cell, todo, ("group", "seed"), 1,
        order=lambda item: (GROUPS.index(item["group"]), item["seed"]), extra=(options.data,),
    )  # fmt: skip
    found = summary(cells)
    options.out.write_text(json.dumps({**provenance(), "summary": found, "cells": cells}) + "\n")
    told = found["regret"] | found["right pairs"] | {"drafts": found["drafts"]}
    for name, line in told.items():
        print(name, line)


if __name__ == "__main__":
    main()
