"""Any server that speaks the OpenAI protocol: vLLM, hosted providers, the rehearsal server of the tests.

A call that fails is not sent again here: `language_models.call` does that, and writes down every try. Only a request
with a field that its server refuses is sent once more without that field, which the completion records. The package
`openai` is loaded with the first call: it takes a quarter of the time that a pass without any model needs to begin.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import time
import weakref
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import httpx2
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lakatos.language_models.client import (
    ChatMessage,
    ModelCompletion,
    ModelRequest,
    TokenLogProbability,
    TokenUsage,
    ToolCall,
    ToolOffer,
)
from lakatos.language_models.errors import (
    ContextTooLongError,
    KeyRefusedError,
    LanguageModelError,
    ModelAbsentError,
    QuotaExhaustedError,
    RateLimitedError,
    RequestRefusedError,
    ServerFailedError,
    SlowServerError,
    UnreachableError,
    WrongAddressError,
)
from lakatos.language_models.settings import LOCAL, ModelSettings
from lakatos.language_models.withheld import (
    LIMIT_FIELDS,
    in_words,
    optional_fields,
    refused_fields,
    without,
)
from lakatos.traces.digest import Digest, digest_of

if TYPE_CHECKING:
    import openai

LEAST_LOG_PROBABILITY: Final = -9999.0
"""Value that servers write for log 0, and as which an infinity is read: records hold none."""
_SHOWN: Final = 400
_TITLE: Final = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_WRONG_KEY: Final = re.compile(
    r"api[ _]key (?:is )?(?:not valid|invalid|expired)|invalid api[ _]key"
)
"""Gemini refuses a key with status 400."""
_NO_MODEL: Final = re.compile(r"is not a valid model|model_not_found|model .{0,80}does not exist")
"""OpenRouter refuses a name with status 400."""
_TOO_LONG: Final = re.compile(
    r"context[ _](?:length|size|window)|max_model_len|too many tokens|prompt is too long"
    r"|token count .{0,40}exceeds"
)
""""prompt is too long" is Anthropic's, "token count exceeds" Gemini's, "context size" llama.cpp's."""


