"""Artifacts: bytes, JSON values and arrays, kept in files that are named by the digest of their content."""

from __future__ import annotations

import errno
import json
import math
import os
import secrets
import shutil
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lakatos.traces.digest import Digest, canonical_json, digest_bytes, is_digest
from lakatos.traces.erasure import erase_file
from lakatos.traces.errors import ArtifactCorruptError, ArtifactError, ArtifactMissingError
from lakatos.traces.owner import for_owner
from lakatos.traces.system import sync_folder

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FILE_MAGIC: Final = b"lakatos-artifact-1\n"
_ARRAYS_MAGIC: Final = b"lakatos-arrays-1\n"
_LEVEL: Final = 3  # arrays of draws hardly shrink further, and level 6 takes three times as long
_DTYPES: Final = frozenset(
    ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
)
_TEMPORARY: Final = ".writing-"


class ArtifactStore:
    """A folder of artifacts, which any number of processes may read and add to."""

    def __init__(self, folder: Path) -> None:
        """Use the artifacts in ``folder``, which is made when the first one is put."""
        self.folder = Path(folder)

    def path_of(self, digest: Digest) -> Path:
        """The file that holds an artifact, stored or not."""
        return self.folder / digest[:2] / digest

    def put(self, data: bytes) -> Digest:
        """Store ``data`` durably and return its digest; what is there already is left as it is.

        Raises:
            ArtifactError: The disk is full or fails. Nothing was stored.
        """
        digest = digest_bytes(data)
        path = self.path_of(digest)
        if not path.exists():
            self.folder.mkdir(
                parents=True, exist_ok=True, mode=0o700
            )  # people's responses are among them
            write_whole(path, pack(data), private=True, then="continue with `lakatos resume`")
        return digest

    def get(self, digest: Digest) -> bytes:
        """The bytes of an artifact, checked against its digest.

        Raises:
            ArtifactMissingError: There is none.
            ArtifactCorruptError: The file was changed.
        """
        try:
            stored = self.path_of(digest).read_bytes()
        except FileNotFoundError as error:
            raise ArtifactMissingError(
                f"no artifact {digest} in {self.folder}; restore it from a copy."
            ) from error
        except OSError as error:
            raise ArtifactError(
                f"cannot read artifact {digest} in {self.folder}: {error.strerror}."
            ) from error
        return unpack(stored, digest, self.folder)

    def has(self, digest: Digest) -> bool:
        """Whether an artifact is stored, unread."""
        return is_digest(digest) and self.path_of(digest).is_file()

    def erase(self, digest: Digest) -> None:
        """Overwrite and remove an artifact, for a person who withdraws; erasing twice changes nothing.

        Copies that a file system, a disk or a backup keeps of a file are out of reach.

        Raises:
            ArtifactError: It cannot be removed.
        """
        try:
            erase_file(self.path_of(digest))
        except OSError as error:
            raise ArtifactError(
                f"cannot erase artifact {digest} in {self.folder}: {error.strerror}."
            ) from error

    def put_json(self, value: object) -> Digest:
        """Store a value as canonical JSON.

        Raises:
            RecordError: The value is not JSON.
        """
        return self.put(canonical_json(value))

    def get_json(self, digest: Digest) -> Any:
        """The value of a JSON artifact.

        Raises:
            ArtifactError: The artifact is not JSON.
        """
        try:
            return json.loads(self.get(digest))
        except ValueError as error:
            raise ArtifactError(
                f"artifact {digest} is not JSON ({error}); read it as what it was put."
            ) from error

    def put_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> Digest:
        """Store named arrays; equal arrays give equal digests, whatever their memory layout and byte order.

        Raises:
            ArtifactError: An array is not of booleans, integers, floats, complex numbers, text or dates.
        """
        return self.put(pack_arrays(arrays))

    def get_arrays(self, digest: Digest) -> dict[str, NDArray[Any]]:
        """The arrays of an artifact, by name, read-only.

        Raises:
            ArtifactError: The artifact does not hold arrays.
        """
        try:
            return unpack_arrays(self.get(digest))
        except (ValueError, TypeError, KeyError) as error:
            raise ArtifactError(
                f"artifact {digest} does not hold arrays; read it as what it was put."
            ) from error

    def digests(self) -> Iterator[Digest]:
        """Digests of all artifacts, sorted."""
        for folder in sorted(self.folder.glob("[0-9a-f][0-9a-f]")):
            yield from sorted(path.name for path in folder.iterdir() if is_digest(path.name))


def pack(data: bytes) -> bytes:
    """Return what is stored of an artifact: magic, digest of the packed bytes, packed bytes."""
    packed = zlib.compress(data, _LEVEL)
    # The digest of the packed bytes too: deflate has bits that change nothing in what it unpacks to.
    return _FILE_MAGIC + sha256(packed).digest() + packed


