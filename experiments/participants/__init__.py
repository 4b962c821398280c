"""Who answers, by the name of the source in a study file; the table is the whole registration."""

from experiments.participants.archival import ArchivalParticipants
from experiments.participants.file import FileParticipants
from experiments.participants.language_model import LanguageModelParticipants
from experiments.participants.simulated import SimulatedParticipants
from experiments.participants.source import ListedSource
from experiments.participants.web.source import WebParticipants

SOURCES: dict[str, type[ListedSource]] = {
    "simulated": SimulatedParticipants,
    "archival": ArchivalParticipants,
    "web": WebParticipants,
    "file": FileParticipants,
    "language_model": LanguageModelParticipants,
}
