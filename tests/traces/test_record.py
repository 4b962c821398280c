from typing import Literal

import pytest

from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.errors import RecordError
from lakatos.traces.record import Record, Tombstone, body_of, digests_in, kind_of, parse_record

A, B, C, D, E = (letter * 64 for letter in "abcde")


class Part(Record):
    source: Digest


class Sample(Record):
    kind: Literal["sample"] = "sample"
    version: Literal[1] = 1
    one: Digest
    many: tuple[Digest, ...] = ()
    named: dict[str, Digest] = {}  # noqa: RUF012
    perhaps: Digest | None = None
    parts: tuple[Part, ...] = ()
    elsewhere: Fingerprint | None = None
    words: str = ""
    number: float = 0.0


def test_digests_are_found_at_any_depth_and_nothing_else_is():
    sample = Sample(
        one=A,
        many=(B,),
        named={"x": C},
        perhaps=D,
        parts=(Part(source=E),),
        elsewhere="f" * 64,
        words="0" * 64,
    )
    assert list(digests_in(sample)) == [A, B, C, D, E]


def test_a_record_reads_back_as_it_was():
    sample = Sample(one=A, many=(B, C), number=0.1)
    assert parse_record("sample", body_of(sample), {"sample": Sample}) == sample


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_json_lacks_are_refused(number):
    with pytest.raises(RecordError, match="canonical JSON"):
        body_of(Sample(one=A, number=number))


def test_an_unknown_kind_names_the_known_ones():
    with pytest.raises(
        RecordError, match=r"no record type reads the kind 'other' \(known: tombstone\)"
    ):
        parse_record("other", {}, {"tombstone": Tombstone})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "version"),
        ({"extra": 1}, "extra"),
        ({"target": "A" * 64}, "target"),
    ],
)
def test_a_body_that_does_not_fit_is_refused(change, message):
    body = body_of(Tombstone(target=A, reason="withdrawn")) | change
    with pytest.raises(RecordError, match=message):
        parse_record("tombstone", body, {"tombstone": Tombstone})


def test_a_record_without_kind_is_refused():
    with pytest.raises(RecordError, match="Part cannot be recorded: it has no kind"):
        kind_of(Part)


def test_a_record_with_a_set_is_refused():
    class Unordered(Record):
        kind: Literal["unordered"] = "unordered"
        version: Literal[1] = 1
        names: frozenset[str]

    with pytest.raises(RecordError, match="sorted tuple for names"):
        kind_of(Unordered)
