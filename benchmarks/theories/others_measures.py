"""The named theories and the published ones, measured as other laboratories measure: person by person.

    python benchmarks/run.py theories/others_measures --data ../shared/data     # resumes

Each theory is fitted to each person alone by maximum likelihood (`person_fits`), on people whose
answers the campaign of the data set never saw. Reported are

- the mean Bayesian information criterion, as by GeCCo (arXiv 2502.00879), lower is better;
- the normalised likelihood, as by CogFunSearch (ICML 2025): for each person ``exp`` of the mean log likelihood of a
  choice, averaged over people; of the choices that were fitted, and of the second half of a person's choices with
  what the first half taught.

**Held out** are the people that the study of the atlas seals (drawn by the study's own seed), and of them at most
`MOST_PEOPLE`, drawn by lot with seed 0. Nobody of `two steps, by age` was seen by any campaign that named a theory.
The runs of the atlas keep their sources; here the named theories are written through the grammar again from their names
and clauses (docs/atlas.md): `NAMED`. What a clause did not tell (random choices) is as in published theories.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cells import complete, mean_interval
from benchmarks.provenance import ROOT, provenance
from benchmarks.theories.people import _people
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.participants.archival import ArchivalParticipants
from lakatos.experiments.task import Trials
from lakatos.flows.run.source import archive_trials
from lakatos.flows.run.study import load_study
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.person_fits import fit_each_person
from lakatos.theories.findings.transfer import first_half
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program

RESULT = ROOT / "benchmarks" / "raw" / "theories" / "others_measures.json"
MOST_PEOPLE = 32
"""Of a data set; the machine fits a theory that learns to so many in some ten seconds."""
STUDIES = {
    "two steps": "two-steps",
    "two steps, by age": "two-steps-ages",
    "reversals": "reversals",
    "probabilities": "probabilities",
    "products, graded": "products-cardinal",
}
"""Data sets, and the study of the atlas whose sealed people are taken."""
UNSEEN = ("two steps, by age",)
"""Data sets of which no campaign has named a theory, so that everybody is held out."""
LEARNING = {"expectation": ("even",), "rate": ("constant",), "credit": ("direct",)}
_PLANNING = LEARNING | {
    "others": ("forgetting",),
    "planning": ("model-based",),
    "habit": ("choice trace",),
    "choice": ("softmax",),
}
NAMED: dict[str, tuple[str, dict[str, tuple[str, ...]]]] = {
    "two steps": ("Model-based planning with forgetting", _PLANNING),
    "two steps, by age": ("Model-based planning with forgetting", _PLANNING),
    "reversals": (
        "Asymmetric learning with forgetting",
        LEARNING
        | {
            "rate": ("two rates",),
            "others": ("forgetting",),
            "habit": ("perseveration",),
            "choice": ("softmax",),
        },
    ),
    "probabilities": (
        "Error-driven learning with giving up",
        LEARNING
        | {"expectation": ("prior belief",), "habit": ("giving up",), "choice": ("softmax",)},
    ),
    "products, graded": (
        "Weighted adding with flattened weights",
        {
            "utility": ("linear",),
            "comparison": ("difference",),
            "weight": ("power",),
            "integration": ("sum",),
            "accent": ("unevenness",),
            "choice": ("logistic",),
            "lapse": ("random",),
        },
    ),
}
"""By data set: the title of the theory that the atlas named there, and its mechanisms by slot."""
MARK = "(named)"
_PLANNERS = (
    "hybrid",
    "model_based",
    "model_free",
    "perseveration",
    "forgetting",
    "rescorla_wagner",
)
PUBLISHED = {
    "two steps": (*_PLANNERS, "two_rates", "choice_kernel", "win_stay_lose_shift", "random"),
    "two steps, by age": (*_PLANNERS, "random"),
}
"""Published theories, where not all of the domain: those left out are bandits that know no second step."""


def held_out(selection: str, data: Path) -> list[Trials]:
    """People whom the campaign never saw, at most `MOST_PEOPLE`, drawn by lot over all experiments."""
    config = load_study(ROOT / "studies" / "atlas" / f"{STUDIES[selection]}.toml")
    trials = archive_trials(config, data)
    if selection not in UNSEEN:
        domain, hidden = DOMAINS[config.domain], config.validation
        source = ArchivalParticipants(
            trials,
            sequential=domain.sequential,
            sealed_share=hidden.sealed_share,
            sealed_participants=hidden.sealed_participants,
            seed=config.seed,
        )
        trials = tuple(source.sealed() if domain.sequential else source.sealed_participants())
    return _drawn(trials)


def _drawn(trials: Sequence[Trials]) -> list[Trials]:
    who = [(place, person) for place, item in enumerate(trials) for person in range(item.n_people)]
    order = np.random.default_rng(0).permutation(len(who))[:MOST_PEOPLE]
    kept: dict[int, list[int]] = {}
    for place, person in sorted(who[row] for row in order):
        kept.setdefault(place, []).append(person)
    return [_people(trials[place], people) for place, people in kept.items()]


def form(selection: str, name: str) -> Theory:
    """A published theory by its name, or the one that was named."""
    config = load_study(ROOT / "studies" / "atlas" / f"{STUDIES[selection]}.toml")
    family = FAMILIES[str(config.domain)]
    if name != MARK:
        return read_program(family.program(name))
    title, slots = NAMED[selection]
    source = family.grammar.write(Composition(slots), title)
    return read_program(TheoryProgram(source, author="grammar"))


def cell(selection: str, name: str, data: Path) -> dict[str, Any]:
    """One theory fitted to each person, to all choices and to the first half of them."""
    begun = time.perf_counter()
    trials, theory = held_out(selection, data), form(selection, name)
    halves = [first_half(item) for item in trials]
    config = load_study(ROOT / "studies" / "atlas" / f"{STUDIES[selection]}.toml")
    with Laboratory(DOMAINS[config.domain], 1) as laboratory:
        whole = fit_each_person(theory, trials, laboratory)
        half = fit_each_person(theory, halves, laboratory, later=trials)
    return {
        "commit": provenance()["commit"],
        "selection": selection,
        "theory": name,
        "title": theory.name,
        "parameters": len(whole.parameters),
        "n_choices": [int(n) for n in whole.n_choices],
        "bic": [round(float(x), 4) for x in whole.bic],
        "likelihood": [round(float(x), 6) for x in whole.per_choice],
        "second_half": [round(float(x), 6) for x in half.later_per_choice],
        "seconds": round(time.perf_counter() - begun, 1),
    }


def plan(selections: Sequence[str]) -> list[tuple[str, str]]:
    """What is to be computed: the named theory first."""
    found = []
    for selection in selections:
        config = load_study(ROOT / "studies" / "atlas" / f"{STUDIES[selection]}.toml")
        published = PUBLISHED.get(selection, tuple(FAMILIES[str(config.domain)].seeds))
        found += [(selection, name) for name in (MARK, *published)]
    return found


def _interval(values: Sequence[float], digits: int) -> str:
    mean, low, high = mean_interval(values)
    return f"{mean:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def table(cells: list[dict[str, Any]]) -> str:
    """Each data set, lowest BIC first; differences are those of the named theory to this one, person by person."""
    lines = []
    for selection in dict.fromkeys(item["selection"] for item in cells):
        own = [item for item in cells if item["selection"] == selection]
        named = next((item for item in own if item["theory"] == MARK), None)
        people = len(own[0]["bic"])
        lines.append(
            f"{selection}: {people} people, {sum(own[0]['n_choices']) / people:.0f} choices each"
        )
        for item in sorted(own, key=lambda item: float(np.mean(item["bic"]))):
            line = [item["title"], str(item["parameters"])]
            line += [_interval(item["bic"], 1)]
            line += [_interval(item[key], 4) for key in ("likelihood", "second_half")]
            if named is not None and item is not named:
                for key, digits in (("bic", 1), ("second_half", 4)):
                    gaps = np.array(named[key]) - np.array(item[key])
                    line.append(_interval(gaps.tolist(), digits))
            lines.append("| " + " | ".join(line) + " |")
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, write every result as it comes."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--selections", nargs="*", default=list(STUDIES))
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    print(
        table(
            complete(
                chosen.out,
                cell,
                plan(chosen.selections),
                ("selection", "theory"),
                chosen.workers,
                order=itemgetter("selection", "theory"),
                extra=(chosen.data,),
            )
        )
    )
