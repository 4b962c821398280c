"""A language model that answers in place of people: it reads, as text, what a person would read on the page.

Each simulated person is a session of its own, a conversation: the instructions, the questions on them, then trial after
trial with whatever followed the answer before. A model reads the words of a drawing, not the drawing. Its answers are
answers of a model and nothing else: they carry that name wherever they go, and no score holds them together with
people's. It agrees to nothing, so the page of consent is left out; response times mean nothing, so there are none.

What a model does not answer, or not so that it can be read in two tries, is a missing answer: it is written down with
the reason and left out. Where something follows an answer, nobody can go on without one, and the session ends there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any, ClassVar, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, create_model

from lakatos.experiments.errors import SourceError
from lakatos.experiments.participants.answers import LANGUAGE_MODEL, PersonAnswers, Status
from lakatos.experiments.participants.model_words import PAGE_KEYS, TIME_RULES
from lakatos.experiments.participants.source import (
    Batch,
    CallerDue,
    NewParticipants,
    Recruitment,
    SourceProfile,
    StudySettings,
    check_key,
    check_new_people,
    recruited_in,
    rng_of,
)
from lakatos.experiments.participants.timed_answer import timed_task
from lakatos.experiments.participants.web.settings import PageSettings
from lakatos.experiments.participants.web.study import (
    PageExperiment,
    PageStep,
    available,
    follows,
    plan_of,
    seen,
)
from lakatos.experiments.participants.web.texts import (
    Texts,
    filled,
    texts_for_domain,
    translated,
)
from lakatos.experiments.participants.web.view import (
    labels_at,
    notices_before,
    passes,
    public_texts,
)
from lakatos.experiments.preregistration import Preregistration
from lakatos.experiments.task import Design, Domain
from lakatos.language_models.call import RecordedCall
from lakatos.language_models.client import ChatMessage, FrozenPart, ModelRequest, TokenSampling
from lakatos.language_models.context import TOKENS_PER_MESSAGE, count_tokens
from lakatos.language_models.outcome import Outcome
from lakatos.language_models.structured import Reason, TypedAnswer, ask_for
from lakatos.traces.digest import Digest, digest_of

ROLE: Final = "participant"
"""Role of the model in records of its calls."""
CONTEXT_TOKENS: Final = 32_768
"""Context length if neither study nor server states it."""
FRAME: Final = (
    "You take part in a study as a participant. You are given, as text, what a participant reads on the study's page, "
    "one page after another. Answer each page for yourself, with one JSON object and nothing else."
)
"""All that a model is told beside the page's own texts."""
PERSONA: Final = "You are this person: {persona}"
_RETRY_TOKENS: Final = 300
_SEEDS: Final = 2**31 - 1

Ask = Callable[[ModelRequest, Mapping[str, int | str]], Awaitable[RecordedCall]]
"""Makes a call: the request, and its place in the session."""


class AskingSettings(FrozenPart):
    """Settings by which a model responds to trials."""

    sampling: TokenSampling = TokenSampling(temperature=1.0, max_tokens=256)
    context_tokens: int = CONTEXT_TOKENS
    memory: int | None = None
    """Decisions that stay in the conversation; None for as many as fit."""


@dataclass(frozen=True)
class UnansweredTrial:
    """A trial that was shown and got no answer."""

    trial: int
    """Row of the design's stimuli."""
    reason: Reason | Outcome
    """Reason or outcome of the last try."""


@dataclass(frozen=True)
class ModelSession:
    """Behaviour of a model as one simulated person."""

    place: int
    """Number of the session in the experiment, from 0."""
    answers: PersonAnswers
    seed: int
    """The seeds of its calls follow from it."""
    persona: str
    """Persona of the simulated person; empty where the study gives none."""
    missing: tuple[UnansweredTrial, ...]
    n_unread: int
    """Answers to comprehension questions and attention checks that were missing, which count as wrong."""
    calls: tuple[Digest, ...]
    """Records of all calls, in order."""


