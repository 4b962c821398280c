"""All that is known, short enough for a prompt: every trial with its answers, the people, and how theories stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from lakatos.experiments.task import Domain, Stimuli, Trials
from lakatos.theories.discovery.roles.exhibit import PREDICTED, Exhibit, rounded, share_text
from lakatos.theories.discovery.roles.option_name import option_names
from lakatos.theories.discovery.roles.scale_overview import (
    average_text,
    average_words,
    on_average,
    shown_scale,
)
from lakatos.theories.discovery.roles.typed_claim import PEOPLE, ClaimFact, facts_in
from lakatos.theories.engine.record import TheoryChecked, TheoryScored
from lakatos.theories.engine.scoreboard import Scoreboard
from lakatos.traces.digest import Digest

ROWS_OF_PART = 32
"""Trials of one exhibit; a table is shown in parts, so that one part at least finds room in a short context."""
MOST_PREDICTED = 24
"""Trials of the newest experiment beside whose responses predictions are shown."""
MOST_OF_OLDER = 8
"""The same of every older experiment."""
N_ORDERS = 20
"""Random orders of each person's answers."""
MOST_STANDINGS = 12
CLAIM_CHARACTERS = 240
SHARE_DECIMALS = 2
"""Decimals with which shares are shown."""


def table_exhibits(
    domain: Domain, trials: Trials, digest: Digest, name: str, place: int
) -> list[Exhibit]:
    """Every trial of an experiment with the shares of people, in parts; the same in every cycle.

    Args:
        domain: Domain of the trials.
        trials: Answers.
        digest: Digest of the record of the answers.
        name: Name of the experiment.
        place: Place of the experiment among those of the study, from 1 on.
    """
    order = [int(row) for row in np.flatnonzero(trials.totals.sum(axis=1))]
    parts = [order[at : at + ROWS_OF_PART] for at in range(0, len(order), ROWS_OF_PART)]
    return [
        _table_part(domain, trials, digest, name, rows, (number, len(parts)), place)
        for number, rows in enumerate(parts, start=1)
    ]


def _table_part(
    domain: Domain,
    trials: Trials,
    digest: Digest,
    name: str,
    rows: Sequence[int],
    part: tuple[int, int],
    place: int,
) -> Exhibit:
    """Some rows of the table, and what each of their numbers is a number of."""
    number, n_parts = part
    shown, always = _without_common([domain.describe(trials.stimuli, row) for row in rows])
    given = _answers_in_words(trials)

    # What holds for all rows.
    lines = _said_once(trials) if number == 1 else []
    if n_parts > 1:
        lines.append(f"{len(rows)} of {len(trials.stimuli)} trials")
    if len(set(given)) == 1:
        lines.append(f"to every trial {given[0]}")
    if always:
        lines.append(f"in every trial: {always}")
    lines.append(f"trial: what was shown; people's {_numbers_of(domain, trials)}")

    # The rows.
    facts = []
    n_answers = trials.totals.sum(axis=1)
    for row, words in zip(rows, shown, strict=True):
        own = f"; {given[row]}" if len(set(given)) > 1 else ""
        lines.append(f"{row + 1}: {words}{own}; {_told(domain, trials.proportions[row])}")
        answers = ClaimFact(
            "answers", float(n_answers[row]), PEOPLE, experiment=name, trial=row + 1
        )
        cells = {PEOPLE: trials.proportions[row]}
        facts += [answers, *_facts_of_row(domain, name, row, cells)]

    title = f"experiment {name}"
    if n_parts > 1:
        title += f", part {number} of {n_parts}"
    return Exhibit(title, lines, digest, tuple(facts), place)


