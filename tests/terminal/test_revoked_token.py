"""The service takes the token away from a host at work: people go on, are told, and need no key when it is back."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from tests.terminal.picker import START_S, Picker
from tests.terminal.service_process import counting_service
from tests.terminal.shop import Shop, door, on_this_host

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]


def token(file: Path, name: str) -> None:
    """A new one, for this account alone."""
    file.touch(0o600)
    file.write_text(door("token", "add", name, "--role", "staff", "--stores", "0001"))


def test_work_goes_on_without_a_token_and_all_is_sent_with_a_new_one(
    demo_home: Path, shop: Shop, picker: Pick, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    shop.add_order("TOKEN-1", [(row["product_number"], 2) for row in shop.goods(2)])
    file = tmp_path / "shop.token"
    token(file, "first")
    with counting_service(demo_home, tmp_path / "book") as served:
        reached = ("--base-url", served.url, "--token-file", str(file))
        door("sync", *reached)
        app = picker(*reached, columns=80, rows=24)
        app.sign_in()
        app.shows("TOKEN-1", "live")
        app.enter("TOKEN-1")
        first, second = shop.lines("TOKEN-1")
        app.enter(first.code)
        app.shows("all sent")
        door("token", "revoke", "first")
        app.shows("refused the token", "All work waits here", "shop.token")
        assert app.enter(first.code)["verdict"] == "pick.picked"
        assert app.enter(second.code)["verdict"] == "pick.picked", "work goes on"
        assert "refused" in app.terminal.text
        assert "lets nobody of this host in" in told(reached, capfd, "outbox")
        assert "Put a token for store 0001 into " in told(reached, capfd, "doctor")
        keys = app.scans
        token(file, "second")
        app.shows("accepts the token again", "all sent")
        assert app.scans == keys, "no key was touched"
        app.terminal.wait_for(lambda _: states(demo_home, served.url) == {"done"} or None, START_S)
        assert list(shop.picked("TOKEN-1").values()) == [Decimal(2), Decimal(1)]


@pytest.mark.full
def test_a_good_token_takes_the_place_of_one_that_is_refused(demo_home: Path, picker: Pick, tmp_path: Path) -> None:
    bad, good = tmp_path / "bad.token", tmp_path / "good.token"
    bad.touch(0o600)
    bad.write_text("nobody knows it")
    token(good, "good")
    with counting_service(demo_home, tmp_path / "book") as served:
        reached = ("--base-url", served.url)
        first = picker(*reached, "--token-file", str(bad), columns=80, rows=24)
        first.shows("The server refused the token", "All work waits here")
        second = picker(*reached, "--token-file", str(good), columns=80, rows=24)
        second.shows("live")
        first.shows("live")


@pytest.mark.full
def test_a_token_that_others_may_read_is_said_as_what_it_is(demo_home: Path, picker: Pick, tmp_path: Path) -> None:
    file = tmp_path / "shop.token"
    token(file, "first")
    file.chmod(0o644)
    with counting_service(demo_home, tmp_path / "book") as served:
        app = picker("--base-url", served.url, "--token-file", str(file), columns=200, rows=24)
        app.shows("has mode 0644", "chmod 600")
        assert "All work waits here" not in app.terminal.text
        file.chmod(0o600)
        app.shows("live")


def states(home: Path, url: str) -> set[str]:
    """What became of all that was noted on this host."""
    return {state for (state,) in on_this_host(home, "SELECT state FROM operation WHERE superseded_by = ''", url)}


def told(reached: tuple[str, ...], capfd: pytest.CaptureFixture[str], command: str) -> str:
    """What a door says, whether it finds something wrong or not."""
    from aisle.cli import main

    capfd.readouterr()
    main([command, *reached])
    printed = capfd.readouterr()
    return " ".join((printed.out + printed.err).split())
