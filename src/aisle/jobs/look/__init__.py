"""Looks in the middle of anything: a product, a place."""
