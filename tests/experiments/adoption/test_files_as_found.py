"""Small files as laboratories write them give the right responses with at most one correction, or a refusal."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from reading import only, read

from lakatos.domains import DOMAINS, open_domain
from lakatos.experiments.adoption.adopt import adopt
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.tables import read_answers
from lakatos.experiments.errors import ImplausibleError, TrialsError

FOUR = """
name = "yoghurt"
question = "Which of the four do you buy?"
options = ["dannon", "hiland", "weight", "yoplait"]
instructions = ["Choose one."]

[attributes.price]
kind = "amount"
label = "Price in cents per ounce"
levels = [1, 5, 10, 20]
better = "less"

[attributes.feat]
kind = "amount"
label = "Advertised"
levels = [0, 1]
"""


# Files as they are found ----------------------------------------------------------------------


def test_accuracy_in_words_has_one_way_to_be_right(odd_files: Path) -> None:
    file = odd_files / "accuracy_in_words.csv"
    rows = pd.read_csv(file).dropna(subset=["RT"])
    found = read(file)
    n_right = int(((rows["Accuracy"] == "Correct") & (rows["RT"] >= 200)).sum())
    assert int((only(found).response < only(found).n_options // 2).sum()) == n_right
    assert any("correct is right; wrong are" in line for line in found.notes)
    assert only(found).attributes == {}  # the language of a trial is none of its participant
    swapped = {"correct": 1, "incorrect language": 0, "no/other sound": 0}
    with pytest.raises(ImplausibleError, match=r"fewer than by chance .* --accept below_chance"):
        read(file, responses=swapped)
    assert any(
        "below_chance" in n for n in read(file, responses=swapped, accept="below_chance").notes
    )


@pytest.mark.parametrize(("name", "is_reversed"), [("acc", False), ("error", True)])
def test_right_keys_that_contradict_a_column_of_correctness_are_refused(
    name: str, *, is_reversed: bool
) -> None:
    """For half of the participants the column of right keys holds the other key; the mean hides it."""
    rows = []
    for person in range(6):
        for trial in range(40):
            key = "fj"[trial // 2 % 2]
            is_right = trial % 9 > 0
            pressed = key if is_right else "fj"["fj".index(key) - 1]
            rows.append((f"P{person}", trial + 1, "congruent" if trial % 2 else "incongruent", key, pressed,
                         400 + 7 * trial % 90, int(is_right != is_reversed)))  # fmt: skip
    names = ["subject", "trial", "congruence", "right_key", "key", "rt_ms", name]
    frame = pd.DataFrame(rows, columns=names)
    assert only(read(frame, DOMAINS["attention"])).n_participants == 6
    odd = frame["subject"].isin(["P0", "P1", "P2"])
    other = frame["right_key"].map({"f": "j", "j": "f"})
    wrong = frame.assign(right_key=frame["right_key"].mask(odd, other))
    with pytest.raises(ImplausibleError, match=rf"{name} contradicts key .* 120 of 240 responses"):
        read(wrong, DOMAINS["attention"])
    found = read(wrong, DOMAINS["attention"], accept="contradicted")
    assert any("contradicted" in line for line in found.notes)


def test_a_row_for_each_alternative_is_read_as_choices(odd_files: Path, tmp_path: Path) -> None:
    (tmp_path / "yoghurt.toml").write_text(FOUR)
    domain = open_domain(str(tmp_path / "yoghurt.toml"))
    file = odd_files / "discrete_choice_long.csv"
    found = only(read(file, domain))
    rows = pd.read_csv(file)
    chosen = rows[rows["choice"] == 1]
    assert found.n_responses == len(chosen) == 12
    assert [domain.options[code] for code in found.response] == chosen["alt"].tolist()
    with pytest.raises(ImplausibleError, match="--column alternative=alt --column choice_set=chid"):
        adopt(
            read_answers(file),
            describe_table(read_answers(file), domain).mapping.model_copy(
                update={"alternative": "", "choice_set": ""}
            ),
            domain,
        )


def test_an_alternative_that_was_not_offered_is_not_dropped_silently(
    odd_files: Path, tmp_path: Path
) -> None:
    (tmp_path / "yoghurt.toml").write_text(FOUR)
    domain = open_domain(str(tmp_path / "yoghurt.toml"))
    file = odd_files / "alternative_unavailable.csv"
    with pytest.raises(
        ImplausibleError, match=r"price_hiland and feat_hiland are empty in 7 of 40"
    ):
        read(file, domain)
    n_rows = int(pd.read_csv(file)["price_hiland"].notna().sum())
    assert only(read(file, domain, accept="not_offered")).n_responses == n_rows


def test_an_alternative_whose_properties_are_0_and_that_is_never_chosen_there_is_a_question(
    odd_files: Path, tmp_path: Path
) -> None:
    (tmp_path / "yoghurt.toml").write_text(FOUR)
    domain = open_domain(str(tmp_path / "yoghurt.toml"))
    rows = pd.read_csv(odd_files / "alternative_unavailable.csv")
    names = ["price_hiland", "feat_hiland"]
    n_offered = int(rows[names[0]].notna().sum())
    file = tmp_path / "answers.csv"
    rows.fillna(dict.fromkeys(names, 0)).to_csv(file, index=False)
    told = r"price_hiland and feat_hiland are 0 in 7 of 40 rows .* in none of which option hiland was chosen"
    with pytest.raises(ImplausibleError, match=told):
        read(file, domain)
    with pytest.raises(TrialsError, match="no such trial"):  # a price of 0 is none of this task
        read(file, domain, accept="not_offered")
    left = read(file, domain, accept="not_offered", missing={"price_hiland": ["0"]})
    assert only(left).n_responses == n_offered


def test_all_alternatives_that_were_not_offered_are_one_question(
    odd_files: Path, tmp_path: Path
) -> None:
    """Accepting the advice for one alternative would accept the others unseen."""
    (tmp_path / "yoghurt.toml").write_text(FOUR)
    domain = open_domain(str(tmp_path / "yoghurt.toml"))
    rows = pd.read_csv(odd_files / "alternative_unavailable.csv")
    names = ["price_hiland", "feat_hiland", "price_weight", "feat_weight"]
    rows.loc[rows.index[rows["choice"] != "weight"][:9], names[2:]] = 0
    file = tmp_path / "answers.csv"
    rows.fillna(dict.fromkeys(names, 0)).to_csv(file, index=False)
    advice = " ".join(f"--column missing.{name}=0" for name in names)
    with pytest.raises(
        ImplausibleError, match=f"option .*hiland.* and .*{advice} --accept not_offered"
    ):
        read(file, domain)


def test_a_property_that_an_option_never_has_can_be_said_as_a_number(
    odd_files: Path, tmp_path: Path
) -> None:
    (tmp_path / "yoghurt.toml").write_text(FOUR)
    domain = open_domain(str(tmp_path / "yoghurt.toml"))
    rows = pd.read_csv(odd_files / "alternative_unavailable.csv").dropna(subset=["price_hiland"])
    file = tmp_path / "answers.csv"
    rows.assign(feat_hiland="").to_csv(file, index=False)
    with pytest.raises(
        TrialsError, match=r"feat_hiland: empty in all rows.*such as 0: --column 'feat"
    ):
        read(file, domain)


def test_gains_and_losses_in_two_columns_are_one_reward(odd_files: Path) -> None:
    file = odd_files / "gain_and_loss_columns.csv"
    rows = pd.read_csv(file)
    found = only(read(file, DOMAINS["learning"]))
    total = rows["gain"] + rows["loss"]
    assert found.feedback["reward"] == pytest.approx(total / total.abs().max())


def test_a_loss_written_as_a_positive_number_is_lost(odd_files: Path) -> None:
    file = odd_files / "loss_as_positive_number.csv"
    rows = pd.read_csv(file)
    found = read(file)
    trials = only(found)
    mean = (trials.stimuli["outcomes"] * trials.stimuli["probabilities"]).sum(axis=-1)
    assert mean[trials.trial, 1] == pytest.approx((rows["gain"] - rows["loss"]) / 2)
    assert trials.response.tolist() == rows["respcat"].tolist()
    parts = {"b_amounts": ["gain", "loss"]}
    with pytest.raises(ImplausibleError, match=r"in 50 choices one option is better .* -COLUMN"):
        read(file, stimulus=parts)


def test_missed_responses_are_no_option(odd_files: Path) -> None:
    file = odd_files / "missed_coded_zero.csv"
    with pytest.raises(TrialsError, match=r"0 is in 10% of rows.*missing\.choice=0"):
        read(file, DOMAINS["learning"])
    found = only(read(file, DOMAINS["learning"], missing={"choice": 0}))
    rows = pd.read_csv(file)
    assert found.n_options == 2
    assert found.response.tolist() == (rows["choice"][rows["choice"] > 0] - 1).tolist()


def test_pairs_of_stimuli_are_cues_unless_the_mapping_says_otherwise(odd_files: Path) -> None:
    file = odd_files / "pairs_of_stimuli.csv"
    trials = only(read(file, DOMAINS["learning"]))
    assert set(trials.stimuli["cue"]) == {0, 1, 2}
    with pytest.raises(ImplausibleError, match=r"type .* --column cue=type"):
        read(file, DOMAINS["learning"], stimulus={"cue": ""})
    found = read(file, DOMAINS["learning"], experiment="type").trials
    assert sorted(item.experiment for item in found) == ["12", "34", "56"]
    assert not any("cue" in item.stimuli.arrays for item in found)


def test_both_choices_of_a_two_stage_trial_are_read(odd_files: Path) -> None:
    file = odd_files / "two_step_wide.csv"
    rows = pd.read_csv(file)
    found = only(read(file, DOMAINS["learning"]))
    first, then = found.response[::2], found.response[1::2]
    assert first.tolist() == (rows["choice1"] - 1).tolist()
    assert then.tolist() == (rows["choice2"] - 1).tolist()
    assert found.feedback["next_state"][::2].tolist() == (rows["state"] - 1).tolist()
    assert found.feedback["reward"][1::2].tolist() == rows["money"].tolist()


def test_seconds_and_milliseconds_are_converted_by_participant(odd_files: Path) -> None:
    file = odd_files / "seconds_and_milliseconds.csv"
    with pytest.raises(TrialsError, match=r"in ms for 1 of 2 participants .*by participant"):
        read(file)
    found = only(read(file, response_time_unit="by participant"))
    assert found.n_responses == len(pd.read_csv(file))


def test_an_export_of_jatos_and_one_participant_of_psychopy(odd_files: Path) -> None:
    jatos = read(odd_files / "jatos_results.txt")
    assert only(jatos).n_responses == 24
    assert any("26 rows are left out: no trial is shown" in line for line in jatos.about_rows)
    file = odd_files / "psychopy_one_person.csv"
    rows = pd.read_csv(file).dropna(subset=["word"])
    found = only(read(file))
    assert (found.n_people, found.n_responses) == (1, len(rows))
    conflict = found.stimuli["congruence"][found.trial]
    assert conflict.tolist() == (2 * rows["congruent"] - 1).tolist()


def test_short_and_glued_names_are_understood(odd_files: Path) -> None:
    file = odd_files / "short_names.csv"
    rows, found = pd.read_csv(file), only(read(file))
    assert found.stimuli["amounts"][found.trial].tolist() == rows[["RA", "RB"]].values.tolist()
    assert found.stimuli["delays_days"][found.trial].tolist() == rows[["DA", "DB"]].values.tolist()
    assert found.response.tolist() == rows["R"].tolist()
    mapping = describe_table(read_answers(odd_files / "glued_names.csv")).mapping
    assert (mapping.participant, mapping.order) == ("subjid", "trialid")
