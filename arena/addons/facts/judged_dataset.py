"""Make a set of games of strong bots with every decision judged, and load it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta

from arena.entries.catalogue import ELO
from arena.entries.file import read_file, replacing
from arena.errors import InputError, naming
from arena.executors.contract import open_executor
from arena.executors.log import QUIET
from arena.runs.judge_games import Judge, find_judge, judge_games
from arena.runs.rerun import prepare
from arena.runs.run import Playing
from arena.store.finished import Game
from arena.store.folder import JUDGED, claimed, make_place
from arena.store.judge import JudgedGames, read_lines
from arena.store.reader import Choice, chosen_games, read_run, to_line
from arena.tables.losses import PlayedGame, make_decisions
from arena.tournament import keys
from arena.tournament.config import Config, make_tournament
from arena.tournament.judged import ILLEGAL, PARTS, Judged, Recorded
from arena.tournament.schedule import Fixture
from engine import STANDARD
from engine.cards import CHARS
from engine.errors import show

if TYPE_CHECKING:
    import pandas as pd

GAMES: Final = "games.jsonl"
DECISIONS: Final = "decisions"
ABOUT: Final = "dataset.json"
STRONG: Final = tuple(reversed(ELO))[:5]
"""The bots of the set, unless others are named: the five strongest of the ladder."""

_AT_ONCE = 1000  # games in memory, and in a file of decisions


_Char: TypeAlias = Annotated[str, Meta(pattern=f"^[{CHARS}]$")]
_Chance: TypeAlias = Annotated[float, Meta(ge=0, le=1)]


class JudgedDecision(msgspec.Struct, frozen=True):
    """A decision with two legal actions or more: the ply, what was played, and what it was worth.

    `chances` has the chance to win after each legal action, `loss` what the action gave away of it,
    and `error` the standard error of the loss; docs/analyse.md says how they are estimated.
    """

    ply: Annotated[int, Meta(ge=0, lt=STANDARD.game_plies)]
    action: _Char
    chances: Annotated[dict[_Char, _Chance], Meta(min_length=2)]
    loss: Annotated[float, Meta(ge=-1, le=1)]
    error: _Chance


class JudgedRecord(msgspec.Struct, frozen=True):
    """A game as `arena export` writes it, with its judged decisions."""

    deal: str
    actions: str
    game: Annotated[str, Meta(pattern="/[0-9]{1,10}/[01]$")]
    bots: tuple[str, str]
    winner: str | None
    win_type: str
    points: tuple[int, int]
    decisions: list[JudgedDecision]


class About(msgspec.Struct, frozen=True):
    """What a set is: the bots, all of which meet, the games, their seed, and how they are judged.

    `decisions` is how many the finished set has.
    """

    bots: Sequence[str] = STRONG
    games: int = 20_000
    seed: int = 0
    worlds: int = keys.WORLDS
    judge: str = keys.JUDGE
    decisions: int = 0

    @property
    def pairs(self) -> int:
        """The pairs of every two bots; raises InputError if they do not add up to the games."""
        once = len(self.bots) * (len(self.bots) - 1) or 2  # a pair of games for every two bots
        if self.games % once:
            of = f"{once}: every two of {len(self.bots)} bots play the same number of pairs"
            raise InputError(f"games: {self.games:,} is no multiple of {of}")
        return self.games // once


def make_dataset(wanted: About, how: Playing) -> About:
    """Play and judge what is left of a set into the folder, and write its files.

    They are games.jsonl, with pyarrow decisions/, and dataset.json. A forfeited game is left out.
    Raises what `run` raises.
    """
    assert how.out
    out, run = how.out, how.out / "run"
    judge = find_judge(wanted.judge, wanted.worlds, wanted.seed)
    config = Config([], wanted.pairs, name="dataset", seed=wanted.seed)
    tournament, how = make_tournament(config, wanted.bots), replace(how, out=run)
    prepare(tournament, how.kept, strict=True)
    with claimed(out, {"dataset": msgspec.to_builtins(wanted)}):
        how.play(tournament)
        with naming(out, OSError):
            (out / ABOUT).unlink(missing_ok=True)  # a part of the files is no set
            return _write(out, wanted, _judge(run, judge, how))


def _write(out: Path, wanted: About, judged: Iterable[tuple[list[str], pd.DataFrame]]) -> About:
    """Write the files of a set, at last dataset.json."""
    decisions = 0
    with replacing(out / GAMES) as part, part.open("w") as file:
        (out / DECISIONS).mkdir(exist_ok=True)
        for old in (out / DECISIONS).glob("part-*.parquet"):
            old.unlink()
        for number, (lines, table) in enumerate(judged):
            file.writelines(lines)
            decisions += len(table)
            if find_spec("pyarrow"):
                table.to_parquet(out / DECISIONS / f"part-{number:04}.parquet")
    made = msgspec.structs.replace(wanted, decisions=decisions)
    with replacing(out / ABOUT) as part:
        part.write_bytes(msgspec.json.format(msgspec.json.encode(made)) + b"\n")
    return made


def _judge(run: Path, judge: Judge, how: Playing) -> Iterator[tuple[list[str], pd.DataFrame]]:
    """Yield the games of a run, some at once: their lines, and a table of their decisions."""
    tournament, store = read_run(run)
    place = make_place(run, JUDGED)
    with (
        closing(store),
        closing(JudgedGames(place)) as kept,
        open_executor(how.venue) as executor,
    ):
        games = (two for two in chosen_games(tournament, store, Choice()) if not two[1].fault)
        while some := [*islice(games, _AT_ONCE)]:
            asked = [Recorded(at.name, one.record.deal, one.record.actions) for at, one in some]
            judged = judge_games(judge, asked, kept, executor, progress=how.shown < QUIET)
            played = [PlayedGame(at.name, at.pair, one.seats, one.winner) for at, one in some]
            lines = [_to_line(*two, of) for two, of in zip(some, judged, strict=True)]
            yield lines, make_decisions(played, judged, judge.worlds)


def _to_line(fixture: Fixture, game: Game, judged: Sequence[Judged]) -> str:
    decisions = [
        JudgedDecision(
            one.ply, CHARS[one.action], _to_chances(one), one.loss / PARTS, one.error / PARTS
        )
        for one in judged
    ]
    text = msgspec.json.encode(decisions).decode()
    return f'{to_line(fixture, game)[:-1]}, "decisions": {text}}}\n'


def _to_chances(one: Judged) -> dict[str, float]:
    found = zip(CHARS, one.chances, strict=True)
    return {char: chance / PARTS for char, chance in found if chance != ILLEGAL}


class Dataset(NamedTuple):
    """A set of judged games in a folder; `about` says how it was made."""

    folder: Path
    about: About

    def games(self) -> Iterator[JudgedRecord]:
        """Yield the games with their decisions; raises InputError for any other line."""
        path, decisions = self.folder / GAMES, 0
        with naming(path, OSError), path.open("rb") as file:
            for number, line in enumerate(read_lines(file), 1):
                with naming(f"line {number}", msgspec.MsgspecError):
                    record = msgspec.json.decode(line, type=JudgedRecord)
                    if record.winner not in (None, *record.bots):
                        raise InputError(f"a winner {show(record.winner)} that did not play")
                decisions += len(record.decisions)
                yield record
            self._check(decisions)

    def _check(self, decisions: int) -> None:
        if decisions != (whole := self.about.decisions):
            raise InputError(f"{decisions:,} decisions; by {ABOUT} the set has {whole:,}")

    @property
    def decisions(self) -> pd.DataFrame:
        """A row for each decision, with the columns of analysis.csv."""
        import pandas as pd

        parts = sorted((self.folder / DECISIONS).glob("part-*.parquet"))
        if parts and find_spec("pyarrow"):
            with naming(self.folder / DECISIONS, ValueError, OSError):
                table = pd.concat(map(pd.read_parquet, parts), ignore_index=True)
                self._check(len(table))
                return table
        played, judged = [], []
        for game in self.games():
            pair = int(game.game.rsplit("/", 2)[1])
            played.append(PlayedGame(game.game, pair, game.bots, game.winner))
            judged.append([*map(_to_judged, game.decisions)])
        return make_decisions(played, judged, self.about.worlds)


def _to_judged(one: JudgedDecision) -> Judged:
    chances = [round(PARTS * one.chances.get(char, ILLEGAL / PARTS)) for char in CHARS]
    loss, error = round(PARTS * one.loss), round(PARTS * one.error)
    return Judged(one.ply, CHARS.index(one.action), chances, loss, error)


def load_dataset(folder: str | os.PathLike[str]) -> Dataset:
    """Return the set of judged games that `arena dataset` has made in a folder.

    Raises InputError for a folder without one.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     wanted = About(["greedy", "uniform"], 2, worlds=4)
    ...     _ = make_dataset(wanted, Playing(out=Path(folder), shown=QUIET))
    ...     made = load_dataset(folder)
    ...     len([*made.games()]), bool((made.decisions["legal"] > 1).all())
    (2, True)
    """
    path = Path(folder)
    with naming(path / ABOUT, msgspec.MsgspecError):
        return Dataset(path, msgspec.json.decode(read_file(path / ABOUT, 1 << 20), type=About))
