"""HTTP side of the service: routes, requests, middleware, idempotency, limits, logs, metrics and OpenAPI.

It must not know the domain's rules or statements on stock and orders. Start reading at `app`, then `endpoint`, which
runs an operation, and `parameters_and_headers` and `request_body`.
"""
