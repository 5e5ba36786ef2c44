"""Faults in the endgame, the tree search and the champion."""

from __future__ import annotations

from tests.drill.fault import Fault

BOTS = [
    Fault(
        "an endgame that wants what the opponent wants",
        "bots/endgame.py",
        "worth[action] -= ways * solver.value(after)",
        "worth[action] += ways * solver.value(after)",
        "tests/bots/test_endgame.py::test_every_action_is_worth_what_plain_minimax_says",
    ),
    Fault(
        "an endgame in which a take is five cards under all rules",
        "bots/endgame.py",
        "row = row[-most:]",
        "row = row[-5:]",
        "tests/bots/test_endgame.py::test_every_action_is_worth_what_plain_minimax_says",
    ),
    Fault(
        "a tree search that credits the other seat",
        "bots/ismcts.py",
        "node.total += result if seat == 0 else 1.0 - result",
        "node.total += result if seat == 1 else 1.0 - result",
        "tests/bots/test_ismcts.py::test_the_search_prefers_the_winning_action",
    ),
    Fault(
        "a tree search that deals only the first cards it does not see",
        "bots/ismcts.py",
        "shuffled.sort(key=lambda _: random())",
        "shuffled.sort()",
        "tests/bots/test_ismcts.py::test_the_opponents_hands_are_drawn_in_proportion_to_their_deals",
    ),
    Fault(
        "learned values for the seat that does not begin",
        "bots/champion.py",
        "if first_seat(world.round):",
        "if not first_seat(world.round):",
        "tests/bots/test_champion.py::test_the_seat_that_begins_next_is_the_first_of_the_table",
    ),
    Fault(
        "scores of many games in which a lead for certain counts for less",
        "bots/majority.py",
        "share.clip(-1.0, 1.0)",
        "share.clip(-1.0, 0.9)",
        "tests/bots/test_scores.py::test_the_scores_choose_as_the_bot_does",
    ),
    Fault(
        "scores of many games that forget that the other seat has played",
        "arena/batch/beliefs.py",
        "np.stack([games.plies, games.plies + 1])",
        "np.stack([games.plies, games.plies])",
        "tests/bots/test_scores.py::test_the_scores_choose_as_the_bot_does",
    ),
    Fault(
        "a belief in which every hand is dealt as often",
        "arena/batch/beliefs.py",
        "np.array([ways for _, ways in worlds]",
        "np.array([1.0 for _, ways in worlds]",
        "tests/batch/test_beliefs.py::test_a_belief_is_bayes_rule",
    ),
    Fault(
        "a response that does not see what the other seat has played",
        "arena/batch/rival.py",
        "seen = _REPLIES * seen + actions + 1",
        "seen = _REPLIES * seen",
        "tests/batch/test_beliefs.py::test_a_response_is_that_of_a_plain_search",
    ),
    Fault(
        "a clone of the bot that the cloned one plays against",
        "arena/addons/learn/teach_learner.py",
        "[1 - row[2] for row in rows]",
        "[row[2] for row in rows]",
        "tests/addons/learn/test_probe_commands.py::test_a_bot_without_scores_is_probed_by_a_clone",
    ),
]
