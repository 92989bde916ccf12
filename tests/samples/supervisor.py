"""Samples of the supervisor's pages."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from aisle.jobs.list_cursor_and_search import ListOptions
from aisle.jobs.pick.shortage_choices import Reason
from aisle.jobs.row_types.deliveries import DeliveryLineRow
from aisle.jobs.row_types.exceptions_clearance_and_today import DifferencesRow, NegativeStockRow, RecountsRow
from aisle.jobs.row_types.orders import OrderHistoryRow, OrderLineRow
from aisle.jobs.shell.sign_in import Person
from aisle.jobs.sums_of_goods_and_progress import GoodsSum, OrderGoods
from aisle.jobs.supervisor.exception_decisions import ExceptionsState
from aisle.jobs.supervisor.exceptions import ExceptionsJob
from aisle.jobs.supervisor.order_action_job import OrderActionJob, OrderActionState, Outcome
from aisle.jobs.supervisor.order_action_writes import CLAIM, HAND_OVER, REJECT, REOPEN, SPLIT, OrderAction
from aisle.jobs.supervisor.order_board import OrdersJob
from aisle.jobs.supervisor.order_board_list import OrdersState, SavedView
from aisle.jobs.supervisor.order_filter import OrderFilter
from aisle.jobs.supervisor.order_page import OrderJob, OrderState
from aisle.jobs.supervisor.order_rows import BoardOrder
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Frame, LinkState, Verdict, View, msg, raw
from tests.samples.log import log_row

LIVE_LINK = LinkState("live", 4.0)
OFFLINE_LINK = LinkState("offline", 1260.0, waiting=3)

_NAMES = ("J. Jansen", "Bakery The Little Corner", "De Vries", "Öztürk & Sons", "M. Okafor", "Ms Annabel Smit-Bakker")
_STATES = ("open", "partial", "picked", "open", "rejected", "partial", "open", "picked")


def _frame(view: View, verdict: Verdict | None = None, link: LinkState = LIVE_LINK, typed: str = "") -> Frame:
    return Frame(view, link, verdict, typed, "0042", "Anna", 7 if verdict else 0)


def _order_row(index: int, text: str) -> BoardOrder:
    status = _STATES[index % len(_STATES)]
    of = Decimal(6 + index * 7 % 19)
    picked = {"open": Decimal(0), "picked": of}.get(status, Decimal(index % 6))
    late = "moment.late" if index < 2 else "moment"
    return BoardOrder(
        number=f"10{index * 7 + 23:04}",
        customer=text or _NAMES[index % len(_NAMES)],
        due=msg(late, at=f"2026-11-{20 + index // 5:02}T{9 + index % 5 * 2:02}:30:00"),
        status=status,
        ordered=of,
        picked=picked,
        goods=OrderGoods(GoodsSum(picked), GoodsSum(of), GoodsSum(of - picked)),
        line_count=index % 9 + 1,
        short_lines=2 if index in (2, 5) else 0,
        is_claimed=status == "partial",
        claimed_by=text or ("Ben Okafor" if index % 3 else "Carla Fernandes"),
        idle_s=Decimal(240 + index * 660) if status == "partial" else Decimal(-1),
        known_s=Decimal(9000 + index * 4000),
        rejection_reason=(text or "Customer cancelled") if status == "rejected" else "",
        reference=text or f"WEB-{7700 + index}",
        position=index,
    )


def _order_rows(text: str, count: int = 36) -> tuple[BoardOrder, ...]:
    return tuple(_order_row(index, text) for index in range(count))


def order_board(text: str) -> Frame:
    """Show all active orders, with the cursor on one."""
    return _frame(OrdersJob().view(OrdersState(rows=_order_rows(text), total=20000, cursor=1, is_loaded=True)))


def order_board_marking(text: str) -> Frame:
    """Show marked orders."""
    rows = _order_rows(text)
    marked = tuple(row.number for row in rows[1:4])
    state = OrdersState(
        rows=rows, total=412, is_marking=True, marked=marked, is_loaded=True, filter=OrderFilter("to_pick", due="late")
    )
    return _frame(OrdersJob().view(state), Verdict(INFO, msg("orders.marking")))


def order_board_empty(text: str) -> Frame:
    """Show a filter without matches, offline."""
    state = OrdersState(
        search=text or "jansn", is_loaded=True, filter=OrderFilter("rejected", claim="claimed", shorts="short")
    )
    return _frame(OrdersJob().view(state), None, OFFLINE_LINK)


def order_board_loading(text: str) -> Frame:
    """Show the board before its first window is loaded."""
    return _frame(OrdersJob().view(OrdersState()), None, LinkState("syncing", -1.0, done=400, total=20000), typed=text)


def order_filter(text: str) -> Frame:
    """Show the fields of the filter."""
    state = OrdersState(
        page="filter", filter=OrderFilter("to_pick", due="late", sort="age", reference=text or "WEB-7712")
    )
    return _frame(OrdersJob().view(state))


def order_filter_field(text: str) -> Frame:
    """Show the values of one filter field."""
    return _frame(OrdersJob().view(OrdersState(page="field", field="state", filter=OrderFilter(reference=text))))


def saved_views(text: str) -> Frame:
    """Show shared views and the user's own."""
    views = (
        SavedView(text or "Bakery today", OrderFilter("to_pick")),
        SavedView(text or "Web, late", OrderFilter(due="late")),
    )
    return _frame(OrdersJob().view(OrdersState(page="views", views=views)))


