"""Make the tables of judged decisions, and read those that `arena analyse` has written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from arena.batch.judging import MISTAKES as PHRASES
from arena.errors import InputError, counted
from arena.files import read_file
from arena.statistics.intervals import Estimate, Moments
from arena.statistics.number_texts import write_estimate
from arena.store.column_titles import MEAN_END, list_columns
from arena.store.csv_files import parse_table
from arena.store.folder import ANALYSIS, locate
from arena.tables.game_arrays import add_rows, interval, make_table
from arena.tournament import config_keys as keys
from arena.tournament.asking import ILLEGAL, PARTS, Judged, is_blunder
from engine import STANDARD, TAKE
from engine.cards import CHARS

if TYPE_CHECKING:
    import pandas as pd

CHANCES: Final = tuple(f"chance_{character}" for character in CHARS)
"""The columns of the chance to win after each action, by its character."""

_WORLDS: Final = "worlds | Worlds | count | In how many worlds each action was tried."
_LOSS: Final = "The chance to win that the action gave away, by a split sample of the worlds."

DECISIONS: Final = list_columns(f"""
    {ANALYSIS}
    game | Game | text | Both bots, the pair, and the seat of the first bot.
    bot opponent
    pair | | count | The number of the deal.
    seat | | count | The seat of the bot.
    ply | | count | How many actions the game had before the decision.
    round | | count | The round of the game, 1 to 4.
    action | Action | text | What was played: a card of this kind, or T to take.
    legal | Legal | count | How many actions were legal, at least two.
    chance | Chance | share | The chance to win after the action, as judged.
    best | Best | text | The action with the highest chance.
    best_chance | Its chance | share | The highest of noisy numbers: too high.
    loss | Loss | share | {_LOSS} It may be below 0 by chance.
    error | Error | share | The standard error of the loss.
    result | Result | number | What the game brought the bot: 1, 1/2 or 0.
    {_WORLDS}
    {" ".join(CHANCES)} | | share | The chance to win after this action; empty if illegal.
    better | Better | text | The best action by the second judge; empty if it was not asked.
    again | Loss again | share | The loss by the second judge, another kind of judge.
    again_error | Its error | share | The standard error of this loss, with that of the judge.
    mistake | Mistake | text | What was wrong, in words, or that the judges disagree.
    """)
AGAIN: Final = ("better", "again", "again_error", "mistake")
"""The columns of the second judge, for the decisions that lost most."""
MISTAKES: Final = list_columns("""
    -
    bot | Bot
    opponent | Opponent
    mistake | Mistake
    decisions | Decisions | count | Of the costliest, those that two judges call a mistake.
    again | Loss | share | Their mean loss by the second judge.
    """)
LOSSES: Final = list_columns(f"""
    -
    bot
    opponent | Opponent | text | Only losses against the same one are compared.
    part | Part | text | All decisions, those of a round, the plays or the takes.
    games | Games | count | Games with such a decision.
    decisions | Decisions | count | Decisions with two legal actions or more.
    loss | Loss | share | The mean for a decision. {_LOSS}
    loss_low loss_high | Loss | share | {MEAN_END}
    game_loss | Loss a game | share | The mean sum of the losses of a game.
    game_loss_low game_loss_high | Loss a game | share | {MEAN_END}
    blunders | Blunders | count | Decisions that lost 10 points of 100 or more, and more than two \
        standard errors.
    {_WORLDS}
    """)
_ROUNDS = [f"round {number}" for number in range(1, STANDARD.rounds + 1)]
PARTS_OF: Final = ("all", *_ROUNDS, "play", "take")
"""The parts of a bot's decisions."""


class PlayedGame(NamedTuple):
    """A game that was played to its end: its name and pair, who sat where, and who won."""

    name: str
    pair: int
    seats: tuple[str, str]
    winner: str | None


def make_decisions(
    games: Sequence[PlayedGame], judged: Iterable[Sequence[Judged]], worlds: int
) -> pd.DataFrame:
    """Return a row for each decision that was judged, in the order of the games."""
    both = zip(games, judged, strict=True)
    return DECISIONS.frame([_row(game, one, worlds) for game, of_game in both for one in of_game])


