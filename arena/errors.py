"""The exceptions of the arena, functions that make text safe to print, and what has left."""

from __future__ import annotations

import errno
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from arena.tokens import hide_secrets

LABEL_WIDTH = 18
"""The width of a label in a table, in columns."""

_MOST_NAMED = 3  # in a list; a list with one more is named in full
_LONGEST = 600  # characters of a message about input
_END = 200  # of these, characters of the end, which has the reason


class ArenaError(Exception):
    """Any error that the arena raises on purpose; its message is one printable line.

    >>> str(ArenaError("a name\\nof two lines"))
    'a name\\\\nof two lines'
    """

    def __init__(self, message: str) -> None:
        super().__init__(escape(hide_secrets(message)))


class InputError(ArenaError):
    """Input that cannot be used; the message names the file or option, and the place in it.

    A long message is cut in its middle.

    >>> import arena
    >>> arena.run(["greedy"], pairs=1)
    Traceback (most recent call last):
        ...
    arena.errors.InputError: bots: a tournament needs two, there is 1
    """

    def __init__(self, message: str) -> None:
        super().__init__(shorten(message))


class ChangedBots(InputError):
    """Bots have changed since the games in a run's folder; `labels` are those of the bots.

    >>> ChangedBots("results/friday", {"mine": ["sha256: there 1f, here 2e"]}).labels
    ['mine']
    """

    def __init__(self, place: object, changed: Mapping[str, Sequence[str]]) -> None:
        what = "; ".join(f"{label}: {', '.join(differs)}" for label, differs in changed.items())
        names = ", ".join(changed)
        super().__init__(
            f"{place}: changed since their games were played: {what}; --replace plays the games "
            f"of {names} again and keeps those of before until then; without {names} the others "
            f"go on; --out FOLDER plays all of them elsewhere"
        )
        self.labels = [*changed]
        self._parts = place, changed

    def __reduce__(self) -> tuple[Any, ...]:
        """Let it be pickled, to be raised in another process."""
        return ChangedBots, self._parts


class WorkerDied(ArenaError):
    """A worker process died, and no bot can be blamed for it.

    >>> issubclass(WorkerDied, ArenaError)
    True
    """


class Exhausted(ArenaError):
    """The machine refuses a process, memory, an open file, space or a jail: no bot is to blame.

    >>> issubclass(Exhausted, ArenaError)
    True
    """


_REFUSES = {errno.EAGAIN, errno.ENOMEM, errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE}
_NO_THREAD = "can't start new thread"


@contextmanager
def blaming_machine(what: str) -> Iterator[None]:
    """Raise Exhausted for an error by which the machine refuses what the arena itself needs.

    >>> with blaming_machine("a worker"):
    ...     raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
    Traceback (most recent call last):
    arena.errors.Exhausted: a worker: Resource temporarily unavailable
    """
    try:
        yield
    except (OSError, MemoryError, RuntimeError) as error:
        lacks = getattr(error, "errno", None) in _REFUSES or str(error) == _NO_THREAD
        if not lacks and not isinstance(error, MemoryError):
            raise
        reason = getattr(error, "strerror", None) or str(error) or "no memory is left"
        raise Exhausted(f"{what}: {reason}") from None


class NoSites(ArenaError):
    """No machine of a cluster is left that could play; the games so far are kept.

    >>> issubclass(NoSites, ArenaError)
    True
    """


class Unreachable(ArenaError):
    """A bot that lives elsewhere cannot be asked, or is another one now; the games so far are kept.

    The message begins with its label.

    >>> issubclass(Unreachable, ArenaError)
    True
    """


def not_installed(library: str, extra: str) -> str:
    """Return the message that a library is missing, with the command that installs its extra.

    >>> not_installed("gymnasium", "rl")
    "gymnasium is not installed; pip install 'district-noir-arena[rl]'"
    """
    return f"{library} is not installed; pip install 'district-noir-arena[{extra}]'"


def require_posix(what: str) -> None:
    """Raise InputError on systems that cannot fork processes or lock files, such as Windows.

    >>> require_posix("arena run")  # Linux and macOS
    """
    if not hasattr(os, "fork"):
        why = f"Linux or macOS is needed: on {sys.platform} no process can be forked"
        raise InputError(f"{what}: {why}")


