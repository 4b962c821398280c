"""Published theories of each domain, and the grammars built of their mechanisms."""

from lakatos.experiments.domains.declared import DeclaredDomain
from lakatos.experiments.domains.declared_feedback import FeedbackDomain
from lakatos.experiments.domains.task_file import module_in, task_file_of
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
    found: object = None
    if file is None:
        found = FAMILIES.get(domain.name)
    elif file.is_python:
        found = getattr(module_in(file), "FAMILY", None)
    elif isinstance(domain, DeclaredDomain):
        # Written for any declaration, it is long; studies of the package's own tasks do without it.
        from lakatos.theories.families.declared import declared_family

        found = declared_family(domain)
    elif isinstance(domain, FeedbackDomain):
        from lakatos.theories.families.declared_learning import feedback_family

        found = feedback_family(domain)
    return found if isinstance(found, Family) else None
