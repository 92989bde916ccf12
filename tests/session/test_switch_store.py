"""A session that goes on in another store, what is remembered of it, and the reads of the chain's stores."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aisle.cache.chain_store_queries import KEPT_S, WaitingCounts
from aisle.cache.reader import CacheReader
from aisle.cache.writer import CacheWriter, LinkRow, open_cache
from aisle.cli.open_other_and_left_stores import current_store_settings, start_couriers_of_left_stores, store_opener
from aisle.courier.pull import full_sync_stages_and_progress
from aisle.errors import StorageError
from aisle.host.database import connect
from aisle.host.notify_sockets import CourierSocket
from aisle.host.store_and_database_folders import StoreFolder
from aisle.host.switched_terminals_and_visited_stores import (
    TERMINALS_FOLDER,
    TerminalStore,
    load_terminal_store,
    save_terminal_store,
    visited_stores,
)
from aisle.jobs.job import SignOut, Start
from aisle.jobs.view import GOOD, WRONG
from aisle.outbox.commit_journal import Journal
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.sessions_and_open_jobs import OpenJobs, Sessions
from aisle.scan.inputs_and_line_grouping import Line
from aisle.session.session import Session, open_session
from aisle.settings.load_settings import load_settings
from aisle.settings.settings_files_and_folders import LoadedSettings
from tests.cache import service_rows
from tests.session.test_help_and_palette import spoken
from tests.session.test_pin import FEATURES, PIN, Desk

EAN = "4006381333931"
CHAIN = (
    {"storeNo": "0001", "storeName": "High Street", "areaId": "N", "storeStockPool1": "Floor"},
    {"storeNo": "0002", "storeName": "Station", "areaId": "N", "areaDescription": "North"},
    {"storeNo": "0003", "storeName": "Harbour", "areaId": "S", "areaDescription": "South", "countryCode": "NL"},
    {"storeNo": "0900", "storeName": "Depot", "areaId": "S", "isWarhouse": True},
)

STEPS = {"begin_session": Sessions, "open_jobs": OpenJobs, "commit": Journal}
"""What is kept or read of a store when somebody begins there."""

Row = dict[str, Any]


class Full(StorageError):
    """No room."""

    kind = "full"


def fill(root: Path, store: str, people: list[Row] | None = None) -> StoreFolder:
    """A store with an order, as a courier would leave its cache."""
    home = StoreFolder(root, "embedded", store)
    cache = CacheWriter(open_cache(home.folder, writer=True), store)
    cache.write_people(people or [])
    cache.set_link(LinkRow(state="live", last_ok=1.0, features="people"))
    cache.write_products([service_rows.product("P1", "Tea", EAN)])
    cache.write_stock([{**service_rows.stock("P1", 20, places={"A-1": 20}), "store_number": store}])
    cache.write_locations([service_rows.location("A-1", 1)])
    cache.write_stores(CHAIN)
    order = service_rows.order(f"{store}-1", service_rows.line(1, "P1", 2, preferred_location_code="A-1"))
    cache.write_orders([order], lines_known=True, read_began=1.0)
    full_sync_stages_and_progress.save_progress(cache, full_sync_stages_and_progress.SyncProgress(completed=1.0))
    return home


@pytest.fixture
def settled(aisle_home: Path) -> LoadedSettings:
    """Two stores on this host, and settings that say the first."""
    people = [{**service_rows.person("U1", "Anna Kovac"), "role": "supervisor"}, service_rows.person("U2", "Ben Berg")]
    fill(aisle_home, "0001", people)
    fill(aisle_home, "0002", [service_rows.person("U9", "Ida Holm")])
    return load_settings({}, {"AISLE_HOME": str(aisle_home), "AISLE_TERMINAL": "dock"})


def quiet(_: LoadedSettings) -> Callable[[], None]:
    return lambda: None


@pytest.fixture
def session(settled: LoadedSettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setenv("AISLE_TERMINAL", "dock")
    home = StoreFolder(settled.data_folder, "embedded", "0001")
    session = open_session(home, settled.settings._replace(user="U1"), lambda: None, settled)
    session.open_store = store_opener(settled, quiet)
    session.start()
    session.resize(80, 24)
    yield session
    session.close()


def enter(session: Session, *texts: str) -> Any:
    """Lines in one read; the last frame."""
    return session.take([Line(text, "cr", 0.0, 0.0, 0.0) for text in texts], 0.0)


def written(home: StoreFolder) -> list[tuple[Any, ...]]:
    """Every operation of a store on this host."""
    with closing(open_outbox(home.folder)) as outbox:
        return outbox.execute("SELECT operation, state FROM operation").fetchall()


def test_the_token_of_a_browser_is_for_no_other_store(session: Session, settled: LoadedSettings) -> None:
    session.pin_check.accept_token("U1", "t0ken", time.time() + 900)
    two = StoreFolder(settled.data_folder, "embedded", "0002")
    with closing(CourierSocket(two)) as courier:
        session.event_runner.open(Start("stores", {"change": True}))
        enter(session, "0002")
        assert enter(session, "1").store == "0002"
        session.event_runner.resend_secrets()
        assert not any("t0ken" in message for message in courier.drain())


def test_all_that_was_typed_in_one_read_goes_where_it_was_meant(session: Session, settled: LoadedSettings) -> None:
    """An order is opened, the store is changed over it, and what follows in the same read is the other store's; the
    yes itself is none before the question was on the screen."""
    enter(session, "0001-1", EAN)
    session.event_runner.open(Start("stores", {"change": True}))
    asked = enter(session, "0002", "1")
    assert (asked.store, asked.view.name, asked.verdict and asked.verdict.text.id) == (
        *("0001", "stores.change"),
        "input.scan_not_accepted",
    )
    frame = enter(session, "1", "0002-1", EAN, EAN)
    assert (frame.store, frame.view.name) == ("0002", "pick.done")
    assert frame.link.waiting_other_stores == 1, "what was done in the store that was left"
    one, two = (StoreFolder(settled.data_folder, "embedded", store) for store in ("0001", "0002"))
    assert len(written(one)) == 1
    assert len(written(two)) == 1
    with closing(open_outbox(one.folder)) as left, closing(open_outbox(two.folder)) as there:
        assert Journal(left).sessions.signed_in("dock") is None
        assert Journal(there).sessions.signed_in("dock") == ("U1", "U1")
    assert load_terminal_store(settled.data_folder, "dock", "0001") == TerminalStore("0001", "0002", "U1")
    assert current_store_settings(settled).settings.store == "0002"
    assert {home.store for home in visited_stores(settled.data_folder, "embedded")} == {"0001", "0002"}
    enter(session, "b", "b")
    session.event_runner.open(Start("stores", {"change": True}))
    enter(session, "0001")
    frame = enter(session, "1")
    assert (frame.store, frame.view.name) == ("0001", "pick.product")
    assert frame.verdict is not None
    assert (frame.verdict.kind, frame.verdict.text.id) == (GOOD, "session.switched_store_waiting")
    assert load_terminal_store(settled.data_folder, "dock") is None
    assert not list((settled.data_folder / TERMINALS_FOLDER).iterdir())
    assert len(written(one)) == 1


def test_what_somebody_has_of_his_own_goes_with_him(session: Session, settled: LoadedSettings) -> None:
    """The language that he reads; who comes after him there reads that store's."""
    settled.files[-1].write_text('[store."0002"]\nlanguage = "fr"\n')
    session.terminal.message_text = spoken
    assert enter(session, ".", "deutsch").language == "de"
    session.event_runner.open(Start("stores", {"change": True}))
    enter(session, "0002")
    frame = enter(session, "1")
    assert (frame.store, frame.language) == ("0002", "de")
    assert enter(session, "b", "b", "o").language == "fr"
    with closing(
        open_session(StoreFolder(settled.data_folder, "embedded", "0002"), settled.settings._replace(user="U1"))
    ) as there:
        there.start()
        assert enter(there).language == "de"


