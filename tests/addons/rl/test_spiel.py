"""District Noir as a game of OpenSpiel, and bots both ways."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from arena.batch.lockstep import Encoding
from arena.errors import InputError
from bots.greedy import bot as greedy
from bots.uniform import bot as uniform
from engine import CITY, STANDARD, TAKE, EngineError, IllegalAction, Rules, Setup
from engine.play import play, play_game
from engine.scoring import outcome
from engine.seeds import stream
from engine.state import State, random_deal
from engine.view import View, view
from engine.worlds import sample
from tests.addons.rl.ground_truth import VARIANTS
from tests.positions import at, dealt, states

pyspiel = pytest.importorskip(
    "pyspiel", reason="OpenSpiel is not installed: pip install open_spiel"
)

from open_spiel.python.algorithms import evaluate_bots  # noqa: E402

from arena.addons.rl import spiel, spiel_bots  # noqa: E402

RULES = {
    "standard": STANDARD,
    "no row": Rules(opening_row=0, removed=5, take_size=4, tiebreak="supports"),
    "long rounds": Rules(hand_size=10, rounds=2, majority_values=(8, 7, 6, 5), set_bonus=0),
    **VARIANTS,
}


@pytest.fixture(params=RULES.values(), ids=RULES)
def rules(request: pytest.FixtureRequest) -> Rules:
    """Rules of which each has something that the others have not."""
    made: Rules = request.param
    return made


def test_openspiels_own_test_of_random_games(rules: Rules) -> None:
    """Clones, undone chance, and states and games that are written and read again."""
    pyspiel.random_sim_test(spiel.load_game(rules), num_sims=2, serialize=True, verbose=False)


def test_a_state_is_told_as_text_and_a_seat_is_told_what_it_knows() -> None:
    """The whole, and each kind of observation: public or not, private or not, with the history."""
    state = spiel.follow(spiel.load_game(), at(dealt("55667", "78822", "88"), "57T"))
    whole = "round 1, hands 5667 | 8822, row -, piles 5788 | -, opening 88, actions 57T"
    assert str(state) == whole
    public = "round 1, row -, piles 5788 | -, taken y | n"
    private = "seat 1, hand 8822"
    for kind, text in (
        ((True, False, False), public),
        ((False, False, True), private),
        ((True, False, True), f"{private}, {public}"),
        ((True, True, False), f"{public}, opening 88, actions 57T"),
        ((False, True, False), ""),
        ((True, True, True), "1 8822 88 57T"),
    ):
        is_public, recall, is_private = kind
        seats = pyspiel.PrivateInfoType
        hidden = seats.SINGLE_PLAYER if is_private else seats.NONE
        asked = pyspiel.IIGObservationType(is_public, recall, hidden)
        observer = state.get_game().make_py_observer(asked)
        assert observer.string_from(state, 1) == text
        assert (observer.tensor is None) == (not (is_public and is_private))


def test_a_game_is_that_of_the_engine(rules: Rules) -> None:
    """At any point of a random game: both views, tensors, the actions, the turn and the result."""
    encoding, game = Encoding(rules), spiel.load_game(rules)
    assert game.information_state_tensor_size() == encoding.information_size
    assert game.observation_tensor_size() == encoding.size
    if rules.opening_row:  # before it lies there all is zero
        assert not any(game.new_initial_state().information_state_tensor(0))
    for world in [*states(4, rules)][::-7]:
        state = spiel.follow(game, world)
        for seat in (0, 1):
            seen = state.view(seat)
            assert seen == view(world, seat)
            bits = encoding.observation(seen), encoding.information_state(seen)
            assert state.observation_tensor(seat) == bits[0].tolist()
            assert state.information_state_tensor(seat) == bits[1].tolist()
        assert state.is_terminal() == world.over
        if world.over:
            winner = outcome(world.piles, rules).winner
            first = 0.0 if winner is None else 1.0 - 2 * winner
            assert state.returns() == [first, -first]
        elif not state.is_chance_node():
            assert state.legal_actions() == [*world.legal()]
            assert state.current_player() == world.to_act
            assert state.information_state_string() == view(world, world.to_act).to_text()


def test_chance_deals_card_by_card_and_no_seat_sees_the_others() -> None:
    """First the row, then each hand; those of a round not before it begins."""
    rng, state, drawn = Random(3), spiel.load_game().new_initial_state(), []
    while not state.is_terminal():
        if state.is_chance_node():
            left = [*STANDARD.copies]
            for kind in drawn:
                left[kind] -= 1
            cards = sum(left)
            odds = [(kind, n / cards) for kind, n in enumerate(left) if n]
            assert state.chance_outcomes() == odds
            drawn.append(rng.choice(state.legal_actions()))
            state.apply_action(drawn[-1])
        else:
            seen = state.view(state.current_player())
            assert len(drawn) == 2 + 10 * seen.round
            state.apply_action(0 if 0 in seen.legal else seen.legal[-1])
    assert len(drawn) == state.get_game().max_chance_nodes_in_history() == 42
    state = spiel.load_game().new_initial_state()
    for card in "xy5678C":
        state.apply_action(state.string_to_action(f"deal {card}"))
    before = state.information_state_string(0), state.observation_tensor(0)
    state.apply_action(state.string_to_action("deal 8"))
    assert (state.information_state_string(0), state.observation_tensor(0)) == before
    assert state.information_state_string(1) == "1 8 xy"


def test_what_is_illegal_is_refused_also_of_a_bot() -> None:
    """A card of which none is left, an action, anything after the end, a parameter, by name."""
    for parameters, error, message in (
        ("copies=5 a", InputError, "copies: whole numbers with spaces between, not '5 a'"),
        ("rounds=9", EngineError, "opening_row 2 [+] rounds 9"),
        ("players=3", pyspiel.SpielError, "players"),
    ):
        with pytest.raises(error, match=message):
            pyspiel.load_game(f"{spiel.NAME}({parameters})")
    state = spiel.load_game().new_initial_state()
    for _ in range(STANDARD.copies[CITY]):
        state.apply_action(CITY)
    for wrong in (CITY, TAKE, 99):
        with pytest.raises(IllegalAction, match=f"no card {wrong} is left"):
            state.apply_action(wrong)
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    before = str(state)
    for wrong in {*range(TAKE + 2)} - {*state.legal_actions()}:
        with pytest.raises(IllegalAction, match=f"illegal action {wrong}"):
            state.apply_action(wrong)
    assert str(state) == before
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    with pytest.raises(IllegalAction):
        state.apply_action(TAKE)

    class Wrong:
        def __init__(self, setup: Setup) -> None:
            pass

        def choose(self, _seen: View, /) -> int:
            return 9

    seen = View.from_text("0 5678C CC", STANDARD)
    state = spiel.follow(spiel.load_game(), sample(seen, Random(1)))
    with pytest.raises(IllegalAction, match=r"illegal action 9 \(z\); legal: 5 6 7 8 C T"):
        spiel_bots.ArenaBot(state.get_game(), 0, Wrong).step(state)


def test_a_world_is_drawn_that_the_seat_cannot_tell_from_the_truth(rules: Rules) -> None:
    """OpenSpiel's own test of it, which it has in C++ only; and what is hidden does differ."""
    rng, differ = Random(1), 0
    for number, truth in enumerate(states(7, rules)):
        state = spiel.follow(spiel.load_game(rules), truth)
        for seat in (0, 1) if number % 7 == 0 and state.current_player() >= 0 else ():
            world = state.resample_from_infostate(seat, rng.random)
            assert world.information_state_string(seat) == state.information_state_string(seat)
            assert world.information_state_tensor(seat) == state.information_state_tensor(seat)
            assert world.current_player() == state.current_player()
            replayed = spiel.load_game(rules).new_initial_state()
            for action in world.history():
                assert action in replayed.legal_actions()
                replayed.apply_action(action)
            assert str(replayed) == str(world)
            differ += str(world) != str(state)
    assert differ


