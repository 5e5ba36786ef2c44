"""Repeat a bot's games in one process: the same game, and the same view with other hidden cards.

A bot must choose the same action each time: its choice may depend only on its seed and its view.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from random import Random

from arena.check import trial
from arena.check.item import Item, fail
from arena.check.sparring import Sparring, find_parting
from arena.errors import counted
from arena.lanes.faults import Forfeit, one_line
from arena.lanes.limits import Allowed
from arena.lanes.messages import Message
from arena.lanes.process import BotProcess, bot_process
from arena.tournament.schedule import Fixture
from engine import EngineError, Record, sample
from engine.cards import CHARS, to_text
from engine.notation import parse_actions
from engine.seeds import stream
from engine.state import State
from engine.view import view

_PATIENCE = 5.0  # seconds
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
        self.patience = sparring.candidate.limits.decision + _PATIENCE
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
