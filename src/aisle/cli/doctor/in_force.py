"""The settings in force for this store and device, each with where it comes from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from aisle.cli.doctor.report import Finding
from aisle.settings import Loaded, Settings, terminal_name
from aisle.text import clean, width

DEFAULT = "default"


def print_settings(loaded: Loaded, findings: Sequence[Finding], *, as_json: bool) -> None:
    """A line a key: its value, and the file with its section, the variable, the command line or the default."""
    rows = {name: (_value(name, loaded.settings), loaded.sources.get(name, DEFAULT)) for name in Settings._fields}
    if as_json:
        said = {name: {"value": value, "from": source} for name, (value, source) in rows.items()}
        print(json.dumps({"settings": said, "wrong": [finding.what for finding in findings]}, indent=1, default=_plain))
        return
    print(clean(f"Store {loaded.settings.store}, terminal {terminal_name(loaded.settings)}"))
    shown = [(name, clean(_text(value)), clean(source)) for name, (value, source) in rows.items()]
    widths = [max(width(row[column]) for row in shown) for column in (0, 1)]
    for name, value, source in shown:
        print(f"{name:{widths[0]}}  {value}{' ' * (min(40, widths[1]) - width(value))}  {source}")
    for finding in findings:
        print(clean(f"wrong: {finding.what}"))


def _value(name: str, settings: Settings) -> Any:
    """A value as it may be shown: whatever could be a secret is not."""
    value = getattr(settings, name)
    if name == "token_header" and value != Settings._field_defaults[name]:
        return "(set)"
    if name == "base_url" and "@" in value:
        parts = urlsplit(value)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    return value


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return " | ".join(value) or "-"
    return str(value) or "-"


def _plain(value: object) -> object:
    return float(value) if isinstance(value, Decimal) else str(value)
