"""Config: one tournament as YAML, read strictly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import yaml
from msgspec import Meta

from arena.entries.entry import Entry
from arena.entries.lane import Lane
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.lanes.limits import Limits
from arena.tournament.bounds import MAX_FAULTS, MOST_PAIRS, MOST_SEED, MOST_WORKERS
from engine import Rules
from engine.errors import RulesError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

_CONSTRUCTOR_ERRORS = (ValueError, TypeError, LookupError, AttributeError)  # of PyYAML's own

Seed = Annotated[int, Meta(ge=0, le=MOST_SEED)]
Positive = Annotated[int, Meta(ge=1)]
Pairs = Annotated[int, Meta(ge=1, le=MOST_PAIRS)]
Workers = Annotated[int, Meta(ge=1, le=MOST_WORKERS)]


class BotEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One bot of a tournament: its spec, and what tells it apart."""

    bot: str
    label: str | None = None
    params: dict[str, Any] = {}
    lane: Lane | None = None
    needs: list[str] = []


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One tournament: every two bots play `pairs` deals twice, with the seats swapped."""

    bots: list[str | BotEntry]
    pairs: Pairs
    seed: Seed = 0
    name: str = ""
    workers: Workers | None = None
    rules: dict[str, Any] = {}
    lane: Lane | None = None
    limits: Limits = Limits()
    max_faults: Positive = MAX_FAULTS

    def game_rules(self) -> Rules:
        """Return the rules with the config's changes.

        Raises RulesError.
        """
        return Rules.from_changes(self.rules)


def read(path: Path) -> Config:
    """Return the config of a YAML file; its name is the file's stem unless it gives one.

    Raises InputError, which names the file and the place in it.
    """
    data = _parse(path)
    if data is None:
        raise InputError(f"{path}: the file is empty")
    try:
        config = msgspec.convert(data, Config)
        config.game_rules()
    except msgspec.ValidationError as error:
        raise InputError(f"{path}: {_place_first(str(error))}") from None
    except RulesError as error:
        raise InputError(f"{path}: rules: {error}") from None
    except RecursionError:
        raise InputError(f"{path}: nested too deep") from None
    has_name = isinstance(data, dict) and "name" in data
    name = config.name if has_name else path.stem
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{path}: name: {name!r} cannot name a folder; use letters, digits and . _ -"
        )
    return msgspec.structs.replace(config, name=name)


def resolve_bots(config: Config, more: Sequence[str] = (), lane: str | None = None) -> list[Entry]:
    """Return the config's bots, and then the bots of some more specs.

    A bot's lane is the one passed here, or else its own, or else the config's. Raises
    InputError, which names the place of a bot that cannot be found.
    """
    entries = []
    for index, bot in enumerate(config.bots):
        if isinstance(bot, str):
            bot = BotEntry(bot)
        try:
            lane_of_bot = lane or bot.lane or config.lane
            entries.append(resolve(bot.bot, bot.label, bot.params, lane_of_bot, bot.needs))
        except InputError as error:
            raise InputError(f"bots[{index}]: {error}") from None
    return entries + [resolve(spec, lane=lane or config.lane) for spec in more]


def _parse(path: Path) -> object:
    try:
        return yaml.load(path.read_bytes(), _StrictLoader)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f" line {mark.line + 1}, column {mark.column + 1}:" if mark else ""
        raise InputError(f"{path}:{place} {error.problem or error.context}") from None
    except (yaml.YAMLError, RecursionError, *_CONSTRUCTOR_ERRORS) as error:
        raise InputError(f"{path}: not YAML: {' '.join(str(error).split())}") from None


def _place_first(message: str) -> str:
    """Turn msgspec's "what - at `$.place`" into "place: what".

    >>> _place_first("Expected `int`, got `str` - at `$.pairs`")
    'pairs: expected `int`, got `str`'
    """
    what, _, place = message.partition(" - at ")
    what = what[0].lower() + what[1:]
    place = place.replace("`", "").replace("$.", "").replace("$[", "[").removeprefix("$")
    place = place.replace("$", "the config")
    return f"{place}: {what}" if place else what


class _StrictLoader(yaml.SafeLoader):
    """A safe loader that also refuses a duplicate key."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, "unhashable: a key must be a text", key.start_mark
                )
            if key.tag != "tag:yaml.org,2002:merge" and key.value in keys:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key.value!r} is given twice", key.start_mark
                )
            keys.add(key.value)
        return super().construct_mapping(node, deep)


def _refuse(_loader: yaml.SafeLoader, node: yaml.Node) -> object:
    name = node.tag.rpartition(":")[2]
    raise yaml.constructor.ConstructorError(
        None, None, f"YAML tag !!{name} is not supported", node.start_mark
    )


for _tag in ("set", "omap", "pairs", "binary"):
    _StrictLoader.add_constructor(f"tag:yaml.org,2002:{_tag}", _refuse)
