"""A role's working memory: what was said and found, within a number of tokens.

A context is a frozen value; to append or compact gives another. Pinned rules are not in it: `assemble`
puts them around whatever a context holds. Compaction turns old results into a sentence or two that name their record,
and drops what led nowhere; what it writes is data, whoever wrote it.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, Literal, Protocol

from lakatos.language_models.client import ChatMessage, FrozenPart, ToolCall, ToolOffer
from lakatos.language_models.errors import ContextTooLongError
from lakatos.language_models.fence import FENCE_NOTE, QUOTED, fence, neutralise, without_marks
from lakatos.language_models.pins import PinnedRule, check_room, pinned
from lakatos.language_models.quotes import check_against
from lakatos.language_models.tool import mention
from lakatos.traces.digest import Digest, canonical_json, digest_of

Count = Callable[[str], int]
"""Tokens of a text."""

TOKENS_PER_MESSAGE: Final = 8
"""Tokens that a chat template adds around a message."""
SENTENCE_TOKENS: Final = 60
"""Room for what becomes of one old result: one or two sentences."""
NOTES_SHARE: Final = 0.25
"""Share of the context for everything that was compacted."""

_WORDS: Final = re.compile(r"[A-Za-z]+")
_BLANKS: Final = re.compile(r"[ \t]{2,}")


@lru_cache(maxsize=4096)  # the same entries are counted before every request
def count_tokens(text: str) -> int:
    """Tokens of ``text``, on the safe side where the model's own tokeniser is not at hand.

    Three letters to a token, every digit, mark and line end one, a single space none, characters beyond ASCII their
    bytes: byte-level tokenisers need fewer for prose, code and numbers.
    """
    words, blanks = _WORDS.findall(text), _BLANKS.findall(text)
    others = (
        len(text.encode(errors="replace"))
        - sum(map(len, words))
        - text.count(" ")
        - text.count("\t")
    )
    return (
        others
        + sum((len(word) + 2) // 3 for word in words)
        + sum((len(blank) + 2) // 4 for blank in blanks)
    )


class ContextEntry(FrozenPart):
    """One thing in a context."""

    kind: Literal["task", "data", "answer", "result", "note"]
    """Kind of the entry: the laboratory's task; data to read; the model's own turn; a tool's result; what was
    compacted."""
    text: str
    source: str = ""
    """Origin of data and results."""
    tool_calls: tuple[ToolCall, ...] = ()
    """Calls of the model's own turn."""
    call_id: str | None = None
    """Identifier of the call that a result answers."""
    reference: str = ""
    """Record that holds what the entry shows."""
    dead_end: bool = False
    """Whether it led nowhere and is dropped by the next compaction."""


class RoleContext(FrozenPart):
    """Content before a role, in order."""

    entries: tuple[ContextEntry, ...] = ()
    n_compactions: int = 0

    @property
    def digest(self) -> Digest:
        """Digest of everything that the role is told; it names the context."""
        return digest_of(self.model_dump(mode="json"))


class ContextCompaction(FrozenPart):
    """Account of a compaction, for the trace."""

    compactor: str
    before: Digest
    after: Digest
    n_tokens_before: int
    n_tokens_after: int
    n_dead_ends: int
    n_quoted_lines: int
    """Lines of what the compactor wrote that claimed authority, and were quoted."""
    n_contradicted: int
    """Results that a summary contradicted; they were summarised by their beginning instead."""


class TextCompactor(Protocol):
    """A way to make a text shorter, so that it fits the context."""

    @property
    def name(self) -> str:
        """Name of the compactor, for the trace."""

    async def __call__(self, text: str, n_tokens: int) -> str:
        """``text`` in about ``n_tokens`` tokens; one that is short enough is returned as it is."""


def append(context: RoleContext, *entries: ContextEntry) -> RoleContext:
    """A copy of ``context`` with further entries at its end."""
    return context.model_copy(update={"entries": (*context.entries, *entries)})


def n_tokens(context: RoleContext, count: Count = count_tokens) -> int:
    """Tokens of the entries, fences and turns included."""
    return sum(_entry_tokens(entry, count) for entry in context.entries)


def _entry_tokens(entry: ContextEntry, count: Count) -> int:
    fenced = 40 if entry.kind in ("data", "result", "note") else 0
    calls = sum(
        count(call.name) + count(call.arguments) + TOKENS_PER_MESSAGE for call in entry.tool_calls
    )
    return count(entry.text) + count(entry.source) + calls + fenced + TOKENS_PER_MESSAGE


