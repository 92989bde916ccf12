"""The host's copy of the service's data: cache.db. It can be deleted at any time; the courier pulls it again.

The courier writes (`writer.CacheWriter`); sessions read by named queries (`reader.CacheReader`), which `queries`
declares. The operations that still have to reach the service are in outbox.db. `pending_operations` reads them;
`order_overlay` and `stock_overlay` apply them to the cached rows. This package must not know the network, the
terminal, or how a session shows a row. Start with `schema` (tables), then `reader`.
"""

from __future__ import annotations
