"""A run as its report reads it, from the trace alone."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.adoption.layouts import layout_of
from lakatos.experiments.adoption.read_back import pooled_conditions
from lakatos.experiments.design import design_from_json
from lakatos.experiments.record import DesignChosen, PairPower
from lakatos.experiments.task import Design, Domain, Trials
from lakatos.flows.run.evidence import theory_of, trials_in
from lakatos.flows.run.records import ACTS
from lakatos.flows.run.run import read_state
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.run.task import domain_of
from lakatos.theories.engine.record import (
    CompletenessMeasured,
    TheoryChecked,
    TheoryCompleteness,
    TheoryScored,
)
from lakatos.theories.engine.scoreboard import Scoreboard, frozen_advantage, prequential_advantage
from lakatos.theories.engine.scoring.score import ScoreEstimate, is_tie
from lakatos.theories.engine.scoring.unexplained import ErrorRatio
from lakatos.theories.findings.verdicts.company import PRINTED_ALIKE, describe
from lakatos.theories.findings.verdicts.conclude import (
    MOST_TIED,
    ComparedLeader,
    compare_leader,
    in_new_names,
    tied_with,
)
from lakatos.theories.findings.verdicts.headline import NO_FINDING, is_better, weak_support
from lakatos.theories.findings.verdicts.record import EXPLORATORY, CampaignConcluded
from lakatos.theories.language.theory import Theory
from lakatos.traces.digest import Digest
from lakatos.traces.errors import TraceError
from lakatos.traces.journal import INTENT, Event
from lakatos.traces.step import Recorded, Trace
from lakatos.traces.validity import Validity
from lakatos.traces.wording import in_a_list, plural

Array = NDArray[np.float64]
UNREADABLE = (TraceError, AssertionError, ValueError, KeyError, TypeError)
"""Errors that reading a damaged or a newer journal can raise; a page then states this and shows the rest."""


@dataclass(frozen=True)
class JournalPlace:
    """Place of a record in the journal."""

    seq: int
    kind: str
    time_utc: str


@dataclass(frozen=True)
class TheoryLabel:
    """Name of a theory in the report."""

    tag: str
    """``T`` and a number in order of arrival; ``R`` for refused ones."""
    name: str

    @property
    def brief(self) -> str:
        """The name where there is little room."""
        return shortened(self.name, 64)

    @property
    def short(self) -> str:
        """Tag and name for figures."""
        return shortened(f"{self.tag} {self.name}", 30)

    @property
    def full(self) -> str:
        """Tag and name for figures whose rows have room for several lines."""
        return shortened(f"{self.tag} {self.name}", 72)


class RunReading:
    """A run as the report needs it."""

    def __init__(self, folder: Path, state: RunState, trace: Trace) -> None:
        self.folder, self.state, self.trace = folder, state, trace
        self.config: CampaignConfig = state.campaign.config or CampaignConfig.model_validate(
            trace.journal.meta["study"]
        )
        self.domain: Domain = domain_of(self.config)
        journal: dict[Digest, JournalPlace] = {}
        self.n_events, self.times = 0, ("", "")
        self.layers: set[str] = set()
        """Layers of the sandboxes in which theories were checked."""
        for event in trace.journal.events():
            self.n_events, self.times = event.seq, (self.times[0] or event.time_utc, event.time_utc)
            if event.kind != INTENT:
                journal.setdefault(
                    event.record_digest, JournalPlace(event.seq, event.kind, event.time_utc)
                )
            elif event.name == "check":
                self.layers.update(event.body.get("note", {}).get("sandbox", ()))
        self.journal: Mapping[Digest, JournalPlace] = journal

    @cached_property
    def results(self) -> tuple[Event, ...]:
        """Everything that the journal holds beside intents."""
        return tuple(event for event in self.trace.journal.events() if event.kind != INTENT)

    @cached_property
    def validity(self) -> Validity:
        """Validity of records: which hold, and why others do not."""
        return Validity(self.trace.journal.events(), roots=self.trace.artifacts.has, acts=ACTS)

    @property
    def is_collected_before(self) -> bool:
        """Whether the answers were there before the run: published ones, or those of a study's own file."""
        return self.config.source.is_archive

    @property
    def is_of_file(self) -> bool:
        """Whether they stand in a file of the study's own, which nobody needs to have published."""
        return bool(self.config.participants.file)

    @property
    def is_all_used(self) -> bool:
        """Whether the designs took all trials that were there and not sealed, so that none was chosen."""
        known = self.state.experiments
        designs = [item.record for name, item in known.designs.items() if name in known.collected]
        return self.is_collected_before and all(item.is_exhaustive for item in designs)

    @property
    def came(self) -> str:
        """Word for what happened to the responses after predictions were frozen: they were collected or released."""
        return "were released to the theories" if self.is_collected_before else "were collected"

    @property
    def concluded(self) -> CampaignConcluded | None:
        """The verdict, once there is one."""
        return self.state.campaign.concluded.record if self.state.campaign.concluded else None

    @cached_property
    def board(self) -> Scoreboard:
        """All rivals on all experiments."""
        return self.state.board()

    @property
    def exploratory(self) -> bool:
        """Whether the verdict rests on data that the winner was made from, however clear it is."""
        return self.concluded is not None and self.concluded.basis == EXPLORATORY

    @property
    def is_shown(self) -> bool:
        """Whether the verdict is that a new theory is better than every published one, and no table contradicts it."""
        if self.concluded is None or set(self.state.seeds) & {*self.tied_with_leader}:
            return False
        renewed, leader = self.state.theories.told, self.concluded.leader
        is_published = renewed is not None and leader in renewed.record.published
        return is_better(self.concluded, is_published=is_published)

    @property
    def call(self) -> str:
        """The verdict in two or three words."""
        if self.is_shown:
            return "Supported"
        if self.concluded is not None and self.concluded.verdict:
            found = self.concluded.verdict
            return "No misfit shown" if found == "nothing_left" else "No better theory shown"
        return "Exploratory" if self.exploratory else "No clear evidence"

    @property
    def headline(self) -> str:
        """The verdict in one sentence, in the names of the verdict; every page begins with it."""
        found = self.concluded
        if found is None:
            return ""
        is_contradicted = found.verdict == "better" and not self.is_shown
        if found.headline and not is_contradicted:
            return found.headline
        leader = self.label(found.leader).name
        if self.is_shown:
            return f"{leader} predicts better than every initial theory of the study."
        if self.exploratory:
            return f"{leader} was compared only on responses from which it was derived."
        rival = self.label(found.rival).name if found.rival else "an initial theory"
        return f"The data do not show that {leader} predicts better than {rival}."

    @property
    def n_units(self) -> int | None:
        """Participants (or problems) behind the leaderboard's scores, where they are known."""
        return self.board.leader.score.n_units if self.board.standings else None

    @property
    def no_finding(self) -> bool:
        """Whether the verdict is that too few participants responded for any finding."""
        return self.headline.startswith(NO_FINDING)

    def left_by(self, theory: Digest) -> ErrorRatio | None:
        """Return what a theory leaves unexplained, as the verdict measured it; None where it did not."""
        return None if self.concluded is None else self.concluded.left_by(theory)

    @cached_property
    def misfit_of_others(self) -> str:
        """That other theories pass the test of the misfit ratio, too; empty where none does, or the leader does not."""
        found = self.concluded
        if found is None or self.leader is None or self.no_finding:
            return ""
        others = [line.theory for line in self.board.standings if line.theory != self.leader]
        return weak_support(found.left_by(self.leader), [found.left_by(name) for name in others])

    @cached_property
    def conditions_not_read(self) -> str:
        """What the file holds of conditions within participants that the study does not read; else empty."""
        return pooled_conditions(self.config.participants.told)

    @cached_property
    def tied_with_leader(self) -> tuple[Digest, ...]:
        """Theories from which the data do not separate the leader, by the rule of the verdict."""
        if self.leader is None:
            return ()
        return tied_with(self.state.theories, self.state.experiments, self.leader)

    @cached_property
    def behind_frozen(self) -> Mapping[Digest, ScoreEstimate]:
        """Advantage of the leader over other theories in frozen predictions of both, where there are any."""
        state = self.state
        if self.leader is None:
            return {}
        found = {
            line.theory: frozen_advantage(
                state.theories, state.experiments, self.leader, line.theory
            )
            for line in self.board.standings
            if line.theory != self.leader
        }
        return {theory: item[0] for theory, item in found.items() if item is not None}

    @property
    def n_above_leader(self) -> int:
        """Number of theories tied with the leader that have a higher score on all responses than it has."""
        scores = {line.theory: line.score.value for line in self.board.standings}
        own = scores.get(self.leader) if self.leader else None
        return (
            0 if own is None else sum(scores.get(one, own) > own for one in self.tied_with_leader)
        )

    @property
    def tied_names(self) -> str:
        """The leader and the theories tied with it, as a heading lists them."""
        names = [self.label(theory).name for theory in self.tied_with_leader]
        shown = names if len(names) <= MOST_TIED else names[: MOST_TIED - 1]
        more = len(names) - len(shown)
        rest = [plural(more, "other theory", "other theories")] if more else []
        leader = [] if self.leader is None else [self.label(self.leader).name]
        return in_a_list([*leader, *shown, *rest])

    @property
    def beside_published(self) -> str:
        """The leader beside published theories and generic learners, in words; empty where it was not measured."""
        measured, found = self.state.theories.completeness, self.concluded
        if measured is None:
            return ""
        rival = self.label(found.rival).name if found and found.rival else ""
        text = describe(measured.record, rival, found.advantage if found else None)
        return in_new_names(self.state.theories, text)

    @property
    def leader(self) -> Digest | None:
        """The winner, or who leads so far."""
        if self.concluded is not None:
            return self.concluded.leader
        return self.board.leader.theory if self.board.standings else None

    @property
    def simulated(self) -> bool:
        """Whether a computer answered instead of people."""
        return self.config.source.origin == "simulated"

    @property
    def model(self) -> str:
        """The language model that answered in place of people, as the study names it; empty where none did."""
        return self.config.participants.model

    @property
    def answerers(self) -> str:
        """The kind of participants, in the plural."""
        if self.simulated:
            return "simulated participants"
        return "sessions of a language model" if self.model else "participants"

    @property
    def kind_of_task(self) -> str:
        """The kind of task in words; its name where no words are known."""
        layout = layout_of(self.domain)
        return (layout.kind if layout else "") or self.config.domain.replace("_", " ")

    @property
    def missing(self) -> Counter[str]:
        """Answers that the language model did not give, by reason."""
        held = (item.record for items in self.state.experiments.sessions.values() for item in items)
        return Counter(reason for session in held for reason in session.missing_reasons)

    @property
    def served(self) -> tuple[str, ...]:
        """Names that the servers gave to the language model that answered."""
        held = (item.record for items in self.state.experiments.sessions.values() for item in items)
        return tuple(sorted({name for session in held for name in session.model_names}))

    def score_of(self, one: TheoryCompleteness, measured: CompletenessMeasured) -> ScoreEstimate:
        """A score beside generic learners, with the interval of the leaderboard where it is the same score."""
        for line in self.board.standings:
            if line.theory == one.theory and abs(line.score.value - one.score) < PRINTED_ALIKE:
                return line.score
        return measured.estimate(one.score, one.score_error)

    @property
    def first_rival(self) -> Digest | None:
        """The rival that the verdict compares the leader with; before the verdict, the one that it would be now."""
        if self.concluded is not None and self.concluded.rival is not None:
            return self.concluded.rival
        if self.leader is None:
            return None
        decides = self.compared_with_initial(self.leader).strictest
        return decides.rival if decides else None

    def compared_with_initial(self, leader: Digest) -> ComparedLeader:
        """A leading theory beside the other initial theories, on all data on which the verdict compares them."""
        seeds = set(self.state.seeds)
        first = [line.theory for line in self.board.standings if line.theory in seeds]
        return compare_leader(self.state.theories, self.state.experiments, leader, first)

    @cached_property
    def checked(self) -> dict[Digest, Recorded[TheoryChecked]]:
        """Every theory that was checked, refused and failed ones too, in the order of the journal."""
        known = self.state.theories
        items = [*known.refused, *known.checked.values(), *known.out.values()]
        items.sort(key=lambda item: self.journal[item.digest].seq)
        return {item.record.theory: item for item in items}

    @cached_property
    def labels(self) -> dict[Digest, TheoryLabel]:
        """Names and tags of all theories."""
        numbers = Counter[str]()
        found = {}
        for digest in self.checked:
            passed = digest in self.state.theories.checked or digest in self.state.theories.out
            letter = "T" if passed else "R"
            numbers[letter] += 1
            found[digest] = TheoryLabel(
                f"{letter}{numbers[letter]}", " ".join(self._name_of(digest).split())
            )
        return found

    def _name_of(self, theory: Digest) -> str:
        """Return the theory's name in the verdict, and before the verdict the name with which it entered."""
        known = self.state.theories
        return (
            known.bare_name(theory) if theory in known.checked else self.checked[theory].record.name
        )

    def label(self, theory: Digest) -> TheoryLabel:
        """Name and tag of a theory, its digest where it has none."""
        return self.labels.get(theory, TheoryLabel("–", f"theory {theory[:8]}"))

    def fate(self, theory: Digest) -> str:
        """State how far a theory came."""
        if theory in self.state.theories.out:
            return "failed"
        if theory not in self.state.theories.checked:
            return "refused"
        return "admitted" if theory in self.state.theories.pool else "not admitted"

    def link(self, theory: Digest) -> str:
        """Address of a theory's own page; empty where there is none."""
        return ""

    def marked(self, text: str, theories: Iterable[Digest]) -> str:
        """A record's text in the verdict's names; long ones of ``theories`` are replaced by their tags."""
        text = in_new_names(self.state.theories, text)
        for digest in theories:
            label = self.label(digest)
            if len(label.name) > len(label.brief):
                text = text.replace(f"{label.name} ({digest[:6]})", label.tag)
        for digest in theories:
            label = self.label(digest)
            if len(label.name) > len(label.brief):
                text = text.replace(label.name, label.tag)
        return text

    def cited(self, digests: Iterable[Digest]) -> list[tuple[str, list[str]]]:
        """Cited records by kind, each with its number in the journal; artifacts by their digest."""
        found: dict[str, list[tuple[int, str]]] = {}
        for digest in dict.fromkeys(digests):
            entry = self.journal.get(digest)
            kind = entry.kind.replace("_", " ") if entry else "artifact"
            found.setdefault(kind, []).append(
                (entry.seq, str(entry.seq)) if entry else (0, digest[:12])
            )
        return [(kind, [text for _, text in sorted(items)]) for kind, items in found.items()]

    @cached_property
    def ancestry(self) -> frozenset[Digest]:
        """The leader and all it descends from."""
        found: set[Digest] = set()
        todo = [self.leader] if self.leader else []
        while todo:
            digest = todo.pop()
            if digest not in found and digest in self.checked:
                found.add(digest)
                todo += self.checked[digest].record.parents
        return frozenset(found)

    def theory(self, digest: Digest) -> Theory:
        """A checked theory, read from its source; it is not run."""
        return theory_of(self.trace.artifacts, self.state, digest)

    def trials(self, experiment: str) -> Trials:
        """Read the answers of an experiment."""
        return trials_in(self.trace.artifacts, self.state, experiment)

    def design(self, chosen: DesignChosen) -> Design:
        """Read the trials that a design search chose."""
        return design_from_json(self.trace.artifacts.get_json(chosen.design))

    def frozen(self, experiment: str, option: int) -> dict[Digest, Array]:
        """Predicted shares of an option with both ends, ``(3, n_trials)``, by theory, as they were frozen."""
        plan = self.state.experiments.preregistrations[experiment].record
        arrays = self.trace.artifacts.get_arrays(plan.predictions)
        found = {}
        for name in plan.rivals:
            if f"{name}:shares" in arrays:
                found[name] = arrays[f"{name}:shares"][..., option]
            elif f"{name}:proportions" in arrays:
                found[name] = arrays[f"{name}:proportions"]
        return found

    def frozen_shares(self, experiment: str, theory: Digest, keys: Sequence[bytes]) -> Array:
        """Shares of trials as they were frozen, ``(n_trials, n_options)``, of two options only the last one.

        Args:
            experiment: Experiment before which the theory's predictions were frozen.
            theory: Theory that predicts.
            keys: Keys of the trials; one that the design does not have gets NaN.
        """
        known = self.state.experiments
        arrays = self.trace.artifacts.get_arrays(
            known.preregistrations[experiment].record.predictions
        )
        several = arrays.get(f"{theory}:shares")
        frozen = arrays[f"{theory}:proportions"] if several is None else several
        design = self.design(known.designs[experiment].record).stimuli
        place = {key: row for row, key in enumerate(design.keys)}
        rows = np.array([place.get(key, -1) for key in keys])
        shares = frozen[0].reshape(len(design), -1)[rows]
        return np.where((rows < 0)[:, None], np.nan, shares)


