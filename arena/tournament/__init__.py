"""What is to be played: configs, pairings, fixtures, chunks, and forfeits by rule.

Only data and decisions live here; nothing here starts a process or writes a file.
"""
