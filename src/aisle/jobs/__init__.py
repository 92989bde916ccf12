"""Pure: the work of the floor as (state, input) -> state, effects, view."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from aisle.jobs.base import Job

_WHERE = {
    "sign_in": "sign_in:SignInJob",
    "pin": "pin:PinJob",
    "home": "home:HomeJob",
    "pick": "pick:PickJob",
    "walk": "gather:WalkJob",
    "lookup": "lookup:LookupJob",
    "browse": "browse:BrowseJob",
    "note": "note:NoteJob",
    "move": "move:MoveJob",
    "count": "count:CountJob",
    "loss": "loss:LossJob",
    "short": "short:ShortJob",
    "count_log": "count_log:CountLogJob",
    "doctor": "doctor:DoctorJob",
    "doubts": "doubts:DoubtsJob",
    "orders": "orders:OrdersJob",
    "order": "order_page:OrderPageJob",
    "act": "act:ActJob",
    "exceptions": "exceptions:ExceptionsJob",
    "receive": "receive:ReceiveJob",
    "deliveries": "deliveries:DeliveriesJob",
    "logs": "logs:LogsJob",
    "stores": "stores:StoresJob",
    "products": "catalogue:CatalogueJob",
    "clearance": "clearance:ClearanceJob",
    "clear": "clearance_sure:ClearJob",
    "tasks": "tasks:TasksJob",
    "today": "today:TodayJob",
    "store_product": "store_product:StoreProductJob",
    "help": "help:HelpJob",
    "commands": "commands:CommandsJob",
}
"""Module and class of each job; a new job is one file and one entry here."""


class _Jobs(Mapping[str, Job[Any]]):
    """Loads a job when somebody asks for it: a start needs two or three of them."""

    def __init__(self) -> None:
        self._loaded: dict[str, Job[Any]] = {}

    def __getitem__(self, name: str) -> Job[Any]:
        if name not in self._loaded:
            module, _, kind = _WHERE[name].partition(":")
            self._loaded[name] = getattr(import_module(f"{__name__}.{module}"), kind)()
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_WHERE)

    def __len__(self) -> int:
        return len(_WHERE)


JOBS: Mapping[str, Job[Any]] = _Jobs()
"""All jobs by name."""

DETOURS = frozenset({"lookup", "browse", "note", "help", "commands"})
"""Jobs that somebody opens for a look in the middle of another one: a scan that the other accepts ends them."""
