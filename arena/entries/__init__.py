"""Find bots: parse the text that names a bot, read its source, and hash it. Plays no game."""
