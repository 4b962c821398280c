"""What the result of a run does not show, each sentence from a fact of the run."""

from __future__ import annotations

from collections.abc import Iterator

from lakatos.flows.branches.branch import origin_of
from lakatos.flows.report.reader import RunReading, clean, mean_ceiling, open_pairs
from lakatos.flows.roles.failures import silence
from lakatos.flows.run.records import CodeAccepted
from lakatos.flows.run.run import code_changes_in_words
from lakatos.traces.wording import plural

FEW = 30
"""Trials or people below which the report calls them few."""


def limits(reading: RunReading) -> list[str]:
    """What the result does not show, each from a fact of the run."""
    return [
        text
        for rule in (
            _limits_of_progress,
            _limits_of_people,
            _limits_of_evidence,
            _limits_of_search,
            _limits_of_models,
            _limits_of_scope,
        )
        for text in rule(reading)
    ]


def _limits_of_progress(reading: RunReading) -> list[str]:
    origin = origin_of(reading.trace.journal.meta)
    found = [] if origin is None else [f"This run is a branch, {origin.words}."]
    if reading.concluded is None:
        found.append("The run has not ended. Everything here can change with the next experiment.")
    changes = reading.trace.records(CodeAccepted)
    found += code_changes_in_words(reading.trace, changes, reading.state.campaign.cycles)
    stop = reading.state.campaign.cycles[-1].record.stop if reading.state.campaign.cycles else ""
    if stop.startswith("budget"):
        found.append(
            "The search ended because its budget was spent, not because nothing better could be found."
        )
    return found


def _limits_of_models(reading: RunReading) -> list[str]:
    silent = silence([item.record for item in reading.state.roles.answered.values()])
    if not silent:
        return []
    return [
        f"The study gave roles to language models, and {silent}. "
        "The result is that of the laboratory without them."
    ]


def _limits_of_people(reading: RunReading) -> list[str]:
    if reading.simulated:
        return [
            "Nobody took part. A computer answered by a hidden rule, so the result says whether the laboratory finds "
            "a rule that is known to exist. It says nothing about how people choose."
        ]
    if reading.model:
        return [
            f"Nobody took part. The language model {reading.model!r} answered in sessions of its own, "
            "so the result says which theory describes this model under these texts. "
            "It says nothing about how people choose, and the model may have read the theories, "
            "and published answers to such trials, before.",
            "The model read the words of each trial, not its drawing.",
        ]
    people = reading.config.participants
    if not reading.is_collected_before:
        return [
            "Whoever took part chose to, and was paid or asked in one way only. What holds for them may not hold for "
            "people who were recruited elsewhere."
        ]
    whence = "stood in a file" if people.file else "were made for other people's studies"
    which = "are in it" if people.file else "were published"
    found = []
    if people.file:
        found.append(
            "The answers were collected before this run, so that nothing about them was preregistered before people "
            "were asked. Predictions were frozen before the answers were opened to the theories, but whoever chose the "
            "file, the trials and the first rivals may have known the answers."
        )
    found += [f"About the file: {line}." for line in people.told]
    found += [
        f"The choices {whence}: only trials that {which} could be asked, and a trial that would have told the "
        "theories apart better may be missing."
    ]
    collected = [item.record for item in reading.state.experiments.collected.values()]
    if any(item.pooled for item in collected):
        found.append(
            f"Only counts {which}. People cannot be told apart, so differences between persons are not "
            "tested, and uncertainty is counted over problems."
        )
    if reading.state.experiments.sealed is not None and not any(
        reading.state.experiments.sealed.record.of_people
    ):
        found.append(
            "The sealed trials come from the same experiments, and the same people, as the trials the search has "
            "seen. They test the winner on new problems, not on new people."
        )
    return found


def _limits_of_evidence(reading: RunReading) -> list[str]:
    """What the answers there are cannot show."""
    return [
        *_limits_of_tests(reading),
        *_limits_of_failures(reading),
        *_limits_of_rivals(reading),
        *_limits_of_size(reading),
    ]


def _limits_of_tests(reading: RunReading) -> Iterator[str]:
    """Whether anything tested the winner on answers that it was not made from."""
    board = reading.board
    standing = next((line for line in board.standings if line.theory == reading.leader), None)
    untouched = (
        reading.state.experiments.sealed is not None
        or bool(reading.state.campaign.folds)
        or (standing and standing.n_prequential)
    )
    if board.standings and not untouched:
        yield (
            "There are no untouched data for the winner: it was made from the same answers that it is scored on, so "
            "its score is too good by an unknown amount."
        )
    elif standing is not None and standing.n_prequential < len(board.experiments):
        new = len(board.experiments) - standing.n_prequential
        yield (
            f"The leaderboard's main score counts all data, also the {new} of {len(board.experiments)} "
            "experiments whose answers were known when the winner was made. Frozen predictions, sealed trials and "
            "folds are the tests."
        )
    if len(board.experiments) == 1:
        yield (
            "There was one experiment, so that none could be left out: theories were compared on other people's (or "
            "other) answers of the same one. The winner may not hold for other trials."
        )


