"""Stage: a judge that is a language model reads pairs of theories by a rubric: those of a campaign, and settled ones.

Settled comparisons of the anchor set are read without labels and as new ones are: claims and numbers, in both orders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakatos.flows.roles.ask import RoleReply, ask_stage
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig
from lakatos.judges.answer import swap
from lakatos.judges.judge import JudgeSubmission
from lakatos.judges.rubric import Rubric, RubricJudge
from lakatos.judges.rubrics.language_model import (
    FOLDER,
    PROMPT,
    RUBRIC,
    Found,
    PairRead,
    SettledRead,
    combined,
    exhibits,
    make_judge,
    reading_type,
    task,
)
from lakatos.theories.roles.exhibit import Exhibit
from lakatos.theories.roles.prompt import read_prompt
from lakatos.theories.roles.question import RoleQuestion
from lakatos.traces.digest import Digest, digest_of
from lakatos.traces.step import Recorded

if TYPE_CHECKING:
    from lakatos.flows.run.run import Run


def model_judge(
    config: CampaignConfig, now: Callable[[], RunState], rubric: Rubric, *, must: bool = False
) -> RubricJudge:
    """The language model of a study as a judge by a rubric; it says what is on record.

    Args:
        config: The study.
        now: Gives the state of the run.
        rubric: By which it reads.
        must: Whether a missing reading is a failure, or even odds.
    """
    wording = rubric.wording

    def find(submission: JudgeSubmission) -> Found | None:
        settled = now().judging.settled_read.get((digest_of(submission.to_json()), wording))
        if settled is not None:
            return settled.record
        read = now().judging.readings.get((submission.candidate, submission.incumbent))
        return (
            read.record
            if read is not None and (read.record.wording or RUBRIC.wording) == wording
            else None
        )

    version = {
        "model": config.models[config.roles.judge].version,
        "prompt": read_prompt(PROMPT, FOLDER).version,
        "sampling": config.roles.sampling().model_dump(mode="json"),
        "repeats": config.roles.repeats,
    }
    return make_judge(digest_of(version), find, rubric, must=must)


async def read_pairs(
    run: Run,
    cycle: int,
    submissions: Mapping[Digest, JudgeSubmission],
    rubric: Rubric,
    stage: str = "judge",
) -> list[Recorded[PairRead]]:
    """Have every candidate compared with the incumbent, in both orders, as often as the study says.

    Args:
        run: The campaign.
        cycle: Of it.
        submissions: By candidate.
        rubric: By which they are read.
        stage: Name, for the position of its steps.
    """
    if not run.config.roles.judge:
        return []
    diagnosis = run.state.theories.diagnoses[-1]
    claims = [claim.text for claim in diagnosis.record.claims if claim.feature]
    further = [Exhibit("what the diagnosis of an earlier theory found", claims)] if claims else []

    def cited(submission: JudgeSubmission) -> tuple[Digest, ...]:
        pair = (submission.candidate, submission.incumbent)
        scores = [
            run.state.theories.scores[name, item].digest
            for name in pair
            for item in run.state.experiments.collected
        ]
        return (*scores, diagnosis.digest)

    heard = await _ask(run, cycle, stage, submissions, rubric, further, cited)
    found = []
    for candidate, submission in submissions.items():
        own = _readings(heard, candidate)
        if not own:
            continue
        levels, evidence, contradicted = combined(own, rubric)
        record = PairRead(
            candidate=candidate,
            incumbent=submission.incumbent,
            cycle=cycle,
            levels=levels,
            evidence=evidence,
            contradicted=contradicted,
            n_readings=len(own),
            wording=None if rubric.wording == RUBRIC.wording else rubric.wording,
        )
        position: dict[str, int | str] = {"cycle": cycle, "candidate": candidate}
        found.append(
            run.record(
                record, name="read pair", inputs=_answers(heard, candidate), position=position
            )
        )
    return found


async def read_settled(
    run: Run,
    cycle: int,
    stage: str,
    submissions: Sequence[JudgeSubmission],
    rubric: Rubric,
    anchor: Digest,
    number: int = 0,
) -> None:
    """Have settled comparisons read by a rubric, each once in a campaign; what cannot be had stays unread.

    Args:
        run: The campaign.
        cycle: Of it.
        stage, number: Position of its steps.
        submissions: What is read; labels are not shown.
        rubric: By which.
        anchor: Record of the anchor set.
    """
    wording = rubric.wording
    wanted = {digest_of(item.to_json()): item for item in submissions}
    wanted = {
        name: item
        for name, item in wanted.items()
        if (name, wording) not in run.state.judging.settled_read
    }
    heard = await _ask(run, cycle, stage, wanted, rubric, [], lambda _: (anchor,), number)
    for name in wanted:
        own = _readings(heard, name)
        if not own:
            continue
        levels, evidence, contradicted = combined(own, rubric)
        record = SettledRead(
            submission=name,
            wording=wording,
            levels=levels,
            evidence=evidence,
            contradicted=contradicted,
            n_readings=len(own),
        )
        position: dict[str, int | str] = {"submission": name, "wording": wording}
        run.record(record, name="read settled", inputs=_answers(heard, name), position=position)


async def _ask(
    run: Run,
    cycle: int,
    stage: str,
    submissions: Mapping[str, JudgeSubmission],
    rubric: Rubric,
    further: Sequence[Exhibit],
    cited: Callable[[JudgeSubmission], tuple[Digest, ...]],
    number: int = 0,
) -> list[RoleReply[Any]]:
    """All readings of all pairs, side by side; A and B have no authors, and the candidate is B unless they swap."""
    answer, words, prompt = reading_type(rubric), task(rubric), read_prompt(PROMPT, FOLDER)
    questions: list[RoleQuestion[Any]] = [
        RoleQuestion(
            role="judge",
            prompt=prompt,
            subject=f"{name} {'swapped' if swapped else 'as they are'}",
            task=words,
            exhibits=(
                *(Exhibit(*item) for item in exhibits(swap(own) if swapped else own)),
                *further,
            ),
            answer=answer,
            inputs=cited(own),
            sample=sample,
        )
        for name, own in submissions.items()
        for swapped in (False, True)
        for sample in range(run.config.roles.repeats)
    ]
    return await ask_stage(run, cycle, stage, questions, number)


def _readings(heard: Sequence[RoleReply[Any]], name: str) -> list[tuple[Any, bool]]:
    own = [
        item for item in heard if item.question.subject.startswith(name) and item.value is not None
    ]
    return [(item.value, item.question.subject.endswith("swapped")) for item in own]


def _answers(heard: Sequence[RoleReply[Any]], name: str) -> list[Digest]:
    return [
        item.answered.digest
        for item in heard
        if item.question.subject.startswith(name) and item.value is not None
    ]
