"""What the pages of the chain's stores show."""

from __future__ import annotations

from collections.abc import Mapping

from aisle.jobs import window
from aisle.jobs.chain.store_sheet import ADDRESS, FIELDS, ORGANISATION, TECHNICAL, Fact, Listed, Order, Printer, Sheet
from aisle.jobs.chain.stores_state import Stores
from aisle.jobs.view import BACK, PAGES, Block, Detail, Hint, Line, ListWindow, Msg, Row, Step, msg, raw
from aisle.jobs.view import Fact as Shown

TITLES = {
    "all": "stores.title_all",
    "near": "stores.title_near",
    "warehouse": "stores.title_warehouse",
    "visited": "stores.title_visited",
}

EMPTY = {
    "all": "stores.empty_all",
    "near": "stores.empty_near",
    "warehouse": "stores.empty_warehouse",
    "visited": "stores.empty_visited",
}

YES_NO = {"yes": "stores.yes", "no": "stores.no"}

DAYS = (
    *("day.sunday", "day.monday", "day.tuesday", "day.wednesday"),
    *("day.thursday", "day.friday", "day.saturday", "day.sunday"),
)
"""Days of an ordering schema: Monday is 1, Sunday 0 or 7."""

MOMENTS = ("store_next_ordering_datetime", "store_next_delivery_datetime", "last_order_line_exported_on")


def title_of(state: Stores) -> Msg:
    """What the list shows."""
    return msg("stores.title_change") if state.changes and state.show == "all" else msg(TITLES[state.show])


def listed(state: Stores) -> ListWindow:
    """The stores, each with a number to choose it by."""
    text = state.typed or state.search
    return window.shown(
        state,
        "stores",
        title_of(state),
        msg("stores.prompt_change" if state.changes else "stores.prompt"),
        (msg("head.store"), msg("head.number"), msg("stores.head_what"), msg("stores.head_area")),
        tuple(_row(each) for each in state.rows),
        Hint("v", msg("stores.others")),
        empty=msg("stores.no_match", text=text) if text else msg(EMPTY[state.show]),
        more=state.partly,
    )


def _row(each: Listed) -> Row:
    return Row(each.number, (raw(each.name or each.number), raw(each.number), _what(each), raw(each.area)))


def _what(each: Listed) -> Msg:
    if each.here:
        return msg("stores.here")
    if each.waiting:
        return msg("stores.unsent", count=each.waiting)
    if each.warehouse:
        return msg("stores.warehouse")
    return msg("stores.near") if each.near else raw("")


def can_change(state: Stores) -> bool:
    """Whether this person may change this terminal to the store on the page."""
    return bool(state.sheet and state.sheet.may and not state.sheet.here)


def ways(state: Stores) -> tuple[Msg, ...]:
    """What can be done with the store on the page."""
    return (msg("stores.way_change"),) if can_change(state) else ()


def page(state: Stores) -> Detail:
    """One store with all that is known of it."""
    sheet = state.sheet
    return Detail(
        name="stores.page",
        title=msg("stores.title_of", store=state.number),
        prompt=msg("stores.prompt_ways" if ways(state) else "stores.prompt_page"),
        lines=_lines(sheet, state.number) if sheet else (Line("note", msg("stores.awaited")),),
        blocks=_blocks(sheet) if sheet else (),
        page=state.page,
        choices=ways(state),
        hints=(*PAGES, BACK),
    )


def _lines(sheet: Sheet, number: str) -> tuple[Line, ...]:
    """What it is, and whether people work there from here."""
    lines = [Line("product", raw(sheet.name or number))]
    what = msg("stores.is_warehouse" if sheet.warehouse else "stores.is_store")
    lines.append(Line("note", msg("stores.in_area", what=what, area=sheet.area) if sheet.area else what))
    if sheet.here:
        lines.append(Line("note", msg("stores.is_here")))
    elif sheet.there_waiting:
        lines.append(Line("note", msg("stores.unsent_there", count=sheet.there_waiting)))
    elif not sheet.may:
        lines.append(Line("note", msg("stores.no_right")))
    return tuple(lines)


