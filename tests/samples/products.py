"""Samples of the catalogue pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aisle.jobs.row_types.products import CatalogueRow, FacetsRow
from aisle.jobs.supervisor.catalogue import CatalogueProduct, ProductsJob, ProductsState, parse_catalogue_product
from aisle.jobs.view import INFO, Frame, LinkState, Verdict, msg


def catalogue_row(number: str, name: str, brand: str = "", **fields: Any) -> CatalogueRow:
    """One row of the list."""
    row: Any = {"product_number": number, "product_name": name, "brand_description": brand, "category_code": "MUE"}
    row |= {"in_catalogue": True, "in_store": True, "promotion": False, "set": False, "ended": False, "by_hand": False}
    return row | fields  # type: ignore[no-any-return]


PRODUCT_ROWS = (
    catalogue_row("110001", "Hillmoor Müsli Berry 500 g", "Hillmoor", promotion=True),
    catalogue_row("110002", "Oat flakes, wholegrain, 500 g", "Hillmoor"),
    catalogue_row("118040", "Breakfast box for two, with a jar of heather honey", "Hillmoor", set=True),
    catalogue_row("120007", "Orange lemonade 1.5 l", "Springwell", ended=True),
    catalogue_row("130411", "Gouda, mature, in one piece", in_store=False),
)
FACETS: tuple[FacetsRow, ...] = (
    {"code": "CHE", "name": "Cheese and butter", "count": 412},
    {"code": "MUE", "name": "Müsli, flakes and porridge", "count": 133},
    {"code": "WIN-R", "name": "", "count": 97},
    {"code": "LEM", "name": "Lemonade", "count": 41},
)
PRODUCT: dict[str, Any] = {
    "product_number": "118040",
    "product_name": "Breakfast box for two, with a jar of heather honey",
    "barcode": "9520001118040",
    "barcodes_array": "9520001118057,9520001118064",
    "brand_description": "Hillmoor",
    "brand_code": "HM",
    "category_code": "MUE",
    "category_name": "Müsli, flakes and porridge",
    "price": 18.5,
    "old_price": 21,
    "promotion_price": 16.95,
    "purchase_price": 9.2,
    "price_compare_unit": "kg",
    "price_compare_multiplier": 0.8,
    "promotion": "Winter breakfast",
    "promotion_week": "2026-48",
    "is_set": True,
    "is_active": True,
    "is_stock": True,
    "is_expiration": False,
    "shelf_label": True,
    "variant_family": "BOX",
    "variant_code": "2P",
    "size": "for two",
    "supplier_id": "S12",
    "supplier_name": "Moor & Mill Wholesale",
    "supplier_product_number": "MM-40-2",
    "moq": 4,
    "edit_min_max_percentage": 25,
    "purchase_unit_name": "Case of 6",
    "purchase_unit_quantity": 6,
    "purchase_unit_barcode": "19520001118047",
    "units": [{"unit_name": "Gift pair", "unit_quantity": 2, "unit_barcode": "29520001118044"}],
    "stores_allowed": ["0001", "0002", "0042"],
    "free_fields": [{"key": "Allergens", "sort_order": 1, "value": "nuts, milk, gluten"}],
    "product_details": "A box of müsli, porridge, crackers and honey. Keep dry.",
    "product_url": "https://shop.example/products/breakfast-box-for-two-with-a-jar-of-heather-honey?size=2",
    "image_url": "https://shop.example/img/118040.jpg",
    "carrier_item_quantity": 1,
    "shelf_label_quantity": 2,
    "attention_code": "FRAGILE",
}


def variant(number: str, name: str, size: str) -> dict[str, Any]:
    """Product of the same family."""
    return {"product_number": number, "product_name": name, "color": None, "size": size, "factor": None}


PRODUCT_PAGE_ROW: Any = {
    **PRODUCT,
    "in_catalogue": True,
    "catalogue": PRODUCT,
    "parts": [
        {"product_number": "110001", "product_name": "Hillmoor Müsli Berry 500 g", "quantity": "2"},
        {"product_number": "117003", "product_name": "Heather honey 250 g", "quantity": "1"},
        {"product_number": "999", "product_name": "", "quantity": "1"},
    ],
    "variants": [variant("118041", "Breakfast box for four", "for four")],
}


def _page(text: str) -> CatalogueProduct:
    if not text:
        return parse_catalogue_product(PRODUCT_PAGE_ROW, "2026-11-20T10:00:00Z")
    kept = ("product_number",)
    data = {name: text if isinstance(value, str) and name not in kept else value for name, value in PRODUCT.items()}
    data |= {"free_fields": [{"key": text, "value": text}], "stores_allowed": [text] * 3, text: text}
    kin = [variant("118041", text, text) | {"quantity": text}]
    row: Any = {**data, "in_catalogue": True, "catalogue": data, "parts": kin, "variants": kin}
    return parse_catalogue_product(row, "2026-11-20T10:00:00Z")


def named_rows(text: str, brand: str = "") -> tuple[CatalogueRow, ...]:
    rows: Any = tuple(dict(row) for row in PRODUCT_ROWS)
    for row in rows:
        row |= {"product_name": text or row["product_name"], "brand_description": brand or row["brand_description"]}
    return rows  # type: ignore[no-any-return]


def _frame(state: ProductsState, verdict: Verdict | None, link: LinkState, serial: int = 0) -> Frame:
    return Frame(ProductsJob().view(state), link, verdict, "", "0042", "Anna", serial)


def _list(text: str) -> Frame:
    rows = named_rows(text, text)
    return _frame(ProductsState(rows=rows, total=61300, cursor=2), None, LinkState("live", 4.0))


def _filtered(text: str) -> Frame:
    rows = named_rows(text)[:2]
    state = ProductsState(
        "promotion", "MUE", text or "Müsli, flakes and porridge", "S12", text or "Moor & Mill", rows=rows, total=2
    )
    title = msg("shortage.join", one=msg("products.title_promotion"), other=state.category_name)
    return _frame(state, Verdict(INFO, title), LinkState("offline", 5400.0, 4), 2)


def _nothing(text: str) -> Frame:
    return _frame(ProductsState(search=text or "zebra"), None, LinkState("live", 4.0))


def _none_yet(_: str) -> Frame:
    return _frame(ProductsState(), None, LinkState("syncing", -1.0, done=800, total=61000))


def _categories(text: str) -> Frame:
    rows: Any = tuple({**facet, "name": text or facet["name"]} for facet in FACETS)
    return _frame(ProductsState(facet_kind="category", rows=rows, total=218), None, LinkState("live", 4.0))


def _no_suppliers(_: str) -> Frame:
    return _frame(ProductsState(facet_kind="supplier"), None, LinkState("live", 4.0))


def _related_products(text: str) -> Frame:
    rows = named_rows(text)[:2]
    among = tuple(row["product_number"] for row in rows)
    return _frame(
        ProductsState(rows=rows, total=2, only_products=among, pages_below=(text or "118040",)),
        None,
        LinkState("live", 4.0),
    )


def _all(text: str) -> Frame:
    return _frame(ProductsState(product_number="118040", product=_page(text)), None, LinkState("live", 4.0))


def _stock_only(text: str) -> Frame:
    row: Any = {"product_number": "4711", "product_name": text or "Batteries AA, 4", "price": 3.5, "is_active": False}
    sheet = parse_catalogue_product(
        row | {"catalogue": {}, "in_catalogue": False, "parts": [], "variants": []}, "2026-11-20T10:00:00Z"
    )
    return _frame(ProductsState(product_number=text or "4711", product=sheet), None, LinkState("offline", 900.0))


def _awaited(text: str) -> Frame:
    return _frame(ProductsState(product_number=text or "4711"), None, LinkState("syncing", 30.0))


PRODUCT_SAMPLES: tuple[tuple[str, str, Callable[[str], Frame]], ...] = (
    ("products", "all", _list),
    ("products", "filtered", _filtered),
    ("products", "nothing", _nothing),
    ("products", "none_yet", _none_yet),
    ("products.filter", "categories", _categories),
    ("products.filter", "none", _no_suppliers),
    ("products", "kin", _related_products),
    ("products.page", "set", _all),
    ("products.page", "stock_only", _stock_only),
    ("products.page", "awaited", _awaited),
)
"""Screen, state and builder of each sample."""
