"""Find a config by its path or its name, and parse its text strictly."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from arena.entries.bot_files import MAINS
from arena.entries.resolve import installed
from arena.errors import InputError, advise, arena_command
from arena.tournament.config_keys import advise_whole
from engine.errors import show, show_start

MOST_BYTES: Final = 1 << 18
"""The most bytes of a config: enough for 1000 bots (100 KB), and parsed within a second."""

MOST_VALUES: Final = 10_000
MOST_DEPTH: Final = 50
MOST_DIGITS: Final = 1000  # parsing a number takes time quadratic in its digits

_OTHER_BASE = re.compile(r"[-+]?0[0-9_]|.*:")  # YAML 1.1 reads 010 as 8, and 1:03 as 63
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_CONSTRUCTOR_ERRORS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def parse(content: bytes) -> Any:
    """Return the data of a YAML text.

    Raises InputError, whose message begins with the line and the column if they are known.
    """
    try:
        return yaml.load(content, _StrictLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        reason = (error.problem or error.context or "").removeprefix("but ")
        raise InputError(f"{place}{reason}") from None
    except (yaml.YAMLError, RecursionError, *_CONSTRUCTOR_ERRORS) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"not YAML: {reason}, in {show_start(content)}") from None


class Lines(dict[Any, Any]):
    """A mapping that stores for each key its line in the text, from 1."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[str, int] = {}


