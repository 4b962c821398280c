"""What a search gains from the theories that won before, on the same answers for every way of using them.

    python benchmarks/memory/starts.py             # resumes; benchmarks/results/memory/starts.json
    python benchmarks/memory/starts.py --table     # sums up what is there

Whole campaigns of two arms ask different people different trials, so that forty pairs of them tell little
(`winners.py`). Here every way of using a library searches the answers of the same people to the same trials with the
same random numbers, in the domains and spaces of `winners.py`. A *world* is one rule of a domain that its people have
in common; each campaign's rule keeps each slot of it with probability 0.7, or with probability 0. A campaign has an
experiment of 16 trials and 40 people, searches with twelve candidates, has another one, and goes on from what the first
search found. What the search *without* a library found in both is what the campaign leaves to those after it, whichever
way they use it; the first campaign of a world has no library and is not counted.

- *none* takes nothing; *more* takes nothing and has four candidates more, as many as a library may bring.
- *winners*: up to four winners are among the twelve candidates, and mechanisms that several share are tried early.
- *screened*: the same of those winners that say nearly as much of the answers before a fit as the best first rival.
- *on top*, *screened on top*: the same, but the winners come on top of the twelve.
- *shared*: what most winners have in each slot is one of the four.
- *core*, *truth*: a library that knew what the people of the world have in common, or the hidden rule itself: ceilings.

Errors are root mean square differences of choice proportions on all trials of the space; within 0.05 a rule counts as
recovered, after one experiment, after two, or not (counted as three). Intervals are 95% bootstraps over worlds, whose
campaigns stay together; ways are compared on the same campaigns.

What would make this fail: rules that the first search finds in any way, or that no start helps to find.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from benchmarks.cells import complete  # noqa: E402
from benchmarks.memory.winners import SPACES, drawn, laboratory_of, tells_apart  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from lakatos.domains import DOMAINS, FAMILIES  # noqa: E402
from lakatos.experiments.task import Trials  # noqa: E402
from lakatos.memory.winner import TheoryWon  # noqa: E402
from lakatos.memory.winner_start import (  # noqa: E402
    rank_winners,
    shared_mechanisms,
    starts_of_winners,
)
from lakatos.theories.discovery.grammar_search.composition_search import search_compositions  # noqa: E402
from lakatos.theories.discovery.grammar_search.proposal import (  # noqa: E402
    AdvocateBrief,
    SearchProposal,
    SearchStart,
)
from lakatos.theories.language.grammar import Composition  # noqa: E402
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program  # noqa: E402
from lakatos.traces.digest import digest_of  # noqa: E402

RESULT = ROOT / "benchmarks" / "results" / "memory" / "starts.json"
N_TRIALS, N_PEOPLE, N_EXPERIMENTS = 16, 40, 2
N_CANDIDATES, N_KEPT = 12, 4
MOST_STARTS = N_CANDIDATES // 3
MOST_SCREENED = 12
BEFORE_FIT = 0.02
"""Nats per choice that a winner may be behind the best first rival before a fit."""
RECOVERED = 0.05
N_BOOTSTRAP = 4000
WAYS = (
    "none",
    "more",
    "winners",
    "screened",
    "on top",
    "screened on top",
    "shared",
    "core",
    "truth",
)


@dataclass(frozen=True)
class SearchedCampaign:
    """One campaign: whose rule, and how much of it the people of its world have in common."""

    domain: str
    world: int
    number: int
    common: float

    @property
    def place(self) -> int:
        """Of the domain, for seeds."""
        return list(SPACES).index(self.domain)

    def rng(self, use: int) -> np.random.Generator:
        """Random numbers of this campaign for one use."""
        return np.random.default_rng([self.place, self.world, self.number, use])

    def core(self) -> Composition:
        """What the people of the world have in common."""
        return drawn(self.domain, np.random.default_rng([self.place, self.world, 70]))

    def hidden_rule(self) -> Composition:
        """The rule of this campaign: the core with some slots drawn anew."""
        core, rng = self.core(), self.rng(71)
        while True:
            other = drawn(self.domain, rng)
            slots = {
                slot.name: (core if rng.random() < self.common else other).slots.get(slot.name, ())
                for slot in FAMILIES[self.domain].grammar.slots
            }
            if tells_apart(self.domain, found := Composition(slots)):
                return found

    def people(self) -> Theory:
        """The hidden rule as a theory with people."""
        source = FAMILIES[self.domain].grammar.write(self.hidden_rule(), "a rule")
        return read_program(TheoryProgram(source, "hidden"))

    def answers(self) -> list[Trials]:
        """The experiments: random trials, answered by people of the hidden rule."""
        rng = np.random.default_rng(
            [self.place, self.world, self.number, int(10 * self.common), 72]
        )
        stimuli, found = DOMAINS[self.domain].space(SPACES[self.domain]), []
        for _ in range(N_EXPERIMENTS):
            some = stimuli.take(rng.choice(len(stimuli), N_TRIALS, replace=False))
            laboratory = laboratory_of(self.domain)
            found += laboratory.simulate([self.people()], some, N_PEOPLE, rng, n_draws=512)
        return found

    def error_of(self, found: SearchProposal) -> float:
        """How far the best of a search is from the hidden rule."""
        stimuli = DOMAINS[self.domain].space(SPACES[self.domain])
        truth, said = (
            laboratory_of(self.domain).proportions(theory, stimuli, 512)
            for theory in (self.people(), best_of(found))
        )
        return float(np.sqrt(np.mean((said - truth) ** 2)))

    def file(self, folder: Path) -> Path:
        """Where what the campaign left is kept."""
        return folder / f"{self.domain}-{self.world}-{self.number}-{self.common}.json"


def best_of(found: SearchProposal) -> Theory:
    """The best of a search, with its people."""
    best = found.submitted[0].evaluated
    assert best is not None
    return best.theory


def left_by(campaign: SearchedCampaign, found: SearchProposal) -> TheoryWon:
    """What a campaign leaves of its last search."""
    theory, cited = best_of(found), digest_of(campaign.number)
    return TheoryWon(
        domain=campaign.domain,
        study=f"campaign {campaign.number}",
        theory=theory.digest,
        source=theory.program.source,
        name=theory.name,
        claim=theory.claim,
        author="grammar",
        leads=True,
        holds=True,
        answers="",
        tried=(),
        completeness=None,
        evidence=(cited,),
        justified_by=(cited,),
    )


# --- ways of using a library ------------------------------------------------------------------------------------------


def brief_of(
    way: str,
    campaign: SearchedCampaign,
    library: Sequence[TheoryWon],
    own: Sequence[SearchStart],
    trials: Sequence[Trials],
) -> AdvocateBrief:
    """What a search begins with: its own starts, and what a way of using the library adds."""
    family = FAMILIES[campaign.domain]
    published = tuple(form for _, form in family.seeds.values())
    brief = AdvocateBrief(
        tuple(own), published=published, n_candidates=N_CANDIDATES, n_successors=1
    )
    if way == "none":
        return brief
    if way == "more":
        return replace(brief, n_candidates=N_CANDIDATES + MOST_STARTS)
    if way in ("core", "truth"):
        known = campaign.core() if way == "core" else campaign.hidden_rule()
        return replace(brief, starts=(*own, SearchStart(None, known, way)))
    won = starts_of_winners(rank_winners(library), family.grammar, {own[0].composition.key})
    if way.startswith("screened"):
        won = screened(campaign.domain, won[:MOST_SCREENED], trials)
    if way == "shared" and won:
        typical = SearchStart(None, typical_of(campaign.domain, won), "what winners share")
        won = (typical, *won)
    won = won[:MOST_STARTS]
    remedies = shared_mechanisms(won, own[0].composition.slots)
    on_top = len(won) if way.endswith("on top") else 0
    return replace(
        brief, starts=(*own, *won), remedies=remedies, n_candidates=N_CANDIDATES + on_top
    )


def screened(
    domain: str, winners: Sequence[SearchStart], trials: Sequence[Trials]
) -> tuple[SearchStart, ...]:
    """Winners that say nearly as much of the answers before a fit as the best first rival, best first."""
    family = FAMILIES[domain]
    own = [form for _, form in list(family.seeds.values())[:2]]
    forms = [*(start.composition for start in winners), *own]
    scores = laboratory_of(domain).scores_before_fit(
        [TheoryProgram(family.grammar.write(Composition(form.slots)), "grammar") for form in forms],
        trials,
    )
    values = [score if isinstance(score, float) else -np.inf for score in scores]
    least = max(values[len(winners) :]) - BEFORE_FIT
    order = sorted(range(len(winners)), key=lambda place: -values[place])
    return tuple(winners[place] for place in order if values[place] >= least)


def typical_of(domain: str, winners: Sequence[SearchStart]) -> Composition:
    """What most winners have in each slot."""
    counts = {
        slot.name: Counter(start.composition.slots.get(slot.name, ()) for start in winners)
        for slot in FAMILIES[domain].grammar.slots
    }
    return Composition({name: found.most_common(1)[0][0] for name, found in counts.items()})


# --- cells and tables -------------------------------------------------------------------------------------------------


def cell(
    domain: str, world: int, number: int, common: float, options: argparse.Namespace
) -> dict[str, Any]:
    """All ways of one campaign."""
    begun = time.process_time()
    campaign = SearchedCampaign(domain, world, number, common)
    trials = campaign.answers()
    library = [
        TheoryWon.model_validate_json(
            replace(campaign, number=before).file(options.left).read_text()
        )
        for before in range(number)
    ]
    errors: dict[str, list[float]] = {}
    for way in options.ways if number else ("none",):
        searches = list(searches_of(way, campaign, library, trials))
        errors[way] = [round(campaign.error_of(found), 4) for found in searches]
        if way == "none":
            options.left.mkdir(parents=True, exist_ok=True)
            left = left_by(campaign, searches[-1])
            campaign.file(options.left).write_text(left.model_dump_json())
    return {
        "domain": domain,
        "world": world,
        "number": number,
        "common": common,
        "errors": errors,
        "processor": round(time.process_time() - begun, 1),
    }


def searches_of(
    way: str,
    campaign: SearchedCampaign,
    library: Sequence[TheoryWon],
    trials: Sequence[Trials],
) -> list[SearchProposal]:
    """The search after each experiment."""
    first = [SearchStart(None, form) for _, form in list(FAMILIES[campaign.domain].seeds.values())]
    own, searches = first[:2], []
    for n_experiments in range(1, N_EXPERIMENTS + 1):
        some = trials[:n_experiments]
        brief = brief_of(way, campaign, library, own, some)
        found = search_compositions(
            laboratory_of(campaign.domain),
            FAMILIES[campaign.domain].grammar,
            brief,
            some,
            np.random.default_rng(
                [campaign.place, campaign.world, campaign.number, n_experiments, 73]
            ),
        )
        kept = [item for item in found.attempts if item.evaluated is not None][:N_KEPT]
        own = [
            SearchStart(None, found.submitted[0].composition),
            own[0],
            *(SearchStart(None, item.composition, item.change) for item in kept),
        ]
        searches.append(found)
    return searches


def until(errors: Sequence[float]) -> int:
    """Experiments until recovery."""
    return next((n for n, error in enumerate(errors, 1) if error <= RECOVERED), len(errors) + 1)


def bootstrapped(values: Mapping[tuple[Any, ...], Sequence[float]]) -> dict[str, float]:
    """Mean over all campaigns with its 95% bootstrap interval over worlds."""
    rng = np.random.default_rng(0)
    sums = np.array([[sum(found), len(found)] for found in values.values()], dtype=np.float64)
    drawn_ = sums[rng.integers(len(sums), size=(N_BOOTSTRAP, len(sums)))].sum(axis=1)
    low, high = np.quantile(drawn_[:, 0] / drawn_[:, 1], [0.025, 0.975])
    mean = sums[:, 0].sum() / sums[:, 1].sum()
    return {"mean": float(mean), "low": float(low), "high": float(high)}


def table(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Every way beside none, on the campaigns that have both."""
    found: dict[str, Any] = {}
    for common in sorted({row["common"] for row in rows}, reverse=True):
        for way in WAYS:
            both = [
                row
                for row in rows
                if row["common"] == common and row["number"] and {way, "none"} <= set(row["errors"])
            ]
            if not both:
                continue
            line: dict[str, Any] = {"n_campaigns": len(both)}
            measures = {
                "until": until,
                "first": lambda errors: errors[0],
                "second": lambda errors: errors[-1],
            }
            for name, measure in measures.items():
                own: dict[tuple[Any, ...], list[float]] = {}
                less: dict[tuple[Any, ...], list[float]] = {}
                for row in both:
                    world = row["domain"], row["world"]
                    value, base = measure(row["errors"][way]), measure(row["errors"]["none"])
                    own.setdefault(world, []).append(value)
                    less.setdefault(world, []).append(base - value)
                line |= {name: bootstrapped(own), f"{name} less": bootstrapped(less)}
            line["recovered"] = sum(until(row["errors"][way]) <= N_EXPERIMENTS for row in both)
            found[f"{common}: {way}"] = line
    return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--worlds", nargs="*", type=int, default=[0, 1, 2, 3])
    arguments.add_argument("--campaigns", type=int, default=7, help="of each world")
    arguments.add_argument("--ways", nargs="*", default=list(WAYS), choices=WAYS)
    arguments.add_argument("--common", nargs="*", type=float, default=[0.7, 0.0])
    arguments.add_argument("--left", type=Path, default=ROOT / "runs" / "memory-starts")
    arguments.add_argument("--out", type=Path, default=RESULT)
    arguments.add_argument("--table", action="store_true", help="only the table of what is there")
    given = arguments.parse_args()
    wanted = [
        (domain, world, number, common)
        for number in range(given.campaigns)
        for world in given.worlds
        for domain in SPACES
        for common in given.common
    ]
    rows = complete(
        given.out,
        cell,
        [] if given.table else wanted,
        ("domain", "world", "number", "common"),
        1,
        order=lambda row: (row["common"], row["world"], row["number"], row["domain"]),
        extra=(given,),
    )
    given.out.write_text(
        json.dumps({**provenance(), "table": table(rows), "cells": rows}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
