"""Tokens, PINs and the stores that a caller may use.

It must not know HTTP; it raises `Refusal`. Start reading at `authorization` and `tokens`, then `statement_scope`.
"""
