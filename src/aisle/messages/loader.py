"""Loader of messages: one ARB file (JSON) for each language. The lengths of a message are its lines, short first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from aisle.settings import ENGLISH


@lru_cache(maxsize=8)
def load_messages(language: str) -> Mapping[str, str]:
    """Return all messages of a language by id, without the notes for translators."""
    content: dict[str, str] = json.loads(Path(__file__).with_name(f"{language}.arb").read_text("utf-8"))
    return {id_: message for id_, message in content.items() if not id_.startswith("@")}


@lru_cache(maxsize=4096)
def message_lengths(id_: str, language: str = ENGLISH) -> tuple[str, ...]:
    """Return all lengths of a message, short first.

    A message that a language lacks is returned in English, and an unknown id as its own text: people see something,
    tests fail.
    """
    message = load_messages(language).get(id_) or load_messages(ENGLISH).get(id_, id_)
    return tuple(message.split("\n"))
