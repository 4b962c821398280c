"""Settings of a language model in a study."""

from __future__ import annotations

import re
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)

from lakatos.language_models.client import FrozenPart
from lakatos.language_models.errors import ModelSettingsError
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
    """Price per million tokens, in the currency of the study."""

    input: float = Field(0.0, ge=0)
    """Price of tokens that are sent."""
    cached_input: float | None = Field(None, ge=0)
    """Price of cached input; by default that of ``input``."""
    output: float = Field(0.0, ge=0)
    """Price of tokens that are received."""


class ModelSettings(FrozenPart):
    """One language model of a study. Its key stays in the environment."""

    name: str = Field(min_length=1)
    """Name of the model in the study."""
    client: str = "openai"
    """Name of a client in `language_models.clients.CLIENTS`."""
    model: str = ""
    """Name of the model on the server."""
    revision: str = ""
    """Commit of the weights, or fingerprint of the serving profile; a change makes it another
    model."""
    base_url: str = ""
    """Address up to and including ``/v1``. It is not part of the version, so the model may be
    served elsewhere after a restart."""
    key_variable: str = ""
    """Environment variable with the key, named ``..._API_KEY``; empty if the server needs none."""
    timeout_s: float = Field(300.0, gt=0)
    """Seconds after which a call is given up."""
    connect_timeout_s: float = Field(10.0, gt=0)
    """Seconds after which a connection is given up."""
    context_tokens: int | None = Field(None, ge=1)
    """Maximum tokens of prompt and answer together; by default as the server states."""
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """The server's name for the maximum number of tokens of an answer."""
    without: tuple[OptionalField, ...] = ()
    """Fields that are not sent because the server refuses or ignores them, such as ``temperature``.
    Without ``response_format`` the prompt contains the schema. Fields that a server refuses by name
    are left out automatically."""
    stream: bool = False
    """Whether the answer is read as it is written, so that a silent connection is noticed after
    ``timeout_s``."""
    extra: dict[str, Any] = Field(default_factory=dict)
    """Further fields of each request, such as ``chat_template_kwargs``."""
    price: Price = Price()
    most_in_flight: int = Field(16, ge=1)
    """Maximum number of simultaneous calls."""
    answers: tuple[str, ...] = ()
    """Answers of the client ``scripted``."""

    @model_serializer(mode="wrap")
    def _without_later_keys(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A key that came later is left out where it says nothing, so that earlier runs stay what they were."""
        value: dict[str, Any] = write(self)
        return {name: item for name, item in value.items() if name != "without" or item}

    @model_validator(mode="before")
    @classmethod
    def _without_gone_key(cls, given: Any) -> Any:
        """Journals of earlier versions hold ``exchanges``; it said nothing except for the client ``player``."""
        if isinstance(given, dict) and given.get("exchanges") == "":
            return {name: item for name, item in given.items() if name != "exchanges"}
        return given

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
            "exchanges": "",  # a key that is gone, kept so that versions stay
        }
        return digest_of(declared | ({"without": sorted(self.without)} if self.without else {}))


def model_at(base_url: str, model: str, key_variable: str = "") -> ModelSettings:
    """Settings of a model that is named by its address and its name on the server.

    Raises:
        ModelSettingsError: They cannot be used; the message names the setting.
    """
    try:
        return ModelSettings(name=model, model=model, base_url=base_url, key_variable=key_variable)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the address"
        raise ModelSettingsError(
            f"the model {model!r} at {base_url!r} cannot be used: {where}: "
            f"{first['msg'].removeprefix('Value error, ')}."
        ) from None
