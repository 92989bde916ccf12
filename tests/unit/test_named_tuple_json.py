"""The journal's codec: whatever goes in comes out, whatever it is that outside calls its fields."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aisle.jobs.job import Event, Rows
from aisle.named_tuple_json import from_text, to_text

KEYS = st.sampled_from(["@", "v", "n", "m", "Rows", "id", ""])
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.decimals(allow_nan=False), KEYS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=12,
)


@given(JSON)
def test_rows_of_any_shape_come_back_as_they_were(value: Any) -> None:
    rows = Rows("order", ({"value": value},), 1)
    assert from_text(Event, to_text(rows)) == rows


@given(JSON)
def test_so_does_what_an_operation_says(value: Any) -> None:
    assert from_text(Any, to_text(value)) == value


@pytest.mark.parametrize("text", ['{"@":"n","v":"x"}', '{"@":"n"}', '{"@":"n","v":[]}'])
def test_foreign_journal_text_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="is no number"):
        from_text(Any, text)
