"""Challengers of a language model that judges: it rewrites its rubric from what it got wrong on dev, and is screened.

Screening is adaptive: items whose parameters are known from other judges' answers are read one after another, the most
telling first, until it is clear whether the new rubric does better than the old one. What is clearly worse never comes
before the gate, which asks about all of confirm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lakatos.flows.roles.ask import ask_stage
from lakatos.flows.roles.read_pairs import model_judge, read_settled
from lakatos.judges.anchor import AnchorItem
from lakatos.judges.answer import JudgeAnswers, ask
from lakatos.judges.item_response import AdaptiveScreen, ChallengerScreening, ability_of, calibrate
from lakatos.judges.judge import Judge
from lakatos.judges.record import ChallengerScreened
from lakatos.judges.rubric import Rubric, RubricJudge
from lakatos.judges.rubrics.language_model import (
    FOLDER,
    NAME,
    REWRITING,
    NewRubric,
    exhibits,
    rewritten,
    weighed,
)
from lakatos.theories.roles.exhibit import Exhibit
from lakatos.theories.roles.prompt import read_prompt
from lakatos.theories.roles.question import RoleQuestion
from lakatos.traces.digest import Digest, digest_of
from lakatos.traces.step import Recorded

if TYPE_CHECKING:
    from lakatos.flows.run.run import Run

MOST_READ = 40
"""Settled comparisons of dev that the incumbent reads to find its mistakes."""
SHOWN = 6
"""Mistakes that a model sees, and right answers beside them."""
MOST_SCREENED = 0.4
"""Share of dev that a screening may ask about."""


async def rewrite(
    run: Run, cycle: int, epoch: int, incumbent: Rubric, dev: Sequence[AnchorItem], anchor: Digest
) -> tuple[Rubric, list[Digest]] | None:
    """A rubric rewritten from the incumbent's mistakes, and what it rests on; None where there is none to try.

    Args:
        run: The campaign.
        cycle: Of it.
        epoch: That ends.
        incumbent: The rubric in force.
        dev: Settled comparisons with labels, hard cases last.
        anchor: Record of the anchor set.
    """
    order = np.random.default_rng([run.config.seed, epoch]).permutation(len(dev))
    # Hard cases come last in dev, and are read first.
    hard = [item for item in dev if item.provenance.startswith("people's answers here")]
    own = list({item.digest: item for item in [*hard, *(dev[place] for place in order)]}.values())[
        :MOST_READ
    ]
    await read_settled(run, cycle, "read dev", [item.submission for item in own], incumbent, anchor)
    answers = ask(_reader(run, incumbent), [item.submission for item in own])
    read = [place for place in range(len(own)) if place not in answers.failures]
    right = {place: correct(answers, own)[place] for place in read}
    mistakes = [own[place] for place in read if not right[place]][:SHOWN]
    if not mistakes:
        return None
    rights = [own[place] for place in read if right[place]][: len(mistakes)]
    question: RoleQuestion[NewRubric] = RoleQuestion(
        role="judge",
        prompt=read_prompt(REWRITING, FOLDER),
        subject=f"judge epoch {epoch}",
        task="Write the rubric.",
        exhibits=(
            Exhibit("rubric in force", incumbent.to_json()["dimensions"]),
            *_cases(run, incumbent, mistakes, "judged wrongly"),
            *_cases(run, incumbent, rights, "judged rightly"),
        ),
        answer=NewRubric,
        inputs=(anchor,),
    )
    for said in await ask_stage(run, cycle, "rewrite rubric", [question]):
        found = None if said.value is None else rewritten(said.value)
        found = None if found is None else replace(found, edition=incumbent.edition)
        if found is not None and found.wording != incumbent.wording:
            return found, [said.answered.digest]
    return None


def _reader(run: Run, rubric: Rubric) -> RubricJudge:
    return model_judge(run.config, lambda: run.state, rubric, must=True)


def _cases(run: Run, rubric: Rubric, items: Sequence[AnchorItem], how: str) -> list[Exhibit]:
    found = []
    for number, item in enumerate(items, start=1):
        shown = dict(exhibits(item.submission))
        reading = run.state.judging.settled_read[
            digest_of(item.submission.to_json()), rubric.wording
        ].record
        value = {
            **shown,
            "your levels": reading.levels,
            "the data were for": "B" if item.label else "A",
        }
        found.append(Exhibit(f"comparison {number} that you {how}", value))
    return found


async def screened(
    run: Run,
    cycle: int,
    epoch: int,
    incumbent: Rubric,
    rubric: Rubric,
    dev: Sequence[AnchorItem],
    others: Sequence[Judge],
    anchor: Digest,
) -> tuple[RubricJudge, Recorded[ChallengerScreened]]:
    """The challenger with weights fitted to what it read, and what screening it found.

    Args:
        run: The campaign.
        cycle, epoch: Of it.
        incumbent, rubric: The rubric in force, and the new one.
        dev: Settled comparisons with labels.
        others: Judges whose answers say how hard and how telling each comparison is.
        anchor: Record of the anchor set.
    """
    submissions = [item.submission for item in dev]
    known = np.array([correct(ask(judge, submissions), dev) for judge in others], dtype=np.float64)
    items = calibrate(known)
    before = correct_where_read(ask(_reader(run, incumbent), submissions), dev)
    rng = np.random.default_rng([run.config.seed, epoch, 1])
    asking = AdaptiveScreen(
        items, ability_of(items, before), rng, most=max(1, int(MOST_SCREENED * len(dev)))
    )
    reader = _reader(run, rubric)
    levels, labels = [], []
    while (place := asking.next()) is not None:
        own = dev[place]
        await read_settled(
            run, cycle, "screen", [own.submission], rubric, anchor, number=len(asking.asked)
        )
        answers = ask(reader, [own.submission])
        asking.hear(bool(correct(answers, [own])[0]))  # what cannot be read is not right
        if not answers.failures:
            reading = run.state.judging.settled_read[
                digest_of(own.submission.to_json()), rubric.wording
            ].record
            levels.append(reading.levels)
            labels.append(own.label)
    found = asking.result()
    judge = model_judge(
        run.config, lambda: run.state, weighed(rubric, levels, labels) if labels else rubric
    )
    return judge, _write_down(run, epoch, judge, found, asking.incumbent.mean, len(dev), anchor)


def correct(answers: JudgeAnswers, items: Sequence[AnchorItem]) -> NDArray[np.bool_]:
    """``(n_items,)`` whether each answer is right; a contradiction or a failure is not."""
    return np.asarray(answers.side == np.where([item.label for item in items], 1, -1), dtype=bool)


def correct_where_read(answers: JudgeAnswers, items: Sequence[AnchorItem]) -> NDArray[np.float64]:
    """The same as 1 and 0; NaN where there is no answer."""
    return np.where(
        np.isnan(answers.probability), np.nan, correct(answers, items).astype(np.float64)
    )


def _write_down(
    run: Run,
    epoch: int,
    judge: RubricJudge,
    found: ChallengerScreening,
    before: float,
    n_dev: int,
    anchor: Digest,
) -> Recorded[ChallengerScreened]:
    record = ChallengerScreened(
        slot=NAME,
        epoch=epoch,
        judge=judge.digest,
        n_asked=len(found.asked),
        n_dev=n_dev,
        n_correct=sum(found.correct),
        ability=found.ability.mean,
        standard_error=found.ability.standard_error,
        incumbent=before,
        probability=found.probability,
        verdict=found.verdict,
    )
    position: dict[str, int | str] = {"slot": NAME, "epoch": epoch}
    return run.record(record, name="screen challenger", inputs=[anchor], position=position)
