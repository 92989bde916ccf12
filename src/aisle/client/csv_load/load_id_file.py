"""Id of a load, kept until its end: a load of the same files after an interruption counts no stock twice.

It does not keep how far the load came: `existing_stock_and_loaded_counts` finds loaded counts in the service's log, and
`unfinished_recount` those of a recount; everything else is sent again, and the service answers `same`. A load locks the
file with its id, so that two loads of one folder do not run at the same time.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from aisle.client.csv_load.checked_rows import CsvTable
from aisle.client.csv_load.file_layouts_and_columns import STOCK
from aisle.client.csv_load.report import LoadError
from aisle.client.csv_load.unfinished_recount import UnfinishedRecount


class LoadId(NamedTuple):
    """Id of a load; `is_resumed` is True if an earlier load with this id, or a recount like this one, was interrupted.

    `has_unfinished_recount` is True if a recount of the folder was interrupted, and this load is none.
    """

    id: str
    is_resumed: bool = False
    recount: UnfinishedRecount | None = None
    has_unfinished_recount: bool = False


@contextmanager
def kept_load_id(id_file: Path | None, tables: Sequence[CsvTable], *, recount: bool) -> Iterator[LoadId]:
    """Yield the id for a load of these files: that of an interrupted one if nothing has changed since.

    It is deleted at the end, unless the load fails, and so are the rows of a recount. Raise LoadError if it cannot be
    stored, or if another load of the folder is running.
    """
    if id_file is None:
        yield LoadId(secrets.token_hex(8))
        return
    with _locked(id_file) as stream:
        name = _start(stream, id_file, tables, recount=recount)
        yield name
        if name.recount:
            name.recount.end()
        id_file.unlink(missing_ok=True)


@contextmanager
def _locked(id_file: Path) -> Iterator[IO[str]]:
    """Yield the open file, locked."""
    while True:
        with os.fdopen(_open(id_file), "r+", encoding="utf-8", errors="replace") as stream:
            if _lock(stream, id_file):
                yield stream
                return


def _open(id_file: Path) -> int:
    try:
        id_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(id_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _not_kept(id_file, error) from error


def _lock(stream: IO[str], id_file: Path) -> bool:
    """Lock the file. Return False if a load that has ended meanwhile has deleted it."""
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(stream.fileno()), id_file.stat())
    except BlockingIOError as error:
        raise LoadError("Another load of this folder is running. Wait for its end, then load again.") from error
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _not_kept(id_file, error) from error


def _start(stream: IO[str], id_file: Path, tables: Sequence[CsvTable], *, recount: bool) -> LoadId:
    load_content = {"files": {table.name: _file_digest(table.path) for table in tables}, "recount": recount}
    last = _read(stream)
    name = LoadId(secrets.token_hex(8))
    if last.get("id") and {part: last.get(part) for part in load_content} == load_content:
        name = LoadId(str(last["id"]), is_resumed=True)
    else:
        _write(stream, id_file, {"id": name.id, **load_content})
    recount_file = id_file.with_suffix(_RECOUNT_SUFFIX)
    if not any(table.layout is STOCK for table in tables):
        return name
    if not recount:
        return name._replace(has_unfinished_recount=recount_file.exists())
    found = UnfinishedRecount(recount_file)
    return name._replace(recount=found, is_resumed=found.is_resumed)


_RECOUNT_SUFFIX = ".recount"


def _write(stream: IO[str], id_file: Path, content: Mapping[str, object]) -> None:
    try:
        stream.seek(0)
        stream.truncate()
        stream.write(json.dumps(content))
        stream.flush()
    except OSError as error:
        raise _not_kept(id_file, error) from error


def _file_digest(path: Path) -> str:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _read(stream: IO[str]) -> dict[str, object]:
    try:
        stream.seek(0)
        found = json.loads(stream.read())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _not_kept(id_file: Path, error: OSError) -> LoadError:
    return LoadError(f"The id of this load cannot be kept in {id_file.parent}: {error}. Make room there.")
