"""Searches on a growing part of the answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.subset import LEAST_TRIALS, some_people, some_trials
from lakatos.experiments.task import Trials
from lakatos.theories.discovery.grammar_search import composition_search
from lakatos.theories.discovery.grammar_search.composition_search import search_compositions
from lakatos.theories.discovery.grammar_search.proposal import AdvocateBrief, SearchProposal
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.theory import read_program

FAMILY, DOMAIN = FAMILIES["multiattribute"], DOMAINS["multiattribute"]
TRUTH = "weighted_additive"
SPACE = {"validities": [0.8, 0.7, 0.6], "levels": [0, 1, 2]}


@pytest.fixture(scope="module")
def trials() -> Trials:
    """Answers of 16 people to 40 trials each."""
    theory = read_program(FAMILY.program(TRUTH))
    stimuli = DOMAIN.candidates(SPACE, np.random.default_rng(0), 40)
    with Laboratory(DOMAIN, 1) as laboratory:
        (found,) = laboratory.simulate([theory], stimuli, 16, np.random.default_rng(1))
    return found


def test_some_trials_keep_their_answers_and_all_are_kept_where_there_are_few(
    trials: Trials,
) -> None:
    other = replace(trials, experiment="other")
    few = some_trials([trials, other], 20, np.random.default_rng(0))
    assert [len(item.stimuli) for item in few] == [10, 10]
    keys = trials.stimuli.keys
    for item in few:
        rows = [keys.index(key) for key in item.stimuli.keys]
        np.testing.assert_array_equal(item.counts, trials.counts[:, rows])
    assert some_trials([trials], 40, np.random.default_rng(0)) == [trials]


def test_some_people_keep_all_their_answers_in_order(trials: Trials) -> None:
    (few,) = some_people([trials], 160, np.random.default_rng(0))
    assert few.n_participants == 4
    sequences = {tuple(row) for row in trials.sequences.trial.tolist()}
    assert {tuple(row) for row in few.sequences.trial.tolist()} <= sequences
    assert some_people([trials], 640, np.random.default_rng(0)) == [trials]


def test_people_who_answered_none_of_some_trials_are_left_out(trials: Trials) -> None:
    apart = trials.participant % 2 == trials.trial % 2
    thin = replace(
        trials,
        participant=trials.participant[apart],
        trial=trials.trial[apart],
        response=trials.response[apart],
        count=trials.count[apart],
        attributes={"age": np.arange(trials.n_participants)},
    )
    chance, same_chance = np.random.default_rng(3), np.random.default_rng(3)
    (few,) = some_trials([thin], 1, chance)
    assert (few.n_choices > 0).all()
    kept = same_chance.choice(len(thin.stimuli), LEAST_TRIALS, replace=False)
    asked = np.unique(thin.participant[np.isin(thin.trial, kept)])
    assert 0 < len(asked) < thin.n_participants
    assert few.attributes["age"].tolist() == asked.tolist()


def searched(
    trials: Trials, n_workers: int, told: list[tuple[int, float]] | None = None
) -> SearchProposal:
    start = tuple(composition for _, composition in FAMILY.seeds.values())[:4]
    brief = AdvocateBrief((), published=start, n_candidates=8, n_successors=2, looks_back=False)
    with Laboratory(DOMAIN, n_workers) as laboratory:
        return search_compositions(
            laboratory,
            FAMILY.grammar,
            brief,
            [trials],
            np.random.default_rng(2),
            report=None if told is None else lambda *said: told.append(said),
        )


@pytest.mark.slow
def test_what_was_found_on_some_trials_is_submitted_with_its_fit_to_all(
    trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same theories come out whatever the number of workers."""
    monkeypatch.setattr(composition_search, "MOST_TRIALS", (10, 20))
    told: list[tuple[int, float]] = []
    found = searched(trials, 1, told)
    assert found.submitted
    assert [tried for tried, _ in told] == sorted({tried for tried, _ in told})
    assert told[-1][0] == 8
    assert [best for _, best in told] == sorted(best for _, best in told)
    with Laboratory(DOMAIN, 2) as laboratory:
        whole = laboratory.evaluate(
            FAMILY.grammar,
            [(Composition(item.composition.slots), None) for item in found.submitted],
            [trials],
        )
    for item, own in zip(found.submitted, whole, strict=True):
        assert item.evaluated is not None
        assert not isinstance(own, Exception)
        assert item.evaluated.mean == pytest.approx(own.mean, abs=1e-12)
    assert len({item.composition.key for item in found.attempts}) == len(found.attempts) >= 8
    again = searched(trials, 2)
    assert [item.composition.key for item in again.attempts] == [
        item.composition.key for item in found.attempts
    ]
    assert [item.criterion for item in again.submitted] == [
        item.criterion for item in found.submitted
    ]


@pytest.mark.slow
def test_the_best_of_a_size_may_be_a_form_that_only_elimination_fitted(trials: Trials) -> None:
    found = searched(trials, 1)
    sizes = [item.evaluated.n_mechanisms for item in found.sizes if item.evaluated]
    assert sizes == sorted(set(sizes))
    tried = {item.composition.key for item in found.attempts}
    assert {item.composition.key for item in found.sizes} - tried
