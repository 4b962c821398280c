"""Random valid data sets of every kind of task, as files in their plain form, with the responses that they hold.

The participants are simulated: they follow a published theory of that kind of task, drawn at random.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lakatos.domains import DOMAINS, open_domain
from lakatos.domains.attention.task import EDGES, conflict_trials
from lakatos.domains.kit.timed_domain import TimedDomain
from lakatos.domains.public_goods.reader import GiftRows
from lakatos.domains.public_goods.task import situations
from lakatos.domains.risky.space import pairs
from lakatos.domains.sequences.task import text_of
from lakatos.domains.stopping.task import decisions
from lakatos.experiments.answer_scale import scale_of
from lakatos.experiments.participants.simulated import as_trials
from lakatos.experiments.task import Domain, Stimuli, Trials
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.running.behave import behave, orders_of_all
from lakatos.theories.language.family import find_family
from lakatos.theories.language.theory import Theory, read_program

Rng = np.random.Generator
TASKS = Path(__file__).resolve().parent.parent.parent / "studies" / "tasks"
N_BINS = len(EDGES) - 1
N_DRAWS = 16
"""Participants of a published theory, of whom some are in a data set."""


@dataclass(frozen=True)
class PlainFile:
    """A data set as a table with one row for each response, and what it holds."""

    frame: pd.DataFrame
    """Typed cells; ``subject`` names participants and ``trial`` counts their responses."""
    response: str
    """Column of the responses."""
    truth: Trials
    said: Mapping[str, Any] = field(default_factory=dict)
    """Meanings of columns that cannot be guessed, with the keys of ``participants.columns``."""


@dataclass(frozen=True)
class Kind:
    """A kind of task whose responses a file can hold."""

    domain: str
    """One of the package, or the file that declares it."""
    draw: Callable[[Domain, Rng], PlainFile]
    amounts: tuple[str, ...] = ()
    """Columns of money, whose unit may be another one."""


class Crowd:
    """Simulated participants who follow published theories; a context manager."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._laboratory = Laboratory(DOMAINS["risky"], 1)

    def behave(
        self, theory: Theory, domain: Domain, stimuli: Stimuli, n_people: int, rng: Rng,
        repetitions: int = 1,
    ) -> Trials:  # fmt: skip
        """Responses of participants who see all trials, each in an order of the participant's own."""
        rows = np.tile(np.arange(len(stimuli)), repetitions)
        order = orders_of_all(rows, n_people, rng, shuffled=not domain.sequential)
        people = {name: own[:n_people] for name, own in theory.population(N_DRAWS).items()}
        done = self._laboratory.with_sandbox(
            lambda _, sandbox: behave(theory, domain, sandbox, people, stimuli, order, rng)
        )
        return as_trials("answers", stimuli, order, done, domain.n_options(stimuli))


@cache
def crowd() -> Crowd:
    """One sandbox for all simulated participants of a process."""
    return Crowd()


def published_theory(domain: Domain, rng: Rng) -> Theory:
    """One of the published theories of a kind of task."""
    family = find_family(domain)
    return read_program(family.program(str(rng.choice(list(family.seeds)))))


def _simulated(domain: Domain, stimuli: Stimuli, rng: Rng) -> Trials:
    n_people = int(rng.integers(5, 8))
    return crowd().behave(published_theory(domain, rng), domain, stimuli, n_people, rng)


def _frame(trials: Trials, shown: Mapping[str, Any], **more: Any) -> pd.DataFrame:
    """A row for each response: who, which trial, and what was shown, by columns of numbers for each trial."""
    who = trials.participant
    place = np.concatenate([np.arange(1, n + 1) for n in np.bincount(who)])
    names = {f"P{number + 1:02d}": number for number in range(int(who.max()) + 1)}
    columns = {name: np.asarray(values)[trials.trial] for name, values in shown.items()}
    return pd.DataFrame({"subject": np.array(list(names))[who], "trial": place, **columns, **more})


# Choices among options ------------------------------------------------------------------------


