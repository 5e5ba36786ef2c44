"""Repeat a bot's games in one process, measure its time, memory and size, and find what it leaves.

A bot must choose the same action each time: its choice may depend only on its seed and its view.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from random import Random

import psutil

from arena.check import trial
from arena.check.item import Item, fail
from arena.check.sparring import Candidate, Sparring, find_parting
from arena.check.trial import STDOUT
from arena.entries.archive import MAGIC
from arena.errors import counted
from arena.lanes.cleanup import children
from arena.lanes.faults import Forfeit, one_line
from arena.lanes.limits import Allowed
from arena.lanes.messages import Message
from arena.lanes.meter import find_below, read_status
from arena.lanes.process import BotProcess, bot_process
from arena.tournament.schedule import Fixture
from engine import EngineError, Record, sample
from engine.cards import CHARS, to_text
from engine.notation import parse_actions
from engine.seeds import stream
from engine.state import State
from engine.view import view

_PATIENCE = 3.0  # seconds in which a process and its children may end
_PAUSE = 0.05
_MOST_FILES = 1000
_MB = 1 << 20
_MOST_OUTPUT = 1 << 16  # bytes a game
_HALF = 0.5
_SHOWN = 3
_SPARE = 5.0  # seconds beside the limit of a decision
_SLOWER = 5  # a decision may take this many times as long as in its own process
_NAME = "hidden cards"
_MOST_GAMES = 20


class Play(Message, kw_only=True):
    """A game for `trial` to play; with `actions` the opponent plays those, up to ply `last`."""

    type: str = "play"
    seat: int
    seeds: list[str]
    deal: str
    opponent: str
    actions: str
    last: int
    seconds_per_decision: float
    seconds_per_game: float | None


class Loop:
    """Lets the process of `trial` play games again; its answers are not trusted.

    `touched` names shared objects that the bot has changed, and where it did so first.
    """

    def __init__(self, sparring: Sparring, process: BotProcess) -> None:
        self.sparring = sparring
        self.process = process
        self.patience = sparring.candidate.limits.decision + _SPARE
        self.patience += _SLOWER * sparring.timing.wall.mean * sparring.rules.game_plies
        self.touched: dict[str, str] = {}
        self.played = 0  # games in the current process

    def play(
        self, fixture: Fixture, *, deal: bytes | None = None, actions: str = "", last: int = 0
    ) -> str:
        """Return the actions of a game; raise Forfeit for a fault that recurs in a new process.

        The deal is the fixture's unless `deal` is passed. With `actions`, the opponent plays those
        of a record, up to ply `last`.
        """
        self.sparring.candidate.beat()
        message = self._message(fixture, deal, actions, last)
        try:
            return self._ask(message)
        except Forfeit:
            if not self.played:
                raise
        self.process.kill()
        self.played = 0
        return self._ask(message)

    def _ask(self, message: Play) -> str:
        self.process.start()
        allowed = Allowed(self.patience, self.sparring.candidate.limits.backstop_of(self.patience))
        (answer,), _ = self.process.ask([message], allowed)
        if isinstance(answer, Forfeit):
            raise answer
        for line in answer.output.splitlines():
            what, _, where = line.partition(": ")
            self.touched.setdefault(what, one_line(where))
        self.played += 1
        return answer.action or ""

    def _message(self, fixture: Fixture, deal: bytes | None, actions: str, last: int) -> Play:
        limits = self.sparring.candidate.limits
        draw = fixture.draw(self.sparring.candidate.seed, self.sparring.rules)
        return Play(
            seat=fixture.seat,
            seeds=[f"{luck:032x}" for luck in draw.lucks],
            deal=to_text(deal or draw.deal),
            opponent=fixture.pairing.opponent,
            actions=actions,
            last=last,
            seconds_per_decision=limits.decision,
            seconds_per_game=limits.game,
        )

    def play_whole(self, fixture: Fixture) -> str:
        """Return the actions of a game, which must be a complete one; else raise Forfeit."""
        actions = self.play(fixture)
        rules = self.sparring.rules
        deal = to_text(fixture.draw(self.sparring.candidate.seed, rules).deal)
        try:
            over = Record(deal, actions, rules).replay().over
        except EngineError as error:
            raise Forfeit("protocol", f"its process reported an invalid game: {error}") from None
        if not over:
            raise Forfeit("protocol", "its process reported an unfinished game")
        return actions


@contextmanager
def open_loop(sparring: Sparring) -> Iterator[Loop]:
    """Yield a Loop for the games of a Sparring; kill its process at the end."""
    candidate = sparring.candidate
    with bot_process(
        candidate.entry,
        sparring.rules,
        candidate.limits,
        candidate.make_folder(),
        candidate.beat,
        program=trial.__file__,
    ) as process:
        yield Loop(sparring, process)


def check_hidden(loop: Loop, games: Mapping[Fixture, str], decisions: int) -> Item:
    """Repeat decisions of some games, in random order, with other hidden cards."""
    sparring = loop.sparring
    rng = stream(sparring.candidate.seed, "check", "hidden")
    questions = _questions(sparring, games, rng)[:decisions]
    for fixture, ply in questions:
        problem = _ask_again(loop, fixture, games[fixture], ply, rng)
        if problem is not None:
            return problem
    message = f"{counted(len(questions), 'decision')} asked again: the same answers"
    return Item(_NAME, "ok", message, figures={"decisions": len(questions)})


def _questions(
    sparring: Sparring, games: Mapping[Fixture, str], rng: Random
) -> list[tuple[Fixture, int]]:
    """Return the decisions of some games with at least two legal actions, in random order."""
    questions = []
    for fixture in [*games][:_MOST_GAMES]:
        state = _start(sparring, fixture)
        for ply, action in enumerate(parse_actions(games[fixture])):
            if state.to_act == fixture.seat and len(state.legal()) > 1:
                questions.append((fixture, ply))
            state.apply(action)
    rng.shuffle(questions)
    return questions


def _start(sparring: Sparring, fixture: Fixture) -> State:
    return State(fixture.draw(sparring.candidate.seed, sparring.rules).deal, sparring.rules)


def _ask_again(loop: Loop, fixture: Fixture, actions: str, ply: int, rng: Random) -> Item | None:
    """Repeat one decision; return an item if the answer is wrong, else None."""
    sparring = loop.sparring
    state = _start(sparring, fixture)
    state.follow(parse_actions(actions[:ply]))
    try:
        world = sample(view(state, fixture.seat), rng)
        again = loop.play(fixture, deal=world.deal(), actions=actions, last=ply)[: ply + 1]
        if again == actions[: ply + 1]:
            return None
        if loop.play(fixture, actions=actions, last=ply)[: ply + 1] != actions[: ply + 1]:
            return Item(_NAME, "none", "not tried: its answers differ with the same cards, too")
    except Forfeit as forfeit:
        return fail(_NAME, forfeit.fault, "with other cards unseen", sparring.command(fixture))
    first = find_parting(again, actions)
    action = again[first] if again[first:] and again[first] in CHARS else "nothing"
    message = f"plays {action} at ply {first} where it played {actions[first]}: "
    message += "only cards it cannot see were different"
    return Item(_NAME, "fail", message, "hidden", command=sparring.command(fixture))


def _peak_megabytes(bot: BotProcess) -> float | None:
    """Return the peak memory in MB of a bot's largest process, None if it is unknown."""
    found = (read_status(pid).get("VmHWM") for pid in _family(bot))
    return max((int(value.split()[0]) * 1024 / _MB for value in found if value), default=None)


