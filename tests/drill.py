"""The drill: faults planted in a copy of the engine, each of which a test must catch.

`python -m tests.drill` copies the repository, plants one fault at a time, runs the tests
that should notice, and prints which one did. It fails if a fault goes unnoticed. A fault is
a piece of source and what it is replaced by; one that no longer fits is an error, too.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests import ROOT


class Fault(NamedTuple):
    """What is planted: in words, the file, the piece of source, and what replaces it."""

    what: str
    file: str
    right: str
    wrong: str


FAULTS = [
    Fault(
        "a leaked count: the view counts an unseen card too many",
        "engine/view.py",
        "        seen = self.hand + self.piles[0] + self.piles[1] + pack_of(self.row)\n",
        "        seen = self.hand + self.piles[0] + self.piles[1] + pack_of(self.row) + 1\n",
    ),
    Fault(
        "a leak: the view of the seat that waits shows the other hand",
        "engine/view.py",
        "hand, row, taken = state.hands[seat],",
        "hand, row, taken = state.hands[state.to_act],",
    ),
    Fault(
        "a world whose hidden hand is not random",
        "engine/worlds.py",
        "unseen = shuffled(cards, rng.randbytes(8 * len(cards)))",
        "unseen = cards",
    ),
    Fault(
        "a wrong tie-break order",
        "engine/scoring.py",
        '"cities": (EIGHT, SEVEN, SIX, FIVE, CITY)',
        '"cities": (EIGHT, SIX, SEVEN, FIVE, CITY)',
    ),
    Fault(
        "a tie not broken by cities",
        "engine/scoring.py",
        '"cities": (EIGHT, SEVEN, SIX, FIVE, CITY)',
        '"cities": (EIGHT, SEVEN, SIX, FIVE)',
    ),
    Fault(
        "a set bonus given once",
        "engine/scoring.py",
        "rules.set_bonus * _sets(pile & _SUPPORTS)",
        "rules.set_bonus * min(1, _sets(pile & _SUPPORTS))",
    ),
    Fault(
        "a take of six",
        "engine/state.py",
        "start = -self.rules.take_size",
        "start = -self.rules.take_size - 1",
    ),
    Fault(
        "a removed card dealt",
        "engine/state.py",
        "deck_end = len(deal) - rules.removed\n",
        "deck_end = len(deal) - rules.removed\n"
        "        deal = deal[: deck_end - 1] + deal[deck_end : deck_end + 1] + deal[deck_end - 1 :"
        " deck_end] + deal[deck_end + 1 :]\n",
    ),
    Fault(
        "a betrayal added",
        "engine/cards.py",
        "VALUES = (0, 0, 0, 0, 2, 3, 4, -1, -2, -3, 0)",
        "VALUES = (0, 0, 0, 0, 2, 3, 4, 1, -2, -3, 0)",
    ),
    Fault(
        "a majority that a tie wins",
        "engine/scoring.py",
        "mine & _SEVENS > theirs & _SEVENS",
        "mine & _SEVENS >= theirs & _SEVENS",
    ),
    Fault(
        "a city win seen at the round's end only",
        "engine/state.py",
        "if pile >= self.rules.city_pack:",
        "if pile >= self.rules.city_pack and not any(hands):",
    ),
    Fault(
        "a second take in a round",
        "engine/state.py",
        "plays if self.taken[seat] or not self.row else plays_or_take",
        "plays if not self.row else plays_or_take",
    ),
    Fault(
        "the same player first in every round",
        "engine/state.py",
        "self.to_act = self.round & 1",
        "self.to_act = 0",
    ),
    Fault(
        "a row cleared between rounds",
        "engine/state.py",
        "        self.round += 1\n",
        "        self.round += 1\n        self.row = b''\n",
    ),
    Fault(
        "a copy that shares its hands",
        "engine/state.py",
        "twin.hands = self.hands[:]",
        "twin.hands = self.hands",
    ),
    Fault(
        "both seats of a game with one luck",
        "engine/play.py",
        "int.from_bytes(drawn[_LUCK : 2 * _LUCK])",
        "int.from_bytes(drawn[:_LUCK])",
    ),
    Fault(
        "the guilty bot wins",
        "arena/games/match.py",
        'winning_seat, win_type = 1 - guilty, "forfeit"',
        'winning_seat, win_type = guilty, "forfeit"',
    ),
    Fault(
        "both games of a pair with the same seats",
        "arena/tournament/schedule.py",
        "if self.seat == 0 else (opponent, bot)",
        "if self.seat == 0 else (bot, opponent)",
    ),
    Fault(
        "intervals by game instead of by pair",
        "arena/statistics/ratings.py",
        "spread = self.squares - 4 * share * self.total + 4 * share**2 * self.pairs",
        "spread = 2 * self.pairs * share * (1 - share)",
    ),
    Fault(
        "parameters shared by all games",
        "arena/entries/entry.py",
        "deepcopy(self.params) if self.params else {}",
        "self.params",
    ),
    Fault(
        "a forfeit by rule given to the innocent",
        "arena/tournament/strikes.py",
        "order.index(min(order))",
        "order.index(max(order))",
    ),
    Fault(
        "one fault too many allowed",
        "arena/tournament/strikes.py",
        "self._counts[label] >= self.most",
        "self._counts[label] > self.most",
    ),
    Fault(
        "a bot blamed for one kill from outside",
        "arena/executors/deaths.py",
        "_SURE = 6",
        "_SURE = 1",
    ),
    Fault(
        "a pair missed that lies between finished ones",
        "arena/results/store.py",
        "if pair > end:",
        "if pair > end + 1:",
    ),
    Fault(
        "a played game kept where it is a forfeit by rule",
        "arena/results/store.py",
        '_ADD_GAME = "INSERT OR REPLACE',
        '_ADD_GAME = "INSERT OR IGNORE',
    ),
    Fault(
        "a late answer accepted",
        "engine/strategy.py",
        "if limit is not None and seconds > limit:",
        "if limit is not None and seconds > 9 * limit:",
    ),
    Fault(
        "a view that loses the opening row on its way to a process",
        "arena/lanes/host.py",
        'parse_cards(message["opening"]),',
        'parse_cards(message["opening"][:0]),',
    ),
    Fault(
        "True taken for an action",
        "engine/state.py",
        "if isinstance(action, bool):",
        "if isinstance(action, str):",
    ),
    Fault(
        "a check that asks about hidden cards in the same world",
        "arena/check/hidden.py",
        "world = sample(view(state, fixture.seat), rng)",
        "world = state",
    ),
    Fault(
        "a check of the variants under the published rules",
        "arena/check/inspection.py",
        "Sparring(self.candidate, rules=rules)",
        "Sparring(self.candidate)",
    ),
    Fault(
        "a check in two processes with one order of hashes",
        "arena/check/inspection.py",
        "Sparring(self.candidate, environment=_OTHER_HASHES)",
        "Sparring(self.candidate, environment={})",
    ),
    Fault(
        "an endgame that wants what the opponent wants",
        "bots/endgame.py",
        "worth[action] -= ways * solver.value(after)",
        "worth[action] += ways * solver.value(after)",
    ),
    Fault(
        "an endgame in which a take is five cards under all rules",
        "bots/endgame.py",
        "row = row[-most:]",
        "row = row[-5:]",
    ),
    Fault(
        "hands that all count as one deal",
        "engine/worlds.py",
        "ways * comb(copies, chosen)",
        "ways",
    ),
    Fault(
        "a tree search that credits the other seat",
        "bots/ismcts.py",
        "node.total += result if seat == 0 else 1.0 - result",
        "node.total += result if seat == 1 else 1.0 - result",
    ),
    Fault(
        "a tree search that deals only the first cards it does not see",
        "bots/ismcts.py",
        "shuffled.sort(key=lambda _: random())",
        "shuffled.sort()",
    ),
    Fault(
        "learned values for the seat that does not begin",
        "bots/champion.py",
        "if world.round & 1:",
        "if not world.round & 1:",
    ),
]


def caught_by(copy: Path, fault: Fault) -> str:
    """Return the first test that fails with the fault planted, empty if none does."""
    path = copy / fault.file
    source = path.read_text(encoding="utf-8")
    if source.count(fault.right) != 1:
        raise SystemExit(f"{fault.what}: {fault.file} has changed, mend the drill")
    path.write_text(source.replace(fault.right, fault.wrong), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", *SUITES],
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
    )
    path.write_text(source, encoding="utf-8")
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return found[1] if found else ""


SUITES = [
    "tests/rulebook",
    "tests/engine/test_worlds.py",
    "tests/engine/test_properties.py",
    "tests/games/test_match.py",
    "tests/statistics/test_ratings.py",
    "tests/engine/test_seeds.py",
    "tests/engine/test_play.py",
    "tests/tournament/test_strikes.py",
    "tests/executors/test_deaths.py",
    "tests/results/test_store.py",
    "tests/bots/test_endgame.py",
    "tests/bots/test_ismcts.py",
    "tests/bots/test_champion.py",
    "tests/lanes/test_process.py",
    "tests/check/test_check.py",
]


def copy_repository(folder: Path) -> Path:
    """Return a new copy of the repository, without what is not its source."""
    everywhere = shutil.ignore_patterns("__pycache__")
    at_the_top = shutil.ignore_patterns(".git", ".venv", ".*_cache", ".hypothesis", "results")

    def ignored(parent: str, names: list[str]) -> set[str]:
        return everywhere(parent, names) | (
            at_the_top(parent, names) if Path(parent) == ROOT else set()
        )

    return Path(shutil.copytree(ROOT, folder / "copy", ignore=ignored))


def main() -> None:
    """Plant every fault in turn, and print the test that caught it."""
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = copy_repository(Path(folder))
        for fault in FAULTS:
            test = caught_by(copy, fault)
            missed += not test
            print(f"{fault.what}: {test or 'NOT CAUGHT'}", flush=True)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
