"""A profile says which model is served, and how: one TOML file, checked before anything starts.

Names are the laboratory's; `language_models.serving.launch` turns them into the flags of vLLM. Whatever a profile does
not name stays at vLLM's default, except where a default would change answers behind the laboratory's back: sampling
defaults that come with a model are not used, and the server listens to this machine only.
"""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from lakatos.language_models.serving.errors import ProfileError
from lakatos.traces.digest import digest_of
from lakatos.traces.files import read_named, read_toml

Runtime = Literal["gpu", "cpu"]
Count = Annotated[int, Field(ge=1)]
COMMIT = re.compile(r"[0-9a-f]{40}")


class ProfileSection(BaseModel):
    """Frozen, and refuses names that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ParallelSettings(ProfileSection):
    """Division of the model over devices; their number is the product of the three."""

    tensor: Count = 1
    """Devices that share every layer."""
    pipeline: Count = 1
    """Groups of devices that each hold some of the layers."""
    data: Count = 1
    """Copies of the model."""
    experts: bool = False
    """Spread the experts of a mixture over devices instead of cutting each of them."""


class ServerMemory(ProfileSection):
    """Limits of the server's memory."""

    gpu_fraction: Annotated[float, Field(gt=0, le=0.98)] | None = None
    """Share of every GPU's memory, for weights and cache together."""
    cache_gib: Annotated[float, Field(gt=0)] | None = None
    """Size of the cache of keys and values on each device; on CPUs it is taken from main memory."""
    offload_gib: Annotated[float, Field(ge=0)] = 0.0
    """Weights kept in main memory, for each GPU; slow."""
    cache_dtype: Literal["auto", "fp8", "fp8_e4m3", "fp8_e5m2", "bfloat16"] = "auto"
    """Numbers of the cache."""


class LoraAdapter(ProfileSection):
    """A LoRA adapter; it is asked for by its name in place of the model's."""

    name: str
    path: str
    """Folder, relative to the profile, or a name on the hub."""


