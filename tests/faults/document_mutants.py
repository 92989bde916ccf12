"""Known mistakes of couriers at services that keep no keys, or that lead them astray; as in `mutants`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from aisle.client import paging
from aisle.client.responses_and_errors import InvalidResponse
from aisle.courier.push.decide_after_send import SendDecider
from aisle.courier.push.decide_arrival_from_lookup import FOUND, MATCHES, Decision, decide
from aisle.courier.push.reconciler import Reconciler
from aisle.outbox.operation_record import Operation
from aisle.stored_messages import store_text


@contextmanager
def resent_without_looking() -> Iterator[None]:
    """What nobody answered is sent again, as to a service that keeps keys."""

    def again(self: SendDecider, op: Operation, why: str) -> None:
        self.outbox.retry_later(op.op_id, store_text(why), self.clock() + 1)

    with patch.object(SendDecider, "mark_in_doubt", again):
        yield


@contextmanager
def absence_believed_at_once() -> Iterator[None]:
    """What is not there is believed not to come any more."""
    with patch.object(Reconciler, "settling_s", 0.0):
        yield


@contextmanager
def found_and_told_nobody() -> Iterator[None]:
    """What was found is done, and what waits behind it is not told."""
    found = Reconciler._confirm_found

    def quietly(self: Reconciler, *args: Any) -> None:
        heard = self.callbacks
        self.callbacks = heard._replace(on_sendable=lambda: None)
        found(self, *args)
        self.callbacks = heard

    with patch.object(Reconciler, "_confirm_found", quietly):
        yield


@contextmanager
def as_it_was_is_found() -> Iterator[None]:
    """What stands as it was to be is taken for arrived, though it stood so before."""

    def mutant(*args: Any) -> Decision:
        judgement = decide(*args)
        return Decision(FOUND) if judgement.arrival == MATCHES else judgement

    with patch("aisle.courier.push.reconciler.decide", mutant):
        yield


@contextmanager
def own_lines_alone() -> Iterator[None]:
    """An update names the lines that it changes, and trusts that the others stay."""
    with patch("aisle.courier.push.pre_push_checks.with_all_lines", lambda op, lines, spared: op):
        yield


@contextmanager
def circles_followed() -> Iterator[None]:
    """The next page is the one that a page names."""

    def advance(self: Any, rows: Any, envelope: Any) -> bool:
        told = envelope.get("next_page")
        self.query = {**self.query, self._param: told}
        return told is not None

    with patch.object(paging.PageNumberCursor, "advance", advance):
        yield


@contextmanager
def nonsense_is_an_empty_page() -> Iterator[None]:
    """An answer that is no page is read as one without rows."""

    def mutant(op: Any, body: Any) -> Any:
        try:
            return paging.rows_of(op, body)
        except InvalidResponse:
            return []

    with patch("aisle.client.client.rows_of", mutant):
        yield
