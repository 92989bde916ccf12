"""Paging: every row once, in order, and always an end."""

from __future__ import annotations

import gc
from typing import Any
from urllib.parse import unquote

import httpx
import pytest

from aisle.client import Client
from aisle.client.csv_load.service_reads import fetch_orders
from aisle.client.paging import PageNumberCursor
from aisle.client.responses_and_errors import InvalidResponse
from aisle.contract.request_encoding import get_operation
from aisle.errors import ContractError
from tests.client.recording_service import Sent, Service, reply


def page(*ids: int, **envelope: Any) -> Any:
    return reply(200, {"list": [{"id": number} for number in ids], **envelope})


async def walk(client: Client, name: str = "list-store-products-stock", **options: Any) -> list[int]:
    found = []
    async for read in client.pages(name, **options):
        found += [row["id"] for row in read[0]]
        del read
    return found


def targets(service: Service) -> list[str]:
    return [sent.target.partition("?")[2] for sent in service.sent]


async def test_next_page_is_followed_to_its_end() -> None:
    service = Service(page(1, 2, next_page=2), page(3, 4, next_page="3"), page(5, next_page=None))
    async with service.client() as client:
        assert await walk(client, query={"store_number": "7", "page_size": 2}) == [1, 2, 3, 4, 5]
    assert targets(service) == [f"store_number=7&page_size=2&page_start={number}" for number in (1, 2, 3)]


async def test_single_page_is_requested_without_following_pages() -> None:
    service = Service(page(1, next_page=2, odd="x"), reply(200, b"no json"), reply(200, {"list": 1}))
    async with service.client() as client:
        asked = {"store_number": "7"}
        found = await client.first_page("list-store-products-stock", query=asked)
        assert found == ([{"id": 1}], {"list": [{"id": 1}], "next_page": 2, "odd": "x"})
        for _ in range(2):
            with pytest.raises(InvalidResponse):
                await client.first_page("list-store-products-stock", query=asked)
        with pytest.raises(ContractError):
            await client.first_page("create-movement")
    assert targets(service) == ["store_number=7&page_start=1"] * 3


async def test_the_whole_envelope_comes_with_each_page() -> None:
    service = Service(page(1, next_page=2, total_count=2, odd="x"), page(2, next_page=None, total_count=2))
    async with service.client() as client:
        seen = [(rows, envelope) async for rows, envelope in client.pages("list-deliveries")]
    assert seen[0] == ([{"id": 1}], {"list": [{"id": 1}], "next_page": 2, "total_count": 2, "odd": "x"})
    assert seen[1][1]["next_page"] is None


async def test_a_scroll_id_goes_with_the_next_page_where_it_is_wanted() -> None:
    pages = page(1, next_page=2, scroll_id="a/b="), page(2, next_page=3, scroll_id=None), page(3, next_page=None)
    for scroll, second in ((True, "page_start=2&scroll_id=a%2Fb%3D"), (False, "page_start=2")):
        service = Service(*pages)
        async with service.client() as client:
            assert await walk(client, "list-stores", scroll=scroll) == [1, 2, 3]
        assert targets(service) == ["page_start=1", second, "page_start=3"]


async def test_a_page_is_gone_when_the_next_one_is_asked_for() -> None:
    """Pages are big, and what is in memory beside one of them never leaves the process again."""
    marks = [reply(200, {"list": [{"id": n, "of": ["page", n]}], "next_page": n + 1}) for n in range(1, 4)]
    service, held = Service(*marks, page(4, next_page=None)), []

    def answer(request: httpx.Request) -> httpx.Response:
        held.append([each[1] for each in gc.get_objects() if type(each) is list and each[:1] == ["page"]])
        return service.answer(request)

    async with service.client(transport=httpx.MockTransport(answer)) as client:
        assert await walk(client) == [1, 2, 3, 4]
    assert held == [[], [], [], []]


def test_deeply_nested_page_does_not_end_paging() -> None:
    """How deep JSON may be is the interpreter's own limit, and grows with its versions."""
    nested: list[Any] = []
    for _ in range(5000):
        nested = [nested]
    pages = PageNumberCursor(get_operation("list-deliveries"), {})
    assert all(pages.advance([{"id": 1, "odd": nested}], {"next_page": number}) for number in (2, 3))


