"""The tiny random model: its files, and that nothing in them depends on anything but the seed."""

from __future__ import annotations

import json

import numpy as np

from lakatos.language_models.serving.profile import load_profile
from tests.rehearsal.tiny import (
    N_BYTES,
    SPECIAL,
    safetensors_bytes,
    write_tiny_model,
    write_tiny_profile,
)


def test_the_same_seed_writes_the_same_bytes_and_another_seed_others(tmp_path):
    first, again, other = (
        write_tiny_model(tmp_path / name, seed=seed)
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    for path in first.iterdir():
        assert path.read_bytes() == (again / path.name).read_bytes()
    assert (first / "model.safetensors").read_bytes() != (other / "model.safetensors").read_bytes()
    assert sum(path.stat().st_size for path in first.iterdir()) < 1_000_000


def test_a_safetensors_file_reads_back():
    arrays = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones(2, np.float32)}
    content = safetensors_bytes(arrays)
    n_header = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + n_header])
    body = content[8 + n_header :]
    assert (8 + n_header) % 8 == 0
    for name, array in arrays.items():
        begin, end = header[name]["data_offsets"]
        found = np.frombuffer(body[begin:end], np.float32).reshape(header[name]["shape"])
        np.testing.assert_array_equal(found, array)
    assert len(body) == sum(array.nbytes for array in arrays.values())


def test_every_byte_is_one_token(tmp_path):
    tokenizer = json.loads((write_tiny_model(tmp_path) / "tokenizer.json").read_text())
    vocabulary = tokenizer["model"]["vocab"]
    assert sorted(vocabulary.values()) == list(range(N_BYTES))
    assert len(vocabulary) == N_BYTES
    assert vocabulary["A"] == ord("A")
    assert [item["content"] for item in tokenizer["added_tokens"]] == list(SPECIAL)


def test_its_profile_serves_it_without_a_gpu(tmp_path):
    profile = load_profile(write_tiny_profile(tmp_path, port=8123))
    assert (profile.runtime, profile.port, profile.asked_name) == ("cpu", 8123, "tiny")
    assert profile.model == str((tmp_path / "model").resolve())
