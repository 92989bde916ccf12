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
    NotSent,
    RateLimited,
    ServerError,
    Unauthorized,
)
from aisle.client.paging import digest
from aisle.contract.wire import QueryValue
from aisle.courier.alarm import Alarm, Sleep
from aisle.courier.link import TROUBLE, Link
from aisle.courier.notices import Notices
from aisle.courier.pull import progress as kept
from aisle.courier.pull.intake import Row
from aisle.courier.pull.progress import At, Progress
from aisle.courier.pull.single import Pull
from aisle.courier.pull.stages import (
    HEADERS,
    PEOPLE,
    RECEIPTS,
    RECOUNTS,
    SMALL,
    STAGES,
    STORES,
    Paged,
    Read,
    paged,
)
from aisle.courier.pull.thrift import undisturbed
from aisle.courier.rests import Rests
from aisle.courier.telling import is_refusal, why_unread
from aisle.local.cache.writer import Sync
from aisle.local.told import REPEATED, LeftOut, Told
from aisle.tuples import NamedTuple

Pages = AsyncGenerator[tuple[list[Row], dict[str, Any]], None]

ROUNDS = 3
"""So often a list is walked whose length changed meanwhile; then it is taken as it is, and nothing is dropped."""
CLOSED_KEPT_S = 86400.0
"""So long a finished order stays, for the sessions that still show it."""
_UNREADABLE = 3
"""Pages that may be passed over in one walk."""
_STRIKES = 3
"""Failures of the service at one list, while it answers all else, after which the others go on without that list."""
_PAUSE_S = 1.0
"""After the first of these failures; it doubles."""
_LONGEST_PAUSE_S = 60.0


_BRINGS = {STORES: "list-stores", RECEIPTS: "list-store-receipts", RECOUNTS: "list-recounts", PEOPLE: "list-people"}
"""The operation of each stage that is read in one go."""


class Left(NamedTuple):
    """Rows that were left out, and the field of one of them that makes no sense, or why else."""

    rows: int
    why: str


