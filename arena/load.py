"""Load bots: from a spec to something that makes strategies, here and in every worker."""

from __future__ import annotations

import ast
import difflib
import hashlib
import importlib
import importlib.util
import inspect
import json
import pkgutil
import re
import sys
import traceback
import types
import typing
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

import bots
from arena.errors import InputError
from engine import Setup, Strategy

_SPEC = re.compile(r"(?:(?P<label>[^=()/]+)=)?(?P<target>.+?)(?:\((?P<params>.*)\))?", re.DOTALL)
_MOST_LABEL = 60


@dataclass(frozen=True)
class Entry:
    """One bot of a run: a unique label, where its source is, and its parameters.

    It travels to workers as data; `bot` is loaded where it is used. A bot given as a file
    travels with its source, so that every worker plays what was hashed.
    """

    label: str
    target: str
    module: str
    sha256: str
    source: bytes | None = None
    params: dict[str, Any] = field(default_factory=dict)

    @property
    def bot(self) -> Any:
        """The bot: what the module binds to `bot`; loaded once a process."""
        return _bound(self.module, self.target, self.source)

    def strategy(self, setup: Setup) -> Strategy:
        """Return a new strategy for one game; raises whatever the bot raises."""
        params = deepcopy(self.params) if self.params else {}  # a bot may change a list
        strategy: Strategy = self.bot(setup, **params)
        return strategy

    def described(self) -> dict[str, Any]:
        """Return the bot's identity as plain data: label, spec, parameters, sha256."""
        return {
            "label": self.label,
            "bot": self.target,
            "params": self.params,
            "sha256": self.sha256,
        }


def load(spec: str, label: str | None = None, params: dict[str, Any] | None = None) -> Entry:
    """Return the entry of a spec: `name`, `./file.py`, `package.module`, each with `(k=v)`.

    `label=spec` names it. Raises InputError for a bot that cannot be found or imported,
    and for parameters it does not take.
    """
    parts = _SPEC.fullmatch(spec.strip())
    if parts is None:
        raise InputError(f"bot {spec!r}: an empty spec")
    target = parts["target"].strip()
    label = parts["label"] if label is None else label
    params = _parsed_params(spec, parts["params"] or "") | (params or {})
    module, origin = _found(spec, target)
    try:
        source = origin.read_bytes()
    except OSError as error:
        raise InputError(f"bot {spec!r}: {error.strerror or error}") from None
    sha256 = hashlib.sha256(source).hexdigest()
    if not module:
        module = f"_arena_bot_{origin.stem}_{sha256[:12]}"
    entry = Entry(
        label=_default_label(origin.stem, params) if label is None else label,
        target=target,
        module=module,
        sha256=sha256,
        source=source if _is_file(target) else None,
        params=params,
    )
    _check_label(spec, entry.label)
    _check_import(spec, entry)
    _check_params(spec, entry)
    return entry


def check_labels(entries: Iterable[Entry]) -> None:
    """Raise InputError if two bots have one label; bots are counted from 1."""
    seen: dict[str, int] = {}
    for number, entry in enumerate(entries, 1):
        first = seen.setdefault(entry.label, number)
        if first != number:
            raise InputError(
                f"bots {first} and {number} have the same label {entry.label!r}; "
                f"name one of them, as in other={entry.target}"
            )


def installed() -> list[tuple[str, str]]:
    """Return name and first docstring line of every bot in `bots/`, in order of names."""
    return [(name, _first_line(name)) for name in _names()]


def _names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(bots.__path__))