def delays(domain: Domain, rng: Rng) -> PlainFile:
    """Money now or later."""
    stimuli = domain.candidates({}, rng, int(rng.integers(16, 40)))
    trials = _simulated(domain, stimuli, rng)
    shown = {
        f"{part}_{side}": stimuli[array][:, place]
        for part, array in (("amount", "amounts"), ("delay", "delays_days"))
        for place, side in enumerate(("sooner", "later"))
    }
    return PlainFile(_frame(trials, shown, choice=trials.response), "choice", trials)


def sequences(domain: Domain, rng: Rng) -> PlainFile:
    """Which of two sequences of coin flips looks more random."""
    settings = {"n_trials": int(rng.integers(16, 40)), "seed": int(rng.integers(0, 1000))}
    stimuli = domain.space(settings)
    trials = _simulated(domain, stimuli, rng)
    shown = {
        f"flips_{side}": [text_of(own) for own in stimuli["letters"][:, place]]
        for place, side in enumerate(("left", "right"))
    }
    sides = np.array(["left", "right"])
    return PlainFile(_frame(trials, shown, choice=sides[trials.response]), "choice", trials)


def gambles(domain: Domain, rng: Rng) -> PlainFile:
    """Gambles with up to three outcomes; cells of outcomes that a gamble does not have are empty."""
    settings = {"n_outcomes": int(rng.integers(2, 4)), "losses": bool(rng.random() < 0.5)}
    stimuli = domain.candidates(settings, rng, int(rng.integers(16, 40)))
    trials = _simulated(domain, stimuli, rng)
    n_most = int((stimuli["probabilities"] > 0).sum(axis=2).max())
    shown = {}
    for side, label in enumerate("ab"):
        for place in range(n_most):
            there = stimuli["probabilities"][:, side, place] > 0
            for letter, array in (("x", "outcomes"), ("p", "probabilities")):
                cells = np.where(there, stimuli[array][:, side, place], np.nan)
                shown[f"{label}_{letter}{place + 1}"] = cells
    return PlainFile(_frame(trials, shown, choice=trials.response), "choice", trials)


def mixed_gambles(domain: Domain, rng: Rng) -> PlainFile:
    """A gain or a loss by the toss of a coin, against nothing."""
    n = int(rng.integers(16, 40))
    gain, loss = rng.choice(np.arange(5, 60), n, replace=False), rng.integers(2, 40, n)
    rows = [
        ([(0.0, 1.0)], [(float(g), 0.5), (float(-v), 0.5)]) for g, v in zip(gain, loss, strict=True)
    ]
    trials = _simulated(domain, pairs(rows), rng)
    shown = {"gain": gain, "loss": loss}
    return PlainFile(_frame(trials, shown, accept=trials.response), "accept", trials)


def products(domain: Domain, rng: Rng) -> PlainFile:
    """Two products that experts have rated."""
    validities = [0.9, 0.8, 0.7, 0.6][: int(rng.integers(2, 5))]
    stimuli = domain.candidates({"validities": validities, "levels": [0, 1, 2, 3]}, rng, 30)
    trials = _simulated(domain, stimuli, rng)
    n_cues = len(validities)
    shown = {
        f"{side}_rating{cue + 1}": stimuli["ratings"][:, place, cue]
        for place, side in enumerate(("left", "right"))
        for cue in range(n_cues)
    }
    shown |= {f"validity{cue + 1}": stimuli["validities"][:, cue] for cue in range(n_cues)}
    frame = _frame(trials, shown, choice=trials.response)
    return PlainFile(frame, "choice", trials, {"stimulus": {"rating_max": 3}})


def offers(domain: Domain, rng: Rng) -> PlainFile:
    """Four suppliers of electricity."""
    stimuli = domain.candidates({}, rng, int(rng.integers(16, 40)))
    trials = _simulated(domain, stimuli, rng)
    labels = np.array(domain.options)
    return PlainFile(
        _frame(trials, _by_option(stimuli, domain), choice=labels[trials.response]),
        "choice",
        trials,
    )


def _by_option(stimuli: Stimuli, domain: Domain) -> dict[str, Any]:
    """A column for each attribute and option of trials."""
    return {
        f"{name}_{place + 1}": array[:, place]
        for name, array in stimuli.arrays.items()
        for place in range(len(domain.options))
    }