async def test_a_walk_may_start_later() -> None:
    service = Service(page(9, next_page=None))
    async with service.client() as client:
        assert await walk(client, query={"page_start": 4}) == [9]
    assert targets(service) == ["page_start=4"]


async def test_without_next_page_the_counts_tell() -> None:
    service = Service(page(1, 2, page_size=2, total_count=3), page(3, page_size=2, total_count=3))
    async with service.client() as client:
        assert await walk(client) == [1, 2, 3]
    assert len(service.sent) == 2


async def test_without_counts_a_page_that_is_not_full_is_the_last() -> None:
    service = Service(page(1, 2), page(3, 4), page())
    async with service.client() as client:
        assert await walk(client, query={"page_size": 2}) == [1, 2, 3, 4]
    service = Service(page(1, 2), page(3))
    async with service.client() as client:
        assert await walk(client, query={"page_size": 2}) == [1, 2, 3]


async def test_without_any_hint_or_with_more_than_a_page_there_is_one_page() -> None:
    for query in ({}, {"page_size": 2}):
        service = Service(page(1, 2, 3))
        async with service.client() as client:
            assert await walk(client, query=query) == [1, 2, 3]
        assert len(service.sent) == 1


@pytest.mark.parametrize(
    "replies",
    [
        [page(1, next_page=1)],
        [page(1, next_page=2), page(2, next_page=1)],
        [page(1, next_page=2), page(1, next_page=3)],
        [page(1, next_page=2), page(2, next_page=1), page(3, next_page=2), page(4, next_page=None)],
        [page(1, next_page=2), *(page(next_page=number) for number in (3, 4, 5)), page(9, next_page=None)],
        [page(1, 2, total_count=9, page_size=2)],
        [page(1, next_page="soon")],
    ],
)
async def test_pages_in_a_circle_or_without_an_end_are_an_error(replies: list[Any]) -> None:
    service = Service(*replies)
    async with service.client() as client:
        with pytest.raises(InvalidResponse, match="list-store-products-stock"):
            await walk(client, query={"page_size": 2})
    assert len(service.sent) <= 5


@pytest.mark.parametrize("body", [{}, {"list": None}, {"list": {}}, {"list": [1]}, [], None, "x", {"success": False}])
async def test_an_answer_that_is_no_page_is_not_read_as_an_empty_one(body: Any) -> None:
    async with Service(reply(200, body if body is not None else b"null")).client() as client:
        with pytest.raises(InvalidResponse, match="is no page"):
            await walk(client)
        with pytest.raises(InvalidResponse, match="is no page"):
            await walk(client, "list-customer-orders", path={"store_number": "7"})


@pytest.mark.parametrize("count", ["many", "0", None, True, False, 5, 0.0, []])
async def test_rows_may_only_be_left_out_where_their_number_is_zero(count: Any) -> None:
    body = {"list": None, "total_count": count, "next_page": "1"}
    async with Service(reply(200, body)).client() as client:
        with pytest.raises(InvalidResponse, match="is no page"):
            await walk(client, "list-customer-orders", path={"store_number": "7"})


async def test_a_page_that_is_not_json_is_an_error() -> None:
    async with Service(reply(200, b'{"list": [NaN]}')).client() as client:
        with pytest.raises(InvalidResponse, match="not JSON"):
            await walk(client)


async def test_order_pages_may_lack_their_rows_when_they_are_counted() -> None:
    async with Service(reply(200, {"total_count": 0, "page_size": 10, "page_start": 1})).client() as client:
        assert await walk(client, "list-customer-orders", path={"store_number": "7"}) == []


async def test_products_have_an_envelope_of_their_own() -> None:
    def records(*ids: int, number: int) -> Any:
        rows = [{"id": each} for each in ids]
        return reply(200, {"records": rows, "page_number": number, "page_size": 2, "total_record_count": 3})

    service = Service(records(1, 2, number=1), records(3, number=2))
    async with service.client() as client:
        assert await walk(client, "list-products", query={"page_size": 2}) == [1, 2, 3]
    assert targets(service) == ["page_size=2&page_number=1", "page_size=2&page_number=2"]


async def test_receipts_page_in_the_reduced_envelope() -> None:
    service = Service(page(1, next_page=2), page(2))
    async with service.client() as client:
        assert await walk(client, "list-store-receipts", path={"store_number": "7"}, query={"receipt_type": 1}) == [
            1,
            2,
        ]
    assert targets(service) == ["receipt_type=1&page_start=1", "receipt_type=1&page_start=2"]


