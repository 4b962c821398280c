"""How well induction finds rules of choice among three to five options or levels.

    python benchmarks/run.py theories/several      # benchmarks/raw/theories/several.json

All sets of rules were written without knowledge of the terms that induction tries. After the first one had been
run, terms were added that it had shown to be missing; the second one was run unseen after that. The same holds for the
third, which has rules with a memory of the last choice, levels and beliefs, and for its three unseen rules.
40 people (36 in the third set) who follow one respond to 40 (50) of at most 150 trials each; one response in twenty (8
to 15% of a person's) is random. Measured is the mean
squared error of choice probabilities, without random choices, over the trials of the space that nobody saw: of the
induced theory, of a conditional logit of all attributes, of gradient boosting on all attributes of all options, and of
guessing. Rules with a memory are followed along new sequences of these trials. A form counts as found if its error is
at most .004.

In the set of two kinds, 30 to 50% of 40 participants follow one rule and the others another one, for 50 responses each;
the error is that of the prediction for each kind, in the match of kinds that is better, weighted by their shares. A
prediction that is the same for all participants is compared with both kinds. ``one_kind`` is the error of the best
induced theory with one kind of participants.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from benchmarks.cells import complete
from benchmarks.provenance import ROOT
from benchmarks.theories.eighth_blind_rules import EIGHTH_BLIND, EIGHTH_TASKS, EIGHTH_UNSEEN
from benchmarks.theories.mixed_rules import MIXED_RULES, MIXED_TASKS, ONE_KIND
from benchmarks.theories.more_rules import MORE_RULES
from benchmarks.theories.several_rules import RULES, TASKS, SeveralRule
from lakatos.domains.declared.task import DeclaredDomain
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.discovery.induction.induce import induce
from lakatos.theories.discovery.induction.outcome_terms import read_language
from lakatos.theories.discovery.induction.outcomes import KINDS, OutcomeSearch
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.language.theory import Theory, TheoryProgram

Array = NDArray[np.float64]
RESULT = ROOT / "benchmarks" / "raw" / "theories" / "several.json"
FOUND = 0.004
N_DRAWS = 64
ALL_TASKS = TASKS | EIGHTH_TASKS | MIXED_TASKS


@dataclass(frozen=True)
class RuleSet:
    """Rules, and how many people respond how often to them."""

    rules: Mapping[str, SeveralRule]
    n_people: int = 40
    n_each: int = 40
    lapse: tuple[float, float] = (0.05, 0.05)
    """Least and largest share of random choices of a person."""


SETS = {
    "first": RuleSet(RULES),
    "second": RuleSet(MORE_RULES),
    "eighth blind": RuleSet(EIGHTH_BLIND, 36, 50, (0.08, 0.15)),
    "eighth unseen": RuleSet(EIGHTH_UNSEEN, 36, 50, (0.08, 0.15)),
    "two kinds": RuleSet(MIXED_RULES, 40, 50, (0.08, 0.15)),
    "one kind": RuleSet(ONE_KIND, 40, 50, (0.08, 0.15)),
}
N_SEEN, SHARE_SEEN = 150, 0.6
"""Trials that people see: so many, and at most this share of the space."""


def responses(rule: SeveralRule, stimuli: Stimuli, of: RuleSet, rng: np.random.Generator) -> Trials:
    """What people respond who follow a rule, each in an order of their own."""
    lapse = rng.uniform(*of.lapse, of.n_people)[:, None] if len(set(of.lapse)) > 1 else of.lapse[0]
    trial = np.stack(
        [rng.choice(len(stimuli), of.n_each, replace=False) for _ in range(of.n_people)]
    )
    drawn = rng.random(trial.shape)
    response = np.zeros(trial.shape, dtype=np.int64)
    is_first = (np.arange(of.n_people) < round(rule.share * of.n_people))[:, None]
    strictness = np.exp(rule.spread * ndtri((np.arange(of.n_people) + 0.5) / of.n_people))[:, None]
    last = np.zeros((of.n_people, _n_options(stimuli)))
    for step, (rows, chance) in enumerate(zip(trial.T, drawn.T, strict=True)):
        offer = {**_rows(stimuli, rows), "last": last}
        p = rule.choose(offer)
        p = np.where(is_first, p, rule.others(offer) if rule.others else p)
        p = p**strictness / (p**strictness).sum(axis=1, keepdims=True)
        p = (1 - lapse) * p + lapse / p.shape[1]
        response[:, step] = (chance[:, None] > p.cumsum(axis=1)).sum(axis=1)
        last = np.eye(p.shape[1])[response[:, step]]
    return Trials(
        experiment="first",
        stimuli=stimuli,
        participant=np.repeat(np.arange(of.n_people), of.n_each),
        trial=trial.ravel(),
        response=response.ravel(),
        count=np.ones(trial.size, dtype=np.int64),
        n_options=last.shape[1],
        n_people=of.n_people,
    )


def _n_options(stimuli: Stimuli) -> int:
    return int(next(iter(stimuli.arrays.values())).shape[1])


def _rows(stimuli: Stimuli, rows: NDArray[np.int64]) -> dict[str, Array]:
    return {name: array[rows] for name, array in stimuli.arrays.items()}


def _last(trials: Trials) -> Array:
    """``(n_rows, n_options)`` with 1 for the response before, zeros at a person's first one."""
    last = np.zeros((len(trials.trial), trials.n_options))
    goes_on = trials.participant[1:] == trials.participant[:-1]
    last[1:] = np.eye(trials.n_options)[trials.response[:-1]] * goes_on[:, None]
    return last


