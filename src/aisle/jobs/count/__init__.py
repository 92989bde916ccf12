"""Counting places and products, the day's log, losses and finds."""
