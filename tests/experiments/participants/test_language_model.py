"""Sessions of a language model, over HTTP, in every kind of task."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.experiments.errors import SourceError, TrialsError
from lakatos.experiments.participants.answers import PersonAnswers
from lakatos.experiments.participants.language_model import (
    AskingSettings,
    LanguageModelParticipants,
    ModelSession,
    SessionsDue,
    hold_session,
    words_in_order,
)
from lakatos.experiments.participants.table import check_answers, trials_of_people
from lakatos.experiments.participants.web.settings import PageSettings
from lakatos.experiments.participants.web.study import PageExperiment, plan_of
from lakatos.experiments.participants.web.texts import option_labels, texts_for, translated
from lakatos.experiments.quality import IncompleteAnswers, MissingAnswers, exclude, for_design
from lakatos.experiments.task import Design, check_unmixed
from lakatos.experiments.testing import KEY, OTHER_KEY, ParticipantSourceContract, preregister
from lakatos.language_models.call import ModelCaller
from lakatos.language_models.client import TokenSampling
from lakatos.language_models.clients.openai import OpenAIModel
from lakatos.language_models.ledger import Budget, BudgetLedger
from lakatos.language_models.record import RECORDS
from lakatos.language_models.settings import ModelSettings
from lakatos.traces.step import Trace
from tests.rehearsal.app import Answer, RehearsalSettings
from tests.rehearsal.serve import running

sys.path.insert(0, str(Path(__file__).parents[2] / "flows"))
from participating import answered, noted, page_of, right_answers

SETTINGS = RehearsalSettings(context_tokens=32768)
SPACES = {"multiattribute": {"validities": [0.9, 0.7], "levels": [0, 1, 2]}}


def first_option(body: Mapping[str, Any], rng: np.random.Generator) -> str | None:
    """Always the first of the options that a page lists."""
    return answered(body, lambda page: re.findall(r"^- (.+)$", page, re.MULTILINE)[0])


def experiment_of(domain: str, n_trials: int = 3, **page: Any) -> PageExperiment:
    task = DOMAINS[domain]
    stimuli = task.candidates(SPACES.get(domain, {}), np.random.default_rng(2), 12)
    design = Design("one", stimuli.take(range(min(n_trials, len(stimuli)))), 1, 2)
    return PageExperiment(
        KEY, domain, design, 3, PageSettings(**({"checks": 1} | page)), texts_for(domain)
    )


def take_part(
    folder: Path, answer: Answer, experiment: PageExperiment, place: int = 0, **manner: Any
) -> ModelSession:
    """One session with a server that answers."""
    with (
        running(SETTINGS, answer) as served,
        Trace.create(folder / "trace", seed=1, types=RECORDS) as trace,
    ):
        settings = ModelSettings(name="one", base_url=served.base_url, model=served.model)
        caller = ModelCaller(OpenAIModel(settings), trace, BudgetLedger(Budget()))

        async def ask(request: Any, where: Any) -> Any:
            return await caller.ask(request, role="participant", position=where)

        return asyncio.run(hold_session(experiment, place, "", ask, AskingSettings(**manner)))


@pytest.mark.slow
@pytest.mark.parametrize("domain", [name for name in DOMAINS if name != "attention"])
def test_a_session_can_be_held_in_every_kind_of_task(tmp_path: Path, domain: str) -> None:
    experiment = experiment_of(domain)
    session = take_part(tmp_path, first_option, experiment)
    assert session.answers.status == "completed"
    assert session.missing == ()
    assert session.answers.checks in ((True,), ())
    assert len(session.answers.trial) == experiment.design.n_presentations
    assert session.answers.trial == tuple(
        step.row for step in plan_of(experiment, 0) if step.kind == "trial"
    )
    check_answers(session.answers, experiment.design, experiment.task)


def test_what_follows_an_answer_is_read_on_the_next_page(tmp_path: Path) -> None:
    experiment, told = experiment_of("learning", n_trials=6, checks=0), []
    session = take_part(tmp_path, noted(first_option, told), experiment)
    pages = [page_of(body) for body in told][1:]
    rewards = session.answers.feedback["reward"]
    assert len(pages) == len(rewards) == 6
    assert "You won" not in pages[0]
    for page, reward in zip(pages[1:], rewards, strict=False):
        words = (
            f"You won {reward:.10g}."
            if reward > 0
            else f"You lost {-reward:.10g}."
            if reward < 0
            else "You won nothing."
        )
        assert words in page


def without_answer_to(numbers: set[int]) -> Answer:
    """Refuses certain pages by saying what cannot be read, twice."""

    def answer(body: Mapping[str, Any], rng: np.random.Generator) -> str | None:
        found = re.match(r"Decision (\d+)", page_of(body))
        return (
            "I would rather not." if found and int(found[1]) in numbers else first_option(body, rng)
        )

    return answer


def test_a_missing_answer_is_left_out_where_nothing_hangs_on_it(tmp_path: Path) -> None:
    experiment = experiment_of("risky", n_trials=4, checks=0)
    session = take_part(tmp_path, without_answer_to({2}), experiment)
    order = [step.row for step in plan_of(experiment, 0)]
    assert session.answers.status == "completed"
    assert session.answers.trial == (order[0], order[2], order[3])
    assert [(item.trial, item.reason) for item in session.missing] == [(order[1], "not_json")]
    assert len(session.calls) == 1 + 4 + 1  # it was asked twice
    rules = for_design([IncompleteAnswers(), MissingAnswers(0.2)], 4)
    assert [(item.rule.key, item.value) for item in exclude([session.answers], rules)] == [
        ("missing_answers", 0.25)
    ]
    assert (
        exclude([session.answers], for_design([IncompleteAnswers(), MissingAnswers(0.25)], 4)) == []
    )


def test_a_missing_answer_ends_a_session_in_which_later_steps_hang_on_it(tmp_path: Path) -> None:
    session = take_part(
        tmp_path, without_answer_to({3}), experiment_of("learning", n_trials=6, checks=0)
    )
    assert session.answers.status == "partial"
    assert session.answers.trial == (0, 1)
    assert [item.trial for item in session.missing] == [2]


def test_who_does_not_understand_the_instructions_is_screened_out(tmp_path: Path) -> None:
    told: list[dict[str, Any]] = []

    def wrong(body: Mapping[str, Any], rng: np.random.Generator) -> str:
        right = right_answers(page_of(body))
        kinds = body["response_format"]["json_schema"]["schema"]["properties"]
        return json.dumps(
            {
                name: next(text for text in kinds[name]["enum"] if text != right[name])
                for name in right
            }
        )

    session = take_part(tmp_path, noted(wrong, told), experiment_of("risky", most_attempts=2))
    assert (session.answers.status, session.answers.comprehension_attempts) == ("screened_out", 2)
    assert session.answers.trial == ()
    assert "attempts left: 1" in page_of(told[1])


@pytest.mark.slow
def test_what_no_longer_fits_is_forgotten_and_the_instructions_never(tmp_path: Path) -> None:
    told: list[dict[str, Any]] = []
    experiment = experiment_of("risky", n_trials=10, checks=0)
    sampling = TokenSampling(temperature=1.0, max_tokens=64)
    take_part(tmp_path, noted(first_option, told), experiment, memory=2, sampling=sampling)
    sizes = [len(body["messages"]) for body in told]
    assert sizes == [2, 4, 6, 8, *[8] * 7]
    assert all(body["messages"][1] == told[0]["messages"][1] for body in told)
    told.clear()
    take_part(
        tmp_path / "short",
        noted(first_option, told),
        experiment,
        context_tokens=1300,
        sampling=sampling,
    )
    sizes = [len(body["messages"]) for body in told]
    assert len(sizes) == 11
    assert max(sizes) < 2 + 2 * 10
    assert all(body["messages"][1] == told[0]["messages"][1] for body in told)


def test_words_of_a_drawing_stand_under_the_option_they_belong_to() -> None:
    risky, texts = DOMAINS["risky"], texts_for("risky")["en"]
    stimuli = risky.candidates({}, np.random.default_rng(1), 5)
    said = words_in_order(
        translated(risky.picture(stimuli, 0), texts), option_labels(texts, "risky", 2)
    )
    lines = said.split("\n")
    assert [line for line in lines if line.endswith(":")] == ["Option A:", "Option B:"]
    first, second = (
        part.split("\n") for part in said.removeprefix("Option A:\n").split("\nOption B:\n")
    )
    for side, part in enumerate((first, second)):
        wanted = sorted(
            (round(float(x), 6), round(100 * float(p), 2))
            for x, p in zip(
                stimuli["outcomes"][0, side], stimuli["probabilities"][0, side], strict=True
            )
            if p > 0
        )
        found = sorted(
            tuple(float(cell.rstrip("%")) for cell in line.split(" | "))
            for line in part
            if "|" in line
        )
        assert [item[0] for item in found] == [item[0] for item in wanted]
        assert [item[1] for item in found] == pytest.approx([item[1] for item in wanted], abs=0.01)


def answers(source: str) -> PersonAnswers:
    return PersonAnswers(
        "one", source, "completed", (0, 1), (0, 1), (), {}, (), 1, "", "en", source
    )


def test_a_table_or_a_score_never_mixes_a_model_with_people() -> None:
    stimuli = DOMAINS["risky"].candidates({}, np.random.default_rng(2), 2)
    design = Design("one", stimuli, 1, 2)
    with pytest.raises(TrialsError, match="one table never mixes"):
        trials_of_people(design, [answers("language_model"), answers("web")], 2)
    by_model, by_people = (
        trials_of_people(design, [answers(source)], 2) for source in ("language_model", "web")
    )
    assert by_model.by_language_model
    assert not by_people.by_language_model
    assert type(by_model).from_json(by_model.to_json()).by_language_model
    assert by_model.digest != by_people.digest
    check_unmixed([by_model, by_model])
    with pytest.raises(TrialsError, match="one score never mixes"):
        check_unmixed([by_model, replace(by_people, experiment="two")])


class TestLanguageModelParticipants(ParticipantSourceContract):
    """A server that always takes the first option answers, and the contract reads the batches."""

    @pytest.fixture
    def trace(self, tmp_path):
        with Trace.create(tmp_path / "trace", seed=1, types=RECORDS) as trace:
            yield trace

    @pytest.fixture
    def source(self, trace):
        source = LanguageModelParticipants(
            domain=DOMAINS["risky"], settings={}, seed=3, page=PageSettings(checks=0)
        )
        source.trace = trace
        return source

    def let_people_answer(self, source, recruitment):
        with running(SETTINGS, first_option) as served:
            settings = ModelSettings(name="one", base_url=served.base_url, model=served.model)
            caller = ModelCaller(OpenAIModel(settings), source.trace, BudgetLedger(Budget()))

            async def hold(place):
                async def ask(request, where):
                    return await caller.ask(
                        request, role="participant", position={"person": place, **where}
                    )

                await source.hold(recruitment, place, ask, AskingSettings())

            async def everybody():
                await asyncio.gather(*map(hold, range(recruitment.n_participants)))

            asyncio.run(everybody())

    def test_sessions_are_due_until_they_have_been_held(self, source, design):
        recruitment = source.recruit(preregister(design), design, KEY)
        due = source.collect(recruitment, 2)
        assert due == SessionsDue(source, recruitment, range(2))
        self.let_people_answer(source, recruitment)
        assert len(source.collect(recruitment, 2).payloads) == recruitment.n_participants
        more = recruitment.n_participants + 2
        assert source.collect(recruitment, more).places == range(more - 2, more)

    def test_a_key_belongs_to_one_experiment(self, source, design):
        source.recruit(preregister(design), design, KEY)
        other = replace(design, name="another")
        with pytest.raises(SourceError, match="belongs to"):
            source.recruit(preregister(other), other, KEY)
        source.recruit(preregister(other), other, OTHER_KEY)


def test_a_language_without_texts_is_refused() -> None:
    with pytest.raises(SourceError, match="no texts in 'fr'"):
        LanguageModelParticipants(
            domain=DOMAINS["risky"], settings={}, page=PageSettings(language="fr")
        )
