"""Every binding and every action of the app, against the list of those that may be there: none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.actions import SkipAction
from textual.app import App
from textual.dom import DOMNode

from aisle.cache.write_csv_file import write_csv
from aisle.jobs import job
from aisle.session.profile import profile_from_settings
from aisle.settings.setting_definitions import Settings
from aisle.tui.app import AisleApp
from tests.tui.test_headless import Desk, open_app

ALLOWED_BINDINGS: frozenset[str] = frozenset()
ALLOWED_ACTIONS: frozenset[str] = frozenset()
# What a job can bring about at all. Whatever is added here and leaves the program (a file that somebody names, another
# program) has to be refused in a kiosk, as `Export` is.
ALLOWED_EFFECTS = {
    "Query", "Export", "ExportList", "PrintTable",
    "Write", "Refresh", "Resolve", "LocalNote", "Start", "Close", "SignIn", "SignOut", "Quit",
    "Request", "SwitchStore", "SetPreference", "PinConfirmed", "UndoLast",
}  # fmt: skip


def nodes(app: AisleApp) -> Iterator[DOMNode]:
    """The app, its screens and all that is on them."""
    yield app
    for screen in app.screen_stack:
        yield from screen.walk_children(with_self=True)


def actions(app: AisleApp) -> set[tuple[str, str]]:
    """Every action that any of them has, as it would be asked for."""
    found = set()
    for node in nodes(app):
        space = "app" if isinstance(node, App) else "screen" if node is app.screen else "focused"
        names = (name.removeprefix("action_") for name in dir(type(node)) if name.startswith("action_"))
        found |= {(space, name) for name in names}
    return found


async def test_no_key_is_bound_to_anything() -> None:
    app = open_app(Desk())
    async with app.run_test():
        bound = {key for node in nodes(app) for key in node._bindings.key_to_bindings}
        assert bound <= ALLOWED_BINDINGS
        assert not app.ENABLE_COMMAND_PALETTE
        assert not app.use_command_palette


async def test_no_action_is_carried_out_whoever_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_app(Desk())
    async with app.run_test() as pilot:
        known = actions(app)
        assert {("app", "suspend_process"), ("app", "screenshot"), ("app", "command_palette")} <= known, "looked at all"
        ran: list[str] = []
        for node in nodes(app):
            for name in [name for name in dir(type(node)) if name.startswith("action_")]:
                _watch(monkeypatch, type(node), name, ran)
        for space, name in sorted(known):
            for text in (name, f"{space}.{name}", f"{name}()", f"{space}.{name}('x')"):
                assert await app.run_action(text) is False
        for key in KEYS:
            app.post_message(events.Key(key, None))
            await pilot.press(key)
        await pilot.pause()
        assert set(ran) <= ALLOWED_ACTIONS
        assert app.is_running
        assert len(app.screen_stack) == 1


KEYS = ("ctrl+c", "ctrl+q", "ctrl+p", "ctrl+z", "ctrl+backslash", "f1", "f12", "escape", "tab", "shift+tab", "ctrl+i")


def _watch(monkeypatch: pytest.MonkeyPatch, owner: type[Any], name: str, ran: list[str]) -> None:
    def noted(self: object, *args: object, **kwargs: object) -> None:
        ran.append(f"{owner.__name__}.{name}")
        raise SkipAction

    monkeypatch.setattr(owner, name, noted, raising=False)


def test_all_job_effects_are_allowed() -> None:
    members = set(job.Effect.__args__)
    assert {member.__name__ for member in members} <= ALLOWED_EFFECTS


@pytest.mark.parametrize("kiosk", [True, False])
def test_files_are_for_those_who_own_the_host(tmp_path: Path, kiosk: bool) -> None:
    terms = profile_from_settings(Settings(kiosk=kiosk))
    asked = job.Export("x", str(tmp_path / "out.csv"), "log", {}, ("id",))
    [said] = write_csv(lambda name, args: ([{"id": 1}], 1), asked, allowed=terms.may_export).rows
    assert (tmp_path / "out.csv").exists() is not kiosk
    assert bool(said["why"]) is kiosk
