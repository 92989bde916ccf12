"""Lists that were never read are not shown as empty ones, in any language and on any screen."""

from __future__ import annotations

import re
from typing import Any

import pytest

from aisle.cache.reader import LISTS_SHOWN
from aisle.jobs import JOBS
from aisle.jobs.adjust import AdjustJob
from aisle.jobs.count.count_state import CountState
from aisle.jobs.count.job import CountJob
from aisle.jobs.expiry.job import ExpiryJob
from aisle.jobs.hand_over.job import HandOverJob
from aisle.jobs.job import Job
from aisle.jobs.location_list_and_page import LocationsJob, LocationsState
from aisle.jobs.look_up_product import LookUpJob
from aisle.jobs.move.clearance_tasks import ClearanceTasksJob
from aisle.jobs.move.job import MoveJob
from aisle.jobs.names_in_messages import LIST_NAMES, list_name
from aisle.jobs.pick.job import PickJob
from aisle.jobs.receive.job import ReceiveJob
from aisle.jobs.row_types.locations import LocationsRow
from aisle.jobs.shell.home_orders_and_menu import HomeJob
from aisle.jobs.shell.sign_in import SignInJob
from aisle.jobs.supervisor.catalogue import ProductsJob
from aisle.jobs.supervisor.deliveries import DeliveriesJob
from aisle.jobs.supervisor.exception_decisions import EXCEPTION_KINDS, ExceptionsState
from aisle.jobs.supervisor.exceptions import ExceptionsJob
from aisle.jobs.supervisor.log_job import LogJob
from aisle.jobs.supervisor.log_list import LogState
from aisle.jobs.supervisor.order_board import OrdersJob
from aisle.jobs.supervisor.stores import StoresJob
from aisle.jobs.supervisor.today import TodayJob, TodayState
from aisle.jobs.undo_todays_entries import MyEntriesJob
from aisle.jobs.view import WRONG, Frame, LinkState, MissingList, UnusableRows, Verdict, msg
from aisle.stored_messages import store_message as kept
from aisle.tui.layout.screen import layout_screen
from aisle.tui.message_text import MessageWriter
from tests.courier.test_failing_lists import LISTS
from tests.samples.log import log_row
from tests.samples.look_up import location_row
from tests.samples.today import FIGURES

UNREAD = LinkState("offline", unread_lists=(*LISTS_SHOWN, "logs"))
EMPTY_LOCATION: LocationsRow = {
    "location_code": "A-1", "location_order": 1, "default_stock_pool": 0, "tags": [], "products": 0, "quantity": None,
}  # fmt: skip
WORDS = {"en": "oaded yet", "nl": "og niet geladen", "de": "och nicht geladen", "fr": "as encore charg"}

UNREAD_JOBS = (
    HomeJob, OrdersJob, DeliveriesJob, ReceiveJob, LogJob, LocationsJob, MyEntriesJob, ProductsJob,
    ExpiryJob, HandOverJob,
)  # fmt: skip


def page(job: Job[Any], state: Any = None) -> Frame:
    state = job.begin() if state is None else state
    return Frame(job.view(state), LinkState("live"), lists=job.lists, main_list=job.main_list(state))


def _drawn(frame: Frame, link: LinkState, language: str = "en", size: tuple[int, int] = (80, 24)) -> str:
    lines = layout_screen(frame._replace(link=link, language=language), *size).lines
    return "\n".join("".join(text for text, _ in line) for line in lines)


@pytest.mark.parametrize("job", UNREAD_JOBS)
@pytest.mark.parametrize("language", WORDS)
def test_a_list_that_was_never_read_is_not_here_yet(job: type[Job[Any]], language: str) -> None:
    view = page(job())
    for size in ((20, 16), (40, 8), (80, 24)):
        assert WORDS[language] in " ".join(_drawn(view, UNREAD, language, size).split())
        assert WORDS[language] not in _drawn(view, LinkState("live"), language, size)


