"""Host: the program around a Python bot in a process of its own.

It speaks the protocol of docs/protocol.md on standard input and output, with the bot's
source in `hello`. It holds several games at once, so that one read brings many views.
Standard library only.
"""

from __future__ import annotations

import ast
import base64
import json
import os
import sys
import time
from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

_ROOT = str(Path(__file__).resolve().parent.parent.parent)
if _ROOT not in sys.path:
    sys.path.append(_ROOT)

from arena.entries import source  # noqa: E402
from arena.lanes import faults  # noqa: E402
from arena.lanes.output import Printed, write_all  # noqa: E402
from engine.cards import CHARS, pack_of  # noqa: E402
from engine.notation import parse_actions, parse_cards  # noqa: E402
from engine.rules import Rules  # noqa: E402
from engine.state import checked  # noqa: E402
from engine.strategy import Clock, Setup, Strategy  # noqa: E402
from engine.view import View  # noqa: E402

GAMES = 16
_HOLD_BACK = 0.001  # seconds that an answer may wait for the next one

_pack = lru_cache(4096)(lambda text: pack_of(parse_cards(text)))
_actions = lru_cache(4096)(lambda text: tuple(parse_actions(text)))


class Game:
    """One game of the bot: its strategy and clock, and what it printed so far."""

    def __init__(self, message: dict[str, Any]) -> None:
        self.clock = Clock(message["seconds_per_decision"], message["seconds_per_game"])
        self.message = message
        self.strategy: Strategy | None = None
        self.output = ""


class Host:
    """Answers the arena's messages for one bot."""

    def __init__(self, printed: Printed) -> None:
        self.printed = printed
        self.bot: Callable[..., Strategy]
        self.params: dict[str, Any] = {}
        self.rules: Rules
        self.games: dict[int, Game] = {}

    def answer(self, message: dict[str, Any]) -> str:
        """Return the answer to a message, all but its id, as the inside of a JSON object."""
        kind = message["type"]
        if kind != "choose":
            self.games.pop(message.get("game", -1), None)
        game = self.games.get(message.get("game", -1))
        try:
            if kind == "choose" and game is not None:
                return self._choose(game, message)
            if kind == "new":
                return self._new(message)
            if kind == "hello":
                return self._hello(message)
        except BaseException as error:  # a bot may raise anything, SystemExit too
            return self.error(error, "import" if kind == "hello" else "exception", game)
        return ""

    def _hello(self, message: dict[str, Any]) -> str:
        self.rules = Rules.from_changes(message["rules"])
        bot = message["python"]
        sys.path += [folder for folder in bot["path"] if folder not in sys.path]
        code = None if bot["source"] is None else base64.b64decode(bot["source"])
        self.bot = source.bound(bot["module"], bot["filename"], code)
        self.params = ast.literal_eval(bot["params"])
        if bot["check"]:
            from arena.entries.signature import problem

            said = problem(self.bot, self.params)
            if said:
                return f'"kind":"params","error":{json.dumps(said)}'
        return f'"ready":true,"games":{GAMES}'

    def _new(self, message: dict[str, Any]) -> str:
        game = self.games[message["game"]] = Game(message)
        setup = Setup(Random(int(message["seed"], 16)), message["seat"], self.rules, game.clock)
        game.clock.start()
        game.strategy = self.bot(setup, **deepcopy(self.params))
        return self._done(game)

    def _choose(self, game: Game, message: dict[str, Any]) -> str:
        view = self._view(message)
        assert game.strategy is not None
        game.clock.start()
        action = game.strategy.choose(view)
        done = self._done(game)
        if type(action) is not int or action not in view.legal:
            action = checked(action, view.legal, len(view.history))
        return f'{done},"action":"{CHARS[action]}"'

    def _done(self, game: Game) -> str:
        seconds, in_time = game.clock.stop()
        game.output = (game.output + self.printed.taken())[-faults.MOST_OUTPUT :]
        if not in_time:
            raise faults.late(game.clock, game.output)
        return f'"seconds":{seconds:.9f}'

    def _view(self, message: dict[str, Any]) -> View:
        piles = message["piles"]
        return View(
            message["seat"],
            _actions(message["legal"]),
            _pack(message["hand"]),
            parse_cards(message["row"]),
            (_pack(piles[0]), _pack(piles[1])),
            tuple(message["taken"]),
            parse_actions(message["history"]),
            parse_cards(message["opening"]),
            self.rules,
        )

    def error(self, error: BaseException, kind: str, game: Game | None = None) -> str:
        """Return what is answered where the bot has raised this."""
        output = (game.output if game else "") + self.printed.taken()
        told = faults.raised(error, output, kind)
        return json.dumps(
            {
                "kind": told.kind,
                "error": told.message,
                "traceback": told.traceback,
                "output": told.output,
            }
        )[1:-1]


def serve(host: Host, read: int, write: int) -> None:
    """Answer messages until there are no more; what came together is answered together."""
    rest = b""
    while data := os.read(read, 1 << 16):
        lines = (rest + data).split(b"\n")
        rest = lines.pop()
        said = ""
        written = time.perf_counter()
        for line in lines:
            message = json.loads(line)
            answer = host.answer(message)
            said += f'{{"id":{message["id"]}{"," if answer else ""}{answer}}}\n'
            now = time.perf_counter()
            if now - written > _HOLD_BACK:
                write_all(write, said.encode())
                said, written = "", now
        write_all(write, said.encode())


def main(kind: type[Host] = Host) -> None:
    """Keep the protocol's pipes to ourselves, and give the bot standard error for output."""
    read, write = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    printed = Printed(2)
    printed.stand_in()
    serve(kind(printed), read, write)


if __name__ == "__main__":
    main()