def games(domain: Domain, rng: Rng) -> PlainFile:
    """Matrix games."""
    stimuli = domain.candidates({}, rng, int(rng.integers(16, 40)))
    trials = _simulated(domain, stimuli, rng)
    shown = {
        f"{player}_{row + 1}{column + 1}": stimuli[player][:, row, column]
        for player in ("own", "other")
        for row in (0, 1)
        for column in (0, 1)
    }
    return PlainFile(_frame(trials, shown, choice=trials.response), "choice", trials)


def declared(domain: Domain, rng: Rng) -> PlainFile:
    """A declared task whose options are described by attributes."""
    stimuli = domain.candidates({}, rng, int(rng.integers(16, 40)))
    trials = _simulated(domain, stimuli, rng)
    scale = scale_of(domain)
    given = trials.response if scale is None else np.array(scale.places)[trials.response]
    name = "choice" if scale is None else "answer"
    return PlainFile(_frame(trials, _by_option(stimuli, domain), **{name: given}), name, trials)


# Numbers, gifts and times ---------------------------------------------------------------------


def estimates(domain: Domain, rng: Rng) -> PlainFile:
    """Points of a function, and an estimate elsewhere."""
    settings = {"n_points": [4, 6], "n_samples": 1, "n_queries": 3}
    stimuli = domain.candidates(settings, rng, 30)
    trials = _simulated(domain, stimuli, rng)
    n_points = int(stimuli["shown"].sum(axis=1).max())
    there = stimuli["shown"][:, :n_points] > 0
    shown = {
        f"{axis}{place + 1}": np.where(there, stimuli[f"points_{axis}"][:, :n_points], np.nan)[
            :, place
        ]
        for axis in "xy"
        for place in range(n_points)
    }
    scale = scale_of(domain)
    assert scale is not None
    estimate = np.array(scale.places)[trials.response]
    frame = _frame(trials, shown | {"query": stimuli["query"]}, estimate=estimate)
    return PlainFile(frame, "estimate", trials)


def gifts(domain: Domain, rng: Rng) -> PlainFile:
    """Games of two groups, round by round: participants know what their group gave before."""
    n_groups, n_each, n_rounds = 2, int(rng.integers(3, 5)), int(rng.integers(5, 9))
    multiplier = float(rng.choice([1.6, 2.0, 2.4]))
    theory = published_theory(domain, rng)
    n_people = n_groups * n_each
    group = np.repeat(np.arange(n_groups), n_each)
    gift = np.zeros((n_rounds, n_people))
    codes, parts = [], []
    for number in range(n_rounds):
        rows = GiftRows(
            np.tile(np.arange(n_people), number + 1), np.tile(group, number + 1),
            np.repeat(np.arange(1, number + 2), n_people), gift[: number + 1].ravel(),
            _gains(gift[: number + 1], group, multiplier).ravel(),
            np.zeros((number + 1) * n_people), np.zeros((number + 1) * n_people),
        )  # fmt: skip
        known, n_members = rows.known()
        last = slice(number * n_people, None)
        numbers = {name: values[last] for name, values in known.items()}
        numbers |= {
            "round": np.full(n_people, number + 1.0),
            "multiplier": np.full(n_people, multiplier),
            "group_size": n_members[last].astype(float),
        }
        now = situations(numbers, np.zeros(n_people, dtype=bool))
        answers = crowd().behave(theory, domain, now, n_people, rng)
        own = answers.participant == answers.trial  # each participant's answer to the own situation
        code = answers.response[own][np.argsort(answers.participant[own], kind="stable")]
        codes.append(code)
        parts.append(now)
        gift[number] = code / 20
    stimuli = Stimuli.concatenate(parts)
    trials = Trials(
        "answers", stimuli, np.tile(np.arange(n_people), n_rounds),
        np.arange(n_rounds * n_people), np.concatenate(codes),
        np.ones(n_rounds * n_people, dtype=np.int64), n_options=21, n_people=n_people,
    )  # fmt: skip
    frame = pd.DataFrame(
        {
            "subject": [f"P{who + 1:02d}" for who in trials.participant],
            "trial": np.repeat(np.arange(1, n_rounds + 1), n_people),
            "group": np.tile(group + 1, n_rounds),
            "round": np.repeat(np.arange(1, n_rounds + 1), n_people),
            "group_size": n_each,
            "multiplier": multiplier,
            "contribution": trials.response,
        }
    ).sort_values(["subject", "trial"], kind="stable")
    return PlainFile(frame.reset_index(drop=True), "contribution", trials)


