"""Published public goods games: what is read of a record, what is refused, and that groups are sealed whole."""

import json

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.domains.public_goods.archives.alsobay2025 import READER, read_record
from lakatos.domains.published_data import load_archive
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.participants.archival import ArchivalParticipants

RULES = """In this multi-player online public goods game, you will be in a group of 3 players.
Each person is given a set amount of 20 coins at the start of each round.
After everyone has contributed, the amount in the public fund will be multiplied by the money multiplier of 1.5.
You start each round with all 20 coins in the public fund and can choose to withdraw these to your private fund.
You can communicate with other players.
Per unit deduction, the punisher spends 2 coins, causing the punished player to lose 6 coins.

# GAME STARTS
"""
FIRST = """
## Round 1 of 3:
You contributed <<5 coins>>.
### Outcome Stage
DOG contributed 20 coins.
COW contributed 11 coins.
### Deduction Stage: Decide which players, if any, to deduct coins — and how much.
You <<did not deduct coins from any player>>.
### Round Summary
You: 2 coins spent on deductions. 6 coins deducted by other players. Total round gains/losses are +25 coins.
"""
SECOND = """
## Round 2 of 3:
You contributed <<1 coin>>.
### Outcome Stage
COW is no longer in the game.
DOG contributed 0 coins.
### Round Summary
You: Total round gains/losses are +20 coins.
DOG: Total round gains/losses are +24 coins.
"""
THIRD = """
## Round 3 of 3:
You <<exited the game>>.
"""


def member(text=RULES + FIRST + SECOND + THIRD):
    return read_record(json.dumps({"text": text, "experiment": "a"}), "here")


def test_a_trial_is_what_was_known_before_the_gift():
    game = member()
    assert game.gifts == (5, 1)
    first, second = game.known
    rules = {
        "group_size": 3,
        "multiplier": 1.5,
        "starts_in_fund": 1,
        "talk": 1,
        "deduction_cost": 2,
    }
    rules |= {"deduction_effect": 6, "reward_cost": 0, "reward_effect": 0, "end_known": 1}
    assert first == rules | {"round": 1, "rounds_left": 2}
    # the others kept 0 and 9 coins, and everybody got a third of 1.5 times 36 from the fund
    assert second == pytest.approx(
        rules
        | {"round": 2, "rounds_left": 1, "own": 0.25, "own_average": 0.25, "others": 0.775}
        | {"others_lowest": 0.55, "others_highest": 1.0, "deducted": 0.3, "rewarded": 0.0}
        | {"ahead": (25 - (18 + 18 + 9) / 2) / 20 - 0.0}
    )


def test_nothing_of_the_future_is_known():
    changed = SECOND.replace("DOG contributed 0", "DOG contributed 20").replace("+20", "+35")
    assert member(RULES + FIRST + changed).known == member().known


def test_who_left_is_no_member_any_more_and_shown_gains_are_used():
    third = THIRD.replace("You <<exited the game>>.", "You contributed <<0 coins>>.\nDOG contributed 2 coins.\n"
                          "You: Total round gains/losses are +21 coins.")  # fmt: skip
    known = member(RULES + FIRST + SECOND + third).known[2]
    assert known["group_size"] == 2
    assert known["ahead"] == pytest.approx((20 - 24) / 20)
    assert known["own_average"] == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (FIRST, "there is no game"),
        (RULES.replace("of 1.5.", "of many.") + FIRST, "the rules lack the group's size"),
        (RULES + FIRST.replace("<<5 coins>>", "<<some>>"), "nothing was given in round 1"),
        (
            RULES + FIRST.replace("<<5 coins>>", "<<21 coins>>"),
            "more coins were given than there are",
        ),
        (RULES + SECOND, "round 2 has no summary or is not the next one"),
    ],
)
def test_damaged_records_are_refused(text, words):
    with pytest.raises(TrialsError, match=f"here: .*{words}"):
        member(text)


@pytest.mark.slow
def test_published_gifts_are_read_and_whole_groups_are_sealed(data_folder, require):
    require((data_folder / READER.name).is_dir(), f"the data set {READER.name} is missing")
    experiments = load_archive(READER.name, data_folder)
    assert sum(trials.n_responses for trials in experiments) == 46_228
    assert sum(len(set(trials.attributes["playing_group"])) for trials in experiments) == 294
    for trials in experiments:
        DOMAINS[READER.domain].check(trials.stimuli)
        assert (trials.stimuli["available"][trials.trial, trials.response] == 1).all()
        # people follow their own past: what they give goes along with what they gave
        later = trials.stimuli["round"][trials.trial] > 1
        gift = trials.response[later] / 20
        assert np.corrcoef(gift, trials.stimuli["own"][trials.trial][later])[0, 1] > 0.5
    source = ArchivalParticipants(experiments, sealed_participants=0.2, seed=1)
    for hidden in source.sealed_participants():
        groups = set(hidden.attributes["playing_group"])
        (whole,) = (item for item in experiments if item.experiment == hidden.experiment)
        assert (
            np.isin(whole.attributes["playing_group"], list(groups)).sum() == hidden.n_participants
        )
        assert len(groups) == round(0.2 * len(set(whole.attributes["playing_group"])))
