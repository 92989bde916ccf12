"""How an entry of the log says which one it takes back."""

from __future__ import annotations

UNDO_PREFIX = "undo-"
"""A reference that begins so names the entry that it takes back: by the service's number, or by its moment."""