class OpenAIModel:
    """A model behind a server; made from settings, and useful in any number of event loops."""

    def __init__(self, settings: ModelSettings) -> None:
        """Nothing is sent yet, and no key is read.

        Args:
            settings: Settings of the client ``openai``.
        """
        self.settings = settings
        self._clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, openai.AsyncOpenAI] = (
            weakref.WeakKeyDictionary()
        )
        self._refused: set[str] = set()
        """Fields that the server has refused so far, whatever their values."""
        self._unenforced: set[Digest] = set()
        """Schemas of answers that the server has refused to enforce so far."""

    @property
    def name(self) -> str:
        """The model as the study names it."""
        return self.settings.name

    @property
    def version(self) -> str:
        """Digest of what the study declares; what the server says of itself comes with each answer."""
        return self.settings.version

    async def complete(self, request: ModelRequest) -> ModelCompletion:
        """Send the request, again without each field that the server refuses, and read the answer.

        The completion names the fields that were left out. The same fields are left out whether or not the server
        refused them before, so that a resumed run asks as one that was never interrupted.

        Raises:
            TransientError: No answer came, and asking again can help.
            RequestRefusedError: The server will not answer this.
        """
        n_refused, began = 0, time.perf_counter()
        while True:
            withheld = self.withheld(request)
            body = body_of_request(self.settings, request, withheld)
            try:
                answer = await self._sent(body)
            except _FieldRefusedError as refusal:
                n_refused += 1
                self._learn(request, body, refusal.fields)
                continue
            return completion_of(answer, latency_s=time.perf_counter() - began).model_copy(
                update={"withheld": withheld, "n_refused": n_refused}
            )

    def withheld(self, request: ModelRequest) -> tuple[str, ...]:
        """Fields of a request that are not sent, by the settings or because the server has refused them."""
        fields = {*self.settings.without, *self._refused}
        schema = request.answer_schema
        if schema is not None and digest_of(schema) in self._unenforced:
            fields.add("response_format")
        whole = optional_fields(body_of_request(self.settings, request))
        return tuple(name for name in whole if name in fields)

    async def _sent(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send once.

        Raises:
            _FieldRefusedError: The server refuses fields of the body.
        """
        import openai

        async with self.sending():
            try:
                return await (self._streamed(body) if body.get("stream") else self._whole(body))
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                if _is_about_length(error):
                    raise
                words = f"{_said(error)} {error.code or ''}"
                if fields := refused_fields(words, error.param, body):
                    raise _FieldRefusedError(fields, error) from error
                raise

    def _learn(self, request: ModelRequest, body: Mapping[str, Any], fields: Sequence[str]) -> None:
        """Remember what the server refuses.

        Raises:
            RequestRefusedError: The server refuses both names of the most tokens of an answer.
        """
        if "response_format" in fields and request.answer_schema is not None:
            self._unenforced.add(digest_of(request.answer_schema))
        self.leave_out(name for name in fields if name != "response_format")

    def leave_out(self, fields: Iterable[str]) -> None:
        """Send these fields in no further request.

        Raises:
            RequestRefusedError: Nothing would limit the tokens of an answer.
        """
        self._refused.update(fields)
        if self._refused.issuperset(LIMIT_FIELDS):
            raise RequestRefusedError(
                f"model {self.name!r} at {self.settings.base_url} refuses both `max_tokens` and "
                "`max_completion_tokens`; without a limit to its answers no budget can hold, so it is not asked."
            )

    async def offered(self) -> list[dict[str, Any]]:
        """Return the models that the server lists; costs nothing.

        Raises:
            TransientError: No answer came.
            RequestRefusedError: The key was refused, or this is no such server.
        """
        async with self.sending():
            response = await self.connection().models.with_raw_response.list()
            listed = self._object(response.text).get("data")
        return (
            [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
        )

    async def close(self) -> None:
        """Close the connections of this event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    def _key(self) -> str:
        """The key from the environment; never recorded, never shown."""
        variable = self.settings.key_variable
        if not variable:
            return "none"
        key = os.environ.get(variable, "")
        if not key:
            raise KeyRefusedError(
                f"model {self.name!r} takes its key from the environment variable {variable}, which is not set; "
                "nothing was sent. Set it and go on."
            )
        return key

    def connection(self) -> openai.AsyncOpenAI:
        """The package's client for this event loop, which tries nothing again."""
        import openai

        loop = asyncio.get_running_loop()
        if (client := self._clients.get(loop)) is None:
            address = urlsplit(self.settings.base_url)
            local = address.hostname in LOCAL
            limits = httpx2.Limits(
                max_connections=None, max_keepalive_connections=self.settings.most_in_flight
            )
            # This machine's own servers want no proxy, and without TLS no certificates, which take long to load.
            http = openai.DefaultAsyncHttpxClient(
                trust_env=not local, verify=not (local and address.scheme == "http"), limits=limits
            )
            client = openai.AsyncOpenAI(
                api_key=self._key(),
                base_url=self.settings.base_url,
                timeout=httpx2.Timeout(
                    self.settings.timeout_s, connect=self.settings.connect_timeout_s
                ),
                max_retries=0,
                http_client=http,
            )
            self._clients[loop] = client
        return client

    async def _whole(self, body: Mapping[str, Any]) -> dict[str, Any]:
        async with asyncio.timeout(self.settings.timeout_s):
            response = await self.connection().chat.completions.with_raw_response.create(**body)
            return self._object(response.text)

    def _object(self, text: str) -> dict[str, Any]:
        """The JSON object that a server answered.

        Raises:
            WrongAddressError: It answered with a web page.
            ValueError: It answered with something else.
        """
        if text.lstrip()[:1] == "<":
            title = _TITLE.search(text)
            shown = self._clean(" ".join(title[1].split())) if title else "no title"
            raise WrongAddressError(
                f"model {self.name!r}: {self.settings.base_url} answered with a web page ({shown}), which is not "
                "the OpenAI protocol. `base_url` must be the address of the API, which mostly ends in /v1."
            )
        return json_object(text)

    async def context_of_server(self) -> int | None:
        """Context length that Ollama or llama.cpp states of a loaded model; None elsewhere.

        Neither states it in the protocol, and Ollama cuts longer prompts without an error. Only servers without TLS,
        as on one's own machine or network, are asked; no key is sent.
        """
        address = urlsplit(self.settings.base_url)
        if address.scheme != "http":
            return None
        root = f"http://{address.netloc}"
        async with httpx2.AsyncClient(
            timeout=self.settings.connect_timeout_s, trust_env=address.hostname not in LOCAL
        ) as client:
            for page in ("/api/ps", "/props"):
                try:
                    found = _stated_context(
                        (await client.get(root + page)).json(), self.settings.model
                    )
                except (httpx2.HTTPError, ValueError):
                    continue
                if found is not None:
                    return found
        return None

    async def _streamed(self, body: Mapping[str, Any]) -> dict[str, Any]:
        stream = await self.connection().chat.completions.create(**body)
        async with stream:
            return joined([chunk.to_dict() async for chunk in stream])

    @asynccontextmanager
    async def sending(self) -> AsyncIterator[None]:
        """Turn whatever goes wrong into this package's errors."""
        import openai

        place = f"{self.name!r} at {self.settings.base_url}"
        try:
            yield
        except LanguageModelError:
            raise
        except (openai.APITimeoutError, TimeoutError) as error:
            raise SlowServerError(
                f"model {place} gave no answer within {self.settings.timeout_s:g} s; see whether the server is "
                "overloaded, ask for fewer tokens or raise `timeout_s`."
            ) from error
        except openai.APIStatusError as error:
            raise self._told(error, place) from error
        except (openai.APIConnectionError, httpx2.HTTPError) as error:
            cause = error.__cause__ or error
            raise UnreachableError(
                f"model {place} could not be reached or hung up ({type(cause).__name__}: {self._clean(cause)}); "
                "see whether the server runs and the address is right.",
                may_have_cost=not isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout),
            ) from error
        except (openai.OpenAIError, ValidationError, ValueError) as error:
            raise ServerFailedError(
                f"model {place} answered something that is not the OpenAI protocol ({self._clean(error)}); "
                "see what is listening there."
            ) from error

    def _told(self, error: openai.APIStatusError, place: str) -> LanguageModelError:
        """The error that a status and its text mean."""
        message, status = self._clean(_said(error)), error.status_code
        words = f"{message} {error.code or ''}".lower()
        if status in (401, 403) or (status == 400 and _WRONG_KEY.search(words)):
            variable = self.settings.key_variable
            named = f"in {variable}" if variable else "(none is configured)"
            advice = f"Check the value of {variable}." if variable else "Set `key_variable`."
            return KeyRefusedError(
                f"model {place} refused the key {named} ({status}): {_ended(message)} {advice}"
            )
        if status == 404 or (status == 400 and _NO_MODEL.search(words)):
            return ModelAbsentError(
                f"model {place}: the server has no {self.settings.model!r} or no such page ({status}): "
                f"{_ended(message)} Check `model`, and that `base_url` is the API's address, which mostly ends in /v1."
            )
        if status == 402 or (status == 429 and "insufficient_quota" in words):
            return QuotaExhaustedError(
                f"the account of model {place} has no money left ({status}): {_ended(message)} "
                "Pay in at the provider, or name another model."
            )
        if status == 429:
            return RateLimitedError(
                f"model {place} was asked too often (429): {message}",
                retry_after_s=retry_after_s(error.response.headers),
            )
        if status in (408, 409) or status >= 500:
            return ServerFailedError(
                f"model {place} failed ({status}): {message}",
                retry_after_s=retry_after_s(error.response.headers),
            )
        if _is_about_length(error):
            return ContextTooLongError(
                f"model {place}: prompt and answer do not fit its context ({status}): {message} "
                "Shorten the prompt or ask for fewer tokens."
            )
        return RequestRefusedError(f"model {place} refused the request ({status}): {message}")

    def _clean(self, error: object) -> str:
        """Text of an error, short, without the key that a server may repeat in it."""
        key = os.environ.get(self.settings.key_variable, "") if self.settings.key_variable else ""
        text = str(error)
        text = text.replace(key, "[key]") if key else text
        return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


