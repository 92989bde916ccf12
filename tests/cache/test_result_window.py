"""Windows along an index, merged with pending rows."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from aisle.cache.row_values import SortKey, read_merged_window


@pytest.mark.parametrize("seed", range(20))
def test_a_window_is_that_of_the_whole_list_and_no_more_is_read(seed: int) -> None:
    chance = random.Random(seed)
    numbers = chance.sample(range(60), 30)
    kept = sorted((number,) for number in numbers[: chance.randrange(31)])
    extra = sorted((number,) for number in numbers[len(kept) :][: chance.randrange(6)])
    read: list[int] = []

    def along(from_end: bool, count: int, skip: int) -> Sequence[SortKey]:
        read.append(count)
        return (kept[::-1] if from_end else kept)[skip : skip + count]

    whole = sorted([*kept, *extra])
    for first in range(len(whole) + 3):
        for size in (0, 1, 7, 40):
            assert read_merged_window(along, len(kept), extra, first, size) == whole[first : first + size]
            assert all(count <= size + len(extra) for count in read)
            read.clear()