def predictions_exhibit(
    domain: Domain,
    trials: Trials,
    digest: Digest,
    scores: Mapping[str, TheoryScored],
    name: str,
    most: int = MOST_PREDICTED,
) -> Exhibit:
    """Show what theories with learned populations predict of an experiment, on the trials that all miss most.

    Args:
        domain: Domain of the trials.
        trials: Answers.
        digest: Digest of the record of the answers.
        scores: Scores of the same experiment, by the theory's name.
        name: Name of the experiment.
        most: Trials that are shown.
    """
    scored = [_theory_scored(theory, score, name) for theory, score in scores.items()]
    lines = [line for line, _ in scored]
    facts = [fact for _, tables in scored for fact in tables]
    rows, sizes = _most_missed_first(trials, list(scores.values()))
    lines.append(
        f"trial: {_numbers_of(domain, trials)} of {'; '.join([PEOPLE, *scores])}; most missed by all of them first"
    )
    for row in rows[:most]:
        cells = {PEOPLE: trials.proportions[row]}
        cells |= {theory: predicted_shares(score)[row] for theory, score in scores.items()}
        tables = (_told(domain, shares) for shares in cells.values())
        lines.append(f"{row + 1}: {'; '.join(tables)}")
        facts += _facts_of_row(domain, name, row, cells)
    if left := rows[most:]:
        within = rounded(float(sizes[left[0]]))
        lines.append(
            f"{len(left)} further trials, each within {within} standard errors of one prediction"
        )
    title = f"predictions in experiment {name}"
    return Exhibit(title, lines, digest, tuple(facts), PREDICTED)


def _numbers_of(domain: Domain, trials: Trials) -> str:
    """Explain the numbers in a row of a table."""
    scale = shown_scale(domain)
    if scale is not None:
        return average_words(scale)
    names = option_names(trials.n_options)
    return f"share of {' / '.join(names[-1:] if len(names) == 2 else names)}"


def _options_of(domain: Domain, n_options: int) -> list[tuple[str, str]]:
    """Each option as claims call it, and what people read of it."""
    names = option_names(n_options)
    return list(zip_longest(names, domain.options[: len(names)], fillvalue=""))


def _answers_in_words(trials: Trials) -> list[str]:
    """State how many responses each trial has, and of how many people where these are fewer."""
    n_answers, n_people = trials.totals.sum(axis=1), _people_by_trial(trials)
    return [
        f"{int(n)} answers" + (f" of {people} people" if 0 < people < n else "")
        for n, people in zip(n_answers, n_people, strict=True)
    ]


def _theory_scored(theory: str, score: TheoryScored, name: str) -> tuple[str, list[ClaimFact]]:
    """State how well a theory predicts an experiment, as a line and as facts."""
    mean, error = score.left_out.scores.mean, score.error
    line = f"{theory}: score {rounded(mean)} nats per choice, squared_error {rounded(error)}"
    return line, [
        ClaimFact("score", mean, theory, experiment=name),
        ClaimFact("squared_error", error, theory, experiment=name),
    ]


def _said_once(trials: Trials) -> list[str]:
    """State what is true of an experiment's responses as a whole, for the first part."""
    best = rounded(_best_of_shares(trials))
    lines = [
        f"a prediction of exactly these shares, the same for every participant, would score {best}"
    ]
    if trials.pooled:
        counted = (
            f"responses are counts over {trials.n_people} participants, who cannot be distinguished"
        )
        lines.insert(0, counted)
    return lines


def _facts_of_row(
    domain: Domain, name: str, row: int, cells: Mapping[str, NDArray[np.float64]]
) -> list[ClaimFact]:
    """Return the fact behind each number in a row of a table."""
    scale = shown_scale(domain)
    if scale is not None:
        return [
            ClaimFact(quantity, value, of, experiment=name, trial=row + 1)
            for of, shares in cells.items()
            for quantity, value in on_average(scale, shares).items()
        ]
    return [
        ClaimFact("share", float(share), of, "", name, row + 1, option, label, SHARE_DECIMALS)
        for of, shares in cells.items()
        for (option, label), share in zip(_options_of(domain, len(shares)), shares, strict=True)
        if np.isfinite(share)
    ]