def _files(bot: BotProcess) -> list[str]:
    """Return the files that a bot has left in its private folder, except caches.

    An arena that is installed below /tmp has its own paths in a jail's private folder.
    """
    home = bot.launch.environment["HOME"]
    left = (
        file for file in _walk(_private_folder(bot)) if f"{home}/{file}" not in bot.launch.words
    )
    return sorted(islice(left, _MOST_FILES))


def _private_folder(bot: BotProcess) -> Path:
    """Return the private folder of a bot; in a jail it is reached through one of its processes."""
    if bot.launch.jailed:
        inside = Path(bot.launch.environment["HOME"]).relative_to("/")
        for pid in _inner(bot):
            folder = Path(f"/proc/{pid}/root", inside)
            with suppress(OSError):
                os.listdir(folder)
                return folder
    return bot.launch.folder


def _walk(top: Path) -> Iterator[str]:
    disk = top.stat().st_dev
    for parent, folders, names in os.walk(top):
        folders[:] = [name for name in folders if _is_left(Path(parent, name), disk)]
        place = Path(parent).relative_to(top)
        yield from (str(place / name) for name in names if _is_left(Path(parent, name), disk))


def _is_left(path: Path, disk: int) -> bool:
    """Return whether a file is on this disk, not mounted by the jail, and not a cache."""
    if path.name.startswith(".") or path.name == "__pycache__":
        return False
    with suppress(OSError):
        return path.lstat().st_dev == disk
    return False