def _gains(gift: np.ndarray[Any, Any], group: np.ndarray[Any, Any], multiplier: float) -> Any:
    """``(n_rounds, n_people)`` what each participant gained."""
    share = np.stack([gift[:, group == own].mean(axis=1) for own in group], axis=1)
    return 1 - gift + multiplier * share


def conflicts(domain: Domain, rng: Rng) -> PlainFile:
    """A flanker task with the key that was pressed and the key that was right."""
    return _conflicts(domain, rng, has_keys=True)


def conflicts_right_or_wrong(domain: Domain, rng: Rng) -> PlainFile:
    """A flanker task that says whether each response was right."""
    return _conflicts(domain, rng, has_keys=False)


def perceptions(domain: Domain, rng: Rng) -> PlainFile:
    """Dots that move, by their coherence, with the response that was given and the one that was right."""
    strengths = np.array([0.1, 0.25, 0.5, 1.0])[: int(rng.integers(2, 5))]
    strengths = strengths / strengths[-1]
    stimuli = domain.space({"strengths": strengths.tolist()})
    n_people = int(rng.integers(5, 8))
    trials = crowd().behave(published_theory(domain, rng), domain, stimuli, n_people, rng, 8)
    assert isinstance(domain, TimedDomain)
    is_wrong, place = np.divmod(trials.response, len(domain.edges) - 1)
    low, high = (np.array(domain.edges)[place + more] for more in (0, 1))
    time_s = low + (high - low) * rng.uniform(0.1, 0.9, len(place))
    side = stimuli["side"][trials.trial]
    keys = np.array(["f", "j"])
    frame = _frame(
        trials,
        {
            "coherence": 0.5 * stimuli["strength"],
            "direction": keys[(stimuli["side"] > 0).astype(int)],
        },
        key=keys[(side * (1 - 2 * is_wrong) > 0).astype(int)],
        rt=np.round(1000 * time_s, 2),
    )
    return PlainFile(frame, "key", trials)


def judgements(domain: Domain, rng: Rng) -> PlainFile:
    """Words that were studied and others, judged on a scale from "surely new" to "surely old"."""
    n = int(rng.choice([2, 4, 6]))
    stimuli = domain.space({"categories": n})
    n_people = int(rng.integers(5, 8))
    trials = crowd().behave(published_theory(domain, rng), domain, stimuli, n_people, rng, 30)
    category = (np.cumsum(stimuli["available"][0]) - 1)[trials.response].astype(int)
    item = {"item_type": np.array(["new", "old"])[stimuli["old"].astype(int)]}
    if n == 2:
        answer = np.array(["new", "old"])[category]
        return PlainFile(_frame(trials, item, response=answer), "response", trials)
    said = {"stimulus": {"item": "item_type", "categories": n}}
    return PlainFile(_frame(trials, item, rating=category + 1), "rating", trials, said)


