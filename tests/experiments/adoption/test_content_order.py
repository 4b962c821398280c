"""A study takes the responses of a file in an order and a rounding that depend on their content alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import lakatos
from lakatos.domains import DOMAINS
from lakatos.experiments.adoption.adopt import AdoptedAnswers, adopt
from lakatos.experiments.adoption.content_order import in_content_order, trials_of_study
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.packing import answers_digest
from lakatos.experiments.adoption.tables import table_of_frame
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.participants.archival import ArchivalParticipants
from lakatos.experiments.task import Stimuli, Trials
from lakatos.flows.run.study import CampaignConfig, load_study

DELAYS, LEARNING = DOMAINS["intertemporal"], DOMAINS["learning"]
MEANINGS: dict[str, Any] = {
    "participant": "who",
    "response": "chose_later",
    "stimulus": {"amounts": ["now", "later"], "delays_days": ["delay_now", "delay"]},
}


def table(*, amounts: list[float], participant: list[int], trial: list[int], **more: Any) -> Trials:
    """Choices between 5 today and an amount in ten days; responses alternate."""
    n = len(amounts)
    stimuli = Stimuli(
        {
            "amounts": np.column_stack([np.full(n, 5.0), amounts]),
            "delays_days": np.column_stack([np.zeros(n), np.full(n, 10.0)]),
        }
    )
    given: dict[str, Any] = {"response": np.arange(len(trial)) % 2}
    given |= {"count": np.ones(len(trial), dtype=np.int64)}
    return Trials(
        "answers", stimuli, np.array(participant), np.array(trial), n_people=2, **given | more
    )


def rows() -> pd.DataFrame:
    """Twelve choices of each of five participants, whose columns of order and age may be used or not."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        [
            (f"P{who}", at + 1, 5.0, 6.0 + 5 * at % 12, 0.0, 7.0 * (1 + at % 4), 20 + who)
            for who in range(5)
            for at in range(12)
        ],
        columns=["who", "trial", "now", "later", "delay_now", "delay", "age"],
    )
    return frame.assign(chose_later=rng.integers(0, 2, len(frame)))


def read(frame: pd.DataFrame, **meanings: Any) -> AdoptedAnswers:
    """The choices of a table of rows."""
    columns = AnswerColumns.model_validate(MEANINGS | meanings)
    return adopt(table_of_frame("rows.csv", frame), columns, DELAYS)


def same(first: tuple[Trials, ...], second: tuple[Trials, ...]) -> bool:
    return answers_digest(first) == answers_digest(second)


def test_trials_stand_in_the_order_of_their_numbers() -> None:
    (found,) = in_content_order(
        [table(amounts=[9, 6, 7], participant=[0, 0, 0], trial=[0, 1, 2])], DELAYS, is_ordered=True
    )
    assert found.stimuli["amounts"][:, 1].tolist() == [6, 7, 9]
    assert found.trial.tolist() == [2, 0, 1]  # as they were presented
    assert found.response.tolist() == [0, 1, 0]


def test_an_order_of_rows_that_says_nothing_gives_way_to_that_of_trials() -> None:
    (found,) = in_content_order(
        [table(amounts=[9, 6, 7], participant=[0, 0, 0], trial=[0, 1, 2])], DELAYS, is_ordered=False
    )
    assert found.trial.tolist() == [0, 1, 2]
    assert found.response.tolist() == [1, 0, 0]


def test_participants_stand_in_the_order_of_their_responses_with_what_is_known_of_them() -> None:
    given = table(
        amounts=[9, 6], participant=[0, 0, 1], trial=[0, 1, 1],
        attributes={"age": np.array([30.0, 20.0])},
    )  # fmt: skip
    (found,) = in_content_order([given], DELAYS, is_ordered=True)
    assert found.participant.tolist() == [0, 1, 1]  # the one with fewer responses first
    assert found.trial.tolist() == [0, 1, 0]
    assert found.attributes["age"].tolist() == [20, 30]


def test_trials_that_differ_in_what_rounding_left_are_one() -> None:
    given = table(amounts=[0.3, 0.1 + 0.2], participant=[0, 0], trial=[0, 1])
    (found,) = in_content_order([given], DELAYS, is_ordered=True)
    assert len(given.stimuli) == 2
    assert found.stimuli["amounts"].tolist() == [[5.0, 0.3]]
    assert found.trial.tolist() == [0, 0]


