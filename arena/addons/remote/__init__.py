"""Bots that live elsewhere: the client that asks a server over HTTP, and a server of any bot.

A server is a stranger. What it sends is bounded in size and time, and no redirect is followed.
"""
