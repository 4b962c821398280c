"""Values of records as HTML, and the addresses of pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from markupsafe import Markup, escape

from lakatos.flows.report.reader import clean
from lakatos.traces.digest import is_digest


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
