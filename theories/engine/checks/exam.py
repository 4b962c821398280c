"""The steps of the examination that a program passes before it enters: each finds one kind of fault."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Domain, Stimuli
from lakatos.experiments.variation import HasMeasures
from lakatos.theories.engine.checks.check_report import TheoryCheck
from lakatos.theories.engine.checks.claim_exam import (
    _claim,
    _clauses,
    acted_and_stated,
    choice_test,
)
from lakatos.theories.engine.checks.hidden_numbers import table_size
from lakatos.theories.engine.checks.memorised import (
    MOST_UNEXPLAINED,
    UnexplainedPredictions,
    least_trials,
    unexplained_predictions,
)
from lakatos.theories.engine.checks.tested_theory import (
    N_SEQUENCES,
    Array,
    TestedTheory,
    TrialSheet,
    _answered,
    _probabilities,
)
from lakatos.theories.language.points import at_fractions

TOLERANCE = 1e-6
"""Largest difference between two predictions that should be the same; leaves room for rounding alone."""
DEAD = 1e-9
"""A parameter that changes no probability by more than this does nothing."""
FALSE_ALARM_RATE = 1e-6
"""Probability with which the test of simulated choices refuses a faultless theory."""
N_DRAWS = 64
"""Draws that are asked about at the study's size."""
N_GROUPS = 2
"""Groups in which the draws of such a theory are tried."""
MEMORISED = "memorised"
"""Name of the check that asks how much of a theory's predictions can be learned from some of them."""
MOST_NUMBERS = 100
"""Numbers of two digits that a source may hold, see `table_size`; what the grammar and induction write holds fewer."""
NUDGES = (2.0**-27, 2.0**-26, 2.0**-25)
"""Relative changes of a trial that nobody could see."""
JUMP = 0.005
"""A change of probability that such a change of a trial cannot explain."""
MOST_JUMPS = 0.1
"""Share of the study's trials that may be answered otherwise beside them, for rules about special numbers."""
TIMED = (256, 100)
"""Draws and trials of the call whose time is taken."""


def _same_answers(trial: TestedTheory) -> list[TheoryCheck]:
    """Determinism and broadcasting: the same question asked again, elsewhere, and one draw at a time."""
    n_points = len(next(iter(trial.points.values())))
    # Steps of a sequence cost a call each, so walks are tried in few groups; first and last draw walk alone anyway.
    shuffled = trial.rng.permutation(n_points)
    groups = np.array_split(shuffled, min(N_GROUPS, n_points) if trial.walks else n_points)
    with trial.asking(trial.sheets, walks_apart=False) as ask:
        first = ask(trial.points)
        parts = [
            ask({name: values[group] for name, values in trial.points.items()}) for group in groups
        ]
        again = ask(trial.points)
        broadcasts = trial.broadcasts = ask.broadcasts
    with trial.asking(trial.sheets) as ask:
        elsewhere = ask(trial.points)
    back = np.argsort(shuffled)
    apart = [np.concatenate([part[index] for part in parts])[back] for index in range(len(first))]
    twice = _compared(
        trial, "determinism", first, again, 0.0,
        "two calls of one process agree, other calls in between.",
        "the theory answers differently when asked twice {where}. Use no randomness, and keep nothing between calls.",
    )  # fmt: skip
    processes = _compared(
        trial, "processes", first, elsewhere, 0.0,
        "two processes agree.",
        "the theory answers differently in another process {where}. Use no randomness, time or addresses.",
    )  # fmt: skip
    good = f"{n_points} draws taken together equal "
    good += (
        f"the same draws in {len(groups)} groups." if trial.walks else "each of them taken alone."
    )
    broadcasting = _compared(
        trial, "broadcasting", first, apart, TOLERANCE,
        good if broadcasts else "runs one draw at a time, because it cannot take draws together: slow.",
        "draws taken together differ from draws taken one at a time {where}. "
        "Combine arrays along the first axis only by broadcasting.",
    )  # fmt: skip
    return [twice, processes, broadcasting]


