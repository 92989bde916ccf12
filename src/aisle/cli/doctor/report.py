"""Findings of the doctor, and their output as text or JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from aisle.terminal_text import clean, supports_utf8, to_ascii

OK, NOTE, WRONG = "ok", "note", "wrong"
"""Verdicts: as it should be; worth knowing; not working, or work is in danger."""

_NAME_WIDTH = 9
_MAX_LINE_LENGTH = 300


class Finding(NamedTuple):
    """Finding about one thing."""

    name: str
    verdict: str
    what: str
    why: str = ""
    todo: str = ""
    facts: Mapping[str, object] = {}
    """Machine-readable values."""


def ok(name: str, what: str, **facts: Any) -> Finding:
    """Return a finding that all is well."""
    return Finding(name, OK, what, facts=facts)


def note(name: str, what: str, why: str = "", todo: str = "", **facts: Any) -> Finding:
    """Return a finding that is worth knowing."""
    return Finding(name, NOTE, what, why, todo, facts)


def wrong(name: str, what: str, why: str = "", todo: str = "", **facts: Any) -> Finding:
    """Return a finding that something does not work, or that work is in danger."""
    return Finding(name, WRONG, what, why, todo, facts)


def print_findings(findings: Sequence[Finding], *, as_json: bool) -> None:
    """Print all findings and a summary."""
    if as_json:
        rows = [{**finding._asdict(), "facts": dict(finding.facts)} for finding in findings]
        print(json.dumps({"findings": rows, "verdict": summarize(findings)}, indent=1, default=str))
        return
    for finding in findings:
        _print_line(f"{finding.verdict:5} {finding.name:{_NAME_WIDTH}} {finding.what}")
        for text in (finding.why, finding.todo):
            if text:
                _print_line(f"{'':5} {'':{_NAME_WIDTH}} {text}")
    _print_line("")
    _print_line(summarize(findings))


def summarize(findings: Sequence[Finding]) -> str:
    """Return the summary sentence."""
    names = list(dict.fromkeys(finding.name for finding in findings if finding.verdict == WRONG))
    notes = len({finding.name for finding in findings if finding.verdict == NOTE})
    rest = f" {notes} {'thing is' if notes == 1 else 'things are'} worth knowing." if notes else ""
    if not names:
        return f"All is well.{rest}"
    return f"Something is wrong with: {', '.join(names)}.{rest}"


def _print_line(text: str) -> None:
    shown = clean(text, _MAX_LINE_LENGTH).rstrip()
    print(shown if supports_utf8() else to_ascii(shown))


def format_age(seconds: float) -> str:
    """Return an age in a readable unit."""
    if seconds < 60:
        return f"{max(0, seconds):.0f} s ago"
    minutes = seconds / 60
    if minutes < 60:
        return f"{minutes:.0f} min ago"
    return f"{minutes / 60:.0f} h ago" if minutes < 48 * 60 else f"{minutes / 1440:.0f} days ago"


def format_bytes(count: float) -> str:
    """Return a number of bytes in a readable unit."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def format_count(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun: `1 order`, `2 orders`."""
    return f"{count} {one if count == 1 else many or one + 's'}"