@pytest.mark.parametrize(
    ("job", "state", "empty"),
    [
        (CountJob(), CountState(phase="count", mode="location", location="A-1"), "Nothing is expected here."),
        (LocationsJob(), LocationsState(code="A-1", location=location_row("A-1")), "A-1 · empty"),
        (LocationsJob(), LocationsState(rows=(EMPTY_LOCATION,), total=1), "empty"),
    ],
)
def test_a_location_is_not_empty_while_its_stock_is_unknown(job: Job[Any], state: Any, empty: str) -> None:
    unread = LinkState("syncing", unread_lists=("stock",))
    for link, told, other in ((unread, "Not loaded yet: stock", empty), (LinkState("live"), empty, "Not loaded")):
        for size in ((40, 20), (80, 24)):
            drawn = " ".join(_drawn(page(job, state), link, size=size).split())
            assert told in drawn
            assert other not in drawn


@pytest.mark.parametrize(("total", "told"), [(2, "1–2 of 2+"), (40, "of 40+")])
def test_what_has_come_of_a_list_is_not_all_of_it(total: int, told: str) -> None:
    rows = tuple(log_row(str(number), "2026-11-20T09:00:00Z", description="Rye bread") for number in range(2))
    view = page(LogJob(), LogState(rows=rows, total=total))
    assert told in _drawn(view, LinkState("syncing", unread_lists=("logs",)))
    assert f"/{total}+" in _drawn(view, LinkState("syncing", unread_lists=("logs",)), size=(20, 16))
    for link in (LinkState("live"), LinkState("syncing", unread_lists=("products",))):
        assert f"{total}+" not in _drawn(view, link)


def test_what_was_read_is_empty_though_another_list_is_not_here() -> None:
    view = page(HomeJob())
    assert "No open orders" in _drawn(view, LinkState("syncing", unread_lists=("deliveries", "products", "logs")))


def test_counts_of_what_was_never_read_are_not_nothing() -> None:
    counts = tuple((kind, 2 if kind == "unconfirmed" else 0) for kind in EXCEPTION_KINDS)
    state = ExceptionsState(counts=counts, is_loaded=True)
    drawn = _drawn(page(ExceptionsJob(), state._replace(unread_lists=UNREAD.unread_lists)), UNREAD)
    assert " 0 " not in drawn
    assert drawn.count("Not loaded yet: ") == drawn.count("  ?  ") == len(counts) - 1
    assert " 2 " in drawn
    stock = _drawn(page(ExceptionsJob(), state._replace(unread_lists=("recounts", "products", "stock"))), UNREAD)
    unknown = [line.split()[1] for line in stock.splitlines() if re.search(r"\?  +Not loaded yet", line)]
    assert unknown == ["Negative", "Recounts"]
    assert " 0 " in _drawn(page(ExceptionsJob(), state), LinkState("live"))


def test_every_job_declares_lists_that_have_a_name() -> None:
    for job in JOBS.values():
        assert set(job.lists) <= set(LIST_NAMES), job.name
        assert set(job.own_steps) <= set(job.steps), job.name


def test_the_headline_of_today_says_it() -> None:
    view = page(TodayJob(), TodayState(now="2026-11-20T15:30:00+00:00", figures=FIGURES | {"unread": ("headers",)}))
    drawn = _drawn(view, UNREAD)
    assert "Not loaded yet: orders." in drawn
    assert "52" not in drawn
    assert "This computer" in drawn


WHY = kept("stored_reason.status_with_text", status=403, why="no role for it")
LACKING = {
    "headers": (HomeJob, OrdersJob, ExceptionsJob, HandOverJob),
    "lines": (HomeJob, OrdersJob, PickJob),
    "deliveries": (DeliveriesJob, ReceiveJob),
    "receipts": (DeliveriesJob, ReceiveJob),
    "locations": (LocationsJob,),
    "logs": (LogJob, MyEntriesJob, TodayJob),
    "products": (ProductsJob, LookUpJob, ExpiryJob),
    "stock": (CountJob, MoveJob, AdjustJob, PickJob),
    "stores": (StoresJob,),
    "people": (SignInJob,),
    "changes": (HomeJob, OrdersJob, ExceptionsJob, TodayJob),
    "assignments": (ClearanceTasksJob,),
}
CASES = [(name, job) for name, jobs in LACKING.items() for job in jobs]
NAMED = {"en": "cannot be read", "nl": "Niet te lezen", "de": "Nicht lesbar", "fr": "Illisible"}


