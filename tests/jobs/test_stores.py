"""The pages of the chain's stores by themselves: no terminal, no file, no network."""

from __future__ import annotations

from typing import Any

from aisle.jobs.job import Changed, Close, Context, Event, Opened, Query, Refresh, Resumed, Rows, SwitchStore
from aisle.jobs.supervisor.stores import SUBSETS, StoresJob, StoresState, store_blocks
from aisle.jobs.view import DetailView, ListView, Msg, Step, msg, raw
from aisle.scan.grammar_and_meaning_types import PRODUCT, Back, Choice, Command, CursorKey, Match, Scan, Text, TypedText
from tests.samples.stores import STORE_FIELDS, store_row

CONTEXT = Context(store="0001", user="fred", now="2026-11-20T10:00:00Z", terminal="dock", window_rows=5)

Row = dict[str, Any]


class Desk:
    """Somebody at the pages, with thirty stores; 0001 is where he works."""

    def __init__(self, may: bool = True, **args: Any) -> None:
        self.job = StoresJob()
        self.state = self.job.begin()
        self.may = may
        self.back = False
        self.verdict = ""
        self.effects: list[Any] = []
        self.stores = [f"{number:04}" for number in range(1, 31)]
        self.said(Opened(args))

    def said(self, event: Event) -> None:
        """One event, and whatever it asks for."""
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
        args = query.args
        if query.name == "store_page":
            number = args["store_number"]
            rights = {"may_switch": self.may, "back": self.back}
            page = {**STORE_FIELDS, "store_number": number, "is_current": number == "0001", "waiting": 2, **rights}
            return Rows(query.id, (page,) if number in self.stores else (), 1)
        found = [number for number in self.stores if args["search"] in number]
        rows = [store_row(number, f"Store {number}") for number in found]
        return Rows(query.id, tuple(rows[args["first"] : args["first"] + args["size"]]), len(found))


def test_a_store_is_found_by_its_number_and_changed_to() -> None:
    desk = Desk()
    assert isinstance(desk.job.view(desk.state), ListView)
    desk.said(TypedText("001"))
    assert desk.state.total == 30  # it may become the number of a row
    desk.said(Text("0012"))
    assert desk.state.store_number == "0012"
    assert desk.effects == [Refresh("store", "0012")]
    view = desk.job.view(desk.state)
    assert isinstance(view, DetailView)
    assert [choice.id for choice in view.choices] == ["stores.choice_switch"]
    desk.said(Choice(1))
    asked = desk.job.view(desk.state)
    assert isinstance(asked, Step)
    assert asked.lines[-1].text == msg("stores.switch_effect", waiting=2, jobs=0)
    desk.said(Choice(2))
    assert desk.job.step_name(desk.state) == "stores.page"
    desk.said(Choice(1))
    desk.said(Choice(1))
    assert desk.effects == [SwitchStore("0012", needs_supervisor=True)]


def test_nobody_changes_without_the_right_and_nobody_to_where_he_is() -> None:
    desk = Desk(may=False, change=True)
    desk.said(Text("0012"))
    assert desk.job.step_name(desk.state) == "stores.change"
    desk.said(Choice(1))
    (effect,) = desk.effects
    assert isinstance(effect, Close)
    desk = Desk()
    desk.said(Text("0001"))
    view = desk.job.view(desk.state)
    assert isinstance(view, DetailView)
    assert not view.choices
    desk.said(Choice(1))
    assert desk.job.step_name(desk.state) == "stores.page"


def test_what_brings_a_terminal_back_is_no_supervisors() -> None:
    desk = Desk(change=True)
    desk.back = True
    desk.said(Text("0012"))
    desk.said(Choice(1))
    assert desk.effects == [SwitchStore("0012")]


def test_the_command_asks_about_the_chosen_store_at_once() -> None:
    desk = Desk(change=True)
    desk.said(Choice(3))
    assert (desk.job.step_name(desk.state), desk.state.store_number) == ("stores.change", "0003")
    desk.said(Back())
    assert desk.job.step_name(desk.state) == "stores"
    desk.said(Back())
    assert desk.effects == [Close()]


def test_the_list_is_leafed_filtered_and_closed() -> None:
    desk = Desk()
    desk.said(Command("n"))
    assert desk.state.first == 6
    for show in (*list(SUBSETS)[1:], *list(SUBSETS)[:1]):
        desk.said(Command("v"))
        assert desk.state.subset == show
    desk.said(CursorKey("down"))
    desk.said(CursorKey("enter"))
    assert desk.state.store_number == "0001"
    desk.said(Command("n"))
    assert desk.state.page == 1
    desk.said(Scan((Match(PRODUCT, "P1", "Rye bread", code="1"),)))
    assert desk.verdict == "stores.not_this"
    desk.said(Text("2"))
    assert desk.state.search == "2"
    desk.said(Back())
    assert desk.state.search == ""
    desk.said(Resumed())
    desk.said(Back())
    assert desk.effects == [Close()]


def test_a_store_that_is_no_more_leaves_the_list() -> None:
    desk = Desk()
    desk.said(Text("0012"))
    desk.stores.remove("0012")
    desk.said(Changed("store", "0012"))
    assert (desk.verdict, desk.job.step_name(desk.state)) == ("stores.store_removed", "stores")


def blocks(row: Row) -> dict[str, tuple[tuple[Msg, ...], ...]]:
    """The rows of each block of a store's page, by the id of its title."""
    page: Any = {**STORE_FIELDS, **row}
    return {block.title.id: block.rows for block in store_blocks(page)}


def test_pools_are_told_once_however_many_fields_name_them() -> None:
    fields = {
        "storeStockPool1": "Shelf",
        "store_stock_pool_1": "Shelf",
        "store_stock_pool_2": "Old",
        "pool_x": "A",
    }
    found = blocks(fields | {"pools": {1: "Shelf", 2: "New"}})
    assert found["look_up.pools"] == ((raw("1"), raw("Shelf")), (raw("2"), raw("New")))
    unknown = [(raw("pool_x"), raw("A")), (raw("something_new"), raw("12")), (raw("store_stock_pool_2"), raw("Old"))]
    assert list(found["stores.technical"][-3:]) == unknown


def test_a_page_says_all_that_the_interface_has_and_what_it_does_not_know() -> None:
    found = blocks({"is_active_data_exchange": False, "new_field": [1, {"a": 2.50}]})
    assert (msg("store.is_active_data_exchange"), msg("unconfirmed.no")) in found["stores.organisation"]
    assert found["stores.technical"][-2:] == (
        (raw("new_field"), raw("1, a 2.5")),
        (raw("something_new"), raw("12")),
    )
    assert found["stores.hours"] == ((raw("Mon-Fri"), raw("8:00-20:00")), (raw("Sat"), raw("8:00-18:00")))
    fresh = (msg("stores.category", category="FRESH"), msg("stores.weeks", weeks="1,3,5"))
    assert found["stores.ordering"][1][-2:] == fresh
    assert found["stores.printers"][1] == (raw("Belt 2"), raw("QLN-2207"), msg("stores.bluetooth"))
    bare: Any = {**STORE_FIELDS, "store_name": None, "opening_hours": "none", "free_fields": [{"value": "x"}, 4]}
    assert (blocks(bare)["stores.hours"], blocks(bare)["stores.free_fields"]) == ((), ())
    assert StoresJob().view(StoresState(store_number="1", store=bare)).name == "stores.page"
