"""From a profile to vLLM's command line, against the flags that a vLLM says it knows."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from lakatos.language_models.serving.environment import (
    ServingEnvironment,
    environment_folder,
    find_environment,
    lock_file,
    process_environment,
)
from lakatos.language_models.serving.errors import InstallationError, ProfileError
from lakatos.language_models.serving.flags import check_flags, read_flags
from lakatos.language_models.serving.launch import prepare, settings_of, vllm_flags
from lakatos.language_models.serving.profile import ServingProfile, load_profile, ready_profiles

DRAFTS = '{"method": "eagle3", "num_speculative_tokens": 3, "model": "g/h"}'
HELP = """usage: api_server.py [-h] [--headless]
                     [--model MODEL] [--old-name]

Frontend:
  Arguments for the frontend.

  --host HOST           Host name. (default: None)
  --enable-prefix-caching, --no-enable-prefix-caching
                        Whether to keep prefixes. Replaces --cache-prefixes. (default: None)
  --dtype {auto,bfloat16,float16,float32}
                        Numbers. (default: auto)
  --tool-call-parser {hermes,mistral} or name registered in --tool-parser-plugin
                        How calls are read.
  --disable-cascade, --no-disable-cascade
                        --disable-cascade is deprecated and has no effect since
                        it was removed. (default: None)
  --gpu-memory-utilization FRACTION, --device-memory-utilization FRACTION
                        The fraction. (default: 0.92)
  --lora-modules LORA_MODULES [LORA_MODULES ...]
                        Adapters.
  --quantization QUANTIZATION, -q QUANTIZATION
                        Method.
