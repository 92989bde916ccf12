"""Registry of all screens with their samples, from which snapshots and screenshots are made.

The samples come from the jobs themselves, so a job whose view changes changes them too.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

from aisle.jobs.shell.home_orders_and_menu import HomeJob, HomeState, OpenOrderRow
from aisle.jobs.shell.sign_in import Person, SignInJob, SignInState
from aisle.jobs.sums_of_goods_and_progress import GoodsSum, OrderGoods
from aisle.jobs.view import ASK, INFO, WRONG, Frame, LinkState, MissingList, Tab, UnusableRows, Verdict, View, msg
from aisle.session.tab_bar_with_counts import TABS
from aisle.stored_messages import store_message
from tests.samples import look_up
from tests.samples.clearance import CLEARANCE_SAMPLES
from tests.samples.count import COUNT_SAMPLES
from tests.samples.expiry import EXPIRY_SAMPLES
from tests.samples.hand_over import HAND_OVER_SAMPLES
from tests.samples.log import LOG_SAMPLES
from tests.samples.move import MOVE_SAMPLES
from tests.samples.pick import PICK_SAMPLES
from tests.samples.products import PRODUCT_SAMPLES
from tests.samples.receive import DELIVERY_SAMPLES, RECEIVE_SAMPLES
from tests.samples.replenishment import REPLENISHMENT_SAMPLES
from tests.samples.shell import PIN_SAMPLES, SCANNER_TEST_SAMPLES, SHELL_SAMPLES, note
from tests.samples.shortage import SHORTAGE_SAMPLES
from tests.samples.store_product import STORE_PRODUCT_SAMPLES
from tests.samples.stores import STORE_SAMPLES
from tests.samples.supervisor import SUPERVISOR_SAMPLES
from tests.samples.today import TODAY_SAMPLES
from tests.samples.unconfirmed import UNCONFIRMED_SAMPLES

CUSTOMERS = ("J. Jansen", "Bakery The Little Corner", "De Vries", "Öztürk & Sons", "", "M. Okafor")


class Sample(NamedTuple):
    """Screen in one state. `build` takes a text that replaces every name from outside; empty for the sample's own."""

    screen: str
    """Name of the view."""
    state: str
    build: Callable[[str], Frame]


def _frame(
    view: View, verdict: Verdict | None, link: LinkState, typed: str = "", serial: int = 0, user: str = "Anna"
) -> Frame:
    return Frame(view, link, verdict, typed, "0042", user, serial)


def _sign_in(text: str) -> Frame:
    return _frame(SignInJob().view(SignInState()), None, LinkState("none"), typed=text, user="")


def _sign_in_demo(text: str) -> Frame:
    return _frame(SignInJob().view(SignInState(is_demo=True)), None, LinkState("live", 3.0), typed=text, user="")


def _sign_in_which(text: str) -> Frame:
    names = (text,) * 3 if text else ("Anna Bakker", "Annabel Smit", "Johanna de Wit")
    people = tuple(Person(name, name) for name in names)
    state = SignInState(text or "ann", people)
    verdict = Verdict(ASK, msg("sign_in.which", asked=state.typed_name))
    return _frame(SignInJob().view(state), verdict, LinkState("live", 5.0), serial=2, user="")


def _open_orders(text: str) -> tuple[OpenOrderRow, ...]:
    rows = []
    for index in range(12):
        of = Decimal(9 + index * 5 % 17)
        pickup = f"2026-11-{20 + index // 4:02}T{9 + index % 4 * 2:02}:30:00"
        who = text or CUSTOMERS[index % len(CUSTOMERS)]
        due = msg("moment.late" if index < 2 else "moment", at=pickup)
        picked = Decimal(max(0, 8 - index))
        goods = OrderGoods(GoodsSum(picked), GoodsSum(of))
        rows.append(OpenOrderRow(f"10{index * 7 + 4:04}", who, due, index + 1, of, picked, goods=goods))
    rows[1] = rows[1]._replace(is_claimed=True, claimed_by=text or "Ben Okafor")
    rows[4] = rows[4]._replace(is_claimed=True)
    rows[5] = rows[5]._replace(
        is_claimed=True, claimed_by=text or "Ben Okafor", abandoned_at=msg("moment", at="2026-11-19T16:20:00Z")
    )
    return tuple(rows)


def _home(text: str) -> Frame:
    state = HomeState(rows=_open_orders(text), total=40, cursor=2)
    return _frame(HomeJob().view(state), None, LinkState("live", 20.0))


def _home_due(text: str) -> Frame:
    mine, *others = _open_orders(text)
    rows = (mine._replace(is_started=True), *others)
    state = HomeState(rows=rows, total=40, partly_received=(text or "7004",), recounts=2, expiry_checks=6)
    return _frame(HomeJob().view(state), None, LinkState("live", 20.0))


def _home_more_menu(text: str) -> Frame:
    state = HomeState(rows=_open_orders(text)[:3], total=3, menu_page=1)
    return _frame(HomeJob().view(state), None, LinkState("live", 20.0))


def _home_store_menu(text: str) -> Frame:
    state = HomeState(rows=_open_orders(text)[:3], total=3, menu_page=2)
    return _frame(HomeJob().view(state), None, LinkState("live", 20.0))


