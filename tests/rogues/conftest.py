"""Keeps pytest from importing what does not survive it."""

collect_ignore_glob = ["*.py"]