def test_every_list_is_on_some_page() -> None:
    assert set(LISTS) <= set(LACKING)


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("size", [(40, 8), (80, 24)])
def test_the_last_line_of_every_page_names_the_list(name: str, size: tuple[int, int]) -> None:
    view = page(HomeJob())
    link = LinkState("partial", 5.0, missing_lists=(name,), unreadable_lists=(MissingList(name, WHY),))
    word = MessageWriter().write(list_name(name), 0)
    assert word in _drawn(view, link, size=size).splitlines()[-1]


@pytest.mark.parametrize(("name", "job"), CASES)
@pytest.mark.parametrize("language", NAMED)
def test_a_page_says_which_of_its_lists_cannot_be_read_and_why(name: str, job: type[Job[Any]], language: str) -> None:
    view = page(job())
    link = LinkState("partial", 5.0, missing_lists=(name,), unreadable_lists=(MissingList(name, WHY),))
    drawn = " ".join(_drawn(view, link, language).split())
    assert NAMED[language] in drawn
    assert "no role for it (403)" in drawn
    for state in ("offline", "refused", "none"):
        assert NAMED[language] not in _drawn(view, link._replace(state=state), language)
    assert NAMED[language] not in _drawn(
        view, LinkState("partial", unreadable_lists=(MissingList("another", WHY),)), language
    )


@pytest.mark.parametrize("size", [(20, 16), (40, 8), (40, 20)])
@pytest.mark.parametrize(("name", "job"), CASES)
def test_a_small_screen_says_it_too(name: str, job: type[Job[Any]], size: tuple[int, int]) -> None:
    drawn = _drawn(page(job()), LinkState("live", 5.0, unreadable_lists=(MissingList(name, WHY),)), size=size)
    assert re.search("No |cannot be read|role", " ".join(drawn.split()))


@pytest.mark.parametrize("language", NAMED)
def test_rows_that_cannot_be_used_are_said(language: str) -> None:
    view = page(HomeJob())
    drawn = _drawn(view, LinkState("live", 5.0, unusable_rows=(UnusableRows("headers", 37, "order_number"),)), language)
    assert "37 " in drawn
    assert "order_number" not in drawn, "nobody on the floor knows the names of fields"
    assert "37 " not in _drawn(view, LinkState("live", 5.0, unusable_rows=(UnusableRows("stores", 37, "x"),)), language)


def test_what_was_just_said_stays() -> None:
    frame = page(HomeJob())._replace(verdict=Verdict(WRONG, msg("raw", text="Scan again")))
    drawn = _drawn(frame, LinkState("live", 5.0, unreadable_lists=(MissingList("headers", WHY),)))
    assert "Scan again" in drawn
    assert "The orders cannot be read: no role for it (403)" in drawn, "the list itself says it"


TWICE = {"en": "twice", "nl": "dubbel", "de": "doppelt", "fr": "en double"}


@pytest.mark.parametrize("language", TWICE)
@pytest.mark.parametrize("size", [(20, 16), (40, 20), (80, 24)])
def test_rows_that_are_there_twice_are_not_said_to_be_unusable(language: str, size: tuple[int, int]) -> None:
    view = page(HomeJob())
    link = LinkState("live", 5.0, unusable_rows=(UnusableRows("headers", 37, "repeated", is_repeated=True),))
    drawn = " ".join(_drawn(view, link, language, size).split())
    assert TWICE[language] in drawn
    assert "37 " in drawn
