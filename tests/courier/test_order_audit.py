"""Who changed an order, as our own service lists it: read on request, and let go where the token may not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from aisle.outbox.requests_and_token_holders import request_read
from tests.courier.fake_service import OWN, Fake
from tests.courier.host import Host

REJECTION = {"number": 7, "at": "2026-03-05T09:00:00Z", "app_user_name": "U2", "token_name": "here"}
REJECTION |= {"subject": "order", "key": "O1", "before": {"is_rejected": False}, "after": {"is_rejected": True}}


class Audited(Fake):
    """A service with the list of who changed what."""

    def __init__(self, status: int, **options: Any) -> None:
        super().__init__(**options)
        self.status = status
        self.asked: list[dict[str, str]] = []

    async def _handle(self, request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/audit"):
            return await super()._handle(request)
        self.asked.append(dict(request.url.params))
        body = {"audit": [REJECTION], "more": False} if self.status == 200 else {"success": False}
        return httpx.Response(self.status, content=json.dumps(body).encode(), headers=self.headers)


@pytest.mark.parametrize(("status", "features"), [(200, f"{OWN}, audit"), (403, f"{OWN}, audit"), (200, OWN)])
async def test_opened_order_brings_who_changed_it(tmp_path: Path, status: int, features: str) -> None:
    fake = Audited(status, features=features)
    fake.add_order("O1")
    host = Host(tmp_path / "home", fake)
    async with host.running(host.courier()) as courier:
        await host.time.until(lambda: courier.full_sync.progress.completed)
        for topic, key in (("audit", "O1"), ("surrounding", "P1")):
            request_read(host.desk.db, topic, key, host.time.now)
        courier.wake()
        await host.time.until(lambda: host.reads.query("surrounding", {"product_number": "P1"})[0] != [])
        is_told = "audit" in features
        await host.time.until(lambda: len(fake.asked) == is_told)
        expected = [("rejected", "U2")] if is_told and status == 200 else []
        await host.time.until(
            lambda: (
                [(row["event"], row["user"]) for row in host.reads.query("order_history", {"order_number": "O1"})[0]]
                == expected
            )
        )
    assert [each["key"] for each in fake.asked] == ["O1"] * is_told
    host.close()
