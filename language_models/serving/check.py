"""Check of what works on a server, by requests like those of the roles.

Nothing is taken from documentation. The first request is the probe that a run sends, too. Then each role is graded by
two answers: whether they can be read, and whether the laboratory could use what they say.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import httpx

from lakatos.language_models.client import (
    ChatMessage,
    ModelCompletion,
    ModelRequest,
    TokenSampling,
    ToolOffer,
)
from lakatos.language_models.clients.openai import OpenAIModel
from lakatos.language_models.errors import ContextTooLongError, LanguageModelError
from lakatos.language_models.preflight import preflight
from lakatos.language_models.probe import ServerProbe, probe_request
from lakatos.language_models.serving.load import (
    TimedCall,
    http_client,
    quantiles_s,
    time_calls,
    variants,
)
from lakatos.language_models.serving.metrics import read_metrics
from lakatos.language_models.serving.shape import REPRESENTATIVE, PromptShape
from lakatos.language_models.settings import ModelSettings
from lakatos.language_models.structured import MisreadAnswerError, parse
from lakatos.language_models.withheld import LIMIT_FIELDS, other_limit

PROBE_WORDS = 5000
"""Length of the first prompt: more than the shortest contexts that servers are known to cut prompts to."""
MOST_OVERFLOWN = 200_000
"""Longest context for which a prompt that does not fit is sent."""
State = Literal["works", "fails", "partly", "unknown"]


@dataclass(frozen=True)
class ServingFinding:
    """One thing that was tried."""

    role: str
    """Role; empty for what concerns the server as a whole."""
    feature: str
    state: State
    detail: str


@dataclass(frozen=True)
class CallFigures:
    """Speed at which one role's calls are answered, one at a time."""

    role: str
    n_calls: int
    n_prompt_tokens: int
    n_tokens: float
    """Tokens of an answer, on average."""
    first_token_s: float
    """Median."""
    tokens_per_s: float
    """Tokens per second of one answer after its first token, median."""
    total_s: float
    """Median."""
    cached_share: float
    """Share of the prompt's tokens that were cached, in calls after the first."""


@dataclass(frozen=True)
class ServingReport:
    """Everything that a check of a served model found."""

    model: str
    server: str
    """Version as it names itself."""
    findings: tuple[ServingFinding, ...]
    figures: tuple[CallFigures, ...]

    @property
    def serves(self) -> bool:
        """Whether nothing that was tried fails."""
        return all(finding.state != "fails" for finding in self.findings)


async def check(
    settings: ModelSettings, shapes: Sequence[PromptShape] = REPRESENTATIVE, *, n_calls: int = 5
) -> ServingReport:
    """Try everything that the shapes need, and time them.

    Args:
        settings: Settings of a model behind a server.
        shapes: As the study's roles send them.
        n_calls: Timed calls for each shape.

    Raises:
        TransientError: There is no such server.
        RequestRefusedError: It wants another key, has no such model or refuses to answer.
    """
    model = OpenAIModel(settings)
    try:
        schemas = [item.request.answer_schema for item in shapes if item.request.answer_schema]
        largest = max(schemas, key=lambda schema: len(str(schema)), default=_WORD_SCHEMA)
        ready = await preflight(
            model, probe=probe_request(largest, PROBE_WORDS, TokenSampling(max_tokens=1024))
        )
        context = ready.context_tokens
        findings = [
            ServingFinding(
                "", "model", "works", f"{settings.model}, context {context or 'not reported'}"
            )
        ]
        if ready.probe is not None:
            findings += judge_probe(ready.probe)
        async with http_client(settings) as client:
            server = await _version(settings, client)
            findings += await _limits(model, settings, client, context)
            figures = []
            for shape in shapes:
                found, figure = await _try(model, settings, client, shape, n_calls)
                findings += found
                figures += [figure] if figure else []
        withheld = {name for shape in shapes for name in model.withheld(shape.request)}
        findings += judge_fields(sorted(withheld))
    finally:
        await model.close()
    return ServingReport(settings.model, server, tuple(findings), tuple(figures))


def judge_probe(probe: ServerProbe) -> list[ServingFinding]:
    """State what the first request has shown of a server."""
    enforced: dict[bool | None, tuple[State, str]] = {
        True: ("works", "an answer has the form of a schema against a prompt that wants prose"),
        False: ("partly", "the prompt states the form of answers, which are checked"),
        None: ("unknown", "the tokens of the answer ended before it began"),
    }
    found = [ServingFinding("", "schema is enforced", *enforced[probe.enforces])]
    for line in probe.lines:
        cut = probe.read_tokens is not None and str(probe.read_tokens) in line
        found.append(ServingFinding("", "probe", "fails" if cut else "partly", line))
    return found


def judge_fields(withheld: Sequence[str]) -> list[ServingFinding]:
    """State which fields of a request are not sent."""
    if not withheld:
        return []
    text = f"not sent, since the server refuses or ignores them: {', '.join(withheld)}"
    return [ServingFinding("", "fields of a request", "partly", text)]


