"""Places that a journal can be stored in."""

from pathlib import Path
from typing import Final

from lakatos.traces.plugin_table import PluginTable
from lakatos.traces.stores.store import EventStore

STORES: Final[PluginTable[type[EventStore]]] = PluginTable(
    {
        "sqlite": "lakatos.traces.stores.sqlite:SqliteStore",
        "postgres": "lakatos.traces.stores.postgres:PostgresStore",
    }
)
"""``sqlite``: one file, write-ahead log, one writer. ``postgres``: a database that many runs and machines share; the
file holds its address. In both a commit is on disk when `append` returns."""

ADDRESS_SUFFIX: Final = ".url"
"""Suffix of a file that holds the address of a journal, or of artifacts, instead of these."""


def located(path: Path) -> Path:
    """Return what stands for a journal or artifacts: ``path``, or the file beside it that holds an address, if any."""
    address = path.with_suffix(ADDRESS_SUFFIX)
    return address if address.is_file() else path


def store_of(path: Path) -> type[EventStore]:
    """The store of a file that `located` found."""
    return STORES["postgres" if path.suffix == ADDRESS_SUFFIX else "sqlite"]
