"""Make the opponents of a bot, which respond to it, and play it in a process of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import numpy as np

from arena.addons.learn import victim_host
from arena.batch.lockstep import Lockstep
from arena.batch.positions import Cards, Indices
from arena.entries.archive import MAGIC, read_archive
from arena.entries.entry import Entry
from arena.entries.identity import imported_bots
from arena.entries.pack import write_packed
from arena.entries.resolve import BOTS
from arena.errors import InputError
from arena.lanes.faults import Forfeit
from arena.lanes.limits import Limits
from arena.lanes.messages import Message
from arena.lanes.process import BotProcess, bot_process
from arena.lanes.scratch import BOT, scratch_folder
from arena.runs.rerun import start_apart
from engine import STANDARD, EngineError, Seat, to_text
from engine.notation import parse_actions

if TYPE_CHECKING:
    from arena.batch.learner import Clone

HOW: Final = "--minutes M learns it from games (see `arena docs probe`)"

SOMEBODY: Final = ("its opponent", "uniform")
"""The second bot of a request, whose label no other bot is likely to have."""

NO_SCORES: Final = "has no method scores(games)"
"""The message about a bot whose policy cannot be queried for many games at once."""

_MAIN: Final = "response.py"
_TEXT: Final = '''\
"""Plays the best response to {label}; written by `arena probe`."""

{imports}


def bot(setup: Setup) -> Strategy:
    """Return what responds to a bot whose policy it knows."""
    return Responder({how}).meet(setup, {victim})
'''


_NETWORK: Final = '''\
"""{about}"""

import pkgutil

from bots.apprentice import begin, read

network = read(pkgutil.get_data(__name__, "{name}.npz"))


def {name}(setup):
    """Return the strategy for one game."""
    return begin(network, setup)
'''


def name_of(victim: Entry, what: str = "probe") -> str:
    """Return the name of the opponent of a bot, or of something else that is made of it."""
    return f"{what}-{re.sub(r'[^0-9A-Za-z_.]+', '-', victim.label).strip('-.')}"


def respond_to(victim: Entry, *, blind: bool = False) -> bytes:
    """Return the source of the best response to a bot, packed with that bot's files.

    If it is `blind`, it learns nothing about the bot's hand from what the bot plays.
    """
    if victim.command:
        raise InputError(f"bot {victim.target!r}: it {NO_SCORES}; {HOW}")
    if victim.source is None or victim.is_ours:
        return _text(victim, victim.module, blind)
    files, main = {"victim.py": victim.source}, "victim"
    if victim.source.startswith(MAGIC):
        files = read_archive(victim.source)
        main = next(iter(files)).removesuffix(".py")
    if _MAIN in files:
        raise InputError(f"bot {victim.target!r}: it has a file {_MAIN}; rename that one")
    module = "." if main == "__init__" else f".{main}"
    packed = {**files, _MAIN: _text(victim, module, blind)}
    return write_packed(packed, _MAIN, imported_bots(packed, BOTS))


def respond_to_clone(victim: Entry, clone: Clone, *, blind: bool = False) -> bytes:
    """Return the source of the best response to a clone, packed with the clone."""
    about = (
        f"a clone of {victim.label}, which plays as it does in {100 * clone.alike:.0f} % of choices"
    )
    doubt = min(0.9, max(0.02, round(1 - clone.alike, 2)))
    text = _TEXT.format(
        label=_plain(about),
        imports="from bots.responder import Responder\n"
        "from engine import Setup, Strategy\n\nfrom .victim import victim",
        how=f"setup, doubt={doubt}, blind={blind}",
        victim="victim",
    )
    plays = "Plays as another bot does, by a network that has learned from its games."
    network = _NETWORK.format(about=plays, name="victim").encode()
    files = {_MAIN: text.encode(), "victim.py": network, "victim.npz": clone.content}
    return write_packed(files, _MAIN, imported_bots(files, BOTS))


def play_as_learner(victim: Entry, weights: bytes) -> bytes:
    """Return the source of a bot that plays by a network trained to beat the victim."""
    about = f"Plays a network that has learned to beat {_plain(victim.label)}, by `arena probe`."
    files = {"learner.py": _NETWORK.format(about=about, name="bot").encode(), "bot.npz": weights}
    return write_packed(files, "learner.py", imported_bots(files, BOTS))


def _plain(label: str) -> str:
    return label.replace('"', "'").replace("\\", "/")


def _text(victim: Entry, module: str, blind: bool) -> bytes:
    """Return the source of the responding bot; `module` is the module of the other bot."""
    imports = [f"from {module} import bot as victim", "from bots.responder import Responder"]
    imports = [*sorted(imports), "from engine import Setup, Strategy"]
    made = "victim"
    if victim.params:
        imports.insert(0, "from functools import partial\n")
        made = f"partial(victim, **{victim.params!r})"
    filled = {"label": _plain(victim.label), "imports": "\n".join(imports), "victim": made}
    how = "setup, blind=True" if blind else "setup"
    return _TEXT.format(how=how, **filled).encode()


class NoScores(InputError):
    """A bot has no method `scores`."""


class Meet(Message, kw_only=True):
    """The message that begins games on these deals, in which the bot has this seat."""

    type: str = "meet"
    deals: list[str]
    seat: int


class Reply(Message, kw_only=True):
    """The message with the other seat's actions since the bot's last turn; asks for the bot's."""

    type: str = "reply"
    actions: list[str]


class Victim:
    """A Rival (`arena.addons.learn.ppo`) in a process of its own, whose answers are checked."""

    def __init__(self, label: str, process: BotProcess) -> None:
        self.label = label
        self.process = process
        self.seen: list[str] = []

    def begin(self, deals: Cards, seat: Seat, /) -> None:
        """Begin games on these deals, in which the bot has this seat."""
        self.seen = []
        self._ask(Meet(deals=[to_text(deal.tobytes()) for deal in deals], seat=seat))

    def follow(self, _games: Lockstep, actions: Indices, /) -> None:
        """Record the actions that the learning seat is about to play, one for each game."""
        self.seen.append(to_text(actions.astype(np.uint8).tobytes()))

    def choose(self, games: Lockstep, /) -> Indices:
        """Return the bot's action in each game; raises InputError for an illegal one."""
        said = self._ask(Reply(actions=self.seen))
        self.seen = []
        try:
            actions = np.frombuffer(parse_actions(said), np.uint8).astype(np.intp)
        except EngineError:
            actions = np.zeros(0, np.intp)
        rows = np.arange(games.count)
        if len(actions) != len(rows) or not (games.legal()[rows, actions] | games.over).all():
            raise InputError(f"{self.label}: its process reported illegal actions")
        return actions

    def _ask(self, message: Message) -> str:
        try:
            self.process.start()
            (answer,), _ = self.process.ask([message], self.process.limits.longest)
            if isinstance(answer, Forfeit):
                raise answer
        except Forfeit as forfeit:
            said = forfeit.fault.message
            if NO_SCORES in said:
                raise NoScores(f"{self.label}: it {NO_SCORES}") from None
            raise InputError(f"{self.label}: its method scores fails: {said}") from None
        return answer.action or ""


@contextmanager
def meet_victim(entry: Entry) -> Iterator[Victim]:
    """Yield a bot as a Rival, and end its process afterwards.

    Raises InputError for a bot that does not load.
    """
    apart = start_apart(entry)
    with (
        scratch_folder() as folder,
        bot_process(
            apart, STANDARD, Limits(), folder / BOT, program=victim_host.__file__
        ) as process,
    ):
        yield Victim(entry.label, process)
