"""Jobs of supervisors: orders, exceptions, log, clearance, stores, products, deliveries and figures of the day.

Each module is one page or a few pages over a list. They import the other jobs; no job of the floor imports them, and
like all jobs they know no database or network. Start with `orders.py` (list; its columns in `orders_view.py`)
and `order.py` (detail).
"""

from __future__ import annotations
