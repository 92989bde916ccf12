"""A shop from CSV files: read strictly, sent through the service's own interface (`aisle load`)."""

from aisle.client.load.report import BadRow, FileReport, LoadError, LoadProgress, LoadReport
from aisle.client.load.sender import load

__all__ = ["BadRow", "FileReport", "LoadError", "LoadProgress", "LoadReport", "load"]
