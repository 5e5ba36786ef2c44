"""Play one game between two bots, each in this process, in its own, or in a sandbox."""
