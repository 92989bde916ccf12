"""A product of the catalogue as list and page show it, from the rows of the reads `catalogue` and `catalogue_page`.

Interface: Product. Each field of the resource stands in one of the tables, or is shown under its own name.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from aisle.jobs.amounts import number
from aisle.jobs.chain.store_sheet import keyed, rows_of, text_of
from aisle.jobs.sheet import Unit, sheet
from aisle.tuples import NamedTuple

PRICES = {
    "price": "product.price",
    "old_price": "product.old_price",
    "special_price": "product.special_price",
    "promotion_price": "product.promotion_price",
    "discount_price": "product.discount_price",
    "purchase_price": "product.purchase_price",
    "price_compare_unit": "product.price_compare_unit",
    "price_compare_multiplier": "product.price_compare_multiplier",
    "price_lines": "product.price_lines",
    "promotion": "product.promotion",
    "promotion_week": "product.promotion_week",
}
KIND = {
    "category_name": "product.category_name",
    "category_code": "product.category_code",
    "group_code": "product.group_code",
    "brand_description": "product.brand_description",
    "brand_code": "product.brand_code",
    "product_type": "product.product_type",
    "color": "product.color",
    "color_code": "product.color_code",
    "size": "product.size",
    "size_code": "product.size_code",
    "variant_family": "product.variant_family",
    "variant_code": "product.variant_code",
    "variant_factor": "product.variant_factor",
    "volume": "product.volume",
    "average_weight": "product.average_weight",
    "base_unit_name": "product.base_unit_name",
    "carrier_item_quantity": "product.carrier_item_quantity",
    "smallest_quantity": "product.smallest_quantity",
    "smallest_product_number": "product.smallest_product_number",
    "country_code": "product.country_code",
}
SUPPLY = {
    "supplier_name": "product.supplier_name",
    "supplier_id": "product.supplier_id",
    "supplier_product_number": "product.supplier_product_number",
    "purchase_unit_product_number": "product.purchase_unit_product_number",
    "moq": "product.moq",
    "edit_min_max_percentage": "product.edit_min_max_percentage",
    "expiration_min_range": "product.expiration_min_range",
    "deprecation_date": "product.deprecation_date",
    "referral_product_id": "product.referral_product_id",
    "margin_category": "product.margin_category",
    "general_ledger": "product.general_ledger",
    "shelf_label_quantity": "product.shelf_label_quantity",
    "shelf_label_layout": "product.shelf_label_layout",
}
FLAGS = {
    "is_active": "product.is_active",
    "is_store_product": "product.is_store_product",
    "is_stock": "product.is_stock",
    "is_counted": "product.is_counted",
    "is_expiration": "product.is_expiration",
    "is_promotion": "product.is_promotion",
    "is_set": "product.is_set",
    "is_order_manually": "product.is_order_manually",
    "is_edit_min_max": "product.is_edit_min_max",
    "is_edit_replenishment": "product.is_edit_replenishment",
    "allow_decimal": "product.allow_decimal",
    "is_template": "product.is_template",
    "reset_store_stock": "product.reset_store_stock",
    "shelf_label": "product.shelf_label",
    "shelf_label_barcode": "product.shelf_label_barcode",
    "shelf_label_price": "product.shelf_label_price",
}
SOLD = {
    "stores_allowed": "product.stores_allowed",
    "stores_not_allowed": "product.stores_not_allowed",
    "promo_stores_allowed": "product.promo_stores_allowed",
    "promo_stores_not_allowed": "product.promo_stores_not_allowed",
    "countries_allowed": "product.countries_allowed",
    "countries_not_allowed": "product.countries_not_allowed",
}
TEXTS = {
    "product_details": "product.product_details",
    "product_url": "product.product_url",
    "image_url": "product.image_url",
}
FIELDS = {**PRICES, **KIND, **SUPPLY, **FLAGS, **SOLD, **TEXTS}
"""Fields that are one value or a plain list, and what they are called."""

MONEY = frozenset(name for name in PRICES if name.endswith("price"))

_ELSEWHERE = frozenset(
    {
        *("product_number", "product_name", "barcode", "barcodes_array", "units", "free_fields", "set_product"),
        *("purchase_unit_name", "purchase_unit_quantity", "purchase_unit_barcode", "attention_code"),
    }
)
"""Fields that have a part of the page to themselves."""


class Hit(NamedTuple):
    """One product of the list."""

    number: str
    name: str
    brand: str = ""
    category: str = ""
    ended: bool = False
    promotion: bool = False
    set: bool = False
    in_store: bool = True


class Facet(NamedTuple):
    """A category or a supplier, and how many products it has."""

    code: str
    name: str
    products: int


class Kin(NamedTuple):
    """Another product that belongs to this one: a variant, or a part of the set."""

    number: str
    name: str
    about: str = ""


class Page(NamedTuple):
    """All of one product. What is empty is not known."""

    name: str
    price: Decimal = Decimal(0)
    attention: str = ""
    ended: bool = False
    referral: str = ""
    known: bool = True
    """The catalogue has it; else only the store's stock list does."""
    facts: tuple[tuple[str, str], ...] = ()
    further: tuple[tuple[str, str], ...] = ()
    """Fields that the interface does not know."""
    codes: tuple[str, ...] = ()
    units: tuple[Unit, ...] = ()
    free: tuple[tuple[str, str], ...] = ()
    parts: tuple[Kin, ...] = ()
    variants: tuple[Kin, ...] = ()


def hit_of(row: Mapping[str, Any]) -> Hit:
    """A row of the read `catalogue`."""
    return Hit(
        str(row["product_number"]),
        str(row.get("product_name") or ""),
        str(row.get("brand_description") or ""),
        str(row.get("category_code") or ""),
        bool(row.get("ended")),
        bool(row.get("promotion")),
        bool(row.get("set")),
        bool(row.get("in_store")),
    )


def facet_of(row: Mapping[str, Any]) -> Facet:
    """A row of the read `facets`."""
    return Facet(str(row["code"]), str(row.get("name") or ""), int(row.get("count") or 0))


def page_of(row: Mapping[str, Any], now: str) -> Page:
    """The row of the read `catalogue_page`; prices are those of this store where it has its own."""
    said: dict[str, Any] = dict(row.get("catalogue") or {})
    for name in ("category_name", "group_code", *PRICES):
        if row.get(name) not in (None, ""):
            said[name] = row[name]
    known = sheet(row, now)
    facts = [(name, text) for name in FIELDS if (text := text_of(said.get(name)))]
    further = [
        (name, text)
        for name in sorted(said)
        if name not in FIELDS and name not in _ELSEWHERE and (text := text_of(said[name]))
    ]
    return Page(
        name=known.name,
        price=known.price,
        attention=known.attention,
        ended=known.gone,
        referral=known.referral,
        known=bool(row.get("in_catalogue")),
        facts=tuple(facts),
        further=tuple(further),
        codes=known.codes,
        units=known.units,
        free=keyed(said.get("free_fields")),
        parts=tuple(_part(each) for each in rows_of(row.get("parts"))),
        variants=tuple(_variant(each) for each in rows_of(row.get("variants"))),
    )


def _part(row: Mapping[str, Any]) -> Kin:
    return Kin(str(row["product_number"]), str(row.get("product_name") or ""), str(row.get("quantity") or ""))


def _variant(row: Mapping[str, Any]) -> Kin:
    factor = number(row.get("factor"))
    about = (text_of(row.get("color")), text_of(row.get("size")), f"x {text_of(factor)}" if factor > 0 else "")
    return Kin(str(row["product_number"]), str(row.get("product_name") or ""), ", ".join(filter(None, about)))
