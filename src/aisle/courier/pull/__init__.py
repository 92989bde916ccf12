"""Reading from the service into the cache: full syncs, changes, single reads.

It writes nothing to the service and does not import `aisle.courier.push`. Start reading at `continuous_sync`
(what is due and when), then `full_sync` (lists page by page) and `single_reads`; `cache_update` stores the rows.
"""
