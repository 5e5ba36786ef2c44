"""Describe a game ply by ply as plain data, with the thoughts and the mistakes of bots.

Every page that shows a game is made from it. It is derived from views, of both seats or of one
seat; in that case it cannot contain what the seat did not know.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, TypeAlias

from arena.replays.board import Card, Layout, Looks
from arena.tournament.asking import ILLEGAL, PARTS, Judged, Recorded, is_sure
from engine import (
    CITY,
    SUPPORTS,
    TAKE,
    Action,
    EngineError,
    Record,
    Rules,
    Seat,
    State,
    Thought,
    breakdown,
    count,
    outcome,
    to_text,
)
from engine.cards import CHARS, pack_text, size
from engine.notation import parse_actions, parse_deal
from engine.scoring import Piles, count_sets, leader
from engine.thoughts import checked_thoughts
from engine.view import view

_COPIES = "0123456789abcdefghijklmnopqrstuv"
_DIGITS = 4  # of a chance: pages show tenths of a per cent
_RULES = (
    *("copies", "removed", "hand_size", "take_size", "rounds", "round_plies", "cities_needed"),
    *("majority_values", "set_bonus"),
)
_ACTIONS = {char: action for action, char in enumerate(CHARS)}

Thoughts: TypeAlias = Mapping[int, tuple[Thought, ...]]
"""The thoughts on the actions at some plies, in the order of the plies."""


def write_thoughts(thoughts: Thoughts) -> dict[str, list[dict[str, Any]]]:
    """Return thoughts as plain data: for each ply its actions, values and visits.

    >>> write_thoughts({3: (Thought(11, 0.61, 120), Thought(0, 0.5))})
    {'3': [{'action': 'T', 'value': 0.61, 'visits': 120}, {'action': '5', 'value': 0.5}]}
    """
    return {str(ply): [_write_thought(*one) for one in of_ply] for ply, of_ply in thoughts.items()}


def write_chosen(thoughts: Iterable[Thought], chosen: str) -> list[dict[str, Any]]:
    """Return the thoughts on the actions at one ply, with the chosen action marked.

    >>> write_chosen([Thought(11, 0.61), Thought(0, 0.5)], "T")[0]
    {'action': 'T', 'value': 0.61, 'chosen': True}
    """
    return [
        {**_write_thought(*thought), "chosen": CHARS[thought.action] == chosen}
        for thought in thoughts
    ]


def _write_thought(action: Action, value: float, visits: int | None, note: str) -> dict[str, Any]:
    data: dict[str, Any] = {"action": CHARS[action], "value": round(value, _DIGITS)}
    more = {"visits": visits, "note": note or None}
    return data | {name: value for name, value in more.items() if value is not None}


def parse_thoughts(line: bytes | str, record: Record) -> Thoughts:
    """Return the thoughts in the line of a record.

    `record` is that of the line. Plies with invalid thoughts are left out. Raises EngineError for
    an invalid record.

    >>> deal = "555556666667777777888888882222334xxxyyyyzzCCC"
    >>> line = Record(deal, "5T").to_json(thoughts={"0": [{"action": "T", "value": 0.5}]})
    >>> parse_thoughts(line, Record(deal, "5T"))
    {0: (Thought(action=11, value=0.5, visits=None),)}
    """
    data = json.loads(line).get("thoughts")
    found: dict[int, tuple[Thought, ...]] = {}
    if not isinstance(data, dict):
        return found
    for state, ply in zip(follow(record), range(len(record.actions)), strict=False):
        if thoughts := _parse(data.get(str(ply)), state):
            found[ply] = thoughts
    return found


def _parse(data: Any, state: State) -> tuple[Thought, ...]:
    try:
        said = [
            (_ACTIONS[one["action"]], one["value"], one.get("visits"), one.get("note", ""))
            for one in data
        ]
        return checked_thoughts(said, view(state, state.to_act))
    except (EngineError, TypeError, ValueError, KeyError, AttributeError):
        return ()


def make_timeline(
    record: Record,
    *,
    players: Sequence[str],
    seat: Seat | None = None,
    chances: Sequence[float | None] | None = None,
    beliefs: Sequence[Sequence[float | None]] | None = None,
    off: Callable[[int, float], float] | None = None,
    thoughts: Thoughts | None = None,
    judged: Sequence[Judged] | None = None,
    judge: str = "",
    winner: Seat | None = None,
    ending: str = "",
    evidence: str = "",
    title: str = "",
) -> dict[str, Any]:
    """Return the timeline of a game as the referee sees it, or as one seat does.

    `players` are the labels of both seats; `chances` are seat 0's chances to win, before each ply
    and at the end, and `beliefs` are the same by the views of seat 0 and of seat 1; `off` returns
    the error of a chance at a ply. `thoughts` are those of the acting bot, by ply; `judged` are
    decisions, and `judge` names the bot that judged them. `winner` is that of a forfeit; otherwise
    it follows from the game. All arguments must be known to `seat`, except `beliefs`, `evidence`,
    and the other seat's thoughts and decisions, which are left out. Raises EngineError for a bad
    record.
    """
    seats: Sequence[Seat] = (0, 1) if seat is None else (seat,)
    frames = make_frames([tuple(view(state, one) for one in seats) for state in follow(record)])
    last = record.replay()
    _add_chances(frames, chances, (beliefs if seat is None else None) or (), off)
    acting = {ply: frame for ply, frame in enumerate(frames) if frame["turn"] in seats}
    _add_decisions(acting, record, thoughts or {}, judged or ())
    if winner is None and last.over:
        winner = outcome(last.piles, last.rules).winner
    return {
        "title": title,
        "players": [*players],
        "seat": seat,
        "rules": describe_rules(record.rules),
        "ending": ending,
        "evidence": evidence if seat is None else "",
        "over": last.over,
        "winner": winner,
        "removed": to_text(bytes(sorted(last.removed))) if seat is None else None,
        "judge": judge if judged is not None else "",
        "record": record.to_json(bots=[*players]) if seat is None else None,
        "frames": frames,
    }


def _add_decisions(
    frames: Mapping[int, dict[str, Any]],
    record: Record,
    thoughts: Thoughts,
    judged: Sequence[Judged],
) -> None:
    """Add to frames by ply the thoughts on the actions, and the loss of the decision."""
    for ply, of_ply in thoughts.items():
        if ply in frames:
            frames[ply]["thoughts"] = write_chosen(of_ply, record.actions[ply : ply + 1])
    for one in judged:
        if one.ply in frames:
            again = one.first is not None
            mistake = describe_decision(record.deal, record.actions, one) if again else ""
            frames[one.ply]["judged"] = write_judged(one, mistake)


def _add_chances(
    frames: Sequence[dict[str, Any]],
    chances: Sequence[float | None] | None,
    beliefs: Sequence[Sequence[float | None]],
    off: Callable[[int, float], float] | None,
) -> None:
    """Add to each frame the chance to win, overall and by each seat's view, with ranges."""
    for ply, frame in enumerate(frames):
        chance = chances[ply] if chances else None
        frame["chance"], frame["range"] = _round_chance(chance), _range(ply, chance, off)
        if beliefs:
            frame["beliefs"] = [_round_chance(belief[ply]) for belief in beliefs]
            frame["belief_ranges"] = [_range(ply, belief[ply], off) for belief in beliefs]


