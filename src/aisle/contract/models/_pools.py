"""The spellings of "one value per stock pool" (interface: Conventions), each with the same `pools` property."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from pydantic import BaseModel, Field

from aisle.contract.models._base import AnswerModel, Double, Exact, Number, RequestModel
from aisle.contract.wire import pool_fields


def _by_pool(model: BaseModel, prefix: str) -> tuple[Any, ...]:
    return tuple(getattr(model, name) for name in pool_fields(prefix))


class MostLikelyPools(AnswerModel):
    """Stock per pool on stock entries: `most_likely_pool_n`."""

    most_likely_pool_1: Double | None = None
    most_likely_pool_2: Double | None = None
    most_likely_pool_3: Double | None = None
    most_likely_pool_4: Double | None = None
    most_likely_pool_5: Double | None = None
    most_likely_pool_6: Double | None = None
    most_likely_pool_7: Double | None = None
    most_likely_pool_8: Double | None = None
    most_likely_pool_9: Double | None = None
    most_likely_pool_10: Double | None = None

    @property
    def pools(self) -> tuple[int | float | None, ...]:
        """The value of each pool, pool 1 first; None where the pool was not given."""
        return _by_pool(self, "most_likely_pool_")


class StockPools(AnswerModel):
    """Stock per pool on locations of a product and in log entries: `stock_pool_n`."""

    stock_pool_1: Double | None = None
    stock_pool_2: Double | None = None
    stock_pool_3: Double | None = None
    stock_pool_4: Double | None = None
    stock_pool_5: Double | None = None
    stock_pool_6: Double | None = None
    stock_pool_7: Double | None = None
    stock_pool_8: Double | None = None
    stock_pool_9: Double | None = None
    stock_pool_10: Double | None = None

    @property
    def pools(self) -> tuple[int | float | None, ...]:
        """The value of each pool, pool 1 first; None where the pool was not given."""
        return _by_pool(self, "stock_pool_")


class LocationPools(AnswerModel):
    """Stock per pool on a location: `mostlikelypooln`, without an underscore before the digit."""

    mostlikelypool1: Number | None = None
    mostlikelypool2: Number | None = None
    mostlikelypool3: Number | None = None
    mostlikelypool4: Number | None = None
    mostlikelypool5: Number | None = None
    mostlikelypool6: Number | None = None
    mostlikelypool7: Number | None = None
    mostlikelypool8: Number | None = None
    mostlikelypool9: Number | None = None
    mostlikelypool10: Number | None = None

    @property
    def pools(self) -> tuple[int | float | None, ...]:
        """The value of each pool, pool 1 first; None where the pool was not given."""
        return _by_pool(self, "mostlikelypool")


class PoolNames(AnswerModel):
    """Names of a store's pools on the store list: `storeStockPooln`."""

    store_stock_pool_1: str | None = Field(default=None, alias="storeStockPool1")
    store_stock_pool_2: str | None = Field(default=None, alias="storeStockPool2")
    store_stock_pool_3: str | None = Field(default=None, alias="storeStockPool3")
    store_stock_pool_4: str | None = Field(default=None, alias="storeStockPool4")
    store_stock_pool_5: str | None = Field(default=None, alias="storeStockPool5")
    store_stock_pool_6: str | None = Field(default=None, alias="storeStockPool6")
    store_stock_pool_7: str | None = Field(default=None, alias="storeStockPool7")
    store_stock_pool_8: str | None = Field(default=None, alias="storeStockPool8")
    store_stock_pool_9: str | None = Field(default=None, alias="storeStockPool9")
    store_stock_pool_10: str | None = Field(default=None, alias="storeStockPool10")

    @property
    def pools(self) -> tuple[str | None, ...]:
        """The value of each pool, pool 1 first; None where the pool was not given."""
        return _by_pool(self, "store_stock_pool_")


class StockPoolsRequest(RequestModel):
    """Quantities per pool in a log entry to create: `stock_pool_n`."""

    stock_pool_1: Exact | None = None
    stock_pool_2: Exact | None = None
    stock_pool_3: Exact | None = None
    stock_pool_4: Exact | None = None
    stock_pool_5: Exact | None = None
    stock_pool_6: Exact | None = None
    stock_pool_7: Exact | None = None
    stock_pool_8: Exact | None = None
    stock_pool_9: Exact | None = None
    stock_pool_10: Exact | None = None

    @property
    def pools(self) -> tuple[int | float | Decimal | None, ...]:
        """The value of each pool, pool 1 first; None where the pool was not given."""
        return _by_pool(self, "stock_pool_")


class PoolNamesRequest(RequestModel):
    """Names of a store's pools on a store to create: `store_stock_pool_n`."""

    store_stock_pool_1: str | None = None
    store_stock_pool_2: str | None = None
    store_stock_pool_3: str | None = None
    store_stock_pool_4: str | None = None
    store_stock_pool_5: str | None = None
    store_stock_pool_6: str | None = None
    store_stock_pool_7: str | None = None
    store_stock_pool_8: str | None = None
    store_stock_pool_9: str | None = None
    store_stock_pool_10: str | None = None

    @property
    def pools(self) -> tuple[str | None, ...]:
        """The value of each pool, pool 1 first; None where the pool was not given."""
        return _by_pool(self, "store_stock_pool_")