def name_saved_view(text: str) -> Frame:
    """Show naming of a view."""
    state = OrdersState(page="name", filter=OrderFilter("to_pick", due="today", claim="free"))
    return _frame(OrdersJob().view(state), typed=text or "Bakery")


CRISPS = "Crisps, natural, 250 g"


def line_row(number: int, product: str, label: str, ordered: int, picked: int = 0, **fields: Any) -> OrderLineRow:
    """One line of an order."""
    row: Any = {
        "line_number": number,
        "product_number": product,
        "description": label,
        "quantity": Decimal(ordered),
        "picked_quantity": Decimal(picked),
        "moved_quantity": Decimal(0),
        "is_picked": False,
        "locations": [],
        "put_down": [],
        "allow_decimal": False,
        "unit": "",
        "is_stock": True,
    }
    row |= dict.fromkeys(("price", "stock_pool", "picking_stock_pool_array", "store_walking_order"))
    return row | {"preferred_location_code": None} | fields  # type: ignore[no-any-return]


def _lines(text: str, label: str) -> list[OrderLineRow]:
    by, crisps, why = text or "Ben Okafor", text or CRISPS, text or "Not enough"
    put_down = [{"location_code": "PU-01", "quantity": Decimal(3)}]
    return [
        line_row(1, "4001", label, 3, 3, is_picked=True, picked_name=by, put_down=put_down),
        line_row(
            2,
            "4107",
            crisps,
            4,
            1,
            is_picked=True,
            picked_name=by,
            locations=[{"location_code": "B-02-04"}],
            rejection_reason_code_description=why,
        ),
        line_row(
            3,
            "5230",
            text or "Whole milk 1 l",
            12,
            locations=[{"location_code": "C-01-03"}, {"location_code": "C-01-09"}],
        ),
    ]


def _event(at: str, user: str, event: str, label: str = "", quantity: int = 0, **fields: Any) -> OrderHistoryRow:
    row: Any = {"at": f"2026-11-20T{at}Z", "user": user, "event": event, "label": label, "quantity": Decimal(quantity)}
    return row | {"location": "", "why": "", "outcome": ""} | fields  # type: ignore[no-any-return]


def _history(text: str, label: str) -> tuple[OrderHistoryRow, ...]:
    by = text or "Ben Okafor"
    return (
        _event("10:02:11", by, "short", CRISPS, why=text or "Not enough", outcome="queued"),
        _event("10:01:40", by, "pick", CRISPS, 1),
        _event("09:58:02", by, "pick", label, 3),
        _event("09:57:30", by, "claimed"),
    )


