"""Sources of participants by their names in a study file; the table is the whole registration."""

from lakatos.experiments.participants.source import ListedSource
from lakatos.traces.plugin_table import PluginTable

SOURCES: PluginTable[type[ListedSource]] = PluginTable(
    {
        "simulated": "lakatos.experiments.participants.simulated:SimulatedParticipants",
        "archival": "lakatos.experiments.participants.archival:ArchivalParticipants",
        "web": "lakatos.experiments.participants.web.source:WebParticipants",
        "file": "lakatos.experiments.participants.file:FileParticipants",
        "language_model": "lakatos.experiments.participants.language_model:LanguageModelParticipants",
    }
)
