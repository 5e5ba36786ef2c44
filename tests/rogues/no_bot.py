"""Binds no `bot`."""
