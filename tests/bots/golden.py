"""Golden games: what each of our bots plays against itself, on the first few seeds.

The Elo in the ladder, and the figures of docs and reports, are those of bots that play so. After a
change of a bot that is to change its play, `python -m tests.bots.golden` writes the file again.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from arena.entries.resolve import installed
from engine import play_game

PATH = Path(__file__).with_name("golden.txt")
SEEDS = 3


def play(name: str, seed: int) -> str:
    bot = import_module(f"bots.{name}").bot
    return str(play_game(bot, bot, seed=seed).record.actions)


def read() -> dict[tuple[str, int], str]:
    """Return the actions of the file's games, by bot and seed."""
    rows = (line.split() for line in PATH.read_text(encoding="utf-8").splitlines())
    return {(name, int(seed)): actions for name, seed, actions in rows}


def _lines() -> Iterator[str]:
    for name, _ in installed():
        for seed in range(1, SEEDS + 1):
            yield f"{name} {seed} {play(name, seed)}\n"


if __name__ == "__main__":
    PATH.write_text("".join(_lines()), encoding="utf-8")