def _separate_units(trial: TestedTheory) -> list[TheoryCheck]:
    """A trial (a person, for a theory that learns) alone is answered as among the others."""
    units = [
        (sheet, unit)
        for sheet in trial.sheets
        for unit in range(sheet.order.shape[0] if trial.walks else len(sheet.stimuli))
    ]
    with trial.asking(trial.sheets) as ask:
        together = ask(trial.points)
    with trial.asking([sheet.take(unit, walks=trial.walks) for sheet, unit in units]) as ask:
        alone = ask(trial.points)
    joined, start = [], 0
    for answer, sheet in zip(together, trial.sheets, strict=True):
        end = start + (sheet.order.shape[0] if trial.walks else answer.shape[1])
        joined.append(np.concatenate(alone[start:end], axis=1))
        start = end
    return [
        _compared(
            trial, "independence", together, joined, TOLERANCE,
            f"{len(units)} {'sequences' if trial.walks else 'trials'} taken alone are answered as among the others.",
            "a person's answers depend on the other people asked with them {where}. Keep axis 1 apart."
            if trial.walks
            else "the answer to a trial depends on the other trials asked with it {where}. "
            "Look at one trial at a time: use no maximum, mean or count over the first axis of `trials`.",
        )
    ]  # fmt: skip


def _study_size(trial: TestedTheory) -> list[TheoryCheck]:
    """Check as many people and trials as the study has: twice in one process, and some of them alone in another."""
    sheet = trial.at_study_size
    if sheet is None:
        return []
    n_units = sheet.order.shape[0] if trial.walks else len(sheet.stimuli)
    units = np.sort(trial.rng.permutation(n_units)[:N_SEQUENCES])
    points = at_fractions(
        trial.theory.priors, trial.rng.random((N_DRAWS, len(trial.theory.priors)))
    )
    with trial.asking([sheet], walks_apart=False) as ask:
        first, again = ask(points), ask(points)
    one = {name: values[-1:] for name, values in points.items()}
    with trial.asking([sheet.take(int(unit), walks=trial.walks) for unit in units]) as ask:
        alone = np.concatenate(ask(one), axis=1)
    n_steps = sheet.order.shape[1] if trial.walks else 1
    rows = (units[:, None] * n_steps + np.arange(n_steps)).ravel()
    among = first[0][-1:, rows]
    some = (
        replace(sheet, stimuli=sheet.stimuli.take(units))
        if not trial.walks
        else replace(sheet, order=sheet.order[units])
    )
    memory = _compared(
        trial, "memory", first, again, 0.0,
        f"two calls with the same {n_units} {'participants' if trial.walks else 'trials'} agree.",
        "two calls with the same participants in one process disagree {where}. "
        "Keep nothing between calls: what was learned belongs into the state.",
        [sheet], points,
    )  # fmt: skip
    size = _compared(
        trial, "size", [among], [alone], TOLERANCE,
        f"the prediction for each of {n_units} {'participants' if trial.walks else 'trials'} does not depend on the "
        "others.",
        f"predictions for {n_units} {'participants' if trial.walks else 'trials'} depend on one another {{where}}. "
        "Look at one participant, and without memory at one trial, at a time.",
        [some], one,
    )  # fmt: skip
    return [memory, size]


def _table(trial: TestedTheory) -> list[TheoryCheck]:
    """Check that the source holds no table and that answers do not depend on a trial's last digits as a table's do."""
    checks = [_size_check(table_size(trial.theory.program.source))]
    domain, stimuli = trial.domain, trial.candidates
    if stimuli is not None and not trial.walks and isinstance(domain, HasMeasures):
        jumping = _jumping(trial, domain, stimuli)
        checks.append(_digits_check(domain, stimuli, jumping))
    if stimuli is None:
        return checks
    found = unexplained_predictions(trial)
    return [
        *checks,
        _not_measured(least_trials(domain)) if found is None else _memorised_check(found),
    ]


def _not_measured(least: int) -> TheoryCheck:
    """Advice that a table is not found by its behaviour in a study of few trials, where it is as small as a rule."""
    text = (
        f"not measured: the study has fewer than {least} distinct trials. The theory may hold a response for each of "
        "them; only responses that its author could not read test it."
    )
    return TheoryCheck(MEMORISED, False, None, MOST_UNEXPLAINED, text, required=False)


def _size_check(size: int) -> TheoryCheck:
    """Check that a source holds few enough numbers."""
    text = f"its functions hold {size} numbers."
    if size <= MOST_NUMBERS:
        return TheoryCheck("table", True, size, MOST_NUMBERS, text, error="")
    text += (
        " That is a table, not a rule; say what people do in fewer numbers. Digits, texts, truth values, long rows and "
        "chains count, and so do names and declarations (clauses, units) that the functions read."
    )
    return TheoryCheck("table", False, size, MOST_NUMBERS, text, error="TheorySourceError")


