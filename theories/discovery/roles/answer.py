"""What each role answers, as types: their JSON schemas are what a server enforces, and everything is checked again.

Texts are bounded, so that a model that does not know when to stop still comes to an end.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from lakatos.experiments.errors import StimuliError
from lakatos.experiments.task import Stimuli
from lakatos.theories.discovery.roles.option_name import option_place
from lakatos.theories.engine.checks.prediction import ClaimPrediction

Sentence = Annotated[str, Field(min_length=1, max_length=400)]
Citation = Annotated[str, Field(pattern=r"^#[0-9a-f]{8,64}$")]
"""``#`` and the beginning of a record's digest, as the record is shown."""
MOST_TRIALS = 12
"""Of an experiment that an advocate proposes."""
MOST_RANGES = 4


class Answer(BaseModel):
    """Frozen, with no other fields than those asked for."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class TypedClaim(Answer):
    """One number that can be computed from the cited records; see `theories.discovery.roles.typed_claim`."""

    quantity: Annotated[str, Field(min_length=1, max_length=80)]
    of: Annotated[str, Field(max_length=200)]
    """``people``, a theory by name, or empty."""
    against: Annotated[str, Field(max_length=200)]
    """What it is compared with; empty for a number by itself."""
    experiment: Annotated[str, Field(max_length=40)]
    trial: Annotated[int, Field(ge=0, le=1_000_000)]
    """0 where it is of no single trial."""
    option: Annotated[str, Field(max_length=40)]
    direction: Literal["is", "above", "below"]
    value: Annotated[str, Field(pattern=r"^-?[0-9]{1,9}([.][0-9]{1,9})?$")]
    """As text, since its digits say how exact it is."""
    unit: Literal["share", "percent", "nats per choice", "count", "none"]


class Statement(Answer):
    """Something that records bear out, as claims that can be computed; its words are not checked."""

    text: Sentence
    """In the model's own words."""
    cites: Annotated[tuple[Citation, ...], Field(min_length=1, max_length=4)]
    claims: Annotated[tuple[TypedClaim, ...], Field(max_length=3)] = ()
    """What is computed; a statement without any is not checked."""


class CaseReading(Answer):
    """The arbiter's: what is wrong with the losing theory."""

    statements: Annotated[tuple[Statement, ...], Field(min_length=1, max_length=4)]
    hypothesis: Sentence
    """What people do instead, in words."""
    change: Sentence
    """The one change that would mend the theory."""


class Steelman(Answer):
    """The strongest case for a rival, by the advocate of another theory."""

    case: Annotated[tuple[Statement, ...], Field(min_length=1, max_length=3)]
    repair: Sentence
    """The smallest change that would save it."""


def _either_form(name: object) -> object:
    """The first or the second option, also where a model writes "option 1"."""
    places = {"option 1": "first", "option 2": "second"}
    return places.get(option_place(name), name) if isinstance(name, str) else name


class Stated(Answer):
    """A prediction in terms that can be tried; see `theories.engine.checks.prediction.ClaimPrediction`."""

    relation: Literal[
        "increasing",
        "decreasing",
        "non_decreasing",
        "non_increasing",
        "ignores",
        "depends_on",
        "reverses",
        "deterministic",
    ]
    varied: Annotated[str, Field(max_length=40)]
    """What is varied, one of those listed; empty for "deterministic"."""
    of: Annotated[Literal["", "first", "second"], BeforeValidator(_either_form)] = ""

    @property
    def prediction(self) -> ClaimPrediction:
        """The prediction as the laboratory tries it."""
        return ClaimPrediction(self.relation, self.varied, self.of)


class Successor(Answer):
    """The reviser's, in one round at the workbench: a new theory, an analysis of the answers, or both."""

    change: Sentence
    """What is different from the theory it was made from."""
    source: Annotated[str, Field(max_length=6000)]
    """Python, whole; empty for no draft in this round."""
    predictions: Annotated[tuple[Stated, ...], Field(max_length=4)] = ()
    """What the claim says of any person; tried on the code."""
    analysis: Annotated[str, Field(max_length=6000)] = ""
    """Python that looks at the answers; see `theories.discovery.roles.analysis`. Empty for none."""
    note: Annotated[str, Field(max_length=600)] = ""
    """For its own notebook, which it is shown in later cycles; nothing checks it."""
    done: bool = False
    """Whether it wants no further round."""


class SeveralSuccessors(Successor):
    """The same with further drafts, of which few are fitted."""

    further: Annotated[
        tuple[Annotated[str, Field(max_length=6000)], ...], Field(max_length=19)
    ] = ()
    """More sources, each whole and another theory; a score before any fit chooses which of all are fitted."""

    def each(self, most: int) -> list[Successor]:
        """The first draft and so many further ones at most, each once."""
        sources = dict.fromkeys(item for item in self.further[:most] if item.strip())
        own = [self] if self.source.strip() else []
        others = [item for item in sources if item != self.source]
        return [
            *own,
            *(self.model_copy(update={"source": item, "predictions": ()}) for item in others),
        ]


