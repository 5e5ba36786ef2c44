"""List the kinds of faults, and describe a fault with evidence that is the same in every lane.

Text that varies from run to run (addresses, folders, numbers) is replaced. The process of a bot
that has failed imports this module, so it uses the standard library only.
"""

from __future__ import annotations

import os
import re
import traceback
from types import TracebackType
from typing import Any, NamedTuple

from arena.errors import escape, escape_lines
from arena.lanes.evidence import MOST_OUTPUT, ROOT
from arena.tokens import hide_secrets
from engine.errors import IllegalAction
from engine.strategy import Clock, Spent


class Kind(NamedTuple):
    """A kind of fault: its description for people, and which programs may report it.

    `of_host` and `of_program` are whether our host around a Python bot, and a program that speaks
    the protocol itself, may report this kind; the lane that watches the process may report all
    kinds. `is_sure` means that the fault occurs on every machine alike. `is_final` means that one
    such fault puts the bot out of the run, and its game is not played again.
    """

    text: str
    of_host: bool = False
    of_program: bool = False
    is_sure: bool = False
    is_final: bool = False


KINDS = {
    "illegal": Kind("an illegal action", of_host=True, is_sure=True),
    "exception": Kind("an exception", of_host=True, of_program=True),
    "timeout": Kind("no answer in time", of_host=True),
    "idle": Kind("it slept too long", is_final=True),  # a repetition would sleep as long
    "crash": Kind("its process ended"),
    "protocol": Kind("an invalid answer"),
    "memory": Kind("too much memory", of_host=True, of_program=True),
    "import": Kind("it does not start", of_host=True),
    "params": Kind("it does not take its parameters", of_host=True),
}
"""All kinds of faults."""

_MOST_MESSAGE = 200
_MOST_SHOWN = 2000  # characters of traceback and of output
_OURS = (f"{ROOT}/arena/", f"{ROOT}/engine/", "<frozen importlib")
_ERROR = re.compile(r"^(\w+(\.\w+)*)?(Error|Exception)\b.*:|^error:|panicked at", re.ASCII)
"""Matches a line in which a program explains why it ends."""


class Fault(NamedTuple):
    """A fault of a bot: its kind, a message of one line, and the evidence.

    The guilty bot is the loser of the game, and the ply is the last of the game.
    """

    kind: str
    message: str
    traceback: str = ""
    output: str = ""


def count_strikes(kind: str, most: int) -> int:
    """Return how many strikes a fault of this kind counts, if a bot is out after `most` strikes."""
    return most if kind in KINDS and KINDS[kind].is_final else 1


class Forfeit(Exception):
    """A bot has committed a fault, which ends the game; `spent` is the time of a late answer."""

    def __init__(
        self,
        kind: str,
        message: str,
        traceback: str = "",
        output: str = "",
        *,
        spent: Spent | None = None,
    ) -> None:
        super().__init__(message)
        self.spent = spent
        self.fault = Fault(
            kind,
            one_line(settle(hide_secrets(message)[:MOST_OUTPUT])),
            _end(traceback),
            _end(output),
        )

    def with_output(self, output: str) -> Forfeit:
        """Return the same forfeit with the bot's output as evidence."""
        kind, message, traceback, _ = self.fault
        return Forfeit(kind, message, traceback, output, spent=self.spent)


_OWN_MODULE = re.compile(r"^_arena_bot_\w+\.")  # of a bot's own exception


def forfeit_from(error: BaseException, output: str = "", kind: str = "exception") -> Forfeit:
    """Return the forfeit of a bot whose code raised an exception.

    `kind` is the kind of fault, except for the referee's IllegalAction and for MemoryError.
    """
    if type(error) is Forfeit:
        return error
    try:
        frames = _frames_of_the_bot(error.__traceback__)
        if isinstance(error, MemoryError):  # there may be too little memory left for more evidence
            return Forfeit("memory", "MemoryError", "", output)
        if type(error) is IllegalAction and frames is None:
            return Forfeit("illegal", str(error), "", output)
        message = traceback.format_exception_only(error)[-1].strip()
        message = _OWN_MODULE.sub("", message)
        if kind == "import":
            message += _place(error, frames)
        text = format_error(error, frames)
    except BaseException:  # the exception's class may be the bot's own, and fail as well
        message, text = "an exception that cannot be printed", ""
    return Forfeit(kind, message, text, output)


