"""Numbers and names of the store's stock pools, for all jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aisle.jobs.job import Query
from aisle.jobs.view import Msg, msg, raw

if TYPE_CHECKING:
    from aisle.jobs.row_types.people_stores_and_features import StoreRow

POOLS_QUERY = Query("store", "store", {})
LIVE_POOLS_QUERY = POOLS_QUERY._replace(is_live=True)


class Pool(NamedTuple):
    """Stock pool of the store."""

    number: int
    name: str = ""


Pools = tuple[Pool, ...]


def parse_pools(rows: tuple[StoreRow, ...]) -> Pools:
    """Return the pools of the store (rows of the query `store`), by number."""
    pools = rows[0].get("pools") or {} if rows else {}
    return tuple(sorted(Pool(int(number), str(name)) for number, name in pools.items()))


def pool_name(pools: Pools, *numbers: int) -> str:
    """Return the store's names for these pools; a pool without a name appears by its number."""
    names = dict(pools)
    return ", ".join(names.get(number) or str(number) for number in numbers)


def pool_message(pools: Pools, number: int) -> Msg:
    """Return the name of a pool as a message, or its number."""
    name = dict(pools).get(number)
    return raw(name) if name else msg("number", value=number)
