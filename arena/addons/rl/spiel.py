"""District Noir as a game of OpenSpiel, `python_district_noir`, with explicit chance nodes.

Chance draws the opening row, and at the beginning of a round its hands, card by card; cards that no
seat will see are never drawn. Importing this module registers the game.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.batch.lockstep import Encoding
from arena.errors import InputError, not_installed
from engine import Action, Kind, Pack
from engine.cards import KINDS, TAKE, UNIT, cards_of, counts, pack_of, pack_text, to_text
from engine.errors import IllegalAction
from engine.rules import RULE_NAMES, STANDARD, Rules
from engine.scoring import outcome
from engine.state import Seat, State
from engine.view import View, view
from engine.worlds import sample

try:
    import pyspiel as pyspiel
except ImportError:
    raise InputError(not_installed("OpenSpiel", "openspiel")) from None

NAME = "python_district_noir"
_LISTS = ("copies", "majority_values")
Parameters: TypeAlias = dict[str, Any]
_CHANCE = int(pyspiel.PlayerId.CHANCE)
_TERMINAL = int(pyspiel.PlayerId.TERMINAL)


class Dealing:
    """A State of the engine whose cards are drawn when a round begins.

    `missing` counts the cards to draw before the next action. The deck and the removed cards of the
    state are the cards that have not been drawn, in kind order.
    """

    __slots__ = ("missing", "state")

    def __init__(self, rules: Rules) -> None:
        self.state = State(rules.deck, rules)
        self.state.row = self.state.opening = b""
        self.missing = rules.opening_row
        self._begin_round()

    def _begin_round(self) -> None:
        self.state.hands = [0, 0]
        self.missing += 2 * self.state.rules.hand_size

    def __deepcopy__(self, memo: object) -> Dealing:
        """Return a copy, which OpenSpiel makes often: 3 us instead of 65 by default."""
        twin = _new(Dealing)
        twin.state = self.state.copy()
        twin.missing = self.missing
        return twin

    @property
    def unseen(self) -> Pack:
        """The cards that have not been drawn."""
        state = self.state
        return state.rules.pack - sum(state.hands) - sum(state.piles) - pack_of(state.row)

    def draw(self, kind: Kind) -> None:
        """Deal a card: to the opening row, then to the first hand, then to the second."""
        state, hand_size = self.state, self.state.rules.hand_size
        if self.missing > 2 * hand_size:
            state.row = state.opening = state.row + bytes((kind,))
        else:
            state.hands[self.missing <= hand_size] += UNIT[kind]
        self.missing -= 1
        if not self.missing:
            unseen, deck = cards_of(self.unseen), len(state.deck)
            state.deck, state.removed = unseen[:deck], unseen[deck:]

    def apply(self, action: Action) -> None:
        """Carry out a legal action; after the end of a round, cards are drawn next."""
        number = self.state.round
        self.state.apply(action)
        if self.state.round != number:
            self._begin_round()


_new = object.__new__


def parameters(rules: Rules) -> Parameters:
    """Return rules as OpenSpiel's parameters; lists become texts with spaces.

    >>> parameters(STANDARD)["copies"], parameters(STANDARD)["rounds"]
    ('5 6 7 8 4 2 1 3 4 2 3', 4)
    """
    values = {name: getattr(rules, name) for name in RULE_NAMES}
    return values | {name: " ".join(map(str, values[name])) for name in _LISTS}


def rules_of(values: Parameters) -> Rules:
    """Return the rules of some parameters; missing ones have the published values.

    Raises InputError for a list with anything but whole numbers, RulesError for numbers that are
    not playable.

    >>> rules_of({"majority_values": "8 7 6 5"})
    Rules(majority_values=(8, 7, 6, 5))
    """
    changes = dict(values)
    for name in filter(changes.__contains__, _LISTS):
        try:
            changes[name] = tuple(map(int, str(changes[name]).split()))
        except ValueError:
            why = f"whole numbers with spaces between, not {changes[name]!a}"
            raise InputError(f"{name}: {why}") from None
    return Rules.from_changes(changes)


def load_game(rules: Rules = STANDARD) -> Any:
    """Return the game under these rules, as `pyspiel.load_game` does.

    >>> game = load_game()
    >>> game.num_distinct_actions(), game.max_chance_outcomes(), game.max_game_length()
    (12, 11, 48)
    """
    return pyspiel.load_game(NAME, parameters(rules))


_TYPE = pyspiel.GameType(
    short_name=NAME,
    long_name="District Noir",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification=parameters(STANDARD),
)


class Game(pyspiel.Game):  # type: ignore[misc]
    """District Noir under given rules; a win is worth 1 and a loss -1."""

    def __init__(self, params: Parameters | None = None) -> None:
        self.rules = rules_of(params or {})
        info = pyspiel.GameInfo(
            num_distinct_actions=TAKE + 1,
            max_chance_outcomes=len(KINDS),
            num_players=2,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=self.rules.game_plies,
        )
        super().__init__(_TYPE, info, params or {})
        self.start = Dealing(self.rules)

    def new_initial_state(self) -> SpielState:
        """Return a game with no card dealt."""
        return SpielState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Return the number of cards dealt in a game."""
        return len(self.rules.deck) - self.rules.removed

    def make_py_observer(self, kind: Any = None, params: Parameters | None = None) -> Observer:
        """Return the observer that fills tensors and writes strings for a kind of observation."""
        if params:
            raise InputError(f"an observer has no parameters; there is {min(params)!a}")
        return Observer(self.rules, kind or pyspiel.IIGObservationType(perfect_recall=False))


