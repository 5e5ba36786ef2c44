"""Studies of a bot or of the rules: tune, analyse and ablate."""
