"""Fingerprint of the code that computes a run, by what the code states and not by its comments."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import tokenize
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from lakatos.traces.artifact import write_whole
from lakatos.traces.digest import Fingerprint, digest_bytes, digest_of
from lakatos.traces.home import cache_home

ROOT = Path(__file__).resolve().parents[2]
"""Folder of the packages."""
PACKAGES = ("theories", "experiments", "domains", "judges", "memory")
"""Packages that decide what a step computes."""
COLLECTORS = ("experiments/participants/web", "experiments/participants/prolific")
"""The page and recruitment: what they did is a record, and a fault in them must be mended while people wait."""
LISTS = ("domains/__init__.py",)
"""Tables of all kinds of tasks; the parts of them that a run uses are fingerprinted themselves."""
SHARED = "kit"
"""Folder of `domains` that belongs to no kind of task."""


@cache
def science(domain: str = "", root: Path = ROOT) -> Fingerprint:
    """Digest of the source files that decide what a step of a run computes.

    Comments and empty lines do not count, nor do the folders of other kinds of tasks than the run's, unless its own
    import them. Prompts do: they decide what a step computes, too.

    Args:
        domain: Domain of the run's study; of everything where it is empty.
        root: Folder of the packages.
    """
    texts = {
        path.relative_to(root).as_posix(): path.read_bytes().replace(b"\r\n", b"\n")
        for path in _files(root)
    }
    written = digest_of({name: digest_bytes(text) for name, text in texts.items()})
    place = cache_home() / "lakatos" / "code" / f"{written}-{domain or 'all'}"
    with contextlib.suppress(OSError):
        if len(kept := place.read_text(encoding="utf-8")) == len(written):
            return kept
    found = digest_of(
        {
            name: digest_bytes(without_comments(text) if name.endswith(".py") else text)
            for name, text in used_by(texts, domain).items()
        }
    )
    with contextlib.suppress(OSError):  # it is computed again where nothing can be kept
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(place, found.encode())
    return found


def _files(root: Path) -> Iterator[Path]:
    """Sources and prompts, in the order of their names."""
    aside = [root / name for name in COLLECTORS]
    for package in PACKAGES:
        for folder, _, names in sorted(os.walk(root / package)):
            if any(Path(folder).is_relative_to(place) for place in aside):
                continue
            yield from (
                Path(folder) / name
                for name in sorted(names)
                if name.endswith((".py", ".md")) and name != "README.md"
            )


def used_by(texts: Mapping[str, bytes], domain: str) -> dict[str, bytes]:
    """The files that a run in a domain uses: those of no domain, its own, and what these import."""
    others = {name for name in texts if domain and _kind_of(name) not in ("", SHARED, domain)}
    used = {name for name in texts if name not in others and name not in LISTS}
    waiting = list(used)
    while waiting:
        new = others.intersection(_imports(texts[waiting.pop()], texts)) - used
        used |= new
        waiting += new
    return {name: text for name, text in texts.items() if name in used}


def _kind_of(name: str) -> str:
    """The kind of task, or ``kit``, in whose folder of `domains` a file stands; empty for all other files."""
    parts = Path(name).parts
    return parts[1] if parts[0] == "domains" and len(parts) > 2 else ""


def _imports(text: bytes, texts: Mapping[str, bytes]) -> Iterator[str]:
    """Files among these that a source imports."""
    if b"import" not in text:
        return
    with contextlib.suppress(SyntaxError):  # a prompt, or a file that nothing could import either
        for node in ast.walk(ast.parse(text)):
            names = []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{item.name}" for item in node.names)]
            elif isinstance(node, ast.Import):
                names = [item.name for item in node.names]
            for name in names:
                place = name.removeprefix("lakatos.").replace(".", "/")
                yield from (
                    path for path in (f"{place}.py", f"{place}/__init__.py") if path in texts
                )


def without_comments(source: bytes) -> bytes:
    """A source without its comments and empty lines; what strings hold stays as it is."""
    try:
        lines = source.decode().splitlines(keepends=True)
        tokens = list(tokenize.generate_tokens(io.StringIO(source.decode()).readline))
    except (UnicodeDecodeError, tokenize.TokenError, SyntaxError, IndentationError):
        return source
    for token in tokens:
        if token.type == tokenize.COMMENT:
            row, column = token.start[0] - 1, token.start[1]
            kept = lines[row][:column].rstrip()
            lines[row] = f"{kept}\n" if kept else ""
        elif token.type == tokenize.NL and not token.line.strip():  # none of those within a string
            lines[token.start[0] - 1] = ""
    return "".join(lines).encode()
