"""The real command in a folder of its own: its files, what its words ask for, first contact."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import sys
from itertools import groupby
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from arena.__main__ import main
from arena.check.item import NOT_JAILED, Item, Status, format_item, to_data
from arena.cli import _make_lasting, _Terminal, cli, report_commands
from arena.cli.play import _print_comparison
from arena.cli.starting import count_games, describe_interruption
from arena.entries.resolve import resolve
from arena.lanes.limits import Limits
from arena.processes import exit_on_termination, interrupt_on_termination, interrupted_by
from arena.replays.finished_game import Game
from arena.runs.run import Interrupted
from arena.tournament.config_keys import Venue
from arena.tournament.tournament import Tournament, replay_commands
from engine import Record, Rules
from tests import ROOT, markdown
from tests.conftest import Arena, run_command, run_here, start_command
from tests.console import COMMANDS, Console
from tests.kit import assert_none_is_left, csv_rows, refused, run_program, same_files
from tests.rogues import write
from tests.tiers import few, tier
from tests.waiting import PATIENCE, until

TABLES = ("games", "standings", "head_to_head", "win_types", "verdicts", "faults")
TABLES += ("wins", "takes", "cards")
DETERMINISTIC = {"manifest.json", "report.html", "report.md", "README.md"}
DETERMINISTIC |= {f"{table}.csv" for table in TABLES}
OTHERS = {"run.log", "run.sqlite", "timings.csv"}
CUP = "name: cup\nseed: 0\npairs: 40\nbots: [uniform, greedy, majority]\n"
SEED_5 = "seed: 5\npairs: 40\nbots: [uniform, greedy]\n"


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    (tmp_path / "cup.yaml").write_text(CUP)
    return tmp_path / "results" / "cup"


def test_a_run_leaves_its_files_and_they_add_up(arena: Arena, cup: Path) -> None:
    """Every game is counted once for each bot, and win types add up to wins."""
    done = arena("run", "cup.yaml", "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in cup.rglob("*.*")} == DETERMINISTIC | OTHERS
    games = csv_rows(cup / "games.csv")
    assert len(games) == 3 * 40 * 2
    by_bot = {row["bot"]: row for row in csv_rows(cup / "standings.csv")}
    for name, row in by_bot.items():
        own = [game for game in games if name in (game["bot"], game["opponent"])]
        wins = [game["win_type"] for game in own if game["winner"] == name]
        assert int(row["games"]) == len(own) == 160
        assert int(row["wins"]) == len(wins)
        for win_type in ("city", "points", "tiebreak", "forfeit"):
            assert int(row[f"{win_type}_wins"]) == wins.count(win_type)
    types = ("city_wins", "points_wins", "tiebreak_wins", "forfeit_wins")
    for table in ("standings.csv", "head_to_head.csv", "win_types.csv"):
        lines = csv_rows(cup / table)
        assert sum(int(row["games"]) for row in lines) == 2 * len(games)
        for row in lines:
            assert sum(int(row[column]) for column in types) == int(row["wins"])
            assert int(row["games"]) == sum(int(row[c]) for c in ("wins", "draws", "losses"))
    assert sum(float(row["elo"]) for row in by_bot.values()) == pytest.approx(4500, abs=0.2)


@pytest.mark.slow
def test_the_log_has_lines_of_the_parent_and_its_workers(
    arena: Arena, cup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Start and end come from the parent, a line from every worker; an earlier log is kept."""
    monkeypatch.setattr("arena.executors.local._ALONE", 0.0)
    monkeypatch.setattr("arena.executors.local.is_harmless", lambda _: False)
    for _ in range(2):
        arena("run", "cup.yaml", "--pairs", "20", "--workers", "2", "--fresh", "--no-repeat")
    log = (cup / "run.log").read_text().splitlines()
    assert sum("MainProcess INFO run cup: 120 games, 2 workers" in line for line in log) == 2
    assert sum("MainProcess INFO run cup: played 120 games in" in line for line in log) == 2
    workers = [line for line in log if "INFO worker ready" in line]
    assert len(workers) == 4
    assert not any("MainProcess" in line for line in workers)


