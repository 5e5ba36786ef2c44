"""A person's record against each strength, and what it says of the person's Elo."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arena.entries.catalogue import STRENGTHS
from arena.table.own_games import Tally, count_games, describe_rating, read_games, suggest
from engine import STANDARD, Record, to_text
from engine.state import State
from tests.records.games import random_record

CITY = "C" * 3
"""What the hunter plays first."""


def a_game(number: int, **more: Any) -> str:
    """Return the line of a whole game of the person in seat 0 against greedy, on a deal of its own.

    The result is that of the game itself.
    """
    from random import Random

    record = random_record(Random(number))
    facts = {
        "bots": ["human", "greedy"],
        "opponent": {"label": "greedy", "bot": "greedy", "params": {}, "lane": "process"},
    }
    return record.to_json(**facts | more)
