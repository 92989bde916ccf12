"""Keys of free fields that differ from one that the product has by blanks or case alone."""

from __future__ import annotations

from aisle.client.client import Client
from aisle.client.load.cell_cleaning import fold_code
from aisle.client.load.columns import FREE_FIELDS
from aisle.client.load.conflicting_rows_and_stores import difference_reason
from aisle.client.load.csv_table import CsvTable
from aisle.client.load.service_reads import MAX_SINGLE_READS
from aisle.contract.request_encoding import QueryValue


async def similar_field_keys(table: CsvTable, client: Client) -> dict[int, str]:
    """Return reasons of rows of free fields, by line, whose key the product has in another writing only.

    Raise ClientError if the products cannot be read.
    """
    named = ("product_number", "key")
    rows = list(table.select_cells(named)) if table.name == FREE_FIELDS.file else []
    products = {product for _, (product, key) in rows if product and key}
    queries: list[dict[str, QueryValue]] = [{"product_number": product} for product in sorted(products)]
    held: dict[tuple[str, str], list[str]] = {}
    for query in queries if len(products) <= MAX_SINGLE_READS else [{}]:
        async for row in client.rows("list-products", query=query):
            product = str(row.get("product_number"))
            for field in (row.get("free_fields") or ()) if product in products else ():
                key = str(field.get("key") or "")
                held.setdefault((product, fold_code(key)), []).append(key)
    found: dict[int, str] = {}
    for line, (product, key) in rows:
        others = held.get((product, fold_code(key)), ())
        if key and others and key not in others:
            found[line] = f"key {difference_reason(key, others[0], f' on product {product}')}"
    return found