def counted(number: float, noun: str, plural: str = "") -> str:
    """Return a number with its noun, in the singular for 1.

    >>> counted(1, "pair"), counted(1200, "pair"), counted(2, "ply", "plies")
    ('1 pair', '1,200 pairs', '2 plies')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def count_of(done: int, games: int, *, at_most: bool = False) -> str:
    """Return how many of a run's games are done, in words.

    >>> count_of(300, 1000), count_of(300, 1000, at_most=True)
    ('300 of 1,000 games', '300 of at most 1,000 games')
    """
    return f"{done:,} of {'at most ' * at_most}{games:,} games"


def wrapped(text: str) -> list[str]:
    """Return a sentence as lines for a terminal of 80 columns; the later ones are indented.

    >>> wrapped("one two"), [line[:4] for line in wrapped(30 * "one ")]
    (['one two'], ['one ', '  on'])
    """
    from textwrap import wrap

    return wrap(text, 80, subsequent_indent="  ")


def name_some(names: Sequence[str]) -> str:
    """Return a list of names in words; of a long one only the first three.

    >>> name_some(["a"]), name_some(["a", "b"]), name_some(["a", "b", "c", "d", "e"])
    ('a', 'a and b', 'a, b, c and 2 more')
    """
    named = [*names]
    if len(names) > _MOST_NAMED + 1:
        named[_MOST_NAMED:] = [f"{len(names) - _MOST_NAMED:,} more"]
    if len(named) == 1:
        return named[0]
    return f"{', '.join(named[:-1])} and {named[-1]}"


@contextmanager
def naming(place: object, *more: type[Exception]) -> Iterator[None]:
    """Prefix the message of an InputError with the place of the wrong input.

    Errors of `more` become InputErrors, with the reason that the system gives.

    >>> with naming("cup.yaml"):
    ...     raise InputError("pairs: expected int")
    Traceback (most recent call last):
    arena.errors.InputError: cup.yaml: pairs: expected int
    """
    kinds: tuple[type[Exception], ...] = (InputError, *more)
    try:
        yield
    except kinds as error:
        raise InputError(f"{place}: {getattr(error, 'strerror', None) or error}") from None


@contextmanager
def writing(path: object) -> Iterator[None]:
    """Name the file in an OSError of the block that names none, such as that of a full disk.

    >>> import errno
    >>> with writing("games.csv"):
    ...     raise OSError(errno.ENOSPC, "No space left on device")
    Traceback (most recent call last):
    OSError: [Errno 28] No space left on device: 'games.csv'
    """
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def escape(text: str) -> str:
    """Return a text with unprintable characters escaped as in a Python string.

    So it is one line, cannot control a terminal, and can be written in any encoding.

    >>> print(escape("a file\\nof two lines"))
    a file\\nof two lines
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def columns(text: str) -> int:
    """Return the width of a text in terminal columns: 2 for a Chinese or Japanese character.

    >>> columns("greedy"), columns("\u65e5\u672c"), columns("e\u0301")
    (6, 4, 1)
    """
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    shown = (char for char in text if category(char) not in ("Mn", "Me"))
    return sum(1 + (east_asian_width(char) in "WF") for char in shown)


def pad(text: str, width: int) -> str:
    """Return a text padded with spaces to `width` columns.

    >>> pad("\u65e5\u672c", 6)
    '\u65e5\u672c  '
    """
    return text + " " * (width - columns(text))


def cut(text: str, width: int = LABEL_WIDTH) -> str:
    """Return a text cut to at most `width` columns.

    >>> cut("a_bot_with_a_long_name", 12)
    'a_bot_wit...'
    """
    if columns(text) <= width:
        return text
    while columns(text) > width - 3:
        text = text[:-1]
    return f"{text}..."


def escape_lines(text: str) -> str:
    """Return a text of several lines with each line escaped.

    >>> print(escape_lines("two\\nlines\\x1b[2J"))
    two
    lines\\x1b[2J
    """
    return "\n".join(map(escape, text.split("\n")))


def quote(word: str) -> str:
    """Return a word quoted for a shell; the result is always printable.

    bash, zsh, ksh and every shell of POSIX 2024 read `$'...'`.

    >>> print(quote("my bot.py"), quote("a\\x1b[2Jb.py"))
    'my bot.py' $'a\\033[2Jb.py'
    """
    if word.isprintable():
        return shlex.quote(word)
    return "$'" + "".join(map(_quote_char, word)) + "'"


def _quote_char(char: str) -> str:
    if char.isprintable():
        return f"\\{char}" if char in "\\'" else char
    return "".join(f"\\{byte:03o}" for byte in os.fsencode(char))


def shell_line(words: Iterable[object]) -> str:
    """Return words as a command line for a shell.

    >>> shell_line(["arena", "show", "my run"])
    "arena show 'my run'"
    """
    return " ".join(quote(str(word)) for word in words)


