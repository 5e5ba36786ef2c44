"""Keeps pytest from importing the rogues, some of which end the process."""

collect_ignore_glob = ["*.py"]
