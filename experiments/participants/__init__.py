"""Who answers, by the name of the source in a study file; the table is the whole registration."""

from lakatos.experiments.participants.archival import ArchivalParticipants
from lakatos.experiments.participants.file import FileParticipants
from lakatos.experiments.participants.language_model import LanguageModelParticipants
from lakatos.experiments.participants.simulated import SimulatedParticipants
from lakatos.experiments.participants.source import ListedSource
from lakatos.experiments.participants.web.source import WebParticipants

SOURCES: dict[str, type[ListedSource]] = {
    "simulated": SimulatedParticipants,
    "archival": ArchivalParticipants,
    "web": WebParticipants,
    "file": FileParticipants,
    "language_model": LanguageModelParticipants,
}
