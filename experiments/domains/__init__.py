"""Kinds of tasks, by name, and those that come from a file."""

from pathlib import Path

from lakatos.experiments.domains.attention import AttentionDomain
from lakatos.experiments.domains.estimation import EstimationDomain
from lakatos.experiments.domains.games import GamesDomain
from lakatos.experiments.domains.intertemporal import IntertemporalDomain
from lakatos.experiments.domains.learning import LearningDomain
from lakatos.experiments.domains.multiattribute import MultiattributeDomain
from lakatos.experiments.domains.offers import OffersDomain
from lakatos.experiments.domains.public_goods import PublicGoodsDomain
from lakatos.experiments.domains.risky import RiskyDomain
from lakatos.experiments.domains.task_file import TaskFile, domain_in, read_task_file
from lakatos.experiments.errors import TaskFileError
from lakatos.experiments.task import Domain

DOMAINS: dict[str, Domain] = {
    "multiattribute": MultiattributeDomain(),
    "risky": RiskyDomain(),
    "intertemporal": IntertemporalDomain(),
    "learning": LearningDomain(),
    "offers": OffersDomain(),
    "games": GamesDomain(),
    "estimation": EstimationDomain(),
    "public_goods": PublicGoodsDomain(),
    "attention": AttentionDomain(),
}


def find_domain(name: str, file: TaskFile | None = None) -> Domain:
    """A domain of the package by its name, or the one of a file."""
    return DOMAINS[name] if file is None else domain_in(file)


def open_domain(word: str) -> Domain:
    """The domain that somebody names: one of the package, or a file that declares one.

    Raises:
        TaskFileError: There is no such domain, or the file declares none.
    """
    if word in DOMAINS:
        return DOMAINS[word]
    if word.endswith((".toml", ".py")):
        return domain_in(read_task_file(Path(word)))
    raise TaskFileError(
        f"there is no domain {word!r}; there are: {', '.join(DOMAINS)}. A domain of your own is a file in TOML or "
        "Python."
    )
