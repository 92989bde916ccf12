"""Text snapshots: what a screen looked like when somebody last looked at it and was content.

`AISLE_UPDATE_SNAPSHOTS=1` writes them anew; look at the difference before it is committed.
"""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "snapshots"


def check(name: str, text: str) -> None:
    """Compares with the snapshot of this name; a snapshot that is missing fails."""
    path = FOLDER / f"{name}.txt"
    if os.environ.get("AISLE_UPDATE_SNAPSHOTS") == "1":
        FOLDER.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return
    assert path.is_file(), f"no snapshot {path.name}: run with AISLE_UPDATE_SNAPSHOTS=1 and look at it"
    assert text.split("\n") == path.read_text(encoding="utf-8").split("\n"), f"{path.name} has changed"
