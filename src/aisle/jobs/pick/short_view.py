"""What the short job shows: what is missing, every way on with its number, and what is known beyond this store."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs.look.lookup_view import Cells, about, around_block, coming_block
from aisle.jobs.pick.short_state import Need, Shortage
from aisle.jobs.pick.short_ways import Spot, Way
from aisle.jobs.view import BACK, PAGES, Block, Detail, Line, Msg, known, msg, raw

PROMPTS = {"ways": "short.prompt", "which": "short.prompt_which", "why": "short.prompt_why"}
"""What each phase asks for."""


def view(state: Shortage) -> Detail:
    """The page of a phase."""
    blocks: tuple[Block, ...] = () if state.sure else (_asks(state),)
    if state.phase == "ways":
        blocks = (_ways(state), around_block(state.around, state.sheet), *_others(state))
    return Detail(
        name=f"short.{state.phase}",
        title=_title(state),
        prompt=msg("short.prompt_asked" if state.asked else PROMPTS[state.phase]),
        lines=tuple(_lines(state)),
        blocks=tuple(block for block in blocks if block.rows),
        page=state.page,
        choices=(_asked(state, state.asked),) if state.asked else (),
        hints=(*PAGES, BACK),
    )


def _title(state: Shortage) -> Msg:
    if state.phase == "why":
        return msg("short.title_reject", order=state.order)
    return msg("short.title_at", place=state.place) if state.place else msg("short.title")


def _asked(state: Shortage, way: Way) -> Msg:
    if way.kind == "reject":
        return msg("short.way_sure", order=state.order)
    return msg("short.way_product" if way.kind == "product" else "short.way_all_the_same", key=way.key)


# What is missing, and the rest in a few words for those who have no room for more


def _lines(state: Shortage) -> list[Line]:
    lines = [Line("product", raw(state.label)), Line("quantity", _missing(state))]
    if state.phase != "ways":
        return lines
    parts = [part for part in (_around(state), _coming(state)) if part]
    if parts:
        both = msg("short.both", one=parts[0], other=parts[1]) if len(parts) == 2 else parts[0]
        lines.append(Line("note", both))
    if not state.kept:
        lines.append(Line("note", msg("short.kept_here")))
    return lines


def _missing(state: Shortage) -> Msg:
    if state.unit:
        return msg("short.missing_measure", rest=state.rest, of=state.of, unit=state.unit)
    return msg("short.missing", rest=state.rest, of=state.of)


def _around(state: Shortage) -> Msg | None:
    if state.around.refused or state.around.age < 0 or (state.sheet and state.sheet.keeps_none):
        return None
    stores = [max(Decimal(0), near.quantity) for near in state.around.stores if not near.is_warehouse]
    return msg("short.around", quantity=sum(stores, Decimal(0))) if stores else None


def _coming(state: Shortage) -> Msg | None:
    """The next delivery that brings it, else the one that the stock list names."""
    if state.coming:
        first = state.coming[0]
        if first.day is None:
            return msg("lookup.coming_with", quantity=known(first.quantity), order=first.order)
        return msg("short.coming_on", quantity=known(first.quantity), order=first.order, day=first.day)
    return msg("short.coming", at=state.sheet.delivery) if state.sheet and state.sheet.delivery else None


# The blocks


def _ways(state: Shortage) -> Block:
    title = msg("short.ways")
    rows = tuple(_way(state, way) for way in state.ways)
    return Block(title, rows, len(rows), tight=True)


def _way(state: Shortage, way: Way) -> Cells:
    if way.kind == "reject":
        return (
            msg("short.way_reject", order=state.orders[0]) if len(state.orders) == 1 else msg("short.way_reject_one"),
        )
    if way.kind == "reason":
        return (raw(next(reason.words for reason in state.reasons if reason.code == way.key)),)
    return _spot(state, next(spot for spot in state.spots if spot.place == way.key))


def _spot(state: Shortage, spot: Spot) -> Cells:
    named = {pool.pool: pool.name for pool in state.sheet.pools} if state.sheet else {}
    where = msg("short.way_place", place=spot.place)
    if spot.quantity <= 0:
        return (where, msg("short.none"))
    if not spot.pool or len(named) < 2:
        return (where, about(spot.quantity))
    name = named.get(spot.pool) or str(spot.pool)
    return (where, about(spot.quantity), msg("short.pool", name=name))


def _others(state: Shortage) -> tuple[Block, ...]:
    """What is to come, and who waits for it where several do."""
    waiting = tuple(_need(need) for need in state.needs) if len(state.needs) > 1 else ()
    return (coming_block(state.sheet, state.coming), Block(msg("short.needs"), waiting))


def _need(need: Need) -> Cells:
    return (_order(need), msg("number", value=need.rest))


def _order(need: Need) -> Msg:
    return msg("short.tote", order=need.order, tote=need.tote) if need.tote else raw(need.order)


def _asks(state: Shortage) -> Block:
    """The orders to choose from, or the reasons."""
    if state.phase == "which":
        first = {need.order: need for need in reversed(state.needs)}
        rows: tuple[Cells, ...] = tuple((_order(first[order]),) for order in state.orders)
        title = msg("short.orders")
    else:
        rows = tuple((raw(reason.words),) for reason in state.reasons)
        title = msg("short.reasons")
    return Block(title, rows, len(rows), tight=True)
