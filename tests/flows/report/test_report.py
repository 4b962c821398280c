from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.design import design_to_json
from lakatos.experiments.preregistration import Preregistration
from lakatos.experiments.record import DesignChosen, PairPower, SealedOpened, TrialsCollected
from lakatos.experiments.task import Design, Stimuli, Trials
from lakatos.flows.errors import RunMissingError
from lakatos.flows.report.by_experiment import leader_by_experiment
from lakatos.flows.report.family_tree import origin
from lakatos.flows.report.limits import limits
from lakatos.flows.report.reader import (
    ChoiceShares,
    RunReading,
    clean,
    open_reading,
    option_label,
    shortened,
    wilson,
)
from lakatos.flows.report.report import guess, write_report
from lakatos.flows.report.theory_facts import coloured, example_trial, favouring_trials
from lakatos.flows.report.why import why
from lakatos.flows.run.records import ENDED_AS_SET, RECORD_TYPES, CycleClosed, LeaderboardLine
from lakatos.flows.run.run import read_state, started
from lakatos.flows.run.state import RunState, advance
from lakatos.flows.run.study import CampaignConfig, parse_study
from lakatos.flows.run.study_sections import OWN
from lakatos.judges.epoch import EpochOpened
from lakatos.judges.judge import Verdict, resolve
from lakatos.memory.library import pitfall_from_overturned
from lakatos.theories.engine.record import (
    Diagnosis,
    DiagnosisClaim,
    SearchFinished,
    TheoryAdmitted,
    TheoryChecked,
    TheoryScored,
    UnitLogPredictives,
)
from lakatos.theories.engine.scoring.score import UnitScores, noise_ceiling, proportion_error
from lakatos.theories.findings.verdicts.record import (
    EXPLORATORY,
    CampaignConcluded,
    CrossValidated,
    ErrorOnTrials,
    FoldFinished,
)
from lakatos.theories.language.theory import TheoryProgram, read_program
from lakatos.traces.digest import Digest
from lakatos.traces.record import Record
from lakatos.traces.step import Recorded, Trace

sys.path.insert(0, str(Path(__file__).parent))
from small import small_study

