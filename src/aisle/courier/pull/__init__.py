"""From the service into the cache: full syncs, changes, single reads."""