class _FieldRefusedError(Exception):
    """The server refuses fields of a request that can be asked without them."""

    def __init__(self, fields: tuple[str, ...], error: Exception) -> None:
        super().__init__(str(error))
        self.fields = fields


def _said(error: openai.APIStatusError) -> str:
    """Return a server's error message: all that it sent, where the package finds no message in it."""
    bare = error.message == f"Error code: {error.status_code}" and error.body is not None
    return f"{error.message} - {error.response.text}" if bare else error.message


def _ended(sentence: str) -> str:
    """A server's words with a full stop, so that another sentence can follow."""
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."


def _stated_context(page: Any, model: str) -> int | None:
    """Context length in ``/api/ps`` of Ollama or ``/props`` of llama.cpp."""
    if not isinstance(page, dict):
        return None
    loaded = page.get("models")
    for item in loaded if isinstance(loaded, list) else ():
        if isinstance(item, dict) and model in (item.get("name"), item.get("model")):
            return _count_or_none(item.get("context_length"))
    settings = page.get("default_generation_settings")
    return _count_or_none(settings.get("n_ctx")) if isinstance(settings, dict) else None


def _count_or_none(value: Any) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


def _is_about_length(error: openai.APIStatusError) -> bool:
    """Whether a request is refused since prompt and answer are too long."""
    words = f"{_said(error)} {error.code or ''}".lower()
    return bool(_TOO_LONG.search(words))