def _memorised_check(found: UnexplainedPredictions) -> TheoryCheck:
    """Check that learners that see some of the predictions find most of the others."""
    text = (
        f"of its predictions for {found.n_trials} trials, learners that saw some of them miss {found.share:.0%} "
        f"of the variance of the others (root mean square {found.error:.2f})."
    )
    if not found.by_heart:
        return TheoryCheck(MEMORISED, True, found.share, MOST_UNEXPLAINED, text, error="")
    text += " The theory knows trials by heart; say what people do with any trial."
    return TheoryCheck(
        MEMORISED, False, found.share, MOST_UNEXPLAINED, text, error="TheoryProbabilityError"
    )


def _jumping(trial: TestedTheory, domain: HasMeasures, stimuli: Stimuli) -> NDArray[np.intp]:
    """Rows of the study that are answered otherwise than all trials that are nearly the same."""
    nudges = [1 + sign * nudge for nudge in NUDGES for sign in (1, -1)]
    nearly = [_scaled(stimuli, domain.measured, factor) for factor in nudges]
    sheets = [replace(trial.sheets[-1], stimuli=item) for item in (stimuli, *nearly)]
    points = at_fractions(trial.theory.priors, trial.rng.random((4, len(trial.theory.priors))))
    with trial.asking(sheets) as ask:
        exact, *beside = ask(points)
    # A limit lies on one side of a trial and a tie breaks by chance; what a table holds stands apart from all sides.
    distances = [np.abs(item - exact).max(axis=-1) for item in beside]
    apart = np.min(distances, axis=0).max(axis=0) > JUMP
    alike = np.ptp(np.stack(beside), axis=0).max(axis=(0, -1)) < JUMP
    return np.flatnonzero(apart & alike)


def _digits_check(domain: Domain, stimuli: Stimuli, jumping: NDArray[np.intp]) -> TheoryCheck:
    """Check that few enough rows jump when their last digits change."""
    limit = MOST_JUMPS * len(stimuli)
    words = f"the prediction for {len(jumping)} of {len(stimuli)} trials of the study changes with their last digits"
    if len(jumping):
        words += f"; the first is {domain.describe(stimuli, int(jumping[0]))}"
    if len(jumping) <= limit:
        return TheoryCheck("digits", True, float(len(jumping)), limit, f"{words}.", error="")
    words += ". The theory knows these trials by heart; say what people do with any trial."
    return TheoryCheck(
        "digits", False, float(len(jumping)), limit, words, error="TheoryProbabilityError"
    )


def _scaled(stimuli: Stimuli, names: Sequence[str], factor: float) -> Stimuli:
    """Trials whose measured attributes are all multiplied by nearly 1, so that ties stay ties."""
    return Stimuli({
        name: np.asarray(array, dtype=np.float64) * factor if name in names else array
        for name, array in stimuli.arrays.items()
    })  # fmt: skip


def _order(trial: TestedTheory) -> list[TheoryCheck]:
    """No dependence on the order of trials unless the theory declares one by ``learn``."""
    if trial.walks:
        return [_memory(trial)]
    orders = [trial.rng.permutation(len(sheet.stimuli)) for sheet in trial.sheets]
    orders = [order[::-1] if (order == np.arange(len(order))).all() else order for order in orders]
    mixed = [
        replace(sheet, stimuli=sheet.stimuli.take(order))
        for sheet, order in zip(trial.sheets, orders, strict=True)
    ]
    with trial.asking(trial.sheets) as ask:
        straight = ask(trial.points)
    with trial.asking(mixed) as ask:
        back = [
            answer[:, np.argsort(order)]
            for answer, order in zip(ask(trial.points), orders, strict=True)
        ]
    return [
        _compared(
            trial, "order", straight, back, TOLERANCE,
            "the order of the trials does not matter.",
            "probabilities depend on the order of the trials {where}. "
            "A theory without `learn` may look at one trial at a time only.",
        )
    ]  # fmt: skip


