"""The page of the gym is true: its examples, its options, and the fields that it lists."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable

from arena.addons.rl import VERSION, Encoding
from arena.addons.rl.aec import DistrictNoirAEC
from arena.addons.rl.env import DistrictNoirEnv
from arena.addons.rl.vector import DistrictNoirVectorEnv
from engine.encoding import Field
from tests import ROOT

PAGE = (ROOT / "docs" / "gym.md").read_text()


def options(environment: type) -> list[str]:
    """Return the names of the arguments that an environment is made with."""
    parameters = inspect.signature(environment).parameters.values()
    return [one.name for one in parameters if one.kind is not inspect.Parameter.VAR_KEYWORD]


def section(heading: str) -> str:
    """Return the text below a heading."""
    return PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def test_the_fields_are_those_of_the_encoding() -> None:
    """In their order, with their sizes, of an observation and of what follows it."""
    encoding = Encoding()
    assert f"Version {VERSION} of the encoding" in PAGE
    observation, history = section("What an observation holds").split("goes on with")
    assert listed(observation) == sizes(encoding.fields)
    assert listed(history) == sizes(encoding.history_fields)


def listed(text: str) -> list[tuple[int, str]]:
    return [(int(bits), name) for bits, name in re.findall(r"^\| (\d+) \| ([\w ]+) \|", text, re.M)]


def sizes(fields: Iterable[Field]) -> list[tuple[int, str]]:
    return [(field.size, field.name) for field in fields]


def test_every_option_is_explained() -> None:
    """Those of each environment, and no other one."""
    rows = re.findall(r"^\| `(\w+)` \|", section("Against a bot"), re.M)
    assert rows == options(DistrictNoirEnv)
    names = re.search(r"^Options are ([^;]*);", section("Thousands of games at once"), re.M)
    assert names is not None
    assert re.findall(r"`(\w+)`", names[1]) == options(DistrictNoirVectorEnv)
    names = re.search(r"The\noptions are (.*), as above", section("PettingZoo"))
    assert names is not None
    assert re.findall(r"`(\w+)`", names[1]) == options(DistrictNoirAEC)
