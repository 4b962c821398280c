"""Reasons for what a run states: from a conclusion down to the participants' responses that support it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from rich.table import Table

from lakatos.experiments.adoption.names import experiment_in_words
from lakatos.experiments.data_sets import data_sets_of
from lakatos.flows.argument import Argument, NamedRunFolder
from lakatos.flows.branches.branch import find_record
from lakatos.flows.errors import RunMissingError
from lakatos.flows.report.by_experiment import LeaderOnExperiment, leader_by_experiment
from lakatos.flows.report.formats import experiment_of_data_set
from lakatos.flows.report.reader import (
    RunReading,
    open_reading,
    option_label,
    shortened,
)
from lakatos.flows.report.theory_facts import favouring_trials
from lakatos.flows.report.words import words_of
from lakatos.flows.result import Result, Shown
from lakatos.flows.run.console import escape
from lakatos.flows.run.evidence import theory_of
from lakatos.theories.engine.scoring.score import is_tie
from lakatos.theories.findings.verdicts.record import CampaignConcluded
from lakatos.traces.digest import Digest
from lakatos.traces.journal import Event
from lakatos.traces.record import Record
from lakatos.traces.validity import ValidityLink
from lakatos.traces.wording import plural

RESPONSES = frozenset({"answers_arrived", "trials_collected", "sealed_opened"})
"""Kinds of records with what people answered."""
DEEP = 3
"""Levels of the tree that are shown where no number is given."""
MOST_TRIALS = 4
"""Trials shown of those whose answers carry a verdict most."""
WIDTH = 150
"""Characters of a record's words below the first one."""
MOST_SHOWN = 12
"""Inputs of one kind that are shown one by one; of more, the first of them and their number."""


@dataclass(frozen=True)
class RecordReason:
    """A record, in words, and what it rests on as far as that leads to responses."""

    digest: Digest
    seq: int
    kind: str
    words: str
    because: tuple[RecordReason, ...]
    again: bool = False
    """Whether it stands further up already, with what it rests on."""
    n_left: int = 0
    """Further inputs of the same kinds, which are not shown."""


@dataclass(frozen=True)
class SupportingTrial:
    """A trial whose answers speak for the leader and against its rival."""

    experiment: str
    trial: int
    """Number of the trial, counted from 1."""
    shown: str
    """Trial as people saw it."""
    n_answers: int
    share: float
    """Share of the last option among the responses."""
    leader: float
    """Share that the leader had predicted."""
    rival: float
    nats: float
    """Nats by which these responses favour the leader, at the mean probabilities."""


@dataclass(frozen=True, repr=False)
class WhyAnswer(Result):
    """Reasons for a claim of a run: a tree down to the responses of participants."""

    claim: str
    reason: RecordReason
    n_people: int
    """People whose responses stand at the ends of the tree; 0 where people cannot be told apart."""
    n_responses: int
    by_machine: bool
    """Whether a computer gave the responses: a hidden rule, or a language model."""
    carried: tuple[SupportingTrial, ...]
    """Trials that support a verdict most; empty for other records."""
    broken: tuple[ValidityLink, ...]
    """Reasons why the record does not hold any more; empty where it does."""
    option: str = ""
    """Option whose shares are shown."""
    brief: tuple[str, ...] = ()
    """The answer in five lines at most: what is claimed, over whom, by which experiment, by which trial, on what."""

    deep: int = DEEP
    """Levels of the tree that are shown; 0 for all."""

    def lines(self) -> Iterator[Shown]:
        """The answer in brief, the tree, and the trials that speak for a verdict."""
        for line in self.brief:
            yield escape(line)
        yield ""
        for line in self.tree(self.deep):
            yield escape(line)
        if self.carried:
            table = Table(
                "experiment",
                "trial",
                "stimulus",
                "responses",
                "chosen",
                "leader",
                "rival",
                "nats",
            )
            for item in self.carried:
                name, share = experiment_in_words(item.experiment), f"{item.share:.2f}"
                table.add_row(
                    name, str(item.trial), escape(item.shown), str(item.n_answers), share,
                    f"{item.leader:.2f}", f"{item.rival:.2f}", f"{item.nats:+.1f}",
                )  # fmt: skip
            yield (
                "Responses that favour the leading theory most over the best initial theory. Chosen: share of "
                f"responses that were {self.option}; leader, rival: predicted shares."
            )
            yield table
        for link in self.broken:
            yield (
                f"[red]it does not hold[/red]: {escape(link.name) or 'a record'} {escape(link.problem)}"
            )

    def tree(self, depth: int = 0) -> Iterator[str]:
        """The tree as text, one line a record; of what lies deeper than ``depth``, its size. 0 for everything."""
        reason = self.reason
        if len(self.brief) > 1:  # which has said it
            reason = replace(reason, words=shortened(reason.words, WIDTH))
        yield from _lines(reason, "", "", depth or sys.maxsize)


