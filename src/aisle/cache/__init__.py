"""This host's SQLite: cache.db (disposable) and outbox.db (precious)."""

from __future__ import annotations
