"""A bot with a helper and a file of data, for the tests of folders and packed files."""

from __future__ import annotations

from pathlib import Path

BOT = '''"""Plays the action that stands first in its data."""

import pkgutil

import helper
from nets import deep


class Learned:
    def __init__(self, setup, fail: bool = False):
        self.order = pkgutil.get_data(__name__, "order.txt")
        self.deep = deep.ORDER
        self.fail = fail

    def choose(self, view, /):
        if self.fail:
            helper.fail()
        return min(view.legal, key=self.order.index)


bot = Learned
'''
HELPER = "def fail():\n    raise ValueError('helpless')\n"
DEEP = 'import pkgutil\n\nORDER = pkgutil.get_data(__name__, "order.txt")\n'
ORDER = bytes(range(12))
DEEP_ORDER = bytes(range(12)[::-1])


def write_learned(folder: Path) -> Path:
    """Write the bot to a new folder, and return the folder."""
    (folder / "nets").mkdir(parents=True)
    (folder / "bot.py").write_text(BOT)
    (folder / "helper.py").write_text(HELPER)
    (folder / "order.txt").write_bytes(ORDER)
    (folder / "nets" / "deep.py").write_text(DEEP)
    (folder / "nets" / "order.txt").write_bytes(DEEP_ORDER)
    return folder