class LanguageModelParticipants(NewParticipants):
    """A language model in place of people; see `experiments.participants.source.ParticipantSource`.

    Whoever holds the connection to the model has it take part, person by person, with `hold`; its responses can then be
    collected.
    """

    keys: ClassVar[frozenset[str]] = frozenset(
        {"model", "personas", "temperature", "max_tokens", "memory"}
    )
    sections: ClassVar[frozenset[str]] = frozenset({"space", "exclusions", "confirmation", "page"})
    needs: ClassVar[tuple[str, ...]] = ("model",)
    profile: ClassVar[SourceProfile] = SourceProfile(
        origin=LANGUAGE_MODEL, brought_by="the next pass asks the language model", one_by_one=True
    )

    @classmethod
    def reads(cls, section: str, key: str) -> bool:
        """Whether a key means something where nobody looks at a page: it takes no time, and has no buttons."""
        if section == "page":
            return key in PAGE_KEYS
        return section != "exclusions" or key not in TIME_RULES

    def __init__(
        self,
        *,
        domain: Domain,
        settings: Mapping[str, Any],
        seed: int = 0,
        page: PageSettings | None = None,
        texts: Mapping[str, Texts] | None = None,
        personas: Sequence[str] = (),
    ) -> None:
        """Make a source in which a language model answers in place of people.

        Args:
            domain: Makes the stimuli that can be asked.
            settings: Describe the design space to the domain.
            seed: Seed of the campaign; with the recruitment and a person's place it decides the order of trials and the
                seeds of the calls.
            page: How many attention checks there are, attempts at the comprehension check, and the language.
            texts: The study's own sentences by language; see `experiments.participants.web.texts.texts_for`.
            personas: Persons that the model is to be, one after another in turn; nobody in particular without one.

        Raises:
            SourceError: The texts are not complete, or lack the language.
        """
        if timed_task(domain) is not None:
            raise SourceError(
                f"an answer of the domain {domain.name} is a key with its time, which a language model cannot give; "
                "use people on the page, simulated people, an archive, or a file."
            )
        self.domain, self.settings, self.seed = domain, settings, seed
        self.page, self.texts, self.personas = (
            page or PageSettings(),
            texts_for_domain(domain, texts),
            tuple(personas),
        )
        if self.page.language not in self.texts:
            raise SourceError(
                f"there are no texts in {self.page.language!r} for a model to read; there are {', '.join(self.texts)}. "
                "Give a file."
            )
        self._experiments: dict[Digest, PageExperiment] = {}
        self._sessions: dict[Digest, dict[int, ModelSession]] = {}
        self._closed: set[Digest] = set()

    @classmethod
    def of_study(cls, study: StudySettings) -> Self:
        """The model that a study asks in place of people."""
        page = {name: value for name, value in study.page.items() if name in PAGE_KEYS - {"texts"}}
        return cls(
            domain=study.domain,
            settings=study.space,
            seed=study.seed,
            page=PageSettings(**page),
            texts=study.page["texts"],
            personas=study.participants["personas"],
        )

    def recruit(self, preregistration: Preregistration, design: Design, key: Digest) -> Recruitment:
        """Take note of what is to be asked; nobody is asked before `hold`. See `ParticipantSource`."""
        check_new_people(
            preregistration, design, self.domain, "simulated people of a language model"
        )
        if key in self._experiments:
            check_key(key, self._experiments[key].name, design)
        self._experiments.setdefault(
            key, PageExperiment.of(key, self.domain, design, self.seed, self.page, self.texts)
        )
        self._sessions.setdefault(key, {})
        return Recruitment(key, design.name, design.n_participants)

    def shown(self, recruitment: Recruitment) -> dict[str, Any]:
        """Return what everybody in an experiment reads beside the trials, for the records."""
        texts = public_texts(recruited_in(self._experiments, recruitment), self.page.language)
        parts = {
            name: texts[name] for name in ("instructions", "comprehension", "questions", "task")
        }
        return {"frame": FRAME, "persona": PERSONA, "personas": list(self.personas), "page": parts}

    async def hold(
        self, recruitment: Recruitment, place: int, ask: Ask, manner: AskingSettings
    ) -> ModelSession:
        """Have the model take part as the person at ``place``; its responses can be collected from then on.

        Raises:
            LanguageModelError: A call could not be made; made again, calls that were recorded are not repeated.
            SourceError: The recruitment is not known here.
        """
        experiment = recruited_in(self._experiments, recruitment)
        persona = self.personas[place % len(self.personas)] if self.personas else ""
        session = await hold_session(experiment, place, persona, ask, manner)
        self._sessions[recruitment.key][place] = session
        return session

    def collect(self, recruitment: Recruitment, n_participants: int) -> Batch | SessionsDue:
        """The sessions held so far, in the order of their places; or those to hold first."""
        recruited_in(self._experiments, recruitment)
        if recruitment.key in self._closed:
            return Batch(())
        held = self._sessions[recruitment.key]
        if len(held) < n_participants:
            return SessionsDue(self, recruitment, range(len(held), n_participants))
        return Batch([held[place].answers.to_json() for place in sorted(held)])

    def want(self, recruitment: Recruitment, n_participants: int) -> None:
        """Do nothing: the laboratory that holds sessions knows how many are wanted."""
        recruited_in(self._experiments, recruitment)

    def close(self, recruitment: Recruitment) -> None:
        """Hand over no more answers of this recruitment."""
        self._closed.add(recruitment.key)

    def respond_anew(self, seed: int) -> None:
        """Take another seed for sessions that are held from now on."""
        self.seed = seed