def grade(shape: PromptShape, completions: Sequence[ModelCompletion]) -> ServingFinding:
    """Judge whether a model can take a role: how many of its answers the laboratory could use."""
    assert shape.answer is not None
    problems = []
    for completion in completions:
        try:
            value = parse(completion, shape.answer)
        except MisreadAnswerError as error:
            problems.append(f"{error.reason.replace('_', ' ')}, {error.detail}")
            continue
        if problem := shape.follows(value) if shape.follows else "":
            problems.append(problem)
    n_good = len(completions) - len(problems)
    state: State = "works" if not problems else "partly" if n_good else "fails"
    text = f"{n_good} of {len(completions)} answers could be used"
    return ServingFinding(
        shape.role, "grade", state, f"{text}: {problems[0]}" if problems else text
    )


def judge_structured(shape: PromptShape, completion: ModelCompletion) -> ServingFinding:
    """Judge whether the content parses as the shape's answer."""
    assert shape.answer is not None
    feature = "structured output"
    try:
        parse(completion, shape.answer)
    except MisreadAnswerError as error:
        state: State = "partly" if error.reason == "truncated" else "fails"
        began = f"; began {completion.content[:60]!r}" if completion.content else ""
        return ServingFinding(shape.role, feature, state, f"{error.detail}{began}")
    return ServingFinding(shape.role, feature, "works", f"fits {shape.answer.__name__}")


def judge_tools(shape: PromptShape, completion: ModelCompletion) -> ServingFinding:
    """Judge whether a tool was called that is offered, with the arguments it takes."""
    feature, offers = "tool calls", {offer.name: offer for offer in shape.request.tools}
    if not completion.tool_calls:
        if completion.finish_reason == "length":
            return ServingFinding(
                shape.role, feature, "partly", "the answer was cut off before a call was whole"
            )
        forced = shape.request.tool_choice == "required"
        text = f"no call; finished with {completion.finish_reason!r}"
        return ServingFinding(shape.role, feature, "fails" if forced else "partly", text)
    for call in completion.tool_calls:
        if call.name not in offers:
            return ServingFinding(
                shape.role, feature, "fails", f"called {call.name!r}, which was not offered"
            )
        if wrong := wrong_arguments(offers[call.name], call.arguments):
            return ServingFinding(shape.role, feature, "fails", f"{call.name}: {wrong}")
    names = ", ".join(f"{call.name}({call.arguments})" for call in completion.tool_calls)
    return ServingFinding(shape.role, feature, "works", names[:120])


def wrong_arguments(offer: ToolOffer, arguments: str) -> str:
    """Explain what is wrong with the names of a tool's arguments; empty if nothing is."""
    try:
        given = json.loads(arguments)
    except ValueError:
        return f"arguments are not JSON: {arguments[:60]!r}"
    if not isinstance(given, dict):
        return f"arguments are no object: {arguments[:60]!r}"
    missing = set(offer.parameters.get("required", ())) - set(given)
    unknown = set(given) - set(offer.parameters.get("properties", {}))
    if missing or unknown:
        return f"lacks {sorted(missing)}, invents {sorted(unknown)}"
    return ""


def judge_log_probabilities(shape: PromptShape, completion: ModelCompletion) -> ServingFinding:
    """Judge whether each token has a log probability and the requested alternatives, which add up to at most 1."""
    feature, wanted = "log probabilities", shape.request.n_log_probabilities
    tokens = completion.log_probabilities
    if not tokens:
        return ServingFinding(shape.role, feature, "fails", "none came back")
    if any(token.log_probability > 1e-6 for token in tokens):
        return ServingFinding(shape.role, feature, "fails", "a log probability is above 0")
    fewest = min(len(token.alternatives) for token in tokens)
    # A grammar leaves few tokens possible; the others have probability 0 and may be left out.
    if fewest < 1:
        return ServingFinding(
            shape.role,
            feature,
            "fails",
            f"asked for {wanted} alternatives, got {fewest} at a token",
        )
    largest = max(sum(math.exp(value) for _, value in token.alternatives) for token in tokens)
    if largest > 1.001:
        return ServingFinding(
            shape.role, feature, "fails", f"alternatives sum to {largest:.3f} at a token"
        )
    return ServingFinding(
        shape.role,
        feature,
        "works",
        f"{len(tokens)} tokens, at least {fewest} alternatives at each",
    )


def figures_of(role: str, calls: Sequence[TimedCall]) -> CallFigures | None:
    """Figures of calls that were answered; None if none was."""
    good = [call for call in calls if not call.error]
    if not good:
        return None
    rates = [
        (call.n_tokens - 1) / (call.total_s - call.first_token_s)
        for call in good
        if call.n_tokens > 1 and call.total_s > call.first_token_s
    ]
    later = good[1:]
    n_later = sum(call.n_prompt_tokens for call in later)
    return CallFigures(
        role,
        len(good),
        good[0].n_prompt_tokens,
        sum(call.n_tokens for call in good) / len(good),
        quantiles_s([call.first_token_s for call in good], (0.5,))[0],
        quantiles_s(rates, (0.5,))[0],
        quantiles_s([call.total_s for call in good], (0.5,))[0],
        sum(call.n_cached_tokens for call in later) / n_later if n_later else math.nan,
    )


