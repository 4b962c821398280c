"""A column of a file that varies within participants becomes a part of each trial."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lakatos
from lakatos.domains.learning.task import steps
from lakatos.experiments.adoption.adopt import AdoptedAnswers, adopt
from lakatos.experiments.adoption.file_conditions import (
    check_conditions,
    condition_names,
    with_file_conditions,
)
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.conditions import (
    CONDITION,
    condition_of,
    conditions_of,
    with_conditions,
)
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.participants.archival import ArchivalParticipants
from lakatos.experiments.task import Trials, identities
from lakatos.flows.advice import by_command
from lakatos.flows.errors import StudyError
from lakatos.flows.operations.adopt import new_study
from lakatos.flows.run.source import archive_trials, make_source
from lakatos.flows.run.study import load_study
from lakatos.flows.run.task import domain_of

STUDY = """
name = "strategy"
question = "Does a strategy change how people discount?"
domain = "intertemporal"
[theories]
seeds = ["hyperbolic", "exponential"]
[participants]
source = "archival"
file = "answers.csv"
[participants.columns]
participant = "subject"
response = "choice"
responses = { later = 1, sooner = 0 }
condition = "strategy"
stimulus = { amounts = ["ss", "ll"], delays_days = [0, "wait"] }
[validation]
effects = "condition"
sealed_share = 0.2
"""


def answers(
    n_people: int = 6, strategies: tuple[str, ...] = ("Attend!", "Regulate 2")
) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    rows = [
        {
            "subject": f"P{person}", "strategy": strategy, "ss": 10, "ll": 10 + 3 * trial, "wait": 7 * trial,
            "choice": ["sooner", "later"][int(rng.random() < 0.4)],
        }
        for person in range(n_people)
        for strategy in strategies
        for trial in range(1, 11)
    ]  # fmt: skip
    return pd.DataFrame(rows).sample(frac=1, random_state=1)


def written(folder: Path, frame: pd.DataFrame, text: str = STUDY) -> Path:
    frame.to_csv(folder / "answers.csv", index=False)
    (folder / "study.toml").write_text(text)
    return folder / "study.toml"


def test_each_trial_of_a_file_is_another_one_in_each_condition(tmp_path: Path) -> None:
    frame = answers()
    config = load_study(written(tmp_path, frame))
    assert config.conditions == ("attend", "regulate_2")
    assert conditions_of(domain_of(config)) == config.conditions
    (trials,) = archive_trials(config, None)
    assert len(trials.stimuli) == 20
    labels = condition_of(trials.stimuli)[trials.trial]
    amounts = trials.stimuli["amounts"][trials.trial, 1]
    found = pd.DataFrame(
        {"strategy": np.array(["Attend!", "Regulate 2"])[labels.astype(int)], "ll": amounts,
         "later": trials.response}
    )  # fmt: skip
    expected = frame.assign(later=(frame["choice"] == "later").astype(int))
    keys = ["strategy", "ll"]
    pd.testing.assert_series_equal(
        found.groupby(keys)["later"].sum(),
        expected.groupby(keys)["later"].sum(),
        check_index_type=False,
    )


def test_the_order_of_rows_changes_nothing(tmp_path: Path) -> None:
    first = load_study(written(tmp_path, answers()))
    second = load_study(written(tmp_path, answers().sample(frac=1, random_state=9)))
    assert first.participants.answers == second.participants.answers
    assert first.digest == second.digest


def test_a_trial_is_sealed_in_all_its_conditions_or_in_none(tmp_path: Path) -> None:
    config = load_study(written(tmp_path, answers()))
    source, _ = make_source(config, tmp_path / "run", None, None)
    assert isinstance(source, ArchivalParticipants)
    (sealed,) = source.sealed()
    rows = np.unique(sealed.trial)
    amounts = sealed.stimuli["amounts"][rows, 1]
    places = condition_of(sealed.stimuli)[rows]
    assert sorted(amounts[places == 0].tolist()) == sorted(amounts[places == 1].tolist())
    assert len(rows) == 4


def test_a_study_keeps_its_conditions_and_refuses_others(tmp_path: Path) -> None:
    config = load_study(written(tmp_path, answers()))
    again = type(config).model_validate(config.model_dump(mode="json"))
    assert (again.conditions, again.digest) == (config.conditions, config.digest)
    recorded = type(config).model_validate(config.identity)
    assert recorded.conditions == config.conditions
    assert recorded.with_places(config.model_dump(mode="json")) == config
    renamed = answers().rename(columns={"strategy": "how"})
    other = STUDY.replace('condition = "strategy"', 'condition = "how"')
    assert load_study(written(tmp_path, renamed, other)).digest == config.digest
    written(tmp_path, answers())
    other = STUDY + '[design]\nconditions = ["attend", "act"]\n'
    with pytest.raises(StudyError, match=r"the conditions attend, regulate_2; leave the key out"):
        load_study(written(tmp_path, answers(), other))
    blocks = STUDY + "[design]\nblocks = 2\n"
    with pytest.raises(StudyError, match="blocks"):
        load_study(written(tmp_path, answers(), blocks))


def test_a_new_study_of_a_file_asks_for_effects_of_its_conditions(tmp_path: Path) -> None:
    answers().to_csv(tmp_path / "answers.csv", index=False)
    made = new_study(
        tmp_path / "mine.toml",
        tmp_path / "answers.csv",
        "intertemporal",
        columns=columns(condition="strategy").model_dump(exclude_defaults=True),
    )
    assert made.open_questions == ()
    config = load_study(made.study)
    assert (config.conditions, config.validation.effects) == (("attend", "regulate_2"), CONDITION)
    assert config.stop.cycles * config.design.trials == 20  # all trials in their conditions


def test_a_column_of_conditions_that_the_file_lacks_is_named() -> None:
    from lakatos.domains import DOMAINS
    from lakatos.experiments.adoption.tables import table_of_frame

    table = table_of_frame("answers", answers())
    with pytest.raises(TrialsError, match="has no column 'strategi'; did you mean 'strategy'"):
        adopt(table, columns(condition="strategi"), DOMAINS["intertemporal"])


def columns(**more: Any) -> AnswerColumns:
    return AnswerColumns.model_validate({
        "participant": "subject", "response": "choice", "responses": {"later": 1, "sooner": 0},
        "stimulus": {"amounts": ["ss", "ll"], "delays_days": [0, "wait"]}, **more,
    })  # fmt: skip


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (answers(strategies=("Attend",)), "has 1 different value .Attend."),
        (answers(strategies=("A-1", "A 1")), "differ in signs only"),
        (answers().assign(strategy=lambda rows: rows["subject"]), "same in all responses of a participant"),
        (answers().assign(strategy=lambda rows: rows["strategy"].where(rows["ll"] > 13, "")), r"strategy=.\["),
        (answers(strategies=tuple("abcdefghi")), "has 9 different values"),
    ],
)  # fmt: skip
def test_a_column_that_holds_no_conditions_is_refused(frame: pd.DataFrame, words: str) -> None:
    from lakatos.domains import DOMAINS
    from lakatos.experiments.adoption.tables import table_of_frame

    found = adopt(
        table_of_frame("answers", frame), columns(condition="strategy"), DOMAINS["intertemporal"]
    )
    with pytest.raises(TrialsError, match=words):
        condition_names(found, "strategy")


def test_responses_stay_what_they_are() -> None:
    from lakatos.domains import DOMAINS
    from lakatos.experiments.adoption.tables import table_of_frame

    task = DOMAINS["intertemporal"]
    found = adopt(table_of_frame("answers", answers()), columns(condition="strategy"), task)
    after = with_file_conditions(found, "strategy", task)
    (plain,), (own,) = found.trials, after.trials
    assert own.response.tolist() == plain.response.tolist()
    assert CONDITION in own.stimuli.arrays
    np.testing.assert_array_equal(
        own.stimuli["amounts"][own.trial], plain.stimuli["amounts"][plain.trial]
    )
    assert len(set(identities(task, plain.stimuli))) == 10


def test_an_attribute_that_differs_within_participants_is_refused_unless_it_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = answers()
    shown = {"amounts": ["ss", "ll"], "delays_days": [0, "wait"]}
    said = {"attributes": ["strategy"], "responses": {"later": 1, "sooner": 0}, "stimulus": shown}
    with by_command():
        with pytest.raises(TrialsError, match=r"strategy .* is no attribute .* within 6 of 6"):
            lakatos.adopt(frame, "intertemporal", said)
        assert lakatos.adopt(frame, "intertemporal", said, known=["strategy"]).people == ({},)
    # A notebook may compare by it later.
    compared = lakatos.adopt(frame, "intertemporal", said)
    assert sorted(set(compared.beside[0]["strategy"])) == ["Attend!", "Regulate 2"]
    # What is empty in some rows differs in none.
    first = frame.assign(site=frame["subject"].where(~frame["subject"].duplicated(), ""))
    assert lakatos.adopt(first, "intertemporal", said | {"attributes": ["site"]}).people == ({},)
    frame.to_csv("answers.csv", index=False)
    text = STUDY.replace('condition = "strategy"', 'attributes = ["strategy"]')
    Path("study.toml").write_text(text.replace('effects = "condition"\n', ""), encoding="utf-8")
    with pytest.raises((StudyError, TrialsError), match=r"strategy .* is no attribute"):
        load_study(Path("study.toml"))


def checked(frame: pd.DataFrame, **more: Any) -> AdoptedAnswers:
    from lakatos.domains import DOMAINS
    from lakatos.experiments.adoption.tables import table_of_frame

    mapping = columns(condition="strategy", **more)
    domain = DOMAINS["intertemporal"]
    return check_conditions(
        adopt(table_of_frame("answers", frame), mapping, domain), mapping, domain
    )


def test_conditions_of_one_participant_are_refused() -> None:
    frame = answers(strategies=("Attend", "Regulate", "Rest"))
    alone = frame[(frame["strategy"] != "Rest") | (frame["subject"] == "P1")]
    with pytest.raises(TrialsError, match="is Rest in responses of one participant only"):
        checked(alone)
    first = {f"P{person}": ["Attend", "Regulate"][person % 2] for person in range(1, 6)}
    between = frame[frame["strategy"] == frame["subject"].map(first).fillna(frame["strategy"])]
    with pytest.raises(TrialsError, match="differs within one participant only"):
        checked(between[between["strategy"] != "Rest"])
    assert checked(frame).trials


def test_conditions_in_one_order_for_all_are_refused_unless_accepted() -> None:
    frame = answers().sort_index()
    frame["trial"] = frame.groupby("subject").cumcount()
    with pytest.raises(TrialsError, match=r"one order for all .*Attend!, Regulate 2.*one_order"):
        checked(frame, order="trial")
    accepted = checked(frame, order="trial", accept=("one_order",))
    assert any(note.startswith("accepted (one_order)") for note in accepted.notes)
    is_turned = frame["subject"].isin(["P1", "P3"])
    frame["trial"] = np.where(is_turned, -frame["trial"], frame["trial"])
    assert checked(frame, order="trial").notes
    # Where the order is not known, no question is raised about it.
    checked(frame.drop(columns="trial"))


def test_steps_of_each_order_of_conditions_are_a_schedule_of_their_own() -> None:
    from lakatos.domains import DOMAINS

    learning = DOMAINS["learning"]
    plain = steps(4, 2)
    trial = [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2]
    own = ["a", "a", "b", "b", "b", "b", "a", "a", "a", "a", "b"]
    people = np.array([0] * 4 + [1] * 4 + [2] * 3)
    trials = Trials(
        "all", plain, people, np.array(trial), np.zeros(11, dtype=int), np.ones(11, dtype=int),
        feedback={"reward": np.zeros(11), "next_state": np.zeros(11)},
    )  # fmt: skip
    found = AdoptedAnswers((trials,), (), beside=({"drug": np.array(own)},))
    (after,) = with_file_conditions(found, "drug", learning).trials
    assert condition_of(after.stimuli).tolist() == [0, 0, 1, 1, 1, 1, 0, 0]
    assert after.stimuli["position"].tolist() == [0, 1, 2, 3] * 2
    assert after.trial.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2]
    with_conditions(learning, ("a", "b")).check(after.stimuli)


def test_a_new_study_proposes_a_column_that_varies_within_participants(tmp_path: Path) -> None:
    answers().sort_index().to_csv(tmp_path / "answers.csv", index=False)
    said = columns().model_dump(exclude_defaults=True)
    made = new_study(
        tmp_path / "mine.toml", tmp_path / "answers.csv", "intertemporal", columns=said
    )
    text = made.study.read_text()
    proposed = '# condition = "strategy"   # Attend!, Regulate 2 vary within participants\n'
    assert proposed in text
    assert '# effects = "condition"\n' in text
    assert load_study(made.study).conditions == ()
    for line in (proposed, '# effects = "condition"\n'):
        text = text.replace(line, line.removeprefix("# "))
    made.study.write_text(text)
    config = load_study(made.study)
    assert (config.conditions, config.validation.effects) == (("attend", "regulate_2"), CONDITION)
