"""What is done with a tournament: run it, play a game of it again, verify it, vary it."""