async def compact(
    context: RoleContext,
    compactor: TextCompactor,
    room: int,
    *,
    keep: int = 1,
    count: Count = count_tokens,
) -> tuple[RoleContext, ContextCompaction]:
    """Old entries as notes of a sentence or two each that name their records; tasks and the last turns as they are.

    Args:
        context: Compacted.
        compactor: Writes the sentences.
        room: Tokens for all notes together; older ones are compacted again, together, where they do not fit.
        keep: Turns of the model, with their results, that stay as they are.
        count: Tokens of a text.
    """
    turns = [place for place, entry in enumerate(context.entries) if entry.kind == "answer"]
    recent = turns[-keep] if 0 < keep <= len(turns) else 0 if keep else len(context.entries)
    old, new = context.entries[:recent], _without_notes(context.entries[recent:])
    tasks = tuple(entry for entry in old if entry.kind == "task")
    kept = [entry for entry in _without_notes(old) if entry.kind != "task" and not entry.dead_end]
    notes, n_contradicted = [entry for entry in context.entries if entry.kind == "note"], 0
    for entry in kept:
        note, contradicted = await _note(entry, _call_of(entry, old), compactor, count)
        notes += note
        n_contradicted += contradicted
    notes = await _fit(notes, compactor, room, count)
    after = context.model_copy(
        update={"entries": (*tasks, *notes, *new), "n_compactions": context.n_compactions + 1}
    )
    return after, ContextCompaction(
        compactor=compactor.name,
        before=context.digest,
        after=after.digest,
        n_tokens_before=n_tokens(context, count),
        n_tokens_after=n_tokens(after, count),
        n_dead_ends=sum(entry.dead_end for entry in old),
        n_quoted_lines=sum(note.text.count(QUOTED) for note in notes),
        n_contradicted=n_contradicted,
    )


def _without_notes(entries: Sequence[ContextEntry]) -> tuple[ContextEntry, ...]:
    return tuple(entry for entry in entries if entry.kind != "note")


def _call_of(entry: ContextEntry, entries: Sequence[ContextEntry]) -> ToolCall | None:
    calls = (call for other in entries for call in other.tool_calls)
    return next(
        (call for call in calls if entry.kind == "result" and call.call_id == entry.call_id), None
    )


async def _note(
    entry: ContextEntry, call: ToolCall | None, compactor: TextCompactor, count: Count
) -> tuple[list[ContextEntry], int]:
    """Compact an old entry, and state whether the summary contradicted it."""
    if not entry.text.strip():
        return [], 0
    summary = " ".join((await compactor(entry.text, SENTENCE_TOKENS)).split())
    contradicted = entry.kind == "result" and bool(check_against(summary, _parsed(entry.text)))
    if contradicted:
        summary = " ".join(cut(entry.text, SENTENCE_TOKENS, count).split())
    origin = (
        f"{call.name}({call.arguments[:120]})"
        if call
        else "you said"
        if entry.kind == "answer"
        else entry.source
    )
    where = f" [{mention(entry.reference)}]" if entry.reference else ""
    text = neutralise(f"- {' '.join(origin.split())}: {summary}{where}") if summary or where else ""
    note = ContextEntry(kind="note", text=text, source="notes", reference=entry.reference)
    return ([note] if text else []), int(contradicted)


def _parsed(text: str) -> object:
    """A result as the JSON that it shows, or its text where it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return text


async def _fit(
    notes: list[ContextEntry], compactor: TextCompactor, room: int, count: Count
) -> list[ContextEntry]:
    """Keep as many of the latest notes as half of ``room`` holds; compact the older ones into the other half."""
    if sum(_entry_tokens(note, count) for note in notes) <= room or not notes:
        return notes
    late: list[ContextEntry] = []
    left = room // 2
    while notes and (size := _entry_tokens(notes[-1], count)) <= left:
        left -= size
        late.insert(0, notes.pop())
    overhead = _entry_tokens(ContextEntry(kind="note", text="", source="notes"), count)
    space = max(room // 2 - overhead, 0)
    # A record stays within reach although its sentence is gone; the latest ones, within a quarter of the space.
    tail = _latest_records(notes, space // 4, count)
    body = "\n".join(note.text for note in notes)
    text = neutralise(await compactor(body, max(space - count(tail) - 1, 0)))
    text = cut(text, max(space - count(tail) - 1, 0), count)
    merged = "\n".join(part for part in (text, tail) if part)
    return ([ContextEntry(kind="note", text=merged, source="notes")] if merged else []) + late


def _latest_records(notes: Sequence[ContextEntry], room: int, count: Count) -> str:
    """The records that notes name, as many of the last as ``room`` tokens hold; empty where none fits."""
    references = dict.fromkeys(note.reference for note in notes if note.reference)
    pointers = [mention(reference) for reference in references]
    while pointers and count("Records: " + " ".join(pointers)) > room:
        pointers.pop(0)
    return "Records: " + " ".join(pointers) if pointers else ""


def cut(text: str, room: int, count: Count = count_tokens) -> str:
    """The beginning of ``text`` that fits ``room`` tokens, cut between words."""
    if count(text) <= room:
        return text
    words = words_of(text)
    return "".join(words[: most_that_fit(len(words), lambda n: count("".join(words[:n])) <= room)])


def words_of(text: str) -> list[str]:
    """``text`` in pieces, each a word with the blanks before it."""
    return re.findall(r"\s*\S+", text)


def most_that_fit(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to ``most`` that fits, where every smaller one but 0 fits too; 0 if none does."""
    return bisect_left(range(1, most + 1), True, key=lambda n: not fits(n))


