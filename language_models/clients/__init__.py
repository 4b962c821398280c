"""The table of clients, by the name that a study gives."""

from collections.abc import Callable

from lakatos.language_models.client import LanguageModel
from lakatos.language_models.clients.openai import OpenAIModel
from lakatos.language_models.clients.player import PlayerModel
from lakatos.language_models.clients.scripted import ScriptedModel
from lakatos.language_models.settings import ModelSettings

CLIENTS: dict[str, Callable[[ModelSettings], LanguageModel]] = {
    "openai": OpenAIModel,
    "player": PlayerModel.from_settings,
    "scripted": ScriptedModel.from_settings,
}
"""A server that speaks the OpenAI protocol, recorded exchanges, and answers from a list."""
