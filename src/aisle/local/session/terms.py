"""What a session is given: its rooms, the terms of its terminal, and what the keys of a terminal stand for."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from aisle.jobs.base import Policy
from aisle.local.host.signals import Bell
from aisle.local.outbox.journal import Journal
from aisle.local.outbox.outbox import Outbox
from aisle.local.reads.reads import Reads
from aisle.scan.meaning import Back, Command, Said
from aisle.scan.restricted import Pattern
from aisle.settings import ENGLISH
from aisle.tuples import NamedTuple

ALIASES: dict[str, Said] = {
    "back": Back(),
    "f1": Command("h"),
    "f2": Command("n"),
    "f3": Back(),
    "f4": Command("u"),
    "f5": Command("."),
}
"""Keys that stand for a command, unless the settings say otherwise; F9 is left out on purpose, some scanners send
it before a code."""

CURSOR = frozenset({"up", "down", "pageup", "pagedown", "home", "end", "enter"})

_LIST_FRAME = ((22, 14), (17, 13), (11, 11), (0, 6))
"""(rows of the screen from which, rows that a list screen needs for all but the list)."""

_FOOT = 3
"""Of those, the ones for the commands under a list."""

_WIDE, _ROOMY = 102, 20
"""From so many columns on they stand beside it; on fewer rows there is nothing to be won."""


class Rooms(NamedTuple):
    """What a session works with; opened by aisle.local.session.opening."""

    reads: Reads
    journal: Journal
    outbox: Outbox
    bell: Bell


class Size(NamedTuple):
    """Columns and rows of a screen, once they are known."""

    columns: int = 0
    rows: int = 0

    @property
    def listed(self) -> int:
        """How many rows of a list it shows."""
        return list_rows(self.rows) if any(self) else 12

    @property
    def aside(self) -> int:
        """How many more of them it shows where commands stand beside the list."""
        return _FOOT if self.columns >= _WIDE and self.rows >= _ROOMY else 0


class Terms(NamedTuple):
    """What is settled for this terminal before anybody works on it."""

    store: str
    terminal: str
    user: str = ""
    policy: Policy = Policy()
    bell_good: bool = False
    restricted: tuple[Pattern, ...] = ()
    """In-store codes that carry weight or price."""
    pools: Mapping[int, str] = {}
    """Stock pools in use, with their names; empty for those that the store names."""
    token_file: str = ""
    """Where the service's token is; empty where the store makes its own."""

    exports: bool = True
    """Files may be written from here; not at a terminal that shows nothing else than aisle."""

    language: str = ENGLISH
    """What people read here."""

    time_zone: str = ""
    """The zone of the store; empty for that of the host."""

    theme: str = ""
    """How it is coloured; empty for the sixteen colours of the terminal."""

    since: float = 0.0
    """From when on the terminal's name is that of this one: whoever signed in before then sat at another one."""

    keys: Mapping[str, str] = {}
    """Keys that were given a command: the letter of it by the key."""

    shown: Mapping[str, str] = {}
    """The letters that are called otherwise here, with what they are called."""

    def tuned(self, new: Terms) -> Terms:
        """The same terminal, store and person, on the terms of new settings."""
        return self._replace(
            policy=new.policy,
            bell_good=new.bell_good,
            restricted=new.restricted,
            pools=new.pools,
            language=new.language,
            time_zone=new.time_zone,
            theme=new.theme,
            keys=new.keys,
            shown=new.shown,
        )


def list_rows(rows: int) -> int:
    """How many rows of a list a screen of so many rows has room for."""
    return max(1, rows - next(used for height, used in _LIST_FRAME if rows >= height))


def iso(at: float) -> str:
    """Seconds since 1970 as ISO 8601 UTC, with milliseconds."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