def test_rounded_probabilities_are_trials_of_the_domain() -> None:
    risky = DOMAINS["risky"]
    stimuli = risky.candidates({"n_outcomes": 3}, np.random.default_rng(0), 200)
    thirds = np.where(stimuli["probabilities"][:1] > 0, 1 / 3, 0.0)
    n_shown = (thirds > 0).sum(axis=-1, keepdims=True)
    first = Stimuli(
        {name: array[:1] for name, array in stimuli.arrays.items()}
        | {"probabilities": np.where(thirds > 0, 1 / n_shown, 0.0)}
    )
    every = Stimuli.concatenate([first, stimuli])
    n = len(every)
    given = Trials(
        "answers", every, np.zeros(n, dtype=np.int64), np.arange(n), np.zeros(n, dtype=np.int64),
        np.ones(n, dtype=np.int64), n_people=1,
    )  # fmt: skip
    (found,) = in_content_order([given], risky, is_ordered=True)
    risky.check(found.stimuli)


def test_steps_of_a_schedule_keep_their_order() -> None:
    stimuli = LEARNING.candidates({"task": "bandit", "n_steps": 4}, np.random.default_rng(0), 1)
    given = Trials(
        "answers", stimuli, np.repeat([0, 1], 4), np.tile(np.arange(4), 2),
        np.array([1, 0, 0, 0, 0, 1, 1, 1]), np.ones(8, dtype=np.int64), n_people=2,
        feedback={"reward": np.full(8, 1 / 7 + 1e-12), "next_state": np.zeros(8)},
    )  # fmt: skip
    (found,) = in_content_order([given], LEARNING, is_ordered=False)
    assert found.trial.tolist() == [0, 1, 2, 3] * 2
    assert found.response.tolist() == [0, 1, 1, 1, 1, 0, 0, 0]
    assert set(found.feedback["reward"].tolist()) == {0.14285714}


def test_counts_that_name_nobody_are_ordered_too() -> None:
    given = table(
        amounts=[9, 6], participant=[0, 0, 0, 0], trial=[0, 0, 1, 1],
        count=np.array([3, 1, 4, 2]), pooled=True,
    )  # fmt: skip
    (found,) = in_content_order([given], DELAYS, is_ordered=False)
    assert found.totals.tolist() == [[4, 2], [3, 1]]


@pytest.mark.parametrize("ordered", [True, False])
def test_a_study_takes_the_same_table_from_rows_in_any_order_and_participants_of_any_name(
    ordered: bool,
) -> None:
    known = {"order": "trial"} if ordered else {}
    plain = rows()
    shuffled = plain.sample(frac=1, random_state=1)
    renamed = shuffled.assign(who=shuffled["who"].map({f"P{k}": f"z{7 - k}" for k in range(5)}))
    for changed in (plain[::-1], shuffled, renamed):
        first, second = (trials_of_study(read(item, **known), DELAYS) for item in (plain, changed))
        assert same(first, second)
    assert not same(read(plain).trials, read(plain[::-1]).trials)


def test_a_study_takes_other_responses_as_another_table() -> None:
    frame = rows()
    changed = frame.assign(chose_later=[1 - frame["chose_later"][0], *frame["chose_later"][1:]])
    assert not same(trials_of_study(read(frame), DELAYS), trials_of_study(read(changed), DELAYS))


def test_the_order_of_presentation_counts_where_it_is_known() -> None:
    frame = rows()
    backwards = frame.assign(trial=13 - frame["trial"])
    first, second = (
        trials_of_study(read(item, order="trial"), DELAYS) for item in (frame, backwards)
    )
    assert not same(first, second)


def test_the_same_trials_are_sealed_whatever_the_order_of_rows() -> None:
    frame = rows()
    sealed = []
    for own in (frame, frame.sample(frac=1, random_state=4)):
        trials = trials_of_study(read(own, order="trial"), DELAYS)
        source = ArchivalParticipants(trials, sealed_share=0.4, seed=5)
        sealed.append([item.to_json() for item in source.sealed()])
    assert sealed[0] == sealed[1]
    assert len(sealed[0][0]["stimuli"]["amounts"]) == 5


def test_the_name_of_the_only_experiment_says_nothing_unless_a_study_names_it() -> None:
    frame = rows()
    named = read(frame.assign(task="main"), experiment="task")
    assert same(trials_of_study(read(frame), DELAYS), trials_of_study(named, DELAYS))
    (kept,) = trials_of_study(named, DELAYS, experiments="main")
    assert kept.experiment == "main"


def test_theories_are_fitted_to_the_same_table_whatever_the_order_of_rows() -> None:
    frame = rows()
    first, second = (
        lakatos.adopt(own, "intertemporal", MEANINGS | {"order": "trial"})
        for own in (frame, frame.sample(frac=1, random_state=2))
    )
    assert same(first.taught([]), second.taught([]))
    assert not same(first.trials, second.trials)  # participants are shown as the file has them


