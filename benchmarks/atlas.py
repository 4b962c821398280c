"""A campaign for each public data set (`studies/atlas`), and the table of docs/atlas.md.

    python benchmarks/run.py atlas --data data --workers 1              # begins the campaigns, or goes on with them
    python benchmarks/run.py atlas --data data --only games functions   # some of them
    python benchmarks/run.py atlas --only                               # only writes the table again

A campaign that fails does not affect the others; the same command tries it again. Rows of data sets without a verdict
in the folder of runs stay as they are; the paragraphs below the table are written by a person.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from benchmarks.provenance import ROOT
from lakatos.flows.errors import RunMissingError
from lakatos.flows.operations.carry import carry
from lakatos.flows.report.reader import clean
from lakatos.flows.run.evidence import form_of
from lakatos.flows.run.progress import duration
from lakatos.flows.run.run import read_state
from lakatos.flows.run.study import CampaignConfig, load_study
from lakatos.theories.engine.evidence import with_fit
from lakatos.theories.engine.record import CompletenessMeasured, TheoryCompleteness

STUDIES = ROOT / "studies" / "atlas"
PAGE = ROOT / "docs" / "atlas.md"
LONGEST_STEP_S = 3600.0
"""A longer time between two events of a journal is a pause, not work."""


@dataclass(frozen=True)
class AtlasEntry:
    """Result of a campaign about one data set."""

    name: str
    leader: str
    n_clauses: int
    company: CompletenessMeasured | None
    n_responses: int
    """Responses that were open to the search."""
    seconds: float
    """Time from the first event to the last, without pauses."""


def load_atlas(folder: Path = STUDIES) -> dict[str, CampaignConfig]:
    """The studies by name; none learns from another, so that each shows what its own data teach."""
    studies = [load_study(file) for file in sorted(folder.glob("*.toml"))]
    return {
        study.name: study.model_copy(
            update={"memory": study.memory.model_copy(update={"winners": False})}
        )
        for study in studies
    }


def read_entry(folder: Path, name: str) -> AtlasEntry | None:
    """The result of a campaign; None before its verdict."""
    try:
        state, trace = read_state(folder / name)
    except RunMissingError:
        return None
    with trace:
        if state.campaign.concluded is None:
            return None
        leader = str(state.campaign.concluded.record.leader)
        theory = with_fit(form_of(trace.artifacts, state, leader), state.theories)
        times = [datetime.fromisoformat(event.time_utc) for event in trace.journal.events()]
    steps = [(after - before).total_seconds() for before, after in pairwise(times)]
    return AtlasEntry(
        name=name,
        leader=theory.name,
        n_clauses=len(theory.account().clauses),
        company=state.theories.completeness.record if state.theories.completeness else None,
        n_responses=sum(item.record.n_responses for item in state.experiments.collected.values()),
        seconds=sum(step for step in steps if step < LONGEST_STEP_S),
    )


def row_of(entry: AtlasEntry) -> str:
    """The row of a data set in the table."""
    own = textbook = ahead = ""
    if (company := entry.company) is not None:
        own = _completeness(company.theories[0])
        if company.published:
            best = company.published[0]
            share = "" if best.completeness is None else f", {best.completeness:.0%}"
            textbook = cell(best.name) + share
        if company.ahead is not None and company.ahead_error is not None:
            value, half = company.ahead, 2 * company.ahead_error
            ahead = f"{value:+.4f} ({value - half:+.4f} to {value + half:+.4f})"
    cells = (
        entry.name, cell(entry.leader), str(entry.n_clauses), own, textbook, ahead,
        f"{entry.n_responses:,}", duration(entry.seconds),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _completeness(line: TheoryCompleteness) -> str:
    if line.completeness is None or line.completeness_error is None:
        return ""
    low, high = (line.completeness + sign * 2 * line.completeness_error for sign in (-1, 1))
    return f"{line.completeness:.0%} ({100 * low:.0f} to {100 * high:.0f})"


def cell(text: str) -> str:
    """Text in a cell of a table: what would be markup is none."""
    plain = " ".join(clean(text).split()).replace("<", "&lt;")
    return plain.replace("|", "\\|").replace("`", "'").replace("[", "\\[")


def with_rows(page: str, rows: Mapping[str, str]) -> str:
    """The page with these rows in its table: each in place of the one of the same name, new ones at the end."""
    lines, left = page.splitlines(), dict(rows)
    table = [place for place, line in enumerate(lines) if line.startswith("| ")]
    for place in table:
        lines[place] = left.pop(lines[place].split("|")[1].strip(), lines[place])
    end = table[-1] + 1
    return "\n".join([*lines[:end], *left.values(), *lines[end:]]) + "\n"


def run_atlas(
    studies: Mapping[str, CampaignConfig],
    folder: Path,
    *,
    data: Path | None,
    only: Iterable[str],
    n_workers: int = 2,
) -> list[str]:
    """Begin campaigns or go on with them; names of those that failed, with the reason."""
    failed = []
    for name in only:
        try:
            done = carry(folder / name, study=studies[name], data=data, workers=n_workers)
            print(f"{name}: {done.ended}: {done.text}", flush=True)
        except Exception as error:
            failed.append(f"{name}: {error}")
    return failed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", type=Path, help="folder of the published data sets")
    parser.add_argument("--runs", type=Path, default=ROOT / "runs" / "atlas")
    parser.add_argument("--workers", type=int, default=2, help="theories that run at the same time")
    studies = load_atlas()
    parser.add_argument("--only", nargs="*", choices=list(studies), default=list(studies))
    parser.add_argument("--page", type=Path, default=PAGE)
    given = parser.parse_args()
    failed = run_atlas(
        studies, given.runs, data=given.data, only=given.only, n_workers=given.workers
    )
    entries = [entry for name in studies if (entry := read_entry(given.runs, name))]
    text = given.page.read_text(encoding="utf-8")
    given.page.write_text(
        with_rows(text, {entry.name: row_of(entry) for entry in entries}), encoding="utf-8"
    )
    print(f"{len(entries)} of {len(studies)} data sets have a verdict: {given.page}")
    if failed:
        raise SystemExit("failed: " + "; ".join(failed))


if __name__ == "__main__":
    main()
