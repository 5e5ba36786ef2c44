"""Make the opponents of a bot, which respond to it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from arena.entries.archive import MAGIC, make_archive, read_archive
from arena.entries.entry import Entry
from arena.entries.program import ZIP
from arena.errors import InputError

if TYPE_CHECKING:
    from arena.batch.learner import Clone

HOW: Final = "--learn PAIRS learns it from games (see `arena docs probe`)"

SOMEBODY: Final = ("its opponent", "uniform")
"""The second bot of a request, whose label no other bot is likely to have."""

NO_SCORES: Final = "has no method scores(games)"
"""The message about a bot whose policy cannot be queried for many games at once."""

_MAIN: Final = "bot.py"
_VICTIM: Final = "victim.py"
_TEXT: Final = '''\
"""Plays the best response to {label}; written by `arena probe`."""

{imports}


def bot(setup: Setup) -> Strategy:
    """Return what responds to a bot whose policy it knows."""
    return Responder({how}).meet(setup, {victim})
'''


FALLS_BACK: Final = "under other rules than the published ones it plays as"
"""The message about a bot whose figure would be that of another one."""

_QUESTION: Final = '''\
"""Plays as {label}; written by `arena probe --exact`."""

{imports}


def bot(setup: Setup) -> Strategy:
    """Return the bot's own strategy."""
    own, usual = {victim}(setup), {victim}(setup._replace(rules=STANDARD))
    if type(own) is not type(usual):
        raise TypeError(f"{falls_back} {{type(own).__name__}}")
    if {scored} and not hasattr(own, "scores"):
        raise TypeError("it {lacks}")
    return {victim}(setup)
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
    """Return the source of the best response to a bot, or a zip of it and that bot's files.

    If it is `blind`, it learns nothing about the bot's hand from what the bot plays.
    """
    if victim.command:
        raise InputError(f"bot {victim.target!r}: it {NO_SCORES}; {HOW}")
    how = "setup, blind=True" if blind else "setup"
    return _pack(victim, _TEXT, "from bots.responder import Responder", how=how)


def question(victim: Entry, *, scored: bool) -> bytes:
    """Return the source of a Python bot that plays as another one, or a zip with its files.

    It fails if that bot leaves other rules than the published ones to another strategy, or, with
    `scored`, if it has no method `scores`.
    """
    words = {"scored": scored, "lacks": NO_SCORES, "falls_back": FALLS_BACK}
    return _pack(victim, _QUESTION, "from engine import STANDARD", **words)


def _pack(victim: Entry, text: str, imported: str, **words: Any) -> bytes:
    """Return the source of a bot that imports another one, or a zip of it and that bot's files."""
    if victim.source is None or victim.is_ours:
        return _fill(text, victim, (victim.module, imported), words)
    files, main = {"": victim.source}, ""
    if victim.source.startswith(MAGIC):
        files = read_archive(victim.source)
        main = next(iter(files))
    source = files.pop(main)
    for name in (_MAIN, _VICTIM):
        if name in files:
            raise InputError(f"bot {victim.target!r}: it has a file {name}; rename that one")
    files[main if main == "__init__.py" else _VICTIM] = source
    module = "." if main == "__init__.py" else ".victim"
    files[_MAIN] = _fill(text, victim, (module, imported), words)
    return make_archive(files, _MAIN)


def ending_of(content: bytes) -> str:
    """Return the ending of the file of an opponent.

    >>> ending_of(b"bot = 1")
    '.py'
    """
    return ZIP if content.startswith(MAGIC) else ".py"


def respond_to_clone(victim: Entry, clone: Clone, *, blind: bool = False) -> bytes:
    """Return a zip of the best response to a clone, and of the clone."""
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
    files = {_MAIN: text.encode(), _VICTIM: _NETWORK.encode(), "victim.npz": clone.content}
    return make_archive(files, _MAIN)


def _plain(label: str) -> str:
    return label.replace('"', "'").replace("\\", "/")


def _fill(text: str, victim: Entry, needed: tuple[str, str], words: Mapping[str, Any]) -> bytes:
    """Return the source of a bot that imports another one from a module, and something else."""
    module, more = needed
    imports = [f"from {module} import bot as victim", more]
    imports = [*sorted(imports), "from engine import Setup, Strategy"]
    made = "victim"
    if victim.params:
        imports.insert(0, "from functools import partial\n")
        made = f"partial(victim, **{victim.params!r})"
    filled = {"label": _plain(victim.label), "imports": "\n".join(imports), "victim": made}
    return text.format(**filled, **words).encode()
