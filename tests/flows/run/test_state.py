"""The state of a run is a fold over its records: each has its place, and nothing else moves."""

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakatos.experiments.preregistration import Preregistration
from lakatos.experiments.record import (
    AnswersArrived,
    CollectionClosed,
    ConsentAsked,
    DesignChosen,
    ModelTakesPart,
    MoreAsked,
    PeopleRecruited,
    PersonExcluded,
    PersonWithdrawn,
    SealedOpened,
    SessionHeld,
    TrialsCollected,
)
from lakatos.flows.run.records import (
    GONE_KINDS,
    RECORD_TYPES,
    AnalysesNoted,
    CampaignStarted,
    CodeAccepted,
    CycleClosed,
    EarlierRecord,
    LeaderFollowed,
    MachineUsed,
)
from lakatos.flows.run.state import RunState, advance
from lakatos.flows.run.study import parse_study
from lakatos.judges.decision import CandidateDecided, CriticAnswered
from lakatos.judges.epoch import EpochOpened
from lakatos.judges.erasure import JudgeMeasured
from lakatos.judges.gate_record import GateDecided, GateRegistered
from lakatos.judges.judge import Verdict, VerdictResolved
from lakatos.judges.ledger import LevelDrawn
from lakatos.judges.record import (
    AnchorTaken,
    JudgeBred,
    LabelsExposed,
    PairDescribed,
)
from lakatos.judges.transition import (
    EpochCommitted,
    EpochFrozen,
    EpochRefilled,
    JudgeSeated,
    commit,
    freeze_epoch,
    refill,
)
from lakatos.language_models.record import LanguageModelCalled
from lakatos.language_models.tool_record import ToolCalled
from lakatos.memory.library import RECORDS as LESSON_RECORDS
from lakatos.memory.library import Pitfall
from lakatos.memory.record import (
    LessonsRecalled,
    LessonsWritten,
    LibraryLookedAt,
    LibraryTaken,
    ToolTried,
    WinnersTaken,
)
from lakatos.theories.discovery.roles.record import (
    AnalysisMade,
    BudgetRaised,
    CaseRead,
    ClaimAudited,
    DraftsScreened,
    MatterInvestigated,
    ModelChanged,
    ModelChoice,
    ModelsChosen,
    RoleAnswered,
    SuccessorsProposed,
    SuccessorTried,
)
from lakatos.theories.engine.record import (
    ENGINE,
    CompletenessMeasured,
    Diagnosis,
    DrawsLimited,
    EffectsLearned,
    GroupsCompared,
    PopulationRelearned,
    SealedScored,
    SearchFinished,
    TheoriesTold,
    TheoryAdmitted,
    TheoryChecked,
    TheoryCompared,
    TheoryFailed,
    TheoryFitted,
    TheoryScored,
    UnitLogPredictives,
)
from lakatos.theories.findings.verdicts.record import (
    CampaignConcluded,
    ConfirmationFinished,
    ExactnessWeighed,
    ExclusionSensitivity,
    FoldFinished,
    TheoriesMapped,
    TruthCompared,
)
from lakatos.traces.digest import digest_of
from lakatos.traces.record import body_of, parse_record
from lakatos.traces.step import Recorded

A, B = digest_of("a"), digest_of("b")
ANY = digest_of("anything")
STUDY = {
    "name": "demo",
    "question": "Which rule?",
    "domain": "multiattribute",
    "theories": {"seeds": ["tallying", "random"]},
    "participants": {"source": "simulated", "theory": "tallying"},
}


def checked(theory=A, name="Adding", passed=True) -> TheoryChecked:
    return TheoryChecked(
        theory=theory, passed=passed, name=name, claim="", author="x", parents=(), change="", cycle=0,
        n_parameters=1, checks=(), reason="" if passed else "TheoryRaisedError: no",
    )  # fmt: skip


def admitted(theory=A, cycle=0) -> TheoryAdmitted:
    return TheoryAdmitted(theory=theory, cycle=cycle, reason="published")


def collected(experiment="e", ceiling=None) -> TrialsCollected:
    return TrialsCollected(
        experiment=experiment, preregistration=ANY, trials=ANY, n_participants=2, n_responses=2, n_people=2,
        pooled=False, ceiling=ceiling, ceiling_error=None,
    )  # fmt: skip


def scored(theory=A, experiment="e", score=-0.5) -> TheoryScored:
    units = UnitLogPredictives(log_predictive=(score, score - 0.1), n_choices=(1.0, 1.0))
    return TheoryScored(
        theory=theory, experiment=experiment, trials=ANY, engine=ENGINE, n_draws=4, left_out=units, frozen=None,
        proportions=(0.5,), error=0.1, correlation=None,
    )  # fmt: skip


