"""A module has one object, whichever of its names is imported: `arena.rl` is `arena.addons.rl`."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests import ROOT

CODE = """
import gymnasium, pkgutil, sys, warnings
from contextlib import suppress
warnings.filterwarnings("error", module="gymnasium")
for name in {names}:
    with suppress(ImportError, AttributeError):  # a file such as `arena.log`
        pkgutil.resolve_name(name)
for name in {ids}:
    gymnasium.make(name)
    gymnasium.make_vec(name, num_envs=2)
objects = {{}}
for name, module in [*sys.modules.items()]:
    if name.partition(".")[0] in ("arena", "bots", "engine"):
        objects.setdefault(module.__file__, {{}})[id(module)] = name
assert len(objects) > 10
print(*[[*names.values()] for names in objects.values() if len(names) > 1], sep="\\n", end="")
"""


def find_twins(names: set[str], ids: set[str]) -> str:
    """Return the names of modules of one file, after a process has used all these names.

    A warning of Gymnasium is an error there, such as that an environment is registered again.
    """
    both = {re.sub(r"^arena(\.addons)?\.rl\b", short, name) for name in names | ids for short in
            ("arena.rl", "arena.addons.rl")}  # fmt: skip
    made = sorted(name for name in both if ":" in name)
    code = CODE.format(names=sorted(both - {*made}), ids=made)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_environment_is_registered_once_by_either_name() -> None:
    """Nor are there two sets of classes, whose pickles and `isinstance` disagree."""
    assert not find_twins({"arena.rl.vector", "arena.rl.env"}, {"arena.rl.env:DistrictNoir-v0"})


@pytest.mark.slow
def test_no_module_is_there_twice_after_all_that_the_pages_name() -> None:
    """Modules, functions and environments of every add-on and of the core, by both names."""
    text = "\n".join(path.read_text() for path in sorted((ROOT / "docs").rglob("*.md")))
    ids = {*re.findall(r"\barena[\w.]+:DistrictNoir-v0", text)}
    names = {*re.findall(r"\barena(?:\.[A-Za-z_]+)+", text)}
    assert ids
    assert {"arena.addons.rl.aec.env", "arena.rl.by_seat", "arena.addons.rl.spiel"} <= names
    assert not find_twins(names, ids)
