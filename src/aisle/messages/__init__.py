"""Messages that people read, one module a topic and language, and their loader."""
