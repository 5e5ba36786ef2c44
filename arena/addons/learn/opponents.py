"""Make the opponents of a bot, which respond to it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from arena.entries.archive import MAGIC, read_archive
from arena.entries.entry import Entry
from arena.entries.identity import imported_bots
from arena.entries.pack import write_packed
from arena.entries.resolve import BOTS
from arena.errors import InputError

if TYPE_CHECKING:
    from arena.batch.learner import Clone

HOW: Final = "--learn PAIRS learns it from games (see `arena docs probe`)"

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
"""Plays as another bot does, by a network that has learned from its games."""

import pkgutil

from bots.apprentice import begin, read

network = read(pkgutil.get_data(__name__, "victim.npz"))


def victim(setup):
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
    files = {_MAIN: text.encode(), "victim.py": _NETWORK.encode(), "victim.npz": clone.content}
    return write_packed(files, _MAIN, imported_bots(files, BOTS))


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