def test_a_store_that_cannot_be_opened_is_told_and_nothing_changes(
    session: Session, settled: LoadedSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: str) -> Any:
        raise StorageError("The disk is full.")

    enter(session, "0001-1")
    for opens, why in ((broken, "session.store_not_switched"), (None, "session.one_store")):
        session.open_store = opens
        session.event_runner.open(Start("stores", {"change": True}))
        enter(session, "0002")
        frame = enter(session, "1")
        assert frame.verdict is not None
        assert (frame.store, frame.verdict.kind, frame.verdict.text.id) == ("0001", WRONG, why)
        enter(session, "b", "b", "b")
    assert enter(session, EAN).view.name == "pick.product"


@pytest.mark.parametrize(("step", "where"), [*((step, "0002") for step in STEPS), ("commit", "0001")])
def test_a_change_that_fails_halfway_leaves_the_terminal_where_it_was(
    session: Session, settled: LoadedSettings, monkeypatch: pytest.MonkeyPatch, step: str, where: str
) -> None:
    """Whatever cannot be kept on the way, the person stands at the same step of the same store, signed in there."""
    one, two = (StoreFolder(settled.data_folder, "embedded", store) for store in ("0001", "0002"))
    enter(session, "0001-1")
    whole = getattr(STEPS[step], step)

    def fails(journal: Any, *args: Any, **named: Any) -> Any:
        meant = where == "0002" or isinstance(args[0].sign_in, SignOut)
        if meant and Path(journal._db.filename).parent.samefile(
            StoreFolder(settled.data_folder, "embedded", where).folder
        ):
            raise Full("The disk is full.")
        return whole(journal, *args, **named)

    session.event_runner.open(Start("stores", {"change": True}))
    enter(session, "0002")
    rooms = session.store.access
    with monkeypatch.context() as patch:
        patch.setattr(STEPS[step], step, fails)
        frame = enter(session, "1")
    assert frame.verdict is not None
    told = "session.store_not_switched" if where == "0002" else "session.not_saved"
    assert (frame.store, frame.user, frame.verdict.kind, frame.verdict.text.id) == ("0001", "U1", WRONG, told)
    assert session.store.access is rooms
    with closing(open_outbox(one.folder)) as here, closing(open_outbox(two.folder)) as there:
        assert [row.store for row in Journal(here).sessions.running_sessions()] == ["0001"]
        assert Journal(there).sessions.signed_in("dock") is None
        assert not Journal(there).sessions.running_sessions()
    assert load_terminal_store(settled.data_folder, "dock") is None
    enter(session, "b", "b", "b", "b")
    assert enter(session, "0001-1").view.name == "pick.product"
    session.event_runner.open(Start("stores", {"change": True}))
    enter(session, "0002")
    assert enter(session, "1").store == "0002", "the next time it can be kept"


