"""`arena rate`, `report`, `compare` and `plan`: runs, records and lists, and what is printed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import arena as library
from bench.studies import plan
from tests.conftest import Arena, Once, run_here
from tests.kit import forge, refused
from tests.rogues import write

BOTS = {
    "one": "greedy uniform majority --pairs 4",
    "two": "greedy uniform --pairs 6",
    "first": "greedy uniform mine=greedy(patience=2.5) --pairs 4 --seed 3",
    "second": "greedy uniform mine=greedy(patience=1) --pairs 4 --seed 3",
    "third": "majority denier --pairs 4 --seed 3",
}


def play(folder: Path) -> None:
    """Play two runs of one seed, and export the records of one; play three to be reported."""
    for name, words in BOTS.items():
        done = run_here(folder, "play", *words.split(), "--out", name, "-q")
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
    "rate one one": "one: named twice; name different ones",
    "rate one ./one": "one: named twice; name different ones",
    "rate nowhere": "nowhere: No such file or directory",
    "rate .": ".: not a run, but holds runs: empty, first, link, one, second, third, two",
    "rate one --out two": "two: holds other files; choose a new folder",
    "rate one --out mine.csv": "mine.csv: cannot be read: Not a directory",
    "rate one --anchor new=3": "anchor: no bot 'new' in this run; there are greedy, uniform,",
    "rate one --anchor greedy": "anchor: expected a bot and its Elo",
    "rate one --anchor greedy=1+-nan": "anchor: expected a bot and its Elo",
    "rate one --anchor greedy=1+--1": "anchor: expected a bot and its Elo",
    "rate one --anchor greedy=1 --anchor greedy=2": "anchor: 'greedy' is named twice",
    "rate one/standings.csv": "one/standings.csv: column opponent is missing",
    "report nothing": "nothing: no such file or run",
    "report one nothing": "nothing: no such file or run",
    "report .": ".: not a run, but holds runs: empty, first, link, one, second, third, two",
    "report one --out page.txt": "--out page.txt: not the name of a page, such as",
    "report empty": "empty: no game has been played yet",
    "report one empty": "empty: no game has been played yet",
    "report one one.jsonl": "one.jsonl: a file, and a run is a folder",
    "report": "Missing argument 'RUN [RUN ...]'",
    "verify nothing.jsonl": "nothing.jsonl: a file, and a run is a folder",
    "verify one/games.csv": "one/games.csv: a file of a run; name its folder: one",
}


def test_a_mistake_is_one_line(arena: Arena, runs: Path) -> None:
    (runs / "link").symlink_to("two")
    (runs / "nothing.jsonl").write_text("\n")
    shutil.copytree(runs / "third", runs / "empty")
    forge(runs / "empty" / "run.sqlite", "DELETE FROM games")
    before = sorted(runs.rglob("*"))
    for words, message in MISTAKES.items():
        assert refused(arena(*words.split())).startswith(message), words
    assert sorted(runs.rglob("*")) == before


def test_unfinished_records_are_left_out(arena: Arena, runs: Path) -> None:
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
    said = refused(arena("rate", "none.jsonl"))
    assert said == "none.jsonl: line 1: the record does not name its bots"


MISSTATED: list[tuple[dict[str, Any], str]] = [
    ({"winner": "uniform"}, "winner is 'uniform', and the record gives 'greedy'"),
    ({"winner": 1}, "winner is 'uniform', and the record gives 'greedy'"),
    ({"winner": None}, "winner is None, and the record gives 'greedy'"),
    ({"winner": False}, "winner is False, and the record gives 'greedy'"),
    ({"winner": False, "bots": None}, "winner is False, and the record gives 'seat "),
    ({"win_type": "city"}, "win_type is 'city', and the record gives 'points'"),
    ({"points": [0, 0]}, "points is [0, 0], and the record gives ["),
    ({"points": {"\x1b[2J": "x" * 999}}, "points is {"),
    ({"actions": "5"}, "illegal action"),
    ({"actions": "?"}, "'?' at index 0 is not an action"),
    ({"actions": ""}, "winner is 'greedy', and the record gives None"),
    ({"fault": {"bot": "greedy", "kind": "illegal"}}, "winner is 'greedy', and the rec"),
    ({"rules": {"set_bonus": 500}}, "points is ["),
    ({"deal": 5}, "a record needs a string 'deal'"),
]
"""Changes of a line, and what is said of it."""


@pytest.mark.parametrize(("change", "why"), MISSTATED)
def test_a_line_that_does_not_state_its_result_is_an_error(
    arena: Arena, runs: Path, change: dict[str, Any], why: str
) -> None:
    """Of each command, with the number of the line; nothing is written."""
    first, *lines = (runs / "one.jsonl").read_text().splitlines()
    assert json.loads(first)["win_type"] == "points"
    wrong, number = json.dumps(json.loads(first) | change), f"{len(lines) + 2}"
    (runs / "wrong.jsonl").write_text("\n".join([*lines, "", wrong]))
    for verb, status in {"rate": 2, "show": 2, "view": 2}.items():
        done = arena(verb, "wrong.jsonl", *["--line", number] * (verb in ("show", "view")))
        assert (done.returncode, done.stderr.count("\n")) == (status, 1)
        assert not done.stdout or (verb, why) == ("show", "illegal action")  # the plies before it
        assert done.stderr.startswith(f"error: wrong.jsonl: line {number}")
        assert why in done.stderr
    assert not [*runs.glob("wrong*.*ml")]
    done = arena("replay", "wrong.jsonl")
    line = done.stdout.splitlines()[-1]
    assert (done.returncode, line.startswith(f"line {number}: "), why in line) == (1, True, True)


@pytest.mark.slow
def test_records_with_forfeits_are_rated_as_the_run(arena: Arena, tmp_path: Path) -> None:
    """Also those by rule, and a fault after the last action, as in a bot's last message."""
    write(tmp_path, "wrong", "return view.legal[0] if len(view.history) < 9 else 99")
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
    assert not arena("replay", "run.jsonl").returncode
    (line,) = [one for one in lines if one["game"] == "greedy/uniform/0/0"]
    loser = next(bot for bot in line["bots"] if bot != line["winner"])
    crash = {"bot": line["winner"], "kind": "crash"}
    late = line | {"winner": loser, "win_type": "forfeit", "fault": crash}
    (tmp_path / "late.jsonl").write_text(json.dumps(late))
    assert not arena("replay", "late.jsonl").returncode
    early = next(one for one in lines if "fault" in one and one["actions"])
    other = next(bot for bot in early["bots"] if bot != early["fault"]["bot"])
    turned = {"winner": early["fault"]["bot"], "fault": {**early["fault"], "bot": other}}
    (tmp_path / "turned.jsonl").write_text(json.dumps(early | turned))
    said = f"fault.bot is {other!r}, and it was the turn of {early['fault']['bot']!r}"
    assert said in arena("replay", "turned.jsonl").stdout


