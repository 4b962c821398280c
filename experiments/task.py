"""Stimuli, responses, domains and designs of experiments.

A *stimulus* is one presented trial. Stimuli of one experiment are held together as named arrays whose first axis is
``n_trials``, so that a theory evaluates all of them at once. Responses are a long table, one row per response, or per
group of equal responses if only published counts are known. If an event follows a response, such as a reward, each row
also holds this *feedback*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.errors import StimuliError, TrialsError
from lakatos.traces.digest import Digest, digest_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = NDArray[Any]
MOST_COUNTED = 2**23
"""People times trials times options that are counted in one table."""


@dataclass(frozen=True)
class Stimuli:
    """Distinct trials as arrays, each with first axis ``n_trials``.

    Two sets of stimuli can be concatenated when their arrays agree on all other axes.
    """

    arrays: Mapping[str, Array]

    def __post_init__(self) -> None:
        lengths = {name: len(array) for name, array in self.arrays.items()}
        if not lengths or len(set(lengths.values())) != 1:
            raise StimuliError(
                f"stimulus arrays disagree on n_trials: {lengths}. Give every array one row per trial."
            )

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values())))

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]

    def take(self, rows: Array | Sequence[int]) -> Stimuli:
        """The stimuli at ``rows``, in that order."""
        index = np.asarray(rows, dtype=np.intp)
        return Stimuli({name: array[index] for name, array in self.arrays.items()})

    def some(self, n_most: int, rng: np.random.Generator) -> Stimuli:
        """Return all trials, or ``n_most`` random ones, in their order."""
        if len(self) <= n_most:
            return self
        return self.take(np.sort(rng.choice(len(self), n_most, replace=False)))

    def available(self, n_options: int) -> Array:
        """Availability of each option, ``(n_trials, n_options)``; without an array ``available``, all options."""
        there = self.arrays.get("available")
        return (
            np.ones((len(self), n_options), dtype=bool) if there is None else np.asarray(there) > 0
        )

    def last_available(self, n_options: int) -> int:
        """Index of the last option that any trial offers; its shares are shown and compared."""
        return int(np.flatnonzero(self.available(n_options).any(axis=0))[-1])

    @cached_property
    def keys(self) -> tuple[bytes, ...]:
        """One key per trial; equal keys mean equal trials."""
        columns = [
            np.ascontiguousarray(
                np.asarray(self.arrays[name], dtype=np.float64).reshape(len(self), -1)
            )
            for name in sorted(self.arrays)
        ]
        table = np.concatenate(columns, axis=1) + 0.0  # turns -0.0 into 0.0
        return tuple(row.tobytes() for row in table)

    def to_json(self) -> dict[str, Any]:
        """Write the trials as plain lists, for artifacts."""
        return {name: np.asarray(array).tolist() for name, array in sorted(self.arrays.items())}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Stimuli:
        """Inverse of `to_json`; numbers become float64."""
        return cls({name: np.asarray(rows, dtype=np.float64) for name, rows in value.items()})

    @classmethod
    def in_few_parts(cls, parts: Sequence[Stimuli]) -> list[Stimuli]:
        """The same trials in the same order, neighbours whose arrays have one shape as one part."""
        groups: list[list[Stimuli]] = []
        for part in parts:
            if groups and _form_of(part) == _form_of(groups[-1][0]):
                groups[-1].append(part)
            else:
                groups.append([part])
        return [cls.concatenate(group) for group in groups]

    @classmethod
    def concatenate(cls, parts: Sequence[Stimuli]) -> Stimuli:
        """All parts one after another."""
        return cls(
            {name: np.concatenate([part[name] for part in parts]) for name in parts[0].arrays}
        )


def _form_of(stimuli: Stimuli) -> dict[str, tuple[object, ...]]:
    """Names and shapes that must be equal in sets that are concatenated."""
    return {name: (array.shape[1:], array.dtype.kind) for name, array in stimuli.arrays.items()}


@dataclass(frozen=True)
class Trials:
    """Responses of participants in one experiment.

    Rows are responses in the order of presentation within a participant. Where only published counts are known,
    ``count`` is the number of equal responses behind a row and ``pooled`` is true: participants are not identified.
    """

    experiment: str
    stimuli: Stimuli
    participant: Array
    """``(n_rows,)`` index of the participant, 0-based within the experiment; 0 throughout when pooled."""
    trial: Array
    """``(n_rows,)`` index into ``stimuli``."""
    response: Array
    """``(n_rows,)`` index of the chosen option."""
    count: Array
    """``(n_rows,)`` number of equal responses behind the row."""
    n_options: int = 2
    pooled: bool = False
    n_people: int = 0
    """Number of participants behind the responses; for pooled data as published."""
    feedback: Mapping[str, Array] = field(default_factory=dict)
    """Feedback after each response, by name, each ``(n_rows,)``."""
    attributes: Mapping[str, Array] = field(default_factory=dict)
    """Attributes of participants by name, each ``(n_participants,)``: numbers such as ``age_years``, or words."""
    by_language_model: bool = False
    """Whether a language model gave the responses, in place of participants."""

    def __post_init__(self) -> None:
        n_rows = len(self.participant)
        for name in ("trial", "response", "count"):
            if len(getattr(self, name)) != n_rows:
                raise TrialsError(
                    f"{self.experiment}: column {name!r} has {len(getattr(self, name))} rows, not {n_rows}."
                )
        for name, column in self.feedback.items():
            if np.shape(column) != (n_rows,) or not np.isfinite(column).all():
                raise TrialsError(
                    f"{self.experiment}: the feedback {name!r} must be a finite number for each of {n_rows} answers."
                )
        for name, column in self.attributes.items():
            is_known = np.asarray(column).dtype.kind == "U" or np.isfinite(column).all()
            if np.shape(column) != (self.n_participants,) or not is_known:
                raise TrialsError(
                    f"{self.experiment}: the attribute {name!r} must be a finite number, or a word, for each of "
                    f"{self.n_participants} people."
                )
        whole = {
            name: np.asarray(getattr(self, name)) for name in ("participant", "trial", "response")
        }
        missing = np.zeros(n_rows, dtype=bool)
        for column in whole.values():
            missing |= (
                ~np.isfinite(column) if column.dtype.kind == "f" else np.zeros(n_rows, dtype=bool)
            )
        self._refuse(
            missing | (whole["response"] < 0), "has no response; leave rows without an answer out"
        )
        self._refuse(
            whole["response"] >= self.n_options,
            f"holds an unknown option; responses are 0 to {self.n_options - 1}, the place of the option chosen",
        )
        self._refuse(
            (whole["trial"] < 0) | (whole["trial"] >= len(self.stimuli)),
            f"names a trial outside 0..{len(self.stimuli) - 1}; give the row of the stimuli that was shown",
        )
        self._refuse(whole["participant"] < 0, "names nobody; number people from 0")
        self._refuse(np.asarray(self.count) < 0, "stands for fewer than 0 answers")

    def _refuse(self, wrong: Array, words: str) -> None:
        """Raise `TrialsError` with the first row that is wrong."""
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            what = f"participant {self.participant[row]}, trial {self.trial[row]}, response {self.response[row]}"
            raise TrialsError(f"{self.experiment}: row {row} ({what}) {words}.")

    def check_comparable(self) -> None:
        """Raise `TrialsError` if there is one participant or one trial only, so that every difference is uncertain."""
        n_answered = int((self.totals.sum(axis=1) > 0).sum())
        if not self.pooled and self.n_participants < 2:
            raise TrialsError(
                f"{self.experiment} has the responses of {self.n_participants} participant; the "
                "standard error of a difference "
                "between theories needs at least 2. Collect more, or leave this experiment out."
            )
        if n_answered < 2:
            raise TrialsError(
                f"{self.experiment}: answers to {n_answered} trial; theories cannot be compared on fewer than 2 "
                "different ones. Ask more, or leave this experiment out."
            )

    @property
    def n_participants(self) -> int:
        """Number of identified participants; 1 when pooled."""
        return 0 if len(self.participant) == 0 else int(self.participant.max()) + 1

    @property
    def attributes_in_words(self) -> dict[str, tuple[str, ...]]:
        """Attributes of participants as text, by name, in the order of participants."""
        return {
            name: tuple(item if isinstance(item, str) else f"{item:g}" for item in column.tolist())
            for name, column in self.attributes.items()
        }

    @property
    def n_responses(self) -> int:
        """Number of all responses; a row of counts stands for several."""
        return int(self.count.sum())

    def of_people(self, chosen: Array) -> Trials:
        """Return the responses of some participants, ``(n_participants,)`` true for each; they are numbered anew."""
        kept = np.asarray(chosen)[self.participant]
        number = np.cumsum(chosen) - 1
        return replace(
            self,
            participant=number[self.participant[kept]],
            trial=self.trial[kept],
            response=self.response[kept],
            count=self.count[kept],
            feedback={name: column[kept] for name, column in self.feedback.items()},
            attributes={name: column[chosen] for name, column in self.attributes.items()},
        )

    def in_counts(self) -> Trials:
        """Return the same responses as counts, without participants."""
        totals = self.totals
        trial, response = (totals > 0).nonzero()
        return Trials(
            experiment=self.experiment,
            stimuli=self.stimuli,
            participant=np.zeros(len(trial), dtype=np.int64),
            trial=trial,
            response=response,
            count=totals[trial, response].astype(np.int64),
            n_options=self.n_options,
            pooled=True,
            n_people=self.n_people or self.n_participants,
            by_language_model=self.by_language_model,
        )

    @cached_property
    def digest(self) -> Digest:
        """Digest of the table; equal tables have equal digests."""
        return digest_of(self.to_json())

    @cached_property
    def counts(self) -> Array:
        """Number of choices of each option by each participant: ``(n_participants, n_trials, n_options)``."""
        table = np.zeros((self.n_participants, len(self.stimuli), self.n_options))
        np.add.at(table, (self.participant, self.trial, self.response), self.count)
        return table

    def counts_of_some(self) -> Iterator[tuple[slice, Array]]:
        """Participants in parts whose `counts` need little memory, with these counts; one part for most data."""
        n_cells = len(self.stimuli) * self.n_options
        n_people = max(1, MOST_COUNTED // max(n_cells, 1))
        if n_people >= self.n_participants:
            yield slice(0, self.n_participants), self.counts
            return
        whole = self.sparse_counts
        for start in range(0, self.n_participants, n_people):
            part = whole[start : start + n_people].toarray()
            yield (
                slice(start, start + len(part)),
                part.reshape(len(part), len(self.stimuli), self.n_options),
            )

    @cached_property
    def sparse_counts(self) -> csr_array:
        """`counts` as a sparse matrix, ``(n_participants, n_trials * n_options)``."""
        from scipy.sparse import csr_array

        cell = np.asarray(self.trial) * self.n_options + self.response
        shape = (self.n_participants, len(self.stimuli) * self.n_options)
        answers = np.asarray(self.count, dtype=np.float64)
        return csr_array((answers, (self.participant, cell)), shape=shape)

    @cached_property
    def totals(self) -> Array:
        """Number of choices of each option by all participants: ``(n_trials, n_options)``."""
        table = np.zeros((len(self.stimuli), self.n_options))
        np.add.at(table, (self.trial, self.response), self.count)
        return table

    @cached_property
    def n_choices(self) -> Array:
        """Number of responses of each participant: ``(n_participants,)``."""
        return np.bincount(self.participant, weights=self.count, minlength=self.n_participants)

    @cached_property
    def n_people_asked(self) -> Array:
        """Number of participants with a response to each trial, if they are identified: ``(n_trials,)``."""
        there = self.count > 0
        n_trials = len(self.stimuli)
        once = np.unique(self.participant[there].astype(np.int64) * n_trials + self.trial[there])
        return np.bincount(once % n_trials, minlength=n_trials)

    @cached_property
    def proportions(self) -> Array:
        """``(n_trials, n_options)`` share of responses; NaN for a trial without a response."""
        totals = self.totals
        with np.errstate(invalid="ignore"):
            return totals / totals.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]

    @cached_property
    def sequences(self) -> AnswerSequences:
        """The responses of each participant in the order of presentation.

        Raises:
            TrialsError: Only counts are known, so that the order is unknown.
        """
        if self.pooled or (self.count != 1).any():
            raise TrialsError(
                f"{self.experiment}: these answers are published as counts; what depends on the order of a person's "
                "answers cannot be computed from them. Use single answers."
            )
        lengths = np.bincount(self.participant, minlength=self.n_participants)
        order = np.argsort(self.participant, kind="stable")
        step = np.arange(len(order)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        place = (self.participant[order], step)
        shape = (self.n_participants, int(lengths.max(initial=0)))

        def table(column: Array, empty: float) -> Array:
            filled = np.full(shape, empty, dtype=np.asarray(column).dtype)
            filled[place] = np.asarray(column)[order]
            return filled

        return AnswerSequences(
            trial=table(self.trial, -1),
            response=table(self.response, 0),
            feedback={
                name: table(np.asarray(column, dtype=np.float64), 0.0)
                for name, column in self.feedback.items()
            },
        )

    def to_json(self) -> dict[str, Any]:
        """Write the table as plain lists, for artifacts."""
        optional = {"feedback": self.feedback, "attributes": self.attributes}
        return {
            **{name: _as_lists(columns) for name, columns in optional.items() if columns},
            **({"by_language_model": True} if self.by_language_model else {}),
            "experiment": self.experiment,
            "stimuli": self.stimuli.to_json(),
            "participant": self.participant.tolist(),
            "trial": self.trial.tolist(),
            "response": self.response.tolist(),
            "count": self.count.tolist(),
            "n_options": self.n_options,
            "pooled": self.pooled,
            "n_people": self.n_people,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Trials:
        """Read the table that `to_json` wrote."""
        columns = {
            name: np.asarray(value[name], dtype=np.int64)
            for name in ("participant", "trial", "response", "count")
        }
        return cls(
            experiment=value["experiment"],
            stimuli=Stimuli.from_json(value["stimuli"]),
            **columns,
            n_options=value["n_options"],
            pooled=value["pooled"],
            n_people=value["n_people"],
            by_language_model=value.get("by_language_model", False),
            feedback=_from_lists(value.get("feedback", {})),
            attributes={
                name: np.asarray(column) for name, column in value.get("attributes", {}).items()
            },
        )


def _as_lists(columns: Mapping[str, Array]) -> dict[str, list[float]]:
    return {name: np.asarray(column).tolist() for name, column in sorted(columns.items())}


def _from_lists(lists: Mapping[str, list[float]]) -> dict[str, Array]:
    return {name: np.asarray(column, dtype=np.float64) for name, column in lists.items()}


def check_unmixed(trials: Iterable[Trials]) -> None:
    """Raise `TrialsError` if responses of a language model stand beside responses of participants."""
    by_model = {item.by_language_model: item.experiment for item in trials}
    if len(by_model) > 1:
        raise TrialsError(
            f"experiment {by_model[True]} was answered by a language model and {by_model[False]} was not; one score "
            "never mixes the two. Score them apart, and compare the scores."
        )


@dataclass(frozen=True)
class AnswerSequences:
    """Responses of each participant in the order of presentation, padded to the longest."""

    trial: Array
    """``(n_participants, n_steps)`` row of the stimuli, -1 after a participant's last response."""
    response: Array
    """``(n_participants, n_steps)`` index of the chosen option, 0 where there is none."""
    feedback: Mapping[str, Array]
    """``(n_participants, n_steps)`` each, 0 where there is none."""


