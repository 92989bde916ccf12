"""A picker without a terminal, a file or a network: the pick job by itself, as a session runs it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from aisle.jobs.job import Context, Event, Opened, Policy, Query, Rows, Write
from aisle.jobs.log_writes_and_refusals import REFUSED_ENTRIES
from aisle.jobs.pick.job import PickJob
from aisle.jobs.pick.pick_state import PickState
from aisle.jobs.store_time import day_in_store
from aisle.jobs.view import Msg, Step, Verdict
from aisle.scan.grammar_and_meaning_types import PRODUCT, Match, Scan
from aisle.session.shown_verdict_and_bells import NOT_APPLIED
from aisle.tui.message_text import MessageWriter

CONTEXT = Context(store="0001", user="ann", now="2026-11-20T10:00:00Z")


def line(number: int, product: str, quantity: int | Decimal, **more: Any) -> dict[str, Any]:
    """A line as the read `order` gives it."""
    return {
        "line_number": number,
        "product_number": product,
        "description": f"Product {product}",
        "quantity": quantity,
        **more,
    }


def order(*lines: dict[str, Any], number: str = "1042", **more: Any) -> Rows:
    """The answer to the job's query."""
    head = {"order_number": number, "customer_name": "Ms Okafor", "is_active": True, "lines_known": True, **more}
    return Rows(f"order/{number}", ({**head, "lines": list(lines)},), 1)


class Hand:
    """Runs the job as a session does, answers what it asks of the books, and keeps what else it asked for."""

    def __init__(
        self,
        *lines: dict[str, Any],
        verified: bool = False,
        weight_tolerance: Decimal = Decimal(0),
        orders: dict[str, list[dict[str, Any]]] | None = None,
        **more: Any,
    ) -> None:
        """One order with these lines, or a round of `orders`; without lines their rows have still to be fed."""
        self.job = PickJob()
        self.state: PickState = self.job.begin()
        self.context = CONTEXT._replace(policy=Policy(verified=verified, weight_tolerance=weight_tolerance))
        self.effects: list[Any] = []
        self.verdict: Verdict | None = None
        self.books: dict[str, dict[str, Any]] = {}
        """Answers to `unexpected_product`, `stock_at_location`, `location_use`, by name and what is asked about."""
        self.refused: tuple[dict[str, Any], ...] = ()
        """What the service refused of the entries of the log."""
        self.booked: tuple[dict[str, Any], ...] = ()
        """Entries of the day as the service booked them."""
        self.numbers: dict[str, list[tuple[str, str]]] = {}
        """What the read `records_by_number` answers: the kinds and keys of what digits are the number of."""
        self.feed(Opened({"orders": list(orders)} if orders else {"order_number": "1042"}))
        for number, each in (orders or {}).items():
            self.feed(order(*each, number=number, **more))
        if lines:
            self.feed(order(*lines, **more))

    def feed(self, event: Event) -> str:
        """The message id of the verdict to one event, without what is not taken."""
        turn = self.job.handle(self.state, event, self.context)
        self.state = turn.state
        self.effects += turn.effects
        self.verdict = turn.verdict or self.verdict
        for effect in turn.effects:
            if isinstance(effect, Query) and effect.name == "records_by_number":
                found = self.numbers.get(effect.args["code"], [])
                rows = tuple({"kind": kind, "key": key, "label": f"Product {key}"} for kind, key in found)
                return self.feed(Rows(effect.id, rows, len(rows)))
            if isinstance(effect, Query) and effect.name == "my_entries":
                return self.feed(Rows(effect.id, self.booked, len(self.booked)))
            if isinstance(effect, Query) and effect.id == REFUSED_ENTRIES:
                return self.feed(Rows(effect.id, self.refused, len(self.refused)))
            if isinstance(effect, Query) and effect.name in ("unexpected_product", "stock_at_location", "location_use"):
                row = self.books.get(
                    f"{effect.name} {effect.args.get('location_code', effect.args.get('product_number'))}"
                )
                return self.feed(Rows(effect.id, (row,) if row else (), len(row or ())))
        text = turn.verdict.text if turn.verdict else None
        said = dict(text.args)["said"] if text and text.id in NOT_APPLIED else text
        return said.id if isinstance(said, Msg) else ""

    def scan(self, key: str, quantity: str = "1", kind: str = PRODUCT) -> str:
        """A code that means one thing."""
        return self.feed(Scan((Match(kind, key, f"Product {key}", Decimal(quantity), quantity != "1", key),)))

    def moves(self) -> list[tuple[str, Decimal, str, str]]:
        """Product, quantity, from and to of all movements asked for; no place is the hand."""
        return [
            (
                item["product_number"],
                item["quantity"],
                item["from_location"].get("location_code", ""),
                item["to_location"].get("location_code", ""),
            )
            for effect in self.effects
            if isinstance(effect, Write) and effect.operation == "create-movement"
            for item in effect.body
        ]

    @property
    def view(self) -> Step:
        """What is on the screen."""
        return self.job.view(self.state)

    @property
    def updates(self) -> list[dict[str, Any]]:
        """The bodies of all updates of orders, in their order, without those that claim or let go."""
        return [body for body in self._bodies if "is_claimed" not in body]

    @property
    def claims(self) -> list[tuple[str, bool]]:
        """The orders that were claimed (True) or let go (False)."""
        return [(body["order_number"], body["is_claimed"]) for body in self._bodies if "is_claimed" in body]

    @property
    def _bodies(self) -> list[dict[str, Any]]:
        writes = (effect for effect in self.effects if isinstance(effect, Write))
        return [write.body["orders"] for write in writes if write.operation == "update-customer-order"]

    @property
    def all_sent(self) -> dict[tuple[str, int], Decimal]:
        """What the service stands at after all operations, by order and line number."""
        return {
            (body["order_number"], each["line_number"]): each["picked_quantity"]
            for body in self.updates
            for each in body.get("order_lines", ())
        }

    @property
    def sent(self) -> dict[int, Decimal]:
        """The same of one order, by line number."""
        return {line: picked for (_, line), picked in self.all_sent.items()}

    @property
    def told(self) -> str:
        """What the verdict says, as long as it can be."""
        writer = MessageWriter(today=day_in_store(CONTEXT.now))
        return writer.write(self.verdict.text) if self.verdict else ""

    def choices(self) -> list[str]:
        """Ids of the numbered ways on."""
        return [choice.id for choice in self.view.choices]


def picked(hand: Hand) -> dict[int, Decimal]:
    """What the state stands at, by line number."""
    return {each.line: each.picked for each in hand.state.lines}
