"""Jobs: the workflows behind all screens of pickers and supervisors, as pure state machines.

A job maps (state, event) to the next state, effects and a verdict, and a state to a view. Of the large packages it
imports only `scan`; it must not know database, network or screen toolkit. Start with `job.py` (base class, effects,
events) and `view.py` (screens as data). A page that lists or shows records is declared (`pages_and_page_job.py`,
`list_page_base_class.py`); `supervisor/stores.py` is a typical job.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from aisle.jobs.job import Job

_JOB_CLASSES = {
    "sign_in": "shell.sign_in:SignInJob",
    "pin": "shell.pin:PinJob",
    "home": "shell.home_orders_and_menu:HomeJob",
    "pick": "pick.job:PickJob",
    "batch": "collect_batch:BatchJob",
    "look_up": "look_up_product:LookUpJob",
    "locations": "location_list_and_page:LocationsJob",
    "note": "shell.customer_comments:NoteJob",
    "move": "move.job:MoveJob",
    "count": "count.job:CountJob",
    "adjust": "adjust:AdjustJob",
    "expiry": "expiry.job:ExpiryJob",
    "hand_over": "hand_over.job:HandOverJob",
    "shortage": "pick.shortage:ShortageJob",
    "my_entries": "undo_todays_entries:MyEntriesJob",
    "scanner_test": "shell.scanner_test:ScannerTestJob",
    "unconfirmed": "supervisor.unconfirmed:UnconfirmedJob",
    "orders": "supervisor.order_board:OrdersJob",
    "order": "supervisor.order_page:OrderJob",
    "order_actions": "supervisor.order_action_job:OrderActionJob",
    "exceptions": "supervisor.exceptions:ExceptionsJob",
    "receive": "receive.job:ReceiveJob",
    "deliveries": "supervisor.deliveries:DeliveriesJob",
    "log": "supervisor.log_job:LogJob",
    "stores": "supervisor.stores:StoresJob",
    "products": "supervisor.catalogue:ProductsJob",
    "clearance": "supervisor.request_clearance_by_location_tag:ClearanceJob",
    "clearance_request": "supervisor.request_clearance_by_location_tag:ClearanceRequestJob",
    "clearance_tasks": "move.clearance_tasks:ClearanceTasksJob",
    "replenishment": "move.replenishment:ReplenishmentJob",
    "today": "supervisor.today:TodayJob",
    "store_product": "supervisor.store_product:StoreProductJob",
    "help": "shell.help:HelpJob",
    "palette": "shell.palette:PaletteJob",
}
"""Module and class of each job. A new job is one file and one entry here."""


class _LazyJobs(Mapping[str, Job[Any]]):
    """Mapping that imports a job when it is first read, because a start needs only two or three of them."""

    def __init__(self) -> None:
        self._loaded: dict[str, Job[Any]] = {}

    def __getitem__(self, name: str) -> Job[Any]:
        if name not in self._loaded:
            module, _, kind = _JOB_CLASSES[name].partition(":")
            self._loaded[name] = getattr(import_module(f"{__name__}.{module}"), kind)()
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_JOB_CLASSES)

    def __len__(self) -> int:
        return len(_JOB_CLASSES)


JOBS: Mapping[str, Job[Any]] = _LazyJobs()
"""All jobs by name."""

DETOURS = frozenset({"look_up", "locations", "note", "help", "palette"})
"""Jobs opened for a short look during another job. A scan that the other job accepts closes them."""

PAGES_ABOVE_JOBS = DETOURS | {"shortage"}
"""Jobs whose page hides that of the job below, which may get their scans."""

COUNTS_SCANS = frozenset({"pick", "move", "count", "adjust", "receive", "hand_over"})
"""Jobs in which a scanned product can be given a quantity."""