def _best_of_shares(trials: Trials) -> float:
    """Nats per choice of people's own shares: what nothing that says the same of everybody can exceed."""
    totals = trials.totals
    n_answers = totals.sum(axis=1)
    shares = totals / totals.sum(axis=1, keepdims=True).clip(1)
    log_likelihood = float(-entr(shares).sum(axis=1) @ n_answers)
    return log_likelihood / float(totals.sum())


def _people_by_trial(trials: Trials) -> NDArray[np.intp]:
    """``(n_trials,)`` people who answered each trial; 0 where nobody can tell."""
    n_trials = len(trials.stimuli)
    if trials.pooled:
        return np.zeros(n_trials, dtype=np.intp)
    pairs = np.unique(np.asarray(trials.participant) * n_trials + np.asarray(trials.trial))
    return np.bincount(pairs % n_trials, minlength=n_trials)


def _most_missed_first(
    trials: Trials, scores: Sequence[TheoryScored]
) -> tuple[list[int], NDArray[np.float64]]:
    """Answered trials, those first on which people deviate most from all of the theories, and by how much each.

    The deviation of a trial is that of the theory that misses it least, in standard errors.
    """
    counts = trials.totals.sum(axis=1)
    deviating = [deviations(trials, predicted_shares(score)).max(axis=1) for score in scores]
    sizes = np.min(deviating or [np.zeros(len(counts))], axis=0)
    order = np.argsort(-sizes, kind="stable")
    return [int(row) for row in order if counts[row] > 0], np.asarray(sizes)


def deviations(trials: Trials, predicted: NDArray[np.float64]) -> NDArray[np.float64]:
    """``(n_trials, n_options)`` distances of people's shares from what is predicted, in standard errors."""
    counts = trials.totals.sum(axis=1)
    variance = np.clip(predicted * (1 - predicted), 0.01, None)
    error = np.sqrt(variance / np.maximum(counts, 1)[:, None])
    return np.asarray(np.abs(np.nan_to_num(trials.proportions) - predicted) / error)


def _without_common(texts: Sequence[str]) -> tuple[list[str], str]:
    """Descriptions without the parts, between bars, that all of them share, and these parts."""
    split = [text.split(" | ") for text in texts]
    if len({len(parts) for parts in split}) != 1 or len(split) < 2:
        return list(texts), ""
    common = [len(set(column)) == 1 for column in zip(*split, strict=True)]
    if all(common):
        return list(texts), ""
    own = [
        " | ".join(part for part, same in zip(parts, common, strict=True) if not same)
        for parts in split
    ]
    always = " | ".join(part for part, same in zip(split[0], common, strict=True) if same)
    return own, always


def predicted_shares(score: TheoryScored) -> NDArray[np.float64]:
    """Predicted shares of options, ``(n_trials, n_options)``."""
    shares = np.asarray(score.proportions, dtype=np.float64)
    if score.n_options == 2:
        return np.stack([1 - shares, shares], axis=-1)
    return shares.reshape(-1, score.n_options)


def _told(domain: Domain, shares: NDArray[np.float64]) -> str:
    scale = shown_scale(domain)
    if scale is not None:
        return average_text(scale, shares)
    wanted = shares[1:] if len(shares) == 2 else shares
    return " ".join("?" if np.isnan(share) else share_text(float(share)) for share in wanted)


