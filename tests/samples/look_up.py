"""Samples of looking up products and of locations."""

from __future__ import annotations

from decimal import Decimal

from aisle.jobs.list_cursor_and_search import ListOptions
from aisle.jobs.location_list_and_page import LocationsJob, LocationsState
from aisle.jobs.look_up_product import LookUpJob, LookUpState
from aisle.jobs.names_in_messages import Pool
from aisle.jobs.product_rows_and_weekly_sales import (
    ExpectedDelivery,
    Figure,
    LocationStock,
    NearbyStock,
    NearbyStore,
    PoolStock,
    Product,
    Unit,
)
from aisle.jobs.row_types.locations import LocationRow, LocationsRow, ProductHereRow
from aisle.jobs.row_types.orders import OrdersWithProductRow
from aisle.jobs.row_types.products import SearchRow
from aisle.jobs.typed_numbers_dates_and_letters import OfferedChoice
from aisle.jobs.view import ASK, INFO, Frame, LinkState, Verdict, msg

NAMES = (
    "Cola Zero 33 cl can, tray of 24",
    "Cola Zero 1.5 l",
    "Cola classic 33 cl",
    "Ice cola lollies",
    "Cola cubes 200 g",
)
BRANDS = ("Fizz", "Fizz", "Fizz", "Frostig", "")


def look_up_list(text: str) -> Frame:
    """Show matches while a search text is typed."""
    stocks = ("24", "112", "0", None, "3.25")
    rows: tuple[SearchRow, ...] = tuple(
        {
            "product_number": f"400{index}",
            "product_name": text or name,
            "brand_description": text or BRANDS[index],
            "barcode": "",
            "unit": "pc",
            "allow_decimal": False,
            "most_likely_quantity": None if stock is None else Decimal(stock),
        }
        for index, (name, stock) in enumerate(zip(NAMES, stocks, strict=True))
    )
    state = LookUpState(typed=text or "cola", rows=rows, total=31, cursor=1)
    return Frame(LookUpJob().view(state), LinkState("live", 20.0), None, state.typed, "0042", "Anna")


def look_up_nothing(text: str) -> Frame:
    """Show the page before anything is typed."""
    return Frame(LookUpJob().view(LookUpState(search=text)), LinkState("offline", 3600.0), None, "", "0042", "Anna")


def _product_data(text: str) -> Product:
    return Product(
        name=text or NAMES[0],
        brand=text or "Fizz",
        price=Decimal("18.5"),
        discount_price=Decimal("15.99"),
        old_price=Decimal("19.5"),
        unit=text or "tray",
        attention=text or "A2",
        stock=Decimal(24),
        is_stocked=True,
        estimate_age_s=Decimal(180),
        counted_at="2026-11-17T16:20:00",
        next_delivery="2026-11-21T07:00:00",
        next_ordering="2026-11-20T15:00:00",
        is_discontinued=True,
        discontinued_since="2026-11-01",
        referral=text or "4005",
        pools=(PoolStock(1, text or "Shop floor", Decimal(18)), PoolStock(2, "", Decimal(6))),
        locations=(
            LocationStock(text or "A-03-12", Decimal(18), text or "Shop floor"),
            LocationStock(text or "BR-02", Decimal(6), text or "Backroom 4, Promotion 2"),
        ),
        codes=(text or "8710000000042", "54490000"),
        units=(Unit(text or "Pallet", Decimal(60), "18710000000049"), Unit("", Decimal(6), "")),
    )


def _product(text: str) -> LookUpState:
    stores = (
        NearbyStore(text or "Millbrook Station", Decimal(12)),
        NearbyStore(text or "Fernhill", Decimal(3)),
        NearbyStore(text or "Millbrook Depot", Decimal(480), True),
        NearbyStore(text or "Weirside", Decimal(0)),
    )
    who = ("J. Jansen", "De Vries", "Öztürk & Sons", "Bakery The Little Corner", "M. Okafor")
    holders: tuple[OrdersWithProductRow, ...] = tuple(
        {
            "order_number": text or f"10{index}042",
            "customer_name": text or name,
            "pickup_date": "2026-11-20T16:30:00",
            "needed": Decimal(max(0, 4 - index)),
            "held": Decimal(index),
        }
        for index, name in enumerate(who)
    )
    coming = (
        ExpectedDelivery(text or "7005", Decimal(6), msg("moment", at="2026-11-26T08:00:00")),
        ExpectedDelivery("7011", Decimal(24)),
    )
    around = NearbyStock(stores, Decimal(7300))
    return LookUpState(
        "4001", NAMES[0], product=_product_data(text), nearby=around, waiting_orders=holders, deliveries=coming
    )


def look_up_product(text: str) -> Frame:
    """Show a product with all its data."""
    verdict = Verdict(INFO, msg("raw.cut", text=text or NAMES[0]))
    return Frame(LookUpJob().view(_product(text)), LinkState("live", 12.0, 1), verdict, "", "0042", "Anna", 14)


