"""Load of a shop from CSV files, through the service's own interface (`aisle load`).

It knows the client and the contract, and asks the service only through `Client`. Start reading at `sender.load`.
`file_layouts_and_columns` defines the files and where their records go. `checked_rows` reads a file (`csv_dialect`,
`local_number_and_date_notation`, `cells_of_columns`, `bad_headers_and_rows`), `records` makes bodies of its rows,
`conflicts_with_service` compares them with the service, `counts_sent_once` chooses the counts of stock, and
`report` has the findings and texts.
"""

from aisle.client.csv_load.report import BadRow, FileReport, LoadError, LoadProgress, LoadReport
from aisle.client.csv_load.sender import load

__all__ = ["BadRow", "FileReport", "LoadError", "LoadProgress", "LoadReport", "load"]
