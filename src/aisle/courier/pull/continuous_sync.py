"""Everything read between full syncs: requests of sessions, changes at the service, confirmed writes, the link check.

Our own service reports changes by a cursor. A service that only implements the interface is polled: headers of all
orders, lines of orders in progress, stock by the time of its last change.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Sequence
from contextlib import aclosing
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime, timedelta
from math import inf
from typing import Any

from aisle.client.client import pages_by_count
from aisle.client.paging import Row
from aisle.client.responses_and_errors import ClientError, NotSent, RateLimited, Unauthorized
from aisle.courier import notify
from aisle.courier.link_state import REQUEST_ERRORS, OperatorNotices, ServiceLink, is_service_refusal, unread_reason
from aisle.courier.notify import Topic, topics_of_operation
from aisle.courier.pauses_and_wake_event import MAX_RETRY_S, ListBackoffs, MissingLists, Sleep, WakeEvent
from aisle.courier.pull.change_feed import MAX_SINGLE_READS, ChangeFeed, Changes
from aisle.courier.pull.full_sync import FullSync
from aisle.courier.pull.full_sync_stages_and_progress import (
    DELIVERIES,
    HEADERS,
    LINES,
    LOCATIONS,
    PEOPLE,
    PRODUCTS,
    RECEIPTS,
    STOCK,
    STORES,
)
from aisle.courier.pull.read_timetable import PullIntervals, Timetable
from aisle.courier.pull.run_queued_reads import LIST_OF_TOPIC, ReadQueue
from aisle.courier.pull.single_reads import Query, SingleReads, unforeseen_is_invalid
from aisle.outbox.operation_record import Operation
from aisle.outbox.requests_and_token_holders import FULL_SYNC, ORDER_LISTS
from aisle.stored_messages import StoredMessage

FULL_SYNC_INTERVAL_S = 86400.0
"""Seconds after which everything is read again, whatever the service has announced."""
WORKED_ON_S = 1800.0
"""Seconds for which an order that a session requested counts as worked on."""
LOG_WATCHED_S = 60.0
"""Seconds after a request of the log during which it is read with every change: figures of the day may be shown."""
MIN_CHANGES_INTERVAL_S = 1.0
"""Shortest interval in seconds between two reads of changes, so that confirmations close together are read together.

Nobody waits for the read: the operations stay in the overlay until then.
"""
_READ_BY_KEY = frozenset(
    (notify.ORDER, notify.PRODUCT, notify.LOCATION, notify.SURROUNDING, notify.DELIVERY, notify.AUDIT)
)
"""Topics that sessions request by their keys."""
_MIN_CHECK_INTERVAL_S = 1.0
"""Shortest interval in seconds between two checks of the service, however often sessions wake the courier."""
_STOCK_OVERLAP = timedelta(minutes=2)
"""Time before the last read from which changed stock is requested, because clocks differ."""
_UNANNOUNCED_LOOKBACK_S = 26 * 3600.0
"""Seconds back from which stock is requested with what is not announced.

