"""Whether a report says what its run says: the page is written anew from the run, or from its bundle, and compared."""

from __future__ import annotations

import html
import re
import shlex
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from lakatos.flows.audit.bundle import unbundle
from lakatos.flows.audit.checks import AuditFinding, finding
from lakatos.flows.errors import UnusableError
from lakatos.flows.report.reader import open_reading
from lakatos.flows.report.report import JOURNAL_META, render
from lakatos.traces.files import read_named
from lakatos.traces.place import holds_journal

MOST_BYTES: Final = 2**28
_META = re.compile(rf'<meta name="{JOURNAL_META}" content="(\d+) ([0-9a-f]{{64}}) ([^"/<>]+)">')
_COMMAND = re.compile(r"<code>lakatos audit ([^\n<]*)\n")
_SUMMARY = re.compile(r'<a href="([^"/<>]*)">summary on two pages')


def run_name(page: Path) -> str:
    """The name of the run that a report states; ``run`` if it states none that can name a folder."""
    stated = _META.search(_text_of(page))
    return stated[3] if stated and stated[3] not in (".", "..") else "run"


def is_report(path: Path) -> bool:
    """Whether a path names a page rather than a run."""
    return path.suffix.lower() in (".html", ".htm") and path.is_file()


def source_of(page: Path, of: str) -> Path:
    """The run or the bundle that a report is compared with: the one named, or the one beside it.

    Raises:
        UnusableError: Nothing is named, and not one run or bundle is beside the page.
    """
    if of:
        return Path(of)
    if holds_journal(page.parent):
        return page.parent
    found = sorted(page.parent.glob("*.bundle.zip"))
    if len(found) == 1:
        return found[0]
    raise UnusableError(
        f"{page} lies in no run and beside {len(found)} bundles; name its run or its bundle with --of."
    )


@contextmanager
def opened(source: Path, name: str) -> Iterator[Path]:
    """The folder of a run, or of a bundle that is unpacked meanwhile.

    Raises:
        UnusableError: It is neither.
        HeadError: The bundle does not verify.
    """
    if source.is_file() and zipfile.is_zipfile(source):
        with tempfile.TemporaryDirectory(prefix="lakatos-bundle-") as place:
            yield unbundle(source, Path(place) / name)
    elif holds_journal(source):
        yield source
    else:
        raise UnusableError(f"{source} is neither a run nor a bundle; name one with --of.")


def check_report(
    page: Path, folder: Path, key: str | None, *, is_copy: bool = False
) -> AuditFinding:
    """Compare a report with the page that its run gives now, byte by byte.

    Only the place of the run in the page's two commands may differ.

    Args:
        page: The report.
        folder: Folder of the run.
        key: Public key that heads must be signed with; see `lakatos.flows.audit.audit.audit`.
        is_copy: Whether the folder is an unpacked bundle.
    """
    given = _text_of(page)
    stated = _META.search(given)
    if stated is None:
        problem = (
            f"{page} names no journal: it is no report, or an older version wrote it; `lakatos report` writes it "
            "anew"
        )
        return finding("report", [problem], "")
    with open_reading(folder) as reading:
        seq, head = reading.trace.journal.head
        if (int(stated[1]), stated[2]) != (seq, head):
            problem = (
                f"{page} shows a journal of {stated[1]} events that ends with {stated[2][:8]}, and {folder.name} has "
                f"{seq} that end with {head[:8]}; `lakatos report` writes the page anew"
            )
            return finding("report", [problem], "")
        summary = _SUMMARY.search(given)
        due = render(
            reading, html.unescape(summary[1]) if summary else "", key=key, is_copy=is_copy
        )
    if (command := _COMMAND.search(given)) is not None:
        here = html.escape(shlex.quote(str(folder)))
        due = due.replace(f"lakatos audit {here}\n", f"lakatos audit {command[1]}\n", 1)
        due = due.replace(f"lakatos resume {here}<", f"lakatos resume {command[1]}<", 1)
    problems = (
        [] if given == due else [f"{page} differs from its run: {_first_difference(given, due)}"]
    )
    return finding(
        "report", problems, f"every byte of {page.name} is what event {seq} and all before it give"
    )


def _text_of(page: Path) -> str:
    """The text of a report.

    Raises:
        UnusableError: It cannot be read.
    """
    try:
        return read_named(page, MOST_BYTES).decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UnusableError(f"cannot read the report {page}: {reason}.") from None


def _first_difference(given: str, due: str) -> str:
    """The first line that differs, in words."""
    for number, (one, other) in enumerate(zip(given.split("\n"), due.split("\n"), strict=False), 1):
        if one != other:
            at = next(
                (n for n, pair in enumerate(zip(one, other, strict=False)) if len({*pair}) > 1), 0
            )
            start = max(at - 30, 0)
            return (
                f"line {number} has {one[start : at + 40]!r} in place of {other[start : at + 40]!r}"
            )
    return f"it has {len(given):,} letters in place of {len(due):,}"
