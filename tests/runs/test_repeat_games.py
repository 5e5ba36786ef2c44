"""What earlier games leave in a process costs no game; who does not repeat its moves is named."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from arena.entries.resolve import resolve
from arena.executors.local import LocalExecutor
from arena.executors.log import NORMAL
from arena.lanes.bubblewrap import find_pid_namespaces
from arena.lanes.limits import Limits
from arena.runs.rerun import choose_pairs
from arena.runs.run import run
from arena.store.store import Store
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.rogues import FOLDER, write
from tests.tiers import few

SMALL = Limits(memory=256)


def said(
    bot: Path, capsys: pytest.CaptureFixture[str], lane: str, pairs: int, *, repeat: bool = True
) -> tuple[list[str], int]:
    """Return what a run of a bot against uniform prints of its moves, and its forfeits."""
    entries = [resolve(str(bot), label="bot", lane=lane), resolve("uniform")]
    tournament = Tournament("test", 3, pairs, entries, STANDARD, SMALL)
    store = Store(None)
    outcome = run(tournament, LocalExecutor(1), None, NORMAL, store=store, repeat=repeat)
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("bot: ")]
    return lines, outcome.forfeits


REMEMBERS = """\
    def choose(self, view, /):
        return view.legal[self.number % len(view.legal)]"""
COUNTS = "global games; self.number = games = globals().get('games', 0) + 1"
FAILS = """\
    def choose(self, view, /):
        if self.number > 2: raise ValueError('too many games')
        return view.legal[0]"""


@pytest.mark.slow
def test_a_bot_that_remembers_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its opponent, which answers other moves, is not; nor is anybody who is not asked for."""
    path = write(tmp_path, "remembers", REMEMBERS, COUNTS)
    (line,), _ = said(path, capsys, "inproc", 50)
    assert line.startswith("bot: its moves differ when a game is repeated (bot/uniform/")
    assert line.endswith("they depend on earlier games, its clock or its own randomness")
    assert said(path, capsys, "inproc", 50, repeat=False) == ([], 0)
    assert said(path, capsys, "inproc", 49) == ([], 0)


@pytest.mark.slow
def test_a_bot_that_repeats_its_moves_is_not_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It draws from its own generator."""
    body = "    def choose(self, view, /):\n        return self.rng.choice(view.legal)"
    path = write(tmp_path, "honest", body, "self.rng = setup.rng")
    assert said(path, capsys, "inproc", 50) == ([], 0)


@pytest.mark.slow
def test_a_run_says_whose_games_have_new_processes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After three faults that did not come back."""
    path = write(tmp_path, "gathers", FAILS, COUNTS)
    (line,), forfeits = said(path, capsys, "process", 8)
    assert line == (
        "bot: faults did not come back when their games were played again; each of its games now "
        "has a new process"
    )
    assert forfeits == 0


LEAKS = {
    # what is kept of a game, how much of it, and after how many pairs it would be too much
    "memory": (16, 8),
    "threads": (2, 20),
    "files": (8, 10),
    "children": (2, 10),
}


@pytest.mark.skipif(find_pid_namespaces() is None, reason="no bubblewrap")
@pytest.mark.parametrize("lane", few(["process", "jail"], 0, 1))
@pytest.mark.parametrize("what", LEAKS)
def test_what_a_bot_keeps_of_each_game_costs_no_game(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], what: str, lane: str
) -> None:
    """Its process is renewed in time: without that there are faults, which do not come back."""
    much, pairs = LEAKS[what]
    path = tmp_path / "keeps.py"
    text = (FOLDER / "keeps.py").read_text()
    path.write_text(
        text.replace('what: str = "memory", much: int = 0', f'what="{what}", much={much}')
    )
    assert said(path, capsys, lane, pairs) == ([], 0)


@pytest.mark.parametrize(("bots", "pairs"), [(2, 100), (2, 50), (5, 10), (12, 1), (12, 40)])
def test_a_hundredth_of_the_games_and_one_of_each_bot_are_chosen(bots: int, pairs: int) -> None:
    """They are of the later half of the pairs, and the same for every run of a seed."""
    entries = [resolve("uniform", label=f"bot {number}") for number in range(bots)]
    games = []
    for seed in range(20):
        tournament = Tournament("test", seed, pairs, entries, STANDARD)
        lengths = [pairs] * len(tournament.pairings)
        chosen = choose_pairs(tournament, lengths)
        assert chosen == choose_pairs(tournament, lengths)
        counts = Counter(
            label
            for pairing, own in zip(tournament.pairings, chosen, strict=True)
            for label in pairing
            for _ in own
        )
        assert counts.keys() == {*tournament.labels}
        assert all(pairs // 2 <= pair < pairs for own in chosen for pair in own)
        games.append(sum(map(len, chosen)))
    total = len(tournament.pairings) * 2 * pairs
    assert sum(games) / len(games) <= max(0.013 * total, bots)