def verdict(cycle=1) -> Verdict:
    return Verdict(
        epoch=ANY, candidate=A, incumbent=B, cycle=cycle, probability=0.6, opinions={"x": 0.6}
    )


ANSWERED = RoleAnswered(
    cycle=1, role="arbiter", task="arbiter", subject=A, prompt="0" * 64, rules="0" * 64, model="m",
    model_version="0" * 64, served="0" * 64, calls=(ANY,), outcome="empty", reason="", answer=None,
)  # fmt: skip
ONE_OF_EACH = {
    "campaign.started": CampaignStarted(
        config=parse_study(STUDY, "demo").model_dump(mode="json"), versions={}, science="0" * 64
    ),
    "theories.checked": checked(),
    "theories.refused": checked(B, passed=False),
    "theories.failed": TheoryFailed(theory=B, experiment="e", reason="took too long"),
    "theories.draws_limited": DrawsLimited(
        theory=A, experiment="e", fit=ANY, n_draws=128, kept=32, reason="no probabilities"
    ),
    "theories.pool": admitted(),
    "experiments.designs": DesignChosen(
        cycle=1, number=1, experiment="e", design=ANY, rivals=(A, B), n_candidates=9, n_trials=1, repetitions=1,
        n_participants=2, n_random=0, archive="", information=(0.1,), powers=(), accepted=True, reason="",
    ),
    "experiments.preregistrations": Preregistration(
        experiment="e", design=ANY, rivals={A: "Adding"}, predictions=ANY, n_draws=4, n_participants=2,
        analysis="score", stopping_rule="2 people",
    ),
    "experiments.recruited": PeopleRecruited(experiment="e", source="web", n_participants=2),
    "experiments.consents": ConsentAsked(experiment="e", language="en", text=ANY, text_version="1"),
    "experiments.answers": AnswersArrived(
        experiment="e", person="ab" * 32, status="completed", answers=ANY, n_answers=1, consent="", language="en",
        source="web", arrived_utc="",
    ),
    "experiments.wanted": MoreAsked(experiment="e", n_participants=3, n_more=1, preregistered=False, reason="one more"),
    "experiments.sessions": SessionHeld(
        experiment="e", person="ab" * 32, place=0, model="m", model_names=("m",), served_versions=("0" * 64,), seed=1,
        persona="", status="completed", n_answers=1, missing_trials=(2,), missing_reasons=("refused",), n_unread=0,
        calls=(ANY,),
    ),
    "experiments.excluded": PersonExcluded(
        experiment="e", person="ab" * 32, answers=ANY, rule="too_fast", words="Fast people.", value=90.0
    ),
    "experiments.closed": CollectionClosed(experiment="e", n_completed=1, n_planned=2, n_decided=0, reason="enough"),
    "experiments.withdrawn": PersonWithdrawn(person="ab" * 32, experiments=("e",), reason="withdrew"),
    "experiments.collected": collected(),
    "theories.scores": scored(),
    "theories.diagnoses": Diagnosis(
        cycle=1, loser=B, leader=A, difference=0.1, standard_error=0.01, tie=False, claims=(), location="conflict",
        hypothesis="", proposal="", remedies=(), test="",
    ),
    "theories.searches": SearchFinished(cycle=1, attempts=ANY, n_attempts=0, submissions=()),
    "roles.answered": ANSWERED,
    "roles.cases": CaseRead(cycle=1, answer=ANY, task="arbiter", theory=A, statements=(), hypothesis="", change=""),
    "roles.audited": ClaimAudited(cycle=1, answer=ANY, theory=A, held=(), contradicted=(), not_tried=(), unclear=""),
    "roles.analyses": AnalysisMade(
        cycle=1,
        lens="leap",
        attempt=0,
        answer=ANY,
        code=ANY,
        outcome="returned",
        told="odd 0.9",
    ),
    "roles.screened": DraftsScreened(
        cycle=1, lens="leap", attempt=0, answer=ANY, sources=(ANY, A), scores=(-0.5, None), reasons=("", "no"),
        fitted=(0,),
    ),
    "roles.tried": SuccessorTried(
        cycle=1, lens="leap", attempt=0, answer=ANY, model="m", outcome="refused",
        reason="no claim", name="", source=ANY, fitted=None, parents=(), change="", criterion=None, error=None,
    ),
    "judging.epochs": EpochOpened(number=1, epoch=ANY, judges={}),
    "judging.verdicts": verdict(),
    "judging.resolved": VerdictResolved(verdict=ANY, experiment="e", favoured=True, log_score=-0.1),
    "judging.decided": CandidateDecided(
        verdict=ANY, candidate=A, incumbent=B, cycle=1, belief=0.6, action="verify", rule="odds", text="verify: ...",
    ),
    "memory.library": Pitfall(domain="risky", trigger="conflict", mistake="add x", consequence="lost", evidence=(ANY,)),
    "memory.taken": LibraryTaken(library=ANY, n_lessons=3, n_tools=1, n_studies=2, problem=""),
    "memory.looked_at": LibraryLookedAt(cycle=1, doubted=(ANY,)),
    "memory.winners": WinnersTaken(theories=(A,), studies=("s",), refused=(), n_passed_over=0, n_left=0),
    "memory.recalled": LessonsRecalled(
        cycle=1, stage="revise", situation="revise", lessons=(ANY,), texts=("x",), notes=("",),
    ),
    "roles.investigated": MatterInvestigated(
        cycle=1, role="reviser", task="reviser", subject="leap", prompt="0" * 64, model="m", calls=(ANY,),
        results=(ANY,), refused=(), outcome="answered", reason="", notes="", problems=(),
    ),
    "campaign.cycles": CycleClosed(cycle=1, leader=A, leaderboard=(), improved=True, stop=""),
    "campaign.followed": LeaderFollowed(cycle=1, leader=A, fit=ANY, moved=None),
    "experiments.sealed": SealedOpened(experiments=("e",), trials=(ANY,), n_trials=1, n_responses=2),
    "campaign.truth": TruthCompared(hidden="tallying", n_trials=1, corrected={}, uncorrected={}, pool={}, sequence={}),
    "theories.fits": TheoryFitted(theory=A, trials=(ANY,), engine=ENGINE, pooled=False, people={"slope": (0.5, 0.1)}),
    "theories.relearned": PopulationRelearned(
        theory=A, trials=(ANY,), engine=ENGINE, pooled=False, people={"slope": (0.5, 0.1)},
    ),
    "theories.sealed_scores": SealedScored(
        theory=A, experiments=("e",), n_draws=4, squared=((0.0,),),
        scores=(UnitLogPredictives(log_predictive=(-0.5,), n_choices=(1.0,)),),
    ),
    "theories.completeness": CompletenessMeasured(
        leader=A, basis="people left out in turn", experiments=("e",), guessing=-0.69, learner=(), ceiling=-0.5,
        ceiling_error=0.01, noise=None, noise_error=None, theories=(), published=(), failed={}, ahead=None,
        ahead_error=None, better=(), text="",
    ),
    "theories.told": TheoriesTold(
        leader=A, names={A: "Adding"}, published={}, lacking=(), idle=(), refused=(), tried=(),
    ),
    "theories.groups": GroupsCompared(by="age", n_people={}, theories=(), text=""),
    "theories.effects": EffectsLearned(by="age", n_people=0, prior_sd=0.25, theories=(), text=""),
    "campaign.map": TheoriesMapped(theories=(A,), positions=((0.0, 0.0),), shown=1.0, n_trials=1),
    "campaign.folds": FoldFinished(
        fold=0, run="fold-0", form=ANY, leader_name="Adding", claim="", rows=(0,), observed=(0.5,), predicted=(0.5,),
        baselines={},
    ),
    "campaign.confirmation": ConfirmationFinished(
        winner=A, rival=B, outcome="confirmed", advantage=0.1, advantage_error=0.01, interval=(0.08, 0.12),
        n_participants=2, text="",
    ),
    "campaign.sensitivity": ExclusionSensitivity(
        experiments=("e",), n_excluded=1, leader=A, leader_without=A, rival=B, advantage=0.1, interval=(0.0, 0.2),
        advantage_without=0.1, interval_without=(0.0, 0.2), scores={A: -0.5}, scores_without={A: -0.6}, text="",
    ),
    "campaign.concluded": CampaignConcluded(
        leader=A, runner_up=None, holds=False, text="", stop="budget", advantage=None, advantage_error=None,
        interval=None, n_compared=1,
        basis="all data", errors=(), cross_validated=(),
    ),
    "seats.anchors": AnchorTaken(
        anchor=ANY, set=ANY, confirm=ANY, n_items={"dev": 3}, n_left_out=0, source="a file",
    ),
    "seats.drawn": LevelDrawn(challenge=ANY, alpha=0.05, number=1, level=0.03, is_spent=True),
    "seats.exposed": LabelsExposed(anchor=ANY, part="dev", purpose="breed", judges=(), n_items=3),
    "seats.bred": JudgeBred(slot="program", epoch=0, judge=ANY, made=ANY, parent=None, n_dev=3),
    "judging.pairs": PairDescribed(candidate=A, incumbent=B, cycle=1, submission=ANY),
}  # fmt: skip