def body_of_request(
    settings: ModelSettings, request: ModelRequest, withheld: Collection[str] = ()
) -> dict[str, Any]:
    """A request as arguments of ``chat.completions.create``.

    Args:
        settings: Settings of the model.
        request: What is asked.
        withheld: Fields that are not sent. Where ``response_format`` is one of them, the prompt holds the schema.
    """
    sampling = request.sampling
    body: dict[str, Any] = {
        "model": settings.model,
        "messages": [_message(message) for message in request.messages],
        "temperature": sampling.temperature,
        settings.limit_field: sampling.max_tokens,
        "seed": request.seed,
    }
    if sampling.top_p != 1.0:
        # The default is not sent: some models refuse it beside a temperature.
        body["top_p"] = sampling.top_p
    if settings.stream and "stream" not in withheld:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    if sampling.stop:
        body["stop"] = list(sampling.stop)
    if request.answer_schema is not None:
        described = {"name": "answer", "strict": True, "schema": request.answer_schema}
        body["response_format"] = {"type": "json_schema", "json_schema": described}
    if request.tools:
        body["tools"] = [_tool(offer) for offer in request.tools]
        body["tool_choice"] = request.tool_choice
    if request.n_log_probabilities:
        body |= {"logprobs": True, "top_logprobs": request.n_log_probabilities}
    if settings.extra:
        body["extra_body"] = dict(settings.extra)
    if request.answer_schema is not None and "response_format" in withheld:
        body["messages"] = in_words(body["messages"], request.answer_schema)
    return without(body, withheld)


def _message(message: ChatMessage) -> dict[str, Any]:
    fields: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        fields["tool_calls"] = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.call_id is not None:
        fields["tool_call_id"] = message.call_id
    return fields


def _tool(offer: ToolOffer) -> dict[str, Any]:
    # Without `strict` vLLM leaves the arguments unconstrained, even where the call itself is forced.
    described = {
        "name": offer.name,
        "description": offer.description,
        "parameters": offer.parameters,
        "strict": True,
    }
    return {"type": "function", "function": described}


class _WirePart(BaseModel):
    """Part of an answer: what we read is checked, whatever else the server adds is passed over."""

    model_config = ConfigDict(extra="ignore", strict=True)


class _CalledFunction(_WirePart):
    name: str
    arguments: str = ""


class _WireCall(_WirePart):
    id: str | None = None
    function: _CalledFunction


class _WireMessage(_WirePart):
    content: str | None = None
    reasoning: Any = None
    reasoning_content: Any = None
    refusal: str | None = None
    tool_calls: list[_WireCall] | None = None


class _TokenAlternative(_WirePart):
    token: str
    logprob: float


class _ScoredToken(_TokenAlternative):
    top_logprobs: list[_TokenAlternative] | None = None


class _ScoredTokens(_WirePart):
    content: list[_ScoredToken] | None = None


class _WireChoice(_WirePart):
    message: _WireMessage
    finish_reason: str | None = None
    logprobs: _ScoredTokens | None = None


class _PromptDetails(_WirePart):
    cached_tokens: int | None = None


class _CompletionDetails(_WirePart):
    reasoning_tokens: int | None = None


class _WireUsage(_WirePart):
    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(0, ge=0)
    prompt_tokens_details: _PromptDetails | None = None
    completion_tokens_details: _CompletionDetails | None = None


class _WireAnswer(_WirePart):
    model: str = ""
    system_fingerprint: str | None = None
    choices: list[_WireChoice] = Field(min_length=1)
    usage: _WireUsage | None = None


def _usage_of(read: _WireAnswer) -> TokenUsage:
    """Tokens as the server counted them; none where it does not say."""
    if read.usage is None:
        return TokenUsage()
    details = read.usage.prompt_tokens_details
    return TokenUsage(
        n_prompt_tokens=read.usage.prompt_tokens,
        n_cached_tokens=(details.cached_tokens or 0) if details else 0,
        n_completion_tokens=read.usage.completion_tokens,
    )


def _thinks(read: _WireAnswer) -> bool:
    """Whether a server states that the model thought before its answer; thinking within the content is not meant."""
    message = read.choices[0].message
    details = read.usage.completion_tokens_details if read.usage else None
    counted = (details.reasoning_tokens or 0) if details else 0
    return bool(message.reasoning or message.reasoning_content or counted)


