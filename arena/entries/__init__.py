"""Find bots: parse the text that names one, read its source, and hash it. Plays no game."""
