"""The commands `lakatos judges ...`: who judges, how they changed, what their word rests on, and anchor sets."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from rich.table import Table

from lakatos.domains import DOMAINS
from lakatos.flows.argument import Argument, RunFolder, RunFolderOption
from lakatos.flows.errors import StudyError, check_file_place
from lakatos.flows.report.judge_replay import build_anchor, replay_decision
from lakatos.flows.report.judging_facts import ended_epochs
from lakatos.flows.report.vault import open_vault
from lakatos.flows.result import Shown
from lakatos.flows.run.console import escape
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import check_run, read_state
from lakatos.flows.stages.judging.anchor import split_items
from lakatos.flows.stages.judging.epoch import dev_items
from lakatos.flows.stages.judging.seats import present_judges
from lakatos.judges.anchor import AnchorSet
from lakatos.judges.answer import anchor_accuracy
from lakatos.judges.program import ProgramJudge
from lakatos.judges.rubrics import RUBRICS
from lakatos.judges.rubrics.rule import RULES, RuleJudge
from lakatos.traces.artifact import write_whole
from lakatos.traces.step import Trace


def judges_list() -> Iterator[Shown]:
    """List all judges with the question that each answers.

    Examples:
        $ lakatos judges list
    """
    table = Table("name", "kind", "question", "panel")
    for name in RUBRICS:
        table.add_row(
            name, "rule", "is the lead more than its parameters would gain by fitting", "always"
        )
    for name, rule in RULES.items():
        table.add_row(name, "rule", rule.meaning, "frozen, evolving")
    table.add_row(
        "program",
        "program",
        "a weighted sum of features, bred on settled comparisons",
        "frozen, evolving",
    )
    yield table


def judges_show(folder: RunFolder) -> Iterator[Shown]:
    """Show the current judges of a run, and results of trained judges on the development part of the anchor set.

    Examples:
        $ lakatos judges show mine-1
    """
    state, trace = read_state(folder)
    with trace:
        if not state.judging.epochs:
            yield "no panel has been frozen yet"
            return
        opened = state.judging.epochs[-1].record
        yield f"judge epoch {opened.number}, panel {opened.epoch[:10]}"
        dev, present = dev_items(state, trace.artifacts), present_judges(state, trace.artifacts)
        for name, version in sorted(opened.judges.items()):
            yield f"[bold]{escape(name)}[/bold]  {version[:10]}"
            judge = present.get(name)
            if isinstance(judge, ProgramJudge):
                for term in sorted(judge.program.terms, key=lambda term: -abs(term.weight)):
                    factors = " x ".join(
                        f"{item.transform} {item.feature} / {item.scale:g}" for item in term.factors
                    )
                    yield f"  {term.weight:+.3f}  {escape(factors)}"
                yield f"  {judge.program.bias:+.3f}"
            if isinstance(judge, RuleJudge):
                yield "  " + ", ".join(f"{value:.2f}" for value in judge.table)
            if judge is not None and (found := anchor_accuracy(judge, dev)) is not None:
                how = ", on which it was made" if version in state.seats.bred else ""
                yield (
                    f"  right on {found['right']:.1%} of {found['n']} items of dev{how} "
                    f"(95% interval {found['low']:.1%} to {found['high']:.1%})"
                )


def judges_epochs(folder: RunFolder) -> Iterator[Shown]:
    """Show the end of each epoch of judges: decisions, replaced judges, and verdicts that were repeated.

    Examples:
        $ lakatos judges epochs taste-1
    """
    check_run(folder)
    table = Table(
        "epoch",
        "verdicts",
        "displaced",
        "erased",
        "to judge again",
        "judged again",
        "log score",
        "why",
    )
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        for ended in ended_epochs(trace):
            score = (
                ""
                if ended.quality is None
                else f"{ended.quality.log_score:.3f} of {ended.quality.n}"
            )
            numbers = (
                ended.number,
                ended.n_evaluations,
                ended.n_erased,
                ended.n_queued,
                ended.n_rescored,
            )
            epoch, verdicts, erased, queued, again = map(str, numbers)
            displaced = ", ".join(ended.changed) or "nobody"
            table.add_row(
                epoch, verdicts, displaced, erased, queued, again, score, escape(ended.reason)
            )
    yield table if table.rows else "no epoch has ended"


def judges_gate(folder: RunFolder) -> Iterator[Shown]:
    """Show each challenge to a judge: detectable effect, result by group of items, and error probability.

    Examples:
        $ lakatos judges gate taste-1
    """
    state, trace = read_state(folder)
    trace.close()
    for item in state.seats.gates:
        decided = item.record
        yield (
            f"[bold]{decided.verdict}[/bold]  {item.digest[:10]}  epoch {decided.epoch}, slot {escape(decided.slot)}: "
            f"{decided.challenger[:8]} against {decided.incumbent[:8]}"
        )
        yield f"  {escape(decided.reason)}"
        labels = f"test {decided.number} of its anchor set" if decided.n else "no label was read"
        yield (
            f"  smallest gain that could be found {decided.minimum_detectable:.3g}; {decided.n_excluded} excluded; "
            f"{labels}, level {decided.level:.3g}"
        )
        for row in decided.strata:
            safe = "" if row.safe else ", not safe"
            yield (
                f"  {escape(row.stratum)}: {row.wins} won, {row.losses} lost of {row.n}; "
                f"at most {row.bound:+.3f} lost{safe}"
            )
    if not state.seats.gates:
        yield "no challenger has been put to the gate"


def judges_vault(folder: RunFolder) -> Iterator[Shown]:
    """Evaluate the judges of a run on the final test part of the anchor set, which can be used only once.

    Results are written into the ledger beside the anchor file; the test part cannot be evaluated again. In Python:
    `lakatos.flows.report.vault.open_vault(folder)`.

    Examples:
        $ lakatos judges vault taste-1
    """
    for name, words in open_vault(folder).told.items():
        yield f"[bold]{escape(name)}[/bold]  {escape(words)}"


def judges_replay(decision: str, *, folder: RunFolderOption) -> Iterator[Shown]:
    """Repeat the decision about a challenge from its records; exit status 1 if the decision differs.

    In Python: `lakatos.flows.report.judge_replay.replay_decision(folder, digest)`.

    Args:
        decision: Beginning of the digest of a decision; `lakatos judges gate` lists them.

    Examples:
        $ lakatos judges replay 3fa9c1d2
    """
    again = replay_decision(folder, decision)
    yield f"the same comes out: {again.verdict}, {escape(again.reason)}"


def anchor_build(
    out: Path,
    *,
    domain: list[str] | None = None,
    items: Annotated[int, Argument(least=0)] = 128,
    data: Path | None = None,
    seed: Annotated[int, Argument(least=0)] = 1,
    workers: Annotated[int, Argument(least=1)] = 2,
) -> Iterator[Shown]:
    """Build an anchor set: comparisons with known outcomes, from simulated participants and from published data.

    In Python: `lakatos.flows.report.judge_replay.build_anchor(domains, n_items, seed)`.

    Args:
        out: File to write, for example anchor.json.gz.
        domain: Kind of task; all by default.
        items: Number of simulated comparisons for each kind of task.
        data: Folder of published data sets, for comparisons decided by participants' responses.
        seed: Random seed.
        workers: Theories that run at the same time.

    Examples:
        $ lakatos judges anchor build anchor.json.gz --items 64
    """
    if unknown := sorted({*(domain or [])} - {*DOMAINS}):
        raise StudyError(f"there is no domain {unknown[0]!r}; there are: {', '.join(DOMAINS)}.")
    if data is not None and not data.is_dir():
        raise StudyError(
            f"there is no folder {data} of published data; leave --data out, or name one."
        )
    check_file_place(out)
    anchor = build_anchor(domain or list(DOMAINS), items, seed, data=data, n_workers=workers)
    return _write_anchor(out, anchor)


def anchor_split(
    items: Path, out: Path, *, seed: Annotated[int, Argument(least=0)] = 1
) -> Iterator[Shown]:
    """Divide an anchor set into its parts, once, for all campaigns that will use it.

    In Python: `lakatos.flows.stages.judging.anchor.split_items(file, seed)`.

    Args:
        items: File of items that have not been divided.
        out: File to write.
        seed: Random seed of the division.

    Examples:
        $ lakatos judges anchor split items.jsonl anchor.jsonl
    """
    check_file_place(out)
    return _write_anchor(out, split_items(items, seed))


def _write_anchor(out: Path, anchor: AnchorSet) -> Iterator[Shown]:
    text = json.dumps(anchor.to_json()).encode()
    write_whole(out, gzip.compress(text, mtime=0) if out.suffix == ".gz" else text)
    sizes = ", ".join(f"{len(found)} in {part}" for part, found in anchor.parts.items())
    yield (f"anchor set {anchor.digest[:10]}: {sizes}; written to {escape(str(out))}")
