"""The style sheet is found, and each theme has the colours of the sheet and of every role."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aisle.terminal_text import supports_utf8
from aisle.tui import themes


def test_each_theme_has_a_value_for_each_variable_in_use() -> None:
    sheets = "".join(path.read_text(encoding="utf-8") for path in themes.style_folder().glob("*.tcss"))
    used = set(re.findall(r"\$([\w-]+)", "\n".join((sheets, *themes.ROLE_STYLES.values()))))
    for theme in themes.themes():
        assert set(theme.variables) == used, theme.name


def test_a_wheel_carries_its_own_sheets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site-packages" / "aisle"
    (package / "styles").mkdir(parents=True)
    monkeypatch.setattr(themes, "__file__", str(package / "tui" / "styles.py"))
    assert themes.style_folder() == package / "styles"


@pytest.mark.parametrize(
    ("environ", "utf8"),
    [
        ({"LANG": "en_US.UTF-8"}, True),
        ({"LANG": "nl_NL.utf8"}, True),
        ({"LANG": "en_US.ISO-8859-1"}, False),
        ({"LANG": "C"}, False),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, False),
        ({"LANG": "C", "LC_CTYPE": "en_US.UTF-8"}, True),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "C"}, False),
        ({"LC_CTYPE": "C.UTF-8", "TERM": "xterm-256color"}, True),
        ({"LC_CTYPE": "C.UTF-8", "TERM": "vt220"}, False),
        ({"TERM": "dumb"}, False),
        ({}, True),
    ],
)
def test_utf8(environ: dict[str, str], utf8: bool) -> None:
    assert supports_utf8(environ) is utf8
