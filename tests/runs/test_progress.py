"""Rounds and progress of runs: the same bytes always, and shown wherever there is a place."""

from __future__ import annotations

import fcntl
import io
import json
import logging
import os
import re
import select
import struct
import sys
import termios
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

import arena as library
from arena.entries.resolve import resolve
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET
from arena.runs import next_round, progress_bar
from arena.runs.progress_bar import Progress, format_line, show_progress
from arena.runs.run import run
from arena.runs.verify import verify
from arena.store.folder import RunFolder
from arena.tournament.rounds import Counts, Rounds
from arena.tournament.schedule import PairRange
from arena.tournament.stop import Until
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.conftest import Arena
from tests.kit import Stops, refused, same_files
from tests.rogues import write
from tests.waiting import until


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_bar, "LINE_EVERY", 0.0)
    monkeypatch.setattr(progress_bar, "STATUS_EVERY", 0.0)


UP = "\x1b[A"


class Screen:
    """Shows what is written to a terminal of 80 columns; it knows the sequence for up."""

    def __init__(self, place: int) -> None:
        self.place, self.written = place, b""

    def text(self) -> list[str]:
        """Return the lines from the first to the last that is not empty."""
        with suppress(OSError):  # the other end is closed
            while select.select([self.place], [], [], 0)[0]:
                self.written += os.read(self.place, 4096)
        lines, line, column = [""], 0, 0
        for char in re.findall(r"\x1b\[A|.", self.written.decode(errors="ignore"), re.DOTALL):
            if char == UP:
                line -= 1
            elif char == "\r":
                column = 0
            elif char == "\n":
                line += 1
                lines += [""] * (line == len(lines))
            else:
                assert char >= " ", f"not known to this screen: {char!a}"
                assert column < 80
                lines[line] = lines[line][:column].ljust(column) + char + lines[line][column + 1 :]
                column += 1
        return "\n".join(map(str.rstrip, lines)).rstrip().split("\n")


@contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Screen]:
    """Make standard error a terminal, and yield its screen."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    monkeypatch.setenv("TERM", "xterm")
    with open(slave, "w", encoding="utf-8", buffering=1) as writer, monkeypatch.context() as patch:
        patch.setattr("sys.stderr", writer)
        yield Screen(master)
    os.close(master)


def test_on_a_terminal_there_is_one_line_and_nothing_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The bar counts the games from before; what was there before stays."""
    with terminal(monkeypatch) as screen:
        print("before", file=sys.stderr)
        with show_progress(1000, 100) as progressed:
            until(lambda: "100/1000" in screen.text()[-1])
            until(lambda: progressed.add(100) or "games/s" in screen.text()[-1])
            assert len(screen.text()) == 2
        assert screen.text() == ["before"]


def test_a_run_of_unknown_length_has_its_state_in_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """After Ctrl-C it stays, and what is said then stands below it."""
    with terminal(monkeypatch) as screen:

        def interrupt() -> None:
            with show_progress(1000, 0, lambda: "16 pairs", at_most=True) as progressed:
                progressed.add(300)
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            interrupt()
        print("interrupted", file=sys.stderr)
        bar, last = screen.text()
        assert bar.startswith("300 of at most 1,000 games, ")
        assert bar.endswith("; 16 pairs")
        assert last == "interrupted"


def test_the_log_is_shown_above_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lines stay when the bar is gone, and later ones go to the stream from before."""
    with terminal(monkeypatch) as screen:
        log = logging.StreamHandler(io.StringIO())

        def say(text: str) -> None:
            log.handle(logging.LogRecord("arena", logging.WARNING, "", 0, text, None, None))

        with show_progress(1000, 0, lambda: "a state", log):
            say("x is out after 10 faults")
            until(lambda: screen.text()[:1] == ["x is out after 10 faults"])
            until(lambda: "0/1000" in "".join(screen.text()[1:]))
        say("later")
        assert screen.text() == ["x is out after 10 faults"]
        assert log.stream.getvalue() == "later\n"


def test_the_line_has_the_speed_since_the_start_and_a_state_that_is_asked_for_seldom(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before the first game there is no speed."""
    said = format_line(1000, 20, 0, 61.0, at_most=True)
    assert said == "20 of at most 1,000 games, none finished yet in 1 min 1 s"
    clock, states = Mock(return_value=100.0), iter("abc")
    monkeypatch.setattr(progress_bar, "time", SimpleNamespace(monotonic=clock))
    monkeypatch.setattr(progress_bar, "STATUS_EVERY", 3.0)
    progress = Progress(1000, 20, lambda: next(states), at_most=False)
    progress.add(40)
    for now, speed, state in (
        (102, "20 games/s, 47 s", "a"),
        (104.9, "8.2", "a"),
        (105, "8.0", "b"),
    ):
        clock.return_value = now
        line = progress.line()
        assert line.startswith(f"60 of 1,000 games, {speed}")
        assert line.endswith(f" left; {state}")