@pytest.mark.parametrize("counts", few([(1, 3), (1, 2, 7)], 0, 1))
def test_bytes_depend_on_config_and_seed_only(
    arena: Arena, cup: Path, counts: tuple[int, ...]
) -> None:
    """Any number of workers and another PYTHONHASHSEED write the same bytes."""
    runs = []
    for hash_seed, workers in enumerate(map(str, counts)):
        words = ("run", "cup.yaml", "--workers", workers, "--pairs", "12", "--fresh")
        assert run_command(cup.parents[1], *words, PYTHONHASHSEED=str(hash_seed)).returncode == 0
        runs.append(same_files(cup))
    assert set(runs[0]) == DETERMINISTIC
    assert all(one == runs[0] for one in runs)
    arena("run", "cup.yaml", "--seed", "1", "--pairs", "12", "--fresh")
    assert same_files(cup)["games.csv"] != runs[0]["games.csv"]


@pytest.mark.slow
def test_the_summary_fits_80_columns_of_a_terminal(arena: Arena, cup: Path) -> None:
    words = "run", "cup.yaml", "--pairs", "2", "--bot", f"{'long' * 15}=uniform"
    done = arena(*words)
    assert f"{'long' * 15} " in done.stdout
    status, shown = (console := Console(cup.parent.parent, *words)).end()
    console.kill()
    assert status == 0, shown
    lines = [line.rpartition("\r")[2] for line in shown.split("\r\n")]
    assert max(map(len, lines)) == 80
    assert any("longlongl\u2026longlong" in line for line in lines), lines


def test_replay_prints_a_line_for_every_record(arena: Arena, tmp_path: Path) -> None:
    """JSON with --json, sentences without; the status is 1 if a record is bad."""
    deal = "555556666667777777888888882222334xxxyyyyzzCCC"
    good = json.dumps({"deal": deal, "actions": "56T"})
    (tmp_path / "games.jsonl").write_text(f"{good}\nnot json\n{good}\n")
    done = arena("replay", "games.jsonl", "--json")
    assert done.returncode == 1
    judgements = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line.get("plies", line.get("error")) for line in judgements] == [3, "bad-json", 3]
    assert arena("replay", "games.jsonl").stdout.count("unfinished after 3 plies") == 2
    (tmp_path / "games.jsonl").write_text(good)
    assert arena("replay", "games.jsonl").returncode == 0


QUICK = {"", "bots", "replay"}
"""Commands that take no second; what the others do is tried in the tests of their rooms."""
LONG = {"ablate", "analyse", "check", "export", "probe", "tune", "view"}
"""Commands that take long; examples of some are on their pages, too."""


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(name, marks=tier((name not in QUICK) + (name in LONG), 1, 1))
        for name in ("", *sorted(COMMANDS.keys() - {"table", "serve-bot"}))
    ],
)
def test_every_help_has_an_example_that_works(arena: Arena, tmp_path: Path, command: str) -> None:
    """The words after `Example:` are run in a folder with the repository's files, with 4 pairs."""
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    (tmp_path / "my_bot.py").write_text((ROOT / "bots" / "uniform.py").read_text())
    help_text = arena(*command.split(), "--help").stdout
    example = help_text.split("Example:\n")[1].split("\n\n")[0].strip()
    done = markdown.run(re.sub(r"pairs \d+", "pairs 4", example), tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout


Asked = tuple[Tournament, tuple[int, int] | None]
"""What a command would have played, and the pair and the seat of a single game."""


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Asked]:
    """Return a list that collects what commands ask for; no bot and no process is started."""
    calls: list[Asked] = []

    def play_again(tournament: Tournament, pair: int, seat: int, _: Venue) -> Game:
        calls.append((tournament, (pair, seat)))
        return Game(Record("", ""), ("", ""), None, "draw", (0, 0), None)

    def play(what: Tournament, *_: object, **__: object) -> SimpleNamespace:
        calls.append((what, None))
        return SimpleNamespace(comparison=None)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("arena.runs.run.run", play)
    monkeypatch.setattr("arena.runs.rerun.play_again", play_again)
    monkeypatch.setattr("arena.runs.rerun.probe", lambda *_: [])
    monkeypatch.setattr("arena.processes.adopt_orphans", lambda: None)
    return calls


