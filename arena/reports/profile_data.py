"""Make the data from which the script of a page shows the profiles of bots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from math import isnan
from string import ascii_letters, digits
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from arena.differences.profiles import Beside, Files, Group, Measure, Profiles, Unit
from arena.errors import counted
from arena.reports.blocks import write_cell
from arena.reports.changes_report import NOT_SIGNIFICANT, NOT_TESTED, SIGNIFICANT
from arena.reports.charts import plain_rows
from arena.reports.seat_section import CARD_NAMES
from arena.statistics.intervals import LEVEL
from arena.statistics.wording import signed, write_ends
from arena.store.columns import Columns, is_in, is_known, place_in
from arena.tables.losses import JudgedTables
from arena.tables.short_names import names_on_page
from arena.tables.table_columns import WIN_TYPES

DIGITS: Final = ascii_letters + digits + "-_"

_MOST_WIDTH = 3


class Cells(list[int]):
    """The numbers of some texts."""


class Texts:
    """Assigns numbers to texts; the empty text has the number 0."""

    def __init__(self) -> None:
        self.numbers = {"": 0}

    def add(self, texts: Iterable[str]) -> Cells:
        """Return the numbers of some texts."""
        numbers = self.numbers
        return Cells(numbers.setdefault(text, len(numbers)) for text in texts)

    def packed(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data and the texts, with the numbers of texts written as characters."""
        most = range(1, _MOST_WIDTH + 1)
        width = next(one for one in most if len(self.numbers) <= len(DIGITS) ** one)
        packed: dict[str, Any] = _pack(data, width)
        return packed | {"width": width, "digits": DIGITS, "texts": [*self.numbers]}


