"""Keeps the cache fresh between full syncs: what sessions wish for, what changed, what was written.

Our own service says what changed, by its cursor. One that only implements the interface is asked again and again:
headers of all orders, lines of those somebody works on, stock by the moment of its last change.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import Any

from aisle.client.errors import ClientError, NotSent, RateLimited, Unauthorized
from aisle.courier.alarm import Alarm, Sleep
from aisle.courier.counting import counted
from aisle.courier.link import TROUBLE, Link
from aisle.courier.notices import Notices
from aisle.courier.pull.changes import BULK, ChangeFeed, News
from aisle.courier.pull.gaps import Gaps
from aisle.courier.pull.intake import Row
from aisle.courier.pull.schedule import Pace, Timetable
from aisle.courier.pull.single import Pull
from aisle.courier.pull.stages import DELIVERIES, HEADERS, LINES, LOCATIONS, PEOPLE, PRODUCTS, RECEIPTS, STOCK, STORES
from aisle.courier.pull.sync import FullSync
from aisle.courier.pull.wanted import AGAIN_S, Wanted
from aisle.courier.rests import Rests
from aisle.courier.telling import is_refusal, why_unread
from aisle.courier.topics import (
    ASSIGNMENT,
    CATALOGUE,
    DELIVERY,
    LOCATION,
    LOG,
    ORDER,
    PERSON,
    PRODUCT,
    RECOUNT,
    STORE,
    SURROUNDING,
    Topic,
    touched,
)
from aisle.local.outbox.operation import Operation
from aisle.local.outbox.wishes import EVERYTHING, LISTS
from aisle.local.told import Told

FULL_S = 86400.0
"""After so long everything is read anew, whatever the service announced meanwhile."""
WALKED_S = 1800.0
"""So long an order that a session asked for counts as worked on."""
WATCHED_S = 60.0
"""So long after somebody asked for the log it is read with whatever changes: he may be looking at the day's figures."""
TOGETHER_S = 1.0
"""The least time between two looks at what changed, however often something is confirmed: what comes close behind is
read together with it. It lies over the cache until then, so nobody waits for it."""
_KNOCK_S = 1.0
"""The least time between two knocks, however often sessions ring."""
_OVERLAP = timedelta(minutes=2)
"""Stock is asked for from a little before the last look on, because clocks differ."""
_FAR_BACK_S = 26 * 3600.0
"""In the slow round stock is asked for from a day back: where the service's clock is behind, or its zone is not the one
that it says, or it looks at days alone, the usual look sees nothing."""
_SINCE = "stock_since"
CHANGES = "changes"
"""What is missing where the change feed cannot be read."""
STOCK_CHANGES = "stock_changes"
"""What is missing where stock cannot be asked for by the moment of its change."""
ASSIGNMENTS = "assignments"
"""What is missing where the goods that clearances want moved cannot be listed."""
_STAGES_OF = {
    ORDER: (HEADERS, LINES),
    PRODUCT: (STOCK,),
    CATALOGUE: (PRODUCTS,),
    LOCATION: (LOCATIONS,),
    STORE: (STORES,),
    DELIVERY: (DELIVERIES, RECEIPTS),
}


