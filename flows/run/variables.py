"""The environment variables that the laboratory reads, in one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

VARIABLES: Final[Mapping[str, str]] = {
    "LAKATOS_HOME": "folder of the laboratory's signing key, audits and memory; `~/.lakatos` by default",
    "LAKATOS_RUNS": "folder of the runs; `runs` by default",
    "LAKATOS_DATA": "folder of the published data sets",
    "LAKATOS_HEADS": "folder of signed heads of journals; `heads` in the home by default",
    "LAKATOS_JOURNAL": "address of a PostgreSQL database for journals of new runs",
    "LAKATOS_ARTIFACTS": "address of an object store for artifacts of new runs",
    "LAKATOS_CLUSTER": "address of a Dask scheduler, or `local:N` processes, where theories are computed",
    "LAKATOS_CHECKOUT": "path of this repository on a Prefect worker's machine",
    "LAKATOS_SERVING": "folder of the environments of model servers",
    "LAKATOS_NOTIFY": "addresses, separated by spaces, that receive a message when a run has concluded",
    "LAKATOS_LOG": "`json`: progress as one JSON object per line on the standard error",
    "LAKATOS_VIEW_TOKEN": "token that readers of the observatory must enter",
    "LAKATOS_DEBUG": "any value: errors are shown with their traceback",
}
"""Meaning of each variable, by its name."""
INTERNAL: Final = frozenset(("LAKATOS_BY_EVENT", "LAKATOS_SERVER_NAMES", "LAKATOS_TETHER"))
"""Variables that processes of the laboratory set for one another."""
