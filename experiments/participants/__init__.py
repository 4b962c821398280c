"""Who answers, by the name of the source in a study file."""

from experiments.participants.archival import ArchivalParticipants
from experiments.participants.file import FileParticipants
from experiments.participants.simulated import SimulatedParticipants
from experiments.participants.source import ParticipantSource
from experiments.participants.web.source import WebParticipants

SOURCES: dict[str, type[ParticipantSource]] = {
    "simulated": SimulatedParticipants,
    "archival": ArchivalParticipants,
    "web": WebParticipants,
    "file": FileParticipants,
}