def test_a_dumb_terminal_has_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be a line more each time."""
    with terminal(monkeypatch) as screen:
        monkeypatch.setenv("TERM", "dumb")
        with show_progress(1000, 0) as progressed:
            progressed.add(100)
        assert not any(screen.text())


def test_without_a_terminal_there_is_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts the games from before; runs without a state are not shown there."""
    errors = io.StringIO()
    monkeypatch.setattr(sys, "stderr", errors)
    with show_progress(1000, 100, lambda: "a state") as progressed:
        progressed.add(400)
    (line,) = errors.getvalue().splitlines()
    assert line.startswith("500 of 1,000 games, ")
    assert line.endswith(" left; a state")
    with show_progress(1000) as progressed:
        progressed.add(400)
    assert errors.getvalue() == f"{line}\n"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_terminal_that_is_gone_holds_up_no_run(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool
) -> None:

    class Gone(io.StringIO):
        def isatty(self) -> bool:
            return is_terminal

        def write(self, _text: str) -> int:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(sys, "stderr", Gone())
    with show_progress(10, 0, lambda: "a state") as progressed:
        progressed.add(10)


def test_a_terminal_that_is_held_up_holds_up_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody reads what is written: when there is no room, nothing is written any more."""
    reader, writer = os.openpty()
    with open(writer, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        file = progress_bar._Terminal()
        for _ in range(20_000):
            file.write(f"\r{79 * 'x'}")
            file.flush()
    os.close(reader)


SEEN: list[tuple[int, dict[int, Counts], list[str]]] = []


class Closest(Rounds):
    """Two pairs of every pairing, then three more, twice, of the one that is closest to even."""

    leaves_out_unrated = True

    def __init__(self, tournament: Tournament) -> None:
        self.tournament = tournament

    def next(
        self, number: int, counts: Mapping[int, Counts], out: Collection[str], /
    ) -> list[PairRange]:
        SEEN.append((number, dict(counts), [*out]))
        if number == 0:
            return [PairRange(n, 0, 2) for n in range(len(self.tournament.pairings))]
        if number > 2:
            return []
        lead = {
            n: abs(4 * c[4] + 3 * c[3] + 2 * c[2] + c[1] - 2 * sum(c)) for n, c in counts.items()
        }
        free = [n for n in lead if not {*self.tournament.pairings[n]} & {*out}]
        closest = min(free, key=lambda n: (lead[n], n))
        return [PairRange(closest, sum(counts[closest]), sum(counts[closest]) + 3)]

    def status(self, counts: Mapping[int, Counts], _out: Collection[str] = (), /) -> str:
        return f"{sum(map(sum, counts.values()))} pairs"


@pytest.fixture
def cup(monkeypatch: pytest.MonkeyPatch) -> Tournament:
    """Return a tournament whose rounds are chosen as above."""
    SEEN.clear()
    monkeypatch.setattr(next_round, "make_rounds", Closest)
    bots = [resolve(name) for name in ("uniform", "greedy", "denier")]
    return Tournament("cup", 5, 2, bots, STANDARD, stop=Until("resolved", 8))


@pytest.mark.slow
def test_rounds_are_decided_from_all_games_before_them(cup: Tournament, tmp_path: Path) -> None:
    """The counts at each barrier are those of the whole rounds before it.

    So the bytes are the same for any workers, also of a run that was stopped after each chunk.
    """
    outcome = run(cup, LocalExecutor(2), RunFolder(tmp_path / "whole"), QUIET)
    assert [number for number, *_ in SEEN] == [0, 1, 2, 3]
    assert [sum(map(sum, counts.values())) for _, counts, _ in SEEN] == [0, 6, 9, 12]
    assert outcome.progress.counts == SEEN[-1][1]
    assert outcome.played == 24 == sum(row["games"] for row in outcome.standings) / 2
    lengths = {n: sum(c) for n, c in outcome.progress.counts.items()}
    assert outcome.progress.lengths == lengths
    assert max(lengths.values()) > min(lengths.values()) == 2
    folder = RunFolder(tmp_path / "stopped")
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            run(cup, Stops(1, LocalExecutor(1)), folder, QUIET)
    assert run(cup, LocalExecutor(3), folder, QUIET).kept > 0
    assert same_files(folder.path) == same_files(tmp_path / "whole")
    again = run(cup, LocalExecutor(1), folder, QUIET)
    assert (again.played, again.kept) == (0, 24)
    verified = list(verify(folder.path, 2, LocalExecutor(1)))
    assert [line.split()[0] for line in verified[:2]] == ["games:", "files:"]


@pytest.mark.slow
def test_a_bot_with_too_many_faults_is_out_in_the_rounds_that_follow(
    cup: Tournament, tmp_path: Path
) -> None:
    """Its games of the round are forfeits by rule, and the next barrier knows it."""
    write(tmp_path, "fails", "raise ValueError")
    fails = resolve(str(tmp_path / "fails.py"), lane="inproc")
    bots = [resolve("uniform"), fails, resolve("greedy")]
    cup = Tournament("cup", 5, 2, bots, STANDARD, max_faults=3, stop=cup.stop)
    outcome = run(cup, LocalExecutor(2), RunFolder(tmp_path / "out"), QUIET)
    assert [out for *_, out in SEEN] == [[], ["fails"], ["fails"], ["fails"]]
    assert outcome.progress.lengths == {0: 2, 1: 8, 2: 2}
    assert outcome.out == {"fails": "3 exceptions"}
    assert next(verify(tmp_path / "out", 2, LocalExecutor(1))) == "games: 24 replayed"


WORDS = "resolved, first, top:K, against:BOT"
BOTS = "bots: [uniform, greedy, city_hunter, denier]\nseed: 4\n"


@pytest.mark.slow
def test_the_end_says_what_is_known_and_what_it_would_cost(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "even.yaml").write_text("bots: [denier, twin=denier]\npairs: 5\n")
    said = arena("run", "even.yaml", "--until", "resolved", "--max-pairs", "9").stdout
    early = "not resolved after 5 pairs, ended early, as 9 in a pairing would hardly tell more:"
    assert early in said
    assert re.search("(denier and twin|twin and denier) are not told apart: ", said)
    words = ("run", "even.yaml", "--until", "9", "--max-pairs", "5", "--json")
    document = json.loads(arena(*words).stdout)
    assert [one["bot"] for one in document["unresolved"]] == ["denier", "twin"]
    assert all(one["further_pairs"] > 0 for one in document["unresolved"])
    table = library.open(tmp_path / "results" / "even").unresolved
    known = table.astype(object).where(table.notna(), None)
    assert known.to_dict("records") == document["unresolved"]
    assert library.run(["greedy", "uniform"], pairs=1, progress=False).unresolved.empty


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("until: soon", f"line 4: until: 'soon' is not one of {WORDS}, a number of Elo points"),
        ("until: .nan", "line 4: until: expected `float` >= 1.0"),
        ("until: .inf", "line 4: until: expected `float` <= 1000.0"),
        ("max_pairs: 10", "max_pairs: only with until"),
        ("until: resolved\nmax_pairs: 3", "max_pairs: 3 is less than pairs, 4"),
        ("rounds: 3", "line 4: rounds: only a Swiss tournament has them; write format: swiss"),
        ("format: swiss\nuntil: 10", "until: a Swiss tournament stops after its rounds"),
        ("format: gauntlet", "line 4: format: a gauntlet needs a panel, a list of bots"),
        ("format: gauntlet\npanel: [nobody]", "panel[0]: bot 'nobody': no bot 'nobody'"),
        ("format: gauntlet\npanel: [uniform]", "bots 1 and 5 have the same label"),
        ("format: swiss\nrounds: 0", "line 5: rounds: expected `int` >= 1"),
    ],
)
def test_bad_keys_are_refused_in_one_line(
    arena: Arena, tmp_path: Path, keys: str, message: str
) -> None:
    (tmp_path / "cup.yaml").write_text(f"{BOTS}pairs: 4\n{keys}\n")
    assert refused(arena("run", "cup.yaml")).startswith(f"cup.yaml: {message}")


@pytest.mark.slow
def test_a_bot_that_had_only_byes_is_named(arena: Arena, tmp_path: Path) -> None:
    text = "bots: [greedy, uniform, denier]\npairs: 2\nformat: swiss\nrounds: 1\n"
    (tmp_path / "cup.yaml").write_text(text)
    document = json.loads(arena("run", "cup.yaml", "--json").stdout)
    (idle,) = {"greedy", "uniform", "denier"} - {row["bot"] for row in document["standings"]}
    said = f"not in the tables, because they have played no game: {idle}"
    assert document["warnings"] == [said]
