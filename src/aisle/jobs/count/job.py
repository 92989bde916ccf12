"""Count a place, a product over all its places, or place after place; what differs is shown before it is sent.

What the books have at a place and nobody scanned is asked about, one by one; nothing becomes zero by itself. A place
where nothing differs is sent at once when it is done.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.base import (
    Changed,
    Close,
    Closed,
    Context,
    Effect,
    Event,
    Opened,
    Query,
    Resumed,
    Rows,
    Start,
    Turn,
)
from aisle.jobs.count import asking, counting, not_taken
from aisle.jobs.count import places as count_list
from aisle.jobs.count import scan as count_scan
from aisle.jobs.count import view as count_view
from aisle.jobs.count.counting import Counting, Item, Next
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Msg, Verdict, View, msg, undone
from aisle.scan.meaning import (
    LOCATION,
    PRODUCT,
    Back,
    Choice,
    Command,
    Move,
    Open,
    Quantity,
    Text,
    Thing,
    Unknown,
)

Result = Turn[Counting]

ASKED = Query("asked", "recounts", {"size": 99}, live=True)
"""The counts that somebody has ordered; the start of counting says how many there are."""

LETTERS = {"start": "dlu", "list": "dnuw", "count": "dulk", "recount": "dn", "summary": "n", "pool": "n"}
"""The commands of each phase; `n` too while a product's places, or a list, are counted."""


class CountJob:
    """From the first place to the last; each is sent by itself."""

    name = "count"
    steps: tuple[str, ...] = (
        "count.start",
        "count.list",
        "count.product",
        "count.stop",
        "count.missing",
        "count.recount",
        "count.summary",
        "count.pool",
        "count.leave",
    )
    version = 10
    journalled = True

    def begin(self) -> Counting:
        """Nothing is counted yet."""
        return Counting()

    def open(self, state: Counting) -> Open:
        """A quantity for the product that was scanned last, letters wherever something is asked about it."""
        shown = count_view.choices(state)
        choices, stand_for = len(shown), shown if state.ways else ()
        letters = LETTERS.get(state.phase, "")
        if state.phase == "pool":
            choices = max(pool.number for pool in state.pools)
        if state.phase == "count" and (state.mode == "product" or state.todo):
            letters += "n"
        item = count_view.of_how_many(state)
        sure = count_scan.is_asked(state) or (not state.ways and state.phase in ("missing", "summary", "leave"))
        keys = count_view.keys(state)
        decimals = bool(item and item.decimal)
        return Open(item is not None, decimals, choices, letters=letters, by_hand=sure, stand_for=stand_for, keys=keys)

    def prefers(self, state: Counting) -> tuple[str, ...]:
        """Places while none is open, products then."""
        return (LOCATION, PRODUCT) if state.phase in ("start", "list") else (PRODUCT, LOCATION)

    def uses(self, state: Counting, product: str) -> bool:
        """What the place has by the books or by this count; the one product that is counted."""
        only = state.items[state.question].product if state.phase == "recount" else state.only or state.product
        return product == only if only else any(item.product == product for item in state.items)

    def counted(self, state: Counting) -> tuple[str, str]:
        """The product on the screen."""
        item = count_view.of_how_many(state)
        return (item.product, item.label) if item else ("", "")

    def at(self, state: Counting) -> str:
        """One of `steps`."""
        return count_view.step(state)

    def can_undo(self, state: Counting) -> bool:
        """Whether the count that was sent last changed something."""
        return state.gone is not None and bool(state.gone.changes)

    def view(self, state: Counting) -> View:
        """What is to be counted now, or the question that is open."""
        return count_view.view(state)

    def step(self, state: Counting, event: Event, context: Context) -> Result:
        """The next state; see the functions below for each kind of event."""
        turn = self._step(state, event, context)
        return turn._replace(state=_on_policy(state, turn.state, event, context))

    def _step(self, state: Counting, event: Event, context: Context) -> Result:
        match event:
            case Opened(args):
                return _opened(state, args, context)
            case Rows(id_, rows, _):
                return _rows(state, id_, rows, context)
            case Resumed() | Closed():
                return Turn(asking.refilled(state, context), _look_again(state))
            case Changed("product" | "location" | "recount" | "outbox"):
                return Turn(state, _look_again(state))
        if isinstance(event, Command) and event.letter == "u" and state.once and state.sent:
            return asking.take_back(state)
        if state.pending and state.phase != "list":
            state = count_scan.looked_up(state, None, context).state
        asked = count_scan.is_asked(state)
        if asked and isinstance(event, Thing | Command):
            return count_scan.unanswered(state, event, context)
        if not asked and isinstance(event, Thing | Quantity | Command):
            state = state._replace(ways=())
        match event:
            case Back():
                return _back(state)
            case Choice(number) if state.phase == "pool":
                return _pooled(state, number)
            case Choice(number) if number <= len(count_view.choices(state)):
                return _choice(state, number, context)
            case Thing() if state.phase == "list":
                return count_list.thing(state, event)
            case Thing(meanings):
                return count_scan.thing(state, meanings, context)
            case Quantity(value, code):
                return count_scan.quantity(state, value, code, context)
            case Command(letter):
                return _command(state, letter, context)
            case Move(key) if state.phase in ("summary", "pool", "list"):
                return Turn(asking.scrolled(state, key, context))
            case Unknown(code) | Text(code):
                return asking.told(state, WRONG, "count.unknown", code=code)
        return Turn(state)


