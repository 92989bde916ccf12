"""Receiving deliveries, and the list of them."""
