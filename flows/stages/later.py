"""Stages that not every pass of a run comes to, and whose modules are therefore loaded when one does.

Each line says where a stage is, what it takes and gives, and, where only some studies ask for it, which ones. So who
waits for people's answers loads neither searches nor diagnoses, and a study without language models none of theirs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pkgutil import resolve_name
from typing import Generic, ParamSpec, TypeVar

from lakatos.experiments.preregistration import Preregistration
from lakatos.experiments.record import PeopleRecruited, SealedOpened
from lakatos.flows.run.parts import LATE, task
from lakatos.flows.run.run import Run
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.stages.asked import AnswersAwaited
from lakatos.judges.judge import Verdict, VerdictResolved
from lakatos.memory.library import Pitfall
from lakatos.memory.record import InquiryMade
from lakatos.theories.record import Diagnosis, EffectsLearned, GroupsCompared, SearchFinished
from lakatos.theories.roles.record import SuccessorsProposed, TrialsProposed
from lakatos.theories.verdicts.record import (
    CampaignConcluded,
    ConfirmationFinished,
    ExactnessWeighed,
    ExclusionSensitivity,
)
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded

P = ParamSpec("P")
R = TypeVar("R")


class LateStage(Generic[P, R]):
    """A stage whose module is imported when it is first called."""

    def __init__(self, place: str) -> None:
        """A stage at ``place``: its module, and its name there."""
        self.place = place
        LATE.append(place)

    async def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the stage."""
        function: Callable[P, Awaitable[R]] = resolve_name(self.place)
        return await function(*args, **kwargs)


class AskedStage(Generic[P, R]):
    """A stage for which only some studies ask; with all others it gives None, and its module is not imported."""

    def __init__(self, place: str, asked: Callable[[CampaignConfig], object]) -> None:
        """A stage at ``place``; ``asked`` says whether a study asks for it."""
        self.place, self.asked = place, asked
        LATE.append(place)

    async def __call__(self, run: Run, *args: P.args, **kwargs: P.kwargs) -> R | None:
        """Run the stage if the run's study asks for it."""
        if not self.asked(run.config):
            return None
        function: Callable[..., Awaitable[R]] = resolve_name(self.place)
        return await function(run, *args, **kwargs)


# --- before the first cycle ------------------------------------------------------------------------------------------

check_models = AskedStage[[], None](
    "lakatos.flows.roles.ask:check_models", lambda study: study.roles.used
)
check_participant = AskedStage[[], None](
    "lakatos.flows.roles.interview:check_participant", lambda study: study.participants.model
)
seat_judges = task(name="seat judges")(
    AskedStage[[], None](
        "lakatos.flows.stages.judging.seats:seat_judges", lambda study: study.judges.seated
    )
)
take_library = AskedStage[[], None](
    "lakatos.flows.roles.remember:take_library", lambda study: study.memory.takes_library
)
admit_winners = task(name="admit winners")(
    AskedStage[[], None](
        "lakatos.flows.stages.inherit:admit_winners", lambda study: study.memory.takes_winners
    )
)

# --- in a cycle, before people are asked ------------------------------------------------------------------------------

look_at_library = LateStage[[Run, int], None]("lakatos.flows.roles.remember:look_at_library")
sound_out = task(name="sound out")(
    AskedStage[[int, int], None](
        "lakatos.flows.stages.inquire:sound_out", lambda study: study.memory.inquiries
    )
)
propose_trials = task(name="propose trials")(
    AskedStage[[int, int], list[Recorded[TrialsProposed]]](
        "lakatos.flows.stages.propose_trials:propose_trials", lambda study: study.roles.advocate
    )
)

# --- in a cycle, while and after people answer ------------------------------------------------------------------------

interview = LateStage[
    [Run, Recorded[Preregistration], Recorded[PeopleRecruited], Digest, int], int
]("lakatos.flows.roles.interview:interview")
consolidate = task(name="consolidate")(
    LateStage[[Run, int, list[Recorded[VerdictResolved]]], list[Recorded[Pitfall]]](
        "lakatos.flows.stages.consolidate:consolidate"
    )
)
arbitrate = task(name="arbitrate")(
    LateStage[[Run, int], Recorded[Diagnosis]]("lakatos.flows.stages.arbitrate:arbitrate")
)
weigh_exactness = task(name="weigh")(
    AskedStage[[int], Recorded[ExactnessWeighed] | None](
        "lakatos.flows.stages.exactness:weigh_exactness", lambda study: study.stop.exact
    )
)
examine_leader = task(name="examine")(
    AskedStage[[int, Recorded[Diagnosis]], Recorded[InquiryMade] | None](
        "lakatos.flows.stages.inquire:examine_leader", lambda study: study.memory.inquiries
    )
)
propose = task(name="propose")(
    AskedStage[[int, Recorded[Diagnosis]], Recorded[SuccessorsProposed]](
        "lakatos.flows.stages.propose:propose",
        lambda study: study.roles.arbiter or study.roles.reviser,
    )
)
revise = task(name="revise")(
    LateStage[
        [
            Run,
            int,
            Recorded[Diagnosis],
            Recorded[SuccessorsProposed] | None,
            Recorded[InquiryMade] | None,
        ],
        Recorded[SearchFinished],
    ]("lakatos.flows.stages.revise:revise")
)
judge = task(name="judge")(
    LateStage[[Run, int, Recorded[SearchFinished]], list[Recorded[Verdict]]](
        "lakatos.flows.stages.judging.judge:judge"
    )
)
reflect = task(name="reflect")(
    LateStage[[Run, int], None]("lakatos.flows.stages.consolidate:reflect")
)

# --- after the last cycle ---------------------------------------------------------------------------------------------

confirm = task(name="confirm")(
    AskedStage[[], Recorded[ConfirmationFinished] | AnswersAwaited](
        "lakatos.flows.stages.verdict.confirm:confirm",
        lambda study: study.confirmation.participants,
    )
)
compare_exclusions = task(name="sensitivity")(
    AskedStage[[], Recorded[ExclusionSensitivity] | None](
        "lakatos.flows.stages.verdict.sensitivity:compare_exclusions",
        lambda study: study.by_person,
    )
)
compare_by_group = task(name="compare_groups")(
    AskedStage[[], Recorded[GroupsCompared]](
        "lakatos.flows.stages.verdict.groups:compare_by_group",
        lambda study: study.validation.groups,
    )
)
learn_effects_of_people = task(name="learn_effects")(
    AskedStage[[], Recorded[EffectsLearned]](
        "lakatos.flows.stages.verdict.effects:learn_effects_of_people",
        lambda study: study.validation.effects,
    )
)
open_sealed = task(name="open_sealed")(
    LateStage[[Run], Recorded[SealedOpened] | None](
        "lakatos.flows.stages.verdict.conclude:open_sealed"
    )
)
conclude = task(name="conclude")(
    LateStage[[Run], Recorded[CampaignConcluded]]("lakatos.flows.stages.verdict.conclude:conclude")
)
crystallise = task(name="crystallise")(
    LateStage[[Run], None]("lakatos.flows.stages.consolidate:crystallise")
)
