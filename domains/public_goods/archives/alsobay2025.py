"""Public goods games under rules that were varied at random: Alsobay, Rand, Watts and Almaatouq (2025).

Groups of 2 to 20 people played up to 30 rounds. Read is how much each gave in each round, with what they knew before.
Four experiments, by whether people could take coins from one another or give rewards; in half of the games of each
only all coins or none could be given. The attribute ``playing_group`` numbers groups, whose members' answers depend
on each other. What was written in chats, and what people took or gave as rewards, is not read. The folder holds four
fifths of the groups.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lakatos.domains.kit.archive import ArchiveReader, ArchiveSource
from lakatos.domains.kit.packed import gzip_lines, read_session
from lakatos.domains.public_goods.task import ENDOWMENT, SCALE, situations
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Trials

FILE = "prompts.jsonl.gz"
EXPERIMENTS = {
    (False, False): "contributions",
    (True, False): "deductions",
    (False, True): "rewards",
    (True, True): "deductions_and_rewards",
}
"""Names, by whether there are deductions and rewards."""
_ROUND = re.compile(r"^## Round (\d+)(?: of (\d+))?:$", re.MULTILINE)
_GIFT = re.compile(r"^You contributed <<(\d+) coins?>>\.$", re.MULTILINE)
_OTHERS = re.compile(r"^[A-Z]+ contributed (\d+) coins?\.$", re.MULTILINE)
_GAINS = r"Total round gains/losses are ([+-]?\d+(?:\.\d+)?) coins?\."
_OWN_GAIN = re.compile(rf"^You: .*?{_GAINS}$", re.MULTILINE)
_OTHER_GAIN = re.compile(rf"^[A-Z]+: .*?{_GAINS}$", re.MULTILINE)
_EVENTS = {
    "deducted": re.compile(r"^You: .*?(\d+) coins? deducted by other players\.", re.MULTILINE),
    "rewarded": re.compile(r"^You: .*?(\d+) coins? rewarded (?:by )?other players\.", re.MULTILINE),
}


@dataclass(frozen=True)
class GroupMember:
    """One person's game: its rules, and what was known before each gift."""

    group: str
    deductions: bool
    rewards: bool
    all_or_nothing: bool
    known: tuple[Mapping[str, float], ...]
    """Numbers of `domains.public_goods.task.NUMBERS`, round by round."""
    gifts: tuple[int, ...]


@dataclass(frozen=True)
class _PlayedRound:
    """A round, and what the person learned in it."""

    number: int
    n_rounds: int
    """0 where it is not told."""
    gift: int
    others: tuple[int, ...]
    learned: Mapping[str, float]
    """``deducted``, ``rewarded`` and ``ahead``."""


def read(folder: Path) -> tuple[Trials, ...]:
    """Four experiments, by what people could do to one another.

    Raises:
        DataMissingError: The file is not in ``folder``.
        TrialsError: It is not as described; the message names the line.
    """
    path = folder / FILE
    people = [read_record(line, f"{path}, line {number}") for number, line in gzip_lines(path)]
    number_of = {name: place for place, name in enumerate(dict.fromkeys(p.group for p in people))}
    return tuple(
        _trials(name, [p for p in people if (p.deductions, p.rewards) == kind], number_of)
        for kind, name in EXPERIMENTS.items()
    )


def read_record(line: str, where: str) -> GroupMember:
    """One person's game.

    Raises:
        TrialsError: Something in it is not as described; the message says what.
    """
    record = read_session(line, where)
    rules, begun, game = record["text"].partition("# GAME STARTS")
    if not begun or not isinstance(record.get("experiment"), str):
        raise TrialsError(f"{where}: there is no game, or its group has no name.")
    of_game = _rules(rules, where)
    rounds = _rounds(game, of_game["multiplier"], where)
    all_or_nothing = "either contribute all" in rules
    gifts = tuple(item.gift for item in rounds)
    if any(gift > ENDOWMENT or (all_or_nothing and gift % ENDOWMENT) for gift in gifts):
        raise TrialsError(f"{where}: more coins were given than there are, or not all or none.")
    return GroupMember(
        group=record["experiment"],
        deductions=of_game["deduction_effect"] > 0,
        rewards=of_game["reward_effect"] > 0,
        all_or_nothing=all_or_nothing,
        known=tuple(_known(of_game, rounds, place) for place in range(len(rounds))),
        gifts=gifts,
    )


def _rules(text: str, where: str) -> dict[str, float]:
    """Numbers of a trial that hold for the whole game."""
    size = re.search(r"in a group of (\d+) players\.", text)
    multiplier = re.search(r"money multiplier of (\d+(?:\.\d+)?)\.$", text, re.MULTILINE)
    if size is None or multiplier is None or f"amount of {ENDOWMENT} coins" not in text:
        raise TrialsError(
            f"{where}: the rules lack the group's size, the multiplier or {ENDOWMENT} coins to begin with."
        )
    costs = {
        "deduction": re.search(r"punisher spends (\d+) coins?, .* lose (\d+) coins?\.", text),
        "reward": re.search(r"rewarder spends (\d+) coins? and grants (\d+) coins? of", text),
    }
    found = {"group_size": float(size[1]), "multiplier": float(multiplier[1])}
    for name, cost in costs.items():
        found[f"{name}_cost"] = float(cost[1]) if cost else 0.0
        found[f"{name}_effect"] = float(cost[2]) if cost else 0.0
    found["starts_in_fund"] = float(f"all {ENDOWMENT} coins in the public fund" in text)
    found["talk"] = float("You can communicate" in text)
    return found


