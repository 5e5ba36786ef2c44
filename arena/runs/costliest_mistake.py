"""Say which kind of mistake costs a bot most, and play the same deals again without it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from statistics import fmean, pstdev
from typing import Final, NamedTuple

from arena.entries.entry import Entry
from arena.entries.new_bot import ending_of, wrap
from arena.entries.resolve import resolve
from arena.errors import InputError, shorten
from arena.executors.local import Executor
from arena.executors.log import run_log
from arena.lanes.temp_and_cache_folders import scratch_folder
from arena.replays.finished_game import Game
from arena.replays.timeline import describe_decision, name_choice, tell_next
from arena.runs.judge_games import Ask, judge_again, record_of
from arena.runs.progress_bar import show_progress
from arena.runs.rerun import plan_again, resolve_same
from arena.runs.run import Interrupted
from arena.statistics.intervals import Estimate
from arena.tables.losses import Lesson
from arena.tournament.asking import PARTS, ROLLOUTS, Habit, Judged, Recorded
from arena.tournament.match import GameResult
from arena.tournament.schedule import Fixture
from arena.tournament.tournament import Tournament
from engine import STANDARD
from engine.cards import CHARS

_EXAMPLES: Final = 3  # of twice as many that are judged again
_CURED: Final = '''\
"""Plays as {label}, but for one kind of mistake; written by `arena analyse`."""

{imports}


def bot(setup: Setup) -> Strategy:
    """Return the cured strategy."""
    judge = own_network().scores_in, values_after, {errors}
    return Cured(setup, {victim}(setup), {mistake!r}, *judge)
'''
_IMPORTS: Final = (
    "from arena.batch.judging import Cured\n"
    "from bots.apprentice import own_network\n"
    "from bots.champion import values_after"
)


class Seen(NamedTuple):
    """A game of a run, its judged decisions, and how its bots play, if that is known."""

    fixture: Fixture
    game: Game
    decisions: Sequence[Judged]
    models: Sequence[Habit] = ()

    @property
    def recorded(self) -> Recorded:
        """The game in the form for a judge."""
        return record_of(self.fixture, self.game)._replace(models=self.models)


class Mistake(NamedTuple):
    """A decision in which the first judge prefers another action, and what was wrong with it.

    `place` is that of the game, and `own` says whether the bot played so, or its opponent.
    """

    place: int
    own: bool
    kind: str
    judged: Judged


def teach(
    bot: str,
    tournament: Tournament,
    games: Sequence[Seen],
    ask: Ask,
    executor: Executor,
    *,
    seed: int = 0,
    home: Path | None = None,
    progress: bool = True,
) -> Lesson | None:
    """Return the kind of mistake that costs a bot most, and what its cure is worth.

    The bot plays the deals of these games again, in its own lane; files are relative to `home`.
    Returns None if no kind costs it more than its opponents, by both ways to add it up, and raises
    Interrupted at Ctrl-C.
    """
    found = [*find_mistakes(bot, games)]
    worst = find_costliest(found, len(games))
    meant = [one for one in found if one.kind == worst]
    loss, theirs = (
        sum(one.judged.loss for one in meant if one.own == is_own) / PARTS / len(games)
        for is_own in (True, False)
    )
    if loss <= theirs:
        return None
    own = {(one.place, one.judged.ply) for one in meant if one.own}

    def is_meant(place: int, one: Judged) -> bool | None:
        return (place, one.ply) in own or None

    recorded, judged = [one.recorded for one in games], [one.decisions for one in games]
    again = judge_again(recorded, judged, 2 * _EXAMPLES, is_meant, ask, seed)
    examples = [*_tell(games, again, worst)][:_EXAMPLES]
    lesson = Lesson(bot, worst, loss, theirs, examples)
    try:
        return _cure(lesson, tournament, games, executor, home=home, progress=progress)
    except InputError as error:
        return lesson._replace(why=str(error))


def find_mistakes(bot: str, games: Sequence[Seen]) -> Iterator[Mistake]:
    """Yield the mistakes of a bot and of its opponents, by the first judge."""
    for place, (_, game, decisions, _) in enumerate(games):
        for one in decisions:
            if one.best != one.action:
                own = game.seats[STANDARD.seat_at(one.ply)] == bot
                kind = name_choice(game.record.deal, game.record.actions, one)
                yield Mistake(place, own, kind, one)


def find_costliest(found: Iterable[Mistake], games: int) -> str:
    """Return the kind of mistake by which a bot gives away most beside its opponents, "" if none.

    How much better the best action was counts here, and not the loss, which has no bias but more
    noise. What the judge gets wrong, it finds in both, so that the difference has nothing of it.
    The mean counts less its standard error, as the largest of noisy means is often noise.

    >>> late, city = (Judged(0, 1, [better, 0], 0, 0) for better in (30, 25))
    >>> often = [Mistake(place, True, "gave a city", city) for place in (0, 1)]
    >>> find_costliest([*often, *2 * [Mistake(0, True, "took too late", late)]], 2)
    'gave a city'
    >>> find_costliest([Mistake(0, own, "took too late", late) for own in (True, False)], 2)
    ''
    """
    gaps: dict[str, list[int]] = defaultdict(lambda: [0] * games)
    for place, own, kind, one in found:
        given = one.chances[one.best] - one.chances[one.action]
        gaps[kind][place] += given if own else -given
    least = {
        kind: fmean(gap) - pstdev(gap) / games**0.5 for kind, gap in gaps.items() if sum(gap) > 0
    }
    return max(least, key=least.__getitem__, default="")


def _tell(games: Sequence[Seen], again: Sequence[Sequence[Judged]], mistake: str) -> Iterator[str]:
    """Yield the costliest mistakes of a kind by two judges, each with what followed."""
    both = [(one, seen) for seen, rows in zip(games, again, strict=True) for one in rows]
    for one, seen in sorted(both, key=lambda two: (-two[0].loss, two[1].fixture.name, two[0].ply)):
        game = seen.recorded
        if describe_decision(game.deal, game.actions, one) == mistake:
            better = f"{CHARS[one.best]} is {100 * one.loss / PARTS:.1f} better"
            moves = tell_next(game, one.ply, seen.game.seats)
            yield f"  {game.name} ply {one.ply}, {better}: {moves}"


def _cure(
    lesson: Lesson,
    tournament: Tournament,
    games: Sequence[Seen],
    executor: Executor,
    *,
    home: Path | None,
    progress: bool,
) -> Lesson:
    """Return a lesson with what its cure gained; raises InputError for a bot without a cure."""
    import pandas as pd

    from arena.differences.common_deals import PairedGame, make_differences

    bot, played = lesson.bot, {one.fixture: one.game for one in games}
    met = {label for fixture in played for label in fixture.labels}
    entries = [resolve_same(one, home) if one.label in met else one for one in tournament.entries]
    entries = [_wrap(one, lesson.mistake) if one.label == bot else one for one in entries]
    rows = []
    cured = replace(tournament, entries=entries)
    for fixture, new in _play(cured, played, executor, progress=progress):
        is_first, old = fixture.pairing.bot == bot, played[fixture]
        if new.fault and (new.winner == 1) == is_first:
            raise InputError(f"wrapped, it fails: {shorten(new.fault.message)}")
        scores = new.score if is_first else 1 - new.score, float(old.winner == bot)
        if not new.fault:
            was = 0.5 if old.winner is None else scores[1]
            at = fixture.pairing[is_first], fixture.pair, fixture.seat
            rows.append(PairedGame(*at, scores[0], was, new.win_type, old.win_type, None))
    if not rows:
        raise InputError("its opponents have failed in all these games")
    total = make_differences(pd.DataFrame(rows, columns=PairedGame._fields)).iloc[0]
    elo = Estimate(*(float(total[name]) for name in ("elo", "elo_low", "elo_high")))
    return lesson._replace(
        games=len(rows), score=float(total["old"]), cured=float(total["new"]), elo=elo
    )


def _wrap(own: Entry, mistake: str) -> Entry:
    """Return a bot of a run with a cure, in its own lane; raises InputError if it has none."""
    if own.command:
        raise InputError("it is a program, and only a Python bot can be wrapped")
    errors = tuple(error / PARTS for error in ROLLOUTS)
    content = wrap(own, _CURED, _IMPORTS, mistake=mistake, errors=errors)
    with scratch_folder() as folder:
        file = folder / f"cured{ending_of(content)}"
        file.write_bytes(content)
        return resolve(str(file), own.label, lane=own.lane, needs=own.needs)


def _play(
    tournament: Tournament, wanted: Mapping[Fixture, Game], executor: Executor, *, progress: bool
) -> Iterator[tuple[Fixture, GameResult]]:
    """Yield the results of the wanted games, played by this tournament's bots."""
    pairings = tournament.pairings
    pairs = [[one.pair for one in wanted if one.pairing == pairing] for pairing in pairings]
    missing = [[range(min(some), max(some) + 1)] if some else [] for some in pairs]
    plan = plan_again(tournament, missing)
    done, most = 0, 2 * sum(len(part) for some in missing for part in some)
    with (
        run_log(None) as log,
        show_progress(most, log=log.terminal, shown=progress) as bar,
        closing(executor.play(plan, tournament, log)) as chunks,
    ):
        try:
            for played in chunks:
                plan.learn(played.check())
                done += len(played.results)
                bar.add(len(played.results))
                for result in played.results:
                    fixture = Fixture(pairings[played.chunk.pairing], result.pair, result.seat)
                    if fixture in wanted:
                        yield fixture, result
        except KeyboardInterrupt:
            raise Interrupted(done, most, "played with the cure, and not kept") from None
