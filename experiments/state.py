"""Knowledge of a run about its experiments and their participants: a fold over the records of this package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from lakatos.experiments.preregistration import Preregistration
from lakatos.experiments.record import (
    AnswersArrived,
    CollectionClosed,
    ConsentAsked,
    DesignChosen,
    MoreAsked,
    PeopleRecruited,
    PersonExcluded,
    PersonWithdrawn,
    SealedOpened,
    SessionHeld,
    TrialsCollected,
)
from lakatos.traces.digest import Digest
from lakatos.traces.state_rule import StateRules, keep_all, keep_by, keep_each, keep_newest
from lakatos.traces.step import Recorded


@dataclass(frozen=True)
class ExperimentsState:
    """Designs, people and answers of a run. Keys of mappings are names of experiments."""

    designs: Mapping[str, Recorded[DesignChosen]] = field(default_factory=dict)
    preregistrations: Mapping[str, Recorded[Preregistration]] = field(default_factory=dict)
    recruited: Mapping[str, Recorded[PeopleRecruited]] = field(default_factory=dict)
    wanted: Mapping[str, int] = field(default_factory=dict)
    """People wanted by now, where more were asked for than planned."""
    consents: tuple[Recorded[ConsentAsked], ...] = ()
    answers: Mapping[str, tuple[Recorded[AnswersArrived], ...]] = field(default_factory=dict)
    """Responses of participants who arrive one by one, in order of arrival."""
    sessions: Mapping[str, tuple[Recorded[SessionHeld], ...]] = field(default_factory=dict)
    """Sessions of a language model in place of participants."""
    excluded: tuple[Recorded[PersonExcluded], ...] = ()
    closed: Mapping[str, Recorded[CollectionClosed]] = field(default_factory=dict)
    """Experiments whose collection ended before all planned participants had completed."""
    withdrawn: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """People who withdrew."""
    collected: Mapping[str, Recorded[TrialsCollected]] = field(default_factory=dict)
    """Collected experiments, in order of collection."""
    sealed: Recorded[SealedOpened] | None = None

    @property
    def tables(self) -> tuple[Digest, ...]:
        """Artifacts with all responses, but for sealed ones."""
        return tuple(item.record.trials for item in self.collected.values())

    def in_order_of_asking(self) -> ExperimentsState:
        """The same, with tables in the order in which people were asked, also where one was made anew later."""
        order = dict.fromkeys([*self.recruited, *self.collected])
        tables = {name: self.collected[name] for name in order if name in self.collected}
        return replace(self, collected=tables)


def _want_more(state: ExperimentsState, item: Recorded[MoreAsked]) -> ExperimentsState:
    record = item.record
    return replace(state, wanted={**state.wanted, record.experiment: record.n_participants})


def _withdraw(state: ExperimentsState, item: Recorded[PersonWithdrawn]) -> ExperimentsState:
    person = item.record.person
    gone = {name: (*state.withdrawn.get(name, ()), person) for name in item.record.experiments}
    return replace(state, withdrawn={**state.withdrawn, **gone})


RULES: Final[StateRules] = {
    DesignChosen: keep_by("designs", "experiment"),
    Preregistration: keep_by("preregistrations", "experiment"),
    PeopleRecruited: keep_by("recruited", "experiment"),
    MoreAsked: _want_more,
    ConsentAsked: keep_all("consents"),
    AnswersArrived: keep_each("answers", "experiment"),
    SessionHeld: keep_each("sessions", "experiment"),
    PersonExcluded: keep_all("excluded"),
    CollectionClosed: keep_by("closed", "experiment"),
    PersonWithdrawn: _withdraw,
    TrialsCollected: keep_by("collected", "experiment"),
    SealedOpened: keep_newest("sealed"),
}
"""Rules of how each record changes the state."""
