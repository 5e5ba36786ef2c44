"""Tests of how games are won."""