class Refresher:
    """The watching half of the reading."""

    def __init__(
        self,
        pull: Pull,
        sync: FullSync,
        link: Link,
        notices: Notices,
        *,
        retire: Callable[[Sequence[str]], None],
        wishes: Callable[[], Iterable[tuple[str, str]]],
        restored: Callable[[], Awaitable[None]],
        lost: Callable[[], Coroutine[Any, Any, bool]],
        known: Callable[[], Sequence[str]],
        read_back: Callable[[str, Sequence[Row], frozenset[str]], None],
        sleep: Sleep,
        pace: Pace,
        rests: Rests,
    ) -> None:
        self.alarm = Alarm(sleep)
        self._pull = pull
        self._sync = sync
        self._link = link
        self._notices = notices
        self.wanted = Wanted(
            pull,
            link,
            notices,
            retire=retire,
            read_back=read_back,
            is_of_the_link=self.is_of_the_link,
            lacks=self._lacks,
            left_out=sync.left_beside,
            rests=rests,
        )
        self._wishes = wishes
        self._restored = restored
        self._lost = lost
        self._table = Timetable(pace)
        self._feed = ChangeFeed(pull, known)
        self._news: News | None = None
        self._followed = 0.0
        """When it was last asked what changed."""
        self._walked: dict[str, float] = {}
        self._bare: dict[str, float] = {}
        """Orders in the list whose lines are not here, and when they were last asked for."""
        self._watched = 0.0
        """When a session last asked for the store's log."""
        self._knocked = 0.0
        self._gaps = Gaps()
        self._rests = rests
        sync.changed_orders = self._headers_changed
        sync.headers_read = self._headers_read

    # What is wanted

    def want(self, topics: Iterable[Topic]) -> None:
        """These are to be read soon."""
        self.wanted.add(topics)
        self.alarm.ring()

    def confirmed(self, op: Operation) -> None:
        """The service has just confirmed this: what it touched is read again, and then it leaves the overlay.

        Where the service says what changed it says so of this, too: what is read between the confirmation and the next
        look would have to be read once more after it.
        """
        self.wanted.confirmed(op)
        if op.operation == "create-store-product-logs" and self._pull.now() - self._watched < WALKED_S:
            self.want([Topic(LOG, "")])
        if "changes" in self._table:
            if self._table.hurry("changes", self._followed + TOGETHER_S):
                self.alarm.ring()
        else:
            self.want(touched(op))

    def look_soon(self) -> None:
        """The service lacks what it has confirmed: what is missing is looked for at once."""
        self._table.hurry("changes")
        self.alarm.ring()

    def forget(self, op: Operation) -> None:
        """It is not confirmed any more: no read can speak for it."""
        self.wanted.forget(op)

    def _headers_changed(self, numbers: Iterable[str]) -> None:
        features = self._link.features
        if LINES not in self._sync.progress.todo and not (features and features.changes):
            self.want(Topic(ORDER, number) for number in numbers)

    def _headers_read(self) -> None:
        """The list of orders was read. An order that came with it, and whose lines never came, is no work for anybody:
        its header may never change again, and the service may say no more of it."""
        if LINES in self._sync.progress.todo:
            return
        bare = self._pull.cache.orders_without_lines()
        now = self._pull.now()
        due = [number for number in bare if now - self._bare.get(number, -AGAIN_S) >= AGAIN_S]
        self._bare = {number: self._bare.get(number, now) for number in bare} | dict.fromkeys(due, now)
        if len(due) > BULK:
            self._sync.ask([LINES])
        else:
            self.want(Topic(ORDER, number) for number in due)

    def _take_wishes(self) -> bool:
        wishes = list(self._wishes())
        for topic, key in wishes:
            if topic in (ORDER, PRODUCT, LOCATION, SURROUNDING, DELIVERY) and key:
                self.want([Topic(topic, key)])
                if topic == PRODUCT:
                    self.want([Topic(CATALOGUE, key)])
                if topic == ORDER:
                    self._walked[key] = self._pull.now()
            elif topic == "orders":
                if key == EVERYTHING:
                    self._sync.ask_all()
                elif key == LISTS:
                    self._sync.ask_lists()
                self._table.hurry("changes")
                self._table.hurry("headers")
            elif topic == "deliveries":
                self._table.hurry("changes")
                if not (self._link.features and self._link.features.changes):
                    self._sync.ask([DELIVERIES, RECEIPTS])
            elif topic == STORE and key:
                self._pull.chain.wanted.add(key)
                self.want([Topic(STORE, key)])
            elif topic == "people":
                self._table.hurry("people")
            elif topic == "assignments":
                self.want([Topic(ASSIGNMENT, "")])
            elif topic == "logs":
                self._watched = self._pull.now()
                self.want([Topic(LOG, key)])
        return bool(wishes)

    # The loop

    async def run(self) -> None:
        """Looks for ever."""
        while True:
            await self._round()
            await self.alarm.wait(self._until_next())

    async def round(self) -> None:
        """One look at everything that is due, and all that was confirmed is read back."""
        if not self.wanted.rests:
            self._table.hurry("changes")
        await self._round()

    async def _round(self) -> None:
        """One look at everything that is due; reaches out first when the link is down."""
        wished = self._take_wishes()
        if self._link.held_s or not (self._link.is_up or await self._reach()):
            return
        try:
            await self._prepare()
        except TROUBLE as error:
            await self._trouble(error)
        for name in self._table.take(self._pull.now()):
            if self._link.held_s or not self._link.is_up:
                self._table.hurry(name)  # it is due as soon as anything can be read
                continue
            try:
                await self._look(name)
            except TROUBLE as error:
                await self._trouble(error, STOCK_CHANGES if name in ("stock", "slow") else "")
        await self._read()
        if wished:
            self._link.beat(now=True)

    async def knock(self) -> bool:
        """Whether the service lets us in."""
        self._knocked = self._pull.now()
        try:
            await self._pull.knock()
        except TROUBLE as error:
            self._link.probe_failed(error)
            return False
        return self._link.is_up

    async def _reach(self) -> bool:
        return self._pull.now() - self._knocked >= _KNOCK_S and await self.knock()

    def _until_next(self) -> float | None:
        if self._link.held_s or not self._link.is_up:
            return self._link.held_s or self._link.probe_wait()
        if self.wanted.due or (self._pull.into.overtaken and "changes" not in self._table):
            return _KNOCK_S
        moments = [at for at in (self._table.next_at(), self.wanted.next_at()) if at is not None]
        return max(0.0, min(moments) - self._pull.now()) if moments else None

    async def is_of_the_link(self, error: Exception, name: str = "") -> bool:
        """Whether nothing else can be read either: where one thing fails, it is asked whether the service is there.

        Patience is asked of all, unless it is asked at one list (`name`) again and again while another one answers.
        """
        if not self._link.is_up:
            return True
        if isinstance(error, RateLimited) and self._rests.is_alone(name, error.retry_after, self._pull.now()):
            return not await self.knock()
        if isinstance(error, Unauthorized | NotSent | RateLimited) or not isinstance(error, ClientError):
            self._link.failed(error)
            return True
        return not is_refusal(error) and not await self.knock()

    def _lacks(self, name: str, why: Told | None) -> None:
        """A list cannot be read, and why; None: it can."""
        if why is None:
            self._rests.end(name)
        self._sync.lacks(name, why)

    async def _trouble(self, error: Exception, name: str = "") -> None:
        """A list could not be read: the link is down, or the list is not to be had, and then it is told as missing."""
        if await self.is_of_the_link(error, name):
            return
        self._notices.add(str(error))
        if name:
            self._sync.lacks(name, why_unread(error))

    async def _prepare(self) -> None:
        """What a service that has just shown what it can makes possible."""
        features = self._link.features
        assert features is not None
        self._pull.lists_changed = features.changes
        self._pull.named_orders = features.named_orders
        self._pull.chain.told = features.changes
        self._pull.assignments.listed = features.assignments
        self._table.follow(features.changes, self._pull.now())
        if not features.changes:
            self._sync.lacks(CHANGES, None)
        begins = features.changes and not self._feed.primed and await self._fed(self._feed.prime())
        if features.known_keys and await self._fed(self._lost()):
            begins = await self._fed(self._feed.prime())
        if begins or (self._sync.progress.idle and self._pull.now() - self._sync.progress.completed > FULL_S):
            self._sync.ask_all()
        elif self._sync.progress.idle and (due := self._gaps.take(self._sync.progress.missing, self._pull.now())):
            self._sync.ask(due)

    async def _look(self, name: str) -> None:
        now = self._pull.now()
        if name == "changes":
            self._followed = now
            self._pull.mark()
            self.wanted.add_touched()
            await self._follow()
        elif name == "people":
            await self._people()
        elif name == "walked":
            self._walked = {key: at for key, at in self._walked.items() if now - at < WALKED_S}
            self.want(Topic(ORDER, key) for key in self._walked)
        elif name == "stock":
            await self._stock()
        elif name == "headers":
            self._sync.ask([HEADERS])
        elif name == "slow":
            self._sync.ask([STORES, LINES, LOCATIONS, DELIVERIES, RECEIPTS, PRODUCTS])
            await self._stock(_FAR_BACK_S)

    # Our own service

    async def _fed(self, asking: Coroutine[Any, Any, Any]) -> Any:
        """What the change feed says; None where it makes no sense or is refused, and then screens and `aisle sync` say
        so: all else goes on, and what was confirmed is read back."""
        if self._rests.lasts(CHANGES, self._pull.now()):
            asking.close()
            return None
        try:
            found = await asking
        except ClientError as error:
            if await self.is_of_the_link(error, CHANGES):
                raise
            self._notices.add(str(error))
            self._sync.lacks(CHANGES, why_unread(error))
            return None
        self._lacks(CHANGES, None)
        return found

    async def _follow(self) -> None:
        news = await self._fed(self._look_and_restore()) if self._feed.primed else None
        if news is None:
            return
        self.want(topic for topic in news.single if topic.topic != PERSON)
        if PERSON in news.bulk or any(topic.topic == PERSON for topic in news.single):
            self._table.hurry("people")
        if (news.single or news.bulk) and self._pull.now() - self._watched < WATCHED_S:
            self.want([Topic(LOG, "")])
        if news.forgotten:
            self._sync.ask_all()
            self._table.hurry("people")
            self.want([Topic(RECOUNT, "")])
        for topic in news.bulk:
            self._sync.ask(_STAGES_OF.get(topic, ()))
        self._feed.took(news)
        self._news = news

    async def _look_and_restore(self) -> News:
        """The news; where what a restore has lost cannot be asked for, they are not heard, and looked for again."""
        news = await self._feed.look()
        if news.restored:
            await self._restored()  # which asks for all
        return news

    async def _people(self) -> None:
        if self._link.features and self._link.features.people:
            await self._each(PEOPLE, self._pull.people())
        await self._each(ASSIGNMENTS, self._pull.assignments.read())

    async def _each(self, name: str, reading: Coroutine[Any, Any, Any]) -> None:
        """One list by itself: that it fails is told, and keeps no other from being read. Raises what the link is."""
        if self._rests.lasts(name, self._pull.now()):
            reading.close()
            return
        try:
            await reading
        except ClientError as error:
            if await self.is_of_the_link(error, name):
                raise
            self._notices.add(str(error))
            self._sync.lacks(name, why_unread(error))
        else:
            self._lacks(name, None)

    # A service that implements the document alone

    async def _stock(self, back_s: float = 0.0) -> None:
        """What the service says has moved since the last look, or so many seconds back from now."""
        since, began = self._pull.cache.cursor(_SINCE), self._pull.now()
        if since is None:
            self._pull.cache.set_cursor(_SINCE, _moment(began))
            return
        if back_s:
            since = min(since, _moment(began - back_s))
        query: dict[str, Any] = {"store_number": self._pull.store, "include_locations": True, "page_size": 500}
        told = _moment(began)
        query["last_stock_modified_datetime"] = since
        pages = counted(self._pull.client, "list-store-products-stock", query=query)
        async with aclosing(pages):
            while True:
                page_began = self._pull.now()
                with self._pull.into.fresh.reading() as ticket:
                    page = await anext(pages, None)
                    if page is None:
                        break
                    rows, envelope = page
                    self._pull.into.put_stock(rows, ticket, page_began)
                    told = _earlier(told, envelope.get("server_time"))
        self._pull.cache.set_cursor(_SINCE, told)
        self._sync.lacks(STOCK_CHANGES, None)

    async def _read(self) -> None:
        """What is wanted; once all of it is in the cache, a restart begins behind the news."""
        if "changes" not in self._table:
            self.wanted.add_touched()
        await self.wanted.read()
        if self._news is not None and not self.wanted.unread:
            self._feed.keep(self._news)
            self._news = None


def _moment(seconds: float) -> str:
    return (datetime.fromtimestamp(seconds, UTC) - _OVERLAP).isoformat(timespec="seconds").replace("+00:00", "Z")


def _earlier(ours: str, theirs: object) -> str:
    """The earlier of our moment and the service's own, which may be behind."""
    try:
        when = datetime.fromisoformat(str(theirs))
        when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
        return min(ours, _moment(when.timestamp()))
    except (ValueError, OverflowError):
        return ours