def boosted(trials: Trials, new: Trials, *, uses_last: bool) -> Array:
    """Predictions of gradient boosting on all attributes of all options, and on the last choice if it matters."""
    from sklearn.ensemble import GradientBoostingClassifier

    def table(of: Trials) -> Array:
        columns = [array for _, array in sorted(_rows(of.stimuli, of.trial).items())]
        return np.concatenate([*columns, *([_last(of)] if uses_last else [])], axis=1)

    model = GradientBoostingClassifier(n_estimators=150, learning_rate=0.05, random_state=0)
    model.fit(table(trials), trials.response)
    found = np.zeros((len(new.trial), trials.n_options))
    found[:, model.classes_] = model.predict_proba(table(new))
    return found


def predicted(theory: Theory, sandbox: Sandbox, new: Trials) -> list[Array]:
    """``(n_rows, n_options)`` probabilities by each kind of participants of a theory, who remember what came before."""
    people = theory.population(N_DRAWS, lapse=False)
    if "disposition" not in people:
        return [_predicted_by(people, theory, sandbox, new)] * 2
    first = people["disposition"] > 0
    kinds = [{name: values[own] for name, values in people.items()} for own in (first, ~first)]
    return [_predicted_by(kind, theory, sandbox, new) for kind in kinds]


def _predicted_by(
    people: Mapping[str, Array], theory: Theory, sandbox: Sandbox, new: Trials
) -> Array:
    source = theory.program.source
    if not theory.learns:
        (p,) = sandbox.probabilities(source, people, [new.stimuli.arrays], n_options=new.n_options)
        return np.asarray(p.mean(axis=0)[new.trial])
    trial, response = (array.reshape(new.n_people, -1) for array in (new.trial, new.response))
    found = np.zeros((*trial.shape, new.n_options))
    with sandbox.open_session(source, [], n_options=new.n_options) as session:
        session.begin(people)
        for step in range(trial.shape[1]):
            before = response[None, :, step - 1] if step else None
            shown = _rows(new.stimuli, trial[:, step])
            found[:, step] = session.step(shown, response=before).mean(axis=0)
    return found.reshape(-1, new.n_options)


def added(domain: DeclaredDomain, trials: Trials, stimuli: Stimuli) -> Array:
    """Predictions, on all trials, of a conditional logit of all attributes."""
    counts = np.zeros((len(stimuli), trials.n_options))
    np.add.at(counts, (trials.trial, trials.response), 1.0)
    language = read_language(domain, dict(stimuli.arrays), counts, has_places=False)
    assert language is not None
    search = OutcomeSearch(language, counts)
    plain = tuple((k, -1) for k, item in enumerate(language.terms.items) if item.price == 0)
    fitted = search.fit(plain)
    return (search.predict(fitted) - fitted.lapse / trials.n_options) / (1 - fitted.lapse)


