"""`python -m tests.fuzz [SECONDS]` tries random input; with --save it writes bench/FUZZ.md."""

from __future__ import annotations

import sys

from tests import ROOT
from tests.fuzz.campaign import campaign, seconds

HEAD = """# Random input

What `python -m tests.fuzz {duration:g} --save` has tried: hypothesis makes input that is nearly
right, with another seed every fifty inputs (tests/fuzz). Whatever it is, it is used or
refused with one printable line, after a bounded number of calls. `make study` does the same for
as many seconds as ARENA_FUZZ_SECONDS says, by default an hour.

| input | tried | findings |
|---|---|---|
"""


def main() -> None:
    """Try, print how many inputs there were, and save that if asked to."""
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    duration = float(words[0]) if words else seconds()
    counts = campaign(duration)
    text = HEAD.format(duration=duration)
    text += "".join(f"| {name} | {count:,} | 0 |\n" for name, count in counts.items())
    print(text)
    if "--save" in sys.argv:
        (ROOT / "bench" / "FUZZ.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
