"""What is kept of a run: its store, its folder, its files. Nothing is played here."""
