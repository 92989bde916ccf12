"""The interface as code: one table of operations, wire names, models."""
