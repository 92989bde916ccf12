"""Pure: the work of the floor as (state, input) -> state, effects, view."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from aisle.jobs.base import Job

_WHERE = {
    "sign_in": "house.sign_in:SignInJob",
    "pin": "pin:PinJob",
    "home": "house.home:HomeJob",
    "pick": "pick.job:PickJob",
    "walk": "pick.gather:WalkJob",
    "lookup": "look.lookup:LookupJob",
    "browse": "look.browse:BrowseJob",
    "note": "house.note:NoteJob",
    "move": "move.job:MoveJob",
    "count": "count.job:CountJob",
    "loss": "count.loss:LossJob",
    "short": "pick.short:ShortJob",
    "count_log": "count.log:CountLogJob",
    "doctor": "house.doctor:DoctorJob",
    "doubts": "desk.doubts:DoubtsJob",
    "orders": "desk.orders:OrdersJob",
    "order": "desk.order_page:OrderPageJob",
    "act": "desk.act:ActJob",
    "exceptions": "desk.exceptions:ExceptionsJob",
    "receive": "receive.job:ReceiveJob",
    "deliveries": "receive.deliveries:DeliveriesJob",
    "logs": "desk.logs:LogsJob",
    "stores": "chain.stores:StoresJob",
    "products": "chain.catalogue:CatalogueJob",
    "clearance": "desk.clearance:ClearanceJob",
    "clear": "desk.clearance_sure:ClearJob",
    "tasks": "desk.tasks:TasksJob",
    "today": "desk.today:TodayJob",
    "store_product": "chain.store_product:StoreProductJob",
    "help": "house.help:HelpJob",
    "commands": "house.commands:CommandsJob",
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

COUNTING = frozenset({"pick", "move", "count", "loss", "receive"})
"""Jobs that take so many of a product that is scanned."""
