"""Describe what is to be played: configs, pairings, the order of games, and stopping rules.

Only data and decisions live here; nothing here starts a process or writes a file.
"""
