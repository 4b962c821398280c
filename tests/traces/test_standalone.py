"""The verifier that a third party runs: signatures after RFC 8032, and chains, with the standard library alone."""

import hashlib
import json
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lakatos.traces import standalone
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.journal import Journal, start_of
from lakatos.traces.step import ARTIFACT_FOLDER, JOURNAL_FILE

RFC_8032 = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe2465"
        "5141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb0"
        "0d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc0"
        "27beceea1ec40a",
    ),
    (
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        hashlib.sha512(b"abc").hexdigest(),
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9"
        "bef1177331a704",
    ),
]
"""Public key, message and signature of tests 1, 2, 3 and SHA(abc) in section 7.1."""
ORDER = 2**252 + 27742317777372353535851937790883648493


@pytest.mark.parametrize(("key", "message", "signature"), RFC_8032)
def test_the_signatures_of_rfc_8032_verify(key: str, message: str, signature: str) -> None:
    assert standalone.is_signed(*map(bytes.fromhex, (key, message, signature)))


def test_it_agrees_with_another_implementation_on_good_and_on_changed_signatures() -> None:
    for number in range(8):
        key = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(bytes([number])).digest())
        public, message = key.public_key().public_bytes_raw(), bytes([number]) * number
        signature = key.sign(message)
        assert standalone.is_signed(public, message, signature)
        place = 7 * number
        for changed in (
            (public, message + b"x", signature),
            (
                public,
                message,
                signature[:place] + bytes([signature[place] ^ 1]) + signature[place + 1 :],
            ),
            (bytes([public[0] ^ 1]) + public[1:], message, signature),
        ):
            assert not standalone.is_signed(*changed)


def test_a_signature_cannot_be_written_in_a_second_way() -> None:
    key, message, signature = map(bytes.fromhex, RFC_8032[0])
    scalar = int.from_bytes(signature[32:], "little") + ORDER
    assert not standalone.is_signed(key, message, signature[:32] + scalar.to_bytes(32, "little"))


@pytest.mark.parametrize("key", [b"", b"\xff" * 32, b"\x00" * 31])
def test_what_is_no_key_signs_nothing(key: bytes) -> None:
    assert not standalone.is_signed(key, b"", bytes(64))


def test_the_first_fault_of_a_chain_is_named_with_what_is_sound_before_it(filled) -> None:  # type: ignore[no-untyped-def]
    folder = filled("run", 4)
    with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
        rows, start = list(journal.store.stored()), start_of(journal.store.meta()).encode()
    assert standalone.first_fault(rows, start) == (9, rows[-1][-1], None)
    changed = [*rows[:4], (*rows[4][:8], rows[4][8] + b" ", *rows[4][9:]), *rows[5:]]
    last, own, problem = standalone.first_fault(changed, start)
    assert (last, own) == (4, rows[3][-1])
    assert problem is not None
    assert "event 5 was changed: its record does not hash" in problem
    assert "events between them are missing" in str(
        standalone.first_fault(rows[:3] + rows[4:], start)[2]
    )
    assert "another type of value" in str(
        standalone.first_fault([(*rows[0][:2], None, *rows[0][3:])], start)[2]
    )


def chained(n: int, name: str = "note") -> tuple[list[standalone.StoredRow], bytes]:
    """Rows of a sound chain, and what it starts from."""
    start, rows = b"0" * 64, list[standalone.StoredRow]()
    for seq in range(1, n + 1):
        key, body = (
            hashlib.sha256(bytes([seq % 256])).hexdigest().encode(),
            json.dumps({"seq": seq}).encode(),
        )
        before = rows[-1].hash if rows else start
        row = standalone.StoredRow(
            seq,
            b"2026-01-01T00:00:00",
            b"noted",
            key,
            name.encode(),
            b"{}",
            1,
            b"[]",
            body,
            b"",
            before,
            b"",
        )
        row = row._replace(record_digest=standalone.record_digest_of(row))
        rows.append(row._replace(hash=standalone.hash_of(row)))
    return rows, start


@pytest.mark.parametrize("place", [0, 1, 255, 256, 257, 599])
@pytest.mark.parametrize("column", standalone.StoredRow._fields)
def test_a_change_anywhere_in_a_long_chain_is_named_and_all_before_it_is_given(
    place: int, column: str
) -> None:
    rows, start = chained(600)
    old = getattr(rows[place], column)
    changed = rows.copy()
    changed[place] = rows[place]._replace(
        **{column: old + 1 if isinstance(old, int) else old[:-1] + b"~"}
    )
    walked = standalone.sound(changed, 0, start)
    assert list(islice(walked, place)) == rows[:place]
    with pytest.raises(standalone.ChainFaultError) as caught:
        next(walked)
    assert caught.value.row == changed[place]
    assert list(standalone.sound(rows, 0, start)) == rows


