"""What a machine offers the arena: this one, and those of a cluster. Nothing here hangs."""
