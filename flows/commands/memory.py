"""The commands `lakatos memory ...` and `lakatos tools ...`: what was learned, and what may be called."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from rich.table import Table

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.flows.argument import Argument
from lakatos.flows.commands.options import RunsFolder
from lakatos.flows.errors import StudyError
from lakatos.flows.result import Shown
from lakatos.flows.roles.remember import not_signed, shared_library
from lakatos.flows.run.console import escape
from lakatos.memory.errors import LessonError
from lakatos.memory.library import Lesson, Library
from lakatos.memory.recall import LexicalRecall, RecallSituation, lesson_text
from lakatos.memory.signature import canonical_form
from lakatos.memory.tool import plan_in_short
from lakatos.memory.tools import TOOLS
from lakatos.memory.winner_start import campaigns_found
from lakatos.theories.discovery.grammar_search.prior_odds import prior_odds
from lakatos.traces.digest import Digest
from lakatos.traces.wording import plural


def memory_list(
    *, runs: RunsFolder = Path("runs"), domain: str = "", kind: str = ""
) -> Iterator[Shown]:
    """List valid lessons, oldest first; doubtful lessons are marked.

    Args:
        domain: Kind of task; all by default.
        kind: Kind of lesson: plan, fact, pitfall, theory_won; all by default.

    Examples:
        $ lakatos memory list --domain risky
    """
    kinds = ("plan", "fact", "pitfall", "theory_won")
    if kind and kind not in kinds:
        raise StudyError(f"there is no kind {kind!r} of lessons; there are: {', '.join(kinds)}.")
    library = shared_library(runs)
    doubted = library.doubtful(lambda digest: True)
    disputed = {digest for pair in library.contradictions() for digest in pair}
    table = Table("lesson", "kind", "domain", "what", "")
    for digest, item in library.lessons():
        if (domain and item.domain != domain) or (kind and item.kind != kind):
            continue
        notes = ["unverified"] if digest in doubted else []
        notes += ["contradicted"] if digest in disputed else []
        table.add_row(
            digest[:10], item.kind, item.domain, escape(lesson_text(item)[:160]), ", ".join(notes)
        )
    yield table if table.rows else "nothing has been learned yet"
    if left := not_signed(runs):
        yield (
            f"nothing is taken from {escape(', '.join(left))}: no head signed by this laboratory covers what is "
            "recorded there; `lakatos audit` gives the reason"
        )


def memory_show(lesson: str, *, runs: RunsFolder = Path("runs")) -> Iterator[Shown]:
    """Show a lesson with its evidence, its justification and its corrections.

    Args:
        lesson: Beginning of a lesson's digest; `lakatos memory list` lists them.

    Examples:
        $ lakatos memory show 3fa9c1d2
    """
    library = shared_library(runs)
    entries = {digest: item for digest, item in library.entries if isinstance(item, Lesson)}
    found: list[str] = [digest for digest in entries if digest.startswith(lesson)]
    if len(found) != 1 or not lesson:
        raise LessonError(
            f"{len(found)} lessons begin with {lesson!r}; `lakatos memory list` lists what there is."
        )
    item: Any = entries[found[0]]
    yield f"[bold]{item.kind}[/bold] {found[0]}  {escape(item.domain)}"
    yield escape(lesson_text(item))
    yield from _content_lines(item)
    yield from _evidence_lines(item)
    yield from _standing_lines(library, found[0])


def _content_lines(item: Any) -> Iterator[str]:
    """Yield what a plan or a theory that won states beside its text."""
    if item.kind == "plan":
        yield f"study: {escape(item.study)}\nsignature: {canonical_form(item.steps).digest}"
    if item.kind == "theory_won":
        for place in item.tried:
            place_words = "held" if place.held else f"{place.behind:.4f} behind the best"
            low, high = place.interval
            yield f"{place.data}: {place.score:.4f} ({low:.4f} to {high:.4f}), {place_words}"
        yield escape(item.source)


def _evidence_lines(item: Any) -> Iterator[str]:
    yield f"evidence: {', '.join(item.evidence)}"
    if justified := getattr(item, "justified_by", ()):
        yield f"justified by: {', '.join(justified)}"


def _standing_lines(library: Library, lesson: Digest) -> Iterator[str]:
    """Yield whether a lesson is doubted or contradicted."""
    if lesson in library.doubtful(lambda digest: True):
        yield "[yellow]unverified[/yellow]: what it rested on was displaced or withdrawn"
    for pair in library.contradictions():
        if lesson in pair:
            (other,) = [digest for digest in pair if digest != lesson]
            yield f"[yellow]contradicted[/yellow] by {other}"


def memory_recall(
    domain: str,
    failed: str,
    *,
    runs: RunsFolder = Path("runs"),
    stage: str = "",
    most: Annotated[int, Argument(least=1, most=10)] = 3,
) -> Iterator[Shown]:
    """Show the lessons that would be recalled in a situation.

    In Python: `memory.recall.LexicalRecall(library).recall(situation)`.

    Args:
        domain: Kind of task.
        failed: Description of the problem, in words.
        stage: Stage of the cycle: design, revise, ...
        most: Maximum number of lessons.

    Examples:
        $ lakatos memory recall risky "losses are missed"
    """
    if domain not in DOMAINS:
        raise StudyError(f"there is no domain {domain!r}; there are: {', '.join(DOMAINS)}.")
    found = LexicalRecall(shared_library(runs)).recall(
        RecallSituation(domain=domain, stage=stage, failed=failed), most
    )
    for item in found.lessons:
        note = f"  [yellow]{escape(item.note)}[/yellow]" if item.note else ""
        yield f"[bold]{item.kind}[/bold] {item.lesson[:10]}  {item.relevance:.2f}{note}"
        yield (
            f"  {escape(item.text)}\n  evidence: {', '.join(digest[:10] for digest in item.evidence)}"
        )
    if not found.lessons:
        yield "nothing comes back"


def memory_odds(
    domain: str, *, runs: RunsFolder = Path("runs"), most: Annotated[int, Argument(least=1)] = 20
) -> Iterator[Shown]:
    """Show the prior odds of mechanisms that earlier campaigns give the next search, with these campaigns.

    Campaigns with the same responses or with simulated participants are discounted in a new campaign.

    Args:
        domain: Kind of task.
        most: Maximum number of mechanisms, those with the most extreme odds first.

    Examples:
        $ lakatos memory odds risky
    """
    if domain not in DOMAINS:
        raise StudyError(f"there is no domain {domain!r}; there are: {', '.join(DOMAINS)}.")
    grammar = FAMILIES[domain].grammar
    campaigns = campaigns_found(shared_library(runs).winners(domain), grammar)
    if not campaigns:
        yield f"no concluded campaign of {domain} in {escape(str(runs))}: all odds are equal"
        return
    odds = prior_odds(grammar, [composition for _, composition in campaigns])
    by_size = sorted(odds.present.items(), key=lambda item: -abs(item[1]))
    table = Table("slot", "mechanism", "odds against chance", "found in")
    for (slot, name), value in by_size[:most]:
        there = [
            winner.study
            for winner, composition in campaigns
            if name in composition.slots.get(slot, ())
        ]
        table.add_row(slot, name, f"{math.exp(value):.2g}", escape(", ".join(there)))
    yield table
    yield f"from {plural(len(campaigns), 'campaign')}: " + escape(
        ", ".join(winner.study for winner, _ in campaigns)
    )


def tools_list(*, runs: RunsFolder = Path("runs")) -> Iterator[Shown]:
    """List the built-in tools and the learned tools with their success rates.

    Examples:
        $ lakatos tools list
    """
    library = shared_library(runs)
    table = Table("tool", "from", "effects", "status", "uses", "what")
    for verb in TOOLS.values():
        table.add_row(
            verb.name,
            "laboratory",
            ", ".join(sorted(verb.effects)),
            "",
            "",
            escape(verb.description.partition(";")[0]),
        )
    for name, (_, draft) in library.drafts().items():
        standing = library.standing(name)
        status = (
            "dependency changed" if library.changed_dependency(name, TOOLS) else standing.status
        )
        uses = f"{standing.successes} of {standing.n_uses}"
        table.add_row(
            name,
            "learned",
            ", ".join(draft.effects),
            status,
            uses,
            escape(plan_in_short(draft.plan_text)),
        )
    yield table
