"""Gifts of groups come in as a file: what members knew is read off the others' rows, or the file is refused."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lakatos.domains import DOMAINS
from lakatos.domains.kit.packed import gzip_lines
from lakatos.domains.public_goods.archives.alsobay2025 import FILE, READER, read_record
from lakatos.domains.public_goods.reader import guessed_parts, recognise
from lakatos.domains.public_goods.task import NUMBERS
from lakatos.experiments.adoption.adopt import adopt, stimuli_of_table
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.signatures import table_signature
from lakatos.experiments.adoption.tables import table_of_frame
from lakatos.experiments.errors import TrialsError

DOMAIN = DOMAINS["public_goods"]
STIMULUS = {"group": "team", "round": "period", "group_size": 3, "multiplier": 1.5}
GIFTS = {"ann": (20, 10, 5), "bob": (10, 10, 0), "eve": (0, 4, 20)}


def rows(gifts: Any = GIFTS, team: str = "one") -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"who": who, "team": team, "period": period, "gift": gift}
            for who, own in gifts.items()
            for period, gift in enumerate(own, start=1)
        ]
    )


def columns(**stimulus: Any) -> AnswerColumns:
    return AnswerColumns(participant="who", response="gift", stimulus=STIMULUS | stimulus)


def brought_in(frame: pd.DataFrame, said: AnswerColumns | None = None) -> Any:
    return adopt(table_of_frame("the frame", frame), said or columns(), DOMAIN)


def known(
    frame: pd.DataFrame, who: int, period: int, said: AnswerColumns | None = None
) -> dict[str, float]:
    """What a person, by number, knew in a round."""
    (trials,) = brought_in(frame, said).trials
    own = np.flatnonzero(trials.participant == who)
    trial = trials.trial[own[period - 1]]
    return {name: float(trials.stimuli[name][trial]) for name in NUMBERS}


def test_what_a_member_knew_is_read_off_the_rows_of_the_group_in_the_round_before():
    first, third = known(rows(), 0, 1), known(rows(), 0, 3)
    assert (first["group_size"], first["own"], first["others"], first["ahead"]) == (3, 0, 0, 0)
    assert (third["own"], third["own_average"], third["group_size"]) == (0.5, 0.75, 3)
    assert (third["others"], third["others_lowest"], third["others_highest"]) == (0.35, 0.2, 0.5)
    # All get the same of the fund: who gave 10 coins gained 3 less than those who gave 10 and 4.
    assert third["ahead"] == pytest.approx(-3 / 20)
    assert (third["end_known"], third["rounds_left"]) == (0, 0)
    told = known(rows(), 0, 2, columns(n_rounds=3))
    assert (told["end_known"], told["rounds_left"]) == (1, 1)


def test_the_order_of_rows_does_not_matter_and_answers_are_coins():
    (trials,) = brought_in(rows()).trials
    mixed = rows().sample(frac=1, random_state=1)
    (again,) = adopt(
        table_of_frame("the frame", mixed), columns().model_copy(update={"order": "period"}), DOMAIN
    ).trials
    assert sorted(trials.response) == sorted(again.response) == sorted(sum(GIFTS.values(), ()))
    assert sorted(trials.stimuli.keys) == sorted(again.stimuli.keys)


def test_what_others_took_and_brought_is_known_in_the_next_round():
    frame = rows().assign(lost=0, won=0)
    frame.loc[(frame.who == "ann") & (frame.period == 1), ["lost", "won"]] = [6, 2]
    said = columns(deducted="lost", rewarded="won", deduction_cost=1, deduction_effect=3)
    second = known(frame, 0, 2, said)
    assert (second["deducted"], second["rewarded"], second["deduction_effect"]) == (0.3, 0.1, 3)
    # 20 coins given against 5 on average, and 4 coins lost in all.
    assert second["ahead"] == pytest.approx((-15 - 4) / 20)
    gained = frame.assign(gain=np.arange(9))
    assert known(gained, 0, 2, columns(gain="gain"))["ahead"] == pytest.approx((0 - 4.5) / 20)


def test_somebody_who_leaves_makes_the_group_smaller_and_who_is_left_alone_is_not_counted():
    gifts = GIFTS | {"bob": (10,), "eve": (0, 4)}
    found = brought_in(rows(gifts))
    assert known(rows(gifts), 0, 2)["group_size"] == 3
    assert known(rows(gifts), 0, 3)["group_size"] == 2
    alone = brought_in(rows({"ann": (1, 2, 3), "bob": (1,), "eve": (1,)}))
    assert alone.trials[0].n_responses == 4
    (kind,) = alone.left_out.kinds
    assert kind.reason == "the group had left this person alone"
    assert kind.participants == {"ann": 1}  # of three gifts, the third
    assert found.left_out.kinds == ()


def test_many_small_gifts_are_no_shares_of_an_endowment_that_is_only_assumed():
    gifts = {"ann": (5, 10) * 4, "bob": (4, 3) * 4, "eve": (0, 6) * 4}
    with pytest.raises(TrialsError, match=r"more than 10 .* endowment=10, or endowment=20"):
        brought_in(rows(gifts))
    shares = {
        coins: set(brought_in(rows(gifts), columns(endowment=coins)).trials[0].response.tolist())
        for coins in (10, 20)
    }
    assert shares == {10: {0, 6, 8, 10, 12, 20}, 20: {0, 3, 4, 5, 6, 10}}
    assert any("taken to have 20 coins" in note for note in brought_in(rows()).notes)


def test_a_column_of_another_endowment_is_not_passed_over():
    frame = rows().assign(Endowment=25)
    with pytest.raises(TrialsError, match=r"Endowment says 25, .* --column endowment=25 or"):
        brought_in(frame)
    with pytest.raises(TrialsError, match=r"says 20 to 30, .* --column where.Endowment=20"):
        brought_in(frame.assign(Endowment=[20] * 3 + [30] * 6))
    assert known(frame, 0, 2, columns(endowment=25))["own"] == 20 / 25
    assert known(frame.assign(Endowment=20), 0, 2)["own"] == 1


def test_gifts_of_other_endowments_are_shares_and_rounding_is_told():
    ten = {who: tuple(gift // 2 for gift in own) for who, own in GIFTS.items()}
    (trials,) = brought_in(rows(ten), columns(endowment=10)).trials
    assert sorted(trials.response) == [0, 0, 4, 4, 10, 10, 10, 20, 20]
    found = brought_in(rows(dict.fromkeys(GIFTS, (33, 50))), columns(endowment=100))
    assert any(
        "3 of 6 gifts are rounded" in note and "2 coins at most" in note for note in found.notes
    )
    assert (
        known(rows(dict.fromkeys(GIFTS, (33, 50))), 0, 2, columns(endowment=100))["own"] == 7 / 20
    )


@pytest.mark.parametrize(
    ("change", "said", "words"),
    [
        (lambda f: f.drop(index=1), {}, "rows 2 and 3: of this person's rounds some are missing"),
        (lambda f: f[f.who != "eve"], {}, "2 people of this group have a first round, and group_size says 3"),
        (lambda f: pd.concat([f, f.tail(1)]), {}, "has given in this round of this group before"),
        (lambda f: f.replace({"gift": {20: 21}}), {}, "is not from 0 to 20; --column endowment=COINS"),
        (lambda f: f.replace({"period": {1: 0}}), {}, "is no whole number from 1"),
        (lambda f: f, {"all_or_nothing": 1}, "is neither all coins nor none"),
        (lambda f: f, {"group_size": 1}, "group_size is 1, below 2"),
        (lambda f: f, {"endowment": 0}, "endowment is 0"),
        (lambda f: f, {"multiplier": [1, 2]}, "is neither a column nor a number"),
        (lambda f: f, {"multiplier": 200}, "row 2 shows no such trial: .* multiplier is a number"),
        (lambda f: f.assign(team=""), {}, "team is empty"),
    ],
)  # fmt: skip
def test_files_from_which_nobody_can_tell_what_was_known_are_refused(change, said, words):
    with pytest.raises(TrialsError, match=words):
        brought_in(change(rows()), columns(**said).model_copy(update={"bad_rows": "refuse"}))


def test_a_row_without_a_gift_in_the_middle_of_a_game_is_not_passed_over():
    frame = rows().astype({"gift": object})
    frame.loc[1, "gift"] = ""
    with pytest.raises(TrialsError, match="some are missing"):
        brought_in(frame)


def test_single_rows_tell_no_trial():
    with pytest.raises(TrialsError, match="follow from the answers before them"):
        stimuli_of_table(table_of_frame("the frame", rows()), columns(), DOMAIN)


def test_columns_of_a_group_game_are_recognised():
    frame = rows(GIFTS | {"bob": (11, 12, 13)}).rename(
        columns={"gift": "contribution", "who": "participant", "team": "group_id"}
    )
    found = describe_table(table_of_frame("the frame", frame.assign(group_size=3, multiplier=1.5)))
    assert found.domain == "public_goods"
    assert found.mapping.stimulus == {
        "group": "group_id", "round": "period", "group_size": "group_size", "multiplier": "multiplier",
    }  # fmt: skip
    assert found.mapping.response == "contribution"


def test_groups_of_published_games_are_what_the_reader_of_the_data_set_makes(data_folder):
    members = [
        read_record(line, "here")
        for number, line in gzip_lines(data_folder / READER.name / FILE)
        if number < 1200
    ]
    plain = [item for item in members if not (item.deductions or item.rewards)]
    table, wanted = [], {}
    for group, people in groupby(
        sorted(plain, key=lambda item: item.group), key=lambda item: item.group
    ):
        own = list(people)
        rules = own[0].known[0]
        # Others are further down in the file, or left: what the game counted for them then, no row of theirs tells.
        if len(own) != rules["group_size"] or len({len(item.gifts) for item in own}) > 1:
            continue
        for place, member in enumerate(own):
            for now, gift in zip(member.known, member.gifts, strict=True):
                who, period = f"{group}-{place}", int(now["round"])
                table.append((who, group, period, gift, len(own), rules["multiplier"], 1 * member.all_or_nothing,
                              rules["starts_in_fund"], rules["talk"],
                              now["round"] + now["rounds_left"] if now["end_known"] else 0))  # fmt: skip
                wanted[who, period] = now
    names = ["who", "team", "period", "gift", "size", "times", "all", "fund", "chat", "n"]
    frame = pd.DataFrame(table, columns=names)
    said = columns(group_size="size", multiplier="times", all_or_nothing="all", starts_in_fund="fund",
                   talk="chat", n_rounds="n")  # fmt: skip
    (trials,) = brought_in(frame, said).trials
    people = list(dict.fromkeys(frame.who))
    assert len(people) > 20
    assert trials.n_responses > 200
    for person, trial in zip(trials.participant, trials.trial, strict=True):
        period = int(trials.stimuli["round"][trial])
        for name in NUMBERS:
            expected = wanted[people[person], period].get(name, 0.0)
            # Gains are told in whole coins or tenths of them.
            within = 0.06 if name == "ahead" else 1e-6
            assert abs(trials.stimuli[name][trial] - expected) < within, (
                name,
                people[person],
                period,
            )


def rounds_of_otree(group="group.id_in_subsession"):
    """Two groups of three in two rounds, as oTree writes them: members are numbered, too."""
    rng = np.random.default_rng(0)
    rows = []
    for number in (1, 2):
        for own in (1, 2):
            gifts = rng.integers(0, 11, 3)
            for member, gift in enumerate(gifts, start=1):
                rows.append((f"p{own}{member}", member, gift, own, gifts.sum(), number))
    columns = [
        "participant.code", "player.id_in_group", "player.contribution", group,
        "group.total_contribution", "subsession.round_number",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns).astype(str)


def test_the_number_of_a_member_is_not_taken_for_the_group():
    names = list(rounds_of_otree().columns)
    assert guessed_parts(names)["group"] == "group.id_in_subsession"
    found = recognise(table_signature(rounds_of_otree(), {"participant.code": "participant"}))
    assert found.stimulus["group_size"] == 3


def test_groups_within_which_a_total_differs_are_none():
    frame = rounds_of_otree(group="seat group")
    frame["seat group"] = frame["player.id_in_group"]
    assert recognise(table_signature(frame, {"participant.code": "participant"})) is None


def test_a_part_of_the_study_divides_groups_where_games_lie_within_it():
    """Groups are numbered anew in each session; or rounds of one game stand in two."""
    frame = rounds_of_otree()
    people = {"participant.code": "participant"}
    half = frame["subsession.round_number"].astype(int) % 2
    cut = frame.assign(session=half.map({0: "one", 1: "two"}))
    alone = recognise(table_signature(frame, people))
    assert recognise(table_signature(cut, people)).stimulus == alone.stimulus
    again = frame.assign(**{"participant.code": "again " + frame["participant.code"]})
    twice = pd.concat([frame.assign(session="one"), again.assign(session="two")])
    assert recognise(table_signature(twice, people)).stimulus == alone.stimulus
