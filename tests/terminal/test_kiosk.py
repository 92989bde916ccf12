"""The kiosk in a terminal: hostile variables and keys open nothing, and nothing of them is handed on."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.test_kiosk import HOSTILE
from tests.terminal.harness import python
from tests.terminal.lifeline import processes_under
from tests.terminal.picker import Picker

pytestmark = pytest.mark.pty

Pick = Callable[..., Picker]

# Ctrl-C, Ctrl-Z, Ctrl-\, Ctrl-Q, Ctrl-P, F1, Escape: what gets out of programs elsewhere.
WAYS_OUT = (b"\x03", b"\x1a", b"\x1c", b"\x11", b"\x10", b"\x1bOP", b"\x1b")
_PYTHON_S_OWN = {"PYTHONPATH"}  # how the tests' program finds what it is made of


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """On the disk: a kiosk hears of no variable that its home may lie in memory."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def test_hostile_variables_and_keys_open_nothing(demo_home: Path, tmp_path: Path, picker: Pick) -> None:
    evil = tmp_path / "evil"
    hostile = {name: text for name, text in HOSTILE.items() if name not in _PYTHON_S_OWN}
    hostile |= {"AISLE_HOME": str(evil), "HOME": str(evil), "AISLE_TRACE": str(evil), "XDG_DATA_HOME": str(evil)}
    arguments = ("-m", "aisle", "--kiosk", "--home", str(demo_home), "--terminal", "dock")
    app = picker(argv=tuple(python(*arguments)), env=hostile)
    app.sign_in()
    for way in WAYS_OUT:
        app.terminal.write(way)
    assert app.enter("4113")["job"] == "pick"
    app.shows("Scan the product")
    assert app.terminal.exit_code is None
    assert not evil.exists()
    _nothing_handed_on(demo_home, hostile)


def _nothing_handed_on(home: Path, hostile: dict[str, str]) -> None:
    """The courier was started with a closed environment too."""
    couriers = [pid for pid, command in processes_under(home.parent).items() if " courier" in command]
    assert couriers
    told = [_environment(pid) for pid in couriers]
    for environ in told:
        assert {name for name in hostile if environ.get(name) == hostile[name]} == set()


def _environment(pid: int) -> dict[str, str]:
    pairs = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return dict(pair.partition("=")[::2] for pair in pairs if pair)
