"""Schema of the service, for SQLite and PostgreSQL (`schema.sql`). A released schema changes by a new migration."""

from __future__ import annotations

import re
from pathlib import Path

# Substrings of a product's texts; each engine has this index in its own form (`text_search`).
PRODUCT_SEARCH_INDEX = "CREATE INDEX product_gram ON product (search)"


def _read_statements(name: str) -> tuple[str, ...]:
    text = re.sub(r"^--.*\n", "", Path(__file__).with_name(name).read_text("utf-8"), flags=re.MULTILINE)
    return tuple(statement.strip() for statement in text.split(";\n") if statement.strip())


MIGRATIONS: tuple[tuple[str, ...], ...] = ((*_read_statements("schema.sql"), PRODUCT_SEARCH_INDEX),)
"""Statements of each version of the schema; a released one is never changed."""

# Tables whose rows are short and read by their whole key.
WITHOUT_ROWID_TABLES = frozenset(
    {"counter", "product_code", "balance", "line_origin", "last_count", "change", "token_store"}
)
