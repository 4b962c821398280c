"""Conversion of a profile to a command line and environment variables of vLLM."""

from __future__ import annotations

import json
import os
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

from lakatos.language_models.serving.environment import (
    MODULE,
    ServingEnvironment,
    process_environment,
)
from lakatos.language_models.serving.errors import ProfileError
from lakatos.language_models.serving.flags import check_flags
from lakatos.language_models.serving.profile import ServingProfile, is_folder
from lakatos.language_models.settings import ModelSettings


@dataclass(frozen=True)
class ServerLaunch:
    """All that starting a server takes."""

    command: tuple[str, ...]
    variables: dict[str, str]
    """The whole environment of the process."""
    base_url: str
    """Address at which the server will use the OpenAI protocol."""
    model: str
    """Name of the model in requests."""
    key: str | None
    """Key that requests must bring; None without one."""
    start_timeout_s: float


def prepare(profile: ServingProfile, environment: ServingEnvironment) -> ServerLaunch:
    """The command for a profile, checked against what the installed vLLM says it knows.

    Raises:
        ProfileError: The profile is for another build, asks for a flag that this vLLM does not know, or names a
            variable that holds no key.
    """
    if profile.runtime != environment.runtime:
        raise ProfileError(
            f"profile {profile.name!r} is for {profile.runtime} and this environment is for {environment.runtime}."
        )
    flags = vllm_flags(profile)
    check_flags(_lines(flags), environment.flags(), environment.version)
    variables = process_environment(profile.runtime, environment.folder)
    if is_folder(profile.model):
        variables["HF_HUB_OFFLINE"] = "1"
    if profile.runtime == "cpu" and profile.memory.cache_gib is not None:
        variables["VLLM_CPU_KVCACHE_SPACE"] = f"{profile.memory.cache_gib:g}"
    if profile.batch_invariant:
        variables["VLLM_BATCH_INVARIANT"] = "1"
    key = _key(profile)
    variables.pop("VLLM_API_KEY", None)
    if key:
        variables["VLLM_API_KEY"] = key
    words = [word for name, value in flags.items() for word in (name, *_words(value))]
    command = (str(environment.python), "-m", MODULE, *words)
    return ServerLaunch(
        command, variables, profile.base_url, profile.asked_name, key, profile.start_timeout_s
    )


def vllm_flags(profile: ServingProfile) -> dict[str, str | tuple[str, ...] | None]:
    """VLLM's flags for a profile: a value, several, or None for a flag that takes none."""
    structured: dict[str, Any] = {"backend": profile.structured_output}
    if profile.structured_output in ("xgrammar", "guidance"):
        structured["disable_any_whitespace"] = (
            True  # or a model may write blanks until it runs out of tokens
        )
    found: dict[str, str | tuple[str, ...] | None] = {
        "--model": profile.model,
        "--served-model-name": profile.asked_name,
        "--host": profile.host,
        "--port": str(profile.port),
        "--seed": str(profile.seed),
        "--max-num-seqs": str(profile.max_requests),
        "--max-logprobs": str(profile.n_log_probabilities),
        # What is sent decides the answer, not defaults that come with a model.
        "--generation-config": "vllm",
        "--structured-outputs-config": json.dumps(structured),
        # Says how much of each prompt was cached.
        "--enable-prompt-tokens-details": None,
        "--enable-prefix-caching" if profile.prefix_caching else "--no-enable-prefix-caching": None,
    }
    found |= _serving_options(profile)
    if profile.runtime == "cpu":
        # vLLM 0.32 dies on CPUs when a request with a seed has its prompt read in pieces: the generator of random
        # numbers there has no offset to turn back. So every prompt is read at once.
        found["--no-enable-chunked-prefill"] = None
        found["--max-num-batched-tokens"] = str(max(profile.context or 0, 2048))
    switches = {
        "--enable-auto-tool-choice": profile.tool_parser,
        "--enable-expert-parallel": profile.parallel.experts,
        "--enforce-eager": profile.eager,
    }
    found |= {name: None for name, is_on in switches.items() if is_on}
    if profile.adapters:
        found["--enable-lora"] = None
        found["--max-lora-rank"] = str(profile.max_adapter_rank)
        found["--lora-modules"] = tuple(f"{item.name}={item.path}" for item in profile.adapters)
    return found | _own_flags(profile, found)


def _own_flags(profile: ServingProfile, known: Container[str]) -> dict[str, str | None]:
    """Flags that a profile adds by hand.

    Raises:
        ProfileError: One of them is set by the profile already.
    """
    found: dict[str, str | None] = {}
    for name, value in profile.flags.items():
        if f"--{name}" in known or f"--{name}" in found:
            raise ProfileError(
                f"flags: {name!r} is already set by the profile; leave it out of `flags`."
            )
        if value is False:
            found[f"--no-{name}"] = None
        else:
            found[f"--{name}"] = None if value is True else str(value)
    return found


def _serving_options(profile: ServingProfile) -> dict[str, str]:
    """Flags with a value that a profile may leave to vLLM."""
    parallel, memory = profile.parallel, profile.memory
    cache_gib = memory.cache_gib if profile.runtime == "gpu" else None
    template = profile.chat_template_arguments
    optional: dict[str, object] = {
        "--revision": profile.revision,
        "--tokenizer-revision": profile.revision,
        "--quantization": profile.quantisation,
        "--dtype": _unless(profile.dtype, "auto"),
        "--load-format": _unless(profile.weights, "auto"),
        "--max-model-len": profile.context,
        "--tensor-parallel-size": _unless(parallel.tensor, 1),
        "--pipeline-parallel-size": _unless(parallel.pipeline, 1),
        "--data-parallel-size": _unless(parallel.data, 1),
        "--gpu-memory-utilization": memory.gpu_fraction,
        "--kv-cache-memory-bytes": int(cache_gib * 2**30) if cache_gib else None,
        "--cpu-offload-gb": memory.offload_gib or None,
        "--kv-cache-dtype": _unless(memory.cache_dtype, "auto"),
        "--tool-call-parser": profile.tool_parser,
        "--reasoning-parser": profile.reasoning_parser,
        "--chat-template": profile.chat_template,
        "--default-chat-template-kwargs": json.dumps(template) if template else None,
    }
    return {name: f"{value}" for name, value in optional.items() if value is not None}


def _unless(value: object, default: object) -> object:
    """A value, or None where it is what vLLM takes by itself."""
    return None if value == default else value


def _key(profile: ServingProfile) -> str | None:
    if profile.api_key_variable is None:
        return None
    key = os.environ.get(profile.api_key_variable)
    if not key:
        raise ProfileError(
            f"profile {profile.name!r} takes its key from the environment variable {profile.api_key_variable}, "
            "which is not set."
        )
    return key


def _words(value: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return () if value is None else (value,) if isinstance(value, str) else value


def _lines(flags: Mapping[str, str | tuple[str, ...] | None]) -> dict[str, str | None]:
    return {
        name: value if value is None or isinstance(value, str) else value[0]
        for name, value in flags.items()
    }


def settings_of(profile: ServingProfile) -> ModelSettings:
    """Return the settings by which a study uses the model that a profile serves."""
    return ModelSettings(
        name=profile.name or profile.asked_name,
        model=profile.asked_name,
        revision=profile.fingerprint,
        base_url=profile.base_url,
        key_variable=profile.api_key_variable or "",
        context_tokens=profile.context,
        most_in_flight=profile.max_requests,
    )
