"""From a text to a bot: its spec, its source, its identity. Nothing is played here."""