def run(asked: list[Asked], *words: str, config: str = SEED_5) -> Tournament:
    """Return the tournament that `arena run` with these words asks for."""
    Path("cup.yaml").write_text(config)
    cli.main(["run", "cup.yaml", "--quiet", *words], standalone_mode=False)
    return asked.pop()[0]


def test_the_config_yields_to_the_command_line(asked: list[Asked]) -> None:
    """In seed and pairs, and in the lane of all bots; a bot of the command line comes last."""
    for words, seed, pairs in (("", 5, 40), ("--seed 0", 0, 40), ("--seed 9 --pairs 1", 9, 1)):
        tournament = run(asked, *words.split())
        assert (tournament.seed, tournament.pairs) == (seed, pairs)
    tournament = run(
        asked, "--bot", "more=uniform", "--lane", "jail", config=f"{SEED_5}lane: process\n"
    )
    assert tournament.labels == ["uniform", "greedy", "more"]
    assert [entry.lane for entry in tournament.entries] == ["jail"] * 3
    cli.main(["play", "greedy", "uniform", "--out", "o", "--quiet"], standalone_mode=False)
    assert asked.pop()[0].pairs == 100


def test_a_command_asks_for_the_game_that_it_was_written_for(asked: list[Asked]) -> None:
    """Its words give the same bots, lanes, seed, rules, limits, pair and seat."""
    bots = [resolve("first=greedy(patience=1.5)", lane="process"), resolve("uniform", lane="jail")]
    rules, limits = Rules(set_bonus=7), Limits(decision=3.0, game=60.0, memory=64)
    tournament = Tournament("cup", 9, 10, bots, rules, limits)
    for pair, seat in ((0, 1), (4, 0)):
        words = shlex.split(replay_commands(tournament)(tournament.fixture(0, pair, seat)))
        cli.main(words[1:], standalone_mode=False)
        same, place = asked.pop()
        assert place == (pair, seat)
        assert [*same.entries] == bots
        assert (same.seed, same.rules, same.limits) == (9, rules, limits)


DUEL = "play greedy uniform --pairs 1 --workers 1"
FAILS = "play greedy ./mine.py uniform --pairs 6 --lane inproc --workers 1"
COMPARED = "compare greedy uniform --max-pairs 16 --workers 1"
APART = "greedy is stronger than uniform: it scored 81.2 %."
TEST = [
    "Elo difference +234.5, 95 % interval 96.6..521.4 (corrected for early stopping)",
    "16 pairs, by the score of greedy:",
    "  0: 1, 1/2: 0, 1: 4, 3/2: 0, 2: 11",
    "test of an Elo difference of 0 (H0) against 10 (H1): undecided",
    "log-likelihood ratio 0.38, bounds -2.94 and 2.94",
]
REPEAT = (
    "repeat with: arena compare greedy uniform --elo0 0 --elo1 10 --alpha 0.05 --beta 0.05 "
    "--max-pairs 16 --seed 0"
)
CPU = "CPU time: workers SECONDS, parent SECONDS, files SECONDS"
PLAYED = ["2 games in SECONDS, SPEED", "greedy and uniform are not told apart.", "TABLE", "FOUND"]
SCREENS: dict[str, tuple[list[str], list[str]]] = {
    DUEL: ([*PLAYED, CPU], []),
    f"{DUEL} --quiet": (["TABLE"], []),
    f"{DUEL} --out quiet --quiet": ([], []),
    f"{DUEL} --verbose": (
        [*PLAYED, CPU],
        ["run play: 2 games, 1 worker", "run play: played 2 games in SECONDS", CPU],
    ),
    f'{DUEL} --out duel --rules {{"set_bonus":3}} --deals deals.txt': (
        [
            *(PLAYED[0], "uniform and greedy are not told apart.", "TABLE"),
            "Played under changed rules: set_bonus=3 (published: 5).",
            "Played on 1 fixed deal, the same for every two bots: the results are about these "
            "deals.",
            *("FOUND", "results in duel/", CPU),
        ],
        [],
    ),
    f"{FAILS} --out fails": (
        [
            "SOME games in SECONDS, SPEED",
            "greedy is probably stronger than uniform, but not surely.",
            *("TABLE", "FOUND", "24 forfeits: see fails/faults.csv"),
            *("mine was out after 10 exceptions", "results in fails/", CPU),
        ],
        [
            "mine forfeits a game (exception, ply 1): ValueError: boom",
            "  File \"mine.py\", line 6, in choose: raise ValueError('boom')",
            "  to see it again: arena game greedy ./mine.py --seed 0 --pair 0 --seat 0 "
            "--lane inproc --lane inproc",
            "mine is out after 10 exceptions: its remaining games are forfeits",
        ],
    ),
    f"{COMPARED} --quiet": ([APART], []),
    f"{COMPARED} --out compared": (
        [APART, *TEST, "32 games in SECONDS, SPEED", REPEAT, "results in compared/"],
        [],
    ),
    f"{COMPARED} --out compared --lane inproc": (
        [
            *(APART, *TEST, "nothing was left to play: all 32 games were played before"),
            *(REPEAT, "results in compared/"),
        ],
        [],
    ),
}
"""What a command prints, and what it says on standard error, but for numbers and findings."""