def _memory(trial: TestedTheory) -> TheoryCheck:
    """Check whether earlier responses change anything; in a theory without ``learn`` nothing could."""
    if not trial.theory.learns:
        return TheoryCheck(
            "order", True, 0.0, None, "it has no `learn`, and sees one step at a time."
        )
    others = []
    for sheet in trial.sheets:
        last = trial.domain.n_options(sheet.stimuli) - 1
        done = _answered(trial.domain, sheet.stimuli, sheet.order, last - sheet.done.response)
        others.append(replace(sheet, done=done))
    with trial.asking(trial.sheets) as ask:
        answers = ask(trial.points)
    with trial.asking(others) as ask:
        told_otherwise = ask(trial.points)
    change = max(float(np.abs(a - b).max()) for a, b in zip(answers, told_otherwise, strict=True))
    if change > DEAD:
        words = f"it declares memory by `learn`: other answers before change a probability by up to {change:.3g}."
    else:
        words = "it has `learn`, but other answers before change nothing; leave `start` and `learn` out."
    return TheoryCheck("order", change > DEAD, change, None, words, required=False)


def _choices(trial: TestedTheory) -> list[TheoryCheck]:
    """Simulated choices agree with the probabilities that the theory states for them when it is told of them."""
    priors = trial.theory.priors
    points = at_fractions(priors, trial.rng.random((64, len(priors))))
    observed, probability = [], []
    with trial.asking(trial.sheets) as acting, trial.asking(trial.sheets) as stating:
        for response, stated in acted_and_stated(trial, acting, stating, points):
            # One option of each choice, in turn, so that the tested events are not tied to one another.
            focal = np.arange(response.size).reshape(response.shape) % stated.shape[-1]
            observed.append((response == focal).ravel())
            probability.append(np.take_along_axis(stated, focal[..., None], axis=-1).ravel())
    y, p = np.concatenate(observed).astype(np.float64), np.concatenate(probability)
    value, n_groups, impossible = choice_test(y, p)
    passed = value >= FALSE_ALARM_RATE and not impossible
    if passed:
        words = (
            f"{len(y)} simulated choices do not deviate from the stated probabilities (chi-square in {n_groups} groups "
            f"of equal probability, p = {value:.3g}; limit {FALSE_ALARM_RATE:g})."
        )
    elif impossible:
        words = (
            f"{impossible} of {len(y)} simulated choices have the stated probability 0 (or their opposite has); "
            "state the same probabilities whether the theory acts or is told what was done."
        )
    else:
        words = (
            f"{len(y)} simulated choices contradict the stated probabilities (chi-square in {n_groups} groups, "
            f"p = {value:.3g}; a faultless theory falls below the limit once in {1 / FALSE_ALARM_RATE:.0g} times)."
        )
    return [
        TheoryCheck(
            "choices",
            passed,
            value,
            FALSE_ALARM_RATE,
            words,
            error="" if passed else "TheoryProbabilityError",
        )
    ]


def _cost(trial: TestedTheory) -> list[TheoryCheck]:
    """Processor time per draw-trial and wall time to start; what takes longer than a call may take is refused."""
    n_draws, n_trials = TIMED
    sheet = max(
        trial.sheets, key=lambda item: sum(array[0].size for array in item.stimuli.arrays.values())
    )
    if (
        not trial.domain.sequential
    ):  # a schedule is walked as it is; others are as long as an experiment
        stimuli = sheet.stimuli.take(np.arange(n_trials) % len(sheet.stimuli))
        order = np.arange(n_trials)[None]
        done = _answered(trial.domain, stimuli, order, np.zeros((1, 1, n_trials), dtype=np.int64))
        sheet = TrialSheet(sheet.name, stimuli, order, done)
    priors = trial.theory.priors
    points = at_fractions(priors, trial.rng.random((n_draws, len(priors))))
    starts = []
    one = {name: values[:1] for name, values in points.items()}
    for _ in range(3):
        begin = time.perf_counter()
        with trial.asking([sheet]) as ask:
            ask(one)
            starts.append(time.perf_counter() - begin)
    used = []
    with trial.asking([sheet]) as ask:
        answers = ask(points)
        for _ in range(2):
            before = ask.processor_seconds
            ask(points)
            used.append(ask.processor_seconds - before)
    n_answers = answers[0].shape[0] * answers[0].shape[1]
    per_million = min(used) / n_answers * 1e6
    limit = trial.sandbox.limits.cpu_seconds / (512 * n_trials) * 1e6
    passed = per_million <= limit
    words = f"{per_million:.3g} s of processor time per million draw-trials."
    if not passed:
        words += (
            f" That is more than {limit:.3g}, with which 512 draws on an experiment of 100 trials would run into the "
            "time limit. Compute with whole arrays instead of loops."
        )
    start = min(starts)
    return [
        TheoryCheck(
            "cost", passed, per_million, limit, words, error="" if passed else "TheoryTimeoutError"
        ),
        TheoryCheck(
            "start", True, start, None, f"{1000 * start:.3g} ms from text to a first answer."
        ),
    ]


