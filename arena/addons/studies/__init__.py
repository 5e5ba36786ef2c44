"""Studies of a bot or of the rules: tune, analyse, ablate, restrict, and interventions."""
