"""What is done with a tournament: run it, play a game of it again, verify it, try its bots."""
