"""The pages of the chain's catalogue by themselves: no terminal, no file, no network."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from aisle.contract.answer_schemas import answer_schemas
from aisle.jobs.job import Changed, Close, Context, Event, Opened, Query, Refresh, Resumed, Rows, Start
from aisle.jobs.supervisor.catalogue import (
    KNOWN_FIELDS,
    SUBSETS,
    ProductsJob,
    parse_catalogue_product,
    product_blocks,
)
from aisle.jobs.view import DetailView, ListView, msg, raw
from aisle.scan.grammar_and_meaning_types import (
    LOCATION,
    PRODUCT,
    Back,
    Choice,
    Command,
    CursorKey,
    Match,
    Scan,
    Text,
    TypedText,
)
from tests.samples.products import PRODUCT as SAMPLE_PRODUCT
from tests.samples.products import PRODUCT_PAGE_ROW, catalogue_row

CONTEXT = Context(store="0001", user="fred", now="2026-11-20T10:00:00Z", terminal="dock", window_rows=5)


class Desk:
    """Somebody at the pages, with forty products in three categories."""

    def __init__(self, **args: Any) -> None:
        self.job = ProductsJob()
        self.state = self.job.begin()
        self.verdict = ""
        self.effects: list[Any] = []
        self.asked: dict[str, Any] = {}
        self.said(Opened(args))

    def said(self, *events: Event) -> None:
        """Events, and whatever they ask for."""
        for event in events:
            queue: list[Event] = [event]
            self.effects = []
            while queue:
                turn = self.job.handle(self.state, queue.pop(0), CONTEXT)
                self.state = turn.state
                self.verdict = turn.verdict.text.id if turn.verdict else self.verdict
                self.effects += [effect for effect in turn.effects if not isinstance(effect, Query)]
                queue += [self.answer(effect) for effect in turn.effects if isinstance(effect, Query)]
            assert self.job.view(self.state).name == self.job.step_name(self.state) in self.job.steps

    def answer(self, query: Query) -> Rows:
        args = self.asked = dict(query.args)
        if query.name == "catalogue_page":
            number = args["product_number"]
            return Rows(query.id, () if number == "GONE" else ({**PRODUCT_PAGE_ROW, "product_number": number},), 1)
        if query.name == "facets":
            rows: list[Any] = [{"code": f"C{n}", "name": f"Category {n}", "count": 9 - n} for n in range(3)]
        else:
            numbers = args.get("among") or [f"P{n:02}" for n in range(40)]
            rows = [catalogue_row(n, n) for n in numbers if args.get("search", "") in n]
        return Rows(query.id, tuple(rows[args["first"] : args["first"] + args["size"]]), len(rows))


def test_a_product_is_found_shown_and_led_on_from() -> None:
    desk = Desk()
    desk.said(TypedText("P1"))
    assert desk.asked["search"] == "P1"
    desk.said(Text("P12"))
    assert desk.state.product_number == "P12"
    assert desk.effects == [Refresh("product", "P12")]
    view = desk.job.view(desk.state)
    assert isinstance(view, DetailView)
    assert [choice.id for choice in view.choices] == [
        "products.choice_look_up",
        "products.choice_store",
        "products.choice_related",
    ]
    for choice, job in ((1, "look_up"), (2, "store_product")):
        desk.said(Choice(choice))
        (start,) = desk.effects
        assert isinstance(start, Start)
        assert (start.job, start.args["product_number"]) == (job, "P12")
    desk.said(Choice(3))
    assert [row["product_number"] for row in desk.state.rows] == ["110001", "117003", "118041"]
    desk.said(Choice(2))
    assert desk.state.product_number == "117003"
    desk.said(Back())
    assert (desk.state.product_number, desk.state.pages_below) == ("P12", ())
    desk.said(Back())
    assert isinstance(desk.job.view(desk.state), ListView)


def test_the_list_is_gathered_and_let_go() -> None:
    desk = Desk()
    desk.said(Command("c"), Text("Category"))
    assert desk.job.step_name(desk.state) == "products.filter"
    desk.said(Choice(2))
    assert (desk.asked["category"], desk.state.category_name) == ("C1", "Category 1")
    desk.said(Command("s"), CursorKey("down"), CursorKey("enter"))
    assert (desk.asked["category"], desk.asked["supplier"]) == ("C1", "C0")
    for show in list(SUBSETS)[1:]:
        desk.said(Command("v"))
        assert (desk.asked["show"], desk.asked["supplier"]) == (show, "C0")
    desk.said(Command("n"))
    assert desk.state.first == 6
    desk.said(Command("c"))
    assert (desk.asked["category"], desk.asked["supplier"]) == ("", "C0")
    desk.said(Back())
    assert (desk.asked["supplier"], desk.asked["show"]) == ("", "all")
    desk.said(Back())
    assert desk.effects == [Close()]


def test_a_scan_opens_and_what_is_no_product_does_not() -> None:
    desk = Desk(product_number="P1")
    assert desk.state.product_number == "P1"
    desk.said(Scan((Match(PRODUCT, "P2", "Rye bread", code="1"),)))
    assert (desk.state.product_number, desk.state.pages_below) == ("P2", ("P1",))
    desk.said(Scan((Match(LOCATION, "A-1", "A-1", code="A-1"),)))
    assert desk.verdict == "page.not_this"
    desk.said(Command("n"), Resumed(), Changed("product", "P2"))
    assert desk.state.page == 1
    desk.said(Text("P3"))
    assert (desk.state.product_number, desk.state.search) == ("", "P3")
    lost = Desk(product_number="GONE")
    assert lost.state.product is None
    lost.said(Choice(1), Back(), Back())
    assert lost.effects == [Close()]


def test_every_field_of_the_resource_is_on_the_page() -> None:
    """interface: Product."""
    assert set(answer_schemas()["Product"]["properties"]) <= KNOWN_FIELDS
    blocks = product_blocks(parse_catalogue_product(PRODUCT_PAGE_ROW, CONTEXT.now))
    found = {block.title.id: block.rows for block in blocks}
    assert found["product.product_url"] == ((raw(SAMPLE_PRODUCT["product_url"]),),)
    assert found["product.stores_allowed"] == ((raw("0001, 0002, 0042"),),)
    assert found["look_up.codes"][1] == (raw("9520001118057"),)
    gift_pair = (msg("look_up.unit", quantity=2, name="Gift pair"), raw("29520001118044"))
    assert gift_pair in found["look_up.codes"]
    assert found["stores.free_fields"][0][0] == raw("Allergens")
    strange = {**SAMPLE_PRODUCT, "shop_note": {"a": 1}, "price": 3}
    blocks = product_blocks(
        parse_catalogue_product(PRODUCT_PAGE_ROW | {"catalogue": strange, "price": 18.25}, CONTEXT.now)
    )
    assert blocks[-1].rows == ((raw("shop_note"), raw("a 1")),)
    own_price = (msg("label.price"), msg("money", value=Decimal("18.25")))
    assert blocks[0].rows[0] == own_price  # as this store has it
