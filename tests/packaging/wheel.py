"""Wheel: builds the package from a copy of its sources, and installs it in new environments."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from tests import ROOT

_BUILT = ("arena", "bots", "configs", "engine", "LICENSE", "NOTICE", "README.md", "pyproject.toml")


def run(words: Sequence[str | Path], folder: Path, text: str = "") -> str:
    """Run a command in a folder, away from this clone; return what it prints.

    Fails, with all that was printed, for an exit status that is not 0.
    """
    done = subprocess.run(
        words,
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{words}:\n{done.stdout}"
    return done.stdout


def build(folder: Path, *options: str) -> Path:
    """Build an sdist, and from it a wheel, into a folder; return the wheel.

    `--no-isolation` builds with what this environment has, and so without a network.
    """
    sources = folder / "sources"
    sources.mkdir(parents=True)
    for name in _BUILT:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, sources / name)
    run([sys.executable, "-m", "build", *options, "--outdir", folder, sources], folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


def install_beside(wheel: Path, folder: Path) -> Path:
    """Make an environment of the wheel that borrows the libraries of this one; return its bin."""
    run([sys.executable, "-m", "venv", "--without-pip", folder], wheel.parent)
    python = folder / "bin" / "python"
    words = ["--python", python, "install", "--quiet", "--no-index", "--no-deps", wheel]
    run([sys.executable, "-m", "pip", *words], wheel.parent)
    own = Path(
        run(
            [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], folder
        ).strip()
    )
    (own / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin"


def install(wheel: Path, folder: Path, python: str) -> Path:
    """Make an environment of the wheel and the libraries that it needs; return its bin."""
    run([python, "-m", "venv", folder], wheel.parent)
    words = ["install", "--quiet", "--constraint", ROOT / "constraints.txt", wheel]
    run([folder / "bin" / "python", "-m", "pip", *words], wheel.parent)
    return folder / "bin"
