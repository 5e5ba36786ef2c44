"""Collect what the files and pages of a run say of its bots, to see whether two of them disagree.

A row of any table, chart or JSON is read by the names of its fields: whatever has a bot, perhaps an
opponent, and a quantity counts, if it has one row for each bot or each two bots. Sentences are read
by their Elo intervals, probabilities and words, wherever they stand.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import unescape
from itertools import combinations, pairwise
from typing import Any, NamedTuple, TypeAlias

Row: TypeAlias = Mapping[str, Any]

TURNED = {"lead": 0.0, "residual": 0.0, "likely": 1.0, "score": 1.0, "expected": 1.0}
"""Quantities of two bots that the other bot's makes up to so much."""

NUMBERS = ("elo", *TURNED, "residual_q", "games", "draws", "rank", "mean_margin")
_ENDS = [f"{name}_{end}" for name in ("elo", "lead", "score") for end in ("low", "high")]
_OPPONENT = ("opponent", "next")
_NAMES = {
    "chance": "likely",
    "Bot": "bot",
    "Opponent": "opponent",
    "Elo": "elo",
    "Lead": "lead",
    "Stronger": "likely",
    "Verdict": "verdict",
    "Group": "group",
    "Rank": "rank",
    "Score": "score",
    "By Elo": "expected",
    "More than Elo says": "residual",
    "p-value, corrected": "residual_q",
    "Games": "games",
    "Draws": "draws",
    "Margin": "mean_margin",
}
_NUMBER = r"[+-]?\d[\d,]*(?:\.\d+)?"
_CELL = re.compile(
    rf"\s*({_NUMBER})( %)?"
    rf"(?: \((?:(at least|at most) ({_NUMBER})|({_NUMBER})\.\.({_NUMBER}))(?: %)?\))?\s*"
)
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})( %)?")
_LEAD = re.compile(
    rf"({_NUMBER}) Elo(?: points?)?(?: from \S+)?(?: \(|, [\d.]+ % interval )"
    rf"({_NUMBER})\.\.({_NUMBER})"
)
_DIFFERENCE = re.compile(
    rf"Elo difference ({_NUMBER}), [\d.]+ % interval ({_NUMBER})\.\.({_NUMBER})"
)
_ONE_END = re.compile(rf"(at least|at most) ({_NUMBER}) Elo")
_CHANCE = re.compile(rf"probability (?:of )?(above |below )?({_NUMBER}) %")
_APART = re.compile(r"Apart: (?:(all neighbours)|(none|\d+) of ([\d,]+))")
_STANDING = re.compile(
    rf"^ *(\d+)  (\S+) +(?:({_NUMBER}) +({_NUMBER})\.\.({_NUMBER})|(at least|at most) ({_NUMBER})"
    r"|unknown|not rated) +([\d.]+)%.* (\S+)$",
    re.M,
)
_UNBOUNDED = re.compile(
    rf"(\S+) is (?:unbeaten|winless)[^:]*: its Elo is (at least|at most) ({_NUMBER})"
)
_RATED = re.compile(rf"(\S+) has ({_NUMBER}) \(({_NUMBER})\.\.({_NUMBER})\)")
_WORDS = {
    "is stronger than": "apart",
    "is weaker than": "apart",
    "is the strongest, told apart": "apart",
    "is probably stronger than": "leans",
    "not told apart": "open",
}


class Said(NamedTuple):
    """One number: between which two the true one lies, by its rounding, and where it stands."""

    low: float
    high: float
    value: float
    source: str
    is_turned: bool

    @property
    def written(self) -> tuple[float, bool]:
        """Numbers that are written alike are equal; of a half the other side is another one."""
        return round(self.high - self.low, 9), self.is_turned