class FullSync:
    """The walking half of the reading."""

    def __init__(self, pull: Pull, link: Link, notices: Notices, *, sleep: Sleep, rests: Rests) -> None:
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
        self._sleep = sleep
        self._rests = rests
        self._later: dict[str, float] = {}
        """Lists that ask for patience, and until when the others are read before them."""
        self._strikes = 0
        self._walking = False
        self._led_astray: Sequence[Mapping[str, Any]] | None = None
        """The page before, in a walk whose pages do not say how it goes on."""
        self._astray: set[bytes] = set()
        """What tells all pages of it that led nowhere."""
        self._show()

    @property
    def progress(self) -> Progress:
        """How far it has come."""
        return self._progress

    def ask(self, stages: Iterable[str], *, full: bool = False) -> None:
        """These lists are to be read, each from its beginning, after what is being read now; not one that rests, unless
        all are read: it is asked for again as one that is missing."""
        fresh = {stage for stage in stages if full or not self._rests.lasts(stage, self._pull.now())}
        wanted = fresh | set(self._progress.todo)
        todo = tuple(stage for stage in STAGES if stage in wanted)
        if todo != self._progress.todo or (full and not self._progress.full):
            self._keep(self._progress._replace(todo=todo, full=full or self._progress.full))
        self.alarm.ring()

    def ask_lists(self) -> None:
        """The list of orders is to be read, and what could not be read before: what was lost here comes back with it,
        though the service has nothing new to say of it."""
        if not self._progress.full:  # else all of it is being read
            self.ask((HEADERS, *self._progress.missing))

    def lacks(self, what: str, why: Told | None) -> None:
        """Something was asked for beside the walks and cannot be read, and why; None: it can again. It is told as what
        a walk could not read."""
        progress = self._progress
        told = progress.with_(what) if why is None else progress.without(what, why)
        if (what in progress.missing, progress.why(what)) != (what in told.missing, told.why(what)):
            self._keep(told)
            self._show()

    def ask_all(self) -> None:
        """Everything is to be read anew, after the list that is being read at this moment."""
        with self._stored():
            at = self._progress.at if self._walking else None
            left_out = tuple(each for each in self._progress.left_out if each.name in STAGES)
            self._progress = self._progress._replace(at=at, done=0, total=0, full=False, left_out=left_out)
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
                self._link.probe_failed(error)
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
        at = self._progress.at or self._begin(await self._next())
        try:
            if at.stage in SMALL:
                self._count_left(await self._small(at.stage))
                self._end()
            else:
                await self._walk(paged(at.stage, self._pull.store))
            self._strikes = 0
            self._rests.end(at.stage)
            self._later.pop(at.stage, None)
        except (Unauthorized, NotSent):
            raise
        except ClientError as error:
            await self._failed(error)

    async def _failed(self, error: ClientError) -> None:
        """A list fails by itself: while the service answers all else, it is tried again where that may help, and then
        the others go on without it. Raises ClientError when the service does not answer at all."""
        await self._pull.knock()
        if isinstance(error, RateLimited) and self._puts_off(error):
            return
        self._strikes += 1
        if self._strikes >= _STRIKES or not isinstance(error, ServerError | RateLimited):
            self._skip(error)
            return
        asked = error.retry_after or 0.0
        await self._sleep(min(max(asked, _PAUSE_S * 2.0 ** (self._strikes - 1)), _LONGEST_PAUSE_S))

    async def _next(self) -> str:
        """The list that is read next: those that ask for patience come after all others."""
        now = self._pull.now()
        todo = sorted(self._progress.todo, key=lambda stage: max(now, self._later.get(stage, 0.0)))
        wait = self._later.get(todo[0], 0.0) - now
        if wait > 0:
            await self._sleep(wait)
        return todo[0]

    def _puts_off(self, error: RateLimited) -> bool:
        """A list that asks for patience, and of which no page was read, waits while the others are read; one that asks
        for it again and again is left out at once. False where it is to be waited for on the spot."""
        at, now = self._here, self._pull.now()
        if self._rests.is_alone(at.stage, error.retry_after, now):
            self._skip(error)
            return True
        if at.rows or not self._progress.todo:
            return False
        asked = _PAUSE_S if error.retry_after is None else error.retry_after
        self._later[at.stage] = now + min(asked, _LONGEST_PAUSE_S)
        todo = tuple(stage for stage in STAGES if stage in {at.stage, *self._progress.todo})
        self._keep(self._progress._replace(at=None, todo=todo))
        return True

    def _begin(self, stage: str, round_: int = 1, *, repeated: int = 0) -> At:
        generation = self._progress.generation + 1
        walked = None if stage in SMALL else paged(stage, self._pull.store)
        by_id = walked is not None and walked.by == "id"
        at = At(stage, generation, next=0 if by_id else 1, by_id=by_id, round=round_, repeated_before=repeated)
        todo = tuple(other for other in self._progress.todo if other != stage)
        with self._stored():
            if walked is not None and walked.swept:
                self._cache.begin_pass(walked.swept)
            self._keep(self._progress._replace(at=at, todo=todo, generation=generation))
        return at

    def _end(self, *, gap: Told | None = None) -> None:
        """This list is done with; `gap`: why something of it could not be read."""
        at = self._here
        unusable = LeftOut(at.stage, at.left_out, at.left_why)
        repeated = LeftOut(at.stage, at.repeated, REPEATED)
        progress = self._progress._replace(at=None).counted(at.stage, unusable, repeated)
        progress = progress.with_(at.stage) if gap is None else progress.without(at.stage, gap)
        self._keep(progress)

    def _skip(self, error: ClientError) -> None:
        self._notices.add(f"The sync goes on without {self._here.stage}: {error}")
        self._strikes = 0
        self._end(gap=why_unread(error))

    async def _small(self, stage: str) -> Left:
        """Reads a list in one go; what of it was left out."""
        name = _BRINGS[stage]
        before = self._pull.into.left_out[name]
        features = self._link.features
        if stage == STORES:
            await self._pull.stores()
        elif stage == RECEIPTS:
            await self._pull.receipts()
        elif stage == RECOUNTS:
            if features and features.recounts:
                await self._pull.recounts.read()
        elif features and features.people:
            await self._pull.people()
        return self._left(name, before)

    def _left(self, name: str, before: int) -> Left:
        """What an operation has brought that was left out, since it was so many."""
        count = self._pull.into.left_out[name] - before
        last = self._pull.into.left_last.get(name)
        return Left(count, (last.field or last.why) if last is not None else "")

    def _count_left(self, left: Left) -> None:
        """Adds this to what was left out of the list that is being read."""
        if left.rows:
            at = self._here
            counted = at._replace(left_out=at.left_out + left.rows, left_why=left.why)
            self._keep(self._progress._replace(at=counted))

    def left_beside(self, what: str, name: str, before: int) -> None:
        """The same of a list that is read in parts, beside the walks: what of each part was left out adds up."""
        left = self._left(name, before)
        if left.rows:
            known = self._progress.left(what)
            self._keep(self._progress.counted(what, LeftOut(what, known + left.rows, left.why)))

    # One list

    async def _walk(self, stage: Paged) -> None:
        self._led_astray = None
        self._astray.clear()
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
            before = self._pull.into.left_out[stage.operation]
            with undisturbed(), self._stored():
                changed = stage.put(self._pull, Read(rows, ticket, began, at.generation if stage.swept else 0))
                after = _after(at, rows, envelope, self._left(stage.operation, before))
                self._keep(self._progress._replace(at=after, done=self._progress.done + len(rows)))
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
        passed = at._replace(next=at.next + 1, unreadable=at.unreadable + 1, why=why_unread(error))
        self._keep(self._progress._replace(at=passed))

    def _is_over(self, stage: Paged, error: Endless) -> bool:
        """Where a page names no next one that makes sense, its number plus one is asked for; an empty page is the end.

        One that says the same as an earlier page is an end that proves nothing: then nothing is dropped.
        """
        before, self._led_astray = self._led_astray, error.rows
        if before is None:
            self._notices.add(f"{stage.operation} is read by counting its pages: {error}")
        said = digest(error.rows)
        if error.rows and error.rows != before and said not in self._astray:
            self._astray |= {said} if said is not None else set()
            return False
        if error.rows or before is None:
            passed = self._here._replace(unreadable=self._here.unreadable + 1, why=why_unread(error))
            self._keep(self._progress._replace(at=passed))
        return True

    async def _close(self, stage: Paged) -> None:
        """The list is at its end: drop what it did not have, unless it was read with a gap."""
        if not self._are_repeated_rows_sure(stage):
            return
        at = self._here
        if at.unreadable or not stage.swept:
            self._end(gap=at.why if at.unreadable else None)
        elif at.first_total != at.last_total and not at.by_id:
            self._again(stage)
        elif stage.swept == "order":
            await self._drop_orders(at)
        else:
            with self._stored():
                self._cache.sweep(stage.swept, at.generation)
                self._end()

    def _are_repeated_rows_sure(self, stage: Paged) -> bool:
        """Counts rows of one key, of which only the last is kept. A list that changes on the way may show a row twice:
        what no walk before has found is counted once more, in a walk that begins here."""
        at = self._here
        found = self._repeated_rows(stage)
        sure = min(found, max(at.repeated_before, self._progress.left(at.stage, repeated=True)))
        if found > sure and not at.repeated_before and at.round < ROUNDS:
            self._begin(at.stage, at.round + 1, repeated=found)
            return False
        if sure:
            self._notices.add(f"{sure} rows of {stage.operation} have a {stage.key} that a later row has, too.")
            self._keep(self._progress._replace(at=at._replace(repeated=sure)))
        return True

    def _repeated_rows(self, stage: Paged) -> int:
        at = self._here
        if not stage.swept or at.unreadable or (at.first_total != at.last_total and not at.by_id):
            return 0
        return max(0, at.rows - self._cache.met(stage.swept, at.generation))

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
            except (Unauthorized, NotSent, RateLimited):
                raise
            except ClientError as error:
                if not is_refusal(error):
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
        """So many rows as the list counts; 0 where it cannot be read, which is said when it is walked."""
        path = self._pull.path if stage.of_store else {}
        asked = self._query(stage)
        query = {**asked, "page_size": 1, "show_lines": None, "include_locations": None}
        known = {name: value for name, value in query.items() if name in asked}
        try:
            answer = await self._pull.client.request(stage.operation, path=path, query=known)
            envelope = answer.json() if answer.is_success else {}
        except (NotSent, Unauthorized):
            raise
        except (ClientError, ValueError, RecursionError):
            return 0
        return max(0, _total(envelope)) if isinstance(envelope, dict) else 0

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


def _after(at: At, rows: list[Row], envelope: dict[str, Any], left: Left) -> At:
    total = _total(envelope)
    first = total if at.first_total < 0 else at.first_total
    following = int(rows[-1]["id"]) + 1 if at.by_id and rows else _following(at, envelope)
    return at._replace(
        next=following,
        first_total=first,
        last_total=total,
        rows=at.rows + len(rows) - left.rows,
        left_out=at.left_out + left.rows,
        left_why=left.why if left.rows else at.left_why,
    )


def _following(at: At, envelope: dict[str, Any]) -> int:
    told = envelope.get("next_page")
    is_number = isinstance(told, int) and not isinstance(told, bool) and not at.by_id
    return max(told, at.next + 1) if told is not None and is_number else at.next + 1


def _total(envelope: dict[str, Any]) -> int:
    total = envelope.get("total_record_count", envelope.get("total_count"))
    return total if isinstance(total, int) and not isinstance(total, bool) else -1
