"""Texts of accents, of letters that stand for many, and of very many words: they take no more time than others."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import pytest

from aisle.search_text import MAX_SEARCH_WORDS, index_text, normalise_characters, normalise_text, search_variants
from aisle.service.db.schema_and_search_index import index_pieces, sort_key
from aisle.terminal_text import to_ascii

SECONDS = 2.0
LONG = 100_000
"""Where accents are sorted in a whole text, this many take over half a minute."""
ACCENTS = "\u0301\u0316"
"""Two that change places when a text is decomposed."""
HIDDEN = "\u0f73\u0f81\uff9e"
"""Letters by their class, and accents when they are decomposed."""
SENTENCE = "\ufdfa"
"""One letter that stands for eighteen."""


@pytest.mark.parametrize("letters", [ACCENTS, HIDDEN], ids=["accents", "hidden"])
@pytest.mark.parametrize("key", [normalise_characters, index_text, search_variants, sort_key, to_ascii])
def test_accents_without_end_take_little_time(key: Callable[[str], object], letters: str) -> None:
    began = process_time()
    key("a" + letters * (LONG // len(letters)))
    assert process_time() - began < SECONDS


def test_a_letter_that_stands_for_a_sentence_makes_no_text_much_longer() -> None:
    assert len(index_text(SENTENCE * 1000)) < 5 * 1000


def test_accents_of_letters_are_left_out_whatever_their_order() -> None:
    assert normalise_characters("e" + ACCENTS * 3 + "te" + HIDDEN) == normalise_characters("éte") == "ete"
    assert sort_key("E" + ACCENTS * 3 + "te\u0345") == "eteι"


def test_long_texts_are_cut_into_pieces_in_little_time() -> None:
    began = process_time()
    pieces = index_pieces("\u4e00" * 20 + "".join(chr(0x4E00 + number % 20_000) for number in range(LONG)))
    assert process_time() - began < SECONDS
    assert len(pieces.split()) == len(set(pieces.split()))


def test_a_search_has_so_many_words_that_a_statement_has_room() -> None:
    typed = " ".join(f"{number}g" for number in range(1_500)) + ",".join("xyz")
    assert len(normalise_text(typed).split()) == MAX_SEARCH_WORDS
    assert {len(variant.split()) for variant in search_variants(typed)} == {MAX_SEARCH_WORDS}