def _limits_of_failures(reading: RunReading) -> Iterator[str]:
    """Theories that failed on responses, altogether or with more draws of their people."""
    for item in reading.state.theories.failed:
        yield (
            f"{reading.label(item.record.theory).tag} failed on the responses of experiment {item.record.experiment} "
            f"and is not ranked: {clean(item.record.reason)}"
        )
    for limit in reading.state.theories.draws_limited.values():
        if reading.state.theories.is_limited(limit.record.theory):
            yield (
                f"The score of {reading.label(limit.record.theory).tag} rests on {limit.record.kept:,} draws of its "
                f"people, as it failed with {limit.record.n_draws:,}: {clean(limit.record.reason)}"
            )


def _limits_of_rivals(reading: RunReading) -> Iterator[str]:
    """Rivals that the answers do not tell from the winner, or from one another."""
    ties = [reading.label(theory).tag for theory in reading.tied_with_leader]
    if ties:
        yield (
            f"The winner is tied with {', '.join(ties)}: the data do not show that it is better than "
            f"{'them' if len(ties) > 1 else 'it'}."
        )
    n_open = len(open_pairs(reading))
    if n_open:
        yield (
            f"{n_open} pair{'s' if n_open > 1 else ''} of rivals could not be told apart by frozen predictions "
            "(section 6)."
        )


def _limits_of_size(reading: RunReading) -> Iterator[str]:
    """Whether there were few people or few trials."""
    known = reading.state.experiments
    designs = (item.record for name, item in known.designs.items() if name in known.collected)
    n_trials = sum(design.n_trials for design in designs)
    n_people = [item.record.n_people for item in known.collected.values() if item.record.n_people]
    people = min(n_people, default=0)
    sealed = known.sealed.record.n_trials if known.sealed else FEW
    if 0 < people < FEW:
        yield f"The smallest experiment has {people} people: differences between persons are known coarsely."
    for count, what in (
        (n_trials, "distinct trials were asked in all"),
        (sealed, "trials were sealed"),
    ):
        if 0 < count < FEW:
            yield f"Only {count} {what}: intervals are wide, and rare kinds of trials may be missing."
    if reading.board.standings and mean_ceiling(reading, known.collected) is None:
        yield "No trial was repeated, so it is unknown how much of the choices could be predicted at all."


def _limits_of_search(reading: RunReading) -> list[str]:
    found = []
    n_scored, n_tried = len(reading.board.standings), reading.state.n_tried
    if n_scored:
        themselves = "which was itself" if n_scored == 1 else "which were themselves"
        found.append(
            f"The winner is the best of {plural(n_scored, 'theory')}, {themselves} picked from {n_tried} that were "
            "tried. The best of many looks better than it is on the data used for picking."
        )
    found += [
        f"No trial that was asked shows whether {text}; the winner's program has a place for it."
        for text in _idle_clauses(reading)
    ]
    if reading.leader and (why := reading.checked[reading.leader].record.unreadable):
        found.append(f"The winner is a predictor, not an explanation: {why}.")
    found.append(
        f"This is one run with one seed ({reading.config.seed}). Another seed tries other theories and, where designs "
        "are chosen, asks other trials; it may end with another winner."
    )
    return found


def _idle_clauses(reading: RunReading) -> list[str]:
    """What the winner's program could say, and no trial that was asked depends on."""
    if reading.leader is None:
        return []
    account, told = reading.theory(reading.leader).account(), reading.state.theories.told
    refused = told.record.refused if told else ()
    idle = [item for item in account.clauses if item.idle and item.wording.says not in refused]
    return [clause.text if clause.of_some else f"people {clause.text}" for clause in idle]


def _limits_of_scope(reading: RunReading) -> list[str]:
    pooled = any(item.record.pooled for item in reading.state.experiments.collected.values())
    advocates = reading.config.theories.advocates
    ways = ["combines published mechanisms"] if "grammar" in advocates else []
    if "induction" in advocates and not pooled:
        ways.append("reads rules off the answers")
    if "language_model" in advocates and reading.config.roles.reviser:
        ways.append("asks language models")
    how = " and ".join(ways) or "tries nothing"
    return [
        f"All trials are of one kind of task ({reading.config.domain}). The search {how}; an idea beyond "
        "that could not win.",
        "Predicting choices best does not make a theory true: another one with the same predictions would score the "
        "same.",
    ]
