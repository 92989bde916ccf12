"""The time zone by which the cache keeps its days and times: in another one they are computed anew.

Rows of the service whose text is the same are never written twice, so that no read would mend them.
"""

from __future__ import annotations

import json

import apsw

from aisle.cache.delivery_writer import recompute_due_times
from aisle.cache.log_writer import recompute_log_times
from aisle.cache.order_writer import recompute_pickup_times
from aisle.host.database import fetch_one, transaction
from aisle.settings.time_zone import zone_identity

ZONE_TOPIC = "zone"
"""The row of `sync` that says the zone."""


def recompute_times(connection: apsw.Connection) -> tuple[str, ...]:
    """Computes anew what the cache keeps in the time of the store, where this process works in another zone than its
    last writer; the topics of which something is different now."""
    zone = json.dumps(zone_identity())
    kept = fetch_one(connection, "SELECT cursor FROM sync WHERE topic = ?", ZONE_TOPIC)
    if kept is not None and kept[0] == zone:
        return ()
    with transaction(connection):
        dated = {
            "order": recompute_pickup_times(connection),
            "delivery": recompute_due_times(connection),
            "log": recompute_log_times(connection),
        }
        changed = tuple(topic for topic, count in dated.items() if count)
        connection.executemany("INSERT INTO change (topic, key) VALUES (?, '')", [(topic,) for topic in changed])
        connection.execute("INSERT OR REPLACE INTO sync (topic, cursor) VALUES (?, ?)", (ZONE_TOPIC, zone))
    return changed
