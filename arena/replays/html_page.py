"""Render self-contained HTML pages, which work offline and can load or send nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any, Final, NamedTuple

from markupsafe import Markup

from arena.errors import InputError
from arena.lanes.temp_and_cache_folders import own_cache
from arena.replays.board import Card, Move, card_names, group
from arena.tournament.config_keys import Naming
from engine.cards import CHARS

_KINDS = {char: kind for kind, char in enumerate(CHARS)}


class PlyRow(NamedTuple):
    """One position: the action that led to it, cards, points, and the evaluation.

    `hands` are the known hands, in the order of the seats. `chance` is that of seat 0, and `loss`
    that of the decision that led here; both are empty if they are not known.
    """

    ply: int
    round: int
    event: str
    row: str
    hands: Sequence[str]
    points: str
    chance: str
    loss: str


def tabulate(timeline: Mapping[str, Any], naming: Naming = "english") -> list[PlyRow]:
    """Return a row for the deal and for each ply, with cards named by `naming`.

    >>> from arena.replays.timeline import make_timeline
    >>> from engine import Record
    >>> deal = "555556666667777777888888882222334xxxyyyyzzCCC"
    >>> rows = tabulate(make_timeline(Record(deal, "5"), players=("ann", "bob")))
    >>> rows[1].event, rows[1].hands, rows[1].points
    ('ann plays Support 5', ['4x Support 5', '5x Support 6'], '0 : 0')
    """
    frames = timeline["frames"]
    return [
        _row(timeline, frame, before, naming)
        for frame, before in zip(frames, [None, *frames], strict=False)
    ]


def _row(
    timeline: Mapping[str, Any],
    frame: Mapping[str, Any],
    before: Mapping[str, Any] | None,
    naming: Naming,
) -> PlyRow:
    copies, seats = frame["copies"], [seat for seat in (0, 1) if frame["hands"][seat] is not None]
    hands = [_cards(frame["hands"][seat], copies["hands"][seat], naming) for seat in seats]
    row = _cards(frame["row"], copies["row"], naming)
    judged = before["judged"] if before else None
    chance = frame["chance"]
    return PlyRow(
        frame["ply"],
        frame["round"],
        _describe(timeline["players"], frame["action"], naming),
        ", ".join(card.name for card in row),
        [", ".join(group(hand)) for hand in hands],
        "{} : {}".format(*(part["total"] for part in frame["points"])),
        "" if chance is None else f"{chance:.0%}",
        _describe_loss(judged, naming) if judged else "",
    )


def _describe(players: Sequence[str], action: Mapping[str, Any] | None, naming: Naming) -> str:
    if action is None:
        return "the deal"
    cards = _cards(action["cards"], action["copies"], naming)
    return Move(action["seat"], CHARS.index(action["char"]), cards).describe(
        players[action["seat"]]
    )


def _describe_loss(judged: Mapping[str, Any], naming: Naming) -> str:
    """Return the loss of a decision in points of 100, and the better action, if any."""
    loss = f"{100 * judged['loss']:.1f} +- {100 * judged['error']:.1f}"
    if judged["mistake"]:
        loss += f" ({judged['mistake']})"
    best, chances = judged["best"], judged["chances"]
    if chances[best] == chances[judged["action"]]:
        return loss
    name = "to take" if best == "T" else card_names(naming, _KINDS[best])[0]
    return f"{loss}{', a blunder' if judged['blunder'] else ''}; best: {name}"


def _cards(chars: str, copies: str, naming: Naming) -> list[Card]:
    """Return the cards of a frame in its order."""
    return [
        Card.named(naming, _KINDS[char], int(copy, 36))
        for char, copy in zip(chars, copies, strict=True)
    ]


STYLE = "arena.replays/base.css"
"""The colours, the type and the tables of every page."""

GENERATOR = "District Noir Arena"
_BEGINNING = 4096  # bytes that contain the mark of a report
"""The mark near the beginning of every page of the arena."""

_COMMAND = re.compile("`(arena [^`]+)`")
_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}

SCRIPTS: Final = tuple(
    f"arena.replays/{name}.js" for name in ("cards", "board", "knowledge", "transport", "viewer")
)
"""The scripts that define `Arena.drawBoard` and `Arena.mountViewer`, in this order."""

STYLES: Final = ("arena.replays/replay.css",)

_MARK = b'data-page="arena view"'
_MOST = 1 << 23  # bytes of a page that are read


def render(
    template: str,
    *,
    scripts: Sequence[str] = (),
    styles: Sequence[str] = (),
    libraries: Sequence[str] = (),
    **data: Any,
) -> str:
    """Return a page made from a template and static files.

    Files have names such as `arena.replays/base.css`: a package, and a file in its folder `static`.
    `libraries` are the texts of scripts, which come before `scripts`. The template extends
    `arena.replays/page.html`, and everything in `data` is escaped there.
    """
    bodies = [_script(text) for text in (*libraries, *map(static, scripts))]
    page: str = (
        _environment()
        .get_template(template)
        .render(
            policy=content_policy(bodies),
            generator=GENERATOR,
            scripts=bodies,
            styles=[Markup(static(name)) for name in (STYLE, *styles)],
            **data,
        )
    )
    return page


def frame(page: str, title: str, height: str) -> str:
    """Return a page as a sandboxed frame, which cannot read or change the page around it.

    `height` is a CSS length.

    >>> print(frame('<p class="a">', "A page", "9rem"))
    <iframe title="A page" sandbox="allow-scripts" style="width: 100%; height: 9rem; border: 0" \
