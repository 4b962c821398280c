"""Pages of the observatory about the trace: records, conversations, artifacts and costs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final

import numpy as np
from markupsafe import Markup

from lakatos.flows.report import charts
from lakatos.flows.report.download import both
from lakatos.flows.report.reader import UNREADABLE, clean
from lakatos.flows.report.theory_facts import coloured
from lakatos.flows.report.words import STEPS, group_of, kind_words, meaning, summary
from lakatos.flows.view.outline import WantedEvents
from lakatos.flows.view.search import CallsFound, search_calls
from lakatos.flows.view.watch import RunMoment
from lakatos.flows.view.words import address, long_text, tree_of
from lakatos.language_models.ledger import spending_of
from lakatos.memory.record import MEMORY_RECORDS
from lakatos.traces.digest import Digest, is_digest
from lakatos.traces.journal import INTENT, event_of
from lakatos.traces.stores.store import EventRow

PAGE: Final = 100
"""Events on one page of the trace."""
SOON: Final = 10_000
"""Events up to which what reads them all is made with the page, and not after it."""
MOST_TEXT: Final = 200_000
"""Characters of an artifact that are shown."""


MEMORY_STEPS: Final = (*MEMORY_RECORDS, "investigated")
"""Kinds by which the loop says that it used what was learned."""
MOST_STEPS: Final = 60


# --- trace ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EventLine:
    """An event in the timeline."""

    seq: int
    time_utc: str
    kind: str
    group: str
    name: str
    place: str
    text: str
    holds: bool
    digest: Digest


def place_of(position: str) -> str:
    """The position of a step in words."""
    try:
        value = json.loads(position)
    except ValueError:
        return ""
    return ", ".join(
        f"{key} {item[:6] if is_digest(item) else item}"
        for key, item in value.items()
        if key != "engine"
    )


def line_of(look: RunMoment, row: EventRow) -> EventLine:
    """An event in the timeline."""
    try:
        body = json.loads(row.body)
    except ValueError:
        body = {}
    return EventLine(
        row.seq, row.time_utc, row.kind, group_of(row.kind), row.name, place_of(row.position),
        summary(look, row.kind, body, row.name) or meaning(row.kind),
        row.kind == INTENT or look.valid(row.record_digest), row.record_digest,
    )  # fmt: skip


def trace(
    look: RunMoment, wanted: WantedEvents, before: int | None, calls_before: int | None
) -> dict[str, Any]:
    """The timeline, newest first, of what is looked for; texts of language models are searched too."""
    rows = look.outline.search(wanted, before or look.seq + 1, PAGE + 1)
    calls: CallsFound | None = None
    if wanted.text and wanted.kind in ("", "language_model_called"):
        calls = search_calls(look, wanted.text, calls_before)
    kinds = sorted(
        ((kind, len(seqs)) for kind, seqs in look.outline.by_kind.items()), key=lambda item: item[0]
    )
    return {
        "wanted": wanted,
        "lines": [line_of(look, row) for row in rows[:PAGE]],
        "older": rows[PAGE - 1].seq if len(rows) > PAGE else None,
        "newest": before is None,
        "kinds": [(kind, kind_words(kind), n) for kind, n in kinds],
        "cycles": sorted(
            {item.record.cycle for item in look.state.experiments.designs.values()} | {0}
        ),
        "calls": calls,
    }


def record(look: RunMoment, seq: int) -> dict[str, Any] | None:
    """One event with all it says, what it rests on and what rests on it; None if there is none."""
    row = look.outline.row(seq)
    if row is None:
        return None
    try:
        event = event_of(row)
        body: Any = event.body
        inputs: tuple[Digest, ...] = event.inputs
    except UNREADABLE:
        body, inputs = row.body, ()
    look.journal_entries.learn(inputs)
    broken = (
        look.watch.validity.explain(row.record_digest)
        if look.watch.validity and row.kind != INTENT
        else []
    )
    cited = look.outline.citing(row.record_digest) if row.kind != INTENT else []
    return {
        "row": row,
        "line": line_of(look, row),
        "meaning": meaning(row.kind),
        "body": tree_of(body, look.watch.name),
        "inputs": [(digest, look.journal.get(digest)) for digest in inputs],
        "cited": [(number, kind_words(kind), name) for number, kind, name in cited],
        "broken": broken,
        "call": conversation(look, body) if row.kind == "language_model_called" else None,
        "pages": pages_of(look, row.kind, body),
        "raw": json.dumps(body, indent=1, ensure_ascii=False)[:MOST_TEXT],
        "last": look.outline.head,
    }


def pages_of(look: RunMoment, kind: str, body: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Pages that show what a record is about: address and words."""
    if not isinstance(body, Mapping):
        return []
    found = []
    if kind == "diagnosis":
        numbers = [
            n
            for n, item in enumerate(look.state.theories.diagnoses)
            if item.record.model_dump(mode="json") == body
        ]
        found += [
            (address(look.watch.name, "diagnosis", number), "case file") for number in numbers[:1]
        ]
    for part in ("theory", "candidate", "loser", "leader", "winner"):
        digest = body.get(part)
        if isinstance(digest, str) and digest in look.checked:
            found.append(
                (address(look.watch.name, "theory", digest), f"{part}: {look.label(digest).short}")
            )
    name = body.get("experiment")
    if isinstance(name, str) and name in look.state.experiments.designs:
        found.append((address(look.watch.name, "experiment", name), f"experiment {name}"))
    return found