class SpielState(pyspiel.State):  # type: ignore[misc]
    """A game between two actions or draws; chance's actions are the kinds of cards.

    >>> state = load_game().new_initial_state()
    >>> for card in "xy5678C5556z":
    ...     state.apply_action(state.string_to_action("deal " + card))
    >>> state.current_player(), state.information_state_string()
    (0, '0 5678C xy')
    >>> [state.action_to_string(action) for action in state.legal_actions()]
    ['5', '6', '7', '8', 'C', 'T']
    """

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.dealing = game.start.__deepcopy__(None)

    def view(self, seat: Seat) -> View:
        """Return the view of a seat."""
        return view(self.dealing.state, seat)

    def current_player(self) -> int:
        """Return the seat to act, or OpenSpiel's numbers for chance and for the end."""
        dealing = self.dealing
        if dealing.state.over:
            return _TERMINAL
        return _CHANCE if dealing.missing else dealing.state.to_act

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return self.dealing.state.over

    def _legal_actions(self, _player: int) -> list[Action]:
        return [*self.dealing.state.legal()]

    def chance_outcomes(self) -> list[tuple[Kind, float]]:
        """Return the kinds that may be drawn, each with its probability."""
        copies = counts(self.dealing.unseen)
        cards = sum(copies)
        return [(kind, number / cards) for kind, number in enumerate(copies) if number]

    def _apply_action(self, action: int) -> None:
        """Carry out an action or draw a card; raises IllegalAction."""
        dealing = self.dealing
        if not dealing.missing:
            dealing.apply(dealing.state.checked(action))
        elif (
            dealing.state.over or not 0 <= action < len(KINDS) or not counts(dealing.unseen)[action]
        ):
            raise IllegalAction(f"no card {action} is left to be dealt", len(dealing.state.history))
        else:
            dealing.draw(action)

    def _action_to_string(self, player: int, action: int) -> str:
        char = to_text(bytes((action,)))
        return f"deal {char}" if player == _CHANCE else char

    def returns(self) -> list[float]:
        """Return the result for each seat: 1, 0 or -1, and 0 before the end."""
        state = self.dealing.state
        winner = outcome(state.piles, state.rules).winner if state.over else None
        return [0.0, 0.0] if winner is None else [1.0 - 2 * winner, 2.0 * winner - 1]

    def resample_from_infostate(self, player: int, rng: Callable[[], float]) -> SpielState:
        """Return a game in the same information set of the seat, drawn by `engine.sample`.

        Raises InputError at a chance node.
        """
        if self.dealing.missing:
            raise InputError("a world is drawn for a decision, and not while cards are dealt")
        random = Random(int(rng() * (1 << 53)))
        return follow(self.get_game(), sample(self.view(player), random))

    def __str__(self) -> str:
        state = self.dealing.state
        hands, piles = (" | ".join(map(_pack, packs)) for packs in (state.hands, state.piles))
        where = f"round {state.round}, hands {hands}, row {_text(state.row)}, piles {piles}"
        return f"{where}, opening {_text(state.opening)}, actions {_text(state.history)}"


def follow(game: Game, world: State) -> SpielState:
    """Return the OpenSpiel state that corresponds to a state of the engine.

    The cards of each hand are dealt in kind order.
    """
    rules, deal, history = world.rules, world.deal(), world.history
    state = game.new_initial_state()
    both = 2 * rules.hand_size
    table = both + rules.opening_row
    dealt = [deal[both:table] + deal[:both]]
    dealt += [deal[start : start + both] for start in range(table, len(deal), both)]
    for number in range(world.round):
        first = number * rules.round_plies
        for action in dealt[number] + history[first : first + rules.round_plies]:
            state.apply_action(action)
    return state


class Observer:
    """Fills tensors and writes strings; `dict` has the part of `tensor` for each field.

    With perfect recall they represent the information state: `Encoding.information_state` and
    `View.to_text`. Otherwise they represent the observation, which has no history; public and
    private information have strings. Before the opening row is complete, a tensor is zero.
    """

    def __init__(self, rules: Rules, kind: Any) -> None:
        self.rules = rules
        self.public = kind.public_info
        self.private = kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        self.recall = kind.perfect_recall
        self.dict: dict[str, npt.NDArray[np.float32]] = {}
        self.tensor: npt.NDArray[np.float32] | None = None
        if self.public and self.private:
            encoding = Encoding(rules)
            fields = encoding.fields + (encoding.history_fields if self.recall else ())
            self.encode = encoding.information_state if self.recall else encoding.observation
            self.tensor = np.zeros(fields[-1].start + fields[-1].size, np.float32)
            for field in fields:
                self.dict[field.name] = self.tensor[field.start : field.start + field.size]

    def set_from(self, state: SpielState, player: int) -> None:
        """Fill the tensor with a player's observation of a state."""
        if self.tensor is not None:
            seen = state.view(player)
            whole = len(seen.opening) == self.rules.opening_row
            self.tensor[:] = self.encode(seen) if whole else 0.0

    def string_from(self, state: SpielState, player: int) -> str:
        """Return a player's observation of a state as text."""
        seen = state.view(player)
        if self.recall and self.private:
            return seen.to_text()
        parts = []
        if self.private:
            parts.append(f"seat {player}, hand {_pack(seen.hand)}")
        if self.public:
            parts.append(f"round {seen.round}, row {_text(seen.row)}")
            parts.append(f"piles {' | '.join(map(_pack, seen.piles))}")
            parts.append(f"taken {' | '.join('ny'[taken] for taken in seen.taken)}")
        if self.public and self.recall:
            parts.append(f"opening {_text(seen.opening)}, actions {_text(seen.history)}")
        return ", ".join(parts)


def _pack(pack: Pack) -> str:
    return pack_text(pack) or "-"


def _text(actions: bytes) -> str:
    return to_text(actions) or "-"


pyspiel.register_game(_TYPE, Game)
