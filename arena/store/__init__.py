"""Store a run: run.sqlite, its folder, and files with a row for each game. Plays nothing."""
