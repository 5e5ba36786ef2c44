"""Write opponents of a bot: a best response to it or its clone, or a network trained to beat it."""

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

HOW: Final = "--minutes M learns it from games (docs/probe.md)"

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


def name_of(victim: Entry) -> str:
    """Return the name of the opponent of a bot."""
    return f"probe-{re.sub(r'[^0-9A-Za-z_.]+', '-', victim.label).strip('-.')}"


def respond_to(victim: Entry) -> bytes:
    """Return the source of the best response to a bot, packed with that bot's files."""
    if victim.command:
        raise InputError(f"bot {victim.target!r}: it {NO_SCORES}; {HOW}")
    if victim.source is None or victim.is_ours:
        return _text(victim, victim.module)
    files, main = {"victim.py": victim.source}, "victim"
    if victim.source.startswith(MAGIC):
        files = read_archive(victim.source)
        main = next(iter(files)).removesuffix(".py")
    if _MAIN in files:
        raise InputError(f"bot {victim.target!r}: it has a file {_MAIN}; rename that one")
    module = "." if main == "__init__" else f".{main}"
    packed = {**files, _MAIN: _text(victim, module)}
    return write_packed(packed, _MAIN, imported_bots(packed, BOTS))


def respond_to_clone(victim: Entry, clone: Clone) -> bytes:
    """Return the source of the best response to a clone, packed with the clone."""
    about = (
        f"a clone of {victim.label}, which plays as it does in {100 * clone.alike:.0f} % of choices"
    )
    doubt = min(0.9, max(0.02, round(1 - clone.alike, 2)))
    text = _TEXT.format(
        label=_plain(about),
        imports="from bots.responder import Responder\n"
        "from engine import Setup, Strategy\n\nfrom .victim import victim",
        how=f"setup, doubt={doubt}",
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


def _text(victim: Entry, module: str) -> bytes:
    """Return the source of the responding bot; `module` is the module of the other bot."""
    imports = [f"from {module} import bot as victim", "from bots.responder import Responder"]
    imports = [*sorted(imports), "from engine import Setup, Strategy"]
    made = "victim"
    if victim.params:
        imports.insert(0, "from functools import partial\n")
        made = f"partial(victim, **{victim.params!r})"
    filled = {"label": _plain(victim.label), "imports": "\n".join(imports), "victim": made}
    return _TEXT.format(how="setup", **filled).encode()
