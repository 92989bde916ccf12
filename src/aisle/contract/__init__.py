"""The interface as data: its operations, their encoding, models of its resources, and types of its bodies.

It imports nothing else of aisle but errors; client and service both use it. Start reading at `operations`
(the table of all 29 operations), then `wire` (paths, queries, bodies) and `models` (pydantic, loaded on use).
"""