def test_bots_of_the_arena_play_in_openspiel_as_in_the_engine(rules: Rules) -> None:
    """The same deal and luck, the same actions; `evaluate_bots` asks them."""
    game = spiel.load_game(rules)
    bots = [spiel_bots.ArenaBot(game, seat, bot, 5) for seat, bot in enumerate((greedy, uniform))]
    results = []
    for number in range(3):
        played = game.new_initial_state()
        results.append(evaluate_bots.evaluate_bots(played, bots, Follower(played, number)))
        state = State(deal(rules, number), rules)
        setups = [Setup(stream(5, "bot", number, seat), seat, rules) for seat in (0, 1)]
        play(state, [greedy(setups[0]), uniform(setups[1])])
        assert played.view(0) == view(state, 0)
        winner = outcome(state.piles, rules).winner
        assert results[-1] == [0.0 if winner is None else 1.0 - 2 * winner, -results[-1][0]]


def deal(rules: Rules, number: int) -> bytes:
    return random_deal(Random(number), rules)


class Follower:
    """Chance as `evaluate_bots` asks for it, which deals what it was given."""

    def __init__(self, state: Any, number: int) -> None:
        rules = state.get_game().rules
        cards, first = deal(rules, number), 2 * rules.hand_size
        row_end = first + rules.opening_row
        self.cards = iter(cards[first:row_end] + cards[:first] + cards[row_end:])

    def choice(self, outcomes: Any, p: Any) -> int:
        assert sum(p) == pytest.approx(1)
        card = next(self.cards)
        assert card in outcomes
        return card


class Recorder(pyspiel.Bot):  # type: ignore[misc]
    """Plays the first legal action, and keeps what it was shown."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[Any] = []

    def step(self, state: Any) -> int:
        self.shown.append(state.clone())
        return int(state.legal_actions()[0])


def test_a_bot_of_openspiel_plays_in_the_arena_and_sees_no_hidden_card() -> None:
    """Its states have the right view, and what is hidden is drawn."""
    made: list[tuple[Recorder, int]] = []

    def make(_game: Any, seat: int, _seed: int) -> Recorder:
        made.append((Recorder(), seat))
        return made[-1][0]

    bot = spiel_bots.arena_bot(make)
    played = play_game(bot, bot, seed=3)
    assert played == play_game(bot, bot, seed=3)
    truth = State.from_text(played.record.deal)
    shown = {
        len(state.view(0).history): (state, seat) for who, seat in made[:2] for state in who.shown
    }
    same = 0
    for ply, action in enumerate(played.record.replay().history):
        state, seat = shown[ply]
        assert state.view(seat) == view(truth, seat)
        same += state.view(1 - seat) == view(truth, 1 - seat)
        truth.apply(action)
    assert same < len(shown) / 2
