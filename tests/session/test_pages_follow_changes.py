"""A page that shows figures of a location, an order, a delivery or a list follows every change of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from aisle.host.notify_sockets import ANYTHING
from aisle.jobs.job import Changed, Query
from aisle.session.job_stack import StackedJob
from aisle.session.session import Session
from tests.session.every_page import PAGES, on_page
from tests.session.job_steps import WAYS, Way, put_down

MORE_WAYS = {"move.take/order": Way(("move", "4105"), before=put_down)}
"""Pages that show figures of something else than the other ways to their step do."""

NO_FIGURES = {"features", "people", "store", "locations", "locations_of_products", "clearance_permission"}
"""Queries for names, rights, suggestions, and whether there is anything at all."""

READ_AGAIN_AT_THE_ANSWER = {
    "adjust.quantity": {"location", "product"},
    "adjust.quantity/over": {"product", "stock_now"},
    "adjust.reason": {"location", "product"},
    "batch/claimed": {"order/4101"},
    "count.list": {"listed"},
    "move": {"goods", "target"},
}
"""Answers to one input, by job or page: what they are used for later is read again, or is no figure."""

OF_ANOTHER_PAGE = {
    "receive": {"deliveries"},
    "home": {"needing_person"},
    "count": {"asked"},
    "products.filter": {"catalogue"},
    "products.page": {"catalogue"},
}
"""Answers for a page of the same job that asks again when it is shown, and what is told in another way."""


def is_exempt(page: str, job: str, query: Query) -> bool:
    named = (READ_AGAIN_AT_THE_ANSWER, OF_ANOTHER_PAGE)
    return query.name in NO_FIGURES or any(query.id in table.get(key, ()) for table in named for key in (job, page))


def asked_after(session: Session, topic: str, asked: list[Query]) -> set[str]:
    """The queries of the job on the screen when this has changed; the page stays as it was."""
    before = session.stack.snapshot()
    asked.clear()
    name, _, key = topic.partition("/")
    session.stack.notify([Changed(name, key)], session.context.current())
    session.stack.restore(before)
    return {query.name for query in asked}


@pytest.mark.parametrize("page", [*PAGES, *(pytest.param(page, marks=pytest.mark.drawn) for page in MORE_WAYS)])
def test_every_page_asks_again_for_the_figures_that_changed(
    tmp_path: Path, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries: dict[tuple[str, str], Query] = {}
    asked: list[Query] = []
    with_answer = StackedJob.with_answer

    def record(stacked: StackedJob, query: Query, rows: Sequence[Any]) -> StackedJob:
        asked.append(query)
        queries[stacked.job.name, query.id] = query
        return with_answer(stacked, query, rows)

    for way, steps in MORE_WAYS.items():
        monkeypatch.setitem(WAYS, way, steps)
    monkeypatch.setattr(StackedJob, "with_answer", record)
    with on_page(tmp_path, page) as session:
        job, shown = session.stack.top.job.name, session.stack.top.topics_by_query
        stale = [
            (query.name, topic)
            for id_, topics in shown.items()
            if not is_exempt(page, job, query := queries[job, id_])
            for topic in topics - {ANYTHING}
            if query.name not in asked_after(session, topic, asked)
        ]
    assert not stale
