"""Compactors: shorter, within their room, and honest about where it came from."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.models.stand_ins import HeadTail, TailCompactor
from lakatos.language_models.compaction import ExtractiveCompactor
from lakatos.language_models.context import count_tokens

TEXT = (
    "We met in the morning. The skill of prospect theory was 0.43. Coffee was served. "
    "The skill of the rival theory was 0.31. Everybody left."
)


def shorten(compactor, text=TEXT, room=30) -> str:
    return asyncio.run(compactor(text, room))


@pytest.mark.parametrize(
    "compactor", [TailCompactor(), HeadTail(), ExtractiveCompactor()], ids=lambda c: c.name
)
class TestEveryCompactor:
    @given(text=st.text(max_size=300), room=st.integers(0, 80))
    def test_stays_within_its_room_and_leaves_short_texts_alone(self, compactor, text, room):
        found = shorten(compactor, text, room)
        assert count_tokens(found) <= room or found == text
        if count_tokens(text) <= room:
            assert found == text

    def test_says_only_what_the_text_says(self, compactor):
        assert all(word in TEXT for word in shorten(compactor).replace("...", "").split())


def test_truncation_keeps_the_end():
    assert shorten(TailCompactor(), room=8) == "Everybody left."


def test_head_and_tail_keep_both_ends():
    found = shorten(HeadTail(), room=24)
    assert found.startswith("We met")
    assert found.endswith("left.")
    assert " ... " in found


def test_extraction_keeps_whole_sentences_with_what_matters_in_their_order():
    found = shorten(ExtractiveCompactor(), room=34)
    assert found == "The skill of prospect theory was 0.43. The skill of the rival theory was 0.31."