async def hold_session(
    experiment: PageExperiment, place: int, persona: str, ask: Ask, manner: AskingSettings
) -> ModelSession:
    """A whole session: instructions, comprehension check, every trial and attention check.

    Args:
        experiment: What is asked.
        place: Place of the person; with the experiment it decides the order of trials and all seeds.
        persona: Person that the model is to be; empty for nobody in particular.
        ask: Makes the calls, the same answer for the same place whenever it is asked.
        manner: How the model is asked.

    Raises:
        LanguageModelError: A call could not be made.
    """
    talk = _PersonTalk(experiment, place, persona, ask, manner)
    status, attempts = await _comprehend(talk)
    trial: list[int] = []
    response: list[int] = []
    after: list[Mapping[str, float]] = []
    checks: list[bool] = []
    missing: list[UnansweredTrial] = []
    feedback: Mapping[str, float] = {}
    for number, step in enumerate(
        plan_of(experiment, place) if status == "completed" else (), start=1
    ):
        labels = _labels(experiment, talk.texts)
        free = [
            label
            for label, is_free in zip(labels, available(experiment, step), strict=True)
            if is_free
        ]
        reply = await talk.ask(
            page_of(experiment, step, number, feedback, talk.texts), _choice(free)
        )
        chosen = None if isinstance(reply, str) else labels.index(reply["choice"])
        if step.kind == "check":
            checks.append(chosen == step.row)
        elif chosen is not None:
            feedback = follows(experiment, step, feedback, chosen)
            trial.append(step.row)
            response.append(chosen)
            after.append(feedback)
        else:
            assert isinstance(reply, str)
            missing.append(UnansweredTrial(step.row, reply))
            if experiment.task.sequential:
                status = "partial"
                break
    answers = PersonAnswers(
        experiment=experiment.name,
        person=digest_of({"recruitment": experiment.key, "person": place}),
        status=status,
        trial=tuple(trial),
        response=tuple(response),
        response_time_ms=(),
        feedback={
            name: tuple(item[name] for item in after) for name in (after[0] if after else ())
        },
        checks=tuple(checks),
        comprehension_attempts=attempts,
        consent="",
        language=experiment.settings.language,
        source=LANGUAGE_MODEL,
    )
    n_unread = talk.n_missing - len(missing)
    return ModelSession(
        place, answers, talk.seed, persona, tuple(missing), n_unread, tuple(talk.calls)
    )


