"""A shop from CSV files: read strictly, sent through the service's own interface (`aisle load`)."""

from aisle.client.load.report import BadRow, FileReport, LoadError, LoadReport, Progress
from aisle.client.load.send import load

__all__ = ["BadRow", "FileReport", "LoadError", "LoadReport", "Progress", "load"]
