"""Answers of people who learn from step to step, from a table with a row for each step."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.domains.learning.parts import (
    GAMES,
    check_parts_go_on,
    games_of,
    steps_of_games,
)
from lakatos.domains.learning.task import MOST_CUES, N_STATES, steps, two_step_trials
from lakatos.experiments.adoption.expression import ColumnExpression, columns_in
from lakatos.experiments.adoption.layouts import (
    HasAttributes,
    NeededParts,
    Reading,
    StimulusLayout,
    layout_of_attributes,
)
from lakatos.experiments.adoption.mapping import AnswerColumns, leaves_of
from lakatos.experiments.adoption.names import CHOICES, PLACE_WORDS, words_of
from lakatos.experiments.adoption.option_code import TRUTH, chosen_options
from lakatos.experiments.adoption.plausible import (
    CUE_WORDS,
    FEWEST,
    JUDGED,
    STIMULUS_WORDS,
    is_mixed,
    question,
    rewards_depend,
)
from lakatos.experiments.adoption.prepared import computed_cells
from lakatos.experiments.adoption.read_back import columns_not_read
from lakatos.experiments.adoption.recognised import missed_cells
from lakatos.experiments.adoption.row_cells import RowCells, read_part
from lakatos.experiments.adoption.shown_stimuli import SHOWN, places_of_cells, stimuli_in_sets
from lakatos.experiments.adoption.signatures import (
    CLEAR,
    NEARLY_ALL,
    SCHEDULES,
    ColumnSignature,
    TableSignature,
    association,
    changes_within,
    counterparts,
    is_clock,
    is_function_of,
    is_one_to_one,
    is_running_sum,
    ranks_rows,
    stays_after_reward,
)
from lakatos.experiments.adoption.step_cells import (
    GAINED,
    GO,
    OF_LOSSES,
    WITHHELD,
    WON,
    RewardScale,
    is_loss,
    is_reward_in_words,
    number_of_options,
    outcome_of_choice,
    rewards,
)
from lakatos.experiments.adoption.tables import numbers_of, places_of
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.outcomes import HasCues, HasOutcomes
from lakatos.experiments.task import Domain, Stimuli, Trials

Array = NDArray[Any]
RARE_STATE = 0.2
"""Share of the rows of a state, below which a third one is a wrong cell."""
SAY_STATE = "say which column says to which one a first choice led: --column state=COLUMN"
SECOND = "second_choice"
"""Part of a trial of two stages that stands in one row."""
CUE = "cue"
"""Part that says the cue of each step: a column, or several that make it up together."""
PAYOFF = "payoff"
"""Part that says what every option would have paid, chosen or not."""


def sequence_of_steps(
    name: str,
    cells: RowCells,
    columns: AnswerColumns,
    participant: Array,
    domain: Domain,
    scale: RewardScale,
    notes: list[str],
) -> tuple[Trials, Array]:
    """Answers of people who learn: everybody's steps are numbered in their order.

    Args:
        name: Name of the experiment.
        cells: Its rows, by person and in the order of the person's steps.
        columns: What they mean.
        participant: ``(n_rows,)`` number of the person.
        domain: Domain of the trials.
        scale: Scale of the rewards of the file.
        notes: What is assumed is added to them.
    """
    check_reward(cells, columns, notes)
    _check_file_order(cells, columns, participant, notes)
    if not isinstance(domain, HasOutcomes):
        check_code_of_rewards(cells, columns, notes)
    n_options, needed = number_of_options(columns, domain), _outcomes_of(domain)
    for key in needed:
        if key not in columns.feedback:
            what = "people received" if key == "reward" else "an option would have paid"
            raise TrialsError(
                f"say which column holds what {what}: --column feedback.{key}=COLUMN "
                "(participants.columns.feedback)."
            )
    for part in {PAYOFF, CUE} & set(columns.stimulus):
        if {SECOND, "stage"} & set(columns.stimulus):
            raise TrialsError(f"{part} can be given of steps with one stage only.")
    if SECOND in columns.stimulus:
        return _two_stages(name, cells, columns, participant, scale, notes)
    game = games_of(cells, columns.stimulus.get("block_start", ""), participant)
    step, begins = steps_of_games(game, participant)
    cue = position = None
    if CUE in columns.stimulus and columns.stimulus[CUE] != columns.experiment:
        known = domain.cue_names if isinstance(domain, HasCues) else ()
        cue, step, begins, position = _with_cues(cells, columns, participant, game, known, notes)
    n_steps = len(begins)
    schedule: dict[str, Any] = {"block_start": begins, "cue": cue, "losses": scale.has_losses}
    schedule["go"] = (
        domain.go if isinstance(domain, HasCues) else _responding(cells, columns, n_options)
    )
    if "stage" in columns.stimulus:
        schedule["stage"] = _same_for_all(cells, str(columns.stimulus["stage"]), step, n_steps)
    payoff = None
    if PAYOFF in columns.stimulus:
        payoff = np.zeros((n_steps, N_STATES if cue is None else int(cue.max()) + 1, n_options))
        payoff[:] = _payoffs(cells, columns.stimulus[PAYOFF], n_options, step, n_steps)[:, None]
        payoff = scale.of(payoff)
    made = steps(n_steps, n_options, payoff=payoff, **schedule).arrays
    stimuli = Stimuli(
        dict(made)
        | ({} if position is None else {"position": position})
        | _step_attributes(cells, columns, domain, step, n_steps)
    )
    domain.check(stimuli)
    chosen = chosen_options(cells, columns)
    cells.refuse(
        chosen >= n_options,
        columns.response,
        f"is none of {n_options} options; say how many there are: --column options=NUMBER",
    )
    if cue is not None and n_options > 2:
        _check_options_of_cues(cells, columns, cue[step].astype(np.intp), chosen, notes)
    check_parts_go_on(
        cells, columns, participant, None if cue is None else cue[step], chosen, notes
    )
    feedback = {"next_state": np.zeros(len(step))}
    for key, column in columns.feedback.items():
        feedback[key] = rewards(cells, column, notes)
    _check_direction_of_reward(cells, columns, feedback["reward"], participant, notes)
    feedback["reward"] = scale.of(feedback["reward"])
    if payoff is not None:
        paid = payoff[step, 0, chosen]
        cells.refuse(
            ~np.isclose(paid, feedback["reward"]),
            columns.feedback["reward"],
            f"is not what {PAYOFF} says that the chosen option paid",
        )
    trials = Trials(
        experiment=name,
        stimuli=stimuli,
        participant=participant,
        trial=step,
        response=chosen,
        count=np.ones(len(step), dtype=np.int64),
        n_options=n_options,
        n_people=int(participant.max()) + 1,
        feedback=feedback,
    )
    return trials, np.arange(len(step))


def _with_cues(
    cells: RowCells,
    columns: AnswerColumns,
    participant: Array,
    game: Array,
    known: Sequence[str],
    notes: list[str],
) -> tuple[Array, Array, Array, Array]:
    """The cue, whether a game begins, and the position of each step, and the ``(n_rows,)`` step of each row.

    Participants who saw the same cues in the same games have one schedule; schedules stand one after the other.
    """
    cue, names = _cue_numbers(cells, columns.stimulus[CUE], participant, game, known)
    named = {name: str(number + 1) for number, name in enumerate(names)}
    words = [f"{name} is cue {number}" for name, number in named.items() if name != number]
    which = f": {', '.join(words)}" if words else "" if names else "; each game has cues of its own"
    notes.append(f"values are learned apart for each cue{which}")
    step = np.zeros(len(cue), dtype=np.int64)
    parts: list[Array] = []
    first: dict[bytes, int] = {}
    for who in range(int(participant.max()) + 1):
        rows = np.flatnonzero(participant == who)
        rows = rows[np.argsort(game[rows], kind="stable")]
        begins = np.diff(game[rows], prepend=-1) != 0
        own = np.stack([cue[rows], begins, np.arange(len(rows))], axis=1).astype(np.float64)
        key = own.tobytes()
        if key not in first:
            first[key] = sum(map(len, parts))
            parts.append(own)
        step[rows] = first[key] + np.arange(len(rows))
    table = np.concatenate(parts)
    return table[:, 0], step, table[:, 1], table[:, 2]


def _check_options_of_cues(
    cells: RowCells, columns: AnswerColumns, cue: Array, chosen: Array, notes: list[str]
) -> None:
    """Question cues with which some options were never chosen, since every option is taken to be offered with each.

    Raises:
        ImplausibleError: There are such cues, with enough responses.
    """
    sets = [sorted(set(chosen[cue == number].tolist())) for number in np.unique(cue)]
    n_rows = np.bincount(cue)[np.unique(cue)]
    few = [own for own, n in zip(sets, n_rows, strict=True) if n >= FEWEST]
    if all(len(own) == len(set(chosen.tolist())) for own in few):
        return
    text = pd.Series(cells.text(columns.response)).str.strip()
    names = dict(zip(chosen.tolist(), text, strict=True))
    places = {names[k]: str(place + 1) for own in sets for place, k in enumerate(own)}
    advice = "Leave out rows with options that come with some cues only"
    if len(places) == sum(map(len, sets)):  # each comes with one cue
        code = ",".join(f"{json.dumps(name)}={json.dumps(own)}" for name, own in places.items())
        advice = f"Number them within each cue: --column 'recode.{columns.response}={{{code}}}'"
    groups = "; ".join(", ".join(names[k] for k in own) for own in few[:2])
    question(
        columns,
        notes,
        "one_set_of_options",
        f"{cells.name}: only some cells of {columns.response} occur with a cue ({groups}), and all options would be "
        f"taken to be offered with each. {advice}",
    )


def _cue_numbers(
    cells: RowCells, given: Any, participant: Array, game: Array, declared: Sequence[str]
) -> tuple[Array, tuple[str, ...]]:
    """``(n_rows,)`` number of the cue, and the names of cues; none where each game has others, numbered within it.

    Raises:
        TrialsError: A game has too many cues, or none comes again.
    """
    names = [str(name) for name in (given if isinstance(given, list | tuple) else [given])]
    texts = [cells.text(name) for name in names]
    for name, own in zip(names, texts, strict=True):
        cells.refuse_empty(own == "", name)
    joined = np.array([" ".join(row) for row in zip(*texts, strict=True)], dtype=object)
    by_name = pd.Series(joined)
    if declared:
        what = f"is none of the declared cues {', '.join(declared)}"
        cells.refuse(~by_name.isin(declared).to_numpy(), names[0], what)
    known = list(declared) or sorted(
        by_name.unique(), key=lambda cell: (not cell.isdigit(), cell.zfill(9))
    )
    of_game = by_name.groupby([participant, game])
    once = ~by_name.isin(by_name[_repeated(by_name, participant, game)])
    cells.refuse(once.to_numpy(), names[0], NEVER_AGAIN)
    if of_game.nunique().max() > MOST_CUES:
        raise TrialsError(
            f"{cells.name}: {' and '.join(names)} has {of_game.nunique().max()} different cells in a game, and "
            f"theories learn about {MOST_CUES} cues at most. Say which column holds the cue (--column cue=COLUMN), or "
            "where a new game with other cues begins (--column block_start=COLUMN)."
        )
    if len(known) <= MOST_CUES:
        return by_name.map({name: place for place, name in enumerate(known)}).to_numpy(), tuple(
            known
        )
    return of_game.transform(lambda own: pd.factorize(own, sort=True)[0]).to_numpy(np.int64), ()


NEVER_AGAIN = (
    "is a cue that comes once only, so that nothing can be learned about it; say which column holds the cue: --column "
    "cue=COLUMN"
)


def _repeated(name: pd.Series, participant: Array, game: Array) -> pd.Series:
    """Whether a cue comes again within the game of a row."""
    return name.groupby([participant, game, name]).transform("size") > 1


def _responding(cells: RowCells, columns: AnswerColumns, n_options: int) -> int:
    """1 if the second option is to respond, and the first one to withhold a response; -1 the other way round, else 0.

    Raises:
        TrialsError: There are other options, or no response is called so.
    """
    if GO not in columns.stimulus:
        return 0
    cell = str(columns.stimulus[GO])
    if n_options != 2 or cell not in columns.responses:
        known = columns.responses or sorted(set(cells.text(columns.response)) - {""})
        raise TrialsError(
            f"{cells.name}: {GO} is {cell!r}; give the cell of {columns.response} that stands for responding, one of "
            f"{', '.join(known)}, where the other one is to withhold a response (--column {GO}=CELL)."
        )
    return 1 if columns.responses[cell] == 1 else -1


def _two_stages(
    name: str,
    cells: RowCells,
    columns: AnswerColumns,
    participant: Array,
    scale: RewardScale,
    notes: list[str],
) -> tuple[Trials, Array]:
    """Responses of the two-step task, of which each row is a trial: two choices, the state between them, the reward.

    Raises:
        TrialsError: The choices or the states are not two.
    """
    second, state = str(columns.stimulus[SECOND]), str(columns.stimulus.get("state", ""))
    if state == second:
        cells, state = _with_states_apart(cells, second, columns, notes)
    texts = cells.text(state)
    cells.refuse_empty(texts == "", state)
    counts = pd.Series(texts).value_counts()
    if len(counts) > 2 and counts.iloc[2] < RARE_STATE * counts.iloc[1]:
        others = ~np.isin(texts, counts.index[:2].to_numpy())
        cells.refuse(
            others,
            state,
            f"is none of the states {' and '.join(sorted(counts.index[:2]))}; {SAY_STATE}",
        )
    states = sorted(counts.index)
    if len(states) != 2:
        raise TrialsError(
            f"{cells.name}: {state} says {', '.join(states[:6])}; a first choice leads to one of two states; "
            f"{SAY_STATE}."
        )
    notes.append(f"{state}: {states[0]} is the first and {states[1]} the second state")
    first = chosen_options(cells, columns)
    then = _second_choices(cells, columns, second, state)
    gained = scale.of(rewards(cells, columns.feedback["reward"], notes))
    rows = zip(
        first.tolist(),
        [1 + states.index(cell) for cell in texts],
        then.tolist(),
        gained.tolist(),
        strict=True,
    )
    people: list[list[Any]] = [[] for _ in range(int(participant.max()) + 1)]
    for who, trial in zip(participant.tolist(), rows, strict=True):
        people[who].append(trial)
    return two_step_trials(name, people, losses=scale.has_losses), np.repeat(
        np.arange(len(first)), 2
    )


def _with_states_apart(
    cells: RowCells, second: str, columns: AnswerColumns, notes: list[str]
) -> tuple[RowCells, str]:
    """The rows with a column of states, where options of the second stage are numbered 1 and 2, 3 and 4."""
    number = cells.numbers(second)
    cells.refuse(
        ~np.isin(number, (1, 2, 3, 4)),
        second,
        "is none of 1, 2, 3 and 4. If it stands for a missed choice, say --column "
        f"missing.{second}=CELL; else {SAY_STATE}",
    )
    notes.append(f"{second}: 1 and 2 are the options of one state, and 3 and 4 those of the other")
    state, place = np.divmod((number - 1).astype(int), 2)
    options = np.array(sorted(columns.responses, key=columns.responses.__getitem__))
    made = {f"state of {second}": (state + 1).astype(str), second: options[place]}
    return cells.of(cells.frame.assign(**made)), f"state of {second}"


def _second_choices(cells: RowCells, columns: AnswerColumns, second: str, state: str) -> Array:
    """``(n_rows,)`` options chosen at the second stage, coded as first choices are.

    Names that first choices do not have are in the order of the alphabet, within each state.
    """
    texts = cells.text(second)
    cells.refuse_empty(texts == "", second)
    if set(texts.tolist()) & set(columns.responses) or not columns.responses:
        return chosen_options(cells, columns.model_copy(update={"response": second}))
    frame = pd.DataFrame({"state": cells.text(state), "cell": texts})
    names = {own: sorted(rows["cell"].unique()) for own, rows in frame.groupby("state")}
    too_many = {own: cells_said for own, cells_said in names.items() if len(cells_said) > 2}
    if too_many:
        own, shown = next(iter(too_many.items()))
        raise TrialsError(
            f"{cells.name}: {second} says {', '.join(shown[:6])} in the state {own}; a second choice is between two "
            "options. If a cell stands for a missed response, say --column "
            f"missing.{second}=CELL (participants.columns.missing)."
        )
    code = {(own, cell): place for own, shown in names.items() for place, cell in enumerate(shown)}
    pairs = zip(frame["state"], frame["cell"], strict=True)
    return np.array([code[pair] for pair in pairs], dtype=np.int64)


def _outcomes_of(domain: Domain) -> tuple[str, ...]:
    """Return what follows a choice, by the names of the domain."""
    return domain.outcome_names if isinstance(domain, HasOutcomes) else ("reward",)


def _step_attributes(
    cells: RowCells, columns: AnswerColumns, domain: Domain, step: Array, n_steps: int
) -> dict[str, Array]:
    """``(n_steps, n_options)`` of each attribute of a declared task, the same for everybody."""
    if not isinstance(domain, HasOutcomes):
        return {}
    words, found = domain.attribute_words(), {}
    for name in domain.attribute_labels():
        given = columns.stimulus[name]
        values = read_part(cells, given, name, words.get(name, ()))
        kept = np.stack([_most_say(own, step, n_steps) for own in values.T], axis=1)
        cells.refuse(
            (values != kept[step]).any(axis=1),
            str(leaves_of(given)[0]),
            "differs between people at one step; bring them in as experiments apart: --column experiment=COLUMN",
        )
        found[name] = kept
    return found


def _payoffs(cells: RowCells, given: Any, n_options: int, step: Array, n_steps: int) -> Array:
    """``(n_steps, n_options)`` what each option would have paid, the same for everybody.

    Raises:
        TrialsError: There is not one column for each option, or participants differ.
    """
    if not isinstance(given, list | tuple) or len(given) != n_options:
        raise TrialsError(
            f"{PAYOFF}: give a list of {n_options} columns, one for each option "
            f"(participants.columns.stimulus.{PAYOFF})."
        )
    values = read_part(cells, given, PAYOFF)
    kept = np.zeros((n_steps, n_options))
    kept[step[::-1]] = values[::-1]
    cells.refuse(
        (values != kept[step]).any(axis=1),
        str(given[0]),
        "differs between people at one step; bring them in as experiments apart",
    )
    return kept


def _same_for_all(cells: RowCells, column: str, step: Array, n_steps: int) -> Array:
    """``(n_steps,)`` what a column says of each step, which must be the same for everybody."""
    values = cells.numbers(column)
    cells.refuse(~np.isin(values, (0, 1)), column, "is neither 0 nor 1")
    found = _most_say(values, step, n_steps)
    cells.refuse(
        values != found[step],
        column,
        "differs between people at one step; bring them in as experiments apart: --column experiment=COLUMN",
    )
    return found


def _most_say(values: Array, step: Array, n_steps: int) -> Array:
    """``(n_steps,)`` the median of what rows say of each step, so that a wrong row is told from the right ones."""
    found = pd.Series(values).groupby(step).quantile(0.5, interpolation="lower")
    return np.asarray(found.reindex(np.arange(n_steps)))


def check_reward(cells: RowCells, columns: AnswerColumns, notes: list[str]) -> None:
    """Question a reward that is one option's outcome, whichever was chosen, or that is larger where more is lost."""
    reward, response = columns.feedback.get("reward", ""), columns.response
    used = {*map(str, leaves_of(columns.model_dump(exclude={"feedback"})))} - {reward}
    names = [
        name
        for name in map(str, cells.frame.columns)
        if name not in used and len(columns_in(name, cells.frame)) == 1
    ]
    own = columns_in(reward, cells.frame)
    if "{" in reward and len(own) > 1:
        notes.append(
            f"the reward is what the option in {own[0]} paid ({', '.join(own[1:])}); what others paid is not used"
        )
    if reward == f"-{own[0]}":
        notes.append(f"{own[0]} is taken for what is lost: the reward is {reward}")
    if reward not in names or not numbers_of(cells.frame[reward]).notna().any():
        return
    values = numbers_of(cells.frame[reward])
    if len(values) >= FEWEST and values.nunique() == 1:
        question(
            columns,
            notes,
            "doubtful_reward",
            f"{cells.name}: {reward} is {values.dropna().iloc[0]:g} in all of {len(values):,} rows, from which nothing "
            "can be learned. Name the column of what followed each choice (--column feedback.reward=COLUMN), or take a "
            "reward out of the cells that are missing (participants.columns.missing)",
        )
    if is_loss(reward, values.to_numpy()):
        question(
            columns,
            notes,
            "doubtful_reward",
            f"{cells.name}: {reward} is the larger, the more was lost, by its name. Say --column "
            f"feedback.reward=-{reward} (participants.columns.feedback)",
        )
    if lost := _lost_beside(reward, cells, response):
        sign = "-" if numbers_of(cells.frame[lost]).max() > 0 else "+"
        question(
            columns,
            notes,
            "doubtful_reward",
            f"{cells.name}: {reward} is what was won, and {lost}, which is not read, seems to be what was lost in the "
            f"same steps. Say --column 'feedback.reward={reward} {sign} {lost}' (participants.columns.feedback)",
        )
    chosen = outcome_of_choice(reward, response, list(cells.text(response)), names)
    alike = {
        name: words
        for name in names
        for words in counterparts([reward, name])
        if set(words_of(reward)) & set(words_of(name)) & REWARDS
        and set(numbers_of(cells.frame[name]).dropna()) == set(values.dropna())
        and not cells.frame[name].equals(cells.frame[reward])
        and not {*words_of(reward), *words_of(name)} & (OBTAINED | FORGONE | GAINED | OF_LOSSES)
    }  # fmt: skip
    if not chosen and not alike:
        return
    others = [name for name in columns_in(chosen, cells.frame)[1:] if name != reward] or list(alike)
    way = f"say --column 'feedback.reward={chosen}'" if chosen else WAY_TO_OUTCOMES
    question(
        columns,
        notes,
        "doubtful_reward",
        f"{cells.name}: {reward} and {', '.join(others[:3])} seem to be what each option paid, and {reward} would be "
        f"the reward of all choices: {way} (participants.columns.feedback)",
    )


