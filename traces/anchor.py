"""Anchors: what was signed on a day, in one file to be published, and stamped by somebody else where a server is named.

A head says when it was signed, by the laboratory's own clock and key. A file that was published the
day after shows to everybody that its heads existed then, and that a head of that day which it does not
name was made later. A time stamp (RFC 3161) shows the same to who did not see it published.

References:
    Adams, Cain, Pinkas & Zuccherato (2001), Internet X.509 public key infrastructure time-stamp
    protocol, RFC 3161.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

from lakatos.traces.artifact import write_whole
from lakatos.traces.digest import Digest, digest_bytes, digest_of, is_digest
from lakatos.traces.errors import HeadError
from lakatos.traces.head import kept_heads, second_place
from lakatos.traces.home import home
from lakatos.traces.standalone import canonical

SECONDS: Final = 30.0
"""Seconds that a time stamp server has for its answer."""
MOST_BYTES: Final = 1 << 20
"""Most bytes of its answer."""


def anchors_folder() -> Path:
    """Return the folder of this laboratory's anchors, and of those of others that are compared with them."""
    return home() / "anchors"


def name_of_head(journal: Digest, seq: int, event_hash: Digest) -> Digest:
    """Return the name of a head in an anchor; it does not reveal which run that is."""
    return digest_of({"journal": journal, "seq": seq, "hash": event_hash})


def anchor_file(day: date) -> Path:
    """File of the heads of a day, written or not."""
    return anchors_folder() / f"{day.isoformat()}.json"


def write_anchor(day: date, now: datetime | None = None) -> Path:
    """Write the file of a day that is over: the names of all heads in the second place that were signed on it.

    Raises:
        HeadError: The day is not over, or has another file already, which may have been published.
    """
    if day >= (now or datetime.now(UTC)).astimezone(UTC).date():
        raise HeadError(
            f"{day} is not over (UTC), and more may be signed on it; anchor it tomorrow."
        )
    heads = sorted(
        {head for path in sorted(second_place().glob("*.jsonl")) for head in _signed_on(path, day)}
    )
    before = [
        path
        for path in sorted(anchors_folder().glob("????-??-??.json"))
        if path.stem < day.isoformat()
    ]
    previous = digest_bytes(before[-1].read_bytes()) if before else ""
    line = canonical({"day": day.isoformat(), "heads": heads, "previous": previous}) + b"\n"
    path = anchor_file(day)
    if path.exists() and path.read_bytes() != line:
        raise HeadError(
            f"{path} says something else about {day}; it may have been published and is left as it is."
        )
    write_whole(path, line)
    return path


def _signed_on(path: Path, day: date) -> list[Digest]:
    journal = path.stem
    return [
        name_of_head(journal, item.head.seq, item.head.hash)
        for item in kept_heads(path)
        if item.head is not None and item.time_utc.startswith(day.isoformat())
    ]


def anchor_problem(journal: Digest, heads: Sequence[tuple[int, Digest, str]]) -> str:
    """Explain what anchors contradict in the heads of a journal; empty if nothing.

    Args:
        journal: Its identity.
        heads: Number and hash of the event, and the time, of each signed head.
    """
    for seq, event_hash, time_utc in heads:
        path = anchors_folder() / f"{time_utc[:10]}.json"
        if path.exists() and name_of_head(journal, seq, event_hash) not in _heads_in(path):
            return (
                f"the head of event {seq} says that it was signed on {time_utc[:10]}, and {path} does not name it: "
                "it was made later and backdated."
            )
    return ""


def _heads_in(path: Path) -> frozenset[Digest]:
    try:
        content: Any = json.loads(path.read_bytes())
        return frozenset(head for head in content["heads"] if is_digest(head))
    except (OSError, ValueError, KeyError, TypeError):
        return frozenset()


# --- stamped by somebody else ----------------------------------------------------------------------------------------


def stamp(path: Path, server: str) -> Path:
    """Have a server stamp a file with the time (RFC 3161); its answer is kept beside the file, as ``.tsr``.

    Raises:
        HeadError: The server cannot be reached or refuses, or there is no ``openssl``.
    """
    with tempfile.TemporaryDirectory() as place:
        query, answer = Path(place) / "query", Path(place) / "answer"
        _openssl("ts", "-query", "-data", str(path), "-sha256", "-cert", "-out", str(query))
        stamp_request = urllib.request.Request(
            server, data=query.read_bytes(), headers={"Content-Type": "application/timestamp-query"}
        )
        try:
            with urllib.request.urlopen(stamp_request, timeout=SECONDS) as reply:
                answer.write_bytes(reply.read(MOST_BYTES))
        except (OSError, urllib.error.URLError, ValueError) as error:
            raise HeadError(
                f"the time stamp server {server} gives no answer ({getattr(error, 'reason', error)}). Try again later."
            ) from error
        if "Status: Granted" not in (
            verdict := _openssl("ts", "-reply", "-in", str(answer), "-text")
        ):
            raise HeadError(f"the time stamp server {server} refuses: {verdict.splitlines()[0]}")
        kept = path.with_suffix(".tsr")
        write_whole(kept, answer.read_bytes())
    return kept


def check_stamping(day: date, server: str, trusted: Path | None) -> None:
    """Refuse a server that is no address, and certificates that are not there or have no time stamp to verify.

    Raises:
        HeadError: What was wrong; nothing was written.
    """
    if server and not server.startswith(("http://", "https://")):
        raise HeadError(
            f"{server!r} is no address of a time stamp server; give one with http:// or https://."
        )
    if trusted is None:
        return
    if not trusted.is_file():
        raise HeadError(f"there is no file {str(trusted)!r} of certificates; give one in PEM.")
    path = anchor_file(day)
    if not server and not path.with_suffix(".tsr").exists():
        raise HeadError(f"{path} has no time stamp; `lakatos anchor --server ADDRESS` gets one.")


def stamped_at(path: Path, trusted: Path) -> datetime:
    """Return when a file was stamped, once its time stamp is verified against certificates that the reader trusts.

    Raises:
        HeadError: There is no time stamp, it is not one of this file, or nobody trusted made it.
    """
    kept = path.with_suffix(".tsr")
    if not kept.exists():
        raise HeadError(f"{path} has no time stamp; `lakatos anchor --server ADDRESS` gets one.")
    _openssl("ts", "-verify", "-data", str(path), "-in", str(kept), "-CAfile", str(trusted))
    reply = _openssl("ts", "-reply", "-in", str(kept), "-text")
    (line,) = [item for item in reply.splitlines() if item.startswith("Time stamp: ")]
    written = " ".join(line.removeprefix("Time stamp: ").removesuffix(" GMT").split())
    form = "%b %d %H:%M:%S.%f %Y" if "." in written else "%b %d %H:%M:%S %Y"
    return datetime.strptime(written, form).replace(tzinfo=UTC)


def _openssl(*arguments: str) -> str:
    """Run ``openssl`` and return its output; it knows the protocol, and is nearly everywhere."""
    try:
        done = subprocess.run(
            ["openssl", *arguments], capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HeadError(
            f"time stamps need the program `openssl`, which cannot be run: {error}."
        ) from error
    if done.returncode:
        reason = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise HeadError(
            f"openssl {' '.join(arguments[:2])} fails: {reason[-1] if reason else done.returncode}."
        )
    return done.stdout
