"""The program that runs a Python bot in a process of its own.

It speaks the protocol of docs/protocol.md on standard input and output; `hello` names the folder
of the bot's files. It plays several games at once, so that one read brings many views. It uses the
standard library only.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from random import Random
from typing import Any

from arena.entries.loader import checked_strategy, find_parameter_error, load_bot
from arena.lanes.evidence import MOST_OUTPUT, Output, write_all
from engine.cards import CHARS, pack_of
from engine.notation import parse_actions, parse_cards
from engine.rules import Rules
from engine.state import checked
from engine.strategy import Clock, Setup, Strategy, checked_chance, close
from engine.thoughts import said_thoughts
from engine.view import View

GAMES = 64
_READ = 1 << 16
_OF_GAME = ("choose", "chance", "thoughts")  # messages of a game that has begun
_MOST_BARE = 10_000  # characters of output that was not settled; as JSON they fit into a line
_HOLD_BACK = 0.001  # seconds that an answer may wait for the next one

_pack = lru_cache(4096)(lambda text: pack_of(parse_cards(text)))
_actions = lru_cache(4096)(lambda text: tuple(parse_actions(text)))
_decode = json.JSONDecoder().raw_decode  # json.loads first detects the encoding and skips spaces
_encode = json.JSONEncoder(separators=(",", ":")).encode

Message = dict[str, Any]


class Game:
    """One game of the bot: its strategy, its clock and its output so far."""

    def __init__(self, message: Message) -> None:
        self.clock = Clock(message["seconds_per_decision"], message["seconds_per_game"])
        self.message = message
        self.strategy: Strategy | None = None
        self.view: View | None = None  # the view of the last choice
        self.output = ""


class Host:
    """Answers the arena's messages for one bot."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self.bot: Callable[..., Strategy]
        self.params_text = "{}"
        self.rules: Rules
        self.games: dict[int, Game] = {}

    def answer(self, message: Message) -> Message:
        """Return the answer to a message, without its id."""
        kind = message["type"]
        game = self.games.get(message.get("game", -1))
        if kind not in _OF_GAME:
            self.games.pop(message.get("game", -1), None)
            self.output.take()  # output after a game is not evidence for another one
        try:
            if kind == "end" and game is not None and game.strategy is not None:
                close(game.strategy)
            if kind in _OF_GAME and game is not None:
                return self._go_on(game, message)
            if kind == "new":
                return self._new(message)
            if kind == "hello":
                return self._hello(message)
        except BaseException as error:  # a bot may raise anything, SystemExit too
            return self.report(error, "import" if kind == "hello" else "exception", game)
        return {}

    def _hello(self, message: Message) -> Message:
        self.rules = Rules.from_changes(message["rules"])
        bot = message["python"]
        own = [bot["folder"]] if bot["folder"] else []  # for `importlib.import_module` and pickles
        sys.path += [folder for folder in [*bot["path"], *own] if folder not in sys.path]
        self.params_text = bot["params"]
        self.bot = load_bot(bot["module"], bot["filename"], bot["file"], bot["folder"])
        if bot["check"] and (error := find_parameter_error(self.bot, self.params())):
            return {"kind": "params", "error": error}
        self.output.take()  # the output of an import is not evidence for a game
        return {"ready": True, "games": GAMES}

    def _new(self, message: Message) -> Message:
        game = self.games[message["game"]] = Game(message)
        setup = Setup(Random(int(message["seed"], 16)), message["seat"], self.rules, game.clock)
        game.clock.start()
        game.strategy = checked_strategy(self.bot(setup, **self.params()))
        self._keep_output(game)
        return {}

    def params(self) -> dict[str, Any]:
        """Return the parameters, anew for each game: the bot may change a list among them."""
        if self.params_text == "{}":  # the parser takes 9 ms of the start
            return {}
        import ast

        params: dict[str, Any] = ast.literal_eval(self.params_text)
        return params

    def _go_on(self, game: Game, message: Message) -> Message:
        assert game.strategy is not None
        if message["type"] == "thoughts":
            assert game.view is not None
            return {"thoughts": said_thoughts(game.strategy, game.view)}
        game.view = view = self._view(message)
        if message["type"] == "chance":
            return {"chance": checked_chance(game.strategy, view)}
        game.clock.start(message["seconds_left"])  # for the bot: the arena has its own clock
        action = game.strategy.choose(view)
        self._keep_output(game)
        if type(action) is not int or action not in view.legal:
            action = checked(action, view.legal, len(view.history))
        return {"action": CHARS[action]}

    def _keep_output(self, game: Game) -> None:
        if self.output.kept:
            game.output = (game.output + self.output.take())[-MOST_OUTPUT:]

    def _view(self, message: Message) -> View:
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

    def report(self, error: BaseException, kind: str, game: Game | None = None) -> Message:
        """Return the answer that reports an exception of the bot's code.

        What describes it is imported now, as few bots fail: their processes start 5 ms sooner.
        """
        output = (game.output if game else "") + self.output.take()
        try:
            from arena.lanes.faults import forfeit_from

            fault = forfeit_from(error, output, kind).fault
        except BaseException:  # the bot has left too little memory, or too few open files
            name = type(error).__name__
            if isinstance(error, MemoryError):
                kind, name = "memory", MemoryError.__name__
            return {"kind": kind, "error": name, "output": output[-_MOST_BARE:]}
        return {
            "kind": fault.kind,
            "error": fault.message,
            "traceback": fault.traceback,
            "output": fault.output,
        }


def serve(host: Host, read: int, write: int) -> None:
    """Answer messages until the input ends; answer those read in one block in one write."""
    data = os.read(read, _READ)
    rest = b""
    while data:
        lines = (rest + data).split(b"\n")
        rest = lines.pop()
        answers = ""
        written = time.perf_counter()
        for line in lines:
            message, _ = _decode(line.decode())
            answers += _encode({"id": message["id"], **host.answer(message)}) + "\n"
            now = time.perf_counter()
            if now - written > _HOLD_BACK:
                write_all(write, answers.encode())
                answers, written = "", now
        write_all(write, answers.encode())
        data = os.read(read, _READ)


def main(host_type: type[Host] = Host) -> None:
    """Reserve the protocol's pipes for the host; redirect the bot's output to standard error."""
    read, write = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    output = Output(2)
    output.capture()
    serve(host_type(output), read, write)
