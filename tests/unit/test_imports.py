"""Imports of modules when they run, and names of modules; lint-imports checks the static contracts."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import aisle
from aisle.cache.queries import MODULE_BY_QUERY, find_query
from aisle.jobs import JOBS

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


def test_each_job_loads() -> None:
    assert {name: job.name for name, job in JOBS.items()} == {name: name for name in JOBS}


def test_each_query_is_in_its_module() -> None:
    modules = {name: find_query(name).read.__module__ for name in MODULE_BY_QUERY}
    assert modules == {name: f"aisle.cache.{module}" for name, module in MODULE_BY_QUERY.items()}


SERVICE = ("uvicorn", "starlette", "pydantic", "pydantic_core")
WORK = ("asyncio", "ssl", "apsw", "httpx", "logging", "aisle.client", "aisle.courier.courier", "aisle.jobs")
"""What a courier that waits for its turn has not imported."""


UNUSED_AT_A_START = (
    "aisle.cache.order_writer",
    "aisle.cache.delivery_writer",
    "aisle.cache.chain_store_queries",
    "aisle.cache.unconfirmed_operation_queries",
    "aisle.contract.operations",
    "aisle.jobs.count.count_state",
    "aisle.jobs.shell.customer_comments",
    "aisle.jobs.row_types.orders",
    "aisle.jobs.row_types.products",
    "aisle.jobs.supervisor.exception_decisions",
    "aisle.tui.layout.chart_view",
    "aisle.tui.layout.list_table",
    "aisle.tui.layout.missing_data",
)
"""What a start that resumes a pick has not imported."""


@pytest.mark.parametrize(
    ("modules", "absent"),
    [
        (
            ("aisle.scan.decoder", "aisle.scan.resolve", "aisle.jobs", "aisle.session.session"),
            {*NETWORK, "textual", "rich", "biip"},
        ),
        (("aisle.cli.web_session",), {*NETWORK}),
        (("aisle.tui.app", "aisle.cli.open_app"), {*NETWORK, "biip"} - {"ssl"}),  # asyncio brings it
        (
            ("aisle.tui.app", "aisle.cli.open_app", "aisle.jobs.pick.job", "aisle.cache.order_queries"),
            {*UNUSED_AT_A_START},
        ),
        (("aisle.service.open_service_and_admin_token",), {"textual", "rich"}),
        (("aisle.courier.leader_process", "aisle.client.transport", "aisle.cli.sync"), {*SERVICE, "textual"}),
        (("aisle.cli.commands", "aisle.cli.courier"), {*WORK}),
        (("aisle.cli.sync", "aisle.courier.leader_process"), {"httpx", "httpcore", "anyio"}),
        (("aisle.cache.exception_queries",), {"aisle.cache.product_and_stock_writer", "aisle.cache.writer"}),
    ],
    ids=["session", "browser", "screen", "start", "service", "courier", "waiting courier", "sync", "query"],
)
def test_what_is_imported_brings_nothing_of_other_rooms(modules: tuple[str, ...], absent: set[str]) -> None:
    assert not loaded(*modules) & absent


def test_one_module_alone_speaks_http() -> None:
    source = Path(aisle.__file__).parent
    named = [path for path in source.rglob("*.py") if "httpx" in path.read_text(encoding="utf-8")]
    assert [str(path.relative_to(source)) for path in named if "httpx" in _imported(path)] == ["client/transport.py"]


def test_no_two_files_know_each_other() -> None:
    source = Path(aisle.__file__).parent.parent
    files = {".".join(path.relative_to(source).with_suffix("").parts): path for path in source.rglob("aisle/**/*.py")}
    knows = {name: _named(path) & set(files) - {name} for name, path in files.items()}
    order = list(TopologicalSorter(knows).static_order())  # says so where there is none
    assert order.index("aisle.jobs.job") < order.index("aisle.jobs.supervisor.unconfirmed")
    assert order.index("aisle.session.apply_input") < order.index("aisle.session.session")


def test_docstrings_name_modules_that_exist() -> None:
    source = Path(aisle.__file__).parent
    paths = {path.relative_to(source.parent).as_posix(): path for path in source.rglob("*.py")}
    modules = {name.removesuffix(".py").removesuffix("/__init__") for name in paths}
    unknown = []
    for name, path in paths.items():
        others = path.parent.glob("*.py") if path.name == "__init__.py" else ()
        package = "\n".join(other.read_text(encoding="utf-8") for other in others)
        for text in _docstrings(path):
            for named in re.findall(r"`([A-Za-z_][\w./]*)`", text):
                if not _is_known(named, modules, package):
                    unknown.append((name, named))
    assert not unknown


@cache
def tree(path: Path) -> ast.Module:
    """What a file says; each is parsed once in a process."""
    return ast.parse(path.read_text(encoding="utf-8"))


def _statements(path: Path) -> Iterator[ast.AST]:
    """Yield the statements of a file, also those inside others; expressions hold none."""
    waiting: list[ast.AST] = [tree(path)]
    while waiting:
        node = waiting.pop()
        yield node
        for field in ("body", "orelse", "handlers", "finalbody", "cases"):
            if isinstance(inner := getattr(node, field, None), list):
                waiting += inner


def _docstrings(path: Path) -> Iterator[str]:
    """Yield all texts that stand alone in a file, also those after a field."""
    for node in _statements(path):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


def _is_known(named: str, modules: set[str], package: str) -> bool:
    """Return False if a text seems to name a module and there is none.

    The docstring of a package names its own modules. `_n` at the end of a name stands for a number.
    """
    if named.endswith(".py"):
        return any(f"/{module}.py".endswith(f"/{named}") for module in modules)
    if named.startswith("aisle."):
        parts = named.replace(".", "/")
        return parts in modules or parts.rpartition("/")[0] in modules
    if package and "_" in named and named.islower() and "." not in named and not named.endswith("_n"):
        return any(each.endswith(f"/{named}") for each in modules) or bool(re.search(rf"(?<!`)\b{named}\b", package))
    return True


def _import_statements(path: Path) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield them, also those inside functions."""
    for node in _statements(path):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node


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


def test_no_name_of_a_module_is_assigned_twice() -> None:
    for file in Path(aisle.__file__).parent.rglob("*.py"):
        body = tree(file).body
        targets = [target for node in body if isinstance(node, ast.Assign) for target in node.targets]
        names = [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
        assert len(names) == len(set(names)), f"{file}: {[name for name in names if names.count(name) > 1]}"
