"""How the modules of a bot import one another, from memory."""

from __future__ import annotations

import itertools
import sys
from types import ModuleType

import pytest

from arena.entries.archive import load
from arena.entries.pack import make_archive

_numbers = itertools.count()


def loaded(bot: str, **modules: str) -> ModuleType:
    """Return the main module of an archive; `nets_deep` stands for `nets/deep.py`."""
    contents = {"bot.py": bot.encode()}
    for name, text in modules.items():
        contents[name.replace("_", "/").replace("init", "__init__") + ".py"] = text.encode()
    archive = make_archive(contents, "bot.py")
    return load(f"_test_archive_{next(_numbers)}", "my_bot", archive)


def test_every_way_of_importing_finds_the_bots_own_modules() -> None:
    """Absolute and relative, whole and by name, from above and below, late and early."""
    bot = loaded(
        bot="import a\nimport nets.deep\nimport nets.deep as d\nfrom nets import deep, VALUE\n"
        "from nets.deep import *\nfrom . import a as again\nfrom .nets.deep import BELOW\n"
        "def late():\n    import b\n    return b.B\n",
        a="A = 1",
        b="B = 2",
        nets_init="from . import deep\nVALUE = 3",
        nets_deep="BELOW = 4\nfrom a import A\nfrom .. import a as above\n",
    )
    assert bot.a.A == bot.again.A == bot.nets.deep.A == 1
    assert bot.nets.deep is bot.d is bot.deep
    assert (bot.VALUE, bot.BELOW, bot.late()) == (3, 4, 2)
    assert bot.nets.deep.above is bot.a


def test_only_the_bots_own_modules_see_them() -> None:
    """A module that all share, and other code, get what they always get."""
    bot = loaded(bot="import json, string\nfrom json import NAME", json="NAME = 'mine'")
    assert (bot.NAME, bot.json.NAME) == ("mine", "mine")
    assert sys.modules["json"] is not bot.json
    assert bot.string is sys.modules["string"]
    import json

    assert not hasattr(json, "NAME")
    with pytest.raises(ModuleNotFoundError, match=r"json\.none"):
        loaded(bot="import json.none", json_x="", json_init="")


def test_a_folder_of_data_hides_no_module() -> None:
    """Only a folder with Python files is a package of the bot's."""
    archive = make_archive({"bot.py": b"import json", "json/a.json": b"{}"}, "bot.py")
    bot = load("_test_archive_data", "my_bot", archive)
    assert bot.json is sys.modules["json"]


def test_a_module_is_loaded_once() -> None:
    """By whichever name it is imported."""
    bot = loaded(bot="import a\nfrom . import a as b\nimport c", a="", c="import a")
    assert bot.a is bot.b is bot.c.a


def test_a_module_that_is_missing_or_broken_says_so() -> None:
    """With the error that Python gives."""
    for source, error in (
        ("import nothing_of_this_name", ModuleNotFoundError),
        ("from . import nothing", ImportError),
        ("from a import nothing", ImportError),
        ("import broken", SyntaxError),
    ):
        with pytest.raises(error):
            loaded(bot=source, a="", broken="def")


def test_a_hyphen_may_stand_in_the_bots_name() -> None:
    """As it may in the name of a bot that is one file."""
    archive = make_archive({"my-bot.py": b"import a\nbot = a.A", "a.py": b"A = 5"}, "my-bot.py")
    assert load("_test_archive_hyphen", "my_bot", archive).bot == 5
