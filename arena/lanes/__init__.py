"""Lanes: how a bot is executed: `inproc`, `process` or `jail`."""

LANES = ("inproc", "process", "jail")
