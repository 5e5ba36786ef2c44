"""Spec: the text that names a bot, its parameters and its label.

`label=target(name=value, ...)`; the target is a name, a file, a module or a command.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
from pathlib import Path
from typing import Any

from arena.errors import InputError

COMMAND = "cmd:"
SPEC = re.compile(r"(?:(?P<label>[^=()/:]+)=)?(?P<target>.+?)(?:\((?P<params>.*)\))?", re.DOTALL)
_MOST_LABEL = 60


def is_file(target: str) -> bool:
    """Return whether a target is a file and not a name."""
    return target.endswith(".py") or "/" in target


def parsed_params(spec: str, text: str) -> dict[str, Any]:
    """Return the parameters between the brackets of a spec; raises InputError."""
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


def default_label(target: str, params: dict[str, Any]) -> str:
    """Return the label of a bot that is given none.

    >>> default_label("cmd:node bots/hasty.js --fast", {"depth": 3})
    'hasty(depth=3)'
    """
    if target.startswith(COMMAND):
        words = shlex.split(target.removeprefix(COMMAND))
        files = [word for word in words if _is_named_like_a_file(word)]
        stem = Path((files or words)[-1 if files else 0]).stem
    else:
        stem = Path(target).stem if is_file(target) else target.rpartition(".")[2]
    if not params:
        return stem
    return f"{stem}({', '.join(f'{name}={params[name]!r}' for name in sorted(params))})"


def _is_named_like_a_file(word: str) -> bool:
    return word[0] not in "-0123456789" and ("/" in word or "." in word) if word else False


def check_label(spec: str, label: str) -> None:
    """Raise InputError for a label that would not fit a table."""
    if not label.isprintable() or not label or label != label.strip() or len(label) > _MOST_LABEL:
        raise InputError(
            f"bot {spec!r}: the label {label!a} must be 1 to {_MOST_LABEL} printable characters, "
            f"with no space at its ends; give another one, as in label=spec"
        )


def plain(spec: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters as a manifest keeps them: tuples are lists.

    Raises InputError for a value that it could not keep.
    """
    for name, value in params.items():
        try:
            if not _has_text_keys(value):
                raise TypeError
            json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
        except (TypeError, ValueError, RecursionError):
            raise InputError(
                f"bot {spec!r}: parameter {name}={value!a}: only numbers, texts, true, false, "
                f"null, and lists and mappings of these, the keys being texts"
            ) from None
    kept: dict[str, Any] = json.loads(json.dumps(params))
    return kept


def _has_text_keys(value: Any) -> bool:
    """Return whether all keys of all mappings in a value are texts."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _has_text_keys(value[key]) for key in value)
    return not isinstance(value, list | tuple) or all(map(_has_text_keys, value))
