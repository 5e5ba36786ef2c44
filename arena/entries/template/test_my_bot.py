"""The tests of my_bot.py: `python test_my_bot.py` runs them in a second."""

from bots.uniform import bot as uniform
from engine import Rules, play_game

# isort: split
from my_bot import bot


def test_it_plays_by_the_rules() -> None:
    """Games from both seats reach their end: an illegal action would raise."""
    for seed in range(20):
        for seats in ((bot, uniform), (uniform, bot)):
            assert play_game(*seats, seed=seed).record.replay().over


def test_it_plays_a_shorter_game() -> None:
    """It takes its numbers from the rules of the game."""
    play_game(bot, bot, seed=0, rules=Rules(rounds=2, removed=23, take_size=4))


def test_the_same_seed_is_the_same_game() -> None:
    """Its only luck is `setup.rng`, so that every game can be replayed."""
    assert play_game(bot, bot, seed=3) == play_game(bot, bot, seed=3)


def test_it_beats_a_bot_that_plays_at_random() -> None:
    """It wins at least two of three games, with each deal played from both seats."""
    wins = 0
    for seed in range(50):
        wins += play_game(bot, uniform, seed=seed).winner == 0
        wins += play_game(uniform, bot, seed=seed).winner == 1
    assert wins >= 67


if __name__ == "__main__":
    tests = [test for name, test in globals().items() if name.startswith("test_")]
    for test in tests:
        test()
    print(f"{len(tests)} tests passed")
