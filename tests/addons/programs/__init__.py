"""Tests of programs that are built."""