@dataclass(frozen=True)
class Design:
    """Distinct stimuli that will be presented, the number of presentations, and the number of participants."""

    name: str
    """Name of the experiment, unique in its campaign."""
    stimuli: Stimuli
    repetitions: int
    """Number of presentations of each stimulus to each participant."""
    n_participants: int
    random_coverage: tuple[int, ...] = ()
    """Rows of ``stimuli`` that were drawn at random, not for their information."""
    information: tuple[float, ...] = ()
    """``(n_trials,)`` expected information gain at the moment of selection, in nats; NaN for random trials."""
    archive: str = ""
    """Archived experiment with responses to these stimuli; empty for new participants."""
    conditions: tuple[str, ...] = ()
    """Names of the conditions within participants, in which each trial is presented; see `experiments.conditions`."""
    orders: tuple[tuple[int, ...], ...] = ()
    """Orders of the blocks, as places of conditions; participants have them in turn."""

    @property
    def n_presentations(self) -> int:
        """Number of trials for each participant."""
        return len(self.stimuli) * self.repetitions


@dataclass(frozen=True)
class StimulusOffer:
    """Stimuli from which an experiment can be designed, all available for the same participants."""

    archive: str
    """Name of the archived experiment; empty for new participants, to whom all stimuli can be presented."""
    stimuli: Stimuli
    n_participants: int
    """Number of available participants; 0 for no limit."""
    repetitions: int = 0
    """Approximate number of archived presentations of each trial per participant; 0 for no limit."""
    pooled: bool = False
    """Whether responses will be counts without participants."""
    asked: Array | None = field(default=None, compare=False, repr=False)
    """``(n_people, n_trials)`` number of archived responses of each participant to each trial, in one row if they are
    pooled; None for new participants."""
    n_answers: int = 0
    """Number of archived responses, where participants went through one of several schedules; else 0."""
    simulated: Stimuli | None = field(default=None, compare=False, repr=False)
    """Schedule of one simulated participant, with estimated outcomes, where the archive does not hold all of them."""
    lacks_outcomes: bool = False
    """Whether the archive neither holds them nor allows estimating them."""

    def of_rows(self, rows: Array) -> StimulusOffer:
        """Return the offer with some of its stimuli."""
        presented = None if self.asked is None else self.asked[:, rows]
        return replace(self, stimuli=self.stimuli.take(rows), asked=presented)

    def answers_to(self, stimuli: Stimuli) -> Array | None:
        """``(n_people, n_trials)`` numbers of responses to some of the stimuli, for participants who have any."""
        if self.asked is None:
            return None
        row_of = {key: row for row, key in enumerate(self.stimuli.keys)}
        presented = self.asked[:, [row_of[key] for key in stimuli.keys]]
        return np.asarray(presented[presented.any(axis=1)])


