"""What capable models wrote in three campaigns, through the bridge, must stay readable: answers and theories.

`minds.json` holds the answers word for word, in the order in which they were given, beside the name and the outcome of
each draft; `docs/results.md` has what came of them ("Language models").
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.theories.discovery.roles.answer import Successor
from lakatos.theories.discovery.roles.tryout import program_of
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.errors import ClaimContradictedError

CAMPAIGNS: dict[str, Any] = json.loads((Path(__file__).parent / "minds.json").read_text("utf-8"))
SPACE = {"validities": [0.9, 0.8, 0.7, 0.6], "levels": [0, 1, 2, 3]}


def answers_of(name: str) -> list[Successor]:
    return [Successor.model_validate(item) for item in CAMPAIGNS[name]["answers"]]


@pytest.fixture(scope="module", params=sorted(CAMPAIGNS))
def campaign(request: pytest.FixtureRequest) -> Iterator[tuple[str, Laboratory]]:
    with Laboratory(DOMAINS[CAMPAIGNS[request.param]["domain"]], 1) as laboratory:
        yield request.param, laboratory


@pytest.mark.slow
def test_every_draft_is_let_in_or_refused_as_it_was(campaign: tuple[str, Laboratory]) -> None:
    name, laboratory = campaign
    outcomes = []
    for answer in answers_of(name):
        if not answer.source.strip():
            continue
        try:
            laboratory.check(program_of(answer, "a mind", ()))
            outcomes.append("submitted")
        except ClaimContradictedError:
            outcomes.append("refused")
    assert outcomes == CAMPAIGNS[name]["drafts"]


def test_the_last_drafts_about_products_are_the_rules_that_people_followed() -> None:
    domain = DOMAINS["multiattribute"]
    stimuli = domain.candidates(SPACE, np.random.default_rng(0), 300)
    ratings = np.asarray(stimuli["ratings"])
    first = answers_of("a bought opinion")[0]
    with Laboratory(domain, 1) as laboratory:
        theory = laboratory.check(program_of(first, "a mind", ()))
        told = laboratory.proportions(theory, stimuli, 64)
    second = np.where(ratings[:, :, 1] == 3, -1, ratings[:, :, 1])
    worst = ratings.min(axis=-1)
    side = np.sign(second[:, 1] - second[:, 0])
    side = np.where(side == 0, np.sign(worst[:, 1] - worst[:, 0]), side)
    chosen = told if told.ndim == 1 else told[:, -1]
    assert (np.sign((chosen - 0.5).round(9)) == side).all()
