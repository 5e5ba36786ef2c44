"""Programs that must be built before they play: a build runs once in the jail, and is kept."""
