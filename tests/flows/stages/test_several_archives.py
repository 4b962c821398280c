"""A study of two published data sets: each is asked, and each is predicted with people whom only the other taught."""

from pathlib import Path

import numpy as np
import pytest

from lakatos.domains import ARCHIVES, DOMAINS, FAMILIES
from lakatos.experiments.data_sets import data_set_of, data_sets_of
from lakatos.experiments.errors import DataMissingError, TrialsError
from lakatos.flows.audit.audit import audit
from lakatos.flows.errors import StudyError, TransferError
from lakatos.flows.operations.transfer import check_travel, find_travelling, read_target
from lakatos.flows.report.by_experiment import leader_by_experiment
from lakatos.flows.report.reader import RunReading
from lakatos.flows.report.report import render
from lakatos.flows.run.run import read_state
from lakatos.flows.run.source import archive_trials
from lakatos.flows.run.study import parse_study
from lakatos.flows.start import run_study
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import log_predictive
from lakatos.theories.language.theory import read_program
from tests.flows.small import small_study

TWO = ("allais", "risky_spektor2024")
SECTIONS = {
    "domain": "risky",
    "space": {},
    "theories": {
        "seeds": ["expected_value", "expected_utility"], "candidates": 3, "successors": 1, "draws": 64,
        "rivals": 2, "advocates": ["grammar"],
    },
    "design": {"trials": 12, "refused": "cover"},
    "stop": {"cycles": 2, "least_cycles": 2},
    "validation": {"comparison_models": False, "sealed_share": 0.2},
}  # fmt: skip


def study(archive, **people):
    people = {"source": "archival", "archive": archive, "pooled": True} | people
    return small_study(**SECTIONS, participants=people)


@pytest.fixture(scope="module", name="data")
def data_folder_there(data_folder, require):
    require((data_folder / TWO[1]).is_dir(), f"the data set {TWO[1]} is missing")
    return data_folder


class TestStudies:
    def test_a_list_of_one_is_the_study_that_it_was_before(self):
        assert study(["allais"]).digest == study("allais").digest
        assert study("allais").identity["participants"]["archive"] == "allais"

    def test_several_are_written_as_a_list_and_read_again(self):
        own = study(list(TWO))
        assert own.identity["participants"]["archive"] == list(TWO)
        assert parse_study(own.identity, "again").digest == own.digest

    @pytest.mark.parametrize(
        ("archive", "problem"),
        [
            (["allais", "allais"], "the archive 'allais' is named twice"),
            (["allais", "zzz"], r"no archive 'zzz'\. Known: "),
            (["allais", "games_zhu2024"], "'games_zhu2024' is of the domain 'games', not 'risky'"),
            ([], "the list is empty"),
            (["allais", ""], "the list is empty"),
        ],
    )
    def test_what_cannot_stand_together_is_refused_before_anything_is_read(self, archive, problem):
        with pytest.raises(StudyError, match=problem):
            study(archive)

    def test_experiments_are_called_after_their_data_sets(self, data):
        found = archive_trials(study(list(TWO)), data)
        assert found[0].experiment == "allais/kahneman_tversky_1979"
        assert {data_set_of(item.experiment) for item in found} == set(TWO)

    def test_counts_and_single_answers_are_not_mixed(self, data):
        with pytest.raises(TrialsError, match=r"participants\.pooled = true"):
            archive_trials(study(list(TWO), pooled=False), data)

    def test_a_pattern_that_leaves_nothing_of_a_data_set_is_refused(self, data):
        with pytest.raises(DataMissingError, match=r"no experiment of allais .* have no part"):
            archive_trials(study(list(TWO), experiments="risky_spektor2024/exp1*"), data)


@pytest.mark.slow
def test_a_data_set_is_predicted_with_people_whom_the_others_taught(data):
    trials = archive_trials(study(list(TWO)), data)[:3]
    apart = trials[:1], trials[1:]
    assert data_sets_of(item.experiment for item in trials)
    form = read_program(FAMILIES["risky"].program("expected_utility"))
    with Laboratory(DOMAINS["risky"], 1) as laboratory:
        (people,) = laboratory.people_of([form], [{}], trials)
        (scored,) = laboratory.scores_of([form.with_people(people, pooled=True)], trials, 64)
        wanted = []
        for there, others in (apart, apart[::-1]):
            (taught,) = laboratory.people_of([form], [{}], others)
            evidence = laboratory.evidence(form.with_people(taught, pooled=True), there, 64)
            wanted += [log_predictive(item).log_predictive for item in evidence]
    for found, own in zip(scored, wanted, strict=True):
        assert np.array_equal(found.left_out.log_predictive, own)


@pytest.fixture(scope="module", name="run")
def run_of_two(data, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("two") / "run"
    run_study(study(list(TWO)), folder, data=data, n_workers=1)
    return folder


@pytest.mark.slow
class TestCampaign:
    def test_both_are_asked_and_the_verdict_says_how_each_is_predicted(self, run):
        state, trace = read_state(run)
        trace.close()
        assert data_sets_of(state.experiments.collected)
        text = state.campaign.concluded.record.text
        assert "with parameters estimated from the other data sets" in text
        assert all(f"{name} -" in text for name in TWO)

    def test_the_report_s_table_has_a_line_for_each_data_set(self, run):
        state, trace = read_state(run)
        with trace:
            reading = RunReading(run, state, trace)
            lines, page = leader_by_experiment(reading), render(reading)
        assert {line.experiment for line in lines} == set(TWO)
        assert "The leading theory on each data set, predicted from the others" in page
        assert all(ARCHIVES[name].title in page for name in TWO)

    def test_the_audit_computes_it_again(self, run, data):
        assert audit(run, data=data).passed

    def test_a_data_set_that_the_theory_was_found_on_is_no_target(self, run, data):
        theory = find_travelling(str(run), run.parent, data=data)
        assert set(theory.found_on) == set(TWO)
        for name in TWO:
            target = [item.experiment for item in read_target(name, "*", data)]
            with pytest.raises(TransferError, match=f"was found on .* of {name}, so"):
                check_travel(theory, name, "risky", target)
        check_travel(theory, "risky_cpc18", "risky", ["cpc18"])
