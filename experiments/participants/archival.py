"""Published responses: a design takes some of their trials, and gets the responses to these and no others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import ceil
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.conditions import without_condition
from lakatos.experiments.data_sets import data_set_of, data_sets_of
from lakatos.experiments.design import design_to_json
from lakatos.experiments.errors import ArchiveExhaustedError, SourceError
from lakatos.experiments.outcomes import SimulatedSchedule, simulated_schedule
from lakatos.experiments.participants.source import (
    Batch,
    ListedSource,
    Recruitment,
    SourceProfile,
    StudySettings,
    check_key,
    recruited_in,
    rng_of,
)
from lakatos.experiments.preregistration import Preregistration, check_preregistered
from lakatos.experiments.task import (
    Design,
    Stimuli,
    StimulusOffer,
    Trials,
    first_schedule,
    identities,
)
from lakatos.traces.digest import Digest, digest_of

PLAYING_GROUP = "playing_group"
"""Attribute of people that numbers those who played together."""


class ArchivalParticipants(ListedSource):
    """Responses of archived experiments, released without replacement and only as preregistered.

    What a person answered to one trial is released together, however often it was shown. Sealed trials are offered to
    nobody; they are for the verdict. People can be sealed, too. Where trials are steps of a schedule they mean nothing
    apart: people are released whole, and people are sealed instead of trials.
    """

    keys: ClassVar[frozenset[str]] = frozenset(
        {
            *("archive", "experiments", "pooled", "file", "columns", "answers", "told"),
            *("closed", "first_option", "time_window"),
        }
    )
    sections: ClassVar[frozenset[str]] = frozenset({"validation"})
    needs: ClassVar[tuple[str, ...]] = ("archive", "file")
    profile: ClassVar[SourceProfile] = SourceProfile(
        origin="people", brought_by="responses arrive through the inbox", is_archive=True
    )

    def __init__(
        self,
        trials: Sequence[Trials],
        *,
        sealed_share: float = 0.0,
        sealed_participants: float = 0.0,
        seed: int = 0,
        sealed_rows: Mapping[str, Sequence[int]] | None = None,
        identify: Callable[[Stimuli], Sequence[bytes]] | None = None,
        sequential: bool = False,
        simulate: Callable[[Trials, np.random.Generator], SimulatedSchedule] | None = None,
    ) -> None:
        """Make a source of published responses, part of which may stay sealed.

        Args:
            trials: Archived experiments, each with a name of its own.
            sealed_share: Share of all distinct trials that are sealed, spread evenly over the experiments. Trials that
                are equal in several experiments are sealed in all of them or in none.
            sealed_participants: Share of each experiment's participants all of whose responses are sealed; where they
                have an attribute ``playing_group``, of its groups, since those who play together tell of each other.
            seed: Chooses the sealed trials and people, and the people where a design asks for fewer than there are.
            sealed_rows: Rows of the stimuli to seal by experiment, exactly these, instead of a share.
            identify: A key for every trial; trials with equal keys, such as mirror images, are sealed together. The
                trial itself by default.
            sequential: Whether trials are steps of a schedule; ``sealed_share`` is then a share of each experiment's
                people.
            simulate: What one simulated participant goes through, from the responses of an experiment that are not
                sealed.

        Raises:
            SourceError: Two experiments have one name, or what is to be sealed makes no sense.
        """
        self.trials = {item.experiment: item for item in trials}
        if len(self.trials) != len(trials):
            raise SourceError(
                "two archived experiments have the same name; give each a name of its own."
            )
        self.seed, self.sequential = seed, sequential
        self._answered = {name: _answered(item) for name, item in self.trials.items()}
        self._sealed_participants = {
            name: np.zeros(len(answered), dtype=bool) for name, answered in self._answered.items()
        }
        if sequential and sealed_rows is None:
            sealed_share, sealed_participants = 0.0, sealed_share
        if sealed_participants and any(item.pooled for item in trials):
            raise SourceError(
                f"sealed_participants={sealed_participants}: these responses do not identify participants, so "
                "that none can be sealed. Seal trials instead, by sealed_share."
            )
        for name, people in self._sealed_participants.items():
            rng = rng_of(seed, "sealed people", name)
            people[:] = _draw_people(self.trials[name], sealed_participants, rng)
        if sealed_rows is None:
            self._sealed = _choose_sealed(
                trials, sealed_share, seed, identify or (lambda stimuli: stimuli.keys)
            )
        else:
            self._sealed = _given_sealed(self.trials, sealed_rows)
        self._unused = {
            name: answered & ~self._sealed[name] & ~self._sealed_participants[name][:, None]
            for name, answered in self._answered.items()
        }
        self._simulated = {
            name: simulate(self._open(name), rng_of(seed, "outcomes", name))
            if simulate
            else SimulatedSchedule()
            for name in self.trials
        }
        self.n_answers = sum(int(item.count.sum()) for item in trials)
        self.n_open = sum(
            int(item.count[~self._is_sealed(name)[item.participant, item.trial]].sum())
            for name, item in self.trials.items()
        )
        self._released: dict[Digest, NDArray[np.bool_]] = {}
        self._rows_of: dict[Digest, list[int]] = {}
        self._keys: dict[Digest, Digest] = {}
        self._recruited: dict[Digest, Design] = {}
        self._closed: set[Digest] = set()
        self._data_sets_asked: set[str] = set()

    def offers(self, rng: np.random.Generator, n_most: int) -> Sequence[StimulusOffer]:
        """One offer for each experiment with unused responses to open trials; see `_first_asked`."""
        offers = []
        for name in self._first_asked():
            unused = self._unused[name]
            rows = np.flatnonzero(unused.any(axis=0))
            if len(rows) == 0:
                continue
            if len(rows) > n_most and not self.sequential:
                rows = np.sort(rng.choice(rows, size=n_most, replace=False))
            trials = self.trials[name]
            open_rows = unused[trials.participant, trials.trial] & np.isin(trials.trial, rows)
            n_answers = trials.count[open_rows].sum()
            n_people = int(unused[:, rows].any(axis=1).sum())
            n_responses = None if self.sequential else _n_asked(trials, open_rows, rows)
            shown = trials.stimuli.take(rows)
            of_several = self.sequential and len(first_schedule(shown)) < len(shown)
            offers.append(
                StimulusOffer(
                    archive=name,
                    stimuli=shown,
                    n_participants=max(round(n_answers / len(rows)), 1)
                    if trials.pooled
                    else n_people,
                    # People may have seen different trials; the mean keeps a power check from counting too many.
                    repetitions=1
                    if trials.pooled
                    else max(round(n_answers / (n_people * len(rows))), 1),
                    pooled=trials.pooled,
                    asked=n_responses,
                    n_answers=int(n_answers) if of_several else 0,
                    simulated=self._simulated[name].stimuli,
                    lacks_outcomes=self._simulated[name].lacks_outcomes,
                )
            )
        return offers

    def _first_asked(self) -> list[str]:
        """Experiments that may be asked now: of data sets of which none was asked yet, as long as there are such.

        Theories are compared by what they predict for each data set from the others, so that none may stay out.
        """
        unasked = [name for name in self.trials if data_set_of(name) not in self._data_sets_asked]
        return unasked if data_sets_of(self.trials) and unasked else list(self.trials)

    def _open(self, name: str) -> Trials:
        """The responses of an experiment that are not sealed."""
        trials, is_open = self.trials[name], ~self._is_sealed(name)
        return restrict(trials, is_open, range(len(trials.stimuli)), name)

    def _is_sealed(self, name: str) -> NDArray[np.bool_]:
        """``(n_participants, n_trials)`` whether a response is sealed."""
        return np.asarray(self._sealed[name] | self._sealed_participants[name][:, None])

    def recruit(self, preregistration: Preregistration, design: Design, key: Digest) -> Recruitment:
        """Release the responses to ``design``; see `ParticipantSource`."""
        check_preregistered(preregistration, design)
        digest = digest_of(design_to_json(design))
        if key in self._recruited:
            check_key(key, self._recruited[key].name, design)
        if self._keys.get(digest, key) != key:
            raise ArchiveExhaustedError(
                f"the answers to {design.name!r} were released to another recruitment."
            )
        self.mark_released(design)
        self._keys[digest] = key
        self._recruited[key] = design
        trials, released = self.trials[design.archive], self._released[digest]
        n_people = trials.n_people if trials.pooled else int(released.any(axis=1).sum())
        return Recruitment(key, design.name, n_people)

    def collect(self, recruitment: Recruitment, n_participants: int) -> Batch:
        """The released responses as one table; see `ParticipantSource`."""
        if recruitment.key in self._closed:
            return Batch(())
        design = recruited_in(self._recruited, recruitment)
        digest = digest_of(design_to_json(design))
        released, rows = self._released[digest], self._rows_of[digest]
        table = restrict(self.trials[design.archive], released, rows, design.name)
        return Batch((table.to_json(),))

    @classmethod
    def of_study(cls, study: StudySettings) -> Self:
        """The people of the archive that a study names."""
        return cls(
            study.trials(),
            # A trial is sealed in all its conditions or in none.
            identify=lambda stimuli: identities(study.domain, without_condition(stimuli)),
            sequential=study.domain.sequential,
            sealed_share=study.validation["sealed_share"],
            sealed_participants=study.validation["sealed_participants"],
            seed=study.seed,
            sealed_rows=study.sealed_rows,
            simulate=partial(simulated_schedule, study.domain),
        )

    def want(self, recruitment: Recruitment, n_participants: int) -> None:
        """Nobody: whoever answered, answered before."""
        if n_participants > recruitment.n_participants:
            raise SourceError(
                f"{recruitment.experiment}: an archive has no more people; ask for none in their place."
            )

    def close(self, recruitment: Recruitment) -> None:
        """Ask for no more; what was released stays released."""
        self._closed.add(recruitment.key)

    def mark_released(self, design: Design) -> None:
        """Take the responses to ``design`` out of what is left; once only, however often it is noted.

        Raises:
            SourceError: The archive has no such experiment, or a trial is unknown, sealed or asked twice.
            ArchiveExhaustedError: The responses to a trial are used up.
        """
        digest = digest_of(design_to_json(design))
        if digest in self._released:
            return
        rows = self._rows(design)
        unused = self._unused[design.archive]
        used_up = [place for place, row in enumerate(rows) if not unused[:, row].any()]
        if used_up:
            raise ArchiveExhaustedError(
                f"{design.name}: {design.archive} has no unused answers to trial {used_up[0]} of the design"
                + (f" and {len(used_up) - 1} others" if len(used_up) > 1 else "")
                + ". Design the experiment from what the source offers now."
            )
        is_presented = np.zeros(unused.shape[1], dtype=bool)
        is_presented[rows] = True
        released = unused & is_presented
        if not self.trials[design.archive].pooled:
            people = rng_of(self.seed, "people", design.archive).permutation(len(unused))
            most_first = people[np.argsort(-released[people].sum(axis=1), kind="stable")]
            released[most_first[design.n_participants :]] = False
        self._released[digest], self._rows_of[digest] = released, rows
        self._data_sets_asked.add(data_set_of(design.archive))
        self._unused[design.archive] = unused & ~released

    def open(self) -> Sequence[Trials]:
        """Responses that are neither sealed nor released."""
        return self._hidden(self._unused)

    def sealed(self) -> Sequence[Trials]:
        """Other people's responses to the sealed trials; where trials are steps, all responses of sealed people."""
        if self.sequential:
            return self._hidden(self._people(1))
        people = self._people(0)
        return self._hidden({name: rows & people[name] for name, rows in self._sealed.items()})

    def sealed_participants(self) -> Sequence[Trials]:
        """All responses of the sealed people; nobody's where trials are steps, whose people `sealed` tells."""
        return [] if self.sequential else self._hidden(self._people(1))

    def _people(self, sealed: int) -> dict[str, NDArray[np.bool_]]:
        """``(n_participants, 1)`` whether somebody is sealed, or is not."""
        return {name: (own == sealed)[:, None] for name, own in self._sealed_participants.items()}

    def _hidden(self, wanted: Mapping[str, NDArray[np.bool_]]) -> list[Trials]:
        """The responses at ``wanted``, by experiment; of those that have any."""
        found = {name: self._answered[name] & own for name, own in wanted.items()}
        return [
            restrict(self.trials[name], own, np.flatnonzero(own.any(axis=0)).tolist(), name)
            for name, own in found.items()
            if own.any()
        ]

    def _rows(self, design: Design) -> list[int]:
        """Row of each trial of the design in the archive."""
        trials = self.trials.get(design.archive)
        if trials is None:
            raise SourceError(
                f"{design.name}: there is no archived experiment {design.archive!r}, only {', '.join(self.trials)}."
            )
        keys = trials.stimuli.keys
        if self.sequential:  # asked whole; several schedules may have equal steps
            offered = np.flatnonzero(self._unused[design.archive].any(axis=0)).tolist()
            if [keys[row] for row in offered] == list(design.stimuli.keys):
                return offered
        row_of = {key: row for row, key in enumerate(keys)}
        try:
            rows = [row_of[key] for key in design.stimuli.keys]
        except KeyError:
            place = next(
                place for place, key in enumerate(design.stimuli.keys) if key not in row_of
            )
            raise SourceError(
                f"{design.name}: no participant of {design.archive} responded to trial {place} of the design. "
                "Choose among the trials that the source offers."
            ) from None
        sealed = [place for place, row in enumerate(rows) if self._sealed[design.archive][row]]
        if sealed:
            raise SourceError(
                f"{design.name}: trial {sealed[0]} of the design is sealed until the verdict."
            )
        if len(set(rows)) != len(rows):
            raise SourceError(
                f"{design.name}: the design holds a trial twice; ask for repetitions instead."
            )
        return rows


