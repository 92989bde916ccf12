"""Receipts: what came of which delivery (interface: Receipts)."""

from __future__ import annotations

from typing import Any

from aisle.service.context import Call, Context, Store, split_id
from aisle.service.delivery_text import receipt_text
from aisle.service.handlers.deliveries import RECEIPTS, modified_or_submitted, of_page, scope
from aisle.service.pages import Page, asked_page, reduced


async def list_receipts(ctx: Context, call: Call) -> bytes:
    """A page of receipts by id: of one store, or of all that the token covers."""
    asked, store = await scope(ctx, call.query)
    return await _page(ctx, call.query, asked, store)


async def list_store_receipts(ctx: Context, call: Call) -> bytes:
    """A page of one store's receipts by id."""
    return await _page(ctx, call.query, {"store": ctx.here.number}, ctx.here)


async def _page(ctx: Context, query: dict[str, Any], asked: dict[str, object], store: Store | None) -> bytes:
    page: Page = asked_page(query)
    asked["receipt_type"] = query["receipt_type"]
    if "order_number" in query:
        asked["order_number"] = query["order_number"]
    for name in ("from_id", "to_id"):
        if name in query:
            asked[name] = split_id(query[name])
    asked |= modified_or_submitted(query, ctx.zone(store))
    total, found = await of_page(ctx, page, asked, store, RECEIPTS)
    groups, more = page.cut(found)
    return reduced([receipt_text(group) for group in groups], page, total, more=more)
