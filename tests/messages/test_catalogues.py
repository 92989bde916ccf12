"""The ARB files are well formed: English has the types of arguments, all have the same ids, no translation is stale."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aisle import messages
from aisle.messages.messages_of_language import MessagePart, PluralForms, load_messages, message_lengths, parse_message
from aisle.settings.setting_definitions import ENGLISH, LANGUAGES
from tests.messages.review import TRANSLATIONS, hash_message, read_reviewed

ARB_TYPES = {"text": "String", "date": "DateTime", "time": "DateTime"}
"""Types of the ARB format by the type of the argument; all others are numbers."""


def read_file(language: str) -> dict[str, Any]:
    """Return a catalogue with its notes. Raises ValueError for an id that stands twice."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise ValueError(f"{language}: an id stands twice")
        return dict(pairs)

    path = Path(messages.__path__[0]) / f"{language}.arb"
    found: dict[str, Any] = json.loads(path.read_text("utf-8"), object_pairs_hook=unique)
    return found


def argument_types(id_: str) -> dict[str, dict[str, str]]:
    """Return the placeholders that a message needs, by its sentences."""
    types: dict[str, dict[str, str]] = {}
    for sentence in message_lengths(id_):
        for part in parse_message(sentence):
            if part.type:
                types[part.name] = {"type": ARB_TYPES.get(part.type, "num")}
            elif part.name:
                types.setdefault(part.name, {})
    return types


def test_english_has_the_type_of_every_argument() -> None:
    notes = {
        id_.removeprefix("@"): note for id_, note in read_file(ENGLISH).items() if id_ != "@@locale" and "@" in id_
    }
    needed = {id_: argument_types(id_) for id_ in load_messages(ENGLISH)}
    assert {id_: note["placeholders"] for id_, note in notes.items()} == {k: v for k, v in needed.items() if v}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_file_has_the_ids_in_the_same_order(language: str) -> None:
    catalogue = read_file(language)
    assert catalogue["@@locale"] == language
    assert list(load_messages(language)) == list(load_messages(ENGLISH))
    assert language == ENGLISH or not [id_ for id_ in catalogue if id_.startswith("@") and id_ != "@@locale"]


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_no_translation_is_older_than_its_english(language: str) -> None:
    reviewed = read_reviewed()
    english = load_messages(ENGLISH)
    stale = [id_ for id_ in english if reviewed.get(id_, {}).get(language) != hash_message(english[id_])]
    assert stale == [], f"translate these, then run: python -m tests.messages.review {language} {' '.join(stale)}"
    assert reviewed.keys() <= english.keys()


def test_a_sentence_is_split_into_its_parts() -> None:
    sentence = "{who, text, cut}: {count, plural, one {# line} other {# lines}} at {at, time}."
    assert parse_message(sentence) == (
        MessagePart("", "who", "text", "cut"),
        MessagePart(": ", "count", "plural", plural=PluralForms("# line", "# lines")),
        MessagePart(" at ", "at", "time"),
        MessagePart("."),
    )


@pytest.mark.parametrize(
    "sentence", ["{who", "who}", "{who,text}", "{n, plural, one {#}}", "{n, plural, few {#} other {#}}"]
)
def test_a_malformed_sentence_is_refused(sentence: str) -> None:
    with pytest.raises(ValueError, match=r"brace|plural"):
        parse_message(sentence)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("id_", ["session.guessed", "session.keyboard_layout"])
def test_a_guess_is_said_in_words_and_not_by_a_question_mark(language: str, id_: str) -> None:
    assert "?" not in load_messages(language)[id_]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("id_", ["session.guessed", "session.keyboard_layout"])
def test_a_guess_names_the_product_at_every_length(language: str, id_: str) -> None:
    lengths = load_messages(language)[id_].split("\n")
    named = lengths[:2] if id_ == "session.keyboard_layout" else lengths  # the longest tells the code and all else
    assert all("{label" in each and each.index("{label") < each.index("{said") for each in named)