class Items(list[Any]):
    """A list that stores for each value its line in the text, from 1."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[int] = []


class _StrictLoader(yaml.SafeLoader):
    """A safe loader that refuses aliases, duplicate keys and texts with too many values.

    Values are counted before they are constructed.
    """

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self.values = 0
        self.depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        mark = event.start_mark
        self.values += 1
        self.depth += 1
        if isinstance(event, yaml.AliasEvent):
            raise _refusal("an alias; write what it stands for", mark)
        if self.depth > MOST_DEPTH:
            raise _refusal(f"nested deeper than {MOST_DEPTH} levels", mark)
        if self.values > MOST_VALUES:
            raise _refusal(f"more than {MOST_VALUES:,} values", mark)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def compose_scalar_node(self, anchor: dict[Any, yaml.Node]) -> yaml.ScalarNode:
        node = super().compose_scalar_node(anchor)
        if node.tag in _NUMBERS and len(node.value) > MOST_DIGITS:
            raise _refusal(f"a number of more than {MOST_DIGITS:,} digits", node.start_mark)
        if node.tag in _NUMBERS and _OTHER_BASE.match(node.value):
            raise _refusal(
                f"{node.value}: a number in another base; write it as 1000", node.start_mark
            )
        if "\0" in node.value or not _is_encodable(node.value):
            raise _refusal("a text with a NUL or half a surrogate pair", node.start_mark)
        return node

    def compose_mapping_node(self, anchor: dict[Any, yaml.Node]) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        keys = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _refusal("unhashable: a key must be a text", key.start_mark)
            if key.value in keys:
                raise _refusal(f"key {key.value!r} is given twice", key.start_mark)
            keys.add(key.value)
        return node


def _make_mapping(loader: _StrictLoader, node: yaml.MappingNode) -> Iterator[Lines]:
    data = Lines()
    yield data
    data.update(loader.construct_mapping(node))
    data.lines = {key.value: key.start_mark.line + 1 for key, _ in node.value}


def _make_list(loader: _StrictLoader, node: yaml.SequenceNode) -> Iterator[Items]:
    data = Items()
    yield data
    data.extend(loader.construct_sequence(node))
    data.lines = [item.start_mark.line + 1 for item in node.value]


def _refusal(problem: str, mark: yaml.Mark) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, problem, mark)


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _refuse(_loader: yaml.SafeLoader, node: yaml.Node) -> object:
    name = node.tag.rpartition(":")[2]
    raise _refusal(f"YAML tag !!{name} is not supported", node.start_mark)


_StrictLoader.add_constructor("tag:yaml.org,2002:map", _make_mapping)
_StrictLoader.add_constructor("tag:yaml.org,2002:seq", _make_list)
for _tag in ("set", "omap", "pairs", "binary"):
    _StrictLoader.add_constructor(f"tag:yaml.org,2002:{_tag}", _refuse)


_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`", re.DOTALL)
_ENUM = re.compile(r"Invalid enum value (.*)", re.DOTALL)
_WORDS = {"object": "mapping", "array": "list"}
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


def explain(
    message: str, data: Any, keys: Mapping[str, Sequence[str]], choices: Mapping[str, Sequence[str]]
) -> str:
    """Convert msgspec's "what - at `$.place`" to "place: what".

    `keys` are the allowed keys by place, and `choices` the allowed texts by key; in these places,
    the numbers of list items are omitted.

    >>> explain("Expected `int`, got `array` - at `$.pairs`", {}, {}, {})
    'pairs: expected `int`, got `list`'
    >>> explain("Object contains unknown field `piars`", {}, {"": ["pairs", "seed"]}, {})
    "unknown key 'piars'; did you mean 'pairs'?"
    """
    what, _, place = message.partition(" - at ")
    place = place.replace("`", "").replace("$.", "").replace("$[", "[").removeprefix("$")
    general = re.sub(r"\[\d+\]", "", place)
    steps = _find_steps(place)
    if match := _UNKNOWN.fullmatch(what):
        what = unknown_key(match[1], keys.get(general, ()))
        steps.append(match[1])
    elif match := _MISSING.fullmatch(what):
        what = f"key {match[1]!r} is missing"
    elif match := _ENUM.fullmatch(what):
        what = f"{match[1]} is not one of {', '.join(choices[general.rpartition('.')[2]])}"
    elif " matching regex " in what:
        wanted = ", ".join(choices[general.rpartition(".")[2]])
        what = f"{show(_find(data, steps)[0])} is not one of {wanted}"
    else:
        what = re.sub(r"\b(object|array)\b", lambda word: _WORDS[word[0]], what)
        what = what[0].lower() + what[1:] + _describe_value(what, _find(data, steps)[0])
        steps = steps or [what.partition(":")[0]]
    place = place.replace("$", "the config")
    return line_of(data, steps) + (f"{place}: {what}" if place else what)


def _describe_value(what: str, value: Any) -> str:
    """Describe a value of a wrong type, with a suggestion if a number is wanted."""
    if ", got `" not in what or not isinstance(value, str | int | float):
        return ""
    advice = f"; {advise_whole(value)}" if what.startswith("Expected `int`") else ""
    return f": {show(value)}{advice}"


def unknown_key(key: str, known: Sequence[str]) -> str:
    """Return the message for an unknown key, with the similar key that may be meant."""
    if advice := advise(f"key {key}"):
        return advice
    near = difflib.get_close_matches(key, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    return f"unknown key {show(key)}; {hint}"


def line_of(data: Any, steps: Sequence[str | int]) -> str:
    """Return text such as "line 3: " for a place in the data, given by the steps to it.

    If the place has no known line, it is the line of the nearest place around it, else "".
    """
    line = _find(data, steps)[1]
    return f"line {line}: " if line else ""


def _find(data: Any, steps: Sequence[str | int]) -> tuple[Any, int]:
    """Return the value at the end of the steps, and its line in the text, 0 if unknown."""
    line = 0
    for step in steps:
        try:
            if isinstance(data, Lines | Items):
                line = data.lines[step]  # type: ignore[index]
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None, line
    return data, line


def _find_steps(place: str) -> list[str | int]:
    """Split a place into its keys and numbers.

    >>> _find_steps("bots[1].params")
    ['bots', 1, 'params']
    """
    found = _STEP.findall(place.removeprefix("key in "))
    return [int(number) if number else key for key, number in found]


_RUN = ("manifest.json", "run.sqlite")
"""Files that mark the folder of a run; the first is also valid as a config."""


def explain_no_config(path: Path) -> str:
    """Explain what a path contains instead of a config, with the command that was meant.

    The text is empty if the path may be a config.
    """
    if path.is_dir():
        bot = any((path / name).is_file() for name in MAINS)
        return _play(f"{path}/") if bot else "is a directory; a config is a YAML file"
    if path.suffix == ".py":
        return _play(str(path))
    if path.suffix == ".jsonl":
        return f"game records, not a config; to judge them: {arena_command('replay', [path])}"
    manifest = path.with_name(_RUN[0])
    if path.name != _RUN[0] and path.with_name(_RUN[1]).is_file() and manifest.is_file():
        command = arena_command("run", [manifest], ["--out", "FOLDER"])
        return f"a file of a run, not a config; to play the run again: {command}"
    return ""


def explain_no_name(word: str) -> str:
    """Explain a word that is not the name of a config, with the command that was meant."""
    if word in dict(installed()):
        return f"a bot, not a config; to play it: arena play {word} OPPONENT"
    for ending in (".yaml", ".yml"):
        if os.path.isfile(word + ending):
            return f"no such file, and no config has this name; did you mean {word}{ending}?"
    return ""


def _play(target: str) -> str:
    spec = target if "/" in target.rstrip("/") else f"./{target}"
    return f"a bot, not a config; to play it: {arena_command('play', [spec, 'greedy'])}"


FOLDER: Final = Path(__file__).parents[1] / "configs"


def shipped() -> list[str]:
    """Return the names of the configs that come with the arena, sorted.

    >>> shipped()
    ['ladder', 'long', 'quickstart', 'search']
    """
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def find_config(path: Path) -> Path:
    """Return the path of a config: a file, or the name of a config that comes with the arena.

    An existing file takes precedence. Raises InputError for a single word that is neither.

    >>> find_config(Path("quickstart")).name
    'quickstart.yaml'
    """
    word = str(path)
    is_word = path.name == word and not path.suffix
    if not is_word or (os.path.lexists(path) and not path.is_dir()):
        return path
    if word in shipped():
        return FOLDER / f"{word}.yaml"
    if path.is_dir():
        return path
    if why := explain_no_name(word):
        raise InputError(f"{word}: {why}")
    names = ", ".join(shipped())
    raise InputError(f"{word}: no such file, and no config has this name; there are {names}")