def _check_file_order(
    cells: RowCells, columns: AnswerColumns, participant: Array, notes: list[str]
) -> None:
    """Question the order of rows that are sorted by the response, or not by their numbers, which nothing reads."""
    if columns.order:
        return
    frame = cells.frame.reset_index(drop=True)
    items = [
        ColumnSignature(name, frame[name].str.strip()) for name in columns_not_read(frame, columns)
    ]
    ranks = [item for item in items if ranks_rows(item, participant)]
    found = [f"{item.name} numbers them" for item in ranks if not is_clock(item, participant, 1)]
    texts = pd.DataFrame({"who": participant, "said": cells.text(columns.response)})
    sizes, n_runs = texts.value_counts(), (texts != texts.shift()).any(axis=1).sum()
    if n_runs == len(sizes) > participant.max() + 1 and sizes.quantile(0.25) > 2:
        found.append(f"they are sorted by {columns.response}")
    if found:
        way = f"--column order={ranks[0].name if ranks else 'COLUMN'} (participants.columns.order)"
        words = f"{cells.name}: rows seem not to stand in the order of the choices: "
        question(columns, notes, "row_order", f"{words}{' and '.join(found)}. Say {way}")


def _check_direction_of_reward(
    cells: RowCells, columns: AnswerColumns, won: Array, participant: Array, notes: list[str]
) -> None:
    """Question a reward after which choices are repeated clearly less often, such as 1 for a shock."""
    reward = columns.feedback["reward"]
    if {CUE, SHOWN, "stage"} & set(columns.stimulus):
        return
    choice = ColumnSignature(columns.response, pd.Series(cells.text(columns.response)))
    if stays_after_reward(choice, won, participant) < -AVOIDED:
        question(
            columns,
            notes,
            "doubtful_reward",
            f"{cells.name}: participants repeat {columns.response} less often after a high {reward} than after a low "
            f"one, as if it were a loss. If it is one, say --column 'feedback.reward=-{reward}' "
            "(participants.columns.feedback)",
        )


