"""What a profile may say, and how it is told what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakatos.language_models.serving.errors import ProfileError
from lakatos.language_models.serving.profile import (
    ServingProfile,
    load_profile,
    parse_profile,
    ready_profiles,
)

HERE = Path("/somewhere/mine.toml")
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def parse(**content: object) -> ServingProfile:
    return parse_profile({"model": "someone/some-model", **content}, HERE)


def test_ready_profiles_are_read_and_cover_a_gpu_a_large_one_several_and_none():
    profiles = {name: load_profile(name) for name in ready_profiles()}
    assert {"consumer-gpu", "h200", "several-gpus", "cpu"} <= set(profiles)
    assert profiles["several-gpus"].parallel.tensor > 1
    assert profiles["cpu"].runtime == "cpu"
    assert all(profile.host == "127.0.0.1" and profile.tool_parser for profile in profiles.values())


def test_a_profile_is_named_after_its_file_and_its_folders_are_absolute():
    profile = parse(model="./model", adapters=[{"name": "judge", "path": "../adapter"}])
    assert profile.name == "mine"
    assert profile.model == "/somewhere/model"
    assert profile.asked_name == "model"
    assert profile.adapters[0].path == "/adapter"


def test_what_cannot_change_answers_does_not_change_the_fingerprint():
    profile = parse()
    assert (
        profile.fingerprint
        == parse(port=9000, start_timeout_s=5, description="x", name="y").fingerprint
    )
    for change in (
        {"revision": COMMIT},
        {"quantisation": "fp8"},
        {"seed": 1},
    ):
        assert parse(**change).fingerprint != profile.fingerprint


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"contxt": 4096}, r"contxt: unknown name; there are: .*context"),
        ({"memory": {"gpu": 0.5}}, r"memory\.gpu: unknown name; there are: gpu_fraction"),
        ({"memory": {"gpu_fraction": 1.5}}, r"memory\.gpu_fraction: .*less than or equal to 0\.98"),
        ({"context": "long"}, r"context: .*integer"),
        ({"revision": "main"}, r"'main' is not a commit .* can move"),
        ({"model": "./folder", "revision": COMMIT}, r"is a folder and has no revision"),
        (
            {"runtime": "cpu", "context": 512, "memory": {"gpu_fraction": 0.5}},
            r"set memory\.cache_gib instead",
        ),
        ({"runtime": "cpu", "context": 512, "parallel": {"tensor": 2}}, r"serves on one device"),
        ({"runtime": "cpu"}, r"needs `context`"),
        ({"host": "0.0.0.0"}, r"name an environment variable with a key"),
        ({"flags": {"api-key": "secret"}}, r"can be read by every user"),
        ({"flags": {"trust-remote-code": True}}, r"would run code that comes with the model"),
        ({"flags": {"--seed": 3}}, r"'--seed' is not a flag's name"),
        ({"speculation": {"method": "ngram"}}, r"speculation: .*flags: speculative-config = "),
        (
            {"adapters": [{"name": "a", "path": "x"}, {"name": "a", "path": "y"}]},
            r"names .* must differ",
        ),
    ],
)
def test_a_profile_that_cannot_be_says_what_is_wrong(content, says):
    with pytest.raises(ProfileError, match=rf"mine\.toml: .*{says}"):
        parse(**content)


def test_a_profile_without_a_model_is_told_so():
    with pytest.raises(ProfileError, match="model: is missing"):
        parse_profile({}, HERE)


def test_an_unknown_profile_is_told_which_there_are(tmp_path):
    with pytest.raises(ProfileError, match=r"no profile 'h100': .*h200"):
        load_profile("h100")
    broken = tmp_path / "broken.toml"
    broken.write_text("model = ")
    with pytest.raises(ProfileError, match=r"broken\.toml is not TOML"):
        load_profile(broken)
