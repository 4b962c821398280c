"""The stage that scores: who is scored on what, with which people, and what of it decides."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from lakatos.domains import FAMILIES
from lakatos.experiments.design import Design, design_to_json
from lakatos.experiments.record import DesignChosen
from lakatos.experiments.task import Stimuli
from lakatos.flows.errors import FlowError
from lakatos.flows.report.limits import limits
from lakatos.flows.report.reader import open_reading
from lakatos.flows.report.report import write_report
from lakatos.flows.run.progress import CampaignProgress, ProgressEvent
from lakatos.flows.run.records import CycleClosed
from lakatos.flows.run.run import Run, create_run, open_run, started
from lakatos.flows.stages.close import close_cycle
from lakatos.flows.stages.collect import collect, recruit
from lakatos.flows.stages.preregister import preregister
from lakatos.flows.stages.score import (
    decided_by_chance,
    most_draws,
    score,
    settle,
    too_few_draws,
)
from lakatos.flows.stages.verdict.conclude import _say_of_failed_leaders
from lakatos.judges.judge import Verdict, VerdictResolved
from lakatos.theories.engine.record import ENGINE, TheoryAdmitted, TheoryChecked, TheoryScored
from lakatos.theories.engine.scoreboard import Scoreboard, TheoryStanding
from lakatos.theories.engine.scoring import draws
from lakatos.theories.engine.scoring.score import ScoreEstimate, log_predictive, proportion_error
from lakatos.theories.language.theory import TheoryProgram, read_program
from lakatos.traces.digest import Digest, digest_of
from lakatos.traces.step import Recorded

sys.path.insert(0, str(Path(__file__).parent.parent))
from small import small_study

N_DRAWS, N_TRIALS, N_PEOPLE = 32, 8, 8
ANY = digest_of("any")
ALONE = '''"""Some people like one trial only: they cannot answer it."""
PARAMETERS = {"s": {"prior": "uniform", "low": 0.5, "high": 2.0}}
def choose(parameters, trials, xp):
    gap = trials["ratings"][:, 1].sum(axis=-1) - trials["ratings"][:, 0].sum(axis=-1)
    if len(gap) == 1:
        raise ValueError("a trial alone")
    return 1 / (1 + xp.exp(-parameters["s"] * gap))
'''
"""It answers in fits and preregistrations, and fails when it is scored, where some trials are asked about alone."""
LEARNER = '''"""People repeat themselves: they choose what they chose."""
PARAMETERS = {"s": {"prior": "uniform", "low": 0.5, "high": 2.0}}
def start(parameters, trials, xp):
    return xp.zeros_like(parameters["s"])
def choose(parameters, trials, xp, state):
    return 1 / (1 + xp.exp(-parameters["s"] * state))
def learn(parameters, trials, xp, state, response, feedback):
    return state + response[..., 1] - 0.5
'''
SETTINGS = {
    "seed": 4,
    "theories__draws": N_DRAWS,
    "theories__induction": False,
    "design__trials": N_TRIALS,
    "design__participants": N_PEOPLE,
}


class KeptNotes(CampaignProgress):
    """Keeps the notes of a pass."""

    def __init__(self) -> None:
        super().__init__(self.keep)
        self.notes: list[str] = []

    def keep(self, event: ProgressEvent) -> None:
        if event.kind == "note":
            self.notes.append(event.text)


def admit(run: Run, source: str) -> Digest:
    """A theory among the rivals that took no exam."""
    theory = read_program(TheoryProgram(source, "test"))
    digest = run.trace.artifacts.put(source.encode())
    checked = TheoryChecked(
        theory=digest, passed=True, name=theory.name, claim=theory.claim, author="test", parents=(), change="",
        cycle=0, n_parameters=len(theory.priors), checks=(), reason="",
    )  # fmt: skip
    assert run.state.campaign.started is not None
    place = {"theory": theory.name}
    found = run.record(
        checked, name="check", inputs=[run.state.campaign.started.digest], position=place
    )
    admitted = TheoryAdmitted(theory=digest, cycle=0, reason="test")
    run.record(admitted, name="admit", inputs=[found.digest], position=place)
    return digest


def choose_design(run: Run, cycle: int, stimuli: Stimuli | None = None) -> Recorded[DesignChosen]:
    """Trials for a few people, random ones by default, the first experiment of a cycle."""
    stimuli = stimuli or run.domain.candidates(
        run.config.space, np.random.default_rng(cycle), N_TRIALS
    )
    name = f"{cycle}.1"
    design = Design(name, stimuli, 1, N_PEOPLE, (False,) * N_TRIALS, (0.1,) * N_TRIALS, "")
    chosen = DesignChosen(
        cycle=cycle, number=1, experiment=name, design=run.trace.artifacts.put_json(design_to_json(design)),
        rivals=tuple(run.state.theories.pool)[:2], n_candidates=N_TRIALS, n_trials=N_TRIALS, repetitions=1,
        n_participants=N_PEOPLE, n_random=0, archive="", information=(), powers=(), accepted=True, reason="",
    )  # fmt: skip
    inputs = [item.digest for item in run.state.theories.pool.values()]
    return run.record(chosen, name="design", inputs=inputs, position={"cycle": cycle})


async def carry_on(run: Run) -> CarriedPass:
    """Two experiments, each scored, and verdicts that the second one settles."""
    run.record(started(run.config), name="start")
    published = [FAMILIES["multiattribute"].program(name) for name in ("take_the_best", "tallying")]
    first, second = (admit(run, program.source) for program in published)
    failing = admit(run, ALONE)
    scored, settled = [], []
    for cycle in (1, 2):
        plan = await preregister(run, cycle, choose_design(run, cycle))
        collected = await collect(run, cycle, plan, await recruit(run, cycle, plan))
        assert isinstance(collected, Recorded)
        scored.append(await score(run, cycle, list(run.state.theories.checked)))
        settled.append(await settle(run, cycle))
        for candidate, incumbent in ((first, second), (second, first), (first, failing)):
            verdict = Verdict(
                epoch=ANY, candidate=candidate, incumbent=incumbent, cycle=cycle, probability=0.7, opinions={}
            )  # fmt: skip
            place = {"cycle": cycle, "candidate": candidate, "incumbent": incumbent}
            run.record(verdict, name="verdict", inputs=[collected.digest], position=place)
    choose_design(run, 3)  # nobody has answered it yet
    settled.append(await settle(run, 2))
    return CarriedPass(scored, settled)


@dataclass
class CarriedPass:
    """What the scorings and settlements of a pass return, in the order of cycles."""

    scored: list[list[Recorded[TheoryScored]]]
    settled: list[list[Recorded[VerdictResolved]]]


@dataclass
class ScoredRun:
    """A run with two scored experiments, its one pass, and what was told to people who watch."""

    run: Run
    found: CarriedPass
    notes: list[str]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScoredRun]:
    """Two experiments, scored; less chance is allowed than usual, so that the fewest draws never are enough."""
    progress = KeptNotes()
    folder = tmp_path_factory.mktemp("runs") / "scored"
    study = small_study(**SETTINGS)
    with create_run(study, folder, progress=progress, n_workers=1) as run:
        with pytest.MonkeyPatch.context() as patch:
            allow_little_chance(patch)
            found = asyncio.run(carry_on(run))
        yield ScoredRun(run, found, progress.notes)


def allow_little_chance(patch: pytest.MonkeyPatch) -> None:
    """Have chance count where it is less than usual."""
    patch.setattr(draws, "LARGEST_CHANCE", 0.1)
    patch.setattr(draws, "CLEAR", np.inf)


def test_every_rival_is_scored_on_every_experiment_with_the_people_of_its_newest_fit(done):
    state = done.run.state
    assert set(state.theories.scores) == {
        (name, experiment) for name in state.theories.checked for experiment in ("1.1", "2.1")
    }
    assert len(state.theories.checked) == 2
    tables = tuple(item.record.trials for item in state.experiments.collected.values())
    for (name, experiment), item in state.theories.scores.items():
        fit = state.theories.fits[name]
        assert (fit.record.trials, fit.record.engine, fit.record.pooled) == (tables, ENGINE, False)
        assert item.record.fit == fit.digest
        assert item.record.trials == state.experiments.collected[experiment].record.trials
        assert (item.record.engine, item.record.n_options) == (ENGINE, 2)


def test_scores_and_shares_are_what_the_laboratory_computes_from_the_same_people(done):
    run, state = done.run, done.run.state
    trials = [run.trials(name) for name in state.experiments.collected]
    for name in state.theories.checked:
        n_draws = state.theories.scores[name, "1.1"].record.n_draws
        ((first, second),) = run.laboratory.scores_of([run.theory(name)], trials, n_draws)
        for item, experiment, answers in zip(
            (first, second), state.experiments.collected, trials, strict=True
        ):
            record = state.theories.scores[name, experiment].record
            np.testing.assert_allclose(record.left_out.log_predictive, item.left_out.log_predictive)
            np.testing.assert_allclose(record.proportions, item.mean[:, 1])
            found = proportion_error(item.mean, answers)
            assert (record.error, record.correlation) == pytest.approx(found)


def test_the_people_who_were_frozen_before_an_experiment_are_scored_on_it(done):
    run, state = done.run, done.run.state
    for (name, experiment), item in state.theories.scores.items():
        plan = state.experiments.preregistrations[experiment].record
        people = run.trace.artifacts.get_arrays(plan.predictions).get(f"{name}:people")
        form = run.form(name)
        assert (people is None) == (experiment == "1.1")
        if people is not None:  # known from the first experiment
            named = zip(form.priors.items(), people, strict=True)
            form = form.with_people(
                {key: old.narrowed(*map(float, new)) for (key, old), new in named}
            )
        (seen,) = run.laboratory.evidence(form, [run.trials(experiment)], item.record.n_draws)
        np.testing.assert_allclose(
            item.record.frozen.log_predictive, log_predictive(seen).log_predictive
        )


def test_what_was_frozen_stays_when_only_the_fit_is_newer(done):
    before, after = done.found.scored
    last = {item.record.theory: item.record for item in before}
    newer = [item.record for item in after if item.record.experiment == "1.1"][:2]
    for record in newer:
        assert record.fit != last[record.theory].fit
        assert record.frozen == last[record.theory].frozen
        assert record.left_out != last[record.theory].left_out


def test_draws_are_raised_fourfold_until_chance_decides_nothing(done, monkeypatch):
    allow_little_chance(monkeypatch)
    used = [[item.record.n_draws for item in own] for own in done.found.scored]
    for own in used:
        assert own == sorted(own)
        assert sorted(set(own)) == [N_DRAWS * 4**step for step in range(len(set(own)))]
    most = max(used[-1])
    assert most > N_DRAWS
    assert {item.record.n_draws for item in done.run.state.theories.scores.values()} == {most}
    assert decided_by_chance(done.run.state.board()) == []
    assert too_few_draws(done.run.evidence) is None


def test_draws_are_raised_up_to_the_limit_and_for_those_who_have_fewer(done, monkeypatch):
    run, names = done.run, list(done.run.state.theories.checked)
    wanted_draws = 4 * max(item.record.n_draws for item in run.state.theories.scores.values())
    monkeypatch.setattr(draws, "LARGEST_CHANCE", 0.0)
    monkeypatch.setattr(draws, "MOST_DRAWS", wanted_draws)
    n_draws, more = too_few_draws(run.evidence)
    assert (n_draws, sorted(more)) == (wanted_draws, sorted(names))
    # One of the two has enough already, on one experiment only at first.
    for experiments, wanted in ((("1.1",), sorted(names)), (("1.1", "2.1"), [names[1]])):
        many = {
            (names[0], experiment): Recorded(
                item.record.model_copy(update={"n_draws": wanted_draws}), item.digest
            )
            for experiment in experiments
            for item in [run.state.theories.scores[names[0], experiment]]
        }
        known = run.state.theories
        theories = replace(known, scores={**known.scores, **many})
        state = replace(run.state, theories=theories)
        monkeypatch.setattr(run, "state", state)
        n_draws, more = too_few_draws(run.evidence)
        assert (n_draws, sorted(more)) == (wanted_draws, wanted)
    monkeypatch.setattr(draws, "MOST_DRAWS", wanted_draws - 1)
    assert too_few_draws(run.evidence) is None


def test_so_many_are_drawn_at_most_that_one_answer_stays_small(done, monkeypatch):
    names = list(done.run.state.theories.checked)
    assert most_draws(done.run.evidence, names) == draws.MOST_DRAWS == 8192
    monkeypatch.setattr(draws, "MOST_CELLS", 165)
    assert most_draws(done.run.evidence, names) == 165 // (2 * N_TRIALS)


def test_fewer_people_of_theories_that_learn_are_drawn(tmp_path):
    with create_run(small_study(**SETTINGS), tmp_path / "run", n_workers=1) as run:
        run.record(started(run.config), name="start")
        names = [admit(run, source) for source in (ALONE, LEARNER)]
        assert most_draws(run.evidence, names) == draws.MOST_WALKED == 1024


@pytest.mark.parametrize(
    ("behind", "error", "chance", "decides"),
    [
        (0.1, 0.04, 0.011, True),
        (0.1, 0.04, 0.01, False),  # its own error is a quarter of the difference's
        (0.16, 0.04, 0.03, False),  # four standard errors: chance cannot turn that
        (0.159, 0.04, 0.03, True),
        (-0.159, 0.04, 0.03, True),
        (-0.2, 0.04, 0.03, False),
    ],
)
def test_chance_decides_where_draws_are_few_for_so_small_a_difference(
    behind, error, chance, decides
):
    lines = [
        TheoryStanding(
            theory=name, score=ScoreEstimate(-0.5, 0.01), prequential=None, n_prequential=0, error=0.0,
            correlation=None, behind=difference, tied=False, chance=own,
        )
        for name, difference, own in (
            ("a" * 64, ScoreEstimate(0.0, 0.0), 0.02),
            ("b" * 64, ScoreEstimate(0.3, 0.01), 0.02),
            ("c" * 64, ScoreEstimate(behind, error), chance),
        )
    ]  # fmt: skip
    found = decided_by_chance(Scoreboard(tuple(lines), ("1.1",)))
    assert found == (["a" * 64, "c" * 64] if decides else [])
    assert decided_by_chance(Scoreboard((), ())) == []


def test_a_verdict_is_settled_once_by_the_next_experiment_that_scored_both(done):
    state, (first, second, later) = done.run.state, done.found.settled
    assert (first, later) == ([], [])
    assert len(second) == len(state.judging.resolved) == 2
    for item in second:
        verdict = state.judging.verdicts[item.record.verdict].record
        assert verdict.cycle == 1
        # Of the scores when it was settled; draws were not raised since. Frozen predictions count before others.
        pair = [
            state.theories.scores[name, "2.1"].record
            for name in (verdict.candidate, verdict.incumbent)
        ]
        frozen = all(record.frozen is not None for record in pair)
        own, other = ((record.frozen if frozen else record.left_out).scores.mean for record in pair)
        assert item.record.experiment == "2.1"
        assert item.record.favoured == (own > other)
        given = 0.7 if own > other else 0.3
        assert item.record.log_score == pytest.approx(np.log(given))
    assert {item.record.favoured for item in second} == {True, False}


def test_a_theory_that_fails_on_answers_is_out_and_told_once(done):
    (failed,) = done.run.state.theories.failed
    assert failed.record.theory not in done.run.state.theories.checked
    assert failed.record.theory not in done.run.state.theories.pool
    assert failed.record.experiment == "1.1"
    assert "a trial alone" in failed.record.reason
    (told,) = done.notes
    assert told.startswith("Some people like one trial only failed on answers and is out: Theory")
    assert all(
        item.record.theory in done.run.state.theories.checked
        for own in done.found.scored
        for item in own
    )


FAILS_LATER = '''"""Weighted sum: people add up ratings, each times the validity of its cue."""
PARAMETERS = {"s": {"prior": "uniform", "low": 0.05, "high": 5.0}}
def choose(parameters, trials, xp):
    ratings = trials["ratings"]
    gap = ((ratings[:, 1] - ratings[:, 0]) * xp.array([0.9, 0.7, 0.6])).sum(axis=-1)
    if len(gap) == 1 and ratings[0, 0, 0] == 2:
        raise ValueError("a trial of the second experiment alone")
    return 1 / (1 + xp.exp(-parameters["s"] * gap))
'''
"""It is near the hidden rule, and fails when it is scored on trials whose first rating is 2."""
FIRST = '''"""First option: people nearly always choose the first option."""
PARAMETERS = {"s": {"prior": "uniform", "low": 0.0, "high": 0.05}}
def choose(parameters, trials, xp):
    return parameters["s"] + xp.zeros(len(trials["ratings"]))
'''


def choose_trials(run: Run, cycle: int) -> Recorded[DesignChosen]:
    """Trials whose first rating is 2 in the second experiment, and others in the first."""
    rng = np.random.default_rng(cycle)
    stimuli = run.domain.candidates(run.config.space, rng, 200)
    special = stimuli["ratings"][:, 0, 0] == 2
    rows = rng.permutation(np.flatnonzero(special if cycle == 2 else ~special))[:N_TRIALS]
    return choose_design(run, cycle, stimuli.take(rows))


async def carry_on_with_next_leader(run: Run) -> list[Recorded[CycleClosed]]:
    """Two cycles; the leader of the first fails in the second."""
    run.record(started(run.config), name="start")
    for source in (FAILS_LATER, FIRST):
        admit(run, source)
    closed = []
    for cycle in (1, 2):
        plan = await preregister(run, cycle, choose_trials(run, cycle))
        collected = await collect(run, cycle, plan, await recruit(run, cycle, plan))
        assert isinstance(collected, Recorded)
        await score(run, cycle, list(run.state.theories.checked))
        closed.append(await close_cycle(run, cycle, ""))
    return closed


def test_a_campaign_goes_on_with_the_next_leader_where_the_leader_fails_on_a_later_experiment(
    tmp_path,
):
    study = small_study(**SETTINGS)
    with create_run(study, tmp_path / "run", n_workers=1) as run:
        first, second = asyncio.run(carry_on_with_next_leader(run))
        (failed,) = run.state.theories.failed
        assert failed.record.theory == first.record.leader
        assert "a trial of the second experiment alone" in failed.record.reason
        assert second.record.leader in run.state.theories.checked
        assert second.record.leader not in [first.record.leader]
        assert second.record.improved
        name = run.state.theories.name(first.record.leader)
        assert name == "Weighted sum"
        (told,) = _say_of_failed_leaders(run.state)
        assert told.startswith(f"{name} led after cycle 1 and was removed because it failed on the")
        head = run.trace.journal.head
    with open_run(tmp_path / "run", n_workers=1) as later:
        assert asyncio.run(carry_on_with_next_leader(later)) == [first, second]
        assert later.trace.journal.head == head
    with open_reading(tmp_path / "run") as reading:
        tag = reading.label(first.record.leader).tag
        assert (tag, reading.fate(first.record.leader)) == ("T1", "failed")
        assert any(text.startswith("T1 failed on the responses of") for text in limits(reading))
    text = write_report(tmp_path / "run").read_text()
    assert "T1 failed on the responses of experiment 2.1" in text
    assert "a trial of the second experiment alone" in text


def test_where_every_theory_fails_the_campaign_says_so(tmp_path):
    async def carry_on_alone(run: Run) -> None:
        run.record(started(run.config), name="start")
        admit(run, ALONE)
        plan = await preregister(run, 1, choose_design(run, 1))
        assert isinstance(await collect(run, 1, plan, await recruit(run, 1, plan)), Recorded)
        await score(run, 1, list(run.state.theories.checked))
        await close_cycle(run, 1, "")

    with (
        create_run(small_study(**SETTINGS), tmp_path / "run", n_workers=1) as run,
        pytest.raises(FlowError, match=r"no theory is left .*a trial alone"),
    ):
        asyncio.run(carry_on_alone(run))


FAILS_AT_ENDS = '''"""Weighted sum: people add up ratings, each times the validity of its cue."""
PARAMETERS = {
    "s": {"prior": "uniform", "low": 0.5, "high": 20.0},
    "nothing": {"prior": "uniform", "low": 0.0, "high": 1.0},
}
def choose(parameters, trials, xp):
    ratings = trials["ratings"]
    gap = ((ratings[:, 1] - ratings[:, 0]) * xp.array([0.9, 0.7, 0.6])).sum(axis=-1)
    far = parameters["nothing"] > 0.9995
    return xp.where(far, xp.nan, 1 / (1 + xp.exp(-parameters["s"] * gap)))
'''
"""It fails for one person in two thousand, whom only many draws contain."""


async def carry_on_at_ends(run: Run) -> list[Recorded[TheoryScored]]:
    """One experiment, scored with as many draws as may be."""
    run.record(started(run.config), name="start")
    for source in (FAILS_AT_ENDS, FIRST):
        admit(run, source)
    plan = await preregister(run, 1, choose_design(run, 1))
    assert isinstance(await collect(run, 1, plan, await recruit(run, 1, plan)), Recorded)
    return await score(run, 1, list(run.state.theories.checked))


def test_a_score_with_fewer_draws_is_kept_where_more_of_them_fail(tmp_path, monkeypatch):
    monkeypatch.setattr(draws, "LARGEST_CHANCE", 0.0)
    monkeypatch.setattr(draws, "CLEAR", np.inf)
    notes = KeptNotes()
    with create_run(small_study(**SETTINGS), tmp_path / "run", progress=notes, n_workers=1) as run:
        found = asyncio.run(carry_on_at_ends(run))
        failing, other = run.state.theories.checked
        assert not run.state.theories.failed
        limit = run.state.theories.draws_limited[failing].record
        assert limit.n_draws == 4 * limit.kept > N_DRAWS
        assert limit.kept == run.state.theories.scores[failing, "1.1"].record.n_draws
        assert "are no probabilities" in limit.reason
        assert run.state.theories.scores[other, "1.1"].record.n_draws > limit.kept
        assert {line.theory for line in run.state.board().standings} == {failing, other}
        assert any("and keeps its score with" in note for note in notes.notes)
        head = run.trace.journal.head
    with open_run(tmp_path / "run", n_workers=1) as later:
        assert asyncio.run(carry_on_at_ends(later)) == found
        assert later.trace.journal.head == head
    with open_reading(tmp_path / "run") as reading:
        assert any(f"uses {limit.kept:,} draws" in text for text in limits(reading))


def test_what_was_scored_is_returned_and_not_computed_again(done):
    before = done.run.trace.journal.head
    again = asyncio.run(score(done.run, 2, list(done.run.state.theories.checked)))
    assert {item.digest for item in again} == {
        item.digest for item in done.run.state.theories.scores.values()
    }
    assert done.run.trace.journal.head == before


def test_a_pass_that_comes_after_finds_the_same_and_writes_nothing(done, monkeypatch):
    allow_little_chance(monkeypatch)
    run = done.run
    notes, before = KeptNotes(), run.trace.journal.head
    run.close()
    with open_run(run.folder, progress=notes, n_workers=1) as later:
        found = asyncio.run(carry_on(later))
        assert later.trace.journal.head == before
        assert found == done.found
        assert later.state.theories.scores == run.state.theories.scores
        assert later.state.theories.failed == run.state.theories.failed
        assert notes.notes == done.notes
