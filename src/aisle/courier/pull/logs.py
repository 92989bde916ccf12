"""The store's log: what is new in the last days, further back where somebody looks there, and all losses of some weeks.

interface: List store product logs.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

from aisle.client import Client
from aisle.contract.wire import QueryValue
from aisle.courier.notices import Notices
from aisle.local.cache.writer import Cache, Written
from aisle.tuples import NamedTuple

LOG_DAYS = 7
"""So many days of the store's log are kept."""
LOSS_DAYS = 63
"""So many days of its losses and finds: what has a reason."""
HISTORIC_DAYS = 80
"""What is older may be history to the service, and has to be asked for as such."""
KEPT_S = 86400.0
"""So long more days are kept for somebody who looked at them."""
PAGES = 200
"""Pages of a log that are read in one go."""

LIST = "list-store-product-logs"
SINCE, LOSSES = "since/", "losses/"
"""What a wish names: a day from which on the log is wanted (`since/2026-09-01`), or reasons (`losses/1,2,3`)."""

_LAST, _SPAN, _LAST_LOSSES = "logs", "logs_span", "logs_losses"

Take = Callable[[str, str, Written], Any]


class LogReader(NamedTuple):
    """Reads of one store's log."""

    client: Client
    cache: Cache
    store: str
    take: Take
    """Is handed what was written."""
    notices: Notices
    now: Callable[[], float]

    async def read(self, wanted: str = "") -> None:
        """What is wanted (see above); without it what has come since the last look."""
        if wanted.startswith(LOSSES):
            codes = [code for code in wanted.removeprefix(LOSSES).split(",") if code.isdecimal()]
            await self._losses(codes)
        else:
            await self._all(wanted.removeprefix(SINCE) if wanted.startswith(SINCE) else "")

    def _day(self, back: float) -> str:
        """The UTC date so many days ago."""
        return datetime.fromtimestamp(self.now() - back * 86400, UTC).date().isoformat()

    def _since(self, asked: str = "") -> str:
        """From which day on the log is kept: further back for a day after somebody has looked there."""
        span = self.cache.cursor(_SPAN)
        usual = self._day(LOG_DAYS)
        if asked:
            return min(asked, usual)
        kept = isinstance(span, dict) and self.now() - float(span["asked"]) < KEPT_S
        return min(str(span["since"]), usual) if kept else usual

    async def _all(self, asked: str) -> None:
        since, span = self._since(asked), self.cache.cursor(_SPAN)
        query: dict[str, QueryValue] = {"store_number": self.store, "last_modified_date": since, "page_size": 500}
        if since < self._day(HISTORIC_DAYS):
            query["is_historic"] = True
        last = self.cache.cursor(_LAST)
        if isinstance(last, int) and (not isinstance(span, dict) or str(span["since"]) <= since):
            query["from_id"] = last + 1
        last = await self._walk(query, since, lambda reached: self.cache.set_cursor(_LAST, reached), last)
        if asked or not isinstance(span, dict) or str(span["since"]) != since:
            self.cache.set_cursor(_SPAN, {"since": since, "asked": self.now() if asked else 0.0})

    async def _losses(self, codes: list[str]) -> None:
        """What has one of these reasons, reason by reason: the log of some weeks would be too long."""
        reached = self.cache.cursor(_LAST_LOSSES)
        known: dict[str, int] = dict(reached) if isinstance(reached, dict) else {}
        for code in codes:
            query: dict[str, QueryValue] = {"store_number": self.store, "reason_code": int(code), "page_size": 500}
            query["last_modified_date"] = self._day(LOSS_DAYS)
            if code in known:
                query["from_id"] = known[code] + 1
            last = await self._walk(query, self._since(), lambda _: None, known.get(code))
            if last is not None:
                known[code] = last
                self.cache.set_cursor(_LAST_LOSSES, known)

    async def _walk(
        self, query: dict[str, QueryValue], since: str, reach: Callable[[int | None], None], last: Any
    ) -> Any:
        """Page after page into the cache; the highest id that was met."""
        read = 0
        async with aclosing(self.client.pages(LIST, query=query)) as pages:
            async for rows, _ in pages:
                last = max([row["id"] for row in rows if isinstance(row.get("id"), int)], default=last)
                with self.cache.batch():
                    self.take("log", LIST, self.cache.put_logs(rows, since, self._day(LOSS_DAYS)))
                    reach(last)
                read += 1
                if read >= PAGES:
                    self.notices.add(f"The log is longer than {PAGES} pages; it was read up to entry {last}.")
                    break
        return last
