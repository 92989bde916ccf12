"""A chain of any size, and its pages weighed: `python -m tests.grow`."""
