"""Reading from the service into the cache: full syncs, changes, single reads.

It writes nothing to the service and does not import `aisle.courier.push`. Start reading at `reads_between_full_syncs`
(what is due and when), then `full_sync` (lists page by page) and `single_reads`; `ordered_cache_writes` stores the
rows.
"""