The usual request finds nothing if the service's clock is behind, its time zone is wrong, or it compares days only.
"""
_STOCK_CURSOR = "stock_since"
CHANGES = "changes"
"""Name of the missing list if the change feed cannot be read."""
STOCK_CHANGES = "stock_changes"
"""Name of the missing list if stock cannot be requested by the time of its change."""
ASSIGNMENTS = "assignments"
"""Name of the missing list if assignments cannot be listed."""
_STAGES_BY_TOPIC = {
    notify.ORDER: (HEADERS, LINES),
    notify.PRODUCT: (STOCK,),
    notify.CATALOGUE: (PRODUCTS,),
    notify.LOCATION: (LOCATIONS,),
    notify.STORE: (STORES,),
    notify.DELIVERY: (DELIVERIES, RECEIPTS),
}


@dataclass(eq=False)
class ContinuousSync:
    """Periodic and requested reads."""

    single_reads: SingleReads
    full_sync: FullSync
    link: ServiceLink
    operator_notices: OperatorNotices
    _: KW_ONLY
    retire: Callable[[Sequence[str]], None]
    read_requests: Callable[[], Iterable[tuple[str, str]]]
    on_restore: Callable[[], Awaitable[None]]
    find_lost: Callable[[], Coroutine[Any, Any, bool]]
    known_keys: Callable[[], Sequence[str]]
    on_order_read: Callable[[str, Sequence[Row], frozenset[str]], None]
    sleep: Sleep
    intervals: PullIntervals
    list_backoffs: ListBackoffs

    def __post_init__(self) -> None:
        self.wake_event = WakeEvent(self.sleep)
        self.read_queue = ReadQueue(
            self.single_reads,
            self.link,
            self.operator_notices,
            retire=self.retire,
            on_order_read=self.on_order_read,
            is_link_failure=self.is_link_failure,
            set_missing=self._set_missing,
            on_rows_left_out=self.full_sync.record_left_out,
            list_backoffs=self.list_backoffs,
        )
        self._timetable = Timetable(self.intervals)
        self._change_feed = ChangeFeed(self.single_reads, self.known_keys)
        self._changes: Changes | None = None
        self._changes_read_at = 0.0
        """Time of the last read of changes, in seconds since 1970."""
        self._worked_on: dict[str, float] = {}
        self._without_lines: dict[str, float] = {}
        """Orders without lines in the cache, with the time at which the lines were last requested."""
        self._log_requested_at = 0.0
        """Time at which a session last requested the store's log, in seconds since 1970."""
        self._checked_at = 0.0
        self._missing_lists = MissingLists()
        self.full_sync.on_headers_changed = self._on_headers_changed
        self.full_sync.on_headers_read = self._on_headers_read

    # Requests

    def request_read(self, wanted: Iterable[Topic]) -> None:
        """Queue topics to be read soon."""
        self.read_queue.add(wanted)
        self.wake_event.set()

    def add_confirmed(self, op: Operation) -> None:
        """Queue the reads after which this operation leaves the overlay.

        A service with a change feed reports this change too. A read between the confirmation and the next read of
        changes would have to be repeated after it.
        """
        self.read_queue.read_backs.add(op)
        if (
            op.operation == "create-store-product-logs"
            and self.single_reads.now() - self._log_requested_at < WORKED_ON_S
        ):
            self.request_read([Topic(notify.LOG, "")])
        if "changes" in self._timetable:
            if self._timetable.schedule_earlier("changes", self._changes_read_at + MIN_CHANGES_INTERVAL_S):
                self.wake_event.set()
        else:
            self.request_read(topics_of_operation(op))

    def check_changes_soon(self) -> None:
        """Read changes at once: the service lacks something that it has confirmed."""
        self._timetable.schedule_earlier("changes")
        self.wake_event.set()

    def _on_headers_changed(self, numbers: Iterable[str]) -> None:
        features = self.link.features
        if LINES not in self.full_sync.progress.todo and not (features and features.changes):
            self.request_read(Topic(notify.ORDER, number) for number in numbers)

    def _on_headers_read(self) -> None:
        """Request lines of orders that have none, after the list of orders was read.

        Nobody can work on an order without lines, its header may never change again, and the service may report no
        change.
        """
        if LINES in self.full_sync.progress.todo:
            return
        bare = self.single_reads.cache.orders_without_lines()
        now = self.single_reads.now()
        due = [number for number in bare if now - self._without_lines.get(number, -MAX_RETRY_S) >= MAX_RETRY_S]
        self._without_lines = {number: self._without_lines.get(number, now) for number in bare} | dict.fromkeys(
            due, now
        )
        if len(due) > MAX_SINGLE_READS:
            self.full_sync.request_stages([LINES])
        else:
            self.request_read(Topic(notify.ORDER, number) for number in due)

    def _take_read_requests(self) -> bool:
        requests = list(self.read_requests())
        for topic, key in requests:
            if topic in _READ_BY_KEY and key:
                self.request_read([Topic(topic, key)])
                if topic == notify.PRODUCT:
                    self.request_read([Topic(notify.CATALOGUE, key)])
                if topic == notify.ORDER:
                    self._worked_on = self._still_worked_on() | {key: self.single_reads.now()}
            elif topic == "orders":
                if key == FULL_SYNC:
                    self.full_sync.request_full()
                elif key == ORDER_LISTS:
                    self.request_missing()
                self._timetable.schedule_earlier("changes")
                self._timetable.schedule_earlier("headers")
            elif topic == "deliveries":
                self._timetable.schedule_earlier("changes")
                if not (self.link.features and self.link.features.changes):
                    self.full_sync.request_stages([DELIVERIES, RECEIPTS])
            elif topic == notify.STORE and key:
                self.single_reads.store_reader.opened_stores.add(key)
                self.request_read([Topic(notify.STORE, key)])
            elif topic == "people":
                self._timetable.schedule_earlier("people")
            elif topic == "assignments":
                self.request_read([Topic(notify.ASSIGNMENT, "")])
            elif topic == "logs":
                self._log_requested_at = self.single_reads.now()
                self.request_read([Topic(notify.LOG, key)])
        return bool(requests)

    # Loop

    async def run(self) -> None:
        """Run what is due, in a loop."""
        while True:
            await self._run_due(in_turns=True)
            await self.wake_event.wait(self._next_wait_s())

    async def run_once(self) -> None:
        """Run everything that is due, and read back all confirmed operations."""
        if not self.read_queue.is_empty:
            self._timetable.schedule_earlier("changes")
        await self._run_due(in_turns=False)

    async def _run_due(self, *, in_turns: bool) -> None:
        """Run everything that is due. Check the service first if the link is down.

        With `in_turns`, queued reads end for now when the next task is due.
        """
        has_requests = self._take_read_requests()
        if self.link.pause_s or not (self.link.is_up or await self._reach_service()):
            return
        try:
            await self._apply_features()
        except REQUEST_ERRORS as error:
            await self._handle_error(error)
        for name in self._timetable.pop_due(self.single_reads.now()):
            if self.link.pause_s or not self.link.is_up:
                self._timetable.schedule_earlier(name)  # it becomes due as soon as anything can be read
                continue
            try:
                with unforeseen_is_invalid(name):
                    await self._run_task(name)
            except REQUEST_ERRORS as error:
                await self._handle_error(error, STOCK_CHANGES if name in ("stock", "unannounced") else "")
        next_at = self._timetable.next_at() if in_turns else None
        await self._read_queued(inf if next_at is None else next_at)
        if has_requests:
            self.link.write_status(force=True)

    async def check_service(self) -> bool:
        """Return whether the service accepts requests; record the result on the link."""
        self._checked_at = self.single_reads.now()
        try:
            await self.single_reads.service_check.run()
        except REQUEST_ERRORS as error:
            self.link.record_check_error(error)
            return False
        return self.link.is_up

    async def _reach_service(self) -> bool:
        return self.single_reads.now() - self._checked_at >= _MIN_CHECK_INTERVAL_S and await self.check_service()

    def _next_wait_s(self) -> float | None:
        if self.link.pause_s or not self.link.is_up:
            return self.link.pause_s or self.link.check_wait_s()
        now = self.single_reads.now()
        moments = [at for at in (self._timetable.next_at(), self.read_queue.next_retry_at()) if at is not None]
        if self.read_queue.has_due or (self.single_reads.cache_update.overtaken and "changes" not in self._timetable):
            moments.append(now + _MIN_CHECK_INTERVAL_S)
        return max(0.0, min(moments) - now) if moments else None

    async def is_link_failure(self, error: Exception, name: str = "") -> bool:
        """Return whether the error affects all other reads. Otherwise only one read failed, and the service still
        responds.

        A rate limit applies to all, unless one list (`name`) returns it repeatedly while another one responds.
        """
        if not self.link.is_up:
            return True
        if isinstance(error, RateLimited) and self.list_backoffs.record_rate_limit(
            name, error.retry_after, self.single_reads.now()
        ):
            return not await self.check_service()
        if isinstance(error, Unauthorized | NotSent | RateLimited) or not isinstance(error, ClientError):
            self.link.record_error(error)
            return True
        return not is_service_refusal(error) and not await self.check_service()

    def _set_missing(self, name: str, reason: StoredMessage | None) -> None:
        """Record why a list cannot be read; None: it can."""
        if reason is None:
            self.list_backoffs.clear(name)
        self.full_sync.set_missing(name, reason)

    async def _handle_error(self, error: Exception, name: str = "") -> None:
        """Handle a failed read: the link is down, or the list `name` is recorded as missing."""
        if await self.is_link_failure(error, name):
            return
        self.operator_notices.add(str(error))
        if name:
            self.full_sync.set_missing(name, unread_reason(error))

    async def _apply_features(self) -> None:
        """Apply the features that the service announces: choose the periodic reads, and begin syncs that are due."""
        features = self.link.features
        assert features is not None
        self.single_reads.can_list_changed = features.changes
        self.single_reads.can_name_orders = features.named_orders
        self.single_reads.can_list_audit = features.audit
        self.single_reads.store_reader.has_details = features.changes
        self.single_reads.assignment_reader.is_supported = features.assignments
        self._timetable.select_tasks(features.changes, self.single_reads.now())
        if not features.changes:
            self.full_sync.set_missing(CHANGES, None)
        begins = (
            features.changes
            and not self._change_feed.has_position
            and await self._read_feed(self._change_feed.skip_to_end())
        )
        if features.known_keys and await self._read_feed(self.find_lost()):
            begins = await self._read_feed(self._change_feed.skip_to_end())
        if begins or (
            self.full_sync.progress.is_idle
            and self.single_reads.now() - self.full_sync.progress.completed > FULL_SYNC_INTERVAL_S
        ):
            self.full_sync.request_full()
        elif self.full_sync.progress.is_idle and (
            due := self._missing_lists.pop_due(self.full_sync.progress.missing, self.single_reads.now())
        ):
            self.full_sync.request_stages(due)
            self._request_topics(due)

    def request_missing(self) -> None:
        """Queue the lists that could not be read, those that are read by topic too."""
        self.full_sync.request_missing()
        self._request_topics(self.full_sync.progress.missing)

    def _request_topics(self, lists: Collection[str]) -> None:
        """Queue those of these lists that no full sync reads; a restart of the courier forgets their next tries."""
        self.request_read(Topic(topic, "") for topic, name in LIST_OF_TOPIC.items() if name in lists)

    def _still_worked_on(self) -> dict[str, float]:
        """Return the orders that sessions requested a while ago at most, with the time."""
        now = self.single_reads.now()
        return {key: at for key, at in self._worked_on.items() if now - at < WORKED_ON_S}

    async def _run_task(self, name: str) -> None:
        if name == "changes":
            self._changes_read_at = self.single_reads.now()
            self.single_reads.mark_server_time()
            self.read_queue.add_read_backs()
            await self._follow_changes()
        elif name == "people":
            await self._read_people()
        elif name == "worked_on":
            self.request_read(Topic(notify.ORDER, key) for key in self._still_worked_on())
        elif name == "stock":
            await self._read_changed_stock()
        elif name == "headers":
            self.full_sync.request_stages([HEADERS])
        elif name == "unannounced":
            self.full_sync.request_stages([STORES, LINES, LOCATIONS, DELIVERIES, RECEIPTS, PRODUCTS])
            await self._read_changed_stock(_UNANNOUNCED_LOOKBACK_S)

    # Our own service

    async def _read_feed(self, asking: Coroutine[Any, Any, Any]) -> Any:
        """Return the result of a read of the change feed; None if it is refused or invalid.

        Then screens and `aisle sync` show it as missing, everything else continues, and confirmed operations are read
        back.
        """
        if self.list_backoffs.is_paused(CHANGES, self.single_reads.now()):
            asking.close()
            return None
        try:
            with unforeseen_is_invalid(CHANGES):
                found = await asking
        except ClientError as error:
            if await self.is_link_failure(error, CHANGES):
                raise
            self.operator_notices.add(str(error))
            self.full_sync.set_missing(CHANGES, unread_reason(error))
            return None
        self._set_missing(CHANGES, None)
        return found

    async def _follow_changes(self) -> None:
        changes: Changes | None = (
            await self._read_feed(self._read_changes()) if self._change_feed.has_position else None
        )
        if changes is None:
            return
        self.request_read(topic for topic in changes.single_topics if topic.name != notify.PERSON)
        if notify.PERSON in changes.bulk_topics or any(topic.name == notify.PERSON for topic in changes.single_topics):
            self._timetable.schedule_earlier("people")
        if (
            changes.single_topics or changes.bulk_topics
        ) and self.single_reads.now() - self._log_requested_at < LOG_WATCHED_S:
            self.request_read([Topic(notify.LOG, "")])
        if changes.forgotten:
            self.full_sync.request_full()
            self._timetable.schedule_earlier("people")
            self.request_read([Topic(notify.RECOUNT, "")])
        if notify.LOG in changes.bulk_topics:
            self.single_reads.log_reader.forget_position()
        for topic in changes.bulk_topics:
            self.full_sync.request_stages(_STAGES_BY_TOPIC.get(topic, ()))
        self._change_feed.advance(changes)
        self._changes = changes

    async def _read_changes(self) -> Changes:
        """Return the changes. After a restore, lost operations are resent first; if that fails, it is repeated."""
        changes = await self._change_feed.read()
        if changes.is_restored:
            await self.on_restore()  # it requests a full sync
        return changes

    async def _read_people(self) -> None:
        if self.link.features and self.link.features.people:
            await self._read_list(PEOPLE, self.single_reads.people_reader.read())
        await self._read_list(ASSIGNMENTS, self.single_reads.assignment_reader.read())

    async def _read_list(self, name: str, reading: Coroutine[Any, Any, Any]) -> None:
        """Read one list; record its failure, so that it does not stop others. Raise ClientError if the link failed."""
        if self.list_backoffs.is_paused(name, self.single_reads.now()):
            reading.close()
            return
        try:
            with unforeseen_is_invalid(name):
                await reading
        except ClientError as error:
            if await self.is_link_failure(error, name):
                raise
            self.operator_notices.add(str(error))
            self.full_sync.set_missing(name, unread_reason(error))
        else:
            self._set_missing(name, None)

    # A service that only implements the interface

    async def _read_changed_stock(self, back_s: float = 0.0) -> None:
        """Read stock that changed since the last read, or since `back_s` seconds before now."""
        since, began = self.single_reads.cache.cursor(_STOCK_CURSOR), self.single_reads.now()
        if since is None:
            self.single_reads.cache.set_cursor(_STOCK_CURSOR, _format_time(began))
            return
        if back_s:
            since = min(since, _format_time(began - back_s))
        query: Query = {"store_number": self.single_reads.store, "include_locations": True, "page_size": 500}
        next_since = _format_time(began)
        query["last_stock_modified_datetime"] = since
        pages = pages_by_count(self.single_reads.client, "list-store-products-stock", query=query)
        async with aclosing(pages):
            while True:
                page_began = self.single_reads.now()
                with self.single_reads.cache_update.read_sequence.start_read() as read_number:
                    page = await anext(pages, None)
                    if page is None:
                        break
                    rows, envelope = page
                    self.single_reads.cache_update.put_stock(rows, read_number, page_began)
                    next_since = _earlier_time(next_since, envelope.get("server_time"))
        self.single_reads.cache.set_cursor(_STOCK_CURSOR, next_since)
        self.full_sync.set_missing(STOCK_CHANGES, None)

    async def _read_queued(self, until: float) -> None:
        """Read the queue until this time. Once all changes are in the cache, save the position of the feed."""
        if "changes" not in self._timetable:
            self.read_queue.add_read_backs()
        await self.read_queue.read_all(until)
        if self._changes is not None and not self.read_queue.has_unread:
            self._change_feed.save(self._changes)
            self._changes = None


def _format_time(seconds: float) -> str:
    return (datetime.fromtimestamp(seconds, UTC) - _STOCK_OVERLAP).isoformat(timespec="seconds").replace("+00:00", "Z")


def _earlier_time(ours: str, theirs: object) -> str:
    """Return the earlier of this host's time and the service's, whose clock may be behind."""
    try:
        when = datetime.fromisoformat(str(theirs))
        when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
        return min(ours, _format_time(when.timestamp()))
    except (ValueError, OverflowError):
        return ours
