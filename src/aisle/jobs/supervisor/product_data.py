"""Product of the catalogue for list and page, parsed from the rows of the queries `catalogue` and `catalogue_page`.

Interface: Product. Each field of the resource is in one of the tables, or is shown under its own name.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from aisle.jobs.job import Json
from aisle.jobs.product_page import Unit, parse_product
from aisle.jobs.quantities import to_decimal
from aisle.jobs.supervisor.store_record import format_field, parse_free_fields

if TYPE_CHECKING:
    from aisle.jobs.row_types.products import CataloguePageRow, CatalogueRow, FacetsRow, SetPartRow, VariantRow

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
CLASSIFICATION = {
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
AVAILABILITY = {
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
FIELDS = {**PRICES, **CLASSIFICATION, **SUPPLY, **FLAGS, **AVAILABILITY, **TEXTS}
"""Names of the fields that are one value or a plain list."""

MONEY_FIELDS = frozenset(name for name in PRICES if name.endswith("price"))

_SHOWN_SEPARATELY = frozenset(
    {
        *("product_number", "product_name", "barcode", "barcodes_array", "units", "free_fields", "set_product"),
        *("purchase_unit_name", "purchase_unit_quantity", "purchase_unit_barcode", "attention_code"),
    }
)
"""Fields that have their own block on the page."""


class CatalogueItem(NamedTuple):
    """Product in the list."""

    number: str
    name: str
    brand: str = ""
    category: str = ""
    is_discontinued: bool = False
    is_promoted: bool = False
    is_set: bool = False
    is_in_store: bool = True


class Facet(NamedTuple):
    """Category or supplier, with its number of products."""

    code: str
    name: str
    product_count: int


class RelatedProduct(NamedTuple):
    """Product related to this one: a variant or a part of the set."""

    number: str
    name: str
    description: str = ""


class CatalogueProduct(NamedTuple):
    """Product with all its data. Empty fields are unknown."""

    name: str
    price: Decimal = Decimal(0)
    attention: str = ""
    is_discontinued: bool = False
    referral: str = ""
    is_in_catalogue: bool = True
    """True if the catalogue has it; otherwise only the store's stock list does."""
    fields: tuple[tuple[str, str], ...] = ()
    unknown_fields: tuple[tuple[str, str], ...] = ()
    """Fields that the interface does not define."""
    codes: tuple[str, ...] = ()
    units: tuple[Unit, ...] = ()
    free_fields: tuple[tuple[str, str], ...] = ()
    parts: tuple[RelatedProduct, ...] = ()
    variants: tuple[RelatedProduct, ...] = ()


def parse_catalogue_row(row: CatalogueRow) -> CatalogueItem:
    """Parse a row of the query `catalogue`."""
    return CatalogueItem(
        str(row["product_number"]),
        str(row.get("product_name") or ""),
        str(row.get("brand_description") or ""),
        str(row.get("category_code") or ""),
        bool(row.get("ended")),
        bool(row.get("promotion")),
        bool(row.get("set")),
        bool(row.get("in_store")),
    )


def parse_facet(row: FacetsRow) -> Facet:
    """Parse a row of the query `facets`."""
    return Facet(str(row["code"]), str(row.get("name") or ""), int(row.get("count") or 0))


def parse_catalogue_product(row: CataloguePageRow, now: str) -> CatalogueProduct:
    """Parse the row of the query `catalogue_page`. A store's own prices override those of the catalogue."""
    values: dict[str, Json] = dict(row.get("catalogue") or {})
    for name in ("category_name", "group_code", *PRICES):
        if (value := row.get(name)) not in (None, ""):
            values[name] = value
    known = parse_product(row, now)
    facts = [(name, text) for name in FIELDS if (text := format_field(values.get(name)))]
    further = [
        (name, text)
        for name in sorted(values)
        if name not in FIELDS and name not in _SHOWN_SEPARATELY and (text := format_field(values[name]))
    ]
    return CatalogueProduct(
        name=known.name,
        price=known.price,
        attention=known.attention,
        is_discontinued=known.is_discontinued,
        referral=known.referral,
        is_in_catalogue=bool(row.get("in_catalogue")),
        fields=tuple(facts),
        unknown_fields=tuple(further),
        codes=known.codes,
        units=known.units,
        free_fields=parse_free_fields(values.get("free_fields")),
        parts=tuple(_parse_part(each) for each in row.get("parts") or ()),
        variants=tuple(_parse_variant(each) for each in row.get("variants") or ()),
    )


def _parse_part(row: SetPartRow) -> RelatedProduct:
    return RelatedProduct(
        str(row["product_number"]), str(row.get("product_name") or ""), str(row.get("quantity") or "")
    )


def _parse_variant(row: VariantRow) -> RelatedProduct:
    factor = to_decimal(row.get("factor"))
    about = (
        format_field(row.get("color")),
        format_field(row.get("size")),
        f"x {format_field(factor)}" if factor > 0 else "",
    )
    return RelatedProduct(
        str(row["product_number"]), str(row.get("product_name") or ""), ", ".join(filter(None, about))
    )


class ProductsState(NamedTuple):
    """State of the list and its filter, of the choice of a facet, and of the page of one product."""

    subset: str = "all"
    category: str = ""
    category_name: str = ""
    supplier: str = ""
    supplier_name: str = ""
    search: str = ""
    typed: str = ""
    first: int = 0
    cursor: int = -1
    rows: tuple[Any, ...] = ()
    """Products; facets while one is chosen."""
    total: int = 0
    facet_kind: str = ""
    """`category` or `supplier` while one of them is chosen."""
    product_number: str = ""
    """Product whose page is open."""
    pages_below: tuple[str, ...] = ()
    """Products whose pages are below it."""
    only_products: tuple[str, ...] = ()
    """Products to which the list is limited: parts and variants of the last of `pages_below`. The filter is kept for
    the list below."""
    product: CatalogueProduct | None = None
    page: int = 0
    open_single_hit: bool = False
    """True after a search that was ended with Enter. A single hit then opens at once."""
    partly: bool = False
    """True if more than `total` products may match."""

    def reset_list(self, **fields: Any) -> ProductsState:
        """Return the list with these changes, at its beginning and without an open page."""
        kept = (self.subset, self.category, self.category_name, self.supplier, self.supplier_name, self.search)
        return ProductsState(*kept)._replace(**fields)
