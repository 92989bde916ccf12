"""What the program is built on: nothing with a known hole, nothing newer than what its internals were tried with."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONSTRAINTS = ROOT / ".ci" / "constraints.txt"

SAFE = {"aiohttp": "3.12.14", "starlette": "0.49.1", "h11": "0.16"}
"""The first versions without the holes that are known."""
INTERNALS = ("textual", "uvicorn", "websockets", "h11", "httpx", "prometheus-client")
"""Whose classes are subclassed, or whose inner names are used: a next minor version may have others."""


def required(*extras: str) -> dict[str, Requirement]:
    """All that the program or one of these extras names, by name."""
    texts = [*PROJECT["dependencies"], *(text for extra in extras for text in PROJECT["optional-dependencies"][extra])]
    found = [Requirement(text) for text in texts]
    return {canonicalize_name(one.name): one for one in found if one.name != "aisle"}


RUN = required("web", "postgres", "test")


@pytest.mark.parametrize("name", SAFE)
def test_no_version_with_a_known_hole_is_taken(name: str) -> None:
    below = [f"{SAFE[name]}.dev0", "0.1"]
    assert not any(RUN[name].specifier.contains(version, prereleases=True) for version in below)


@pytest.mark.parametrize("name", INTERNALS)
def test_whose_internals_are_used_has_an_upper_bound(name: str) -> None:
    assert not RUN[name].specifier.contains("9999")
    major, minor, *_ = (*pinned()[name].release, 0)
    following = f"{major + 1}.0" if major else f"0.{minor + 1}"
    assert not RUN[name].specifier.contains(following)


def pinned() -> dict[str, Version]:
    """The versions that CI takes."""
    lines = [line for line in CONSTRAINTS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {canonicalize_name(name): Version(version) for name, version in (line.split("==") for line in lines)}


def test_ci_takes_versions_that_are_named_and_none_by_an_address() -> None:
    text = CONSTRAINTS.read_text(encoding="utf-8")
    assert not re.search(r"://|@|^-|/|\\", text.partition("\n")[2], re.MULTILINE)
    assert "-c .ci/constraints.txt" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_all_that_is_named_is_pinned_within_its_bounds() -> None:
    versions = pinned()
    named = required("web", "postgres", "test", "dev")
    for name, wanted in named.items():
        assert name in versions, name
        assert wanted.specifier.contains(versions[name]), name
