"""Theories on people's published choices, cross-validated over problems and over people.

    python benchmarks/run.py theories/people --data ../shared/data   # resumes; benchmarks/raw/theories/people.json

For each data set and each published theory of its domain: the population is fitted to four fifths of the problems
(or of the people) by `theories.engine.fitting.evaluate`, and predicts the rest; for some also what the grammar's search
finds in the same four fifths, anew in each fold. Reported are nats per choice and the mean squared error of choice
proportions, with standard errors over people (over problems where only counts are published). Where every person has
a schedule of their own, only people can be left out. Large data sets are represented by as many people of each
experiment as `SELECTIONS` says, drawn by lot.
"""

from __future__ import annotations

import argparse
import time
from fnmatch import fnmatchcase
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cells import complete
from benchmarks.provenance import ROOT, provenance
from lakatos.domains import ARCHIVES, DOMAINS, FAMILIES
from lakatos.domains.published_data import load_archive
from lakatos.experiments.participants.archival import restrict
from lakatos.experiments.task import Trials
from lakatos.theories.discovery.grammar_search.advocate import GrammarAdvocate
from lakatos.theories.discovery.grammar_search.proposal import AdvocateBrief, SearchStart
from lakatos.theories.engine.fitting.evaluate import EvaluatedComposition, evaluate
from lakatos.theories.engine.laboratory import LIMITS
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.scoring.score import average, log_predictive, mean_over_units
from lakatos.theories.engine.scoring.view import TheoryView
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.grammar import Composition

RESULT = ROOT / "benchmarks" / "raw" / "theories" / "people.json"
N_FOLDS, N_DRAWS = 5, 128
N_CANDIDATES = 40
"""Compositions that a search may try in each fold."""
SELECTIONS: dict[str, tuple[str, str, int | None]] = {
    "products, binary": ("multiattribute_autocog", "binary-*", None),
    "products, cardinal": ("multiattribute_autocog", "cardinal-*", None),
    "gambles": ("risky_cpc18", "*", None),
    "even chances": ("risky_spektor2024", "*", 30),
    "earlier or later": ("intertemporal_ericson2015", "*", None),
    "reversal": ("learning_reversal_zorowitz2023", "*", 100),
    "two steps": ("learning_two_step_shahar2019", "first", 60),
    "suppliers": ("multiattribute_electricity", "*", None),
}
"""Archive, experiments by pattern, and people of each experiment."""
FOUND = "(search)"


def domain_of(selection: str) -> str:
    """Kind of task."""
    return ARCHIVES[SELECTIONS[selection][0]].domain


def load(selection: str, data: Path) -> list[Trials]:
    """The experiments of a selection, with no more people than can be fitted in minutes."""
    archive, pattern, most = SELECTIONS[selection]
    trials = [item for item in load_archive(archive, data) if fnmatchcase(item.experiment, pattern)]
    if most is None:
        return trials
    rng = np.random.default_rng(0)
    return [_people(item, rng.permutation(item.n_participants)[:most]) for item in trials]


def _people(trials: Trials, people: Any) -> Trials:
    wanted = np.zeros((trials.n_participants, len(trials.stimuli)), dtype=bool)
    wanted[people] = True
    return restrict(trials, wanted, range(len(trials.stimuli)), trials.experiment)


def split(trials: Trials, by: str, fold: int) -> tuple[Trials, Trials]:
    """What is learned from and what is predicted."""
    n = len(trials.stimuli) if by == "problems" else trials.n_participants
    left_out = np.random.default_rng(1).permutation(n) % N_FOLDS == fold
    wanted = np.zeros((trials.n_participants, len(trials.stimuli)), dtype=bool)
    wanted |= left_out[None, :] if by == "problems" else left_out[:, None]
    parts = []
    for rows in (~wanted, wanted):
        kept = np.flatnonzero(rows.any(axis=0))
        parts.append(restrict(trials, rows, kept.tolist(), trials.experiment))
    return parts[0], parts[1]


