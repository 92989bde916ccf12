"""The people of the store into the cache, with what leads to them; only our own service keeps them."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from aisle.code_forms import index_keys
from aisle.local.cache.codes import add_codes
from aisle.local.cache.rows import PersonRow
from aisle.local.db import fetch
from aisle.scan.meaning import PERSON


def write_people(connection: apsw.Connection, rows: Sequence[PersonRow]) -> tuple[str, ...]:
    """Puts these in the place of all that were there, inside a transaction; the users that came, changed or went."""
    known = dict(fetch(connection, "SELECT user, raw FROM person"))
    people = {row.user: row for row in rows}
    changed = [user for user, row in people.items() if known.get(user) != row.raw]
    changed += [user for user in known if user not in people]
    if not changed:
        return ()
    connection.execute("DELETE FROM person")
    connection.execute("DELETE FROM code WHERE kind = ?", (PERSON,))
    connection.executemany("INSERT INTO person (user, name, badge, text, raw) VALUES (?, ?, ?, ?, ?)", people.values())
    named = [(row.user, said) for row in people.values() for said in (row.user, row.badge)]
    add_codes(connection, {(code, PERSON, user) for user, said in named for code in index_keys(said)})
    return tuple(changed)