async def fit(
    context: RoleContext,
    compactor: TextCompactor,
    room: int,
    *,
    keep: int = 1,
    count: Count = count_tokens,
) -> tuple[RoleContext, tuple[ContextCompaction, ...]]:
    """``context`` within ``room`` tokens, compacted only if it has to be.

    Raises:
        ContextTooLongError: What cannot be compacted (tasks, the last turns) is too long by itself.
    """
    done: list[ContextCompaction] = []
    for kept in range(keep, -1, -1):
        if n_tokens(context, count) <= room:
            return context, tuple(done)
        context, report = await compact(
            context, compactor, int(room * NOTES_SHARE), keep=kept, count=count
        )
        done.append(report)
    if n_tokens(context, count) > room:
        raise ContextTooLongError(
            f"after compaction the context has {n_tokens(context, count)} tokens and {room} are there for it; "
            "shorten the task, bound results more tightly, or use a model with a longer context."
        )
    return context, tuple(done)


def assemble(
    context: RoleContext,
    prompt: str,
    rules: Sequence[PinnedRule] = (),
    *,
    secret: str = "",
) -> tuple[ChatMessage, ...]:
    """The messages of a request: pinned rules, the role's prompt, the context with its data fenced, the rules again.

    Args:
        context: The role's working memory.
        prompt: The role's own.
        rules: Those `active` for the role.
        secret: Known to the run only; makes nonces of fences that nobody can work out who knows the whole context.
    """
    head = f"{without_marks(prompt)}\n\n{FENCE_NOTE}".lstrip()
    messages = [ChatMessage(role="system", content=head)]
    for entry in context.entries:
        message = _message(entry, secret)
        if (
            message.role == "user" and messages[-1].role == "user"
        ):  # many templates want turns to alternate
            messages[-1] = messages[-1].model_copy(
                update={"content": f"{messages[-1].content}\n\n{message.content}"}
            )
        else:
            messages.append(message)
    return pinned(messages, rules)


def _message(entry: ContextEntry, secret: str) -> ChatMessage:
    match entry.kind:
        case "task":
            return ChatMessage(role="user", content=without_marks(entry.text))
        case "answer":
            calls = tuple(_as_sent(call) for call in entry.tool_calls)
            return ChatMessage(
                role="assistant", content=without_marks(entry.text), tool_calls=calls
            )
        case "result":
            return ChatMessage(
                role="tool", content=fence(entry.text, entry.source, secret), call_id=entry.call_id
            )
        case _:
            return ChatMessage(role="user", content=fence(entry.text, entry.source, secret))


def _as_sent(call: ToolCall) -> ToolCall:
    """A call as servers take it back: they parse its arguments, and answer 400 where that fails."""
    try:
        arguments = json.loads(call.arguments)
        text = canonical_json(arguments).decode() if isinstance(arguments, dict) else "{}"
    except Exception:  # whatever a model wrote: not JSON, nested too deeply, digits without end
        text = "{}"
    name = re.sub(r"[^A-Za-z0-9_-]", "_", call.name)[:64] or "unknown"
    return call.model_copy(
        update={"name": name, "arguments": without_marks(text).replace("\n", " ")}
    )


def request_room(
    context_tokens: int,
    max_answer_tokens: int,
    prompt: str,
    rules: Sequence[PinnedRule],
    offers: Sequence[ToolOffer] = (),
    count: Count = count_tokens,
) -> int:
    """Tokens that are left for a context beside prompt, rules, tools and answer.

    Raises:
        PinsTooLongError: The rules take more than their share.
        ContextTooLongError: Nothing is left.
    """
    tools = sum(count(canonical_json(offer.model_dump(mode="json")).decode()) for offer in offers)
    used = (
        check_room(rules, context_tokens, count) + count(prompt) + tools + max_answer_tokens + 100
    )
    if used >= context_tokens:
        raise ContextTooLongError(
            f"prompt, rules, tools and answer take {used} of {context_tokens} tokens; "
            "offer fewer tools, ask for a shorter answer, or use a model with a longer context."
        )
    return context_tokens - used
