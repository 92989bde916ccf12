"""The outbox: what this host still has to tell the service, durable before anybody is told that it is done.

Sessions enqueue inside their own transaction; the courier moves operations along the table in `outbox_state`. Lanes
keep order where order matters (one order, one product): an operation may go when it is the oldest unfinished one in
each of its lanes, so that a doubtful one stops nothing but its own lanes.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import apsw

from aisle.jobs.base import DIFFERENCE, Json, Settle, Write
from aisle.jobs.codec import to_text
from aisle.local.db import connect, fetch, fetch_one, migrate, transaction, usable
from aisle.local.host.ids import new_id
from aisle.local.outbox.instead import instead
from aisle.local.outbox.merge import fold, goods, mergeable, merged
from aisle.local.outbox.operation import (
    FORMAT,
    STORE,
    Author,
    Intent,
    Operation,
    as_operation,
    as_write,
    author_of,
    fingerprint,
)
from aisle.local.outbox.remainder import CARRIED_S, LEFT, asking, carried_in, keep_remainder, more_left, told_again
from aisle.local.outbox.replays import Replays
from aisle.local.outbox.rows import is_last, kept
from aisle.local.outbox.schema import OUTBOX
from aisle.local.outbox.split import number_with_room, room_before, split
from aisle.local.outbox.state import (
    CLOSE,
    CONFIRM,
    IN_DOUBT,
    MERGE,
    NEEDS_PERSON,
    QUEUED,
    REJECT,
    REJECTED,
    RETRY,
    SEND,
    SENDING,
    SPLIT,
    UNFINISHED,
)
from aisle.local.reads.overlay_goods import products_of
from aisle.local.told import NOTHING, Told, outside

_HOLDING = ", ".join(f"'{state}'" for state in UNFINISHED)

_PARTNER = f"""
SELECT o.* FROM operation o
WHERE o.merge_key = ? AND o.merge_key <> '' AND o.state = 'queued' AND o.attempts = 0 AND o.frozen IS NULL
AND NOT EXISTS (
  SELECT 1 FROM op_lane mine
  JOIN op_lane younger ON younger.lane = mine.lane AND younger.n > mine.n
  JOIN operation other ON other.n = younger.n
  WHERE mine.n = o.n AND other.state IN ({_HOLDING})
)
ORDER BY o.n DESC LIMIT 1
"""  # noqa: S608 - states of our own

_FOLLOWS = "UPDATE operation SET depends_on = ? WHERE depends_on = ? AND depends_on <> ''"
"""As its index says it, or all that was ever sent is read."""
_READY = """
SELECT n, op_id FROM ready WHERE not_before <= ? AND principal IN (SELECT value FROM json_each(?)) ORDER BY n LIMIT ?
"""
_LOOK = 50
"""So many of those whose turn it is are looked at, at most."""

_WAITING_IN = """
SELECT o.* FROM op_lane l JOIN operation o ON o.n = l.n WHERE l.lane = ? AND o.state = 'queued' AND o.frozen IS NULL
"""

_ABOUT_GOODS = """
SELECT 1 FROM op_lane l
JOIN json_each(?) e ON l.lane = e.value
JOIN operation o ON o.n = l.n
WHERE l.n < ? AND o.live = 1 AND o.principal IN (SELECT value FROM json_each(?))
AND (o.state = 'sending' OR EXISTS (SELECT 1 FROM ready r WHERE r.n = o.n))
LIMIT 1
"""

_UNDER_WAY = """
SELECT o.* FROM operation o
WHERE o.live = 1 AND (o.state = 'sending' OR (o.state = 'queued' AND o.first_sent_at IS NOT NULL)
OR (o.state = 'done' AND o.confirmed_at > ?))
"""

_INSERT = """
INSERT INTO operation (
  n, op_id, store, principal, app_user, terminal, operation, lanes, merge_key, path, query, body, state,
  created_at, occurred_at, depends_on, job_id, event_seq, schema_version
) VALUES (
  :n, :op_id, :store, :principal, :app_user, :terminal, :operation, :lanes, :merge_key, :path, :query, :body, 'queued',
  :created_at, :occurred_at, :depends_on, :job_id, :event_seq, :schema_version
)
"""


def open_outbox(folder: Path) -> apsw.Connection:
    """The precious database of a home folder, made or brought up to date. Raises StorageError."""
    connection = connect(folder / "outbox.db", precious=True)
    migrate(connection, OUTBOX)
    return connection


class Outbox(Replays):
    """The operations of outbox.db."""

    # For sessions

    def settle(self, settle: Settle, by: str) -> bool:
        """As `Doubtful.settle`; what is sent in the place of an operation is one of its own."""
        op = self.get(settle.op_id)
        write = instead(op, settle.how, by)
        if write is None:
            return super().settle(settle, by)
        if settle.how == DIFFERENCE and not is_last(self._db, op.n):
            return False
        author = Author(op.store, by or op.app_user, op.principal, op.terminal)
        (instead_of,) = self.enqueue([Intent(write, op.job_id, op.event_seq, op.occurred_at)], author)
        self._apply(op.op_id, CLOSE, closed_by=by, why=outside(settle.note), superseded_by=instead_of)
        return True

    def enqueue(self, intents: Sequence[Intent], author: Author) -> tuple[str, ...]:
        """Adds operations inside the caller's transaction; the op_id that carries each intent, in their order.

        Intents with a merge key become one with each other, and with a row that waits and has never been sent, as long
        as nothing stands between them in their lanes: a new row carries both, the old one is closed.
        """
        if not self._db.in_transaction:
            raise RuntimeError("enqueue belongs into the transaction of the event that it follows from")
        writes, carriers = fold([intent.write for intent in intents])
        newest: dict[int, Intent] = {}
        for carrier, intent in zip(carriers, intents, strict=True):
            before = newest.get(carrier)
            newest[carrier] = intent._replace(depends_on=intent.depends_on or (before.depends_on if before else ""))
        ids = [
            self._add(newest[index]._replace(write=write), author_of(write, author))
            for index, write in enumerate(writes)
        ]
        return tuple(ids[carrier] for carrier in carriers)

    def _add(self, intent: Intent, author: Author) -> str:
        write, created = intent.write, self._clock()
        op_id = new_id(self._random)
        old = self._partner(write, author) if write.merge else None
        if old is not None:
            write, created = merged(as_write(old), write), old.created_at
            self._apply(old.op_id, MERGE, superseded_by=op_id)
            self._db.execute(_FOLLOWS, (op_id, old.op_id))
            intent = intent._replace(depends_on=intent.depends_on or old.depends_on)
        number = number_with_room(self._db, write)
        self._insert(op_id, intent._replace(write=write), author, created, number)
        return op_id

    def _insert(self, op_id: str, intent: Intent, author: Author, created: float, number: int | None = None) -> None:
        """Writes one down, in its lanes; without a number it is the youngest."""
        write = intent.write
        row = {
            **intent._asdict(),
            **author._asdict(),
            "n": number,
            "op_id": op_id,
            "operation": write.operation,
            "lanes": to_text(write.lanes),
            "merge_key": write.merge,
            "path": to_text(dict(write.path)),
            "query": to_text(dict(write.query)),
            "body": to_text(write.body),
            "created_at": created,
            "schema_version": FORMAT,
        }
        self._db.execute(_INSERT, row)
        n = self._db.last_insert_rowid()
        self._db.executemany("INSERT INTO op_lane (lane, n) VALUES (?, ?)", [(lane, n) for lane in set(write.lanes)])

    def _partner(self, write: Write, author: Author) -> Operation | None:
        """The row that this write can be merged with: waits, never sent, same author, the youngest of its lanes."""
        row = fetch_one(self._db, _PARTNER, write.merge)
        if row is None:
            return None
        old = as_operation(row)
        same = (old.store, old.principal, old.app_user) == (author.store, author.principal, author.app_user)
        plain = write._replace(supervises=False)  # by whose token it goes is compared already
        if not same or old.schema_version != FORMAT or not mergeable(as_write(old), plain):
            return None
        return None if self._touched_since(old) else old

    def _touched_since(self, old: Operation) -> bool:
        """Whether something was said of its goods after it: then it matters when it was said itself."""
        lanes = to_text(sorted(goods(as_write(old))))
        sql = "SELECT 1 FROM op_lane l JOIN json_each(?) e ON l.lane = e.value WHERE l.n > ? LIMIT 1"
        return fetch_one(self._db, sql, lanes, old.n) is not None

    def pending_effects(self, state: str = "") -> list[Operation]:
        """What lies over the cache, or of that what is of this state: unfinished operations, and done ones that were
        not read back; oldest first."""
        sql = "SELECT n FROM operation WHERE live = 1 AND state <> 'rejected' AND ? IN ('', state)"
        return self._all(f"SELECT * FROM operation WHERE n IN ({sql}) ORDER BY n", state)  # noqa: S608

    def under_way(self, since: float) -> frozenset[str]:
        """Products whose stock may have changed at the service since then, by what was sent and not known before then
        to have arrived: movements and logs name them in their lanes, picks in their lines. So do receipts name their
        deliveries, which stand there as lanes: `delivery/<number>`."""
        found: set[str] = set()
        for operation in self._all(_UNDER_WAY, since):
            lanes = (lane.partition("/") for lane in operation.lanes)
            found.update(key for topic, _, key in lanes if topic == "product")
            found.update(lane for lane in operation.lanes if lane.startswith("delivery/"))
            found.update(products_of(operation))
        return frozenset(found)

    def counts(self) -> tuple[int, int]:
        """(waiting, doubtful): not yet confirmed; and those that a person has to see (rejected or undecidable).

        Raises StorageError when the file cannot be read.
        """
        with usable(self._db.filename):
            rows = fetch(self._db, "SELECT state, count(*) FROM operation WHERE live = 1 GROUP BY state")
        of = {str(state): int(count) for state, count in rows}
        waiting, doubtful = (QUEUED, SENDING, IN_DOUBT), (NEEDS_PERSON, REJECTED)
        return sum(of.get(state, 0) for state in waiting), sum(of.get(state, 0) for state in doubtful)

    # For the courier

    def sendable(
        self, limit: int = 20, principals: Sequence[str] = (STORE,), but: Container[str] = ()
    ) -> list[Operation]:
        """Operations that may go now with the tokens of these principals, oldest first, without those of `but`.

        What takes goods for an order lets go first what was said of these goods before it: what was brought to a shelf
        has to be there when it is taken. It waits for nothing that stands still itself. What waits behind those that
        are found is not looked at: with much to be sent it would be the same hundred rows each time.
        """
        found: list[Operation] = []
        asked = self._clock(), to_text(list(principals)), max(limit, _LOOK)
        with closing(self._db.execute(_READY, asked)) as ready:
            for n, op_id in ready:
                ops = [] if op_id in but else self._all("SELECT * FROM operation WHERE n = ?", n)
                found += [op for op in ops if not self._is_ahead_of_its_goods(op, principals)]
                if len(found) >= limit:
                    break
        return found

    def _is_ahead_of_its_goods(self, op: Operation, principals: Sequence[str]) -> bool:
        """Whether something about its goods was said before it, and is on its way or may go itself."""
        lanes = goods(as_write(op)).difference(op.lanes)
        asked = to_text(sorted(lanes)), op.n, to_text(list(principals))
        return bool(lanes) and fetch_one(self._db, _ABOUT_GOODS, *asked) is not None

    def next_at(self, looked: float | None = None) -> float | None:
        """When the first queued operation may be tried whose time had not come at that look, or now; None without one.

        Who sleeps until then says when he looked: what became due between the two would be asked for by nobody.
        """
        sql = "SELECT min(not_before) FROM operation WHERE live = 1 AND state = 'queued' AND not_before > ?"
        row = fetch_one(self._db, sql, self._clock() if looked is None else looked)
        return None if row is None or row[0] is None else float(row[0])

    def begin_sending(
        self, op_id: str, frozen: bytes, *, keyed: bool = False, evidence: Json = None, afresh: bool = False
    ) -> bytes | None:
        """queued → sending, durable when this returns; the bytes to send, or None when it may not go (any more).

        `frozen` is kept at the first attempt; later ones get these same bytes back, unless it is written `afresh`, for
        it surely did not arrive. `keyed` says whether they go under
        a key that the service keeps; it is written down here, where it cannot be lost without the operation, and so is
        what was read before (`evidence`). State and lanes are looked at inside the transaction, so that a merge and a
        send cannot both win.
        """
        with transaction(self._db):
            row = fetch_one(self._db, "SELECT frozen FROM ready WHERE op_id = ?", op_id)
            if row is None:
                return None
            content: bytes = frozen if row[0] is None or afresh else row[0]
            self._apply(
                op_id,
                SEND,
                frozen=content,
                fingerprint=fingerprint(content),
                sent=1,
                keyed=int(keyed),
                evidence=kept(evidence),
            )
        return content

    def split(self, op_id: str) -> bool:
        """Makes an operation of each item of a movement that has not been sent, at its place in the lanes.

        Then what becomes of one item is known and told of it alone. False where there is nothing to split, or no room
        (an older program has left none).
        """
        with transaction(self._db):
            op = self.get(op_id)
            numbers = room_before(self._db, op)
            if op.state != QUEUED or not numbers:
                return False
            items = split(as_write(op))
            ids = [new_id(self._random) for _ in items]
            self._apply(op_id, SPLIT, superseded_by=ids[-1])
            self._db.execute(_FOLLOWS, (ids[-1], op_id))
            author = Author(op.store, op.app_user, op.principal, op.terminal)
            for item_id, number, write in zip(ids, numbers, items, strict=True):
                intent = Intent(write, op.job_id, op.event_seq, op.occurred_at, op.depends_on)
                self._insert(item_id, intent, author, op.created_at, number)
        return True

    def confirm(
        self, op_id: str, answer: str = "", evidence: Json = None, left: Sequence[Mapping[str, Json]] = ()
    ) -> None:
        """The service has it. It stays over the cache until it is read back.

        What of it found no room (`left`, or what was found before it was sent) is kept for a person.
        """
        with transaction(self._db):
            before = fetch_one(self._db, "SELECT confirmed_at, evidence, answer FROM operation WHERE op_id = ?", op_id)
            again = before is not None and before[0] is not None
            known = str(before[2]) if before and again else ""
            kept_answer = told_again(known, answer) if again else answer
            self._apply(op_id, CONFIRM, answer=kept_answer, why=NOTHING, evidence=kept(evidence))
            if before and not again and (left or evidence or before[1]):
                op = self.get(op_id)
                keep_remainder(self._db, op, left or op.evidence.get(LEFT, ()), self._random)
            elif left:  # said a second time: what was told of it the first time is nobody's hand's matter any more
                keep_remainder(self._db, self.get(op_id), more_left(known, left), self._random)
            if lines := carried_in(answer):
                self._ask_later(self.get(op_id), lines)

    def _ask_later(self, op: Operation, lines: frozenset[int]) -> None:
        """What of these lines waits for other hosts is asked for when they have had time, unless it will be already."""
        write = asking(op, lines)
        if write is None:
            return
        waiting = self._all(_WAITING_IN, write.lanes[0])
        if any(each.body == write.body for each in waiting):
            return
        intent = Intent(write, op.job_id, op.event_seq, op.occurred_at)
        op_id = new_id(self._random)
        self._insert(op_id, intent, Author(op.store, op.app_user, op.principal, op.terminal), self._clock())
        self._db.execute("UPDATE operation SET not_before = ? WHERE op_id = ?", (self._clock() + CARRIED_S, op_id))

    def reject(self, op_id: str, why: Told, evidence: Json = None) -> None:
        """The service refused it, for a reason that a person can read; its effect leaves the screens.

        `evidence`: what was read there, where that is why it was not even sent. What was answered before a restore is
        forgotten: a refused operation with an answer is what of another one found no room.
        """
        self._change(op_id, REJECT, why=why, evidence=kept(evidence), answer="")

    def retry_later(self, op_id: str, why: Told, not_before: float, *, never_left: bool = False) -> None:
        """Back to queued, to be sent again with the same bytes, not before that moment.

        An attempt that never left this host does not count as one.
        """
        self._change(op_id, RETRY, why=why, not_before=not_before, sent=-int(never_left))

    def say_line_again(self, op: Operation, line: Mapping[str, Json]) -> str:
        """Says a line of an order that the service has forgotten; the op_id of the update."""
        number = op.body["orders"]["order_number"]
        body = {"orders": {"order_number": number, "order_lines": [dict(line)]}}
        write = Write(op.operation, op.lanes, op.path, op.query, body)
        with transaction(self._db):
            author = Author(op.store, op.app_user, op.principal, op.terminal)
            (op_id,) = self.enqueue([Intent(write, op.job_id, op.event_seq, op.occurred_at)], author)
        return op_id

    def postpone(self, op_id: str, why: Told, not_before: float) -> None:
        """It waits, not to be tried before that moment: what has to be known before it goes is not."""
        with transaction(self._db):
            self._db.execute(
                "UPDATE operation SET not_before = ?, last_error = ? WHERE op_id = ? AND state = 'queued'",
                (not_before, why, op_id),
            )

    def read_back(self, *op_ids: str) -> None:
        """Their effects are in the cache, or show nowhere in it: done operations leave the overlay, in one commit."""
        with transaction(self._db):
            for op_id in op_ids:
                self._db.execute(
                    "UPDATE operation SET read_back_at = ?, live = 0 WHERE op_id = ? AND state = 'done' AND live = 1",
                    (self._clock(), op_id),
                )
                if self._db.changes():
                    self._leave_lanes(op_id)

    def stale_sending(self) -> list[Operation]:
        """What a courier that died left in `sending`: to be retried under its key, or doubted."""
        return self._all("SELECT * FROM operation WHERE live = 1 AND state = 'sending' ORDER BY n")

    def unfinished(self) -> list[Operation]:
        """All that holds its lanes, oldest first."""
        return self._all(
            f"SELECT * FROM operation WHERE live = 1 AND state IN ({_HOLDING}) ORDER BY n"  # noqa: S608
        )

    def recent(self, limit: int = 100) -> list[Operation]:
        """The youngest operations, whatever became of them, youngest first."""
        return self._all("SELECT * FROM operation ORDER BY n DESC LIMIT ?", limit)

    def unsettled(self) -> list[Operation]:
        """All that somebody still waits for, oldest first: unfinished, refused and not seen, done and not read back."""
        return self._all("SELECT * FROM operation WHERE live = 1 ORDER BY n")
