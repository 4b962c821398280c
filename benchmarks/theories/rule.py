"""A hidden rule of the benchmarks, as a theory's source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

BINARY = {"validities": [0.9, 0.8, 0.7, 0.6], "levels": [0, 1], "dominated": True}
CARDINAL = {"validities": [0.9, 0.8, 0.7, 0.6], "levels": [0, 1, 2, 3]}
"""Spaces of rated products with two and with four grades."""
LAPSE = {"lapse": {"prior": "uniform", "low": 0.09, "high": 0.11, "unit": "share of choices"}}
"""5% of choices err."""
_SURE = "p = xp.where(lead > 0, 1.0, xp.where(lead < 0, 0.0, 0.5))\n"
_NOISY = 'return 0.5 * parameters["lapse"] + (1 - parameters["lapse"]) * p'
ONE_SHOT = f"{_SURE}p = p[None]\n{_NOISY}"
"""The end of a body: the option that leads is taken, but for lapses."""
SEQUENTIAL = "".join(f"    {line}\n" for line in (_SURE + _NOISY).splitlines())
"""The same at the end of a `choose` with a state."""

AMONG_WANTED = """    lapse = parameters["lapse"][..., None]
    p = wanted / wanted.sum(axis=-1)[..., None]
    return (1 - lapse) * p + lapse * free / free.sum(axis=-1)[..., None]
"""
"""In learning: one of the options ``wanted`` is taken, but for lapses among those that are ``free``."""


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
    """What differs between people; see `theories.language.theory`."""

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
