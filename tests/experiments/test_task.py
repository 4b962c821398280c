import numpy as np
import pytest

from lakatos.domains.learning.task import LearningDomain
from lakatos.domains.multiattribute.task import MultiattributeDomain
from lakatos.experiments import task
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Stimuli, Trials, identities, with_random_sides

STIMULI = Stimuli({"x": np.arange(3.0)})


def trials(participant=(0, 0, 1), trial=(0, 1, 2), response=(0, 1, 1), count=(1, 1, 1), **further):
    columns = (np.asarray(column) for column in (participant, trial, response, count))
    return Trials("coins", STIMULI, *columns, **further)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"response": (0.0, np.nan, 1.0)},
            r"coins: row 1 \(participant 0, trial 1, response nan\) has no response",
        ),
        ({"response": (0, 1, -1)}, r"row 2 .* has no response; leave rows without an answer out"),
        ({"response": (0, 2, 1)}, r"row 1 .* holds an unknown option; responses are 0 to 1"),
        ({"trial": (0, 1, 7)}, r"row 2 .* names a trial outside 0\.\.2"),
        ({"participant": (0, -1, 1)}, "row 1 .* names nobody"),
        ({"count": (1, -1, 1)}, "row 1 .* fewer than 0 answers"),
        (
            {"feedback": {"reward": np.array([1.0, np.nan, 0.0])}},
            "the feedback 'reward' must be a finite number",
        ),
        ({"feedback": {"reward": np.zeros(2)}}, "for each of 3 answers"),
        ({"count": (1, 1)}, "column 'count' has 2 rows, not 3"),
    ],
)
def test_answers_that_cannot_be_are_refused_with_their_row_and_what_to_do(changes, words):
    with pytest.raises(TrialsError, match=words):
        trials(**changes)


def test_one_participant_is_not_enough_to_compare_theories():
    with pytest.raises(
        TrialsError, match=r"responses of 1 participant; .* at least 2. Collect more"
    ):
        trials(participant=(0, 0, 0)).check_comparable()


def test_one_trial_is_not_enough_to_compare_theories():
    with pytest.raises(TrialsError, match=r"answers to 1 trial; .* Ask more"):
        trials(trial=(1, 1, 1)).check_comparable()


def test_counts_of_unknown_people_and_ordinary_answers_can_be_compared():
    trials(participant=(0, 0, 0), pooled=True, n_people=9).check_comparable()
    trials().check_comparable()


def test_sequences_keep_each_persons_order_whatever_the_order_of_rows():
    mixed = trials(
        participant=(1, 0, 1, 0, 1), trial=(2, 0, 1, 1, 0), response=(1, 0, 0, 1, 1), count=(1,) * 5,
        feedback={"reward": np.array([5.0, 1.0, 6.0, 2.0, 7.0])},
    ).sequences  # fmt: skip
    np.testing.assert_array_equal(mixed.trial, [[0, 1, -1], [2, 1, 0]])
    np.testing.assert_array_equal(mixed.response, [[0, 1, 0], [1, 0, 1]])
    np.testing.assert_array_equal(mixed.feedback["reward"], [[1.0, 2.0, 0.0], [5.0, 6.0, 7.0]])


def test_answers_with_feedback_survive_an_artifact():
    given = trials(feedback={"reward": np.array([0.5, 0.0, 1.0])})
    again = Trials.from_json(given.to_json())
    np.testing.assert_array_equal(again.feedback["reward"], given.feedback["reward"])
    assert again.to_json() == given.to_json()


def test_sides_by_lot_change_half_of_the_trials_and_nothing_else():
    domain = MultiattributeDomain()
    space = domain.space({"validities": [0.9, 0.8, 0.7], "levels": [0, 1, 2]})
    mixed = with_random_sides(domain, space, np.random.default_rng(0))
    turned = domain.swap_sides(space)
    same = [key == own for key, own in zip(mixed.keys, space.keys, strict=True)]
    assert all(
        key in pair
        for key, pair in zip(mixed.keys, zip(space.keys, turned.keys, strict=True), strict=True)
    )
    assert abs(np.mean(same) - 0.5) < 4 * 0.5 / np.sqrt(len(space))
    assert identities(domain, mixed) == identities(domain, space)


def test_the_steps_of_a_schedule_keep_their_sides():
    domain = LearningDomain()
    schedule = domain.space({"n_steps": 8})
    assert with_random_sides(domain, schedule, np.random.default_rng(0)).keys == schedule.keys


def test_neighbours_of_one_form_become_one_part_in_the_same_order():
    narrow = [Stimuli({"x": np.arange(n, dtype=float)}) for n in (2, 3, 1)]
    wide = Stimuli({"x": np.zeros((2, 4))})
    parts = Stimuli.in_few_parts([narrow[0], narrow[1], wide, narrow[2]])
    assert [len(part) for part in parts] == [5, 2, 1]
    assert parts[0]["x"].tolist() == [0.0, 1.0, 0.0, 1.0, 2.0]


def test_answers_in_counts_are_the_same_without_saying_whose():
    single = trials(
        participant=(0, 0, 1, 1), trial=(0, 1, 0, 0), response=(0, 1, 0, 1), count=(1, 1, 1, 1)
    )
    counts = single.in_counts()
    assert counts.pooled
    assert (counts.n_people, counts.n_participants) == (2, 1)
    np.testing.assert_array_equal(counts.counts[0], single.counts.sum(axis=0))


@pytest.mark.parametrize("most", [1, 60, 2**23])
def test_counts_of_some_people_at_a_time_are_the_counts(monkeypatch, most):
    rng = np.random.default_rng(0)
    answers = Trials(
        experiment="x",
        stimuli=Stimuli({"level": np.arange(5.0)}),
        participant=np.append(rng.integers(9, size=59), 8),
        trial=rng.integers(5, size=60),
        response=rng.integers(3, size=60),
        count=rng.integers(3, size=60),
        n_options=3,
    )
    monkeypatch.setattr(task, "MOST_COUNTED", most)
    parts = list(answers.counts_of_some())
    assert np.array_equal(np.concatenate([counts for _, counts in parts]), answers.counts)
    people = np.concatenate([np.arange(9)[who] for who, _ in parts])
    assert np.array_equal(people, np.arange(9))
    assert np.array_equal(answers.n_people_asked, (answers.counts.sum(axis=2) > 0).sum(axis=0))
