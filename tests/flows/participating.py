"""A server that answers as a participant would who follows a rule: read off the page's words, as a person does."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from lakatos.experiments.participants.web.texts import packaged
from tests.rehearsal.app import Answer


def page_of(body: Mapping[str, Any]) -> str:
    """The page that is to be answered, perhaps once more."""
    pages = [item["content"] for item in body["messages"] if item["role"] == "user"]
    return str(
        next(page for page in reversed(pages) if not page.startswith("That answer cannot be used"))
    )


def higher_sum(body: Mapping[str, Any], rng: np.random.Generator) -> str | None:
    """Products: nearly always the one with the higher sum of ratings; all questions and checks are answered rightly."""
    return answered(body, lambda page: _by_ratings(page, rng))


def answered(body: Mapping[str, Any], choose: Any) -> str:
    """Right answers to questions and checks, and what ``choose`` makes of a trial."""
    page, schema = page_of(body), body["response_format"]["json_schema"]["schema"]["properties"]
    if "answer_1" in schema:
        return json.dumps(right_answers(page))
    if found := re.search(r"lease choose: (.+)\.", page):
        return json.dumps({"choice": found[1]})
    return json.dumps({"choice": choose(page)})


def right_answers(page: str) -> dict[str, str]:
    """What somebody answers who has read the instructions."""
    parts = packaged()["en"]["domains"].values()
    (part,) = [part for part in parts if part["instructions"][0] in page]
    return {
        f"answer_{n}": item["answers"][item["right"]]
        for n, item in enumerate(part["questions"], start=1)
    }


def _by_ratings(page: str, rng: np.random.Generator) -> str:
    rows = re.findall(r"\| (\d+)/\d+ \| (\d+)/\d+", page)
    sums = [sum(int(row[side]) for row in rows) for side in (0, 1)]
    better = int(sums[1] > sums[0]) if sums[0] != sums[1] else int(rng.integers(2))
    return f"Product {'AB'[better if rng.random() < 0.95 else 1 - better]}"


def noted(answer: Answer, seen: list[dict[str, Any]]) -> Answer:
    """``answer``, which also keeps the bodies of requests in ``seen``."""

    def noting(body: Mapping[str, Any], rng: np.random.Generator) -> str | None:
        seen.append(dict(body))
        return answer(body, rng)

    return noting