TAKE = "document.title='taken'"
EVIL = f""""><script>{TAKE}</script><img src=x onerror="{TAKE}"> 'a' & {{{{7*7}}}} $x_1$ </svg>"""
DOMAIN = DOMAINS["multiattribute"]
LEAN = '''"""Lean: people lean to the right."""
PARAMETERS = {}
def choose(parameters, trials, xp):
    return 0.6 + 0 * trials["ratings"][:, 0].sum(axis=-1)
'''
SPACE = {"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2]}
STAGES = ("created", "started", "designed", "collected", "scored", "closed", "concluded")


@pytest.fixture(scope="module")
def eventful(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return WrittenRun(tmp_path_factory.mktemp("written") / "eventful").write("concluded")


class WrittenRun:
    """Writes the records of an archival campaign in which everything that can happen has happened.

    No theory is run: each predicts the true shares plus its own error.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.rng = folder, np.random.default_rng(5)
        self.state = RunState()
        self.config: CampaignConfig = parse_study(
            {
                "name": "eventful",
                "question": f"Who wins? {EVIL}",
                "domain": "multiattribute",
                "seed": 9,
                "theories": {"seeds": ["take_the_best", "tallying"]},
                "participants": {"source": "archival", "archive": "multiattribute_autocog"},
                "baselines": {f"published {EVIL}": 0.012, "chance": 0.06},
            },
            "eventful",
        )

    def write(self, until: str) -> Path:
        meta = {"study": self.config.model_dump(mode="json")}
        with Trace.create(self.folder, seed=9, types=RECORD_TYPES, meta=meta) as self.trace:
            for stage in STAGES[1 : STAGES.index(until) + 1]:
                getattr(self, stage)()
        return self.folder

    def record(
        self, record: Record, name: str, *inputs: Digest, **position: int | str
    ) -> Recorded[Any]:
        found = self.trace.record(record, name=name, inputs=inputs, position=position)
        self.state = advance(self.state, found)
        return found

    def check(
        self, source: str, cycle: int, *, reason: str = "", parents: tuple[Digest, ...] = ()
    ) -> Digest:
        digest = self.trace.artifacts.put(source.encode())
        theory = read_program(TheoryProgram(source, "grammar"))
        self.record(
            TheoryChecked(
                theory=digest,
                passed=not reason,
                name=theory.name,
                claim=theory.claim,
                author="grammar" if cycle else "published",
                parents=parents,
                change=f"replace sum by {EVIL}" if cycle else "",
                cycle=cycle,
                n_parameters=len(theory.priors),
                checks=("two calls agree",),
                reason=reason,
            ),
            "check",
            digest,
            cycle=cycle,
        )
        return digest

    def admit(self, digest: Digest, cycle: int) -> None:
        self.record(
            TheoryAdmitted(theory=digest, cycle=cycle, reason=EVIL), "admit", digest, cycle=cycle
        )

    def started(self) -> None:
        self.record(started(self.config), "start")
        family = FAMILIES["multiattribute"]
        self.seeds = [
            self.check(family.program(name).source, 0) for name in self.config.theories.seeds
        ]
        for seed in self.seeds:
            self.admit(seed, 0)
        claim = f"people believe {EVIL} and more."
        source = (
            f'r"""Evil {EVIL} theory: {claim}"""\n'
            f'PARAMETERS = {{"k": {{"prior": "log_normal", "median": 2.0, "log_sd": 0.5, "low": 0.1, "high": 9.0, '
            f'"unit": {EVIL!r}, "meaning": {EVIL!r}}}, "bias": {{"prior": "normal", "mean": -1.0, "sd": 0.5, '
            f'"low": -3.0, "high": 0.0}}}}\n\n\ndef choose(parameters, trials, xp):\n    return 0.5  # {EVIL}\n'
        )
        self.winner = self.check(source, 1, parents=(self.seeds[1],))
        self.refused = self.check(
            source + "# again\n", 1, reason=f"bad: {EVIL}", parents=(self.winner,)
        )
        self.admit(self.winner, 1)
        self.theories = (*self.seeds, self.winner)
        self.stimuli: Stimuli = DOMAIN.candidates(SPACE, self.rng, 44)
        self.truth = self.rng.uniform(0.1, 0.9, len(self.stimuli))
        bias = dict(zip(self.theories, (0.3, 0.2, 0.04), strict=True))
        self.predicted = {
            name: np.clip(self.truth + self.rng.normal(0, bias[name], len(self.truth)), 0.02, 0.98)
            for name in bias
        }

    def rows(self, number: int) -> np.ndarray[Any, Any]:
        return np.arange(number * 20, number * 20 + 20)

    def design(self, number: int) -> Design:
        information = (*np.linspace(0.1, 0.01, 16), *[float("nan")] * 4)
        return Design(
            f"{number + 1}.1",
            self.stimuli.take(self.rows(number)),
            2,
            12,
            (16, 17, 18, 19),
            information,
            f"a{number}",
        )

    def designed(self) -> None:
        for number in (0, 1):
            design = self.design(number)
            pairs = [(0, 1), (0, 2), (1, 2)]
            powers = tuple(
                PairPower(
                    first=self.theories[a], second=self.theories[b], power_first=0.95, power_second=0.5 + 0.2 * b,
                    separable=b == 2,
                )
                for a, b in pairs
            )  # fmt: skip
            self.design_record(design, number + 1, powers, True, "Accepted: fine")
        self.design_record(self.design(1), 3, (), False, f"Refused: {EVIL}", name="3.1")

    def design_record(
        self,
        design: Design,
        cycle: int,
        powers: tuple[PairPower, ...],
        accepted: bool,
        reason: str,
        name: str = "",
    ) -> None:
        chosen = DesignChosen(
            cycle=cycle,
            number=1,
            experiment=name or design.name,
            design=self.trace.artifacts.put_json(design_to_json(design)),
            rivals=self.theories,
            n_candidates=44,
            n_trials=20,
            repetitions=2,
            n_participants=12,
            n_random=4,
            archive=design.archive,
            information=tuple(np.nan_to_num(design.information).tolist()),
            powers=powers,
            accepted=accepted,
            reason=reason,
        )
        self.record(chosen, "design", *self.theories, cycle=cycle)

    def collected(self) -> None:
        for number in (0, 1):
            design, chosen = self.design(number), self.state.experiments.designs[f"{number + 1}.1"]
            arrays = {}
            for name in self.theories:
                mean = self.predicted[name][self.rows(number)]
                arrays[f"{name}:proportions"] = np.stack([mean, mean - 0.1, mean + 0.1]).clip(0, 1)
            plan = self.record(
                Preregistration(
                    experiment=design.name,
                    design=chosen.record.design,
                    design_summary=f"twenty trials {EVIL}",
                    rivals=dict.fromkeys(self.theories, EVIL),
                    predictions=self.trace.artifacts.put_arrays(arrays),
                    n_draws=64,
                    n_participants=12,
                    exclusion_rules=(EVIL,),
                    powers=chosen.record.powers,
                    analysis=EVIL,
                    stopping_rule="fixed",
                ),
                "preregister",
                chosen.digest,
            )
            trials = self.answers(design.name, self.rows(number))
            ceiling = noise_ceiling(trials)
            assert ceiling is not None
            self.record(
                TrialsCollected(
                    experiment=design.name,
                    preregistration=plan.digest,
                    trials=self.trace.artifacts.put_json(trials.to_json()),
                    n_participants=12,
                    n_responses=trials.n_responses,
                    n_people=12,
                    pooled=False,
                    ceiling=ceiling.value,
                    ceiling_error=ceiling.standard_error,
                ),
                "collect",
                plan.digest,
            )

    def answers(self, name: str, rows: np.ndarray[Any, Any]) -> Trials:
        person, trial, repetition = (axis.ravel() for axis in np.indices((12, len(rows), 2)))
        response = (self.rng.random(len(trial)) < self.truth[rows][trial]).astype(np.int64)
        stimuli = self.stimuli.take(rows)
        return Trials(name, stimuli, person, trial, response, np.ones_like(repetition), n_people=12)

    def scored(self) -> None:
        for experiment, collected in self.state.experiments.collected.items():
            trials = Trials.from_json(self.trace.artifacts.get_json(collected.record.trials))
            rows = self.rows(int(experiment[0]) - 1)
            for name in self.theories:
                p = self.predicted[name][rows]
                shares = np.stack([1 - p, p], axis=1)
                units = UnitLogPredictives.of(
                    UnitScores((trials.counts * np.log(shares)).sum(axis=(1, 2)), np.full(12, 40.0))
                )
                error, correlation = proportion_error(shares, trials)
                self.record(
                    TheoryScored(
                        theory=name,
                        experiment=experiment,
                        trials=collected.record.trials,
                        engine="score-1",
                        n_draws=64,
                        left_out=units,
                        frozen=units if experiment == "2.1" or name != self.winner else None,
                        proportions=tuple(p.tolist()),
                        error=error,
                        correlation=correlation,
                    ),
                    "score",
                    name,
                    collected.digest,
                )

    def closed(self) -> None:
        score = self.state.theories.scores[self.winner, "2.1"].digest
        cites = (score, self.state.experiments.collected["2.1"].digest)
        claim = DiagnosisClaim(
            text=f"claim {EVIL}", feature="conflict", effect=0.1, z=3.2, q=0.00001, cites=cites, rule="slope",
            trigger=EVIL, interval=(0.05, 0.15), confidence=0.83, gain=0.01, gain_error=0.002,
            recommendation=f"recommended {EVIL}",
        )  # fmt: skip
        self.record(
            Diagnosis(
                cycle=1, loser=self.seeds[0], leader=self.winner, difference=0.1, standard_error=0.02, tie=False,
                claims=(claim,), location=f"conflict {EVIL}", hypothesis=EVIL, proposal=EVIL, remedies=(), test=EVIL,
                dependencies=EVIL, confidence=0.83, n_checks=62, n_replicas=200,
            ),
            "arbitrate", score,
        )  # fmt: skip
        attempts = [{"change": EVIL, "error": f"TheoryError: {EVIL}"}, {"change": "x", "error": ""}]
        artifact = self.trace.artifacts.put_json(attempts)
        self.record(
            SearchFinished(cycle=1, attempts=artifact, n_attempts=2, submissions=()),
            "revise",
            artifact,
        )
        self.record(EpochOpened(number=0, epoch="e" * 64, judges={EVIL: "f" * 64}), "open_epoch")
        verdict = self.record(
            Verdict(
                epoch="e" * 64, candidate=self.winner, incumbent=self.seeds[1], cycle=1, probability=0.8,
                opinions={EVIL: 0.8},
            ),
            "judge",
        )  # fmt: skip
        settled = self.record(
            resolve(verdict.record, verdict.digest, "2.1", -0.02), "settle", verdict.digest
        )
        evidence = (verdict.digest, settled.digest)
        lesson = pitfall_from_overturned("multiattribute", EVIL, EVIL, 0.8, -0.02, "2.1", evidence)
        self.record(lesson, "lesson", *evidence)
        for cycle in (1, 2):
            lines = tuple(
                LeaderboardLine(
                    theory=line.theory, score=line.score.value, standard_error=line.score.standard_error,
                    prequential=None, error=line.error, correlation=line.correlation,
                    behind=line.behind.value, behind_error=line.behind.standard_error, tied=line.tied,
                )
                for line in self.state.board().standings
            )  # fmt: skip
            stop = f"{ENDED_AS_SET}: 2 cycles" if cycle == 2 else ""
            self.record(
                CycleClosed(
                    cycle=cycle, leader=self.winner, leaderboard=lines, improved=True, stop=stop
                ),
                "close",
                cycle=cycle,
            )

    def concluded(self) -> None:
        trials = self.answers("sealed", np.arange(40, 44))
        self.record(
            SealedOpened(
                experiments=("a0",), trials=(self.trace.artifacts.put_json(trials.to_json()),), n_trials=4,
                n_responses=96,
            ),
            "open_sealed",
        )  # fmt: skip
        for fold in (0, 1):
            rows = self.rows(fold)
            self.record(
                FoldFinished(
                    fold=fold, run=f"folds/0{fold + 1}", form=self.winner, leader_name=EVIL, claim=EVIL,
                    rows=tuple(range(20)), observed=tuple(self.truth[rows].tolist()),
                    predicted=tuple(self.predicted[self.winner][rows].tolist()), baselines={},
                ),
                "fold", fold=fold,
            )  # fmt: skip
        errors = tuple(
            ErrorOnTrials(
                theory=name,
                open=0.01 * n,
                sealed=0.012 * n,
                sealed_error=0.002,
                all=0.011 * n,
                sealed_score=-0.6,
            )
            for n, name in enumerate(reversed(self.theories), start=1)
        )
        folds = (
            CrossValidated(name="leader", error=0.0123, standard_error=0.001),
            CrossValidated(name=EVIL, error=0.03, standard_error=0.002),
        )
        self.record(
            CampaignConcluded(
                leader=self.winner, runner_up=self.seeds[1], holds=True, text=f"The verdict: {EVIL}",
                stop=f"budget {EVIL}", advantage=0.05, advantage_error=0.01,
                interval=(0.03, 0.07), n_compared=1, basis="sealed trials", errors=errors,
                cross_validated=folds,
            ),
            "conclude",
        )  # fmt: skip


class Outline(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.parts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.parts).split())

    def attributes(self, name: str) -> list[str]:
        return [attributes[name] or "" for _, attributes in self.tags if name in attributes]


def outline(folder: Path, tmp_path: Path) -> Outline:
    return Outline(write_report(folder, tmp_path / "report.html").read_text(encoding="utf-8"))


def test_a_finished_run_is_reported_from_question_to_limits(finished: Path, tmp_path: Path) -> None:
    page = outline(finished, tmp_path)
    state, trace = read_state(finished)
    with trace:
        head = trace.journal.head[1]
    assert state.campaign.concluded is not None
    assert state.campaign.truth is not None
    with open_reading(finished) as reading:
        assert reading.leader is not None
        claim = reading.theory(reading.leader).claim
    for words in (
        state.campaign.concluded.record.headline,
        *state.campaign.concluded.record.text.removeprefix(
            state.campaign.concluded.record.headline
        ).split(f"Claim: {claim} "),
        state.theories.checked[state.campaign.concluded.record.leader].record.claim[1:],
        "No person took part",
        f"lakatos audit {finished}",
        head,
        state.campaign.truth.record.hidden,
        "Which rule do simulated people follow?",
        "scores were not computed again",
    ):
        assert " ".join(words.split()) in page.text
    headings = [tag for tag, _ in page.tags if tag == "h2"]
    assert len(headings) == 11


def test_every_section_of_an_eventful_run_has_its_facts(eventful: Path, tmp_path: Path) -> None:
    page = outline(eventful, tmp_path)
    for words in (
        "predicts better than every initial theory",
        "MIT",  # licence of the archive
        "middle 80% of the population: 1.05 to 3.78",
        "contradicted",
        "below 0.0001, gain 0.0100 nats",
        "62 checks against 200 simulated data sets of the theory",
        "Recommended: recommended",
        "Assumptions",
        "1 prediction is settled (mean log score",
        "could not be run",
        "This design was not run",
        "Only 4 trials were sealed",
        "Each experiment has 12 participants",
        "leading theory of each fold",
        "0.0105 to 0.0145",  # interval of the cross-validated error
        "selected from 3 scored theories, 1 of them selected from 2 candidates on the same data",
        "The search ended after 2 cycles, as set.",
    ):
        assert words in page.text


def test_each_experiment_says_whether_the_leader_was_found_without_it(
    eventful: Path, tmp_path: Path
) -> None:
    state, trace = read_state(eventful)
    with trace:
        first, second = leader_by_experiment(RunReading(eventful, state, trace))
    assert (first.experiment, first.found_before) == ("1.1", False)
    assert (second.experiment, second.found_before) == ("2.1", True)
    assert first.guessing == second.guessing == pytest.approx(-np.log(2))
    board = state.board()
    mean = (first.score.value + second.score.value) / 2
    assert mean == pytest.approx(board.leader.score.value)
    seeds = [line for line in board.standings[1:] if line.theory in state.seeds]
    assert first.ahead is not None
    assert second.ahead is not None
    assert (first.ahead.value + second.ahead.value) / 2 == pytest.approx(seeds[0].behind.value)
    page = outline(eventful, tmp_path)
    assert "The leading theory on each experiment, predicted from the others" in page.text


def test_one_experiment_is_said_to_be_too_few_to_leave_one_out(eventful: Path) -> None:
    state, trace = read_state(eventful)
    with trace:
        reading = RunReading(eventful, state, trace)
        assert not any(text.startswith("There was only one experiment") for text in limits(reading))
        reading.board = replace(state.board(), experiments=("1.1",))
        assert any(text.startswith("There was only one experiment") for text in limits(reading))


@pytest.mark.slow
def test_the_same_trace_gives_the_same_bytes(eventful: Path, tmp_path: Path) -> None:
    for folder in ("one", "two"):  # a report names its summary
        (tmp_path / folder).mkdir()
    first = write_report(eventful, tmp_path / "one" / "report.html").read_bytes()
    assert write_report(eventful, tmp_path / "two" / "report.html").read_bytes() == first


def test_the_report_lands_in_the_run_unless_told_otherwise(finished: Path) -> None:
    assert write_report(finished) == finished / "report.html"


@pytest.mark.slow
@pytest.mark.parametrize("until", STAGES[:-1])
def test_a_run_can_be_reported_while_it_goes_on(until: str, tmp_path: Path) -> None:
    page = outline(WrittenRun(tmp_path / "run").write(until), tmp_path)
    assert "Unfinished: there is no verdict yet" in page.text
    assert "The run has not ended" in page.text
    found_so_far = until in {
        "scored",
        "closed",
    }  # from the first scores on, there is a leader to tell of
    assert len([tag for tag, _ in page.tags if tag == "h2"]) == 9 + 2 * found_so_far


@pytest.mark.slow
def test_a_run_can_be_reported_while_another_process_writes_it(tmp_path: Path) -> None:
    folder = WrittenRun(tmp_path / "run").write("scored")
    with Trace.open(folder, RECORD_TYPES):
        assert "so far T3" in outline(folder, tmp_path).text


def test_intervals_of_shares_count_people_where_they_can_be_told_apart() -> None:
    stimuli = DOMAIN.candidates(SPACE, np.random.default_rng(0), 1)
    people, trial = np.repeat(np.arange(10), 3), np.zeros(30, dtype=np.int64)
    response = (people < 8).astype(np.int64)
    apart = ChoiceShares.of(
        Trials("e", stimuli, people, trial, response, np.ones(30, dtype=np.int64))
    )
    pooled = ChoiceShares.of(
        Trials("e", stimuli, people * 0, trial, response, np.ones(30, dtype=np.int64), pooled=True)
    )
    assert (apart.low[0], apart.high[0]) == pytest.approx(
        [end[0] for end in wilson(np.array([0.8]), np.array([10]))]
    )
    assert (pooled.low[0], pooled.high[0]) == pytest.approx(
        [end[0] for end in wilson(np.array([0.8]), np.array([30]))]
    )


@pytest.mark.slow
def test_a_large_family_keeps_the_winner_s_ancestors_and_tells_what_is_left_out(
    tmp_path: Path,
) -> None:
    written = WrittenRun(tmp_path / "run")
    written.write("scored")
    with Trace.open(written.folder, RECORD_TYPES) as written.trace:
        for number in range(80):
            source = FAMILIES["multiattribute"].program("tallying").source + f"# {number}\n"
            written.check(source, 2, parents=(written.winner,))
    page = outline(written.folder, tmp_path)
    assert "81 theories that were neither admitted nor ancestors are not drawn here" in page.text
    assert "T83 Tallying" in page.text


def test_text_from_outside_stays_text(eventful: Path, tmp_path: Path) -> None:
    page = outline(eventful, tmp_path)
    assert "script" not in {tag for tag, _ in page.tags}
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert not [
        tag for tag, _ in page.tags if tag in ("img", "iframe", "object", "embed", "base", "form")
    ]
    assert page.text.count("<script>") > 20
    assert "{{7*7}}" in page.text
    policy = [attributes["content"] for tag, attributes in page.tags if "http-equiv" in attributes]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]


def test_control_characters_and_turned_text_are_left_out() -> None:
    assert clean("a\x00b\u202ec\nd\ud800") == "abc\nd"


@pytest.mark.slow
def test_figures_can_be_read_aloud_and_names_in_the_page_are_unique(
    eventful: Path, tmp_path: Path
) -> None:
    page = outline(eventful, tmp_path)
    drawings = [attributes for tag, attributes in page.tags if tag == "svg"]
    assert len(drawings) >= 6
    assert all(
        attributes.get("role") in ("img", "group") and attributes.get("aria-label")
        for attributes in drawings
    )
    repeated = [name for name, count in Counter(page.attributes("id")).items() if count > 1]
    assert not repeated
    local = [link[1:] for link in page.attributes("href") if link.startswith("#")]
    assert set(local) <= set(page.attributes("id"))
    assert not [link for link in page.attributes("href") + page.attributes("src") if "//" in link]


def test_a_run_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunMissingError, match="there is no run in"):
        write_report(tmp_path / "nothing")


def test_a_damaged_trace_is_said_to_be_damaged(tmp_path: Path) -> None:
    folder = WrittenRun(tmp_path / "run").write("scored")
    with Trace.open(folder, RECORD_TYPES) as trace:
        damaged = trace.artifacts.path_of(trace.artifacts.put(b"a table"))
    damaged.chmod(0o644)
    damaged.write_bytes(b"another table")
    page = outline(folder, tmp_path)
    assert "a check failed. Do not rely on this report" in page.text


@pytest.mark.slow
def test_a_verdict_on_the_data_that_made_the_winner_is_not_called_shown(tmp_path: Path) -> None:
    written = WrittenRun(tmp_path / "run")
    written.write("closed")
    with Trace.open(written.folder, RECORD_TYPES) as trace:
        trace.record(
            CampaignConcluded(
                leader=written.winner, runner_up=None, holds=True, text="T", stop="", advantage=0.05,
                advantage_error=0.01,
                interval=(0.03, 0.07), n_compared=1,
                basis=EXPLORATORY, errors=(),
                cross_validated=(),
            ),
            name="conclude",
        )  # fmt: skip
    page = outline(written.folder, tmp_path)
    assert "Exploratory:" in page.text
    assert "Supported:" not in page.text


@pytest.mark.slow
@pytest.mark.parametrize(("tied", "head"), [(1, "No clear evidence:"), (None, "Supported:")])
def test_a_verdict_is_not_called_shown_above_a_leaderboard_on_which_a_first_rival_is_tied(
    tied: int | None, head: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Verdicts of earlier versions rested on one comparison alone."""
    written = WrittenRun(tmp_path / "run")
    written.write("closed")
    with Trace.open(written.folder, RECORD_TYPES) as trace:
        trace.record(
            CampaignConcluded(
                leader=written.winner, runner_up=None, holds=True, text="T", stop="", advantage=0.05,
                advantage_error=0.01, interval=(0.03, 0.07), n_compared=1,
                basis="predictions frozen before 1 experiment", errors=(), cross_validated=(),
            ),
            name="conclude",
        )  # fmt: skip
    on_board = [] if tied is None else [written.seeds[tied]]
    monkeypatch.setattr(RunReading, "tied_with_leader", on_board)
    page = outline(written.folder, tmp_path)
    assert head in page.text
    assert {"No clear evidence:": "Supported:", "Supported:": "No clear evidence:"}[
        head
    ] not in page.text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rival", "words"),
    [
        (0, "The verdict compares the leading theory with the closest initial theory,"),
        (1, "It is also the closest initial theory"),
        (None, ". Reason for stopping"),
    ],
    ids=["another", "the same", "none"],
)
def test_whether_the_second_is_the_rival_of_the_verdict_is_said(
    rival: int | None, words: str, tmp_path: Path
) -> None:
    written = WrittenRun(tmp_path / "run")
    written.write("closed")
    with Trace.open(written.folder, RECORD_TYPES) as trace:
        trace.record(
            CampaignConcluded(
                leader=written.winner, runner_up=written.seeds[1], holds=True, text="T", stop="", advantage=0.05,
                rival=None if rival is None else written.seeds[rival], advantage_error=0.01,
                interval=(0.03, 0.07), n_compared=1, basis="sealed trials", errors=(), cross_validated=(),
            ),
            name="conclude",
        )  # fmt: skip
    assert words in outline(written.folder, tmp_path).text


@pytest.mark.parametrize(
    ("people", "words"),
    [
        ({"source": "web"}, "Participants responded on the laboratory's own page"),
        ({"source": "simulated", "program": LEAN}, "generated the responses from the rule Lean ."),
    ],
    ids=["page", "program"],
)
def test_whose_choices_they_are_is_said(people: dict[str, str], words: str, tmp_path: Path) -> None:
    written = WrittenRun(tmp_path / "run")
    written.config = small_study(participants=people)
    page = outline(written.write("started"), tmp_path)
    assert words in page.text
    assert "published responses" not in page.text


def test_where_a_theory_comes_from_is_said() -> None:
    brought = [origin(author) for author in ("published", OWN, "grammar")]
    assert brought == [
        "published",
        "given in the study",
        "found by the search over combinations of mechanisms",
    ]


@pytest.mark.slow
def test_reading_a_run_does_not_load_prefect() -> None:
    command = "import sys, lakatos.flows.report.report; sys.exit('prefect' in sys.modules)"
    root = Path(__file__).resolve().parents[3]
    assert subprocess.run([sys.executable, "-c", command], cwd=root, check=False).returncode == 0


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([], "guessing scores \N{MINUS SIGN}0.693"),
        ([2], "guessing scores \N{MINUS SIGN}0.693"),
        (
            [2, 4],
            "guessing scores \N{MINUS SIGN}0.693 and a guess among 4 options gets \N{MINUS SIGN}1.386",
        ),
        ([3], "a guess among 3 options gets \N{MINUS SIGN}1.099"),
    ],
)
def test_what_a_guess_scores_depends_on_the_number_of_options(
    numbers: list[int], words: str
) -> None:
    assert guess(numbers) == words


