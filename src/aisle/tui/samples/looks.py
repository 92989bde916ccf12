"""Samples of the screens that are for looking: products and places."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs.look.browse import BrowseJob
from aisle.jobs.look.browse_state import Browse, Held, Listed, Lying, Place, Way
from aisle.jobs.look.lookup import LookupJob
from aisle.jobs.look.lookup_state import Hit, Lookup
from aisle.jobs.sheet import Around, Coming, Holder, Near, Pool, Sheet, Spot, Unit
from aisle.jobs.view import ASK, INFO, Frame, Link, Verdict, msg

NAMES = (
    "Cola Zero 33 cl can, tray of 24",
    "Cola Zero 1.5 l",
    "Cola classic 33 cl",
    "Ice cola lollies",
    "Cola cubes 200 g",
)
BRANDS = ("Fizz", "Fizz", "Fizz", "Frostig", "")


def lookup_list(text: str) -> Frame:
    """Hits while somebody types."""
    rows = tuple(
        Hit(f"400{index}", text or name, text or BRANDS[index], ("24", "112", "0", "", "3.25")[index], "pc")
        for index, name in enumerate(NAMES)
    )
    state = Lookup(typed=text or "cola", rows=rows, total=31, cursor=1)
    return Frame(LookupJob().view(state), Link("live", 20.0), None, state.typed, "0042", "Anna")


def lookup_nothing(text: str) -> Frame:
    """Before anything is said."""
    return Frame(LookupJob().view(Lookup(search=text)), Link("offline", 3600.0), None, "", "0042", "Anna")


def _sheet(text: str) -> Sheet:
    return Sheet(
        name=text or NAMES[0],
        brand=text or "Fizz",
        price=Decimal("18.5"),
        unit=text or "tray",
        attention=text or "A2",
        stock=Decimal(24),
        is_stocked=True,
        age=Decimal(180),
        counted="2026-11-17T16:20:00",
        delivery="2026-11-21T07:00:00",
        ordering="2026-11-20T15:00:00",
        gone=True,
        gone_since="2026-11-01",
        referral=text or "4005",
        pools=(Pool(1, text or "Shop floor", Decimal(18)), Pool(2, "", Decimal(6))),
        spots=(
            Spot(text or "A-03-12", Decimal(18), text or "Shop floor"),
            Spot(text or "BR-02", Decimal(6), text or "Backroom 4, Promotion 2"),
        ),
        codes=(text or "8710000000042", "54490000"),
        units=(Unit(text or "Pallet", Decimal(60), "18710000000049"), Unit("", Decimal(6), "")),
    )


def _product(text: str) -> Lookup:
    stores = (
        Near(text or "Millbrook Station", Decimal(12)),
        Near(text or "Fernhill", Decimal(3)),
        Near(text or "Millbrook Depot", Decimal(480), True),
        Near(text or "Weirside", Decimal(0)),
    )
    who = ("J. Jansen", "De Vries", "Öztürk & Sons", "Bakery The Little Corner", "M. Okafor")
    holders = tuple(
        Holder(text or f"10{index}042", text or name, "2026-11-20T16:30:00", Decimal(max(0, 4 - index)), Decimal(index))
        for index, name in enumerate(who)
    )
    coming = (Coming(text or "7005", Decimal(6), msg("moment", at="2026-11-26T08:00:00")), Coming("7011", Decimal(24)))
    around = Around(stores, Decimal(7300))
    return Lookup("4001", NAMES[0], sheet=_sheet(text), around=around, holders=holders, coming=coming)


def lookup_product(text: str) -> Frame:
    """All that is known of a product."""
    verdict = Verdict(INFO, msg("lookup.shown", label=text or NAMES[0]))
    return Frame(LookupJob().view(_product(text)), Link("live", 12.0, 1), verdict, "", "0042", "Anna", 14)


def lookup_bare(text: str) -> Frame:
    """A product of which next to nothing is known, at a service that does not tell what is around; the last page."""
    state = Lookup("4001", text or NAMES[0], sheet=Sheet(text or NAMES[0]), around=Around(refused=True), page=-1)
    return Frame(LookupJob().view(state), Link("none"), None, "", "0042", "Anna")


def lookup_order(text: str) -> Frame:
    """An order was scanned on the page of a product."""
    verdict = Verdict(ASK, msg("lookup.is_order", order="100042", who=text or "J. Jansen"))
    view = LookupJob().view(_product(text).offering(text or "100042")._replace(page=1))
    return Frame(view, Link("live", 12.0), verdict, "", "0042", "Anna", 15)


def _aisle(text: str) -> tuple[Listed, ...]:
    places = [(bay, level, bay * level % 3) for bay in range(1, 7) for level in range(1, 4)]
    return tuple(
        Listed(text or f"A-{bay:02}-{level}", count, Decimal((bay * 7 + level * 5) % 12 * count), text or "shelf")
        for bay, level, count in places
    )


def browse_list(text: str) -> Frame:
    """Places in the order of feet."""
    state = Browse(rows=_aisle(text)[:12], total=118, cursor=2, over_list=True)
    return Frame(BrowseJob().view(state), Link("live", 20.0), None, "", "0042", "Anna")


def _place(text: str) -> Browse:
    lying = tuple(
        Lying(
            f"400{index}",
            text or name,
            quantity,
            text,
            (("1", quantity),) if index else (("1", Decimal(4)), ("4", Decimal(2))),
            (Held(text or "100042", 2, Decimal(2)),) if index == 0 else (),
        )
        for index, (name, quantity) in enumerate(zip(NAMES, map(Decimal, ("6", "12", "1", "40", "2.75")), strict=True))
    )
    place = Place(text or "A-03-2", 1, (text or "shelf", "cold"), lying, "A-03-1", "A-03-3")
    names = (("1", text or "Shop floor"), ("4", text or "Web orders"))
    return Browse(code=text or "A-03-2", place=place, names=names, aisle=_aisle(text))


def browse_place(text: str) -> Frame:
    """Everything on one place."""
    verdict = Verdict(INFO, msg("browse.shown", place=text or "A-03-2"))
    return Frame(BrowseJob().view(_place(text)), Link("live", 3.0), verdict, "", "0042", "Anna", 3)


def browse_stockroom(text: str) -> Frame:
    """A place with more products than its page has."""
    state = _place(text)
    assert state.place is not None
    view = BrowseJob().view(state._replace(place=state.place._replace(total=12_345)))
    return Frame(view, Link("live", 3.0), None, "", "0042", "Anna", 5)


def browse_scanned(text: str) -> Frame:
    """A product was scanned on the page of a place."""
    told = msg("browse.here", label=text or NAMES[0], place=text or "A-03-2", quantity=Decimal(6))
    view = BrowseJob().view(_place(text)._replace(asked=Way("product", text or "4000")))
    return Frame(view, Link("live", 3.0), Verdict(ASK, told), "", "0042", "Anna", 4)
