"""The trial table of an experiment whose people answered one by one.

It is not stored: an artifact names the design and the artifact of each person's responses, so that erasing a person's
artifact erases the answers everywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from lakatos.experiments.conditions import schedule_orders
from lakatos.experiments.design import design_from_json
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.participants.answers import LANGUAGE_MODEL, PersonAnswers
from lakatos.experiments.participants.timed_answer import is_outcome, timed_task
from lakatos.experiments.participants.web.questions import PageQuestion
from lakatos.experiments.task import Design, Domain, Trials
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.digest import Digest, digest_of


def check_answers(answers: PersonAnswers, design: Design, domain: Domain) -> None:
    """Raise `TrialsError` with the place, from 1, of the first answer to something that the design does not ask."""
    n_trials, n_options = len(design.stimuli), domain.n_options(design.stimuli)
    free = design.stimuli.available(n_options)
    who = f"{answers.experiment}: person {answers.person[:12]!r}"
    if answers.experiment != design.name:
        raise TrialsError(f"{who} answered another experiment than {design.name!r}.")
    shown: Counter[int] = Counter()
    orders = schedule_orders(design) if domain.sequential else []
    for place, (trial, response) in enumerate(
        zip(answers.trial, answers.response, strict=True), start=1
    ):
        if trial >= n_trials:
            raise TrialsError(
                f"{who}, answer {place}: trial {trial} was not presented; the design has 0 to {n_trials - 1}."
            )
        if response >= n_options or not free[trial, response]:
            raise TrialsError(
                f"{who}, answer {place}: trial {trial} has no option {response} to choose."
            )
        shown[trial] += 1
        if shown[trial] > design.repetitions:
            raise TrialsError(
                f"{who}, answer {place}: trial {trial} was presented {design.repetitions} times, and this is response "
                f"{shown[trial]} to it."
            )
        orders = [rows for rows in orders if rows[place - 1] == trial]
        if domain.sequential and not orders:
            raise TrialsError(
                f"{who}, answer {place}: steps of a schedule come in order, and this is step {trial}."
            )
    _check_missed(answers, design, domain, shown, who)
    _check_presses(answers, design, domain, who)
    wanted = set(domain_feedback(domain, design)) if answers.trial else set(answers.feedback)
    if set(answers.feedback) != wanted:
        raise TrialsError(
            f"{who} has the feedback {', '.join(sorted(answers.feedback)) or 'none'}; "
            f"this task has {', '.join(sorted(wanted)) or 'none'}."
        )


def _check_missed(
    answers: PersonAnswers, design: Design, domain: Domain, answered: Counter[int], who: str
) -> None:
    """Refuse missed trials that cannot have been shown beside those ``answered``."""
    shown = Counter(answered)
    for trial in answers.missed:
        shown[trial] += 1
        known = trial < len(design.stimuli) and not domain.sequential
        if not known or shown[trial] > design.repetitions:
            raise TrialsError(
                f"{who} is listed with the missed trial {trial}, which was not presented."
            )


def _check_presses(answers: PersonAnswers, design: Design, domain: Domain, who: str) -> None:
    """Refuse keys with times that are other outcomes than the answers say, or keys where a task has none."""
    task = timed_task(domain)
    pressed = (*answers.key, *(item.key or 0 for item in answers.left_out))
    if pressed and (task is None or max(pressed) >= task.n_keys(design.stimuli)):
        raise TrialsError(f"{who} pressed keys that the task {domain.name!r} does not have.")
    if task is None or not answers.key:
        return
    if not answers.response_time_ms:
        raise TrialsError(f"{who} pressed keys without times; an answer is a key with its time.")
    for place in range(len(answers.trial)):
        if not is_outcome(task, design.stimuli, answers, place):
            raise TrialsError(
                f"{who}, answer {place + 1}: the key {answers.key[place]} after {answers.response_time_ms[place]:g} ms "
                f"is not the outcome {answers.response[place]}."
            )


def domain_feedback(domain: Domain, design: Design) -> list[str]:
    """Names of what follows a response to the design's trials."""
    arrays = design.stimuli.take([0]).arrays
    response = np.zeros((1, 1), dtype=np.int64)
    return sorted(domain.feedback(arrays, domain.shown(arrays, {}), response))