def _order_state(text: str, **fields: object) -> OrderState:
    label = text or "Cola Zero 33 cl can, tray of 24"
    details: Any = {
        "customer_name": text or "Bakery The Little Corner",
        "reference": text or "WEB-7712",
        "comment": text or "Ring twice, please. The side door is open until noon.",
        "aisle": {
            "customer_street": text or "12 Mill Lane",
            "customer_zipcode": "" if text else "AB1 2CD",
            "customer_city": "" if text else "Hillmoor",
            "customer_phone": text or "+44 20 7946 0123",
        },
        "lines": _lines(text, label),
        "lines_known": True,
    }
    page = OrderState("100037", _order_row(1, text), details, _history(text, label), state="queued")
    return page._replace(**fields)  # type: ignore[arg-type]


COUNTS = (412, 7, None, None, 31, None, 1, 0)
"""Orders of each built-in view."""


def order_board_pane(text: str) -> Frame:
    """Show the board with the order at the cursor beside it, which wide screens have room for."""
    rows = _order_rows(text)
    pane = _order_state(text)._replace(number=rows[1].number, order=rows[1])
    return _frame(
        OrdersJob().view(
            OrdersState(rows=rows, total=412, cursor=1, is_loaded=True, pane=pane, options=ListOptions(COUNTS))
        )
    )


def order(text: str) -> Frame:
    """Show an order in progress."""
    return _frame(OrderJob().view(_order_state(text)))


def order_lines(text: str) -> Frame:
    """Show the choice of a line."""
    return _frame(OrderJob().view(_order_state(text, is_choosing_line=True)))


def order_short_line(text: str) -> Frame:
    """Show what can be done with a short line."""
    return _frame(OrderJob().view(_order_state(text, short_line=2)))


def order_rejected(text: str) -> Frame:
    """Show a rejected order that can be reopened."""
    undo = ({"order": "100051", "kind": REOPEN},)
    page = _order_state(
        text, order=_order_row(4, text), state="refused", why=text or "Order 100051 is finished", undo=undo
    )
    return _frame(OrderJob().view(page), Verdict(GOOD, msg("order_actions.done_reject", order="100051")), OFFLINE_LINK)


def order_unknown(text: str) -> Frame:
    """Show an order that is not in the cache, offline."""
    return _frame(OrderJob().view(OrderState(text or "99871")), None, OFFLINE_LINK)


def order_absent(text: str) -> Frame:
    """Show an order that the service does not know."""
    return _frame(OrderJob().view(OrderState(text or "99871", is_absent=True)))


def _action_state(text: str, **fields: object) -> OrderActionState:
    reasons = (
        Reason("20", text or "Location is empty", True),
        Reason("22", text or "Damaged"),
        Reason("31", "Customer cancelled"),
    )
    goods = OrderGoods(GoodsSum(Decimal(4)), GoodsSum(Decimal(19)), GoodsSum(Decimal(15)))
    state = OrderActionState(orders=("100037",), reasons=reasons, goods=goods)
    return state._replace(**fields)  # type: ignore[arg-type]


def choose_action(text: str) -> Frame:
    """Show the actions for several orders."""
    return _frame(OrderActionJob().view(_action_state(text, orders=("100037", "100044", "100051"))))


def choose_reason(text: str) -> Frame:
    """Show the choice of a rejection reason."""
    return _frame(OrderActionJob().view(_action_state(text, page="reason", kind=REJECT)))


def choose_person(text: str) -> Frame:
    """Show the choice of a person to claim for, after an unknown name."""
    people = (Person("U2", text or "Ben Okafor"), Person("U3", text or "Carla Fernandes"))
    state = _action_state(text, page="person", kind=CLAIM, people=people)
    return _frame(OrderActionJob().view(state), Verdict(ASK, msg("order_actions.unknown_name", name=text or "Benn")))


def choose_from_many_people(text: str) -> Frame:
    """Show more people than fit on any screen."""
    people = tuple(Person(f"U{at}", f"{text or name} {at}") for at, name in enumerate(("Ben Okafor", "Carla") * 30))
    state = _action_state(text, page="person", kind=CLAIM, people=people, match_count=75, first_choice=6)
    return _frame(OrderActionJob().view(state), None)


