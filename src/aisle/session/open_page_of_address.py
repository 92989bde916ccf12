"""Addresses of the pages, which a browser shows and opens."""

from __future__ import annotations

from typing import Final

from aisle.browser_addresses_and_packets import PageAddress, parse_address
from aisle.jobs.job import Args, Start
from aisle.jobs.view import INFO, Verdict, msg
from aisle.session.event_runner import SessionPart
from aisle.session.job_stack import WITHOUT_WORK, StackedJob

_RECORD_JOBS: Final = {
    "orders": ("order", "order_number"),
    "products": ("look_up", "product_number"),
    "deliveries": ("deliveries", "order_number"),
    "locations": ("locations", "location_code"),
}
"""Job that shows a record of a list, and the name of its argument."""


class Addresses(SessionPart):
    """Address of the page on the screen, and the pages of other addresses."""

    @property
    def current(self) -> PageAddress:
        """Return the address of the page on the screen, or of the nearest page below that has one."""
        found = (_address_of(stacked) for stacked in reversed(self._page.stack.jobs))
        return next((address for address in found if address), PageAddress(""))

    def open(self, text: str) -> None:
        """Open the page of an address. It is below the page on the screen, or is opened instead of it."""
        address = parse_address(text)
        if address is None or address == self.current or not self._context.user.user or self._page.top.job.raw_input:
            return
        self._verdicts.current = None
        below = self._depth_of(address)
        if below is not None:
            self._event_runner.apply(self._page.stack.run(self._context.current()).close_above(below))
        elif address.page:
            self._open_instead(address)
        else:
            what = self._page.stack.open_work() or self._page.top.job.view(self._page.top.state).title
            self._verdicts.show(Verdict(INFO, msg("tab.work_stays", what=what)))

    def _depth_of(self, address: PageAddress) -> int | None:
        """Return the index of the page with an address if nothing but pages without work lies above it."""
        jobs = self._page.stack.jobs
        for index in range(len(jobs) - 1, -1, -1):
            if _address_of(jobs[index]) == address or not (index or address.page):
                return index
            if jobs[index].job.name not in WITHOUT_WORK:
                return None
        return None

    def _open_instead(self, address: PageAddress) -> None:
        context, (job, argument) = self._context.current(), _RECORD_JOBS.get(address.page, ("", ""))
        record: Args = {argument: address.record}
        is_own_job = job == address.page
        arguments = record if address.record and is_own_job else _list_arguments(address)
        result = self._page.stack.run(context).start_instead(Start(address.page, arguments), WITHOUT_WORK)
        self._event_runner.apply(result)
        if address.record and job and not is_own_job:
            self._event_runner.open(Start(job, record))


def _address_of(stacked: StackedJob) -> PageAddress | None:
    return stacked.job.address(stacked.state)


def _list_arguments(address: PageAddress) -> Args:
    """Return the arguments that open a list as its address filters it."""
    fields = dict(address.filter)
    return {"filter": fields} if address.page == "orders" and fields else dict(fields)