def completion_of(answer: Mapping[str, Any], *, latency_s: float = 0.0) -> ModelCompletion:
    """Read an answer of the protocol; halves of characters are replaced, infinities become the least that is written.

    Raises:
        ServerFailedError: It is none.
    """
    try:
        read = _WireAnswer.model_validate(_whole_characters(dict(answer)))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ServerFailedError(
            f"the server's answer is not the OpenAI protocol's: {place}: {first['msg']}; see what is listening there."
        ) from None
    choice = read.choices[0]
    return ModelCompletion(
        content=choice.message.content or "",
        tool_calls=tuple(
            ToolCall(
                call_id=call.id or f"call-{place}",
                name=call.function.name,
                arguments=call.function.arguments,
            )
            for place, call in enumerate(choice.message.tool_calls or ())
        ),
        finish_reason=choice.finish_reason or "",
        refusal=choice.message.refusal or "",
        model_name=read.model,
        server=read.system_fingerprint or "",
        usage=_usage_of(read),
        thinks=_thinks(read),
        log_probabilities=tuple(
            TokenLogProbability(
                token=token.token,
                log_probability=finite(token.logprob),
                alternatives=tuple(
                    (other.token, finite(other.logprob)) for other in token.top_logprobs or ()
                ),
            )
            for token in (choice.logprobs.content or () if choice.logprobs else ())
        ),
        latency_s=latency_s,
    )


def finite(log_probability: float) -> float:
    """The same, or the least that servers write."""
    return log_probability if math.isfinite(log_probability) else LEAST_LOG_PROBABILITY


def _first_choices(chunk: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Pieces of the first answer in a chunk; others are not read."""
    return [choice for choice in chunk.get("choices") or () if choice.get("index", 0) == 0]


def _join_calls(calls: dict[int, dict[str, Any]], parts: Iterable[Mapping[str, Any]]) -> None:
    """Add pieces of calls of tools to the calls so far, by their number."""
    for part in parts:
        function = part.get("function") or {}
        call = calls.setdefault(
            part.get("index", 0), {"id": None, "function": {"name": "", "arguments": ""}}
        )
        call["id"] = part.get("id") or call["id"]
        call["function"]["name"] += function.get("name") or ""
        call["function"]["arguments"] += function.get("arguments") or ""


def joined(chunks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One answer out of the chunks of a stream.

    Raises:
        ValueError: The stream ended before the answer did, or its chunks are not the protocol's.
    """
    message: dict[str, Any] = {"content": ""}
    calls: dict[int, dict[str, Any]] = {}
    tokens: list[Any] = []
    finish_reason, usage, model, fingerprint = None, None, "", None
    for chunk in chunks:
        model, usage = chunk.get("model") or model, chunk.get("usage") or usage
        fingerprint = chunk.get("system_fingerprint") or fingerprint
        for choice in _first_choices(chunk):
            delta = choice.get("delta") or {}
            message["content"] += delta.get("content") or ""
            if delta.get("refusal"):
                message["refusal"] = message.get("refusal", "") + delta["refusal"]
            _join_calls(calls, delta.get("tool_calls") or ())
            tokens.extend((choice.get("logprobs") or {}).get("content") or ())
            finish_reason = choice.get("finish_reason") or finish_reason
    if finish_reason is None:
        raise ValueError(f"the stream broke off after {len(chunks)} pieces")
    if calls:
        message["tool_calls"] = [calls[place] for place in sorted(calls)]
    choice = {
        "message": message,
        "finish_reason": finish_reason,
        "logprobs": {"content": tokens} if tokens else None,
    }
    return {"model": model, "system_fingerprint": fingerprint, "choices": [choice], "usage": usage}


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: a number, or a date."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        value = headers.get(name, "")
        try:
            seconds = float(value) * unit
        except ValueError:
            try:
                seconds = parsedate_to_datetime(value).timestamp() - time.time()
            except (TypeError, ValueError):
                continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    return None


def _whole_characters(value: Any) -> Any:
    """The same with halves of characters replaced, which no record can hold."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_whole_characters(name): _whole_characters(inner) for name, inner in value.items()}
    return [_whole_characters(inner) for inner in value] if isinstance(value, list) else value


def json_object(text: str) -> dict[str, Any]:
    """The object that a body holds.

    Raises:
        ValueError: It holds something else.
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("JSON that is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError(f"a JSON {type(value).__name__} instead of an object")
    return value