def _people_of_tables(tables: Sequence[Event]) -> int:
    """People behind tables; experiments on one archive (``1.1 NAME``, ``2.1 NAME``) have the same people."""
    by_archive: dict[str, int] = {}
    n_new = 0
    for event in tables:
        n, archive = (
            int(event.body.get("n_people", 0)),
            event.body.get("experiment", "").partition(" ")[2],
        )
        if archive:
            by_archive[archive] = max(by_archive.get(archive, 0), n)
        else:
            n_new += n
    return n_new + sum(by_archive.values())


def _counted(ends: Sequence[Event]) -> tuple[int, int]:
    """People and responses in the records where a walk to the evidence ends."""
    arrived = [event for event in ends if event.kind == "answers_arrived"]
    tables = [event for event in ends if event.kind != "answers_arrived"]
    n_people = len({event.body["person"] for event in arrived}) or _people_of_tables(tables)
    n_responses = sum(int(event.body["n_responses"]) for event in tables)
    return n_people, n_responses or sum(int(event.body["n_answers"]) for event in arrived)


def why(
    folder: NamedRunFolder,
    claim: str = "verdict",
    *,
    deep: Annotated[int, Argument(least=0)] = DEEP,
) -> WhyAnswer:
    """Show the evidence for a conclusion of a run, down to the responses.

    Args:
        folder: The run's folder.
        claim: verdict; leader (the leading theory after the last cycle); a theory, by name, by its letter and number
            (T1) or by the beginning of its digest; or a record, by number or beginning of its digest.
        deep: Number of levels shown; 0 for all.

    Raises:
        RunMissingError: There is no run, or nothing in it is called so.

    Examples:
        $ lakatos why allais-1 leader --deep 5
    """
    with open_reading(folder) as reading:
        chosen = _chosen(reading, reading.results, claim)
        by_digest = {event.record_digest: event for event in reading.results}
        telling = _ReasonTree(reading, by_digest)
        seen: set[Digest] = set()
        reason = telling.reason(chosen, seen)
        ends = [by_digest[digest] for digest in seen if by_digest[digest].kind in RESPONSES]
        n_people, n_all = _counted(ends)
        record = reading.trace.read(chosen).record
        carried: tuple[SupportingTrial, ...] = ()
        if isinstance(record, CampaignConcluded):
            carried = tuple(_carried(reading, record))
        by_machine = reading.simulated or bool(reading.model)
        n_units = record.n_units if isinstance(record, CampaignConcluded) else None
        rests_on = [_rests_on(n_all, n_people, reading.answerers, n_units)] if n_all else []
        return WhyAnswer(
            claim=claim,
            reason=reason,
            n_people=n_people,
            n_responses=n_all,
            by_machine=by_machine,
            carried=carried,
            option=_option(reading, carried[0]) if carried else "",
            brief=(*_in_brief(reading, record, carried), *rests_on),
            broken=tuple(reading.validity.explain(chosen.record_digest)),
            deep=deep,
        )


