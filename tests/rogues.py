"""Bots that break the protocol, as source text: opponents for the referee."""

from __future__ import annotations

from pathlib import Path

ROGUES = {
    "raises": "    def choose(self, view, /):\n        raise ValueError('boom')",
    "exits": "    def choose(self, view, /):\n        raise SystemExit(3)",
    "interrupts": "    def choose(self, view, /):\n        raise KeyboardInterrupt",
    "plays_99": "    def choose(self, view, /):\n        return 99",
    "plays_a_text": "    def choose(self, view, /):\n        return 'T'",
    "plays_none": "    def choose(self, view, /):\n        return None",
    "plays_a_float": "    def choose(self, view, /):\n        return float(view.legal[0])",
    "plays_a_chameleon": (
        "    def choose(self, view, /):\n"
        "        class Chameleon:\n"
        "            def __eq__(self, other): return True\n"
        "            def __hash__(self): return 0\n"
        "            def __index__(self): return 99\n"
        "        return Chameleon()"
    ),
    "unspeakable": (
        "    def choose(self, view, /):\n"
        "        class Odd(Exception):\n"
        "            def __str__(self): raise RuntimeError('no words')\n"
        "        raise Odd"
    ),
    "odd_syntax": (
        "    def choose(self, view, /):\n"
        "        raise SyntaxError('bad move', ('notation', 1, 'a', '5T'))"
    ),
    "illegal_and_unspeakable": (
        "    def choose(self, view, /):\n"
        "        from engine import IllegalAction\n"
        "        class Mine(IllegalAction):\n"
        "            def __str__(self): raise SystemExit(0)\n"
        "        raise Mine('x', 3)"
    ),
    "untouchable": (
        "    def choose(self, view, /):\n"
        "        class Odd(Exception):\n"
        "            def __getattribute__(self, name): raise SystemExit(0)\n"
        "        raise Odd"
    ),
    "shouts": "    def choose(self, view, /):\n        raise ValueError('\\x1b' + 'x' * 10**6)",
    "recurses": "    def choose(self, view, /):\n        return self.choose(view)",
    "chooses_nothing": "    pass",
}
ILLEGAL = {name for name in ROGUES if name.startswith("plays_")}


def write(folder: Path, name: str, body: str, init: str = "pass") -> Path:
    """Write a bot of this name with this class body, and return its file."""
    path = folder / f"{name}.py"
    path.write_text(
        f"class Rogue:\n    def __init__(self, setup):\n        {init}\n\n{body}\n\nbot = Rogue\n"
    )
    return path
