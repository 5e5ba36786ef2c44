"""Leagues: bots are submitted at any time, play in rounds without end, and share one rating list.

This room does not use the command line and prints nothing.
"""
