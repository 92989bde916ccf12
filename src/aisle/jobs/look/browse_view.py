"""What the browse job shows: the list of places, and the page of one."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs import at_work, window
from aisle.jobs.base import whole
from aisle.jobs.look.browse_state import Browse, Listed, Lying, Place
from aisle.jobs.view import BACK, Block, Detail, Hint, Line, ListWindow, Mark, Msg, Row, amount, known, msg, raw


def listed(state: Browse) -> ListWindow:
    """The places in the order of feet, each with a number to choose it by; empty ones say so."""
    text = state.typed or state.search
    listed = window.shown(
        state,
        "browse.list",
        msg("browse.title"),
        msg("lookup.prompt_order") if state.asked else msg("browse.prompt_list"),
        (msg("browse.head_place"), msg("browse.head_products"), msg("head.stock"), msg("browse.head_tags")),
        tuple(_row(place) for place in state.rows),
        empty=msg("browse.no_match", text=text) if text else msg("browse.none"),
        numbered=state.numbered,
    )
    return listed._replace(choices=_choices(state))


def _row(place: Listed) -> Row:
    if not place.products:
        return Row(place.code, (raw(place.code), msg("browse.empty"), raw(""), raw(place.tags)))
    about = raw("?") if place.quantity is None else msg("lookup.about", text=place.quantity)
    products = msg("browse.products", count=place.products)
    return Row(place.code, (raw(place.code), products, about, raw(place.tags)))


def page(state: Browse) -> Detail:
    """Everything on one place."""
    place = state.place
    return Detail(
        name="browse.place",
        title=msg("browse.title_place", place=state.code),
        prompt=msg("lookup.prompt_order") if state.asked else msg("browse.prompt"),
        lines=_lines(state, place),
        blocks=_blocks(state, place) if place else (),
        page=state.page,
        marks=_marks(state),
        choices=_choices(state),
        hints=(
            *((Hint("n", msg("hint.page_on"), stays=True),) if place and place.after else ()),
            *((Hint("p", msg("hint.page_back"), stays=True),) if place and place.before else ()),
            Hint("r", msg("browse.rest")),
            BACK,
            *at_work.HINTS,
        ),
    )


def _choices(state: Browse) -> tuple[Msg, ...]:
    if state.asked is None:
        return ()
    return (msg("lookup.way_order" if state.asked.kind == "order" else "browse.way_product", key=state.asked.key),)


def _pool(state: Browse, pool: str) -> str:
    return dict(state.names).get(pool) or pool


def _lines(state: Browse, place: Place | None) -> tuple[Line, ...]:
    """How much lies here, and what kind of place it is."""
    if place is None:
        return (Line("place", raw(state.code)), Line("note", msg("browse.unknown")))
    count, shown = max(place.total, len(place.lying)), len(place.lying)
    told = msg("browse.products", count=count) if count else msg("place.unnamed" if place.unnamed else "browse.nothing")
    about = [raw(", ".join(place.tags))] if place.tags else []
    if place.pool:
        about.append(msg("browse.pool", pool=_pool(state, str(place.pool))))
    notes = [msg("browse.both", one=about[0], other=about[1])] if len(about) == 2 else about
    notes += [msg("browse.more", shown=shown)] if shown < count else []
    head = msg("browse.both", one=raw(state.code), other=told)
    return (Line("place", head), *(Line("note", note) for note in notes))


def _blocks(state: Browse, place: Place) -> tuple[Block, ...]:
    """What lies here, and for whom some of it is held."""
    default = str(place.pool) if place.pool else ""
    here = tuple(
        (raw(one.label), _quantity(one), raw(_pools(state, one, default)), raw(one.product)) for one in place.lying
    )
    blocks = (Block(msg("browse.here_title"), here, state.numbered), *_held(place))
    return tuple(block for block in blocks if block.rows)


def _held(place: Place) -> tuple[Block, ...]:
    """What is kept here for each order."""
    orders: dict[str, list[tuple[Msg, Msg]]] = {}
    for one in place.lying:
        kept: dict[str, Decimal] = {}
        for held in one.held:
            kept[held.order] = kept.get(held.order, Decimal(0)) + held.quantity
        for order, quantity in kept.items():
            orders.setdefault(order, []).append((raw(one.label), msg("browse.held", quantity=quantity)))
    return tuple(
        Block(msg("browse.held_title", order=order), tuple(rows), telling=True) for order, rows in orders.items()
    )


def _quantity(one: Lying) -> Msg:
    if one.unit:
        return msg("browse.measure", quantity=known(one.quantity), unit=one.unit)
    return amount(one.quantity)


def _pools(state: Browse, one: Lying, default: str) -> str:
    """The pools of a product, unless it is all in the pool of the place."""
    pools = [(pool, quantity) for pool, quantity in one.pools if quantity]
    if len(pools) == 1:
        return "" if pools[0][0] == default else _pool(state, pools[0][0])
    return ", ".join(f"{_pool(state, pool)} {whole(quantity)}" for pool, quantity in pools)


def _marks(state: Browse) -> tuple[Mark, ...]:
    """The aisle of the place: how full each of its places is, beside the fullest."""
    full = [place.quantity or Decimal(0) for place in state.aisle]
    most = max(full, default=Decimal(0))
    if len(state.aisle) < 2 or state.code not in {place.code for place in state.aisle}:
        return ()
    shares = (
        (place, quantity / most if most > 0 else Decimal(0)) for place, quantity in zip(state.aisle, full, strict=True)
    )
    return tuple(
        Mark(place.code, max(Decimal(0), round(share, 3)), place.code == state.code) for place, share in shares
    )
