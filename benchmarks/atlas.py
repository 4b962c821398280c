"""A campaign for each public data set (`studies/atlas`), the theories that they named, and the page docs/atlas.md.

    python benchmarks/run.py atlas --data data --campaigns games      # runs a campaign, keeps its theory, measures it
    python benchmarks/run.py atlas --data data --measure games        # measures a kept theory again, without a campaign
    python benchmarks/run.py atlas                                    # writes the page

Each named theory is kept as program and population in `studies/atlas/named`, with its measures. The page is made from
these files alone, and a test compares it with them. Open are all responses of a data set that its study does not seal.
A campaign that fails does not affect the others; the same command tries it again.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from benchmarks.provenance import ROOT, provenance
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.conditions import without_condition
from lakatos.experiments.participants.archival import ArchivalParticipants
from lakatos.experiments.task import Trials, identities
from lakatos.flows.operations.carry import carry
from lakatos.flows.report.reader import clean
from lakatos.flows.run.evidence import form_of
from lakatos.flows.run.progress import duration
from lakatos.flows.run.run import read_state
from lakatos.flows.run.source import archive_trials
from lakatos.flows.run.study import CampaignConfig, load_study
from lakatos.theories.engine.evidence import with_fit
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.record import LearnedCenter
from lakatos.theories.engine.scoring.score import UnitScores, mean_score, paired_difference
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.generic_learners.completeness import completeness
from lakatos.theories.findings.generic_learners.learners import predict_others
from lakatos.theories.findings.verdicts.unexplained import left_unexplained
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program

STUDIES = ROOT / "studies" / "atlas"
NAMED = STUDIES / "named"
PAGE = ROOT / "docs" / "atlas.md"
LONGEST_STEP_S = 3600.0
"""A longer time between two events of a journal is a pause, not work."""
RATIO_DRAWS = 512
TOP, END = "<!-- made from studies/atlas/named -->", "<!-- end -->"
HEAD = (
    "| study | named theory | clauses | misfit ratio: presented trials | sealed trials | completeness "
    "| best published theory, its completeness | ahead of it | open responses | time |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
)
Interval = tuple[float, float, float]
"""A value and the ends of its interval."""


class Measures(BaseModel):
    """How a kept theory predicts, beside learners and published theories that learned from the same responses."""

    commit: str
    presented: Interval | None
    """Misfit ratio on the open trials, with its 90% interval."""
    sealed: Interval | None
    """The same on the sealed responses, on which neither form nor population was chosen."""
    completeness: Interval | None
    """On the sealed responses, with its 95% interval."""
    published: str
    """Title of the best published theory; empty where the named theory is that theory."""
    published_completeness: float | None
    ahead: Interval | None
    """Nats per response by which the named theory is ahead of it on the sealed responses, with its 95% interval."""
    n_responses: int
    """Open responses."""


class NamedTheory(BaseModel):
    """The theory that a campaign named, with the population that it estimated."""

    study: str
    commit: str
    name: str
    n_clauses: int
    source: str
    author: str
    people: dict[str, tuple[float, float]]
    doubts: dict[str, float]
    own_centers: dict[str, LearnedCenter]
    pooled: bool
    seconds: float
    """Time of the campaign, without pauses."""
    measures: Measures | None = None

    @property
    def theory(self) -> Theory:
        """The program with its population."""
        form = read_program(TheoryProgram(self.source, self.author))
        centers = {name: item.as_learned for name, item in self.own_centers.items()}
        return form.with_recorded(self.people, self.doubts, centers, pooled=self.pooled)

    @property
    def claim(self) -> str:
        """What the present wordings make of the program and its population."""
        return self.theory.account().claim


def load_atlas(folder: Path = STUDIES) -> dict[str, CampaignConfig]:
    """The studies by name; none learns from another, so that each shows what its own data teach.

    Generic learners are compared with what is kept, and not by the campaign.
    """
    studies = [load_study(file) for file in sorted(folder.glob("*.toml"))]
    return {
        study.name: study.model_copy(
            update={
                "memory": study.memory.model_copy(update={"winners": False}),
                "validation": study.validation.model_copy(update={"comparison_models": False}),
            }
        )
        for study in studies
    }


def load_named(folder: Path = NAMED) -> dict[str, NamedTheory]:
    """The kept theories by study."""
    files = sorted(folder.glob("*.json"))
    return {file.stem: NamedTheory.model_validate_json(file.read_text("utf-8")) for file in files}


def keep(theory: NamedTheory, folder: Path = NAMED) -> NamedTheory:
    """Write a theory to its file."""
    folder.mkdir(exist_ok=True)
    (folder / f"{theory.study}.json").write_text(theory.model_dump_json(indent=1) + "\n", "utf-8")
    return theory


def read_named(folder: Path, name: str) -> NamedTheory | None:
    """The theory that a campaign named; None before its verdict."""
    state, trace = read_state(folder / name)
    with trace:
        if state.campaign.concluded is None:
            return None
        leader = str(state.campaign.concluded.record.leader)
        theory = with_fit(form_of(trace.artifacts, state, leader), state.theories)
        times = [datetime.fromisoformat(event.time_utc) for event in trace.journal.events()]
    fitted = state.theories.fits[theory.digest].record
    steps = [(after - before).total_seconds() for before, after in pairwise(times)]
    return NamedTheory(
        study=name,
        commit=provenance()["commit"],
        name=theory.name,
        n_clauses=len(theory.account().clauses),
        source=theory.program.source,
        author=theory.program.author,
        people=fitted.people,
        doubts=fitted.doubts,
        own_centers=fitted.own_centers,
        pooled=fitted.pooled,
        seconds=sum(step for step in steps if step < LONGEST_STEP_S),
    )


def run_campaign(config: CampaignConfig, folder: Path, data: Path | None, n_workers: int) -> None:
    """Begin a campaign or go on with it."""
    done = carry(folder / config.name, study=config, data=data, workers=n_workers)
    print(f"{config.name}: {done.ended}: {done.text}", flush=True)


def open_and_sealed(config: CampaignConfig, data: Path | None) -> tuple[list[Trials], list[Trials]]:
    """Responses of a data set that its study leaves open, and those that it seals."""
    domain, hidden = DOMAINS[str(config.domain)], config.validation
    source = ArchivalParticipants(
        archive_trials(config, data),
        sealed_share=hidden.sealed_share,
        sealed_participants=hidden.sealed_participants,
        seed=config.seed,
        identify=lambda stimuli: identities(domain, without_condition(stimuli)),
        sequential=domain.sequential,
    )
    return source.open(), [*source.sealed(), *source.sealed_participants()]


def measure(named: NamedTheory, config: CampaignConfig, data: Path | None) -> NamedTheory:
    """A kept theory with its measures: on open responses what it leaves unexplained, on sealed ones all others."""
    domain, family = DOMAINS[str(config.domain)], FAMILIES[str(config.domain)]
    opened, sealed = open_and_sealed(config, data)
    kind = "people" if domain.sequential else "trials"
    learner = predict_others(domain, opened, sealed, kind=kind, seed=config.seed).scores
    own = named.theory
    with Laboratory(domain, 1) as laboratory:
        ratios = [
            left_unexplained(laboratory, own, trials, RATIO_DRAWS) for trials in (opened, sealed)
        ]
        forms = {name: read_program(family.program(name)) for name in family.seeds}
        fitted, _ = laboratory.with_people_of(forms, opened)
        theories = [own, *(item for item in fitted.values() if item.digest != own.digest)]
        found = _scores(laboratory, theories, sealed, config.theories.draws)
    best = max(found[1:], key=lambda item: mean_score(item[1]).value, default=None)
    scores, n_options = found[0][1], [item.n_options for item in sealed]
    ahead = None if best is None else paired_difference(scores, best[1])
    share = completeness(scores, learner, n_options)
    beside = None if best is None else completeness(best[1], learner, n_options)
    presented, unseen = (
        None if item is None else (item.value, item.low, item.high) for item in ratios
    )
    measures = Measures(
        commit=provenance()["commit"],
        presented=presented,
        sealed=unseen,
        completeness=share and (share.value, *share.interval),
        published="" if best is None else best[0].name,
        published_completeness=beside and beside.value,
        ahead=ahead and (ahead.value, *ahead.interval),
        n_responses=sum(item.n_responses for item in opened),
    )
    return named.model_copy(update={"measures": measures})


def _scores(
    laboratory: Laboratory, theories: Sequence[Theory], trials: Sequence[Trials], n_draws: int
) -> list[tuple[Theory, list[UnitScores]]]:
    """How theories with their populations predict all experiments; those that fail are left away."""
    parts = [laboratory.predictives_or_error(theories, item, n_draws) for item in trials]
    found = []
    for theory, own in zip(theories, zip(*parts, strict=True), strict=True):
        scores = [item for item in own if not isinstance(item, TheoryError)]
        if len(scores) == len(own):
            found.append((theory, scores))
    return found


def row_of(named: NamedTheory) -> str:
    """The row of a data set in the table."""
    known = named.measures
    assert known is not None
    share = known.published_completeness
    cells = (
        named.study, cell(named.name), str(named.n_clauses),
        _interval(known.presented, "{:.2f}"), _interval(known.sealed, "{:.2f}"),
        _interval(known.completeness, "{:.0%}"),
        cell(known.published) + ("" if share is None else f", {share:.0%}"),
        _interval(known.ahead, "{:+.4f}"), f"{known.n_responses:,}", duration(named.seconds),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _interval(found: Interval | None, form: str) -> str:
    if found is None:
        return "not measurable"
    value, low, high = map(form.format, found)
    return f"{value} ({low} to {high})"


def cell(text: str) -> str:
    """Text in a cell of a table: what would be markup is none."""
    plain = " ".join(clean(text).split()).replace("<", "&lt;")
    return plain.replace("|", "\\|").replace("`", "'").replace("[", "\\[")


def page_of(page: str, named: Mapping[str, NamedTheory]) -> str:
    """The page with the table and the claims of the measured theories, and without what it had of them before."""
    named = {name: item for name, item in named.items() if item.measures is not None}
    before, rest = page.split(TOP)
    _, after = rest.split(END)
    starts = tuple(start for name in named for start in (f"| {name} |", f"**{name}.**"))
    others = "\n".join(line for line in after.split("\n") if not line.startswith(starts))
    table = "\n".join([HEAD, *map(row_of, named.values())])
    claims = "\n\n".join(f"**{name}.** {cell(item.claim)}" for name, item in named.items())
    after = re.sub("\n{3,}", "\n\n", others)
    return f"{before}{TOP}\n\n{table}\n\n{claims}\n\n{END}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    studies = load_atlas()
    parser.add_argument("--data", type=Path, help="folder of the published data sets")
    parser.add_argument("--runs", type=Path, default=ROOT / "runs" / "atlas")
    parser.add_argument("--workers", type=int, default=1, help="theories that run at the same time")
    parser.add_argument("--campaigns", nargs="*", choices=list(studies), default=[])
    parser.add_argument("--measure", nargs="*", choices=list(studies), default=[])
    given: Any = parser.parse_args()
    failed = []
    for name in dict.fromkeys([*given.campaigns, *given.measure]):
        try:
            renew(studies[name], given)
        except Exception as error:
            failed.append(f"{name}: {error}")
    PAGE.write_text(page_of(PAGE.read_text("utf-8"), load_named()), "utf-8")
    if failed:
        raise SystemExit("failed: " + "; ".join(failed))


def renew(config: CampaignConfig, given: Any) -> None:
    """Run a campaign where one is wanted, and measure what is kept."""
    if config.name in given.campaigns:
        run_campaign(config, given.runs, given.data, given.workers)
        named = read_named(given.runs, config.name)
        if named is None:
            return
        keep(named)
    keep(measure(load_named()[config.name], config, given.data))


if __name__ == "__main__":
    main()
