"""Places where a run keeps what is recorded: its folder by default, or addresses that the folder holds.

``LAKATOS_JOURNAL`` (``postgresql://USER@HOST/DATABASE``) and ``LAKATOS_ARTIFACTS`` (``s3://BUCKET/FOLDER``) are asked
when a run begins; from then on its folder says where they are. Neither may hold a password.
"""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from lakatos.traces.artifact import write_whole
from lakatos.traces.errors import JournalError
from lakatos.traces.files import ARTIFACT_FOLDER, JOURNAL_FILE
from lakatos.traces.object_store import check_address
from lakatos.traces.stores import ADDRESS_SUFFIX, located
from lakatos.traces.stores.address import read_address


def settle(folder: Path, environment: Mapping[str, str] = os.environ) -> None:
    """Write down where a run's journal and artifacts go, if not into ``folder``, before it begins there.

    A run's name in a shared database ends in a random part, so that folders of one name do not collide. A folder that
    holds a journal, or says where it is, is left as it is.

    Raises:
        JournalError: ``LAKATOS_JOURNAL`` is no address, or holds a password.
        ArtifactError: ``LAKATOS_ARTIFACTS`` is no address, or the folder cannot be written.
    """
    journal, artifacts = (
        environment.get("LAKATOS_JOURNAL", ""),
        environment.get("LAKATOS_ARTIFACTS", "").rstrip("/"),
    )
    if holds_journal(folder):
        return
    name = f"{folder.resolve().name}-{secrets.token_hex(4)}"
    if "#" in journal:
        raise JournalError(
            f"LAKATOS_JOURNAL names the run {journal.partition('#')[2]!r}; leave out everything from # on."
        )
    # Both are read before either is written, so that nothing is left of addresses that are refused.
    addresses = {}
    if artifacts:
        check_address(artifacts)
        addresses[ARTIFACT_FOLDER] = f"{artifacts}/{name}"
    if journal:
        addresses[JOURNAL_FILE] = str(read_address(f"{journal}#{name}"))
    for kept, address in addresses.items():
        _write(folder / kept, address)


def holds_journal(folder: Path) -> bool:
    """Whether a journal was begun in ``folder``, or at the address that it holds."""
    path = located(folder / JOURNAL_FILE)
    return path.is_file() and path.stat().st_size > 0


def is_elsewhere(folder: Path) -> bool:
    """Whether the journal of ``folder`` is at an address instead of in it."""
    return located(folder / JOURNAL_FILE).suffix == ADDRESS_SUFFIX


def run_folders(runs: Path) -> list[Path]:
    """Folders in ``runs`` that hold a journal or its address, the one begun or changed last at the end."""
    found = {
        path.parent: path
        for name in (JOURNAL_FILE, address_file(JOURNAL_FILE))
        for path in runs.glob(f"*/{name}")
    }
    return sorted(found, key=lambda folder: found[folder].stat().st_mtime)


def address_file(name: str) -> str:
    """Name of the file that stands for a journal or a folder of artifacts where they are elsewhere."""
    return Path(name).with_suffix(ADDRESS_SUFFIX).name


def _write(path: Path, text: str) -> None:
    write_whole(path.with_name(address_file(path.name)), f"{text}\n".encode())