PLACELESS = {
    LanguageModelCalled, ToolCalled, ModelTakesPart, ModelsChosen, SuccessorsProposed, BudgetRaised, ModelChanged,
    ToolTried, CodeAccepted, MachineUsed, AnalysesNoted,
    LessonsWritten, TheoryCompared, ExactnessWeighed, CriticAnswered, EarlierRecord,
}  # fmt: skip
"""Cited by records that have a place, or read where they are needed."""
OF_EPOCHS = {
    JudgeSeated, JudgeMeasured, EpochFrozen, GateRegistered, GateDecided, EpochCommitted,
    EpochRefilled,
}  # fmt: skip
"""Move the judges' epoch on as well; only the whole of them fits together."""


def recorded(record) -> Recorded:
    return Recorded(record, digest_of(body_of(record)))


def fold(*records) -> RunState:
    state = RunState()
    for record in records:
        state = advance(state, recorded(record))
    return state


@pytest.mark.parametrize("place", ONE_OF_EACH)
def test_each_record_fills_its_own_place_and_no_other(place):
    before, after = RunState(), fold(ONE_OF_EACH[place])
    moved = {
        f"{part.name}.{item.name}"
        for part in fields(RunState)
        for own in [getattr(before, part.name)]
        for item in fields(own)
        if getattr(getattr(after, part.name), item.name) != getattr(own, item.name)
    }
    also = {"campaign.config"} if place == "campaign.started" else set()
    assert moved == {place} | also


