"""What the shells offer after a tab."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from arena.cli import cli
from arena.tournament.yaml_text import shipped
from tests import ROOT
from tests.waiting import PATIENCE


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder, with bots, configs, runs and other files in it."""
    for name in (
        *("my_bot.py", "test_my_bot.py", "bots/deep/other.py", "notes.txt", "a\nb.py", ".x.py"),
        *("packed/bot.py", "packed/weights.npz", "configs/cup.yaml", "cup.yml", "games.jsonl"),
        *("results/friday/run.sqlite", "results/friday/manifest.json", "results/human/games.jsonl"),
        *("far/away/too/deep.yaml",),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def offered(*words: str) -> list[str]:
    """Return what is offered for the last word."""
    complete = ShellComplete(cli, {}, "arena", "_ARENA_COMPLETE")
    return [item.value for item in complete.get_completions([*words[:-1]], words[-1])]


@pytest.mark.parametrize("command", ["play", "check", "human", "game", "doctor"])
def test_bots_are_offered_by_name_and_by_file(command: str) -> None:
    """A name as it begins, files where nothing or a path is typed; no tests, no odd names."""
    assert offered(command, "gre") == ["greedy"]
    assert offered(command, "./") == ["./my_bot.py", "./packed", "./bots/deep/other.py"]
    assert offered(command, "bots/") == ["bots/deep/other.py"]
    everything = offered(command, "")
    assert {"greedy", "uniform", "./my_bot.py", "./packed"} <= {*everything}


def test_bots_are_offered_after_a_label_and_as_options() -> None:
    """Every word of `play` is a bot; so are the values of --bot and --against."""
    assert offered("play", "greedy", "hunter=city") == ["hunter=city_hunter"]
    assert offered("run", "cup.yml", "--bot", "gre") == ["greedy"]
    assert offered("play", "greedy", "--against", "uni") == ["uniform"]


def test_configs_and_runs_are_offered() -> None:
    """YAML files for `run`, folders of runs for what reads runs, records where they are read."""
    assert offered("run", "") == [*shipped(), "cup.yml", "configs/cup.yaml"]
    assert offered("run", "quick") == ["quickstart"]
    assert offered("run", "configs/c") == ["configs/cup.yaml"]
    assert offered("run", "far/") == ["far/away/too/deep.yaml"]
    assert offered("export", "") == ["results/friday"]
    records = ["games.jsonl", "results/human/games.jsonl"]
    for command in ("verify", "report", "rate"):
        assert sorted(offered(command, "")) == sorted([*records, "results/friday"])
        assert offered(command, "results/f") == ["results/friday"]
    assert offered("replay", "") == records
    assert offered("view", "res") == offered("show", "res")
    assert offered("show", "res") == ["results/friday", "results/human/games.jsonl"]


def test_rules_are_offered_by_name() -> None:
    """Also after a plus, which joins one to another; their values are the reader's."""
    assert offered("ablate", "cup.yml", "--rule", "set") == ["set_bonus="]
    assert offered("ablate", "cup.yml", "--rule", "hand_size=4+rem") == ["hand_size=4+removed="]
    assert len(offered("ablate", "cup.yml", "--rule", "")) == 10
    assert offered("ablate", "quick") == ["quickstart"]


def test_a_folder_that_cannot_be_read_or_is_huge_is_no_error(folder: Path) -> None:
    """Nothing is offered from it, or only so much."""
    assert offered("run", "none/") == []
    assert offered("run", "/proc/1/fd/") == []
    assert offered("run", "~nobody-of-this-name/") == []
    (folder / "many").mkdir()
    for number in range(300):
        (folder / "many" / f"{number}.yaml").touch()
    assert len(offered("run", "many/")) == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shell", "sign"), [("bash", "complete -o"), ("zsh", "#compdef arena"), ("fish", "complete ")]
)
def test_every_shell_gets_its_script(shell: str, sign: str) -> None:
    """As docs/command-line.md says how to switch it on."""
    variable = f"_ARENA_COMPLETE={shell}_source"
    assert variable in (ROOT / "docs" / "command-line.md").read_text()
    done = subprocess.run(
        [sys.executable, "-m", "arena"],
        env=os.environ | {"_ARENA_COMPLETE": f"{shell}_source"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert sign in done.stdout


@pytest.mark.slow
def test_a_real_bash_completes(folder: Path) -> None:
    """Switched on as the document says; COMPREPLY is what bash would offer."""
    script = folder / "bin" / "arena"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m arena "$@"\n')
    script.chmod(0o755)
    code = """
        eval "$(_ARENA_COMPLETE=bash_source arena)"
        COMP_WORDS=(arena run conf) COMP_CWORD=2
        $(complete -p arena | grep -o '_arena[a-z_]*') arena
        echo "${COMPREPLY[@]}"
    """
    done = subprocess.run(
        ["bash", "--norc", "-c", code],
        cwd=folder,
        env=os.environ | {"PATH": f"{script.parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert done.stdout.split() == ["configs/cup.yaml"]


def test_a_folder_that_cannot_be_looked_into_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lies beside it is offered; root, who may look everywhere, is refused by hand."""
    (tmp_path / "closed").mkdir()
    (tmp_path / "mine.py").touch()
    monkeypatch.chdir(tmp_path)
    is_file = Path.is_file

    def refuse(path: Path) -> bool:
        if path.parent.name == "closed":
            raise PermissionError(13, "Permission denied")
        return is_file(path)

    monkeypatch.setattr(Path, "is_file", refuse)
    assert "./mine.py" in offered("play", "./")
