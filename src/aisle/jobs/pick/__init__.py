"""Picking: a round over one order or twenty, the walk that gathers them, and what is short."""
