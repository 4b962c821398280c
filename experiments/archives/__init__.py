"""Published choices of people, by the name of the data set."""

from lakatos.experiments.archives.archive import ArchiveReader
from lakatos.traces.plugin_table import PluginTable

ARCHIVES: PluginTable[ArchiveReader] = PluginTable(
    {
        "multiattribute_autocog": "lakatos.experiments.archives.multiattribute_autocog:READER",
        "risky_cpc18": "lakatos.experiments.archives.risky_cpc18:READER",
        "risky_spektor2024": "lakatos.experiments.archives.risky_spektor2024:READER",
        "allais": "lakatos.experiments.archives.allais:READER",
        "intertemporal_ericson2015": "lakatos.experiments.archives.intertemporal_ericson2015:READER",
        "learning_reversal_zorowitz2023": "lakatos.experiments.archives.learning_reversal_zorowitz2023:READER",
        "learning_two_step_shahar2019": "lakatos.experiments.archives.learning_two_step_shahar2019:READER",
        "learning_two_step_nussenbaum2020": "lakatos.experiments.archives.learning_two_step_nussenbaum2020:READER",
        "learning_probability_thoma2025": "lakatos.experiments.archives.learning_probability_thoma2025:READER",
        "multiattribute_electricity": "lakatos.experiments.archives.multiattribute_electricity:READER",
        "games_zhu2024": "lakatos.experiments.archives.games_zhu2024:READER",
        "estimation_little2024": "lakatos.experiments.archives.estimation_little2024:READER",
        "publicgoods_alsobay2025": "lakatos.experiments.archives.publicgoods_alsobay2025:READER",
        "attention_navon_busch2024": "lakatos.experiments.archives.attention_busch2024:NAVON_READER",
        "attention_stroop_busch2024": "lakatos.experiments.archives.attention_busch2024:STROOP_READER",
    }
)
