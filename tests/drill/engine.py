"""Faults in the rules, in what a seat sees, and in chance."""

from __future__ import annotations

from tests.drill.fault import Fault

ENGINE = [
    Fault(
        "a leaked count: the view counts one unseen card too few",
        "engine/view.py",
        "        seen = self.hand + self.piles[0] + self.piles[1] + pack_of(self.row)\n",
        "        seen = self.hand + self.piles[0] + self.piles[1] + pack_of(self.row) + 1\n",
        "tests/engine/test_worlds.py::test_a_world_looks_like_the_view_it_was_drawn_from",
    ),
    Fault(
        "a leak: the view of the seat that waits shows the other hand",
        "engine/view.py",
        "hand, row, taken = state.hands[seat],",
        "hand, row, taken = state.hands[state.to_act],",
        "tests/rulebook/test_rules.py::test_r2_a_view_does_not_show_which_cards_the_opponent_holds",
    ),
    Fault(
        "a world whose hidden hand is not random",
        "engine/worlds.py",
        "unseen = shuffled(cards, rng.randbytes(8 * len(cards)))",
        "unseen = cards",
        "tests/engine/test_worlds.py::test_hand_deck_and_removed_are_uniform",
    ),
    Fault(
        "a wrong tie-break order",
        "engine/scoring.py",
        '"cities": (EIGHT, SEVEN, SIX, FIVE, CITY)',
        '"cities": (EIGHT, SIX, SEVEN, FIVE, CITY)',
        "tests/rulebook/test_rules_end.py::test_r17_with_equal_8s_more_7s_break_a_tie",
    ),
    Fault(
        "a tie not broken by cities",
        "engine/scoring.py",
        '"cities": (EIGHT, SEVEN, SIX, FIVE, CITY)',
        '"cities": (EIGHT, SEVEN, SIX, FIVE)',
        "tests/rulebook/test_rules_end.py::test_r18_with_equal_supports_more_cities_break_a_tie",
    ),
    Fault(
        "a set bonus given once",
        "engine/scoring.py",
        "rules.set_bonus * _sets(pile & _SUPPORTS)",
        "rules.set_bonus * min(1, _sets(pile & _SUPPORTS))",
        "tests/rulebook/test_rules_end.py::test_r13_every_complete_set_scores_five",
    ),
    Fault(
        "a take of six",
        "engine/state.py",
        "start = -self.rules.take_size",
        "start = -self.rules.take_size - 1",
        "tests/rulebook/test_rules.py::test_r6_a_take_is_the_last_five_cards_of_the_row",
    ),
    Fault(
        "a removed card dealt",
        "engine/state.py",
        "deck_end = len(deal) - rules.removed\n",
        "deck_end = len(deal) - rules.removed\n"
        "        deal = deal[: deck_end - 1] + deal[deck_end : deck_end + 1]"
        " + deal[deck_end - 1 : deck_end] + deal[deck_end + 1 :]\n",
        "tests/rulebook/test_rules.py::test_r2_five_cards_each_two_in_the_row_and_three_out_of_the_game",
    ),
    Fault(
        "a betrayal added",
        "engine/cards.py",
        "VALUES = (0, 0, 0, 0, 2, 3, 4, -1, -2, -3, 0)",
        "VALUES = (0, 0, 0, 0, 2, 3, 4, 1, -2, -3, 0)",
        "tests/rulebook/test_rules_end.py::test_r14_betrayals_subtract_their_value",
    ),
    Fault(
        "a majority that a tie wins",
        "engine/scoring.py",
        "mine & _SEVENS > theirs & _SEVENS",
        "mine & _SEVENS >= theirs & _SEVENS",
        "tests/rulebook/test_rules_end.py::test_r12_equal_counts_score_nothing",
    ),
    Fault(
        "a city win seen at the round's end only",
        "engine/state.py",
        "if pile >= self.rules.city_pack:",
        "if pile >= self.rules.city_pack and not any(hands):",
        "tests/rulebook/test_rules_end.py::test_r11_three_cities_win_at_once_in_the_middle_of_a_round",
    ),
    Fault(
        "a second take in a round",
        "engine/state.py",
        "plays if self.taken[seat] or not self.row else plays_or_take",
        "plays if not self.row else plays_or_take",
        "tests/rulebook/test_rules.py::test_r7_after_its_take_a_player_plays_to_the_end_of_the_round",
    ),
    Fault(
        "the same player first in every round",
        "engine/state.py",
        "self.to_act = first_seat(self.round)",
        "self.to_act = 0",
        "tests/rulebook/test_rules.py::test_r2_the_removed_cards_never_come_back",
    ),
    Fault(
        "a row cleared between rounds",
        "engine/state.py",
        "        self.round += 1\n",
        "        self.round += 1\n        self.row = b''\n",
        "tests/rulebook/test_rules.py::test_r10_the_row_stays_for_the_next_round",
    ),
    Fault(
        "a copy that shares its hands",
        "engine/state.py",
        "twin.hands = self.hands[:]",
        "twin.hands = self.hands",
        "tests/engine/test_worlds.py::test_a_world_looks_like_the_view_it_was_drawn_from",
    ),
    Fault(
        "both seats of a game with one luck",
        "engine/play.py",
        "int.from_bytes(drawn[_LUCK : 2 * _LUCK])",
        "int.from_bytes(drawn[:_LUCK])",
        "tests/engine/test_play.py::test_both_seats_and_the_deal_have_luck_of_their_own",
    ),
    Fault(
        "a late answer accepted",
        "engine/strategy.py",
        "if limit is not None and seconds > limit:",
        "if limit is not None and seconds > 9 * limit:",
        "tests/tournament/test_match.py::test_a_late_answer_is_a_forfeit_when_it_comes_back",
    ),
    Fault(
        "True taken for an action",
        "engine/state.py",
        "if isinstance(action, bool):",
        "if isinstance(action, str):",
        "tests/tournament/test_match.py::test_an_illegal_action_is_named_with_the_legal_ones",
    ),
    Fault(
        "hands that all count as one deal",
        "engine/worlds.py",
        "ways * comb(copies, chosen)",
        "ways",
        "tests/bots/test_endgame.py::test_every_action_is_worth_what_plain_minimax_says",
    ),
]
