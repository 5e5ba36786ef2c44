"""Tests of `arena.insight`."""