def lines_of(text: str) -> list[str]:
    """Return lines without the readings of a clock; a table and findings are a word each."""
    text = re.sub(r"[\d,.]+ games/s", "SPEED", re.sub(r"[\d,.]+ s\b", "SECONDS", text))
    text = re.sub(r"^2\d games", "SOME games", text)  # those that are left depend on the chunks
    text = re.sub(r"(?m)^(rank| +\d+  ).*", "TABLE", text)
    text = re.sub(r"(?m)^(seat 0 scores|\w+ is (unbeaten|winless)).*", "FOUND", text)
    return [line for line, _ in groupby(text.splitlines())]


@pytest.mark.parametrize("words", SCREENS)
def test_a_command_says_each_thing_once_and_where_it_belongs(
    arena: Arena, tmp_path: Path, words: str
) -> None:
    """Below the sentence and the table what was changed, and whose games are forfeits."""
    write(tmp_path, "mine", "raise ValueError('boom')")
    (tmp_path / "deals.txt").write_text("555556666667777777888888882222334xxxyyyyzzCCC\n")
    if words.endswith("compared --lane inproc"):  # it finds the games of the same words before
        arena(*words.removesuffix(" --lane inproc").split())
    done = arena(*words.split())
    assert (lines_of(done.stdout), lines_of(done.stderr), done.returncode) == (*SCREENS[words], 0)


