"""Places that a journal can be stored in."""

from typing import Final

from traces.stores.sqlite import SqliteStore
from traces.stores.store import Store

STORES: Final[dict[str, type[Store]]] = {"sqlite": SqliteStore}
