"""Full sync: reads the lists of the service page by page. It can be stopped anywhere.

The position is saved in the same transaction as the rows, so a restart continues after the last written page. Memory
holds one page. Rows that a complete pass did not contain are deleted; orders only after a read of each by number.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import KW_ONLY, dataclass
from gc import disable, enable, isenabled
from typing import NamedTuple

from aisle.cache.writer import LinkRow
from aisle.client.paging import Envelope, Row, check_page_count, check_row_count, page_digest
from aisle.client.responses_and_errors import (
    ClientError,
    InvalidResponse,
    NotSent,
    PagingLoop,
    RateLimited,
    ServerError,
    TooManyRows,
    Unauthorized,
    to_int64,
)
from aisle.contract.operations import OPERATIONS
from aisle.contract.request_encoding import QueryValue
from aisle.courier.link_state import REQUEST_ERRORS, OperatorNotices, ServiceLink, is_service_refusal, unread_reason
from aisle.courier.pauses_and_wake_event import ListBackoffs, Sleep, WakeEvent, backoff_s
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.courier.pull.full_sync_stages_and_progress import (
    HEADERS,
    PEOPLE,
    RECEIPTS,
    RECOUNTS,
    STAGES,
    STORES,
    UNPAGED_STAGES,
    PagedStage,
    PageRead,
    StagePosition,
    SyncProgress,
    paged_stage,
)
from aisle.courier.pull.single_reads import SingleReads, unforeseen_is_invalid
from aisle.outbox.operation_record import DUPLICATE_KEY, UnusableRows
from aisle.stored_messages import StoredMessage


@contextmanager
def pause_gc() -> Iterator[None]:
    """Disable the cyclic garbage collector while a page is written.

    The rows contain no cycles, and the collector would scan them several times.
    """
    if not isenabled():
        yield
        return
    disable()
    try:
        yield
    finally:
        enable()


Pages = AsyncGenerator[tuple[list[Row], Envelope], None]

MAX_PASSES = 3
"""Passes over a list whose length keeps changing; after them the list is accepted, and no row is deleted."""
FINISHED_ORDER_KEPT_S = 86400.0
"""Seconds that a finished order is kept, for sessions that still show it."""
_MAX_UNREADABLE_PAGES = 3
"""Number of pages that may be skipped in one pass."""
_MAX_FAILURES = 3
"""Failures of one list, while the service responds otherwise, after which the list is skipped."""
_MIN_RETRY_S = 1.0
"""Seconds of wait after the first such failure; it doubles."""
_MAX_RETRY_S = 60.0


_OPERATION_OF_STAGE = {
    STORES: "list-stores",
    RECEIPTS: "list-store-receipts",
    RECOUNTS: "list-recounts",
    PEOPLE: "list-people",
}
"""Operation of each stage that is read in one go."""


class LeftOutRows(NamedTuple):
    """Number of rows that were left out, and the invalid field of one of them or another reason."""

    rows: int
    reason: str


@dataclass(eq=False)
class FullSync:
    """Reading of whole lists."""

    single_reads: SingleReads
    link: ServiceLink
    operator_notices: OperatorNotices
    _: KW_ONLY
    sleep: Sleep
    list_backoffs: ListBackoffs

    def __post_init__(self) -> None:
        self.wake_event = WakeEvent(self.sleep)
        self.on_headers_changed: Callable[[Iterable[str]], None] = lambda numbers: None
        """Callback with the numbers of orders whose headers changed."""
        self.on_headers_read: Callable[[], None] = lambda: None
        """Callback after the list of orders was read to its end."""
        self.on_complete: Callable[[], None] = lambda: None
        """Callback after everything was read again."""
        self.on_progress: Callable[[SyncProgress], None] | None = None
        """Callback with the progress."""
        self._cache = self.single_reads.cache
        self._progress = full_sync_stages_and_progress.load_progress(self.single_reads.cache)
        self._postponed: dict[str, float] = {}
        """Lists that returned a rate limit, with the time until which other lists are read first."""
        self._failures = 0
        self._is_running = False
        self._previous_page: Sequence[Row] | None = None
        """Previous page, in a pass whose pages have no usable next page."""
        self._seen_pages: set[bytes] = set()
        """Digests of all pages of this pass whose next page was not usable."""
        self._seen_rows = 0
        """Rows of these pages."""
        self._update_link()

    @property
    def progress(self) -> SyncProgress:
        """Progress so far."""
        return self._progress

    def request_stages(self, stages: Iterable[str], *, full: bool = False) -> None:
        """Queue lists; each is read from its beginning, after the present one.

        A paused list is not queued unless everything is read; it is tried again as a missing list.
        """
        fresh = {stage for stage in stages if full or not self.list_backoffs.is_paused(stage, self.single_reads.now())}
        stages_to_read = fresh | set(self._progress.todo)
        todo = tuple(stage for stage in STAGES if stage in stages_to_read)
        if todo != self._progress.todo or (full and not self._progress.full):
            self._save_progress(self._progress._replace(todo=todo, full=full or self._progress.full))
        self.wake_event.set()

    def request_missing(self) -> None:
        """Queue the list of orders, and the lists that could not be read, or of which rows could not be used.

        Data lost in the cache comes back this way, although the service reports no change of it.
        """
        if not self._progress.full:  # otherwise everything is being read
            partly_read = (each.list_name for each in self._progress.left_out)
            self.request_stages((HEADERS, *self._progress.missing, *partly_read))

    def set_missing(self, name: str, reason: StoredMessage | None) -> None:
        """Record why a list that is read elsewhere cannot be read (None: it can again), and show it on the link."""
        progress = self._progress
        changed = progress.with_read(name) if reason is None else progress.with_missing(name, reason)
        if (name in progress.missing, progress.reason_of(name)) != (name in changed.missing, changed.reason_of(name)):
            self._save_progress(changed)
            self._update_link()

    def request_full(self) -> None:
        """Queue everything, after the list that is being read."""
        with self._transaction():
            at = self._progress.at if self._is_running else None
            left_out = tuple(each for each in self._progress.left_out if each.list_name in STAGES)
            self._progress = self._progress._replace(at=at, done=0, total=0, full=False, left_out=left_out)
            self.request_stages(STAGES, full=True)
        self._update_link()

    async def run(self) -> None:
        """Read queued lists in a loop; wait while the link is down."""
        while True:
            if self._progress.is_idle or not self.link.is_up:
                await self.wake_event.wait(None)
                continue
            try:
                await self.run_to_end()
            except REQUEST_ERRORS as error:
                self.link.record_check_error(error)
                await self.wake_event.wait(max(self.link.check_wait_s(), self.link.pause_s))

    async def run_to_end(self) -> None:
        """Read until nothing is queued. Raise ClientError if the link fails; the next call continues from there."""
        self._update_link()
        self._is_running = True
        try:
            await self._count_rows()
            while not self._progress.is_idle:
                await self._read_stage()
        finally:
            self._is_running = False
        if self._progress.full:
            self._save_progress(self._progress._replace(full=False, done=0, total=0, completed=self.single_reads.now()))
            self.on_complete()
        self._update_link()

    def _update_link(self) -> None:
        """Show `live` only if the cache is complete and not being read again; otherwise the missing lists."""
        progress = self._progress
        self.link.set_syncing(progress.full or not progress.completed, progress.missing)

    # Stages

    async def _read_stage(self) -> None:
        at = self._progress.at or self._begin_stage(await self._next_stage())
        try:
            if at.stage in UNPAGED_STAGES:
                with unforeseen_is_invalid(at.stage):
                    self._add_left_out(await self._read_unpaged(at.stage))
                self._end_stage()
            else:
                await self._read_pages(paged_stage(at.stage))
            self._failures = 0
            self.list_backoffs.clear(at.stage)
            self._postponed.pop(at.stage, None)
        except (Unauthorized, NotSent):
            raise
        except ClientError as error:
            await self._handle_failure(error)

    async def _handle_failure(self, error: ClientError) -> None:
        """Handle the failure of one list. Raise ClientError if the service does not respond at all.

        The list is tried again if that may help; after `_MAX_FAILURES` the sync continues without it.
        """
        await self.single_reads.service_check.run()
        if isinstance(error, RateLimited) and self._postpone(error):
            return
        self._failures += 1
        if self._failures >= _MAX_FAILURES or not isinstance(error, ServerError | RateLimited):
            self._skip_stage(error)
            return
        wait_s = max(error.retry_after or 0.0, backoff_s(self._failures, 1.0, _MIN_RETRY_S, _MAX_RETRY_S))
        await self.sleep(min(wait_s, _MAX_RETRY_S))

    async def _next_stage(self) -> str:
        """Return the next list; those with a rate limit come after all others."""
        now = self.single_reads.now()
        todo = sorted(self._progress.todo, key=lambda stage: max(now, self._postponed.get(stage, 0.0)))
        wait = self._postponed.get(todo[0], 0.0) - now
        if wait > 0:
            await self.sleep(wait)
        return todo[0]

    def _postpone(self, error: RateLimited) -> bool:
        """Postpone a list with a rate limit of which no page was read, and return True.

        A list with repeated rate limits is skipped at once. Return False if the caller has to wait.
        """
        at, now = self._position, self.single_reads.now()
        if self.list_backoffs.record_rate_limit(at.stage, error.retry_after, now):
            self._skip_stage(error)
            return True
        if at.rows or not self._progress.todo:
            return False
        retry_after_s = _MIN_RETRY_S if error.retry_after is None else error.retry_after
        self._postponed[at.stage] = now + min(retry_after_s, _MAX_RETRY_S)
        todo = tuple(stage for stage in STAGES if stage in {at.stage, *self._progress.todo})
        self._save_progress(self._progress._replace(at=None, todo=todo))
        return True

    def _begin_stage(self, stage: str, pass_number: int = 1, *, repeated: int = 0) -> StagePosition:
        generation = self._progress.generation + 1
        paged = None if stage in UNPAGED_STAGES else paged_stage(stage)
        by_id = paged is not None and paged.paging == "id"
        at = StagePosition(
            stage,
            generation,
            next=0 if by_id else 1,
            by_id=by_id,
            pass_number=pass_number,
            repeated_previously=repeated,
        )
        todo = tuple(other for other in self._progress.todo if other != stage)
        with self._transaction():
            if paged is not None and paged.sweep_topic:
                self._cache.begin_pass(paged.sweep_topic)
            self._save_progress(self._progress._replace(at=at, todo=todo, generation=generation))
        return at

    def _end_stage(self, *, missing_reason: StoredMessage | None = None) -> None:
        """End the present stage. `missing_reason` is the reason if a part of it could not be read."""
        at = self._position
        unusable = UnusableRows(at.stage, at.left_out, at.left_out_reason)
        repeated = UnusableRows(at.stage, at.repeated, DUPLICATE_KEY)
        progress = self._progress._replace(at=None).with_left_out(at.stage, unusable, repeated)
        progress = (
            progress.with_read(at.stage) if missing_reason is None else progress.with_missing(at.stage, missing_reason)
        )
        self._save_progress(progress)

    def _skip_stage(self, error: ClientError) -> None:
        self.operator_notices.add(f"The sync goes on without {self._position.stage}: {error}")
        self._failures = 0
        self._end_stage(missing_reason=unread_reason(error))

    async def _read_unpaged(self, stage: str) -> LeftOutRows:
        """Read a list in one go. Return the rows left out."""
        name = _OPERATION_OF_STAGE[stage]
        before = self.single_reads.cache_update.left_out[name]
        features = self.link.features
        if stage == STORES:
            await self.single_reads.store_reader.read()
        elif stage == RECEIPTS:
            await self.single_reads.delivery_reader.read_receipts()
        elif stage == RECOUNTS:
            if features and features.recounts:
                await self.single_reads.recount_reader.read()
        elif features and features.people:
            await self.single_reads.people_reader.read()
        return self._left_out_since(name, before)

    def _left_out_since(self, name: str, before: int) -> LeftOutRows:
        """Return what was left out of an operation's rows since the count was `before`."""
        count = self.single_reads.cache_update.left_out[name] - before
        last = self.single_reads.cache_update.last_left_out.get(name)
        return LeftOutRows(count, (last.field or last.reason) if last is not None else "")

    def _add_left_out(self, left_out: LeftOutRows) -> None:
        """Add left-out rows to the position of the present stage."""
        if left_out.rows:
            at = self._position
            counted = at._replace(left_out=at.left_out + left_out.rows, left_out_reason=left_out.reason)
            self._save_progress(self._progress._replace(at=counted))

    def record_left_out(self, list_name: str, name: str, before: int) -> None:
        """Add left-out rows of a list that is read in parts, outside the full sync."""
        left = self._left_out_since(name, before)
        if left.rows:
            earlier_count = self._progress.left_out_count(list_name)
            self._save_progress(
                self._progress.with_left_out(list_name, UnusableRows(list_name, earlier_count + left.rows, left.reason))
            )

    # Pages of a list

    async def _read_pages(self, stage: PagedStage) -> None:
        self._previous_page = None
        self._seen_pages.clear()
        self._seen_rows = 0
        while True:
            try:
                await self._read_pages_from(stage, self._position)
                break
            except TooManyRows:
                raise
            except PagingLoop as error:
                if self._is_end(stage, error):
                    break
            except InvalidResponse as error:
                self._skip_page(stage, error)
        name = self._position.stage
        await self._close_stage(stage)
        if name == HEADERS and self._progress.at is None:
            self.on_headers_read()

    @property
    def _position(self) -> StagePosition:
        at = self._progress.at
        assert at is not None
        return at

    async def _read_pages_from(self, stage: PagedStage, at: StagePosition) -> None:
        """Read all pages from a position on."""
        async with aclosing(self._request_pages(stage, at)) as pages:
            with unforeseen_is_invalid(stage.operation):
                while await self._read_page(stage, pages):
                    pass

    def _request_pages(self, stage: PagedStage, at: StagePosition) -> Pages:
        query = self._stage_query(stage)
        if at.by_id:
            query["from_id"] = at.next
        else:
            query["page_number" if stage.operation == "list-products" else "page_start"] = at.next
        path = self._stage_path(stage)
        return self.single_reads.client.pages(stage.operation, path=path, query=query, by="id" if at.by_id else "page")

    def _stage_query(self, stage: PagedStage) -> dict[str, QueryValue]:
        query = dict(stage.query)
        if stage.store_in == "query":
            query["store_number"] = self.single_reads.store
        if stage.only_recent:
            query["last_modified_date"] = self.single_reads.delivery_reader.first_day()
        return query

    def _stage_path(self, stage: PagedStage) -> dict[str, str]:
        return self.single_reads.store_path if stage.store_in == "path" else {}

    async def _read_page(self, stage: PagedStage, pages: Pages) -> bool:
        """Read and write one page. Return False at the end."""
        with self.single_reads.cache_update.read_sequence.start_read() as read_number:
            began = self.single_reads.now()
            page = await anext(pages, None)
            if page is None:
                return False
            rows, envelope = page
            self.single_reads.record_server_time(envelope)
            at = self._position
            before = self.single_reads.cache_update.left_out[stage.operation]
            with pause_gc(), self._transaction():
                changed = stage.write(
                    self.single_reads, PageRead(rows, read_number, began, at.generation if stage.sweep_topic else 0)
                )
                after = _advance_position(at, rows, envelope, self._left_out_since(stage.operation, before))
                self._save_progress(self._progress._replace(at=after, done=self._progress.done + len(rows)))
            if at.stage == HEADERS and changed:
                self.on_headers_changed(changed)
        check_row_count(OPERATIONS[stage.operation], after.rows + after.left_out)
        return True

    def _skip_page(self, stage: PagedStage, error: InvalidResponse) -> None:
        """Skip a page that cannot be read. A list that cannot be read by id is read by page."""
        at = self._position
        if at.by_id:
            self.operator_notices.add(f"{stage.operation} is read by page: {error}")
            again = StagePosition(
                at.stage, at.generation, pass_number=at.pass_number, repeated_previously=at.repeated_previously
            )
            self._save_progress(self._progress._replace(at=again))
            return
        if at.unreadable_pages >= _MAX_UNREADABLE_PAGES:
            raise error
        self.operator_notices.add(f"Page {at.next} of {stage.operation} was passed over: {error}")
        passed = at._replace(next=at.next + 1, unreadable_pages=at.unreadable_pages + 1, reason=unread_reason(error))
        self._save_progress(self._progress._replace(at=passed))

    def _is_end(self, stage: PagedStage, error: PagingLoop) -> bool:
        """Return whether a page without a usable next page is the end; otherwise the next page number is requested.

        An empty page is the end. A repeated page is an end that proves nothing, so no row is deleted after it.
        Raise TooManyRows if new pages do not end.
        """
        before, self._previous_page = self._previous_page, error.rows
        if before is None:
            self.operator_notices.add(f"{stage.operation} is read by counting its pages: {error}")
        digest = page_digest(error.rows)
        if error.rows and error.rows != before and digest not in self._seen_pages:
            self._seen_pages |= {digest} if digest is not None else set()
            self._seen_rows += len(error.rows)
            check_page_count(OPERATIONS[stage.operation], len(self._seen_pages), self._seen_rows)
            return False
        if error.rows or before is None:
            passed = self._position._replace(
                unreadable_pages=self._position.unreadable_pages + 1, reason=unread_reason(error)
            )
            self._save_progress(self._progress._replace(at=passed))
        return True

    async def _close_stage(self, stage: PagedStage) -> None:
        """End a list: delete the rows it did not contain, unless pages were skipped."""
        if not self._are_repeated_rows_sure(stage):
            return
        at = self._position
        if at.unreadable_pages or not stage.sweep_topic:
            self._end_stage(missing_reason=at.reason if at.unreadable_pages else None)
        elif at.first_total != at.last_total and not at.by_id:
            self._repeat_pass(stage)
        elif stage.sweep_topic == "order":
            await self._drop_unseen_orders(at)
        else:
            with self._transaction():
                self._cache.delete_unseen(stage.sweep_topic, at.generation)
                self._end_stage()

    def _are_repeated_rows_sure(self, stage: PagedStage) -> bool:
        """Count rows with a repeated key, of which only the last is kept. Return False if another pass begins.

        A list that changes during a pass may show a row twice; so a count that no earlier pass found is verified.
        """
        at = self._position
        found = self._count_repeated_rows(stage)
        sure = min(found, max(at.repeated_previously, self._progress.left_out_count(at.stage, repeated=True)))
        if found > sure and not at.repeated_previously and at.pass_number < MAX_PASSES:
            self._begin_stage(at.stage, at.pass_number + 1, repeated=found)
            return False
        if sure:
            self.operator_notices.add(
                f"{sure} rows of {stage.operation} have a {stage.key_field} that a later row has, too."
            )
            self._save_progress(self._progress._replace(at=at._replace(repeated=sure)))
        return True

    def _count_repeated_rows(self, stage: PagedStage) -> int:
        at = self._position
        if not stage.sweep_topic or at.unreadable_pages or (at.first_total != at.last_total and not at.by_id):
            return 0
        return max(0, at.rows - self._cache.count_seen(stage.sweep_topic, at.generation))

    def _repeat_pass(self, stage: PagedStage) -> None:
        """Read the list again, because it grew or shrank and rows may have moved to a page already read."""
        at = self._position
        if at.pass_number < MAX_PASSES:
            self._begin_stage(at.stage, at.pass_number + 1)
        else:
            self.operator_notices.add(f"{stage.operation} changes faster than it can be read; nothing was dropped.")
            self._end_stage()

    async def _drop_unseen_orders(self, at: StagePosition) -> None:
        unseen = self._cache.find_unseen_orders(at.generation)
        for number in unseen:
            try:
                await self.single_reads.read_order(number)
            except (Unauthorized, NotSent, RateLimited):
                raise
            except ClientError as error:
                if not is_service_refusal(error):
                    await self.single_reads.service_check.run()  # if this fails, nothing can be read
                self.operator_notices.add(f"order {number} cannot be read, and stays: {error}")
        with self._transaction():
            self._cache.mark_seen("order", at.generation, unseen)
            self._cache.delete_unseen("order", at.generation)
            self._cache.delete_closed_orders(self.single_reads.now() - FINISHED_ORDER_KEPT_S)
            self._end_stage()

    # Progress

    async def _count_rows(self) -> None:
        """Request the length of every list, for the progress of a full sync."""
        if not self._progress.full or self._progress.total:
            return
        total = 0
        for name in self._progress.todo:
            if name not in UNPAGED_STAGES:
                total += await self._list_length(paged_stage(name))
        self._save_progress(self._progress._replace(total=total))

    async def _list_length(self, stage: PagedStage) -> int:
        """Return the total that the list reports; 0 if it cannot be read, which the pass itself will report."""
        query = self._stage_query(stage) | {"page_size": 1}
        for name in ("show_lines", "include_locations"):
            query.pop(name, None)
        try:
            path = self._stage_path(stage)
            response = await self.single_reads.client.request(stage.operation, path=path, query=query)
            envelope = response.json() if response.is_success else {}
        except (NotSent, Unauthorized):
            raise
        except (ClientError, ValueError, RecursionError):
            return 0
        return max(0, _total_count(envelope)) if isinstance(envelope, dict) else 0

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Open a transaction. If it fails, restore the progress in memory too, or a page would count as read."""
        before = self._progress
        try:
            with self._cache.transaction():
                yield
        except BaseException:
            self._progress = before
            raise

    def _save_progress(self, progress: SyncProgress) -> None:
        with self._transaction():
            self._progress = progress
            full_sync_stages_and_progress.save_progress(self._cache, progress)
            if progress.full or not progress.done:
                self._cache.set_link(LinkRow(done=progress.done, total=progress.total))
        if self.on_progress:
            self.on_progress(progress)


_MAX_COUNT = 1 << 53
"""Largest count that is believed; the sum over all lists has to fit into a database."""


def _advance_position(at: StagePosition, rows: list[Row], envelope: Envelope, left_out: LeftOutRows) -> StagePosition:
    total = _total_count(envelope)
    first = total if at.first_total < 0 else at.first_total
    following = (to_int64(rows[-1]["id"]) or 0) + 1 if at.by_id and rows else _next_page(at, envelope)
    return at._replace(
        next=following,
        first_total=first,
        last_total=total,
        rows=at.rows + len(rows) - left_out.rows,
        left_out=at.left_out + left_out.rows,
        left_out_reason=left_out.reason if left_out.rows else at.left_out_reason,
    )


def _next_page(at: StagePosition, envelope: Envelope) -> int:
    next_page = envelope.get("next_page")
    number = to_int64(next_page) if isinstance(next_page, int) and not at.by_id else None
    return max(number or 0, at.next + 1)


def _total_count(envelope: Envelope) -> int:
    total = envelope.get("total_record_count", envelope.get("total_count"))
    number = to_int64(total) if isinstance(total, int) else None
    return number if number is not None and number <= _MAX_COUNT else -1
