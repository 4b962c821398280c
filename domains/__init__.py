"""Kinds of tasks: one folder for each, and the tables that list them.

A folder holds everything about one kind of task: the task and its pictures, the published theories and the mechanisms
that they are made of, each with its wording, the vocabulary of induction, the reader of files and the published data.
To remove a kind of task, delete its folder and its lines here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from lakatos.domains.declared.task_file import domain_in, read_task_file
from lakatos.domains.kit.archive import ArchiveReader
from lakatos.experiments.answer_scale import HasTimeWindow
from lakatos.experiments.conditions import with_conditions
from lakatos.experiments.errors import TaskFileError
from lakatos.experiments.task import Domain
from lakatos.experiments.task_file import TaskFile
from lakatos.theories.language.family import Family, find_family
from lakatos.traces.plugin_table import PluginTable

DOMAINS: PluginTable[Domain] = PluginTable(
    {
        "multiattribute": "lakatos.domains.multiattribute.task:DOMAIN",
        "risky": "lakatos.domains.risky.task:DOMAIN",
        "intertemporal": "lakatos.domains.intertemporal.task:DOMAIN",
        "learning": "lakatos.domains.learning.task:DOMAIN",
        "offers": "lakatos.domains.offers.task:DOMAIN",
        "games": "lakatos.domains.games.task:DOMAIN",
        "estimation": "lakatos.domains.estimation.task:DOMAIN",
        "public_goods": "lakatos.domains.public_goods.task:DOMAIN",
        "attention": "lakatos.domains.attention.task:DOMAIN",
        "sequences": "lakatos.domains.sequences.task:DOMAIN",
        "perception": "lakatos.domains.perception.task:DOMAIN",
        "recognition": "lakatos.domains.recognition.task:DOMAIN",
        "stopping": "lakatos.domains.stopping.task:DOMAIN",
        "search": "lakatos.domains.search.task:DOMAIN",
    }
)
"""Kinds of tasks of the package, by name."""
ARCHIVES: PluginTable[ArchiveReader] = PluginTable(
    {
        "multiattribute_autocog": "lakatos.domains.multiattribute.archives.autocog:READER",
        "risky_cpc18": "lakatos.domains.risky.archives.cpc18:READER",
        "risky_spektor2024": "lakatos.domains.risky.archives.spektor2024:READER",
        "allais": "lakatos.domains.risky.archives.allais:READER",
        "intertemporal_ericson2015": "lakatos.domains.intertemporal.archives.ericson2015:READER",
        "learning_reversal_zorowitz2023": "lakatos.domains.learning.archives.reversal_zorowitz2023:READER",
        "learning_two_step_shahar2019": "lakatos.domains.learning.archives.two_step_shahar2019:READER",
        "learning_two_step_nussenbaum2020": "lakatos.domains.learning.archives.two_step_nussenbaum2020:READER",
        "learning_probability_thoma2025": "lakatos.domains.learning.archives.probability_thoma2025:READER",
        "multiattribute_electricity": "lakatos.domains.offers.archives.electricity:READER",
        "games_zhu2024": "lakatos.domains.games.archives.zhu2024:READER",
        "estimation_little2024": "lakatos.domains.estimation.archives.little2024:READER",
        "publicgoods_alsobay2025": "lakatos.domains.public_goods.archives.alsobay2025:READER",
        "attention_navon_busch2024": "lakatos.domains.attention.archives.busch2024:NAVON_READER",
        "attention_stroop_busch2024": "lakatos.domains.attention.archives.busch2024:STROOP_READER",
        "sequences_autopsych2026": "lakatos.domains.sequences.archives.autopsych2026:READER",
    }
)
"""Published responses of participants, by the name of the data set."""


class _Families(Mapping[str, Family]):
    """The theories of each domain of `DOMAINS`; a domain is loaded when its theories are looked up."""

    def __getitem__(self, name: str) -> Family:
        return find_family(DOMAINS[name])

    def __iter__(self) -> Iterator[str]:
        return iter(DOMAINS)

    def __len__(self) -> int:
        return len(DOMAINS)


FAMILIES: Mapping[str, Family] = _Families()
"""Published theories and the grammar of each kind of task, by the name of the domain."""


def find_domain(name: str, file: TaskFile | None = None) -> Domain:
    """A domain of the package by its name, or the domain that a researcher's file defines.

    A name such as ``attention@0.2-5`` says besides between which times, in seconds, responses count, and
    ``risky#calm+hurried`` which conditions each trial has.
    """
    own, _, conditions = name.partition("#")
    domain = domain_in(file) if file is not None else _find_own(own)
    return with_conditions(domain, conditions.split("+") if conditions else ())


def _find_own(name: str) -> Domain:
    plain, at, window = name.partition("@")
    domain = DOMAINS[plain]
    if not at:
        return domain
    low, _, high = window.partition("-")
    assert isinstance(domain, HasTimeWindow)
    return domain.within(float(low), float(high))


def open_domain(word: str) -> Domain:
    """The domain that a user names: one of the package, or a file that defines one.

    Raises:
        TaskFileError: There is no such domain, or the file defines none.
    """
    if word in DOMAINS:
        return DOMAINS[word]
    if word.endswith((".toml", ".py")):
        return domain_in(read_task_file(Path(word)))
    raise TaskFileError(
        f"there is no domain {word!r}; there are: {', '.join(DOMAINS)}. A domain of your own is a file in TOML or "
        "Python."
    )