def first_schedule(stimuli: Stimuli) -> Stimuli:
    """The first of the schedules of a table that stand one after the other, each from position 0 on; all of one."""
    position = stimuli.arrays.get("position", np.arange(len(stimuli)))
    begins = np.flatnonzero(position == 0)
    return stimuli.take(range(begins[1])) if len(begins) > 1 else stimuli


def identities(domain: Domain, stimuli: Stimuli) -> tuple[bytes, ...]:
    """One key per trial; trials that differ only in the sides of their options have equal keys."""
    return tuple(map(min, stimuli.keys, domain.swap_sides(stimuli).keys))


def keeps_places(domain: Domain) -> bool:
    """Return whether options are always shown in one order, as numbers are."""
    return bool(getattr(domain, "keeps_places", False))


def seen_trial(domain: Domain, stimuli: Stimuli, row: int, before: Mapping[str, float]) -> Stimuli:
    """One trial as a participant sees it after the feedback of the trial before; see `Domain.shown`."""
    arrays = stimuli.take([row]).arrays
    shown = domain.shown(arrays, {name: np.full((1, 1), value) for name, value in before.items()})
    by_draw = {name: np.asarray(array)[0] for name, array in shown.items() if name not in arrays}
    return Stimuli({**arrays, **by_draw})


