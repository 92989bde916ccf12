"""Samples of receiving deliveries."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from aisle.jobs.list_cursor_and_search import ListOptions
from aisle.jobs.receive.job import ReceiveJob
from aisle.jobs.receive.receive_state_and_differences import (
    DeliveryLine,
    GoodsInHand,
    ListedDelivery,
    ReceiveChoice,
    ReceiveState,
    UndoStep,
    parse_delivery_line,
)
from aisle.jobs.row_types.deliveries import DeliveryLineRow, DeliveryRow
from aisle.jobs.row_types.exceptions_clearance_and_today import ExcessReceiptsRow
from aisle.jobs.supervisor.deliveries import DeliveriesJob, DeliveriesState, list_title
from aisle.jobs.supervisor.exception_decisions import acceptance_verdict
from aisle.jobs.view import ASK, GOOD, INFO, WRONG, Frame, LinkState, Verdict, msg
from aisle.scan.grammar_and_meaning_types import PRODUCT, Match

GOODS = (
    (1, "4001", "Cola Zero 33 cl can, tray of 24", 48, 24, "00387123450000000018"),
    (2, "4002", "Orange lemonade 1.5 l", 12, 12, "00387123450000000018"),
    (3, "4107", "Crisps, natural, 250 g", 20, 0, "00387123450000000025"),
    (4, "5231", "Crème fraîche 200 g", 6, 0, "00387123450000000025"),
    (5, "5240", "Gouda, mature, in one piece", 4, 5, ""),
)
"""Line, product, name, announced quantity, received quantity, container."""

DELIVERY_ROWS = (
    ("PO-2026-1187", "Hansen Beverages", "2026-11-20T07:30:00", 240, 36, "partial"),
    ("PO-2026-1190", "Dairy of the North", "2026-11-20T09:00:00", 66, 0, "open"),
    ("TR-0900-4471", "Warehouse West", "2026-11-21T06:00:00", 512, 0, "open"),
    ("PO-2026-1201", "Öztürk & Sons", "2026-11-23T08:00:00", 18, 0, "open"),
)


def _line_row(
    number: int, product: str, label: str, announced: int, came: int = 0, container: str = "", order: str = ""
) -> DeliveryLineRow:
    return {
        "line_number": number,
        "product_number": product,
        "quantity": Decimal(announced),
        "received": Decimal(came),
        "description": label,
        "container_barcode": container,
        "customer_order_number": order,
        "target_stock_pool": 0,
        "unit": "",
        "allow_decimal": False,
    }


def _goods(text: str) -> list[tuple[int, str, str, int, int, str]]:
    return [(*goods[:2], text or goods[2], *goods[3:5], text or goods[5]) for goods in GOODS]


def _lines(text: str) -> tuple[DeliveryLine, ...]:
    return tuple(parse_delivery_line(_line_row(*goods)) for goods in _goods(text))


def _delivery_rows(text: str) -> tuple[ListedDelivery, ...]:
    return tuple(
        ListedDelivery(text or number, text or supplier, msg("moment", at=due), Decimal(of), Decimal(came), state)
        for number, supplier, due, of, came, state in DELIVERY_ROWS
    )


def _state(text: str, quantity: int = 0) -> ReceiveState:
    item = (
        GoodsInHand("4107", text or GOODS[2][2], Decimal(quantity), suggested_location=text or "A-04-01")
        if quantity
        else None
    )
    return ReceiveState(
        "goods",
        delivery_number=text or "PO-2026-1187",
        supplier=text or "Hansen Beverages",
        lines=_lines(text),
        receiving_location=text or "DOCK",
        in_hand=item,
        history=(UndoStep(text or GOODS[2][2]),) if quantity else (),
    )


def _frame(state: ReceiveState, verdict: Verdict | None, link: LinkState, serial: int = 0, typed: str = "") -> Frame:
    return Frame(ReceiveJob().view(state), link, verdict, typed, "0042", "Anna", serial)


def _delivery(text: str) -> Frame:
    return _frame(ReceiveState(rows=_delivery_rows(text), total=31, cursor=1), None, LinkState("live", 4.0))


def _none(text: str) -> Frame:
    return _frame(ReceiveState(), None, LinkState("offline", 4000.0, 2))


def _loading(text: str) -> Frame:
    return _frame(ReceiveState(), None, LinkState("syncing", -1.0, 0, 0, 1200, 61000))


def _unknown_delivery(text: str) -> Frame:
    verdict = Verdict(WRONG, msg("receive.no_delivery", code=text or "PO-2026-9999"))
    return _frame(ReceiveState(rows=_delivery_rows(text), total=4), verdict, LinkState("live", 4.0), 3)


def _which(text: str) -> Frame:
    choices = tuple(ReceiveChoice("open", text or number) for number, *_ in DELIVERY_ROWS[:3])
    return _frame(
        ReceiveState(choices=choices),
        Verdict(ASK, msg("receive.which", label=text or GOODS[0][2])),
        LinkState("live"),
        2,
    )


def _opened(text: str) -> Frame:
    args = {"supplier": text or "Hansen Beverages", "delivery": text or "PO-2026-1187"}
    return _frame(_state(text), Verdict(GOOD, msg("receive.opened", count=3, **args)), LinkState("live", 8.0), 1)


def _taken(text: str) -> Frame:
    args = {"done": Decimal(8), "of": Decimal(20)}
    verdict = Verdict(GOOD, msg("pick.picked", label=text or GOODS[2][2], **args))
    return _frame(_state(text, 8), verdict, LinkState("live", 12.0, 1), 4)


def _more_of_product(text: str) -> Frame:
    state = _state(text)
    item = GoodsInHand("4001", text or GOODS[0][2], Decimal(6), suggested_location=text or "A-03-12")
    state = state._replace(in_hand=item, container=text or GOODS[0][5], history=(UndoStep("x"),))
    return _frame(state, None, LinkState("offline", 700.0, 5), 9)


def _put(text: str) -> Frame:
    place, label = text or "A-04-01", text or GOODS[2][2]
    verdict = Verdict(GOOD, msg("receive.put", place=place, quantity=Decimal(20), label=label))
    return _frame(_state(text), verdict, LinkState("live", 1.0, 1), 5)


def _more(text: str) -> Frame:
    label = text or GOODS[2][2]
    choices = (
        ReceiveChoice("fit", "4107", Decimal(20)),
        ReceiveChoice("over", "4107", Decimal(24)),
        ReceiveChoice("aside", "4107", label=label),
    )
    verdict = Verdict(ASK, msg("receive.more_than_announced", label=label, quantity=Decimal(24), missing=Decimal(20)))
    pending = Match(PRODUCT, "4107", label, Decimal(24))
    return _frame(_state(text, 8)._replace(choices=choices, pending_scan=pending), verdict, LinkState("live", 2.0), 6)


def _other(text: str) -> Frame:
    label, other = text or "Oat drink 1 l", text or "TR-0900-4471"
    choices = (
        ReceiveChoice("extra", "6001", Decimal(1), label),
        ReceiveChoice("switch", other),
        ReceiveChoice("aside", "6001", label=label),
    )
    verdict = Verdict(ASK, msg("receive.other_delivery_expects", label=label, delivery=other))
    return _frame(_state(text, 8)._replace(choices=choices), verdict, LinkState("live", 2.0), 7)


def _unknown(text: str) -> Frame:
    code = text or "8712345678906"
    choices = (ReceiveChoice("find", code), ReceiveChoice("aside", label=code))
    verdict = Verdict(WRONG, msg("count.unknown", code=code))
    return _frame(_state(text, 8)._replace(choices=choices), verdict, LinkState("live", 2.0), 8)


def _all_lines(text: str) -> Frame:
    return _frame(_state(text)._replace(phase="lines"), None, LinkState("live", 2.0))


def _check(text: str) -> Frame:
    verdict = Verdict(ASK, msg("receive.differ", short=3, over=1))
    return _frame(_state(text, 8)._replace(phase="check", page_size=6), verdict, LinkState("live", 2.0), 12)


def _leave(text: str) -> Frame:
    verdict = Verdict(ASK, msg("receive.leave", quantity=Decimal(8)))
    return _frame(_state(text, 8)._replace(phase="leave"), verdict, LinkState("refused", 9000.0, 2), 14)


def _done(text: str) -> Frame:
    state = _state(text)
    lines = tuple(line._replace(received=line.announced) for line in state.lines)
    verdict = Verdict(INFO, msg("home.partly_received", delivery=state.delivery_number))
    return _frame(state._replace(lines=lines), verdict, LinkState("live", 2.0), 15)


RECEIVE_SAMPLES: tuple[tuple[str, str, Callable[[str], Frame]], ...] = (
    ("receive.delivery", "list", _delivery),
    ("receive.delivery", "none", _none),
    ("receive.delivery", "loading", _loading),
    ("receive.delivery", "unknown", _unknown_delivery),
    ("receive.delivery", "which", _which),
    ("receive.goods", "opened", _opened),
    ("receive.goods", "taken", _taken),
    ("receive.goods", "again", _more_of_product),
    ("receive.goods", "put", _put),
    ("receive.goods", "more", _more),
    ("receive.goods", "other", _other),
    ("receive.goods", "unknown", _unknown),
    ("receive.goods", "done", _done),
    ("receive.lines", "all", _all_lines),
    ("receive.check", "differs", _check),
    ("receive.leave", "in_hand", _leave),
)
"""Screen, state and builder of each sample."""


# List of deliveries


def _deliveries_frame(state: DeliveriesState, verdict: Verdict | None, link: LinkState, serial: int = 0) -> Frame:
    return Frame(DeliveriesJob().view(state), link, verdict, "", "0042", "Anna", serial)


def _deliveries(text: str) -> Frame:
    return _deliveries_frame(
        DeliveriesState(rows=_delivery_rows(text), total=31, cursor=1), None, LinkState("live", 4.0)
    )


def _late_deliveries(text: str) -> Frame:
    counts = ListOptions((31, 2, 412, 443, 380))
    state = DeliveriesState("late", rows=_delivery_rows(text)[:2], total=2, cursor=0, options=counts)
    return _deliveries_frame(state, None, LinkState("live", 4.0))


def _receipts(text: str) -> Frame:
    state = DeliveriesState("receipts", "1", ("1", "2"), rows=_delivery_rows(text)[:2], total=2)
    return _deliveries_frame(state, Verdict(INFO, list_title(state)), LinkState("live", 4.0), 2)


def _nothing(text: str) -> Frame:
    return _deliveries_frame(DeliveriesState("received", search=text or "hans"), None, LinkState("offline", 900.0))


def _opened_delivery(text: str) -> DeliveriesState:
    sheet: DeliveryRow = {
        "order_number": text or "PO-2026-1187",
        "supplier_name": text or "Hansen Beverages",
        "datetime_expected": "2026-11-20T07:30:00",
        "external_reference_number": text or "EXT-88213",
        "order_type": "1",
        "no_of_containers": 2,
        "store_origin": text or None,  # type: ignore[typeddict-item]
        "tracing_url": text or "https://track.example/PO-2026-1187",
        "state": "partial",
        "total_lines": 6,
        "complete_lines": 1,
        "is_mixed": False,
        "quantity": Decimal(90),
        "received_quantity": Decimal(41),
        "lines": [
            *(_line_row(*line) for line in _goods(text)),
            _line_row(6, "6001", text or "Oat drink 1 l", 6, order=text or "100042"),
        ],
    }
    return DeliveriesState(delivery_number=sheet["order_number"], delivery=sheet)


def _delivery_page(text: str) -> Frame:
    return _deliveries_frame(_opened_delivery(text), None, LinkState("live", 4.0), 3)


def _delivery_with_excess(text: str) -> Frame:
    state = _opened_delivery(text)
    assert state.delivery
    row: ExcessReceiptsRow = {
        **state.delivery["lines"][0],
        "key": "1",
        "note_key": "1",
        "order_number": state.delivery_number,
        "supplier_name": "",
        "to_review": [],
    }
    verdict = acceptance_verdict((row,))
    return _deliveries_frame(state._replace(excess=(row,), accepted=(row,)), verdict, LinkState("offline", 720.0), 3)


def _awaited(text: str) -> Frame:
    state = DeliveriesState(delivery_number=text or "PO-2026-9999")
    verdict = Verdict(WRONG, msg("count.unknown", code=state.delivery_number))
    return _deliveries_frame(state, verdict, LinkState("live", 4.0), 4)


DELIVERY_SAMPLES: tuple[tuple[str, str, Callable[[str], Frame]], ...] = (
    ("deliveries", "open", _deliveries),
    ("deliveries", "late", _late_deliveries),
    ("deliveries", "receipts", _receipts),
    ("deliveries", "nothing", _nothing),
    ("deliveries.page", "lines", _delivery_page),
    ("deliveries.page", "excess", _delivery_with_excess),
    ("deliveries.page", "awaited", _awaited),
)
"""Screen, state and builder of each sample of the list of deliveries."""