def _first_line(name: str) -> str:
    spec = importlib.util.find_spec(f"bots.{name}")
    try:
        tree = ast.parse(Path(str(spec and spec.origin)).read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        return f"(cannot be read: {error})"
    return (ast.get_docstring(tree) or "").partition("\n")[0]


def _is_file(target: str) -> bool:
    return target.endswith(".py") or "/" in target


def _found(spec: str, target: str) -> tuple[str, Path]:
    """Return the module's name, empty for a file, and where its source is."""
    if _is_file(target):
        return "", Path(target).expanduser()
    if target in _names():
        target = f"bots.{target}"
    elif "." not in target:
        near = difflib.get_close_matches(target, _names(), n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(_names())}"
        raise InputError(f"bot {spec!r}: no bot {target!r} in bots/; {hint}")
    elif str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        found = importlib.util.find_spec(target)
    except Exception as error:  # a package runs its own code here
        raise InputError(f"bot {spec!r}: {_first_line_of(error)}") from None
    if found is None or not found.origin or not found.has_location:
        raise InputError(f"bot {spec!r}: no module {target!r}")
    return target, Path(found.origin)


def _parsed_params(spec: str, text: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"_({text}\n)", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError
        params = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (ValueError, SyntaxError):
        raise InputError(
            f"bot {spec!r}: parameters are written name=value, with plain values: ({text})"
        ) from None
    if "None" in params or len(params) < len(call.keywords):
        raise InputError(f"bot {spec!r}: parameters are written name=value, each once: ({text})")
    return params


def _default_label(stem: str, params: dict[str, Any]) -> str:
    if not params:
        return stem
    return f"{stem}({', '.join(f'{name}={params[name]!r}' for name in sorted(params))})"


def _check_label(spec: str, label: str) -> None:
    if not label.isprintable() or not label or label != label.strip() or len(label) > _MOST_LABEL:
        raise InputError(
            f"bot {spec!r}: the label {label!a} must be 1 to {_MOST_LABEL} printable characters, "
            f"with no space at its ends; give another one, as in label=spec"
        )


def _check_import(spec: str, entry: Entry) -> None:
    try:
        bot = entry.bot
    except InputError as error:
        raise InputError(f"bot {spec!r}: {error}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        why = _first_line_of(error) + _line_of(error)
        raise InputError(f"bot {spec!r}: does not import: {why}") from None
    if not callable(bot):
        raise InputError(f"bot {spec!r}: binds `bot` to {type(bot).__name__}, which makes nothing")


def _first_line_of(error: BaseException) -> str:
    return traceback.format_exception_only(error)[-1].strip().partition("\n")[0]


def _line_of(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, SyntaxError):
        return f" (line {error.lineno})"
    return f" (line {frames[-1].lineno} of {Path(frames[-1].filename).name})"


def _check_params(spec: str, entry: Entry) -> None:
    """Raise InputError for a parameter the bot does not take, or one of another type."""
    _check_plain(spec, entry.params)
    try:
        signature = inspect.signature(entry.bot)
    except (TypeError, ValueError):
        return  # a callable without a signature: the game will show
    takes = list(signature.parameters)[1:]
    try:
        signature.bind(None, **entry.params)
    except TypeError as error:
        known = f"takes {', '.join(takes)}" if takes else "takes no parameters"
        raise InputError(f"bot {spec!r}: {error}; {entry.target} {known}") from None
    _check_types(spec, entry.params, _hints(entry.bot))


def _check_plain(spec: str, params: dict[str, Any]) -> None:
    """Raise InputError for a value that a manifest could not hold."""
    for name, value in params.items():
        try:
            json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
        except (TypeError, ValueError):
            raise InputError(
                f"bot {spec!r}: parameter {name}={value!a}: only numbers, texts, true, false, "
                f"null, and lists and mappings of these"
            ) from None


def _check_types(spec: str, params: dict[str, Any], hints: dict[str, Any]) -> None:
    """Raise InputError for a value that is not of its parameter's annotated type."""
    for name, value in params.items():
        try:
            msgspec.convert(value, hints.get(name, Any))
        except msgspec.ValidationError as error:
            raise InputError(f"bot {spec!r}: parameter {name}={value!r}: {error}") from None
        except TypeError:
            continue  # a type that only the bot understands


def _hints(bot: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(
            inspect.unwrap(bot) if inspect.isfunction(bot) else bot.__init__
        )
    except (NameError, TypeError, AttributeError):
        return {}


@cache
def _bound(module: str, target: str, source: bytes | None) -> Any:
    loaded = (
        importlib.import_module(module) if source is None else _executed(module, target, source)
    )
    if not hasattr(loaded, "bot"):
        raise InputError(f"{target} does not bind `bot`")
    return loaded.bot


def _executed(name: str, target: str, source: bytes) -> types.ModuleType:
    """Return the module of this source, registered by its name as an import would."""
    module = types.ModuleType(name)
    module.__file__ = target
    sys.modules[name] = module
    exec(compile(source, target, "exec"), module.__dict__)
    return module