@pytest.fixture
def fred(aisle_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """A supervisor with a PIN in the first of two stores, at a service that asks for it; in the other one as well."""
    monkeypatch.setenv("AISLE_TERMINAL", "desk")
    people = [{**service_rows.person("U6", "Fred Harper", "supervisor"), "has_pin": True}]
    for store in ("0001", "0002"):
        home = fill(aisle_home, store, people)
        CacheWriter(open_cache(home.folder, writer=True), store).set_link(
            LinkRow(state="live", last_ok=1.0, features=FEATURES)
        )
    with closing(Desk(StoreFolder(aisle_home, "embedded", "0001"))) as desk:
        settled = load_settings({}, {"AISLE_HOME": str(aisle_home), "AISLE_TERMINAL": "desk"})
        desk.session.open_store = store_opener(settled, quiet)
        yield desk


def changes(desk: Desk, store: str) -> Any:
    """Changes the store by the command; what stands on the screen after the yes."""
    desk.session.event_runner.open(Start("stores", {"change": True}))
    assert desk.says(store).view.name == "stores.change", "it may be looked at, and what is typed is no PIN"
    return desk.says("1")


def test_the_pin_is_asked_before_a_supervisor_changes_the_store(fred: Desk) -> None:
    frame = changes(fred, "0002")
    assert (frame.store, frame.view.name) == ("0001", "pin")
    fred.says(PIN)
    frame = fred.answers("pin")
    assert (frame.store, frame.view.name) == ("0001", "pin"), "that was not it"
    fred.says(PIN)
    frame = fred.answers("done", time.time() + 900)
    assert frame.verdict is not None
    assert (frame.store, frame.user, frame.verdict.text.id) == ("0002", "Fred Harper", "session.switched_store")
    frame = changes(fred, "0001")
    assert frame.store == "0001", "anybody brings it back: no PIN"


def test_it_is_asked_once_and_a_change_that_is_left_is_none(fred: Desk) -> None:
    changes(fred, "0002")
    frame = fred.says("b")
    assert frame.verdict is not None
    assert (frame.store, frame.view.name, frame.verdict.text.id) == ("0001", "stores.change", "session.dropped")
    fred.says("b", "b", "b")
    fred.opened("home.pin")
    fred.says(PIN)
    fred.answers("done", time.time() + 900)
    assert changes(fred, "0002").store == "0002", "it was said for something else"


def test_digits_that_match_no_store_may_be_pin_and_are_not_stored(fred: Desk) -> None:
    fred.session.event_runner.open(Start("stores", {"change": True}))
    for text in ("2468", PIN):
        told = fred.says(text).verdict
        assert told is not None
        assert told.text.id == "pin.not_asked_here"


def test_without_a_link_no_pin_is_judged_and_the_store_stays(fred: Desk) -> None:
    fred.link("offline")
    changes(fred, "0002")
    fred.says(PIN)
    frame = fred.answers("not_sent")
    assert (frame.view.name, [choice.id for choice in frame.view.choices]) == ("pin.late", ["pin.again"])
    assert fred.says("b").store == "0001"


def test_who_may_change_the_store(settled: LoadedSettings) -> None:
    """Supervisors; whoever came, and anybody back to where the terminal belongs; all where no service knows people,
    but nobody while it was never heard of, or its people have not come yet."""
    one, two = (StoreFolder(settled.data_folder, "embedded", store) for store in ("0001", "0002"))

    def may(home: StoreFolder, user: str, store: str) -> bool:
        with closing(open_outbox(home.folder)) as outbox:
            reads = CacheReader(home, outbox)
            try:
                ((page,), _) = reads.query("store_page", {"store_number": store, "user": user, "terminal": "dock"})
                return bool(page["may_switch"])
            finally:
                reads.close()

    assert (may(one, "U1", "0002"), may(one, "U2", "0002"), may(one, "U7", "0002")) == (True, False, False)
    assert not may(two, "U1", "0003")
    save_terminal_store(settled.data_folder, "dock", TerminalStore("0001", "0002", "U1"))
    assert (may(two, "U1", "0003"), may(two, "U9", "0003"), may(two, "U9", "0001")) == (True, False, True)
    cache = CacheWriter(open_cache(one.folder, writer=True), "0001")
    cache.write_people([])
    assert not may(one, "U1", "0002"), "the people have not come yet"
    cache.set_link(LinkRow(features="cursor"))
    assert may(one, "U7", "0002")
    new = StoreFolder(settled.data_folder, "embedded", "0003")
    CacheWriter(open_cache(new.folder, writer=True), "0003").write_stores(CHAIN)
    assert not may(new, "U1", "0002"), "nothing was heard of the service yet"


def test_stores_are_found_shown_and_swept(settled: LoadedSettings) -> None:
    home = StoreFolder(settled.data_folder, "embedded", "0001")
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    with closing(open_outbox(home.folder)) as outbox, closing(CacheReader(home, outbox)) as reads:

        def found(**args: Any) -> list[str]:
            return [row["store_number"] for row in reads.query("stores", args)[0]]

        assert found() == ["0001", "0002", "0003", "0900"]
        assert found(show="near") == ["0002", "0900"]
        assert found(show="warehouse") == ["0900"]
        assert found(show="visited") == []
        assert (found(search="harb"), found(search="nl"), found(search="sou 00")) == (["0003"], ["0003"], ["0003"])
        assert reads.query("stores", {"first": 1, "size": 2})[1] == 4
        cache.write_store_details("0002", {"store_number": "0002", "address": "3 Station Road"}, 5.0)
        ((page,), _) = reads.query("store_page", {"store_number": "0002"})
        assert (page["details"], page["address"], page["area_description"]) == ("yes", "3 Station Road", "North")
        assert not cache.write_store_details("0002", {"store_number": "0002", "address": "3 Station Road"}, 6.0).changed
        cache.write_store_details("0003", None, 5.0, "not yours")
        assert reads.query("store_page", {"store_number": "0003"})[0][0]["details"] == "refused"
        cache.delete_unseen_stores({"0001", "0002"})
        assert found() == ["0001", "0002"]
        assert reads.query("store_page", {"store_number": "0003"}) == ([], 0)
        cache.write_stores({"storeNo": f"{2000 + n}", "storeName": f"Mill {n}"} for n in range(150))
        assert reads.query("stores", {"search": "mill", "first": 98, "size": 20})[1] == 100
        assert [reads.query_window("stores", args).is_partial for args in ({"search": "mill"}, {})] == [True, False]
        assert found(search="mill", first=98) == ["2098", "2099"]
        assert found(search="mill 149") == found(search="2149") == ["2149"]
        cache.write_stores([{"storeNo": "0001", "storeName": "North Mill"}])
        assert reads.query("stores", {"show": "near", "size": 1})[1] == 151, "without an area all are near"


async def test_what_was_left_unsent_is_sent_by_its_own_courier(
    session: Session, settled: LoadedSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is looked for on another thread, by a look that waits for nobody; couriers are called on the screen's."""
    called: list[tuple[str, int]] = []
    opened: list[tuple[bool, int]] = []

    def connects(path: Path, **named: Any) -> Any:
        opened.append((named.get("read_only", False), threading.get_ident()))
        return connect(path, **named)

    def courier(loaded: LoadedSettings) -> Callable[[], None]:
        return lambda: called.append((loaded.settings.store, threading.get_ident()))

    enter(session, "0001-1", EAN)
    session.event_runner.open(Start("stores", {"change": True}))
    enter(session, "0002")
    enter(session, "1")
    for module in ("cache.chain_store_queries", "outbox.operation_queue"):
        monkeypatch.setattr(f"aisle.{module}.connect", connects)
    for _ in range(2):
        await asyncio.to_thread(start_couriers_of_left_stores(settled, "0002", courier).join)
        await asyncio.sleep(0)
        assert called == [("0001", threading.get_ident())]
        (only_read, thread), *more = opened
        assert (only_read, thread == threading.get_ident(), more) == (True, False, [])
        opened.clear()
        with closing(connect(StoreFolder(settled.data_folder, "embedded", "0001").outbox)) as outbox:
            outbox.execute("UPDATE operation SET live = 0")
            assert OperationQueue(outbox).pending_counts() == (0, 0)


def test_a_list_of_many_stores_is_not_looked_through_at_every_refresh(
    session: Session, settled: LoadedSettings
) -> None:
    clock = [10.0]
    glance = WaitingCounts(lambda: clock[0])
    one = StoreFolder(settled.data_folder, "embedded", "0001")
    assert glance.count_waiting(one) == 0
    enter(session, "0001-1", EAN)
    assert glance.count_waiting(one) == 0, "as it was a moment ago"
    clock[0] += KEPT_S
    assert glance.count_waiting(one) == 1
    assert glance.count_waiting(StoreFolder(settled.data_folder, "embedded", "0002")) == 0


def test_a_store_on_the_command_line_wins(settled: LoadedSettings) -> None:
    save_terminal_store(settled.data_folder, "dock", TerminalStore("0001", "0002", "U1"))
    environ = {**os.environ, "AISLE_HOME": str(settled.data_folder), "AISLE_TERMINAL": "dock"}
    assert current_store_settings(load_settings({"store": "0001"}, environ)).settings.store == "0001"
    assert current_store_settings(load_settings({}, {**environ, "AISLE_STORE": "0003"})).settings.store == "0003"
    assert current_store_settings(load_settings({}, environ)).settings.store == "0002"