async def _comprehend(talk: _PersonTalk) -> tuple[Status, int]:
    """The questions on the instructions, until all are answered rightly or no attempt is left; attempts made."""
    experiment = talk.experiment
    public = public_texts(experiment, experiment.settings.language)
    words, questions = public["comprehension"], public["questions"]
    lines = [*public["instructions"]["paragraphs"], "", words["paragraph"]]
    for number, question in enumerate(questions, start=1):
        lines += [
            "",
            f"{number}. {question['text']}",
            *(f"- {answer}" for answer in question["answers"]),
        ]
    kinds = {
        f"answer_{number}": question["answers"]
        for number, question in enumerate(questions, start=1)
    }
    page, most = "\n".join(lines), experiment.settings.most_attempts
    for attempt in range(1, most + 1):
        reply = await talk.ask(page, _object("Comprehension", kinds), opening=True)
        if not isinstance(reply, str):
            given = [
                question["answers"].index(reply[name])
                for name, question in zip(kinds, questions, strict=True)
            ]
            if passes(experiment, experiment.settings.language, given):
                return "completed", attempt
        page = "\n".join([filled(words["wrong"], step=most - attempt), "", *lines])
    return "screened_out", most


class _PersonTalk:
    """A conversation with a model as one person: what it was told, what it said, and what of it still fits."""

    def __init__(
        self, experiment: PageExperiment, place: int, persona: str, ask: Ask, manner: AskingSettings
    ) -> None:
        self.experiment, self._ask, self._manner = experiment, ask, manner
        self.texts: Texts = experiment.texts[experiment.settings.language]
        self.seed = int(
            rng_of(experiment.seed, experiment.key, "session", str(place)).integers(1, _SEEDS)
        )
        self.calls: list[Digest] = []
        self.n_missing = 0
        instructions = "\n\n".join(
            [FRAME, *([filled(PERSONA, persona=persona)] if persona else [])]
        )
        self._opening = [ChatMessage(role="system", content=instructions)]
        self._past: list[tuple[ChatMessage, ChatMessage]] = []
        self._n_asked = 0

    async def ask(
        self, page: str, answer_type: type[BaseModel], *, opening: bool = False
    ) -> dict[str, str] | Reason | Outcome:
        """Return the model's answer to a page, or the reason why there is nothing that can be read.

        Args:
            page: What it reads.
            answer_type: What it can say.
            opening: Whether the exchange belongs to the beginning, which is never forgotten.
        """
        self._n_asked += 1
        question = ChatMessage(role="user", content=page)
        self._forget(question)
        past = [message for exchange in self._past for message in exchange]
        request = ModelRequest(
            messages=(*self._opening, *past, question), sampling=self._manner.sampling
        )

        async def call(request: ModelRequest, number: int) -> RecordedCall:
            seed = (self.seed + 2 * self._n_asked + number) % _SEEDS + 1
            place: dict[str, int | str] = {"question": self._n_asked, "try": number}
            called = await self._ask(request.model_copy(update={"seed": seed}), place)
            self.calls.append(called.digest)
            return called

        reply = await ask_for(answer_type, call, request)
        if not isinstance(reply, TypedAnswer):
            self.n_missing += 1
            return reply.reason
        value: dict[str, str] = reply.value.model_dump()
        answer = ChatMessage(role="assistant", content=json.dumps(value, ensure_ascii=False))
        if opening:
            self._opening += [question, answer]
        else:
            self._past.append((question, answer))
        return value

    def _forget(self, question: ChatMessage) -> None:
        """Leave out old decisions where they do not fit, or are more than are to be remembered."""
        manner = self._manner
        if manner.memory is not None:
            self._past = self._past[-manner.memory :] if manner.memory else []
        # A second try holds the first answer, and may be twice as long.
        room = manner.context_tokens - 3 * manner.sampling.max_tokens - _RETRY_TOKENS
        room -= _tokens([*self._opening, question])
        while self._past and sum(_tokens(exchange) for exchange in self._past) > room:
            self._past = self._past[
                (len(self._past) + 1) // 2 :
            ]  # half at once: a server's cache finds the rest again


def _tokens(messages: Sequence[ChatMessage]) -> int:
    return sum(count_tokens(message.content) + TOKENS_PER_MESSAGE for message in messages)


