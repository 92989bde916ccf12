"""Overlay of all pending operations by what they touch: an order, a product, a location or a delivery.

The outbox lists the keys in each operation's body (table `operation_key`); here they are read by key. An operation
leaves the overlay when the cache has a read that began after its confirmation (`is_included`).

Lists of them for people: `unconfirmed_operation_queries`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count

import apsw

from aisle.host.database import fetch, fetch_one, storage_errors
from aisle.named_tuple_json import to_text
from aisle.outbox.operation_record import REJECT_LINES, Operation, operation_from_row

ORDER_FIELD, PRODUCT_FIELD, LOCATION_FIELD, REFERENCE_FIELD = (
    "order_number",
    "product_number",
    "location_code",
    "reference",
)
"""Fields of `operation_key` that identify something in bodies."""

KeysOf = Callable[[Operation], Iterable[str]]

MAX_KEPT_KEYS = 500
"""Keys whose operations are kept; after an hour without a link many operations wait, in each session of the host."""

_REVISIONS = count(1)
"""Counter for revisions. It is shared, so that a new index never repeats a revision of an earlier one."""

_PENDING = "live = 1 AND state <> 'rejected'"
_PENDING_KEYS = f"""
SELECT DISTINCT k.key FROM operation o INDEXED BY operation_live CROSS JOIN operation_key k ON k.n = o.n AND k.field = ?
WHERE o.{_PENDING}
"""  # noqa: S608 - a condition of our own
_PENDING_AMONG_KEYS = f"""
SELECT DISTINCT k.key FROM json_each(?) e CROSS JOIN operation_key k ON k.field = ? AND k.key = e.value
CROSS JOIN operation o ON o.n = k.n WHERE o.{_PENDING}
"""  # noqa: S608 - a condition of our own
_PENDING_BY_KEY = f"""
SELECT k.key, o.* FROM json_each(?) e CROSS JOIN operation_key k ON k.field = ? AND k.key = e.value
CROSS JOIN operation o ON o.n = k.n WHERE o.{_PENDING} ORDER BY k.n
"""  # noqa: S608 - a condition of our own
_PENDING_OF_KIND = f"""
SELECT * FROM operation WHERE n IN (SELECT n FROM operation WHERE {_PENDING}) AND operation = ? ORDER BY n
"""  # noqa: S608 - a condition of our own
_CHANGED_KEYS = """
SELECT DISTINCT k.field, k.key FROM operation_change c CROSS JOIN operation_key k ON k.n = c.n WHERE c.seq > ?
"""
_CHANGE_RANGE = "SELECT (SELECT min(seq) FROM operation_change), (SELECT max(seq) FROM operation_change)"


def _keys_touched(operation: Operation, keys_of: KeysOf) -> set[str]:
    """Return the keys of an operation; none if its body is malformed, so that it hides no other operation."""
    try:
        return set(keys_of(operation))
    except (AttributeError, KeyError, TypeError):
        return set()


class OverlayIndex(Mapping[str, tuple[Operation, ...]]):
    """Pending operations by a key that they touch, oldest first.

    A value is the same object as long as its operations are unchanged, unless it was dropped for others.
    """

    def __init__(self, outbox: apsw.Connection, field: str, keys_of: KeysOf) -> None:
        self._db = outbox
        self._field = field
        self._keys_of = keys_of
        self._possible_keys: set[str] | None = None
        self._values: dict[str, tuple[Operation, ...]] = {}
        self._revisions: dict[str, int] = {}
        """Revisions of the keys that changed since `_first_revision`."""
        self._first_revision = next(_REVISIONS)

    def possible_keys(self) -> set[str]:
        """Return the keys that may be touched, without reading bodies; some may prove untouched."""
        if self._possible_keys is None:
            self._possible_keys = {str(key) for (key,) in fetch(self._db, _PENDING_KEYS, self._field)}
        return self._possible_keys

    def may_contain(self, key: str) -> bool:
        """Return True if operations may touch the key."""
        return key in self.possible_keys()

    def revision(self, key: str) -> int:
        """Return the revision of a key; it changes with each change of its operations."""
        return self._revisions.get(key, self._first_revision)

    def keys_changed_since(self, revision: int) -> set[str] | None:
        """Return the keys whose operations changed after this revision of the index; None if it may be any."""
        if revision < self._first_revision:
            return None
        return {key for key, changed in self._revisions.items() if changed > revision}

    def current_revision(self) -> int:
        """Return the revision of the last change of any key."""
        return max(self._revisions.values(), default=self._first_revision)

    def forget(self, keys: list[str] | None) -> None:
        """Drop what is known of keys that changed; None: of all."""
        if keys is None or len(self._revisions) > 10 * MAX_KEPT_KEYS:
            self._values, self._revisions, self._first_revision = {}, {}, next(_REVISIONS)
            self._possible_keys = None
            return
        for key in keys:
            self._values.pop(key, None)
            self._revisions[key] = next(_REVISIONS)
        if self._possible_keys is not None:
            self._possible_keys.difference_update(keys)
            pending = fetch(self._db, _PENDING_AMONG_KEYS, to_text(keys), self._field)
            self._possible_keys.update(str(key) for (key,) in pending)

    def preload(self, keys: Iterable[str]) -> None:
        """Read the operations of these keys at once."""
        found: dict[str, list[Operation]] = {key: [] for key in keys if key not in self._values}
        for key, *row in fetch(self._db, _PENDING_BY_KEY, to_text(list(found)), self._field) if found else ():
            operation = operation_from_row(row)
            if key in _keys_touched(operation, self._keys_of):
                found[key].append(operation)
        if len(self._values) + len(found) > MAX_KEPT_KEYS:
            self._values = {}
        self._values |= {key: tuple(operations) for key, operations in found.items()}

    def __getitem__(self, key: str) -> tuple[Operation, ...]:
        if not self.may_contain(key):
            raise KeyError(key)
        self.preload([key])
        if not self._values[key]:
            raise KeyError(key)
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return (key for key in sorted(self.possible_keys()) if key in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Overlay:
    """Pending operations of the outbox, read again only for keys that changed since the last look."""

    def __init__(self, outbox: apsw.Connection) -> None:
        self._db = outbox
        self._revision: tuple[int, int] | None = None
        self._last_change: int | None = None
        """Last entry of `operation_change` that is applied; None if nothing was read yet."""
        self._indexes: dict[str, OverlayIndex] = {}

    def data_version(self) -> int:
        """Return a number that changes when another connection has written to the outbox."""
        with storage_errors(self._db.filename):
            row = fetch_one(self._db, "PRAGMA data_version")
        return int(row[0]) if row else 0

    def revision(self) -> tuple[int, int]:
        """Return a value that changes when any connection, including this one, has written to the outbox."""
        return self.data_version(), self._db.total_changes()

    def by_order(self) -> OverlayIndex:
        """Return the index of pending operations by order, oldest first."""
        return self.index_by(ORDER_FIELD, orders_of_operation)

    def operations(self, kind: str) -> list[Operation]:
        """Return all pending operations of one kind of the interface, oldest first."""
        return [operation_from_row(row) for row in fetch(self._db, _PENDING_OF_KIND, kind)]

    def index_by(self, field: str, keys_of: KeysOf) -> OverlayIndex:
        """Return the index of pending operations by the keys that `keys_of` yields, which are values of that field."""
        self.refresh()
        if field not in self._indexes:
            self._indexes[field] = OverlayIndex(self._db, field, keys_of)
        return self._indexes[field]

    def refresh(self) -> None:
        """Drop what changed in the outbox since the last look."""
        stamp = self.revision()
        if stamp == self._revision:
            return
        first, last = fetch(self._db, _CHANGE_RANGE)[0]
        changed: dict[str, list[str]] | None = None
        if self._last_change is not None and last is not None and first - 1 <= self._last_change <= last:
            changed = {}
            for field, key in fetch(self._db, _CHANGED_KEYS, self._last_change):
                changed.setdefault(str(field), []).append(str(key))
        for field, index in self._indexes.items():
            if changed is None or field in changed:
                index.forget(None if changed is None else changed[field])
        # A rollback frees its number for another write, so in a transaction nothing is known about later writes.
        self._last_change = None if self._db.in_transaction else last
        self._revision = None if self._db.in_transaction else stamp


def orders_of_operation(operation: Operation) -> Iterator[str]:
    """Yield the orders that an operation changes."""
    if operation.operation == "update-customer-order":
        yield str(operation.body["orders"]["order_number"])
    elif operation.operation == REJECT_LINES:
        yield str(operation.body["order_number"])
    elif operation.operation == "create-movement":
        for item in operation.body:
            for side in ("from_location", "to_location"):
                number = (item.get(side) or {}).get("customer_order_number")
                if number:
                    yield str(number)


def is_included(operation: Operation, read_began: float | None) -> bool:
    """Return True if a read that began at this moment includes the effect of the operation; None: unknown moment."""
    if read_began is None:
        return False
    confirmed_at = None if _was_lost_by_restore(operation) else operation.confirmed_at
    if confirmed_at is not None and confirmed_at < read_began:
        return True
    return any(confirmed < read_began <= replayed for confirmed, replayed in operation.read_intervals or ())


def _was_lost_by_restore(operation: Operation) -> bool:
    """Return True if the service was restored from an earlier copy, lost the operation, and has not confirmed it again.

    An operation that it may still have keeps the time at which it was first sent.
    """
    replayed, sent = operation.replayed_at, operation.first_sent_at
    if replayed is None or (operation.confirmed_at or 0.0) > replayed:
        return False
    return sent is None or sent > replayed


def may_be_included(operation: Operation, read_began: float | None) -> bool:
    """Return True if a read that began at this moment may or may not include the effect of the operation."""
    return operation.first_sent_at is not None and not is_included(operation, read_began)