def test_several_experiments_stand_in_the_order_of_their_names() -> None:
    frame = rows().assign(task=lambda own: np.where(own["trial"] > 6, "b", "c"))
    found = trials_of_study(read(frame, experiment="task"), DELAYS)
    assert [item.experiment for item in found] == ["b", "c"]


def test_a_study_of_an_earlier_version_keeps_the_order_of_its_file() -> None:
    found = read(rows(), order="trial")
    earlier = answers_digest(found.trials)
    assert trials_of_study(found, DELAYS, earlier) == found.trials
    assert not same(trials_of_study(found, DELAYS), found.trials)


def test_numbers_of_trials_that_say_no_order_close_theories_with_memory() -> None:
    frame = rows().assign(trial=lambda own: (own["trial"] - 1) % 6 + 1)
    shuffled = frame.sample(frac=1, random_state=1)
    assert "order" not in read(frame, order="trial").closed  # in the order of blocks
    closed = read(shuffled, order="trial").closed
    assert closed["order"] == "trial does not say in which order trials were presented"
    blocks = rows().assign(trial=frame["trial"], block=(rows()["trial"] - 1) // 6)
    assert "order" not in read(blocks.sample(frac=1, random_state=1), order="trial").closed


def test_timed_responses_whose_order_nothing_says_are_refused() -> None:
    from tests.domains.attention.test_reader import rows as timed

    attention = DOMAINS["attention"]
    frame = pd.concat([timed()] * 2, ignore_index=True)
    frame = frame.assign(number=frame.groupby("subject").cumcount() % 3)
    columns = AnswerColumns(
        participant="subject", response="key", response_time="rt", order="number",
        stimulus={"congruence": "condition", "right_key": "correct_key"},
    )  # fmt: skip
    shuffled = frame.sample(frac=1, random_state=2)
    with pytest.raises(TrialsError, match="nobody knows what came before"):
        adopt(table_of_frame("rows.csv", shuffled), columns, attention)


# The study ------------------------------------------------------------------------------------

STUDY = """
name = "NAME"
question = "QUESTION"
domain = "intertemporal"

[theories]
seeds = ["exponential", "hyperbolic"]

[participants]
source = "archival"
file = "FILE"

[participants.columns]
participant = "PERSON"
response = "chose_later"
order = "trial"

[participants.columns.stimulus]
amounts = ["now", "later"]
delays_days = ["delay_now", "delay"]
"""


def study(folder: Any, frame: pd.DataFrame, name: str, person: str = "who", **more: str) -> Any:
    """The study of a file, as it is read."""
    folder.mkdir(exist_ok=True)
    frame.to_csv(folder / f"{name}.csv", index=False)
    text = STUDY.replace("NAME", name).replace("QUESTION", f"What do people do in {name}?")
    text = text.replace("FILE", f"{name}.csv").replace("PERSON", person)
    for key, value in more.items():
        text = text.replace('source = "archival"', f'source = "archival"\n{key} = "{value}"')
    (folder / f"{name}.toml").write_text(text)
    return load_study(folder / f"{name}.toml")


def test_a_study_of_the_same_responses_in_another_form_is_the_same_study(tmp_path: Any) -> None:
    first = study(tmp_path, rows(), "plain")
    changed = rows().rename(columns={"who": "Versuchsperson"}).sample(frac=1, random_state=0)
    second = study(tmp_path, changed, "other", "Versuchsperson")
    assert first.identity == second.identity
    assert first.digest == second.digest
    text = str(first.identity)
    assert not any(word in text for word in ("plain", "amounts", "who"))


def test_a_study_of_other_responses_is_another_study(tmp_path: Any) -> None:
    frame = rows()
    frame.loc[0, "chose_later"] = 1 - frame.loc[0, "chose_later"]
    assert study(tmp_path, rows(), "plain").digest != study(tmp_path, frame, "other").digest


def test_a_run_knows_the_form_of_its_file_from_its_journal(tmp_path: Any) -> None:
    begun = study(tmp_path, rows(), "plain")
    recorded = CampaignConfig.model_validate(begun.identity)
    assert recorded.name == "answers"
    placed = recorded.with_places(begun.model_dump(mode="json"))
    assert placed == begun


def test_a_study_that_names_the_answers_of_an_earlier_version_is_read(tmp_path: Any) -> None:
    found = read(rows(), order="trial")
    earlier = answers_digest(found.trials)
    assert study(tmp_path, rows(), "plain", answers=earlier).participants.answers == earlier


def test_two_participants_who_cannot_be_told_apart_may_change_places() -> None:
    frame = rows()
    twin = frame[frame["who"] == "P0"].assign(who="P9")
    first, second = (
        trials_of_study(read(pd.concat(parts)), DELAYS) for parts in ([frame, twin], [twin, frame])
    )
    assert same(first, second)