def page_of(
    experiment: PageExperiment,
    step: PageStep,
    number: int,
    feedback: Mapping[str, float],
    texts: Texts,
) -> str:
    """One step as text: what followed the answer before, the words of the drawing, the question, the options.

    Args:
        experiment: Experiment that the step belongs to.
        step: A trial or an attention check.
        number: Number of the step, from 1.
        feedback: What followed the latest answer to a trial; nothing before the first.
        texts: Texts in the language that is shown.
    """
    labels = _labels(experiment, texts)
    free = [
        label for label, is_free in zip(labels, available(experiment, step), strict=True) if is_free
    ]
    lines = [filled(texts["page"]["trial"], step=number), ""]
    if step.kind == "check":
        lines.append(filled(texts["task"]["check"], option=labels[step.row]))
    else:
        notices = notices_before(experiment, step, feedback, texts)
        lines += [*notices, ""] if notices else []
        picture = experiment.task.picture(seen(experiment, step, feedback), 0)
        lines += [words_in_order(translated(picture, texts), labels), ""]
        lines.append(texts["domains"][experiment.domain]["question"])
    return "\n".join([*lines, *(f"- {label}" for label in free)])


def _labels(experiment: PageExperiment, texts: Texts) -> list[str]:
    return labels_at(experiment, texts, experiment.design.stimuli, 0)


def _choice(labels: Sequence[str]) -> type[BaseModel]:
    return _object("Choice", {"choice": labels})


def _object(name: str, kinds: Mapping[str, Sequence[str]]) -> type[BaseModel]:
    """A type with a field for each name, which is one of the texts given for it."""
    fields: dict[str, Any] = {
        field: (Literal.__getitem__(tuple(texts)), ...) for field, texts in kinds.items()
    }
    made: type[BaseModel] = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
    return made


def words_in_order(picture: str, labels: Sequence[str]) -> str:
    """The words of a drawing as somebody reads them aloud: line by line, cells apart, each option under its label.

    Args:
        picture: HTML of `experiments.task.Domain.picture`.
        labels: Labels of the options. Where the drawing has as many columns as there are options, they are theirs.
    """
    reader = _DrawingReader()
    reader.feed(picture)
    reader.close()
    lines = [" ".join(line.split()).rstrip("| ") for line in "".join(reader.parts).split("\n")]
    if reader.n_columns != len(labels):
        return "\n".join(line for line in lines if line and not line.startswith(_COLUMN))
    made: list[str] = []
    columns = iter(labels)
    for line in filter(None, lines):
        if line.startswith(_COLUMN):
            made.append(f"{next(columns)}:")
        elif not (
            made and made[-1].endswith(f" {line}:")
        ):  # a column's own heading says the label again
            made.append(line)
    return "\n".join(made)


_COLUMN: Final = "\ue000"
"""Mark at the beginning of a column; of the characters for private use, so that no text holds it."""


class _DrawingReader(HTMLParser):
    """Texts of a drawing, with line ends where something begins below, and bars between what stands side by side."""

    blocks: ClassVar[frozenset[str]] = frozenset({"div", "p", "table", "caption", "tr", "li"})

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.n_columns = 0
        self._beside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        style = dict(attrs).get("style") or ""
        if tag == "div" and re.search(r"(^|;)\s*flex:\s*1\b", style):
            self.n_columns += 1
            self.parts.append(f"\n{_COLUMN}\n")
        elif tag in ("td", "th") or (tag == "span" and "inline-block" in style):
            self.parts.append(" | " if self._beside else "")
            self._beside = True
        if tag in self.blocks:
            self.parts.append("\n")
            self._beside = False

    def handle_endtag(self, tag: str) -> None:
        if tag in self.blocks:
            self.parts.append("\n")
            self._beside = False

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


@dataclass(frozen=True)
class SessionsDue(CallerDue):
    """Participants whose sessions the caller has to hold, over a connection of its own, before it collects again."""

    host: LanguageModelParticipants
    recruitment: Recruitment
    places: range
    """Places of the participants whose sessions are due, from 0."""