def test_the_last_of_so_many_options_is_called_by_its_label_if_it_has_one() -> None:
    assert option_label(DOMAINS["offers"], 2) == "C"
    assert option_label(DOMAINS["multiattribute"], 1) == "B"
    assert option_label(DOMAINS["learning"], 3) == "option 4"


def test_wilson_interval_matches_the_published_value() -> None:
    # Newcombe (1998), Statistics in Medicine 17, 857-872, table I: 81 of 263 gives 0.2553 to 0.3662.
    low, high = wilson(np.array([81 / 263]), np.array([263]))
    assert (low[0], high[0]) == pytest.approx((0.2553, 0.3662), abs=5e-5)


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(
        st.text(),
        st.sampled_from(
            [
                "x = 'a",
                "def f(:\n\t1",
                '"""a\nb"""\nif x < 3: pass  # <b>\n',
                "é = 'ü' + 1e5\r\n",
                "(",
                "\\",
            ]
        ),
    )
)
def test_colouring_changes_no_character_of_the_source(source: str) -> None:
    assert unescape(re.sub(r"<[^>]*>", "", str(coloured(source)))) == source


@given(st.text(), st.integers(min_value=4, max_value=60))
def test_shortened_text_fits(text: str, width: int) -> None:
    assert len(shortened(text, width)) <= width