def as_accepted(settings: ModelSettings, withheld: Sequence[str]) -> ModelSettings:
    """The settings with which every request is accepted that is refused without them."""
    without = [name for name in withheld if name not in LIMIT_FIELDS]
    limit = settings.limit_field
    return settings.model_validate(
        settings.model_dump()
        | {"without": without, "limit_field": other_limit(limit) if limit in withheld else limit}
    )


async def _try(
    model: OpenAIModel,
    settings: ModelSettings,
    client: httpx.AsyncClient,
    shape: PromptShape,
    n_calls: int,
) -> tuple[list[ServingFinding], CallFigures | None]:
    before = await read_metrics(settings.base_url, client)
    try:
        first, again = await model.complete(shape.request), await model.complete(shape.request)
    except LanguageModelError as error:
        return [ServingFinding(shape.role, "answer", "fails", str(error))], None
    settings = as_accepted(settings, first.withheld)
    if first.finish_reason == "length":
        found = [
            ServingFinding(
                shape.role,
                "answer",
                "partly",
                f"cut off after {shape.request.sampling.max_tokens} tokens",
            )
        ]
    else:
        found = [
            ServingFinding(shape.role, "answer", "works", f"finished with {first.finish_reason!r}")
        ]
    if shape.answer is not None:
        found += [judge_structured(shape, first), grade(shape, (first, again))]
    if shape.request.tools:
        found.append(judge_tools(shape, first))
    if shape.request.n_log_probabilities:
        found.append(judge_log_probabilities(shape, first))
    same = _said(first) == _said(again)
    found.append(
        ServingFinding(shape.role, "seed", "works", "twice the same")
        if same
        else ServingFinding(
            shape.role,
            "seed",
            "partly",
            "the same seed gave another text; only recorded answers repeat",
        )
    )
    after = await read_metrics(settings.base_url, client)
    hits = after.since(before).total("vllm:prefix_cache_hits_total")
    queries = after.since(before).total("vllm:prefix_cache_queries_total")
    cached = again.usage.n_cached_tokens
    if cached or hits:
        text = f"{cached} of {again.usage.n_prompt_tokens} tokens of the second prompt"
        text += f"; /metrics: {hits:.0f} of {queries:.0f} hit" if after else ""
        found.append(ServingFinding(shape.role, "prefix cache", "works", text))
    else:
        text = "no hit on the second sending" if after else "the server does not report it"
        found.append(
            ServingFinding(shape.role, "prefix cache", "partly" if after else "unknown", text)
        )
    calls, _ = await time_calls(client, settings, variants(shape.request, n_calls), 1)
    if failed := [call.error for call in calls if call.error]:
        found.append(
            ServingFinding(
                shape.role, "streaming", "fails", f"{len(failed)} of {len(calls)}: {failed[0]}"
            )
        )
    return found, figures_of(shape.role, calls)


def _said(completion: ModelCompletion) -> tuple[str, tuple[tuple[str, str], ...]]:
    return completion.content, tuple((call.name, call.arguments) for call in completion.tool_calls)


_WORD_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "required": ["word"],
    "additionalProperties": False,
}


async def _limits(
    model: OpenAIModel, settings: ModelSettings, client: httpx.AsyncClient, context: int | None
) -> list[ServingFinding]:
    """Find what becomes of a prompt longer than the context, and whether the server counts its work."""
    request = ModelRequest(messages=(), sampling=TokenSampling(temperature=0.0, max_tokens=64))
    found = []
    if context is not None and context <= MOST_OVERFLOWN:
        long = (ChatMessage(role="user", content="rain " * (context + 8)),)
        try:
            await model.complete(request.model_copy(update={"messages": long}))
            found.append(
                ServingFinding(
                    "", "too long a prompt", "fails", "was answered, so part of it was dropped"
                )
            )
        except ContextTooLongError:
            found.append(
                ServingFinding("", "too long a prompt", "works", "refused with the right error")
            )
        except LanguageModelError as error:
            found.append(
                ServingFinding(
                    "", "too long a prompt", "partly", f"refused as {type(error).__name__}: {error}"
                )
            )
    metrics = await read_metrics(settings.base_url, client)
    found.append(
        ServingFinding(
            "",
            "metrics",
            "works" if metrics else "unknown",
            f"{len(metrics.samples)} samples" if metrics else "none",
        )
    )
    return found


async def _version(settings: ModelSettings, client: httpx.AsyncClient) -> str:
    try:
        response = await client.get(settings.base_url.rstrip("/").removesuffix("/v1") + "/version")
        return f"vLLM {response.json()['version']}"
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return "not reported"
