"""OpenAPI document of the service, built from the contract and the extensions.

It must not know how operations run. Start reading at `document`, which reads the JSON files beside it.
"""
