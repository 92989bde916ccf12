"""The floor: the smallest natural Textual app that answers a scan. Frozen; every figure of aisle is a ratio to it.

One Input, one Static that shows what was entered. Lean as aisle is: the terminal's own sixteen colours, no header or
footer, no border, no blink, no animation. Driver, event loop and frame rate are Textual's own.
"""

from textual.app import App, ComposeResult
from textual.widgets import Input, Static


class FloorApp(App[None]):
    """Echoes each scan."""

    ENABLE_COMMAND_PALETTE = False

    def compose(self) -> ComposeResult:
        """An entry line and the verdict below it."""
        scan = Input(placeholder="Scan", compact=True)
        scan.cursor_blink = False
        yield scan
        yield Static(id="verdict")

    def on_mount(self) -> None:
        """Lean: the terminal's colours, nothing that moves."""
        self.theme = "ansi-dark"
        self.animation_level = "none"

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """The verdict of a scan is what was scanned."""
        self.query_one("#verdict", Static).update(f"got {event.value}")
        event.input.clear()


if __name__ == "__main__":
    FloorApp().run()
