"""Why a code is refused, as message ids."""

from __future__ import annotations

from typing import Final

NO_SEPARATOR: Final = "input.no_gs"
"""A value of GS1 data runs on into the next one, or a sign stands where a separator belongs."""
BROKEN: Final = "input.gs1"
"""GS1 data is damaged, or its label is wrong."""
LAYOUT: Final = "input.layout"
"""It came through another keyboard layout than the scanner's."""
