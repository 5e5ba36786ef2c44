"""Golden games: text that shows a game's state and both views at every ply.

The diff of tests/playthroughs/ shows a reviewer what a change did to the rules or the views.
`python -m tests.playthrough` writes the files again, each from the title and the record in
its first two lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engine import Record, State, breakdown, outcome, points
from engine.cards import CHARS, Pack, pack_text, to_text
from engine.notation import parse_actions, parse_deal
from engine.view import View, view

FOLDER = Path(__file__).parent / "playthroughs"


def playthrough(title: str, record: Record) -> str:
    """Return the game as text: title, record, every ply with state and views, the end."""
    return "\n".join([title, record.to_json(), *_plies(record), ""])


def _plies(record: Record) -> Iterator[str]:
    state = State(parse_deal(record.deal, record.rules), record.rules)
    for ply, action in enumerate(parse_actions(record.actions)):
        yield from ("", f"ply {ply}", *_position(state), f"action {CHARS[action]}")
        state.apply(state.checked(action))
    yield from ("", f"end after {len(state.history)} plies", *_position(state))
    winner, win_type, score = outcome(state.piles, state.rules)
    yield f"winner {'nobody' if winner is None else winner}, {win_type}, {score[0]} : {score[1]}"
    yield from (f"{part}" for part in breakdown(state.piles, state.rules))


def _position(state: State) -> Iterator[str]:
    score = points(state.piles, state.rules)
    yield f"state   round {state.round}, over {state.over}, points {score[0]} : {score[1]}"
    yield f"  hands   {_both(state.hands)}, row {_text(state.row)}, piles {_both(state.piles)}"
    yield f"  hidden  deck {_text(state.deck)}, removed {_text(state.removed)}"
    for seat in (0, 1):
        yield from _view(view(state, seat))


def _view(seen: View) -> Iterator[str]:
    yield f"view {seen.seat}  round {seen.round}, to act {seen.to_act}, over {seen.over}"
    yield f"  hand    {_pack(seen.hand)}, legal {_text(bytes(seen.legal))}, row {_text(seen.row)}"
    yield f"  piles   {_both(seen.piles)}, taken {' '.join(map(str, seen.taken))}"
    yield f"  unseen  {_pack(seen.unseen)}, {seen.opponent_cards} of them in the opponent's hand"
    yield f"  history {_text(seen.history)}, opening {_text(seen.opening)}"


def _both(packs: list[Pack] | tuple[Pack, ...]) -> str:
    return " | ".join(map(_pack, packs))


def _pack(pack: Pack) -> str:
    return pack_text(pack) or "-"


def _text(actions: bytes) -> str:
    return to_text(actions) or "-"


def main() -> None:
    """Write every playthrough again."""
    for path in sorted(FOLDER.glob("*.txt")):
        title, record = path.read_text(encoding="utf-8").splitlines()[:2]
        path.write_text(playthrough(title, Record.from_json(record)), encoding="utf-8")


if __name__ == "__main__":
    main()
