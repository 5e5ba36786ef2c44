"""Ratings, intervals and tests: numbers in, numbers out; no tournament, no files, no processes."""
