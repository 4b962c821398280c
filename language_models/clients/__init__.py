"""Clients by name."""

from collections.abc import Callable, Sequence

from language_models.client import LanguageModel
from language_models.clients.scripted import ScriptedModel

CLIENTS: dict[str, Callable[[Sequence[str]], LanguageModel]] = {"scripted": ScriptedModel}
