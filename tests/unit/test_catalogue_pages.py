"""The pages of the chain's catalogue by themselves: no terminal, no file, no network."""

from __future__ import annotations

from typing import Any

from aisle.contract.models.products import Product
from aisle.jobs.base import Changed, Close, Context, Event, Opened, Query, Resumed, Rows, Start, Wish
from aisle.jobs.chain.catalogue import SHOWS, CatalogueJob
from aisle.jobs.chain.catalogue_sheet import _ELSEWHERE, FIELDS, page_of
from aisle.jobs.view import Detail, ListWindow
from aisle.scan.meaning import LOCATION, PRODUCT, Back, Choice, Command, Echo, Meaning, Move, Text, Thing
from aisle.tui.samples.products import BOX, ROW

CONTEXT = Context(store="0001", user="fred", now="2026-11-20T10:00:00Z", terminal="dock", rows=5)


class Desk:
    """Somebody at the pages, with forty products in three categories."""

    def __init__(self, **args: Any) -> None:
        self.job = CatalogueJob()
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
                turn = self.job.step(self.state, queue.pop(0), CONTEXT)
                self.state = turn.state
                self.verdict = turn.verdict.text.id if turn.verdict else self.verdict
                self.effects += [effect for effect in turn.effects if not isinstance(effect, Query)]
                queue += [self.answer(effect) for effect in turn.effects if isinstance(effect, Query)]
            assert self.job.view(self.state).name == self.job.at(self.state) in self.job.steps

    def answer(self, query: Query) -> Rows:
        args = self.asked = dict(query.args)
        if query.name == "catalogue_page":
            number = args["product_number"]
            return Rows(query.id, () if number == "GONE" else ({**ROW, "product_number": number},), 1)
        if query.name == "facets":
            rows = [{"code": f"C{n}", "name": f"Category {n}", "count": 9 - n} for n in range(3)]
        else:
            numbers = args.get("among") or [f"P{n:02}" for n in range(40)]
            rows = [{"product_number": n, "product_name": n} for n in numbers if args.get("search", "") in n]
        return Rows(query.id, tuple(rows[args["first"] : args["first"] + args["size"]]), len(rows))


def test_a_product_is_found_shown_and_led_on_from() -> None:
    desk = Desk()
    desk.said(Echo("P1"))
    assert desk.asked["search"] == "P1"
    desk.said(Text("P12"))
    assert desk.state.number == "P12"
    assert desk.effects == [Wish("product", "P12")]
    view = desk.job.view(desk.state)
    assert isinstance(view, Detail)
    assert [choice.id for choice in view.choices] == ["products.way_lookup", "products.way_store", "products.way_kin"]
    for choice, job in ((1, "lookup"), (2, "store_product")):
        desk.said(Choice(choice))
        (start,) = desk.effects
        assert isinstance(start, Start)
        assert (start.job, start.args["product_number"]) == (job, "P12")
    desk.said(Choice(3))
    assert [row.number for row in desk.state.rows] == ["110001", "117003", "118041"]
    desk.said(Choice(2))
    assert desk.state.number == "117003"
    desk.said(Back())
    assert (desk.state.number, desk.state.trail) == ("P12", ())
    desk.said(Back())
    assert isinstance(desk.job.view(desk.state), ListWindow)


def test_the_list_is_gathered_and_let_go() -> None:
    desk = Desk()
    desk.said(Command("c"), Text("Category"))
    assert desk.job.at(desk.state) == "products.filter"
    desk.said(Choice(2))
    assert (desk.asked["category"], desk.state.category_name) == ("C1", "Category 1")
    desk.said(Command("s"), Move("down"), Move("enter"))
    assert (desk.asked["category"], desk.asked["supplier"]) == ("C1", "C0")
    for show in SHOWS[1:]:
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
    assert desk.state.number == "P1"
    desk.said(Thing((Meaning(PRODUCT, "P2", "Rye bread", code="1"),)))
    assert (desk.state.number, desk.state.trail) == ("P2", ("P1",))
    desk.said(Thing((Meaning(LOCATION, "A-1", "A-1", code="A-1"),)))
    assert desk.verdict == "products.not_this"
    desk.said(Command("n"), Resumed(), Changed("product", "P2"))
    assert desk.state.page == 1
    desk.said(Text("P3"))
    assert (desk.state.number, desk.state.search) == ("", "P3")
    lost = Desk(product_number="GONE")
    assert lost.state.sheet is None
    lost.said(Choice(1), Back(), Back())
    assert lost.effects == [Close()]


def test_every_field_of_the_resource_is_on_the_page() -> None:
    """interface: Product."""
    known = {*FIELDS, *_ELSEWHERE}
    assert set(Product.model_fields) <= known
    page = page_of(ROW, CONTEXT.now)
    facts = dict(page.facts)
    assert facts["product_url"] == BOX["product_url"]
    assert facts["stores_allowed"] == "0001, 0002, 0042"
    assert (page.codes[1], page.units[0].name, page.free[0][0]) == ("9520001118057", "Gift pair", "Allergens")
    strange = {**BOX, "shop_note": {"a": 1}, "price": 3}
    page = page_of({**ROW, "catalogue": strange, "price": 18.25}, CONTEXT.now)
    assert page.further == (("shop_note", "a 1"),)
    assert dict(page.facts)["price"] == "18.25"  # as this store has it