class Statements:
    """All that is said of the bots with these labels, in the order of the standings."""

    def __init__(self, order: Sequence[str]) -> None:
        self.order = [*order]
        self.numbers: dict[tuple[str, tuple[str, ...]], list[Said]] = defaultdict(list)
        self.words: dict[tuple[str, tuple[str, ...]], dict[object, list[str]]] = {}

    def sources(self, quantity: str) -> set[str]:
        """Return where a quantity of bots stands."""
        found = {
            one.source
            for (name, _), said in self.numbers.items()
            if name == quantity
            for one in said
        }
        words = (said for (name, _), said in self.words.items() if name == quantity)
        return found | {source for said in words for named in said.values() for source in named}

    def contradictions(self) -> Iterator[str]:
        """Yield every quantity that has two values, or two words."""
        for (name, about), said in self.numbers.items():
            alike: dict[object, set[float]] = defaultdict(set)
            for one in said:
                alike[one.written].add(round(one.value, 9))
            is_one = max(one.low for one in said) <= min(one.high for one in said) + 1e-9
            if not is_one or any(len(values) > 1 for values in alike.values()):
                values = {f"{one.value:.6g} ({one.source})" for one in said}
                yield f"{name} of {' and '.join(about)}: {', '.join(sorted(values))}"
        for (name, about), words in self.words.items():
            if len(words) > 1:
                yield f"{name} of {' and '.join(about)}: {words}"

    def add(self, name: str, about: Sequence[str], text: str | float | None, source: str) -> None:
        """Take note of a number as it is written; of two bots in the order of their labels."""
        written = "" if text is None else str(text).strip().replace(",", "")
        if written.lower() in ("", "nan"):
            return
        if written.startswith(("above ", "below ")):  # a chance
            edge = float(written[6:].removesuffix("%").strip()) / 100
            low, high = (edge, 1.0) if written[0] == "a" else (0.0, edge)
            value = high if written[0] == "a" else low
        else:
            scale = 0.01 if written.endswith("%") else 1.0
            written = written.removesuffix("%").strip()
            value, places = float(written), len(written.partition(".")[2])
            half = scale * 0.5 * 10.0**-places
            low, high, value = value * scale - half, value * scale + half, value * scale
        base = name.removesuffix("_low").removesuffix("_high")
        is_turned = len(about) == 2 and about[0] > about[1] and base in TURNED
        if is_turned:
            whole = TURNED[base]
            low, high, value = whole - high, whole - low, whole - value
            turned = {"low": "high", "high": "low"}
            name = base + "".join(f"_{turned[end]}" for end in turned if name.endswith(f"_{end}"))
        key = name, tuple(sorted(about))
        self.numbers[key].append(Said(low, high, value + 0.0, source, is_turned))

    def say(self, name: str, about: Sequence[str], word: object, source: str) -> None:
        """Take note of a word."""
        said = self.words.setdefault((name, tuple(sorted(about))), {})
        said.setdefault(word, []).append(source)
        if name == "verdict":
            self.say("is apart", about, word == "apart", source)

    def add_interval(
        self, name: str, about: Sequence[str], ends: Sequence[Any], source: str
    ) -> None:
        """Take note of both ends of an interval."""
        for end, text in zip(("low", "high"), ends, strict=True):
            self.add(f"{name}_{end}", about, text, source)

    # tables, charts and JSON

    def read_rows(self, rows: Sequence[Row], source: str) -> None:
        """Read the rows of a table or a chart that has one for each bot, or each two bots."""
        rows = [
            {_NAMES.get(str(name), str(name)): cell for name, cell in row.items()} for row in rows
        ]
        known = {*self.order}
        if any("kind" in row or "Kind" in row for row in rows):  # of a part of a bot's games
            return
        rows = [row for row in rows if row.get("bot") in known]
        if any("pairs" in row for row in rows) and len({row["bot"] for row in rows}) < len(rows):
            most = max(int(row["pairs"]) for row in rows)  # how ratings settled: the last ones
            rows = [row for row in rows if int(row["pairs"]) == most]
        abouts = [_about(row) for row in rows]
        if len({*abouts}) < len(abouts):
            return
        for row, about in zip(rows, abouts, strict=True):
            if {*about} <= known:
                self._read_row(row, about, source)
        letters = {row["bot"]: row["group"] for row in rows if _is_text(row.get("group"))}
        self._read_letters({bot: one for bot, one in letters.items() if one != "none"}, source)

    def _read_row(self, row: Row, about: tuple[str, ...], source: str) -> None:
        is_page = not source.endswith(".csv") and "results." not in source
        for name in (*NUMBERS, *_ENDS):
            if name in row and row[name] is not None:
                cell = row[name]
                if name == "residual" and is_page:  # in percentage points
                    cell = f"{cell} %" if _is_text(cell) else cell
                self._read_cell(name, about, cell, source)
        if _is_text(row.get("verdict")):
            self.say("verdict", about, row["verdict"], source)
        measure = next((one for one in ("lead", "elo", "score") if one in row), None)
        if measure and (found := _RANGE.fullmatch(str(row.get("interval", "")))):
            per_cent = found[3] or ""
            self.add_interval(
                measure, about, [f"{one}{per_cent}" for one in found.group(1, 2)], source
            )
            if "side" not in row and "low" in row:  # what is drawn
                self.add_interval(measure, about, [row["low"], row["high"]], source)
        elif measure and "interval" not in row and "low" in row:
            self.add_interval(measure, about, [row["low"], row["high"]], source)
        if _is_text(row.get("text")) and "likely" in row:
            self.add("likely", about, row["text"], source)

    def _read_cell(self, name: str, about: Sequence[str], cell: Any, source: str) -> None:
        """Read a number, which may have its interval in brackets."""
        found = _CELL.fullmatch(cell) if isinstance(cell, str) else None
        if not found:
            self.add(name, about, cell, source)
            return
        per_cent = found[2] or ""
        self.add(name, about, found[1] + per_cent, source)
        low = found[5] or (found[4] if found[3] == "at least" else None)
        high = found[6] or (found[4] if found[3] == "at most" else None)
        ends = [one and one + per_cent for one in (low, high)]
        self.add_interval(name, about, ends, source)

    def _read_letters(self, letters: Mapping[str, str], source: str) -> None:
        for one, two in combinations(letters, 2):
            self.say("is apart", (one, two), not {*letters[one]} & {*letters[two]}, source)

    def read_data(self, data: Any, source: str) -> None:
        """Read whatever rows there are somewhere in plain data, and known sentences of it."""
        if isinstance(data, list):
            if data and all(isinstance(one, dict) for one in data):
                self.read_rows(data, source)
            for one in data:
                self.read_data(one, source)
        elif isinstance(data, dict):
            is_of_both = self.compared and {"elo", "elo_low", "elo_high", "new"} <= data.keys()
            if is_of_both and data.get("part", "total") == "total":
                self.add("lead", self.compared, data["elo"], source)
                self.add_interval(
                    "lead", self.compared, [data["elo_low"], data["elo_high"]], source
                )
            for line in data.get("more", []):
                self._read_place(line, source)
            for one in data.values():
                self.read_data(one, source)

    def _read_place(self, line: str, source: str) -> None:
        """Read what a row of the standings opens to: who is surely above and below."""
        bot, _, rest = line.partition(" is ")
        for clause in re.split(r", and |\. ", rest.rstrip(".")):
            others = clause.rpartition(" above " if " above " in clause else " below ")
            is_sure = bool(others[1]) and clause.startswith("surely ")
            if clause.startswith("Not apart from "):
                others = "", "", clause.removeprefix("Not apart from ")
            elif not is_sure:
                continue
            for other in others[2].split(", "):
                self.say("is apart", (bot, other), is_sure, source)

    # pages

    def read_html(self, page: str, source: str) -> None:
        """Read the tables, the charts and the sentences of a page."""
        part = r"<table[^>]*>(.*?)</table>|<script type=\"application/json\"[^>]*>(.*?)</script>"
        names: list[str] = []
        for number, found in enumerate(re.finditer(part, page, re.S)):
            where = f"{source} {number}"
            if found[1] is not None:
                names, rows = _read_table(found[1])
                self.read_rows(rows, where)
            else:
                data = json.loads(found[2])
                if isinstance(data, dict) and names and isinstance(data.get("rows"), list):
                    rest = [
                        [one[0] if isinstance(one, list) else one for one in row]
                        for row in data["rows"]
                    ]
                    self.read_rows([dict(zip(names, row, strict=True)) for row in rest], where)
                self.read_data(data, where)
        plain = re.sub(r"<(script|style|table)\b.*?</\1>", " ", page, flags=re.S)
        plain = re.sub(r"</(p|li|figcaption|h\d|div|summary|dd|dt)>", "\n", plain)
        self.read_text(unescape(re.sub(r"<[^>]*>", "", plain)), f"{source} text")

    def read_markdown(self, page: str, source: str) -> None:
        """Read the tables and the sentences of a page of Markdown."""
        lines = page.replace("\\", "").splitlines()
        for start, line in enumerate(lines[1:], 1):
            if line.startswith("| ---"):
                head = _split(lines[start - 1])
                rows = []
                for row in lines[start + 1 :]:
                    if not row.startswith("| "):
                        break
                    rows.append(dict(zip(head, _split(row), strict=True)))
                self.read_rows(rows, f"{source} {head[:3]} {start}")
        text = "\n".join(line for line in lines if not line.startswith("|"))
        self.read_text(text, f"{source} text")

    def read_text(self, text: str, source: str) -> None:
        """Read the standings of a terminal, and sentences."""
        letters = {}
        for rank, bot, elo, low, high, side, end, score, group in _STANDING.findall(text):
            self.add("rank", (bot,), rank, f"{source} standings")
            self.add("elo", (bot,), elo, f"{source} standings")
            ends = [
                low or (end if side == "at least" else ""),
                high or (end if side == "at most" else ""),
            ]
            self.add_interval("elo", (bot,), ends, f"{source} standings")
            self.add("score", (bot,), f"{score} %", f"{source} standings")
            if group != "-":
                letters[bot] = group
        self._read_letters(letters, f"{source} standings")
        for bot, side, end in _UNBOUNDED.findall(text):
            self.add(f"elo_{'low' if side == 'at least' else 'high'}", (bot,), end, source)
        for bot, elo, *ends in _RATED.findall(text):
            if bot in self.order:
                self.add("elo", (bot,), elo, source)
                self.add_interval("elo", (bot,), ends, source)
        for every, some, of in _APART.findall(text):
            count = len(self.judged) - 1 if every else int(some.replace("none", "0"))
            self.add("neighbours apart", (), count, source)
            self.add("neighbours", (), of or count, source)
        for line in _unwrap(text.splitlines()):
            for sentence in re.split(r"(?<=[.;]) +", line):
                self.read_sentence(sentence, source)

    @property
    def judged(self) -> list[str]:
        """The bots that have a verdict, in the order of the standings."""
        judged = {bot for name, about in self.words if name == "verdict" for bot in about}
        return [bot for bot in self.order if bot in judged]

    def derive(self, elos: Mapping[str, float]) -> None:
        """Take note of what follows: how many neighbours are apart, and leads from these Elo."""
        for one, two in combinations(sorted(elos), 2):
            lead = elos[one] - elos[two]
            self.numbers["lead", (one, two)].append(
                Said(lead - 0.1, lead + 0.1, lead, "the difference of the Elo", is_turned=False)
            )
        apart = [
            True in self.words.get(("is apart", tuple(sorted(two))), {})
            for two in pairwise(self.judged)
        ]
        self.add("neighbours apart", (), sum(apart), "counted")
        self.add("neighbours", (), len(apart), "counted")

    def read_sentence(self, sentence: str, source: str) -> None:
        """Read of which two bots a sentence gives the lead, how likely it is, and the verdict."""
        leads = [*_LEAD.finditer(sentence), *_DIFFERENCE.finditer(sentence)]
        ends, chances = _ONE_END.findall(sentence), _CHANCE.findall(sentence)
        has_numbers = bool(leads or ends or chances)
        named = self._name(sentence, has_numbers=has_numbers)
        if "eat 0" in sentence or (len(named) != 2 and not has_numbers):  # what a seat is worth
            return
        if "is the strongest with a probability" in sentence:
            self.add("first", named[:1], f"{chances[0][1]} %", source)
            return
        assert len(named) == 2, f"whose lead is it? {sentence!r} ({source})"
        for match in leads:
            value, low, high = match.groups()
            if "is weaker than" in sentence:
                value, low, high = f"-{value}", f"-{high}", f"-{low}"
            self.add("lead", named, value, source)
            self.add_interval("lead", named, (low, high), source)
        for side, end in ends:
            self.add(f"lead_{'low' if side == 'at least' else 'high'}", named, end, source)
        for above, chance in chances:
            self.add("likely", named, f"{above}{chance} %", source)
        for word in [word for turn, word in _WORDS.items() if turn in sentence][:1]:
            self.say("is apart", named, word == "apart", source)
            if word == "leans" or (word == "open" and len(self.order) == 2):
                self.say("verdict", named, word, source)

    def _name(self, sentence: str, *, has_numbers: bool) -> list[str]:
        """Return the bots that a sentence names, in its order."""
        places = [(_find(bot, sentence), bot) for bot in self.order]
        named = [bot for _, bot in sorted((found.start(), bot) for found, bot in places if found)]
        if self.compared and has_numbers and len(named) < 2:  # the new bot is at so much
            return [*self.compared]
        return named

    compared: Sequence[str] = ()
    """The two bots of a comparison, the new one first."""