def conversation(look: RunMoment, body: Mapping[str, Any]) -> dict[str, Any]:
    """Show what a language model was sent and what it answered."""
    found: dict[str, Any] = {"messages": [], "answer": None, "missing": []}
    for part in ("request", "completion"):
        try:
            value = look.trace.artifacts.get_json(str(body.get(part)))
        except UNREADABLE as error:
            found["missing"].append(str(error))
            continue
        if part == "request":
            found["messages"] = value.get("messages", []) if isinstance(value, dict) else []
        else:
            found["answer"] = value
    return found


def artifact(look: RunMoment, digest: Digest) -> dict[str, Any] | None:
    """Show what an artifact holds; None if there is none."""
    if not look.trace.artifacts.has(digest):
        return None
    store = look.trace.artifacts
    data = store.get(digest)
    facts: dict[str, Any] = {"digest": digest, "size": len(data), "content": "", "form": "bytes",
                             "cited": look.outline.citing(digest), "cut": False}  # fmt: skip
    try:
        arrays = store.get_arrays(digest)
    except UNREADABLE:
        arrays = None
    if arrays is not None:
        facts["form"] = "arrays"
        facts["arrays"] = [
            (name, str(array.dtype), " × ".join(map(str, array.shape)) or "one value",
             np.array2string(array, threshold=60, edgeitems=3, precision=4)[:600])
            for name, array in sorted(arrays.items())
        ]  # fmt: skip
        return facts
    text = data.decode(errors="replace")
    facts["cut"] = len(text) > MOST_TEXT
    try:
        if facts["cut"]:
            raise ValueError("too long to be read as a whole")
        facts |= {"content": tree_of(json.loads(text), look.watch.name), "form": "JSON"}
    except ValueError:
        text = text[:MOST_TEXT]
        known = digest in look.checked
        facts |= {"content": Markup('<pre tabindex="0"><code>{}</code></pre>').format(coloured(clean(text)))
                  if known else long_text(text), "form": "text"}  # fmt: skip
    return facts


# --- cost and time --------------------------------------------------------------------------------------------------


def seconds(first: str, last: str) -> float | None:
    """Seconds between two moments; None if one of them is no time."""
    try:
        return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()
    except ValueError:
        return None


def duration(value: float | None) -> str:
    """A length of time for people."""
    if value is None:
        return "–"
    if value < 1:
        return f"{1000 * value:.0f} ms"
    if value < 120:
        return f"{value:.1f} s"
    if value < 7200:
        return f"{value / 60:.1f} min"
    return f"{value / 3600:.1f} h" if value < 172_800 else f"{value / 86_400:.1f} days"


def cost(look: RunMoment) -> dict[str, Any]:
    """Show what was spent, at once where that is soon found."""
    return (
        {"total": None}
        | (cost_part(look) if look.n_events <= SOON else {})
        | {"soon": look.n_events <= SOON}
    )


def cost_part(look: RunMoment) -> dict[str, Any]:
    """Show what was spent: time by step, tokens by role, money, people."""
    return look.watch.kept(("cost", look.seq), lambda: _cost(look))


