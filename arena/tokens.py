"""Tokens of servers, which are hidden in every text that is stored or shown."""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

TOKENS: Final = "ARENA_TOKENS"
"""The environment variable with the tokens for hosts: `host:port=token`, separated by spaces."""

SERVE_TOKEN: Final = "ARENA_SERVE_TOKEN"
"""The environment variable with the token that `arena serve-bot` asks for."""

TOO_SHORT: Final = "a token has at least 8 characters, or it could not be hidden"
_LEAST_TOKEN = 8  # a shorter one would be found in other words

_HIDDEN = "***"
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_CODED = re.compile(  # characters as JSON, repr(), URLs and HTML write them; the end of a line
    r"(?:\\{1,9}(?:u00|x)|%(?:25){0,9}|&(?:amp;){0,9}\#x0{0,9})(?P<hex>[0-9a-f]{2});?"
    r"|&(?:amp;){0,9}(?:\#0{0,9}(?P<number>\d{2,3})|(?P<name>lt|gt|amp|quot|apos));"
    r"|(?:=?[\r\n]|\\{1,9}[rn])[ \t]{0,9}|\\{1,9}(?P<char>[^\\])",
    re.ASCII | re.IGNORECASE,
)
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_TIMES = 4  # codes in one another, as of JSON in a URL in JSON


def hide_secrets(text: str) -> str:
    """Return a text with *** in place of each token in this process's environment.

    Every text that a bot or a server may have written goes through this before it is cut, stored
    or shown. A token is also found where it is escaped as JSON, repr(), URLs and HTML do, broken
    by the end of a line, or in hexadecimal digits or base64.
    """
    given = os.environ.get(TOKENS, ""), os.environ.get(SERVE_TOKEN, "")
    if not any(given):
        return text
    spans = sorted(
        (starts[found.start()], ends[found.end() - 1])
        for plain, starts, ends in _decoded(text)
        for needle in _needles(*given)
        for found in needle.finditer(plain)
    )
    parts: list[str] = []
    at = 0
    for start, end in spans:
        if start >= at:
            parts += text[at:start], _HIDDEN
        at = max(at, end)
    return "".join([*parts, text[at:]])


def is_hidden(token: str) -> bool:
    """Return whether a token is long enough to be hidden.

    >>> is_hidden("3f9c77aa"), is_hidden("1")
    (True, False)
    """
    return all(len(plain) >= _LEAST_TOKEN for plain, _, _ in _decoded(token))


@cache
def _needles(tokens: str, own: str) -> list[re.Pattern[str]]:
    """Return patterns of the tokens in the two variables, in small letters."""
    from base64 import b64encode

    found: list[str] = []
    for token in filter(is_hidden, [own, *(word.partition("=")[2] for word in tokens.split())]):
        data = token.encode(errors="surrogateescape")
        found += [*(re.escape(plain) for plain, _, _ in _decoded(token)), data.hex()]
        for shift in range(3):  # of its first byte in a group of three; others have bits beside it
            coded = b64encode(bytes(shift) + data).decode()
            inner = coded[-(-shift * 8 // 6) : (shift + len(data)) * 8 // 6].translate(_LOWER)
            either = re.escape(inner).replace(r"\+", "[+-]").replace("/", "[/_]")
            before = r"[\w+/-]?" if shift else ""
            after = r"[\w+/-]?={0,2}" if (shift + len(data)) % 3 else ""
            found.append(before + either + after)
    return [re.compile(pattern, re.ASCII) for pattern in found]


def _decoded(text: str) -> Iterator[tuple[str, Sequence[int], Sequence[int]]]:
    """Yield a text in small letters, then with what its codes stand for, as often as there are.

    With it the places in the text at which each character begins and ends.
    """
    starts: Sequence[int] = range(len(text))
    ends: Sequence[int] = range(1, len(text) + 1)
    for _ in range(_TIMES):
        yield text.translate(_LOWER), starts, ends
        parts: list[str] = []
        begun, ended = array("I"), array("I")
        at = 0
        for found in _CODED.finditer(text):
            first, last, char = found.start(), found.end() - 1, _meant(found)
            parts += text[at:first], char
            begun.extend([*starts[at:first], *starts[first : first + len(char)]])
            ended.extend([*ends[at:first], *ends[last : last + len(char)]])
            at = last + 1
        if not parts:
            return
        text = "".join([*parts, text[at:]])
        begun.extend(starts[at:])
        ended.extend(ends[at:])
        starts, ends = begun, ended


def _meant(code: re.Match[str]) -> str:
    """Return the character that a code stands for, nothing for the break of a line."""
    digits, number, name, char = code.group("hex", "number", "name", "char")
    if digits or number:
        return chr(int(digits, 16) if digits else int(number))
    return _NAMED[name.lower()] if name else char or ""