def new_responses(
    rule: SeveralRule, unseen: Stimuli, of: RuleSet, rng: np.random.Generator
) -> Trials:
    """Each unseen trial once; for rules with a memory, in the sequences of new people."""
    if rule.uses_last:
        longer = replace(of, n_each=min(of.n_each, len(unseen)))
        return responses(rule, unseen, longer, rng)
    n_unseen = len(unseen)
    zeros = np.zeros(n_unseen, dtype=np.int64)
    return Trials(
        "new", unseen, zeros, np.arange(n_unseen), zeros, zeros + 1, _n_options(unseen), n_people=1
    )


def cell(group: str, name: str, seed: int) -> dict[str, Any]:
    """One rule and one sample of people."""
    of = SETS[group]
    rule = of.rules[name]
    domain = DeclaredDomain(ALL_TASKS[rule.task])
    rng = np.random.default_rng(seed)
    space = domain.space({})
    space = space.take(rng.permutation(len(space)))
    n_seen = min(N_SEEN, int(SHARE_SEEN * len(space)))
    seen, unseen = space.take(range(n_seen)), space.take(range(n_seen, len(space)))
    trials = responses(rule, seen, of, rng)
    new = new_responses(rule, unseen, of, rng)
    offer = {**_rows(unseen, new.trial), "last": _last(new)}
    truths = rule.choose(offer), (rule.others or rule.choose)(offer)
    shares = rule.share, 1 - rule.share

    def error(*p: Array) -> float:
        """Error of each kind of participants, matched to that of the rule that it resembles more."""
        ways = (p, p[::-1])
        return min(
            sum(w * float(((q - t) ** 2).mean()) for w, q, t in zip(shares, way * (3 - len(way)), truths, strict=True))
            for way in ways
        )  # fmt: skip

    guess = np.full(truths[0].shape, 1 / truths[0].shape[1])
    begun = time.process_time()
    found = induce(domain, [trials], np.random.default_rng(seed))
    seconds = time.process_time() - begun
    errors: dict[str, float] = {}
    with Sandbox() as sandbox:
        for item in found:
            theory = load_theory(TheoryProgram(item.source, "induction"), domain, sandbox)
            errors[item.kind] = error(*predicted(theory, sandbox, new))
    best = found[0] if found else None
    induced = errors[best.kind] if best else error(guess)
    return {
        "set": group,
        "rule": name,
        "seed": seed,
        "words": rule.words,
        "claim": best.claim if best else "",
        "kind": best.kind if best else "",
        "n_terms": best.n_terms if best else 0,
        "induced": induced,
        "one_kind": min((errors[kind] for kind in errors if kind != KINDS), default=error(guess)),
        "is_found": float(induced <= FOUND),
        "added": error(added(domain, trials, space)[n_seen:][new.trial]),
        "boosted": error(boosted(trials, new, uses_last=rule.uses_last)),
        "guessed": error(guess),
        "seconds": round(seconds, 1),
    }


def main() -> None:
    """Run what is missing, and print means."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--seeds", type=int, default=2)
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--sets", nargs="*", default=list(SETS))
    options.add_argument("--out", type=Path, default=RESULT)
    given = options.parse_args()
    names = [(group, name) for group in given.sets for name in SETS[group].rules]
    wanted = [(*name, seed) for seed in range(given.seeds) for name in names]
    order = partial(_order, names)
    done = complete(given.out, cell, wanted, ("set", "rule", "seed"), given.workers, order=order)
    for group in given.sets:
        is_mixed = np.array([item["kind"] == KINDS for item in done if item["set"] == group])
        print(f"{group}: two kinds in {is_mixed.sum()} of {len(is_mixed)}")
        for key in ("induced", "one_kind", "is_found", "added", "boosted", "guessed"):
            values = np.array([item[key] for item in done if item["set"] == group])
            print(f"{group} {key}: mean {values.mean():.4f}, median {np.median(values):.4f}")


def _order(names: list[tuple[str, str]], item: dict[str, Any]) -> tuple[int, int]:
    return item["seed"], names.index((item["set"], item["rule"]))


if __name__ == "__main__":
    main()
