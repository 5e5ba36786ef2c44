"""Does not bind `bot`."""
