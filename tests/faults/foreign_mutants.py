"""Known mistakes of couriers at services that keep no keys, or that lead them astray; as in `mutants`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from aisle.client import paging
from aisle.client.errors import AnswerError
from aisle.courier.send.checking import Checker
from aisle.courier.send.deliver import Delivery
from aisle.courier.send.judging import FOUND, STANDS, Judgement, judge
from aisle.local.outbox.operation import Operation
from aisle.local.told import outside


@contextmanager
def resent_without_looking() -> Iterator[None]:
    """What nobody answered is sent again, as to a service that keeps keys."""

    def again(self: Delivery, op: Operation, why: str) -> None:
        self._outbox.retry_later(op.op_id, outside(why), self._clock() + 1)

    with patch.object(Delivery, "_doubt", again):
        yield


@contextmanager
def absence_believed_at_once() -> Iterator[None]:
    """What is not there is believed not to come any more."""
    with patch.object(Checker, "settle_s", 0.0):
        yield


@contextmanager
def found_and_told_nobody() -> Iterator[None]:
    """What was found is done, and what waits behind it is not told."""
    found = Checker._found

    def quietly(self: Checker, *args: Any) -> None:
        heard = self._heard
        self._heard = heard._replace(again=lambda: None)
        found(self, *args)
        self._heard = heard

    with patch.object(Checker, "_found", quietly):
        yield


@contextmanager
def as_it_was_is_found() -> Iterator[None]:
    """What stands as it was to be is taken for arrived, though it stood so before."""

    def mutant(*args: Any) -> Judgement:
        judgement = judge(*args)
        return Judgement(FOUND) if judgement.verdict == STANDS else judgement

    with patch("aisle.courier.send.checking.judge", mutant):
        yield


@contextmanager
def own_lines_alone() -> Iterator[None]:
    """An update names the lines that it changes, and trusts that the others stay."""
    with patch("aisle.courier.send.readying.with_all_lines", lambda op, lines, spared: op):
        yield


@contextmanager
def circles_followed() -> Iterator[None]:
    """The next page is the one that a page names."""

    def advance(self: Any, rows: Any, envelope: Any) -> bool:
        told = envelope.get("next_page")
        self.query = {**self.query, self._param: told}
        return told is not None

    with patch.object(paging.PageWalk, "advance", advance):
        yield


@contextmanager
def nonsense_is_an_empty_page() -> Iterator[None]:
    """An answer that is no page is read as one without rows."""

    def mutant(op: Any, body: Any) -> Any:
        try:
            return paging.rows_of(op, body)
        except AnswerError:
            return []

    with patch("aisle.client.core.rows_of", mutant):
        yield
