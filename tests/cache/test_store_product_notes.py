"""Changes of product data from this host, and who made them."""

from __future__ import annotations

from pathlib import Path

from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter, open_cache
from aisle.host.database import transaction
from aisle.host.store_folder import StoreFolder
from aisle.jobs.supervisor.store_product_fields import update_write
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import Intent
from tests.cache import service_rows
from tests.clock import Clock
from tests.writes import ANNA, STORE


def test_who_has_changed_it_is_told_by_name_where_that_is_known(aisle_home: Path) -> None:
    home = StoreFolder(aisle_home, "embedded", STORE)
    db, outbox = open_cache(home.folder, writer=True), open_outbox(home.folder)
    cache, reads = CacheWriter(db, STORE), CacheReader(home, outbox)
    try:
        cache.write_products([service_rows.product("P1", "Oat drink")])
        box = OperationQueue(outbox, clock=Clock(1_795_176_000.0))
        with transaction(outbox):
            box.enqueue([Intent(update_write("P1", STORE, {"is_promotion": True}, {}))], ANNA)
        told = []
        for people in ([], [service_rows.person("U1", "Anna Berg")]):
            cache.write_people(people)
            ((row,), _) = reads.query("store_product", {"product_number": "P1", "user": "U1"})
            told += [said["user_name"] for said in row["said"]]
        assert told == ["U1", "Anna Berg"]
    finally:
        reads.close()
        outbox.close()
        db.close()