def _conflicts(domain: Domain, rng: Rng, *, has_keys: bool) -> PlainFile:
    """Participants answer each situation that arises: of two keys the right one is on the right if keys are unknown."""
    n_people, n_trials = int(rng.integers(5, 8)), int(rng.integers(30, 60))
    space = domain.space({})
    space = Stimuli.concatenate([space, domain.swap_sides(space)])
    space = space.take(sorted({key: row for row, key in enumerate(space.keys)}.values()))
    answers = crowd().behave(published_theory(domain, rng), domain, space, n_people, rng, 12)
    key_of = {key: row for row, key in enumerate(space.keys)}
    rows, shown, outcomes = [], [], []
    for who in range(n_people):
        own = answers.participant == who
        waiting = {
            row: answers.response[own][answers.trial[own] == row].tolist()
            for row in range(len(space))
        }
        before = {"has_previous": 0.0, "previous_congruence": 0.0, "previous_error": 0.0}
        pressed = 0.0
        for trial in range(n_trials):
            congruence = float(rng.choice([-1, 1]))
            side = float(rng.choice([-1, 1])) if has_keys else 1.0
            repeats = float(has_keys and trial > 0 and pressed == side)
            now = conflict_trials(
                {"congruence": [congruence], "side": [side], "repeats": [repeats]}
                | {name: [value] for name, value in before.items()}
            )
            left = waiting[key_of[now.keys[0]]]
            code = left.pop() if left else int(rng.integers(4, 12))
            is_right = code < N_BINS
            pressed = side if is_right else -side
            low, high = EDGES[code % N_BINS], EDGES[code % N_BINS + 1]
            rt = round(1000 * (low + (high - low) * rng.uniform(0.1, 0.9)))
            rows.append((f"P{who + 1:02d}", trial + 1, congruence, side, is_right, pressed, rt))
            shown.append(now)
            outcomes.append(code)
            before = {
                "has_previous": 1.0,
                "previous_congruence": congruence,
                "previous_error": float(not is_right),
            }
    table = pd.DataFrame(
        rows, columns=["subject", "trial", "congruence", "side", "right", "pressed", "rt"]
    )
    frame = table[["subject", "trial"]].assign(
        condition=table["congruence"].map({1.0: "congruent", -1.0: "incongruent"})
    )
    keys = {-1.0: "f", 1.0: "j"}
    if has_keys:
        frame = frame.assign(correct_key=table["side"].map(keys), key=table["pressed"].map(keys))
    else:
        frame = frame.assign(correct=table["right"].astype(int))
    frame = frame.assign(rt=table["rt"])
    truth = Trials(
        "answers", Stimuli.concatenate(shown), np.repeat(np.arange(n_people), n_trials),
        np.arange(len(rows)), np.array(outcomes), np.ones(len(rows), dtype=np.int64),
        n_options=2 * N_BINS, n_people=n_people,
    )  # fmt: skip
    return PlainFile(frame, "key" if has_keys else "correct", truth)


# Learning -------------------------------------------------------------------------------------


def bandits(domain: Domain, rng: Rng) -> PlainFile:
    """Two arms that pay 0 or 1, drifting or not."""
    task = str(rng.choice(["bandit", "reversal"]))
    return _steps(domain, {"task": task, "n_steps": int(rng.integers(30, 60))}, rng)


def several_arms(domain: Domain, rng: Rng) -> PlainFile:
    """Three or four arms."""
    n_options = int(rng.integers(3, 5))
    file = _steps(domain, {"n_options": n_options, "n_steps": int(rng.integers(40, 70))}, rng)
    return replace(file, said={"stimulus": {"options": n_options}})


def graded_rewards(domain: Domain, rng: Rng) -> PlainFile:
    """Two arms that pay or cost several points."""
    stimuli = domain.candidates({"n_steps": int(rng.integers(30, 60))}, rng, 1)
    arrays = dict(stimuli.arrays)
    won = arrays["payoff"] > 0
    points = rng.integers(1, 6, won.shape) / 5
    arrays["payoff"] = np.where(won, points, -rng.integers(0, 3, won.shape) / 5)
    arrays["payoff"][:, 1:] = 0
    trials = _simulated(domain, Stimuli(arrays), rng)
    reward = trials.feedback["reward"]
    size = float(np.abs(reward).max()) or 1.0
    shown = dict(trials.stimuli.arrays)
    if reward.min() < 0:
        shown["has_losses"] = np.ones(len(trials.stimuli))
    followed = {**trials.feedback, "reward": (reward / size).round(12)}
    truth = replace(trials, stimuli=Stimuli(shown), feedback=followed)
    frame = _frame(trials, {}, choice=trials.response, reward=(5 * reward).round().astype(int))
    return PlainFile(frame, "choice", truth)


