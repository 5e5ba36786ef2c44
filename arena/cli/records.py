"""Records."""

COMMANDS = []
