"""Read and write the settings of a league, the file league.yaml in its folder."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from arena.entries.entry import Entry
from arena.entries.spec import HERE, Here
from arena.errors import InputError, naming
from arena.files import read_file
from arena.lanes.limits import Limits
from arena.store.folder import write_text
from arena.tournament.config_keys import (
    MAX_FAULTS,
    MOST_SEED,
    Positive,
    Seed,
    Width,
    converted,
    told,
)
from arena.tournament.tournament import Tournament
from arena.tournament.yaml_text import MOST_BYTES, explain, parse
from engine import Rules
from engine.errors import RulesError

NAME: Final = "league.yaml"
PANEL: Final = ("uniform", "greedy", "city_hunter", "majority", "denier", "timing")
"""The default panel of a league: fast bots of known Elo."""

_DAY: Final = 86_400  # seconds


def _within(low: float, high: float, description: str) -> Meta:
    """Return the bounds of a key's number, and what it means."""
    return Meta(ge=low, le=high, description=description)


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of a league: the rules of its game, limits of bots, and pairs to play."""

    seed: Annotated[Seed, told("seed")] = 0
    rules: Annotated[dict[str, Any], told("rules")] = {}
    lane: Annotated[Here, told("lane")] = "jail"
    limits: Annotated[Limits, told("limits")] = Limits(decision=2.0, latency=0.0)
    panel: Annotated[
        tuple[str, ...],
        Meta(min_length=1, max_length=100, description="Bots of the arena that fix the scale."),
    ] = PANEL
    round_pairs: Annotated[int, _within(10, 1_000_000, "About so many pairs in a round.")] = 300
    bot_seconds: Annotated[
        float, Meta(gt=0, le=_DAY, description="About so many seconds a bot thinks in a round.")
    ] = 120.0
    target: Annotated[
        Width, Meta(description="Elo points within which every rating is to be known.")
    ] = 15.0
    max_faults: Annotated[
        Positive, Meta(description="A version with so many faults is suspended.")
    ] = MAX_FAULTS
    a_day: Annotated[int, _within(1, 1_000_000, "Submissions of one owner in a day, at most.")] = 20
    most_megabytes: Annotated[int, _within(1, 64, "MB of a submission, at most.")] = 16
    check_games: Annotated[
        int, _within(4, 1_000, "Games in each lane in which a submission is checked.")
    ] = 10
    check_seconds: Annotated[
        float, _within(10, _DAY, "Seconds of processor time of a bot in its check.")
    ] = 60.0

    def game_rules(self) -> Rules:
        """Return the rules with the league's changes; raises RulesError."""
        return Rules.from_changes(self.rules)

    def tournament(
        self, name: str, seed: int, pairs: int, entries: Sequence[Entry], **more: Any
    ) -> Tournament:
        """Return a tournament with the rules and the limits of the league."""
        limits = self.limits, self.max_faults
        return Tournament(name, seed, pairs, entries, self.game_rules(), *limits, **more)


_KEYS: Final = {"": Settings.__struct_fields__, "limits": Limits.__struct_fields__}
_CHOICES: Final = {"lane": HERE}

_HEAD: Final = """\
# A league of bots; the reference says what each key means (keys of configs).
# seed, rules, lane, limits, max_faults and panel decide its games: they stay as they are.
# The seed is secret: a bot that knows it can compute the deals.
"""


def write_settings(folder: Path, settings: Settings) -> None:
    """Write the file of a new league; raises InputError if it cannot be written."""
    values = msgspec.to_builtins(settings) | {"limits": settings.limits.changes()}
    lines = [f"{name}: {json.dumps(value)}\n" for name, value in values.items()]
    write_text(folder / NAME, _HEAD + "".join(lines))


def read_settings(folder: Path) -> Settings:
    """Return the settings of the league in a folder.

    Raises InputError, which names the file and the place of the error in it.
    """
    path = folder / NAME
    if not os.path.isfile(path):
        raise InputError(f"{folder}: no league there; `arena league new {folder}` makes one")
    try:
        data = parse(read_file(path, MOST_BYTES))
        return check_settings({} if data is None else data)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def new_settings(data: Mapping[str, Any]) -> Settings:
    """Convert plain data to the settings of a new league, by default with a secret seed.

    Raises InputError.
    """
    return check_settings({"seed": secrets.randbelow(MOST_SEED + 1), **data})


def check_settings(data: Any) -> Settings:
    """Convert plain data to settings; raises InputError, which names the place of the error."""
    try:
        settings = converted(data, Settings)
        settings.game_rules()
    except msgspec.ValidationError as error:
        raise InputError(explain(str(error), data, _KEYS, _CHOICES)) from None
    except RulesError as error:
        raise InputError(f"rules: {error}") from None
    if len({*settings.panel}) < len(settings.panel):
        raise InputError("panel: a bot is named twice")
    return settings


def make_folder(folder: Path, mode: int = 0o700) -> Path:
    """Make a folder of a league if it is missing, by default readable only by its owner; return it.

    Raises InputError.
    """
    with naming(f"{folder}: cannot be a folder", OSError):
        folder.mkdir(mode, exist_ok=True)
    return folder
