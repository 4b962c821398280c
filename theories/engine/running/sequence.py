"""Theories on the way through people's sequences: what each response's probability was, given all that came before.

A theory that learns is fed step by step: it has predicted a response before it is told what was answered. The same walk
with simulated answers shows what it expects of people who have not been asked yet.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.participants.simulated import with_random_choices
from lakatos.experiments.task import Domain, Stimuli, Trials
from lakatos.theories.engine.running import unrolled
from lakatos.theories.engine.sandbox.session import SequenceStep, TheorySession

Array = NDArray[np.float64]
AnyArray = NDArray[Any]
_BUILDING = threading.Lock()
"""Held while what sessions share is built, so that no two threads build the same."""
TINY = 1e-12
"""Smallest probability taken at face value, so that one impossible answer costs 27.6 nats, not infinity."""
MOST_TOLD = 2**21
"""Probabilities that a theory is asked for at once, where it may be told several steps."""
SOME, MANY = 2**18, 2**22
"""Draws times steps of all people from which the grammar's theories are walked in machine code: those whose numbers
stay the same to the last digit where NumPy uses the system's exponentials, and all."""
MOST_TOGETHER = 2**14
"""Draws times people walked together: more of them no longer fit the processor's cache."""


@dataclass(frozen=True)
class FollowedSequences:
    """People's sequences as each draw of a theory sees them."""

    log_likelihood: Array
    """``(n_draws, n_participants)`` nats."""
    probabilities: Array
    """``(n_draws, n_trials, n_options)`` of each option, averaged over those who saw the trial; even odds elsewhere."""
    own: Array
    """``(n_participants, n_steps, n_options)`` probabilities averaged over draws, NaN after the last response."""
    noted: Array
    """The same under one draw each, by which a person can be asked about again."""
    noted_draw: NDArray[np.int64]
    """``(n_participants,)`` that draw."""


@dataclass(frozen=True)
class SimulatedSequences:
    """Behaviour of simulated people, step by step."""

    response: NDArray[np.int64]
    """``(n_draws, n_sequences, n_steps)`` options."""
    probabilities: Array
    """``(n_draws, n_sequences, n_steps, n_options)`` with which they were chosen, lapses of the participants aside."""
    feedback: Mapping[str, Array]
    """``(n_draws, n_sequences, n_steps)`` each."""


def follow(
    session: TheorySession, domain: Domain, parameters: Mapping[str, Array], trials: Trials
) -> FollowedSequences:
    """Predict each response of one experiment from those before; see `follow_all`."""
    return follow_all(session, domain, parameters, [trials])[0]


def follow_all(
    session: TheorySession,
    domain: Domain,
    parameters: Mapping[str, Array],
    trials: Sequence[Trials],
) -> list[FollowedSequences]:
    """Walk through people's responses, one step at a time for all of them together.

    Args:
        session: The theory's process; its own stimuli are not used.
        domain: Says what is shown at each step.
        parameters: ``(n_draws,)`` each.
        trials: Experiments; single responses in the order in which they were given.

    Returns:
        What was seen of each experiment.

    Raises:
        TrialsError: The order of responses is not known.
        TheoryError: The theory fails.
    """
    n_draws = _n_draws(parameters)
    found: list[FollowedSequences] = []
    for table in _tables(session, trials, n_draws):
        n_people, n_steps = table.trial.shape
        n_trials, n_options = len(table.stimuli), table.n_options
        log_likelihood = np.zeros((n_draws, n_people))
        sums = np.zeros((n_draws, n_trials, n_options))
        own = np.full((n_people, n_steps, n_options), np.nan)
        noted, everybody = own.copy(), np.arange(n_people)
        draw = np.random.default_rng().integers(
            n_draws, size=(n_people,)
        )  # no result depends on it
        for step, (row, there, p) in enumerate(_walk(session, domain, parameters, table)):
            log_likelihood += _log_answers(p, table.response[:, step], there)
            own[there, step] = p.mean(axis=0)[there]
            noted[there, step] = p[draw, everybody][there]
            people = np.flatnonzero(there)[np.argsort(row[there], kind="stable")]
            places, first = np.unique(row[people], return_index=True)
            sums[:, places] += np.add.reduceat(p[:, people], first, axis=1)
        seen = np.bincount(table.trial[table.trial >= 0], minlength=n_trials)
        probabilities = np.where(
            seen[:, None] > 0, sums / np.maximum(seen, 1)[:, None], 1.0 / n_options
        )  # even odds where nobody answered
        for who, length, rows in table.parts:
            found.append(
                FollowedSequences(
                    log_likelihood[:, who],
                    probabilities[:, rows],
                    own[who, :length],
                    noted[who, :length],
                    draw[who],
                )
            )
    return found


