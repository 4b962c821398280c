"""Published learning of people of different ages: what is read, and what is refused."""

import json

import numpy as np
import pytest

from lakatos.domains.learning.archives.probability_thoma2025 import (
    N_STEPS,
)
from lakatos.domains.learning.archives.probability_thoma2025 import (
    READER as PROBABILITY,
)
from lakatos.domains.learning.archives.probability_thoma2025 import (
    read_record as read_learner,
)
from lakatos.domains.learning.archives.two_step_nussenbaum2020 import (
    READER as TWO_STEP,
)
from lakatos.domains.learning.archives.two_step_nussenbaum2020 import (
    read_record as read_traveller,
)
from lakatos.domains.learning.task import LearningDomain
from lakatos.domains.published_data import fetch_archive, load_archive
from lakatos.experiments.errors import DataMissingError, TrialsError
from lakatos.experiments.participants.archival import restrict
from lakatos.experiments.task import Trials

DOMAIN = LearningDomain()
TWO_STEPS = """Choose one alien by pressing the J key and the other alien by pressing theCkey.
Choose one spaceship by pressing the M key and the other spaceship by pressing theXkey.
You press <<X>> and arrive at planet 0.
You press <<J>> to ask alien F for space treasure.\x20
The alien gives you 1 treasure.\x20
You press <<M>> and arrive at planet 1.
You were too slow to select an alien.\x20
The alien gives you 0 treasure.\x20
You were too slow to select a spaceship.\x20
You press <<C>> to ask alien F for space treasure.\x20
The alien gives you 0 treasure.\x20
You press <<M>> and arrive at planet 1.
You press <<C>> to ask alien U for space treasure.\x20
The alien gives you 0 treasure.\x20
"""
HOUSES = "You will see two houses labeled 'S' and I'.\n"
LEFT = (
    "Trial {}: You choose house <<S>>. At house 'S', there is an animal hiding. At house 'I', there is no animal "
    "hiding.\nYour choice was correct and you receive a reward.\n"
)
RIGHT = (
    "Trial {}: You choose house <<I>>. At house 'S', there is an animal hiding. At house 'I', there is no animal "
    "hiding.\nYour choice was incorrect and you do not receive a reward.\n"
)


def traveller(text=TWO_STEPS, age=12.5):
    return json.dumps({"text": text, "age": age})


def learner(text=None, **changed):
    if text is None:
        text = HOUSES + "".join(
            (RIGHT if number % 3 == 0 else LEFT).format(number) for number in range(1, N_STEPS + 1)
        )
    known = {"text": text, "age": "4.5", "gender": "male", "condition": "ecol_dyn"}
    return json.dumps(known | changed)


@pytest.fixture(scope="module")
def travellers(data_folder, require):
    require((data_folder / TWO_STEP.name).is_dir(), f"the data set {TWO_STEP.name} is missing")
    return load_archive(TWO_STEP.name, data_folder)


@pytest.fixture(scope="module")
def learners(data_folder, require):
    require((data_folder / PROBABILITY.name).is_dir(), f"{PROBABILITY.name} is missing")
    return load_archive(PROBABILITY.name, data_folder)


def test_travellers_of_three_ages_made_the_trials_of_which_both_picks_were_in_time(travellers):
    assert [item.experiment for item in travellers] == ["children", "adolescents", "adults"]
    assert [item.n_people for item in travellers] == [38, 45, 42]
    # of 49,373 picks 405 belong to trials in which the other pick came too late
    assert sum(item.n_responses for item in travellers) == 2 * 24_484
    for trials, limits in zip(travellers, ((8, 13), (13, 18), (18, 26)), strict=True):
        DOMAIN.check(trials.stimuli)
        ages = trials.attributes["age_years"]
        assert limits[0] <= ages.min() <= ages.max() < limits[1]


def test_spaceships_mostly_fly_to_planets_of_their_own(travellers):
    common, n_trials = 0, 0
    for trials in travellers:
        first = np.asarray(trials.trial) % 2 == 0
        crossed = (trials.response[first] == 1) == (trials.feedback["next_state"][first] == 1)
        for person in range(trials.n_participants):
            own = crossed[trials.participant[first] == person]
            common, n_trials = common + max(own.sum(), (~own).sum()), n_trials + len(own)
    assert abs(common / n_trials - 0.7) < 4 * np.sqrt(0.7 * 0.3 / n_trials) + 0.01


