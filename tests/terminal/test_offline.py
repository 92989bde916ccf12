"""The service goes away in the middle of a pick: it goes on to its end, the screen says so, and all arrives once."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.terminal.picker import START_S, Picker
from tests.terminal.service_process import plain_service
from tests.terminal.shop import Shop, door, on_this_host

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]

OFFLINE = re.compile(r"offline · data (<1|\d+) min old · (\d+) waiting")


def assert_waiting(app: Picker, home: Path, url: str) -> None:
    """Waits until the screen says that there is no link, how old the data are, and how many operations wait."""

    def says(_: object) -> bool:
        found = OFFLINE.search(app.terminal.screen[-1])
        ((count,),) = on_this_host(home, "SELECT count(*) FROM operation WHERE state IN ('queued', 'sending')", url)
        return found is not None and int(found[2]) == count > 0

    app.terminal.wait_for(says, START_S)


def operations(home: Path, url: str) -> dict[str, str]:
    """The operations of this host that no other replaced, and what became of them."""
    return dict(on_this_host(home, "SELECT op_id, state FROM operation WHERE superseded_by = ''", url))


def test_a_pick_goes_on_without_the_service(demo_home: Path, shop: Shop, picker: Pick) -> None:
    shop.add_order("AWAY-1", [(row["product_number"], 2) for row in shop.goods(3)])
    first, second, third = shop.lines("AWAY-1")
    before = set(shop.keys())
    with plain_service() as service:
        arguments = ("--base-url", service.url, "--token-file", str(demo_home / "embedded.token"))
        door("sync", *arguments)
        app = picker(*arguments, columns=80, rows=24)
        app.sign_in()
        app.shows("AWAY-1")
        app.take("AWAY-1", "pick.product", "pick.opened")
        app.take(first.code, "pick.product")
        app.shows("all sent")
        assert shop.picked("AWAY-1")[first.number] == 1

        service.end()
        app.take(first.code, "pick.product")
        assert_waiting(app, demo_home, service.url)
        app.take(f"2*{second.code}", "pick.product")
        app.take(third.code, "pick.product")
        assert_waiting(app, demo_home, service.url)
        app.take(third.code, "pick.done", "pick.all_picked")
        app.take("PU-03", "pick.done", "pick.put_down")
        assert_waiting(app, demo_home, service.url)
        app.take("b", "home", "pick.put_down")
        assert "AWAY-1" not in " ".join(app.told())
        app.take("4113", "pick.product", "pick.opened")
        app.take("9520005000177", "pick.product")
        assert_waiting(app, demo_home, service.url)
        assert shop.picked("AWAY-1")[second.number] == 0

        service.start()
        app.shows("live", "all sent")
        assert shop.is_picked("AWAY-1")
        assert all(line.picked == line.moved == 2 for line in shop.lines("AWAY-1"))
        assert sorted(shop.picked("4113").values()) == [0, 0, 0, 0, 1]
    states = operations(demo_home, service.url)
    assert set(states.values()) == {"done"}
    assert set(shop.keys()) - before == set(states)
    shop.balances()


@pytest.mark.full
def test_starting_without_the_service(demo_home: Path, shop: Shop, picker: Pick) -> None:
    """The cache of this host is enough to sign in, find an order, pick it and leave; the next start sends it."""
    with plain_service() as service:
        arguments = ("--base-url", service.url, "--token-file", str(demo_home / "embedded.token"))
        door("sync", *arguments)
        service.end()

        app = picker(*arguments)
        app.sign_in()
        app.shows("offline")
        line = shop.lines("4101")[0]
        app.take("4101", "pick.product", "pick.opened")
        app.take(line.code, "pick.done", "pick.all_picked")
        app.enter("b")
        app.enter("q")
        assert app.terminal.wait_exit() == 0
        assert not shop.is_picked("4101")

        service.start()
        app = picker(*arguments)
        app.shows("live", "all sent")
        app.terminal.wait_for(lambda _: shop.is_picked("4101"), START_S)
        assert list(operations(demo_home, service.url).values()) == ["done"]