def _blocks(sheet: Sheet) -> tuple[Block, ...]:
    """What is asked for most comes first; what the service did not tell is said where it would stand."""
    untold: tuple[tuple[Msg, ...], ...] = ()
    if sheet.told != "yes":
        untold = ((msg("stores.untold" if sheet.told == "refused" else "stores.unasked"),),)
    found = (
        Block(msg("stores.address"), _facts(sheet, ADDRESS)),
        Block(msg("stores.hours"), tuple((raw(key), raw(value)) for key, value in sheet.hours)),
        Block(msg("stores.orders"), tuple(_order(each) for each in sheet.orders)),
        Block(msg("lookup.pools"), tuple((raw(pool), raw(name)) for pool, name in sheet.pools)),
        Block(msg("stores.printers"), tuple(_printer(each) for each in sheet.printers)),
        Block(msg("stores.organisation"), _facts(sheet, ORGANISATION)),
        Block(msg("stores.technical"), _facts(sheet, TECHNICAL)),
        Block(msg("stores.free"), tuple((raw(key), raw(value)) for key, value in sheet.free)),
        Block(msg("stores.more"), untold),
    )
    return tuple(block for block in found if block.rows)


def _facts(sheet: Sheet, fields: Mapping[str, str]) -> tuple[tuple[Msg, ...], ...]:
    """What is known of these, and with the last of them what the interface does not name."""
    facts = [fact for fact in sheet.facts if fact.field in fields or (fields is TECHNICAL and not fact.known)]
    return tuple((label_of(fact), value_of(fact)) for fact in facts)


def label_of(fact: Fact) -> Msg:
    """What a field is called."""
    return msg(FIELDS[fact.field]) if fact.known else raw(fact.field)


def value_of(fact: Fact) -> Msg:
    """What it says."""
    if fact.field in MOMENTS:
        return msg("moment", at=fact.value)
    return msg(YES_NO[fact.value]) if fact.value in YES_NO else raw(fact.value)


def _order(each: Order) -> tuple[Msg, ...]:
    day = int(each.day) if each.day.isdecimal() else -1
    cells = [msg(DAYS[day]) if 0 <= day < len(DAYS) else raw(each.day), raw(each.time)]
    if each.after:
        cells.append(msg("stores.after", count=int(each.after)) if each.after.isdecimal() else raw(each.after))
    if each.before not in ("", "0"):
        cells.append(msg("stores.before", days=each.before))
    cells += [msg("stores.category", category=each.category)] if each.category else []
    cells += [msg("stores.weeks", weeks=each.weeks)] if each.weeks else []
    return tuple(cells)


def _printer(each: Printer) -> tuple[Msg, ...]:
    cells = [raw(each.name or each.address)]
    cells += [raw(said) for said in (each.address if each.name else "", each.about) if said]
    return (*cells, msg("stores.bluetooth")) if each.bluetooth else tuple(cells)


def answers(state: Stores) -> tuple[Msg, ...]:
    """Whether to work in the store."""
    if not state.sheet:
        return ()
    stay = msg("stores.stay")
    return (msg("stores.go", store=state.number), stay) if can_change(state) else (stay,)


def change(state: Stores) -> Step:
    """What a change to the store means."""
    sheet = state.sheet
    return Step(
        name="stores.change",
        title=msg("stores.title_change"),
        prompt=msg("stores.prompt_sure" if can_change(state) else "stores.prompt_stay"),
        lines=_meaning(sheet, state.number) if sheet else (Line("note", msg("stores.awaited")),),
        facts=_waits(sheet) if sheet else (),
        choices=answers(state),
        hints=(BACK,),
    )


def _meaning(sheet: Sheet, number: str) -> tuple[Line, ...]:
    lines = [Line("place", raw(number)), Line("product", raw(sheet.name or number))]
    if sheet.here:
        return (*lines, Line("note", msg("stores.is_here")))
    if not sheet.may:
        return (*lines, Line("note", msg("stores.no_right")))
    if sheet.waiting or sheet.jobs:
        lines.append(Line("note", msg("stores.meaning", waiting=sheet.waiting, jobs=len(sheet.jobs))))
    else:
        lines.append(Line("note", msg("stores.meaning_none")))
    return tuple(lines) if sheet.there_known else (*lines, Line("note", msg("stores.new_there")))


def _waits(sheet: Sheet) -> tuple[Shown, ...]:
    """What stays in the store that is left, and what waits in the other one."""
    counts = (
        ("stores.fact_unsent", sheet.waiting),
        ("stores.fact_jobs", len(sheet.jobs)),
        ("stores.fact_there_unsent", sheet.there_waiting),
        ("stores.fact_there_jobs", len(sheet.there_jobs)),
    )
    return tuple(Shown(msg(label), msg("number", value=count)) for label, count in counts if count)
