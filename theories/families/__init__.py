"""Published theories of each domain, and the grammars built of their mechanisms."""

from collections.abc import Callable
from typing import Any, Final

from lakatos.experiments.domains.task_file import task_file_of
from lakatos.experiments.task import Domain
from lakatos.theories.errors import GrammarError
from lakatos.theories.families.family import Family
from lakatos.traces.plugin_table import PluginTable

FAMILIES: PluginTable[Family] = PluginTable(
    {
        "multiattribute": "lakatos.theories.families.multiattribute:FAMILY",
        "risky": "lakatos.theories.families.risky:FAMILY",
        "intertemporal": "lakatos.theories.families.intertemporal:FAMILY",
        "learning": "lakatos.theories.families.learning:FAMILY",
        "offers": "lakatos.theories.families.offers:FAMILY",
        "games": "lakatos.theories.families.games:FAMILY",
        "estimation": "lakatos.theories.families.estimation:FAMILY",
        "public_goods": "lakatos.theories.families.public_goods:FAMILY",
        "attention": "lakatos.theories.families.attention:FAMILY",
    }
)
DECLARED: Final[PluginTable[Callable[[Any], Family]]] = PluginTable(
    {
        "trials alone": "lakatos.theories.families.declared:declared_family",
        "with feedback": "lakatos.theories.families.declared_learning:feedback_family",
    }
)
"""Writes the theories about a declared domain; what serves any declaration is long, and most studies do without it."""


def find_family(domain: Domain) -> Family:
    """The theories about a domain: of the package, written for a declaration, or ``FAMILY`` of a domain's own program.

    Raises:
        GrammarError: There are none.
    """
    found = family_of(domain)
    if found is None or not found.seeds:
        file = task_file_of(domain)
        where = f"the file {file.file} has no FAMILY with seeds" if file else "nobody wrote them"
        raise GrammarError(
            f"there are no theories about the domain {domain.name!r}: {where}. "
            "`lakatos.theories.families.family.Family` says what a family has."
        )
    return found


def family_of(domain: Domain) -> Family | None:
    """The theories about a domain, if somebody wrote any."""
    file = task_file_of(domain)
    found: object
    if file is None:
        found = FAMILIES.get(domain.name)
    elif file.is_python:
        found = file.kind.value_of(file, "FAMILY")
    else:
        found = DECLARED["with feedback" if domain.sequential else "trials alone"](domain)
    return found if isinstance(found, Family) else None
