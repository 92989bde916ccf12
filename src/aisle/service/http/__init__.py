"""The HTTP side of the service: routing, requests, limits and responses."""
