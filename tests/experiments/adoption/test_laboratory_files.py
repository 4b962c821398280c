"""Files as programs of laboratories write them: read right, with one correction, or refused with what to say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from reading import bandits, conflicts, delays, gambles, only, read

from lakatos.domains import DOMAINS
from lakatos.experiments.adoption.adopt import adopt
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.adoption.tables import read_answers, table_of_frame
from lakatos.experiments.errors import ImplausibleError, TrialsError

INTERTEMPORAL = DOMAINS["intertemporal"]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def _guessed(frame: pd.DataFrame) -> Any:
    return describe_table(table_of_frame("answers.csv", frame)).mapping


def _chose_later(found: Any) -> NDArray[np.bool_]:
    """Whether each response is to the option that comes later, wherever it stood."""
    trials = only(found)
    waits = trials.stimuli["delays_days"][trials.trial]
    return np.asarray(waits.argmax(axis=1) == trials.response)


# Places, and what options are -----------------------------------------------------------------


def _by_place(frame: pd.DataFrame, later_is_right: NDArray[np.bool_]) -> pd.DataFrame:
    """Sooner and later options at changing places, in columns that are named by places."""
    made = frame[["subject", "trial"]].copy()
    for part in ("amount", "delay"):
        sooner, later = frame[f"{part}_sooner"], frame[f"{part}_later"]
        made[f"{part}_left"] = np.where(later_is_right, sooner, later)
        made[f"{part}_right"] = np.where(later_is_right, later, sooner)
    return made


def test_cells_that_name_what_an_option_is_are_read_at_its_place(rng: np.random.Generator) -> None:
    frame = delays(rng).frame
    right = rng.random(len(frame)) < 0.5
    chose_later = (frame["choice"] == 1).to_numpy()
    for written in (
        {"choice": np.where(chose_later, "LL", "SS")},
        {"choice": np.where(chose_later, "later", "sooner")},
        {"chose_later": chose_later.astype(int)},
        {"chose_now": (~chose_later).astype(int)},
        {"chose_delayed": np.where(chose_later, "yes", "no")},
    ):
        found = read(_by_place(frame, right).assign(**written))
        assert _chose_later(found).tolist() == chose_later.tolist(), written
        trials = only(found)
        shown = trials.stimuli["amounts"][trials.trial]
        assert (shown[:, 1] > shown[:, 0]).tolist() == right.tolist()  # as they stood
        said = [line for line in found.read_back if line.startswith("read back")]
        for line in said:
            row = int(line.split("row ")[1].split(" ")[0]) - 2
            assert ("(later)" in line) == chose_later[row]


def test_safe_and_risky_are_read_where_they_stand(rng: np.random.Generator) -> None:
    frame = gambles(rng).frame
    swap = rng.random(len(frame)) < 0.5
    made = frame[["subject", "trial"]].copy()
    for name, one, other in (("x1", "a_x", "b_x1"), ("p1", "a_p", "b_p1")):
        made[f"left_{name}"] = np.where(swap, frame[other], frame[one])
        made[f"right_{name}"] = np.where(swap, frame[one], frame[other])
    made["left_x2"] = made["right_x2"] = 0
    risky = (frame["choice"] == 1).to_numpy()
    found = read(made.assign(choice=np.where(risky, "risky", "safe")))
    assert only(found).response.tolist() == (risky != swap).astype(int).tolist()


def test_responses_to_options_that_are_alike_in_what_they_are_named_by_are_refused(
    rng: np.random.Generator,
) -> None:
    frame = _by_place(delays(rng).frame, np.ones(120, dtype=bool))
    frame = frame.assign(chose_later=delays(rng).frame["choice"])
    frame.loc[3, "delay_right"] = frame.loc[3, "delay_left"]
    with pytest.raises(TrialsError, match=r"row 5: chose_later names an option by its delay"):
        read(frame)


def test_places_are_no_options_where_columns_say_what_options_are(rng: np.random.Generator) -> None:
    frame = delays(rng).frame
    right = rng.random(len(frame)) < 0.5
    chose_later = (frame["choice"] == 1).to_numpy()
    key = np.where(chose_later == right, "right", "left")
    unknown = frame.assign(choice=key)
    with pytest.raises(TrialsError, match=r"left and right, where an option stood.*choice == COL"):
        read(unknown)
    said = read(unknown, responses={"left": 0, "right": 1})  # where they never changed places
    assert only(said).response.tolist() == (key == "right").astype(int).tolist()
    for name, place in (("later_side", right), ("side_of_sooner", ~right)):
        known = unknown.assign(**{name: np.where(place, "right", "left")})
        assert _guessed(known).response == f"choice == {name}"
        assert _chose_later(read(known)).tolist() == chose_later.tolist()
    numbers = frame.assign(choice=1 + (key == "right"), later_position=1 + right)
    assert _chose_later(read(numbers)).tolist() == chose_later.tolist()


def test_shares_of_the_later_option_are_counted_at_its_place(rng: np.random.Generator) -> None:
    frame = delays(rng).frame.head(40)
    right = np.arange(40) % 2 == 0
    share = np.arange(40) / 40
    made = _by_place(frame, right).drop(columns=["subject", "trial"])
    found = only(read(made.assign(n=40, share_later=share), INTERTEMPORAL))
    delay = found.stimuli["delays_days"]
    n_later = sum(
        int(found.count[(found.trial == trial) & (found.response == delay[trial].argmax())].sum())
        for trial in range(len(found.stimuli))
    )
    assert n_later == int(np.rint(share * 40).sum())


# Units and polarity ---------------------------------------------------------------------------


def test_a_column_of_units_that_is_not_read_is_questioned(rng: np.random.Generator) -> None:
    frame = delays(rng).frame
    is_week = frame["delay_later"] % 7 == 0
    written = frame["delay_later"].where(~is_week, frame["delay_later"] // 7)
    mixed = frame.assign(delay_later=written, delay_unit=np.where(is_week, "weeks", "days"))
    with pytest.raises(ImplausibleError, match=r"recode.delay_unit=\{days = 1, weeks = 7\}"):
        read(mixed)
    advised = read(
        mixed,
        recode={"delay_unit": {"days": 1, "weeks": 7}},
        stimulus={"delays_days": ["delay_sooner", "delay_later * delay_unit"]},
    )
    trials, plain = only(advised), only(read(frame))
    assert trials.stimuli.keys == plain.stimuli.keys
    weeks = frame.assign(unit="weeks")
    with pytest.raises(ImplausibleError, match=r"unit is weeks in all rows.*delay_unit=weeks"):
        read(weeks)
    assert read(weeks, stimulus={"delay_unit": "weeks"})


def test_amounts_in_a_unit_for_which_theories_are_not_made_are_questioned(
    rng: np.random.Generator,
) -> None:
    frame, names = delays(rng).frame, ["amount_sooner", "amount_later"]
    plain = only(read(frame))
    for factor, unit in ((100, "/ 100"), (0.01, None)):
        other = frame.assign(**{name: (frame[name] * factor).round(2) for name in names})
        said = [f"{name} / 100" if unit else f"100 * {name}" for name in names]
        with pytest.raises(ImplausibleError, match="unusual_amounts") as refused:
            read(other)
        assert f'--column amounts=\'["{said[0]}", "{said[1]}"]\'' in str(refused.value)
        advised = only(read(other, stimulus={"amounts": said}))
        amounts = [item.stimuli["amounts"][item.trial] for item in (advised, plain)]
        np.testing.assert_allclose(amounts[0], amounts[1])
        assert read(other, accept="unusual_amounts")
    cents = frame.assign(**{name: frame[name] * 100 for name in names})
    assert only(read(cents, stimulus={"amount_unit": "cents"})).stimuli.keys == plain.stimuli.keys


@pytest.mark.parametrize(
    ("word", "unit"), [("yrs", "years"), ("wks", "weeks"), ("hrs", "hours"), ("mths", "months")]
)
def test_short_words_for_units_in_names_are_known(
    rng: np.random.Generator, word: str, unit: str
) -> None:
    names = {f"delay_{side}": f"delay_{side}_{word}" for side in ("sooner", "later")}
    assert _guessed(delays(rng).frame.rename(columns=names)).stimulus["delay_unit"] == unit


def test_the_rarest_code_is_advised_as_the_missed_response(rng: np.random.Generator) -> None:
    frame = bandits(rng).frame
    choice = frame["choice"].where(np.arange(len(frame)) % 20 != 7, -1)
    missed = frame.assign(choice=choice)
    with pytest.raises(TrialsError, match=r"--column missing.choice=-1 "):
        read(missed)
    assert only(read(missed, missing={"choice": -1})).response.tolist() == (
        frame["choice"][choice != -1].tolist()
    )
    signs = frame.assign(choice=(2 * frame["choice"] - 1).where(choice != -1, 0))
    with pytest.raises(TrialsError, match=r"--column missing.choice=0 "):
        read(signs)


def test_letters_in_a_row_are_options_in_their_order(rng: np.random.Generator) -> None:
    frame = bandits(rng).frame
    deck = np.arange(len(frame)) % 4
    found = read(frame.assign(choice=[*map("ABCD".__getitem__, deck)]))
    assert only(found).response.tolist() == deck.tolist()


def test_german_cells_are_options(rng: np.random.Generator) -> None:
    frame = delays(rng).frame
    found = read(frame.assign(choice=np.where(frame["choice"] == 1, "später", "sofort")))
    assert only(found).response.tolist() == frame["choice"].tolist()


def test_congruent_trials_that_take_longer_are_questioned(rng: np.random.Generator) -> None:
    frame = conflicts(rng).frame
    slow = frame["rt"] + 100 * (frame["condition"] == "incongruent")
    numbers = (frame["condition"] == "congruent").astype(int)
    frame = frame.drop(columns="condition").assign(rt=slow)
    assert read(frame.assign(congruency=numbers))
    assert read(frame.assign(incongruent=1 - numbers))
    assert read(frame.assign(is_congruent=numbers == 1))
    turned = frame.assign(congruency=1 - numbers)
    with pytest.raises(ImplausibleError, match=r"congruency says are congruent take longer"):
        read(turned)
    code = {"congruency": {"1": "incongruent", "0": "congruent"}}
    advised = only(read(turned, recode=code))
    plain = only(read(frame.assign(congruency=numbers)))
    assert advised.stimuli.keys == plain.stimuli.keys


# Meanings of columns --------------------------------------------------------------------------


def test_the_column_that_tells_participants_apart_is_the_participant(
    rng: np.random.Generator,
) -> None:
    frame = bandits(rng).frame.rename(columns={"subject": "Participant Private ID"})
    frame = frame.assign(**{"Participant Status": "complete", "Participant Device": "computer"})
    assert _guessed(frame).participant == "Participant Private ID"


def test_averages_and_sums_are_no_responses_times_or_rewards(rng: np.random.Generator) -> None:
    frame = conflicts(rng).frame.rename(columns={"rt": "response_time"})
    assert _guessed(frame.assign(avg_rt=500)).response_time == "response_time"
    steps = bandits(rng).frame
    total = steps.groupby("subject")["reward"].cumsum()
    assert (
        "reward"
        not in _guessed(steps.drop(columns="reward").assign(cum_reward=total)).feedback.values()
    )
    with pytest.raises(ImplausibleError, match=r"score never falls .* feedback.reward=COLUMN"):
        read(
            steps.drop(columns="reward").assign(score=total),
            DOMAINS["learning"],
            feedback={"reward": "score"},
        )


def test_a_response_that_is_said_brings_its_own_code(rng: np.random.Generator) -> None:
    frame = delays(rng).frame
    later = (frame["choice"] == 1).to_numpy()
    frame = frame.drop(columns="choice").assign(
        response=np.where(np.arange(len(frame)) % 2, "left", "right"),
        pick=np.where(later, "later", "now"),
    )
    found = only(read(frame, response="pick"))
    assert found.response.tolist() == later.astype(int).tolist()


def test_a_column_that_is_said_to_be_one_thing_is_not_guessed_to_be_another(
    rng: np.random.Generator,
) -> None:
    frame = conflicts(rng).frame.rename(columns={"rt": "duration"})
    found = read(
        frame, DOMAINS["attention"], stimulus={"congruence": "condition"}, response_time="duration"
    )
    assert only(found).n_people == 4  # one experiment, not one for each condition


def test_rows_of_practice_are_left_out_and_named(rng: np.random.Generator) -> None:
    frame = conflicts(rng).frame
    early = frame["trial"] <= 8
    for column, cells, others in (
        ("practice", ("yes", "no"), "no"),
        ("phase", ("practice", "main"), "main"),
    ):
        made = frame.assign(**{column: np.where(early, *cells)})
        found = read(made)
        assert only(found).n_responses == int((~early).sum())
        assert any(f"{column} is not {others}" in line for line in found.left_out.lines())
        with pytest.raises(ImplausibleError, match=rf"where.{column}={others}"):
            adopt(table_of_frame("a.csv", made), _guessed(frame), DOMAINS["attention"])
        assert only(read(made, accept="practice_rows")).n_responses == len(frame)


def test_rows_of_a_practice_loop_are_no_lost_trials(rng: np.random.Generator) -> None:
    frame = conflicts(rng).frame.rename(columns={"rt": "resp_rt", "correct": "resp_corr"})
    early = frame["trial"] <= 8
    frame["condition"] = frame["condition"].where(~early, "congruent")
    for name in ("resp_rt", "resp_corr"):
        frame[f"practice_{name}"] = frame[name].where(early)
        frame[name] = frame[name].where(~early)
    found = read(frame)
    assert only(found).n_responses == int((~early).sum())


def test_the_same_names_in_several_files_are_questioned(
    rng: np.random.Generator, tmp_path: Path
) -> None:
    for names in (("siteA", "siteB"), ("session1", "session2")):
        folder = tmp_path / names[0]
        folder.mkdir()
        for name in names:
            bandits(rng).frame.to_csv(folder / f"{name}.csv", index=False)
        if "site" in names[0]:
            with pytest.raises(ImplausibleError, match=r"--column experiment=file"):
                read(folder)
            others = read(folder, experiment="file").trials
            assert [item.n_people for item in others] == [4, 4]
        else:
            assert only(read(folder)).n_people == 4


# Forms of tables ------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", [" ", "\t"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_numbers_of_rows_that_r_writes_without_a_name_are_a_column(
    rng: np.random.Generator, tmp_path: Path, mark: str, quote: str
) -> None:
    frame = delays(rng).frame
    file = tmp_path / "answers.txt"
    lines = [mark.join(f"{quote}{name}{quote}" for name in frame.columns)]
    for number, row in enumerate(frame.itertuples(index=False), start=1):
        cells = [f"{quote}{number}{quote}", f"{quote}{row[0]}{quote}", *map(str, row[1:])]
        lines.append(mark.join(cells))
    file.write_text("\n".join(lines) + "\n")
    assert only(read(file)).response.tolist() == only(read(frame)).response.tolist()
    lines[3] = mark.join(["1", *lines[3].split(mark)[1:]])  # no number of a row
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(TrialsError, match="row 4 has 8 cells and the header 7"):
        read_answers(file)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_line_above_the_header_is_left_out_and_named(
    rng: np.random.Generator, tmp_path: Path, encoding: str
) -> None:
    frame = conflicts(rng).frame
    text = "This file contains edited data.\r\n" + frame.to_csv(sep="\t", index=False)
    file = tmp_path / "merged.txt"
    file.write_bytes(text.encode(encoding))
    found = read(file)
    assert only(found).n_responses == len(frame)
    assert any("left out: This file contains edited data." in line for line in found.notes)


def test_files_of_inquisit_are_tables(rng: np.random.Generator, tmp_path: Path) -> None:
    file = tmp_path / "data.iqdat"
    conflicts(rng).frame.to_csv(file, sep="\t", index=False)
    assert only(read(file)).n_responses == 160


# Advice ---------------------------------------------------------------------------------------


def test_advice_about_parts_and_feedback_names_keys_that_are_accepted(
    rng: np.random.Generator,
) -> None:
    frame = delays(rng).frame
    names = dict(zip(frame.columns[2:6], ("p", "q", "u", "v"), strict=True))
    strange = frame.rename(columns=names)
    advice = r"--column stimulus.amounts='\[\"COLUMN\", \"COLUMN\"\]'.* \(amounts: amount of the first and"
    with pytest.raises(TrialsError, match=advice):
        read(strange, INTERTEMPORAL)
    assert read(strange, INTERTEMPORAL, stimulus={"amounts": ["p", "q"], "delays_days": ["u", "v"]})
    steps = bandits(rng).frame.rename(columns={"reward": "q"})
    assert read(steps, DOMAINS["learning"]).trials  # choices are repeated after it
    steps["q"] = rng.permutation(steps["q"])
    with pytest.raises(TrialsError, match=r"--column feedback.reward=COLUMN"):
        read(steps, DOMAINS["learning"])


def test_probabilities_that_do_not_sum_to_one_are_refused_with_what_to_say(
    rng: np.random.Generator,
) -> None:
    frame = gambles(rng).frame[["subject", "trial", "a_x", "a_p", "b_x1", "b_p1", "choice"]]
    frame = frame.rename(columns={"b_x1": "b_x", "b_p1": "b_p"})
    with pytest.raises(TrialsError, match=r"row 2 .* sum to .*--column b_amounts='\[\"COLUMN\", 0"):
        read(frame, stimulus={"b_amounts": ["b_x"]})
    nothing = only(read(frame, stimulus={"b_amounts": ["b_x", 0]}))
    assert nothing.n_responses == len(frame)
    assert only(read(frame)).digest == nothing.digest  # nothing else can be meant, and it is said
    cents = frame.assign(a_p=100, b_p=(100 * frame["b_p"]).astype(int))
    said = {"a_probabilities": ["a_p"], "b_probabilities": ["b_p"]}
    with pytest.raises(TrialsError, match=r"per cent, say --column a_probabilities="):
        read(cents, stimulus=said)
    parts = {"b_amounts": ["b_x", 0], "a_probabilities": ["a_p / 100"],
             "b_probabilities": ["b_p / 100"]}  # fmt: skip
    assert only(read(cents, stimulus=parts)).stimuli.keys == nothing.stimuli.keys


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("montant_immédiat", ["amount", "immediate"]),
        ("Récompense", ["reward"]),
        ("temps_de_réponse", ["rt"]),
        ("tiempo.reaccion", ["rt"]),
        ("demora_días", ["delay", "days"]),
        ("Elección", ["choice"]),
        ("Betrag_später", ["amount", "later"]),
        ("prix_sur_offre", ["prix", "sur", "offre"]),
    ],
)
def test_names_in_other_languages_are_known_words(name: str, words: list[str]) -> None:
    assert words_of(name) == words


@pytest.mark.parametrize(
    ("names", "cells"),
    [
        (("montant_immédiat", "montant_différé", "délai_jours", "choix"), ("immédiat", "différé")),
        (("monto_ahora", "monto_después", "demora_días", "elección"), ("ahora", "después")),
    ],
)
def test_french_and_spanish_files_are_read_without_help(
    names: tuple[str, ...], cells: tuple[str, str], rng: np.random.Generator
) -> None:
    frame = delays(rng).frame
    columns = ("amount_sooner", "amount_later", "delay_later", "choice")
    chose_later = (frame["choice"] == 1).to_numpy()
    made = frame.drop(columns="delay_sooner").assign(choice=np.where(chose_later, *cells[::-1]))
    found = read(made.rename(columns=dict(zip(columns, names, strict=True))))
    assert _chose_later(found).tolist() == chose_later.tolist()
