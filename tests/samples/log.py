"""Samples of the store's log."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from aisle.jobs.adjust_state_view_and_undo import parse_reasons
from aisle.jobs.row_types.log import LogRow, LogSumsRow, LossesRow
from aisle.jobs.supervisor.log_job import LogJob
from aisle.jobs.supervisor.log_list import LIST, LogFilter, LogState, field_text
from aisle.jobs.view import GOOD, INFO, WRONG, Frame, LinkState, Verdict, msg, raw
from aisle.settings.setting_definitions import LOSS_REASONS

GOODS = (
    ("8123", "Cola Zero 33 cl can, tray of 24", "-3", "Broken", "aisle", "A-03-12", "", "0"),
    ("8122", "Crème fraîche 200 g", "24", "", "receipt", "DOCK", "PO-2026-1187", "1"),
    ("8121", "Crisps, natural, 250 g", "-1", "", "pick", "A-04-01", "100042", "0"),
    ("8120", "Gouda, mature, in one piece", "-0.75", "Out of date", "aisle", "C-01-03", "", "2"),
    ("8119", "Orange lemonade 1.5 l", "2", "", "count", "B-01-02", "", "1"),
)
"""Product number, name, change, reason, source, location, reference, review."""

LOSSES = (
    ("Out of date", (12, 9, 14, 30, 8, 11, 9, 4)),
    ("Broken", (3, 1, 0, 6, 2, 2, 5, 1)),
    ("Stolen", (0, 0, 4, 0, 0, 1, 0, 0)),
    ("Own use", (1, 1, 1, 1, 1, 1, 1, 0)),
)


def log_row(key: str, at: str, **fields: Any) -> LogRow:
    """An entry of which the service says no more than when it was."""
    row: Any = {"key": key, "id": key, "at": at, "pool": 0, "quantity": Decimal(0)}
    row |= dict.fromkeys(("said", "product_number", "location_code", "app_user_name", "reference", "reason"), "")
    row |= dict.fromkeys(("source", "outcome", "why", "description", "work", "review_status"), "")
    row |= dict.fromkeys(
        ("customer_order_number", "stock_pool", "reason_code_description", "user_name", "superseded_at"), ""
    )
    row |= dict.fromkeys(("reason_code", "counted_quantity", "difference", "expected_quantity", "price", "value"))
    return row | {"customer_order_line_number": None} | fields  # type: ignore[no-any-return]


def _entries(text: str) -> tuple[LogRow, ...]:
    return tuple(
        log_row(
            key,
            f"2026-11-20T{18 - at}:12:00Z",
            app_user_name=text or "U2",
            product_number=f"40{at}1",
            description=text or label,
            location_code=text or place,
            stock_pool="1",
            difference=Decimal(change),
            value=round(Decimal(change) * Decimal("1.49"), 2),
            counted_quantity=Decimal(9) if source == "count" else None,
            expected_quantity=Decimal(7) if source == "count" else None,
            reason_code_description=text or reason,
            source=text or source,
            reference=text or reference,
            review_status=review,
            work=text or source,
        )
        for at, (key, label, change, reason, source, place, reference, review) in enumerate(GOODS)
    )


def _state(text: str, **fields: Any) -> LogState:
    state = LogState(rows=_entries(text), total=812, cursor=1, reasons=parse_reasons(LOSS_REASONS), today="2026-11-20")
    changed: LogState = state._replace(**fields)
    return changed


def _frame(state: LogState, verdict: Verdict | None, link: LinkState, serial: int = 0) -> Frame:
    return Frame(LogJob().view(state), link, verdict, "", "0042", "Anna", serial)


def _list(text: str) -> Frame:
    return _frame(_state(text), None, LinkState("live", 4.0))


def _losses_listed(text: str) -> Frame:
    sums: LogSumsRow = {
        "lost": Decimal("3.75"),
        "value": Decimal("5.59"),
        "unpriced": Decimal(0),
        "counts": {"": 812, "loss": 2, "count": 96, "pick": 690, "short": 0},
        "to_review": 3,
        "everybody": 812,
        "people": [{"user": "U2", "name": text or "Ben Okafor", "count": 96}],
    }
    rows = tuple(row for row in _entries(text) if row["reason_code_description"])
    state = LogState(filter=LogFilter(source="loss"), rows=rows, total=2, cursor=0, today="2026-11-20")
    return _frame(LIST.with_sums(state, sums), None, LinkState("live", 3.0))


def _filtered(text: str) -> Frame:
    filter_ = LogFilter("month", reason="1", product=text or "4001")
    state = _state(text, filter=filter_, rows=_entries(text)[:1], total=1, cursor=-1)
    verdict = Verdict(INFO, msg("log.filtered", period=msg("log.month"), filter=field_text(state, "product")))
    return _frame(state, verdict, LinkState("live", 4.0), 2)


def _narrowed(text: str) -> Frame:
    """Show entries of one location only, some days old, as after a return to the page."""
    rows: Any = tuple(
        {**each, "at": f"2026-10-{at + 21}T07:40:00Z", "location_code": text or "A-03-12"}
        for at, each in enumerate(_entries(text))
    )
    return _frame(
        _state(text, filter=LogFilter(location=text or "A-03-12"), rows=rows, cursor=-1), None, LinkState("live", 4.0)
    )


def _nothing(text: str) -> Frame:
    return _frame(LogState(search=text or "zebra"), None, LinkState("offline", 900.0, 3))


def _entry(text: str) -> Frame:
    return _frame(_state(text, phase="entry", entry=_entries(text)[4]), None, LinkState("live", 4.0))


def _filter(text: str) -> Frame:
    filter_ = LogFilter("month", "1", "1", text or "4001", text or "U2", text, text, "")
    return _frame(_state(text, phase="filter", filter=filter_), None, LinkState("live", 4.0))


def _reason(text: str) -> Frame:
    return _frame(_state(text, phase="value", field="reason"), None, LinkState("live", 4.0))


def _source(text: str) -> Frame:
    filter_ = LogFilter(source=text or "rejected")
    return _frame(_state(text, phase="value", field="source", filter=filter_), None, LinkState("live", 4.0))


def _typed(text: str) -> Frame:
    verdict = Verdict(WRONG, msg("log.no_range", text=text or "abc"))
    return _frame(_state(text, phase="value", field="ids"), verdict, LinkState("live", 4.0), 3)


def _export(text: str) -> Frame:
    why = raw(text) if text else msg("log.file_exists")
    verdict = Verdict(WRONG, msg("log.not_exported", file=text or "/home/anna/aisle-log-2026-11-20.csv", why=why))
    return _frame(_state(text, phase="export"), verdict, LinkState("live", 4.0), 4)


def _confirm_export(text: str) -> Frame:
    file = text or "/home/anna/aisle-log-2026-11-20.csv"
    return _frame(_state(text, phase="confirm", file_path=file), None, LinkState("live", 4.0))


def _exported(text: str) -> Frame:
    verdict = Verdict(GOOD, msg("list.exported", file=text or "/home/anna/aisle-log-2026-11-20.csv", count=812))
    return _frame(_state(text), verdict, LinkState("live", 4.0), 5)


def _losses(text: str) -> Frame:
    losses: tuple[LossesRow, ...] = tuple(
        {
            "reason_code": "1",
            "description": text or reason,
            "weeks": [Decimal(week) for week in weeks],
            "total": Decimal(sum(weeks)),
        }
        for reason, weeks in LOSSES
    )
    return _frame(_state(text, phase="losses", losses=losses), None, LinkState("live", 4.0))


def _no_losses(text: str) -> Frame:
    return _frame(_state(text, phase="losses"), None, LinkState("syncing", 30.0))


LOG_SAMPLES: tuple[tuple[str, str, Callable[[str], Frame]], ...] = (
    ("log", "list", _list),
    ("log", "losses", _losses_listed),
    ("log", "filtered", _filtered),
    ("log", "narrowed", _narrowed),
    ("log", "nothing", _nothing),
    ("log", "exported", _exported),
    ("log.entry", "count", _entry),
    ("log.filter", "parts", _filter),
    ("log.value", "reason", _reason),
    ("log.value", "source", _source),
    ("log.value", "typed", _typed),
    ("log.export", "refused", _export),
    ("log.confirm", "path", _confirm_export),
    ("log.losses", "weeks", _losses),
    ("log.losses", "none", _no_losses),
)
"""Screen, state and builder of each sample."""
