"""Tokens, PINs and the stores that a caller may reach."""