def check_code_of_rewards(cells: RowCells, columns: AnswerColumns, notes: list[str]) -> None:
    """Question a reward of 1 and 2 alone, which may be a code of won and lost, unless its name speaks of amounts."""
    reward = columns.feedback.get("reward", "")
    if reward not in cells.frame.columns or set(words_of(reward)) & OF_PAYMENTS:
        return
    if set(numbers_of(cells.frame[reward]).dropna()) == {1, 2}:
        question(
            columns,
            notes,
            "doubtful_reward",
            f"{cells.name}: {reward} is 1 or 2, which may be amounts, or a code. Is 2 nothing won (--column "
            f"'recode.{reward}={{1 = 1, 2 = 0}}'), something lost (--column 'recode.{reward}={{1 = 1, 2 = -1}}'), or "
            f"won, and 1 nothing won (--column 'recode.{reward}={{1 = 0, 2 = 1}}')? In a study: "
            "participants.columns.recode",
        )


def _lost_beside(reward: str, cells: RowCells, response: str) -> str:
    """The column of losses beside one of gains, called alike but for the words for both; empty without any."""
    words = set(words_of(reward))
    if not words & GAINED:
        return ""
    for name in map(str, cells.frame.columns):
        own, values = set(words_of(name)), numbers_of(cells.frame[name])
        is_beside = own & OF_LOSSES and own - OF_LOSSES == words - GAINED and name != response
        if is_beside and values.notna().any() and values.nunique() > 1:
            return name
    return ""


