"""aisle: a terminal program for store staff."""

__version__ = "0.1.0"
