"""Tokens, PINs and the stores that a caller may use.

It must not know HTTP; it raises `Refusal`. Start reading at `tokens_and_authorization`, then `statement_scope`.
"""