# What columns seem to mean -----------------------------------------------------------------------

REWARDS = {
    "reward", "rew", "points", "outcome", "payoff", "payout", "feedback", "fb", "won", "win", "money", "gain", "coin",
    "coins", "treasure", "score", "punkte", "bonus", "earned", "earnings", "result", "prize",
}  # fmt: skip
OUTCOMES = {"outcome", "actual", "event", "occurred", "result", "shown", "came"}
OF_PAYMENTS = REWARDS - OUTCOMES - {"feedback", "fb", "won", "win"}
"""Words that speak of amounts, and not of what happened."""
PREDICTIONS = {"prediction", "predicted", "predict", "guess", "guessed", "forecast", "expected"}
TOTALS = {"total", "cum", "cumulative", "bank", "balance", "sum", "running", "konto"}
"""Words in names of columns."""
COMMON, RARE = (
    {"common", "frequent", "likely", "haeufig"},
    {"rare", "uncommon", "unlikely", "selten"},
)
"""Cells that say whether a first choice led where it usually leads."""
TRANSITIONS = {"transition", "trans"}
OBTAINED = {"chosen", "obtained", "received", "factual", "own", "actual", "earned", "total", "sum"}
FORGONE = {"unchosen", "foregone", "forgone", "counterfactual", "fictive", "other", "missed"}
"""Words in names of columns of what the option chosen paid, and the other one."""
WAY_TO_OUTCOMES = (
    "name a column of what the chosen option paid; outcome_{COLUMN} takes it from outcome_red or outcome_blue, as the "
    "cell of COLUMN is red or blue"
)


MOST_OPTIONS = 8
FORESEEN = 0.2
"""Accuracy of predicted outcomes above chance, beyond which participants had seen the outcomes before."""
LEARNED = 3.0
"""Standard errors by which a choice is repeated more often after a reward than without one."""
AVOIDED = 4.0
"""Standard errors by which a choice is repeated less often after what is taken for a reward."""


def recognise(table: TableSignature) -> Reading | None:
    """A choice and what followed it, and no number besides that could describe the options."""
    table = _with_outcome_of_choice(_steps(table))
    named_response = table.columns.get(table.response)
    found = _recognised_prediction(table) or _recognised_choices(table)
    if found is None or (CUE in found.stimulus and "block_start" not in found.stimulus):
        found = _learned_anew(table) or found
    if found is not None and not (named_response and len(named_response.distinct) == 1):
        return found
    for withheld in _with_withheld(table):
        found = _recognised_choices(withheld)
        if found is not None and CUE in found.stimulus:
            cells = withheld.columns[found.response].cells
            n_empty = int((cells == WITHHELD).sum())
            (go,) = set(cells) - {WITHHELD}
            note = (
                f"{found.response} is {go} or, in {n_empty:,} rows, empty; if an empty cell is a response that was "
                f"withheld, say --column {GO}={go}"
            )
            return replace(found, stimulus={**found.stimulus, GO: "?"}, notes=(*found.notes, note))
    return None


FEWEST_SCREENS = 0.3
"""Share of rows without a choice and a reward from which on they are other screens, and no missed responses."""


def _steps(table: TableSignature) -> TableSignature:
    """The rows with a choice or a reward, where many others show something else, such as feedback."""
    columns = [item.name for item in table.free if item.words & (CHOICES | REWARDS)]
    steps = table.where_filled(columns)
    return steps if len(steps.person) <= (1 - FEWEST_SCREENS) * len(table.person) else table


