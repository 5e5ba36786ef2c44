"""Parse and write bot specs, `label=target(name=value, ...)`, and name the lanes.

The target is a name, a file, a module, a command, or the address of a server. Parameters are Python
text; a stranger's source is never parsed: parsing 1 MB can take a gigabyte, or minutes.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import threading
import warnings
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from arena.errors import InputError
from engine.errors import show

COMMAND = "cmd:"
ADDRESSES = ("http://", "https://")
OBJECT = "python:"
"""The prefix of the spec of a class or function of a calling program."""

PERSON = "human"

_SPEC = re.compile(r"(?:(?P<label>[^=()/:]*)=)?(?P<target>.*?)(?:\((?P<params>.*)\))?", re.DOTALL)
_MOST_LABEL = 60
_MOST_SHOWN = 80
_MOST_BRACKETS = 20  # opening brackets in a target that are tried as the start of the parameters
_MOST_SPEC = 4000  # longer parameters belong into a config

_lock = threading.RLock()


def parse_source(source: str | bytes) -> ast.Module:
    """Return the syntax tree of a source of our own; raises what `ast.parse` raises.

    A lock admits one thread at a time: in Python 3.11 parsing in two threads can raise SystemError
    (github.com/python/cpython/pull/113035). Warnings are suppressed, and their filters are shared
    by all threads, too.
    """
    with _lock, warnings.catch_warnings(action="ignore"):
        return ast.parse(source)


def _renew_lock() -> None:
    """Replace the lock in a forked process: a thread of the parent may hold the old one."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_renew_lock)


class Spec(NamedTuple):
    """The parts of a spec; `label` is None if the text has no label."""

    label: str | None
    target: str
    params: dict[str, Any]


def parse(text: str) -> Spec:
    """Return the parts of a spec.

    Raises InputError for a text that is empty or too long, that contains characters impossible in
    file names, or whose parameters cannot be parsed.

    >>> parse("deep=./search.py(depth=3)")
    Spec(label='deep', target='./search.py', params={'depth': 3})
    """
    match = _match(text)
    target = match["target"].strip()
    if _is_open(target):
        raise InputError(f"bot {text!r}: a bracket is not closed; parameters stand in (...)")
    params: dict[str, Any] = {}
    if match["params"]:
        target, params = _split(text, target, match["params"])
    if not target:
        raise InputError(f"bot {text!r}: the spec is empty")
    return Spec(match["label"], target, params)


def _split(text: str, target: str, inner: str) -> tuple[str, dict[str, Any]]:
    """Return the target of a spec and its parameters; a file name may contain brackets, too."""
    first: InputError | None = None
    for _ in range(_MOST_BRACKETS):
        try:
            return target, _parse_params(text, inner)
        except InputError as error:
            first = first or error
        more, bracket, inner = inner.partition("(")
        if not bracket:
            break
        target = f"{target}({more}"
    assert first is not None
    raise first


def write(target: str, params: dict[str, Any]) -> str:
    """Return the spec of a target with parameters.

    >>> write("greedy", {}), write("greedy", {"patience": 1.5})
    ('greedy', 'greedy(patience=1.5)')
    """
    words = ", ".join(f"{name}={value!r}" for name, value in params.items())
    return f"{target}({words})" if params else target


def is_file(target: str) -> bool:
    """Return whether a target has the form of a file's path."""
    return not is_address(target) and (target.endswith((".py", ".zip")) or "/" in target)


def is_address(target: str) -> bool:
    """Return whether a target is the address of a server."""
    return target.lower().startswith(ADDRESSES)


def default_label(target: str, params: dict[str, Any], name: str = "") -> str:
    """Return the label of a bot whose spec has no label; a bot may have a name beside its target.

    >>> default_label("cmd:node bots/hasty.js --fast", {"depth": 3})
    'hasty(depth=3)'
    >>> default_label("http://gpu.local:8000", {}), default_label("https://bots.org/greedy", {})
    ('gpu.local-8000', 'greedy')
    """
    if name:
        stem = name
    elif is_address(target):
        host, _, path = target.partition("://")[2].rstrip("/").partition("/")
        stem = path.rpartition("/")[2] or host.replace(":", "-")
    elif target.startswith(COMMAND):
        words = shlex.split(target.removeprefix(COMMAND))
        files = [word for word in words if looks_like_a_file(word)]
        stem = Path((files or words)[-1 if files else 0]).stem
    else:
        path = target.removeprefix(OBJECT)
        stem = Path(path).name if path.endswith("/") else Path(path).stem
        stem = stem if is_file(path) else path.rpartition(".")[2]
    return write(stem, dict(sorted(params.items())))