def cell(selection: str, by: str, name: str, data: Path) -> dict[str, Any]:
    """One theory on one data set: five folds."""
    begun, domain = time.perf_counter(), DOMAINS[domain_of(selection)]
    family, trials = FAMILIES[domain.name], load(selection, data)
    scores, errors, leaders = [], [], []
    with Sandbox(limits=LIMITS) as sandbox:
        for fold in range(N_FOLDS):
            parts = [
                split(item, by, fold) for item in trials
            ]  # a fold may leave out nothing of a small experiment
            seen = [before for before, _ in parts if before.n_responses]
            hidden = [after for _, after in parts if after.n_responses]
            fitted = (
                _search(family.grammar, seen, domain, sandbox, fold, list(family.seeds.values()))
                if name == FOUND
                else evaluate(
                    family.grammar, family.seeds[name][1], seen, domain, sandbox, n_draws=N_DRAWS
                )
            )
            leaders.append(fitted.theory.name)
            with TheoryView(
                fitted.theory, domain, sandbox, [item.stimuli for item in hidden]
            ) as view:
                for item in view.evidence(fitted.theory.population(N_DRAWS), hidden):
                    scores.append(log_predictive(item))
                    answered = item.trials.counts.sum(axis=(0, 2)) > 0
                    gap = (
                        item.probabilities.mean(axis=0)[answered]
                        - item.trials.proportions[answered]
                    )
                    errors.append((gap**2).mean(axis=1))
    score, flat = average([mean_over_units(item) for item in scores]), np.concatenate(errors)
    return {
        "commit": provenance()["commit"],
        "selection": selection,
        "by": by,
        "theory": name,
        "found": leaders if name == FOUND else None,
        "score": score.value,
        "score_error": score.standard_error,
        "error": float(flat.mean()),
        "error_error": float(flat.std(ddof=1) / np.sqrt(len(flat))),
        "n_choices": int(sum(item.n_choices.sum() for item in scores)),
        "seconds": round(time.perf_counter() - begun, 1),
    }


def _search(
    grammar: Any,
    seen: Any,
    domain: Any,
    sandbox: Sandbox,
    fold: int,
    seeds: list[tuple[str, Composition]],
) -> EvaluatedComposition:
    """The grammar advocate's best on what may be seen."""

    def run(items: Any) -> list[EvaluatedComposition | TheoryError]:
        results: list[EvaluatedComposition | TheoryError] = []
        for composition, _ in items:
            try:
                results.append(
                    evaluate(grammar, composition, seen, domain, sandbox, n_draws=N_DRAWS)
                )
            except TheoryError as error:
                results.append(error)
        return results

    starts = tuple(SearchStart(None, composition) for _, composition in seeds)
    brief = AdvocateBrief(starts, n_candidates=len(starts) + N_CANDIDATES, n_successors=1)
    (best,) = GrammarAdvocate(grammar).revise(brief, run, np.random.default_rng(fold)).submitted
    assert best.evaluated is not None
    return best.evaluated


def plan(selections: list[str], searches: list[str]) -> list[tuple[str, str, str]]:
    """What is to be computed."""
    found = []
    for selection in selections:
        domain = domain_of(selection)
        kinds = ["people"] if DOMAINS[domain].sequential else ["problems", "people"]
        kinds = ["problems"] if selection == "gambles" else kinds
        for by in kinds:
            names = [
                *FAMILIES[domain].seeds,
                *([FOUND] if selection in searches and by == kinds[0] else []),
            ]
            found += [(selection, by, name) for name in names]
    return found


def table(cells: list[dict[str, Any]]) -> str:
    """Best first, for each data set."""
    lines = []
    for selection, by in dict.fromkeys((item["selection"], item["by"]) for item in cells):
        own = [item for item in cells if (item["selection"], item["by"]) == (selection, by)]
        lines.append(f"{selection}, left-out {by}: nats per choice, error of proportions")
        lines += [
            f"  {item['theory']:38s} {item['score']:.4f} ± {item['score_error']:.4f}   "
            f"{item['error']:.4f} ± {item['error_error']:.4f}"
            for item in sorted(own, key=lambda item: -item["score"])
        ]
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, write every result as it comes."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--selections", nargs="*", default=list(SELECTIONS))
    options.add_argument(
        "--searches", nargs="*", default=["products, binary", "products, cardinal", "gambles"]
    )
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    wanted = plan(chosen.selections, chosen.searches)
    fields = ("selection", "by", "theory")
    order = itemgetter(*fields)
    print(
        table(
            complete(
                chosen.out, cell, wanted, fields, chosen.workers, order=order, extra=(chosen.data,)
            )
        )
    )