def _on_policy(before: Counting, state: Counting, event: Event, context: Context) -> Counting:
    """Whether counts are blind, as the settings say now: from the next place on, or from one where nothing is counted
    when the job is taken up again."""
    same = (before.mode, before.place, before.product) == (state.mode, state.place, state.product)
    idle = state.phase in ("start", "list") or (isinstance(event, Resumed) and not state.counted)
    return state if same and not idle else state._replace(blind=context.policy.blind)


# Opening


def _opened(state: Counting, args: Mapping[str, Any], context: Context) -> Result:
    state = Counting(blind=context.policy.blind)
    store = Query("store", "store", {})
    if args.get("location_code") and args.get("product_number") and args.get("empty"):
        number = str(args["product_number"])
        turn = asking.begin(state._replace(once=True), Next("place", str(args["location_code"])), number)
        turn = turn._replace(state=turn.state._replace(label=str(args.get("label") or number)))
    elif args.get("location_code"):
        turn = asking.begin(state._replace(once=True), Next("place", str(args["location_code"])))
    elif args.get("product_number"):
        number = str(args["product_number"])
        what = Next("product", number, str(args.get("label") or number))
        turn = asking.begin(state._replace(once=True), what)
    else:
        return Turn(state, (store, ASKED))
    return turn._replace(effects=(store, *turn.effects))


def _look_again(state: Counting) -> tuple[Effect, ...]:
    if state.phase == "start":
        return (ASKED,)
    if state.mode == "place" and state.place:
        if state.only or state.partly:
            return (counting.at_place("place", state.place, state.only),)
        return (Query("place", "place", {"location_code": state.place}),)
    return (Query("product", "product", {"product_number": state.product}),) if state.mode == "product" else ()


def _rows(state: Counting, id_: str, rows: tuple[Mapping[str, Any], ...], context: Context) -> Result:
    row = rows[0] if rows else None
    match id_:
        case "asked":
            return Turn(state._replace(asked=len(rows)))
        case "store":
            return Turn(state._replace(pools=counting.pools_of(rows)))
        case "open":
            return _at_place(state, row)
        case "tour":
            return _on_tour(state, row, context)
        case "here":
            return count_scan.found_here(state, row, context)
        case asking.ALL:
            return asking.all_came(state, row, context)
        case "scanned":
            return count_scan.looked_up(state, row, context)
        case not_taken.NOT_TAKEN:
            return asking.taken_back(state, rows, context)
        case "named":
            return count_scan.named(state, rows, context)
        case "listed":
            return count_list.placed(state, row)
        case "aisle":
            return count_list.aisle_came(state, rows)
    return _fresh(state, id_, row, context)


