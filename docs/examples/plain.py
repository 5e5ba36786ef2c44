"""A plain bot in Python: takes when the row is good, and plays its cards at random.

    arena play 'cmd:python3 docs/examples/plain.py' uniform

It needs only the standard library, and shows how to keep the luck of games apart: every game
has a generator of its own, made from the game's seed. So the same game is always played the
same way, whatever games are played before it or beside it.
"""

import json
import random
import sys
import traceback

WORTH = {"5": 1, "6": 1, "7": 1, "8": 1, "2": 2, "3": 3, "4": 4, "x": -1, "y": -2, "z": -3, "C": 1}
GOOD_ENOUGH = 4

games: dict[int, random.Random] = {}
"""The generators of the games in play, by the number that the arena gives each game."""


def choose(view: dict, rng: random.Random) -> str:
    """Return the take if it is good or the only action, else a random card of the hand."""
    legal = view["legal"]
    if "T" in legal:
        brings = sum(WORTH[card] for card in view["row"][-5:])
        if brings >= GOOD_ENOUGH or legal == "T":
            return "T"
    return rng.choice(legal.replace("T", ""))


def reply(message: dict) -> dict:
    """Return the answer to a message without its id."""
    match message["type"]:
        case "hello":
            return {"ready": True, "games": 16}
        case "new":
            games[message["game"]] = random.Random(message["seed"])
        case "choose":
            return {"action": choose(message, games[message["game"]])}
        case "end":
            games.pop(message["game"], None)
    return {}


def answer(line: bytes) -> dict:
    """Return the answer to one line; an error costs only this game."""
    number = None
    try:
        message = json.loads(line)
        number = message["id"]
        return {"id": number} | reply(message)
    except Exception as error:
        return {"id": number, "error": repr(error), "traceback": traceback.format_exc()}


for line in sys.stdin.buffer:  # bytes: UTF-8 whatever the locale, and lines end only at \n
    print(json.dumps(answer(line)), flush=True)
