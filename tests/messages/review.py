"""Record of the English message from which each translation was made: `python -m tests.messages.review de pick.title`.

`reviewed.json` keeps a hash of the English message for each language and id, so that a test names the translations
whose English has changed since. Without ids, all translations of the language are recorded as reviewed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from aisle.messages.messages_of_language import load_messages
from aisle.settings.setting_definitions import ENGLISH, LANGUAGES

REVIEWED = Path(__file__).with_name("reviewed.json")
TRANSLATIONS = tuple(language for language in LANGUAGES if language != ENGLISH)


def hash_message(message: str) -> str:
    """Return a short hash of an English message."""
    return sha256(message.encode()).hexdigest()[:8]


def read_reviewed() -> dict[str, dict[str, str]]:
    """Return the recorded hashes by id and language."""
    recorded: dict[str, dict[str, str]] = json.loads(REVIEWED.read_text("utf-8"))
    return recorded


def record(languages: Iterable[str], ids: Iterable[str]) -> None:
    """Record these translations as made from the present English messages, and drop ids that are gone."""
    english = load_messages(ENGLISH)
    reviewed = {id_: read_reviewed().get(id_, {}) for id_ in english}
    for id_ in ids:
        for language in languages:
            reviewed[id_][language] = hash_message(english[id_])
    lines = (f'"{id_}": {json.dumps(hashes)}' for id_, hashes in reviewed.items())
    REVIEWED.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    language, ids = sys.argv[1], sys.argv[2:]
    record(TRANSLATIONS if language == "all" else (language,), ids or load_messages(ENGLISH))
