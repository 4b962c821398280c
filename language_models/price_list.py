"""List prices of providers, for studies that state none; a study's own `price` always counts.

Prices change. These are the standard prices of the day below; discounts, batches and surcharges for long prompts are
not in them, and cached input counts in full.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from lakatos.language_models.settings import ModelSettings, Price

LISTED_ON: Final = "2026-04-30"
"""Day of the prices."""
PRICES: Final[dict[str, dict[str, Price]]] = {
    "api.openai.com": {
        "gpt-5.5": Price(input=5.0, output=30.0),
        "gpt-5.4": Price(input=2.5, output=15.0),
        "gpt-5.4-mini": Price(input=0.75, output=4.5),
    },
    "api.anthropic.com": {
        "claude-opus-4-7": Price(input=5.0, output=25.0),
        "claude-sonnet-4-6": Price(input=3.0, output=15.0),
        "claude-haiku-4-5": Price(input=1.0, output=5.0),
    },
    "generativelanguage.googleapis.com": {
        "gemini-3.1-pro": Price(input=2.0, output=12.0),
        "gemini-3.1-flash-lite": Price(input=0.25, output=1.5),
    },
}
"""US dollars per million tokens, by host and model; dated versions and previews of a model have its price."""
_VERSION: Final = re.compile(r"(?:-preview)?(?:-\d{4}-?\d{2}-?\d{2})?")


def with_listed_price(settings: ModelSettings) -> ModelSettings:
    """The settings with the provider's list price where they state none and it is known."""
    if settings.price != Price():
        return settings
    model = settings.model.removeprefix("models/")
    for name, price in PRICES.get(urlsplit(settings.base_url).hostname or "", {}).items():
        if model.startswith(name) and _VERSION.fullmatch(model[len(name) :]):
            return settings.model_copy(update={"price": price})
    return settings
