"""Answers of a campaign that are kept cite what is shown, whatever its digest is when they are given again."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from benchmarks.models.replay import KeptAnswers, kept
from lakatos.language_models.client import ChatMessage, ModelRequest, TokenSampling

SCHEMA = {"properties": {"statements": {}}}
TEXT = "<data abc from experiment 1.1, part 1 of 2 {mark}>\n1: x; .50\n</data abc>"


def request(text: str) -> ModelRequest:
    message = ChatMessage(role="user", content=text)
    return ModelRequest(
        messages=(message,), sampling=TokenSampling(max_tokens=9), answer_schema=SCHEMA
    )


def body(text: str, schema: Any = SCHEMA) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": text}],
        "response_format": {"json_schema": {"schema": schema}},
    }


def test_a_kept_answer_cites_by_title_and_is_given_once_with_the_digest_of_now() -> None:
    said = json.dumps({"statements": [{"cites": ["#aaaaaaaa"]}]})
    mend = request(f"{TEXT.format(mark='#aaaaaaaaaaaa')} do not count yet")
    answers = kept([(request(TEXT.format(mark="#aaaaaaaaaaaa")), said), (mend, said)])
    named = [{"statements": [{"cites": ["#{experiment 1.1}"]}]}]
    assert answers == {"read": named, "read again": named}
    player, rng = KeptAnswers(answers), np.random.default_rng(0)
    again = player(body(TEXT.format(mark="#bbbbbbbbbbbb")), rng)
    assert json.loads(again or "") == {"statements": [{"cites": ["#bbbbbbbbbbbb"]}]}
    assert player(body("x"), rng) is None
    assert player(body("x", {"properties": {"source": {}}}), rng) is None
    assert player.missing == ["read", "write"]
    assert {kind for kind, items in player.left.items() if items} == {"read again"}
