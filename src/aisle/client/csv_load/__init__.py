"""Load of a shop from CSV files, through the service's own interface (`aisle load`).

It knows the client and the contract, and asks the service only through `Client`. Start reading at `sender.load`.
`csv_table` reads a file (`csv_dialect`, `number_and_date_notation`, `cell_cleaning`, `bad_rows`), `columns` defines its
columns, `records` makes bodies of its rows, `conflicts_with_service` compares them with the service, `report` has the
texts.
"""

from aisle.client.csv_load.report import BadRow, FileReport, LoadError, LoadProgress, LoadReport
from aisle.client.csv_load.sender import load

__all__ = ["BadRow", "FileReport", "LoadError", "LoadProgress", "LoadReport", "load"]
