"""Make the data from which the script of a page shows the profiles of bots.

The data have every text, and the script only puts them into tables: it computes no number. So that
780 couples take little room, a text stands there once, and a cell is its number, in two characters
of DIGITS (one or three, where there are few texts or many).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from math import isnan
from string import ascii_letters, digits
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from arena.errors import counted
from arena.insight.judged_files import JudgedTables
from arena.insight.profiles import Beside, Group, Profiles, Unit
from arena.insight.run_files import Files
from arena.insight.summary import describe_end
from arena.insight.table_columns import WIN_TYPES
from arena.insight.verdict import signed
from arena.reports.blocks import write_cell
from arena.reports.charts import plain_rows
from arena.reports.differences import NOT_SIGNIFICANT, NOT_TESTED, SIGNIFICANT
from arena.reports.take_section import CARD_NAMES
from arena.statistics.intervals import LEVEL

DIGITS: Final = ascii_letters + digits + "-_"

_SHOWN = 3  # opponents above the Elo and below it, of which none need be significant
_MOST_LISTED = 6
_MOST_WIDTH = 3
_SHARE = ("share", "share_low", "share_high")
_SURE, _UNSURE, _UNTESTED = "+", "-", "."
_VERDICTS = {_SURE: SIGNIFICANT, _UNSURE: NOT_SIGNIFICANT, _UNTESTED: NOT_TESTED}

_GROUPS: Final[Mapping[Group, Mapping[str, str]]] = {
    "games": {"title": "How games end", "head": "Share of the games"},
    "takes": {
        "title": "Takes: when, and what they bring",
        "head": "Value",
        "note": "Shares are of all takes of a bot, by its action in the round: at 1 it takes at "
        "once.",
    },
    "losses": {
        "title": "What a decision gives away",
        "head": "Loss",
        "note": "Points of 100 of the chance to win, as arena analyse has judged them.",
    },
    "cards": {
        "title": "What cards are worth",
        "head": "Adds, percentage points",
        "note": "By how much more often who takes one such card wins, over all games of a bot: an "
        "adjusted correlation, and no cause.",
    },
}
"""The title of each group of measures, the head of its values, and what is to be known of it."""

_NAMES: Final = {
    "score": "Score",
    **{
        f"{how} by {name}": f"{how.capitalize()} by {name}"
        for how in ("won", "lost")
        for name in WIN_TYPES.values()
    },
    "drawn": "Drawn",
    "cards": "Cards of a take",
    "gain": "Points that a take adds",
    "loss": "Loss of a decision",
    **CARD_NAMES,
}
"""What measures are called, but the shares of takes."""


class Games(NamedTuple):
    """Games of a bot to look at: ids of replays in the page, and lines that name other games."""

    replays: Sequence[str] = ()
    named: Sequence[str] = ()


class _Cells(list[int]):
    """The numbers of some texts."""


class _Texts:
    """Numbers texts, each once; the empty one has the number 0."""

    def __init__(self) -> None:
        self.numbers = {"": 0}

    def add(self, texts: Iterable[str]) -> _Cells:
        """Return the numbers of some texts."""
        numbers = self.numbers
        return _Cells(numbers.setdefault(text, len(numbers)) for text in texts)

    def packed(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return data with the texts, in which all numbers of texts are characters."""
        most = range(1, _MOST_WIDTH + 1)
        width = next(one for one in most if len(self.numbers) <= len(DIGITS) ** one)
        packed: dict[str, Any] = _pack(data, width)
        return packed | {"width": width, "digits": DIGITS, "texts": [*self.numbers]}


