"""Which role may do what, beyond what the table of handlers says of whole operations."""

from __future__ import annotations

from aisle.service.answers import Refusal
from aisle.service.context import Context, Role


def require(ctx: Context, *roles: Role) -> None:
    """Raises Refusal (403) unless the token has one of these roles."""
    if ctx.principal.role not in roles:
        raise Refusal(403, f"This needs a token with the role {' or '.join(roles)}.")
