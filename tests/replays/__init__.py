"""Tests of `arena.replays`."""
