"""What a study says about a language model."""

from __future__ import annotations

import re
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from lakatos.language_models.client import FrozenPart
from lakatos.language_models.withheld import OptionalField
from lakatos.traces.digest import Digest, digest_of

LOCAL: Final = ("localhost", "127.0.0.1", "::1", "0.0.0.0")
"""Hosts of this machine, where a key may travel without TLS."""
_KEY_NAME: Final = r"(?!PREFECT_)[A-Z][A-Z0-9_]*_API_KEY"
_OLD_NAMES = (
    "guided_json",
    "guided_regex",
    "guided_choice",
    "guided_grammar",
    "guided_decoding_backend",
)
"""vLLM ignores these without an error since they were replaced; an answer would come back unconstrained."""


class Price(FrozenPart):
    """Money for a million tokens, in the currency of the study."""

    input: float = Field(0.0, ge=0)
    """Of what is sent."""
    cached_input: float | None = Field(None, ge=0)
    """As ``input`` where it is not said."""
    output: float = Field(0.0, ge=0)
    """Of what comes back."""


class ModelSettings(FrozenPart):
    """One language model of a study; everything about it but its key, which stays in the environment."""

    name: str = Field(min_length=1)
    """As the study calls it."""
    client: str = "openai"
    """A name in `language_models.clients.CLIENTS`."""
    model: str = ""
    """As the server calls it."""
    revision: str = ""
    """Commit of the weights or digest of the serving profile; a change makes it another model."""
    base_url: str = ""
    """Up to and including ``/v1``. Not part of the version: the same model may be served elsewhere after a restart."""
    key_variable: str = ""
    """Environment variable that holds the key, named ``..._API_KEY``; empty for a server that wants none."""
    timeout_s: float = Field(300.0, gt=0)
    """Until a call is given up, seconds."""
    connect_timeout_s: float = Field(10.0, gt=0)
    """Until a server must have answered the connection, seconds."""
    context_tokens: int | None = Field(None, ge=1)
    """Longest prompt and answer together; None takes the server's word."""
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """What the server calls the most tokens of an answer; some hosted models want the second."""
    without: tuple[OptionalField, ...] = ()
    """Fields that the server refuses or ignores, such as ``temperature``; they are not sent. Without
    ``response_format`` the prompt holds the schema. What a server refuses by name is left out by itself."""
    stream: bool = False
    """Read the answer as it is written: a connection that has gone silent is noticed after ``timeout_s``."""
    extra: dict[str, Any] = Field(default_factory=dict)
    """Further fields of each request that the server understands, such as ``chat_template_kwargs``."""
    price: Price = Price()
    most_in_flight: int = Field(16, ge=1)
    """Calls at the same time."""
    requests_per_minute: int | None = Field(None, ge=1)
    """Most calls a minute."""
    tokens_per_minute: int | None = Field(None, ge=1)
    """Most tokens a minute, sent and received."""
    answers: tuple[str, ...] = ()
    """Of the client ``scripted``."""
    exchanges: str = ""
    """File of the client ``player``."""

    @model_serializer(mode="wrap")
    def _without_later_keys(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A key that came later is left out where it says nothing, so that earlier runs stay what they were."""
        value: dict[str, Any] = write(self)
        return {name: item for name, item in value.items() if name != "without" or item}

    @field_validator("extra")
    @classmethod
    def _understood(cls, extra: dict[str, Any]) -> dict[str, Any]:
        if old := sorted(set(extra) & set(_OLD_NAMES)):
            raise ValueError(
                f"{', '.join(old)}: vLLM ignores this name silently; give the request an answer_schema"
            )
        return extra

    @field_validator("key_variable")
    @classmethod
    def _names_a_key(cls, name: str) -> str:
        """A study file comes from others, and what it names is sent to the server that it names."""
        if name and not re.fullmatch(_KEY_NAME, name):
            raise ValueError(
                f"{name!r} is not the name of a model's key; a study may only name variables like OPENAI_API_KEY, "
                "in capitals and ending in _API_KEY, so that no other secret of this machine can be sent away"
            )
        return name

    @model_validator(mode="after")
    def _key_stays_secret(self) -> ModelSettings:
        address = urlsplit(self.base_url)
        if self.key_variable and address.scheme == "http" and address.hostname not in LOCAL:
            raise ValueError(
                f"base_url {self.base_url!r} would send the key in {self.key_variable} without encryption; "
                "give an address with https://, or a tunnel that ends on 127.0.0.1"
            )
        return self

    @model_validator(mode="after")
    def _complete(self) -> ModelSettings:
        if self.client == "openai":
            if not self.base_url.startswith(("http://", "https://")):
                raise ValueError(
                    f"base_url {self.base_url!r} is no address; give one like http://127.0.0.1:8000/v1"
                )
            if not self.model:
                raise ValueError("model is empty; give the name under which the server offers it")
        return self

    @property
    def version(self) -> Digest:
        """Digest of all that is declared and can change an answer; what the server says of itself is in each answer."""
        declared = {
            "client": self.client,
            "model": self.model,
            "revision": self.revision,
            "extra": self.extra,
            "answers": list(self.answers),
            "exchanges": self.exchanges,
        }
        return digest_of(declared | ({"without": sorted(self.without)} if self.without else {}))
