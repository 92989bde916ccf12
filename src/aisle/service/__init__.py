"""Service side of the contract: HTTP, authorization, domain rules and storage, for SQLite and PostgreSQL.

It must not know the client, the courier or any screen. Start reading at `open_service_and_admin_token`, then
`http.app`, `handlers.registry` and `domain`. README.md is for integrators, SERVING.md for operators.
"""