def looks_like_a_file(word: str) -> bool:
    """Return whether a word of a command has the form of a file's path."""
    return word[0] not in "-0123456789" and ("/" in word or "." in word) if word else False


def is_label(text: str) -> bool:
    """Return whether a text is a valid label, which fits into a table."""
    return text.isprintable() and text == text.strip() and 0 < len(text) <= _MOST_LABEL


def check_label(spec: str, label: str) -> None:
    """Raise InputError for an invalid label."""
    if not is_label(label):
        raise InputError(f"bot {spec!r}: {refuse_label(label)}; give another one, as in label=spec")


def refuse_label(label: str) -> str:
    """Return why a label is not valid."""
    form = f"1 to {_MOST_LABEL} printable characters, with no space at its ends"
    return f"the label {label!a} must be {form}"


def plain_params(spec: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters in the form of a manifest: tuples become lists.

    Raises InputError for a value that JSON cannot represent.
    """
    for name, value in params.items():
        try:
            if not _has_text_keys({name: value}):
                raise TypeError
            json.dumps({name: value}, allow_nan=False, ensure_ascii=False).encode()
        except (TypeError, ValueError, RecursionError):
            plain = "numbers, texts, true, false, null, and lists and mappings of these"
            why = f"parameter {name}={show(value)}: only {plain}, the keys being texts"
            raise InputError(f"bot {spec!r}: {why}") from None
    kept: dict[str, Any] = json.loads(json.dumps(params))
    return kept


def _parse_params(spec: str, text: str) -> dict[str, Any]:
    try:
        (whole,) = parse_source(f"_({text}\n)").body
        call = whole.value if isinstance(whole, ast.Expr) else whole
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)) or call.args:
            raise ValueError  # also where a bracket of a file's name ends the call
        params = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
        if "None" in params or len(params) < len(call.keywords):  # of **, or of a name twice
            raise ValueError
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # the last two: too deep
        how = "parameters are written name=value, each once, with plain values"
        raise InputError(f"bot {spec!r}: {how}: ({text[:_MOST_SHOWN]})") from None
    return params


def _is_open(target: str) -> bool:
    """Return whether a target has an unclosed bracket and is not the name of a file."""
    is_command = target.startswith(COMMAND)
    return not is_command and target.count("(") > target.count(")") and not os.path.exists(target)


def _match(text: str) -> re.Match[str]:
    """Match a spec; raises InputError for one that is too long, or lacks a label."""
    if len(text) > _MOST_SPEC:
        raise InputError(f"bot {text[:_MOST_SHOWN]!r}...: longer than {_MOST_SPEC:,} characters")
    if "\0" in text:
        raise InputError(f"bot {text!r}: a spec has no NUL")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        bad = text[error.start : error.end]
        raise InputError(f"bot {text!r}: {bad!a} cannot be written as UTF-8") from None
    match = _SPEC.fullmatch(text.strip())
    assert match is not None  # each of its parts may be empty
    if match["label"] == "":
        raise InputError(f"bot {text!r}: no label stands before the =")
    return match


def _has_text_keys(value: Any) -> bool:
    """Return whether all keys of all mappings in a value are strings."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _has_text_keys(value[key]) for key in value)
    return not isinstance(value, list | tuple) or all(map(_has_text_keys, value))


Here: TypeAlias = Literal["inproc", "process", "jail"]
HERE: Final[tuple[Here, ...]] = get_args(Here)
"""The lanes of bots that run on the machine that plays."""

Lane: TypeAlias = Literal["inproc", "process", "jail", "remote"]
LANES: Final[tuple[Lane, ...]] = get_args(Lane)