def test_a_digit_cannot_pass_from_one_hash_to_the_next() -> None:
    rows, start = chained(3)
    first, second = rows[0].record_digest, rows[1].record_digest
    moved = [
        rows[0]._replace(record_digest=first[:-1]),
        rows[1]._replace(record_digest=first[-1:] + second),
        rows[2],
    ]
    assert standalone.first_fault(moved, start)[0] == 0
    first, second = rows[1].hash, rows[2].hash
    moved = [rows[0], rows[1]._replace(hash=first[:-1]), rows[2]._replace(hash=first[-1:] + second)]
    assert standalone.first_fault(moved, start)[0] == 1


def test_a_number_of_another_type_does_not_pass_for_the_same_number() -> None:
    rows, start = chained(3)
    for changed in (
        rows[1]._replace(attempt=1.0),
        rows[1]._replace(attempt=True),
        rows[1]._replace(seq=2.0),
    ):  # type: ignore[arg-type]
        last, _, problem = standalone.first_fault([rows[0], changed, rows[2]], start)
        assert last == 1
        assert problem is not None
        assert "another type of value" in problem


def test_what_can_still_be_read_is_checked_before_a_failure_to_read_is_told() -> None:
    rows, start = chained(300)

    def until(n: int, rows: list[standalone.StoredRow]) -> Iterator[standalone.StoredRow]:
        yield from rows[:n]
        raise OSError("the disk failed")

    walked = standalone.sound(until(280, rows), 0, start)
    assert list(islice(walked, 280)) == rows[:280]
    with pytest.raises(OSError, match="the disk failed"):
        next(walked)
    changed = [*rows[:270], rows[270]._replace(body=b"{}"), *rows[271:]]
    with pytest.raises(standalone.ChainFaultError, match="was changed"):
        list(standalone.sound(until(280, changed), 0, start))


def test_names_that_json_escapes_are_walked_along_like_others() -> None:
    rows, start = chained(300, 'a "b" \\ \n café')
    assert standalone.first_fault(rows, start) == (300, rows[-1].hash, None)
    quoted_key = rows[0]._replace(key=b'a"b', previous_hash=start)
    quoted_key = quoted_key._replace(record_digest=standalone.record_digest_of(quoted_key))
    quoted_key = quoted_key._replace(hash=standalone.hash_of(quoted_key))
    assert standalone.first_fault([quoted_key], start) == (1, quoted_key.hash, None)


def test_a_quote_in_a_name_is_hashed_as_json_writes_it() -> None:
    assert standalone.quoted(b'a "b" \\ \n') == json.dumps('a "b" \\ \n').encode()
    assert standalone.quoted("café".encode()) == '"café"'.encode()


def test_the_verifier_needs_nothing_but_the_standard_library(tmp_path: Path) -> None:
    target = tmp_path / "verify.py"
    target.write_bytes(Path(standalone.__file__).read_bytes())
    # -I: no folder of this project and no installed package; -S: no site-packages.
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(target)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "the signed list of files is missing" in done.stdout


def test_a_file_that_is_no_bundle_fails_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.zip").write_bytes(b"PK nothing")
    assert standalone.main([str(tmp_path / "x.zip")]) == 1
    assert "cannot be read" in capsys.readouterr().out
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass
    assert standalone.main([str(tmp_path / "empty.zip")]) == 1


# --- bundles ---------------------------------------------------------------------------------------------------------

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = KEY.public_key().public_bytes_raw().hex()


def contents_of(folder: Path, n_heads: int = 2) -> dict[str, bytes]:
    """Files of a bundle of one run, and signed heads of its last events."""
    with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
        rows, meta = list(journal.store.stored()), journal.store.meta()
    lines = [
        json.dumps([value.decode() if isinstance(value, bytes) else value for value in row])
        for row in rows
    ]
    store = ArtifactStore(folder / ARTIFACT_FOLDER)
    files = {f"artifacts/{digest}": store.get(digest) for digest in store.digests()}
    files["journal/meta.json"] = json.dumps(meta).encode()
    files["journal/events.jsonl"] = "\n".join(lines).encode()
    heads = list[bytes]()
    for row in rows[len(rows) - n_heads :]:
        heads.append(head_line(row[0], row[11].decode(), heads[-1] if heads else b""))
    files["heads.jsonl"] = b"\n".join(heads)
    return files