@pytest.mark.slow
def test_a_run_is_written_again_with_the_time_that_bots_took(arena: Arena, runs: Path) -> None:
    """In its folder, twice the same; a run's own report has no clock reading."""
    heads = [(runs / "first" / "report.md").read_text()]
    for _ in range(2):
        done = arena("report", "first")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == "report in first/report.html and first/report.md\n"
        heads.append((runs / "first" / "report.md").read_text())
    assert heads[1] == heads[2]
    has_time = ["Time" in text.split("## Head to head")[0] for text in heads]
    assert has_time == [False, True, True]
    assert arena("verify", "first", "--sample", "0").returncode == 0


@pytest.mark.slow
def test_runs_are_compared_in_results_or_where_it_is_asked_for(arena: Arena, runs: Path) -> None:
    made = "results/report-first-second"
    assert arena("report", "first", "second").stdout == f"report in {made}.html and {made}.md\n"
    text = (runs / f"{made}.md").read_text()
    assert "# second, compared with first\n" in text
    assert "| second | mine@second | mine |" in text
    many = arena("report", "first", "second", "third")
    assert f"{made}-and-1-more.html" in many.stdout
    assert (runs / f"{made}-and-1-more.html").is_file()
    assert arena("report", "first", "second", "--out", "deep/er/page.html").returncode == 0
    assert (runs / "deep/er/page.md").read_text() == text


def test_nothing_but_an_earlier_report_is_replaced(arena: Arena, runs: Path) -> None:
    for name in ("page.html", "notes.md"):
        (runs / name).write_text("mine")
    (runs / "folder.html").mkdir()
    for out, named in (("page", "page.html"), ("notes", "notes.md"), ("folder", "folder.html")):
        assert refused(arena("report", "first", "--out", f"{out}.html")).startswith(f"{named}: ")
    assert (runs / "page.html").read_text() == (runs / "notes.md").read_text() == "mine"
    assert not (runs / "notes.html").exists()
    assert arena("report", "third", "--out", "new.html").stdout == "report in new.html and new.md\n"
    assert (runs / "new.html").is_file()
    assert (runs / "new.md").is_file()


@pytest.mark.slow
def test_a_run_under_way_is_reported_as_it_is(arena: Arena, runs: Path) -> None:
    """The report says how many games there are; the store stays as it was."""
    store = runs / "first" / "run.sqlite"
    forge(store, "DELETE FROM games WHERE pairing = 2 OR pair > 2")
    before = store.read_bytes()
    assert arena("report", "first", "--out", "page.html").returncode == 0
    assert "Not finished: 12 of 24 games." in (runs / "page.md").read_text()
    assert arena("report", "second", "first", "--out", "both.html").returncode == 0
    assert "Not finished, so as far as it was played: first." in (runs / "both.md").read_text()
    assert store.read_bytes() == before


def test_the_sentence_is_that_of_the_library(arena: Arena) -> None:
    done = arena("plan", "greedy", "uniform", "denier", "--gap", "60")
    assert (done.returncode, done.stderr) == (0, "")
    found = library.plan(3, gap=60)
    assert done.stdout == f"{found}\n"
    assert found.games == 6 * found.pairs
    document = json.loads(arena("plan", "3", "--gap", "60", "--json").stdout)
    assert document == {name: getattr(found, name) for name in document}
    assert {*document} == {"pairs", "games", "first", "sentence"}
    for wrong in (2.5, None, True, [1, 2]):
        with pytest.raises(library.InputError, match="neither a bot"):
            library.plan(wrong, gap=20)  # type: ignore[arg-type]


@pytest.mark.study
@pytest.mark.parametrize(("bots", "gap"), plan.FIELDS[:4])
def test_a_plan_is_right_within_ten_per_cent(bots: int, gap: float) -> None:
    """The pairs are those with which simulated runs have the power."""
    pairs, power, right = plan.row(bots, gap)
    assert pairs / right == pytest.approx(1, abs=0.1)
    assert power == pytest.approx(0.8, abs=0.05)
