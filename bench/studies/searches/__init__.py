"""Searches for good parameters: those that `arena tune` has to beat. A module is a kind of search.

Each is a function of a landscape, a budget in pairs and luck, and returns the setting that it
recommends. It sees of a landscape only what `play` returns.
"""
