"""What every test may use: the real command in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Arena = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    """Return a function that runs `arena` with these words in the test's folder."""

    def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "arena", *words],
            cwd=tmp_path,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run
