"""A full host after its day: what its files and its service say, beside what people saw."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, cast

from aisle.cache.reader import CacheReader
from aisle.courier.link_state import Notice
from aisle.host.database import fetch, transaction
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import Write
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import Author, Intent, Operation
from aisle.service.db.database_interface import Database, Transaction
from aisle.service.open_service_and_admin_token import Service, open_service
from aisle.session.job_context_and_query_answers import iso_time
from tests.courier.writes import STORE
from tests.faults.checker import check
from tests.faults.staff import Ended, Said
from tests.faults.world import World


class Watched(NamedTuple):
    """What a session told, taken apart."""

    said: list[Said]
    ended: Ended


def watched(lines: Sequence[str]) -> Watched:
    """Fails when the session did not come to its end."""
    told = [json.loads(line) for line in lines]
    assert told, "it did not even begin"
    assert isinstance(told[-1], dict), f"it ended after {told[-1]}"
    return Watched([Said(*each) for each in told[:-1]], Ended(**told[-1]["ended"]))


class Desk:
    """This host's files after the day, as the checker of the simulated store asks for them."""

    def __init__(self, home: StoreFolder) -> None:
        self._home = home
        self._db = open_outbox(home.folder)
        self.outbox = OperationQueue(self._db)
        self._reads = CacheReader(home, self._db)

    def operations(self) -> list[Operation]:
        """All that was ever enqueued on this host, oldest first."""
        return self.outbox.recent(10_000_000)[::-1]

    def query(self, name: str, **arguments: Any) -> list[dict[str, Any]]:
        """A read as sessions do it."""
        return [dict(row) for row in self._reads.query(name, arguments)[0]]

    @property
    def notices(self) -> list[Notice]:
        """What its couriers wrote into their log; each line begins with its moment."""
        return [Notice(0.0, line[20:]) for line in self._home.courier_log.read_text(encoding="utf-8").splitlines()]

    def write(self, *writes: Write) -> tuple[str, ...]:
        """Operations without a session, in one transaction of their own; their op_ids."""
        with transaction(self._db):
            return self.outbox.enqueue(
                [Intent(write, occurred_at=iso_time(time.time())) for write in writes], Author(STORE, "p")
            )

    def events(self) -> dict[str, list[str]]:
        """The inputs that the journal has of each session, in their order."""
        kept: dict[str, list[str]] = {}
        for name, raw in fetch(self._db, "SELECT session_id, raw FROM event WHERE raw <> '' ORDER BY seq"):
            kept.setdefault(name, []).append(raw)
        return kept

    def drained(self) -> bool:
        """Whether all is confirmed and read back."""
        return not self.outbox.pending_operations()

    def close(self) -> None:
        """Lets go of the files."""
        self._reads.close()
        self._db.close()


class Store(NamedTuple):
    """The service and the host, as the checker of the simulated store asks for them."""

    service: Service
    storage: Database
    hosts: tuple[Desk, ...]


def picked(lines: Sequence[Said]) -> Counter[tuple[str, str]]:
    """How many pieces of which product were taken for which order, as people saw it."""
    return Counter((said.order, said.product) for said in lines if said.order)


def check_books(database: Path | str, taken: Counter[tuple[str, str]], *desks: Desk) -> None:
    """All that has to be true once it is quiet, see tests.faults.checker. Raises AssertionError."""
    with closing(open_service(database)) as service:
        check(cast(World, Store(service, service.database, desks)))
        assert service.database.read_now(_picked) == taken


def booked(database: Path | str) -> Counter[tuple[str, str]]:
    """How many pieces of which product are picked for which order, as the service has it."""
    with closing(open_service(database)) as service:
        return Counter(service.database.read_now(_picked))


async def _picked(tx: Transaction) -> dict[tuple[str, str], int]:
    sql = "SELECT order_number, product_number, sum(picked) FROM order_line WHERE picked > 0 GROUP BY 1, 2"
    return {(row[0], row[1]): row[2] // 1000 for row in await tx.all(sql)}


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of them lies."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]
