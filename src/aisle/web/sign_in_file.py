"""File of the valid sign-ins, so that they outlive the process. It holds no cookie and no token of a person."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

log = logging.getLogger("aisle.web")


class StoredSignIn(NamedTuple):
    """Sign-in of a browser. Times are seconds since 1970."""

    user: str
    name: str
    since: float
    seen: float
    until: float
    """End of the time in which the PIN is not asked for again."""


def load(file: Path) -> dict[str, StoredSignIn]:
    """Return the stored sign-ins by the hash of their cookie; none if the file is missing or unreadable."""
    with suppress(OSError, ValueError, TypeError, AttributeError):
        handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        with open(handle, encoding="utf-8") as stream:
            return {str(key): _parse(**row) for key, row in json.load(stream).items()}
    return {}


def _parse(user: str, name: str, since: float, seen: float, until: float) -> StoredSignIn:
    return StoredSignIn(str(user), str(name), float(since), float(seen), float(until))


def save(file: Path, sign_ins: Mapping[str, StoredSignIn]) -> None:
    """Replace the file. An error is logged: the sign-ins then end with this process."""
    rows = {key: sign_in._asdict() for key, sign_in in sign_ins.items()}
    fresh = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with open(handle, "w", encoding="utf-8") as stream:
            json.dump(rows, stream)
        os.replace(fresh, file)
    except OSError as problem:
        log.warning("Sign-ins cannot be kept for the next start of the web server: %s.", problem)
