"""The floor of a desk's list: the smallest natural Textual app with a table of 100 rows. Frozen."""

from textual.app import App, ComposeResult
from textual.widgets import DataTable

COLUMNS = ("Order", "Pickup", "State", "Picked", "Customer", "Claimed by", "Short", "Idle")
ROWS = 100


class FloorTable(App[None]):
    """Table of orders with a cursor on a row."""

    ENABLE_COMMAND_PALETTE = False

    def compose(self) -> ComposeResult:
        """Compose the table."""
        yield DataTable(cursor_type="row")

    def on_mount(self) -> None:
        """Fill the table, in the colours of the terminal and without motion."""
        self.theme = "ansi-dark"
        self.animation_level = "none"
        table = self.query_one(DataTable)
        table.add_columns(*COLUMNS)
        for number in range(ROWS):
            cells = ("9 Jan 09:00", "open", "0 of 6", "Customer", "Anna Berg", "", "4 min")
            table.add_row(f"G-{number:07}", *cells, key=str(number))


if __name__ == "__main__":
    FloorTable().run()