_TOLD: Final = 4  # moves
DISPUTED: Final = "the judges disagree"
"""Stands for a mistake where the second judge is not sure that another action was better."""


def describe_decision(deal: str, actions: str, one: Judged) -> str:
    """Return what was wrong with a decision that the second judge has judged, or DISPUTED."""
    if one.best == one.action or not is_sure(one.loss, one.error):
        return DISPUTED
    return name_choice(deal, actions, one)


def name_choice(deal: str, actions: str, one: Judged) -> str:
    """Return what is wrong with a decision if the judge is right that another action is better."""
    from arena.batch.judging import name_mistake  # here, because it needs numpy

    state = Record(deal, actions[: one.ply]).replay()
    return name_mistake(view(state, state.to_act), one.action, one.best)


def tell_next(game: Recorded, ply: int, players: Sequence[str]) -> str:
    """Return the moves of a game from a ply on in words, at most four."""
    state = Record(game.deal, game.actions[: ply + _TOLD]).replay()
    moves = Layout((view(state, 0), view(state, 1))).moves
    return "; ".join(move.describe(players[move.seat]) for move in moves[ply:])


def write_judged(one: Judged, mistake: str = "") -> dict[str, Any]:
    """Return a decision as plain data: its loss, and the chance of each legal action.

    A blunder is one by two judges; `mistake` says what was wrong, or that they disagree.

    >>> twice = Judged(0, 1, [600_000, 420_000] + 10 * [-1], 180_000, 51_000, first=200_000)
    >>> write_judged(twice, "gave a city")
    {'action': '6', 'best': '5', 'loss': 0.18, 'error': 0.051, 'blunder': True, \
'mistake': 'gave a city', 'chances': {'5': 0.6, '6': 0.42}}
    """
    return {
        "action": CHARS[one.action],
        "best": CHARS[one.best],
        "loss": round(one.loss / PARTS, _DIGITS),
        "error": round(one.error / PARTS, _DIGITS),
        "blunder": one.blunder,
        "mistake": mistake,
        "chances": {
            CHARS[action]: round(chance / PARTS, _DIGITS)
            for action, chance in enumerate(one.chances)
            if chance != ILLEGAL
        },
    }


