"""Base of all sections of a study file."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class ConfigSection(BaseModel):
    """A section of a study file: every key is known, and no number is infinite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
