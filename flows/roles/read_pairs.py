"""Stage: a judge that is a language model reads the pairs of theories of a campaign by a rubric, in both orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakatos.flows.roles.ask import RoleReply, ask_stage
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig
from lakatos.judges.answer import swap
from lakatos.judges.judge import JudgeSubmission
from lakatos.judges.record import PairRead
from lakatos.judges.rubric import RubricJudge
from lakatos.judges.rubrics.language_model import (
    FOLDER,
    PROMPT,
    PairReading,
    combined,
    exhibits,
    make_judge,
    task,
)
from lakatos.theories.discovery.roles.exhibit import Exhibit
from lakatos.theories.discovery.roles.prompt import read_prompt
from lakatos.theories.discovery.roles.question import RoleQuestion
from lakatos.traces.digest import Digest, digest_of
from lakatos.traces.step import Recorded

if TYPE_CHECKING:
    from lakatos.flows.run.run import Run


def model_judge(config: CampaignConfig, now: Callable[[], RunState]) -> RubricJudge:
    """The language model of a study as a judge; it says what is on record in the state that ``now`` gives."""

    def find(submission: JudgeSubmission) -> PairRead | None:
        read = now().judging.readings.get((submission.candidate, submission.incumbent))
        return None if read is None else read.record

    version = {
        "model": config.models[config.roles.judge].version,
        "prompt": read_prompt(PROMPT, FOLDER).version,
        "sampling": config.roles.sampling().model_dump(mode="json"),
        "repeats": config.roles.repeats,
    }
    return make_judge(digest_of(version), find)


async def read_pairs(
    run: Run,
    cycle: int,
    submissions: Mapping[Digest, JudgeSubmission],
) -> list[Recorded[PairRead]]:
    """Have every candidate compared with the incumbent, in both orders, as often as the study says.

    Args:
        run: The campaign.
        cycle: Of it.
        submissions: By candidate.
    """
    if not run.config.roles.judge:
        return []
    diagnosis = run.state.theories.diagnoses[-1]
    claims = [claim.text for claim in diagnosis.record.claims if claim.feature]
    further = [Exhibit("what the diagnosis of an earlier theory found", claims)] if claims else []

    def cited(submission: JudgeSubmission) -> tuple[Digest, ...]:
        pair = (submission.candidate, submission.incumbent)
        scores = run.state.theories.score_records(pair, run.state.experiments.collected)
        return (*scores, diagnosis.digest)

    heard = await _ask(run, cycle, submissions, further, cited)
    found = []
    for candidate, submission in submissions.items():
        own = _readings(heard, candidate)
        if not own:
            continue
        levels, evidence, contradicted = combined(own)
        record = PairRead(
            candidate=candidate,
            incumbent=submission.incumbent,
            cycle=cycle,
            levels=levels,
            evidence=evidence,
            contradicted=contradicted,
            n_readings=len(own),
        )
        position: dict[str, int | str] = {"cycle": cycle, "candidate": candidate}
        found.append(
            run.record(
                record, name="read pair", inputs=_answers(heard, candidate), position=position
            )
        )
    return found


async def _ask(
    run: Run,
    cycle: int,
    submissions: Mapping[str, JudgeSubmission],
    further: Sequence[Exhibit],
    cited: Callable[[JudgeSubmission], tuple[Digest, ...]],
) -> list[RoleReply[Any]]:
    """All readings of all pairs, side by side; A and B have no authors, and the candidate is B unless they swap."""
    words, prompt = task(), read_prompt(PROMPT, FOLDER)
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
            answer=PairReading,
            inputs=cited(own),
            sample=sample,
        )
        for name, own in submissions.items()
        for swapped in (False, True)
        for sample in range(run.config.roles.repeats)
    ]
    return await ask_stage(run, cycle, "judge", questions)


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
