"""Published theories of each domain, and the grammars built of their mechanisms."""

from lakatos.experiments.domains.declared import DeclaredDomain
from lakatos.experiments.domains.declared_feedback import FeedbackDomain
from lakatos.experiments.domains.task_file import module_in, task_file_of
from lakatos.experiments.task import Domain
from lakatos.theories.errors import GrammarError
from lakatos.theories.families.attention import FAMILY as ATTENTION
from lakatos.theories.families.declared import declared_family
from lakatos.theories.families.declared_learning import feedback_family
from lakatos.theories.families.estimation import FAMILY as ESTIMATION
from lakatos.theories.families.family import Family
from lakatos.theories.families.games import FAMILY as GAMES
from lakatos.theories.families.intertemporal import FAMILY as INTERTEMPORAL
from lakatos.theories.families.learning import FAMILY as LEARNING
from lakatos.theories.families.multiattribute import FAMILY as MULTIATTRIBUTE
from lakatos.theories.families.offers import FAMILY as OFFERS
from lakatos.theories.families.public_goods import FAMILY as PUBLIC_GOODS
from lakatos.theories.families.risky import FAMILY as RISKY

FAMILIES: dict[str, Family] = {
    family.domain: family
    for family in (
        MULTIATTRIBUTE,
        RISKY,
        INTERTEMPORAL,
        LEARNING,
        OFFERS,
        GAMES,
        ESTIMATION,
        PUBLIC_GOODS,
        ATTENTION,
    )
}


def find_family(domain: Domain) -> Family:
    """The theories about a domain: of the package, written for a declaration, or ``FAMILY`` of a domain's own program.

    Raises:
        GrammarError: There are none.
    """
    file = task_file_of(domain)
    if file is None:
        found = FAMILIES.get(domain.name)
    elif file.is_python:
        found = getattr(module_in(file), "FAMILY", None)
    elif isinstance(domain, DeclaredDomain):
        found = declared_family(domain)
    elif isinstance(domain, FeedbackDomain):
        found = feedback_family(domain)
    if not isinstance(found, Family) or not found.seeds:
        where = f"the file {file.file} has no FAMILY with seeds" if file else "nobody wrote them"
        raise GrammarError(
            f"there are no theories about the domain {domain.name!r}: {where}. "
            "`lakatos.theories.families.family.Family` says what a family has."
        )
    return found
