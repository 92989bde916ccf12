"""The page of open orders: what a search leaves behind."""

from __future__ import annotations

from aisle.jobs.base import Context, Query, Rows, Start
from aisle.jobs.home import Home, HomeJob
from aisle.jobs.view import WRONG, Verdict, msg
from aisle.scan.meaning import Choice, Text

CONTEXT = Context(store="0001", user="ann", now="2026-11-20T10:00:00Z")
ROW = {"order_number": "4101", "is_claimed": False}


def test_after_a_search_without_a_hit_the_first_number_picks_the_next_open_order() -> None:
    job = HomeJob()
    state = job.step(Home(), Text("xyzzy"), CONTEXT).state
    state = job.step(state, Rows("orders", (), 0), CONTEXT).state
    turn = job.step(state, Rows("products", (), 0), CONTEXT)
    assert turn.verdict == Verdict(WRONG, msg("home.not_found", text="xyzzy"))
    (query,) = turn.effects
    assert isinstance(query, Query)
    assert not query.args.get("search")
    state = job.step(turn.state, Rows("orders", (ROW,), 1), CONTEXT).state
    assert job.step(state, Choice(1), CONTEXT).effects == (Start("pick", {"order_number": "4101"}),)
