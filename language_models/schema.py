"""What servers enforce of a JSON schema."""

from __future__ import annotations

from typing import Final

NOT_ENFORCEABLE: Final = (
    "multipleOf",
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "patternProperties",
    "propertyNames",
)
"""Keywords that vLLM's default backend and hosted providers do not enforce."""
