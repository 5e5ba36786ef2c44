"""Tests of `arena.differences`."""
