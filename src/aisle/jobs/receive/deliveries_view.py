"""What the list of deliveries shows, and the page of one."""

from __future__ import annotations

from aisle.jobs import window
from aisle.jobs.receive.deliveries_state import Deliveries, Sheet
from aisle.jobs.receive.receiving import Line
from aisle.jobs.receive.view import HEADS, came, came_of, coded, lines_of_it, row_of
from aisle.jobs.view import BACK, PAGES, Block, Detail, Hint, ListWindow, Msg, msg, raw
from aisle.jobs.view import Line as Shown

STATES = {"open": "deliveries.expected", "partial": "deliveries.partial", "received": "deliveries.received"}
"""What the states of a delivery are called."""

TITLES = {
    "open": "deliveries.title_open",
    "received": "deliveries.title_received",
    "all": "deliveries.title_all",
    "receipts": "deliveries.title_receipts",
}

KINDS = {"1": "deliveries.kind_purchase", "2": "deliveries.kind_transfer"}
"""Types of deliveries and receipts that the interface names; any other is a number."""


def title_of(state: Deliveries) -> Msg:
    """What the list shows."""
    return msg("deliveries.title_kind", kind=kind_of(state.kind)) if state.kind else msg(TITLES[state.show])


def kind_of(kind: str) -> Msg:
    """What a type is called."""
    return msg(KINDS[kind]) if kind in KINDS else msg("deliveries.kind", kind=kind)


def listed(state: Deliveries) -> ListWindow:
    """Deliveries or receipts, each with a number to choose it by."""
    text = state.typed or state.search
    when = msg("head.when") if state.show == "receipts" else HEADS[-1]
    return window.shown(
        state,
        "deliveries",
        title_of(state),
        msg("deliveries.prompt"),
        (*HEADS[:-1], when),
        tuple(row_of(each) for each in state.rows),
        Hint("v", msg("deliveries.others")),
        empty=msg("deliveries.no_match", text=text) if text else msg("deliveries.empty"),
        tall=True,
    )


def ways(state: Deliveries) -> tuple[Msg, ...]:
    """What can be done with the delivery on the page."""
    return (msg("deliveries.receive"),) if state.sheet else ()


def page(state: Deliveries) -> Detail:
    """One delivery: whose, when, how much of it, and all its lines."""
    sheet = state.sheet
    return Detail(
        name="deliveries.page",
        title=msg("receive.title_of", delivery=state.number),
        prompt=msg("receive.prompt_choice") if sheet else msg("deliveries.prompt"),
        lines=_head(sheet) if sheet else (Shown("note", msg("deliveries.awaited")),),
        blocks=_blocks(sheet) if sheet else (),
        page=state.page,
        choices=ways(state),
        hints=(*PAGES, BACK),
    )


def _head(sheet: Sheet) -> tuple[Shown, ...]:
    mixed = len(sheet.lines) > 1 and any(line.decimal for line in sheet.lines)
    mixed = mixed or any(line.unsaid for line in sheet.lines)
    done = sum(not line.is_open for line in sheet.lines)
    unknown = sheet.received is None
    progress = lines_of_it(None if unknown else done, len(sheet.lines)) if mixed else came(sheet.received, sheet.of)
    named = (Shown("product", raw(sheet.supplier)),) if sheet.supplier else ()
    about = "deliveries.untold" if unknown else STATES.get(sheet.state, "deliveries.expected")
    return (*named, Shown("note", msg(about, progress=progress)))


def _blocks(sheet: Sheet) -> tuple[Block, ...]:
    about = (
        (msg("head.expected_on"), msg("moment", at=sheet.expected), sheet.expected),
        (msg("head.type"), kind_of(sheet.kind), sheet.kind),
        (msg("head.containers"), raw(sheet.containers), sheet.containers),
        (msg("head.reference"), raw(sheet.reference), sheet.reference),
        (msg("head.from_store"), raw(sheet.origin), sheet.origin),
        (msg("head.tracing"), raw(sheet.tracing), sheet.tracing),
    )
    rows = tuple((label, value) for label, value, said in about if said)
    lines = tuple(_line(line) for line in sheet.lines)
    found = (
        Block(msg("deliveries.lines"), lines or ((msg("receive.no_lines"),),)),
        Block(msg("deliveries.about"), rows),
    )
    return tuple(block for block in found if block.rows)


def _line(line: Line) -> tuple[Msg, ...]:
    cells = [raw(line.label), came_of(line)]
    cells += [coded(line.container)] if line.container else []
    cells += [msg("deliveries.for_order", order=line.order)] if line.order else []
    return tuple(cells)
