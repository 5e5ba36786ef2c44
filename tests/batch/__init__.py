"""Tests of `arena.batch`."""
