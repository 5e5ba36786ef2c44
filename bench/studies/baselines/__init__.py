"""Baselines: algorithms for games with hidden information, on small variants that are solved."""
