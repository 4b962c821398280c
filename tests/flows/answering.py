"""A server that answers in the roles of a campaign as a good model would, or in the ways that models fail."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tests.rehearsal.app import Answer

HIDDEN = '''"""Odd totals: people take the product whose ratings add up to an odd number, and now and then err."""
PARAMETERS = {"lapse": {"prior": "uniform", "low": 0.05, "high": 0.15}}


def choose(parameters, trials, xp):
    odd = trials["ratings"].sum(axis=-1) % 2
    return 0.5 + (0.5 - parameters["lapse"] / 2) * (odd[:, 1] - odd[:, 0])
'''
"""A rule that no mechanism of the grammar expresses."""
FOUND = HIDDEN.replace('"low": 0.05, "high": 0.15', '"low": 0.0, "high": 0.5')
"""The same rule as somebody would write who does not know how often people err."""
MISTAKEN = FOUND.replace("parameters[", "parametres[")
"""With a slip that the checks find."""
TASKS = {
    "You are the arbiter": "arbiter",
    "Before you argue against its rival": "steelman",
    "You write a successor": "reviser",
    "You audit the claim": "auditor",
}
LENS_WORDS = {
    "Change one mechanism": "mechanism",
    "Leave both theories": "leap",
    "fewer parameters": "simplify",
}


def task_of(body: Mapping[str, Any]) -> str:
    """What a request asks for; in later rounds of a reviser, ``repair``."""
    task = next(name for words, name in TASKS.items() if words in said(body))
    return "repair" if task == "reviser" and "Mend what was refused" in said(body) else task


def said(body: Mapping[str, Any]) -> str:
    """Everything that the user's messages hold."""
    return "\n".join(item["content"] for item in body["messages"] if item["role"] == "user")


def lens_of(body: Mapping[str, Any]) -> str:
    """Lens of a question to a reviser."""
    return next((name for words, name in LENS_WORDS.items() if words in said(body)), "another")


def good(body: Mapping[str, Any], rng: np.random.Generator) -> str:
    """What a good model answers: the arbiter also makes a number up, and a first draft has a slip."""
    return json.dumps(_GOOD[task_of(body)](body))


def claim(
    quantity: str,
    of: str,
    against: str,
    experiment: str,
    *,
    value: str,
    unit: str,
    trial: int = 0,
    option: str = "",
    direction: str = "is",
) -> dict[str, Any]:
    """A typed claim as a model writes it."""
    return {"quantity": quantity, "of": of, "against": against, "experiment": experiment, "trial": trial,
            "option": option, "direction": direction, "value": value, "unit": unit}  # fmt: skip


def _arbiter(body: Mapping[str, Any]) -> dict[str, Any]:
    text = said(body)
    (mark,) = re.findall(r"from case file (#[0-9a-f]+)", text)
    (behind,) = re.findall(r"behind_nats_per_choice: (\S+)", text)
    loser, leader = (
        re.findall(rf"^{name}: (.*)$", text, re.MULTILINE)[0] for name in ("loser", "leader")
    )
    return {
        "statements": [
            {
                "text": f"The theory is behind by {behind} nats per choice.",
                "cites": [mark],
                "claims": [
                    claim(
                        "score",
                        loser,
                        leader,
                        "",
                        direction="below",
                        value=behind,
                        unit="nats per choice",
                    )
                ],
            },
            {
                "text": "People err in 0.777 of their answers.",
                "cites": [mark],
                "claims": [
                    claim(
                        "share",
                        "people",
                        "",
                        "1.1",
                        trial=1,
                        option="second",
                        value="0.777",
                        unit="share",
                    )
                ],
            },
            {"text": "Many people agree.", "cites": ["#00000000"]},
        ],
        "hypothesis": "People look at whether a sum is odd.",
        "change": "This is proven to be the true theory.",
    }


def _steelman(body: Mapping[str, Any]) -> dict[str, Any]:
    experiment, mark, theory, error = re.findall(
        r"from predictions in experiment (\S+) (#[0-9a-f]+)>\n(.*): score .*, squared_error (\S+)",
        said(body),
    )[0]
    claims = [claim("squared_error", theory, "", experiment, value=error, unit="none")]
    return {
        "case": [
            {"text": f"Its error on proportions is {error}.", "cites": [mark], "claims": claims}
        ],
        "repair": "Give it a share of random answers.",
    }


def _reviser(body: Mapping[str, Any]) -> dict[str, Any]:
    lens = lens_of(body)
    source = {"leap": MISTAKEN, "mechanism": "```python\n" + _WEIGHING + "```"}.get(lens, _FLAT)
    stated = [{"relation": "reverses", "varied": "sides", "of": ""}] if lens == "leap" else []
    return {"change": f"another rule ({lens})", "source": source, "predictions": stated}


def _repair(body: Mapping[str, Any]) -> dict[str, Any]:
    if "fitted: criterion" in said(body):
        return {"change": "nothing", "source": "", "done": True}
    mended = "parametres" in said(body)
    stated = [{"relation": "reverses", "varied": "sides", "of": ""}] if mended else []
    return {
        "change": "the slip is mended",
        "source": FOUND if mended else _FLAT,
        "predictions": stated,
        "done": not mended,
    }


def _auditor(body: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "predictions": [
            {"relation": "reverses", "varied": "sides", "of": ""},
            {"relation": "increasing", "varied": "rating", "of": ""},
            {"relation": "ignores", "varied": "weather", "of": ""},
        ],
        "unclear": "how often people err",
    }


_GOOD: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "arbiter": _arbiter,
    "steelman": _steelman,
    "reviser": _reviser,
    "repair": _repair,
    "auditor": _auditor,
}
_FLAT = '''"""Guessing: people choose at random."""
PARAMETERS = {}


def choose(parameters, trials, xp):
    return 0.5 + xp.zeros((1, len(trials["rating_max"]))) + 0.7
'''
"""Its probabilities are none."""
_WEIGHING = '''"""Rough totals: people take the product with the higher sum, and err."""
PARAMETERS = {"lapse": {"prior": "uniform", "low": 0.0, "high": 0.5}}


def choose(parameters, trials, xp):
    totals = trials["ratings"].sum(axis=-1)
    return 0.5 + (0.5 - parameters["lapse"] / 2) * xp.sign(totals[:, 1] - totals[:, 0])
'''


class Speaker:
    """What a server answers with; can be changed while it runs."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.n_asked = 0

    def __call__(self, body: Mapping[str, Any], rng: np.random.Generator) -> Any:
        self.n_asked += 1
        return self.answer(body, rng)


def recorded(answer: Answer, seen: list[str]) -> Answer:
    """``answer``, which also notes the task of each request in ``seen``."""

    def noting(body: Mapping[str, Any], rng: np.random.Generator) -> str | None:
        seen.append(task_of(body))
        return answer(body, rng)

    return noting
