"""Config: one tournament as YAML, read strictly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import yaml
from msgspec import Meta

from arena.entries.entry import Entry, load
from arena.errors import InputError
from arena.lanes.limits import Limits
from arena.tournament.tournament import MAX_FAULTS, MOST_PAIRS, MOST_WORKERS
from engine import Rules
from engine.errors import RulesError

_MOST_SEED = 2**63 - 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

_CONSTRUCTOR_ERRORS = (ValueError, TypeError, LookupError, AttributeError)  # of PyYAML's own

Seed = Annotated[int, Meta(ge=0, le=_MOST_SEED)]
Positive = Annotated[int, Meta(ge=1)]
Pairs = Annotated[int, Meta(ge=1, le=MOST_PAIRS)]
Workers = Annotated[int, Meta(ge=1, le=MOST_WORKERS)]
Lane = Literal["inproc", "process", "jail"]


class BotEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One bot of a tournament: its spec, and what sets it apart."""

    bot: str
    label: str | None = None
    params: dict[str, Any] = {}
    lane: Lane | None = None


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One tournament: every two bots play `pairs` deals twice, seats swapped."""

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
    data = _parsed(path)
    if data is None:
        raise InputError(f"{path}: the file is empty")
    try:
        config = msgspec.convert(data, Config)
        config.game_rules()
    except msgspec.ValidationError as error:
        raise InputError(f"{path}: {_placed(str(error))}") from None
    except RulesError as error:
        raise InputError(f"{path}: rules: {error}") from None
    except RecursionError:
        raise InputError(f"{path}: nested too deep") from None
    given = isinstance(data, dict) and "name" in data
    name = config.name if given else path.stem
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{path}: name: {name!r} cannot name a folder; use letters, digits and . _ -"
        )
    return msgspec.structs.replace(config, name=name)


def entries(config: Config, more: Sequence[str] = (), lane: str | None = None) -> list[Entry]:
    """Return the config's bots, and then the bots of some more specs.

    A bot's lane is this one; where there is none, its own; where it has none, the config's.
    Raises InputError, which names the place of a bot that cannot be found.
    """
    loaded = []
    for index, entry in enumerate(config.bots):
        if isinstance(entry, str):
            entry = BotEntry(entry)
        try:
            used = lane or entry.lane or config.lane
            loaded.append(load(entry.bot, entry.label, entry.params, used))
        except InputError as error:
            raise InputError(f"bots[{index}]: {error}") from None
    return loaded + [load(spec, lane=lane or config.lane) for spec in more]


def _parsed(path: Path) -> object:
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


def _placed(message: str) -> str:
    """Turn msgspec's "what - at `$.place`" into "place: what".

    >>> _placed("Expected `int`, got `str` - at `$.pairs`")
    'pairs: expected `int`, got `str`'
    """
    what, _, place = message.partition(" - at ")
    what = what[0].lower() + what[1:]
    place = place.replace("`", "").replace("$.", "").replace("$[", "[").removeprefix("$")
    place = place.replace("$", "the config")
    return f"{place}: {what}" if place else what


class _StrictLoader(yaml.SafeLoader):
    """A safe loader that also refuses a key given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, "unhashable: a key must be a text", key.start_mark
                )
            if key.tag != "tag:yaml.org,2002:merge" and key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key.value!r} is given twice", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _refused(_loader: yaml.SafeLoader, node: yaml.Node) -> object:
    raise yaml.constructor.ConstructorError(
        None, None, f"{node.tag.rpartition(':')[2]} is not used here", node.start_mark
    )


for _tag in ("set", "omap", "pairs", "binary"):
    _StrictLoader.add_constructor(f"tag:yaml.org,2002:{_tag}", _refused)
