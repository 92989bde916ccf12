"""Async HTTP client over the contract: `async with Client(url, token) as client: await client.call("list-stores")`.

Reads are retried within limits. A write is sent once; `outcome_of` judges its result, and the outbox resolves a doubt.
Of the packages, the client imports the contract only, and httpx only in `transport`. Start reading at `client`
(requests, pages, calls) and `responses_and_errors`; `csv_load` is `aisle load`.
"""

from __future__ import annotations

from aisle.client.client import Client, RetryPolicy
from aisle.client.responses_and_errors import Outcome, Response, outcome_of

__all__ = ["Client", "Outcome", "Response", "RetryPolicy", "outcome_of"]