def _place(error: BaseException, frames: TracebackType | None) -> str:
    """Return the file and line at which an import failed, as far as known."""
    if isinstance(error, SyntaxError):
        return f" (line {error.lineno})"
    if frames is None:
        return ""
    places = traceback.extract_tb(frames)
    last = [place for place in places if not is_machinery(place.filename)][-1]
    return f" (line {last.lineno} of {os.path.basename(last.filename)})"


def _frames_of_the_bot(frames: TracebackType | None) -> TracebackType | None:
    """Return the frames from the first one in the bot's own code, None if the bot has no frame."""
    while frames is not None and frames.tb_frame.f_code.co_filename.startswith(_OURS):
        frames = frames.tb_next
    return frames


def late_forfeit(clock: Clock, spent: Spent, output: str, detail: str = "") -> Forfeit:
    """Return the forfeit of a bot that exceeded the time limits of its clock."""
    limit = clock.limit()
    if limit is not None and spent.charged > limit:
        of_decision, of_game, where = clock.decision, clock.game, ""
    else:
        limit, where = clock.wall_limit(), " by the wall clock"
        of_decision, of_game = clock.backstop, clock.game_backstop
    message = f"no answer within {of_decision:g} s{where}"
    if of_game is not None and limit != of_decision:
        message = f"the {of_game:g} s of the game are used up{where}"
    return Forfeit("timeout", f"{message} {detail}", "", output)


def idle_forfeit(seconds: float, output: str) -> Forfeit:
    """Return the forfeit of a bot that was idle for more than these seconds in a run."""
    message = f"its turns took much longer than it worked: {seconds:g} s of a run may be idle"
    return Forfeit("idle", message, "", output)


KILLED = (-9, -15)  # SIGKILL, SIGTERM; `signal` lacks SIGKILL on Windows
"""Exit statuses of a process that may have been killed by the kernel or a person."""


def describe_exit(status: int) -> str:
    """Describe how a process ended by its exit status; -N means that signal N ended it.

    >>> describe_exit(-9), describe_exit(3)
    ('ended by SIGKILL', 'ended with exit status 3')
    """
    if status >= 0:
        return f"ended with exit status {status}"
    from signal import Signals  # here: a bot's process needs it not

    names = {number.value: number.name for number in Signals}
    return f"ended by {names.get(-status, f'signal {-status}')}"


def last_words(output: str) -> str:
    """Return the line in which a program explained why it ended: its error, else its last line.

    >>> last_words("Error: Cannot find module 'bot.js'\\n    at resolve (loader:9)\\nNode.js v18")
    ": Error: Cannot find module 'bot.js'"
    """
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if _ERROR.search(line)]
    return f": {one_line((errors or lines)[-1])}" if lines else ""


def _end(text: str) -> str:
    """Settle a text and return its end; cutting comes last, because settling changes lengths."""
    return escape_lines(settle(hide_secrets(text)[-MOST_OUTPUT:]))[-_MOST_SHOWN:]


def one_line(text: str) -> str:
    """Return a text as one short line of printable characters only."""
    return escape(" ".join(text.split()))[:_MOST_MESSAGE].rstrip()