def unpack(stored: bytes, digest: Digest, place: object) -> bytes:
    """Undo `pack`, and check the artifact against its digest.

    Raises:
        ArtifactCorruptError: It was changed; ``place`` tells where it is.
    """
    start = len(_FILE_MAGIC) + 32
    packed = stored[start:]
    if stored[:start] == _FILE_MAGIC + sha256(packed).digest():
        try:
            data = zlib.decompress(packed)
        except zlib.error:
            data = b""
        if digest_bytes(data) == digest:
            return data
    raise ArtifactCorruptError(
        f"artifact {digest} in {place} was changed: its bytes do not hash to its name. Restore it from a copy."
    )


def pack_arrays(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Magic, length of header, header (names, types and shapes as JSON), then the values, little-endian, C order."""
    import numpy as np

    header, values = [], []
    for name, given in sorted(arrays.items()):
        array = np.asarray(given)
        dtype = array.dtype.newbyteorder("<")
        if dtype.str[1:] not in _DTYPES and dtype.kind not in "SUMm":
            raise ArtifactError(
                f"array {name!r} of type {array.dtype} cannot be stored; "
                "convert it to booleans, integers, floats of up to 64 bits, fixed-length text or dates."
            )
        header.append({"name": name, "dtype": dtype.str, "shape": list(array.shape)})
        values.append(array.astype(dtype, order="C").tobytes())
    text = canonical_json(header)
    return b"".join([_ARRAYS_MAGIC, len(text).to_bytes(8, "little"), text, *values])


def unpack_arrays(data: bytes) -> dict[str, NDArray[Any]]:
    """Read the arrays that `pack_arrays` wrote.

    Raises:
        ValueError: ``data`` is something else.
    """
    import numpy as np

    start = len(_ARRAYS_MAGIC) + 8
    if data[: len(_ARRAYS_MAGIC)] != _ARRAYS_MAGIC:
        raise ValueError("not packed arrays")
    offset = start + int.from_bytes(data[start - 8 : start], "little")
    arrays: dict[str, NDArray[Any]] = {}
    for entry in json.loads(data[start:offset]):
        dtype = np.dtype(entry["dtype"])
        array: NDArray[Any] = np.ndarray(
            tuple(entry["shape"]), dtype, buffer=data, offset=offset
        ).copy()
        array.flags.writeable = False
        arrays[entry["name"]] = array
        offset += math.prod(entry["shape"]) * dtype.itemsize
    return arrays


@contextmanager
def whole_folder(place: Path) -> Iterator[None]:
    """Remove a folder that was not there before, with what is in it, if what is written into it meanwhile fails."""
    is_new = not place.exists()
    try:
        yield
    except BaseException:
        if is_new:
            shutil.rmtree(place, ignore_errors=True)
        raise


@contextmanager
def written_at(place: Path) -> Iterator[None]:
    """Have an error of the disk name the place that is written to, where it names none."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(place)) from error


def write_whole(
    path: Path, data: bytes, *, private: bool = False, then: str = "repeat the command"
) -> None:
    """Write a file so that after a crash or power cut it is either absent (or as before) or complete.

    What is no file, such as ``/dev/null`` or a pipe, is written to, never replaced.

    Args:
        path: Path of the file.
        data: All of it.
        private: Whether file and folder are for their owner only.
        then: What to do once the disk is in order, for the message of an error.

    Raises:
        ArtifactError: The disk is full or fails, or the folder may not be written to. Nothing was left behind.
    """
    write_together({path: data}, private=private, then=then)


def write_together(
    files: Mapping[Path, bytes], *, private: bool = False, then: str = "repeat the command"
) -> None:
    """Write files that belong together, each as by `write_whole`; none of them is replaced before all are written."""
    made: dict[Path, Path] = {}
    try:
        for path, data in files.items():
            if path.exists() and not (path.is_file() or path.is_dir()):
                path.write_bytes(data)
                continue
            if not path.parent.is_dir():
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700 if private else 0o777)
                sync_folder(path.parent.parent)
            made[path] = path.parent / f"{_TEMPORARY}{os.getpid()}-{secrets.token_hex(8)}"
            with open(made[path], "xb", opener=for_owner if private else None) as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        for path, temporary in made.items():
            temporary.replace(path)
            sync_folder(path.parent)
    except OSError as error:
        for temporary in made.values():
            with suppress(OSError):  # its folder may be none
                temporary.unlink()
        raise ArtifactError(_unwritten(path, error, then)) from error


def _unwritten(path: Path, error: OSError, then: str) -> str:
    """The sentence about a file that could not be written: the reason, and what to do."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"disk is full while writing {path}; free space, then {then}."
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"cannot write {path}: {error.strerror}; choose another folder, or change its permissions."
    return f"cannot write {path}: {error.strerror}; check the disk and its limits, then {then}."