def look_up_sales(text: str) -> Frame:
    """Show a product with its sales, as at a desk."""
    weeks = [f"2026-W{week}" for week in range(41, 51)]
    sales = tuple(
        (name, tuple(Figure(text or week, Decimal(3 * at % 7 + 1)) for at, week in enumerate(shown)))
        for name, shown in (("history", weeks[:6]), ("forecast", weeks[6:]))
    )
    state = _product(text)._replace(sales=sales, options=ListOptions(is_desk=True))
    return Frame(LookUpJob().view(state), LinkState("live", 12.0), None, "", "0042", "Anna")


def look_up_unknown(text: str) -> Frame:
    """Show the last page of a product with almost no data, at a service without surrounding stock."""
    state = LookUpState(
        "4001", text or NAMES[0], product=Product(text or NAMES[0]), nearby=NearbyStock(is_refused=True), page=-1
    )
    return Frame(LookUpJob().view(state), LinkState("none"), None, "", "0042", "Anna")


def look_up_order(text: str) -> Frame:
    """Show a product page on which an order was scanned."""
    verdict = Verdict(ASK, msg("look_up.is_order", order="100042", who=text or "J. Jansen"))
    view = LookUpJob().view(_product(text).with_offered_order(text or "100042")._replace(page=1))
    return Frame(view, LinkState("live", 12.0), verdict, "", "0042", "Anna", 15)


def _aisle(text: str) -> tuple[LocationsRow, ...]:
    places = [(bay, level, bay * level % 3) for bay in range(1, 7) for level in range(1, 4)]
    return tuple(
        {
            "location_code": text or f"A-{bay:02}-{level}",
            "location_order": bay,
            "default_stock_pool": 1,
            "tags": [text or "shelf"],
            "products": count,
            "quantity": Decimal((bay * 7 + level * 5) % 12 * count),
        }
        for bay, level, count in places
    )


def location_list(text: str) -> Frame:
    """Show locations in walking order."""
    state = LocationsState(rows=_aisle(text)[:12], total=118, cursor=2, opened_from_list=True)
    return Frame(LocationsJob().view(state), LinkState("live", 20.0), None, "", "0042", "Anna")


def product_here(
    product: str, label: str, quantity: Decimal, *held: tuple[str, int, int], unit: str = "", **pools: Decimal
) -> ProductHereRow:
    """One product at a location; `held` are order, line and quantity."""
    return {
        "product_number": product,
        "description": label,
        "quantity": quantity,
        "pools": {name.removeprefix("pool_"): each for name, each in pools.items()},
        "allow_decimal": bool(unit),
        "unit": unit,
        "price": Decimal(0),
        "held": [
            {"order_number": order, "line_number": line, "quantity": Decimal(count)} for order, line, count in held
        ],
    }


def location_row(code: str, *products: ProductHereRow, before: str = "", after: str = "") -> LocationRow:
    """One location with its products."""
    return {
        "location_code": code,
        "location_order": 1,
        "default_stock_pool": 0,
        "tags": [],
        "is_stock_unknown": False,
        "unnamed": False,
        "total": len(products),
        "quantity": None,
        "products": list(products),
        "before": before,
        "after": after,
    }


def _location_state(text: str) -> LocationsState:
    first = product_here(
        "4000",
        text or NAMES[0],
        Decimal(6),
        (text or "100042", 2, 2),
        unit=text,
        pool_1=Decimal(4),
        pool_4=Decimal(2),
    )
    more = [
        product_here(f"400{index}", text or name, quantity, unit=text, pool_1=quantity)
        for index, (name, quantity) in enumerate(
            zip(NAMES[1:], map(Decimal, ("12", "1", "40", "2.75")), strict=True), 1
        )
    ]
    place = location_row(text or "A-03-2", first, *more, before="A-03-1", after="A-03-3")
    place |= {"tags": [text or "shelf", "cold"], "default_stock_pool": 1}
    pools = (Pool(1, text or "Shop floor"), Pool(4, text or "Web orders"))
    return LocationsState(code=text or "A-03-2", location=place, pools=pools, aisle=_aisle(text))


def location(text: str) -> Frame:
    """Show the stock of one location."""
    verdict = Verdict(INFO, msg("raw.cut", text=text or "A-03-2"))
    return Frame(LocationsJob().view(_location_state(text)), LinkState("live", 3.0), verdict, "", "0042", "Anna", 3)


def location_with_many_products(text: str) -> Frame:
    """Show a location with more products than its page."""
    state = _location_state(text)
    assert state.location is not None
    state.location["total"] = 12_345
    view = LocationsJob().view(state)
    return Frame(view, LinkState("live", 3.0), None, "", "0042", "Anna", 5)


def location_with_scan(text: str) -> Frame:
    """Show a location page on which a product was scanned."""
    message = msg("locations.product_here", label=text or NAMES[0], place=text or "A-03-2", quantity=Decimal(6))
    view = LocationsJob().view(_location_state(text)._replace(offered=OfferedChoice("product", text or "4000")))
    return Frame(view, LinkState("live", 3.0), Verdict(ASK, message), "", "0042", "Anna", 4)
