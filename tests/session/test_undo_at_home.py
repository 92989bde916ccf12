"""`u` at home undoes what somebody did last, in the job in which it was done; a delivery left half way is marked."""

from __future__ import annotations

from contextlib import closing
from decimal import Decimal

import pytest

from aisle.cache.writer import CacheWriter, LinkRow, open_cache
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs.job import SignIn, Start
from aisle.jobs.view import GOOD, INFO, WRONG, Frame, ListView
from aisle.outbox.operation_queue import OperationQueue, open_outbox
from aisle.outbox.operation_record import Operation
from aisle.session.session import Session, open_session
from aisle.settings.setting_definitions import Settings
from aisle.tui.message_text import MessageWriter
from tests.cache import service_rows
from tests.session.job_steps import announced
from tests.session.test_session import BARCODES, at, home, told

__all__ = ["home"]

P1, P2, P3 = BARCODES


def one_by_one(session: Session, *texts: str) -> Frame:
    """Each line in a queue of its own."""
    from tests.session.test_session import say

    frame = None
    for text in texts:
        frame = say(session, text)
    assert frame is not None
    return frame


def to_home(session: Session) -> None:
    """Back, page by page."""
    for _ in range(6):
        if one_by_one(session, "b").view.name == "home":
            return


def operations(home: StoreFolder) -> list[Operation]:
    """What was enqueued, the last first."""
    with closing(open_outbox(home.folder)) as connection:
        return [each for each in OperationQueue(connection).recent() if not each.superseded_by]


def text(frame: Frame) -> str:
    """What the verdict says, as long as it can be."""
    assert frame.verdict is not None
    return MessageWriter().write(frame.verdict.text)


