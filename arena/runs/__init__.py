"""Run a tournament, play a game of it again, verify it, or vary it."""