def _learned_anew(table: TableSignature) -> Reading | None:
    """Responses judged right or wrong to stimuli whose right response is another one in the next block.

    In a block a stimulus has one right response, which participants do not know better than by chance at first.
    """
    blocks = [item for item in table.columns.values() if item.words & (SCHEDULES | GAMES)]
    cues = [item for item in table.free if item.words & STIMULUS_WORDS and item not in blocks]
    choices = [item for item in _choices(table) if item.words & (CHOICES | PRESSED)]
    if table.response:
        choices = [item for item in choices if item.name == table.response]
    judged = [item for item in table.free if set(item.distinct) == {"0", "1"}]
    for block, cue, response, right in product(blocks, cues, choices, judged):
        if right is not response and _is_right_anew(block, cue, response, right, table.person):
            break
    else:
        return None
    note = (
        f"{right.name} says whether each response was right, and is taken for the reward; the right response to each "
        f"{cue.name} changes with {block.name}, so that {cue.name} is taken for the cue and a new {block.name} for a "
        "new game; --column cue= and --column block_start= say otherwise"
    )
    return Reading(
        {CUE: cue.name, "block_start": block.name},
        response=response.name,
        feedback={"reward": right.name},
        notes=(note,),
    )


def _is_right_anew(
    block: ColumnSignature,
    cue: ColumnSignature,
    response: ColumnSignature,
    right: ColumnSignature,
    person: NDArray[np.int64],
) -> bool:
    """Whether stimuli have one right response in each block, others in other blocks, and are not known at first."""
    rows = pd.DataFrame({
        "who": person, "cue": cue.code, "place": places_of(person, block.code, cue.code),
        "said": response.code, "right": right.values,
    })[(response.cells != "").to_numpy() & np.isfinite(right.values)]  # fmt: skip
    pairs = rows.drop_duplicates(["place", "said", "right"])
    known = pairs[pairs["right"] == 1]
    if known["place"].duplicated().any() or pairs.duplicated(["place", "said"]).any():
        return False
    by_cue = known.groupby(["who", "cue"])["said"].nunique()
    first = rows.drop_duplicates("place")["right"].mean()
    chance = 1 / len(response.distinct)
    is_learned = first < chance + AT_FIRST and rows["right"].mean() > first + AT_FIRST / 2
    return bool(len(by_cue)) and bool((by_cue > 1).mean() > 0.5) and bool(is_learned)


AT_FIRST = 0.2
"""Share by which right responses may exceed chance at first, where the right ones are learned."""


def _with_withheld(table: TableSignature) -> Iterator[TableSignature]:
    """The table with a word for empty cells of a column of responses that holds one key alone, for each such column."""
    for item in table.columns.values():
        is_named = item.words & (CHOICES | PRESSED | KEY_WORDS)
        if len(item.distinct) != 1 or not (item.name == table.response or is_named):
            continue
        cells = item.cells.where(item.cells != "", WITHHELD)
        column = ColumnSignature(item.name, cells)
        if changes_within(column, table.person) > 0.05:
            yield replace(table, columns={**table.columns, item.name: column}, response=item.name)


KEY_WORDS = {"key", "keys", "button"}
"""Words in names of columns of the key that was pressed."""


def _with_outcome_of_choice(table: TableSignature) -> TableSignature:
    """The table with one column for the outcomes of the options that were chosen, where each option has a column."""
    for choice in _choices(table):
        for item in table.numbers():
            names = list(table.columns)
            found = outcome_of_choice(item.name, choice.name, choice.distinct, names)
            if not found or not item.words & REWARDS:
                continue
            frame = pd.DataFrame({own.name: own.cells for own in table.columns.values()})
            expression = ColumnExpression(found, names)
            cells = pd.Series(computed_cells(frame, expression))
            kept = {
                name: own
                for name, own in table.columns.items()
                if name not in expression.columns[1:]
            }
            outcome = ColumnSignature(found, cells.astype(str).where(cells.notna(), ""))
            if not any(_are_alike(own.values, outcome.values) for own in kept.values()):
                kept[found] = outcome  # no column says it in one
            return replace(table, columns=kept, response=choice.name)
    return table


def _are_alike(one: Array, other: Array) -> bool:
    """Whether two columns hold the same numbers wherever both hold one."""
    known = np.isfinite(one) & np.isfinite(other)
    return bool(known.mean() > 0.5) and bool((one == other)[known].mean() >= NEARLY_ALL)


def _recognised_choices(table: TableSignature) -> Reading | None:
    found = [item for item in table.free if _may_be_reward(item, table)]
    sums = [
        item
        for item in table.numbers()
        if item.words & TOTALS
        or any(
            is_running_sum(item.values, other.values, table.person)
            for other in found
            if other is not item
        )
    ]
    found = [item for item in found if item not in sums]
    named = [item for item in found if item.words & REWARDS]
    named = [item for item in named if item.words <= REWARDS] or named
    reward = named or [item for item in found if item.is_number and _is_paid(item, table)]
    steady = [item for item in reward if not _drifts(item, table.person)]
    reward = steady or reward  # chances of rewards wander, and may be called rewards, too
    reward = [item for item in reward if _is_paid(item, table)] if len(reward) > 1 else reward
    if len(reward) != 1:
        return None
    paid = reward[0]
    choices = [item for item in _choices(table) if item is not paid]
    stages = _stages(table, choices)
    parts: dict[str, Any]
    if stages is not None:
        first, state, second = stages
        response, parts = first, {"second_choice": second.name, "state": state.name}
    else:
        parts = {}
        chosen = _learned(choices, paid, table)
        repeating = [
            item for item in choices if item.words & CHOICES and _is_among_shown(item, table)
        ]
        if len(chosen) != 1 and len(repeating) == 1 and not table.response:
            chosen = repeating
        if not chosen:
            return None
        if len(chosen) > 1 and all(is_one_to_one(chosen[0], item) for item in chosen[1:]):
            # several codes of one choice
            chosen = sorted(chosen, key=lambda item: table.named.get(item.name) != "response")[:1]
        if len(chosen) > 1:
            options = " or ".join(f"--column response={item.name}" for item in chosen[:4])
            question = f"several columns may hold the choices; say which: {options}"
            return Reading({"options": 2}, questions=(question,), feedback={"reward": paid.name})
        response = chosen[0]
    means, game = ((), "") if parts else _hidden_means(table, response, paid)
    parts |= {"block_start": game} if game else {}
    is_staged = SECOND in parts or _has_second_stage(table, response)
    cues = () if is_staged else _cues(table, response, paid)
    cues = () if any(_shown_pairs(table)) else cues
    shown = {item.name for pair in _shown_pairs(table) for item in pair}
    places = shown | _places(
        table, [table.columns[name] for name in dict.fromkeys((response.name, *parts.values()))]
    )
    sizes = ""
    if cues:
        parts |= {CUE: cues[0].name if len(cues) == 1 else [item.name for item in cues]}
        if not game:
            game, sizes = _counted_cues(table, cues)
            parts |= {"block_start": game} if game else {}
        parts |= _go(response)
    unexplained = [
        item
        for item in table.numbers()
        if item is not paid and item is not response and item not in sums and item.name not in places
        and item.name not in means and item not in cues
        and not is_clock(item, table.person) and not _drifts(item, table.person)
        and item.name not in parts.values() and not is_function_of(item, response, *cues)
        and not (cues and (item.words & REWARDS or is_function_of(item, response, paid, *cues)))
        and not (is_staged and (_says_transitions(item) or item.words & {"2", "second"}))
        and not item.words & (NO_PROPERTY | SCHEDULES)
        and changes_within(item, table.person) > 0.05
        and table.named.get(item.name, "") not in ("response_time", "order", "reward", "response")
    ]  # fmt: skip
    if unexplained:
        return None
    worth = {} if paid.is_number else _worth_by_sums(paid, sums, table.person)
    if not parts and (offered := _offered(table, response)):
        return replace(
            offered,
            feedback={"reward": paid.name},
            recode={paid.name: worth} if worth else {},
            notes=(
                *offered.notes,
                _in_words(paid, offered.response),
                *_worth_in_words(paid, worth),
            ),
        )
    missing = missed_cells(table, response)
    n_options = {"options": max(len(response.distinct) - len(missing), 2)} if missing else {}
    notes = [_in_words(paid, response.name)]
    notes += _worth_in_words(paid, worth)
    if cues:
        notes.append(
            f"{' and '.join(item.name for item in cues)} is taken for the cue of each step; --column cue= says that "
            "options are the same at all steps"
        )
    if sizes:
        notes.append(
            f"a new {game} is taken for a new game with other cues, as {sizes} is the number of its cues; "
            "--column block_start= says that games go on"
        )
    elif game:
        notes.append(
            f"{' and '.join(means)} are taken for what options pay on average, which nobody sees, and a new {game} for "
            "a new game, as they change with it; --column block_start= says that games go on"
        )
    return Reading(
        n_options | parts,
        response=response.name,
        feedback={"reward": paid.name},
        missing={response.name: missing} if missing else {},
        recode={paid.name: worth} if worth else {},
        notes=tuple(notes),
    )


