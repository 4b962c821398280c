"""How well induction finds rules of choice among three and four options.

    python benchmarks/run.py theories/several      # benchmarks/raw/theories/several.json

Both sets of rules were written by somebody who did not know what induction is made of. After the first one had been
run, terms were added that it had shown to be missing; the second one was run unseen after that.
40 people who follow one respond to 40 of 150 trials each; one response in twenty is random. Measured is the mean
squared error of choice probabilities, without random choices, over the 250 trials of the space that nobody saw: of the
induced theory, of a conditional logit of all attributes, of gradient boosting on all attributes of all options, and of
guessing. A form counts as found if its error is at most .004.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.cells import complete
from benchmarks.provenance import ROOT
from benchmarks.theories.more_rules import MORE_RULES
from benchmarks.theories.several_rules import RULES, TASKS, SeveralRule
from lakatos.domains.declared.task import DeclaredDomain
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.discovery.induction.induce import induce
from lakatos.theories.discovery.induction.outcome_terms import read_language
from lakatos.theories.discovery.induction.outcomes import OutcomeSearch
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.language.theory import TheoryProgram

Array = NDArray[np.float64]
RESULT = ROOT / "benchmarks" / "raw" / "theories" / "several.json"
SETS = {"first": RULES, "second": MORE_RULES}
N_PEOPLE, N_EACH, N_SEEN = 40, 40, 150
LAPSE, FOUND = 0.05, 0.004
N_DRAWS = 64


def responses(rule: SeveralRule, stimuli: Stimuli, rng: np.random.Generator) -> Trials:
    """What people respond who follow a rule."""
    p = rule.choose(dict(stimuli.arrays))
    p = (1 - LAPSE) * p + LAPSE / p.shape[1]
    trial = np.concatenate(
        [rng.choice(len(stimuli), N_EACH, replace=False) for _ in range(N_PEOPLE)]
    )
    response = (rng.random(len(trial))[:, None] > p[trial].cumsum(axis=1)).sum(axis=1)
    return Trials(
        experiment="first",
        stimuli=stimuli,
        participant=np.repeat(np.arange(N_PEOPLE), N_EACH),
        trial=trial,
        response=response,
        count=np.ones(len(trial), dtype=np.int64),
        n_options=p.shape[1],
        n_people=N_PEOPLE,
    )


def boosted(trials: Trials, unseen: Stimuli) -> Array:
    """Predictions of gradient boosting on all attributes of all options."""
    from sklearn.ensemble import GradientBoostingClassifier

    def table(stimuli: Stimuli) -> Array:
        return np.concatenate([array for _, array in sorted(stimuli.arrays.items())], axis=1)

    model = GradientBoostingClassifier(n_estimators=150, learning_rate=0.05, random_state=0)
    model.fit(table(trials.stimuli)[trials.trial], trials.response)
    found = np.zeros((len(unseen), trials.n_options))
    found[:, model.classes_] = model.predict_proba(table(unseen))
    return found


def added(domain: DeclaredDomain, trials: Trials, stimuli: Stimuli) -> Array:
    """Predictions, on all trials, of a conditional logit of all attributes."""
    counts = np.zeros((len(stimuli), trials.n_options))
    np.add.at(counts, (trials.trial, trials.response), 1.0)
    language = read_language(domain, dict(stimuli.arrays), counts, has_places=False)
    assert language is not None
    search = OutcomeSearch(language, counts)
    plain = tuple((k, -1) for k, item in enumerate(language.terms.items) if item.price == 0)
    fitted = search._fit(plain)
    return (search.predict(fitted) - fitted.lapse / trials.n_options) / (1 - fitted.lapse)


def cell(group: str, name: str, seed: int) -> dict[str, Any]:
    """One rule and one sample of people."""
    rule = SETS[group][name]
    domain = DeclaredDomain(TASKS[rule.task])
    rng = np.random.default_rng(seed)
    space = domain.space({})
    space = space.take(rng.permutation(len(space)))
    seen, unseen = space.take(range(N_SEEN)), space.take(range(N_SEEN, len(space)))
    trials = responses(rule, seen, rng)
    truth = rule.choose(dict(unseen.arrays))

    def error(p: Array) -> float:
        return float(((p - truth) ** 2).mean())

    guess = np.full(truth.shape, 1 / truth.shape[1])
    found = induce(domain, [trials], np.random.default_rng(seed))
    induced, claim, n_terms = error(guess), "", 0
    if found:
        claim, n_terms = found[0].claim, found[0].n_terms
        with Sandbox() as sandbox:
            theory = load_theory(TheoryProgram(found[0].source, "induction"), domain, sandbox)
            people = theory.population(N_DRAWS, lapse=False)
            (p,) = sandbox.probabilities(
                found[0].source, people, [unseen.arrays], n_options=truth.shape[1]
            )
        induced = error(p.mean(axis=0))
    return {
        "set": group,
        "rule": name,
        "seed": seed,
        "words": rule.words,
        "claim": claim,
        "n_terms": n_terms,
        "induced": induced,
        "is_found": float(induced <= FOUND),
        "added": error(added(domain, trials, space)[N_SEEN:]),
        "boosted": error(boosted(trials, unseen)),
        "guessed": error(guess),
    }


def main() -> None:
    """Run what is missing, and print means."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--seeds", type=int, default=2)
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--out", type=Path, default=RESULT)
    given = options.parse_args()
    names = [(group, name) for group, rules in SETS.items() for name in rules]
    wanted = [(*name, seed) for seed in range(given.seeds) for name in names]
    order = partial(_order, names)
    done = complete(given.out, cell, wanted, ("set", "rule", "seed"), given.workers, order=order)
    for group in SETS:
        for key in ("induced", "is_found", "added", "boosted", "guessed"):
            values = np.array([item[key] for item in done if item["set"] == group])
            print(f"{group} {key}: mean {values.mean():.4f}, median {np.median(values):.4f}")


def _order(names: list[tuple[str, str]], item: dict[str, Any]) -> tuple[int, int]:
    return item["seed"], names.index((item["set"], item["rule"]))


if __name__ == "__main__":
    main()
