"""Home page: the list of open orders, and the numbered menu."""

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from aisle.jobs import list_cursor_and_search, log_writes_and_refusals
from aisle.jobs.claim import parse_claim
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
    reply,
)
from aisle.jobs.shell import sign_in
from aisle.jobs.store_time import due_message, store_day, time_message
from aisle.jobs.sums_of_goods_and_progress import OrderGoods, goods_progress_in_list, order_goods, order_progress
from aisle.jobs.tote_labels_and_repeated_reads import LabelRead
from aisle.jobs.view import ASK, BACK, GOOD, INFO, WRONG, KeyHint, ListView, Msg, Row, Verdict, msg, raw
from aisle.row_values import to_decimal
from aisle.scan.grammar_and_meaning_types import (
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

if TYPE_CHECKING:
    from aisle.jobs.row_types.orders import AssignedOrdersRow, OrderRow, OrdersRow

MENU_TEXTS = ("home.pick", "home.look_up", "home.locations", "home.count", "home.move", "home.batch", "home.more")
"""Message ids of the menu; the last entry turns to the next menu page."""

MENU_JOBS = {2: "look_up", 3: "locations", 4: "count", 5: "move", 6: "batch"}
"""Jobs by menu number; 1 picks the order at the cursor, or the first one."""

LETTER_EFFECTS: Mapping[str, Effect] = {"d": Start("unconfirmed", {}), "o": SignOut(), "q": Quit()}

MORE_MENU: tuple[tuple[Msg, Effect], ...] = (
    (msg("home.unconfirmed"), Start("unconfirmed", {})),
    (msg("home.receive"), Start("receive", {})),
    (msg("home.orders"), Start("orders", {})),
    (msg("home.exceptions"), Start("exceptions", {})),
    (msg("home.log"), Start("log", {})),
    (msg("home.scanner_test"), Start("scanner_test", {})),
    (msg("home.sign_out"), SignOut()),
    (msg("hint.quit"), Quit()),
)
"""Second menu page, with what is needed less often; its last entry turns to the third."""

NEXT_MENU = msg("home.store_menu")
"""Entry that turns to the third menu page."""

STORE_MENU: tuple[tuple[Msg, Effect], ...] = (
    (msg("home.stores"), Start("stores", {})),
    (msg("home.products"), Start("products", {})),
    (msg("home.change_store"), Start("stores", {"change": True})),
    (msg("home.today"), Start("today", {})),
    (msg("clearance.title"), Start("clearance", {})),
    (msg("home.clearance_tasks"), Start("clearance_tasks", {})),
    (msg("home.pin"), Start("pin", {})),
    (msg("home.expiry"), Start("expiry", {})),
    (msg("order_actions.hand_over"), Start("hand_over", {})),
)
"""Third menu page, about the store and its chain; new entries are appended."""

MENU_PAGES: tuple[tuple[Msg, ...], ...] = (
    tuple(msg(id_) for id_ in MENU_TEXTS),
    (*(text for text, _ in MORE_MENU), NEXT_MENU),
    tuple(text for text, _ in STORE_MENU),
)


class OpenOrderRow(NamedTuple):
    """Open order as the home page shows it."""

    number: str
    customer: str
    due: Msg
    line_count: int
    ordered: Decimal
    picked: Decimal
    is_claimed: bool = False
    """True if another user has claimed it."""
    claimed_by: str = ""
    """Name of that user, if known."""
    is_priority: bool = False
    assigned_by: str = ""
    """Name of whoever assigned it to the signed-in user."""
    is_started: bool = False
    """True if the signed-in user started to pick it."""
    not_put_down: Decimal = Decimal(0)
    """Number of pieces picked but not put down."""
    is_picked: bool = False
    put_down_at: tuple[str, ...] = ()
    """Locations of a picked order that was searched for."""
    abandoned_at: Msg | None = None
    """Time when the user who started it left it on this host."""
    goods: OrderGoods = OrderGoods()


class HomeState(NamedTuple):
    """Window of the open orders; `typed` filters while typing, `search` stays."""

    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[OpenOrderRow, ...] = ()
    total: int = 0
    menu_page: int = 0
    """Index of the menu page in `MENU_PAGES`."""
    open_single_hit: bool = False
    """True if a search was ended with Enter: a single result opens at once."""
    unconfirmed: int = 0
    """Number of operations that need a decision."""
    assigned_orders: tuple[str, ...] = ()
    """Orders assigned to the signed-in user that were reported."""
    rejected_order: str = ""
    """Order that was rejected while this user picked it last."""
    signed_in_at: str = ""
    """Time when the user came to this page first."""
    reported_refusals: tuple[str, ...] = ()
    """Refused movements of the user that were reported."""
    may_have_more: bool = False
    """True if a search may have more results than `total`."""
    partly_received: tuple[str, ...] = ()
    """Deliveries left here partly received."""
    recounts: int = 0
    """Number of ordered recounts that are not done."""
    expiry_checks: int = 0
    """Number of products whose expiry date is to be checked today."""
    handed_over: str = ""
    """Order that was handed over last."""
    last_read: LabelRead = LabelRead()
    """Hand-over of that order, or the last read of its label or location."""
    is_sign_out_warned: bool = False
    """True if the open work was reported; the next sign-out is executed."""


def parse_open_order(row: "OrdersRow", context: Context) -> OpenOrderRow:
    """Parse a row of the query `orders`."""
    claim = parse_claim(row, context)
    picked, ordered = order_progress(row)
    return OpenOrderRow(
        number=str(row["order_number"]),
        customer=str(row.get("customer_name") or row.get("reference") or ""),
        due=due_message(str(row.get("pickup_date") or ""), context.now),
        line_count=int(to_decimal(row.get("total_lines"))),
        ordered=ordered,
        picked=picked,
        goods=order_goods(row),
        is_claimed=claim is not None,
        claimed_by=claim.name if claim else "",
        is_priority=bool(row.get("is_priority")),
        assigned_by=str(row.get("assigned_by") or "")
        if row.get("assigned_to") and row.get("assigned_to") == context.user
        else "",
        is_started=bool(row.get("is_started")),
        not_put_down=to_decimal(row.get("not_put_down")),
        is_picked=bool(row.get("is_picked")),
        put_down_at=tuple(row.get("put_down_at") or ()),
        abandoned_at=time_message(claim.abandoned_at, store_day(context.now)) if claim and claim.abandoned_at else None,
    )


def home_view(state: HomeState) -> ListView:
    """Return the list of orders, with the numbered menu and letters."""
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
    back = (BACK,) if state.search or state.menu_page else ()
    doubts = (KeyHint("d", msg("home.unconfirmed")),) if state.unconfirmed else ()
    sign_out = () if state.menu_page else (KeyHint("o", msg("home.sign_out")),)
    return (
        *_delivery_hints(state),
        *_due_hints(state),
        *doubts,
        *sign_out,
        *list_cursor_and_search.page_hints(state),
        KeyHint("h", msg("hint.help")),
        *back,
    )


def _delivery_hints(state: HomeState) -> tuple[KeyHint, ...]:
    if not state.partly_received:
        return ()
    count = len(state.partly_received)
    one = msg("home.partly_received", delivery=state.partly_received[0])
    many = msg("home.partly_received_many", count=count)
    return (KeyHint("r", one if count == 1 else many),)


def _due_hints(state: HomeState) -> tuple[KeyHint, ...]:
    """Return the letters of the work that is due besides orders and deliveries."""
    recounts = (KeyHint("c", msg("count.to_recounts", count=state.recounts)),) if state.recounts else ()
    checks = (KeyHint("e", msg("home.due_checks", count=state.expiry_checks)),) if state.expiry_checks else ()
    return (*recounts, *checks)


def _order_row(order: OpenOrderRow) -> Row:
    share = order.picked / order.ordered if order.ordered > 0 else Decimal(0)
    progress = goods_progress_in_list(order.goods.picked, order.goods.ordered)
    cells = (raw(order.number), _due_text(order), raw(order.customer), progress)
    return Row(order.number, cells, min(Decimal(1), share))


def _due_text(order: OpenOrderRow) -> Msg:
    """Return the pickup time, or a more important state; wide screens show both."""
    due = msg("home.also_due", due=order.due) if dict(order.due.args).get("at") else raw("")
    if order.abandoned_at:
        return msg("home.abandoned_by", who=order.claimed_by, at=order.abandoned_at, due=due)
    if order.is_claimed:
        return (
            msg("home.claimed_by", who=order.claimed_by, due=due) if order.claimed_by else msg("home.claimed", due=due)
        )
    if order.not_put_down:
        return msg("home.not_put_down", count=order.not_put_down, due=due)
    if order.put_down_at:
        return msg("order.put_down_at", place=", ".join(order.put_down_at))
    if order.is_picked:
        return msg("orders.status_picked")
    if order.is_started:
        return msg("home.started", due=due)
    if order.assigned_by:
        return msg("home.assigned_by", who=order.assigned_by, due=due)
    return msg("home.priority", due=due) if order.is_priority else order.due


SMALL_LIST_ROWS = 7
"""Rows of a list on a screen where the menu needs more lines than the commands of other lists."""

Result = Turn[HomeState]


class HomeJob(Job[HomeState]):
    """Job for the first page after sign-in."""

    name = "home"
    lists = ("headers", "lines", "changes")
    state_type = HomeState
    steps: tuple[str, ...] = ("home",)
    journalled = False
    preferred_kinds = (ORDER, REFERENCE, PERSON, PRODUCT, LOCATION, DELIVERY)

    def accepts(self, state: HomeState) -> Accepts:
        return Accepts(
            choices=len(MENU_PAGES[state.menu_page]), command_letters="cdenopqru", search=True, follows_typing=True
        )

    def handle(self, state: HomeState, event: Event, context: Context) -> Result:
        is_confirmed = state.is_sign_out_warned
        if isinstance(event, Meaning) and not isinstance(event, TypedText):
            state = state._replace(is_sign_out_warned=False)
        match event:
            case Scan(matches) if matches[0].kind == DELIVERY:
                return Turn(_reset(state), (start_receiving(matches),))
            case Scan(matches):
                return self._handle_scan(state, matches[0], context)
            case Closed("hand_over", {"handed_over": str(order), "labels": labels}):
                read = LabelRead(tuple(labels), context.now)
                return self._refresh_all(state._replace(handed_over=order, last_read=read), context)
            case Rows():
                return self._handle_rows(state, event, context)
            case Closed("pick", {"rejected": str(order)}):
                return self._refresh_all(state._replace(rejected_order=order), context)
            case Changed("refusal"):
                since = state.signed_in_at or context.now
                moves = log_writes_and_refusals.query_refused_moves(since)
                return Turn(state, (moves, log_writes_and_refusals.query_refused_hand_overs(since)))
            case Changed("log"):
                since = state.signed_in_at or context.now
                return Turn(state, (log_writes_and_refusals.query_booked_otherwise(since, context.user),))
            case Opened({"queries_later": True}):
                return Turn(state._replace(signed_in_at=context.now))
            case Opened() | Closed() | Changed("order" | "outbox" | "delivery" | "recount") | Resumed():
                state = state._replace(signed_in_at=state.signed_in_at or context.now)
                return self._refresh_all(state, context, event.job if isinstance(event, Closed) else "")
            case TypedText(text):
                listed = list_cursor_and_search.with_typed_search(
                    state, text, "doqru", len(MENU_PAGES[state.menu_page])
                )
                return Turn(state) if listed is None else self._refresh_list(listed, context)
            case Text(text) | UnknownCode(text):
                return self._refresh_list(_reset(state)._replace(search=text, open_single_hit=True), context)
            case Back():
                return self._refresh_list(_reset(state), context)
            case CursorKey(key):
                return self._move_cursor(state, key, context)
            case Command("n" | "p" as letter):
                return self._refresh_list(
                    list_cursor_and_search.turn_list_page(state, letter, _page_size(context)), context
                )
            case Choice(number):
                return self._handle_choice(state, number, context, is_confirmed)
            case Command("r") if state.partly_received:
                return Turn(_reset(state), (_resume_delivery(state),))
            case Command("r"):
                return reply(state, INFO, "home.none_partly_received")
            case Command("c"):
                due = Start("exceptions", {"kind": "recounts"}) if state.recounts else Start("count", {})
                return Turn(_reset(state), (due,))
            case Command("e"):
                return Turn(_reset(state), (Start("expiry", {}),))
            case Command("u"):
                return Turn(state, (UndoLast(),))
            case Command("d") if not state.unconfirmed:
                return reply(state, INFO, "home.none_unconfirmed")
            case Command("d" | "o" | "q" as letter):
                return _run_effect(state, LETTER_EFFECTS[letter], context, is_confirmed)
        return Turn(state)

    def _handle_rows(self, state: HomeState, answer: Rows, context: Context) -> Result:
        match answer:
            case Rows("orders"):
                return self._handle_orders(state, answer, context)
            case Rows("products"):
                return self._handle_products(state, answer, context)
            case Rows("assigned_orders", rows, _):
                return _report_assigned(state, rows)
            case Rows("partly_received", rows, _):
                return Turn(state._replace(partly_received=tuple(str(row["order_number"]) for row in rows)))
            case Rows("recounts", _, total):
                return Turn(state._replace(recounts=total))
            case Rows("expiry_checks", _, total):
                return Turn(state._replace(expiry_checks=total))
            case Rows("needing_person", _, total):
                return Turn(state._replace(unconfirmed=total))
            case Rows("open"):
                told = sign_in.open_work_verdict(answer)
                return (
                    Turn(state._replace(is_sign_out_warned=True), (), told)
                    if told
                    else Turn(_reset(state), (SignOut(),))
                )
            case Rows("unread_lists", rows, _):
                awaited = any(row["list"] == "headers" for row in rows)
                return reply(state, WRONG, "home.loading" if awaited else "home.nothing")
            case Rows("rejected_order", rows, _):
                return _report_reopened(state, rows)
            case Rows("refused_hand_overs", rows):
                known, said = log_writes_and_refusals.report_refused_hand_overs(
                    state.reported_refusals, rows, context.user
                )
                return Turn(state._replace(reported_refusals=known), (), said)
            case Rows("booked_otherwise" | "booked_otherwise_before"):
                known, said = log_writes_and_refusals.report_booked_otherwise(state.reported_refusals, answer)
                return Turn(state._replace(reported_refusals=known), (), said)
            case Rows("refused" | "refused_before"):
                known, said = log_writes_and_refusals.report_refused_moves(
                    state.reported_refusals, answer, context.user
                )
                return Turn(state._replace(reported_refusals=known), (), said)
        return Turn(state)

    def _refresh_all(self, state: HomeState, context: Context, closed: str = "") -> Result:
        """Query everything again; `closed` is the job that was closed, which has reported what it knew."""
        since, is_moved = state.signed_in_at, closed in ("move", "clearance_tasks")
        refused = log_writes_and_refusals.query_refused_moves(since, is_reported=is_moved)
        booked = log_writes_and_refusals.query_booked_otherwise(since, context.user, is_reported=closed == "count")
        assigned = Query("assigned_orders", "assigned_orders", {"user": context.user}, is_live=True)
        rejected = (
            (Query("rejected_order", "order", {"order_number": state.rejected_order}, is_live=True),)
            if state.rejected_order
            else ()
        )
        counts = (
            Query("needing_person", "needing_person", {}, is_live=True),
            Query("partly_received", "partly_received", {}, is_live=True),
            Query("recounts", "recounts", {"size": 1}, is_live=True),
            Query("expiry_checks", "due_checks", {"day": store_day(context.now)}, is_live=True),
            log_writes_and_refusals.query_refused_hand_overs(since),
        )
        return Turn(state, (_query(state, context), *counts, assigned, refused, booked, *rejected))

    def _handle_scan(self, state: HomeState, match: Match, context: Context) -> Result:
        if state.last_read.is_repeated(match.key, context.now):
            again = state._replace(last_read=state.last_read._replace(at=context.now))
            return reply(again, INFO, "pick.handed_over_now", order=state.handed_over)
        if match.kind in (ORDER, REFERENCE):
            return Turn(_reset(state), (Start("pick", {"order_number": match.key}),))
        if match.kind == PERSON:
            name = match.label or match.key
            return reply(_reset(state), GOOD, "sign_in.done", SignIn(match.key, name), name=name)
        if match.kind == PRODUCT:
            return Turn(_reset(state), (Start("look_up", {"product_number": match.key, "label": match.label}),))
        return Turn(_reset(state), (Start("locations", {"location_code": match.key}),))

    def _refresh_list(self, state: HomeState, context: Context) -> Result:
        return Turn(state, (_query(state, context),))

    def _handle_orders(self, state: HomeState, answer: Rows, context: Context) -> Result:
        total, listed = answer.total, tuple(parse_open_order(row, context) for row in answer.rows)
        before, state = (
            state,
            list_cursor_and_search.with_rows(state._replace(may_have_more=answer.may_have_more), listed, total),
        )
        if list_cursor_and_search.is_past_end(before, answer):
            return self._refresh_list(state, context)
        if not state.open_single_hit:
            return Turn(state)
        state = state._replace(open_single_hit=False)
        is_only = total == 1 and listed and not state.may_have_more
        if is_only and _opens_directly(state.search, answer.rows[0]):
            return Turn(_reset(state), (Start("pick", {"order_number": listed[0].number}),))
        if is_only:
            return reply(state, ASK, "home.found_picked", text=state.search, order=listed[0].number)
        if total:
            found = "list.found_more" if state.may_have_more else "list.found"
            return reply(state, ASK, found, text=state.search, count=total)
        return Turn(state, (Query("products", "search", {"search": state.search, "size": 1}, is_live=True),))

    def _handle_products(self, state: HomeState, answer: Rows, context: Context) -> Result:
        if not answer.total:
            verdict = Verdict(
                WRONG, list_cursor_and_search.not_found_message("count.unknown", state.search, answer.may_have_more)
            )
            # The list shows all open orders again; 1 picks the first one.
            return self._refresh_list(_reset(state), context)._replace(verdict=verdict)
        return Turn(_reset(state), (Start("look_up", {"search": state.search}),))

    def _move_cursor(self, state: HomeState, key: str, context: Context) -> Result:
        if key == "enter":
            listed = list_cursor_and_search.row_at_cursor(state)
            return _start_pick(state, listed) if listed else Turn(state)
        return (
            self._refresh_list(list_cursor_and_search.move_cursor(state, key, _page_size(context)), context)
            if state.total
            else Turn(state)
        )

    def _handle_choice(self, state: HomeState, number: int, context: Context, is_confirmed: bool) -> Result:
        if state.menu_page:
            entries = STORE_MENU if state.menu_page == len(MENU_PAGES) - 1 else MORE_MENU
            is_entry = number <= len(entries)
            return (
                _run_effect(state, entries[number - 1][1], context, is_confirmed)
                if is_entry
                else _next_menu_page(state)
            )
        if number == len(MENU_TEXTS):
            return _next_menu_page(state)
        return Turn(_reset(state), (Start(MENU_JOBS[number], {}),)) if number in MENU_JOBS else self._pick_next(state)

    def _pick_next(self, state: HomeState) -> Result:
        if not state.rows:
            return Turn(state, (Query("unread_lists", "unread_lists", {}, is_live=True),))
        free = [listed for listed in state.rows if not (listed.is_claimed or listed.is_picked)]
        return _start_pick(state, list_cursor_and_search.row_at_cursor(state) or (free or state.rows)[0])

    def view(self, state: HomeState) -> ListView:
        return home_view(state)


def start_receiving(matches: tuple[Match, ...]) -> Start:
    """Return the effect that opens a scanned delivery, or the deliveries of a scanned container."""
    keys = [each.key for each in matches if each.kind == DELIVERY]
    return Start("receive", {"deliveries": keys, "code": matches[0].code or keys[0]})


def _resume_delivery(state: HomeState) -> Start:
    if len(state.partly_received) > 1:
        return Start("receive", {})
    return Start("receive", {"deliveries": list(state.partly_received), "code": state.partly_received[0]})


def _next_menu_page(state: HomeState) -> Result:
    return Turn(state._replace(menu_page=state.menu_page + 1))


def _reset(state: HomeState) -> HomeState:
    """Return the state with all open orders. What is counted, watched or already reported is kept."""
    return HomeState(
        unconfirmed=state.unconfirmed,
        rejected_order=state.rejected_order,
        assigned_orders=state.assigned_orders,
        signed_in_at=state.signed_in_at,
        reported_refusals=state.reported_refusals,
        partly_received=state.partly_received,
        recounts=state.recounts,
        expiry_checks=state.expiry_checks,
    )


def _opens_directly(search: str, row: "OrdersRow") -> bool:
    """Return True if a single result opens at once. One letter may have been meant as a command, and digits that are
    only part of its number as anything else."""
    if search.isalpha():
        return len(search) > 1
    numbers = (str(row.get("order_number") or ""), str(row.get("reference") or ""))
    return not any(map(str.isdigit, search)) or search.casefold() in (name.casefold() for name in numbers)


def _report_assigned(state: HomeState, rows: "tuple[AssignedOrdersRow, ...]") -> Result:
    """Report each order newly assigned to this user once; assigned orders are first in the list."""
    orders = tuple(str(row["order_number"]) for row in rows)
    fresh = [row for row in rows if str(row["order_number"]) not in state.assigned_orders]
    state = state._replace(assigned_orders=orders)
    if not fresh:
        return Turn(state)
    order, who = str(fresh[0]["order_number"]), str(fresh[0]["by"])
    if len(fresh) > 1:
        return reply(state, ASK, "home.assigned_many", count=len(fresh), who=who)
    return reply(state, ASK, "home.assigned", order=order, who=who)


def _report_reopened(state: HomeState, rows: "tuple[OrderRow, ...]") -> Result:
    row = rows[0] if rows else None
    if not row or row.get("is_rejected") or not row.get("is_active", True):
        return Turn(state)
    return reply(state._replace(rejected_order=""), INFO, "home.reopened", order=state.rejected_order)


def _run_effect(state: HomeState, effect: Effect, context: Context, is_confirmed: bool) -> Result:
    if isinstance(effect, SignOut) and not is_confirmed:
        return Turn(state, (sign_in.query_open_work(context),))
    return Turn(state if isinstance(effect, Quit) else _reset(state), (effect,))


def _page_size(context: Context) -> int:
    return (
        list_cursor_and_search.page_size(context)
        if context.window_rows > SMALL_LIST_ROWS
        else min(context.window_rows, context.visible_rows)
    )


def _query(state: HomeState, context: Context) -> Query:
    args = {
        "search": state.typed or state.search,
        "first": state.first,
        "size": _page_size(context),
        "user": context.user,
        "not_put_down": True,
    }
    return Query("orders", "orders", args, is_live=True)


def _start_pick(state: HomeState, order: OpenOrderRow) -> Result:
    return Turn(_reset(state), (Start("pick", {"order_number": order.number}),))
