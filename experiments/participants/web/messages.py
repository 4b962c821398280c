"""What the page and its server say to each other."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from lakatos.experiments.presentation import LONGEST_FAILURE, MOST_RECORDED


class _RequestBody(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, strict=True)


IDENTIFIER: Final = r"^[A-Za-z0-9_-]{1,64}$"
Identifier = Annotated[str, Field(pattern=IDENTIFIER)]


class ProlificParameters(_RequestBody):
    """The three parameters of the address under which Prolific sends people."""

    participant: Identifier
    study: Identifier
    submission: Identifier


Language = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{2,20}$")]


class DeclineRequest(_RequestBody):
    """The browser says that somebody does not agree to take part."""

    language: Language
    prolific: ProlificParameters | None = None
    invitation: Identifier | None = None


class BrowserFacts(_RequestBody):
    """What a browser says of itself; kept only where the study says so."""

    width: Annotated[int, Field(ge=0, le=100_000)]
    """Size of the window, in pixels of the page."""
    height: Annotated[int, Field(ge=0, le=100_000)]
    touch: bool
    """Whether a finger points."""
    hour: Annotated[int, Field(ge=0, le=23)]
    """Hour of the day at the participant's place."""


class ConsentRequest(_RequestBody):
    """Somebody agrees to take part."""

    consent: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """Digest of the text that was shown."""
    language: Language
    prolific: ProlificParameters | None = None
    invitation: Identifier | None = None
    """What the link of an invitation holds."""
    browser: BrowserFacts | None = None
    ticks: Annotated[dict[Annotated[str, Field(max_length=40)], bool], Field(max_length=100)] = {}
    """The study's own boxes, by name."""


class ComprehensionRequest(_RequestBody):
    """Responses to the questions on the instructions."""

    attempt: Annotated[int, Field(ge=0, le=1000)]
    """Attempts before this one, so that one sent twice counts once."""
    answers: Annotated[list[Annotated[int, Field(ge=0, le=100)]], Field(max_length=100)]


class AnswerRequest(_RequestBody):
    """The answer to one step."""

    position: Annotated[int, Field(ge=0, le=1_000_000)]
    """Number of the step; also the key by which a response that is sent twice is recognised."""
    response: Annotated[int, Field(ge=0, le=1000)] | None
    """Place of the option chosen; null where time was limited and ran out."""
    response_time_ms: Annotated[float, Field(ge=0, le=1e9, strict=False)]
    onset_ms: Annotated[float, Field(ge=0, le=1e9, strict=False)] | None = None
    """Onset of the step since the task began."""
    focus_losses: Annotated[int, Field(ge=0, le=100_000)] = 0
    """How often the page was left since the response before."""
    away_ms: Annotated[float, Field(ge=0, le=1e9, strict=False)] = 0.0
    """For how long, in all."""
    recorded: Annotated[
        dict[Annotated[str, Field(max_length=80)], int | float | bool | str | None],
        Field(max_length=MOST_RECORDED),
    ] = {}
    """Times of what was presented, or the data of a plugin."""
    failure: Annotated[str, Field(max_length=LONGEST_FAILURE)] = ""
    """What could not be loaded, so that the step has no response; empty otherwise."""


class OnsetRequest(_RequestBody):
    """The browser says that the target of a step has just appeared."""

    position: Annotated[int, Field(ge=0, le=1_000_000)]


class OnsetReply(BaseModel):
    """What came of such a report."""

    noted: bool
    """False where the step is not asked now, or had a report already, which stands."""


class ReplyRequest(_RequestBody):
    """Responses to the questions about the person, before or after the task."""

    block: Literal["before", "after"]
    answers: Annotated[
        dict[Annotated[str, Field(max_length=40)], int | float | str | list[int] | None],
        Field(max_length=100),
    ]
    """Replies by the names of the questions."""


class StopRequest(_RequestBody):
    """The browser says that somebody stops before the end."""

    keep: bool
    """Whether the responses so far may be used."""


class NextRequest(_RequestBody):
    """Somebody goes on to another experiment."""

    language: Language


class ProblemReply(BaseModel):
    """Why a request was refused."""

    error: str
    """A word for programs."""
    detail: str = ""


class StateReply(BaseModel):
    """State of a participant's session; see `experiments.participants.web.view.state_of`."""

    model_config = ConfigDict(extra="allow")

    phase: str


class AnswerReply(BaseModel):
    """What came of a response."""

    saved: bool
    """False where the step had an answer already, which stands."""
    feedback: str
    state: StateReply
    refused: bool = False
    """Whether data of a plugin were outside their schema, so that the step has no response."""


PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": ProblemReply, "description": words}
    for status, words in {
        400: "No JSON.",
        401: "No session, or no right.",
        403: "Another site asks.",
        404: "Nothing here.",
        408: "Too slow.",
        409: "Not asked now.",
        413: "Too large.",
        415: "Not JSON.",
        422: "Not of the form.",
        429: "Too fast.",
    }.items()
}
