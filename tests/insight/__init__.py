"""Tests of `arena.tables`."""
