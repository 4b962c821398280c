"""A hidden rule of the benchmarks, as a theory's source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Rule:
    """A hidden rule as the body of a theory's `choose`."""

    domain: str
    claim: str
    body: str = ""
    space: dict[str, Any] | None = None
    history: bool = False
    """Whether ``last``, the side chosen last as -1, 0 or 1, is used."""
    source: str = ""
    """All functions of the theory, where the body is not enough."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """What differs between people; see `theories.theory`."""

    @property
    def program(self) -> str:
        """As a theory."""
        head = f'"""Hidden: {self.claim}."""\nPARAMETERS = {dict(self.parameters)}\n\n\n'
        if self.source:
            return head + self.source
        body = "\n".join(f"    {line}" for line in self.body.strip().splitlines())
        if not self.history:
            return f"{head}def choose(parameters, trials, xp):\n{body}\n"
        return (
            f'{head}def start(parameters, trials, xp):\n    return {{"last": xp.zeros((1, 1))}}\n\n\n'
            f'def choose(parameters, trials, xp, state):\n    last = state["last"]\n{body}\n\n\n'
            "def learn(parameters, trials, xp, state, response, feedback):\n"
            '    return {"last": response[..., 1] - response[..., 0]}\n'
        )