@contextmanager
def open_reading(folder: Path) -> Iterator[RunReading]:
    """A run to be read, also while another process writes it; it is closed afterwards.

    Raises:
        RunMissingError: There is no run.
    """
    state, trace = read_state(folder)
    with trace:
        yield RunReading(folder, state, trace)


def text_below(reading: RunReading) -> str:
    """The verdict without its first sentence, which stands above it."""
    found = reading.concluded
    return "" if found is None else found.text.removeprefix(found.headline).lstrip()


def clean(text: str) -> str:
    """Remove control characters, which could garble the page or turn the direction of its text."""
    return "".join(
        c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Cn")
    )


def shortened(text: str, width: int) -> str:
    """Shorten a text to as many whole words as fit."""
    text = " ".join(clean(text).split())
    if len(text) <= width:
        return text
    cut = text[: width - 2]
    return (cut.rsplit(" ", 1)[0] if " " in cut[width // 2 :] else cut).rstrip(" +;,:") + " …"


def wilson(share: Array, n: Array) -> tuple[Array, Array]:
    """Wilson's 95% interval of proportions; ``n`` may be 0, where it is the whole range."""
    n = np.maximum(n, 1e-9)
    z2 = 1.96**2 / n
    center = (share + z2 / 2) / (1 + z2)
    half = np.sqrt(z2) * np.sqrt(share * (1 - share) + z2 / 4) / (1 + z2)
    return np.clip(center - half, 0, 1), np.clip(center + half, 0, 1)


@dataclass(frozen=True)
class ChoiceShares:
    """People's share of one option with its interval, ``(n_trials,)`` each; NaN where nobody answered."""

    share: Array
    low: Array
    high: Array
    n_responses: Array

    @classmethod
    def of(cls, trials: Trials, option: int = -1) -> ChoiceShares:
        """Intervals count people, since answers of one person hang together; answers where people cannot be told."""
        share = np.asarray(trials.proportions[:, option])
        n: Array = trials.totals.sum(axis=1) if trials.pooled else trials.n_people_asked
        low, high = wilson(np.nan_to_num(share), n)
        low, high = (np.where(np.isnan(share), np.nan, end) for end in (low, high))
        return cls(share, low, high, trials.totals.sum(axis=1))


def option_label(domain: Domain, option: int) -> str:
    """Label of an option by its place: a letter as it is, a word in quotes."""
    if option >= len(domain.options):
        return f"option {option + 1}"
    label = domain.options[option]
    return label if len(label) == 1 else f"“{label}”"


def scattered_option(reading: RunReading) -> str:
    """Name the option whose shares are drawn against predictions: of two the second, of more every option."""
    numbers = {reading.trials(name).n_options for name in reading.state.experiments.collected}
    return "each option" if max(numbers, default=2) > 2 else option_label(reading.domain, 1)


def mean_ceiling(reading: RunReading, experiments: Iterable[str]) -> float | None:
    """Noise ceiling averaged over experiments, as the scores are."""
    found = [
        value
        for name in experiments
        if (value := reading.state.experiments.collected[name].record.ceiling) is not None
    ]
    return float(np.mean(found)) if found else None


def run_scores(reading: RunReading) -> dict[tuple[Digest, str], TheoryScored]:
    """All scores without their own digests."""
    return {key: item.record for key, item in reading.state.theories.scores.items()}


def designed_pairs(reading: RunReading) -> dict[frozenset[Digest], PairPower]:
    """Pairs of rivals of designs; of a pair that several designs had, the last one's power."""
    pairs: dict[frozenset[Digest], PairPower] = {}
    for item in reading.state.experiments.designs.values():
        pairs |= {frozenset((pair.first, pair.second)): pair for pair in item.record.powers}
    return pairs


def open_pairs(reading: RunReading) -> list[tuple[PairPower, ScoreEstimate | None]]:
    """Pairs of designs that frozen predictions have not told apart, with their difference where there is one."""
    scores = run_scores(reading)
    found = []
    for pair in designed_pairs(reading).values():
        advantage = prequential_advantage(
            pair.first, pair.second, list(reading.state.experiments.collected), scores
        )
        difference = advantage[0] if advantage else None
        if difference is None or is_tie(difference):
            found.append((pair, difference))
    return found
