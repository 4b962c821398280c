"""A commented study file for answers that somebody has."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from lakatos.experiments.adoption.layouts import layout_of
from lakatos.experiments.adoption.mapping import OPEN_QUESTION, AnswerColumns, leaves_of
from lakatos.experiments.answer_scale import scale_of
from lakatos.experiments.conditions import CONDITION
from lakatos.experiments.task import Domain
from lakatos.traces.wording import printable

NEEDED = ("participant", "response", "order", "experiment", "count", "share")
WORDS = {
    "participant": "who responded",
    "response": "the option chosen",
    "responses": "which cell is which option, from 0",
    "experiment": "whose values are names of experiments",
    "bad_rows": "leave_out_empty (empty cells), leave_out (wrong ones too), or refuse",
    "order": "position of the trial within the participant",
    "response_time": "kept in the file; theories do not see it",
    "counts": "a column for each option",
    "count": "number of responses in a row",
    "share": "proportion that chose the second option",
    "condition": "conditions that vary within participants",
    "attributes": "attributes of participants; `lakatos theory effects FILE --by NAME` compares groups",
}
SCALE_WORDS: dict[str, dict[str, str]] = {
    "levels": {"response": "a number"},
    "number": {"response": "a number"},
    "timed": {
        "response": "the key, or whether it was right",
        "responses": "keys from the left, from 0; if response is right or wrong, right is 0",
        "response_time": "part of the response",
    },
}
"""Descriptions of keys where responses are numbers, or a choice with its time; by the kind of the scale."""


NO_CONDITIONS: Mapping[str, Sequence[str]] = MappingProxyType({})


def study_text(
    name: str,
    question: str,
    domain: Domain,
    file: str,
    columns: AnswerColumns,
    theories: Sequence[str],
    *,
    sealed_share: float = 0.2,
    cycles: int = 4,
    trials: int = 60,
    per_cycle: int = 1,
    domain_file: str = "",
    conditions: Mapping[str, Sequence[str]] = NO_CONDITIONS,
) -> str:
    """The text of a study file.

    Args:
        name: Name of the study.
        question: What it asks.
        domain: Domain of the trials.
        file: File with the responses, relative to the study file.
        columns: What its columns mean; a question mark is marked for somebody to fill in.
        theories: Published theories that are the first rivals.
        sealed_share: Share of trials that nobody looks at before the verdict.
        cycles: Cycles of search: each collects or releases responses, scores and revises theories.
        trials: Distinct trials that each experiment asks for.
        per_cycle: Experiments of a cycle.
        domain_file: What declares the domain, relative to the study file; empty for one of the package.
        conditions: Columns that may hold conditions within participants, with their words; proposed in comments.
    """
    is_open = OPEN_QUESTION in leaves_of(columns.model_dump(exclude_defaults=True))
    enough = "too few leave responses unused" if is_open else "enough to use all responses"
    lines = [
        f"# Responses in {_in_comment(file)}, as `lakatos new` read them. "
        "Check every line that ends in a question mark.",
        f"name = {_toml(name)}",
        f"question = {_toml(question)}",
        *([] if domain_file else [f"domain = {_toml(domain.name)}"]),
        "seed = 1",
        *(["", "[domain]", f"file = {_toml(domain_file)}"] if domain_file else []),
        "",
        "[theories]",
        f"seeds = {_toml(list(theories))}",
        "candidates = 120                 # compositions of mechanisms that the search may try in a cycle",
        "successors = 4                   # new theories that may enter in a cycle",
        "",
        "[design]",
        f"trials = {trials:<24}# distinct trials of an experiment: " + enough,
        *([f"per_cycle = {per_cycle:<21}# experiments in a cycle"] if per_cycle > 1 else []),
        "random_share = 0.5",
        'refused = "cover"                # existing responses cost nothing: use all of them',
        "",
        "[participants]",
        'source = "archival"',
        f"file = {_toml(file)}",
        *_column_lines(columns, domain, conditions),
        "",
        "[stop]",
        f"cycles = {cycles}",
        f"least_cycles = {cycles:<18}# fewer may leave responses unused; the verdict then states this",
        "",
        "[validation]",
        "# Share of trials (in learning tasks: of participants) that stays sealed until the verdict.",
        f"sealed_share = {sealed_share:g}",
        *([f"effects = {_toml(CONDITION)}"] if columns.condition else []),
        *([f"# effects = {_toml(CONDITION)}"] if conditions and not columns.condition else []),
    ]
    return "\n".join(lines) + "\n"


def mapping_text(columns: AnswerColumns, domain: Domain) -> str:
    """Write the meanings of a file's columns as the section ``participants.columns`` of a study file."""
    return "\n".join(_column_lines(columns, domain)).strip() + "\n"


def _column_lines(
    columns: AnswerColumns, domain: Domain, conditions: Mapping[str, Sequence[str]] = NO_CONDITIONS
) -> list[str]:
    """Write the meanings of columns as sections of a study file; parts of trials without a column are comments."""
    value = columns.model_dump(exclude_defaults=True)
    stimulus = value.pop("stimulus", {})
    keys = ("responses", "where", "feedback", "missing", "recode")
    tables = {key: value.pop(key, {}) for key in keys}
    scale, layout = scale_of(domain), layout_of(domain)
    words = WORDS | (SCALE_WORDS[scale.kind] if scale is not None else {})
    parts = layout.parts if layout is not None else {}
    lines = ["", "[participants.columns]"]
    lines += [_line(key, item, words.get(key, "")) for key, item in value.items()]
    lines += [
        f"# {_line('condition', name, ', '.join(words) + ' vary within participants')}"
        for name, words in conditions.items()
    ]
    for title, table in tables.items():
        if table:
            lines += ["", f"[participants.columns.{title}]" + _comment(words.get(title, ""))]
            lines += [_line(key, item) for key, item in table.items()]
    if stimulus:
        lines += ["", "[participants.columns.stimulus]"]
        lines += [_line(key, item, parts.get(key, "")) for key, item in stimulus.items()]
        lines += [
            f"# {key}: {_in_comment(listed)}"
            for key, listed in parts.items()
            if key not in stimulus
        ]
    return lines


def _line(key: str, value: Any, words: str = "") -> str:
    """A key and its value; an open question asks."""
    open_question = "?" in leaves_of(value)
    return f"{_key(key)} = {_toml(value)}" + _comment(
        words + ("   <- which?" if open_question else "")
    )


def _comment(words: str) -> str:
    return f"   # {_in_comment(words)}" if words.strip() else ""


def _in_comment(text: str) -> str:
    """Text in one line, which ends no comment."""
    return printable(" ".join(text.splitlines()))


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)


def _toml(value: Any) -> str:
    """A value as TOML writes it; texts and lists are written as in JSON."""
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(str(key))} = {_toml(item)}" for key, item in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        # JSON escapes as TOML does, except for the control character that only TOML forbids unescaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
