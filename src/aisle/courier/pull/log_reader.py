"""Reader of the store's log: the entries of the last days, and losses and finds of the last weeks.

interface: List store product logs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any, NamedTuple

from aisle.cache.writer import CacheWriter, WriteResult
from aisle.client import Client
from aisle.client.response_and_json_limits import to_int64
from aisle.contract.request_encoding import QueryValue
from aisle.courier.operator_notices import OperatorNotices
from aisle.courier.topics import ENTRY_PREFIX

LOG_DAYS = 7
"""Days of the store's log that are kept."""


LOSS_DAYS = 63
"""Days of losses and finds (entries with a reason) that are kept."""


HISTORIC_DAYS = 80
"""Days after which the service may treat entries as historic; those must be requested as such."""


LONGER_LOG_KEPT_S = 86400.0
"""Seconds for which older days are kept after somebody looked at them."""


MAX_LOG_PAGES = 200
"""Pages of a log that are read in one go."""


LOG_LIST = "list-store-product-logs"


SINCE_PREFIX, LOSSES_PREFIX = "since/", "losses/"
"""Prefixes of a read request: a first day (`since/2026-09-01`), or reason codes (`losses/1,2,3`). One entry has
`ENTRY_PREFIX`."""


_LAST_ID_CURSOR, _SPAN_CURSOR, _LOSSES_CURSOR = "logs", "logs_span", "logs_losses"


OnWritten = Callable[[str, str, WriteResult], Any]


class LogReader(NamedTuple):
    """Reader of one store's log."""

    client: Client
    cache: CacheWriter
    store: str
    on_written: OnWritten
    """Callback with the topic, the operation and what was written."""
    operator_notices: OperatorNotices
    now: Callable[[], float]

    async def read(self, wanted: str = "") -> None:
        """Read what is requested (see the prefixes above); by default the entries since the last read."""
        if wanted.startswith(LOSSES_PREFIX):
            codes = [code for code in wanted.removeprefix(LOSSES_PREFIX).split(",") if code.isdecimal()]
            await self._read_losses(codes)
        elif wanted.startswith(ENTRY_PREFIX):
            await self._read_entry(int(wanted.removeprefix(ENTRY_PREFIX)))
        else:
            await self._read_entries(wanted.removeprefix(SINCE_PREFIX) if wanted.startswith(SINCE_PREFIX) else "")

    def forget_position(self) -> None:
        """Forget what was read, so that the next read brings all entries again: too many have changed."""
        with self.cache.transaction():
            self.cache.set_cursor(_LAST_ID_CURSOR, None)
            self.cache.set_cursor(_LOSSES_CURSOR, None)

    def _date_before(self, days_back: float) -> str:
        """Return the UTC date of so many days ago."""
        return datetime.fromtimestamp(self.now() - days_back * 86400, UTC).date().isoformat()

    def _first_day(self, requested_day: str = "") -> str:
        """Return the first day of the log to keep; an earlier one for a day after somebody looked at it."""
        span = self.cache.cursor(_SPAN_CURSOR)
        usual = self._date_before(LOG_DAYS)
        if requested_day:
            return min(requested_day, usual)
        kept = isinstance(span, dict) and self.now() - float(span["asked"]) < LONGER_LOG_KEPT_S
        return min(str(span["since"]), usual) if kept else usual

    async def _read_entries(self, requested_day: str) -> None:
        since, span = self._first_day(requested_day), self.cache.cursor(_SPAN_CURSOR)
        query: dict[str, QueryValue] = {"store_number": self.store, "last_modified_date": since, "page_size": 500}
        if since < self._date_before(HISTORIC_DAYS):
            query["is_historic"] = True
        last = self.cache.cursor(_LAST_ID_CURSOR)
        if not isinstance(last, int) or (isinstance(span, dict) and str(span["since"]) > since):
            last = None
        await self._read_new(query, since, lambda reached: self.cache.set_cursor(_LAST_ID_CURSOR, reached), last)
        if requested_day or not isinstance(span, dict) or str(span["since"]) != since:
            self.cache.set_cursor(_SPAN_CURSOR, {"since": since, "asked": self.now() if requested_day else 0.0})

    async def _read_entry(self, id_: int) -> None:
        """Read an entry again: its review has changed, and reads of new entries leave it out.

        If the log was never read, its first read brings the entry.
        """
        if self.cache.cursor(_LAST_ID_CURSOR) is None:
            return
        query: dict[str, QueryValue] = {"store_number": self.store, "from_id": id_, "to_id": id_, "page_size": 1}
        await self._read_pages(query, self._first_day(), lambda _: None)

    async def _read_losses(self, codes: list[str]) -> None:
        """Read the entries of each reason code; the whole log of some weeks would be too long."""
        reached = self.cache.cursor(_LOSSES_CURSOR)
        last_ids: dict[str, int] = dict(reached) if isinstance(reached, dict) else {}
        for code in codes:
            query: dict[str, QueryValue] = {"store_number": self.store, "reason_code": int(code), "page_size": 500}
            query["last_modified_date"] = self._date_before(LOSS_DAYS)
            last = await self._read_new(query, self._first_day(), lambda _: None, last_ids.pop(code, None))
            if last is not None:
                last_ids[code] = last
            self.cache.set_cursor(_LOSSES_CURSOR, last_ids)

    async def _read_new(
        self, query: dict[str, QueryValue], since: str, save_last_id: Callable[[int | None], None], last: int | None
    ) -> int | None:
        """Read the entries from the last known one on. Return the highest id.

        If the log does not have that one, its number was wrong, and all entries are read.
        """
        if last is not None:
            reached = await self._read_pages({**query, "from_id": last}, since, save_last_id)
            if reached is not None:
                return reached
        return await self._read_pages(query, since, save_last_id)

    async def _read_pages(
        self, query: dict[str, QueryValue], since: str, save_last_id: Callable[[int | None], None]
    ) -> int | None:
        """Read page after page into the cache. Return the highest id; None if there is none."""
        read, last = 0, None
        async with aclosing(self.client.pages(LOG_LIST, query=query)) as pages:
            async for rows, _ in pages:
                ids = (to_int64(row.get("id")) for row in rows if isinstance(row.get("id"), int))
                last = max((id_ for id_ in ids if id_ is not None), default=last)
                with self.cache.transaction():
                    self.on_written("log", LOG_LIST, self.cache.write_logs(rows, since, self._date_before(LOSS_DAYS)))
                    save_last_id(last)
                read += 1
                if read >= MAX_LOG_PAGES:
                    self.operator_notices.add(
                        f"The log is longer than {MAX_LOG_PAGES} pages; it was read up to entry {last}."
                    )
                    break
        return last
