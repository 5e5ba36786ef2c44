"""Describe tournaments: configs, pairings, the order of games, and stopping rules.

This room holds only data and decisions; nothing here starts a process or writes a file.
"""