def test_a_comparison_says_who_was_out_what_differs_and_where(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Games that decided are shown with the new bot's label first, five of them at most."""
    decided = pd.DataFrame([(f"new/uniform/{n}/0", n, 1.0, 0.0) for n in range(7)])
    decided.columns = pd.Index(["game", "ply", "new_score", "old_score"])
    found: Any = SimpleNamespace(
        lines=lambda: iter([30 * "word ", "Elo"]),
        difference_lines=lambda room: [f"part, {room}"],
        **{"new": "new", "old": "old", "out": ["uniform"], "command": "arena compare"},
        paired=SimpleNamespace(decided=decided),
    )
    outcome: Any = SimpleNamespace(out={"uniform": "3 crashes"}, played=9, kept=2, seconds=3.0)
    _print_comparison(found, outcome, Path("a b"), quiet=False)
    first, second, *rest = capsys.readouterr().out.splitlines()
    assert f"{first}{second}".replace("  ", " ").split() == ["word"] * 30
    assert rest == [
        *("Elo", "uniform was out after 3 crashes", "part, None"),
        *(
            f"  arena show 'a b' new/uniform/{n}/0   differs from ply {n} on: new won, old lost"
            for n in range(5)
        ),
        *("9 games in 3.0 s, 3.0 games/s, 2 kept from before", "repeat with: arena compare"),
        "results in a b/",
    ]
    outcome.played = 30
    assert count_games(outcome) == "30 games in 3.0 s, 10 games/s, 2 kept from before"


@pytest.mark.parametrize(("status", "jailed"), [("ok", True), ("fail", True), ("warn", False)])
def test_a_check_ends_with_its_verdict(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, status: Status, jailed: bool
) -> None:
    """In text and as a document; outside the jail no bot is accepted."""
    item = Item("time", status, "slow")
    monkeypatch.setattr("arena.check.inspector.run_check", lambda *_: iter([item]))
    monkeypatch.setattr("arena.check.item.safest_lane", lambda: "jail" if jailed else "process")
    monkeypatch.setattr("arena.processes.adopt_orphans", lambda: None)
    done, document = arena("check", "greedy"), arena("check", "greedy", "--json", "--games", "8")
    end = [
        "refused: time" if status == "fail" else "accepted" if jailed else "no verdict: nothing has"
    ]
    shown = [*format_item(item), *end, *([] if jailed else [NOT_JAILED])]
    assert done.stdout.replace(" failed\n", "\n").splitlines() == shown
    assert done.returncode == document.returncode == (status == "fail")
    assert json.loads(document.stdout) == {
        **{"bot": "greedy", "params": {}, "sha256": resolve("greedy").sha256, "games": 8},
        **{"seed": 0, "ok": status != "fail", "jailed": jailed, "items": [to_data(item)]},
        "warning": "" if jailed else NOT_JAILED,
    }


def test_a_run_is_a_document_without_a_reading_of_a_clock(arena: Arena) -> None:
    data = json.loads(arena(*DUEL.split(), "--json").stdout)
    (first, second), *_ = data.pop("standings"), data.pop("anchor"), data.pop("seat_advantage")
    assert (first["bot"], first["wins"], second["losses"]) == ("greedy", 2, 2)
    expected = {"run": "play", "folder": None, "games": 2, "played": 2, "kept": 0, "forfeits": 0}
    expected |= {"out": [], "unresolved": None, "warnings": []}
    assert data.items() >= expected.items()
    found = json.loads(arena(*COMPARED.split(), "--out", "c", "--json").stdout)
    expected = {"folder": "c", "played": 32, "kept": 0, "warnings": []}
    assert found.items() >= expected.items()


def test_a_terminal_that_is_gone_takes_what_is_written_and_hangs_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended: list[bool] = []
    monkeypatch.setattr("arena.processes.hang_up", lambda: ended.append(True))
    ours, other = os.openpty()
    terminal = _Terminal(other, "w", closefd=False)
    assert (terminal.write(b"here"), ended) == (4, [])
    stream = os.fdopen(os.dup(other), "w")
    print("\udcff", file=_make_lasting(stream))
    read = b""
    while not read.endswith(b"\n"):
        read += os.read(ours, 99)
    assert read == b"here\\udcff\r\n"
    stream.close()
    os.close(ours)
    assert (terminal.write(b"gone"), ended) == (4, [True])
    os.close(other)
    with pytest.raises(OSError, match="Bad file descriptor"):
        terminal.write(b"closed")


@pytest.mark.slow
def test_a_second_start_plays_nothing_and_verify_is_a_document(arena: Arena, cup: Path) -> None:
    """The table is that of the first."""
    words = ("run", "cup.yaml", "--pairs", "3", "--json")
    data = json.loads(arena(*words).stdout)
    lines = (cup / "standings.csv").read_text().splitlines()
    assert [",".join(data["standings"][0]), *map(_csv, data["standings"])] == lines
    assert json.loads(arena(*words).stdout) == data | {"played": 0, "kept": 18}


def test_a_check_of_a_run_is_a_document(duel: Path, tmp_path: Path) -> None:
    """A difference ends it with status 1."""
    shutil.copytree(duel, tmp_path / "run")
    words = ("verify", "run", "--json", "--sample", "0")
    good = json.loads(run_here(tmp_path, *words).stdout)
    assert (good["run"], good["ok"], good["difference"]) == ("run", True, None)
    assert good["checked"][0] == "games: 2 replayed"
    (tmp_path / "run" / "games.csv").write_text("bot\n")
    done = run_here(tmp_path, *words)
    bad = json.loads(done.stdout)
    assert (done.returncode, bad["ok"]) == (1, False)
    assert "games.csv: line 1 is not what the games add up to" in bad["difference"]
    refused(run_here(tmp_path, "verify", "none", "--json"))


def _csv(row: dict[str, Any]) -> str:
    return ",".join("" if value is None else str(value) for value in row.values())


@pytest.mark.slow
def test_a_bot_that_does_not_load_is_not_rated(arena: Arena, cup: Path, tmp_path: Path) -> None:
    """In table, file and document; verify agrees. With --strict nothing is played."""
    (tmp_path / "broken.py").write_text("1 / 0\n")
    why = "bot './broken.py': does not start: ZeroDivisionError"
    words = ("play", "uniform", "greedy", "--pairs", "2", "./broken.py")
    done = arena(*words, "--json", "--out", "out")
    assert f"warning: {why}" in done.stderr
    data = json.loads(done.stdout)
    assert data["forfeits"] == 8
    assert data["warnings"][0].startswith(why)
    last = data["standings"][-1]
    assert (last["bot"], last["elo"], last["forfeits"]) == ("broken", None, 8)
    assert sum(row["elo"] for row in data["standings"][:2]) == pytest.approx(3000, abs=0.2)
    assert "3,broken,,,,8," in (tmp_path / "out" / "standings.csv").read_text()
    assert "broken                        not rated " in arena(*words).stdout
    assert arena("verify", "out").returncode == 0
    for strict in (words, ("run", "cup.yaml", "--bot", "./broken.py")):
        said = refused(arena(*strict, "--strict"))
        assert why in said
        assert "with --strict nothing is played" in said
    assert not cup.exists()
    assert arena(*words[:-1], "--strict").returncode == 0


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that stands for the installed package."""
    monkeypatch.setattr("arena.cli.report_commands._PACKAGE", tmp_path / "arena")
    return tmp_path / "arena"


def test_the_package_is_the_folder_of_this_arena() -> None:
    """In which the site is looked for; a page of a game has a name of 80 characters at most."""
    assert ROOT / "arena" == report_commands._PACKAGE
    assert report_commands._make_file_name(f"-{100 * 'x'}/?", 1) == f"{80 * 'x'}-seat-1.html"
    assert report_commands._make_file_name("/?", None) == "game.html"


def make_site(folder: Path) -> None:
    """Write some pages."""
    for name in ("index", "probe", "gallery/index", "gallery/live/index", "reference/arena-run"):
        page = folder / f"{name}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(name)


def test_the_documentation_opens_from_the_package(
    arena: Arena, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first page or a named one; a line says where it is, also without a browser."""
    make_site(package / "site")
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda page: not opened.append(page))
    for words, name in (([], "index"), (["arena-run"], "reference/arena-run")):
        page = package / "site" / f"{name}.html"
        done = arena("docs", *words)
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{page}\n", "")
        assert opened.pop() == page.as_uri()
    assert arena("docs", "gallery", "--path").stdout == f"{package}/site/gallery/index.html\n"
    wrong = "'prob': the documentation has no such page; did you mean 'probe'?"
    assert refused(arena("docs", "prob")) == wrong
    assert not opened
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    done = arena("docs")
    assert (done.returncode, done.stdout) == (0, f"{package}/site/index.html\n")
    assert done.stderr == "no browser was found here; open this file in one\n"