def _cues(
    table: TableSignature, response: ColumnSignature, paid: ColumnSignature
) -> tuple[ColumnSignature, ...]:
    """Columns that make up the cue: their names say so, or rewards of one and the same choice differ by them."""
    frame = pd.DataFrame({item.name: item.cells for item in table.columns.values()})
    cells = RowCells(frame, "")
    stated = AnswerColumns(response=response.name, feedback={"reward": paid.name})
    found = [
        item for item in table.free
        if item not in (response, paid) and 2 <= len(item.distinct) <= MOST_CUES
        and not item.words & (JUDGED | REWARDS | NO_PROPERTY)
        and (set(item.distinct) != set(response.distinct) or item.words & CUE_WORDS)
        and is_mixed(item.cells.to_numpy(dtype=object), table.person)
        and (item.words & STIMULUS_WORDS or rewards_depend(cells, stated, table.person, item.name))
    ]  # fmt: skip
    kept: list[ColumnSignature] = []
    for item in sorted(found, key=lambda own: -len(own.distinct)):
        if not any(is_function_of(item, other) for other in kept):
            kept.append(item)
    return tuple(kept)


def _go(response: ColumnSignature) -> dict[str, str]:
    """The cell that stands for responding, where the other one is to withhold it; ``?`` where no word says which."""
    if WITHHELD in response.distinct:
        return {GO: "?"}
    distinct_cells = {
        cell.casefold().replace("-", "").replace(" ", ""): cell for cell in response.distinct
    }
    if set(distinct_cells) == {"go", "nogo"}:
        return {GO: distinct_cells["go"]}
    if not response.words & PRESSED or len(response.distinct) != 2:
        return {}
    code = {TRUTH.get(cell.casefold(), cell): cell for cell in response.distinct}
    if set(code) in ({"0", "1"}, {"-1", "1"}):
        return {GO: code["1"]}
    return {} if response.words & PLACE_WORDS else {GO: "?"}


PRESSED = {"pressed", "press", "go", "responded"}
"""Words in names of columns that are 1 where participants responded, and 0 where they withheld a response."""


def _worth_by_sums(
    paid: ColumnSignature, sums: Sequence[ColumnSignature], person: NDArray[np.int64]
) -> dict[str, str]:
    """Find what each word of a reward, such as win and loss, adds to a column of sums; empty if that varies."""
    same = person[1:] == person[:-1]
    for item in sums:
        steps, words = np.diff(item.values)[same], paid.cells.to_numpy()[1:][same]
        found = {}
        for word in paid.distinct:
            own = steps[(words == word) & np.isfinite(steps)]
            usual = float(np.median(own)) if len(own) else np.nan
            if len(own) and (own == usual).mean() >= NEARLY_ALL:
                found[word] = f"{usual:g}"
        if len(found) == len(paid.distinct) == len(set(found.values())):
            return found
    return {}


def _worth_in_words(paid: ColumnSignature, worth: Mapping[str, str]) -> list[str]:
    words = ", ".join(f"{word} is {number}" for word, number in worth.items())
    return [f"{paid.name}: {words}, as a column of sums says"] if worth else []


def _counted_cues(table: TableSignature, cues: Sequence[ColumnSignature]) -> tuple[str, str]:
    """The column of games, and one that counts the different cues of each, where their numbers differ; else nothing."""
    cue = places_of(*(item.code for item in cues))
    for game in table.columns.values():
        if not game.words & (SCHEDULES | GAMES):
            continue
        place = places_of(table.person, game.code)
        n_cues = pd.Series(cue).groupby(place).transform("nunique").to_numpy()
        for item in table.numbers():
            if item is not game and len(item.distinct) > 1 and np.array_equal(item.values, n_cues):
                return game.name, item.name
    return "", ""


def _hidden_means(
    table: TableSignature, response: ColumnSignature, paid: ColumnSignature
) -> tuple[tuple[str, ...], str]:
    """Columns of what each option pays on average, and that of the games in which they are the same; else nothing.

    There is one for each option, rewards spread around that of the option chosen, and it is constant within a game.
    """
    if not paid.is_number or not response.is_whole or not 2 <= len(response.distinct) <= 4:
        return (), ""
    options = sorted(response.distinct, key=float)
    stems: dict[str, list[ColumnSignature]] = {}
    for item in table.numbers():
        if item is not paid and item is not response and item.name[-1:].isdigit():
            stems.setdefault(item.name.rstrip("0123456789"), []).append(item)
    games = [item for item in table.columns.values() if item.words & SCHEDULES and item.is_whole]
    for own in stems.values():
        own.sort(key=lambda item: int(item.name.removeprefix(item.name.rstrip("0123456789"))))
        if len(own) != len(options):
            continue
        of_chosen = np.select(
            [(response.cells == cell).to_numpy() for cell in options],
            [item.values for item in own],
            np.nan,
        )
        rest = paid.values - of_chosen
        known = np.isfinite(rest)
        if not known.any() or association(paid.values, of_chosen) < CLEAR:
            continue
        spread = float(paid.values[known].std())
        if abs(float(rest[known].mean())) > SMALL_BIAS * spread or rest[known].std() > spread:
            continue
        for game in games:
            place = places_of(table.person, game.code)
            pairs = places_of(place, *(item.code for item in own))
            if int(pairs.max()) == int(place.max()) and len(np.unique(pairs)) > len(options):
                return tuple(item.name for item in own), game.name
    return (), ""


SMALL_BIAS = 0.1
"""Mean difference of rewards from what options pay on average, in standard deviations of rewards."""


def _in_words(paid: ColumnSignature, response: str) -> str:
    return (
        f"{paid.name} is taken for the reward of each choice, and {response} for the choice; --column "
        "feedback.reward=COLUMN and --column response=COLUMN say other ones"
    )