"""
FLAGS = read_flags(HELP)
HELP_OF_VLLM = Path(__file__).parent / "vllm-0.32.0-flags.txt"


def environment(folder: Path, help_text: str, runtime="gpu") -> ServingEnvironment:
    """An environment as `install` leaves it, but for what vLLM itself would do."""
    (folder / "bin").mkdir(parents=True)
    shutil.copy(sys.executable, folder / "bin" / "python")
    (folder / "help.txt").write_text(help_text)
    (folder / "installed.json").write_text(json.dumps({"vllm": "0.32.0", "torch": "2.13.0"}))
    return ServingEnvironment(runtime, folder, "0.32.0", "2.13.0")


def test_flags_are_read_with_their_aliases_negations_and_choices():
    assert {"--host", "--no-enable-prefix-caching", "-q", "--device-memory-utilization"} <= set(
        FLAGS
    )
    assert not {"--model", "--old-name", "--cache-prefixes", "--tool-parser-plugin"} & set(FLAGS)
    assert FLAGS["--dtype"].choices == ("auto", "bfloat16", "float16", "float32")
    assert FLAGS["--tool-call-parser"].choices == ()
    assert FLAGS["--lora-modules"].takes_value
    assert not FLAGS["--enable-prefix-caching"].takes_value
    assert [name for name, flag in FLAGS.items() if flag.without_effect] == [
        "--disable-cascade",
        "--no-disable-cascade",
    ]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (
            {"--gpu-memory-utilisation": "0.9"},
            r"has no flag --gpu-memory-utilisation \(closest: --gpu-memory-util",
        ),
        ({"--disable-cascade": None}, "it ignores --disable-cascade"),
        ({"--dtype": "float8"}, r"--dtype cannot be 'float8' \(closest: float"),
        ({"--host": None}, "--host needs a value"),
        ({"--enable-prefix-caching": "yes"}, "takes no value, but got 'yes'"),
    ],
)
def test_a_flag_that_this_vllm_does_not_take_is_refused(asked, says):
    with pytest.raises(ProfileError, match=rf"vLLM 0\.32\.0 cannot be started so: .*{says}"):
        check_flags({"--host": "127.0.0.1", **asked}, FLAGS, "0.32.0")


@pytest.mark.parametrize("name", sorted(ready_profiles()))
def test_every_ready_profile_is_understood_by_the_locked_vllm(name, tmp_path):
    profile = load_profile(name)
    launch = prepare(
        profile, environment(tmp_path / "env", HELP_OF_VLLM.read_text(), profile.runtime)
    )
    assert launch.command[1:3] == ("-m", "vllm.entrypoints.openai.api_server")
    assert launch.model == profile.model


def test_everything_that_a_profile_can_name_is_understood_by_the_locked_vllm(tmp_path, monkeypatch):
    monkeypatch.setenv("MY_KEY", "secret")
    profile = ServingProfile.model_validate(
        {
            "model": "a/b",
            "revision": "0" * 40,
            "weights": "dummy",
            "quantisation": "fp8",
            "dtype": "bfloat16",
            "context": 4096,
            "parallel": {"tensor": 2, "pipeline": 2, "data": 2, "experts": True},
            "memory": {"gpu_fraction": 0.8, "cache_gib": 2, "offload_gib": 1, "cache_dtype": "fp8"},
            "tool_parser": "hermes",
            "reasoning_parser": "qwen3",
            "chat_template": "t.jinja",
            "chat_template_arguments": {"enable_thinking": False},
            "adapters": [{"name": "judge", "path": "c/d"}, {"name": "advocate", "path": "e/f"}],
            "eager": True,
            "batch_invariant": True,
            "prefix_caching": False,
            "host": "0.0.0.0",
            "api_key_variable": "MY_KEY",
            "flags": {
                "max-num-batched-tokens": 8192,
                "async-scheduling": False,
                "speculative-config": DRAFTS,
            },
        }
    )
    launch = prepare(profile, environment(tmp_path / "env", HELP_OF_VLLM.read_text()))
    words = " ".join(launch.command)
    assert "--lora-modules judge=c/d advocate=e/f" in words
    assert "--no-async-scheduling" in words
    assert "--no-enable-prefix-caching" in words
    assert "secret" not in words
    assert launch.variables["VLLM_API_KEY"] == "secret"
    assert launch.variables["VLLM_BATCH_INVARIANT"] == "1"
    assert vllm_flags(profile)["--speculative-config"] == DRAFTS


def test_a_flag_set_twice_a_missing_key_and_another_build_are_refused(tmp_path, monkeypatch):
    env = environment(tmp_path / "env", HELP_OF_VLLM.read_text())
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(ProfileError, match="'seed' is already set by the profile"):
        prepare(ServingProfile(model="a/b", flags={"seed": 3}), env)
    with pytest.raises(ProfileError, match="MY_KEY, which is not set"):
        prepare(ServingProfile(model="a/b", api_key_variable="MY_KEY"), env)
    with pytest.raises(ProfileError, match="is for cpu and this environment is for gpu"):
        prepare(ServingProfile(model="a/b", runtime="cpu", context=512), env)
    with pytest.raises(ProfileError, match=r"no flag --swap-space"):
        prepare(ServingProfile(model="a/b", flags={"swap-space": 4}), env)


def test_processes_of_vllm_do_not_get_keys_of_other_services(tmp_path):
    given = {
        "PATH": "/bin", "HF_TOKEN": "for the hub", "PROLIFIC_TOKEN": "x", "OPENAI_API_KEY": "y", "PYTHONPATH": "/z",
        "CUDA_VISIBLE_DEVICES": "1", "https_proxy": "p",
    }  # fmt: skip
    for runtime in ("gpu", "cpu"):
        passed = process_environment(runtime, tmp_path, given)
        assert not {"PROLIFIC_TOKEN", "OPENAI_API_KEY", "PYTHONPATH"} & set(passed)
        assert {
            "PATH",
            "HF_TOKEN",
            "CUDA_VISIBLE_DEVICES",
            "https_proxy",
            "VLLM_NO_USAGE_STATS",
        } <= set(passed)
    assert "TORCHDYNAMO_DISABLE" in passed


def test_a_study_asks_a_served_profile_by_its_name_and_fingerprint():
    profile = load_profile("h200")
    settings = settings_of(profile)
    assert settings.base_url == "http://127.0.0.1:8000/v1"
    assert (settings.model, settings.revision) == (profile.model, profile.fingerprint)


def test_locks_pin_every_file_by_hash_and_name_no_registry():
    for runtime in ("gpu", "cpu"):
        text = lock_file(runtime).read_text()
        packages = [line for line in text.splitlines() if "==" in line and not line.startswith(" ")]
        assert len(packages) > 100
        assert all(line.endswith("\\") for line in packages)
        assert text.count("--hash=sha256:") >= len(packages)
        assert "://" not in text
        assert "index-url" not in text


def test_an_environment_that_is_not_there_or_broken_says_how_to_make_it(tmp_path, monkeypatch):
    monkeypatch.setenv("LAKATOS_SERVING", str(tmp_path))
    with pytest.raises(
        InstallationError, match=r"not installed .* `lakatos models install --runtime cpu`"
    ):
        find_environment("cpu")
    made = environment(environment_folder("cpu"), HELP, "cpu")
    assert find_environment("cpu") == made
    made.python.unlink()
    with pytest.raises(InstallationError, match="has lost its Python"):
        find_environment("cpu")
