"""Kinds of tasks, by name, and those that come from a file."""

from pathlib import Path

from lakatos.experiments.domains.task_file import TaskFile, domain_in, read_task_file
from lakatos.experiments.errors import TaskFileError
from lakatos.experiments.task import Domain
from lakatos.traces.plugin_table import PluginTable

DOMAINS: PluginTable[Domain] = PluginTable(
    {
        "multiattribute": "lakatos.experiments.domains.multiattribute:DOMAIN",
        "risky": "lakatos.experiments.domains.risky:DOMAIN",
        "intertemporal": "lakatos.experiments.domains.intertemporal:DOMAIN",
        "learning": "lakatos.experiments.domains.learning:DOMAIN",
        "offers": "lakatos.experiments.domains.offers:DOMAIN",
        "games": "lakatos.experiments.domains.games:DOMAIN",
        "estimation": "lakatos.experiments.domains.estimation:DOMAIN",
        "public_goods": "lakatos.experiments.domains.public_goods:DOMAIN",
        "attention": "lakatos.experiments.domains.attention:DOMAIN",
    }
)


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
