"""Stage: a judge that is a language model reads each new theory against the leader, before the panel's verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from flows.epoch import seated
from flows.roles import ask_stage
from judges.epoch import JudgeEpoch, freeze
from judges.judge import Judge
from judges.rubrics import RUBRICS
from judges.rubrics.language_model import FOLDER, PROMPT, PairRead, PairReading, combined, make_judge, task
from theories.roles.exhibit import Exhibit
from theories.roles.prompt import read_prompt
from theories.roles.question import Question
from theories.score import paired_difference
from traces.digest import Digest, digest_of
from traces.step import Recorded

if TYPE_CHECKING:
    from flows.run import Run


def panel(run: Run) -> JudgeEpoch:
    """The judges of a study: the rules, those made on its anchor set, and a language model where named."""
    judges: list[Judge] = [*(make() for make in RUBRICS.values()), *seated(run)]
    number = run.state.judging.number if run.state.judging else 0
    name = run.config.roles.judge
    if not name:
        return freeze(number, judges)

    def find(candidate: Digest, incumbent: Digest) -> PairRead | None:
        found = run.state.readings.get((candidate, incumbent))
        return None if found is None else found.record

    version = {
        "model": run.config.models[name].version,
        "prompt": read_prompt(PROMPT, FOLDER).version,
        "sampling": run.config.roles.sampling().model_dump(mode="json"),
        "repeats": run.config.roles.repeats,
    }
    return freeze(number, [*judges, make_judge(digest_of(version), find)])


async def read_pairs(run: Run, cycle: int, candidates: Sequence[Digest], incumbent: Digest) -> list[Recorded[PairRead]]:
    """Have every candidate compared with the incumbent, in both orders, as often as the study says."""
    if not run.config.roles.judge:
        return []
    there = [name for name in candidates if name in run.state.theories]
    questions = [
        _question(run, candidate, incumbent, swapped, sample)
        for candidate in there
        for swapped in (False, True)
        for sample in range(run.config.roles.repeats)
    ]
    heard = await ask_stage(run, cycle, "judge", questions)
    found = []
    for candidate in there:
        own = [item for item in heard if item.question.subject.startswith(candidate) and item.value is not None]
        if not own:
            continue
        readings = [(item.value, item.question.subject.endswith("swapped")) for item in own]
        levels, evidence, contradicted = combined([(value, order) for value, order in readings if value is not None])
        record = PairRead(
            candidate=candidate,
            incumbent=incumbent,
            cycle=cycle,
            levels=levels,
            evidence=evidence,
            contradicted=contradicted,
            n_readings=len(own),
        )
        found.append(
            run.record(
                record,
                name="read pair",
                inputs=[item.answered.digest for item in own],
                position={"cycle": cycle, "candidate": candidate},
            )
        )
    return found


def _question(run: Run, candidate: Digest, incumbent: Digest, swapped: bool, sample: int) -> Question[Any]:
    """A and B, without their authors; the candidate is B unless they change places."""
    experiments = list(run.state.collected)
    pair = (candidate, incumbent) if swapped else (incumbent, candidate)
    scores = [[run.state.scores[name, item] for item in experiments] for name in pair]
    lead = paired_difference(*([item.record.declared.scores for item in own] for own in reversed(scores)))
    diagnosis = run.state.diagnoses[-1]
    exhibits = [Exhibit(letter, _explanation(run, name)) for letter, name in zip("AB", pair, strict=True)]
    evidence = {
        "lead_of_B_in_nats_per_choice": float(f"{lead.value:.3g}"),
        "standard_error": float(f"{lead.standard_error:.3g}"),
        "n_answers": sum(item.record.n_responses for item in run.state.collected.values()),
        "squared_errors_of_A": [float(f"{item.record.error:.3g}") for item in scores[0]],
        "squared_errors_of_B": [float(f"{item.record.error:.3g}") for item in scores[1]],
    }
    found = [claim.text for claim in diagnosis.record.claims if claim.feature]
    exhibits += [Exhibit("answers so far", evidence), Exhibit("what the diagnosis of an earlier theory found", found)]
    return Question(
        role="judge",
        prompt=read_prompt(PROMPT, FOLDER),
        subject=f"{candidate} {'swapped' if swapped else 'as they are'}",
        task=task(),
        exhibits=tuple(item for item in exhibits if item.value),
        answer=PairReading,
        inputs=(*(item.digest for own in scores for item in own), diagnosis.digest),
        sample=sample,
    )


def _explanation(run: Run, name: Digest) -> dict[str, Any]:
    known = run.state.theories[name].record
    return {"claim": known.claim, "parameters": known.n_parameters}
