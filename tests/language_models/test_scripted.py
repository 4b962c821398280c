"""The scripted model: answers in order, cut to length, and an error when there are no more."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakatos.language_models.client import (
    ChatMessage,
    ModelCompletion,
    ModelRequest,
    TokenSampling,
    TokenUsage,
)
from lakatos.language_models.clients import CLIENTS
from lakatos.language_models.clients.scripted import ScriptedModel
from lakatos.language_models.errors import LanguageModelError, ScriptExhaustedError
from lakatos.language_models.settings import ModelSettings

QUESTION = (
    ChatMessage(role="system", content="be brief"),
    ChatMessage(role="user", content="what is it called"),
)


def ask(model, *, max_tokens=100, seed=0) -> ModelCompletion:
    request = ModelRequest(
        messages=QUESTION, seed=seed, sampling=TokenSampling(max_tokens=max_tokens)
    )
    return asyncio.run(model.complete(request))


@given(st.lists(st.text(), max_size=5))
def test_answers_come_in_order_whatever_the_seed(answers):
    model = ScriptedModel(answers)
    assert [
        ask(model, seed=len(answers) - place).content for place in range(len(answers))
    ] == answers


def test_counts_words_of_question_and_answer():
    found = ask(ScriptedModel(["one two three"]))
    assert found == ModelCompletion(
        content="one two three",
        finish_reason="stop",
        model_name="scripted",
        usage=TokenUsage(n_prompt_tokens=6, n_completion_tokens=3),
    )


def test_a_long_answer_is_cut_and_says_so():
    found = ask(ScriptedModel(["one two three"]), max_tokens=2)
    assert (found.content, found.finish_reason, found.usage.n_completion_tokens) == (
        "one two",
        "length",
        2,
    )


def test_an_answer_of_just_the_length_is_not_cut():
    assert ask(ScriptedModel(["one two"]), max_tokens=2).finish_reason == "stop"


def test_an_exhausted_script_says_how_many_answers_it_had():
    model = ScriptedModel(["only"])
    ask(model)
    for _ in range(2):
        with pytest.raises(
            ScriptExhaustedError, match="the script has 1 answers and was asked for one more"
        ):
            ask(model)
    assert issubclass(ScriptExhaustedError, LanguageModelError)


def test_is_found_in_the_table_under_its_own_name():
    settings = ModelSettings(name="clerk", client="scripted", answers=("a",))
    assert CLIENTS["scripted"](settings).name == "clerk"
    assert ask(CLIENTS["scripted"](settings)).content == "a"