def confirm_hand_over(text: str) -> Frame:
    """Show confirmation of a hand-over with missing goods."""
    return _frame(OrderActionJob().view(_action_state(text, page="confirm", kind=HAND_OVER)))


def confirm_reject(text: str) -> Frame:
    """Show confirmation of a rejection; a scanned command was not accepted as a yes."""
    plan = (("100037", OrderAction(REJECT, reason=text or "The customer has called it off")),)
    state = _action_state(text, page="confirm", kind=REJECT, plan=plan)
    return _frame(OrderActionJob().view(state), Verdict(WRONG, msg("input.scan_not_accepted")))


def order_in_batch(text: str) -> Frame:
    """Show an order with priority that is in a batch."""
    who = text or "Ben Okafor"
    walked = _order_row(1, text)._replace(is_priority=True, priority_by=text or "Carla Fernandes", picker=who)
    verdict = Verdict(GOOD, msg("order_actions.done_priority", order="100030"))
    return _frame(OrderJob().view(_order_state(text, order=walked)), verdict)


def order_abandoned(text: str) -> Frame:
    """Show an order whose picker left it."""
    left = _order_row(1, text)._replace(is_claimed=True, abandoned_at=msg("moment", at="2026-11-19T16:20:00Z"))
    return _frame(OrderJob().view(_order_state(text, order=left)), None)


def confirm_split(text: str) -> Frame:
    """Show confirmation of moving some orders of a batch to another person."""
    orders = ("100037", "100044")
    plan = tuple((order, OrderAction(SPLIT, "U2", text or "Ben Okafor")) for order in orders)
    return _frame(OrderActionJob().view(OrderActionState(orders, page="confirm", kind=SPLIT, plan=plan)))


def confirm_claim(text: str) -> Frame:
    """Show confirmation of claiming many orders for a person."""
    orders = ("100037", "100044", "100051")
    plan = tuple((order, OrderAction(CLAIM, "U2", text or "Ben Okafor")) for order in orders)
    return _frame(OrderActionJob().view(_action_state(text, page="confirm", kind=CLAIM, orders=orders, plan=plan)))


def action_waiting(text: str) -> Frame:
    """Show waiting for the state of the orders."""
    return _frame(OrderActionJob().view(_action_state(text, page="wait", kind=REJECT)))


def action_results(text: str) -> Frame:
    """Show the result of each order."""
    outcomes = (
        Outcome("100037", "confirmed"),
        Outcome("100044", "", msg("pick.handed_over_now", order="100044")),
        Outcome("100051", "refused", raw(text or "Order 100051 has changed")),
        Outcome("100058", "queued"),
    )
    state = _action_state(text, page="results", kind=REJECT, outcomes=outcomes, undo=(("100037", OrderAction(REOPEN)),))
    return _frame(
        OrderActionJob().view(state), Verdict(INFO, msg("order_actions.done_count", done=3, total=4)), OFFLINE_LINK
    )


_EXCEPTION_COUNTS = (
    ("unconfirmed", 2),
    ("differences", 14),
    ("negative_stock", 3),
    ("stuck", 4),
    ("late", 11),
    ("recounts", 1),
    ("excess_receipts", 2),
    ("entries_to_review", 2),
    ("uncollected", 2),
)


def exceptions(text: str) -> Frame:
    """Show the number of exceptions of each kind."""
    state = ExceptionsState(counts=_EXCEPTION_COUNTS, difference_value=Decimal("412.35"), is_loaded=True)
    return _frame(ExceptionsJob().view(state), typed=text)


def exceptions_loading(text: str) -> Frame:
    """Show exceptions before they are loaded."""
    return _frame(ExceptionsJob().view(ExceptionsState()), None, LinkState("none"), typed=text)


def _differences(text: str) -> tuple[DifferencesRow, ...]:
    goods = ("Cola Zero 33 cl can, tray of 24", "Whole milk 1 l", "Wholemeal bread", "Crème fraîche 200 g")
    return tuple(_difference_row(index, text or goods[index % 4], text) for index in range(14))


