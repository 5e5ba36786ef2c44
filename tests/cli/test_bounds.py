"""The bounds of every option that is a whole number are round, and its default is within them."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from arena.cli import cli
from arena.cli.options import Whole
from arena.tournament import keys

TENS, TWOS = {10**power for power in range(1, 10)}, {2**power for power in range(1, 64)}


def numbers(command: click.Command, *names: str) -> Iterator[tuple[str, click.Parameter, Whole]]:
    """Yield every option of a command and of those below it that is a whole number."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below
            yield from numbers(below, *names, name)
    for option in command.params:
        if isinstance(option.type, Whole):
            yield " ".join((*names, str(option.name))), option, option.type


OPTIONS = [*numbers(cli)]


@pytest.mark.parametrize(
    ("option", "whole"), [pytest.param(option, whole, id=name) for name, option, whole in OPTIONS]
)
def test_the_bounds_of_a_number_are_round(option: click.Parameter, whole: Whole) -> None:
    """A power of ten or two, or one less of what is counted from 0 or has as many bits."""
    least, most = whole.range.min, whole.range.max
    assert least in (0, 1, 2, 4)
    below = {number - 1 for number in ({*TENS, *TWOS} if least == 0 else {2**63})}
    assert most in (below if least == 0 else below | TENS | TWOS)
    if isinstance(option.default, int):
        assert least <= option.default <= most


def test_every_command_that_plays_has_such_options() -> None:
    """The walk above finds them."""
    assert len(OPTIONS) > 20
    assert {"run workers", "check games", "table port"} <= {name for name, _, _ in OPTIONS}


def test_the_bounds_of_a_config_are_round() -> None:
    """As those of the options: no key has a limit that nobody can remember."""
    bounds = {name: value for name, value in vars(keys).items() if name.startswith("MOST_")}
    assert len(bounds) > 5
    assert {*bounds.values()} <= TENS | TWOS | {2**63 - 1}
