"""The name of a load: kept in a file beside what it loads until it has come to its end, so that it goes on under it."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from aisle.client.load.report import LoadError
from aisle.client.load.table import Table
from aisle.tuples import NamedTuple


class Name(NamedTuple):
    """The id of a load, and whether an earlier one with this id was cut off."""

    id: str
    is_resumed: bool = False


def begin(kept: Path | None, tables: Iterable[Table], *, recount: bool) -> Name:
    """The name for a load of these files: that of the last one, where it was cut off and nothing has changed since.

    Raises LoadError where it cannot be kept.
    """
    if kept is None:
        return Name(secrets.token_hex(8))
    said = {"files": {table.name: _digest(table.path) for table in tables}, "recount": recount}
    found = _read(kept)
    if found.get("id") and {name: found.get(name) for name in said} == said:
        return Name(str(found["id"]), is_resumed=True)
    name = Name(secrets.token_hex(8))
    _write(kept, {"id": name.id, **said})
    return name


def end(kept: Path | None) -> None:
    """Forgets the name: the load has come to its end, and the next one is another."""
    if kept is not None:
        kept.unlink(missing_ok=True)


def _digest(path: Path) -> str:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _read(kept: Path) -> dict[str, object]:
    try:
        found = json.loads(kept.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(kept: Path, said: dict[str, object]) -> None:
    beside = kept.with_name(f"{kept.name}.{secrets.token_hex(4)}")
    try:
        kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside.write_text(json.dumps(said), "utf-8")
        os.replace(beside, kept)
    except OSError as error:
        raise LoadError(f"The name of this load cannot be kept in {kept.parent}: {error}. Make room there.") from error