def _row(game: PlayedGame, one: Judged, worlds: int) -> tuple[Any, ...]:
    seat = STANDARD.seat_at(one.ply)
    shares = [None if chance == ILLEGAL else chance / PARTS for chance in one.chances]
    result = 0.5 if game.winner is None else float(game.winner == game.seats[seat])
    return (
        game.name,
        *(game.seats[seat], game.seats[1 - seat], game.pair, seat),
        *(one.ply, one.ply // STANDARD.round_plies + 1, CHARS[one.action]),
        len(shares) - shares.count(None),
        *(shares[one.action], CHARS[one.best], shares[one.best]),
        *(one.loss / PARTS, one.error / PARTS, result, worlds, *shares),
        *(None for _ in AGAIN),
    )


def add_second(decisions: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Return decisions with the columns of the second judge, where it has judged."""
    own = {"best": "better", "loss": "again", "error": "again_error"}
    plain, place = decisions.drop(columns=[*AGAIN]), ["game", "ply"]
    new = second[[*place, *own, "mistake"]].rename(columns=own)
    return plain.merge(new, "left", place)[DECISIONS.names]


def count_mistakes(decisions: pd.DataFrame) -> pd.DataFrame:
    """Return how many mistakes of each kind a bot made against each opponent, most first."""
    groups = find_worst(decisions, len(decisions)).groupby(MISTAKES.names[:3], sort=False)
    counts = groups["again"].agg(decisions="size", again="mean").reset_index()
    order = ["bot", "opponent", "decisions", "mistake"]
    return counts.sort_values(order, ascending=[True, True, False, True])[MISTAKES.names]


def make_losses(decisions: pd.DataFrame) -> pd.DataFrame:
    """Return the loss of each bot against each opponent, overall and by part, with intervals."""
    two = decisions.groupby(["bot", "opponent"], sort=False)
    labels = [label for names in two.size().index for label in names]
    group, pair = two.ngroup().to_numpy(np.int64), decisions["pair"].to_numpy(np.int64)
    of_decision, of_game = (Moments(two.ngroups, len(PARTS_OF), PARTS) for _ in "12")
    blunders = np.zeros(of_decision.counts.shape, np.int64)
    loss, error = (PARTS * decisions[["loss", "error"]].to_numpy(np.float64).T).round().astype(int)
    lost_much = is_blunder(loss, error)
    for key, part in enumerate(_parts(decisions)):
        first = ~decisions.loc[part, ["game", "seat"]].duplicated().to_numpy(bool)
        rows = group[part], key, pair[part], loss[part]
        add_rows(of_decision, *rows)
        add_rows(of_game, *rows, first)
        np.add.at(blunders[:, key], group[part & lost_much], 1)
    place, part = np.indices(blunders.shape).reshape(2, -1)
    columns = {
        **{"bot": 2 * place, "opponent": 2 * place + 1, "part": np.array(PARTS_OF)[part]},
        **{"games": of_game.counts.ravel(), "decisions": of_decision.counts.ravel()},
        **interval("loss", of_decision.means()),
        **interval("game_loss", of_game.means()),
        "blunders": blunders.ravel(),
        "worlds": np.full(blunders.size, max(decisions["worlds"], default=0)),
    }
    return LOSSES.frame(make_table(columns, labels, columns["decisions"] > 0))


def _parts(decisions: pd.DataFrame) -> list[Any]:
    """Return a mask of the decisions for each part."""
    number, takes = decisions["round"].to_numpy(), decisions["action"].to_numpy() == CHARS[TAKE]
    rounds = [number == one for one in range(1, STANDARD.rounds + 1)]
    return [np.ones(len(decisions), np.bool_), *rounds, ~takes, takes]


def find_worst(decisions: pd.DataFrame, most: int) -> pd.DataFrame:
    """Return the decisions that lost most by both judges, at most `most` of each bot.

    Action, loss and error are those of the second judge.
    """
    known = decisions[decisions["mistake"].isin(PHRASES)]
    second = {"best": known["better"], "loss": known["again"], "error": known["again_error"]}
    return find_costly(known.assign(**second), most)


def find_costly(decisions: pd.DataFrame, most: int) -> pd.DataFrame:
    """Return the decisions that lost most by their column `loss`, at most `most` of each bot."""
    lost = decisions[decisions["loss"] > 0]
    ordered = lost.sort_values(["loss", "game", "ply"], ascending=[False, True, True])
    worst = ordered.groupby("bot", sort=False).head(most)
    place = {label: number for number, label in enumerate(dict.fromkeys(decisions["bot"]))}
    return worst.sort_values("bot", key=lambda bots: bots.map(place), kind="stable")


def choose_opponent(decisions: pd.DataFrame) -> str | None:
    """Return the opponent that most bots have met, the first if several tie; None without games.

    >>> import pandas as pd
    >>> two = pd.DataFrame({"bot": ["a", "b", "c"], "opponent": ["b", "c", "b"]})
    >>> choose_opponent(two)
    'b'
    """
    met = decisions[["bot", "opponent"]].drop_duplicates()["opponent"]
    counts = met.value_counts(sort=False)
    return None if counts.empty else str(counts.idxmax())


_MOST: Final = 1 << 27  # bytes: the decisions of 17,000 games
_READ: Final = {
    **dict.fromkeys(("game", "bot", "opponent", "action", "better", "mistake"), str),
    **dict.fromkeys(("pair", "seat", "ply", "round", "worlds"), int),
    **dict.fromkeys(("loss", "error", "again", "again_error"), float),
}
"""The columns of decisions that are read."""


class JudgedTables(NamedTuple):
    """The judged decisions of a run, None if there are none.

    `left_out` says why the file is not used.
    """

    decisions: pd.DataFrame | None = None
    left_out: str = ""


def read_judged(folder: Path | None) -> JudgedTables:
    """Return the judged decisions of a run, none without a folder or without such a file."""
    if not folder or not (place := locate(folder, ANALYSIS)).exists():
        return JudgedTables()
    try:
        table = parse_table(read_file(place, _MOST), ANALYSIS, DECISIONS.names, _READ)
    except InputError as error:
        return JudgedTables(left_out=f"{ANALYSIS}: {str(error).removeprefix(f'{ANALYSIS}: ')}")
    return JudgedTables(table if len(table) else None)


class Lesson(NamedTuple):
    """The kind of mistake that costs a bot most beside its opponents, and what a cure is worth.

    `loss` is what it gives away in a game by such mistakes, and `theirs` what its opponents do, by
    the first judge. The `examples` are mistakes by two judges, each with what followed in words.
    Cured, the bot plays the judge's action in place of such a mistake: so the same deals gave
    `cured` points a game in place of `score`, and `elo` more. Where that is None, `why` says so.
    """

    bot: str
    mistake: str
    loss: float
    theirs: float
    examples: Sequence[str]
    games: int = 0
    score: float | None = None
    cured: float | None = None
    elo: Estimate | None = None
    why: str = ""

    def lines(self) -> Iterator[str]:
        """Yield the lesson as lines of text."""
        given = f"it {self.mistake}, which gave away {100 * self.loss:.1f} points of 100 a game"
        yield f"the lesson for {self.bot}: {given} (its opponents: {100 * self.theirs:.1f})"
        yield from self.examples
        if self.elo is None or self.score is None or self.cured is None:
            yield f"what curing it is worth is not known: {self.why}"
            return
        yield (
            f"cured of it: {100 * self.cured:.1f} % in place of {100 * self.score:.1f} % in the "
            f"same {counted(self.games, 'game')}, {write_estimate(self.elo, '+.0f')} Elo"
        )

    def document(self) -> dict[str, Any]:
        """Return it as plain data."""
        ends = zip(("elo", "elo_low", "elo_high"), self.elo or (None,) * 3, strict=False)
        return self._asdict() | {"examples": [*self.examples], **dict(ends)}


class Asked(NamedTuple):
    """The settings of an analysis: the judge's spec, the worlds for each decision, and the seed.

    `worst` is the number of each bot's worst decisions that are judged again.
    """

    by: str = keys.JUDGE
    worlds: int = keys.WORLDS
    seed: int = 0
    worst: int = keys.WORST


@dataclass(frozen=True)
class Analysis:
    """The judged decisions of some games, and the worst of each bot; `asked` has the settings.

    `decisions` has a row for each decision with at least two legal actions. Those in `worst` were
    judged again by a second judge, whose numbers they have; `first_loss` is that of the first one,
    and where `mistake` says that the judges disagree, there is none. One bot's games have a
    `lesson`, if it made a kind of mistake that costs it more than its opponents.
    """

    asked: Asked
    decisions: pd.DataFrame
    worst: pd.DataFrame
    lesson: Lesson | None = None

    @property
    def losses(self) -> pd.DataFrame:
        """The losses of each bot against each opponent, in total and by part of the game."""
        return make_losses(self.decisions)

    @property
    def mistakes(self) -> pd.DataFrame:
        """How many mistakes of each kind bots made, of the decisions that were judged again."""
        return count_mistakes(self.decisions)

    @property
    def opponent(self) -> str | None:
        """The opponent against which most bots have played."""
        return choose_opponent(self.decisions)
