"""The style sheets are found, and colour every role; a role that nobody colours is one that nobody meant."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aisle.safe_text import supports_utf8
from aisle.tui import themes
from aisle.tui.layout.styled_lines import ROLES


def coloured(name: str) -> set[str]:
    text = (themes.style_folder() / f"{name}.tcss").read_text(encoding="utf-8")
    return set(re.findall(r"\.screen--([\w-]+)", text))


def test_every_role_has_its_look_in_one_lean_sheet() -> None:
    looks = [coloured(name) for name in themes.BASE_SHEETS]
    assert set.union(*looks) == set(ROLES)
    assert sum(len(each) for each in looks) == len(ROLES)
    assert coloured("rich") <= set(ROLES)


def test_sheets_exist_and_the_rich_look_lies_over_the_lean_one() -> None:
    assert all(Path(sheet).is_file() for sheet in themes.style_sheets(has_themes=True))
    assert themes.style_sheets(has_themes=True)[:-1] == themes.style_sheets()


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
