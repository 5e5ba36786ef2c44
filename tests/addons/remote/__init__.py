"""Bots that live elsewhere."""
