"""No message of any language has a word that the glossary beside the messages retires."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aisle import messages
from aisle.messages.messages_of_language import load_messages, message_lengths, parse_message
from aisle.settings.setting_definitions import LANGUAGES

GLOSSARY = Path(messages.__path__[0]) / "GLOSSARY.md"
HEADINGS = {"en": "English", "nl": "Nederlands", "de": "Deutsch", "fr": "Français"}


def retired_words(language: str) -> dict[str, str]:
    """Return the words that a language retires, each with the word to be used."""
    section = GLOSSARY.read_text("utf-8").split(f"\n### {HEADINGS[language]}\n")[1].split("\n#")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if "|" in line]
    return {retired.strip(): word for word, instead in rows[2:] for retired in instead.split(",")}


def texts(id_: str, language: str) -> str:
    """Return the text of all lengths of a message, without its arguments."""
    parts = [part for sentence in message_lengths(id_, language) for part in (*parse_message(sentence), None)]
    plain = (" ".join((part.text, *(part.plural or ()))) if part else "\n" for part in parts)
    return " ".join(plain)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_message_has_a_retired_word(language: str) -> None:
    retired = retired_words(language)
    assert retired
    endings = "|".join(re.escape(word).replace(r"\*", r"\w*") for word in retired)
    pattern = re.compile(rf"\b(?:{endings})\b", re.IGNORECASE)
    found = {id_: pattern.findall(texts(id_, language)) for id_ in load_messages(language)}
    assert {id_: words for id_, words in found.items() if words} == {}