def _pack(data: Any, width: int) -> Any:
    """Return data in which each list of cells is a text.

    >>> _pack({"rows": [[1, _Cells([0, 1, 63])]]}, 1), _pack(_Cells([65]), 2)
    ({'rows': [[1, 'ab_']]}, 'bb')
    """
    if isinstance(data, _Cells):
        size = len(DIGITS)
        places = [size**place for place in reversed(range(width))]
        return "".join([DIGITS[number // place % size] for number in data for place in places])
    if isinstance(data, dict):
        return {name: _pack(value, width) for name, value in data.items()}
    return [_pack(value, width) for value in data] if isinstance(data, list) else data


def make_data(
    profiles: Profiles, files: Files, judged: JudgedTables, games: Mapping[str, Games]
) -> dict[str, Any]:
    """Return what the page shows of one bot, and of two."""
    made, bots, none = _Data(profiles, files, judged), profiles.bots, Games()
    data = {
        "names": made.labels,
        "profiles": len(bots),
        "couples": len(profiles.beside) + 1,
        "groups": made.groups(),
        "verdicts": _VERDICTS,
        "directs": ["Score", "By Elo", *(f"Won by {name}" for name in WIN_TYPES.values())],
        "notes": made.notes(),
        "summaries": [*made.summaries()],
        "own": [*made.own()],
        "beyond": made.of_bots(made.beyond()),
        "losses": made.of_bots(made.losses()),
        "alike": made.of_bots(made.alike()),
        "games": [[*games.get(bot, none).replays] for bot in bots],
        "named": [[*games.get(bot, none).named] for bot in bots],
        "beside": [[*made.beside(bot)] for bot in range(len(profiles.beside))],
    }
    return made.texts.packed(data)


_Row: TypeAlias = tuple[str, list[Any]]
"""A bot, and a row of one of its lists: another bot by its place, and texts."""


class _Data:
    """Makes the parts of the data."""

    def __init__(self, profiles: Profiles, files: Files, judged: JudgedTables) -> None:
        self.profiles = profiles
        self.files = files
        self.judged = judged
        self.texts = _Texts()
        self.labels: list[str] = files.standings["bot"].tolist()
        self.places = {label: place for place, label in enumerate(self.labels)}
        self.met = files.tables.head_to_head.set_index(["bot", "opponent"]).to_dict("index")
        agreement = judged.agreement
        self.alike_of = {row[:2]: row for row in agreement.itertuples(index=False, name=None)}

    def of_bots(self, rows: Iterable[_Row]) -> list[list[Any]]:
        """Return the rows of each bot that has a profile."""
        lists: dict[str, list[Any]] = {bot: [] for bot in self.profiles.bots}
        for bot, row in rows:
            if bot in lists:
                lists[bot].append(row)
        return [*lists.values()]

    def groups(self) -> list[dict[str, Any]]:
        """Return the tables of measures: title, head, note, rows and units, as the cells come."""
        made = []
        for group, of_group in groupby(self.profiles.measures, key=lambda one: one.group):
            measures = [*of_group]
            rows = [_NAMES.get(one.name) or _name_action(one.name) for one in measures]
            units = [one.unit for one in measures]
            made.append({"name": group, **_GROUPS[group], "rows": rows, "units": units})
        return made

    def notes(self) -> dict[str, str]:
        """Return what is said below the lists that are there."""
        notes = {}
        if len(self.judged.decisions):
            worlds = counted(int(self.judged.decisions["worlds"].max()), "world")
            notes["losses"] = f"Judged in {worlds}. Compare only losses against one opponent."
        if len(self.judged.agreement):
            number = counted(int(self.judged.agreement["positions"].max()), "position")
            notes["alike"] = f"Of {number}, those at which both choose the same action."
        return notes

    def summaries(self) -> Iterator[str]:
        """Yield a line for each bot."""
        table = self.files.standings.head(len(self.profiles.bots))
        fields = ("rank", "elo", "elo_low", "elo_high", "score", "games")
        for rank, elo, low, high, score, games in plain_rows(table, fields):
            rating = "not rated"
            if elo is not None:
                rating = f"Elo {write_cell(elo, 'elo')} ({write_range(low, high)})"
            share = write_cell(score, "share")
            yield (
                f"Rank {rank} of {len(self.labels):,}: {rating}; {share} of the points in "
                f"{counted(games, 'game')}."
            )

    def own(self) -> Iterator[_Cells]:
        """Yield the values of each bot, each with both ends of its interval."""
        units = [one.unit for one in self.profiles.measures]
        for rows in np.stack(self.profiles.own, axis=2).tolist():
            yield self.texts.add(
                write_value(value, unit)
                for row, unit in zip(rows, units, strict=True)
                for value in row
            )

    def beyond(self) -> Iterator[_Row]:
        """Yield opponents against which bots score most beyond their Elo, and least."""
        table = self.files.tables.head_to_head
        table = table[table["residual_z"].notna()].sort_values("residual_z", kind="stable")
        fields = ("bot", "opponent", "score", "expected", "residual", "residual_q")
        by_bot: dict[str, list[Any]] = {}
        for bot, *row in plain_rows(table, fields):
            by_bot.setdefault(bot, []).append(row)
        for bot, rows in by_bot.items():
            above = [row for row in reversed(rows) if row[3] > 0]
            below = [row for row in rows if row[3] < 0]
            for opponent, *shares, beyond, q in [*_first(above), *reversed(_first(below))]:
                said = "not as the Elo says" if q < LEVEL else "within chance"
                texts = [write_cell(share, "share") for share in shares]
                texts += [write_change(beyond, "share"), said]
                yield bot, [self.places[opponent], self.texts.add(texts)]

    def losses(self) -> Iterator[_Row]:
        """Yield what bots gave away against the first opponents in the order of the standings."""
        table = self.judged.losses
        order = table["opponent"].map(self.places).sort_values(kind="stable").index
        fields = ("bot", "opponent", "loss", "loss_low", "loss_high", "decisions")
        seen: Counter[str] = Counter()
        for bot, opponent, *loss, decisions in plain_rows(table.loc[order], fields):
            seen[bot] += 1
            if seen[bot] <= _MOST_LISTED:
                texts = [*(write_value(one, "loss") for one in loss), f"{decisions:,}"]
                yield bot, [self.places[opponent], self.texts.add(texts)]

    def alike(self) -> Iterator[_Row]:
        """Yield who chooses most like each bot, and at the end who does least."""
        table = self.judged.agreement
        table = table[table["bot"] != table["other"]].sort_values(
            ["share", "other"], ascending=[False, True], kind="stable"
        )
        for bot, rows in table.groupby("bot", sort=False):
            most = len(rows) if len(rows) <= _SHOWN else _SHOWN
            some = rows.iloc[[*range(most), *([-1] if most < len(rows) else [])]]
            for other, *share in plain_rows(some, ("other", *_SHARE)):
                if other in self.places:
                    yield str(bot), [self.places[other], self._shares(share)]

    def _shares(self, share: Iterable[float | None]) -> _Cells:
        return self.texts.add(write_cell(one, "share") for one in share)

    def beside(self, first: int) -> Iterator[list[Any]]:
        """Yield a bot beside each one behind it: cells, verdicts, their own games, agreement."""
        found: Beside = self.profiles.beside[first]
        differences = np.stack(found.difference, axis=2).tolist()
        both = np.stack([found.first, found.second], axis=2).tolist()
        for row, opponents in enumerate(found.opponents.tolist()):
            two = self.labels[first], self.labels[first + 1 + row]
            cells = zip(both[row], differences[row], self.profiles.measures, strict=True)
            tested = [not isnan(one[1]) for one in differences[row]]
            marks = [
                _SURE if sure else _UNSURE if known else _UNTESTED
                for sure, known in zip(found.sure[row].tolist(), tested, strict=True)
            ]
            texts = [
                _describe_opponents(opponents),
                _describe_sure(marks.count(_SURE), sum(tested)),
            ]
            for values, ends, measure in cells:
                if measure.group != "cards":  # of all games, as in their profiles
                    texts += [write_value(value, measure.unit) for value in values]
                texts += [write_change(end, measure.unit) for end in ends]
            yield [self.texts.add(texts), "".join(marks), self._direct(two), self._alike(two)]

    def _direct(self, two: tuple[str, str]) -> _Cells | None:
        """Return the games of two bots against each other, as both see them."""
        if two not in self.met:
            return None
        texts = [counted(self.met[two]["games"], "game")]
        for row in (self.met[two], self.met[two[::-1]]):
            shares = [row[name] for name in ("score", "score_low", "score_high", "expected")]
            texts += ["" if isnan(share) else write_cell(share, "share") for share in shares]
            texts += [f"{row[f'{name}_wins']:,}" for name in WIN_TYPES]
        return self.texts.add(texts)

    def _alike(self, two: tuple[str, str]) -> _Cells | None:
        found = self.alike_of.get(two)
        return self._shares(found[3:]) if found else None


def _first(rows: Sequence[Any]) -> list[Any]:
    """Return the first rows: those that are significant, and as many as are always shown."""
    sure = sum(row[-1] < LEVEL for row in rows)
    return [*rows[: min(_MOST_LISTED, max(_SHOWN, sure))]]


def _describe_opponents(number: int) -> str:
    """Return by how many opponents two bots are compared.

    >>> _describe_opponents(38), _describe_opponents(0)
    ('38 common opponents, each of which weighs the same', 'no common opponent')
    """
    if not number:
        return "no common opponent"
    each = ", each of which weighs the same" if number > 1 else ""
    return f"{counted(number, 'common opponent')}{each}"


def _describe_sure(number: int, tested: int) -> str:
    """Return how many differences are significant.

    >>> _describe_sure(1, 26)
    '1 of 26 differences is significant when all of them are looked at together'
    """
    be = "is" if number == 1 else "are"
    of = f"{number} of {counted(tested, 'difference')}"
    return f"{of} {be} significant when all of them are looked at together"


def _name_action(name: str) -> str:
    """Return what the share of the takes at an action is called.

    >>> _name_action("at 6")
    'Taken at action 6'
    """
    return f"Taken at action {name.removeprefix('at ')}"


def write_range(low: float | None, high: float | None) -> str:
    """Return the interval of an Elo, or the one end of it that is known.

    >>> write_range(1490.2, 1533.9), write_range(2040.4, None)
    ('1490 to 1534', 'at least 2040')
    """
    if low is None or high is None:
        return describe_end(low, high)
    return f"{write_cell(low, 'elo')} to {write_cell(high, 'elo')}"


def write_value(value: float | None, unit: Unit) -> str:
    """Return a value as people read it, nothing where it is not known.

    >>> write_value(0.5134, "share"), write_value(0.0123, "change"), write_value(0.0098, "loss")
    ('51.3 %', '+1.2', '0.98')
    """
    if value is None or isnan(value):
        return ""
    if unit == "change":
        return write_change(value, unit)
    return write_cell(value, "share") if unit == "share" else signed(_scaled(value, unit), ".2f")


def write_change(value: float, unit: Unit) -> str:
    """Return a difference as people read it: of shares in percentage points.

    >>> write_change(-0.0312, "share"), write_change(0.25, "number")
    ('-3.1', '+0.25')
    """
    if isnan(value):
        return ""
    return signed(_scaled(value, unit), "+.1f" if unit in ("share", "change") else "+.2f")


def _scaled(value: float, unit: Unit) -> float:
    return value if unit == "number" else 100 * value