def head_line(seq: int, event_hash: str, previous: bytes, **more: object) -> bytes:
    told = {
        "seq": seq,
        "hash": event_hash,
        "time_utc": datetime.now(UTC).isoformat(),
        "previous": hashlib.sha256(previous).hexdigest() if previous else "",
        "public_key": PUBLIC,
        **more,
    }
    signature = KEY.sign(standalone.HEAD_TAG + standalone.canonical(told)).hex()
    return standalone.canonical({**told, "signature": signature})


def signed(files: dict[str, bytes], place: Path) -> Path:
    """A bundle in a folder, with a signed list of its files."""
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    manifest = json.dumps({"public_key": PUBLIC, "files": digests}).encode()
    signature = KEY.sign(standalone.MANIFEST_TAG + manifest).hex().encode()
    whole = files | {"manifest.json": manifest, "manifest.sig": signature + b"\n"}
    for name, data in whole.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data)
    return place


def said(place: Path, key: str = "") -> dict[str, tuple[bool, str]]:
    """Answers by question."""
    lines = standalone.verify_bundle(standalone.BundleFiles(place), key)
    return {text.partition(":")[0]: (good, text.partition(": ")[2]) for good, text in lines}


@pytest.fixture
def contents(filled) -> dict[str, bytes]:  # type: ignore[no-untyped-def]
    return contents_of(filled("run", 2))  # 5 events, 2 artifacts


STRANGE = {
    "a key that is none": {"manifest.json": b'{"public_key": "zz", "files": {}}'},
    "a key that is a number": {"manifest.json": b'{"public_key": 7, "files": {}}'},
    "a list of files that is no mapping": {"manifest.json": b'{"public_key": "", "files": [1]}'},
    "a manifest that is a list": {"manifest.json": b"[]"},
    "brackets without end": {"manifest.json": b"[" * 100_000},
}


@pytest.mark.parametrize("name", STRANGE)
def test_a_bundle_that_a_stranger_damaged_fails_in_words(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "manifest.sig").write_bytes(b"00" * 64)
    for file, data in STRANGE[name].items():
        (tmp_path / file).write_bytes(data)
    assert standalone.main([str(tmp_path)]) == 1
    told = capsys.readouterr().out
    assert "FAILED" in told
    assert "the bundle is NOT as it was signed" in told