def test_every_record_of_a_campaign_has_a_place():
    lessons = set(LESSON_RECORDS.values())
    own = {type(record) for record in ONE_OF_EACH.values()}
    assert own | lessons | PLACELESS | OF_EPOCHS == set(RECORD_TYPES.values())


def test_an_epoch_of_judges_ends_as_its_records_say_and_takes_the_verdicts_of_a_displaced_judge_with_it():
    old, new, fixed = digest_of("old"), digest_of("new"), digest_of("fixed")
    seats = [
        JudgeSeated(slot=slot, epoch=0, judge=judge)
        for slot, judge in (("program", old), ("rule", fixed))
    ]
    said = JudgeMeasured(
        subject=ANY, task="which", seat=recorded(seats[0]).digest, epoch=0, value=0.7
    )
    verdict = ONE_OF_EACH["judging.verdicts"]
    state = fold(*seats, said, verdict)
    assert (state.seats.n_measured, len(state.seats.measured), len(state.judging.verdicts)) == (
        1,
        1,
        1,
    )
    frozen = freeze_epoch(state.seats.epoch, ANY, 1)
    state = advance(state, recorded(frozen))
    decided = GateDecided(
        registration=ANY, slot="program", epoch=0, incumbent=old, challenger=new,
        verdict="replace", reason="better", n_excluded=0, level=0.05, minimum_detectable=0.1, number=1,
    )  # fmt: skip
    state = advance(state, recorded(decided))
    assert state.judging.verdicts
    committed = commit(
        state.seats.epoch, {slot: item.digest for slot, item in state.seats.held.items()}
    )
    state = advance(state, recorded(committed))
    assert state.seats.displaced == {recorded(seats[0]).digest}
    assert committed.erases == (recorded(seats[0]).digest,)
    assert not any(
        (
            state.seats.measured,
            state.judging.verdicts,
            state.judging.resolved,
            state.judging.decided,
        )
    )
    state = advance(state, recorded(refill(state.seats.epoch, [ANY])))
    assert (state.seats.epoch.number, state.seats.epoch.slots) == (
        1,
        {"program": new, "rule": fixed},
    )
    again = said.model_copy(update={"seat": digest_of("seat"), "epoch": 1})
    state = advance(state, recorded(again))
    assert (state.seats.n_measured, state.seats.n_rescored) == (2, 1)


def test_a_persons_answers_count_once_however_often_they_are_found_again():
    state = fold(ONE_OF_EACH["experiments.answers"])
    assert advance(state, recorded(ONE_OF_EACH["experiments.answers"])) == state


@pytest.mark.parametrize("record", ONE_OF_EACH.values(), ids=list(ONE_OF_EACH))
def test_every_record_reads_back_from_its_body(record):
    assert parse_record(record.kind, body_of(record), RECORD_TYPES) == record


