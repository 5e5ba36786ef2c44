"""Run a bot in a process of its own: start, confine, ask, kill and clean up after it.

A lane knows one bot and its messages. Games and tournaments are above it.
"""