def log_likelihood_of_all(
    session: TheorySession,
    domain: Domain,
    parameters: Mapping[str, Array],
    trials: Sequence[Trials],
) -> Array:
    """``(n_draws, n_participants of all experiments)`` nats, as `follow_all` finds them, and nothing else."""
    n_draws = _n_draws(parameters)
    found = []
    for table in _tables(session, trials, n_draws):
        written = _written(session, domain, parameters, table)
        at_once = written and unrolled.log_likelihood(*written, parameters, TINY)
        if at_once is not None:
            found.append(at_once)
            continue
        total = np.zeros((n_draws, len(table.trial)))
        for step, (_, there, p) in enumerate(_walk(session, domain, parameters, table)):
            total += _log_answers(p, table.response[:, step], there)
        found.append(total)
    return np.concatenate(found, axis=1)


def log_likelihood_changed(
    session: TheorySession,
    domain: Domain,
    parameters: Mapping[str, Array],
    trials: Sequence[Trials],
    changes: Sequence[Callable[[Array], Array]],
) -> Array:
    """`log_likelihood_of_all` with probabilities that were changed in one way and another.

    Args:
        session, domain, parameters, trials: As in `follow_all`.
        changes: Each takes probabilities ``(n_draws, n_participants, n_options)`` and returns others.

    Returns:
        ``(n_changes, n_draws, n_participants of all experiments)`` nats.
    """
    found = []
    for table in _tables(session, trials, n_draws := _n_draws(parameters)):
        total = np.zeros((len(changes), n_draws, len(table.trial)))
        for step, (_, there, p) in enumerate(_walk(session, domain, parameters, table)):
            for own, change in zip(total, changes, strict=True):
                own += _log_answers(change(p), table.response[:, step], there)
        found.append(total)
    return np.concatenate(found, axis=2)