def _chosen(reading: RunReading, events: Sequence[Event], named: str) -> Event:
    claim = {label.tag: digest for digest, label in reading.labels.items()}.get(named, named)
    by_digest = {event.record_digest: event for event in events}
    state = reading.state
    if claim == "verdict":
        if state.campaign.concluded is None:
            raise RunMissingError(
                f"the run {reading.folder} has no verdict yet; ask about `leader`, a theory or a record."
            )
        return by_digest[state.campaign.concluded.digest]
    if claim == "leader":
        if not state.campaign.cycles:
            raise RunMissingError(
                f"no cycle of the run {reading.folder} has ended, so no theory leads yet."
            )
        return by_digest[state.campaign.cycles[-1].digest]
    if (
        any(
            claim in (item.record.name, state.theories.bare_name(digest), digest[: len(claim)])
            for digest, item in state.theories.checked.items()
        )
        and claim
    ):
        theory = theory_of(reading.trace.artifacts, state, claim).digest
        return by_digest[(state.theories.pool.get(theory) or state.theories.checked[theory]).digest]
    try:
        return find_record(events, claim)
    except Exception as error:
        there = ", ".join(label.short for label in list(reading.labels.values())[:6])
        raise RunMissingError(f"nothing is called {named!r}: {error} Theories: {there}.") from None


class _ReasonTree:
    """Makes the tree: only what leads to responses, each record once."""

    def __init__(self, reading: RunReading, events: Mapping[Digest, Event]) -> None:
        self.reading, self.events = reading, events
        self._leads: dict[Digest, bool] = {}

    def leads(self, digest: Digest) -> bool:
        """Whether responses are among what a record rests on, itself included."""
        # A record's inputs stand earlier in the journal, so that what is asked first is known before it is needed.
        if digest not in self._leads:
            for event in self.events.values():
                known = event.kind in RESPONSES or any(
                    self._leads.get(cited, False) for cited in event.inputs
                )
                self._leads[event.record_digest] = known
        return self._leads.get(digest, False)

    def reason(self, event: Event, seen: set[Digest]) -> RecordReason:
        """The tree below a record; ``seen`` grows by all that stands in it."""
        words = words_of(self.reading, event.kind, event.body)
        if event.record_digest in seen:
            return RecordReason(event.record_digest, event.seq, event.kind, words, (), again=True)
        seen.add(event.record_digest)
        cited = [
            self.events[digest] for digest in dict.fromkeys(event.inputs) if self.leads(digest)
        ]
        shown: list[Event] = []
        for kind in dict.fromkeys(item.kind for item in cited):
            shown += [item for item in cited if item.kind == kind][:MOST_SHOWN]
        for item in cited:
            if item not in shown and item.kind in RESPONSES:
                seen.add(item.record_digest)
        because = tuple(self.reason(item, seen) for item in shown)
        return RecordReason(
            event.record_digest, event.seq, event.kind, words, because, n_left=len(cited) - len(shown)
        )  # fmt: skip


def _lines(reason: RecordReason, first: str, rest: str, depth: int) -> Iterator[str]:
    words = reason.words if not first else shortened(reason.words, WIDTH)
    yield f"{first}{words}  [record {reason.seq}, #{reason.digest[:8]}]"
    if depth <= 1 and reason.because:
        below = list(_below(reason))
        responses = dict.fromkeys(item.words for item in below if item.kind in RESPONSES)
        what = f": {shortened('; '.join(responses), WIDTH)}" if responses else ""
        yield f"{rest}└─ … rests on {plural(len(below), 'further record')}{what}"
        return
    shown = [item for item in reason.because if not item.again or item.kind in RESPONSES]
    n_above = len(reason.because) - len(shown)
    ends = [f"{plural(n_above, 'record')} shown above"] if n_above else []
    ends += [f"{reason.n_left} more"] if reason.n_left else []
    for place, item in enumerate(shown):
        last = place + 1 == len(shown) and not ends
        yield from _lines(
            item, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "), depth - 1
        )
    if ends:
        yield f"{rest}└─ and {' and '.join(ends)}"


def _below(reason: RecordReason) -> Iterator[RecordReason]:
    for item in reason.because:
        yield item
        yield from _below(item)


def _theory(reading: RunReading, digest: Digest) -> str:
    return reading.label(digest).name


def _option(reading: RunReading, trial: SupportingTrial) -> str:
    """The option whose shares are shown of a trial."""
    trials = reading.trials(trial.experiment)
    return option_label(reading.domain, trials.stimuli.last_available(trials.n_options))


def _rests_on(n_responses: int, n_people: int, answerers: str, n_units: int | None = None) -> str:
    """State on how many responses a conclusion rests; ``n_units``: participants of the verdict's comparison."""
    one = answerers.replace("participants", "participant").replace("sessions", "session")
    people = f" of {plural(n_people, one, answerers)}" if n_people else f" of {answerers}"
    responses = f"{plural(n_responses, 'response')}{people}"
    if n_units is None:
        return f"The first record below is based on {responses}."
    part = ""
    if n_units < n_people:
        part = f"; the comparison of the verdict uses the responses of {n_units} of them"
    return f"The verdict and the estimates behind it are based on {responses}{part}."