def _difference_row(index: int, label: str, text: str) -> DifferencesRow:
    difference = Decimal((-1) ** index * (14 - index))
    return {
        "key": f"{900 + index}",
        "at": f"2026-11-20T09:{index:02}:00Z",
        "user_name": text or "Ben Okafor",
        "product_number": f"40{index:02}",
        "label": label,
        "location_code": text or f"A-03-{index:02}",
        "counted": Decimal(12),
        "expected": Decimal(12) - difference,
        "difference": difference,
        "price": Decimal("2.35"),
        "review_status": "",
        "known": index != 9,
        "value": difference * Decimal("2.35"),
    }


def differences(text: str) -> Frame:
    """Show differences, those of the highest value first, some marked."""
    state = ExceptionsState(
        "differences", _EXCEPTION_COUNTS, rows=_differences(text), total=14, marked=("900", "902"), is_loaded=True
    )
    return _frame(ExceptionsJob().view(state), Verdict(INFO, msg("exceptions.all_marked", count=2, total=14)))


def difference(text: str) -> Frame:
    """Show one difference."""
    state = ExceptionsState(
        "differences", _EXCEPTION_COUNTS, rows=_differences(text), total=14, question="901", is_loaded=True
    )
    return _frame(ExceptionsJob().view(state))


def approve_many(text: str) -> Frame:
    """Show the question if all marked differences are approved."""
    state = ExceptionsState("differences", _EXCEPTION_COUNTS, rows=_differences(text), total=14, marked=("900", "902"))
    return _frame(ExceptionsJob().view(state._replace(question="approve")))


def _negative_row(
    key: str, kind: str, label: str, quantity: int, location: str = "", order: str = "", other_quantity: int = 0
) -> NegativeStockRow:
    return {
        "key": key,
        "kind": kind,
        "product_number": "4107",
        "label": label,
        "location_code": location,
        "quantity": Decimal(quantity),
        "order_number": order,
        "line_number": 1,
        "picked": Decimal(0),
        "other_quantity": Decimal(other_quantity),
        "is_corrected": key == "b",
    }


def negative_stock(text: str) -> Frame:
    """Show negative stock, and more picked than there is."""
    crisps = text or "Crisps, natural, 250 g"
    rows = (
        _negative_row("a", "below", text or "Whole milk 1 l", -4, location=text or "C-01-03"),
        _negative_row("b", "below", text or "Wholemeal bread", -1),
        _negative_row("c", "missing", crisps, 2, order=text or "100037", other_quantity=1),
    )
    state = ExceptionsState("negative_stock", _EXCEPTION_COUNTS, rows=rows, total=3, is_loaded=True)
    return _frame(ExceptionsJob().view(state), Verdict(WRONG, msg("pick.handed_over_now", order="100037")))


def stuck(text: str) -> Frame:
    """Show orders that are stuck."""
    rows = tuple(_order_row(index, text) for index in (1, 5, 9, 13))
    return _frame(ExceptionsJob().view(ExceptionsState("stuck", _EXCEPTION_COUNTS, rows=rows, total=4, is_loaded=True)))


def uncollected(text: str) -> Frame:
    """Show picked orders that nobody collects."""
    rows = tuple(
        _order_row(index, text)._replace(
            status="picked", put_down_at=(text or f"PU-0{index}",), idle_s=Decimal(400_000)
        )
        for index in (1, 5)
    )
    state = ExceptionsState("uncollected", _EXCEPTION_COUNTS, rows=rows, total=2, is_loaded=True)
    return _frame(ExceptionsJob().view(state))


def recounts(text: str) -> Frame:
    """Show ordered recounts, offline."""
    row: RecountsRow = {
        "key": "4001/A-03-12",
        "kind": "local",
        "product_number": "4001",
        "label": text or "Cola Zero 33 cl can, tray of 24",
        "location_code": text or "A-03-12",
        "at": "2026-11-20T09:41:00Z",
        "user_name": text or "Anna",
    }
    state = ExceptionsState("recounts", _EXCEPTION_COUNTS, rows=(row,), total=1, is_loaded=True)
    return _frame(ExceptionsJob().view(state), None, OFFLINE_LINK)


