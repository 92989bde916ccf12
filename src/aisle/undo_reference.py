"""Reference by which a log entry names the entry that it undoes."""

from __future__ import annotations

UNDO_PREFIX = "undo-"
"""Prefix of such a reference; the service's number of the entry, or its time, follows."""
