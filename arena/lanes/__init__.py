"""A bot's process: how it is started, confined, spoken to, killed and cleaned up after.

A lane knows one bot and its messages. Games and tournaments are above it.
"""