def _fresh(state: Counting, id_: str, row: Mapping[str, Any] | None, context: Context) -> Result:
    """What the books say of this place or product now."""
    if row is None:
        return Turn(state)
    fresh = counting.place_items(row) if id_ == "place" else counting.product_items(row)
    fresh = tuple(item for item in fresh if state.only in ("", item.product))
    state = counting.refreshed(state, fresh)
    if state.phase == "missing" and state.question < 0:
        return asking.advance(state, context)
    return Turn(state)


def _at_place(state: Counting, row: Mapping[str, Any] | None) -> Result:
    if row is not None:
        state = counting.opened(state, row)
    if state.only:
        return _only(state)
    products = state.lying
    id_ = "count.at_place" if products else "place.unnamed_at" if state.unnamed else "count.at_empty_place"
    return _began(state, msg(id_, place=state.place, count=products))


def _only(state: Counting) -> Result:
    """One product of the place: how many of it are there, none too."""
    items = tuple(item for item in state.items if item.product == state.only)
    items = items or (counting.new_item(state, state.only, state.label),)
    label = items[0].label
    return asking.told(state._replace(items=items, at=0), ASK, "count.how_many_at", label=label, place=state.place)


def _began(state: Counting, text: Msg) -> Result:
    """A count is open; if another went out just before, that is said too."""
    if state.sent:
        text = msg("count.sent_and", what=state.sent.what, differing=state.sent.differing, next=text)
    return Turn(state, (), Verdict(GOOD, text))


def _on_tour(state: Counting, row: Mapping[str, Any] | None, context: Context) -> Result:
    """The places of a product, or, where it has none, one count for the whole store."""
    items = (
        counting.product_items(row) if row else (Item("", state.product, state.label or state.product, unsaid=True),)
    )
    meaning, state = state.pending, state._replace(label=items[0].label, pending=None)
    places = len({item.place for item in items if item.place})
    if places:
        state = asking.stop(state._replace(items=items), 0)
        return _began(state, msg("count.tour", label=state.label, count=places, place=state.place))
    state = state._replace(mode="place", product="", label="", items=items)
    if meaning:
        return count_scan.product(state, meaning, context)
    index = max(0, counting.find(state, items[0].product))
    return _began(state._replace(at=index), msg("count.no_place", label=items[0].label))


# Commands


def _command(state: Counting, letter: str, context: Context) -> Result:
    if letter == "l" and state.phase in ("start", "count"):
        item = state.item
        args = {"location_code": state.place, "product_number": item.product if item else ""}
        return Turn(state, (Start("loss", args),))
    if state.phase == "start":
        return asking.take_back(state) if letter == "u" else _back(state)
    if state.phase == "list":
        return _list_command(state, letter, context)
    if state.phase == "recount" and letter in "dn":
        item = state.items[state.question]
        return asking.checked(state, state.second if state.second is not None else item.counted or Decimal(0), context)
    if state.phase in ("summary", "pool") and letter == "n":
        return Turn(asking.scrolled(state, "pagedown", context))
    if state.phase != "count":
        return Turn(state)
    state = state._replace(ways=())
    match letter:
        case "d":
            return asking.done(state, context)
        case "u":
            return _undo(state) if state.history or not state.gone else asking.take_back(state)
        case "k":
            return _choose_pool(state)
        case "n" if state.mode == "product":
            return _skip(state)
        case "n" if state.todo:
            return count_list.later(state, context)
    return Turn(state)


