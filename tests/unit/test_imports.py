"""What a room pulls in when it is imported for real; the static contracts are checked by lint-imports."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import aisle

NETWORK = (
    "httpx",
    "httpcore",
    "pydantic",
    "starlette",
    "uvicorn",
    "ssl",
    "http.client",
    "aiohttp",
    "textual_serve",
)


def loaded(*modules: str) -> set[str]:
    """The modules that are there after importing these, in a fresh interpreter."""
    lines = [f"import {module}" for module in modules]
    program = "\n".join([*lines, "import sys, json", "print(json.dumps(sorted(sys.modules)))"])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


@pytest.mark.parametrize(
    "module",
    [
        "aisle.scan.decoder",
        "aisle.scan.resolve",
        "aisle.jobs",
        "aisle.session.session",
        "aisle.tui.app",
        "aisle.cli.app",
        "aisle.cli.web_session",
    ],
)
def test_a_session_has_no_network_and_no_models(module: str) -> None:
    of_asyncio = {"ssl"} if module in ("aisle.tui.app", "aisle.cli.app") else set()
    assert not loaded(module) & set(NETWORK) - of_asyncio


@pytest.mark.parametrize("module", ["aisle.jobs", "aisle.session.session", "aisle.service.in_process_service"])
def test_only_tui_imports_textual_and_rich(module: str) -> None:
    assert not loaded(module) & {"textual", "rich"}


@pytest.mark.parametrize("module", ["aisle.courier.leader", "aisle.client.transport"])
def test_the_network_side_knows_no_screen(module: str) -> None:
    assert "textual" not in loaded(module)


def test_a_session_does_not_read_gs1_codes_before_it_meets_one() -> None:
    assert "biip" not in loaded("aisle.session.session", "aisle.tui.app")


def test_courier_without_embedded_service_imports_no_service_or_models() -> None:
    service = {"uvicorn", "starlette", "pydantic", "pydantic_core"}
    assert not loaded("aisle.courier.leader", "aisle.client.transport", "aisle.cli.sync") & service


def test_standby_courier_has_not_imported_work_modules() -> None:
    work = {"asyncio", "ssl", "apsw", "httpx", "logging", "aisle.client", "aisle.courier.courier", "aisle.jobs"}
    assert not loaded("aisle.cli.commands", "aisle.cli.courier") & work
    assert not loaded("aisle.cli.sync", "aisle.courier.leader") & {"httpx", "httpcore", "anyio"}


def test_one_module_alone_speaks_http() -> None:
    source = Path(aisle.__file__).parent
    names = {str(path.relative_to(source)): _imported(path) for path in source.rglob("*.py")}
    assert [file for file, modules in names.items() if "httpx" in modules] == ["client/transport.py"]


def test_no_two_files_know_each_other() -> None:
    source = Path(aisle.__file__).parent.parent
    files = {".".join(path.relative_to(source).with_suffix("").parts): path for path in source.rglob("aisle/**/*.py")}
    knows = {name: _named(path) & set(files) - {name} for name, path in files.items()}
    order = list(TopologicalSorter(knows).static_order())  # says so where there is none
    assert order.index("aisle.jobs.job") < order.index("aisle.jobs.supervisor.unconfirmed")
    assert order.index("aisle.session.apply_input") < order.index("aisle.session.session")


@cache
def _import_statements(path: Path) -> list[ast.Import | ast.ImportFrom]:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]


def _named(path: Path) -> set[str]:
    """The modules that a file names in what it imports from, also where that is for its types alone."""
    found: set[str] = set()
    for node in _import_statements(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.update({node.module, *(f"{node.module}.{alias.name}" for alias in node.names)})
    return found


def _imported(path: Path) -> set[str]:
    """The packages that a file imports anywhere in it."""
    found: set[str] = set()
    for node in _import_statements(path):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif node.module:
            found.add(node.module.partition(".")[0])
    return found
