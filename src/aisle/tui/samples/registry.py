"""Every screen by name, with samples of what it shows: what snapshots and pictures are made of.

The samples come from the jobs themselves, so that a job whose view changes changes them too.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from aisle.jobs.house.home import HomeJob
from aisle.jobs.house.home_state import Home, Listed
from aisle.jobs.house.sign_in import Person, SigningIn, SignInJob
from aisle.jobs.told import told
from aisle.jobs.view import ASK, INFO, WRONG, Frame, Lack, LeftOut, Link, Verdict, View, msg
from aisle.tui.samples import looks
from aisle.tui.samples.board import BOARD
from aisle.tui.samples.clearance import CLEARANCE
from aisle.tui.samples.counts import COUNTS
from aisle.tui.samples.doctor import DOCTOR
from aisle.tui.samples.doubts import DOUBTS
from aisle.tui.samples.house import HOUSE
from aisle.tui.samples.logs import LOGS
from aisle.tui.samples.moves import MOVES
from aisle.tui.samples.note import note
from aisle.tui.samples.picks import PICKS
from aisle.tui.samples.pin import PINS
from aisle.tui.samples.products import PRODUCTS
from aisle.tui.samples.receive import DELIVERIES, RECEIVE
from aisle.tui.samples.short import SHORT
from aisle.tui.samples.store_product import STORE_PRODUCT
from aisle.tui.samples.stores import STORES
from aisle.tui.samples.today import TODAY
from aisle.tuples import NamedTuple

PEOPLE = ("J. Jansen", "Bakery The Little Corner", "De Vries", "Öztürk & Sons", "", "M. Okafor")


class Sample(NamedTuple):
    """One screen in one state. `build` takes a text that stands for every name from outside, or none for its own."""

    screen: str
    """The name that views carry."""
    state: str
    build: Callable[[str], Frame]


def _frame(
    view: View, verdict: Verdict | None, link: Link, typed: str = "", serial: int = 0, user: str = "Anna"
) -> Frame:
    return Frame(view, link, verdict, typed, "0042", user, serial)


def _sign_in(text: str) -> Frame:
    return _frame(SignInJob().view(SigningIn()), None, Link("none"), typed=text, user="")


def _sign_in_which(text: str) -> Frame:
    names = (text,) * 3 if text else ("Anna Bakker", "Annabel Smit", "Johanna de Wit")
    people = tuple(Person(name, name) for name in names)
    state = SigningIn(text or "ann", people)
    verdict = Verdict(ASK, msg("sign_in.which", asked=state.asked))
    return _frame(SignInJob().view(state), verdict, Link("live", 5.0), serial=2, user="")


def _listed(text: str) -> tuple[Listed, ...]:
    rows = []
    for index in range(12):
        of = Decimal(9 + index * 5 % 17)
        pickup = f"2026-11-{20 + index // 4:02}T{9 + index % 4 * 2:02}:30:00"
        who = text or PEOPLE[index % len(PEOPLE)]
        due = msg("moment.late" if index < 2 else "moment", at=pickup)
        rows.append(Listed(f"10{index * 7 + 4:04}", who, due, index + 1, of, Decimal(max(0, 8 - index))))
    rows[1] = rows[1]._replace(taken=True, by=text or "Ben Okafor")
    rows[4] = rows[4]._replace(taken=True)
    rows[5] = rows[5]._replace(taken=True, by=text or "Ben Okafor", left=msg("moment", at="2026-11-19T16:20:00Z"))
    return tuple(rows)


def _home(text: str) -> Frame:
    state = Home(rows=_listed(text), total=40, cursor=2)
    return _frame(HomeJob().view(state), None, Link("live", 20.0))


def _home_other(text: str) -> Frame:
    state = Home(rows=_listed(text)[:3], total=3, page=1)
    return _frame(HomeJob().view(state), None, Link("live", 20.0))


def _home_desk(text: str) -> Frame:
    state = Home(rows=_listed(text)[:3], total=3, page=2)
    return _frame(HomeJob().view(state), None, Link("live", 20.0))


def _home_found(text: str) -> Frame:
    state = Home(search=text or "de", rows=_listed(text)[:3], total=3)
    verdict = Verdict(ASK, msg("home.found", text=state.search, count=3))
    return _frame(HomeJob().view(state), verdict, Link("syncing", 400.0, 0, 0, 12000, 61000), serial=7)


def _home_empty(text: str) -> Frame:
    state = Home(search=text or "jansn", typed=text)
    verdict = Verdict(WRONG, msg("home.not_found", text=state.search))
    return _frame(HomeJob().view(state), verdict, Link("refused", 7200.0, 2), typed=text, serial=3)


def _home_partial(text: str) -> Frame:
    link = Link("partial", 5.0, 2, 3, without=("stock",))
    return _frame(HomeJob().view(Home(doubts=3)), None, link, user=text or "Anna")


def _home_lacking(text: str) -> Frame:
    lacking = (Lack("headers", told("told.status_said", status=403, why=text or "This token may not read orders")),)
    link = Link(
        "partial", 5.0, without=("headers",), lacking=lacking, left_out=(LeftOut("headers", 2, "order_number"),)
    )
    said = Verdict(INFO, msg("session.resumed"))
    return _frame(HomeJob().view(Home()), said, link, user=text or "Anna")


def _home_unread(text: str) -> Frame:
    return _frame(HomeJob().view(Home()), None, Link("offline", unread=("headers", "logs")), user=text or "Anna")


SAMPLES = (
    Sample("sign_in", "fresh", _sign_in),
    Sample("sign_in", "which", _sign_in_which),
    Sample("home", "orders", _home),
    Sample("home", "other", _home_other),
    Sample("home", "desk", _home_desk),
    Sample("home", "found", _home_found),
    Sample("home", "empty", _home_empty),
    Sample("home", "partial", _home_partial),
    Sample("home", "lacking", _home_lacking),
    Sample("home", "unread", _home_unread),
    *(Sample(*each) for each in PICKS),
    *(Sample(*each) for each in COUNTS),
    *(Sample(*each) for each in MOVES),
    *(Sample(*each) for each in SHORT),
    *(Sample(*each) for each in RECEIVE),
    *(Sample(*each) for each in DELIVERIES),
    *(Sample(*each) for each in LOGS),
    *(Sample(*each) for each in CLEARANCE),
    *(Sample(*each) for each in TODAY),
    *(Sample(*each) for each in STORES),
    *(Sample(*each) for each in PRODUCTS),
    *(Sample(*each) for each in STORE_PRODUCT),
    *(Sample(*each) for each in DOCTOR),
    *(Sample(*each) for each in DOUBTS),
    *(Sample(*each) for each in BOARD),
    *(Sample(*each) for each in PINS),
    Sample("lookup.list", "typing", looks.lookup_list),
    Sample("lookup.list", "nothing", looks.lookup_nothing),
    Sample("lookup.product", "all", looks.lookup_product),
    Sample("lookup.product", "bare", looks.lookup_bare),
    Sample("lookup.product", "order", looks.lookup_order),
    Sample("note", "long", note),
    Sample("browse.list", "places", looks.browse_list),
    Sample("browse.place", "all", looks.browse_place),
    Sample("browse.place", "scanned", looks.browse_scanned),
    Sample("browse.place", "stockroom", looks.browse_stockroom),
    *(Sample(*each) for each in HOUSE),
)
"""All samples; every screen has at least one."""

SCREENS = tuple(dict.fromkeys(sample.screen for sample in SAMPLES))
"""The names of all screens."""