@pytest.mark.parametrize(
    "line", [b"[1]", b"7", b'[1, "", "", "", "", "{}", 0, "7", "{}", "", "", ""]']
)
def test_events_of_another_shape_fail_in_words(
    line: bytes, contents: dict[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = signed(contents | {"journal/events.jsonl": line}, tmp_path / "bundle")
    assert standalone.main([str(place), "--key", PUBLIC]) == 1
    assert "the bundle is NOT as it was signed" in capsys.readouterr().out


def test_a_demanded_key_that_is_not_given_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert standalone.main(["run.zip", "--key"]) == 1
    assert "--key needs the public key" in capsys.readouterr().out


def test_a_bundle_that_is_as_it_was_signed_passes_every_question(
    contents: dict[str, bytes], tmp_path: Path
) -> None:
    place = signed(contents, tmp_path / "bundle")
    assert said(place, PUBLIC.upper()) == {
        "signature": (True, "the list of files is signed with the key in it"),
        "key": (True, f"signed by {PUBLIC}"),
        "files": (True, "all 5 are as they were listed"),
        "chain": (True, "5 events, none changed, dropped or moved"),
        "artifacts": (True, "all 2 hash to their names"),
        "inputs": (True, "every record cites what stands before it"),
        "heads": (True, "2 signed heads, all in the journal, the last of its last event"),
        "times": (True, "every event was written between the heads around it"),
    }
    assert said(place)["key"][0]
    assert not said(place, "ab" * 32)["key"][0]


def test_a_bundle_in_an_archive_or_deeper_in_it_is_verified_alike(
    contents: dict[str, bytes], tmp_path: Path
) -> None:
    deeper = {f"runs/r1/{name}": data for name, data in contents.items()}
    place = signed(deeper, tmp_path / "bundle")
    with zipfile.ZipFile(tmp_path / "bundle.zip", "w") as archive:
        for path in sorted(place.rglob("*")):
            archive.write(path, path.relative_to(place))
    for found in (said(place), said(tmp_path / "bundle.zip")):
        assert all(good for good, _ in found.values())
        assert "heads of runs/r1" in found
    told: list[str] = []
    assert standalone.main([str(tmp_path / "bundle.zip"), "--key", PUBLIC], told.append) == 0
    assert told[-1] == "the bundle is as it was signed"
    assert standalone.main(["--key", "ab" * 32, str(tmp_path / "bundle.zip")], told.append) == 1
    assert told[-1] == "the bundle is NOT as it was signed"


def test_files_that_are_changed_added_or_missing_are_named(
    contents: dict[str, bytes], tmp_path: Path
) -> None:
    place = signed(contents, tmp_path / "bundle")
    name = next(name for name in contents if name.startswith("artifacts/"))
    (place / name).write_bytes(b"other")
    assert said(place)["files"] == (False, f"{name} was changed")
    assert not said(place)["artifacts"][0]
    (place / name).write_bytes(contents[name])
    (place / "more.txt").write_text("more")
    assert said(place)["files"] == (False, "more.txt is not listed")
    (place / "more.txt").unlink()
    (place / name).unlink()
    assert said(place)["files"] == (False, f"{name} is missing")
    assert "which nothing before it has" in said(place)["inputs"][1]


def test_a_list_of_files_that_was_changed_or_is_missing_is_told(
    contents: dict[str, bytes], tmp_path: Path
) -> None:
    place = signed(contents, tmp_path / "bundle")
    manifest = place / "manifest.json"
    manifest.write_bytes(manifest.read_bytes() + b" ")
    assert not said(place)["signature"][0]
    manifest.unlink()
    assert "missing or damaged" in said(place)["files"][1]


def test_heads_of_another_key_and_lines_that_are_none_are_named(
    contents: dict[str, bytes], tmp_path: Path
) -> None:
    other = Ed25519PrivateKey.from_private_bytes(bytes(32))
    head = json.loads(contents["heads.jsonl"].splitlines()[0])
    told = {name: value for name, value in head.items() if name != "signature"}
    told["public_key"] = other.public_key().public_bytes_raw().hex()
    signature = other.sign(standalone.HEAD_TAG + standalone.canonical(told)).hex()
    foreign = standalone.canonical({**told, "signature": signature})
    for number, (line, problem) in enumerate(
        [
            (foreign, "line 1 is signed by another key than the bundle"),
            (b"no head", "line 1 is no signed head"),
            (b"", "there is no signed head"),
        ]
    ):
        place = signed(contents | {"heads.jsonl": line}, tmp_path / str(number))
        good, text = said(place)["heads"]
        assert not good
        assert problem in text


def test_events_after_the_last_head_and_heads_without_times_are_told(
    filled,  # type: ignore[no-untyped-def]
    tmp_path: Path,
) -> None:
    folder = filled("run", 2)
    contents = contents_of(folder)
    first = contents["heads.jsonl"].splitlines()[0]
    place = signed(contents | {"heads.jsonl": first}, tmp_path / "one")
    assert "1 events after the last are not covered by one" in said(place)["heads"][1]
    last = json.loads(contents["heads.jsonl"].splitlines()[1])
    untimed = head_line(last["seq"], last["hash"], b"", time_utc="")
    place = signed(contents | {"heads.jsonl": untimed}, tmp_path / "two")
    assert said(place)["times"] == (
        True,
        "its heads carry none; they show what was written, and not when",
    )
    late = datetime.now(UTC) + timedelta(days=1)
    later = head_line(last["seq"], last["hash"], b"", time_utc=late.isoformat())
    place = signed(contents | {"heads.jsonl": later}, tmp_path / "three")
    assert not said(place)["times"][0]


def test_a_journal_that_was_changed_is_named_with_what_stands_before(
    contents: dict[str, bytes], tmp_path: Path
) -> None:
    lines = contents["journal/events.jsonl"].splitlines()
    fewer = b"\n".join([*lines[:2], *lines[3:]])
    place = signed(contents | {"journal/events.jsonl": fewer}, tmp_path / "fewer")
    good, text = said(place)["chain"]
    assert not good
    assert "event 4 follows event 2" in text
    assert "up to event 2, is as it was written" in text


def test_a_bundle_that_could_hide_files_or_reach_elsewhere_is_not_read(
    contents: dict[str, bytes], tmp_path: Path
) -> None:
    place = signed(contents, tmp_path / "bundle")
    size = sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
    assert len(standalone.BundleFiles(place, size).names) == len(contents) + 2
    with pytest.raises(standalone.BundleRefusedError, match=f"{size} bytes unpacked"):
        standalone.BundleFiles(place, size - 1)
    (place / "link").symlink_to("/etc/passwd")
    with pytest.raises(standalone.BundleRefusedError, match="is a link"):
        standalone.BundleFiles(place)
    for number, names in enumerate([["../a"], ["/a"], ["a\\b"], ["a", "a"], ["b/../../a"]]):
        path = tmp_path / f"{number}.zip"
        with zipfile.ZipFile(path, "w") as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # zipfile warns of a name that is there twice
            for name in names:
                archive.writestr(name, b"x")
        with pytest.raises(standalone.BundleRefusedError, match=r"leads out|there twice"):
            standalone.BundleFiles(path)


# --- times -----------------------------------------------------------------------------------------------------------

SLACK = standalone.CLOCK_SLACK


@pytest.mark.parametrize(
    ("times", "heads", "problem"),
    [
        ([0, 10, 20], [(3, 20)], None),
        ([], [(0, 20)], None),
        ([0, 10, 20], [], None),
        ([0, None], [], "event 2 has no time"),
        ([0, SLACK], [(2, 0)], None),
        ([0, SLACK + 1], [(2, 0)], "event 2 says it was written 301 s after the head"),
        ([SLACK, 0], [(2, SLACK)], None),
        ([SLACK + 1, 0], [(2, SLACK)], "event 2 says it was written 301 s before the first event"),
        ([SLACK], [(1, 0)], None),
        ([SLACK + 1], [(1, 0)], "signed 301 s before what it covers"),
        ([0], [(1, SLACK)], None),
        ([0], [(1, SLACK + 1)], "first head was signed 301 s after the first event"),
        ([0, 900, 600], [(1, 0), (2, 900)], None),
        ([0, 900, 599], [(1, 0), (2, 900)], "event 3 says it was written 301 s before the head"),
        ([0, 900, 599, 900], [(1, 0), (2, 900), (4, 900)], "the head of event 2"),
        ([0, 900, 900], [(3, 900), (1, 0), (2, 900)], None),
        ([0, 900], [(1, 0), (2, 500)], "event 2 says it was written 400 s after"),
        ([0, 900, 900], [(1, 0), (2, 900), (3, 500)], "head of event 3 was signed 400 s before"),
    ],
)
def test_events_lie_between_the_heads_around_them_but_for_what_clocks_may_differ(
    times: list[float | None], heads: list[tuple[int, float]], problem: str | None
) -> None:
    found = standalone.time_problem(times, heads)
    assert (found is None) == (problem is None), found
    assert (problem or "") in (found or "")


def test_a_time_needs_a_zone() -> None:
    assert standalone.seconds_of("1970-01-01T01:00:00+00:00") == 3600.0
    assert standalone.seconds_of("1970-01-01T01:00:00") is None
    assert standalone.seconds_of("yesterday") is None


@pytest.mark.parametrize("meta", [b"[]", b"7", b"null", b"{"])
def test_a_description_that_is_no_mapping_is_a_journal_that_cannot_be_read(
    contents: dict[str, bytes], tmp_path: Path, meta: bytes
) -> None:
    place = signed(contents | {"journal/meta.json": meta}, tmp_path / "bundle")
    good, words = said(place)["chain"]
    assert not good
    assert "the journal cannot be read" in words


def test_what_a_stranger_s_bundle_says_is_shown_and_never_obeyed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = "\x1b]0;title\x07\x1b[2J\x9b31m\u202e\ud800\nthe bundle is as it was signed"
    place = tmp_path / "bundle.zip"
    with zipfile.ZipFile(place, "w") as archive:
        listed = {"format": 1, "public_key": "0" * 64, "files": {evil: "00"}}
        archive.writestr("manifest.json", json.dumps(listed))
        archive.writestr("manifest.sig", "00\n")
    assert standalone.main([str(place)]) == 1
    shown = capsys.readouterr().out
    assert r"\x1b]0;title\x07\x1b[2J\x9b31m\u202e\ud800\nthe bundle" in shown
    assert all(letter.isprintable() for letter in shown.replace("\n", ""))
    assert "the bundle is as it was signed" not in shown.splitlines()