def _dismiss(bots: Sequence[BotProcess]) -> list[str]:
    """Ask processes of bots to end; return the names of those that are still running.

    A jail ends together with the bot's own process. So its first process is paused before, and
    processes that the bot has started can be found before they are killed with the jail.
    """
    own = {bot.pid for bot in bots}
    holders = []
    for bot in bots:
        inner = _inner(bot)
        own |= {*inner[:2]}  # the jail's first, and the bot's own
        outer = [pid for pid in _family(bot) if pid not in inner] if inner else []
        for pid in outer:
            with suppress(OSError):
                os.kill(pid, signal.SIGSTOP)
        holders += outer
        bot.dismiss(0.0 if inner else _PATIENCE)
    deadline = time.monotonic() + _PATIENCE
    while True:
        below = (pid for holder in holders for pid in find_below(holder))
        running = {*children(), *below} - {*holders}
        names = [name for pid in running if (name := _name(pid, own))]
        if not names or time.monotonic() > deadline:
            return names
        time.sleep(_PAUSE)


def _name(pid: int, own: Collection[int | None]) -> str:
    """Return the name of a running process, "" for the bot's own or one that has ended."""
    try:
        process = psutil.Process(pid)
        if pid in own or process.status() == psutil.STATUS_ZOMBIE:
            return ""
        return process.name()
    except psutil.Error:
        return ""


def check_time(sparring: Sparring) -> Item:
    """Return the item about the time of decisions."""
    times = sparring.timing.cpu
    median, p99, longest = times.quantile(0.5), times.quantile(0.99), times.longest
    message = f"median {_ms(median)}, 99 % {_ms(p99)}, longest {_ms(longest)} per decision"
    figures = {"median": median, "p99": p99, "max": longest, "decisions": times.count}
    limit = sparring.candidate.limits.decision
    if longest <= _HALF * limit:
        return Item("time", "ok", message, figures=figures)
    return Item("time", "warn", f"{message}; the limit is {limit:g} s", figures=figures)


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.2g} ms" if seconds < _HALF else f"{seconds:.1f} s"


def check_memory(sparring: Sparring) -> Item:
    """Return the item about the peak memory of the bot's processes, which must still run."""
    peaks = [peak for bot in sparring.bots if (peak := _peak_megabytes(bot)) is not None]
    peak = max(peaks, default=None)
    if peak is None:
        return Item("memory", "none", "this system does not report it")
    limit = sparring.candidate.limits.memory
    figures = {"peak_mb": round(peak, 1)}
    message = f"{figures['peak_mb']:.0f} MB at most, of {limit} MB"
    return Item("memory", "ok" if peak <= _HALF * limit else "warn", message, figures=figures)


def check_size(candidate: Candidate) -> Item:
    """Return the item about the size of the bot's source."""
    source = candidate.entry.source
    if source is None:
        return Item("size", "none", "not a single file")
    if source.startswith(MAGIC):
        message = f"{counted(len(source), 'byte')} with its files"
        return Item("size", "ok", message, figures={"bytes": len(source)})
    number = len(source.splitlines())
    message = f"{counted(number, 'line')}, {counted(len(source), 'byte')}"
    return Item("size", "ok", message, figures={"lines": number, "bytes": len(source)})


def check_leftovers(sparring: Sparring, touched: dict[str, str]) -> Item:
    """End the bot's processes; return the item about processes, files and output left behind."""
    files = sorted({file for bot in sparring.bots for file in _files(bot)})
    processes = _dismiss(sparring.bots)
    output = sum(bot.output_bytes for bot in sparring.bots)
    leftovers = []
    if processes:
        leftovers.append(f"a process that goes on: {processes[0]}")
    if files:
        more = ", ..." if len(files) > _SHOWN else ""
        leftovers.append(f"files: {', '.join(files[:_SHOWN])}{more}")
    if output > _MOST_OUTPUT * len(sparring.actions):
        leftovers.append(f"{output / _MB:,.0f} MB of output in {len(sparring.actions):,} games")
    if STDOUT in touched:
        leftovers.append(f"{STDOUT} closed or replaced, {touched[STDOUT]}")
    figures = {"processes": len(processes), "files": len(files), "output_bytes": output}
    if leftovers:
        return Item("leaves nothing", "fail", f"leaves {'; '.join(leftovers)}", figures=figures)
    if output:
        return Item("leaves nothing", "warn", f"prints: {counted(output, 'byte')}", figures=figures)
    return Item("leaves nothing", "ok", "no process, no file, no output", figures=figures)


def _family(bot: BotProcess) -> list[int]:
    """Return a bot's process and all its descendants."""
    return [] if bot.pid is None else [bot.pid, *find_below(bot.pid)]


def _inner(bot: BotProcess) -> list[int]:
    """Return a bot's processes that have their own pid inside a jail, ordered by it."""
    outside = len(_numbers(os.getpid()))
    numbers = {pid: _numbers(pid) for pid in _family(bot)}
    inner = [pid for pid in numbers if len(numbers[pid]) > outside]
    return sorted(inner, key=lambda pid: numbers[pid][-1])


def _numbers(pid: int) -> list[int]:
    """Return the pids of a process: one for each pid namespace that it is in."""
    return [int(number) for number in read_status(pid).get("NSpid", "").split()]
