"""Settings of a study file, as the spaces of several domains read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from lakatos.experiments.errors import StimuliError


class TaskSection(BaseModel):
    """A part of a declared task: fixed, without keys that nobody knows, and all its numbers finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def refuse_unknown(known: Iterable[str], settings: Mapping[str, Any], domain: str) -> None:
    """Refuse settings that a domain does not have.

    Raises:
        StimuliError: It says which they are, and which there are.
    """
    if unknown := sorted(set(settings) - set(known)):
        raise StimuliError(
            f"unknown settings of the {domain} domain: {', '.join(unknown)}. It has: {', '.join(known)}."
        )


def check_limits(read: Any, limits: Mapping[str, tuple[float, float]]) -> None:
    """Refuse settings that lie outside of their limits, the first by its name.

    Raises:
        StimuliError: It says the setting, its value and the limits.
    """
    for name, (low, high) in limits.items():
        if not low <= getattr(read, name) <= high:
            raise StimuliError(f"setting {name} is {getattr(read, name)}; give {low} to {high}.")