def delivery_line(product: str, label: str, announced: int, received: int) -> DeliveryLineRow:
    """One line of a delivery."""
    return {
        "line_number": 1,
        "product_number": product,
        "description": label,
        "quantity": Decimal(announced),
        "received": Decimal(received),
        "container_barcode": "",
        "customer_order_number": "",
        "target_stock_pool": 0,
        "unit": "",
        "allow_decimal": False,
    }


def excess_receipts(text: str) -> Frame:
    """Show lines of deliveries received beyond what was announced, one of them not announced at all."""
    lines = (
        delivery_line("4001", text or "Cola Zero 33 cl can, tray of 24", 10, 20),
        delivery_line("4002", text or CRISPS, 0, 3),
    )
    rows = tuple(
        {
            **line,
            "key": f"{at}",
            "note_key": f"700{at}/1",
            "order_number": f"700{at}",
            "supplier_name": text or "Dairy of the North",
            "to_review": [],
        }
        for at, line in enumerate(lines, 1)
    )
    state = ExceptionsState("excess_receipts", _EXCEPTION_COUNTS, rows=rows, total=2, is_loaded=True)
    return _frame(ExceptionsJob().view(state))


def entries_to_review(text: str) -> Frame:
    """Show log entries to review."""
    goods = ((text or "Wholemeal bread", -4, "pick"), (text or CRISPS, 12, "receipt"))
    rows = tuple(
        log_row(
            f"{at}",
            f"2026-11-20T09:4{at}:00Z",
            description=label,
            difference=Decimal(change),
            work=work,
            user_name=text or "Ben Okafor",
            location_code=text or "A-03-12",
            review_status="1",
        )
        for at, (label, change, work) in enumerate(goods)
    )
    state = ExceptionsState("entries_to_review", _EXCEPTION_COUNTS, rows=rows, total=2, is_loaded=True)
    return _frame(ExceptionsJob().view(state))


SUPERVISOR_SAMPLES = (
    ("orders", "all", order_board),
    ("orders", "pane", order_board_pane),
    ("orders", "marking", order_board_marking),
    ("orders", "empty", order_board_empty),
    ("orders", "loading", order_board_loading),
    ("orders.filter", "set", order_filter),
    ("orders.field", "state", order_filter_field),
    ("orders.views", "own", saved_views),
    ("orders.name", "typed", name_saved_view),
    ("order", "all", order),
    ("order", "rejected", order_rejected),
    ("order", "unknown", order_unknown),
    ("order", "absent", order_absent),
    ("order", "walked", order_in_batch),
    ("order", "left", order_abandoned),
    ("order.lines", "choose", order_lines),
    ("order.short_line", "short", order_short_line),
    ("order_actions.action", "many", choose_action),
    ("order_actions.reason", "reject", choose_reason),
    ("order_actions.person", "claim", choose_person),
    ("order_actions.person", "many", choose_from_many_people),
    ("order_actions.confirm", "finish", confirm_hand_over),
    ("order_actions.confirm", "claim", confirm_claim),
    ("order_actions.confirm", "reject", confirm_reject),
    ("order_actions.confirm", "split", confirm_split),
    ("order_actions.wait", "reject", action_waiting),
    ("order_actions.results", "mixed", action_results),
    ("exceptions", "all", exceptions),
    ("exceptions", "loading", exceptions_loading),
    ("exceptions.differences", "marked", differences),
    ("exceptions.one", "difference", difference),
    ("exceptions.many", "approve", approve_many),
    ("exceptions.negative_stock", "all", negative_stock),
    ("exceptions.stuck", "all", stuck),
    ("exceptions.recounts", "one", recounts),
    ("exceptions.excess_receipts", "two", excess_receipts),
    ("exceptions.entries_to_review", "two", entries_to_review),
    ("exceptions.uncollected", "two", uncollected),
)
"""Screen, state and builder of each sample."""