def test_a_package_without_a_site_says_how_to_build_it(arena: Arena, package: Path) -> None:
    """In one line; a clone also has the pages as text, and opens what `make docs` has written."""
    line = "this package was built without its site; `make docs` in a clone makes it"
    assert refused(arena("docs")) == line
    clone = package.parent / "docs"
    (clone / "making").mkdir(parents=True)
    for page in ("index", "league"):
        (clone / f"{page}.md").touch()
    done = arena("docs", "--path")
    assert (done.returncode, done.stdout) == (0, f"{clone}/index.md\n")
    assert done.stderr == "as text: `make docs` builds the site\n"
    assert arena("docs", "league", "--path").stdout == f"{clone}/league.md\n"
    assert "no such page; did you mean 'league'?" in arena("docs", "leagu").stderr
    make_site(clone / "site")
    assert arena("docs", "--path").stdout == f"{clone}/site/index.html\n"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_ended_says_what_is_kept_and_which_command_goes_on(
    tmp_path: Path, number: signal.Signals
) -> None:
    """The same without --fresh; the status names the signal, and no process is left."""
    started = f"open({str(tmp_path / 'started')!r}, 'w').close()"
    write(tmp_path, "waits", f"{started}\nwhile True: pass")
    words = ["play", "uniform", "greedy", "waits.py", "--pairs", "2", "--out", "my out", "--fresh"]
    process = start_command(tmp_path, *words, TMPDIR=str(tmp_path))
    log = tmp_path / "my out" / "run.log"
    until((tmp_path / "started").exists)
    os.kill(process.pid, number)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + number
    assert "Traceback" not in errors
    *state, line = errors.splitlines()  # what the bar said last stays
    assert len(state) <= 1
    kept, _, command = line.partition(" are kept in my out/; go on with: ")
    assert kept.startswith("interrupted: ")
    assert kept.endswith(" of 12 games")
    assert command == "arena play uniform greedy waits.py --pairs 2 --out 'my out'"
    assert "ended early: KeyboardInterrupt" in log.read_text()
    assert_none_is_left(str(tmp_path))
    assert not (tmp_path / "my out" / "games.csv").exists()


