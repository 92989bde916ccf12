"""What was said of a product from this host, and by whom."""

from __future__ import annotations

from pathlib import Path

from aisle.jobs.chain.store_product_fields import write
from aisle.local.cache.writer import Cache, open_cache
from aisle.local.db import transaction
from aisle.local.host.home import Home
from aisle.local.outbox.operation import Intent
from aisle.local.outbox.outbox import Outbox, open_outbox
from aisle.local.reads.reads import Reads
from tests.local import goods
from tests.local.kit import ANNA, STORE, Clock


def test_who_has_changed_it_is_told_by_name_where_that_is_known(aisle_home: Path) -> None:
    home = Home(aisle_home, "embedded", STORE)
    db, outbox = open_cache(home.folder, writer=True), open_outbox(home.folder)
    cache, reads = Cache(db, STORE), Reads(home, outbox)
    try:
        cache.put_products([goods.product("P1", "Oat drink")])
        box = Outbox(outbox, clock=Clock(1_795_176_000.0))
        with transaction(outbox):
            box.enqueue([Intent(write("P1", STORE, {"is_promotion": True}, {}))], ANNA)
        told = []
        for people in ([], [goods.person("U1", "Anna Berg")]):
            cache.put_people(people)
            ((row,), _) = reads.query("store_product", {"product_number": "P1", "user": "U1"})
            told += [said["who"] for said in row["said"]]
        assert told == ["U1", "Anna Berg"]
    finally:
        reads.close()
        outbox.close()
        db.close()
