"""Leagues: bots that are submitted at any time, play in rounds for good, and are rated together.

It knows no command line and prints nothing.
"""
