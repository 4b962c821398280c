"""Published data on disk: find them, check that they are what was published, or download them."""

from __future__ import annotations

import http.client
import os
import secrets
import urllib.parse
import urllib.request
from hashlib import sha256
from pathlib import Path

from lakatos.domains import ARCHIVES
from lakatos.domains.kit.archive import ArchiveReader, ArchiveSource
from lakatos.experiments.errors import DataDigestError, DataMissingError
from lakatos.experiments.task import Trials

BASE_ADDRESS = "https://raw.githubusercontent.com"
MOST_BYTES = 200_000_000
"""Size beyond which a download is given up."""
TIMEOUT_S = 30.0
_BLOCK = 1 << 16


def load_archive(name: str, folder: Path) -> tuple[Trials, ...]:
    """All experiments of a data set, after a check that every file is the published one.

    Args:
        name: Name of the data set.
        folder: Holds one folder for each data set.

    Raises:
        DataMissingError: There is no such data set, or a file of it is not there.
        DataDigestError: A file differs from the published one.
    """
    reader = find_reader(name)
    place = data_folder(reader, folder)
    if reader.source is not None:
        missing = [file for file in reader.source.files if not (place / file).is_file()]
        if missing:
            raise DataMissingError(
                f"the data set {name!r} is not in {place}: {len(missing)} of {len(reader.source.files)} files are "
                f"missing, the first is {missing[0]}. {_how_to_get(reader, reader.source, folder)}"
            )
        for file, digest in reader.source.files.items():
            found = sha256((place / file).read_bytes()).hexdigest()
            if found != digest:
                raise DataDigestError(
                    f"{place / file} is not the published file: its sha256 is {found}, not {digest}. "
                    f"Remove it. {_how_to_get(reader, reader.source, folder)}"
                )
    return reader.read(place)


def fetch_archive(
    name: str,
    folder: Path,
    *,
    base_address: str = BASE_ADDRESS,
    timeout_s: float = TIMEOUT_S,
    most_bytes: int = MOST_BYTES,
) -> Path:
    """Download a data set at the cited commit; files that are there and right are kept.

    A file appears in the folder complete and checked, or not at all.

    Args:
        name: Name of the data set.
        folder: Holds one folder for each data set.
        base_address: Address at which ``/owner/name/commit/path`` is served.
        timeout_s: Silence after which a download is given up.
        most_bytes: Size of a file beyond which a download is given up.

    Returns:
        The folder of the data set.

    Raises:
        DataMissingError: There is no such data set, or it cannot be downloaded or written; the message says how to do
            it by hand.
        DataDigestError: What was downloaded is not the published file.
    """
    reader = find_reader(name)
    place = data_folder(reader, folder)
    source = reader.source
    if source is None:
        return place
    for file, digest in source.files.items():
        target = place / file
        if target.is_file() and sha256(target.read_bytes()).hexdigest() == digest:
            continue
        if file not in source.remote:
            raise DataMissingError(
                f"{target} is missing or another file. {_how_to_get(reader, source, folder)}"
            )
        address = _address(source, file, base_address)
        try:
            data = _download(address, timeout_s, most_bytes)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise DataMissingError(
                f"cannot download {address}: {error}. By hand: save each file of the data set {name!r} from "
                f"{_page(source)} (licence: {source.licence}) in {place}; this one as {target}."
            ) from error
        found = sha256(data).hexdigest()
        if found != digest:
            raise DataDigestError(
                f"{address} is not the published file {file}: its sha256 is {found}, not {digest}. "
                "Nothing was saved; try again, or ask the publisher."
            )
        try:
            _write_whole(target, data)
        except OSError as error:
            raise DataMissingError(
                f"cannot write {target}: {error.strerror or error}. Choose another folder."
            ) from error
    return place


def find_reader(name: str) -> ArchiveReader:
    """The reader of a data set; raises `DataMissingError` naming those there are."""
    if name not in ARCHIVES:
        raise DataMissingError(
            f"there is no data set {name!r}; there are {', '.join(sorted(ARCHIVES))}."
        )
    return ARCHIVES[name]


def data_folder(reader: ArchiveReader, folder: Path) -> Path:
    """The folder with the files of a data set."""
    return folder / (reader.directory or reader.name)


def _how_to_get(reader: ArchiveReader, source: ArchiveSource, folder: Path) -> str:
    if not source.remote:
        return (
            f"It is a part of what is published at {_page(source)} (licence: {source.licence}) and cannot be "
            f"downloaded as it is; copy it into {data_folder(reader, folder)} from where the rest is kept apart."
        )
    return (
        f"It is published at {_page(source)} (licence: {source.licence}); "
        f"`lakatos data fetch {reader.name} --data {folder}` gets it."
    )


def _page(source: ArchiveSource) -> str:
    return f"https://github.com/{source.repository}/tree/{source.commit}/{urllib.parse.quote(source.folder)}"


def _address(source: ArchiveSource, file: str, base_address: str) -> str:
    path = urllib.parse.quote(f"{source.repository}/{source.commit}/{source.remote[file]}")
    return f"{base_address.rstrip('/')}/{path}"


def _download(address: str, timeout_s: float, most_bytes: int) -> bytes:
    """The whole content; raises `OSError` also when the connection was cut or the content is too large."""
    request = urllib.request.Request(
        address, headers={"User-Agent": "lakatos", "Accept-Encoding": "identity"}
    )
    with urllib.request.urlopen(request, timeout=timeout_s) as response:
        announced = response.headers.get("Content-Length")
        parts, size = [], 0
        while block := response.read(_BLOCK):
            size += len(block)
            if size > most_bytes:
                raise OSError(f"it is larger than {most_bytes} bytes")
            parts.append(block)
    if announced is not None and size != int(announced):
        raise OSError(f"the connection was cut after {size} of {announced} bytes")
    return b"".join(parts)


def _write_whole(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
