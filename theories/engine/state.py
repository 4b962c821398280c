"""Knowledge of a run about its theories: a fold over the records of this package."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from lakatos.theories.engine.record import (
    CompletenessMeasured,
    Diagnosis,
    DrawsLimited,
    EffectsLearned,
    GroupsCompared,
    PopulationRelearned,
    SealedScored,
    SearchFinished,
    TheoriesTold,
    TheoryAdmitted,
    TheoryChecked,
    TheoryFailed,
    TheoryFitted,
    TheoryScored,
)
from lakatos.traces.digest import Digest
from lakatos.traces.state_rule import StateRules, keep_all, keep_by, keep_newest
from lakatos.traces.step import Recorded


@dataclass(frozen=True)
class TheoriesState:
    """Theories of a run, by the digests of their sources; values keep the records' own digests."""

    checked: Mapping[Digest, Recorded[TheoryChecked]] = field(default_factory=dict)
    """Theories that passed their checks, in order of arrival."""
    refused: tuple[Recorded[TheoryChecked], ...] = ()
    failed: tuple[Recorded[TheoryFailed], ...] = ()
    """Theories that passed their checks, and failed on responses."""
    out: Mapping[Digest, Recorded[TheoryChecked]] = field(default_factory=dict)
    """Checks of those that failed on responses, which earlier records still name."""
    draws_limited: Mapping[Digest, Recorded[DrawsLimited]] = field(default_factory=dict)
    """The newest failure of each theory to be scored with more draws."""
    pool: Mapping[Digest, Recorded[TheoryAdmitted]] = field(default_factory=dict)
    """Rivals, in order of admission."""
    fits: Mapping[Digest, Recorded[TheoryFitted]] = field(default_factory=dict)
    """The newest fit of each theory."""
    relearned: Recorded[PopulationRelearned] | None = None
    """The leader's population from all responses, after the verdict."""
    scores: Mapping[tuple[Digest, str], Recorded[TheoryScored]] = field(default_factory=dict)
    """Scores by theory and experiment."""
    sealed_scores: Mapping[Digest, Recorded[SealedScored]] = field(default_factory=dict)
    diagnoses: tuple[Recorded[Diagnosis], ...] = ()
    searches: tuple[Recorded[SearchFinished], ...] = ()
    completeness: Recorded[CompletenessMeasured] | None = None
    """Completeness of the leader and its rivals, at the verdict."""
    told: Recorded[TheoriesTold] | None = None
    """Names, and what is told of the leader, at the verdict."""
    groups: Recorded[GroupsCompared] | None = None
    """Whether the leading theories hold for every group of people."""
    effects: Recorded[EffectsLearned] | None = None
    """Whether the numbers of the leading theories depend on what is known of people."""

    def check_of(self, theory: Digest) -> Recorded[TheoryChecked]:
        """The check that a theory passed, also one that failed on responses later; raises KeyError for others."""
        return self.checked[theory] if theory in self.checked else self.out[theory]

    def is_limited(self, theory: Digest) -> bool:
        """Whether a theory failed to be scored with more draws of the people that it has now."""
        limit = self.draws_limited.get(theory)
        return limit is not None and limit.record.fit == self.fits[theory].digest

    def name(self, theory: Digest) -> str:
        """A theory's name, with the beginning of its digest where another of the run has the same."""
        name = self.bare_name(theory)
        if self.told and theory in self.told.record.names:
            return name  # the verdict's names are all different
        same = sum(self.bare_name(known) == name for known in (*self.checked, *self.out))
        return f"{name} ({theory[:6]})" if same > 1 else name

    def bare_name(self, theory: Digest) -> str:
        """The name that the verdict gave a theory, and before a verdict the one that it entered with."""
        named = self.told.record.names if self.told else {}
        return named.get(theory) or self.check_of(theory).record.name

    def both_names(self, theory: Digest) -> str:
        """A theory's name; at the verdict, which names all anew, with the one that it had during the run."""
        name, before = self.name(theory), self.check_of(theory).record.name
        return name if name.startswith(before) else f"{name} (named {before} during the run)"

    def fit_records(self, names: Iterable[Digest]) -> list[Digest]:
        """Records of the newest fits of theories, as inputs of what uses their people."""
        return [self.fits[name].digest for name in names if name in self.fits]

    def score_records(self, names: Iterable[Digest], experiments: Iterable[str]) -> list[Digest]:
        """Records of the newest scores of theories, as inputs of what compares them on these experiments."""
        wanted = list(experiments)
        return [self.scores[name, item].digest for name in names for item in wanted]


def _check(state: TheoriesState, item: Recorded[TheoryChecked]) -> TheoriesState:
    if not item.record.passed:
        return replace(state, refused=(*state.refused, item))
    return replace(state, checked={**state.checked, item.record.theory: item})


def _fail(state: TheoriesState, item: Recorded[TheoryFailed]) -> TheoriesState:
    failed = item.record.theory
    return replace(
        state,
        checked={name: known for name, known in state.checked.items() if name != failed},
        pool={name: known for name, known in state.pool.items() if name != failed},
        failed=(*state.failed, item),
        out={**state.out, failed: state.checked[failed]} if failed in state.checked else state.out,
    )


RULES: Final[StateRules] = {
    TheoryChecked: _check,
    TheoryAdmitted: keep_by("pool", "theory"),
    TheoryFailed: _fail,
    DrawsLimited: keep_by("draws_limited", "theory"),
    TheoryFitted: keep_by("fits", "theory"),
    PopulationRelearned: keep_newest("relearned"),
    TheoryScored: keep_by("scores", "theory", "experiment"),
    SealedScored: keep_by("sealed_scores", "theory"),
    Diagnosis: keep_all("diagnoses"),
    SearchFinished: keep_all("searches"),
    CompletenessMeasured: keep_newest("completeness"),
    TheoriesTold: keep_newest("told"),
    GroupsCompared: keep_newest("groups"),
    EffectsLearned: keep_newest("effects"),
}
"""Rules of how each record changes the state."""
