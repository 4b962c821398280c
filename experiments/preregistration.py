"""Content that is frozen before recruitment: the rivals' predictions, the exclusion rules and the analysis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from lakatos.experiments.adoption.names import ALL
from lakatos.experiments.conditions import words_of_conditions
from lakatos.experiments.design import design_to_json
from lakatos.experiments.errors import PreregistrationError
from lakatos.experiments.record import PairPower
from lakatos.experiments.task import Design
from lakatos.traces.digest import Digest, digest_of
from lakatos.traces.record import Record


class Preregistration(Record):
    """Frozen predictions and analysis of one experiment. Nothing is collected without it."""

    kind: Literal["preregistration"] = "preregistration"
    version: Literal[1] = 1
    experiment: str
    """Name of the design, unique in its campaign."""
    design: Digest
    """Artifact that holds the design."""
    design_summary: str = ""
    """The design in words."""
    rivals: Mapping[Digest, str]
    """Names of the theories whose predictions are frozen, by their digest."""
    predictions: Digest
    """Artifact with each theory's population weights and predicted choice proportions."""
    n_draws: int
    """Draws of each theory's declared population that the weights refer to."""
    n_participants: int
    exclusion_rules: tuple[str, ...] = ()
    """Each rule in words; without rules, every response counts."""
    powers: tuple[PairPower, ...] = ()
    """Simulated probability with which the planned sample distinguishes the leading rivals."""
    analysis: str
    """Planned analysis, by which the responses decide between the theories."""
    stopping_rule: str
    """Rule that ends collection."""


def check_preregistered(preregistration: Preregistration | None, design: Design) -> None:
    """Refuse to ask people anything that was not preregistered.

    Raises:
        PreregistrationError: There is no preregistration, or it freezes another design.
    """
    if not isinstance(preregistration, Preregistration):
        raise PreregistrationError(
            f"experiment {design.name!r} has no preregistration; freeze the rivals' predictions before asking anybody."
        )
    digest = digest_of(design_to_json(design))
    if preregistration.experiment != design.name or preregistration.design != digest:
        raise PreregistrationError(
            f"the preregistration of {preregistration.experiment!r} freezes the design {preregistration.design[:8]}, "
            f"not {digest[:8]} of {design.name!r}. Preregister this design, or collect with the one that was."
        )
    if preregistration.n_participants != design.n_participants:
        raise PreregistrationError(
            f"the preregistration of {design.name!r} plans {preregistration.n_participants} participants and its "
            f"design {design.n_participants}. Preregister the number of the design."
        )


def summarise_design(design: Design, n_answers: int = 0, *, is_exhaustive: bool = False) -> str:
    """The design in a sentence.

    Args:
        design: What is asked.
        n_answers: Answers to its trials that are there already, of an archive or a file, where they are counted.
        is_exhaustive: Whether it has all trials that there were, so that none was drawn at random.
    """
    random = (
        "all that remained" if is_exhaustive else f"{len(design.random_coverage)} of them random"
    )
    trials = f"{len(design.stimuli)} distinct trials ({random})"
    if n_answers:
        return (
            f"{trials} with {n_answers:,} existing responses of {design.n_participants} participants"
            f"{'' if design.archive == ALL else f' ({design.archive})'}."
        )
    where = f"existing responses of {design.archive}" if design.archive else "new participants"
    return (
        f"{trials}, each shown {design.repetitions} time{'' if design.repetitions == 1 else 's'} to each of "
        f"{design.n_participants} participants ({where}).{words_of_conditions(design)}"
    )