def _in_brief(
    reading: RunReading, record: Record, carried: Sequence[SupportingTrial]
) -> Iterator[str]:
    """State why a verdict was reached, a line each: over which rival, by which experiment, by which trial."""
    if not isinstance(record, CampaignConcluded):
        return
    rival = reading.first_rival or record.runner_up
    leader = _theory(reading, record.leader)
    if record == reading.concluded and record.headline:
        yield reading.headline
    if rival is None:
        yield f"{leader} is the only remaining theory."
        return
    is_initial = record.leader in reading.state.seeds
    yield lead_in_words(leader, _theory(reading, rival), record, is_initial=is_initial)
    part = "data set" if data_sets_of(reading.board.experiments) else "experiment"
    yield from strongest_part(leader_by_experiment(reading), part)
    if carried:
        most = carried[0]
        yield (
            f"The trial that favours the leading theory most is {most.trial} of experiment "
            f"{experiment_in_words(most.experiment)} ({shortened(most.shown, 60)}): "
            f"{_option(reading, most)} was chosen in {most.share:.0%} of {plural(most.n_answers, 'response')}; with "
            f"parameters estimated from all responses, the leading theory predicts {most.leader:.0%}, "
            f"the rival {most.rival:.0%}."
        )


def lead_in_words(
    leader: str, rival: str, record: CampaignConcluded, *, is_initial: bool = False
) -> str:
    """State whether the leading theory predicts better than the rival of the verdict, and on which data.

    Args:
        leader: Its name.
        rival: Name of the rival; of the second theory, where there is no other initial theory.
        record: The verdict.
        is_initial: Whether the leading theory is an initial one itself.
    """
    if record.advantage is None:
        return f"{leader} leads and {rival} is second; the study has no other initial theory."
    better = "predicts better" if record.holds else "was not shown to predict better"
    closest = "closest other initial theory" if is_initial else "closest initial theory"
    return f"{leader} {better} than {rival}, the {closest}, on {record.basis}."


def strongest_part(found: Sequence[LeaderOnExperiment], part: str) -> Iterator[str]:
    """The experiment on which the leading theory is furthest ahead, and each one that favours its rival.

    Args:
        found: The leading theory on each experiment (or data set), predicted from the others; with one, none.
        part: "experiment" or "data set".
    """
    ahead = {one.experiment: one.ahead for one in found if one.ahead is not None}
    if not ahead:
        return
    name, most = max(ahead.items(), key=lambda item: item[1].value)
    which = (
        f"{part} {experiment_of_data_set(name)} (of {len(ahead)}, each predicted from the others)"
    )
    size = f"{most.value:+.4f} nats per choice ({most.interval_in_words()}, uncorrected)"
    if most.is_above_zero():
        yield f"The strongest evidence is {which}: {size}."
    else:
        yield f"No {part} by itself shows an advantage; the difference is largest in {which}: {size}."
    for name, one in ahead.items():
        if one.value < 0 and not is_tie(one):
            yield (
                f"{part.capitalize()} {experiment_of_data_set(name)} favours the rival: {one.value:+.4f} nats per "
                f"choice ({one.interval_in_words()}, uncorrected)."
            )


def _carried(reading: RunReading, record: CampaignConcluded) -> Iterator[SupportingTrial]:
    """Trials whose answers favour the leader most over the rival of the verdict, or over the second."""
    rival = reading.first_rival or record.runner_up
    if rival is None:
        return
    for item in favouring_trials(reading, record.leader, rival)[:MOST_TRIALS]:
        trials = reading.trials(item.experiment)
        counts = trials.totals[item.row]
        option = trials.stimuli.last_available(trials.n_options)
        yield SupportingTrial(
            item.experiment,
            item.row + 1,
            reading.domain.describe(trials.stimuli, item.row),
            int(counts.sum()),
            float(counts[option] / counts.sum()),
            float(item.own[option]),
            float(item.other[option]),
            item.nats,
        )
