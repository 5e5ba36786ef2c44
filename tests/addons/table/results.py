"""Results: a folder with runs, and with things that are none."""

from __future__ import annotations

from pathlib import Path

from arena.library.running import run

HOSTILE = "<b onclick>'&amp;\""
_ROGUE = """
class Raises:
    def __init__(self, setup):
        raise ValueError("</script><script>")
bot = Raises
"""


def make_results(folder: Path) -> None:
    """Make a folder of results with a run in it, one with faults, and things that are none."""
    rogue = folder.parent / "raises.py"
    rogue.write_text(_ROGUE)
    run(["greedy", "uniform"], pairs=30, seed=7, out=folder / "cup", progress=False)
    bots = ["greedy", f"{HOSTILE}={rogue}"]
    run(bots, pairs=1, seed=7, out=folder / "series" / "faults", progress=False)
    (folder / "cup" / "report.html").write_text("<!doctype html><script>document.title</script>")
    (folder / "empty").mkdir()
    (folder / ".hidden").mkdir()
    for name in ("run.sqlite", "report.html"):
        (folder / ".hidden" / name).write_bytes((folder / "cup" / name).read_bytes())
    (folder / "linked").symlink_to(folder / "cup")
    (folder.parent / "secret.html").write_text("secret")
    report = folder / "series" / "faults" / "report.html"
    report.unlink()
    report.symlink_to(folder.parent / "secret.html")