def arena_command(verb: str, arguments: Iterable[object], options: Iterable[object] = ()) -> str:
    """Return a command line of the arena; arguments may look like options.

    >>> print(arena_command("show", ["my run", "a/b/0/1"], ["--names", "deck"]))
    arena show 'my run' a/b/0/1 --names deck
    >>> arena_command("check", ["-b.py"])
    'arena check -- -b.py'
    """
    words = [str(argument) for argument in arguments]
    if any(word.startswith("-") for word in words):
        return shell_line(["arena", verb, *options, "--", *words])
    return shell_line(["arena", verb, *words, *options])


def shorten(text: str) -> str:
    """Return a text without its middle if it is too long for a message; no token is cut."""
    text = hide_secrets(text)
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST - _END]}...{text[-_END:]}"


REMOVED: Final = {
    "arena play --restrict": "`arena compare` the bot with one that wraps it (arena docs ablate)",
    "arena worth": "`arena docs facts` has the effects of cards, cards.csv how often a taker wins",
    "arena league page": "`arena report FOLDER` writes the pages of a league, too",
    "arena league history": "`arena league show FOLDER NAME`",
    "arena evaluate": "`arena play BOT --against ladder`, `arena probe` and `arena analyse`",
    "arena.Evaluation": "what arena.run, arena.probe and Results.analyse return",
    "arena.evaluate": "arena.run with against, arena.probe and Results.analyse",
    "arena analyse --out": "details/analysis.csv of the run has the decisions",
    "arena analyse --agree": "ask bots in a program, at any view",
    "arena ablate --cross": "join rules that change together by +: rounds=3+removed=13",
    "arena probe --minutes": "--learn PAIRS; arena docs training has the training of a network",
    "arena compare --season": "divide --alpha by the number of comparisons",
    "arena view --judge": "first `arena analyse RUN`, then the replay has what each decision lost",
    "arena view --worlds": "first `arena analyse RUN`, then the replay has what each decision lost",
    "arena view --what-if": "in a program, let bots play on from any State (arena docs viewer)",
    "arena view --then": "in a program, let bots play on from any State (arena docs viewer)",
    "arena view --by": "the curve is that of champion; `arena show --by BOT` asks another bot",
    "arena plan --width": "`arena play --until ELO` plays until ratings are so narrow",
    "arena plan --like": "leave it out: the plan supposes that the games of a pair are independent",
    "arena plan --against": "plan a round robin of as many bots",
    "arena doctor --report": "`arena doctor` prints versions and what is missing",
    "arena facts": "docs/facts.md has the figures; `python -m bench.facts` in the repository",
    "arena dataset": "`python -m bench.dataset` in the repository (docs/dataset.md)",
    "arena.facts": "docs/facts.md has the figures",
    "arena.load_dataset": "each line of games.jsonl is JSON (docs/dataset.md)",
    "arena league play": "`arena league host FOLDER --once` plays a round",
    "arena league new --target": "the key target of league.yaml",
    "arena league serve": "`arena league host FOLDER`",
    "arena league web": "`arena league host FOLDER` serves the page with the form, too",
    "arena league copies": "a tool for plagiarism, such as JPlag, on the league's folder bots/",
    "arena.League": "`arena league`; `arena.open` of a league's folder has the tables of its run",
    "arena.league": "`arena league`; `arena.open` of a league's folder has the tables of its run",
    "arena sites": "a machine that differs ends the run, with a line that says what differs there",
    "arena play --games": "`arena human BOT --games N`",
    "arena play --names": "`arena human BOT --names NAMING`",
    "arena play --thoughts": "`arena game BOT BOT --thoughts`",
    "arena view --thoughts": "`arena game BOT BOT --thoughts`, and `arena view` of its record",
    "arena human --thoughts": "`arena game BOT BOT --thoughts`",
    "arena pack": "give the folder, or a zip of it: both are a bot",
    "arena check --seconds": "`--games` says how much is played",
    "key halves": "leave it out: the two games of a pair are played as with halves: together",
    "key private_addresses": "leave it out: only the organiser names the servers of a league",
}
"""What to use instead of what version 2.0 took away, by its name: the only trace of it."""


def advise(name: str) -> str:
    """Return a sentence about a command, option, key or name of the library that has left.

    It is empty if there was never one of that name.

    >>> advise("arena dance")
    ''
    """
    instead = REMOVED.get(name)
    return f"{name} has left with version 2.0: {instead}" if instead else ""