_ARCHIVE = f"{ROOT}/arena/entries/loader.py"
_IMPORTLIB = "<frozen importlib"
_DEEP = 50  # frames; a deeper traceback is that of a runaway recursion
_COUNTED = "Thread|Dummy|Task|Process|ForkProcess|SpawnProcess|ThreadPoolExecutor"
_RUN = r"(?:/[^/\s'\"]{1,99}){0,9}/noir-arena-\d+(?:\.\d+)?/run-\w{8}(?:/(?:worker|bot)-\w+)*"
_VARYING = {
    # the folder of a bot's own files; the rest of the path is their name
    rf"{_RUN}/files-[0-9a-f]{{16}}(?:/|\b)": "",
    # addresses of objects: in a repr, and any number as long as an address
    r"(?<=\bat )0x[0-9a-fA-F]+|\b0x[0-9a-fA-F]{9,16}\b": "0x...",
    # the temporary folders of a run, of its worker and of a bot
    _RUN: "<folder>",
    # random names made by `tempfile`
    r"\btmp[a-z0-9_]{8}\b": "tmp...",
    # numbers of threads and of descriptors, which differ between processes
    rf"\b({_COUNTED})-\d+(?:_\d+)?": r"\1-...",
    r"\b(started|stopped|daemon) \d+": r"\1 ...",
    r"\bfd=\d+": "fd=...",
    # the number of repeated lines and the exact recursion depth depend on the lane
    r"\[Previous line repeated \d+ more times?\]": "[Previous line repeated]",
    r"(maximum recursion depth exceeded) [^\n'\"]*": r"\1",
    # suggestions of installed modules (from Python 3.15 on)
    r"(No module named '[^'\n]+')\. Did you mean: '[^'\n]+'\?": r"\1",
}
_PATTERNS = [(re.compile(pattern), word) for pattern, word in _VARYING.items()]


def settle(text: str) -> str:
    """Replace in a text the parts that differ between runs or processes.

    >>> settle("<Card at 0x7f3a5c0d1e50> in /tmp/noir-arena-7/run-q3x_81ab/worker-2/notes")
    '<Card at 0x...> in <folder>/notes'
    """
    text = text.replace(f"{ROOT}/", "")
    for pattern, word in _PATTERNS:
        text = pattern.sub(word, text)
    return text


class _Recursion(traceback.StackSummary):
    """The frames of a runaway recursion, each line of code once."""

    def format(self, **options: Any) -> list[str]:
        return [*super().format(**options), "  [and so on]\n"]


def format_error(error: BaseException, frames: TracebackType | None) -> str:
    """Return the traceback of an exception with these frames, and of its causes.

    The depth at which a runaway recursion fails is not the same in every game. So of a recursion
    each line of code is shown once, in order.
    """
    report = traceback.TracebackException(type(error), error, frames)
    for part in _chain(report):
        part.stack = _without_machinery(part.stack)
    if any(isinstance(cause, RecursionError) for cause in _chain(error)):
        for part in _chain(report):
            if len(part.stack) > _DEEP:
                part.stack = _places(part.stack)
    return "".join(report.format())


def _without_machinery(stack: traceback.StackSummary) -> traceback.StackSummary:
    """Return the frames without those of our import system, by which a bot's modules are loaded."""
    ours = [is_machinery(frame.filename) for frame in stack]
    if not any(ours):
        return stack
    kept = [frame for frame, own in zip(stack, ours, strict=True) if not own]
    return traceback.StackSummary.from_list(kept)


def is_machinery(filename: str) -> bool:
    """Return whether a file belongs to the machinery that imports a bot's own modules."""
    return filename == _ARCHIVE or filename.startswith(_IMPORTLIB)


def _chain(last: Any) -> list[Any]:
    """Return an exception and the chain of its causes; also for a TracebackException."""
    found: dict[int, Any] = {}
    left = [last]
    while left:
        one = left.pop()
        if one is None or id(one) in found:
            continue
        found[id(one)] = one
        left += [one.__cause__, one.__context__]
        if isinstance(one, (BaseExceptionGroup, traceback.TracebackException)):
            left += one.exceptions or ()
    return [*found.values()]


def _places(stack: traceback.StackSummary) -> traceback.StackSummary:
    """Return the first frame of each line of code, without lines that occur only near the limit."""
    places: dict[tuple[str, int | None, str], traceback.FrameSummary] = {}
    for frame in stack[: len(stack) // 2]:
        places.setdefault((frame.filename, frame.lineno, frame.name), frame)
    return _Recursion(places.values())
