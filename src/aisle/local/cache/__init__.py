"""cache.db: its tables, its one writer, and rows of answers as rows of it."""
