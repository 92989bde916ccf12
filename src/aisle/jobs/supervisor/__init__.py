"""The stores of the chain, its catalogue, and a product as this store keeps it."""

from __future__ import annotations