def _rounds(game: str, multiplier: float, where: str) -> list[_PlayedRound]:
    """The rounds in which the person gave, nothing or something."""
    parts = _ROUND.split(game)[1:]
    found: list[_PlayedRound] = []
    for number, n_rounds, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        gift = _GIFT.search(text)
        if gift is None:
            if "<<exited the game>>" in text:
                break
            raise TrialsError(f"{where}: nothing was given in round {number}.")
        gain = _OWN_GAIN.search(text)
        if gain is None or int(number) != len(found) + 1:
            raise TrialsError(f"{where}: round {number} has no summary or is not the next one.")
        own, others = int(gift[1]), tuple(map(int, _OTHERS.findall(text)))
        learned = {}
        for name, pattern in _EVENTS.items():
            event = pattern.search(text)
            learned[name] = int(event[1]) / ENDOWMENT if event else 0.0
        gains = tuple(map(float, _OTHER_GAIN.findall(text)))
        theirs = gains or _gains_from_gifts(own, others, multiplier)
        ahead = (float(gain[1]) - float(np.mean(theirs))) / ENDOWMENT if theirs else 0.0
        learned["ahead"] = round(ahead, 4)
        found.append(_PlayedRound(int(number), int(n_rounds or 0), own, others, learned))
    return found


def _gains_from_gifts(own: int, others: Sequence[int], multiplier: float) -> tuple[float, ...]:
    """Compute what the others gained as far as gifts show, where that is not shown."""
    share = multiplier * (own + sum(others)) / (len(others) + 1)
    return tuple(ENDOWMENT - gift + share for gift in others)


def _known(rules: Mapping[str, float], rounds: list[_PlayedRound], place: int) -> dict[str, float]:
    """Return what is known before the gift of a round: the rules, and what earlier rounds brought."""
    now = rounds[place]
    known = {
        "round": float(now.number),
        "end_known": float(now.n_rounds > 0),
        "rounds_left": float(max(now.n_rounds - now.number, 0)),
    }
    if place == 0:
        return {**rules, **known}
    last = rounds[place - 1]
    shares = np.array(last.others, dtype=np.float64) / ENDOWMENT
    if not len(shares):  # everybody else has left
        return {**rules, **known, "group_size": 1.0}
    gifts = [item.gift / ENDOWMENT for item in rounds[:place]]
    return {
        **rules,
        **known,
        **last.learned,
        "group_size": 1.0 + len(shares),
        "own": gifts[-1],
        "own_average": round(float(np.mean(gifts)), 6),
        "others": round(float(shares.mean()), 6),
        "others_lowest": float(shares.min()),
        "others_highest": float(shares.max()),
    }


def _trials(name: str, people: list[GroupMember], number_of: Mapping[str, int]) -> Trials:
    """All gifts of an experiment but those of people whose group has left them alone."""
    rows = _asked_gifts(people)
    if not rows:
        raise TrialsError(f"no participant gave anything in the experiment {name}.")
    # Situations that are the same are one trial, numbered as they first come.
    keys = [(people[person].all_or_nothing, *sorted(known.items())) for person, known, _ in rows]
    trial_of = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    first = dict(zip(reversed(keys), reversed(rows), strict=True))
    distinct = [(people[person], known) for person, known, _ in (first[key] for key in trial_of)]
    columns = sorted(set().union(*(known for _, known in distinct)))
    stimuli = situations(
        {column: [known.get(column, 0.0) for _, known in distinct] for column in columns},
        [member.all_or_nothing for member, _ in distinct],
    )
    there, participant = np.unique([row[0] for row in rows], return_inverse=True)
    groups = np.array([number_of[people[person].group] for person in there], dtype=np.float64)
    return Trials(
        experiment=name,
        stimuli=stimuli,
        participant=participant.astype(np.int64),
        trial=np.array([trial_of[key] for key in keys], dtype=np.int64),
        response=SCALE.outcomes_of([gift for _, _, gift in rows]),
        count=np.ones(len(rows), dtype=np.int64),
        n_options=SCALE.n_outcomes,
        n_people=len(there),
        attributes={"playing_group": groups},
    )


def _asked_gifts(people: Sequence[GroupMember]) -> list[tuple[int, Mapping[str, float], int]]:
    """Place of the person, what was known, and the gift, wherever somebody else was in the group."""
    rows = []
    for person, own in enumerate(people):
        for known, gift in zip(own.known, own.gifts, strict=True):
            if known["group_size"] > 1:
                rows.append((person, known, gift))
    return rows


READER = ArchiveReader(
    name="publicgoods_alsobay2025",
    domain="public_goods",
    title="Alsobay et al. (2025): public goods games under hundreds of rules",
    source=ArchiveSource(
        repository="marcelbinz/Psych-201",
        commit="c63dea18897393b706227b50024b27fa8d8907d8",
        folder="alsobay2025publicGoodsGame",
        licence="Apache-2.0",
        cite=(
            "Alsobay, M., Rand, D. G., Watts, D. J., & Almaatouq, A. (2025). Integrative experiments identify how "
            "punishment impacts welfare in public goods games."
        ),
        files={FILE: "116caae0e97d5aa8d8aca82ebeed8612e9e58b1bc4e7b8227c07c9b34598387b"},
        remote={},
    ),
    read=read,
)