def _list_command(state: Counting, letter: str, context: Context) -> Result:
    match letter:
        case "d":
            return count_list.start(state)
        case "w":
            return count_list.aisle(state)
        case "u":
            return count_list.taken_off(state)
    return Turn(asking.scrolled(state, "pagedown", context))


def _skip(state: Counting) -> Result:
    on = count_scan.next_stop(state)
    if on == state.at:
        return asking.told(state, INFO, "count.last_stop")
    place = state.items[on].place
    if not place:
        return asking.told(asking.stop(state, on), INFO, "count.later_nowhere")
    return asking.told(asking.stop(state, on), INFO, "count.later", place=place)


def _undo(state: Counting) -> Result:
    back, item = counting.undo(state)
    if item is None:
        return asking.told(back, WRONG, "count.nothing_to_undo")
    now = back.items[back.at].counted
    was = item.counted or Decimal(0)
    label = _named(state, item)
    if now is None:
        return Turn(back, (), undone(msg("count.undone_all", label=label, was=was)))
    return Turn(back, (), undone(msg("count.undone", label=label, was=was, now=now)))


def _named(state: Counting, item: Item) -> str:
    """The place of a product that is counted at several, else the product."""
    return item.place if state.mode == "product" and item.place else item.label


def _choose_pool(state: Counting) -> Result:
    if len(state.pools) < 2 or state.only:
        return asking.told(state, INFO, "count.one_pool")
    return asking.told(state._replace(phase="pool"), ASK, "count.which_pool")


def _pooled(state: Counting, number: int) -> Result:
    pool = next((pool for pool in state.pools if pool.number == number), None)
    if pool is None:
        return asking.told(state, WRONG, "count.no_pool", number=number)
    state = state._replace(phase="count", pool=number, first=0)
    if state.mode == "product":
        here = state.items[max(0, state.at)]
        wanted = here._replace(pool=pool.number, expected=Decimal(0), held=Decimal(0), counted=None, at="", left=False)
        keys = [counting.key(item) for item in state.items]
        if counting.key(wanted) not in keys:
            state = state._replace(items=(*state.items, wanted._replace(again=False, checked=False)))
            keys.append(counting.key(wanted))
        state = asking.stop(state, keys.index(counting.key(wanted)))
    else:
        state = state._replace(at=-1)
    return asking.told(state, GOOD, "count.pool_chosen", number=pool.number, name=pool.name)


def _back(state: Counting) -> Result:
    if state.ways:
        return count_scan.taken_back(state)
    if state.phase == "start":
        return Turn(state, (Close(Verdict(INFO, msg("count.closed"))),))
    if state.phase == "list":
        return asking.told(state._replace(phase="start", first=0), INFO, "count.list_kept", count=len(state.todo))
    if state.phase in ("pool", "leave"):
        return asking.told(state._replace(phase="count", first=0), INFO, "count.go_on")
    if state.phase != "count":
        return asking.told(asking.back_to_work(state), INFO, "count.go_on")
    if state.counted:
        return asking.told(state._replace(phase="leave"), ASK, "count.leave", count=len(state.counted))
    return asking.over(asking.put_off(state), Verdict(INFO, msg("count.left")))


def _choice(state: Counting, number: int, context: Context) -> Result:
    if state.ways:
        return count_scan.chosen(state, number, context)
    match state.phase:
        case "start" if number == 3:
            return asking.told(count_list.made(state), INFO, "count.making_list")
        case "start" if number == 4:
            return Turn(state, (Start("exceptions", {"kind": "recounts"}),))
        case "start":
            return Turn(state, (Start("loss", {}) if number == 1 else Start("count_log", {}),))
        case "missing":
            return asking.answered(state, number, context)
        case "summary":
            return asking.decided(state, number, context)
    if number == 1:
        return asking.done(state, context)
    if number == 2:
        gone = Verdict(INFO, msg("count.thrown_away", count=len(state.counted)))
        return asking.over(asking.put_off(state), gone)
    return asking.told(state._replace(phase="count"), INFO, "count.go_on")
