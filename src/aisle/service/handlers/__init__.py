"""Handlers of the operations: each validates a request's meaning, calls the domain and writes the answer.

They get an `OperationCall` and return JSON bytes; they must not know the HTTP request or the database engine. Start
reading at `registry`, which maps every operation to its handler, then `order_update` and `stock_reads`.
"""
