"""A number of a run is one in its five places: CSV, terminal, JSON, page, library."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pytest

from arena.lanes.faults import Fault
from arena.library.results import Results
from arena.library.running import Comparison
from arena.runs.next_round import RunProgress
from arena.store.store import Store
from arena.tournament.config_keys import Anchor
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played
from arena.tournament.stop import Sprt
from arena.tournament.tournament import Tournament
from tests.reports.runs import cup, result
from tests.tiers import few

Said: TypeAlias = list[tuple[tuple[str, ...], str]]
"""All that a place says: a quantity of one or two bots, and the text."""

BOT = ("rank", "elo", "elo_low", "elo_high", "score", "group")
BOTH = ("lead", "lead_low", "lead_high", "likely", "verdict")
HEADS = {
    **{"Rank": "rank", "Bot": "bot", "Elo": "elo", "Group": "group", "Score": "score"},
    **{"Opponent": "opponent", "Lead": "lead", "Stronger": "likely", "Verdict": "verdict"},
}
LEAD_ENDS = {"lead", "lead_low", "lead_high"}
EXPECTED: tuple[dict[str, set[str]], dict[str, set[str]]] = (
    {place: {*BOT, *BOTH} for place in ("csv", "page", "markdown")}
    | {"terminal": {*BOT}, "sentence": {"lead_low"}},
    dict.fromkeys(("csv", "json", "compare", "sentence"), LEAD_ENDS),
)
"""What each place says at least: of a usual run, and of a comparison."""
N = r"([+-]?\d+(?:\.\d+)?)"
CELL = re.compile(rf"{N} \((at least |at most |{N}\.\.){N}\)")
STANDING = re.compile(
    rf"^ *(\d+)  (\S+) +(?:{N} +{N}\.\.{N}|at least {N}|at most {N}) +([\d.]+)%.* (\S+)$", re.M
)
LEAD = re.compile(rf"(\w+) leads (\w+) by (?:at least {N}|{N}) Elo(?: \({N}\.\.{N}\))?")
COMPARED = re.compile(rf"(?:by about|Elo difference) {N}[^\d]+(?:95 % interval )?{N}\.\.{N}")


class Form(NamedTuple):
    """A small run: what it is, who wins all games, and who forfeits some."""

    tournament: Tournament
    always: str = ""
    faulty: str = ""


FAULT = Fault("exception", "boom")
ALL, NEW = ["ann", "bea", "cid", "dan"], ["new", "old"]
FORMS = {
    "an unbeaten bot": Form(cup(ALL, 6), always="dan"),
    "a comparison": Form(cup(NEW, 16, stop=Sprt(0.0, 10.0, 0.05, 0.05, 16))),
    "some forfeits": Form(cup(ALL, 8, max_faults=50), faulty="cid"),
    "two": Form(cup(ALL[:2], 9)),
    "a gauntlet": Form(cup(ALL, 8, panel=3)),
    "Swiss": Form(cup([*ALL, "eve"], 4, rounds=3)),
    "an anchor": Form(cup(ALL[:3], 8, anchor=Anchor("bea", 1700.0))),
}


def play(form: Form) -> Results:
    """Return the results of random games, of which earlier labels win more."""
    store = Store(None)
    store.begin(form.tournament.manifest())
    progress = RunProgress(form.tournament, store)
    while not progress.ended and (chunks := [*progress.next_round(())]):
        for number, first, end in chunks:
            places = [(number, pair, seat) for pair in range(first, end) for seat in (0, 1)]
            games = [_game(form, place) for place in places]
            store.add(Played(Chunk(number, first, end - first), games, {}, 0.0))
    store.commit()
    return Results(form.tournament, store)


def _game(form: Form, place: tuple[int, int, int]) -> GameResult:
    is_faulty = form.faulty in form.tournament.fixture(*place).pairing and place[1] == 0
    return result(form.tournament, place, FAULT if is_faulty else None, form.always)


def read(rows: Iterable[Mapping[str, Any]]) -> Said:
    """Return what rows say that have some quantities of a bot, or of two."""
    said = Said()
    for row in rows:
        other = row.get("opponent") or row.get("next")
        about = (str(row["bot"]), *([str(other)] if other else []))
        for name in BOTH if other else BOT:
            cell, ends = str(row.get(name, "")).strip(), ("", "")
            if found := CELL.fullmatch(cell):
                cell, side, low, end = found.groups()
                ends = (low or ("" if side == "at most " else end), "" if "least" in side else end)
            written = {name: cell, f"{name}_low": ends[0], f"{name}_high": ends[1]}
            said += [((key, *about), text) for key, text in written.items() if text]
    return said


def read_text(text: str, both: list[str]) -> Said:
    """Return what the lines of a terminal, or sentences, say; `both` are those of a comparison."""
    rows = []
    for rank, bot, elo, low, high, least, most, score, group in STANDING.findall(text):
        one = {"rank": rank, "bot": bot, "elo": elo, "elo_low": low or least, "group": group}
        rows.append(one | {"elo_high": high or most, "score": f"{score} %"})
    for bot, other, least, lead, low, high in LEAD.findall(text):
        one = {"bot": bot, "opponent": other, "lead": lead, "lead_low": low or least}
        rows.append(one | {"lead_high": high})
    for lead, low, high in COMPARED.findall(text):
        one = dict(zip(("bot", "opponent"), both, strict=True))
        rows.append(one | {"lead": lead, "lead_low": low, "lead_high": high})
    return read(rows)


def markdown_rows(page: str) -> Iterator[dict[str, str]]:
    """Yield the rows of the tables of the standings and of leads."""
    head: list[str] = []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("| "):
            head = []
        elif not head:
            head = [HEADS.get(cell, cell) for cell in cells]
        elif "bot" in head and {*head} & {"group", "lead"} and "---" not in line:
            yield dict(zip(head, cells, strict=True))


def html_rows(page: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of those tables of a page, and of its chart of leads."""
    for table in re.findall(r"<table[^>]*>.*?</table>", page, re.DOTALL):
        names = re.findall(r'<th scope="col" data-name="(\w+)"', table)
        for row in re.findall(r"<tr>(.*?)(?=<tr>|</tbody>)", table.partition("<tbody>")[2], re.S):
            cells = re.findall(r"<t[dh][^>]*>([^<]*)", row)
            if "bot" in names and {*names} & {"group", "lead"}:
                yield dict(zip(names, map(unescape, cells), strict=True))
    for bot, lead, other, low, high in re.findall(
        rf"<title>(\S+): {N} Elo ahead of (\w+), 95 %: {N}\.\.{N};", page
    ):
        yield {"bot": bot, "opponent": other, "lead": lead, "lead_low": low, "lead_high": high}


