"""Jobs of supervisors: orders, exceptions, log, clearance, stores, products, deliveries and figures of the day.

Each module is one page or a few pages over a list. They import the other jobs; jobs of the floor import only
`order_rows` and `service_fields_and_values`. Like all jobs they know no database or network. Start with
`stores.py` (list, details, question) and `order_board.py` (its columns in `order_rows.py`).
"""

from __future__ import annotations
