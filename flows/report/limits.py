"""The limitations of a run's result, each derived from a fact of the run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lakatos.experiments.adoption.read_back import POOLED_CONDITIONS
from lakatos.flows.branches.branch import origin_of
from lakatos.flows.report.reader import RunReading, clean, mean_ceiling, open_pairs
from lakatos.flows.roles.failures import silence
from lakatos.flows.run.records import ENDED_AS_SET, AnalysesNoted, CodeAccepted
from lakatos.flows.run.run import code_changes_in_words
from lakatos.flows.run.source import hidden_rule, hidden_theory
from lakatos.flows.stages.verdict.unmeasured import say_of_memorising
from lakatos.traces.wording import in_a_list, plural

ABOUT_THE_FILE = "About the file:"
"""Beginning of what the file holds that the analysis does not use; it comes first."""
FEW = 30
"""Trials or people below which the report calls them few."""


def limits(reading: RunReading) -> list[str]:
    """The limitations of the result, each derived from a fact of the run."""
    found = [
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
    return sorted(
        found, key=lambda text: (POOLED_CONDITIONS not in text, not text.startswith(ABOUT_THE_FILE))
    )


def _limits_of_progress(reading: RunReading) -> list[str]:
    origin = origin_of(reading.trace.journal.meta)
    found = [] if origin is None else [f"This run is a branch, {origin.words}."]
    if reading.concluded is None:
        found.append("The run has not ended. Everything here can change with the next experiment.")
    changes = reading.trace.records(CodeAccepted)
    found += code_changes_in_words(reading.trace, changes, reading.state.campaign.cycles)
    stop = reading.state.campaign.cycles[-1].record.stop if reading.state.campaign.cycles else ""
    if stop.startswith((ENDED_AS_SET, "budget")):
        found.append(
            f"The search ended after {plural(len(reading.state.campaign.cycles), 'cycle')}, as set."
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


def _recovery(reading: RunReading) -> str:
    """State whether the leading theory has the form of the hidden rule; random choices are no part of a form."""
    leader = reading.leader
    if leader is None:
        return ""
    known, hidden = reading.theory(leader).composition, hidden_theory(reading.config).composition
    if known is None or hidden is None:
        return ""
    forms = [
        {slot: sorted(names) for slot, names in own.items() if names and slot != "lapse"}
        for own in (known, hidden)
    ]
    form = "this form" if forms[0] == forms[1] else "another form"
    return f" This rule is “{hidden_rule(reading.config)}”, and the leading theory has {form}."


def _limits_of_people(reading: RunReading) -> list[str]:
    if reading.simulated:
        return [
            f"No person took part. A computer generated the responses from a hidden rule.{_recovery(reading)} "
            "These results are not evidence about human behaviour."
        ]
    if reading.model:
        return [
            f"No person took part. The language model {reading.model!r} gave the responses in separate sessions, "
            "so the result shows which theory describes this model with these texts. "
            "These results are not evidence about human behaviour, and the training data of the model may include the "
            "theories and published responses to such trials.",
            "The model read the text of each trial, not its picture.",
        ]
    people = reading.config.participants
    if not reading.is_collected_before:
        return [
            "Participants were recruited in one way only and chose to take part. The result may not generalise to "
            "other populations."
        ]
    which = "in the file" if people.file else "published"
    found = []
    if people.file:
        found.append(
            "The responses were collected before this run, so their collection was not preregistered. Predictions "
            "were frozen before the responses were released to the theories, but the person who chose the file, the "
            "trials and the initial theories may have known the responses."
        )
    found += [f"{ABOUT_THE_FILE} {line}." for line in people.told]
    found += [f"Only trials {which} could be used; more informative trials may be missing."]
    collected = [item.record for item in reading.state.experiments.collected.values()]
    if any(item.pooled for item in collected):
        found.append(
            f"Only counts of responses are {which}. Individual differences cannot be tested, and intervals are "
            "computed over problems instead of participants."
        )
    sealed = reading.state.experiments.sealed
    if sealed is not None and reading.domain.sequential:
        found.append(
            "The sealed responses come from participants who had no part in the search, in the same task. They test "
            "generalisation to new participants, not to new tasks."
        )
    elif sealed is not None and not any(sealed.record.of_people):
        found.append(
            "The sealed trials come from the same "
            f"{'file' if reading.is_of_file else 'experiments'} and the same participants as the trials of the search. "
            "They test generalisation to new problems, not to new participants."
        )
    return found


def _limits_of_evidence(reading: RunReading) -> list[str]:
    """State what the existing responses cannot show."""
    return [
        *_limits_of_tests(reading),
        *_limits_of_failures(reading),
        *_limits_of_rivals(reading),
        *_limits_of_size(reading),
    ]


def _limits_of_tests(reading: RunReading) -> Iterator[str]:
    """Yield whether anything tested the leading theory on responses that it was not made from."""
    board = reading.board
    standing = next((line for line in board.standings if line.theory == reading.leader), None)
    tests = {
        "frozen predictions": bool(standing and standing.n_prequential),
        "predictions of sealed trials": reading.state.experiments.sealed is not None,
        "predictions by repeated searches of the trials sealed from them": bool(
            reading.state.campaign.folds
        ),
    }
    if board.standings and not any(tests.values()):
        yield (
            "The leading theory was derived from the same responses on which it is scored, so its score is optimistic "
            "by an unknown amount."
        )
    elif standing is not None and standing.n_prequential < len(board.experiments):
        new = len(board.experiments) - standing.n_prequential
        parts = "parts of the file" if reading.is_of_file else "experiments"
        yield (
            f"The main score of the leaderboard uses all data, including {new} of {len(board.experiments)} {parts} "
            f"whose responses were known when the leading theory was derived. {only_tests(tests)}"
        )
    if len(board.experiments) == 1:
        yield (
            "There was only one experiment, so theories were compared on held-out participants (or responses) of the "
            "same experiment. The result may not generalise to other trials."
        )


def only_tests(tests: Mapping[str, bool]) -> str:
    """State which of the existing predictions of a run test its leading theory.

    Args:
        tests: Whether the run has predictions of a kind, by their name.
    """
    return f"Only {in_a_list([name for name, has in tests.items() if has])} are genuine tests."


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
                f"The score of {reading.label(limit.record.theory).tag} uses {limit.record.kept:,} draws from its "
                f"population, because it failed with {limit.record.n_draws:,}: {clean(limit.record.reason)}"
            )


def _limits_of_rivals(reading: RunReading) -> Iterator[str]:
    """Rivals that the answers do not tell from the winner, or from one another."""
    ties = [reading.label(theory).tag for theory in reading.tied_with_leader]
    if ties:
        higher = plural(reading.n_above_leader, "of these scores", "of these score")
        more = f" On all responses, {higher} higher." if reading.n_above_leader else ""
        yield (
            f"The leading theory is tied with {', '.join(ties)}: the data do not show that it predicts better.{more}"
        )
    n_open = len(open_pairs(reading))
    if n_open:
        yield (
            f"{plural(n_open, 'pair')} of theories could not be distinguished by frozen predictions (section 6)."
        )


def _limits_of_size(reading: RunReading) -> Iterator[str]:
    """Yield limits by few participants or few trials."""
    known = reading.state.experiments
    designs = (item.record for name, item in known.designs.items() if name in known.collected)
    n_trials = sum(design.n_trials for design in designs)
    n_people = [item.record.n_people for item in known.collected.values() if item.record.n_people]
    people = min(n_people, default=0)
    sealed = known.sealed.record.n_trials if known.sealed else FEW
    if 0 < people < FEW:
        which = "Each" if len(set(n_people)) == 1 else "The smallest"
        yield (
            f"{which} experiment has {people} participants, so estimates of individual "
            "differences are imprecise."
        )
    for count, what in (
        (n_trials, "distinct trials were presented"),
        (sealed, "trials were sealed"),
    ):
        if 0 < count < FEW:
            yield f"Only {count} {what}: intervals are wide, and rare kinds of trials may be missing."
    if reading.board.standings and mean_ceiling(reading, known.collected) is None:
        yield "No trial was repeated, so the reliability of the choices cannot be estimated."


def _limits_of_search(reading: RunReading) -> list[str]:
    found = []
    n_scored, n_tried = len(reading.board.standings), reading.state.n_tried
    if n_scored:
        seeds = set(reading.state.seeds)
        n_new = sum(line.theory not in seeds for line in reading.board.standings)
        found.append(selection_in_words(n_scored, n_new, n_tried))
    found += [
        "Before the verdict, the same responses had been analysed in "
        f"{plural(item.record.n_runs, 'other run')} of this laboratory, with "
        f"{plural(item.record.n_verdicts, 'verdict')}; sealed responses had been opened "
        f"{plural(item.record.n_opened, 'time')} there. A result chosen among several runs is optimistic."
        for item in reading.trace.records(AnalysesNoted)
    ]
    found += [
        f"No presented trial shows whether {text}, although the leading theory has a parameter for it."
        for text in _idle_clauses(reading)
    ]
    if reading.leader:
        author = reading.checked[reading.leader].record.author
        found += say_of_memorising(
            author, reading.state.experiments.tables, reading.trace.artifacts, reading.config
        )
    if reading.leader and (why := reading.checked[reading.leader].record.unreadable):
        found.append(f"The leading theory is a predictor, not an explanation: {why}.")
    found.append(
        f"This is one run with one seed ({reading.config.seed}). A run with another seed evaluates other theories and, "
        "if trials are designed, presents other trials; it may end with another theory."
    )
    return found


def selection_in_words(n_scored: int, n_new: int, n_tried: int) -> str:
    """State that the leading theory was selected on the data that score it.

    Args:
        n_scored: Theories that were scored.
        n_new: Those of them that a search found.
        n_tried: Candidates of the search.
    """
    of_new = f", {n_new} of them selected from {n_tried} candidates" if n_new and n_tried else ""
    return (
        f"The leading theory was selected from {plural(n_scored, 'scored theory')}{of_new} on the same data, which "
        "makes its score optimistic."
    )


def _idle_clauses(reading: RunReading) -> list[str]:
    """List what the leader's program could state that no presented trial depends on."""
    if reading.leader is None:
        return []
    account, renewed = reading.theory(reading.leader).account(), reading.state.theories.told
    refused = renewed.record.refused if renewed else ()
    idle = [item for item in account.clauses if item.idle and item.wording.clause not in refused]
    return [clause.statement for clause in idle]


def _limits_of_scope(reading: RunReading) -> list[str]:
    pooled = any(item.record.pooled for item in reading.state.experiments.collected.values())
    advocates = reading.config.theories.advocates
    ways = ["combines published mechanisms"] if "grammar" in advocates else []
    if "induction" in advocates and not pooled:
        ways.append("induces rules from the responses")
    if "language_model" in advocates and reading.config.roles.reviser:
        ways.append("takes proposals of language models")
    how = " and ".join(ways) or "evaluates no new theories"
    return [
        f"All trials are of one kind of task ({reading.kind_of_task}). The search {how}; other ideas were not "
        "considered.",
        "The theory with the best predictions is not necessarily true: another theory with the same predictions would "
        "have the same score.",
    ]
