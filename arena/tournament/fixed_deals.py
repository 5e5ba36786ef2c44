"""Read the fixed deals of a run, from a file or a list, and say what they mean for its results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from arena.errors import InputError, counted, naming
from arena.files import decode, read_file
from engine import Record, Rules
from engine.errors import EngineError
from engine.notation import parse_deal

MOST_DEALS: Final = 100_000
_MOST_BYTES = 1 << 23  # so that a manifest can hold them


def read_deals(source: str | Sequence[str], rules: Rules) -> Sequence[str]:
    """Return the deals of a file or of a list, each of them checked; none for an empty name.

    A line of a file is a deal in the engine's notation, or a game record, whose deal it stands for;
    empty lines and those that begin with # are skipped. Raises InputError, which names the file and
    the line.
    """
    if source == "":
        return ()
    if not isinstance(source, str):
        return check_deals(source, rules)
    with naming(f"deals: {source}"):
        lines = decode(read_file(Path(source), _MOST_BYTES)).split("\n")
        return _check(_list_lines(lines), rules)


def check_deals(deals: Sequence[str], rules: Rules) -> Sequence[str]:
    """Return the deals of a list; raises InputError for a bad one, or one that is there twice."""
    with naming("deals"):
        return _check(((f"deal {number}", text) for number, text in enumerate(deals)), rules)


def _list_lines(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each deal in a file."""
    for number, line in enumerate(map(str.strip, lines), 1):
        place = f"line {number}"
        if line.startswith("{"):
            with naming(place, EngineError):
                text = Record.from_json(line).deal
            yield place, text
        elif line and not line.startswith("#"):
            yield place, line


def _check(deals: Iterable[tuple[str, str]], rules: Rules) -> Sequence[str]:
    """Return deals that are given with their places; raises InputError for a wrong one."""
    places: dict[str, str] = {}
    for place, text in deals:
        with naming(place, EngineError):
            parse_deal(text, rules)
        if text in places:
            raise InputError(f"{place}: the same deal as in {places[text]}")
        places[text] = place
    if not 0 < len(places) <= MOST_DEALS:
        raise InputError(f"{counted(len(places), 'deal')}; expected 1 to {MOST_DEALS:,}")
    return [*places]


def describe_deals(deals: Sequence[str], pairs: int) -> str:
    """Return what fixed deals mean for the results of a run in a sentence, empty without any.

    >>> describe_deals((), 100)
    ''
    """
    number = min(len(deals), pairs)
    what = counted(number, "fixed deal")
    said = f"Played on {what}, the same for every two bots: the results are about these deals."
    return said if number else ""