def _pack(data: Any, width: int) -> Any:
    """Return data in which each list of cells is written as one text.

    >>> _pack({"rows": [[1, Cells([0, 1, 63])]]}, 1), _pack(Cells([65]), 2)
    ({'rows': [[1, 'ab_']]}, 'bb')
    """
    if isinstance(data, Cells):
        size = len(DIGITS)
        places = [size**place for place in reversed(range(width))]
        return "".join([DIGITS[number // place % size] for number in data for place in places])
    if isinstance(data, dict):
        return {name: _pack(value, width) for name, value in data.items()}
    return [_pack(value, width) for value in data] if isinstance(data, list) else data


GROUPS: Final[Mapping[Group, Mapping[str, str]]] = {
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
        "head": "Adds to wins, percentage points",
        "note": "How much more often a bot wins that takes one such card, over all its games: an "
        "adjusted correlation, and no cause.",
    },
}
"""For each group of measures its title, the head of its values, and a note on it."""

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
"""The names of measures, except shares of takes."""


def describe_opponents(number: int) -> str:
    """Return the text on how many opponents two bots have in common.

    >>> describe_opponents(38), describe_opponents(0)
    ('Compared by 38 common opponents, each of which weighs the same', 'Without a common opponent')
    """
    if not number:
        return "Without a common opponent"
    each = ", each of which weighs the same" if number > 1 else ""
    return f"Compared by {counted(number, 'common opponent')}{each}"


def describe_sure(number: int, tested: int) -> str:
    """Return the text on how many differences are significant.

    >>> describe_sure(1, 26)
    '1 of 26 differences is significant when all of them are looked at together'
    """
    if not tested:
        return "No difference can be tested"
    be = "is" if number == 1 else "are"
    of = f"{number} of {counted(tested, 'difference')}"
    return f"{of} {be} significant when all of them are looked at together"


def name_measure(measure: Measure) -> str:
    """Return the name of a measure.

    >>> name_measure(Measure("takes", "at 6", "share"))
    'Taken at action 6'
    """
    return _NAMES.get(measure.name) or f"Taken {measure.name.replace('at ', 'at action ')}"


def write_value(value: float | None, unit: Unit) -> str:
    """Return a value formatted for readers, or "" if it is not known.

    >>> write_value(0.5134, "share"), write_value(0.0123, "change"), write_value(0.0098, "loss")
    ('51.3 %', '+1.2', '0.98')
    """
    if value is None or isnan(value):
        return ""
    if unit == "change":
        return write_change(value, unit)
    return write_cell(value, "share") if unit == "share" else signed(_scale(value, unit), ".2f")


def write_change(value: float, unit: Unit) -> str:
    """Return a difference formatted for readers: one of shares is in percentage points.

    >>> write_change(-0.0312, "share"), write_change(0.25, "number")
    ('-3.1', '+0.25')
    """
    if isnan(value):
        return ""
    return signed(_scale(value, unit), "+.1f" if unit in ("share", "change") else "+.2f")


def _scale(value: float, unit: Unit) -> float:
    return value if unit == "number" else 100 * value


_SHOWN = 3  # opponents above the Elo and below it that are shown even if not significant
_MOST_LISTED = 6
_SURE, _UNSURE, _UNTESTED = "+", "-", "."
_VERDICTS = {_SURE: SIGNIFICANT, _UNSURE: NOT_SIGNIFICANT, _UNTESTED: NOT_TESTED}


class Games(NamedTuple):
    """Games of a bot to look at: ids of replays in the page, and lines that name other games."""

    replays: Sequence[str] = ()
    named: Sequence[str] = ()


def make_data(
    profiles: Profiles, files: Files, judged: JudgedTables, games: Mapping[str, Games]
) -> dict[str, Any]:
    """Return the data that the page shows of one bot and of two."""
    made, bots, none = _Data(profiles, files, judged), profiles.bots, Games()
    data = {
        "names": made.labels,
        "short": [*map(names_on_page(made.labels).of, made.labels)],
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
        "games": [[*games.get(bot, none).replays] for bot in bots],
        "named": [[*games.get(bot, none).named] for bot in bots],
        "beside": [[*made.beside(bot)] for bot in range(len(profiles.beside))],
    }
    return made.texts.packed(data)


_Row: TypeAlias = tuple[str, list[Any]]
"""A bot, and a row of one of its lists: another bot's place, and texts."""


class _Data:
    """Makes the parts of the data."""

    def __init__(self, profiles: Profiles, files: Files, judged: JudgedTables) -> None:
        self.profiles = profiles
        self.files = files
        self.judged = judged
        self.texts = Texts()
        self.labels = files.tables.order
        self.places = {label: place for place, label in enumerate(self.labels)}
        table, shown = files.tables.head_to_head, self.labels[: len(profiles.beside) + 1]
        among = table.where(is_in(table["bot"], shown) & is_in(table["opponent"], shown))
        self.met = {(row["bot"], row["opponent"]): row for row in among.dicts()}

    def of_bots(self, rows: Iterable[_Row]) -> list[list[Any]]:
        """Return the rows of each bot that has a profile."""
        lists: dict[str, list[Any]] = {bot: [] for bot in self.profiles.bots}
        for bot, row in rows:
            if bot in lists:
                lists[bot].append(row)
        return [*lists.values()]

    def groups(self) -> list[dict[str, Any]]:
        """Return the tables of measures: title, head, note, rows and units, in the cells' order."""
        made = []
        for group, of_group in groupby(self.profiles.measures, key=lambda one: one.group):
            measures = [*of_group]
            rows = [name_measure(one) for one in measures]
            units = [one.unit for one in measures]
            made.append({"name": group, **GROUPS[group], "rows": rows, "units": units})
        return made

    def notes(self) -> dict[str, str]:
        """Return the notes below the lists that are present."""
        notes = {}
        if self.judged.decisions is not None:
            worlds = counted(int(self.judged.decisions["worlds"].max()), "world")
            notes["losses"] = f"Judged in {worlds}. Compare only losses against one opponent."
        return notes

    def summaries(self) -> Iterator[str]:
        """Yield a line for each bot."""
        table = self.files.tables.standings.where(slice(len(self.profiles.bots)))
        fields = ("rank", "elo", "elo_low", "elo_high", "score", "games")
        for rank, elo, low, high, score, games in table.rows(fields):
            rating = "not rated"
            if elo is not None:
                rating = f"Elo {write_cell(elo, 'elo')} ({write_ends(low, high)})"
            share = write_cell(score, "share")
            yield (
                f"Rank {rank} of {len(self.labels):,}: {rating}; {share} of the points in "
                f"{counted(games, 'game')}."
            )

    def own(self) -> Iterator[Cells]:
        """Yield the values of each bot, each with both ends of its interval."""
        units = [one.unit for one in self.profiles.measures]
        for rows in np.stack(self.profiles.own, axis=2).tolist():
            yield self.texts.add(
                write_value(value, unit)
                for row, unit in zip(rows, units, strict=True)
                for value in row
            )

    def beyond(self) -> Iterator[_Row]:
        """Yield the opponents against which bots score most and least beyond their Elo."""
        table = order_by_residual(self.files.tables.head_to_head)
        bots = [*dict.fromkeys(table["bot"].tolist())]
        place = place_in(table["bot"], bots)
        fields = ("opponent", "score", "expected", "residual", "residual_q")
        chosen = Columns({name: table[name] for name in fields})
        chosen = chosen.where(np.argsort(place, kind="stable"))
        ends = np.bincount(place, minlength=len(bots)).cumsum().tolist()
        for bot, start, end in zip(bots, [0, *ends], ends, strict=False):
            rows = chosen.where(slice(start, end)).rows()  # all at once have 30 MB for 300 bots
            above = [row for row in reversed(rows) if row[3] > 0]
            below = [row for row in rows if row[3] < 0]
            for opponent, *shares, beyond, q in [*_first(above), *reversed(_first(below))]:
                said = "not as the Elo says" if q < LEVEL else "within chance"
                texts = [write_cell(share, "share") for share in shares]
                texts += [write_change(beyond, "share"), said]
                yield bot, [self.places[opponent], self.texts.add(texts)]

    def losses(self) -> Iterator[_Row]:
        """Yield the losses of bots against the first opponents in the order of the standings."""
        if (table := self.judged.losses) is None:
            return
        order = table["opponent"].map(self.places).sort_values(kind="stable").index
        fields = ("bot", "opponent", "loss", "loss_low", "loss_high", "decisions")
        seen: Counter[str] = Counter()
        for bot, opponent, *loss, decisions in plain_rows(table.loc[order], fields):
            seen[bot] += 1
            if seen[bot] <= _MOST_LISTED:
                texts = [*(write_value(one, "loss") for one in loss), f"{decisions:,}"]
                yield bot, [self.places[opponent], self.texts.add(texts)]

    def beside(self, first: int) -> Iterator[list[Any]]:
        """Yield a bot compared with each bot after it: cells, verdicts, direct games."""
        found: Beside = self.profiles.beside[first]
        differences = np.stack(found.difference, axis=2).tolist()
        both = np.stack([found.first, found.second], axis=2).tolist()
        for row, opponents in enumerate(found.opponents.tolist()):
            two = self.labels[first], self.labels[first + 1 + row]
            known = [not isnan(low) for _, low, _ in differences[row]]
            marks = "".join(map(_mark, found.sure[row].tolist(), known))
            texts = [describe_opponents(opponents), describe_sure(marks.count(_SURE), sum(known))]
            texts += _write_beside(self.profiles.measures, both[row], differences[row])
            yield [self.texts.add(texts), marks, self._direct(two)]

    def _direct(self, two: tuple[str, str]) -> Cells | None:
        """Return the games of two bots against each other, from both sides."""
        if two not in self.met:
            return None
        texts = [counted(self.met[two]["games"], "game")]
        for row in (self.met[two], self.met[two[::-1]]):
            shares = [row[name] for name in ("score", "score_low", "score_high", "expected")]
            texts += ["" if share is None else write_cell(share, "share") for share in shares]
            texts += [f"{row[f'{name}_wins']:,}" for name in WIN_TYPES]
        return self.texts.add(texts)


def order_by_residual(head_to_head: Columns) -> Columns:
    """Return the rows of rated bots, first those that scored least by what the Elo says."""
    table = head_to_head.where(is_known(head_to_head["residual_z"]))
    return table.ordered(table["residual_z"])


def _first(rows: Sequence[Any]) -> list[Any]:
    """Return the first rows: all that are significant, and at least _SHOWN."""
    sure = sum(row[-1] < LEVEL for row in rows)
    return [*rows[: min(_MOST_LISTED, max(_SHOWN, sure))]]


def _mark(sure: bool, known: bool) -> str:
    return _SURE if sure else _UNSURE if known else _UNTESTED


def _write_beside(
    measures: Sequence[Measure],
    both: Sequence[Sequence[float]],
    differences: Sequence[Sequence[float]],
) -> Iterator[str]:
    """Yield the texts of two bots' comparison; card values are repeated from their profiles."""
    for measure, values, ends in zip(measures, both, differences, strict=True):
        if measure.group != "cards":
            yield from (write_value(value, measure.unit) for value in values)
        yield from (write_change(end, measure.unit) for end in ends)
