"""Where terminals of this host work that were changed to another store, and which stores were visited by that.

A terminal is in the store of its settings, until a person with the right to it changes that; a battery that dies does
not. The notes lie beside the homes of the stores, and nobody's work depends on them.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from aisle.local.host.home import TERMINALS, VISITED, Home, short_hash
from aisle.tuples import NamedTuple


class Whereabouts(NamedTuple):
    """Where a terminal works."""

    settled: str
    """The store of its settings when it was changed; with others the note has no meaning any more."""
    store: str
    user: str
    """Who changed it."""


def remember(root: Path, terminal: str, there: Whereabouts) -> None:
    """Notes that a terminal works elsewhere; forgets it where it is back. Raises OSError."""
    if there.settled in ("", there.store):
        _note(root, terminal).unlink(missing_ok=True)
    else:
        _write(_note(root, terminal), there._asdict())


def whereabouts(root: Path, terminal: str, settled: str = "") -> Whereabouts | None:
    """Where a terminal works, if it is not in the store of its settings; `settled` is that store, where it is known."""
    said = _read(_note(root, terminal))
    try:
        found = Whereabouts(*(str(said[name]) for name in Whereabouts._fields)) if said else None
    except KeyError:
        return None
    return found if found and settled in ("", found.settled) else None


def visit(home: Home) -> None:
    """Notes that a terminal of this host has worked in this store. Raises OSError."""
    path = home.root / VISITED / home.name
    if not path.exists():
        _write(path, {"base_url": home.base_url, "store": home.store})


def visited(root: Path, base_url: str) -> tuple[Home, ...]:
    """The stores of this service that terminals of this host were changed to or from."""
    try:
        names = sorted(os.listdir(root / VISITED))
    except OSError:
        return ()
    notes = [_read(root / VISITED / name) for name in names]
    return tuple(
        Home(root, base_url, str(note["store"])) for note in notes if note and note.get("base_url") == base_url
    )


def _note(root: Path, terminal: str) -> Path:
    return root / TERMINALS / short_hash(os.fsencode(terminal))


def _write(path: Path, said: dict[str, str]) -> None:
    """In one step, so that nobody reads half of it."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    half = path.with_name(f"{path.name}.{os.getpid()}.new")
    half.write_text(json.dumps(said), encoding="utf-8")
    half.replace(path)


def _read(path: Path) -> dict[str, str]:
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}
