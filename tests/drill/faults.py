"""The faults: each would break a promise to users, in games, ratings, runs, jails or pages."""

from __future__ import annotations

from tests.drill import Fault

FAULTS = [
    Fault(
        "a leak: the view of the seat that waits shows the other hand",
        "engine/view.py",
        "hand, row, taken = state.hands[seat],",
        "hand, row, taken = state.hands[state.to_act],",
        "tests/rulebook/test_rules.py::test_r2_a_view_does_not_show_which_cards_are_removed_or_held",
    ),
    Fault(
        "a world whose hidden hand is not random",
        "engine/worlds.py",
        "unseen = shuffled(cards, rng.randbytes(8 * len(cards)))",
        "unseen = cards",
        "tests/engine/test_worlds.py::test_hand_deck_and_removed_are_uniform",
    ),
    Fault(
        "a city win seen at the round's end only",
        "engine/state.py",
        "if pile >= self.rules.city_pack:",
        "if pile >= self.rules.city_pack and not any(hands):",
        "tests/rulebook/test_rules_end.py::test_r11_three_cities_win_at_once_in_the_middle_of_a_round",
    ),
    Fault(
        "both seats of a game with one luck",
        "engine/play.py",
        "int.from_bytes(drawn[_LUCK : 2 * _LUCK])",
        "int.from_bytes(drawn[:_LUCK])",
        "tests/engine/test_play.py::test_the_deal_and_both_seats_have_luck_of_their_own_by_their_address",
    ),
    Fault(
        "a late answer accepted",
        "engine/strategy.py",
        "if limit is not None and seconds > limit:",
        "if limit is not None and seconds > 9 * limit:",
        "tests/tournament/test_match.py::test_a_late_answer_is_a_forfeit_when_it_comes_back",
    ),
    Fault(
        "modules of the working folder imported by `python -m arena`",
        "arena/__main__.py",
        "        del sys.path[0]",
        "        pass",
        "tests/packaging/test_wheel.py::test_it_works_beside_modules_of_the_same_names_and_without_extras",
    ),
    Fault(
        "a link followed to the folder of all runs",
        "arena/lanes/scratch.py",
        "stat.S_ISDIR(status.st_mode) and status.st_uid == marker.st_uid == os.geteuid()",
        "True",
        "tests/lanes/test_scratch.py::test_a_name_that_is_taken_is_left_alone",
    ),
    Fault(
        "both games of a pair with the same seats",
        "arena/tournament/schedule.py",
        "if self.seat == 0 else (opponent, bot)",
        "if self.seat == 0 else (bot, opponent)",
        "tests/tournament/test_match.py::test_a_pairing_has_the_same_games_whichever_bot_is_named_first",
    ),
    Fault(
        "intervals by game instead of by pair",
        "arena/statistics/model.py",
        "rest = self.squares - 4 * own * (self.total - own * self.pairs)",
        "rest = information",
        "tests/statistics/test_ratings.py::test_the_pair_is_the_unit_and_not_the_game",
    ),
    Fault(
        "a check that asks about hidden cards in the same world",
        "arena/check/inspector.py",
        "world = sample(view(state, fixture.seat), rng)",
        "world = state",
        "tests/check/test_check.py::test_a_rogue_is_refused_for_the_right_reason[peeks_in_frames]",
    ),
    Fault(
        "--seed 0 taken for no seed",
        "arena/tournament/config.py",
        "for name, value in given.items() if value is not None}",
        "for name, value in given.items() if value}",
        "tests/cli/test_cli.py::test_the_config_yields_to_the_command_line_in_seed_and_pairs",
    ),
    Fault(
        "a flipped bit of a game not found",
        "arena/store/damage.py",
        "return find_altered(database)",
        "return None",
        "tests/tables/test_flips.py::test_a_flip_in_a_closed_store_is_named_or_harmless",
    ),
    Fault(
        "a label that is a formula",
        "arena/store/csv_files.py",
        """return f"'{cell}\"""",
        "return cell",
        "tests/store/test_cells.py::test_no_cell_of_any_file_is_a_formula",
    ),
    Fault(
        "weights that are no part of a package's identity",
        "arena/entries/identity.py",
        "add_file(digest, str(path))",
        'name.endswith(".npz") or add_file(digest, str(path))',
        "tests/entries/test_identity.py::test_an_edit_of_any_file_of_a_package_is_another_bot",
    ),
    Fault(
        "a verify that believes the records more than the bots",
        "arena/runs/verify.py",
        "return stored != again and not kinds & {*_UNREPEATABLE}",
        "return False",
        "tests/runs/test_verify.py::test_a_bot_that_does_not_play_its_recorded_games_is_named",
    ),
    Fault(
        "the removed cards in the page of one seat",
        "arena/replays/timeline.py",
        '"removed": to_text(bytes(sorted(last.removed))) if seat is None else None,',
        '"removed": to_text(bytes(sorted(last.removed))),',
        "tests/replays/test_mistakes.py::"
        "test_pages_of_games_that_a_seat_cannot_tell_apart_are_the_same_bytes",
    ),
    Fault(
        "one more option of prctl in the jail",
        "arena/lanes/syscalls.py",
        "_OPTIONS = (1, 2, 3, 15,",
        "_OPTIONS = (1, 2, 3, 4, 5, 15,",
        "tests/lanes/test_syscalls.py::test_of_an_argument_only_the_listed_values_are_allowed",
    ),
    Fault(
        "another site let in that has the address",
        "arena/reports/front.py",
        'if headers.get("origin", origin) != origin:',
        'if headers.get("origin", "http:").partition(":")[0] != "http":',
        "tests/addons/table/test_table_server.py::test_another_origin_is_refused_everywhere",
    ),
    Fault(
        "the bot's hand sent to the page",
        "arena/addons/table/table_games.py",
        "seat=self.person, ending=said",
        "seat=None, ending=said",
        "tests/addons/table/test_table_games.py::test_no_byte_depends_on_what_the_person_cannot_know",
    ),
    Fault(
        "a token that a server sends back in a broken line, shown",
        "arena/lanes/faults.py",
        "one_line(settle(hide_secrets(message)[:MOST_OUTPUT])),",
        "one_line(settle(message[:MOST_OUTPUT])),",
        "tests/addons/remote/test_secrets.py::test_an_echo_stands_in_no_fault_and_in_no_message",
    ),
]