def follow_own_cells(
    session: TheorySession, domain: Domain, parameters: Mapping[str, Array], trials: Trials
) -> Array:
    """Log-likelihood of each person's responses to each trial, where each person has parameters of their own.

    Args:
        session, domain, trials: As in `follow`.
        parameters: ``(n_draws * n_participants,)`` each: of all people at the first draw, then at the second, ...

    Returns:
        ``(n_draws * n_participants, n_trials)`` nats.
    """
    (table,) = _tables(session, [trials], 1)
    n_people, n_options = len(table.trial), table.n_options
    n_rows = _n_draws(parameters)
    who = np.tile(np.arange(n_people), n_rows // n_people)
    table = replace(
        table,
        trial=table.trial[who],
        response=table.response[who],
        feedback={name: column[who] for name, column in table.feedback.items()},
        _cases=[],
    )
    cells = np.zeros((n_rows, len(trials.stimuli)))
    everybody = np.arange(n_rows)
    for step, (row, there, p) in enumerate(_walk(session, domain, parameters, table, paired=True)):
        log_p = _log_answers(p.reshape(1, n_rows, n_options), table.response[:, step], there)[0]
        cells[everybody[there], row[there]] += log_p[there]
    return cells


def log_likelihood_of_parts(
    session: TheorySession,
    domain: Domain,
    parameters: Mapping[str, Array],
    trials: Trials,
    part: AnyArray,
) -> Array:
    """Log-likelihood of parts of each person's responses, each given all that came before, whichever part that is of.

    Args:
        session, domain, parameters, trials: As in `follow`.
        part: ``(n_rows,)`` part that each answer belongs to, from 0 on; no part has responses of two people.

    Returns:
        ``(n_draws, n_parts)`` nats.
    """
    (table,) = _tables(session, [trials], n_draws := _n_draws(parameters))
    place = replace(trials, response=part, n_options=int(part.max()) + 1).sequences.response
    found = np.zeros((n_draws, int(part.max()) + 1))
    for step, (_, there, p) in enumerate(_walk(session, domain, parameters, table)):
        found[:, place[there, step]] += _log_answers(p, table.response[:, step], there)[:, there]
    return found


@dataclass(frozen=True)
class _SequenceTable:
    """People of several experiments who are walked together."""

    stimuli: Stimuli
    """Stimuli of all experiments, one after the other."""
    trial: AnyArray
    """``(n_participants, n_steps)`` row of the stimuli, -1 after a person's last response."""
    response: AnyArray
    """``(n_participants, n_steps)``."""
    feedback: Mapping[str, AnyArray]
    """``(n_participants, n_steps)`` each."""
    n_options: int
    parts: tuple[tuple[slice, int, slice], ...]
    """People, number of steps, and rows of the stimuli, of each experiment."""
    _cases: list[unrolled.StepCases | None] = field(default_factory=list)

    def cases(self, domain: Domain) -> unrolled.StepCases | None:
        """The kinds of steps, of which a session asks about one domain only; see `unrolled.cases_of`."""
        with _BUILDING:
            if not self._cases:
                steps = list(_steps(domain, self))
                self._cases.append(unrolled.cases_of(steps, self.response, self.trial >= 0))
            return self._cases[0]


def _tables(session: TheorySession, trials: Sequence[Trials], n_draws: int) -> list[_SequenceTable]:
    """Experiments next to one another that ask alike, together as far as their people are few; a session keeps them."""
    groups: list[list[Trials]] = []
    for item in trials:
        n_people = (
            item.n_participants + sum(other.n_participants for other in groups[-1]) if groups else 0
        )
        if groups and _form(item) == _form(groups[-1][0]) and n_draws * n_people <= MOST_TOGETHER:
            groups[-1].append(item)
        else:
            groups.append([item])
    sizes = [len(group) for group in groups]
    with _BUILDING:
        kept = session.of_answers.get("tables", ([], (), []))
        same = kept[0] == sizes and len(kept[1]) == len(trials)
        if not same or not all(map(operator.is_, kept[1], trials)):
            kept = (sizes, tuple(trials), [_table(group) for group in groups])
            session.of_answers["tables"] = kept
        found: list[_SequenceTable] = kept[2]
        return found


def _form(trials: Trials) -> tuple[Any, ...]:
    """Return what must be equal in experiments whose people are walked together."""
    arrays = {name: (array.shape[1:], array.dtype) for name, array in trials.stimuli.arrays.items()}
    return arrays, trials.n_options, tuple(trials.feedback)


def _table(trials: Sequence[Trials]) -> _SequenceTable:
    sequences = [item.sequences for item in trials]
    lengths = [own.trial.shape[1] for own in sequences]
    people = np.cumsum([0, *(len(own.trial) for own in sequences)])
    rows = np.cumsum([0, *(len(item.stimuli) for item in trials)])

    def together(columns: Sequence[AnyArray], fill: int = 0) -> AnyArray:
        widths = [((0, 0), (0, max(lengths) - n_steps)) for n_steps in lengths]
        return np.concatenate(
            [np.pad(*item, constant_values=fill) for item in zip(columns, widths, strict=True)]
        )

    names = trials[0].stimuli.arrays
    return _SequenceTable(
        Stimuli({name: np.concatenate([item.stimuli[name] for item in trials]) for name in names}),
        together(
            [np.where(own.trial >= 0, own.trial + rows[i], -1) for i, own in enumerate(sequences)],
            fill=-1,
        ),
        together([own.response for own in sequences]),
        {name: together([own.feedback[name] for own in sequences]) for name in trials[0].feedback},
        trials[0].n_options,
        tuple(
            (slice(*people[i : i + 2]), lengths[i], slice(*rows[i : i + 2]))
            for i in range(len(trials))
        ),
    )


def _walk(
    session: TheorySession,
    domain: Domain,
    parameters: Mapping[str, Array],
    table: _SequenceTable,
    *,
    paired: bool = False,
) -> Iterator[tuple[AnyArray, AnyArray, Array]]:
    """Each step of people's sequences.

    Yields:
        The trial of each, -1 for none, whether there is one, and the probabilities ``(n_draws, n_participants,
        n_options)``. In a ``paired`` walk each person has one draw, their own.
    """
    n_steps, n_done = table.trial.shape[1], 0
    if not paired and (written := _written(session, domain, parameters, table)):
        for p in unrolled.probabilities(*written, parameters):
            row = table.trial[:, n_done]
            yield row, row >= 0, p
            n_done += 1
    if n_done < n_steps:  # from the beginning, to come to where probabilities were none
        stepwise = _walk_stepwise(session, domain, parameters, table, paired=paired)
        yield from islice(stepwise, n_done, None)


def _written(
    session: TheorySession, domain: Domain, parameters: Mapping[str, Array], table: _SequenceTable
) -> tuple[unrolled.WrittenTheory, unrolled.StepCases] | None:
    """Write out the theory of a session for each step of many, where this is possible; see `unrolled`."""
    n_cells = _n_draws(parameters) * table.trial.size
    if not session.takes_walks or not session.walks_written or n_cells < SOME:
        return None
    cases = table.cases(domain)
    if cases is None:
        return None
    known = session.of_theory.setdefault("written", {})
    if id(cases) not in known:  # kept with the cases, so that no others are ever called so
        known[id(cases)] = (cases, unrolled.written_theory(session, list(parameters), cases))
    theory = known[id(cases)][1]
    if theory is None or (n_cells < MANY and not theory.same_digits):
        return None
    return theory, cases


def _walk_stepwise(
    session: TheorySession,
    domain: Domain,
    parameters: Mapping[str, Array],
    table: _SequenceTable,
    *,
    paired: bool = False,
) -> Iterator[tuple[AnyArray, AnyArray, Array]]:
    """`_walk`, with the theory's process asked step by step."""
    session.begin(parameters, paired=paired)
    n_people, n_steps = table.trial.shape
    n_at_once = 1
    if session.takes_walks:
        n_cells = (1 if paired else _n_draws(parameters)) * n_people * table.n_options
        n_at_once = max(1, MOST_TOLD // max(n_cells, 1))
    wanted = _steps(domain, table)
    for first in range(0, n_steps, n_at_once):
        steps = list(islice(wanted, n_at_once))
        for step, p in enumerate(session.steps(steps), start=first):
            row = table.trial[:, step]
            yield row, row >= 0, p


def _steps(domain: Domain, table: _SequenceTable) -> Iterator[SequenceStep]:
    """Yield what people saw at each step of their sequences, with their earlier responses and feedback."""
    response: NDArray[np.int64] | None = None
    before: dict[str, Array] = {}
    for step in range(table.trial.shape[1]):
        arrays = _at(table.stimuli, np.maximum(table.trial[:, step], 0))
        alike, by_draw = _split(domain.shown(arrays, before), arrays)
        yield SequenceStep(alike, by_draw, response, before)
        response = table.response[None, :, step]
        before = {name: column[None, :, step] for name, column in table.feedback.items()}


def _log_answers(p: Array, answer: AnyArray, there: AnyArray) -> Array:
    """``(n_draws, n_participants)`` log probability of the responses of those who are there, 0 of the others."""
    n_draws, n_people, n_options = p.shape
    chosen = p.reshape(n_draws, -1).take(np.arange(n_people) * n_options + answer, axis=1)
    return np.where(there, np.log(np.maximum(chosen, TINY)), 0.0)


def _n_draws(parameters: Mapping[str, Array]) -> int:
    return len(next(iter(parameters.values()))) if parameters else 1


def simulate(
    session: TheorySession,
    domain: Domain,
    parameters: Mapping[str, Array],
    stimuli: Stimuli,
    order: AnyArray,
    rng: np.random.Generator,
    *,
    random_choice_share: float = 0.0,
    paired: bool = False,
    uniform: Array | None = None,
) -> SimulatedSequences:
    """Let every draw answer and learn from its own responses.

    Args:
        session: The theory's process.
        domain: Says what is shown and what follows a response.
        parameters: ``(n_draws,)`` each.
        stimuli: What can be shown.
        order: ``(n_sequences, n_steps)`` rows of ``stimuli``; every draw goes through every sequence.
        rng: Decides the responses.
        random_choice_share: Responses given at random, whatever the theory says.
        paired: Whether each draw goes through one sequence only, its own, so that results have one draw.
        uniform: ``(n_draws, n_sequences, n_steps)`` numbers between 0 and 1 that decide instead of ``rng``.
    """
    n_sequences, n_steps = order.shape
    n_draws = len(next(iter(parameters.values()))) if parameters and not paired else 1
    responses, probabilities, follows = [], [], []
    session.begin(parameters, paired=paired)
    response: NDArray[np.int64] | None = None
    before: dict[str, Array] = {}
    available = stimuli.available(domain.n_options(stimuli))
    for step in range(n_steps):
        arrays = _at(stimuli, order[:, step])
        shown = domain.shown(arrays, before)
        p = session.step(*_split(shown, arrays), response=response, feedback=before)
        mixed = with_random_choices(p, available[order[:, step]], random_choice_share)
        cumulative = np.cumsum(mixed, axis=-1)
        numbers = rng.random((n_draws, n_sequences)) if uniform is None else uniform[..., step]
        drawn = numbers[..., None] * cumulative[..., -1:]
        response = (drawn >= cumulative[..., :-1]).sum(axis=-1)
        before = domain.feedback(arrays, shown, response)
        responses.append(response)
        probabilities.append(p)
        follows.append(before)
    return SimulatedSequences(
        np.stack(responses, axis=-1),
        np.stack(probabilities, axis=2),
        {name: np.stack([item[name] for item in follows], axis=-1) for name in before},
    )


def replay(
    session: TheorySession,
    domain: Domain,
    parameters: Mapping[str, Array],
    stimuli: Stimuli,
    order: AnyArray,
    done: SimulatedSequences,
    draws: slice = slice(None),
) -> Array:
    """Probabilities along responses that were simulated before, ``(n_draws, n_sequences, n_steps, n_options)``.

    Args:
        session, domain, parameters, stimuli, order: As in `simulate`.
        done: What was answered.
        draws: Those of ``done`` that the parameters belong to.
    """
    probabilities = []
    session.begin(parameters)
    response: NDArray[np.int64] | None = None
    before: dict[str, Array] = {}
    for step in range(order.shape[1]):
        arrays = _at(stimuli, order[:, step])
        p = session.step(
            *_split(domain.shown(arrays, before), arrays), response=response, feedback=before
        )
        probabilities.append(p)
        response = done.response[draws, :, step]
        before = {name: table[draws, :, step] for name, table in done.feedback.items()}
    return np.stack(probabilities, axis=2)


def expected(
    session: TheorySession,
    domain: Domain,
    parameters: Mapping[str, Array],
    stimuli: Stimuli,
    rng: np.random.Generator,
    *,
    n_orders: int = 4,
    random_choice_share: float = 0.0,
) -> Array:
    """Probabilities of each trial for people who come upon it somewhere among all the others.

    Args:
        session, domain, parameters, stimuli, rng: As in `simulate`.
        random_choice_share: Earlier responses given at random; the probabilities are those of the theory itself.
        n_orders: Random orders averaged over; a sequential domain has one order.

    Returns:
        ``(n_draws, n_trials, n_options)``.
    """
    rows = np.arange(len(stimuli))
    orders = rows[None] if domain.sequential else rng.permuted(np.tile(rows, (n_orders, 1)), axis=1)
    p = simulate(
        session, domain, parameters, stimuli, orders, rng, random_choice_share=random_choice_share
    ).probabilities
    place = np.argsort(orders, axis=1)
    return np.take_along_axis(p, place[None, :, :, None], axis=2).mean(axis=1)  # type: ignore[no-any-return]


def _split(
    shown: Mapping[str, AnyArray], arrays: Mapping[str, AnyArray]
) -> tuple[dict[str, AnyArray], ...]:
    """Separate what is shown to everybody alike from what depends on each draw's responses."""
    alike = {name: array for name, array in shown.items() if name in arrays}
    return alike, {name: array for name, array in shown.items() if name not in arrays}


def _at(stimuli: Stimuli, rows: NDArray[np.int64]) -> dict[str, AnyArray]:
    return {name: array[rows] for name, array in stimuli.arrays.items()}
