"""Search over records of all kinds, with one typing error forgiven."""

from __future__ import annotations

import pytest

from aisle.cache.record_search import differs_in_one


@pytest.mark.parametrize(
    ("word", "other"),
    [("hony", "honey"), ("honney", "honey"), ("hunej", "hunek"), ("hnoey", "honey"), ("hon", "hom"), ("ab", "abc")],
)
def test_one_character_differs(word: str, other: str) -> None:
    assert differs_in_one(word, other)
    assert differs_in_one(other, word)


@pytest.mark.parametrize(("word", "other"), [("honey", "honey"), ("hon", "hmm"), ("honey", "hon"), ("abcd", "badc")])
def test_no_or_several_characters_differ(word: str, other: str) -> None:
    assert not differs_in_one(word, other)
    assert not differs_in_one(other, word)
