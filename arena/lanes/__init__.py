"""Run a bot in a process of its own: start, confine, ask, kill and clean up after it.

A lane handles one bot and its messages; games and tournaments belong to the rooms above.
"""