class ServingProfile(ProfileSection):
    """A model and how it is served."""

    name: str = ""
    """Name of the profile; the file's by default."""
    description: str = ""
    runtime: Runtime = "gpu"
    """Build of vLLM that serves it."""
    model: str
    """Folder, relative to the profile when it starts with `.` or `/`, or a name on the hub."""
    served_name: str = ""
    """Name of the model in requests; `model` by default."""
    revision: str | None = None
    """Commit of a model on the hub. A branch can move and is refused, for the same name would mean another model."""
    weights: Literal["auto", "dummy"] = "auto"
    """`dummy` draws random weights for the model's shape: protocol and throughput without the download of weights."""
    quantisation: str | None = None
    """Quantisation as vLLM names it; usually detected from the model itself."""
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto"
    context: Annotated[int, Field(ge=256)] | None = None
    """Tokens of prompt and answer together; the model's own limit by default."""
    max_requests: Annotated[int, Field(ge=1, le=4096)] = 64
    """Most requests that are answered at the same time; further ones wait in the server."""
    parallel: ParallelSettings = ParallelSettings()
    memory: ServerMemory = ServerMemory()
    structured_output: Literal["auto", "xgrammar", "guidance", "outlines", "lm-format-enforcer"] = (
        "xgrammar"
    )
    """Backend that makes answers keep to a schema."""
    prefix_caching: bool = True
    """Keep the work on beginnings of prompts that come again."""
    tool_parser: str | None = None
    """Parser of tool calls in the model's text; without one the server refuses tools."""
    reasoning_parser: str | None = None
    """Parser that separates a model's reasoning from its answer."""
    chat_template: str | None = None
    """File, relative to the profile; the model's own by default."""
    chat_template_arguments: dict[str, bool | int | str] = {}
    """Arguments of the chat template, such as `enable_thinking = false`."""
    adapters: tuple[LoraAdapter, ...] = ()
    max_adapter_rank: Literal[1, 8, 16, 32, 64, 128, 256, 320, 512] = 16
    n_log_probabilities: Annotated[int, Field(ge=0, le=100)] = 20
    """Most that a request may ask for at each token."""
    eager: bool = False
    """No compilation and no CUDA graphs: up sooner, slower after."""
    batch_invariant: bool = False
    """Answers that do not depend on what else is served at the moment; slower, on some GPUs only."""
    seed: int = 0
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65535)] = 8000
    api_key_variable: str | None = None
    """Environment variable with the key that requests must bring; needed to listen to other machines."""
    start_timeout_s: Annotated[float, Field(gt=0)] = 1800.0
    """Longest that loading may take."""
    flags: dict[str, bool | int | float | str] = {}
    """Further flags of vLLM by name, such as `max-num-batched-tokens = 8192`; for what has no name of its own above."""

    @property
    def asked_name(self) -> str:
        """The model's name in requests."""
        return self.served_name or self.model

    @property
    def base_url(self) -> str:
        """Address at which the OpenAI protocol is used."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/v1"

    @property
    def fingerprint(self) -> str:
        """Digest of all that can change answers; where the server listens and how long it may load cannot."""
        apart = {"name", "description", "host", "port", "api_key_variable", "start_timeout_s"}
        # The section that is gone counts as absent, so that earlier profiles keep their fingerprints.
        return digest_of({**self.model_dump(mode="json", exclude=apart), "speculation": None})

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        n_devices = self.parallel.tensor * self.parallel.pipeline * self.parallel.data
        if self.runtime == "cpu":
            if self.memory.gpu_fraction is not None or self.memory.offload_gib:
                raise ValueError(
                    'memory.gpu_fraction and memory.offload_gib mean nothing with runtime = "cpu"; '
                    "set memory.cache_gib instead"
                )
            if n_devices > 1:
                raise ValueError(
                    f'runtime = "cpu" serves on one device; parallel asks for {n_devices}'
                )
            if self.context is None:
                raise ValueError(
                    'runtime = "cpu" needs `context`: prompts are read at once there, up to that length'
                )
            if self.batch_invariant:
                raise ValueError('batch_invariant needs runtime = "gpu"')
        if self.revision is not None:
            if is_folder(self.model):
                raise ValueError(
                    f"model {self.model!r} is a folder and has no revision; leave `revision` out"
                )
            if not COMMIT.fullmatch(self.revision):
                raise ValueError(
                    f"revision {self.revision!r} is not a commit (40 hexadecimal digits); a branch or tag can move"
                )
        if self.host not in ("127.0.0.1", "localhost", "::1") and not self.api_key_variable:
            raise ValueError(
                f"host {self.host!r} lets other machines ask this server; name an environment variable with a key in "
                "`api_key_variable`, or listen on 127.0.0.1"
            )
        names = [self.asked_name, *(adapter.name for adapter in self.adapters)]
        if len({*names}) < len(names):
            raise ValueError(
                f"names of the model and its adapters must differ; they are {', '.join(names)}"
            )
        return self

    @model_validator(mode="after")
    def _flags_are_not_hidden(self) -> Self:
        for flag in self.flags:
            if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", flag):
                raise ValueError(
                    f"flags: {flag!r} is not a flag's name; write it as `max-num-batched-tokens`"
                )
            if flag in ("api-key", "trust-remote-code", "config"):
                reason = {
                    "api-key": "a key on the command line can be read by every user; use `api_key_variable`",
                    "trust-remote-code": "it would run code that comes with the model",
                    "config": "a file of flags is not checked; name them here",
                }[flag]
                raise ValueError(f"flags: {flag!r} is refused: {reason}")
        return self


def is_folder(model: str) -> bool:
    """Whether ``model`` names a folder and not a model on the hub."""
    return model.startswith((".", "/", "~"))


def ready_profiles() -> dict[str, Path]:
    """Profiles that come with the laboratory, by name."""
    folder = Path(str(resources.files("lakatos.language_models.serving") / "profiles"))
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def load_profile(named: str | Path) -> ServingProfile:
    """Read a ready profile by its name, or any by its path.

    Raises:
        ProfileError: There is none, or it says what a profile cannot say.
    """
    ready = ready_profiles()
    path = ready.get(str(named)) or Path(named)
    if not path.is_file():
        raise ProfileError(
            f"there is no profile {str(named)!r}: give a TOML file or one of {', '.join(ready)}."
        )
    try:
        content = read_toml(read_named(path).decode())
    except OSError as error:
        raise ProfileError(f"cannot read {path}: {error.strerror}.") from None
    except ValueError as error:
        raise ProfileError(f"{path} is not TOML: {error}.") from error
    return parse_profile(content, path)


def parse_profile(content: dict[str, Any], path: Path) -> ServingProfile:
    """A profile from what its file says; folders in it become absolute.

    Raises:
        ProfileError: It says what a profile cannot say.
    """
    try:
        profile = ServingProfile.model_validate({"name": path.stem, **content})
    except ValidationError as error:
        raise ProfileError(f"{path}: {'; '.join(map(_explain, error.errors()))}.") from error
    base = path.parent

    def place(text: str) -> str:
        return str((base / Path(text).expanduser()).resolve()) if is_folder(text) else text

    return profile.model_copy(
        update={
            "model": place(profile.model),
            "served_name": profile.served_name
            or (Path(place(profile.model)).name if is_folder(profile.model) else profile.model),
            "chat_template": profile.chat_template
            and str((base / profile.chat_template).resolve()),
            "adapters": tuple(
                item.model_copy(update={"path": place(item.path)}) for item in profile.adapters
            ),
        }
    )


def _explain(error: Any) -> str:
    place = ".".join(map(str, error["loc"]))
    text = error["msg"].removeprefix("Value error, ")
    if error["loc"] == ("speculation",):
        text = "this section is gone; give vLLM's own flag, flags: speculative-config = '{...}'"
    elif error["type"] == "extra_forbidden":
        sections: dict[str, type[ProfileSection]] = {
            "parallel": ParallelSettings,
            "memory": ServerMemory,
            "adapters": LoraAdapter,
        }
        section = (
            sections.get(error["loc"][0], ServingProfile)
            if len(error["loc"]) > 1
            else ServingProfile
        )
        text = f"unknown name; there are: {', '.join(section.model_fields)}"
    elif error["type"] == "missing":
        text = "is missing"
    return f"{place}: {text}" if place else text
