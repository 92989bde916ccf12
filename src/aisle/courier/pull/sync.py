"""Walks through the lists of the service, page by page, and can be stopped anywhere.

The position advances in the same transaction as the rows, so a restart goes on where the last page was written. Memory
holds one page. What a complete pass has not met is dropped; orders only after each was asked for by its number.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from typing import Any

from aisle.client.errors import (
    AnswerError,
    ClientError,
    Endless,
    NotFound,
    RateLimited,
    ServerError,
    StatusError,
    TransportError,
    Unauthorized,
)
from aisle.contract.wire import QueryValue
from aisle.courier.alarm import Alarm, Sleep
from aisle.courier.link import TROUBLE, Link
from aisle.courier.notices import Notices
from aisle.courier.pull import progress as kept
from aisle.courier.pull.intake import Row
from aisle.courier.pull.progress import At, Progress
from aisle.courier.pull.single import Pull
from aisle.courier.pull.stages import HEADERS, RECEIPTS, RECOUNTS, SMALL, STAGES, STORES, Paged, Read, paged
from aisle.courier.pull.thrift import undisturbed
from aisle.local.cache.writer import Sync

Pages = AsyncGenerator[tuple[list[Row], dict[str, Any]], None]

ROUNDS = 3
"""So often a list is walked whose length changed meanwhile; then it is taken as it is, and nothing is dropped."""
CLOSED_KEPT_S = 86400.0
"""So long a finished order stays, for the sessions that still show it."""
_UNREADABLE = 3
"""Pages that may be passed over in one walk."""
_STRIKES = 3
"""Failures of the service at one stage after which the others go on without it."""


class FullSync:
    """The walking half of the reading."""

    def __init__(self, pull: Pull, link: Link, notices: Notices, *, sleep: Sleep) -> None:
        self.alarm = Alarm(sleep)
        self.changed_orders: Callable[[Iterable[str]], None] = lambda numbers: None
        """Is told which orders' headers have changed."""
        self.headers_read: Callable[[], None] = lambda: None
        """Is called when the list of orders was read to its end."""
        self.all_read: Callable[[], None] = lambda: None
        """Is called when everything has been read anew."""
        self.watch: Callable[[Progress], None] | None = None
        """Is shown how far it has come."""
        self._pull = pull
        self._cache = pull.cache
        self._link = link
        self._notices = notices
        self._progress = kept.load(pull.cache)
        self._strikes = 0
        self._walking = False
        self._led_astray: Sequence[Mapping[str, Any]] | None = None
        """The page before, in a walk whose pages do not say how it goes on."""
        self._show()

    @property
    def progress(self) -> Progress:
        """How far it has come."""
        return self._progress

    def ask(self, stages: Iterable[str], *, full: bool = False) -> None:
        """These lists are to be read, each from its beginning, after what is being read now."""
        wanted = set(stages) | set(self._progress.todo)
        todo = tuple(stage for stage in STAGES if stage in wanted)
        if todo != self._progress.todo or (full and not self._progress.full):
            self._keep(self._progress._replace(todo=todo, full=full or self._progress.full))
        self.alarm.ring()

    def ask_lists(self) -> None:
        """The list of orders is to be read, and what could not be read before: what was lost here comes back with it,
        though the service has nothing new to say of it."""
        if not self._progress.full:  # else all of it is being read
            self.ask((HEADERS, *self._progress.missing))

    def lacks(self, what: str, is_so: bool) -> None:
        """Something beside the lists cannot be read, or can again: it is told as they are."""
        if (what in self._progress.missing) is not is_so:
            others = tuple(name for name in self._progress.missing if name != what)
            self._keep(self._progress._replace(missing=(*others, what) if is_so else others))
            self._show()

    def ask_all(self) -> None:
        """Everything is to be read anew, after the list that is being read at this moment."""
        with self._stored():
            at = self._progress.at if self._walking else None
            self._progress = self._progress._replace(at=at, done=0, total=0, full=False)
            self.ask(STAGES, full=True)
        self._show()

    async def run(self) -> None:
        """Walks whatever is asked for, for ever; waits out what is the matter with the link."""
        while True:
            if self._progress.idle or not self._link.is_up:
                await self.alarm.wait(None)
                continue
            try:
                await self.finish()
            except TROUBLE as error:
                self._link.failed(error)
                await self.alarm.wait(max(self._link.probe_wait(), self._link.held_s))

    async def finish(self) -> None:
        """Walks until nothing is left. Raises ClientError when the link fails; the next call goes on from there."""
        self._show()
        self._walking = True
        try:
            await self._count()
            while not self._progress.idle:
                await self._stage()
        finally:
            self._walking = False
        if self._progress.full:
            self._keep(self._progress._replace(full=False, done=0, total=0, completed=self._pull.now()))
            self.all_read()
        self._show()

    def _show(self) -> None:
        """The screens say `live` only of a cache that is complete, and is not being read anew; else what it lacks."""
        progress = self._progress
        self._link.syncing(progress.full or not progress.completed, progress.missing)

    # One stage

    async def _stage(self) -> None:
        at = self._progress.at or self._begin(self._progress.todo[0])
        try:
            if at.stage in SMALL:
                await self._small(at.stage)
                self._end()
            else:
                await self._walk(paged(at.stage, self._pull.store))
            self._strikes = 0
        except ServerError as error:
            self._strikes += 1
            if self._strikes < _STRIKES:
                raise
            self._skip(error)
        except (TransportError, Unauthorized, RateLimited):
            raise
        except (StatusError, AnswerError) as error:
            self._skip(error)

    def _begin(self, stage: str, round_: int = 1) -> At:
        generation = self._progress.generation + 1
        walked = None if stage in SMALL else paged(stage, self._pull.store)
        by_id = walked is not None and walked.by == "id"
        at = At(stage, generation, next=0 if by_id else 1, by_id=by_id, round=round_)
        todo = tuple(other for other in self._progress.todo if other != stage)
        with self._stored():
            if walked is not None and walked.swept:
                self._cache.begin_pass(walked.swept)
            self._keep(self._progress._replace(at=at, todo=todo, generation=generation))
        return at

    def _end(self, *, gap: bool = False) -> None:
        """This list is done with; `gap`: something of it could not be read."""
        stage = self._here.stage
        others = tuple(name for name in self._progress.missing if name != stage)
        self._keep(self._progress._replace(at=None, missing=(*others, stage) if gap else others))

    def _skip(self, error: ClientError) -> None:
        self._notices.add(f"The sync goes on without {self._here.stage}: {error}")
        self._strikes = 0
        self._end(gap=True)

    async def _small(self, stage: str) -> None:
        if stage == STORES:
            await self._pull.stores()
        elif stage == RECEIPTS:
            await self._pull.receipts()
        elif stage == RECOUNTS:
            if self._link.features and self._link.features.recounts:
                await self._pull.recounts.read()
        elif self._link.features and self._link.features.people:
            await self._pull.people()

    # One list

    async def _walk(self, stage: Paged) -> None:
        self._led_astray = None
        while True:
            try:
                await self._pages(stage, self._here)
                break
            except Endless as error:
                if self._is_over(stage, error):
                    break
            except AnswerError as error:
                self._pass_over(stage, error)
        name = self._here.stage
        await self._close(stage)
        if name == HEADERS and self._progress.at is None:
            self.headers_read()

    @property
    def _here(self) -> At:
        at = self._progress.at
        assert at is not None
        return at

    async def _pages(self, stage: Paged, at: At) -> None:
        """All pages from a position on."""
        async with aclosing(self._asked(stage, at)) as pages:
            while await self._page(stage, pages):
                pass

    def _asked(self, stage: Paged, at: At) -> Pages:
        query = self._query(stage)
        if at.by_id:
            query["from_id"] = at.next
        else:
            query["page_number" if stage.operation == "list-products" else "page_start"] = at.next
        path = self._pull.path if stage.of_store else {}
        return self._pull.client.pages(stage.operation, path=path, query=query, by="id" if at.by_id else "page")

    def _query(self, stage: Paged) -> dict[str, QueryValue]:
        since: dict[str, QueryValue] = {"last_modified_date": self._pull.deliveries_since()} if stage.recent else {}
        return {**stage.query, **since}

    async def _page(self, stage: Paged, pages: Pages) -> bool:
        """Reads and writes one page; False at the end."""
        with self._pull.into.fresh.reading() as ticket:
            began = self._pull.now()
            page = await anext(pages, None)
            if page is None:
                return False
            rows, envelope = page
            self._pull.heard(envelope)
            at = self._here
            with undisturbed(), self._stored():
                changed = stage.put(self._pull, Read(rows, ticket, began, at.generation if stage.swept else 0))
                self._keep(self._progress._replace(at=_after(at, rows, envelope), done=self._progress.done + len(rows)))
            if at.stage == HEADERS and changed:
                self.changed_orders(changed)
        return True

    def _pass_over(self, stage: Paged, error: AnswerError) -> None:
        """A page that cannot be read costs its rows; a list that cannot be read by id is read by page."""
        at = self._here
        if at.by_id:
            self._notices.add(f"{stage.operation} is read by page: {error}")
            self._keep(self._progress._replace(at=At(at.stage, at.generation)))
            return
        if at.unreadable >= _UNREADABLE:
            raise error
        self._notices.add(f"Page {at.next} of {stage.operation} was passed over: {error}")
        self._keep(self._progress._replace(at=at._replace(next=at.next + 1, unreadable=at.unreadable + 1)))

    def _is_over(self, stage: Paged, error: Endless) -> bool:
        """Where a page names no next one that makes sense, its number plus one is asked for; an empty page is the end.

        One that says the same as the page before it is an end that proves nothing: then nothing is dropped.
        """
        before, self._led_astray = self._led_astray, error.rows
        if before is None:
            self._notices.add(f"{stage.operation} is read by counting its pages: {error}")
        if error.rows and error.rows != before:
            return False
        if error.rows or before is None:
            self._keep(self._progress._replace(at=self._here._replace(unreadable=self._here.unreadable + 1)))
        return True

    async def _close(self, stage: Paged) -> None:
        """The list is at its end: drop what it did not have, unless it was read with a gap."""
        at = self._here
        if at.unreadable or not stage.swept:
            self._end(gap=at.unreadable > 0)
        elif at.first_total != at.last_total and not at.by_id:
            self._again(stage)
        elif stage.swept == "order":
            await self._drop_orders(at)
        else:
            with self._stored():
                self._cache.sweep(stage.swept, at.generation)
                self._end()

    def _again(self, stage: Paged) -> None:
        """The list grew or shrank on the way, so that rows may have slipped from one page to another."""
        at = self._here
        if at.round < ROUNDS:
            self._begin(at.stage, at.round + 1)
        else:
            self._notices.add(f"{stage.operation} changes faster than it can be read; nothing was dropped.")
            self._end()

    async def _drop_orders(self, at: At) -> None:
        unseen = self._cache.unseen_orders(at.generation)
        for number in unseen:
            try:
                await self._pull.order(number)
            except (Unauthorized, RateLimited):
                raise
            except (AnswerError, StatusError) as error:
                if isinstance(error, ServerError):
                    await self._pull.knock()  # or nothing can be read
                self._notices.add(f"order {number} cannot be read, and stays: {error}")
        with self._stored():
            self._cache.note_seen("order", at.generation, unseen)
            self._cache.sweep("order", at.generation)
            self._cache.forget_closed(self._pull.now() - CLOSED_KEPT_S)
            self._end()

    # Progress

    async def _count(self) -> None:
        """Asks every list how long it is, for the progress of a sync that takes long enough to be watched."""
        if not self._progress.full or self._progress.total:
            return
        total = 0
        for name in self._progress.todo:
            if name not in SMALL:
                total += await self._length(paged(name, self._pull.store))
        self._keep(self._progress._replace(total=total))

    async def _length(self, stage: Paged) -> int:
        path = self._pull.path if stage.of_store else {}
        asked = self._query(stage)
        query = {**asked, "page_size": 1, "show_lines": None, "include_locations": None}
        known = {name: value for name, value in query.items() if name in asked}
        try:
            async with aclosing(self._pull.client.pages(stage.operation, path=path, query=known)) as one:
                async for _, envelope in one:
                    return max(0, _total(envelope))
        except (AnswerError, NotFound):
            pass  # it will be said when the list is walked
        return 0

    @contextmanager
    def _stored(self) -> Iterator[None]:
        """One transaction. When it cannot be stored, memory goes back as well, or a page would pass for read."""
        before = self._progress
        try:
            with self._cache.batch():
                yield
        except BaseException:
            self._progress = before
            raise

    def _keep(self, progress: Progress) -> None:
        with self._stored():
            self._progress = progress
            kept.save(self._cache, progress)
            if progress.full or not progress.done:
                self._cache.set_link(Sync(done=progress.done, total=progress.total))
        if self.watch:
            self.watch(progress)


def _after(at: At, rows: list[Row], envelope: dict[str, Any]) -> At:
    total = _total(envelope)
    first = total if at.first_total < 0 else at.first_total
    following = int(rows[-1]["id"]) + 1 if at.by_id and rows else _following(at, envelope)
    return at._replace(next=following, first_total=first, last_total=total)


def _following(at: At, envelope: dict[str, Any]) -> int:
    told = envelope.get("next_page")
    is_number = isinstance(told, int) and not isinstance(told, bool) and not at.by_id
    return max(told, at.next + 1) if told is not None and is_number else at.next + 1


def _total(envelope: dict[str, Any]) -> int:
    total = envelope.get("total_record_count", envelope.get("total_count"))
    return total if isinstance(total, int) and not isinstance(total, bool) else -1
