"""Answers of each role as types: their JSON schemas are what a server enforces, and everything is checked again.

Texts are bounded, so that a model that does not know when to stop still comes to an end.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from lakatos.theories.discovery.roles.option_name import option_place
from lakatos.theories.engine.checks.prediction import ClaimPrediction

Sentence = Annotated[str, Field(min_length=1, max_length=400)]
Citation = Annotated[str, Field(pattern=r"^#[0-9a-f]{8,64}$")]
"""``#`` and the beginning of a record's digest, as the record is shown."""


class Answer(BaseModel):
    """Frozen, with no other fields than those asked for."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class TypedClaim(Answer):
    """One number that can be computed from the cited records; see `theories.discovery.roles.typed_claim`."""

    quantity: Annotated[str, Field(min_length=1, max_length=80)]
    of: Annotated[str, Field(max_length=200)]
    """``people``, a theory by name, or empty."""
    against: Annotated[str, Field(max_length=200)]
    """Theory or people that it is compared with; empty for a number by itself."""
    experiment: Annotated[str, Field(max_length=40)]
    trial: Annotated[int, Field(ge=0, le=1_000_000)]
    """0 where it is of no single trial."""
    option: Annotated[str, Field(max_length=40)]
    direction: Literal["is", "above", "below"]
    value: Annotated[str, Field(pattern=r"^-?[0-9]{1,9}([.][0-9]{1,9})?$")]
    """The number as text, since its digits state how exact it is."""
    unit: Literal["share", "percent", "nats per choice", "count", "none"]


class Statement(Answer):
    """Something that records bear out, as claims that can be computed; its words are not checked."""

    text: Sentence
    """The statement in the model's own words."""
    cites: Annotated[tuple[Citation, ...], Field(min_length=1, max_length=4)]
    claims: Annotated[tuple[TypedClaim, ...], Field(max_length=3)] = ()
    """Claims that are computed; a statement without any is not checked."""


class CaseReading(Answer):
    """The arbiter's: what is wrong with the losing theory."""

    statements: Annotated[tuple[Statement, ...], Field(min_length=1, max_length=4)]
    hypothesis: Sentence
    """Behaviour of people instead, in words."""
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
    """Variation, one of those listed; empty for "deterministic"."""
    of: Annotated[Literal["", "first", "second"], BeforeValidator(_either_form)] = ""

    @property
    def prediction(self) -> ClaimPrediction:
        """The prediction as the laboratory tries it."""
        return ClaimPrediction(self.relation, self.varied, self.of)


class Successor(Answer):
    """The reviser's, in one round at the workbench: a new theory, an analysis of the answers, or both."""

    change: Sentence
    """Difference from the theory it was made from."""
    source: Annotated[str, Field(max_length=6000)]
    """Python, whole; empty for no draft in this round."""
    predictions: Annotated[tuple[Stated, ...], Field(max_length=4)] = ()
    """Predictions of the claim for any person; tried on the code."""
    analysis: Annotated[str, Field(max_length=6000)] = ""
    """Python that looks at the answers; see `theories.discovery.roles.analysis`. Empty for none."""
    note: Annotated[str, Field(max_length=600)] = ""
    """Note for the role's own notebook, which it is shown in later cycles; nothing checks it."""
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
    """Questions that the claim leaves open."""


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
    """The fact, with every number as the records have it."""
    cites: Annotated[tuple[Citation, ...], Field(min_length=1, max_length=4)]


class Reflection(Answer):
    """The reflector's: what a cycle taught."""

    pitfalls: Annotated[tuple[WrittenPitfall, ...], Field(max_length=3)]
    facts: Annotated[tuple[WrittenFact, ...], Field(max_length=3)]