def _range(
    ply: int, chance: float | None, off: Callable[[int, float], float] | None
) -> list[float] | None:
    """Return the lowest and the highest possible value of a chance; None if it is not known."""
    if chance is None or off is None:
        return None
    far = off(ply, chance)
    return [round(max(0.0, chance - far), _DIGITS), round(min(1.0, chance + far), _DIGITS)]


def follow(record: Record) -> Iterator[State]:
    """Yield the position before each action of a game, and the last one; it is one State.

    Raises EngineError for a bad record, after the positions before the mistake.
    """
    state = State(parse_deal(record.deal, record.rules), record.rules)
    yield state
    for action in parse_actions(record.actions):
        state.apply(state.checked(action))
        yield state


def make_frames(looks: Sequence[Looks]) -> list[dict[str, Any]]:
    """Return a frame for every ply and the end, each with the action that led to it."""
    layout = Layout(looks[0])
    frames = [_frame(looks[0], layout)]
    for before, after in pairwise(looks):
        layout.follow(after)
        frame = _frame(after, layout)
        seat, action, moved = layout.moves[-1]
        frame["action"] = {
            "seat": seat,
            "char": CHARS[action],
            "cards": to_text(bytes(card.kind for card in moved)),
            "copies": _copies(moved),
            "marks": find_marks(before[0].piles, after[0].piles, seat, after[0].rules)
            if action == TAKE
            else [],
        }
        frames.append(frame)
    return frames


def _frame(looks: Looks, layout: Layout) -> dict[str, Any]:
    """Return a position without the action that led to it."""
    seen = looks[0]
    hands: list[str | None] = [None, None]
    counts = [seen.opponent_cards, seen.opponent_cards]
    for look in looks:
        hands[look.seat] = pack_text(look.hand)
        counts[look.seat] = size(look.hand)
    return {
        "ply": len(seen.history),
        "round": seen.round,
        "turn": seen.to_act,
        "row": to_text(seen.row),
        "piles": [pack_text(pile) for pile in seen.piles],
        "hands": hands,
        "counts": counts,
        "copies": {
            "row": _copies(layout.row),
            "hands": [_sort_copies(layout.hands.get(seat)) for seat in (0, 1)],
            "piles": [_sort_copies(pile) for pile in layout.piles],
        },
        "taken": [*seen.taken],
        "legal": "".join(to_text(bytes(look.legal)) for look in looks),
        "points": [
            {**part._asdict(), "majorities": [*part.majorities], "total": part.points}
            for part in breakdown(seen.piles, seen.rules)
        ],
        "action": None,
        "chance": None,
        "range": None,
        "thoughts": None,
        "judged": None,
    }


def _copies(cards: Sequence[Card]) -> str:
    """Return the number of each card among its kind, a character for each."""
    return "".join(_COPIES[card.number] for card in cards)


def _sort_copies(cards: Sequence[Card] | None) -> str | None:
    """Return `_copies` of a hand or pile, sorted by kind."""
    return None if cards is None else _copies(sorted(cards))


def find_marks(before: Piles, after: Piles, seat: Seat, rules: Rules) -> list[dict[str, Any]]:
    """Return the effects of a seat's take as plain data.

    For a majority they are its old and its new owner, for sets the number added, and for cities the
    number held and the number needed.

    >>> from engine import STANDARD, pack_of
    >>> find_marks((0, pack_of([3])), (pack_of([3, 3]), pack_of([3])), 0, STANDARD)
    [{'what': 'majority', 'kind': '8', 'before': 1, 'after': 0}]
    """
    marks: list[dict[str, Any]] = []
    for kind in SUPPORTS:
        had, has = (leader(piles, kind) for piles in (before, after))
        if had != has:
            marks.append({"what": "majority", "kind": CHARS[kind], "before": had, "after": has})
    more = count_sets(after[seat]) - count_sets(before[seat])
    if more:
        marks.append({"what": "set", "count": more})
    cities = count(after[seat], CITY)
    if cities > count(before[seat], CITY):
        marks.append({"what": "city", "held": cities, "needed": rules.cities_needed})
    return marks


def describe_rules(rules: Rules) -> dict[str, Any]:
    """Return the numbers of the rules that pages need."""
    return {name: getattr(rules, name) for name in _RULES} | {"changes": rules.changes()}


def _round_chance(chance: float | None) -> float | None:
    return None if chance is None else round(chance, _DIGITS)
