"""A challenge of a judge's seat: the level is drawn, the challenge registered without labels, then decided on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.stages.judging.anchor import anchor_of, ledger_of
from lakatos.judges.anchor import AnchorItem, AnchorSet, LabelAccess, components
from lakatos.judges.answer import JudgeAnswers, ask
from lakatos.judges.gate import GateQuestion, JudgePair, decide, refusal_of, register
from lakatos.judges.gate_record import GateDecided, GateRegistered, GateSettings
from lakatos.judges.judge import Judge
from lakatos.judges.ledger import LevelDrawn, draw_level
from lakatos.judges.record import AnchorTaken
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext

if TYPE_CHECKING:
    from lakatos.flows.run.run import Run


async def challenge(
    run: Run, slot: str, judges: tuple[Judge, Judge], taken: Recorded[AnchorTaken]
) -> Recorded[GateDecided]:
    """Put a challenger to the gate: both judges' answers without labels first, then the labels, once.

    Args:
        run: The campaign, with the epoch frozen.
        slot: The seat.
        judges: Who sits there, and the challenger.
        taken: The anchor set.
    """
    assert run.state.seats.epoch is not None
    epoch, anchor = run.state.seats.epoch.number, anchor_of(run.trace.artifacts, taken.record)
    position: dict[str, int | str] = {"slot": slot, "epoch": epoch}
    made = [run.state.seats.bred[judge.digest].record.made for judge in judges]
    pair = JudgePair(*(ask(judge, anchor.submissions("confirm")) for judge in judges))
    question = question_of(run.config.judges.gate, pair, anchor)

    def put(number: int, level: float) -> GateRegistered:
        return register(question, slot=slot, epoch=epoch, number=number, level=level)

    def draw(context: StepContext) -> LevelDrawn:
        return _draw(
            run.state,
            run.config,
            question,
            lambda number, level: not refusal_of(put(number, level)),
        )

    inputs = [taken.record.anchor, *made]
    drawn = await run.step("draw level", draw, returns=LevelDrawn, inputs=inputs, position=position)

    def write(context: StepContext) -> GateRegistered:
        put_answers(context.artifacts, pair)
        return put(drawn.record.number, drawn.record.level)

    registered = await run.step(
        "register challenge",
        write,
        returns=GateRegistered,
        inputs=[*inputs, drawn.digest],
        position=position,
    )
    items: Sequence[AnchorItem] = ()
    if not refusal_of(registered.record):
        items, access = LabelAccess(run.state.seats.exposed).read(
            anchor, "confirm", "gate", [judge.digest for judge in judges]
        )
        run.record(
            access.exposed[-1], name="expose confirm", inputs=[registered.digest], position=position
        )

    def settle(context: StepContext) -> GateDecided:
        return decide(registered.record, question, items)

    inputs = [registered.digest, registered.record.answers, *inputs]
    return await run.step(
        "decide challenge", settle, returns=GateDecided, inputs=inputs, position=position
    )


def _draw(
    state: RunState,
    config: CampaignConfig,
    question: GateQuestion,
    is_worth_it: Callable[[int, float], bool],
) -> LevelDrawn:
    alpha, own = config.judges.alpha, [item.record for item in state.seats.drawn]
    ledger = ledger_of(config)
    if ledger is None:
        return draw_level(own, question.digest, alpha, is_worth_it)
    return ledger.draw(question.digest, alpha, is_worth_it, own)


def question_of(settings: GateSettings, pair: JudgePair, anchor: AnchorSet) -> GateQuestion:
    """The question to the labels of an anchor set's confirm part."""
    units = tuple(components(anchor.parts["confirm"]))
    return GateQuestion(settings, pair, units, anchor.digest_of("confirm"))


def put_answers(artifacts: ArtifactStore, pair: JudgePair) -> Digest:
    """Keep both judges' answers under the digest that the registration names."""
    return artifacts.put_json([pair.incumbent.to_json(), pair.challenger.to_json()])


def answers_of(artifacts: ArtifactStore, registration: GateRegistered) -> JudgePair:
    """Both judges' answers to the confirm items."""
    return JudgePair(*map(JudgeAnswers.from_json, artifacts.get_json(registration.answers)))
