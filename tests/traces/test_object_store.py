"""Artifacts elsewhere than in files: the same contract on every file system, an S3-compatible server among them."""

import uuid
from pathlib import Path

import numpy as np
import pytest

from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.digest import digest_bytes
from lakatos.traces.errors import ArtifactCorruptError, ArtifactError, ArtifactMissingError
from lakatos.traces.object_store import ObjectStore, artifacts_at, artifacts_in
from lakatos.traces.place import settle
from lakatos.traces.record import Tombstone
from lakatos.traces.step import Trace
from lakatos.traces.verify import verify

pytest.importorskip("fsspec", reason="fsspec is not installed: pip install 'lakatos[scale]'")


@pytest.fixture(params=["file", "dir", "memory", "s3"])
def store(request, tmp_path):
    place = uuid.uuid4().hex
    if request.param == "s3":
        return artifacts_at(f"{request.getfixturevalue('bucket')}/{place}")
    if (
        request.param == "dir"
    ):  # a file system of fsspec where what is being written can be seen half
        plain = ObjectStore(f"local://{tmp_path}/{place}")
        assert not plain._whole
        return plain
    return artifacts_at(
        f"memory://{place}" if request.param == "memory" else f"file://{tmp_path}/{place}"
    )


def test_what_is_put_comes_back(store):
    assert list(store.digests()) == []
    digests = sorted(store.put(data) for data in (b"", b"one", bytes(100_000)))
    assert list(store.digests()) == digests
    assert store.put(b"one") == digest_bytes(b"one")
    assert store.get(digest_bytes(b"one")) == b"one"
    assert store.has(digests[0])
    arrays = {"a": np.arange(6.0).reshape(2, 3)}
    np.testing.assert_array_equal(store.get_arrays(store.put_arrays(arrays))["a"], arrays["a"])


def test_what_is_missing_or_no_digest_is_named(store):
    with pytest.raises(ArtifactMissingError, match="no artifact aaaa"):
        store.get("a" * 64)
    assert not store.has("a" * 64)
    assert not store.has("../../etc/passwd")


def test_an_erased_artifact_is_gone_and_erasing_again_changes_nothing(store):
    digest, other = store.put(b"somebody's answers"), store.put(b"others")
    store.erase(digest)
    store.erase(digest)
    assert not store.has(digest)
    assert list(store.digests()) == [other]


@pytest.mark.parametrize(
    "store", ["dir", "memory", "s3"], indirect=True
)  # files: see test_artifact.py
def test_a_changed_object_is_noticed_at_each_read(store):
    digest = store.put(b"some data, some data, some data")
    path = store._path(digest)
    good = store._files.cat_file(path)
    for bad in (good[:-1] + bytes([good[-1] ^ 1]), good[:40], b"", good + b"x"):
        store._files.pipe_file(path, bad)
        with pytest.raises(ArtifactCorruptError, match="was changed"):
            store.get(digest)
    store._files.pipe_file(path, good)
    assert store.get(digest) == b"some data, some data, some data"


def test_nothing_but_artifacts_is_left_behind(store):
    if isinstance(store, ObjectStore):
        digest = store.put(b"one")
        assert [str(path).rpartition("/")[2] for path in store._files.find(store._root)] == [digest]


def test_objects_copied_to_files_are_the_artifacts_of_a_folder(tmp_path, bucket):
    remote = artifacts_at(f"{bucket}/{uuid.uuid4().hex}")
    digest = remote.put(b"one")
    local = ArtifactStore(tmp_path / "copy")
    local.path_of(digest).parent.mkdir(parents=True)
    local.path_of(digest).write_bytes(remote._files.cat_file(remote._path(digest)))
    assert local.get(digest) == b"one"


@pytest.mark.parametrize(
    ("address", "match"),
    [
        ("artifacts", "is no address of artifacts"),
        ("s3://", "is no address of artifacts"),
        ("sftp://me:secret@host/folder", "holds a password"),
        ("nonsense://host/folder", "cannot be used"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused(address, match):
    with pytest.raises(ArtifactError, match=match) as caught:
        artifacts_at(address)
    assert "secret" not in str(caught.value)


def test_an_unreachable_store_is_an_error_in_one_line(bucket, monkeypatch):
    import fsspec

    store = artifacts_at(f"{bucket}/x")
    nowhere = {"endpoint_url": "http://127.0.0.1:9"}
    once = {"retries": {"max_attempts": 0}}
    store._files = fsspec.filesystem(
        "s3", client_kwargs=nowhere, config_kwargs=once, skip_instance_cache=True
    )
    with pytest.raises(
        ArtifactError, match=r"failed looking for artifact.*Check the store"
    ) as caught:
        store.put(b"one")
    assert "\n" not in str(caught.value)


def test_a_trace_keeps_its_artifacts_where_the_environment_says(tmp_path, bucket, drawn, scored):
    types = {"drawn": drawn, "scored": scored}
    folder = tmp_path / "run"
    settle(folder, {"LAKATOS_ARTIFACTS": bucket})
    assert Path(folder / "artifacts.url").read_text(encoding="utf-8").startswith(f"{bucket}/run-")
    with Trace.create(folder, seed=7, types=types) as trace:
        tables = [trace.artifacts.put_json({"answers": n}) for n in range(2)]
        records = [
            trace.record(
                scored(table=table, total=1.0), name="score", inputs=(table,), position={"n": n}
            )
            for n, table in enumerate(tables)
        ]
        trace.record(Tombstone(target=records[0].digest, reason="withdrawn"), name="erase")
    assert not (folder / "artifacts").exists()
    assert verify(folder, types, unsigned=True).ok
    store = artifacts_in(folder / "artifacts")
    store.erase(tables[1])
    assert {check.name for check in verify(folder, types, unsigned=True).failures} == {
        "inputs",
        "references",
    }
