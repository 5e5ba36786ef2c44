"""Play one game between two bots, each in this process, in its own process, or in a sandbox."""
