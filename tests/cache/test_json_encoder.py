"""JSON columns of the cache are encoded as by the standard library."""

import json
from collections.abc import Callable
from decimal import Decimal
from json import encoder as library
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aisle.cache.field_parsing import json_encoder

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.decimals(allow_nan=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def as_text(value: object) -> object:
    if isinstance(value, Decimal):
        return str(value)
    raise ValueError(f"{type(value).__name__} is no JSON")


ENCODE = json_encoder(as_text)


def another(monkeypatch: pytest.MonkeyPatch) -> Callable[[object], str]:
    """As a Python without that part of the library has it."""
    monkeypatch.setattr(library, "c_make_encoder", None)
    return json_encoder(as_text)


@given(VALUES)
def test_it_is_what_the_library_writes(value: Any) -> None:
    assert ENCODE(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=as_text)


@pytest.mark.parametrize("value", ['é\ud800\0"\\\n', {"a": [1.5, None, True, Decimal("0.1")]}, [], {}, 10**40])
def test_so_it_is_with_any_python(monkeypatch: pytest.MonkeyPatch, value: Any) -> None:
    assert ENCODE(value) == another(monkeypatch)(value)


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(ValueError, match="set is no JSON"):
        ENCODE({"a": [set()]})
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(RecursionError):
        ENCODE(deep)
