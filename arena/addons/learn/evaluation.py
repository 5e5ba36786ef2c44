"""Evaluate a bot: its Elo, what a best response takes, its losses, small games, and its time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, Unpack

import numpy as np
import pandas as pd

from arena.addons import hook
from arena.addons.learn import probe_bot
from arena.addons.learn.opponents import SOMEBODY, NoScores, meet_victim, name_of
from arena.entries.catalogue import ELO, LADDER
from arena.entries.entry import Entry
from arena.errors import InputError, counted
from arena.executors.contract import open_executor
from arena.lanes.faults import Forfeit
from arena.library.request import Bot, Location, folder_path, make_playing, request, takes
from arena.library.results import Results
from arena.library.running import run
from arena.runs.progress_bar import Progress, show_progress
from arena.runs.run import Playing
from arena.statistics.intervals import Estimate, score_interval
from arena.statistics.ratings import PairScores, fit_one
from arena.statistics.wording import write_estimate
from arena.store.folder import claimed, write_text
from arena.store.reader import read_run
from arena.tables.losses import PARTS_OF, make_losses
from arena.tournament.keys import EVALUATED_PAIRS, LocalKeys, Venue
from arena.tournament.thinking import Asked, asking
from arena.tournament.versions import arena_sha256
from engine import STANDARD, Action, Seat, View
from engine.cards import CHARS
from engine.seeds import stream

_LEARNED = 60  # pairs from which a clone is learned of a bot without `scores`
_JUDGED = 400  # games against the ladder of which the decisions are judged
_SAMPLES = 4  # how often a bot is asked at each view of a small game
_ROUNDS: Final = PARTS_OF[1 : STANDARD.rounds + 1]
_FORMS: Final = {
    "elo": (".0f", ""),
    "response": (".1%", ""),
    "taken": ("+.1%", ""),
    "loss": (".2%", ""),
    "exploitability": (".4f", ""),
    "time": (".3f", " ms"),
}
"""The measures, with their formats and units."""


class Measure(NamedTuple):
    """A measure of a bot, the part that it is of, and what it rests on.

    `low` and `high` are the ends of the 95 % interval, or None.
    """

    measure: str
    part: str
    value: float | None
    low: float | None
    high: float | None
    basis: str

    @property
    def line(self) -> str:
        """The measure as a line of the terminal."""
        form, unit = _FORMS[self.measure]
        text = ""
        if self.value is not None and self.low is not None and self.high is not None:
            text = write_estimate(Estimate(self.value, self.low, self.high), form)
        elif self.value is not None:
            text = f"{self.value:{form}}{unit}".replace("%", " %")
        return f"{self.measure:<14} {self.part:<8} {text:<22} {self.basis}"


class Evaluation(NamedTuple):
    """The measures of a bot, the folder that keeps its games, and notes on what is left out.

    >>> one = Measure("elo", "ladder", 1512.0, 1490.2, 1533.8, "60 pairs with each of 10 bots")
    >>> Evaluation("mine", "results/evaluate-mine", [one], []).table["value"].tolist()
    [1512.0]
    """

    bot: str
    folder: str
    measures: list[Measure]
    notes: list[str]

    @property
    def table(self) -> pd.DataFrame:
        """The measures, a row each."""
        return pd.DataFrame(self.measures, columns=Measure._fields)

    def document(self) -> dict[str, Any]:
        """Return what `arena evaluate --json` prints and evaluation.json has."""
        return self._asdict() | {"measures": [one._asdict() for one in self.measures]}

    def lines(self) -> Iterator[str]:
        """Yield the lines that `arena evaluate` prints."""
        yield f"{'measure':<14} {'of':<8} {'':<22} by"
        yield from (one.line for one in self.measures)
        yield from self.notes
        yield f"{self.bot}: all of it is in {self.folder}/evaluation.json"


@takes(LocalKeys)
def evaluate(
    bot: Bot,
    *,
    pairs: int = EVALUATED_PAIRS,
    seed: int = 0,
    out: Location | None = None,
    progress: bool = True,
    **keys: Unpack[LocalKeys],
) -> Evaluation:
    """Measure a bot: on the ladder, against a best response, by a judge, and in small games.

    It plays `pairs` pairs with each bot of the ladder and with its best response, which are kept in
    the folder `out`, by default in results/evaluate-BOT; the same call continues there. Raises
    InputError with the message of `arena evaluate`, and Interrupted after Ctrl-C.

    >>> evaluate("greedy", pairs=0)  # a good call takes a minute
    Traceback (most recent call last):
    ...
    arena.errors.InputError: pairs: expected `int` >= 1
    """
    how = make_playing(None, progress=progress)
    given = {**keys, "seed": seed, "pairs": pairs}
    base, how = request([bot, SOMEBODY], None, given, {"name": "evaluate"}, how, strict=True)
    entry = base.entries[0]
    folder = folder_path(out or Path("results") / name_of(entry, "evaluate"), "out")
    with claimed(folder, {"evaluation": entry.label, "seed": seed}):
        asked = {**keys, "seed": seed, "progress": progress}
        return _measure(bot, entry, folder, how, pairs, asked)


def _measure(
    bot: Bot, entry: Entry, folder: Path, how: Playing, pairs: int, asked: Any
) -> Evaluation:
    """Play and compute what is left, and write evaluation.json."""
    seed, notes = asked["seed"], list[str]()
    ladder = run([bot], against=LADDER, out=folder / "ladder", pairs=pairs, **asked)
    file, clone = _find_response(entry, folder, how.venue, seed, pairs, shown=how.shown)
    run([(name_of(entry), str(file)), bot], out=folder / "response", pairs=pairs, **asked)
    small = partial(_exploit, entry, folder / "small.json", seed, shown=asked["progress"])
    measures = [
        _rate(folder / "ladder", pairs),
        *_try("response", partial(_measure_response, folder / "response", clone), notes),
        *_try("loss", partial(_find_losses, ladder, entry.label, asked), notes),
        *_measure_time(ladder, entry.label),
        *_try("exploitability", small, notes),
    ]
    found = Evaluation(entry.label, str(folder), measures, notes)
    text = json.dumps(found.document(), indent=2, allow_nan=False) + "\n"
    write_text(folder / "evaluation.json", text)
    return found


def _try(what: str, make: Callable[[], Iterable[Measure]], notes: list[str]) -> list[Measure]:
    """Return measures, or none and a note if the bot fails or something is not installed."""
    try:
        return [*make()]
    except (Forfeit, InputError) as error:
        why = error.fault.message if isinstance(error, Forfeit) else error
        notes.append(f"{what} is left out: {why}")
        return []


def _rate(folder: Path, pairs: int) -> Measure:
    """Return the rating of the bot whose games against the ladder are in a folder."""
    tournament, store = read_run(folder)
    with closing(store):
        totals = store.count().pair_totals
    anchors = [ELO[two.opponent] for two in tournament.pairings]
    scores = [PairScores(len(anchors), *some[:4]) for some in totals]
    rating = fit_one(anchors, scores)
    basis = f"{counted(pairs, 'pair')} with each of {len(anchors)} bots of the ladder"
    return Measure("elo", "ladder", *rating.cells, basis)


def _find_response(
    entry: Entry, folder: Path, venue: Venue, seed: int, pairs: int, *, shown: int
) -> tuple[Path, str]:
    """Write the best response to a bot, or to its clone if it has no `scores`; say which."""
    learned = None if _has_scores(entry) else _LEARNED
    asked = probe_bot.Asked(folder / "response.py", learned, None, pairs, seed, shown, force=True)
    with open_executor(venue) as executor:
        found = probe_bot.find_opponent(entry, executor, asked)
    return found.file, f"; it knows a clone, {found.clone.alike:.0%} alike" if found.clone else ""


def _has_scores(entry: Entry) -> bool:
    """Return whether a bot has the method `scores`."""
    if entry.command:
        return False
    with suppress(NoScores), meet_victim(entry) as rival:
        rival.begin(np.frombuffer(STANDARD.deck, np.uint8)[None], 0)
        return True
    return False


def _measure_response(folder: Path, clone: str) -> Iterator[Measure]:
    """Yield the score of a best response, and by round what it takes of the chance to win."""
    tournament, store = read_run(folder)
    with closing(store):
        probe_bot.check_forfeits(tournament, store)
        (_, pairs, total, squares, _), *_ = store.count().pair_totals
        taken = probe_bot.gains_by_round(tournament, store)
    ends = score_interval(pairs, total, squares)
    yield Measure("response", "all", total / (2 * pairs), *ends, counted(pairs, "pair") + clone)
    for part, gain in zip(_ROUNDS, taken, strict=True):
        yield Measure("taken", part, *gain.cells, "of the chance to win, by champion's table")


def _find_losses(ladder: Results, label: str, asked: Any) -> Iterator[Measure]:
    """Yield the loss of a decision, in all and by round, against the bots of the ladder."""
    decisions = ladder.analyse(games=_JUDGED, worst=0, **asked).decisions
    own = decisions[decisions["bot"] == label]
    for row in make_losses(own.assign(opponent=LADDER)).to_dict("records"):
        if row["part"] in ("all", *_ROUNDS):
            basis = f"{row['decisions']:,} decisions in {row['games']:,} games"
            loss = Estimate(row["loss"], row["loss_low"], row["loss_high"])
            yield Measure("loss", row["part"], *loss.cells, basis)


def _measure_time(ladder: Results, label: str) -> Iterator[Measure]:
    """Yield the mean processor time of a decision; nothing if it has not been measured."""
    timings = ladder.timings
    for row in timings[timings["bot"] == label].to_dict("records"):
        basis = f"processor time of {row['decisions']:,} decisions"
        yield Measure("time", "decision", 1000 * row["cpu_mean"], None, None, basis)


def _exploit(entry: Entry, path: Path, seed: int, *, shown: bool) -> list[Measure]:
    """Return the exact exploitability of a bot in small games; a file keeps what was computed."""
    key = [entry.sha256, repr(entry.params), seed, arena_sha256()]
    with suppress(OSError, ValueError, LookupError, TypeError):  # then they are computed again
        if (kept := json.loads(path.read_bytes()))["key"] == key:
            return [_exploitability(*game) for game in kept["games"]]
    games = []
    for name, rules, exploit in hook("small_games")():
        with asking(entry, rules) as make, show_progress(0, shown=shown) as bar:
            value, views = exploit(partial(_choose, make, bar, (seed, name)), _SAMPLES)
        basis = f"exact; asked {_SAMPLES} times at each of {views:,} views"
        games.append((name, value, basis))
    write_text(path, json.dumps({"key": key, "games": games}) + "\n")
    return [_exploitability(*game) for game in games]


def _exploitability(name: str, value: float, basis: str) -> Measure:
    return Measure("exploitability", str(name), float(value), None, None, str(basis))


def _choose(
    make: Callable[[Seat, int], Asked], bar: Progress, place: Any, seen: View, number: int
) -> Action:
    """Return the action of a new strategy at a view."""
    luck = stream(*place, seen.to_text(), number).getrandbits(62)
    bar.add(1)
    return CHARS.index(make(seen.seat, luck).choose(seen))
