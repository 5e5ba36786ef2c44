"""A game as text: the board of a seat, each ply, what a take has changed, and how it ended."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from arena.addons.table.terminal import format_ending
from arena.lanes.faults import Fault
from arena.replays.board import Board, card_names, shorten
from arena.replays.finished_game import Game, format_game
from arena.replays.timeline import find_marks
from arena.tournament.config_keys import NAMINGS
from bots.uniform import bot
from engine import KINDS, STANDARD, Record, Rules, State, outcome, pack_of, play_game
from engine.notation import parse_actions, parse_cards
from engine.view import view
from engine.worlds import sample
from tests.conftest import Arena, run_command
from tests.positions import at, dealt, packs, quiet_game, random_game

DEAL = dealt("5678C", "824xz", "CC", removed="y23")
RECORD = Record(DEAL, "58C8T")


def board(state: State, seat: int, naming: str = "english", opponent: str = "greedy") -> Board:
    return Board(view(state, seat), naming, shorten(opponent))


def texts(shown: Board, since: int = 0) -> list[str]:
    return [line.text for line in shown.lines(since)]


def test_a_board_worked_out_by_hand() -> None:
    """Seat 1 sees it after seat 0 has taken the last five of C C 5 8 C 2."""
    assert texts(board(at(DEAL, "58C2T"), 1), since=2) == [
        "Round 1 of 4: greedy has taken, you have not; greedy holds 3 cards",
        "  greedy plays City",
        "  you play Alliance +2",
        "  greedy takes 5: City, Support 5, Support 8, City, Alliance +2",
        "take brings City",
        "",
        "pile        Support   5  6  7  8   Alliance       Betrayal        City",
        "you                   -  -  -  -   -              -               0 of 3",
        "greedy                1  -  -  1   +2             -               2 of 3",
        "score       majorities          sets  alliances  betrayals   total",
        "you         0                      0          0          0       0",
        "greedy      5 + 8                  0          2          0      15",
        "",
        "your hand   [4] Alliance +4, [x] Betrayal -1, [z] Betrayal -3",
    ]


@pytest.mark.parametrize(
    ("plays", "older", "taken"),
    [
        ("", None, "City, City"),
        ("5", None, "City, City, Support 5"),
        ("58", None, "City, City, Support 5, Support 8"),
        ("586", None, "City, City, Support 5, Support 8, Support 6"),
        ("5862", "City", "City, Support 5, Support 8, Support 6, Alliance +2"),
    ],
)
def test_a_take_is_the_whole_row_up_to_five_cards(
    plays: str, older: str | None, taken: str
) -> None:
    """Before it the cards are marked; after it they are listed, and only the others stay (R6)."""
    lines = board(at(DEAL, plays), 0).lines()
    before = {line.text[:12]: (line.text[12:], line.role) for line in lines}
    assert before["take brings "] == (taken, "take")
    assert before.get("row         ") == (older and (older, "plain"))
    after = board(at(DEAL, f"{plays}T"), 0)
    who = "greedy takes" if len(plays) % 2 else "you take"
    assert after.actions[-1] == f"{who} {len(taken.split(','))}: {taken}"
    assert [card.name for card in after.row] == ([older] if older else [])


def test_german_names() -> None:
    shown = "\n".join(texts(board(at(DEAL, "58C2T"), 1, "german")))
    for word in ("Bande", "Bündnis +4", "Verrat -3", "Gebäude"):
        assert word in shown
    assert "Support" not in shown


def test_a_card_of_the_standard_deck_keeps_its_name() -> None:
    before, after = (board(at(DEAL, actions), 0, "deck") for actions in ("", "58C2T"))
    assert texts(before)[-1] == "your hand   [5] 3♣, [6] 3♥, [7] 3♠, [8] 3♦, [C] K♦"
    assert after.actions == [
        "you play 3♣",
        "greedy plays 4♦",
        "you play K♦",
        "greedy plays J♣",
        "you take 5: K♥, 3♣, 4♦, K♦, J♣",
    ]
    assert texts(after)[-1] == "your hand   [6] 3♥, [7] 3♠, [8] 3♦"


@pytest.mark.parametrize("naming", NAMINGS)
def test_worlds_with_the_same_view_have_the_same_board(naming: str) -> None:
    rng = Random(1)
    for _ in range(20):
        deal, actions = random_game(rng)
        state = at(deal, actions[: rng.randrange(len(actions))])
        seat = state.to_act
        world = sample(view(state, seat), rng)
        assert world.hands[1 - seat] != state.hands[1 - seat] or state.removed != world.removed
        assert texts(board(world, seat, naming)) == texts(board(state, seat, naming))


@pytest.mark.slow
@pytest.mark.parametrize("naming", NAMINGS)
def test_a_screen_has_80_columns_and_24_rows(naming: str) -> None:
    """With the prompt and a label of 60 characters, at every turn of random games."""
    for seed in range(40):
        deal, actions = random_game(Random(seed))
        state, shown = at(deal), [0, 0]
        for action in parse_actions(actions):
            seat = state.to_act
            if len(state.legal()) > 1:
                lines = texts(board(state, seat, naming, "long" * 15), shown[seat])
                assert max(map(len, lines)) <= 80
                assert len(lines) <= 22  # two more are of the prompt
                shown[seat] = len(state.history)
            state.apply(action)


def test_a_new_round_is_shown_between_the_actions() -> None:
    actions = quiet_game(DEAL)[:13]
    shown = [line.text for line in board(at(DEAL, actions), 0).events(11)]
    assert [text.split()[:2] for text in shown if text[2] != " "] == [
        ["greedy", "takes"],
        ["round", "2"],
        ["greedy", "plays"],
    ]


def test_other_rules_have_a_board_too() -> None:
    rules = Rules(cities_needed=2, take_size=3)
    lines = texts(board(at(DEAL, "58", rules), 0))
    assert "row         City" in lines
    assert "take brings City, Support 5, Support 8" in lines
    assert any(line.endswith("0 of 2") for line in lines)


def lines(naming: str, record: Record = RECORD) -> list[str]:
    return list(format_game(record, naming))


def test_every_ply_shows_the_row_the_hands_the_piles_and_the_score() -> None:
    """Worked out by hand: two plays each, then seat 0 takes the last five of six."""
    with pytest.raises(Exception, match=r"illegal action 3 \(8\)"):
        lines("english")
    shown = lines("english", Record(DEAL, "58C2T"))
    assert shown[:8] == [
        "the deal",
        "  row     City, City",
        "  hand 0  Support 5, Support 6, Support 7, Support 8, City",
        "  hand 1  Support 8, Alliance +2, Alliance +4, Betrayal -1, Betrayal -3",
        "  pile 0  -",
        "  pile 1  -",
        "  score   0 : 0",
        "round 1, seat 0 begins",
    ]
    assert shown[-10:] == [
        "ply 4: seat 0 takes 5: City, Support 5, Support 8, City, Alliance +2",
        "  row     City",
        "  hand 0  Support 6, Support 7, Support 8",
        "  hand 1  Alliance +4, Betrayal -1, Betrayal -3",
        "  pile 0  Support 5, Support 8, Alliance +2, 2x City",
        "  pile 1  -",
        "  score   15 : 0",
        "unfinished after 5 plies",
        "  seat 0  majorities 5 + 8, sets 0, alliances 2, betrayals 0",
        "  seat 1  majorities 0, sets 0, alliances 0, betrayals 0",
    ]


def test_every_card_of_the_standard_deck_has_its_own_name() -> None:
    cards = [card_names("deck", kind) for kind in KINDS]
    assert tuple(map(len, cards)) == STANDARD.copies
    assert len({name for names in cards for name in names}) == 45
    assert cards[0] == ["3♣", "4♣", "5♣", "6♣", "7♣"]
    ends = [(names[0], names[-1]) for names in cards[1:4]]
    assert ends == [("3♥", "8♥"), ("3♠", "9♠"), ("3♦", "10♦")]
    assert [*cards[5], *cards[6], *cards[9], cards[10][0]] == ["Q♥", "Q♦", "Jk", "Q♣", "Q♠", "K♠"]
    assert ["".join({name[0] for name in cards[kind]}) for kind in (4, 7, 8)] == ["J", "A", "2"]


@pytest.mark.parametrize("naming", NAMINGS)
def test_a_whole_game_fits_80_columns(naming: str) -> None:
    for seed in range(10):
        game = play_game(bot, bot, seed=seed)
        shown = lines(naming, game.record)
        assert max(map(len, shown)) <= 80
        plies = [line for line in shown if line.startswith("ply ")]
        assert len(plies) == len(game.record.actions)
        if game.winner is not None:
            way = {"city": "by City", "points": "on points", "tiebreak": "on the tie-break"}
            score = "{} : {}".format(*game.points[:: -1 if game.winner else 1])
            assert shown[-3] == f"seat {game.winner} wins {way[game.win_type]}, {score}"


@pytest.mark.slow
def test_the_command_shows_a_line_of_a_file(arena: Arena, tmp_path: Path) -> None:
    records = [Record(DEAL, "5"), Record(DEAL, "58C2T")]
    (tmp_path / "games.jsonl").write_text("\n".join(r.to_json() for r in records))
    assert "unfinished after 1 ply" in arena("show", "games.jsonl").stdout
    done = arena("show", "games.jsonl", "--line", "2", "--names", "deck")
    assert done.returncode == 0, done.stderr
    assert "unfinished after 5 plies" in done.stdout
    assert "K♠" in done.stdout
    for naming in NAMINGS:
        assert arena("show", "games.jsonl", "--names", naming).returncode == 0
    words = ("show", "games.jsonl", "--names", "deck")
    ascii_only = run_command(tmp_path, *words, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert ascii_only.returncode == 0
    latin = run_command(tmp_path, *words, PYTHONIOENCODING="latin-1")
    assert latin.returncode == 0
    assert "K?" in latin.stdout


@pytest.mark.parametrize(
    ("text", "words", "reason"),
    [
        ("{}", "", "games.jsonl: line 1: a record needs a string 'deal'"),
        ('{"deal": "5", "actions": ""}', "", "games.jsonl: line 1: the deal has 1 cards, not 45"),
        (Record(DEAL, "8T8").to_json(), "", "line 1, ply 2: illegal action 3 (8); legal: "),
        ("{}", "--line 2", "games.jsonl: there is no line 2"),
        ("{}", "--line 0", "'--line': 0 is not in the range"),
        ("{}", "--names french", "'french' is not one of"),
    ],
)
def test_what_cannot_be_shown_is_an_error_of_one_line(
    arena: Arena, tmp_path: Path, text: str, words: str, reason: str
) -> None:
    (tmp_path / "games.jsonl").write_text(text)
    done = arena("show", "games.jsonl", *words.split())
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert reason in done.stderr


CITIES = dealt("CCC56", "55667", "88", removed="xyz")
QUIET = dealt("5678C", "824xz", removed="CCy")


def ending(state: State, seat: int, fault: Fault | None = None, since: int = 0) -> list[str]:
    seats = ("you", "greedy") if seat == 0 else ("greedy", "you")
    winner, win_type, score = outcome(state.piles, state.rules)
    label = "you" if fault else seats[winner or 0]
    game = Game(Record.of(state.deal(), state), seats, label, win_type, score, fault)
    return [line.text for line in format_ending(game, state, seat, "english", since)]


def test_a_win_by_city_shows_what_was_hidden() -> None:
    """Seat 1 takes the last five of 8 8 C 5 C 5 C; both hands and the removed cards show."""
    state = at(CITIES, "C5C5CT")
    assert ending(state, 1, since=4) == [
        "  greedy plays City",
        "  you take 5: City, Support 5, City, Support 5, City",
        "you wins by City, 5 : 0.",
        "",
        "pile        Support   5  6  7  8   Alliance       Betrayal        City",
        "you                   2  -  -  -   -              -               3 of 3",
        "greedy                -  -  -  -   -              -               0 of 3",
        "score       majorities          sets  alliances  betrayals   total",
        "you         5                      0          0          0       5",
        "greedy      0                      0          0          0       0",
        "",
        "you held    2x Support 6, Support 7",
        "bot held    Support 5, Support 6",
        "removed     Betrayal -1, Betrayal -2, Betrayal -3",
    ]
    lines = ending(state, 0)
    assert "greedy wins by City, 5 : 0." in lines
    assert "you held    Support 5, Support 6" in lines


def test_the_winners_points_come_first_and_no_empty_hand_is_shown() -> None:
    state = at(QUIET, quiet_game(QUIET))
    state.piles = packs("8", "x")
    assert "you wins on points, 8 : -1." in ending(state, 0)
    assert "greedy wins on points, 8 : -1." in ending(state, 1)
    assert not any("held" in line for line in ending(state, 0))


def test_a_forfeit_shows_its_evidence() -> None:
    fault = Fault("exception", "ValueError: boom", f"Trace\n  {'x' * 99}", "hello")
    lines = ending(at(CITIES, "C5C5C"), 0, fault)
    start = lines.index("greedy forfeits (exception at ply 5): ValueError: boom.")
    assert lines[start + 1 : start + 6] == [
        "traceback:",
        "  Trace",
        f"    {'x' * 76}",
        "printed:",
        "  hello",
    ]
    assert "bot held    2x Support 6, Support 7" not in lines[: start + 1]
    assert "bot held    2x Support 6, Support 7" in lines


def marks(mine: str, taken: str, theirs: str, seat: int = 0, rules: Rules = STANDARD) -> Any:
    """Return the marks of a take by a seat that had these cards, against those of the other."""
    own, more, other = (pack_of(parse_cards(text)) for text in (mine, taken, theirs))
    before, after = (own, other), (own + more, other)
    if seat:
        before, after = before[::-1], after[::-1]
    return find_marks(before, after, seat, rules)


def majority(kind: str, before: int | None, after: int | None) -> dict[str, Any]:
    return {"what": "majority", "kind": kind, "before": before, "after": after}


@pytest.mark.parametrize("seat", [0, 1])
def test_a_majority_is_won_levelled_or_turned(seat: int) -> None:
    """Who had it and who has it; where neither changes there is no mark (R12)."""
    other = 1 - seat
    assert marks("", "5", "", seat) == [majority("5", None, seat)]
    assert marks("7", "7", "77", seat) == [majority("7", other, None)]
    assert marks("8", "88", "88", seat) == [majority("8", other, seat)]
    assert marks("6", "66", "", seat) == []
    assert marks("6", "6", "666", seat) == []
