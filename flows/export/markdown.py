"""The report as Markdown: every word and table of the page, without its figures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path

from lakatos.flows.report.reader import open_reading
from lakatos.flows.report.report import render
from lakatos.traces.artifact import write_whole

_SKIPPED = frozenset({"head", "style", "svg", "nav", "script"})
_BLOCKS = frozenset(
    {
        "p",
        "div",
        "section",
        "article",
        "figure",
        "dl",
        "ul",
        "ol",
        "details",
        "table",
        "main",
        "header",
    }
)
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_FLUSHING = frozenset({*_HEADINGS, "li", "dt", "summary", "pre"})
"""Elements that begin a block wherever they stand."""
_PREFIXES = {tag: f"{mark} " for tag, mark in _HEADINGS.items()} | {"li": "- ", "dt": "- "}
_AROUND = {"summary": "**", "strong": "**", "b": "**", "em": "*", "i": "*", "code": "`"}
_OPENING = _AROUND | {"dt": "**", "q": "“", "br": " ", "span": " "}
_CLOSING = _AROUND | {"dt": "**: ", "q": "”"}
"""Marks where an element begins and ends."""


def write_markdown(folder: Path, out: Path | None = None) -> Path:
    """Write the report of a run as Markdown; ``report.md`` in its folder when ``out`` is None.

    Raises:
        RunMissingError: There is no run.
    """
    place = folder / "report.md" if out is None else out
    with open_reading(folder) as reading:
        page = render(reading)
    write_whole(place, as_markdown(page).encode())
    return place


def as_markdown(page: str) -> str:
    """The text of a page of the report."""
    reader = _MarkdownReader()
    reader.feed(page)
    reader.close()
    return reader.text()


class _MarkdownReader(HTMLParser):
    """A parser of the report's HTML that collects blocks of Markdown."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[str] = []
        self.inline: list[str] = []
        self.skipped: list[str] = []
        self.rows: list[list[str]] | None = None
        self.prefix = ""
        self.preformatted = False

    def text(self) -> str:
        """Everything, blocks apart by an empty line."""
        self._flush()
        joined = re.sub(r"(?m)^(- .*)\n\n(?=- )", r"\1\n", "\n\n".join(self.blocks))
        return re.sub(r"\n{3,}", "\n\n", joined).strip() + "\n"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open a block or a mark."""
        if self.skipped or tag in _SKIPPED or dict(attrs).get("class") == "skip":
            if tag not in ("meta", "link", "br", "img", "path", "line", "circle"):
                self.skipped.append(tag)
            return
        if tag in _FLUSHING or (tag in _BLOCKS and self.rows is None):
            self._flush()
        if tag == "table":
            self.rows = []
        elif tag == "tr" and self.rows is not None:
            self.rows.append([])
        elif tag == "pre":
            self.preformatted = True
        self.prefix = _PREFIXES.get(tag, self.prefix)
        self._mark(_OPENING, tag)

    def _mark(self, marks: Mapping[str, str], tag: str) -> None:
        """Write a tag's mark, but none of code or blanks into what is preformatted."""
        if not (self.preformatted and tag in ("code", "br", "span")):
            self.inline += [marks[tag]] if tag in marks else []

    def handle_endtag(self, tag: str) -> None:
        """Close an element, and write its block if it was one."""
        if self.skipped:
            if tag in self.skipped:
                while self.skipped.pop() != tag:
                    pass
            return
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append(self._taken())
        elif tag == "table" and self.rows is not None:
            self.blocks.append(_table(self.rows))
            self.rows = None
        elif tag in _HEADINGS or tag in ("li", "dd") or (tag in _BLOCKS and self.rows is None):
            self._flush()
        elif tag == "pre":
            text = "".join(self.inline).strip("\n")
            self.blocks.append(f"```python\n{text}\n```")
            self.inline, self.preformatted = [], False
        else:
            self._mark(_CLOSING, tag)
            if tag == "summary":
                self._flush()

    def handle_data(self, data: str) -> None:
        """Keep text, with what would be a mark made harmless outside code."""
        if not self.skipped:
            self.inline.append(
                data if self.preformatted else re.sub(r"([\\*_`<>|#\[\]])", r"\\\1", data)
            )

    def _taken(self) -> str:
        text = re.sub(r"\s+", " ", "".join(self.inline)).strip()
        self.inline = []
        text = re.sub(
            r"`([^`]*)`", lambda m: "`" + re.sub(r"\\([\\*_<>|#\[\]])", r"\1", m[1]) + "`", text
        )
        return text.replace("****", "").replace("** **", " ")

    def _flush(self) -> None:
        if self.preformatted:
            return
        if text := self._taken():
            self.blocks.append(self.prefix + text)
        self.prefix = "" if text or not self.prefix.startswith("#") else self.prefix


def _table(rows: list[list[str]]) -> str:
    filled = [row for row in rows if row]
    width = max((len(row) for row in filled), default=0)
    lines = ["| " + " | ".join([*row, *[""] * (width - len(row))]) + " |" for row in filled]
    return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]]) if lines else ""
