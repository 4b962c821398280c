"""The summary of a report on two printed pages: what a referee needs, with links to the rest.

The first page has the question, the verdict, what is left unexplained and the comparison of the theories; the second
has the figures, the Methods paragraph and the limitations. Like the report, it has no scripts and needs no network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from lakatos.flows.report.absolute_fit import absolute_fits
from lakatos.flows.report.charts import IntervalRow, intervals
from lakatos.flows.report.download import small
from lakatos.flows.report.experiment_facts import data_facts
from lakatos.flows.report.limits import limits
from lakatos.flows.report.methods import methods_parts
from lakatos.flows.report.random_trials import on_random_trials
from lakatos.flows.report.reader import RunReading, shortened, text_below
from lakatos.flows.report.references import TheoryReferences, references
from lakatos.flows.report.svg import NARROW
from lakatos.flows.report.templating import TEMPLATES, page_environment
from lakatos.flows.report.theory_facts import winner_facts
from lakatos.theories.engine.record import CompletenessMeasured, TheoryCompleteness
from lakatos.theories.engine.scoreboard import TheoryStanding
from lakatos.theories.engine.scoring.score import UNKNOWN
from lakatos.theories.findings.verdicts.company import SCALE
from lakatos.theories.language.prior import n_free_parameters
from lakatos.traces.digest import Digest

SUMMARY_FILE: Final = "summary.html"
MOST_THEORIES: Final = 6
"""Lines of the table: the leading theory, those tied with it, the initial ones, then the best others."""
MOST_LIMITS: Final = 3
LONGEST_CLAIM: Final = 1000
LONGEST_TEXT: Final = 700
LONGEST_REFERENCES: Final = 260
STYLES: Final = ("page.css", "summary.css")


def summary_beside(report: Path) -> Path:
    """Return where a report's summary is: ``summary.html`` beside ``report.html``, else with the report's name."""
    if report.stem == "report":
        return report.with_name(SUMMARY_FILE)
    return report.with_name(f"{report.stem}-{SUMMARY_FILE}")


@dataclass(frozen=True)
class ComparisonLine:
    """A line of the table in which theories are compared."""

    theory: Digest
    standing: TheoryStanding
    n_parameters: int
    completeness: TheoryCompleteness | None


def render_summary(reading: RunReading, report: str) -> str:
    """Write the summary of a run as one HTML page.

    Args:
        reading: The run.
        report: Address of the full report, to which the summary links.
    """
    environment = page_environment()
    environment.filters["shortened"] = shortened
    environment.globals |= {"label": reading.label, "cite": reading.journal.get, "unknown": UNKNOWN}
    measured = reading.state.theories.completeness
    company = measured.record if measured else None
    lines = comparison_lines(reading, company)
    known_limits = limits(reading)
    winner = winner_facts(reading)
    context: dict[str, Any] = {
        "run": reading,
        "config": reading.config,
        "concluded": reading.concluded,
        "verdict": _verdict(reading),
        "winner": winner,
        "claim": _claim(winner),
        "company": company,
        "unexplained": shortened(reading.beside_published.replace(SCALE, ""), LONGEST_TEXT),
        "data": data_facts(reading),
        "lines": lines,
        "fits": absolute_fits(reading),
        "random_trials": on_random_trials(reading),
        "n_others": len(reading.board.standings) - len(lines),
        "differences": _differences(reading, lines),
        "methods": methods_parts(reading),
        "limits": known_limits[:MOST_LIMITS],
        "n_more_limits": max(len(known_limits) - MOST_LIMITS, 0),
        "references": references_that_fit(references(reading, [line.theory for line in lines])),
        "report": report,
        "head": reading.trace.journal.head[1],
        "style": Markup("").join(Markup((TEMPLATES / name).read_text("utf-8")) for name in STYLES),
    }
    return environment.get_template("summary.html").render(context)


def comparison_lines(
    reading: RunReading, company: CompletenessMeasured | None
) -> list[ComparisonLine]:
    """The lines of the table, in the order of the leaderboard."""
    standings = reading.board.standings
    first = [
        line.theory
        for line in standings
        if line.theory in {reading.leader, *reading.tied_with_leader}
    ]
    initial = [line.theory for line in standings if line.theory in reading.state.seeds]
    wanted = list(dict.fromkeys([*first, *initial, *(line.theory for line in standings)]))
    shown = set(wanted[:MOST_THEORIES])
    complete = {item.theory: item for item in company.theories} if company else {}
    return [
        ComparisonLine(
            theory=line.theory,
            standing=line,
            n_parameters=n_free_parameters(reading.theory(line.theory).priors),
            completeness=complete.get(line.theory),
        )
        for line in standings
        if line.theory in shown
    ]


def references_that_fit(found: Sequence[TheoryReferences]) -> list[TheoryReferences]:
    """References of the theories that competed, in the order of the table, as far as the page has room for them."""
    kept, length = [], 0
    for item in found:
        length += sum(map(len, item.sources))
        if not item.name and length <= LONGEST_REFERENCES:
            kept.append(item)
    return kept


def _verdict(reading: RunReading) -> str:
    """The verdict without the claim and the figures that stand elsewhere on the page."""
    if reading.concluded is None:
        return ""
    return shortened(text_below(reading).partition(" Claim: ")[0], LONGEST_TEXT)


def _claim(winner: dict[str, Any] | None) -> str:
    if winner is None:
        return ""
    text = str(winner["theory"].claim)
    return shortened(text[:1].upper() + text[1:], LONGEST_CLAIM)


def _differences(reading: RunReading, lines: list[ComparisonLine]) -> Markup:
    """Draw how much worse each theory predicts than the leading one, with 95% intervals."""
    others = [line for line in lines if line.theory != reading.leader]
    rows = []
    for line in others:
        behind = line.standing.behind
        known = (behind.value, *behind.interval)
        note = f"n = {behind.n_units}" if behind.is_known else ""
        rows.append(
            IntervalRow(
                reading.label(line.theory).full, note, (known if behind.has_interval else None,)
            )
        )
    if not rows or reading.leader is None:
        return Markup("")
    chart = intervals(
        rows,
        ("difference",),
        f"log score of {reading.label(reading.leader).tag} minus that of the theory, nats per choice",
        NARROW,
        title="Differences in log score from the leading theory",
        line_at=0.0,
    )
    return small(chart)