def people_exhibit(
    domain: Domain,
    trials: Mapping[str, Trials],
    scores: Mapping[str, Mapping[str, TheoryScored]],
    digest: Digest,
) -> Exhibit | None:
    """Show how people differ: agreement, consistency, the theory that predicts each best, and effects of order.

    Args:
        trials: Responses by experiment.
        scores: Scores by theory's name, then by experiment.
        digest: Digest of the record of the newest answers.

    Returns:
        None where people cannot be told apart.
    """
    value: dict[str, Any] = {}
    for name, item in trials.items():
        if item.pooled or item.n_participants < 2:
            continue
        own = {theory: by[name] for theory, by in scores.items() if name in by}
        value[f"experiment {name}"] = {
            "people": item.n_participants,
            "agreement_with_the_majority": agreement_with_majority(item),
            **consistency_of_repetitions(item),
            "predicted_best_by": _predicted_best_by(own),
            **order_effects(item),
            **likeness_to_last_choice(domain, item),
        }
    facts = [
        ClaimFact(quantity, item.value, PEOPLE, experiment=title.removeprefix("experiment "))
        for title, rows in value.items()
        for item in facts_in(rows)
        for quantity in (item.quantity, f"{title}.{item.quantity}")
    ]
    return Exhibit("people, one by one", value, digest, tuple(facts)) if value else None


def agreement_with_majority(trials: Trials) -> dict[str, float]:
    """Share of a person's answers that are those of most others on the trial: quantiles over people."""
    agreed, answered = np.zeros(trials.n_participants), np.zeros(trials.n_participants)
    for people, counts in trials.counts_of_some():
        others = trials.totals[None] - counts
        majority = others == others.max(axis=-1, keepdims=True)
        clear = majority.sum(axis=-1) == 1
        agreed[people] = ((counts * majority).sum(axis=-1) * clear).sum(axis=1)
        answered[people] = (counts.sum(axis=-1) * clear).sum(axis=1)
    shares = (agreed / np.maximum(answered, 1))[answered > 0]
    if not len(shares):
        return {}
    cuts = np.quantile(shares, [0.1, 0.5, 0.9])
    return dict(zip(("tenth", "middle", "ninetieth"), map(rounded, cuts), strict=True))


def consistency_of_repetitions(trials: Trials) -> dict[str, float]:
    """Compute how often two responses of a person to the same trial are equal; empty where nothing was repeated."""
    n_pairs = n_equal = 0.0
    for _, counts in trials.counts_of_some():
        total = counts.sum(axis=-1)
        n_pairs += float((total * (total - 1) / 2).sum())
        n_equal += float((counts * (counts - 1) / 2).sum())
    return {"same_answer_when_asked_again": rounded(n_equal / n_pairs)} if n_pairs else {}


def _predicted_best_by(scores: Mapping[str, TheoryScored]) -> dict[str, int]:
    """Count the people whom each theory predicts best of all."""
    names = list(scores)
    if len(names) < 2:
        return {}
    table = np.array([scores[name].left_out.scores.per_choice for name in names])
    best = table.argmax(axis=0)
    return {name: int((best == place).sum()) for place, name in enumerate(names)}


def order_effects(trials: Trials) -> dict[str, float]:
    """Shares of answers that repeat the last place, and what chance alone would give; by half of the session."""
    if trials.pooled or (trials.count != 1).any() or trials.n_options != 2:
        return {}
    answers = trials.sequences
    given = answers.trial >= 0
    both = given[:, 1:] & given[:, :-1]
    if not both.any():
        return {}
    second = answers.response == 1
    repeated = (answers.response[:, 1:] == answers.response[:, :-1])[both].mean()
    share = second[given].mean()
    middle = given.sum(axis=1, keepdims=True) / 2
    early = np.arange(given.shape[1])[None] < middle
    found = {
        "repeats_the_last_place": repeated,
        "repeats_expected_by_chance": share**2 + (1 - share) ** 2,
        "second_in_first_half": second[given & early].mean(),
        "second_in_later_half": second[given & ~early].mean(),
    }
    return {name: rounded(float(value)) for name, value in found.items()}


