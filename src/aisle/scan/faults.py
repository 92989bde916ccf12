"""Why a code is refused, as message ids."""

from __future__ import annotations

from typing import Final

NO_SEPARATOR: Final = "input.no_gs"
"""A value of GS1 data runs on into the next one, or a sign stands where a separator belongs."""
BROKEN: Final = "input.gs1"
"""GS1 data is damaged, or its label is wrong."""
NOISE: Final = "input.noise"
"""Signs stand around a code or in it that belong to no code."""
CONTROL: Final = "input.control"
"""A control character or a key came in the middle of a code."""
CODE_NUMBER: Final = "input.code_number"
"""A number stands behind a code or before it, and no sign says that it multiplies."""
LAYOUT: Final = "input.layout"
"""It came through another keyboard layout than the scanner's."""