def _unwrap(lines: Iterable[str]) -> list[str]:
    """Return lines in which a long one that ends within a sentence is one with the next."""
    found = [""]
    for line in lines:
        is_long = len(found[-1]) > 60 and not found[-1].endswith((".", ":"))
        if is_long and re.match(r"[a-z(\d]", line) and not found[-1].startswith(" "):
            found[-1] += f" {line}"
        else:
            found.append(line)
    return found


def _find(bot: str, sentence: str) -> re.Match[str] | None:
    return re.search(rf"(?<![\w]){re.escape(bot)}(?![\w])", sentence)


def _is_text(cell: Any) -> bool:
    return isinstance(cell, str) and bool(cell)


def _about(row: Row) -> tuple[str, ...]:
    opponent = next((row[name] for name in _OPPONENT if name in row), None)
    return (row["bot"],) if opponent is None else (row["bot"], opponent)


def _split(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split(" | ")]


def _read_table(table: str) -> tuple[list[str], list[Row]]:
    """Return the names of the columns of a table of HTML, and its rows."""
    head, _, body = table.partition("</thead>")
    heads = re.findall(r"<th\b([^>]*)>(.*?)(?=<th\b|</tr>|$)", head, re.S)
    names = []
    for attributes, text in heads:
        named = re.search(r'data-name="([^"]*)"', attributes)
        names.append(named[1] if named else _strip(text))
    rows = []
    for row in re.findall(r"<tr\b[^>]*>(.*?)(?=<tr\b|</tbody>|$)", body, re.S):
        cells = [
            _strip(cell) for cell in re.findall(r"<t[dh]\b[^>]*>(.*?)(?=<t[dh]\b|$)", row, re.S)
        ]
        if len(cells) == len(names):
            rows.append(dict(zip(names, cells, strict=True)))
    return names, rows


def _strip(text: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", text)).strip()