def likeness_to_last_choice(domain: Domain, trials: Trials) -> dict[str, float]:
    """Compute how often people take the option that is more like the one that they chose just before.

    Likeness is the number of equal entries in the arrays that describe options. What chance gives is found by letting
    each person's answers follow one another in random orders; without repetition of content both shares are equal.
    """
    if trials.pooled or (trials.count != 1).any() or domain.sequential or trials.n_options != 2:
        return {}
    options = _entries_of_options(domain, trials.stimuli)
    if not options.shape[-1]:
        return {}
    answers = trials.sequences
    rows = [
        (trial[given], response[given])
        for trial, response in zip(answers.trial, answers.response, strict=True)
        if (given := trial >= 0).sum() > 1
    ]
    rng = np.random.default_rng(0)
    real, shuffled = [], []
    for trial, response in rows:
        real.append(_takes_the_alike(options, trial, response))
        for _ in range(N_ORDERS):
            order = rng.permutation(len(trial))
            shuffled.append(_takes_the_alike(options, trial[order], response[order]))
    taken, n_responses = np.sum(real, axis=0) if real else (0, 0)
    by_chance, of = np.sum(shuffled, axis=0) if shuffled else (0, 0)
    if not n_responses or not of:
        return {}
    return {
        "takes_what_is_more_like_the_last_choice": rounded(float(taken / n_responses)),
        "would_in_random_order": rounded(float(by_chance / of)),
    }


def _entries_of_options(domain: Domain, stimuli: Stimuli) -> NDArray[np.float64]:
    """``(n_trials, 2, n_entries)`` of the arrays that change when the two options change places."""
    swapped = domain.swap_sides(stimuli)
    described = [
        np.asarray(array, dtype=np.float64).reshape(len(stimuli), 2, -1)
        for name, array in stimuli.arrays.items()
        if np.shape(array)[1:2] == (2,)
        and np.array_equal(swapped[name], np.asarray(array)[:, ::-1])
        and not np.array_equal(swapped[name], array)
    ]
    return np.concatenate([np.zeros((len(stimuli), 2, 0)), *described], axis=-1)


def _takes_the_alike(
    options: NDArray[np.float64], trial: NDArray[Any], response: NDArray[Any]
) -> tuple[int, int]:
    """Steps at which the option most like the last choice was taken, and steps at which there was one such option."""
    last = options[trial[:-1], response[:-1]]
    alike = (options[trial[1:]] == last[:, None]).sum(axis=-1)
    most = alike == alike.max(axis=-1, keepdims=True)
    clear = most.sum(axis=-1) == 1
    taken = most[np.arange(len(most)), response[1:]] & clear
    return int(taken.sum()), int(clear.sum())


def standing_exhibit(
    board: Scoreboard, theories: Mapping[Digest, TheoryChecked], names: Mapping[Digest, str]
) -> Exhibit:
    """The leaderboard: a line for each theory with its score, error, birth, author and claim."""
    lines = [
        "score in nats per choice, each experiment predicted from the others; higher is better"
    ]
    for place, line in enumerate(board.standings[:MOST_STANDINGS], start=1):
        known = theories[line.theory]
        low, high = line.score.interval
        lines.append(
            f"{place}. {names[line.theory]}: {rounded(line.score.value)} ({rounded(low)} to {rounded(high)}), "
            f"behind the leader {rounded(line.behind.value)} +- {rounded(2 * line.behind.standard_error)}, "
            f"squared error {rounded(line.error)}, {known.n_parameters} parameters, "
            f"of cycle {known.cycle} by {known.author}. {known.claim[:CLAIM_CHARACTERS]}"
        )
    left = len(board.standings) - MOST_STANDINGS
    lines += [f"and {left} further behind"] if left > 0 else []
    return Exhibit("how the theories stand", lines)


def study_exhibit(question: str, domain: Domain, space: Mapping[str, Any]) -> Exhibit:
    """Show the study's question and its trials."""
    value = {"question": question, "kind of choice": domain.name}
    value |= {f"space: {name}": str(item) for name, item in sorted(space.items())}
    return Exhibit("the study", value, place=0)