@pytest.mark.parametrize(
    ("words", "status"),
    [("bots >&-", 0), ("bots >&- 2>&-", 0), ("replay - <&-", 0), ("show no >&- 2>&-", 2)],
)
def test_streams_that_the_caller_has_closed_are_empty_files(words: str, status: int) -> None:
    """As of a daemon: no traceback, and the status is that of the command."""
    done = run_program("sh", "-c", f"{shlex.quote(sys.executable)} -m arena {words}")
    assert (done.returncode, "Traceback" in done.stderr) == (status, False)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_is_interrupted_by_other_signals_too(number: signal.Signals) -> None:
    """In a program that calls the arena they still end the program."""
    with interrupt_on_termination(), exit_on_termination(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)
    assert interrupted_by() == number
    with exit_on_termination(), pytest.raises(SystemExit):
        signal.raise_signal(number)
    with interrupt_on_termination():
        assert interrupted_by() == signal.SIGINT


def test_under_nohup_a_run_goes_on_and_ctrl_c_says_what_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """When its terminal goes away; --fresh is no part of the command that goes on."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interrupt_on_termination(), exit_on_termination():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
    monkeypatch.setattr(sys, "argv", ["arena", "run", "a b.yaml", "--fresh", "--seed", "1"])
    interrupted = Interrupted(kept=1234, games=5678)
    assert describe_interruption(interrupted, None) == "nothing is kept without --out"
    assert describe_interruption(interrupted, Path("out")) == (
        "1,234 of 5,678 games are kept in out/; go on with: arena run 'a b.yaml' --seed 1"
    )
    assert str(Interrupted(8, 90, at_most=True)) == "8 of at most 90 games are kept"


def test_ctrl_c_is_quiet_while_the_command_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The status is that of a command that was interrupted later."""

    class Halted(ModuleType):
        @property
        def main(self) -> None:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "arena.cli", Halted("arena.cli"))
    with pytest.raises((SystemExit, KeyboardInterrupt)) as caught:
        main()
    assert repr(caught.value) == "SystemExit(130)"
