"""Blocks above each other in a given number of rows: what matters most gets room first, blank lines come last."""

from __future__ import annotations

from collections.abc import Sequence

from aisle.tui.screens.painted import Line
from aisle.tuples import NamedTuple

GAP = -1
"""In an order: the blank line before the block."""


class Block(NamedTuple):
    """One block in several sizes, small first. It is absent until the order gives it one."""

    sizes: tuple[list[Line], ...]


def stack(blocks: Sequence[Block], order: Sequence[tuple[int, int]], rows: int) -> list[Line]:
    """The blocks from top to bottom in at most `rows` lines.

    `order` names (block, size) pairs, or (block, GAP), most important first; each is granted if it still fits.
    """
    granted: dict[int, list[Line]] = {}
    gaps: set[int] = set()
    left = rows
    for index, size in order:
        sizes = blocks[index].sizes
        if size == GAP:
            above = any(granted.get(other) for other in range(index))
            if left > 0 and above and granted.get(index) and index not in gaps:
                gaps.add(index)
                left -= 1
        elif size < len(sizes):
            more = len(sizes[size]) - len(granted.get(index, ()))
            if 0 <= more <= left:
                granted[index] = sizes[size]
                left -= more
    lines: list[Line] = []
    for index in range(len(blocks)):
        if index in gaps:
            lines.append([])
        lines.extend(granted.get(index, ()))
    return lines
