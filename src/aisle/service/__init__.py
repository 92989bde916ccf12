"""The other side of the contract, served over SQLite."""