def test_learners_of_six_groups_made_99_predictions_each(learners):
    assert [(item.experiment, item.n_people) for item in learners] == [
        ("static_high-children", 101),
        ("static_high-adults", 30),
        ("static_random-children", 96),
        ("static_random-adults", 29),
        ("ecol_dyn-children", 94),
        ("ecol_dyn-adults", 26),
    ]
    for trials in learners:
        DOMAIN.check(trials.stimuli)
        assert trials.n_responses == 99 * trials.n_people
        is_adult = trials.experiment.endswith("adults")
        assert ((trials.attributes["age_years"] >= 18) == is_adult).all()


def test_adults_find_the_better_house_more_often_than_children(learners):
    share = {item.experiment: item.feedback["reward"].mean() for item in learners}
    assert share["static_high-adults"] > share["static_high-children"] > 0.5


def test_reads_complete_trials_of_the_two_step_task():
    age, trials = read_traveller(traveller(), "here")
    assert age == 12.5
    assert trials == [(1, 1, 0, 1), (0, 2, 1, 0)]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (traveller(age=7.9), "age is 7.9"),
        (traveller(age=None), "age is None"),
        (traveller(TWO_STEPS.replace("theCkey", "the key")), "must name two keys"),
        (traveller(TWO_STEPS.replace("<<X>>", "<<Q>>")), "keys Q and J are not those"),
        (traveller(TWO_STEPS.replace("planet 0", "planet 5")), "no part of a trial"),
        (traveller(TWO_STEPS + "You win."), "'You win.' is no part of a trial"),
        (traveller(TWO_STEPS.split("You press")[0]), "no complete trial"),
        ("[1]", "session in words"),
    ],
)
def test_a_damaged_traveller_is_refused(line, words):
    with pytest.raises(TrialsError, match=f"here: .*{words}"):
        read_traveller(line, "here")


def test_reads_predictions_and_their_rewards():
    person = read_learner(learner(), "here")
    assert person.picks[:4] == (0, 0, 1, 0)
    assert person.rewards[:4] == (1, 1, 0, 1)
    assert (person.group, person.condition, person.is_female) == ("children", "ecol_dyn", False)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (learner(condition="other"), "unknown condition 'other'"),
        (learner(age="old"), "age is 'old'"),
        (learner(HOUSES + LEFT.format(1)), "1 trials of 1 picks, not 99"),
        (learner(HOUSES + LEFT.format(2)), "trial 2 is out of order"),
        (learner(HOUSES + LEFT.format(1).replace("<<S>>", "<<I>>")), "rewards another house"),
        (learner("No houses."), "must name two houses"),
    ],
)
def test_a_damaged_learner_is_refused(line, words):
    with pytest.raises(TrialsError, match=f"here: .*{words}"):
        read_learner(line, "here")


class TestAttributes:
    TRIALS = Trials(
        "old", DOMAIN.space({"n_steps": 2}), np.repeat(np.arange(3), 2), np.tile(np.arange(2), 3),
        np.zeros(6, int), np.ones(6, int), n_people=3,
        feedback={"reward": np.zeros(6), "next_state": np.zeros(6)},
        attributes={"age_years": np.array([5.0, 30.0, 8.0])},
    )  # fmt: skip

    def test_stay_with_their_people(self):
        chosen = np.array([False, True, True])
        assert self.TRIALS.of_people(chosen).attributes["age_years"].tolist() == [30, 8]
        released = restrict(self.TRIALS, np.tile(chosen[:, None], 2), [0, 1], "1.1")
        assert released.attributes["age_years"].tolist() == [30, 8]

    def test_are_written_down_and_read_back(self):
        written = self.TRIALS.to_json()
        assert written["attributes"] == {"age_years": [5.0, 30.0, 8.0]}
        assert Trials.from_json(written).digest == self.TRIALS.digest

    @pytest.mark.parametrize("ages", [[5.0, 30.0], [5.0, np.nan, 8.0]])
    def test_are_one_finite_number_for_each_person(self, ages):
        columns = self.TRIALS.to_json() | {"attributes": {"age_years": ages}}
        with pytest.raises(
            TrialsError, match="'age_years' must be a finite number, or a word, for each of 3"
        ):
            Trials.from_json(columns)


def test_a_part_of_published_data_is_not_downloaded(tmp_path):
    for act in (fetch_archive, load_archive):
        with pytest.raises(DataMissingError, match="cannot be downloaded as it is; copy it into"):
            act(TWO_STEP.name, tmp_path)
