"""A fake service of the interface document alone; fields choose what it filters, keeps and shows."""

import asyncio
import json
from typing import Any
from urllib.parse import parse_qsl

import httpx

from tests.courier.fake_service import Fake, Fault, Row
from tests.courier.simulated_time import Time


class Plain(Fake):
    """Announces nothing. The fields say what it does where the document is silent."""

    def __init__(self, time: Time | None = None) -> None:
        super().__init__("")
        self.time = time or Time()
        self.filter = "exact"
        """Of `reference`: exact, contains, ignored."""
        self.history = False
        """Entries are only shown with is_historic=true."""
        self.logs_movements = True
        self.keeps_reference = True
        self.keeps_source = True
        self.forgets_lines = False
        """Lines that an update does not name are gone."""
        self.forgotten: dict[tuple[str, int], Row] = {}
        self.moments: list[tuple[float, str, str]] = []
        """When which write arrived, and with which reference or order."""
        self.sent: list[tuple[float, str]] = []
        """When which write was sent, whatever became of it."""
        self.underway: set[asyncio.Task[None]] = set()

    async def _handle(self, request: httpx.Request) -> httpx.Response:
        if request.method != "GET":
            self.sent.append((self.time.now, name_in(request)))
        return await super()._handle(request)

    def answer(self, request: httpx.Request) -> httpx.Response:
        """As any service, and notes when it was."""
        if request.method != "GET":
            self.moments.append((self.time.now, request.method, name_in(request)))
        return super().answer(request)

    def _update_customer_order(self, request: httpx.Request) -> tuple[int, Any]:
        said = json.loads(request.content)["orders"]
        for line in said.get("order_lines", ()):
            forgotten = self.forgotten.pop((said["order_number"], line["line_number"]), None)
            self.orders[said["order_number"]]["lines"] += [forgotten] if forgotten and "quantity" in line else []
        status, result = super()._update_customer_order(request)
        if self.forgets_lines and status == 200:
            named = {line["line_number"] for line in said.get("order_lines", ())}
            order = self.orders[said["order_number"]]
            gone = [line for line in order["lines"] if line["line_number"] not in named]
            self.forgotten |= {(said["order_number"], line["line_number"]): line for line in gone}
            order["lines"] = [line for line in order["lines"] if line["line_number"] in named]
        return status, result

    def _log(self, product: str, quantity: float, entry: Row, query: Row) -> None:
        if "to_location" in entry and not self.logs_movements:
            return
        dropped = () if self.keeps_reference else ("reference",)
        dropped = dropped if self.keeps_source else (*dropped, "source")
        super()._log(product, quantity, {name: entry[name] for name in entry if name not in dropped}, query)

    def _list_store_product_logs(self, request: httpx.Request) -> tuple[int, Any]:
        query = dict(parse_qsl(request.url.query.decode()))
        rows = [row for row in self.logs if row["id"] >= int(query.get("from_id", 0))]
        if self.history and query.get("is_historic") != "true":
            rows = []
        wanted = query.get("reference")
        if wanted and self.filter == "exact":
            rows = [row for row in rows if row.get("reference") == wanted]
        elif wanted and self.filter == "contains":
            rows = [row for row in rows if wanted in row.get("reference", "")]
        return self._page(request, rows)


def name_in(request: httpx.Request) -> str:
    """What identifies a write: the reference or source of its first entry, or its order."""
    body = json.loads(request.content)
    if isinstance(body, dict) and "orders" in body:
        return str(body["orders"]["order_number"])
    entries = body["storeproductlog"] if isinstance(body, dict) else body
    return str(entries[0].get("reference") or entries[0].get("source"))


def late(seconds: float) -> Fault:
    """Nobody answers, and the request arrives so many seconds later."""

    def fault(fake: Fake, request: httpx.Request) -> httpx.Response:
        assert isinstance(fake, Plain)

        async def arrive() -> None:
            await fake.time.sleep(seconds)
            fake.answer(request)

        task = asyncio.ensure_future(arrive())
        fake.underway.add(task)
        task.add_done_callback(fake.underway.discard)
        raise httpx.ReadTimeout("no answer", request=request)

    return fault


def partly(*positions: int) -> Fault:
    """Only these entries are carried out, and the answer is lost."""

    def fault(fake: Fake, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        entries = body["storeproductlog"] if isinstance(body, dict) else body
        some = [entries[at] for at in positions]
        kept = {**body, "storeproductlog": some} if isinstance(body, dict) else some
        fake.answer(httpx.Request(request.method, request.url, content=json.dumps(kept).encode()))
        raise httpx.ReadTimeout("no answer", request=request)

    return fault
