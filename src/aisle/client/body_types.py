"""Types of bodies of typed calls: the type of the contract, or other data that is sent unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TypeAlias, TypeVar

from aisle.contract.models import RequestBody

R = TypeVar("R", bound=RequestBody)

Body: TypeAlias = Mapping[str, object] | R
Items: TypeAlias = Sequence[Mapping[str, object] | R]
QueryNumber: TypeAlias = int | float | Decimal
