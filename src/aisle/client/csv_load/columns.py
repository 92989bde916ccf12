"""Columns of the files, and the objects in cells of a JSON column, whose fields are read like columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any, NamedTuple

from aisle.client.csv_load import clean_cells_by_column_kind as kinds
from aisle.client.csv_load.clean_cells import fold_code
from aisle.client.csv_load.local_number_and_date_notation import Notation
from aisle.client.csv_load.parse_cleaned_cells import Parser, parse_boolean, parse_number, parse_objects, parse_text
from aisle.client.paging import Row

REMOVABLE_PRICES = frozenset({"old_price", "discount_price", "promotion_price", "special_price"})
"""Prices that 0 takes away."""

CODE_TEXTS = frozenset({"margin_category", "general_ledger", "cost_center"})
"""Texts that are short codes, most of them."""


class Column(NamedTuple):
    """Column that a file may have. `parse` raises ValueError with the reason; it is not called for an empty cell.

    `kind` determines how its cells are cleaned before that (`clean_cells_by_column_kind.CLEANERS`).
    """

    name: str
    parse: Parser
    required: bool = False
    kind: str = kinds.TEXT
    fields: Mapping[str, Column] = MappingProxyType({})
    """Fields of the objects of a JSON column, by name."""

    @property
    def is_code(self) -> bool:
        """True if each cell is the code or number of something."""
        return self.kind in (kinds.CODE, kinds.DOTTED_CODE) or self.name in CODE_TEXTS

    def empty_value(self, cell: str) -> Any:
        """Return the value that deletes the present one. Raise ValueError if the interface has none."""
        if self.name in REMOVABLE_PRICES:
            return 0
        if self.required:
            raise ValueError(f"is {cell}, but every row needs it")
        if self.kind in (kinds.LIST, kinds.NUMBERS, kinds.JSON):
            return []
        if self.kind in (kinds.NUMBER, kinds.WHOLE, kinds.MONEY, kinds.POOL, kinds.FLAG):
            raise ValueError(f"is {cell}, and a figure or flag cannot be emptied; write the value that it is to have")
        return ""


def parse_fields(cell: str, fields: Mapping[str, Column], unique: str = "") -> list[Row]:
    """Parse a JSON array of objects, each text of which is written as the column of its name would store it.

    Raise ValueError for other or missing fields, and if two objects have one value of the field `unique`.
    """
    found = parse_objects(cell)
    seen: set[str] = set()
    for at, one in enumerate(found, 1):
        for name in (*one, *(field.name for field in fields.values() if field.required)):
            _check_field(fields, name, one.get(name), at)
        if (value := one.get(unique)) and (key := fold_code(value)) in seen:
            raise ValueError(f"has the {unique} {value!r} twice; keep one of them")
        seen |= {key} if value else set()
    return found


def _check_field(fields: Mapping[str, Column], name: str, value: Any, at: int) -> None:
    """Raise ValueError if an object, by its number, can have no such field, or not with this value."""
    field = fields.get(name)
    if field is None or (field.required and value in (None, "")):
        problem = f"has an unknown field {name}" if field is None else f"lacks {name}"
        known = ", ".join(f"{one} (needed)" if fields[one].required else one for one in fields)
        raise ValueError(f"{problem} in object {at}; the fields of an object are {known}")
    try:
        _check_value(field, value)
    except ValueError as error:
        raise ValueError(f"in object {at}: {name} {error}") from None


def _check_value(field: Column, value: Any) -> None:
    kind, wanted = _JSON_TYPES.get(field.parse, (str, 'a text, in quotes: "…"'))
    if value is None or value == "":
        return
    if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
        raise ValueError(f"is {json.dumps(value, default=float)}; write {wanted}")
    if isinstance(value, str):
        cleaned = kinds.CLEANERS[field.kind](parse_text(value), Notation())
        if cleaned.further_codes:
            raise ValueError(f"has several codes ({value}); write one code")
        if cleaned.value != value:
            raise ValueError(f"is {value!r}; {f'write {cleaned.value}' if cleaned.value else 'leave it out'}")
        field.parse(value)


_JSON_TYPES: dict[Parser, tuple[Any, str]] = {
    parse_number: ((int, Decimal), "a number, without quotes"),
    parse_boolean: (bool, "true or false, without quotes"),
}
"""Types of the values of objects, by the parser of a column of their name, with words for them; others are texts."""