def _offered(table: TableSignature, response: ColumnSignature) -> Reading | None:
    """The choice among stimuli whose places change, where two columns say which stood on the left and on the right.

    It is the column that repeats one of both, or else the response, if its cells say places.
    """
    for one, other in _shown_pairs(table):
        distinct_cells = set(one.distinct)
        filled = ((one.cells != "") & (other.cells != "")).to_numpy()
        chosen = [
            item for item in table.free if item not in (one, other) and _repeats(item, one, other)
        ]
        if table.response:
            chosen = [item for item in chosen if item is response]
        if len(chosen) == 1:
            response, parts = chosen[0], {}
        elif places_of_cells(set(response.distinct)):
            parts = {SHOWN: [one.name, other.name]}
        else:
            continue
        if len(distinct_cells) == 2:
            # Where the response itself names stimuli, their places are not needed.
            return (
                Reading({"options": 2, **parts}, response=response.name)
                if parts or chosen
                else None
            )
        for sets in [item for item in table.columns.values() if item.words & SCHEDULES]:
            frame = pd.DataFrame({"chosen": one.cells, "set": sets.cells})[filled]
            if code := stimuli_in_sets(frame, "chosen", "set", 2):
                note = f"the stimuli of each {sets.name} are learned apart"
                return Reading(
                    {"options": 2, **parts},
                    response=response.name,
                    responses={} if parts else code,
                    experiment=sets.name,
                    notes=(note,),
                )
    return None


def _shown_pairs(
    table: TableSignature,
) -> Iterator[tuple[ColumnSignature, ColumnSignature]]:
    """Columns that say which of a few stimuli stood on the left and on the right, never the same one."""
    sides = [[item for item in table.free if item.words & side] for side in (LEFT, RIGHT)]
    for one, other in product(*sides):
        filled = ((one.cells != "") & (other.cells != "")).to_numpy()
        differ = (one.cells != other.cells).to_numpy()[filled]
        is_pair = one.name != other.name and set(one.distinct) == set(other.distinct)
        if (
            is_pair
            and 2 <= len(one.distinct) <= MOST_STIMULI
            and len(differ)
            and bool(differ.all())
        ):
            yield one, other


def _is_among_shown(item: ColumnSignature, table: TableSignature) -> bool:
    return any(_repeats(item, one, other) for one, other in _shown_pairs(table))


def _repeats(item: ColumnSignature, one: ColumnSignature, other: ColumnSignature) -> bool:
    """Whether a column says in each row what one of two others says, and not always the same one."""
    filled = (item.cells != "").to_numpy()
    is_one, is_other = ((item.cells == own.cells).to_numpy()[filled] for own in (one, other))
    is_either = bool(len(is_one)) and (is_one | is_other).mean() >= NEARLY_ALL
    return bool(is_either and is_one.any() and is_other.any())


LEFT, RIGHT = {"left", "l"}, {"right", "r"}
MOST_STIMULI = 12


def _places(table: TableSignature, chosen: Sequence[ColumnSignature]) -> set[str]:
    """Columns that say at which place each option stood: they hold the cells of a choice, and one of two its own."""
    found: set[str] = set()
    for choice in chosen:
        distinct_cells, filled = set(choice.distinct), (choice.cells != "").to_numpy()
        alike = [
            item
            for item in table.free
            if item is not choice and set(item.distinct) == distinct_cells
        ]
        for one, other in combinations(alike, 2):
            is_one = (choice.cells == one.cells).to_numpy() | (
                choice.cells == other.cells
            ).to_numpy()
            differ = (one.cells != other.cells).to_numpy()
            if is_one[filled].mean() >= NEARLY_ALL and differ[filled].mean() >= NEARLY_ALL:
                found |= {one.name, other.name}
    return found


def _drifts(item: ColumnSignature, person: NDArray[np.int64]) -> bool:
    """Whether a column wanders by small steps, as the chances of rewards do that nobody sees."""
    if len(item.distinct) < FEWEST_OF_WALK or item.is_whole:
        return False
    steps = np.abs(np.diff(item.values))[person[1:] == person[:-1]]
    steps = steps[np.isfinite(steps)]
    spread = float(np.nanstd(item.values))
    return bool(len(steps)) and spread > 0 and float(np.mean(steps)) < SMALL_STEP * spread


FEWEST_OF_WALK = 50
SMALL_STEP = 0.5
"""Mean step of a column that wanders, in standard deviations; independent numbers have more than one."""
NO_PROPERTY = {
    "confidence", "conf", "certainty", "mood", "acc", "accuracy", "correct", "corr", "onset", "duration", "rt",
    "latency", "time", "key", "ms", "sec", "timestamp", "total", "cum", "n",
}  # fmt: skip
"""Words in names of columns of numbers that describe no option."""


def _may_be_reward(item: ColumnSignature, table: TableSignature) -> bool:
    """Whether a column may say what followed each choice: numbers, or words such as win and lose."""
    if item.name == table.response or item.words & (NO_PROPERTY | SCHEDULES):
        return False
    if table.named.get(item.name, "") in ("response", "response_time", "experiment"):
        return False
    return item.is_number or is_reward_in_words(item.distinct)


def _is_paid(item: ColumnSignature, table: TableSignature) -> bool:
    """Whether some column's choices are repeated after high values of a column: what people learn from."""
    return any(
        stays_after_reward(other, numbers_won(item), table.person) > LEARNED
        for other in _choices(table)
        if other is not item
    )


def numbers_won(item: ColumnSignature) -> NDArray[np.float64]:
    """Rewards as numbers; words for losses are below those for wins."""
    if item.is_number:
        return item.values
    return np.where(item.cells.str.casefold().isin(WON), 1.0, 0.0)


def _choices(table: TableSignature) -> list[ColumnSignature]:
    """Columns of a few codes or words that change from row to row, and are no judgement of a response."""
    return [
        item
        for item in table.free
        if 2 <= len(item.distinct) <= MOST_OPTIONS
        and (item.is_whole or not item.is_number)
        and changes_within(item, table.person) > 0.05
        and (
            table.named.get(item.name) == "response"
            or not item.words & (NO_PROPERTY | SCHEDULES | TOTALS)
        )
        and (item.words & (CHOICES | PRESSED) or not is_reward_in_words(item.distinct))
    ]


def _learned(
    choices: Sequence[ColumnSignature], paid: ColumnSignature, table: TableSignature
) -> list[ColumnSignature]:
    """The column of choices: the named one, or one that is repeated after rewards; several where that is unclear."""
    if table.response:
        return [table.columns[table.response]] if table.response in table.columns else []
    named = [
        item for item in choices if table.named.get(item.name) == "response" or item.words & CHOICES
    ] or [item for item in choices if item.words & PRESSED and len(item.distinct) == 2]
    if len(named) == 1:
        return named
    won = numbers_won(paid)
    strength = {item.name: stays_after_reward(item, won, table.person) for item in choices}
    clear = [item for item in choices if strength[item.name] > LEARNED]
    if len(clear) > 1:
        best = max(strength.values())
        clear = [item for item in clear if strength[item.name] > best / 2]
    return clear


def _stages(
    table: TableSignature, choices: Sequence[ColumnSignature]
) -> tuple[ColumnSignature, ColumnSignature, ColumnSignature] | None:
    """The first choice, the state it led to and the second choice.

    A column says which transitions were rare; or two columns are called the first and the second choice, and a third
    one of two cells follows the first of them in most rows.
    """
    transitions = [item for item in table.free if _says_transitions(item)]
    if len(transitions) != 1:
        return _numbered_stages(choices)
    for first, state in permutations([item for item in choices if item is not transitions[0]], 2):
        rare, one, other = _where_said(transitions[0], first, state)
        follows = is_function_of(rare, one, other) and is_function_of(other, one, rare)
        if not follows or is_function_of(rare, one) or is_function_of(rare, other):
            continue
        others = [item for item in choices if item not in (first, state, transitions[0])]
        second = [item for item in others if 2 <= len(item.distinct) <= 4]
        named = [item for item in second if item.words & CHOICES]
        second = named if len(second) > 1 else second
        return (first, state, second[0]) if len(second) == 1 else None
    return None


