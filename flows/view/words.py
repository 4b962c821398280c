"""What events are called, and each in a line."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol
from urllib.parse import quote

from markupsafe import Markup, escape

from lakatos.flows.report.reader import RunReading, clean, shortened
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.traces.digest import is_digest
from lakatos.traces.journal import INTENT
from lakatos.traces.record import OWN_TYPES

STEPS: Final[Mapping[str, str]] = {
    "start": "beginning",
    "check": "checking a theory",
    "admit": "admitting theories",
    "design": "searching for the most telling trials",
    "preregister": "freezing predictions",
    "recruit": "asking people",
    "collect": "collecting answers",
    "score": "scoring theories",
    "arbitrate": "finding out why the loser lost",
    "weigh": "looking whether anything is left to find",
    "revise": "writing successors",
    "judge": "asking the judges",
    "decide": "deciding what to do about a candidate",
    "compare": "comparing look-alikes",
    "settle": "holding verdicts against the data",
    "close": "closing the cycle",
    "map": "drawing the map of theories",
    "fold": "running the whole loop without a part of the trials",
    "compare_truth": "comparing with the hidden rule",
    "open_sealed": "opening the sealed answers",
    "conclude": "coming to a verdict",
}
"""Steps as one says them; others go by their own name."""
GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "theory": (
        "theory_checked", "theory_admitted", "theory_failed", "theory_compared", "theory_scored", "search_finished",
        "successor_tried", "drafts_screened", "analysis_made", "successors_proposed", "strategy_chosen",
        "theories_mapped", "claim_audited", "completeness_measured",
    ),
    "experiment": (
        "design_chosen", "preregistration", "recruited", "more_asked", "consent_asked", "answers_arrived",
        "session_held", "model_takes_part", "person_excluded", "collection_closed", "trials_collected",
        "sealed_opened", "trials_proposed",
    ),
    "diagnosis": ("diagnosis", "case_read", "exactness_weighed"),
    "judge": (
        "epoch_opened", "verdict", "verdict_resolved", "critic_answered", "candidate_decided", "anchor_taken",
        "anchor_exposed", "judge_bred", "judge_seated", "pair_described", "pair_read", "pair_preferred",
        "measured", "epoch_frozen", "gate_registered", "gate_decided", "epoch_committed",
        "epoch_refilled",
    ),
    "model": ("language_model_called", "tool_called", "investigated", "role_answered", "models_chosen",
              "budget_raised"),
    "erasure": ("tombstone", "person_withdrawn"),
    "verdict": ("campaign_started", "cycle_closed", "concluded", "confirmation_finished", "exclusion_sensitivity",
                "groups_compared", "effects_learned",
                "truth_compared", "fold_finished"),
}  # fmt: skip
"""What kinds of records are about, for their colour."""
GROUP_OF: Final = {kind: group for group, kinds in GROUPS.items() for kind in kinds}
TELLING: Final = (
    "text",
    "statement",
    "consequence",
    "reason",
    "name",
    "subject",
    "mistake",
    "outcome",
    "tool",
    "task",
)
"""Fields that say most about a record of a kind that has no line of its own."""


def group_of(kind: str) -> str:
    """What a kind of record is about; ``memory`` for all that memory keeps, ``other`` for what nobody listed."""
    from lakatos.memory.library import RECORDS
    from lakatos.memory.record import MEMORY_RECORDS

    return GROUP_OF.get(kind) or (
        "memory"
        if kind in RECORDS or kind in MEMORY_RECORDS
        else "step"
        if kind == INTENT
        else "other"
    )


def kind_words(kind: str) -> str:
    """A kind as one says it."""
    return "step begun" if kind == INTENT else kind.replace("_", " ")


def meaning(kind: str) -> str:
    """What a record of this kind says, in a sentence."""
    if kind == INTENT:
        return "A step was begun, or a note of it while it ran; its result is a record of its own."
    record = RECORD_TYPES.get(kind) or OWN_TYPES.get(kind)
    return (
        (record.__doc__ or "").strip().split("\n")[0]
        if record
        else "A kind that this version does not know."
    )


def summary(reading: RunReading, kind: str, body: Mapping[str, Any], name: str = "") -> str:
    """An event in a line."""
    try:
        return shortened(_summary(reading, kind, body, name), 220)
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):
        return ""


def _summary(reading: RunReading, kind: str, body: Mapping[str, Any], name: str) -> str:
    if kind == "intent":
        note = body.get("note")
        return (
            f"{STEPS.get(name, name)}{': ' + json.dumps(note, ensure_ascii=False) if note else ''}"
        )

    def tag(field: str = "theory") -> str:
        return reading.label(body[field]).short

    if kind in _SUMMARIES:
        return _SUMMARIES[kind](body, tag)
    found = [str(body[field]) for field in TELLING if body.get(field)]
    return "; ".join(found[:2])


class _Tag(Protocol):
    """Tells the short name of the theory that a field of a record names."""

    def __call__(self, field: str = "theory") -> str: ...


def _words_of_theory_scored(body: Mapping[str, Any], tag: _Tag) -> str:
    units = body.get("left_out") or body["declared"]
    mean = sum(units["log_predictive"]) / sum(units["n_choices"])
    return f"{tag()} on experiment {body['experiment']}: {scalar(round(mean, 4))} nats per choice"


def _words_of_design_chosen(body: Mapping[str, Any], tag: _Tag) -> str:
    what = f"{body['n_trials']} trials for {body['n_participants']} people"
    return f"experiment {body['experiment']}: {what if body['accepted'] else 'refused, ' + body['reason']}"


def _words_of_search_finished(body: Mapping[str, Any], tag: _Tag) -> str:
    why = f" ({body['unspent']})" if body.get("unspent") else ""
    return f"{body['n_attempts']} compositions tried{why}, {len(body['submissions'])} submitted"


def _words_of_language_model_called(body: Mapping[str, Any], tag: _Tag) -> str:
    tokens = body["n_prompt_tokens"] + body["n_completion_tokens"]
    return f"{body['model']} as {body['role']}: {body['outcome']}, {tokens:,} tokens"


_SUMMARIES: Mapping[str, Callable[[Mapping[str, Any], _Tag], str]] = {
    "campaign_started": lambda body, tag: (
        f"study {body['config']['name']}: {body['config']['question']}"
    ),
    "theory_checked": lambda body, tag: (
        f"{tag()} {'passed' if body['passed'] else 'was refused: ' + body['reason']}"
    ),
    "theory_admitted": lambda body, tag: f"{tag()}: {body['reason']}",
    "theory_failed": lambda body, tag: f"{tag()}: {body['reason']}",
    "theory_compared": lambda body, tag: f"{tag()}: {body['text']}",
    "theory_scored": _words_of_theory_scored,
    "design_chosen": _words_of_design_chosen,
    "preregistration": lambda body, tag: (
        f"experiment {body['experiment']}: predictions of {len(body['rivals'])} theories frozen"
    ),
    "recruited": lambda body, tag: (
        f"experiment {body['experiment']}: {body['n_participants']} people, {body['source']}"
    ),
    "trials_collected": lambda body, tag: (
        f"experiment {body['experiment']}: {body['n_responses']:,} answers"
    ),
    "answers_arrived": lambda body, tag: (
        f"experiment {body['experiment']}: {body['n_answers']} answers, {body['status'].replace('_', ' ')}"
    ),
    "diagnosis": lambda body, tag: f"{tag('loser')} against {tag('leader')}: {body['location']}",
    "search_finished": _words_of_search_finished,
    "verdict": lambda body, tag: (
        f"{tag('candidate')} over {tag('incumbent')} with probability {body['probability']:.2f}"
    ),
    "verdict_resolved": lambda body, tag: (
        f"experiment {body['experiment']} spoke {'for' if body['favoured'] else 'against'} the candidate"
    ),
    "candidate_decided": lambda body, tag: f"{tag('candidate')}: {body['action']}. {body['text']}",
    "critic_answered": lambda body, tag: (
        f"{body['critic']} on {tag('candidate')}: {body['value']:.3g}"
    ),
    "gate_decided": lambda body, tag: f"{body['slot']}: {body['verdict']}; {body['reason']}",
    "epoch_committed": lambda body, tag: (
        f"epoch {body['epoch']} ended: {', '.join(body['changed']) or 'nobody'} displaced"
    ),
    "cycle_closed": lambda body, tag: (
        f"cycle {body['cycle']} closed; {tag('leader')} leads{'. ' + body['stop'] if body['stop'] else ''}"
    ),
    "concluded": lambda body, tag: str(body["text"]),
    "language_model_called": _words_of_language_model_called,
    "lessons_recalled": lambda body, tag: (
        f"{len(body['lessons'])} lessons for {body['stage']}: {body['situation']}"
    ),
    "inquiry_made": lambda body, tag: (
        f"{body['name']} by {body['tool'] or 'its plan'}, {len(body['calls'])} calls. {body['reason']}"
    ),
    "tool_called": lambda body, tag: (
        f"{body['tool']} {body['outcome']}{': ' + body['reason'] if body['reason'] else ''}"
    ),
    "tombstone": lambda body, tag: f"a record was erased: {body['reason']}",
}
"""What a record of each kind says, in a line."""


def address(run_name: str, *parts: object) -> str:
    """Address of a page of a run."""
    return "/".join(
        ["", "run", quote(run_name, safe="~"), *(quote(str(part), safe="") for part in parts)]
    )


def tree_of(value: Any, run_name: str, depth: int = 0) -> Markup:
    """A JSON value for people: digests lead to what they name."""
    if isinstance(value, Mapping):
        return _tree_of_mapping(value, run_name, depth)
    if isinstance(value, list | tuple):
        return _tree_of_list(value, run_name, depth)
    if isinstance(value, str):
        return label_of(value, run_name) if is_digest(value) else long_text(value)
    return Markup("<span>{}</span>").format(scalar(value))


def _tree_of_mapping(value: Mapping[Any, Any], run_name: str, depth: int) -> Markup:
    if not value:
        return Markup('<span class="muted">empty</span>')
    lines = [
        Markup("<div><dt>{}</dt><dd>{}</dd></div>").format(
            label_of(str(key), run_name), tree_of(item, run_name, depth + 1)
        )
        for key, item in list(value.items())[:200]
    ]
    more = (
        Markup("<div><dt>…</dt><dd>{} more</dd></div>").format(len(value) - 200)
        if len(value) > 200
        else ""
    )
    return Markup('<dl class="json">{}{}</dl>').format(Markup("").join(lines), more)


def _tree_of_list(value: Sequence[Any], run_name: str, depth: int) -> Markup:
    if not value:
        return Markup('<span class="muted">none</span>')
    if all(isinstance(item, int | float | bool) or item is None for item in value):
        text = ", ".join(scalar(item) for item in value[:400])
        rest = f" … {len(value) - 400:,} more" if len(value) > 400 else ""
        return Markup('<span class="numbers">{}{}</span>').format(text, rest)
    lines = [
        Markup("<li>{}</li>").format(tree_of(item, run_name, depth + 1)) for item in value[:200]
    ]
    more = (
        Markup("<li>{} more</li>").format(f"{len(value) - 200:,}")
        if len(value) > 200
        else Markup("")
    )
    return Markup('<ol class="json">{}{}</ol>').format(Markup("").join(lines), more)


def label_of(text: str, run_name: str) -> Markup:
    """A digest as a link, anything else as it is."""
    if is_digest(text):
        return Markup('<a href="{}"><code>{}</code></a>').format(
            address(run_name, "ref", text), text[:12]
        )
    return escape(clean(text))


def long_text(text: str) -> Markup:
    """A text with its line breaks."""
    text = clean(text)
    if "\n" in text or len(text) > 400:
        return Markup('<pre class="text" tabindex="0">{}</pre>').format(text)
    return (
        Markup("<span>{}</span>").format(text)
        if text
        else Markup('<span class="muted">empty</span>')
    )


def scalar(value: Any) -> str:
    """A number, truth value or nothing, as text."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}".replace("-", "−") if isinstance(value, float) else str(value)
