"""`arena rate`: runs, exported records and lists of others, rated together."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import arena as library
from tests.conftest import Arena, Once, run_here


def play(folder: Path) -> None:
    """Play two runs of one seed, and export the records of one."""
    for name, pairs, bots in (
        ("one", "4", "greedy uniform majority"),
        ("two", "6", "greedy uniform"),
    ):
        done = run_here(folder, "play", *bots.split(), "--pairs", pairs, "--out", name, "-q")
        assert done.returncode == 0, done.stderr
    assert run_here(folder, "export", "one", "-o", "one.jsonl").returncode == 0
    (folder / "mine.csv").write_text("bot,opponent,winner\ngreedy,new,new\nnew,greedy,draw\n")


@pytest.fixture
def runs(once: Once, tmp_path: Path) -> Path:
    """Return the folder of the test, with a copy of the runs."""
    shutil.copytree(once("rated", play), tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.mark.slow
def test_one_run_is_rated_as_it_was(arena: Arena, runs: Path) -> None:
    """The same bytes, from its store, from games.csv and from its records."""
    shutil.copytree(runs / "one", runs / "copy", ignore=shutil.ignore_patterns("*.sqlite"))
    for number, place in enumerate(("one", "copy", "one/games.csv", "one.jsonl")):
        done = arena("rate", place, "--out", f"rated{number}")
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        assert done.stdout.startswith("24 games of 3 bots: 12 pairs\nrank  bot")
        assert done.stdout.endswith(f"results in rated{number}/\n")
        for name in ("standings", "head_to_head", "win_types"):
            written = (runs / f"rated{number}" / f"{name}.csv").read_bytes()
            assert written == (runs / "one" / f"{name}.csv").read_bytes(), name


@pytest.mark.slow
def test_several_runs_and_a_list_are_rated_together(arena: Arena, runs: Path) -> None:
    """The games of the seed that both runs have count once; the report has the lists."""
    done = arena("rate", "one", "two", "mine.csv", "--anchor", "uniform=1000", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("30 games of 4 bots: 14 pairs and 2 single games\n")
    assert done.stderr.splitlines() == [
        "note: 8 games there twice, by seed and pair: counted once",
        "note: no table says how games of greedy and new were won: 1 of 30 have no win_type",
    ]
    report = (runs / "out" / "report.md").read_text()
    assert "| mine.csv | 2 |" in report
    assert "profile-1" not in report
    assert arena("rate", "one", "--out", "out").returncode == 0  # written again
    assert "mine.csv" not in (runs / "out" / "report.md").read_text()
    found = library.rate(runs / "one", runs / "mine.csv")
    assert found.standings["bot"].iloc[0] == "new"
    assert " ".join(str(found).split()).endswith(found.headline)


MISTAKES = {
    "one one": "error: one: named twice; name different ones",
    "one ./one": "error: one: named twice; name different ones",
    "nowhere": "error: nowhere: No such file or directory",
    ".": "error: .: not a run, but holds runs: one, two",
    "one --out two": "error: two: holds other files; choose a new folder",
    "one --out mine.csv": "error: mine.csv: cannot be written: Not a directory",
    "one --anchor new=3": "error: anchor: no bot 'new' in this run; there are greedy, uniform,",
    "one --anchor greedy": "error: anchor: expected a bot and its Elo",
    "one --anchor greedy=1+-nan": "error: anchor: expected a bot and its Elo",
    "one --anchor greedy=1+--1": "error: anchor: expected a bot and its Elo",
    "one --anchor greedy=1 --anchor greedy=2": "error: anchor: 'greedy' is named twice",
    "one/standings.csv": "error: one/standings.csv: column opponent is missing",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_is_one_line(arena: Arena, runs: Path, words: str) -> None:
    """With exit status 2, and nothing is written."""
    before = sorted(runs.rglob("*"))
    done = arena("rate", *words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(MISTAKES[words])
    assert done.stderr.count("\n") == 1
    assert sorted(runs.rglob("*")) == before


def test_unfinished_records_are_left_out(arena: Arena, runs: Path) -> None:
    """And counted; a record without bots is an error."""
    lines = (runs / "one.jsonl").read_text().splitlines()
    record = json.loads(lines[0])
    nothing = {"winner": None, "win_type": None}
    half = json.dumps(record | nothing | {"actions": record["actions"][:9]})
    (runs / "more.jsonl").write_text("\n".join([*lines, "", half]) + "\n")
    done = arena("rate", "more.jsonl")
    assert done.stdout.startswith("24 games of 3 bots: 12 pairs\n")
    assert done.stderr == "note: more.jsonl: not finished: 1 game, left out\n"
    del record["bots"]
    (runs / "none.jsonl").write_text(json.dumps(record))
    done = arena("rate", "none.jsonl")
    assert done.stderr == "error: none.jsonl: line 1: the record does not name its bots\n"


MISSTATED: list[tuple[dict[str, Any], str]] = [
    ({"winner": "uniform"}, "winner is 'uniform', and the record gives 'greedy'"),
    ({"winner": 1}, "winner is 'uniform', and the record gives 'greedy'"),
    ({"winner": None}, "winner is None, and the record gives 'greedy'"),
    ({"win_type": "city"}, "win_type is 'city', and the record gives 'points'"),
    ({"points": [0, 0]}, "points is [0, 0], and the record gives ["),
    ({"points": {"\x1b[2J": "x" * 999}}, "points is {"),
    ({"actions": "5"}, "illegal action"),
    ({"actions": "?"}, "'?' at index 0 is not an action"),
    ({"actions": ""}, "winner is 'greedy', and the record gives None"),
    (
        {"fault": {"bot": "greedy", "kind": "illegal"}},
        "winner is 'greedy', and the rec",
    ),
    ({"rules": {"set_bonus": 500}}, "points is ["),
    ({"deal": 5}, "a record needs a string 'deal'"),
]
"""Changes of a line, and what is said of it."""


@pytest.mark.parametrize(("change", "why"), MISSTATED)
def test_a_line_that_does_not_state_its_result_is_an_error(
    arena: Arena, runs: Path, change: dict[str, Any], why: str
) -> None:
    """Of `rate`, `report` and `verify`, each with the number of the line; nothing is written."""
    first, *lines = (runs / "one.jsonl").read_text().splitlines()
    assert json.loads(first)["win_type"] == "points"
    (runs / "wrong.jsonl").write_text(
        "\n".join([*lines, "", json.dumps(json.loads(first) | change)])
    )
    for words, status in (
        (("rate", "wrong.jsonl"), 2),
        (("report", "wrong.jsonl"), 2),
        (("verify", "wrong.jsonl"), 1),
    ):
        done = arena(*words)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (status, "", 1)
        assert done.stderr.startswith(f"error: wrong.jsonl: line {len(lines) + 2}: ")
        assert why in done.stderr
    assert not [*runs.glob("wrong.*ml")]


@pytest.mark.slow
def test_records_have_a_report_and_are_verified(arena: Arena, runs: Path) -> None:
    """The standings are those of the run, in the table of the report, too."""
    done = arena("report", "one.jsonl", "--out", "page.html")
    assert (done.returncode, done.stdout) == (0, "report in page.html and page.md\n")
    for row in (runs / "one" / "standings.csv").read_text().splitlines()[1:]:
        _, label, elo, *_ = row.split(",")
        assert re.search(rf"\b{label}\b.*\b{float(elo):.0f}\b", (runs / "page.md").read_text())
    assert not arena("report", "one.jsonl").returncode
    assert (runs / "one.md").read_text() == (runs / "page.md").read_text()
    verified = arena("verify", "one.jsonl")
    assert verified.stdout.splitlines() == [
        "games: 24 replayed",
        "bots: not replayed: a file of records has neither their sources nor their seeds",
    ]
    document = json.loads(arena("verify", "one.jsonl", "--json").stdout)
    assert (document["ok"], document["difference"]) == (True, None)
    (runs / "nothing.jsonl").write_text("\n")
    for words, why in (
        (("report", "one", "one.jsonl"), "one.jsonl: a file has a report of its own; arena rate"),
        (("verify", "nothing.jsonl"), "nothing.jsonl: no game records"),
        (("verify", "one/games.csv"), "one/games.csv: a file of a run; name its folder: one"),
    ):
        done = arena(*words)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert done.stderr.startswith(f"error: {why}")


@pytest.mark.slow
def test_records_with_forfeits_are_rated_as_the_run(arena: Arena, tmp_path: Path) -> None:
    """Also those by rule, and a fault after the last action, as in a bot's last message."""
    (tmp_path / "wrong.py").write_text(
        "class Wrong:\n"
        "    def choose(self, view, /):\n"
        "        return view.legal[0] if len(view.history) < 9 else 99\n"
        "def bot(setup):\n"
        "    return Wrong()\n"
    )
    config = {"bots": ["greedy", "./wrong.py", "uniform"], "pairs": 4, "max_faults": 5}
    (tmp_path / "cup.yaml").write_text(json.dumps(config))
    assert not arena("run", "cup.yaml", "--workers", "1", "-q", "--out", "run").returncode
    assert not arena("export", "run", "-o", "run.jsonl").returncode
    lines = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    assert {line["fault"]["kind"] for line in lines if "fault" in line} == {"illegal", "max_faults"}
    assert not arena("rate", "run.jsonl", "--out", "rated").returncode
    for name in ("standings", "head_to_head", "win_types"):
        written = (tmp_path / "rated" / f"{name}.csv").read_bytes()
        assert written == (tmp_path / "run" / f"{name}.csv").read_bytes(), name
    assert not arena("verify", "run.jsonl").returncode
    (line,) = [one for one in lines if one["game"] == "greedy/uniform/0/0"]
    loser = next(bot for bot in line["bots"] if bot != line["winner"])
    late = {
        "winner": loser,
        "win_type": "forfeit",
        "fault": {"bot": line["winner"], "kind": "crash"},
    }
    (tmp_path / "late.jsonl").write_text(json.dumps(line | late))
    assert not arena("verify", "late.jsonl").returncode
    early = next(one for one in lines if "fault" in one and one["actions"])
    other = next(bot for bot in early["bots"] if bot != early["fault"]["bot"])
    turned = {"winner": early["fault"]["bot"], "fault": {**early["fault"], "bot": other}}
    (tmp_path / "turned.jsonl").write_text(json.dumps(early | turned))
    said = f"fault.bot is {other!r}, and it was the turn of {early['fault']['bot']!r}"
    assert said in arena("verify", "turned.jsonl").stderr
