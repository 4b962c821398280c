"""The verifier that a third party runs: signatures after RFC 8032, and chains, with the standard library alone."""

import hashlib
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lakatos.traces import standalone
from lakatos.traces.journal import Journal, start_of
from lakatos.traces.step import JOURNAL_FILE

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