class Audit(Answer):
    """The claim auditor's: what a claim, read by itself, predicts."""

    predictions: Annotated[tuple[Stated, ...], Field(max_length=4)]
    unclear: Annotated[str, Field(max_length=400)] = ""
    """What the claim leaves open."""


class WrittenPitfall(Answer):
    """A mistake that the cycle shows, what leads to it and what follows."""

    trigger: Sentence
    """The situation, in words by which it is found again."""
    mistake: Sentence
    consequence: Sentence
    cites: Annotated[tuple[Citation, ...], Field(min_length=1, max_length=4)]


class WrittenFact(Answer):
    """Something that the cycle shows to be true of the domain, the data or the tools."""

    subject: Sentence
    statement: Sentence
    """With every number as the records have it."""
    cites: Annotated[tuple[Citation, ...], Field(min_length=1, max_length=4)]


class Reflection(Answer):
    """The reflector's: what a cycle taught."""

    pitfalls: Annotated[tuple[WrittenPitfall, ...], Field(max_length=3)]
    facts: Annotated[tuple[WrittenFact, ...], Field(max_length=3)]


class FeatureRange(Answer):
    """A range of a property of trials, by the name under which it is listed."""

    feature: Annotated[str, Field(min_length=1, max_length=80)]
    low: float
    high: float


class ProposedTrials(Answer):
    """The advocate's: an experiment in its own words. Make the type for what can be asked with `trials_type`."""

    reason: Sentence
    """The contrast: where the two theories part, and why."""
    rival: Annotated[str, Field(max_length=200)] = ""
    """From which theory it tells its own apart; empty for the one that the question names."""
    where: Annotated[tuple[FeatureRange, ...], Field(max_length=MOST_RANGES)] = ()
    """Ranges in which the laboratory looks for trials on which the two theories part."""

    @property
    def made(self) -> tuple[BaseModel, ...]:
        """Trials of its own making, where any can be asked."""
        return tuple(getattr(self, "trials", ()))

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of the trials of an archive, or of the schedule, that it picks where they are listed."""
        return tuple(getattr(self, "picked", ()))


def trials_type(
    example: Stimuli, *, n_listed: int = 0, sequential: bool = False
) -> type[ProposedTrials]:
    """`ProposedTrials` for trials such as those of ``example``; what is the same in all of them need not be given.

    Args:
        example: Trials of the study.
        n_listed: How many trials of an archive, or schedules, are listed to be picked; 0 where any trial can be made.
        sequential: Whether one of the listed schedules is to be picked, whole.
    """
    if n_listed:
        number = Annotated[int, Field(ge=1, le=n_listed)]
        least, most = (1, 1) if sequential else (0, MOST_TRIALS)
        picks: Any = Annotated[tuple[number, ...], Field(min_length=least, max_length=most)]
        ranges: Any = Annotated[
            tuple[FeatureRange, ...], Field(max_length=0 if sequential else MOST_RANGES)
        ]
        return create_model(
            "ProposedTrials", __base__=ProposedTrials, where=(ranges, ()), picked=(picks, ...)
        )
    fields: dict[str, Any] = {
        name: (_numbers(np.asarray(array)), ...) for name, array in varied(example).items()
    }
    trial = create_model("ProposedTrial", __base__=Answer, **fields)
    trials: Any = Annotated[tuple[trial, ...], Field(max_length=MOST_TRIALS)]
    return create_model("ProposedTrials", __base__=ProposedTrials, trials=(trials, ...))


def varied(example: Stimuli) -> dict[str, Any]:
    """The arrays that differ from trial to trial; all of them where none does."""
    found = {name: array for name, array in example.arrays.items() if (array != array[:1]).any()}
    return found or dict(example.arrays)


def _numbers(array: NDArray[Any]) -> Any:
    """The type of nested lists of numbers with the shape of a trial of ``array``, within the limits of all of them.

    Whole numbers stay whole: a server that enforces only the form of a number is led to write endless digits otherwise.
    """
    whole = bool((array == np.round(array)).all())
    limits = Field(ge=float(array.min()), le=float(array.max()))
    kind: Any = (
        Annotated[int, Field(ge=int(array.min()), le=int(array.max()))]
        if whole
        else Annotated[float, limits]
    )
    for length in reversed(array.shape[1:]):
        kind = Annotated[tuple[kind, ...], Field(min_length=length, max_length=length)]
    return kind


def stimuli_of(proposed: ProposedTrials, example: Stimuli) -> Stimuli:
    """The trials as arrays, with what is the same in all trials of ``example``.

    Raises:
        StimuliError: There is none.
    """
    rows = [trial.model_dump() for trial in proposed.made]
    if not rows:
        raise StimuliError("no trial is proposed.")
    given = {
        name: np.asarray([row[name] for row in rows], dtype=np.float64) for name in varied(example)
    }
    same = {name: np.repeat(array[:1], len(rows), axis=0) for name, array in example.arrays.items()}
    return Stimuli({name: given.get(name, same[name]) for name in example.arrays})
