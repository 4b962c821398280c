"""The laboratory's verbs, by name. Each lives in the package of its science; this table only names them.

Learned tools join it in a `memory.library.Library`. Bind the table with `memory.tools.laboratory.tools_on`.
"""

from __future__ import annotations

from lakatos.memory.verb import LaboratoryVerb
from lakatos.traces.plugin_table import PluginTable

TOOLS: PluginTable[LaboratoryVerb] = PluginTable(
    {
        "simulate": "lakatos.memory.tools.laboratory:SIMULATE",
        "compare_predictions": "lakatos.memory.tools.laboratory:COMPARE_PREDICTIONS",
        "score": "lakatos.memory.tools.laboratory:SCORE",
        "search_design": "lakatos.memory.tools.laboratory:SEARCH_DESIGN",
        "recover": "lakatos.memory.tools.laboratory:RECOVER",
        "analyse_residuals": "lakatos.memory.tools.laboratory:ANALYSE_RESIDUALS",
        "check_predictions": "lakatos.memory.tools.laboratory:CHECK_PREDICTIONS",
        "recall": "lakatos.memory.tools.laboratory:RECALL",
    }
)