def _sensitivity(trial: TestedTheory) -> list[TheoryCheck]:
    """Check for parameters that change nothing anywhere, and for rows that nothing changes."""
    priors = trial.theory.priors
    if not priors:
        return [TheoryCheck("parameters", True, 0.0, None, "it declares no parameters.")]
    # Each parameter goes over its range, at several places of the others.
    n, levels = len(priors), np.linspace(0.0, 1.0, 9)
    bases = np.concatenate([np.full((1, n), 0.5), trial.rng.random((7, n))])
    swept = np.tile(bases[None, :, None], (n, 1, len(levels), 1))
    for column in range(n):
        swept[column, :, :, column] = levels
    with trial.asking(trial.sheets) as ask:
        answers = ask(at_fractions(priors, swept.reshape(-1, n)))

    # How far each moves any probability, and the rows whose probabilities stay where they are.
    reach = np.zeros(n)
    n_still, n_rows, example = 0, 0, ""
    for answer, sheet in zip(answers, trial.sheets, strict=True):
        by_parameter = answer.reshape(*swept.shape[:3], *answer.shape[1:])
        moved = np.ptp(by_parameter, axis=2).max(axis=(1, 3))
        reach = np.maximum(reach, moved.max(axis=1))

        most_of_row = np.ptp(answer, axis=0).max(axis=-1)
        fixed = np.flatnonzero(most_of_row <= DEAD)
        n_still += len(fixed)
        n_rows += answer.shape[1]
        if len(fixed) and not example:
            example = trial.where(sheet, int(fixed[0]))

    # In words.
    reached = dict(zip(priors, reach, strict=True))
    dead = [name for name, most in reached.items() if most <= DEAD]
    parts = ", ".join(f"{name} {most:.3g}" for name, most in reached.items())
    words = f"most by which each moves a probability over its range: {parts}."
    if dead:
        words += f" Nothing anywhere depends on {', '.join(dead)}; declare only what is used."
    unit = "steps" if trial.walks else "trials"
    first = f"; the first is {example}." if n_still else "."
    alike = (
        f"the prediction for {n_still} of {n_rows} {unit} does not depend on the parameters{first}"
    )
    moves = n_still < n_rows
    return [
        TheoryCheck("parameters", not dead, float(reach.min()), DEAD, words, required=False),
        TheoryCheck("trials", moves, float(n_still), float(n_rows), alike, required=False),
    ]


ExamStep = Callable[[TestedTheory], list[TheoryCheck]]
"""A part of the exam."""
NEEDED: tuple[ExamStep, ...] = (_same_answers, _order)
"""Steps that a theory must pass before it is used at all; the sandbox refuses predictions that are no probabilities."""
EVERYTHING: tuple[ExamStep, ...] = (
    _probabilities,
    _same_answers,
    _separate_units,
    _study_size,
    _table,
    _order,
    _choices,
    _cost,
    _sensitivity,
    _claim,
    _clauses,
)
"""Steps that it must pass to enter."""
CHEAT_STEPS: tuple[ExamStep, ...] = (_study_size, _table)
"""Steps that look for cheats."""


def _compared(
    trial: TestedTheory,
    name: str,
    first: Sequence[Array],
    second: Sequence[Array],
    limit: float,
    good: str,
    bad: str,
    sheets: Sequence[TrialSheet] = (),
    points: Mapping[str, Array] | None = None,
) -> TheoryCheck:
    """The largest difference between two predictions for the same trials, and where it is if it is too large."""
    gaps = [np.abs(a - b).max(axis=-1) for a, b in zip(first, second, strict=True)]
    worst = max(float(gap.max()) for gap in gaps)
    for gap, sheet, a, b in zip(gaps, sheets or trial.sheets, first, second, strict=True):
        if gap.max() <= limit:
            continue
        place = np.unravel_index(int(gap.argmax()), gap.shape)
        draw, row = (int(number) for number in place)
        ours, theirs = a[draw, row], b[draw, row]
        option = int(np.abs(ours - theirs).argmax())
        place_words = f"on {trial.where(sheet, row)}, {trial.draw(draw, points)}"
        where = f"{place_words}: {ours[option]:.6g} and {theirs[option]:.6g}"
        words = bad.format(where=where)
        return TheoryCheck(name, False, worst, limit, words, error="TheoryProbabilityError")
    return TheoryCheck(name, True, worst, limit, good)