def agrees(written: str, truth: object) -> bool:
    """Return whether a number is the true one, by its decimals; other words must be the same."""
    number = written.removesuffix("%").strip()
    if not re.fullmatch(N, number):
        return written == truth
    scale = 0.01 if written.endswith("%") else 1.0
    half = 0.5 * 10.0 ** -len(number.partition(".")[2])
    return isinstance(truth, float | int) and abs(float(number) - truth / scale) <= half + 1e-6


@pytest.mark.parametrize("name", few(FORMS, 2, 5))
def test_a_number_is_one_in_its_five_places(name: str, tmp_path: Path) -> None:
    """Every Elo, interval, score, letter, lead and verdict of the library, wherever it stands."""
    form, results = FORMS[name], play(FORMS[name])
    results.save(tmp_path / "run")
    compared = form.tournament.labels[:2] if form.tournament.comparison else []
    truth: dict[tuple[str, ...], Any] = {
        (key, *(row[column] for column in ("bot", "opponent")[: 1 + (names is BOTH)])): row[key]
        for names, table in ((BOT, results.standings), (BOTH, results.verdicts))
        for row in table.to_dict("records")
        for key in names
    }
    for _, bot, other in [key for key in truth if key[0] == "likely"]:
        truth["likely", other, bot] = 1 - truth["likely", bot, other]
        truth["verdict", other, bot] = truth["verdict", bot, other]
    report = results.report()
    places = {
        "csv": read(
            row
            for file in ("standings", "verdicts")
            for row in csv.DictReader((tmp_path / "run" / f"{file}.csv").open())
        ),
        "terminal": read_text(str(results), compared),
        "page": read(html_rows(report.html)),
        "markdown": read(markdown_rows(report.markdown())),
        "sentence": read_text(report.markdown(), compared),
    }
    if results._made.comparison:
        comparison = Comparison(results._made.comparison, results)
        one = comparison.document()
        ends = {f"lead{end}": one[f"elo{end}"] for end in ("", "_low", "_high")}
        places["json"] = read([{"bot": one["new"], "opponent": one["old"], **ends}])
        places["compare"] = read_text(str(comparison), compared)
    for place, said in places.items():
        assert [(key, text) for key, text in said if not agrees(text, truth[key])] == [], place
        assert {key[0] for key, _ in said} >= EXPECTED[bool(compared)].get(place, set()), place
