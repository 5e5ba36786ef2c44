"""Write a timeline as a table of plies, for a page without scripts.

All of it comes from the timeline, so that the table of one seat has only what that seat knew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from arena.records.card_layout import Card, Move, card_names, group
from arena.records.naming import Naming
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

    >>> from arena.records.timeline import make_timeline
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
    best, chances = judged["best"], judged["chances"]
    if chances[best] == chances[judged["action"]]:
        return loss
    name = "to take" if best == "T" else card_names(naming, _KINDS[best])[0]
    return f"{loss}{', a blunder' if judged['blunder'] else ''}; best: {name}"


def _cards(chars: str, copies: str, naming: Naming) -> list[Card]:
    """Return the cards of a frame in its order."""
    cards = []
    for char, copy in zip(chars, copies, strict=True):
        kind, number = _KINDS[char], int(copy, 36)
        names = card_names(naming, kind)
        cards.append(Card(kind, number, names[min(number, len(names) - 1)]))
    return cards
