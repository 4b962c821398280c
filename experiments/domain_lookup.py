"""Domains and published data sets by their names.

The tables stand in `lakatos.domains`, above this package, because a domain also holds theories. Two parts of this
package need them by name: the page's server, since a collection on disk holds the name of its domain, and the reading
of files, which tries every kind of task. This module is the only import that goes upwards; the import contract lists
it by name.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from lakatos.experiments.task import Domain
from lakatos.experiments.task_file import TaskFile


def find_domain(name: str, file: TaskFile | None = None) -> Domain:
    """A domain of the package by its name, or the domain that a researcher's file defines."""
    from lakatos.domains import find_domain as find

    return find(name, file)


def data_set_names() -> Container[str]:
    """Names of the published data sets that the package can read."""
    from lakatos.domains import ARCHIVES

    return ARCHIVES


def all_domains() -> Mapping[str, Domain]:
    """The domains of the package, by name; each is loaded when it is looked up."""
    from lakatos.domains import DOMAINS

    return DOMAINS
