"""The interface as data: its operations, their encoding, the types of request bodies, and the shapes of answers.

It imports nothing else of aisle but errors; client and service both use it. Start reading at `operations` (the tables
of all 29 operations and of our service's own), then `request_encoding` (paths, queries, bodies),
`request_bodies` (types, loaded on use) and `answer_schemas`.
"""