def trials_to_use_all(n_trials: Sequence[int], n_designs: int) -> int:
    """The fewest trials of a design with which so many designs ask for all trials of all experiments.

    Args:
        n_trials: Different trials of each experiment; a design asks for those of one.
        n_designs: At least one for each experiment.
    """
    return next(
        size
        for size in range(1, max(n_trials) + 1)
        if sum(ceil(number / size) for number in n_trials) <= n_designs
    )


def _draw_people(trials: Trials, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """``(n_participants,)`` a share of the people by lot, or of their groups."""
    alone = np.arange(trials.n_participants)
    group = np.unique(trials.attributes.get(PLAYING_GROUP, alone), return_inverse=True)[1]
    n_groups = int(group.max(initial=-1)) + 1
    order = rng.permutation(n_groups)
    return np.isin(group, order[: round(share * n_groups)])


def _n_asked(trials: Trials, wanted: NDArray[np.bool_], rows: NDArray[Any]) -> NDArray[np.int32]:
    """``(n_people, len(rows))`` responses of each person at ``wanted`` rows of the table; pooled ones are of one."""
    place = np.full(len(trials.stimuli), -1)
    place[rows] = np.arange(len(rows))
    people, who = np.unique(trials.participant[wanted], return_inverse=True)
    table = np.zeros((len(people), len(rows)), dtype=np.int32)
    np.add.at(table, (who, place[trials.trial[wanted]]), trials.count[wanted])
    return table


def _answered(trials: Trials) -> NDArray[np.bool_]:
    """``(n_participants, n_trials)`` whether a person answered a trial."""
    table = np.zeros((trials.n_participants, len(trials.stimuli)), dtype=bool)
    given = np.asarray(trials.count) > 0
    table[trials.participant[given], trials.trial[given]] = True
    return table


def restrict(
    trials: Trials, wanted: NDArray[np.bool_], rows: Sequence[int], experiment: str
) -> Trials:
    """The responses at ``wanted``, ``(n_participants, n_trials)``, with the stimuli at ``rows``, people renumbered."""
    place = np.full(len(trials.stimuli), -1)
    place[list(rows)] = np.arange(len(rows))
    keep = wanted[trials.participant, trials.trial]
    people, participant = np.unique(trials.participant[keep], return_inverse=True)
    return Trials(
        experiment=experiment,
        stimuli=trials.stimuli.take(rows),
        participant=participant.astype(np.int64),
        trial=place[trials.trial[keep]],
        response=trials.response[keep],
        count=trials.count[keep],
        n_options=trials.n_options,
        pooled=trials.pooled,
        n_people=trials.n_people if trials.pooled else len(people),
        feedback={name: column[keep] for name, column in trials.feedback.items()},
        attributes={name: column[people] for name, column in trials.attributes.items()},
    )


def _choose_sealed(
    trials: Sequence[Trials],
    share: float,
    seed: int,
    identify: Callable[[Stimuli], Sequence[bytes]],
) -> dict[str, NDArray[np.bool_]]:
    """Seal ``share`` of the distinct trials at random, spread evenly; every experiment keeps an open trial."""
    if not 0 <= share < 1:
        raise SourceError(f"sealed_share={share}: give a share from 0 to below 1.")
    rng = rng_of(seed, "sealed")
    keys_of = {item.experiment: tuple(identify(item.stimuli)) for item in trials}
    # Trials count where they occur first.
    seen: set[bytes] = set()
    own: list[list[bytes]] = []
    for item in trials:
        distinct = dict.fromkeys(keys_of[item.experiment])
        own.append([key for key in distinct if key not in seen])
        seen.update(own[-1])
    # Largest remainders make up the total; equal remainders are taken in random order.
    exact = np.array([share * len(keys) for keys in own])
    numbers = np.floor(exact).astype(int)
    remainders = np.round(exact - numbers, 9)
    order = rng.permutation(len(own))
    order = order[np.argsort(-remainders[order], kind="stable")]
    n_left = round(float(exact.sum())) - int(numbers.sum())
    numbers[order[:n_left]] += 1
    sealed: set[bytes] = set()
    for keys, number in zip(own, numbers, strict=True):
        most = max(len(keys) - 1, 0)
        chosen = rng.permutation(len(keys))[: min(number, most)]
        sealed.update(keys[place] for place in chosen)
    # What is sealed elsewhere may be all that an experiment has.
    for item in trials:
        every = keys_of[item.experiment]
        if sealed.issuperset(every):
            sealed.discard(every[int(rng.integers(len(every)))])
    found = {}
    for name, shown in keys_of.items():
        found[name] = np.array([key in sealed for key in shown], dtype=bool)
    return found


def _given_sealed(
    trials: Mapping[str, Trials], sealed_rows: Mapping[str, Sequence[int]]
) -> dict[str, NDArray[np.bool_]]:
    sealed = {name: np.zeros(len(item.stimuli), dtype=bool) for name, item in trials.items()}
    for name, rows in sealed_rows.items():
        if name not in sealed:
            raise SourceError(f"sealed_rows names {name!r}, which the archive does not have.")
        if any(not 0 <= row < len(sealed[name]) for row in rows):
            raise SourceError(f"sealed_rows of {name!r} go beyond its {len(sealed[name])} trials.")
        sealed[name][list(rows)] = True
    return sealed
