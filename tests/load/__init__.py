"""Tests of the load from CSV files."""
