"""What every HTML page of the arena has: a policy without network, styles, and the scripts."""
