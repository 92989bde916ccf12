"""What home keeps: the window on the open orders, and what its numbers say."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from aisle.jobs import pages, refusals
from aisle.jobs.claims import parse_claim
from aisle.jobs.job import (
    Changed,
    Closed,
    Context,
    Effect,
    Event,
    Job,
    Opened,
    Query,
    Quit,
    Resumed,
    Rows,
    SignIn,
    SignOut,
    Start,
    Turn,
    UndoLast,
)
from aisle.jobs.product_page import due_message, store_day, time_message
from aisle.jobs.quantities import order_progress, to_decimal
from aisle.jobs.shell import sign_in
from aisle.jobs.view import ASK, BACK, GOOD, INFO, WRONG, KeyHint, ListView, Msg, Row, Verdict, msg, raw
from aisle.scan.meaning import (
    DELIVERY,
    LOCATION,
    ORDER,
    PERSON,
    PRODUCT,
    REFERENCE,
    Accepts,
    Back,
    Choice,
    Command,
    CursorKey,
    Match,
    Meaning,
    Scan,
    Text,
    TypedText,
    UnknownCode,
)

MENU_TEXTS = ("home.pick", "home.lookup", "home.browse", "home.count", "home.move", "home.walk", "home.more")
"""The numbered commands; the last turns over to those of `MORE`."""

MENU_JOBS = {2: "lookup", 3: "browse", 4: "count", 5: "move", 6: "walk"}
"""The jobs of the menu by their number; 1 picks the order at the cursor, or the first."""

LETTER_EFFECTS: Mapping[str, Effect] = {"d": Start("doubts", {}), "o": SignOut(), "q": Quit()}

MORE_MENU: tuple[tuple[Msg, Effect], ...] = (
    (msg("home.doubts"), Start("doubts", {})),
    (msg("home.receive"), Start("receive", {})),
    (msg("home.orders"), Start("orders", {})),
    (msg("home.exceptions"), Start("exceptions", {})),
    (msg("home.logs"), Start("logs", {})),
    (msg("home.doctor"), Start("doctor", {})),
    (msg("home.sign_out"), SignOut()),
    (msg("home.quit"), Quit()),
)
"""What is not needed every hour; behind its last entry are those of `DESK`."""

NEXT_MENU = msg("home.desk")
"""The entry that turns `MORE` over."""

STORE_MENU: tuple[tuple[Msg, Effect], ...] = (
    (msg("home.stores"), Start("stores", {})),
    (msg("home.products"), Start("products", {})),
    (msg("home.change_store"), Start("stores", {"change": True})),
    (msg("home.today"), Start("today", {})),
    (msg("home.clearance"), Start("clearance", {})),
    (msg("home.tasks"), Start("tasks", {})),
    (msg("home.pin"), Start("pin", {})),
)
"""Pages of the store and its chain, which a desk opens; a new one comes at the end."""

MENU_PAGES: tuple[tuple[Msg, ...], ...] = (
    tuple(msg(id_) for id_ in MENU_TEXTS),
    (*(text for text, _ in MORE_MENU), NEXT_MENU),
    tuple(text for text, _ in STORE_MENU),
)
"""What the numbers say on each page of them."""


class OpenOrderRow(NamedTuple):
    """One open order as home shows it."""

    number: str
    customer: str
    due: Msg
    line_count: int
    ordered: Decimal
    picked: Decimal
    is_claimed: bool = False
    """Somebody else picks it."""
    claimed_by: str = ""
    """Who, if anybody says."""
    is_priority: bool = False
    assigned_by: str = ""
    """Who has given it to the person at this screen."""
    not_put_down: Decimal = Decimal(0)
    """It is picked, and so many pieces of it are at no place yet."""
    abandoned_at: Msg | None = None
    """When whoever has begun it left it, on this host."""


class HomeState(NamedTuple):
    """The window on the open orders; `typed` filters while it is typed, `search` stays."""

    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[OpenOrderRow, ...] = ()
    total: int = 0
    menu_page: int = 0
    """Which of `PAGES` the numbers are."""
    open_single_hit: bool = False
    """A search was ended with Enter: a single hit opens at once."""
    unconfirmed: int = 0
    """Operations that somebody has to look at."""
    assigned_orders: tuple[str, ...] = ()
    """Orders that were given to whoever stands here, as far as he was told."""
    rejected_order: str = ""
    """The order that was rejected under the hands of whoever came back here last."""
    signed_in_at: str = ""
    """When whoever stands here came."""
    reported_refusals: tuple[str, ...] = ()
    """Movements of his that were refused since, as far as he was told."""
    may_have_more: bool = False
    """There may be more than `total` that are searched for."""
    partly_received: tuple[str, ...] = ()
    """Deliveries that were left here with a part of them received."""
    is_sign_out_warned: bool = False
    """He was told what is open: signing out once more does it."""


def parse_open_order(row: Mapping[str, Any], context: Context) -> OpenOrderRow:
    """A row of the read `orders`."""
    claim = parse_claim(row, context)
    picked, of = order_progress(row)
    return OpenOrderRow(
        number=str(row["order_number"]),
        customer=str(row.get("customer_name") or row.get("reference") or ""),
        due=due_message(str(row.get("pickup_date") or ""), context.now),
        line_count=int(to_decimal(row.get("total_lines"))),
        ordered=of,
        picked=picked,
        is_claimed=claim is not None,
        claimed_by=claim.name if claim else "",
        is_priority=bool(row.get("urgent")),
        assigned_by=str(row.get("given_by") or "")
        if row.get("given_to") and row.get("given_to") == context.user
        else "",
        not_put_down=to_decimal(row.get("lying")),
        abandoned_at=time_message(claim.abandoned_at, store_day(context.now)) if claim and claim.abandoned_at else None,
    )


def home_view(state: HomeState) -> ListView:
    """The orders, the numbered commands under them, and letters."""
    return ListView(
        name="home",
        title=msg("home.title"),
        prompt=msg("home.prompt"),
        column_heads=(msg("head.order"), msg("head.pickup"), msg("head.customer"), msg("head.progress")),
        rows=tuple(_order_row(listed) for listed in state.rows),
        first=state.first,
        total=state.total,
        cursor=state.cursor,
        empty=msg("home.no_match", text=state.typed or state.search)
        if state.typed or state.search
        else msg("home.empty"),
        choices=MENU_PAGES[state.menu_page],
        key_hints=_menu_hints(state),
        may_have_more=state.may_have_more,
    )


def _menu_hints(state: HomeState) -> tuple[KeyHint, ...]:
    """Letters beside the menu: its own, those that lead through a long list, and back."""
    back = (BACK,) if state.search or state.menu_page else ()
    doubts = (KeyHint("d", msg("home.doubts")),) if state.unconfirmed else ()
    out = () if state.menu_page else (KeyHint("o", msg("home.sign_out")),)
    return (*_delivery_hints(state), *doubts, *out, *pages.page_hints(state), KeyHint("h", msg("hint.help")), *back)


def _delivery_hints(state: HomeState) -> tuple[KeyHint, ...]:
    """The delivery that was left half way, or how many were."""
    if not state.partly_received:
        return ()
    count = len(state.partly_received)
    one, many = msg("home.halfway", delivery=state.partly_received[0]), msg("home.halfway_many", count=count)
    return (KeyHint("r", one if count == 1 else many),)


def _order_row(order: OpenOrderRow) -> Row:
    share = order.picked / order.ordered if order.ordered > 0 else Decimal(0)
    progress = msg("progress.of", done=order.picked, total=order.ordered)
    cells = (raw(order.number), _due_text(order), raw(order.customer), progress)
    return Row(order.number, cells, min(Decimal(1), share))


def _due_text(order: OpenOrderRow) -> Msg:
    """When an order is due, or what matters more before it is picked: where there is room, both."""
    due = msg("home.due_too", due=order.due) if dict(order.due.args).get("at") else raw("")
    if order.abandoned_at:
        return msg("home.left_by", who=order.claimed_by, at=order.abandoned_at, due=due)
    if order.is_claimed:
        return msg("home.taken_by", who=order.claimed_by, due=due) if order.claimed_by else msg("home.taken", due=due)
    if order.not_put_down:
        return msg("home.lying", count=order.not_put_down, due=due)
    if order.assigned_by:
        return msg("home.yours", who=order.assigned_by, due=due)
    return msg("home.urgent", due=due) if order.is_priority else order.due


SMALL_LIST_ROWS = 7
"""Rows of a list on a screen on which the menu takes more lines than the commands of other lists."""

Result = Turn[HomeState]


class HomeJob(Job[HomeState]):
    """The page that everything starts from."""

    name = "home"
    steps: tuple[str, ...] = ("home",)
    version = 1
    journalled = False

    def begin(self) -> HomeState:
        """All open orders, nothing marked."""
        return HomeState()

    def accepts(self, state: HomeState) -> Accepts:
        """Numbered commands; what is neither of them nor a code finds orders."""
        return Accepts(
            choices=len(MENU_PAGES[state.menu_page]), command_letters="dnopqru", search=True, follows_typing=True
        )

    def prefers(self, state: HomeState) -> tuple[str, ...]:
        """Orders first: they are what home is for."""
        return (ORDER, REFERENCE, PERSON, PRODUCT, LOCATION, DELIVERY)

    def handle(self, state: HomeState, event: Event, context: Context) -> Result:
        """A scan opens, words search, the cursor marks."""
        sure = state.is_sign_out_warned
        if isinstance(event, Meaning) and not isinstance(event, TypedText):
            state = state._replace(is_sign_out_warned=False)
        match event:
            case Scan(meanings) if meanings[0].kind == DELIVERY:
                return Turn(_reset(state), (start_receiving(meanings),))
            case Scan(meanings):
                return self._handle_scan(state, meanings[0])
            case Rows():
                return self._handle_rows(state, event, context)
            case Closed("pick", {"rejected": str(order)}):
                return self._refresh_all(state._replace(rejected_order=order), context)
            case Changed("refusal"):
                return Turn(state, (refusals.query_refused_moves(state.signed_in_at or context.now),))
            case Opened() | Closed() | Changed("order" | "outbox" | "delivery") | Resumed():
                state = state._replace(signed_in_at=state.signed_in_at or context.now)
                return self._refresh_all(
                    state, context, moved=isinstance(event, Closed) and event.job in ("move", "tasks")
                )
            case TypedText(text):
                listed = pages.with_typed_search(state, text, "doqru", len(MENU_PAGES[state.menu_page]))
                return Turn(state) if listed is None else self._refresh_list(listed, context)
            case Text(text) | UnknownCode(text):
                return self._refresh_list(
                    _reset(state)._replace(search=text, open_single_hit=True, unconfirmed=state.unconfirmed), context
                )
            case Back():
                return self._refresh_list(_reset(state)._replace(unconfirmed=state.unconfirmed), context)
            case CursorKey(key):
                return self._move_cursor(state, key, context)
            case Command("n" | "p" as letter):
                return self._refresh_list(pages.turn_list_page(state, letter, _page_size(context)), context)
            case Choice(number):
                return self._handle_choice(state, number, context, sure)
            case Command("r") if state.partly_received:
                return Turn(_reset(state), (_resume_delivery(state),))
            case Command("r"):
                return Turn(state, (), Verdict(INFO, msg("home.none_halfway")))
            case Command("u"):
                return Turn(state, (UndoLast(),))
            case Command("d") if not state.unconfirmed:
                return Turn(state, (), Verdict(INFO, msg("home.none_open")))
            case Command("d" | "o" | "q" as letter):
                return _run_effect(state, LETTER_EFFECTS[letter], context, sure)
        return Turn(state)

    def _handle_rows(self, state: HomeState, answer: Rows, context: Context) -> Result:
        match answer:
            case Rows("orders"):
                return self._handle_orders(state, answer, context)
            case Rows("products"):
                return self._handle_products(state, answer, context)
            case Rows("given", rows, _):
                return _report_assigned(state, rows)
            case Rows("halfway", rows, _):
                return Turn(state._replace(partly_received=tuple(str(row["order_number"]) for row in rows)))
            case Rows("trouble", _, total):
                return Turn(state._replace(unconfirmed=total))
            case Rows("open"):
                told = sign_in.open_work_verdict(answer)
                return (
                    Turn(state._replace(is_sign_out_warned=True), (), told)
                    if told
                    else Turn(_reset(state), (SignOut(),))
                )
            case Rows("unread", rows, _):
                awaited = any(row["list"] == "headers" for row in rows)
                return Turn(state, (), Verdict(WRONG, msg("home.awaited" if awaited else "home.nothing")))
            case Rows("lost", rows, _):
                return _report_reopened(state, rows)
            case Rows("refused" | "refused_before"):
                known, said = refusals.report_refused_moves(state.reported_refusals, answer, context.user)
                return Turn(state._replace(reported_refusals=known), (), said)
        return Turn(state)

    def _refresh_all(self, state: HomeState, context: Context, *, moved: bool = False) -> Result:
        """What is listed, what is unsettled, and what was said to whoever stands here, as it is now."""
        told = refusals.query_refused_moves(state.signed_in_at, is_reported=moved)
        given = Query("given", "given", {"user": context.user}, is_live=True)
        lost = (
            (Query("lost", "order", {"order_number": state.rejected_order}, is_live=True),)
            if state.rejected_order
            else ()
        )
        trouble = (Query("trouble", "trouble", {}, is_live=True), Query("halfway", "halfway", {}, is_live=True))
        return Turn(state, (_query(state, context), *trouble, given, told, *lost))

    def _handle_scan(self, state: HomeState, match: Match) -> Result:
        if match.kind in (ORDER, REFERENCE):
            return Turn(_reset(state), (Start("pick", {"order_number": match.key}),))
        if match.kind == PERSON:
            name = match.label or match.key
            return Turn(_reset(state), (SignIn(match.key, name),), Verdict(GOOD, msg("sign_in.done", name=name)))
        if match.kind == PRODUCT:
            return Turn(_reset(state), (Start("lookup", {"product_number": match.key, "label": match.label}),))
        return Turn(_reset(state), (Start("browse", {"location_code": match.key}),))

    def _refresh_list(self, state: HomeState, context: Context) -> Result:
        return Turn(state, (_query(state, context),))

    def _handle_orders(self, state: HomeState, answer: Rows, context: Context) -> Result:
        total, listed = answer.total, tuple(parse_open_order(row, context) for row in answer.rows)
        asked, state = state, pages.with_rows(state._replace(may_have_more=answer.may_have_more), listed, total)
        if pages.is_past_end(asked, answer):
            return self._refresh_list(state, context)
        if not state.open_single_hit:
            return Turn(state)
        state = state._replace(open_single_hit=False)
        is_only = total == 1 and listed and not state.may_have_more
        if is_only and _opens_directly(state.search, answer.rows[0]):
            return Turn(_reset(state), (Start("pick", {"order_number": listed[0].number}),))
        if is_only:
            return Turn(state, (), Verdict(ASK, msg("home.found_one", text=state.search, order=listed[0].number)))
        if total:
            found = "home.found_more" if state.may_have_more else "home.found"
            return Turn(state, (), Verdict(ASK, msg(found, text=state.search, count=total)))
        return Turn(state, (Query("products", "search", {"search": state.search, "size": 1}, is_live=True),))

    def _handle_products(self, state: HomeState, answer: Rows, context: Context) -> Result:
        """What is no order may be a product."""
        if not answer.total:
            told = Verdict(WRONG, pages.not_found_message("home.not_found", state.search, answer.may_have_more))
            # The open orders are on the screen again: the first number picks the next of them.
            return self._refresh_list(_reset(state)._replace(unconfirmed=state.unconfirmed), context)._replace(
                verdict=told
            )
        return Turn(_reset(state), (Start("lookup", {"search": state.search}),))

    def _move_cursor(self, state: HomeState, key: str, context: Context) -> Result:
        if key == "enter":
            listed = pages.row_at_cursor(state)
            return _start_pick(state, listed) if listed else Turn(state)
        return (
            self._refresh_list(pages.move_cursor(state, key, _page_size(context)), context)
            if state.total
            else Turn(state)
        )

    def _handle_choice(self, state: HomeState, number: int, context: Context, is_confirmed: bool) -> Result:
        if state.menu_page:
            entries = STORE_MENU if state.menu_page == len(MENU_PAGES) - 1 else MORE_MENU
            there = number <= len(entries)
            return (
                _run_effect(state, entries[number - 1][1], context, is_confirmed) if there else _next_menu_page(state)
            )
        if number == len(MENU_TEXTS):
            return _next_menu_page(state)
        return Turn(_reset(state), (Start(MENU_JOBS[number], {}),)) if number in MENU_JOBS else self._pick_next(state)

    def _pick_next(self, state: HomeState) -> Result:
        if not state.rows:
            return Turn(state, (Query("unread", "unread", {}, is_live=True),))
        free = [listed for listed in state.rows if not (listed.is_claimed or listed.not_put_down)]
        return _start_pick(state, pages.row_at_cursor(state) or (free or state.rows)[0])

    def step_name(self, state: HomeState) -> str:
        """There is one page."""
        return self.name

    def view(self, state: HomeState) -> ListView:
        """The orders, and what can be done."""
        return home_view(state)


def start_receiving(matches: tuple[Match, ...]) -> Start:
    """A delivery was scanned, or a container, which may belong to several."""
    keys = [each.key for each in matches if each.kind == DELIVERY]
    return Start("receive", {"deliveries": keys, "code": matches[0].code or keys[0]})


def _resume_delivery(state: HomeState) -> Start:
    """The delivery that was left half way goes on; of several the list."""
    if len(state.partly_received) > 1:
        return Start("receive", {})
    return Start("receive", {"deliveries": list(state.partly_received), "code": state.partly_received[0]})


def _next_menu_page(state: HomeState) -> Result:
    return Turn(state._replace(menu_page=state.menu_page + 1))


def _reset(state: HomeState) -> HomeState:
    """All open orders again; what was told once is not told again."""
    return HomeState(
        assigned_orders=state.assigned_orders,
        signed_in_at=state.signed_in_at,
        reported_refusals=state.reported_refusals,
        partly_received=state.partly_received,
    )


def _opens_directly(search: str, row: Mapping[str, Any]) -> bool:
    """Whether the one order that was found opens at once: one letter may have been meant as a command, and digits that
    are a part of its numbers as anything."""
    if search.isalpha():
        return len(search) > 1
    whole = (str(row.get(field) or "") for field in ("order_number", "reference"))
    return not any(map(str.isdigit, search)) or search.casefold() in (name.casefold() for name in whole)


def _report_assigned(state: HomeState, rows: tuple[Mapping[str, Any], ...]) -> Result:
    """Orders of somebody's walk that are this person's now are told once each; they are the first of the list."""
    orders = tuple(str(row["order_number"]) for row in rows)
    fresh = [row for row in rows if str(row["order_number"]) not in state.assigned_orders]
    state = state._replace(assigned_orders=orders)
    if not fresh:
        return Turn(state)
    order, who = str(fresh[0]["order_number"]), str(fresh[0]["by"])
    if len(fresh) > 1:
        return Turn(state, (), Verdict(ASK, msg("home.given_many", count=len(fresh), who=who)))
    return Turn(state, (), Verdict(ASK, msg("home.given", order=order, who=who)))


def _report_reopened(state: HomeState, rows: tuple[Mapping[str, Any], ...]) -> Result:
    """An order that was rejected while it was picked is open again."""
    row = rows[0] if rows else {}
    if not row or row.get("is_rejected") or not row.get("is_active", True):
        return Turn(state)
    return Turn(
        state._replace(rejected_order=""), (), Verdict(INFO, msg("home.open_again", order=state.rejected_order))
    )


def _run_effect(state: HomeState, effect: Effect, context: Context, is_confirmed: bool) -> Result:
    if isinstance(effect, SignOut) and not is_confirmed:
        return Turn(state, (sign_in.query_open_work(context),))
    return Turn(state if isinstance(effect, Quit) else _reset(state), (effect,))


def _page_size(context: Context) -> int:
    """How many orders a page has: as many as are in sight over the menu, so that none falls between two pages."""
    return (
        pages.page_size(context)
        if context.window_rows > SMALL_LIST_ROWS
        else min(context.window_rows, context.visible_rows)
    )


def _query(state: HomeState, context: Context) -> Query:
    args = {
        "search": state.typed or state.search,
        "first": state.first,
        "size": _page_size(context),
        "user": context.user,
        "lying": True,
    }
    return Query("orders", "orders", args, is_live=True)


def _start_pick(state: HomeState, order: OpenOrderRow) -> Result:
    return Turn(_reset(state), (Start("pick", {"order_number": order.number}),))
