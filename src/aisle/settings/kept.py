"""What the settings files said when they were right last: in force while one of them has an error.

Without it a slip of the pen would take a terminal to another store, or to none, with its next start.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from aisle.settings import Loaded, stamp_of

KEPT = "settings.kept"
"""A file among this host's data, for this account alone: the text of each settings file by its path."""


def kept(root: Path) -> Mapping[str, str] | None:
    """The texts of the files that there were; None where no session has begun yet, or nobody can read it."""
    file = root / KEPT
    try:
        if not file.is_file():  # a pipe would be waited for
            return None
        found = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None
    is_ours = isinstance(found, dict) and all(isinstance(text, str) for text in found.values())
    return found if is_ours else None


def keep(loaded: Loaded) -> None:
    """Keeps what these settings were read from; not when that has an error, or has changed since.

    As well as it can be done: a disk that takes nothing is told of by what has to be kept.
    """
    if loaded.wrong:
        return
    try:
        texts = {str(path): path.read_text(encoding="utf-8") for path in loaded.files if path.is_file()}
    except (OSError, UnicodeDecodeError):
        return
    if stamp_of(loaded.files) == loaded.stamp and kept(loaded.root) != texts:
        with suppress(OSError):
            _write(loaded.root / KEPT, json.dumps(texts))


def _write(path: Path, text: str) -> None:
    mine = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(mine, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        with open(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        mine.replace(path)
    finally:
        mine.unlink(missing_ok=True)