def trials_of_people(design: Design, people: Sequence[PersonAnswers], n_options: int) -> Trials:
    """The responses of people, numbered in the order given, as one table.

    Raises:
        TrialsError: A language model gave some of them, and people others.
    """
    by_model = {answers.source == LANGUAGE_MODEL for answers in people}
    if len(by_model) > 1:
        raise TrialsError(
            f"{design.name}: a language model gave some of these answers and people gave others; one table never mixes "
            "the two. Put them into tables, and runs, of their own."
        )

    def column(name: str, kind: type) -> Any:
        return np.array(
            [value for answers in people for value in getattr(answers, name)], dtype=kind
        )

    lengths = [len(answers.trial) for answers in people]
    names = sorted({name for answers in people for name in answers.feedback})
    return Trials(
        experiment=design.name,
        stimuli=design.stimuli,
        participant=np.repeat(np.arange(len(people)), lengths),
        trial=column("trial", np.int64),
        response=column("response", np.int64),
        count=np.ones(sum(lengths), dtype=np.int64),
        n_options=n_options,
        n_people=len(people),
        feedback={
            name: np.array(
                [value for answers in people for value in answers.feedback[name]], dtype=np.float64
            )
            for name in names
        },
        by_language_model=by_model == {True},
    )


def put_answers(artifacts: ArtifactStore, answers: PersonAnswers, salt: str) -> Digest:
    """Store a person's responses with a salt that keeps their digest apart from that of equal responses."""
    return artifacts.put_json({"answers": answers.to_json(), "salt": salt})


def name_of_answers(answers: PersonAnswers, salt: str) -> Digest:
    """Digest under which `put_answers` stores a person's responses."""
    return digest_of({"answers": answers.to_json(), "salt": salt})


def get_answers(artifacts: ArtifactStore, digest: Digest) -> PersonAnswers:
    """Read the responses of one person that `put_answers` stored."""
    return PersonAnswers.from_json(artifacts.get_json(digest)["answers"])


def put_table(
    artifacts: ArtifactStore, design: Digest, answers: Sequence[Digest], n_options: int
) -> Digest:
    """Store which answers make up a trial table: artifacts of the design and of each person's responses."""
    return artifacts.put_json({"design": design, "answers": list(answers), "n_options": n_options})


def get_trials(artifacts: ArtifactStore, digest: Digest) -> Trials:
    """The trial table of an artifact that holds it, or that names the responses it is made of.

    Raises:
        ArtifactMissingError: The responses of a participant in it were erased.
    """
    value = artifacts.get_json(digest)
    if "answers" not in value:
        return Trials.from_json(value)
    people = [get_answers(artifacts, name) for name in value["answers"]]
    return trials_of_people(
        design_from_json(artifacts.get_json(value["design"])), people, value["n_options"]
    )


def attributes_of(
    artifacts: ArtifactStore, digest: Digest, questions: Sequence[PageQuestion], language: str
) -> dict[str, tuple[str, ...]]:
    """What is known of the people of a trial table, by name and in their order: condition, replies, attributes.

    Args:
        artifacts: That hold the table.
        digest: Of the table.
        questions: That people were asked about themselves.
        language: In which answers to them are named.
    """
    value = artifacts.get_json(digest)
    if "answers" not in value:
        return Trials.from_json(value).attributes_in_words
    people = [get_answers(artifacts, name) for name in value["answers"]]
    replies = {
        question.name: tuple(
            question.said(person.replies.get(question.name), language) for person in people
        )
        for question in questions
    }
    divided = any(person.condition for person in people)
    return replies | (
        {"condition": tuple(person.condition for person in people)} if divided else {}
    )
