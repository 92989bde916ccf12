"""Booking, its undo and a count in between: the stock does not depend on which of them arrives first."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from itertools import permutations
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
