"""The time zone by which the cache keeps its days and times: in another one they are computed anew.

Rows of the service whose text is the same are never written twice, so that no read would mend them.
"""

from __future__ import annotations

import json

import apsw

from aisle.local.cache.deliveries import date_deliveries
from aisle.local.cache.logs import date_logs
from aisle.local.cache.orders import date_orders
from aisle.local.db import fetch_one, transaction
from aisle.settings.time_zone import zone_in_force

KEPT = "zone"
"""The row of `sync` that says the zone."""


def enter_zone(connection: apsw.Connection) -> tuple[str, ...]:
    """Computes anew what the cache keeps in the time of the store, where this process works in another zone than its
    last writer; the topics of which something is different now."""
    zone = json.dumps(zone_in_force())
    kept = fetch_one(connection, "SELECT cursor FROM sync WHERE topic = ?", KEPT)
    if kept is not None and kept[0] == zone:
        return ()
    with transaction(connection):
        dated = {
            "order": date_orders(connection),
            "delivery": date_deliveries(connection),
            "log": date_logs(connection),
        }
        changed = tuple(topic for topic, count in dated.items() if count)
        connection.executemany("INSERT INTO change (topic, key) VALUES (?, '')", [(topic,) for topic in changed])
        connection.execute("INSERT OR REPLACE INTO sync (topic, cursor) VALUES (?, ?)", (KEPT, zone))
    return changed