def with_random_sides(domain: Domain, stimuli: Stimuli, rng: np.random.Generator) -> Stimuli:
    """Exchange the options of each trial at random, so that a side carries no information about an option.

    Steps of a schedule stay as they are, and so do options that have an order of their own.
    """
    if domain.sequential or keeps_places(domain):
        return stimuli
    turned, swap = domain.swap_sides(stimuli), rng.random(len(stimuli)) < 0.5
    return Stimuli(
        {
            name: np.where(swap.reshape(-1, *[1] * (array.ndim - 1)), turned[name], array)
            for name, array in stimuli.arrays.items()
        }
    )


class OneShot:
    """Base of domains without feedback whose trials may have any order."""

    options: tuple[str, ...]
    sequential: bool = False

    def space(self, settings: Mapping[str, Any]) -> Stimuli:
        """See `Domain.space`; each domain has its own."""
        raise NotImplementedError

    def candidates(
        self, settings: Mapping[str, Any], rng: np.random.Generator, n_most: int
    ) -> Stimuli:
        """Trials of the space: all of them, or a random ``n_most``; see `Domain.candidates`.

        A domain whose spaces are too large to be listed overrides this.
        """
        return self.space(settings).some(n_most, rng)

    def n_options(self, stimuli: Stimuli) -> int:
        """The number of labels."""
        return len(self.options)

    def sizes(self, stimuli: Stimuli) -> Array:
        """All trials fill their arrays; see `Domain.sizes`."""
        return np.ones(len(stimuli), dtype=np.intp)

    def shown(
        self, arrays: Mapping[str, Array], before: Mapping[str, Array]
    ) -> Mapping[str, Array]:
        """The stimuli as they are; see `Domain.shown`."""
        return arrays

    def feedback(
        self, arrays: Mapping[str, Array], shown: Mapping[str, Array], response: Array
    ) -> dict[str, Array]:
        """Nothing follows a response; see `Domain.feedback`."""
        return {}


