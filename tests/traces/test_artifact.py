import errno
import os
import stat
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lakatos.traces.artifact import (
    ArtifactStore,
    _unwritten,
    pack_arrays,
    unpack_arrays,
    whole_folder,
    write_whole,
)
from lakatos.traces.digest import digest_bytes
from lakatos.traces.errors import ArtifactCorruptError, ArtifactError, ArtifactMissingError

dtypes = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.floating_dtypes(sizes=(16, 32, 64), endianness="?"),
    hnp.unicode_string_dtypes(),
)
arrays = hnp.arrays(dtypes, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0))


@pytest.fixture
def store(tmp_path):
    return ArtifactStore(tmp_path / "artifacts")


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), arrays, max_size=3))
def test_arrays_come_back_as_they_were(given_arrays):
    packed = pack_arrays(given_arrays)
    found = unpack_arrays(packed)
    assert set(found) == set(given_arrays)
    for name, array in given_arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype.newbyteorder("<")
    assert pack_arrays(found) == packed


def test_memory_layout_and_byte_order_do_not_change_the_digest():
    plain = np.arange(6.0).reshape(2, 3)
    assert pack_arrays({"a": plain}) == pack_arrays({"a": np.asfortranarray(plain).astype(">f8")})


def test_arrays_of_objects_are_refused(store):
    with pytest.raises(ArtifactError, match="'a' of type object"):
        store.put_arrays({"a": np.array([None])})


@given(data=st.binary())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
def test_bytes_come_back_as_they_were(store, data):
    digest = store.put(data)
    assert digest == digest_bytes(data) == store.put(data)
    assert store.has(digest)
    assert store.get(digest) == data


def test_stored_digests_are_listed(store):
    assert list(store.digests()) == []
    digests = sorted(store.put_json(number) for number in range(20))
    assert list(store.digests()) == digests
    assert store.get_json(store.put_json([1, "a"])) == [1, "a"]


def test_an_erased_artifact_is_gone_and_erasing_again_changes_nothing(store):
    digest, other = store.put(b"somebody's answers"), store.put(b"others")
    store.erase(digest)
    store.erase(digest)
    assert not store.has(digest)
    assert list(store.digests()) == [other]
    with pytest.raises(ArtifactMissingError):
        store.get(digest)


def test_a_missing_artifact_is_named(store):
    with pytest.raises(ArtifactMissingError, match="no artifact aaaa"):
        store.get("a" * 64)
    assert not store.has("a" * 64)
    assert not store.has("../../etc/passwd")


def test_every_changed_byte_is_noticed(store):
    digest = store.put(b"some data, some data, some data")
    path = store.path_of(digest)
    good = path.read_bytes()
    for place in range(len(good)):
        for bit in range(8):
            path.write_bytes(good[:place] + bytes([good[place] ^ 1 << bit]) + good[place + 1 :])
            with pytest.raises(ArtifactCorruptError, match="was changed"):
                store.get(digest)
    path.write_bytes(good + b"x")
    with pytest.raises(ArtifactCorruptError, match="was changed"):
        store.get(digest)


def test_another_kind_of_artifact_is_not_mistaken_for_arrays(store):
    with pytest.raises(ArtifactError, match="does not hold arrays"):
        store.get_arrays(store.put(b"text"))
    with pytest.raises(ArtifactError, match="is not JSON"):
        store.get_json(store.put(b"text"))


LIMITED = """
import os, resource, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.errors import ArtifactError
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, resource.RLIM_INFINITY))
try:
    ArtifactStore(Path({folder!r})).put(os.urandom(5_000))
except ArtifactError as error:
    print(error)
"""


def test_a_file_is_whole_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    """A power cut may come after any call: the bytes are synced first, then the name is given and synced."""
    target, seen, sync = tmp_path / "a" / "b" / "file", [], os.fsync

    def noted(descriptor):
        size = os.fstat(descriptor).st_size if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
        seen.append((size, target.exists()))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    write_whole(target, b"whole")
    assert seen == [(None, False), (5, False), (None, True)]
    assert target.read_bytes() == b"whole"
    assert [path.name for path in target.parent.iterdir()] == ["file"]


TOGETHER = """
import resource, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from lakatos.traces.artifact import write_together
from lakatos.traces.errors import ArtifactError
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, resource.RLIM_INFINITY))
try:
    write_together({{Path("a"): b"new", Path("b"): bytes(5_000)}})
except ArtifactError as error:
    print(error)
"""


def test_files_that_belong_together_stay_as_they_were_if_one_of_them_does_not_fit(
    tmp_path, request
):
    (tmp_path / "a").write_bytes(b"old")
    code = TOGETHER.format(root=str(request.config.rootpath))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("cannot write b: File too large;")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


@contextmanager
def without_rights_of_the_superuser():
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_without_permission_another_folder_is_advised_and_nothing_is_written(tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    with (
        without_rights_of_the_superuser(),
        pytest.raises(ArtifactError, match="Permission denied; choose another folder") as refused,
    ):
        write_whole(folder / "file", b"whole")
    assert "resume" not in str(refused.value)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_each_lack_of_permission_advises_another_folder(number):
    error = OSError(number, os.strerror(number))
    assert _unwritten(Path("a"), error, "continue") == (
        f"cannot write a: {os.strerror(number)}; choose another folder, or change its permissions."
    )


def test_a_file_that_belongs_to_no_run_does_not_advise_to_resume_one(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ArtifactError, match="then repeat the command") as refused:
        write_whole(tmp_path / "file" / "below", b"whole")
    assert "resume" not in str(refused.value)


def test_a_device_is_written_to_and_never_replaced(tmp_path):
    device = tmp_path / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only the superuser may make devices")
    write_whole(device, b"anything")
    assert device.is_char_device()
    assert [path.name for path in tmp_path.iterdir()] == ["null"]


def test_a_pipe_is_written_to_and_never_replaced(tmp_path):
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, b"anything")
    reader.join(10)
    assert found == [b"anything"]
    assert pipe.is_fifo()


def test_a_folder_is_removed_where_writing_fails_unless_it_was_there_before(tmp_path):
    before = tmp_path / "before"
    before.mkdir()

    def write_two(place):
        with whole_folder(place):
            write_whole(place / "first", b"whole")
            write_whole(place / "first" / "second", b"whole")

    for place in (before, tmp_path / "new"):
        with pytest.raises(ArtifactError):
            write_two(place)
    assert [path.name for path in tmp_path.rglob("*")] == ["before", "first"]
    with whole_folder(tmp_path / "new"):
        write_whole(tmp_path / "new" / "first", b"whole")
    assert (tmp_path / "new" / "first").read_bytes() == b"whole"


def test_a_write_that_fails_leaves_nothing(store, request):
    script = LIMITED.format(root=str(request.config.rootpath), folder=str(store.folder))
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "`lakatos resume`" in result.stdout
    assert [path for path in store.folder.rglob("*") if path.is_file()] == []