WAYS = {
    "pick": (("4101", P1), "pick.", ("Product 1", "A-1", "1 to 0")),
    "pick, several": (("4101", f"3*{P2}"), "pick.", ("Product 2", "A-2", "3 to 0")),
    "pick, another order": (("4102", P2), "pick.", ("Product 2", "1 to 0")),
    "move": (("5", "A-1", f"4*{P1}", "A-2"), "move.", ("4 × Product 1", "A-2", "A-1")),
    "move, whole place": (("5", "A-3", "w", "A-2"), "move.", ("20 × Product 3", "A-2", "A-3")),
    "adjust": (("4", "1", P1, "d", "1"), "adjust.", ("Product 1", "+1", "A-1")),
    "find": (("4", "1", P2, "d", "5"), "adjust.", ("Product 2", "-1", "A-2")),
    "count of a place": (("4", "A-1", P1, "19", "d", "y"), "count.", ("A-1", "+1", "Product 1")),
    "count without a difference": (("4", "A-1", P1, "20", "d"), "count.", ("A-1", "stock stays")),
    "count of a product": (("4", P2, "18", "d", "y"), "count.", ("Product 2", "+2")),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_last_thing_is_undone_in_its_job_and_named(home: StoreFolder, way: str) -> None:
    inputs, page, said = WAYS[way]
    with at(home, user="U1") as session:
        one_by_one(session, *inputs)
        to_home(session)
        before = len(operations(home))
        frame = one_by_one(session, "u")
        is_log = page in ("adjust.", "count.")
        assert frame.view.name.startswith(page), told(frame)
        assert told(frame)[0] == GOOD
        assert all(part in text(frame) for part in said), text(frame)
        assert len(operations(home)) >= before or is_log
        assert not (is_log and operations(home)), "nothing of it was sent, so that nothing will be"


@pytest.mark.parametrize("way", ["pick", "move", "adjust"])
def test_a_terminal_that_was_closed_meanwhile_makes_no_difference(home: StoreFolder, way: str) -> None:
    inputs, page, said = WAYS[way]
    with at(home, user="U1") as session:
        one_by_one(session, *inputs)
        to_home(session)
    with at(home, user="U1") as session:
        frame = one_by_one(session, "u")
        assert frame.view.name.startswith(page)
        assert all(part in text(frame) for part in said)


def test_undone_once_it_is_not_undone_again(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        one_by_one(session, "5", "A-1", f"4*{P1}", "A-2")
        to_home(session)
        one_by_one(session, "u")
        to_home(session)
        if session.frames.build().view.name == "move.leave":
            one_by_one(session, "1")
        count = len(operations(home))
        assert told(one_by_one(session, "u")) == (WRONG, "home.nothing_left_to_undo")
        assert len(operations(home)) == count


def test_the_last_of_two_jobs_is_undone_first(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        one_by_one(session, "4101", P1)
        to_home(session)
        one_by_one(session, "5", "A-2", P2, "A-3")
        to_home(session)
        assert one_by_one(session, "u").view.name.startswith("move.")


def test_excess_that_was_reported_since_does_not_hide_a_later_job(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        one_by_one(session, "4101", P1)
        to_home(session)
        one_by_one(session, "5", "A-2", P2, "A-3")
        to_home(session)
        with closing(open_outbox(home.folder)) as connection:
            outbox = OperationQueue(connection)
            pick = operations(home)[-1]
            outbox.begin_sending(pick.op_id, b"{}", has_key=True)
            one = Decimal(1)
            line = {"line_number": 1, "product_number": "P1", "picked_quantity": one, "quantity": one, "left": one}
            outbox.confirm(pick.op_id, "{}", excess=[line])  # type: ignore[list-item]
        assert one_by_one(session, "u").view.name.startswith("move.")


def test_a_browser_undoes_too(home: StoreFolder) -> None:
    with closing(open_session(home, Settings(terminal="web"), person=SignIn("U1", "Ann"))) as session:
        session.start()
        one_by_one(session, "5", "A-2", P2, "A-3")
        to_home(session)
        assert one_by_one(session, "u").view.name.startswith("move.")
        assert not session.is_ending


def test_an_order_that_was_only_looked_at_stands_in_no_way(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        one_by_one(session, "5", "A-2", P2, "A-3")
        to_home(session)
        one_by_one(session, "4101")
        to_home(session)
        assert one_by_one(session, "u").view.name.startswith("move.")


def test_what_somebody_else_did_is_his(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        one_by_one(session, "5", "A-2", P2, "A-3")
        to_home(session)
    with at(home, user="U2") as session:
        frame = one_by_one(session, "u")
        assert (frame.view.name, told(frame)) == ("home", (INFO, "pick.nothing_to_undo"))


def test_nothing_was_done_yet(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        frame = one_by_one(session, "u")
        assert (frame.view.name, told(frame)) == ("home", (INFO, "pick.nothing_to_undo"))
        assert isinstance(frame.view, ListView)
        assert frame.view.total == 2, "it is no search"


def test_what_no_job_can_undo_is_named(home: StoreFolder) -> None:
    with at(home, user="U1") as session:
        one_by_one(session, "4101", P1)
        to_home(session)
    with closing(open_outbox(home.folder)) as connection:
        connection.execute("UPDATE job SET version = 0")
    with at(home, user="U1") as session:
        frame = one_by_one(session, "u")
        assert told(frame) == (WRONG, "home.not_undone")
        assert "4101" in text(frame)


def test_a_delivery_that_is_left_half_way_is_marked_at_home_and_its_last_step_undone(home: StoreFolder) -> None:
    announced(home)
    with at(home, user="U1") as session:
        assert mark_of(session) == []
        one_by_one(session, "7001", f"3*{P1}", "A-1")
        to_home(session)
        assert mark_of(session) == [("home.partly_received", "7001")]
        frame = one_by_one(session, "u")
        assert frame.view.name.startswith("receive.")
        assert told(frame)[0] == GOOD
        assert all(part in text(frame) for part in ("3", "Product 1", "A-1")), text(frame)
    with at(home, user="U1") as session:
        to_home(session)
        assert one_by_one(session, "r").view.name.startswith(("receive.", "deliveries"))


def mark_of(session: Session) -> list[tuple[str, object]]:
    """What home says of deliveries that are half received."""
    hints = [hint.text for hint in session.frames.build().view.key_hints if hint.letter == "r"]
    return [(each.id, *dict(each.args).values()) for each in hints]  # type: ignore[misc]


@pytest.mark.parametrize("is_killed", [False, True])
@pytest.mark.parametrize("page", ["count.start", "exceptions.recounts", "exceptions.negative_stock"])
def test_a_count_that_was_opened_from_a_list_is_undone_from_there(
    home: StoreFolder, page: str, is_killed: bool
) -> None:
    opened = [Start("count", {"location_code": "A-1", "product_number": "P1", "label": "Product 1"})]
    if page != "count.start":
        opened.insert(0, Start("exceptions", {"kind": page.partition(".")[2]}))
    with at(home, user="U1") as session:
        one_by_one(session, "4")
        for start in opened:
            session.event_runner.apply(session.stack.open(start, session.context.current()))
        session.event_runner.commit()
        one_by_one(session, "19")
        if not is_killed:
            assert one_by_one(session, "y").view.name == page
            frame = one_by_one(session, "u")
            assert told(frame) == (GOOD, "count.sent_undone"), text(frame)
            return
    with at(home, user="U1") as session:
        one_by_one(session, "y")
        frame = one_by_one(session, "u")
        assert told(frame) == (GOOD, "count.sent_undone"), text(frame)
        assert "nothing" in told(one_by_one(session, "u"))[1]


COUNTED = ("4", "A-2", P2, "18", "d", "y")
"""A count that was sent from the page of counts, which stays open."""

LAST_STEPS = {
    "count": (COUNTED, "count.", ("A-2", "Product 2")),
    "loss": ((*COUNTED, "1", P1, "d", "5", "b"), "adjust.", ("Product 1", "-1", "A-1")),
    "recount": ((*COUNTED, "recounts", "one", "19", "y", "b"), "count.", ("A-1", "+1", "Product 1")),
    "move": ((*COUNTED, "b", "5", "A-1", f"4*{P1}", "A-2", "b", "b", "4"), "move.", ("4 × Product 1", "A-2", "A-1")),
    "pick": ((*COUNTED, "b", "4101", P1, "b", "4"), "pick.", ("Product 1", "A-1", "1 to 0")),
}
"""What somebody did at last, the page to which its undo leads, and what it says."""

OPENED = {
    "recounts": Start("exceptions", {"kind": "recounts"}),
    "negative": Start("exceptions", {"kind": "negative_stock"}),
    "tasks": Start("clearance_tasks", {}),
    "one": Start("count", {"location_code": "A-1", "product_number": "P1", "label": "Product 1"}),
}


def open_or_type(session: Session, *steps: str) -> Frame:
    """Open a page by its name in OPENED, or type a line."""
    for step in steps:
        if step in OPENED:
            session.event_runner.apply(session.stack.open(OPENED[step], session.context.current()))
            session.event_runner.commit()
        else:
            one_by_one(session, step)
    return session.frames.build()


@pytest.mark.every_case
@pytest.mark.parametrize("page", ["", "A-3", "recounts", "negative", "tasks"])
@pytest.mark.parametrize("step", LAST_STEPS)
def test_pages_that_open_jobs_undo_the_last_step_of_any_job(home: StoreFolder, step: str, page: str) -> None:
    inputs, undone_at, said = LAST_STEPS[step]
    with at(home, user="U1") as session:
        assert open_or_type(session, *inputs).view.name == "count.start"
        if page:
            open_or_type(session, page)
        frame = one_by_one(session, "u")
        if page == "A-3" and step in ("move", "pick"):
            assert told(frame) == (WRONG, "pick.nothing_to_undo"), "this job has sent nothing, and counts"
            return
        assert told(frame)[0] == GOOD, text(frame)
        assert all(part in text(frame) for part in said), text(frame)
        assert frame.view.name.startswith(undone_at) or step == "recount", "an undone recount closes"


TASK = {"id": 7, "product_number": "P1", "location_code": "PU", "quantity": 2, "location_tag": "Autumn"}

PUT_BACK = {
    "": ("move.take", [2]),
    "u": ("move.take", [0]),
    "PU,l": ("clearance_tasks", []),
    "A-3,y": ("clearance_tasks", []),
}
"""What is scanned or typed after the undo of a task; the page then, and what is in hand."""


def with_task(home: StoreFolder) -> None:
    """An order whose two pieces of P1 lie at a location that is cleared."""
    cache = CacheWriter(open_cache(home.folder, writer=True), "0001")
    held = {"location_code": "PU", "quantity": 2, "customer_order_number": "4105", "customer_order_line_number": 1}
    line = service_rows.line(1, "P1", 2, 2, is_picked=True, moved_quantity=2, store_locations=[held])
    cache.write_orders([service_rows.order("4105", line, is_picked=True)], lines_known=True, read_began=1.0)
    cache.write_locations([service_rows.location(code, n) for n, code in enumerate(("A-1", "A-2", "A-3", "PU"), 1)])
    task = {**TASK, "customer_order_number": "4105", "customer_order_line_number": 1}
    cache.write_assignments([{**task, "created_on": "2026-03-02T08:00:00Z"}])
    cache.set_link(LinkRow(state="live", last_ok=1.0, features="people, assignments"))


@pytest.mark.parametrize("after", PUT_BACK)
@pytest.mark.parametrize("where", ["list", "home", "restart"])
def test_a_task_that_was_carried_out_is_undone(home: StoreFolder, where: str, after: str) -> None:
    with_task(home)
    with at(home, user="U1") as session:
        session.event_runner.apply(session.stack.open(Start("clearance_tasks", {}), session.context.current()))
        session.event_runner.commit()
        assert one_by_one(session, "PU", "PU", P1, "A-2").view.name == "clearance_tasks"
        (moved,) = operations(home)
        if where != "list":
            to_home(session)
        if where != "restart":
            undo_task(session, home, moved, after)
            return
    with at(home, user="U1") as session:
        undo_task(session, home, moved, after)


def undo_task(session: Session, home: StoreFolder, moved: Operation, after: str) -> None:
    frame = one_by_one(session, "u")
    assert told(frame) == (GOOD, "move.undone"), text(frame)
    assert all(part in text(frame) for part in ("2 × Product 1", "A-2", "PU"))
    if undone := [each for each in operations(home) if each.op_id != moved.op_id]:
        (item,), (back,) = moved.body, undone[0].body
        assert (back["from_location"], back["to_location"]) == (item["to_location"], item["from_location"])
    page, in_hand = PUT_BACK[after]
    if after:
        frame = one_by_one(session, *after.split(","))
    assert frame.view.name == page or (page == "clearance_tasks" and frame.view.name == "home")
    if in_hand:
        assert sum(part.quantity for part in session.stack.top.state.in_hand) == in_hand[0]
