"""How a session gets to each page of the program: the steps of jobs, and the pages that hold no work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from aisle.cache.writer import CacheWriter
from aisle.host.store_and_database_folders import StoreFolder
from aisle.jobs import JOBS
from aisle.jobs.job import Start
from aisle.scan.inputs_and_line_grouping import Key
from aisle.session.session import Session
from tests.cache import service_rows
from tests.copied_databases import copy_cache
from tests.session.job_steps import WAYS, stand
from tests.session.test_look_up_mid_job import with_headers_only
from tests.session.test_session import at, say, small_store


def supervised_store(cache: CacheWriter) -> None:
    """The small store with a supervisor and a count that differs from the books."""
    small_store(cache)
    cache.write_people([service_rows.person("U1", "Anna Kovac", "supervisor"), service_rows.person("U2", "Anna Berg")])
    cache.write_locations([{**service_rows.location("A-4", 4), "tags": ["Autumn"]}])
    cache.write_stores([{"storeName": name, "storeNo": name} for name in ("0001", "0002")])
    entry = {"id": 900, "product_number": "P1", "store_number": "0001", "counted_quantity": 2, "expected_quantity": 9}
    known = {"created_on": "2026-03-02T08:00:00Z", "app_user_name": "U2", "review_status": "1", "location_code": "A-1"}
    cache.write_logs([entry | known], "2026-01-01")


Move = Callable[[Session], None]
"""What is done on the way to a page."""


def press(key: str) -> Move:
    """A key that is no text."""

    def pressed(session: Session) -> None:
        session.take([Key(key)], 0.0)

    return pressed


def shown(job: str, **fields: object) -> Move:
    """A job in a state that only an answer of the service, or another page, leads to."""

    def show(session: Session) -> None:
        stacked = session.stack.push(job)
        session.stack.jobs[-1] = stacked._replace(state=stacked.state._replace(**fields))

    return show


ACTION = {"orders": ("4101",), "kind": "reject"}

DESK: dict[str, tuple[str | Move, ...]] = {
    "orders/many": ("orders", "m"),
    "orders.filter": ("orders", "f"),
    "orders.field": ("orders", "f", "1"),
    "orders.views": ("orders", "v"),
    "orders.name": (shown("orders", page="name"),),
    "order": ("orders", "1"),
    "order.lines": ("orders", "1", "e"),
    "order.short_line": ("orders", "1", "e", "1", "1", "e", "1"),
    "order_actions.action": (shown("order_actions", **ACTION),),
    "order_actions.reason": ("orders", "1", "3"),
    "order_actions.person": (shown("order_actions", **ACTION, page="person"),),
    "order_actions.confirm": ("orders", "1", "3", "1"),
    "order_actions.wait": (shown("order_actions", **ACTION, page="wait"),),
    "order_actions.results": (shown("order_actions", **ACTION, page="results"),),
    "exceptions.differences": ("exceptions", "2"),
    "exceptions.negative_stock": ("exceptions", "3"),
    "exceptions.stuck": ("exceptions", "4"),
    "exceptions.recounts": (shown("exceptions", kind="recounts"),),
    "exceptions.excess_receipts": (shown("exceptions", kind="excess_receipts"),),
    "exceptions.entries_to_review": (shown("exceptions", kind="entries_to_review"),),
    "exceptions.uncollected": (shown("exceptions", kind="uncollected"),),
    "exceptions.one": ("exceptions", "2", "1"),
    "exceptions.many": (shown("exceptions", kind="differences", question="approve"),),
    "stores.page": ("stores", "2"),
    "stores.change": (shown("stores", store_number="0002", is_asking_switch=True),),
    "products.filter": ("products", "c"),
    "products.page": ("products", "1"),
    "clearance.categories": (shown("clearance", tag="Autumn"),),
    "clearance_request.confirm": (shown("clearance_request", tag="Autumn"),),
    "clearance_request.wait": (shown("clearance_request", tag="Autumn", phase="wait"),),
    "clearance_request.done": (shown("clearance_request", tag="Autumn", phase="done"),),
    "today.hours": (shown("today", phase="hours"),),
    "today.locations": (shown("today", phase="locations"),),
    "today.terminals": (shown("today", phase="terminals"),),
    "pin": (shown("pin"),),
    "pin.wait": (shown("pin", phase="wait"),),
    "pin.late": (shown("pin", phase="late"),),
    "help": (press("f1"),),
    "palette": (press("f5"),),
    "home/desk": (),
    "sign_in": ("o", "anna"),
}
"""Pages that hold no work, or take each input as it came. One that its job opens with needs no row."""

PAGES = (*WAYS, *DESK, *sorted({step for job in JOBS.values() for step in job.steps} - {*WAYS, *DESK}))
"""Each step of each job: a new page is among them."""


@contextmanager
def on_page(folder: Path, page: str) -> Iterator[Session]:
    """A session that shows a page."""
    home = StoreFolder(folder, "embedded", "0001")
    if page in WAYS:
        copy_cache(home.folder, "0001", small_store, with_headers_only)
        if before := WAYS[page].before:
            before(home)
        with at(home, user="U1", **WAYS[page].terms) as session:
            stand(home, session, page)
            yield session
        return
    copy_cache(home.folder, "0001", supervised_store)
    with at(home, user="U1") as session:
        for step in DESK.get(page, (page,)):
            if not isinstance(step, str):
                step(session)
            elif step in JOBS:
                session.start_batch()
                session.event_runner.open(Start(step, {}))
                session.event_runner.commit()
            else:
                say(session, step)
        assert session.frames.build().view.name == page.partition("/")[0]
        yield session