srcdoc="&lt;p class=&quot;a&quot;&gt;"></iframe>
    """
    style = f"width: 100%; height: {height}; border: 0"
    return (
        f'<iframe title="{escape(title)}" sandbox="allow-scripts" style="{style}" '
        f'srcdoc="{escape(page)}"></iframe>'
    )


def content_policy(scripts: Sequence[str]) -> str:
    """Return a content security policy that allows only these scripts, and no requests.

    A script is identified by the hash of its element's text.
    """
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )


def static(name: str) -> str:
    """Return the text of a static file with a name such as `arena.replays/base.css`."""
    package, _, file = name.partition("/")
    return (resources.files(package) / "static" / file).read_text(encoding="utf-8")


def to_data(value: Any) -> Markup:
    r"""Return plain data as JSON that is safe in a script element.

    >>> print(to_data({"bot": "</script>"}))
    {"bot":"\u003c/script\u003e"}
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.translate(_ESCAPES))


def write_commands(text: str) -> Markup:
    """Return a text as HTML, in which a command of the arena between backticks is code.

    >>> print(write_commands("`a` <b>: see `arena show RUN`."))
    `a` &lt;b&gt;: see <code>arena show RUN</code>.
    """
    return Markup(_COMMAND.sub(r"<code>\1</code>", escape(text)))


def _script(text: str) -> Markup:
    """Return a script that cannot end its element early."""
    return Markup(text.replace("</script", "<\\/script").replace("<!--", "<\\!--"))


def _find_compiled() -> Path | None:
    """Return the folder of compiled templates, None if there can be none.

    They are code. So no other user may write there, and what this code or jinja2 makes of a
    template is part of the name.
    """
    from jinja2 import compiler

    made_by = [Path(place).read_bytes() for place in (__file__, compiler.__file__)]
    digest = hashlib.sha256(b"".join(made_by)).hexdigest()[:16]
    # a home that is missing or read-only, or a system without owners of files
    with suppress(OSError, RuntimeError, InputError):
        return own_cache(f"templates-{digest}")
    return None


def _keep_compiled() -> Any:
    """Return what keeps compiled templates: compiling those of a report takes 0.3 s."""
    import jinja2

    class Kept(jinja2.FileSystemBytecodeCache):
        def load_bytecode(self, bucket: Any) -> None:
            with suppress(OSError):
                super().load_bytecode(bucket)

        def dump_bytecode(self, bucket: Any) -> None:
            with suppress(OSError):  # a full disk
                super().dump_bytecode(bucket)

    folder = _find_compiled()
    return Kept(str(folder)) if folder else None


@cache
def _environment() -> Any:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(static),
        bytecode_cache=_keep_compiled(),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"data": to_data, "coded": write_commands}
    return environment


def render_replay(timeline: dict[str, Any], names: Naming = "english") -> str:
    """Return the page of a game; `names` is the initial naming of its cards."""
    return render(
        "arena.replays/replay.html",
        scripts=[*SCRIPTS, "arena.replays/mount.js"],
        styles=STYLES,
        title="{} - {}".format(*timeline["players"]),
        timeline=timeline,
        rows=tabulate(timeline, names),
        names=names,
    )


def is_replay(path: Path) -> bool:
    """Return whether a file is the page of a replay."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return _MARK in file.read(_MOST)


def check_place(path: Path) -> None:
    """Raise InputError if the path exists and is not a report."""
    try:
        if not path.exists():
            return
        if not path.is_file():
            raise InputError(f"{path}: not a regular file")
        with path.open("rb") as file:
            beginning = file.read(_BEGINNING)
        is_report = GENERATOR.encode() in beginning and not is_replay(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a NUL in the path
        raise InputError(f"{path}: not the name of a file: {error}") from None
    if beginning and not is_report:
        raise InputError(f"{path}: holds something else than a report; it is kept")
