"""Units of products, read from the service only if quantities of a file have units behind them (`12 kg`)."""

from __future__ import annotations

from contextlib import aclosing

from aisle.client.client import Client
from aisle.client.errors import ClientError, TransportError
from aisle.client.load.csv_table import CsvTable
from aisle.client.load.report import LoadError
from aisle.contract.wire import QueryValue

_PAGE_SIZE = 1000
_MAX_SINGLE_READS = 20
"""Number of products up to which they are read one by one."""


async def read_units(table: CsvTable, client: Client) -> None:
    """Give the table the units of the products that its quantities name with a unit.

    Raise LoadError if the service does not respond.
    """
    products = table.products_with_units()
    if not products:
        return
    one_by_one = len(products) <= _MAX_SINGLE_READS
    queries: list[dict[str, QueryValue]] = (
        [{"product_number": product} for product in sorted(products)] if one_by_one else [{}]
    )
    try:
        for query in queries:
            async with aclosing(client.pages("list-products", query=query | {"page_size": _PAGE_SIZE})) as pages:
                async for rows, _ in pages:
                    for row in rows:
                        if (product := str(row.get("product_number"))) in products:
                            table.units[product] = str(row.get("base_unit_name") or "")
    except TransportError as error:
        raise LoadError(
            f"The units of products cannot be read: {error} Load again later: it goes on, and doubles nothing."
        ) from error
    except ClientError as error:
        table.notes.add_file_warning(f"the units of products could not be read: {error}")