def games_of_steps(domain: Domain, rng: Rng) -> PlainFile:
    """Several games with new options, whose beginnings a column marks."""
    n_steps = 20 * int(rng.integers(2, 4))
    file = _steps(domain, {"n_steps": n_steps, "n_blocks": n_steps // 20}, rng)
    starts = file.truth.stimuli["block_start"][file.truth.trial].astype(int)
    return replace(
        file,
        frame=file.frame.assign(new_game=starts),
        said={"stimulus": {"block_start": "new_game"}},
    )


def _steps(domain: Domain, settings: Mapping[str, Any], rng: Rng) -> PlainFile:
    trials = _simulated(domain, domain.candidates(settings, rng, 1), rng)
    reward = trials.feedback["reward"].astype(int)
    frame = _frame(trials, {}, choice=trials.response, reward=reward)
    return PlainFile(frame, "choice", trials)


def cued_steps(domain: Domain, rng: Rng) -> PlainFile:
    """Two arms under each of several cues, of which each is learned apart."""
    n_cues = int(rng.integers(2, 5))
    return _with_cues(domain, {"n_cues": n_cues, "n_steps": 20 * n_cues}, rng)


def go_or_not(domain: Domain, rng: Rng) -> PlainFile:
    """Responses that are given or withheld, to four cues that pay or cost."""
    file = _with_cues(domain, {"task": "go_nogo", "n_steps": 20 * int(rng.integers(4, 7))}, rng)
    return replace(file, frame=file.frame.rename(columns={"choice": "pressed"}), response="pressed")


def _with_cues(domain: Domain, settings: Mapping[str, Any], rng: Rng) -> PlainFile:
    file = _steps(domain, settings, rng)
    cue = file.truth.stimuli["cue"][file.truth.trial].astype(int)
    return replace(file, frame=file.frame.assign(cue=cue))


def two_steps(domain: Domain, rng: Rng) -> PlainFile:
    """The two-step task, of which each row is a trial."""
    n_steps = 2 * int(rng.integers(20, 40))
    trials = _simulated(
        domain, domain.candidates({"task": "two_step", "n_steps": n_steps}, rng, 1), rng
    )
    first, second = (slice(at, None, 2) for at in (0, 1))
    who = trials.participant[first]
    frame = pd.DataFrame(
        {
            "subject": [f"P{number + 1:02d}" for number in who],
            "trial": np.tile(np.arange(1, n_steps // 2 + 1), int(who.max()) + 1),
            "choice1": trials.response[first] + 1,
            "state": trials.feedback["next_state"][first].astype(int),
            "choice2": trials.response[second] + 1,
            "reward": trials.feedback["reward"][second].astype(int),
        }
    )
    return PlainFile(frame, "choice1", trials)


def balloons(domain: Domain, rng: Rng) -> PlainFile:
    """Balloons that are pumped up, of which each row is one; of the last one only if it is over."""
    most = int(rng.integers(6, 20))
    settings = {"n_steps": int(rng.integers(150, 250)), "most": most}
    trials = _simulated(domain, domain.candidates(settings, rng, 1), rng)
    told = {name: own.astype(int) for name, own in trials.feedback.items()}
    who, step = trials.participant, trials.trial
    is_over = told["pumps"] == 0
    last = np.array([step[is_over & (who == one)].max() for one in range(int(who.max()) + 1)])
    is_kept = step <= last[who]
    ends = np.flatnonzero(is_over)
    made = np.where(told["balloons"][ends] == 1, 0, np.append(0, told["made"][ends][:-1]))
    truth = replace(
        trials,
        stimuli=decisions(int(last.max()) + 1, most),
        **{
            name: getattr(trials, name)[is_kept]
            for name in ("participant", "trial", "response", "count")
        },
        feedback={name: own[is_kept] for name, own in trials.feedback.items()},
    )
    frame = pd.DataFrame(
        {
            "subject": [f"P{one + 1:02d}" for one in who[ends]],
            "trial": told["balloons"][ends],
            "pumps": told["made"][ends] - made,
            "most_pumps": most,
            "burst": told["burst"][ends],
        }
    )
    return PlainFile(frame, "burst", truth)


def searches(domain: Domain, rng: Rng) -> PlainFile:
    """Values that come one after another until one is taken; of the last sequence only if it is over."""
    length = int(rng.integers(4, 12))
    settings = {"n_steps": int(rng.integers(60, 120)), "length": length}
    session = domain.candidates(settings, rng, 1)
    # a file without the values that had to be taken does not say them
    unknown = dict.fromkeys(("last", "luck"), np.zeros(len(session)))
    session = Stimuli({**session.arrays, **unknown, "draw": session["draw"].round(9)})
    trials = _simulated(domain, session, rng)
    who, step = trials.participant, trials.trial
    is_over = trials.feedback["ended"] > 0
    last = np.array([step[is_over & (who == one)].max() for one in range(int(who.max()) + 1)])
    rows = np.flatnonzero(step <= last[who])
    seen = np.where(step > 0, np.append(0, trials.feedback["seen"][:-1]), 0)
    truth = replace(
        trials,
        stimuli=session.take(step[rows]),
        participant=who[rows],
        trial=np.arange(len(rows)),
        response=trials.response[rows],
        count=trials.count[rows],
        feedback={name: own[rows] for name, own in trials.feedback.items()},
    )
    shown = truth.stimuli["center"] + truth.stimuli["scale"] * truth.stimuli["draw"]
    frame = pd.DataFrame(
        {
            "subject": [f"P{one + 1:02d}" for one in who[rows]],
            "trial": step[rows] + 1,
            "position": seen[rows].astype(int) + 1,
            "length": length,
            "lowest": 0,
            "highest": 100,
            "value": shown.round().astype(int),
            "decision": np.array(["continue", "take"])[truth.response],
        }
    )
    return PlainFile(frame, "decision", truth)


def declared_steps(domain: Domain, rng: Rng) -> PlainFile:
    """A declared task in which participants see what came of their choices."""
    stimuli = domain.candidates({"steps": int(rng.integers(24, 48))}, rng, 1)
    trials = _simulated(domain, stimuli, rng)
    words = domain.attribute_words()  # type: ignore[attr-defined]
    shown: dict[str, Any] = {}
    for name in domain.attribute_labels():  # type: ignore[attr-defined]
        for place in range(len(domain.options)):
            cells = stimuli[name][:, place]
            own = words.get(name)
            shown[f"{name}_{place + 1}"] = np.array(own)[cells.astype(int)] if own else cells
    starts = stimuli["block_start"]
    said: dict[str, Any] = {}
    if starts.sum() > 1:
        shown["new_game"], said = starts.astype(int), {"stimulus": {"block_start": "new_game"}}
    frame = _frame(trials, shown, choice=trials.response, reward=trials.feedback["reward"])
    return PlainFile(frame, "choice", trials, said)


KINDS: dict[str, Kind] = {
    "money now or later": Kind("intertemporal", delays),
    "pairs of sequences": Kind("sequences", sequences),
    "gambles": Kind("risky", gambles),
    "mixed gambles": Kind("risky", mixed_gambles),
    "rated products": Kind("multiattribute", products),
    "offers": Kind("offers", offers),
    "matrix games": Kind("games", games),
    "estimates": Kind("estimation", estimates),
    "gifts to a group": Kind("public_goods", gifts),
    "conflict tasks, keys": Kind("attention", conflicts),
    "conflict tasks, right or wrong": Kind("attention", conflicts_right_or_wrong),
    "perceptual decisions": Kind("perception", perceptions),
    "old or new": Kind("recognition", judgements),
    "two arms": Kind("learning", bandits),
    "several arms": Kind("learning", several_arms),
    "graded rewards": Kind("learning", graded_rewards),
    "games of steps": Kind("learning", games_of_steps),
    "two arms, cues": Kind("learning", cued_steps),
    "go or not": Kind("learning", go_or_not),
    "two steps": Kind("learning", two_steps),
    "balloons": Kind("stopping", balloons),
    "searches": Kind("search", searches),
    "declared: dots": Kind(str(TASKS / "dots.toml"), declared),
    "declared: fairness": Kind(str(TASKS / "fairness.toml"), declared),
    "declared: giving": Kind(str(TASKS / "giving.toml"), declared),
    "declared: menu": Kind(str(TASKS / "menu.toml"), declared),
    "declared: cards": Kind(str(TASKS / "cards.toml"), declared_steps),
    "declared: plants": Kind(str(TASKS / "plants.toml"), declared_steps),
}
"""Every kind of task of the package, and every declared task that comes with it."""


@cache
def domain_of(name: str) -> Domain:
    """The domain of a kind of task."""
    return open_domain(KINDS[name].domain)