@pytest.mark.parametrize("kind", GONE_KINDS)
def test_a_record_of_a_kind_that_is_gone_stays_as_it_was_and_changes_nothing(kind):
    body = {"kind": kind, "version": 1, "cycle": 2, "answer": ANY, "levels": {"fit": 1}}
    read = parse_record(kind, body, RECORD_TYPES)
    assert read.model_dump(mode="json") == body
    assert fold(read) == RunState()


def test_a_design_that_was_weighed_against_proposals_is_read_without_them():
    design = ONE_OF_EACH["experiments.designs"]
    weighed = {**body_of(design), "weighed": [{"proposal": ANY, "how": "whole"}]}
    assert parse_record("design_chosen", weighed, RECORD_TYPES) == design


def test_models_that_were_chosen_by_draws_are_read_without_these():
    choice = ModelChoice(role="reviser", model="large", version="0" * 64)
    chosen = ModelsChosen(
        cycle=1, stage="write", choices=(choice,), contexts=(8192,), asked=True, reason=""
    )
    old = body_of(chosen)
    old["choices"][0] |= {"how": "bandit", "draws": {"large": 0.2}, "n_evidence": 3}
    assert parse_record("models_chosen", old, RECORD_TYPES) == chosen


def test_the_study_reads_back_from_the_first_record():
    assert fold(ONE_OF_EACH["campaign.started"]).campaign.config == parse_study(STUDY, "demo")


def test_a_theory_that_failed_on_answers_is_out_of_the_pool():
    state = fold(
        checked(A),
        checked(B),
        admitted(A),
        admitted(B),
        TheoryFailed(theory=B, experiment="e", reason="slow"),
    )
    assert set(state.theories.checked) == set(state.theories.pool) == {A}
    assert state.theories.bare_name(B) == checked(B).name  # earlier records still name it


def test_a_refused_theory_is_kept_apart():
    state = fold(checked(A), checked(B, passed=False))
    assert list(state.theories.checked) == [A]
    assert [item.record.theory for item in state.theories.refused] == [B]


def test_verdicts_are_kept_by_the_digest_of_their_record():
    first, second = verdict(1), verdict(2)
    state = fold(first, second)
    assert [state.judging.verdicts[recorded(item).digest].record for item in (first, second)] == [
        first,
        second,
    ]


def test_a_second_score_of_the_same_theory_and_experiment_takes_the_place_of_the_first():
    state = fold(scored(score=-0.5), scored(score=-0.4))
    assert len(state.theories.scores) == 1
    assert state.theories.scores[A, "e"].record.left_out.log_predictive[0] == -0.4


@pytest.mark.slow
@given(st.permutations(list(ONE_OF_EACH)))
def test_records_of_different_places_can_arrive_in_any_order(order):
    assert fold(*(ONE_OF_EACH[place] for place in order)) == fold(*ONE_OF_EACH.values())


def test_advancing_leaves_the_earlier_state_as_it_was():
    before = fold(checked(A))
    advance(before, recorded(checked(B)))
    assert list(before.theories.checked) == [A]


def test_namesakes_are_told_apart_by_their_digests():
    assert fold(checked(A)).theories.name(A) == "Adding"
    state = fold(checked(A), checked(B))
    assert (state.theories.name(A), state.theories.name(B)) == (
        f"Adding ({A[:6]})",
        f"Adding ({B[:6]})",
    )


def test_seeds_are_the_rivals_admitted_before_the_first_cycle():
    assert fold(admitted(A, 0), admitted(B, 2)).seeds == [A]


def test_the_board_ranks_the_pool_on_all_experiments():
    state = fold(
        admitted(A), admitted(B), collected("e", ceiling=-0.3), scored(A, "e", -0.6), scored(B, "e", -0.4),
        scored(ANY, "e", -0.1),
    )  # fmt: skip
    board = state.board()
    assert [line.theory for line in board.standings] == [B, A]
    assert board.experiments == ("e",)


def test_a_rival_without_a_score_on_every_experiment_waits():
    state = fold(
        admitted(A),
        admitted(B),
        collected("e"),
        collected("f"),
        scored(A, "e"),
        scored(A, "f"),
        scored(B, "e"),
    )
    assert [line.theory for line in state.board().standings] == [A]


def test_a_run_from_before_the_rule_of_movement_never_ends_by_it() -> None:
    config = parse_study(STUDY, "demo").model_dump(mode="json")
    older = {
        **config,
        "stop": {key: value for key, value in config["stop"].items() if key != "moved"},
    }
    for written, moved in ((config, 0.012), (older, 0.0)):
        begun = CampaignStarted(config=written, versions={}, science="0" * 64)
        state = advance(RunState(), Recorded(begun, ANY))
        assert state.campaign.config is not None
        assert state.campaign.config.stop.moved == moved