def _home_found(text: str) -> Frame:
    state = HomeState(search=text or "de", rows=_open_orders(text)[:3], total=3)
    verdict = Verdict(ASK, msg("list.found", text=state.search, count=3))
    return _frame(HomeJob().view(state), verdict, LinkState("syncing", 400.0, 0, 0, 12000, 61000), serial=7)


def _home_empty(text: str) -> Frame:
    state = HomeState(search=text or "jansn", typed=text)
    verdict = Verdict(WRONG, msg("count.unknown", code=state.search))
    return _frame(HomeJob().view(state), verdict, LinkState("refused", 7200.0, 2), typed=text, serial=3)


def _home_partial(text: str) -> Frame:
    link = LinkState("partial", 5.0, 2, 3, missing_lists=("stock",))
    return _frame(HomeJob().view(HomeState(unconfirmed=3)), None, link, user=text or "Anna")


def _home_unreadable_list(text: str) -> Frame:
    lacking = (
        MissingList(
            "headers",
            store_message("stored_reason.status_with_text", status=403, why=text or "This token may not read orders"),
        ),
    )
    link = LinkState(
        "partial",
        5.0,
        missing_lists=("headers",),
        unreadable_lists=lacking,
        unusable_rows=(UnusableRows("headers", 2, "order_number"),),
    )
    verdict = Verdict(INFO, msg("session.resumed"))
    frame = _frame(HomeJob().view(HomeState()), verdict, link, user=text or "Anna")
    return frame._replace(lists=HomeJob.lists, main_list=HomeJob.lists[0])


def _home_unread(text: str) -> Frame:
    link = LinkState("offline", unread_lists=("headers", "logs"))
    frame = _frame(HomeJob().view(HomeState()), None, link, user=text or "Anna")
    return frame._replace(lists=HomeJob.lists, main_list=HomeJob.lists[0])


_COUNTS = {"orders": 42, "exceptions": 15, "deliveries": 5}


def at_desk(frame: Frame) -> Frame:
    """Return the frame as a desk shows it to a person who is signed in: with tabs, that of the page's job active."""
    job = frame.view.name.partition(".")[0]
    tabs = tuple(Tab(name, text, _COUNTS.get(name), name == job) for name, text in TABS.items())
    return frame._replace(tabs=tabs) if frame.user else frame


SAMPLES = (
    Sample("sign_in", "fresh", _sign_in),
    Sample("sign_in", "which", _sign_in_which),
    Sample("home", "orders", _home),
    Sample("sign_in", "demo", _sign_in_demo),
    Sample("home", "due", _home_due),
    Sample("home", "other", _home_more_menu),
    Sample("home", "desk", _home_store_menu),
    Sample("home", "found", _home_found),
    Sample("home", "empty", _home_empty),
    Sample("home", "partial", _home_partial),
    Sample("home", "lacking", _home_unreadable_list),
    Sample("home", "unread", _home_unread),
    *(Sample(*each) for each in PICK_SAMPLES),
    *(Sample(*each) for each in COUNT_SAMPLES),
    *(Sample(*each) for each in EXPIRY_SAMPLES),
    *(Sample(*each) for each in MOVE_SAMPLES),
    *(Sample(*each) for each in SHORTAGE_SAMPLES),
    *(Sample(*each) for each in RECEIVE_SAMPLES),
    *(Sample(*each) for each in DELIVERY_SAMPLES),
    *(Sample(*each) for each in LOG_SAMPLES),
    *(Sample(*each) for each in CLEARANCE_SAMPLES),
    *(Sample(*each) for each in REPLENISHMENT_SAMPLES),
    *(Sample(*each) for each in TODAY_SAMPLES),
    *(Sample(*each) for each in STORE_SAMPLES),
    *(Sample(*each) for each in PRODUCT_SAMPLES),
    *(Sample(*each) for each in STORE_PRODUCT_SAMPLES),
    *(Sample(*each) for each in SCANNER_TEST_SAMPLES),
    *(Sample(*each) for each in UNCONFIRMED_SAMPLES),
    *(Sample(*each) for each in SUPERVISOR_SAMPLES),
    *(Sample(*each) for each in PIN_SAMPLES),
    Sample("look_up.list", "typing", look_up.look_up_list),
    Sample("look_up.list", "nothing", look_up.look_up_nothing),
    Sample("look_up.product", "all", look_up.look_up_product),
    Sample("look_up.product", "sales", look_up.look_up_sales),
    Sample("look_up.product", "bare", look_up.look_up_unknown),
    Sample("look_up.product", "order", look_up.look_up_order),
    Sample("note", "long", note),
    Sample("locations.list", "places", look_up.location_list),
    Sample("locations.location", "all", look_up.location),
    Sample("locations.location", "scanned", look_up.location_with_scan),
    Sample("locations.location", "stockroom", look_up.location_with_many_products),
    *(Sample(*each) for each in SHELL_SAMPLES),
    *(Sample(*each) for each in HAND_OVER_SAMPLES),
)
"""All samples; every screen has at least one."""

SAMPLES_OF_JOB: dict[str, list[tuple[int, Sample]]] = {}
"""The same, numbered, by the job that a screen's name begins with."""
for _number, _sample in enumerate(SAMPLES):
    SAMPLES_OF_JOB.setdefault(_sample.screen.partition(".")[0], []).append((_number, _sample))

SCREENS = tuple(dict.fromkeys(sample.screen for sample in SAMPLES))
"""Names of all screens."""
