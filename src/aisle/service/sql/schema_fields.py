"""Statements of a migration that look into stored JSON, which each engine does in its own words.

What the interface takes and has no way out for stands under `aisle` in the answers from then on (README: Fields).
"""

from __future__ import annotations

from collections.abc import Sequence

OF_ORDERS = (
    "customer_city",
    "customer_country",
    "customer_email",
    "customer_number",
    "customer_phone",
    "customer_street",
    "customer_zipcode",
    "delivery_city",
    "delivery_country",
    "delivery_street",
    "delivery_zipcode",
    "file_name",
)
OF_DELIVERIES = ("description", "reason_code")


def _sqlite(table: str, names: Sequence[str]) -> str:
    """Nulls of a patch are left out of what it makes; a row that says none of the names stays as it is."""
    said = ["json_extract(data, '$." + name + "')" for name in names]
    members = ", ".join("'" + name + "', " + value for name, value in zip(names, said, strict=True))
    patch = "json_patch(item, json_object('aisle', json_object(" + members + ")))"
    return "".join(("UPDATE ", table, " SET item = ", patch, " WHERE coalesce(", ", ".join(said), ") IS NOT NULL"))


def _postgres(table: str, names: Sequence[str]) -> str:
    members = ", ".join("'" + name + "', data::jsonb -> '" + name + "'" for name in names)
    aside = "jsonb_strip_nulls(jsonb_build_object(" + members + "))"
    told = "jsonb_build_object('aisle', " + aside + ")"
    return "".join(("UPDATE ", table, " SET item = (item::jsonb || ", told, ")::text WHERE ", aside, " <> '{}'"))


IN_DIALECT: dict[str, str] = {
    "UPDATE store SET cost_center = coalesce(json_extract(data, '$.cost_center'), '')": (
        "UPDATE store SET cost_center = coalesce(data::json ->> 'cost_center', '')"
    ),
    _sqlite("customer_order", OF_ORDERS): _postgres("customer_order", OF_ORDERS),
    _sqlite("delivery", OF_DELIVERIES): _postgres("delivery", OF_DELIVERIES),
    "UPDATE delivery_line SET item = json_set(item, '$.aisle', json(data)) WHERE data <> '{}'": (
        "UPDATE delivery_line SET item = (item::jsonb || jsonb_build_object('aisle', data::jsonb))::text"
        " WHERE data <> '{}'"
    ),
}
"""Each statement as SQLite takes it, and as PostgreSQL does."""
