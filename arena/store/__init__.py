"""What is kept of a run: run.sqlite, the folder, and files with a row a game. Plays nothing."""
