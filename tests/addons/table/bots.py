"""Bots for games at the table: sources of files."""

HOSTILE = "<b onclick>'&amp;\""
"""A label that is no markup."""

LOWEST = """
class Lowest:
    def __init__(self, setup):
        pass

    def choose(self, view):
        return view.legal[0]

bot = Lowest
"""
BROKEN = LOWEST.replace("view.legal[0]", "print('<noise>') or 1 / 0")
SLEEPER = f"import time\n{LOWEST.replace('return', 'time.sleep(600); return')}"
