"""The supervisor's pages: orders, exceptions, doubts, logs, today, clearance."""