def _where_said(*columns: ColumnSignature) -> list[ColumnSignature]:
    """The rows in which all of some columns say something."""
    is_said = np.logical_and.reduce([(item.cells != "").to_numpy() for item in columns])
    return [
        ColumnSignature(item.name, item.cells[is_said].reset_index(drop=True)) for item in columns
    ]


def _numbered_stages(
    choices: Sequence[ColumnSignature],
) -> tuple[ColumnSignature, ColumnSignature, ColumnSignature] | None:
    by_name = {item.name: item for item in choices if item.words & CHOICES}
    for words, pairs in counterparts(list(by_name)).items():
        if words not in STAGES or len(pairs) != 1:
            continue
        first, second = (by_name[name] for name in pairs[0])
        states = [
            item
            for item in choices
            if item not in (first, second) and len(item.distinct) == len(first.distinct) == 2
            and not is_function_of(item, first)
            and association(item.code.astype(np.float64), first.code.astype(np.float64)) > CLEAR
            and (_is_state(item) or association(item.code.astype(np.float64), second.code.astype(np.float64)) < CLEAR)
        ]  # fmt: skip
        named = [item for item in states if _is_state(item)]
        if len(named or states) == 1:
            return first, (named or states)[0], second
    return None


def _has_second_stage(table: TableSignature, response: ColumnSignature) -> bool:
    """Whether another column is called like the choices, but for the number of the stage."""
    pairs = counterparts(list(table.columns))
    return any(response.name == first for words in STAGES for first, _ in pairs.get(words, ()))


def _is_state(item: ColumnSignature) -> bool:
    return bool(item.words & {"state", "planet", "world"})


STAGES = (("1", "2"), ("first", "second"), ("a", "b"))
"""Words in which the names of the choices at two stages differ."""


def _says_transitions(item: ColumnSignature) -> bool:
    cells = {word for cell in item.distinct for word in words_of(cell)}
    is_said = bool(cells & COMMON) and bool(cells & RARE)
    return len(item.distinct) == 2 and (is_said or bool(item.words & (COMMON | RARE | TRANSITIONS)))


def _recognised_prediction(table: TableSignature) -> Reading | None:
    """A prediction and what came: two columns with the same few cells, and no reward besides."""
    choices = _choices(table)
    if len(choices) != 2 or any(item.words & REWARDS - OUTCOMES for item in table.numbers()):
        return None
    one, other = choices
    if set(one.distinct) != set(other.distinct) or (one.code == other.code).all():
        return None
    if {one.name.casefold(), other.name.casefold()} == {"s", "r"}:
        return None  # a stimulus and the response to it
    same = (one.cells == other.cells).to_numpy()
    by_chance = sum(
        float((one.cells == cell).mean() * (other.cells == cell).mean()) for cell in one.distinct
    )
    is_predicted = any(item.words & PREDICTIONS for item in choices)
    if not 0 < same.mean() < 1 or (same.mean() > by_chance + FORESEEN and not is_predicted):
        return None  # what was seen and what was said of it
    no_property = NO_PROPERTY | SCHEDULES
    rest = [
        item for item in table.numbers() if item not in choices and not item.words & no_property
    ]
    if rest:
        return None
    predicted = [item for item in choices if item.name == table.response]
    predicted = predicted or [item for item in choices if item.words & PREDICTIONS]
    # Numbers such as 0 and 1 may be two things that have nothing to do with one another; words of both are one thing.
    is_of_words = not one.is_number or any(item.words & OUTCOMES for item in choices)
    if is_of_words and not predicted:
        predicted = [item for item in choices if table.named.get(item.name) == "response"]
    n_options = len(one.distinct)
    predicted = predicted or _follows_the_other(one, other, table)
    if len(predicted) != 1 and not is_of_words:
        return None
    if len(predicted) != 1:
        options = " or ".join(f"--column response={item.name}" for item in choices)
        question = f"one of two columns holds predictions, and the other one what came; say which: {options}"
        return Reading({"options": n_options}, questions=(question,))
    came = other if predicted[0] is one else one
    reward = f"{predicted[0].name} == {came.name}"
    note = f"{predicted[0].name} is taken for a prediction of {came.name}, whose reward is that it came true"
    return Reading(
        {"options": n_options},
        response=predicted[0].name,
        feedback={"reward": reward},
        notes=(note,),
    )


def _follows_the_other(
    one: ColumnSignature, other: ColumnSignature, table: TableSignature
) -> list[ColumnSignature]:
    """The column that depends on the other one's cell in the row before, while the other one does not depend on it."""
    person = table.person
    within = person[1:] == person[:-1]
    strength = []
    for then, before in ((one, other), (other, one)):
        same = np.concatenate(
            [[np.nan], 1.0 * (then.cells[1:].to_numpy() == before.cells[:-1].to_numpy())]
        )[1:]
        by_chance = sum(
            float((then.cells == cell).mean() * (before.cells == cell).mean())
            for cell in one.distinct
        )
        n_rows = max(int(within.sum()), 1)
        error = np.sqrt(max(by_chance * (1 - by_chance), 1e-6) / n_rows)
        strength.append((float(same[within].mean()) - by_chance) / error)
    if strength[0] > CLEAR and strength[1] < CLEAR / 2:
        return [one]
    return [other] if strength[1] > CLEAR and strength[0] < CLEAR / 2 else []


LAYOUT = StimulusLayout(
    {
        "options": "number of options",
        PAYOFF: "list of columns: what each option would have paid at the step, for participants who are simulated",
        CUE: "column, or list of columns: the cue, context or pair of the step, for each of which values are learned "
        "apart",
        GO: "cell of the response that stands for responding, where the other option, or an empty cell, is to withhold "
        "a response",
        "stage": "column: 0 for a first or only stage, 1 for the second",
        "block_start": "column: 1 where a new game begins, the number of the game, or that of the step in it; or a "
        "list of columns that number games together",
        SHOWN: "columns, from the left: the stimulus at each place, where responses say places",
        SECOND: "column: the choice at the second stage, where a row is a trial of two stages",
        "state": "column: likewise the state that the first choice led to",
    },
    (),
    None,
    recognise=recognise,
    kind="choices with rewards after each",
    guess_rank=8,
    from_steps=sequence_of_steps,
    inputs={
        "second_stage": NeededParts(
            (SECOND, "stage"),
            "which choices are of a second stage",
            "planning over two stages, and credit that a first choice receives for the second",
        ),
        CUE: NeededParts((CUE,), "the cue of a step", "working memory for cues"),
        GO: NeededParts((GO,), "that one option is to withhold a response", "biases to respond"),
    },
)
"""The steps of this kind of task as columns; they are made from the order of the responses."""


def steps_with_attributes(domain: HasAttributes) -> StimulusLayout:
    """The layout of steps whose options are described by attributes."""
    plain = layout_of_attributes(domain)
    parts = {**plain.parts, "block_start": "column: 1 where a new game begins"}
    parts[PAYOFF] = LAYOUT.parts[PAYOFF]
    found = replace(plain, parts=parts, from_steps=sequence_of_steps)
    if not (isinstance(domain, HasCues) and domain.cue_names):
        return found

    def guess(names: Sequence[str]) -> dict[str, Any]:
        cues = [name for name in names if CUE in words_of(name)]
        attributes = plain.guess(names)
        is_whole = len(cues) == 1 and len(attributes) == len(plain.needed)
        return {CUE: cues[0], **attributes} if is_whole else {}

    parts[CUE] = LAYOUT.parts[CUE]
    return replace(found, needed=(*plain.needed, CUE), guess=guess)
