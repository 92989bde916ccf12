"""The app as people install it: from a built wheel, and editable, as the tests themselves run it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.terminal.picker import START_S, Picker
from tests.terminal.shop import Shop

pytestmark = pytest.mark.pty

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the wheel is installed in, as built from this project; its dependencies are taken from here."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "-q"]
    subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(ROOT)], check=True)
    (wheel,) = folder.glob("aisle-*.whl")
    target = folder / "site"
    subprocess.run(
        [*pip, "install", "--no-deps", "--no-index", "--no-compile", "--target", str(target), str(wheel)], check=True
    )
    return target


def picks(app: Picker, home: Path) -> None:
    """An order of one line, from the sign-in to the service."""
    app.shows("Sign in", "live")
    app.enter("anna")
    app.shows("Open orders", "4101")
    with Shop(home / "service.db") as shop:
        app.take("4101", "pick.product", "pick.opened")
        app.take(shop.lines("4101")[0].code, "pick.done", "pick.all_picked")
        app.terminal.wait_for(lambda _: shop.is_picked("4101"), START_S)


def test_the_wheel_brings_all_that_the_app_needs(site: Path, aisle_home: Path, picker: Callable[..., Picker]) -> None:
    env = {"PYTHONPATH": str(site), "PYTHONSAFEPATH": "1"}
    code = "import aisle; from aisle.tui.themes import style_folder; print(aisle.__file__, *style_folder().glob('*'))"
    asked = [sys.executable, "-c", code]
    said = subprocess.run(asked, env=env, capture_output=True, text=True, check=True).stdout.split()
    assert len(said) >= 2
    assert all(Path(path).is_relative_to(site) and Path(path).is_file() for path in said)
    picks(picker(argv=(str(site / "bin" / "aisle"),), env=env), aisle_home)


def test_the_editable_install_is_the_source() -> None:
    """All other tests start it."""
    script = Path(sys.executable).with_name("aisle")
    assert script.is_file(), "the tests run where the project is installed: pip install -e '.[test]'"
    asked = [sys.executable, "-c", "import aisle; print(aisle.__file__)"]
    said = Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())
    if "site-packages" in said.parts:
        pytest.skip("the tests run against an installed wheel here; the other test builds one of its own")
    assert said == ROOT / "src" / "aisle" / "__init__.py"
    assert "Usage: aisle" in subprocess.run([script, "--help"], capture_output=True, text=True, check=True).stdout
