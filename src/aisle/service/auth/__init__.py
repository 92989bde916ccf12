"""Tokens, PINs and the stores that a caller may use.

It must not know HTTP; it raises `Refusal`. Start reading at `authorization`, then `tokens_and_pins`.
"""
