"""Somebody who works on the floor as chance has it, says everything by scans and digits, and remembers what was said.

What is remembered is what the screen has said yes to: so many of a product picked, moved or lost. It owes nothing to
outbox or service, and is what both of them are held against in the end (see tests.faults.own_program).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from aisle.jobs.view import Msg, Step
from aisle.session.shown_verdict_and_bells import NOT_APPLIED
from tests.faults.goods import PICK_UP, SHELVES
from tests.faults.host import Host, Person

TAKEN = ("pick.picked", "pick.all_picked")
"""What the screen says of a take."""
OWN_TOTAL = "pick.own_total"
"""What it says around that where another person has goods of the same line."""


class Order(NamedTuple):
    """An order of the shop: its number, and the products of its lines."""

    number: str
    products: tuple[str, ...]


class Said:
    """What everybody said and the screen agreed to."""

    def __init__(self) -> None:
        self.picked: Counter[tuple[str, str]] = Counter()
        """Order and product to how many are in hand or put down for it."""
        self.moved: Counter[tuple[str, str]] = Counter()
        """Product and place to what came there, less what went."""
        self.lost: Counter[tuple[str, str]] = Counter()
        """Product and place to what was lost or found there: the quantity with its sign."""
        self.at: dict[str, set[Host]] = {}
        """Order to the hosts where it was worked on."""
        self.counts = 0
        self.scans = 0


class Worker:
    """One of them; `turn` is a few seconds of work."""

    def __init__(
        self, host: Host, terminal: str, user: str, dice: Random, said: Said, codes: Mapping[str, str]
    ) -> None:
        self.orders: Sequence[Order] = ()
        """What there is to pick."""
        self.host = host
        self._name = (terminal, user)
        self._dice = dice
        self._said = said
        self._codes = codes
        self._products = tuple(codes)
        self._order: Order | None = None
        self._asked: tuple[str, int] | None = None
        """What was taken at a place that is asked for: the product, and how many the screen names."""
        self.person: Person = host.person(*self._name)

    def turn(self) -> None:
        """Goes on with what is open, or begins something."""
        if self._order is not None and self.person.at.startswith("pick."):
            self._on_with_order()
            return
        self._order = None
        (deed,) = self._dice.choices(_DEEDS, _SHARES)
        deed(self)

    def die(self) -> None:
        """The terminal's process is killed, and somebody signs in there again."""
        self.person.die()
        self.person = self.host.person(*self._name)

    def _say(self, *texts: str) -> str:
        """The message that the last of them led to."""
        self._said.scans += len(texts)
        self.person.say(*texts)
        self._hear_where()
        answer = self._answer()
        return answer.id if answer else ""

    def _answer(self) -> Msg | None:
        """What the last scan led to, without what the screen says around it: a question that is dropped, a total."""
        verdict = self.person.frame.verdict
        text = verdict.text if verdict else None
        while text and text.id in (*NOT_APPLIED, OWN_TOTAL):
            args = dict(text.args)
            inner = args.get("what" if text.id == OWN_TOTAL else "said")
            if not isinstance(inner, Msg):
                break
            text = inner
        return text

    def _hear_where(self) -> None:
        """What was asked for its place is picked as soon as the screen agrees to one."""
        answer = self._answer()
        if answer is None or self._order is None:
            return
        if self._asked and self._is_agreed(answer):
            product, quantity = self._asked
            self._said.picked[self._order.number, product] += quantity
            self._asked = None
        if answer.id == "pick.which_location":
            args = dict(answer.args)
            product = next(each for each in self._order.products if args["label"] == f"Product {each}")
            self._asked = product, int(f"{args['quantity']}")

    def _is_agreed(self, answer: Msg) -> bool:
        """Whether the goods are picked at the place that was said: where none were known, only the detail names it."""
        verdict = self.person.frame.verdict
        detail = verdict.detail if verdict else None
        return answer.id == "pair" or (detail is not None and detail.id == "pick.booked_nowhere")

    def last_letter(self) -> str:
        """The letter of the last choice: of the location that was scanned last."""
        view = self.person.frame.view
        assert isinstance(view, Step)
        return view.choice_letters[-1]

    # Picking

    def _pick(self) -> None:
        self.person.home()
        if self.orders:
            self._order = self._dice.choice(self.orders)
            self._said.at.setdefault(self._order.number, set()).add(self.host)
            self._say(self._order.number)

    def _on_with_order(self) -> None:
        assert self._order is not None
        luck = self._dice.random()
        if self.person.told[1] == "pick.which_location" and luck < 0.6:
            self._say(self._dice.choice(SHELVES))
        elif self.person.told[1] == "pick.no_stock_which_location" and luck < 0.6:
            self._say(self.last_letter())
        elif self.person.at in ("pick.done", "pick.return") or luck < 0.08:
            if luck < 0.7:
                self._say(PICK_UP)
            self.person.home()
        elif luck < 0.2:
            self._undo()
        elif luck < 0.25:
            self._say("n")
        else:
            self._take(self._dice.choice(self._order.products), self._dice.randint(1, 2))

    def _take(self, product: str, quantity: int) -> None:
        assert self._order is not None
        code = self._codes[product]
        if self._say(f"{quantity}*{code}" if quantity > 1 else code) in TAKEN:
            self._said.picked[self._order.number, product] += quantity

    def _undo(self) -> None:
        assert self._order is not None
        if self._say("u") == "pick.undone":
            answer = self._answer()
            assert answer is not None
            args = dict(answer.args)
            product = next(each for each in self._order.products if args["label"] == f"Product {each}")
            self._said.picked[self._order.number, product] += int(f"{args['now']}") - int(f"{args['was']}")

    # Moving

    def _move(self) -> None:
        source, target = self._dice.sample(SHELVES, 2)
        product, quantity = self._dice.choice(self._products), self._dice.randint(1, 3)
        self.person.open("home.move")
        if self._say(source, f"{quantity}*{self._codes[product]}", target) != "move.moved":
            return
        self._shift(product, source, target, quantity)
        if self._dice.random() < 0.2 and self._say("u") == "move.undone":
            self._shift(product, target, source, quantity)

    def _shift(self, product: str, source: str, target: str, quantity: int) -> None:
        self._said.moved[product, source] -= quantity
        self._said.moved[product, target] += quantity

    # Losses and counts

    def _lose(self) -> None:
        place, product = self._dice.choice(SHELVES), self._dice.choice(self._products)
        quantity = self._dice.randint(1, 2)
        self.person.open("home.count")
        told = self._say("1", place, self._codes[product], f"{quantity}", f"{self._dice.randint(1, 3)}")
        sign = {"adjust.lost": -1, "adjust.found": 1}.get(told)
        if sign is None:
            return
        self._said.lost[product, place] += sign * quantity
        if self._dice.random() < 0.2 and self._say("u") == "adjust.undone":
            self._said.lost[product, place] -= sign * quantity

    def _count(self) -> None:
        self.person.open("home.count")
        self._say(self._dice.choice(SHELVES))
        for _ in range(self._dice.randint(1, 2)):
            self._say(self._codes[self._dice.choice(self._products)])
            self._said.scans += 1
            self.person.count(self._dice.randint(20, 40))
        self._say("d")
        for _ in range(12):
            match self.person.at:
                case "count.missing":
                    self._say("a" if len(self.person.frame.view.choices) > 3 else "k")
                case "count.recount":
                    self._said.scans += 1
                    self.person.count(self._dice.randint(20, 40))
                case "count.summary":
                    self._say("y")
                case _:
                    break
        told = self.person.told[1]
        self._said.counts += told.startswith("count.sent") and not told.startswith("count.sent_undone")


_DEEDS: tuple[Callable[[Worker], None], ...] = (Worker._pick, Worker._move, Worker._lose, Worker._count)
_SHARES = (4, 5, 3, 1)
