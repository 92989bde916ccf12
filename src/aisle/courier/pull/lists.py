"""One row of each list of the interface: what a knock asks for, and what `aisle doctor` asks for list by list."""

from __future__ import annotations

from aisle.client import Client
from aisle.client.answer import Answer
from aisle.client.errors import AnswerError, ClientError, TransportError, status_error
from aisle.client.paging import rows_of
from aisle.contract.wire import QueryValue, operation
from aisle.tuples import NamedTuple

_ANYBODYS = (*range(200, 400), 400, 404, 405, 406, 410, 413, 414, 415, 421, 422, 431, 451)
"""Answers that mean nothing without the service's own words: a gateway or a guest network gives them too."""


class OneRow(NamedTuple):
    """How one row of a list is asked for."""

    operation: str
    of_store: bool
    """It is a list of one store alone; else one of the chain."""
    query: dict[str, QueryValue]


ONE_ROW_QUERIES = {
    "headers": OneRow("list-customer-orders", True, {"page_size": 1}),
    "stock": OneRow("list-store-products-stock", True, {"page_size": 1}),
    "locations": OneRow("list-locations", True, {"page_size": 1}),
    "deliveries": OneRow("list-deliveries", True, {"page_size": 1}),
    "receipts": OneRow("list-store-receipts", True, {"page_size": 1, "receipt_type": 1}),
    "logs": OneRow("list-store-product-logs", True, {"page_size": 1}),
    "products": OneRow("list-products", False, {"page_size": 1}),
    "stores": OneRow("list-stores", False, {"page_size": "1"}),
}
"""By the names that a sync has for them."""

PROBED_LISTS = ("headers", "stock", "locations", "deliveries")
"""Lists of a store that are asked, in this order, to know whether the service accepts requests."""


async def ask(client: Client, name: str, store: str) -> Answer:
    """The answer to one row of a list, asked for once. Raises ClientError where no service of ours can have given it,
    and for every status that is none of success."""
    asked = ONE_ROW_QUERIES[name]
    in_path = any(param.name == "store_number" for param in operation(asked.operation).of("path"))
    path = {"store_number": store} if asked.of_store and in_path else {}
    query = asked.query if in_path or not asked.of_store else {**asked.query, "store_number": store}
    answer = await client.request(asked.operation, path=path, query=query)
    if not answer.is_worded and answer.status in _ANYBODYS:
        raise TransportError(f"Something else answers where the service should be: status {answer.status}.")
    if not answer.is_success:
        raise status_error(asked.operation, answer)
    return answer


async def why_not(client: Client, name: str, store: str) -> ClientError | None:
    """Why a list cannot be read; None where its first row can."""
    try:
        answer = await ask(client, name, store)
        rows_of(operation(ONE_ROW_QUERIES[name].operation), answer.json())
    except ClientError as error:
        return error
    except (ValueError, RecursionError) as error:
        return AnswerError(f"The answer to {ONE_ROW_QUERIES[name].operation} cannot be read: {error}.")
    return None
