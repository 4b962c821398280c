"""HTML fragments of a researcher's own: read by an allow-list, and written anew from what was read.

Scripts, styles of the whole page and addresses outside cannot be written with the elements and attributes below. A
fragment that holds anything else is refused and never shortened, so that participants see what the file says.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from html.parser import HTMLParser
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ELEMENTS: Final = _words("""
    b blockquote br caption code dd div dl dt em figcaption figure hr i img li ol p pre s small span strong sub sup
    table tbody td tfoot th thead tr u ul circle ellipse g line path polygon polyline rect svg text
""")
WITHOUT_END: Final = _words("br hr img")
ATTRIBUTES: Final = _words("""
    alt aria-hidden aria-label colspan cx cy d dir fill fill-opacity font-size height lang opacity points r role rowspan
    rx ry scope src stroke stroke-dasharray stroke-width style text-anchor title transform viewbox width x x1 x2 y y1 y2
""")
WORDS: Final = _words("alt title aria-label")
"""Attributes with text for people."""
_IMAGE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}")
_REFUSED = re.compile(
    r"url\s*\(|\\|@|/\*|//|-set\s*\(|image\s*\(|expression|position\s*:|var\s*\(", re.IGNORECASE
)

_STRAY = re.compile(r"<(?!/?[A-Za-z][^<>]*>)(?![!?])")
"""A sign that begins no whole element, of which readers of HTML make different things."""


@lru_cache(maxsize=256)
def fragment(text: str) -> str:
    """A fragment as the page shows it.

    Raises:
        ValueError: It holds an element, an attribute or an address that is not allowed; the message states the line.
    """
    if "<![" in text:  # which the parser of the standard library does not always survive
        line = text.partition("<![")[0].count("\n") + 1
        raise ValueError(f"line {line}: marked sections (<![...]>) are not allowed")
    text = _without_comments(text)
    if stray := _STRAY.search(text):
        line = text[: stray.start()].count("\n") + 1
        raise ValueError(f"line {line}: < begins no element; write &lt; for the sign")
    reader = _Reader()
    reader.feed(text)
    reader.close()
    if reader.open:
        name, line = reader.open[-1]
        raise ValueError(f"line {line}: <{name}> is not closed")
    return "".join(reader.parts)


def _without_comments(text: str) -> str:
    """A text without its comments, on the same lines; one that readers of HTML end differently is refused."""
    parts, at = [], 0
    while (start := text.find("<!--", at)) >= 0:
        end = text.find("-->", start + 4)
        inside = text[start + 4 : end]
        if end < 0 or inside.startswith((">", "->")) or "<!--" in inside or "--!>" in inside:
            line = text[:start].count("\n") + 1
            raise ValueError(f"line {line}: the comment has no plain end; leave it out")
        parts += [text[at:start], "\n" * inside.count("\n")]
        at = end + 3
    return "".join([*parts, text[at:]])


class _Reader(HTMLParser):
    """Collects what is allowed, and refuses the first thing that is not."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.open: list[tuple[str, int]] = []

    def _refuse(self, words: str) -> None:
        raise ValueError(f"line {self.getpos()[0]}: {words}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins."""
        if tag not in ELEMENTS:
            known = ", ".join(sorted(ELEMENTS))
            self._refuse(f"<{tag[:20]}> is not allowed; known elements are {known}")
        for name, value in attrs:
            if name not in ATTRIBUTES or value is None:
                self._refuse(f"the attribute {name[:20]} of <{tag}> is not allowed")
            elif name == "src":
                if tag != "img" or not _IMAGE.fullmatch(value):
                    self._refuse("src is no image in the text itself (data:image/png;base64,...)")
            elif name not in WORDS and _REFUSED.search(value):
                self._refuse(f"{name} of <{tag}> has an address, a position or an escape")
        if tag == "img" and not dict(attrs).get("alt"):
            self._refuse("an image needs alt, words for participants who do not see it")
        inside = "".join(f' {name}="{escape(value or "")}"' for name, value in attrs)
        self.parts.append(f"<{tag}{inside}>")
        if tag not in WITHOUT_END:
            self.open.append((tag, self.getpos()[0]))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element without content."""
        self.handle_starttag(tag, attrs)
        if tag not in WITHOUT_END:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        """An element ends."""
        if tag in WITHOUT_END:
            return
        if not self.open or self.open.pop()[0] != tag:
            self._refuse(f"</{tag[:20]}> ends an element that is not the last one opened")
        self.parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        """Text."""
        self.parts.append(escape(data, quote=False))

    def handle_decl(self, decl: str) -> None:
        """A declaration, such as of a document's type."""
        self._refuse("it is a whole document; give the part that belongs inside the page")

    def handle_pi(self, data: str) -> None:
        """An instruction to a processor."""
        self._refuse("instructions (<?...>) are not allowed")
