"""The table of clients, by the name that a study gives."""

from collections.abc import Callable

from lakatos.language_models.client import LanguageModel
from lakatos.language_models.settings import ModelSettings
from lakatos.traces.plugin_table import PluginTable

CLIENTS: PluginTable[Callable[[ModelSettings], LanguageModel]] = PluginTable(
    {
        "openai": "lakatos.language_models.clients.openai:OpenAIModel",
        "scripted": "lakatos.language_models.clients.scripted:ScriptedModel.from_settings",
    }
)
"""A server that speaks the OpenAI protocol, and answers from a list."""
