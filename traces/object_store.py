"""Artifacts in an object store or on any other file system that fsspec knows: ``s3://bucket/folder``, ``sftp://...``.

The run's folder holds the address instead of the artifacts, in ``artifacts.url``. What is stored is what
`ArtifactStore` stores, under the same names, so a copy of one is a copy of the other. Every read is checked against the
digest.
"""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from lakatos.traces.artifact import ArtifactStore, pack, unpack
from lakatos.traces.digest import Digest, digest_bytes, is_digest
from lakatos.traces.errors import ArtifactError, ArtifactMissingError, TraceError
from lakatos.traces.stores import located

_WHOLE: Final = frozenset(["s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "oci", "memory"])
"""Schemes of stores in which an object is there whole or not at all; elsewhere it is written under another name and
moved."""
_FRESH: Final = {"s3": {"use_listings_cache": False}, "s3a": {"use_listings_cache": False}}


class ObjectStore(ArtifactStore):
    """Artifacts on a file system of fsspec; any number of processes may read and add to them."""

    def __init__(self, address: str) -> None:
        """Use the artifacts at ``address``.

        Raises:
            ArtifactError: fsspec, or what it needs for this scheme, is not installed; or the address is none.
        """
        super().__init__(Path(address))
        scheme = check_address(address)
        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise ArtifactError(
                f"artifacts at {address} need fsspec: `pip install 'lakatos[scale]'`."
            ) from error
        try:
            self._files, self._root = url_to_fs(address, **_FRESH.get(scheme, {}))
        except (ImportError, ValueError) as error:
            wanted = (
                "`pip install 'lakatos[s3]'`"
                if scheme in ("s3", "s3a")
                else "install what it names"
            )
            raise ArtifactError(
                f"artifacts at {address} cannot be used: {error}; {wanted}."
            ) from error
        self.address, self._whole = address, scheme in _WHOLE

    def path_of(self, digest: Digest) -> Path:
        """Refused: an object has no path on this machine.

        Raises:
            ArtifactError: Always.
        """
        raise ArtifactError(
            f"artifact {digest} is kept at {self.address} and has no path here; read it with `get`."
        )

    def put(self, data: bytes) -> Digest:
        """Store ``data`` and return its digest; what is there already is left as it is.

        Raises:
            ArtifactError: The store cannot be reached or refuses. Nothing was stored.
        """
        digest = digest_bytes(data)
        if not self.has(digest):
            path = self._path(digest)
            with self._errors(f"storing artifact {digest} at"):
                if self._whole:
                    self._files.pipe_file(path, pack(data))
                else:
                    part = f"{self._root}/.writing-{secrets.token_hex(8)}"
                    self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
                    self._files.pipe_file(part, pack(data))
                    self._files.mv(part, path)
        return digest

    def get(self, digest: Digest) -> bytes:
        """The bytes of an artifact, checked against its digest.

        Raises:
            ArtifactMissingError: There is none.
            ArtifactCorruptError: The object was changed.
        """
        with self._errors(f"reading artifact {digest} at"):
            try:
                stored: bytes = self._files.cat_file(self._path(digest))
            except FileNotFoundError as error:
                raise ArtifactMissingError(
                    f"no artifact {digest} at {self.address}; restore it from a copy."
                ) from error
        return unpack(stored, digest, self.address)

    def has(self, digest: Digest) -> bool:
        """Whether an artifact is stored, unread."""
        if not is_digest(digest):
            return False
        with self._errors(f"looking for artifact {digest} at"):
            try:
                return bool(self._files.info(self._path(digest))["type"] == "file")
            except FileNotFoundError:
                return False

    def erase(self, digest: Digest) -> None:
        """Remove an artifact, for a person who withdraws; erasing twice changes nothing.

        Older versions that a bucket keeps, and copies elsewhere, are out of reach.

        Raises:
            ArtifactError: It cannot be removed.
        """
        with self._errors(f"erasing artifact {digest} at"):
            try:
                self._files.rm_file(self._path(digest))
            except FileNotFoundError:
                return

    def digests(self) -> Iterator[Digest]:
        """Digests of all artifacts, sorted."""
        with self._errors("listing artifacts at"):
            self._files.invalidate_cache()
            found = self._files.find(self._root)
        yield from sorted(name for path in found if is_digest(name := str(path).rpartition("/")[2]))

    def _path(self, digest: Digest) -> str:
        return f"{self._root}/{digest[:2]}/{digest}"

    @contextmanager
    def _errors(self, doing: str) -> Iterator[None]:
        try:
            yield
        except TraceError:
            raise
        except Exception as error:  # drivers of object stores have exception trees of their own
            words = " ".join(str(error).split()).rstrip(".") or type(error).__name__
            problem = (
                f"failed {doing} {self.address}: {words[:300]}. "
                "Check the store and what it lets you do, then resume."
            )
            raise ArtifactError(problem) from error


def artifacts_in(folder: Path) -> ArtifactStore:
    """The artifacts of a run: in ``folder`` or, where the file of that name with ``.url`` stands, at its address.

    Raises:
        ArtifactError: The address cannot be used.
    """
    where = located(folder)
    return (
        ArtifactStore(folder)
        if where == folder
        else artifacts_at(where.read_text(encoding="utf-8").strip())
    )


def artifacts_at(address: str) -> ArtifactStore:
    """Artifacts at an address; those of ``file://`` are files that survive a power cut.

    Raises:
        ArtifactError: The address cannot be used.
    """
    if check_address(address) == "file":
        return ArtifactStore(Path(url2pathname(urlsplit(address).path)))
    return ObjectStore(address)


def check_address(address: str) -> str:
    """The scheme of an address of artifacts.

    Raises:
        ArtifactError: It has none, or holds a password, which would stand in the run's folder.
    """
    parts: Any = urlsplit(address)
    if not parts.scheme or "://" not in address or not (parts.netloc or parts.path.strip("/")):
        raise ArtifactError(
            f"{address!r} is no address of artifacts: write s3://BUCKET/FOLDER or file:///FOLDER."
        )
    if parts.password is not None:
        raise ArtifactError(
            f"the address of artifacts on {parts.hostname} holds a password, which would stand in the run's folder: "
            "give it by the variables or files that the store's own tools read."
        )
    return str(parts.scheme)