@pytest.mark.parametrize(
    ("run", "width", "scheme"),
    [
        ("finished", 1200, "light"),
        *(
            pytest.param(*rest, marks=pytest.mark.slow)
            for rest in product(("eventful", "finished"), (390, 1200), ("dark", "light"))
            if rest != ("finished", 1200, "light")
        ),
    ],
)
def test_a_browser_shows_it_without_errors_requests_or_sideways_scrolling(
    eventful: Path, finished: Path, chrome: Any, run: str, width: int, scheme: str, tmp_path: Path
) -> None:
    # Both campaigns end before Chromium starts, whose event loop lets no other run in this thread.
    path = write_report({"eventful": eventful, "finished": finished}[run], tmp_path / "report.html")
    page = chrome.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda found: asked.append(found.url))
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true })")
    assert said == []
    assert asked == [path.as_uri()]
    assert page.title().endswith(": report")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 23, 26)"
    assert dark == (scheme == "dark")
    page.close()


def test_the_report_and_why_name_the_same_trial_as_the_one_that_favours_the_leader_most(
    eventful: Path,
) -> None:
    with open_reading(eventful) as reading:
        leader, rival = reading.leader, reading.first_rival
        assert leader is not None
        assert rival is not None
        shown = example_trial(reading, leader)
        favouring = favouring_trials(reading, leader, rival)
    (first, *_) = why(eventful).carried
    assert shown is not None
    assert (first.experiment, first.n_answers) == (shown["experiment"], shown["n_responses"])
    assert (f"{first.leader:.0%}", f"{first.rival:.0%}") == (shown["predicted"], shown["by_rival"])
    assert first.nats == max(item.nats for item in favouring) > 0