async def test_a_walk_by_id_asks_above_the_last_id() -> None:
    service = Service(page(3, 7, next_page=2), page(8, 20, next_page=2), page(21, next_page=None))
    async with service.client() as client:
        assert await walk(client, by="id", query={"page_size": 2}) == [3, 7, 8, 20, 21]
    assert targets(service) == ["page_size=2", "from_id=8&page_size=2", "from_id=21&page_size=2"]


async def test_a_walk_by_id_ends_without_next_page_too() -> None:
    service = Service(page(3, 7), page(8))
    async with service.client() as client:
        assert await walk(client, by="id", query={"page_size": 2, "from_id": 2}) == [3, 7, 8]
    service = Service(page(3, 7), page())
    async with service.client() as client:
        assert await walk(client, by="id") == [3, 7]


@pytest.mark.parametrize("replies", [[page(2, 1)], [page(1, 2), page(2, 3)], [page(4)], [reply(200, {"list": [{}]})]])
async def test_a_walk_by_id_refuses_ids_out_of_order(replies: list[Any]) -> None:
    async with Service(*replies).client() as client:
        with pytest.raises(InvalidResponse, match="cannot be read by id"):
            await walk(client, by="id", query={"page_size": 2} if len(replies) > 1 else {"from_id": 5})


async def test_only_lists_page_and_some_by_id() -> None:
    async with Service(reply()).client() as client:
        for name, by in (("create-movement", "page"), ("list-locations", "id")):
            with pytest.raises(ContractError, match=f"{name} cannot be paged by {by}"):
                await walk(client, name, by=by)


async def test_a_page_is_tried_again_like_any_read() -> None:
    service = Service(page(1, next_page=2), reply(503), page(2, next_page=None))
    async with service.client() as client:
        assert await walk(client) == [1, 2]
    assert len(service.sent) == 3


async def test_a_list_of_ours_that_repeats_comes_to_an_end() -> None:
    service = Service(reply(200, {"recounts": [{"id": 7}], "more": True}))
    async with service.client() as client:
        with pytest.raises(InvalidResponse, match="do not end"):
            await client.extension_list("/aisle/v1/stores/1/recounts", "recounts")
    assert [sent.target.partition("?")[2] for sent in service.sent] == ["", "after=7"]


class Endless(Service):
    """A service whose list of ours never ends: each page has further rows of 10 KB."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self.rows = rows

    def answer(self, request: httpx.Request) -> httpx.Response:
        """A further page."""
        self.sent.append(Sent(request.method, request.url.raw_path.decode(), request.headers, request.content))
        first = len(self.sent) * self.rows
        rows = [{"id": first + n, "user": f"u{first + n:09}", "x": "y" * 10_000} for n in range(self.rows)]
        return reply(200, {"people": rows, "assignments": rows, "more": True})


@pytest.mark.parametrize("name", ["people", "assignments"])
@pytest.mark.parametrize(("rows", "pages"), [(1, 200), (1000, 2)])
async def test_list_of_ours_without_end_is_given_up(name: str, rows: int, pages: int) -> None:
    service = Endless(rows)
    async with service.client() as client:
        with pytest.raises(InvalidResponse, match=r"do not end|too long together"):
            await client.extension_list(f"/aisle/v1/stores/1/{name}", name)
    assert len(service.sent) == pages


async def test_id_that_is_no_number_ends_a_list_of_ours() -> None:
    service = Service(httpx.Response(200, content=b'{"recounts":[{"id":1e400}],"more":true}'))
    async with service.client() as client:
        with pytest.raises(InvalidResponse, match="do not end"):
            await client.extension_list("/aisle/v1/stores/1/recounts", "recounts")


async def test_named_orders_that_are_too_long_for_one_answer_are_read_in_parts() -> None:
    def found(number: str) -> httpx.Response:
        return reply(200, {"list": [{"order_number": number}]})

    service = Service(reply(413), reply(413), found("A"), found("B"), found("C"))
    async with service.client() as client:
        orders = await fetch_orders(client, "1", ["C", "B", "A"])
    assert sorted(orders) == ["A", "B", "C"]
    asked = [unquote(sent.target.partition("numbers=")[2]).split("\n") for sent in service.sent]
    assert asked == [["C", "B", "A"], ["B", "A"], ["A"], ["B"], ["C"]]