STEP_TIMES: Final = """
SELECT r.name, count(*), sum(86400 * (julianday(r.time_utc) - julianday(i.time_utc))),
       max(86400 * (julianday(r.time_utc) - julianday(i.time_utc)))
FROM event r
JOIN (SELECT key, attempt, min(time_utc) AS time_utc FROM event WHERE kind = 'intent' GROUP BY key, attempt) i
  ON i.key = r.key AND i.attempt = r.attempt
WHERE r.kind <> 'intent' GROUP BY r.name ORDER BY 3 DESC
"""
"""Name of each step, how often it was taken, seconds in all and at most: from the last beginning to the result."""
MODEL_CALLS: Final = """
SELECT json_extract(body, '$.role'), json_extract(body, '$.model'), count(*),
       sum(json_extract(body, '$.n_prompt_tokens')), sum(json_extract(body, '$.n_completion_tokens')),
       sum(json_extract(body, '$.outcome') <> 'answered')
FROM event WHERE kind = 'language_model_called' GROUP BY 1, 2 ORDER BY 3 DESC
"""
"""Role and model, calls, tokens read and written, and calls that were not answered."""
PAID: Final = """
SELECT seq FROM event
WHERE key IN (SELECT key FROM event
              WHERE kind = 'intent' AND (instr(body, '"reserved"') OR instr(body, '"spent"')))
ORDER BY seq
"""
"""Events of steps for which money or tokens were set aside."""
REPEATED: Final = """
SELECT name, count(*) FROM event
WHERE kind <> 'intent' AND attempt > 1 GROUP BY name ORDER BY 2 DESC
"""
"""Steps that did not succeed at once."""
MOST_BARS: Final = 14


def _model_calls(look: RunMoment) -> list[tuple[Any, ...]]:
    """Return the rows of `MODEL_CALLS`, also where bodies are kept apart from the journal."""
    outline = look.outline
    if outline.whole is None:
        return outline.read(MODEL_CALLS)
    fields = ("role", "model", "n_prompt_tokens", "n_completion_tokens", "outcome")
    found: dict[tuple[Any, Any], list[int]] = {}
    for role, model, n_read, n_written, outcome in outline.values("language_model_called", *fields):
        sums = found.setdefault((role, model), [0, 0, 0, 0])
        more = (1, n_read or 0, n_written or 0, outcome != "answered")
        sums[:] = [before + new for before, new in zip(sums, more, strict=True)]
    return sorted(((*key, *sums) for key, sums in found.items()), key=lambda row: -row[2])


def _cost(look: RunMoment) -> dict[str, Any]:
    experiments = look.state.experiments
    steps = [
        (STEPS.get(name, name), name, n, time, most)
        for name, n, time, most in look.outline.read(STEP_TIMES)
    ]
    paid = [seq for (seq,) in look.outline.read(PAID)]
    statuses = look.outline.counted("answers_arrived", "status")
    presented = [name for name in experiments.designs if name in experiments.collected]
    n_admitted = len(look.state.theories.pool) - len(look.state.seeds)
    return {
        "total": seconds(*look.times),
        "steps": steps,
        "time_chart": _time_chart(steps[:MOST_BARS]),
        "calls": _model_calls(look),
        "spent": spending_of(event_of(row) for row in look.outline.rows(paid)).total,
        "budget": look.config.budget.model_dump(),
        "repeated": look.outline.read(REPEATED),
        "cycles": list(_cycle_times(look)),
        "people": Counter({str(status).replace("_", " "): n for status, n in statuses}),
        "n_responses": sum(experiments.collected[name].record.n_responses for name in presented),
        "n_admitted": max(n_admitted, 0),
        "design_cost": sum(experiments.designs[name].record.cost for name in presented),
    }


def _time_chart(steps: Sequence[tuple[str, str, int, float | None, float | None]]) -> Markup:
    """Draw the durations of the steps that took longest."""
    rows = []
    for words, _, n, time, _ in steps:
        rows.append((words.replace("_", " "), max(time or 0.0, 0.0), f"{duration(time)}, {n} ×"))
    return both(partial(charts.bars, rows, "seconds")) if rows else Markup("")


def _cycle_times(look: RunMoment) -> Iterator[tuple[int, float | None, str]]:
    """Number of each cycle that closed, how long it took, and when it closed."""
    before = look.times[0]
    for item in look.state.campaign.cycles:
        entry = look.journal[item.digest]
        yield item.record.cycle, seconds(before, entry.time_utc), entry.time_utc
        before = entry.time_utc
