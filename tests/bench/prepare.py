"""Makes aisle ready to be measured: installed as from a wheel, 50,000 products cached, an order in progress.

Everything goes through the doors that people use: `aisle load`, `aisle sync`, and a scan of the order.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from tests.bench import generated_store
from tests.bench.session import Program
from tests.terminal.harness import Terminal

ROOT = Path(__file__).parents[2]
DONE = "prepared"
"""A file beside the home that says that the store stands there."""

_PICKED = re.compile(rf"(\d+) ?(?:(?:of|/) ?{generated_store.QUANTITY}(?!\d)|taken)")
_GROUPED = re.compile(r"(?<=\d)[ ,.'\u00a0\u202f](?=\d{3}(?!\d))")


def prepare(folder: Path, env: Mapping[str, str | None], products: int) -> Program:
    """Aisle at the first usable step of an order that is being picked, in the home that `env` names.

    The store that an earlier run prepared in the same folder is used again, the program is not.
    Raises CalledProcessError when a step fails.
    """
    site = folder / "site"
    env = {
        **env,
        "PYTHONPATH": str(site),
        "AISLE_STORE": generated_store.STORE,
        "AISLE_USER": generated_store.USER,
        "AISLE_TERMINAL": "bench",  # whichever pty it is: nobody is asked whether to go on at another one
        "AISLE_ALLOW_VOLATILE": "1",
    }
    goods = generated_store.products(products)
    program = program_of(site, env, goods[0])
    done = folder / DONE
    _install(site)
    if not done.exists():
        files = generated_store.write(folder / "shop", goods)
        door(env, "load", str(files))
        door(env, "sync")
        open_order(program)
        done.touch()
    return program


def door(env: Mapping[str, str | None], *arguments: str) -> str:
    """Runs `aisle` with these arguments; answers with what it printed. Raises CalledProcessError."""
    laid, lifeline = environment(env)
    command = [sys.executable, "-m", "aisle", *arguments]
    return subprocess.run(command, env=laid, pass_fds=lifeline, check=True, stdout=subprocess.PIPE, text=True).stdout


def environment(env: Mapping[str, str | None]) -> tuple[dict[str, str], list[int]]:
    """A child's whole environment, `env` laid over this one, and the lifeline that the child has to inherit."""
    laid = {name: value for name, value in {**os.environ, **env}.items() if value is not None}
    return laid, [int(laid[name]) for name in ("AISLE_LIFELINE_FD",) if name in laid]


def _install(site: Path) -> None:
    """Builds the wheel and unpacks it, compiled, where nothing else is; what it depends on is taken from here."""
    shutil.rmtree(site, ignore_errors=True)
    isolation = ["--no-build-isolation"] if find_spec("hatchling") else []
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", *isolation, "--target", str(site), str(ROOT)]
    subprocess.run(command, check=True)


def program_of(site: Path, env: Mapping[str, str | None], product: generated_store.Product) -> Program:
    """Aisle as it was unpacked there, in the middle of the order with the one line of this product."""
    code = product.barcode.encode()
    return Program(
        name="aisle",
        argv=(str(site / "bin" / "aisle"),),
        env=env,
        ready=lambda text: picked(text) >= 0 and product.name.split()[0] in text,
        code=lambda _number: code,
        answered=picked,
    )


def picked(text: str) -> int:
    """How many of the one line the screen says are picked; -1 where it says nothing of it."""
    found = _PICKED.search(_GROUPED.sub("", text))
    return int(found.group(1)) if found else -1


def open_order(program: Program) -> None:
    """Scans the order at home, so that from now on every start resumes it."""
    with Terminal(program.argv, 40, 20, program.env) as terminal:
        terminal.wait_for(lambda shown: shown.text.strip(), timeout=60)
        terminal.write(generated_store.ORDER.encode() + b"\r")
        terminal.wait_for(lambda shown: program.ready(shown.text), timeout=60)