class Domain(Protocol):
    """A kind of task: its stimuli, which of them are admissible, their appearance and their features."""

    name: str
    options: tuple[str, ...]
    """Labels in the order of response codes, for example ``("A", "B")``."""

    def n_options(self, stimuli: Stimuli) -> int:
        """Number of options of each of these trials."""

    def sizes(self, stimuli: Stimuli) -> Array:
        """``(n_trials,)`` number of entries of their arrays that trials fill, if shorter ones leave some empty."""

    sequential: bool
    """Whether stimuli are the steps of one schedule, presented to all participants once, in the order of their rows."""

    def shown(
        self, arrays: Mapping[str, Array], before: Mapping[str, Array]
    ) -> Mapping[str, Array]:
        """Arrays of one step that participants, and theories, see.

        Args:
            arrays: The stimuli's arrays at this step, first axis ``n_sequences``; they may hold the feedback of
                each response, which is not shown.
            before: ``(n_draws or 1, n_sequences)`` feedback of the step before; empty at the first step.

        Returns:
            Arrays of the stimuli with first axis ``n_sequences``; further ones, which depend on earlier responses,
            are ``(n_draws or 1, n_sequences, ...)``.
        """

    def feedback(
        self, arrays: Mapping[str, Array], shown: Mapping[str, Array], response: Array
    ) -> dict[str, Array]:
        """Feedback after simulated responses ``(n_draws, n_sequences)``: an array of that shape for each name."""

    def candidates(
        self, settings: Mapping[str, Any], rng: np.random.Generator, n_most: int
    ) -> Stimuli:
        """Admissible stimuli of the space that ``settings`` describe: all of them, or a random ``n_most``."""

    def space(self, settings: Mapping[str, Any]) -> Stimuli:
        """All admissible stimuli of the space; raises `EmptyDesignSpaceError` if there are none."""

    def check(self, stimuli: Stimuli) -> None:
        """Raise `StimuliError` naming the first trial that the domain does not allow."""

    def admits(self, settings: Mapping[str, Any], stimuli: Stimuli) -> Array:
        """``(n_trials,)`` whether trials lie in the ranges of a space, on its levels or between, and are informative.

        Trials are not informative if their options are equal, or (unless the settings admit this) if one option
        dominates the others. Sides do not matter.
        """

    def probes(self, rng: np.random.Generator) -> Sequence[Stimuli]:
        """Stimuli of every shape the domain allows, extremes included, on which a new theory is checked."""

    def features(self, stimuli: Stimuli) -> Mapping[str, Array]:
        """Named ``(n_trials,)`` features by which a diagnosis describes the trials on which a theory fails."""

    def swap_sides(self, stimuli: Stimuli) -> Stimuli:
        """The same trials with the two options exchanged."""

    def picture(self, stimuli: Stimuli, row: int) -> str:
        """One trial as a participant would see it: a self-contained HTML fragment without scripts."""

    def describe(self, stimuli: Stimuli, row: int) -> str:
        """Describe one trial in a line of text."""
