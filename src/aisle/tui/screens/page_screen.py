"""Screen of a page: header, body with its commands, verdict, prompt and status, from top to bottom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.screen import Screen

from aisle.tui.layout.page_parts import BodyParts, ScreenParts
from aisle.tui.themes import style_folder
from aisle.tui.widgets.lines_widget import LinesWidget
from aisle.tui.widgets.page_widgets import CommandBar, HeaderBar, PromptLine, StatusBar, VerdictBar


def style_path(name: str) -> str:
    """Return the path of a screen's style sheet."""
    return str(style_folder() / f"{name}.tcss")


class PageScreen(Screen[None], inherit_bindings=False):
    """Screen of one kind of page. No key is bound: the driver passes every key to the session, like a scan."""

    BODY: ClassVar[type[LinesWidget]]
    """Widget of the body."""

    def __init__(self) -> None:
        super().__init__()
        self.header_bar = HeaderBar()
        self.body = self.BODY()
        self.command_bar = CommandBar()
        self.verdict_bar = VerdictBar()
        self.prompt_line = PromptLine()
        self.status_bar = StatusBar()

    def compose(self) -> ComposeResult:
        """Yield the widgets from top to bottom."""
        yield self.header_bar
        yield from self.compose_page()
        yield self.verdict_bar
        yield self.prompt_line
        yield self.status_bar

    def compose_page(self) -> ComposeResult:
        """Yield the widgets between header and verdict."""
        yield self.body
        yield self.command_bar

    def show(self, parts: ScreenParts) -> None:
        """Draw the parts of a page of this kind."""
        self.header_bar.show(parts.header)
        self.show_page(parts.page)
        self.verdict_bar.show(parts.verdict)
        self.prompt_line.show(parts.prompt)
        self.status_bar.show(parts.status)

    def show_page(self, page: BodyParts) -> None:
        """Draw what is between header and verdict."""
        self.body.show(page.body)
        self.command_bar.show(page.commands)

    def mark_unpainted(self) -> None:
        """Note that another screen was on the terminal."""
        for widget in self._lines_widgets():
            widget.mark_unpainted()

    def _lines_widgets(self) -> Iterator[LinesWidget]:
        return iter(self.query(LinesWidget))

    @property
    def is_painted(self) -> bool:
        """True if the terminal shows the whole page."""
        return self.is_mounted and all(widget.is_painted for widget in self._lines_widgets())

    def update_pointer_shape(self) -> None:
        """Do nothing: no shape of the pointer has a meaning here."""
