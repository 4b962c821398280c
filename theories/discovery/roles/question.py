"""A question to a role: its prompt, what it is given to read, and the request that comes of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

from lakatos.language_models.client import ModelRequest, TokenSampling, ToolOffer
from lakatos.language_models.context import (
    TOKENS_PER_MESSAGE,
    ContextEntry,
    RoleContext,
    assemble,
    count_tokens,
    request_room,
)
from lakatos.language_models.fence import without_marks
from lakatos.language_models.pins import PinnedRule, check_request, pinned, render
from lakatos.theories.discovery.roles.exhibit import Exhibit, fitting
from lakatos.theories.discovery.roles.prompt import RolePrompt
from lakatos.traces.digest import Digest, digest_bytes

T = TypeVar("T", bound=BaseModel)
FENCE_TOKENS = 48
"""Tokens around each piece of data."""
LEFT_OUT = "Not shown, as your context is too short for it:"
CONTEXT_TOKENS = 32_768
"""Length of a context where neither the study nor the server states it."""


@dataclass(frozen=True)
class RoleQuestion(Generic[T]):
    """One thing asked of one role."""

    role: str
    """Role by which the study names the model."""
    prompt: RolePrompt
    subject: str
    """Subject, different from other questions of its prompt in the same stage."""
    task: str
    """Task to do now, in a sentence or two."""
    exhibits: tuple[Exhibit, ...]
    """The most important first."""
    answer: type[T]
    inputs: tuple[Digest, ...]
    """Records from which the exhibits were made."""
    sample: int = 0
    """Number of the answer among several to the same question."""
    tools: bool = False
    """Whether tools may be called first, where the study names some."""
    last: tuple[Exhibit, ...] = ()
    """Exhibits that find room before all others and are shown after them, so that what questions share comes first."""


def request_of(
    question: RoleQuestion[T],
    rules: Sequence[PinnedRule],
    sampling: TokenSampling,
    *,
    secret: str,
    context_tokens: int = CONTEXT_TOKENS,
    found: Sequence[Exhibit] = (),
) -> tuple[ModelRequest, tuple[Exhibit, ...]]:
    """The request, without a schema and before the rules are pinned to it, and the exhibits that found room in it.

    Args:
        question: What is asked.
        rules: Rules for which room is kept; see `pinned_request`.
        sampling: Its ``max_tokens`` are kept free for the answer.
        secret: Known to the run only; see `language_models.context.assemble`.
        context_tokens: Tokens of the context of the model.
        found: What tools returned: the most important to find room, shown last.

    Raises:
        ContextTooLongError, PinsTooLongError: Even without any exhibit it does not fit.
    """
    prompt = question.prompt.text
    context, shown = context_of(
        question,
        prompt,
        rules,
        sampling,
        context_tokens=context_tokens,
        last=(*question.last, *found),
    )
    return ModelRequest(messages=assemble(context, "", secret=secret), sampling=sampling), shown


def context_of(
    question: RoleQuestion[T],
    prompt: str,
    rules: Sequence[PinnedRule],
    sampling: TokenSampling,
    *,
    context_tokens: int,
    offers: Sequence[ToolOffer] = (),
    share: float = 1.0,
    last: Sequence[Exhibit] = (),
) -> tuple[RoleContext, tuple[Exhibit, ...]]:
    """Return what a question shows, before anything is said, and the exhibits that found room.

    Args:
        question: What is asked.
        prompt: The question's own, or more; after the data, which other roles read as well.
        rules, sampling, context_tokens: As of `request_of`.
        offers: Tools that go with it.
        share: Share of the room that may be used.
        last: Exhibits that find room before the question's own, and are shown after the prompt.

    Raises:
        ContextTooLongError, PinsTooLongError: Even without any exhibit it does not fit.
    """
    room = request_room(context_tokens, sampling.max_tokens, prompt, rules, offers)
    room = int(share * (room - count_tokens(question.task) - 2 * TOKENS_PER_MESSAGE))

    def size(entry: ContextEntry) -> int:
        return count_tokens(entry.text) + count_tokens(entry.source) + FENCE_TOKENS

    wanted = (*last, *question.exhibits)
    kept = fitting(wanted, room, size)
    before = sorted((item for item in kept if item not in last), key=lambda item: item.place)
    after = [item for item in kept if item in last]
    gone = [item.title for item in wanted if item not in kept]
    left_out = f"{LEFT_OUT} {'; '.join(gone)}.\n\n" if gone else ""
    entries = (
        *(item.entry for item in before),
        ContextEntry(kind="task", text=prompt),
        *(item.entry for item in after),
        ContextEntry(kind="task", text=left_out + question.task),
    )
    return RoleContext(entries=entries), (*before, *after)


def pinned_request(request: ModelRequest, rules: Sequence[PinnedRule]) -> ModelRequest:
    """``request`` with the rules around it, also where a second try was added to it.

    What the model itself wrote in between cannot pass for rules.

    Raises:
        PinsAlteredError: Something else in it would.
    """
    lines = [
        item.model_copy(update={"content": without_marks(item.content)})
        if item.role == "assistant"
        else item
        for item in request.messages
    ]
    sent = request.model_copy(update={"messages": pinned(lines, rules)})
    if rules:
        check_request(sent, digest_bytes(render(rules).encode()), [rule.rule_id for rule in rules])
    return sent
