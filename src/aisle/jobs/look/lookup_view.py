"""What the lookup job shows: the list of hits, and the page of a product."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal

from aisle.jobs import at_work, window
from aisle.jobs.base import priced, whole
from aisle.jobs.look.lookup_state import Hit, Lookup, Way
from aisle.jobs.sheet import Around, Coming, Holder, Sheet, Unit
from aisle.jobs.view import BACK, PAGES, Block, Detail, Hint, Line, ListWindow, Msg, Row, known, msg, raw

Cells = tuple[Msg, ...]


def listed(state: Lookup) -> ListWindow:
    """The products found, each with a number to choose it by."""
    text = state.typed or state.search
    listed = window.shown(
        state,
        "lookup.list",
        msg("lookup.title"),
        msg("lookup.prompt_order") if state.asked else window.prompt(state),
        (msg("head.product"), msg("head.stock"), msg("head.number"), msg("head.brand")),
        tuple(_hit(hit) for hit in state.rows),
        empty=window.not_found("lookup.no_match", text, state.partly) if text else msg("lookup.empty"),
        more=state.partly,
    )
    return listed._replace(choices=tuple(_way(way) for way in state.ways))


def _hit(hit: Hit) -> Row:
    stock = msg("lookup.about", text=Decimal(hit.stock)) if hit.stock else raw("")
    return Row(hit.number, (raw(hit.name or hit.number), stock, raw(hit.number), raw(hit.brand)))


def page(state: Lookup) -> Detail:
    """All that is known of one product."""
    sheet = state.sheet
    name = sheet.name if sheet else state.label or state.number
    lines = [Line("product", raw(name))]
    lines += _lines(sheet) if sheet else [Line("note", msg("lookup.unknown"))]
    here = _here(sheet) if sheet else ()
    after = (coming_block(sheet, state.coming), *(_what_it_is(sheet, state.number) if sheet else ()))
    return Detail(
        name="lookup.product",
        title=msg("lookup.title_product", number=state.number),
        prompt=_prompt(state),
        lines=tuple(lines),
        blocks=tuple(
            block for block in (*here, around_block(state.around, sheet), _orders(state.holders), *after) if block.rows
        ),
        page=state.page,
        choices=tuple(_way(way) for way in state.ways),
        hints=(
            *PAGES,
            BACK,
            *at_work.HINTS,
            Hint("e", msg("hint.store_product")),
        ),
    )


def _prompt(state: Lookup) -> Msg:
    if state.asked:
        return msg("lookup.prompt_order")
    return msg("lookup.prompt_ways") if state.ways else msg("lookup.prompt")


def _way(way: Way) -> Msg:
    return msg("lookup.way_order" if way.kind == "order" else "lookup.way_product", key=way.key)


def _lines(sheet: Sheet) -> list[Line]:
    """What is asked for most: how many, for how much, and what to beware of."""
    stock = _stock(sheet) if sheet.is_stocked else msg("lookup.no_stock")
    told = msg("lookup.stock_price", stock=stock, price=priced(sheet.price)) if sheet.price else stock
    lines = [Line("quantity", told)]
    if sheet.gone:
        lines.append(
            Line("note", msg("lookup.gone", referral=sheet.referral) if sheet.referral else msg("lookup.ended"))
        )
    elif sheet.gone_since:
        lines.append(Line("note", msg("lookup.ending", at=sheet.gone_since)))
    if sheet.attention:
        lines.append(Line("note", msg("lookup.attention", codes=sheet.attention)))
    return lines


def _stock(sheet: Sheet) -> Msg:
    """Pieces go without saying."""
    if sheet.decimal and sheet.unit:
        return msg("lookup.measure", stock=sheet.stock, unit=sheet.unit)
    return msg("lookup.stock", stock=sheet.stock)


def about(quantity: Decimal | None) -> Msg:
    """An estimate."""
    return raw("?") if quantity is None else msg("lookup.about", text=quantity)


def aged(title: Msg, age: Decimal) -> Msg:
    """A title, with the age of what stands under it where that is known."""
    return msg("lookup.aged", title=title, seconds=str(age)) if age >= 0 else title


def _here(sheet: Sheet) -> tuple[Block, ...]:
    """Places and pools, of what has a stock."""
    if sheet.keeps_none:
        return ()
    return (
        Block(msg("lookup.places"), _places(sheet)),
        Block(msg("lookup.pools"), tuple(
            (raw(pool.name) if pool.name else msg("lookup.pool", pool=pool.pool), about(pool.quantity))
            for pool in sheet.pools
        )),
    )  # fmt: skip


def _what_it_is(sheet: Sheet, product: str) -> tuple[Block, ...]:
    return (
        Block(msg("lookup.about_it"), _facts(sheet, product)),
        Block(msg("lookup.codes"), codes_of(sheet.codes, sheet.units)),
    )


def _places(sheet: Sheet) -> tuple[Cells, ...]:
    return tuple(
        (raw(spot.place), about(spot.quantity), *([raw(spot.pools)] if spot.pools else [])) for spot in sheet.spots
    )


def coming_block(sheet: Sheet | None, coming: Iterable[Coming]) -> Block:
    """When more of it comes: with which deliveries, and as the stock list says; and until when it can be ordered."""
    rows: list[Cells] = list(coming_rows(coming))
    if sheet and sheet.delivery:
        rows.append((msg("lookup.delivery"), msg("moment", at=sheet.delivery)))
    if sheet and sheet.ordering:
        rows.append((msg("lookup.ordering"), msg("moment", at=sheet.ordering)))
    return Block(msg("lookup.coming"), tuple(rows))


def coming_rows(coming: Iterable[Coming]) -> Iterator[Cells]:
    """How much comes with which delivery, and when."""
    for one in coming:
        what = msg("lookup.coming_with", quantity=known(one.quantity), order=one.order)
        yield (what, one.day) if one.day else (what,)


def _facts(sheet: Sheet, product: str) -> tuple[Cells, ...]:
    """What it is: number, brand, price, unit, what to beware of, when it was counted and estimated. That is no age of
    the data: an estimate is made when something moves, and holds until the next time."""
    known = (
        ("fact.product_number", raw(product), product),
        ("fact.brand", raw(sheet.brand), sheet.brand),
        ("fact.price", priced(sheet.price), sheet.price),
        ("fact.unit", raw(sheet.unit), sheet.unit),
        ("fact.attention", raw(sheet.attention), sheet.attention),
        ("fact.counted", msg("moment", at=sheet.counted), sheet.counted),
        ("fact.estimated", msg("today.ago", seconds=str(sheet.age)), sheet.age >= 0 and not sheet.keeps_none),
        ("fact.ends", msg("moment", at=sheet.gone_since), sheet.gone_since),
        ("fact.referral", raw(sheet.referral), sheet.referral),
    )
    return tuple((msg(label), value) for label, value, there in known if there)


def codes_of(codes: Iterable[str], units: Iterable[Unit]) -> tuple[Cells, ...]:
    """Barcodes, then the units in which a product is handled, each with its own."""
    return (*((raw(code),) for code in codes), *((_unit(unit), raw(unit.code)) for unit in units))


def _unit(unit: Unit) -> Msg:
    if not unit.name:
        return msg("lookup.case", quantity=unit.quantity)
    if whole(unit.quantity) in unit.name:
        return raw(unit.name)
    return msg("lookup.unit", quantity=unit.quantity, name=unit.name)


def around_block(around: Around, sheet: Sheet | None = None) -> Block:
    """Stores and warehouses around, from whatever is known, however old that is; nothing of what has no stock."""
    if sheet and sheet.keeps_none:
        return Block(msg("lookup.around"), ())
    if around.refused:
        return Block(msg("lookup.around"), ((msg("lookup.around_refused"),),))
    if around.age < 0:
        return Block(msg("lookup.around"), ((msg("lookup.around_asked"),),))
    rows: tuple[Cells, ...] = tuple(
        (msg("lookup.warehouse" if near.is_warehouse else "lookup.store", name=near.name), about(near.quantity))
        for near in around.stores
    )
    return Block(aged(msg("lookup.around"), around.age), rows or ((msg("lookup.around_none"),),))


def _orders(holders: tuple[Holder, ...]) -> Block:
    return Block(msg("lookup.orders", count=len(holders)), tuple(
        (raw(one.order), _need(one), raw(one.who), msg("moment", at=one.pickup)) for one in holders
    ))  # fmt: skip


def _need(one: Holder) -> Msg:
    if one.needed <= 0:
        return msg("lookup.has", held=one.held)
    return (
        msg("lookup.needs_has", needed=one.needed, held=one.held)
        if one.held
        else msg("lookup.needs", needed=one.needed)
    )
