"""Change of the time zone: the stored times of cache.db are computed again."""

from __future__ import annotations

import json
import os
from hashlib import sha256

import apsw

from aisle.cache.delivery_writer import recompute_due_times
from aisle.cache.log_and_difference_writer import recompute_log_times
from aisle.cache.order_writer import recompute_pickup_times
from aisle.host.database import fetch_one, transaction
from aisle.settings.process_time_zone import LOCALTIME

ZONE_TOPIC = "zone"
"""Row of `sync` with the zone.

Rows with unchanged text are never written again, so no later read would correct their times.
"""


def recompute_times(connection: apsw.Connection) -> tuple[str, ...]:
    """Recompute the stored times if the zone of this process differs from that of the last writer.

    Return the topics in which anything changed.
    """
    zone = json.dumps(_zone_identity())
    stored = fetch_one(connection, "SELECT cursor FROM sync WHERE topic = ?", ZONE_TOPIC)
    if stored is not None and stored[0] == zone:
        return ()
    with transaction(connection):
        changed_counts = {
            "order": recompute_pickup_times(connection),
            "delivery": recompute_due_times(connection),
            "log": recompute_log_times(connection),
        }
        changed = tuple(topic for topic, count in changed_counts.items() if count)
        connection.executemany("INSERT INTO change (topic, key) VALUES (?, '')", [(topic,) for topic in changed])
        connection.execute("INSERT OR REPLACE INTO sync (topic, cursor) VALUES (?, ?)", (ZONE_TOPIC, zone))
    return changed


def _zone_identity() -> str:
    """Return a text that identifies the zone of this process: its name, or a hash of the host's zone file."""
    variable = os.environ.get("TZ")
    if variable is not None:
        return variable
    try:
        with open(LOCALTIME, "rb") as stream:
            return f"{LOCALTIME} {sha256(stream.read()).hexdigest()}"
    except OSError:
        return LOCALTIME
