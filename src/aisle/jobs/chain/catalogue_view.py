"""What the pages of the chain's catalogue show."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from aisle.jobs import window
from aisle.jobs.base import priced
from aisle.jobs.chain.catalogue_sheet import FLAGS, KIND, MONEY, PRICES, SOLD, SUPPLY, TEXTS, Facet, Hit, Kin, Page
from aisle.jobs.chain.catalogue_state import Catalogue
from aisle.jobs.chain.stores_view import YES_NO
from aisle.jobs.look.lookup_view import codes_of
from aisle.jobs.view import BACK, PAGES, Block, Detail, Hint, Line, ListWindow, Msg, Row, msg, raw
from aisle.tuples import NamedTuple

SHOWN = {
    "all": "products.title_all",
    "promotion": "products.title_promotion",
    "set": "products.title_set",
    "by_hand": "products.title_by_hand",
    "ended": "products.title_ended",
}

GATHERED = {"category": "products.title_categories", "supplier": "products.title_suppliers"}


class Way(NamedTuple):
    """A numbered way on from a product: to a job, or to the products that belong to it."""

    text: Msg
    job: str = ""


def title_of(state: Catalogue) -> Msg:
    """What the list shows."""
    if state.among:
        return msg("products.title_kin", product=state.trail[-1])
    title = msg(SHOWN[state.show])
    for code, name in ((state.category, state.category_name), (state.supplier, state.supplier_name)):
        if code:
            title = msg("products.of", title=title, what=name or code)
    return title


def listed(state: Catalogue) -> ListWindow:
    """The products, each with a number to choose it by."""
    text = state.typed or state.search
    filtered = bool(state.category or state.supplier or state.show != "all")
    none = msg("products.none_such") if filtered else msg("products.empty")
    return window.shown(
        state,
        "products",
        title_of(state),
        window.prompt(state),
        (msg("head.product"), msg("head.number"), msg("head.brand"), msg("stores.head_what")),
        tuple(_hit(hit) for hit in state.rows),
        *(() if state.among else _filters(state)),
        empty=window.not_found("lookup.no_match", text, state.partly) if text else none,
        more=state.partly,
    )


def _filters(state: Catalogue) -> tuple[Hint, ...]:
    return (
        Hint("v", msg("products.others")),
        Hint("c", msg("products.no_category" if state.category else "products.category")),
        Hint("s", msg("products.no_supplier" if state.supplier else "products.supplier")),
    )


def _hit(hit: Hit) -> Row:
    if hit.ended:
        what = msg("products.is_ended")
    elif hit.promotion:
        what = msg("products.is_promoted")
    elif hit.set:
        what = msg("products.is_set")
    else:
        what = raw("") if hit.in_store else msg("products.not_here")
    return Row(hit.number, (raw(hit.name or hit.number), raw(hit.number), raw(hit.brand), what))


def facets(state: Catalogue) -> ListWindow:
    """The categories or suppliers, those with the most products first."""
    text = state.typed or state.search
    return window.shown(
        state,
        "products.filter",
        msg(GATHERED[state.kind]),
        msg("products.prompt_filter"),
        (msg("products.head_name"), msg("products.head_count"), msg("products.head_code")),
        tuple(_facet(facet) for facet in state.rows),
        empty=msg("products.no_such", text=text) if text else msg("products.none_said"),
    )


def _facet(facet: Facet) -> Row:
    return Row(facet.code, (raw(facet.name or facet.code), msg("number", value=facet.products), raw(facet.code)))


def ways(state: Catalogue) -> tuple[Way, ...]:
    """What can be done with the product on the page, and the products that belong to it."""
    if not state.sheet:
        return ()
    others = kin_of(state)
    kin = (Way(msg("products.way_kin", count=len(others))),) if others else ()
    return (Way(msg("products.way_lookup"), "lookup"), Way(msg("products.way_store"), "store_product"), *kin)


def kin_of(state: Catalogue) -> tuple[str, ...]:
    """The numbers of the parts and variants that the catalogue has."""
    kin = [*state.sheet.parts, *state.sheet.variants] if state.sheet else []
    return tuple(dict.fromkeys(each.number for each in kin if each.name and each.number != state.number))


def page(state: Catalogue) -> Detail:
    """One product with all that the catalogue has of it."""
    sheet = state.sheet
    return Detail(
        name="products.page",
        title=msg("lookup.title_product", number=state.number),
        prompt=msg("lookup.prompt_ways" if sheet else "lookup.prompt"),
        lines=_lines(sheet) if sheet else (Line("note", msg("lookup.unknown")),),
        blocks=_blocks(sheet) if sheet else (),
        page=state.page,
        choices=tuple(way.text for way in ways(state)),
        hints=(*PAGES, BACK),
    )


def _lines(sheet: Page) -> tuple[Line, ...]:
    lines = [Line("product", raw(sheet.name))]
    if sheet.price:
        lines.append(Line("quantity", priced(sheet.price)))
    if not sheet.known:
        lines.append(Line("note", msg("products.stock_only")))
    elif sheet.ended:
        gone = msg("lookup.gone", referral=sheet.referral) if sheet.referral else msg("lookup.ended")
        lines.append(Line("note", gone))
    if sheet.attention:
        lines.append(Line("note", msg("lookup.attention", codes=sheet.attention)))
    return tuple(lines)


def _blocks(sheet: Page) -> tuple[Block, ...]:
    """What is long, an address or a list of stores, has a block to itself: there it is wrapped, and none of it cut."""
    facts = dict(sheet.facts)
    kin = tuple(_kin(each) for each in sheet.variants)
    parts = tuple(_kin(each) for each in sheet.parts)
    flags = tuple((msg(FLAGS[name]), msg(YES_NO[facts[name]])) for name in FLAGS if facts.get(name) in YES_NO)
    codes = codes_of(sheet.codes, sheet.units)
    found = (
        Block(msg("products.prices"), _facts(facts, PRICES)),
        Block(msg("products.parts"), parts),
        Block(msg("products.variants"), kin),
        Block(msg("lookup.codes"), codes),
        Block(msg("products.kind"), _facts(facts, KIND)),
        Block(msg("products.supply"), _facts(facts, SUPPLY)),
        Block(msg("stores.free"), tuple((raw(key), raw(value)) for key, value in sheet.free)),
        Block(msg("products.flags"), flags),
        *(Block(msg(label), ((raw(facts[name]),),)) for name, label in (SOLD | TEXTS).items() if name in facts),
        Block(msg("stores.more"), tuple((raw(name), raw(value)) for name, value in sheet.further)),
    )
    return tuple(block for block in found if block.rows)


def _facts(facts: Mapping[str, str], fields: Mapping[str, str]) -> tuple[tuple[Msg, ...], ...]:
    return tuple((msg(label), _value(name, facts[name])) for name, label in fields.items() if name in facts)


def _value(name: str, text: str) -> Msg:
    return priced(Decimal(text)) if name in MONEY and text.replace(".", "", 1).isdecimal() else raw(text)


def _kin(each: Kin) -> tuple[Msg, ...]:
    return (raw(each.name or each.number), *([raw(each.about)] if each.about else []), raw(each.number))
