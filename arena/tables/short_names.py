"""Shorten the labels of a run's bots: what is common is said once, and what differs is kept."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count, takewhile
from typing import NamedTuple, TypeAlias

from arena.errors import columns, pad, wrapped

WIDTH = 28
"""Small letters of a name beside a chart; half of a telephone's screen is left to the chart."""

_VARIANT = re.compile(r"([^()]+)\((\w+=.+)\)")
_PIECE = re.compile(r"[^\W_]*$")  # of a word, at the end
_FIRST = re.compile(r"[^\W_]*[\W_]")
_NEXT = re.compile(r", ?(?=\w+=)")  # a comma in a value is followed by no name
_LINE = 80
_WIDE = "mwMW@%&\N{EM DASH}"
_LEAST = 3  # characters of a common beginning or end that is left out
_DOTS = "\N{HORIZONTAL ELLIPSIS}"


_Params: TypeAlias = "list[tuple[str, str]]"
"""Names and values of parameters."""


class Names(NamedTuple):
    """The short name of each label, and the sentence that says what they leave out, or ""."""

    short: Mapping[str, str]
    note: str = ""

    def of(self, label: object) -> str:
        """Return the name of a label, and any other text unchanged."""
        return self.short.get(str(label), str(label))

    def column(self, least: int) -> tuple[int, Callable[[object], str]]:
        """Return the width of a column of names, `least` or more, and what writes a cell of it."""
        width = max([least, *map(columns, self.short.values())])
        return width, lambda label: pad(self.of(label), width)

    def lines(self) -> list[str]:
        """Return the note as lines for a terminal."""
        return wrapped(self.note)


def short_names(
    labels: Iterable[str], width: int | None, measure: Callable[[str], int] = columns
) -> Names:
    """Return names of at most `width` columns, which differ where the labels do.

    Whole labels are kept where they fit, and all of them without a width. Of the variants of a bot
    first the parameters that are equal in all are left out, then the names of the others; of other
    labels a common beginning or end; last of all, a piece in the middle. No name is the whole label
    of another bot. Only numbers of bots may exceed the width, which `measure` returns for a text.

    >>> names = short_names(["ismcts(depth=3,seed=7)", "ismcts(depth=3,seed=8)", "greedy"], 16)
    >>> names.short
    {'greedy': 'greedy', 'ismcts(depth=3,seed=7)': 'ismcts(seed=7)', ...}
    >>> names.note
    'Names are short: every ismcts(…) has depth=3.'
    """
    texts = sorted({*labels})
    whole = Names({text: text for text in texts})
    if width is None or all(measure(text) <= width for text in texts):
        return whole
    short, notes = dict(whole.short), list[str]()
    for name, members in _families(texts).items():
        if any(measure(text) > width for text in members):
            made, note = _shorten_variants(name, members, width, measure)
            short |= made
            notes.append(note)
    plain = [text for text in texts if short[text] == text and measure(text) > width]
    made, note = _leave_out_ends(plain)
    short |= made
    notes.append(note)
    times = Counter(short.values())
    for text, name in short.items():
        if name != text and (name in short or times[name] > 1):
            short[text] = text
    short |= _cut_apart(short, width, measure)
    said = "; ".join(filter(None, notes))
    return Names(short, f"Names are short: {said}." if said else "")


def names_on_page(labels: Iterable[str], width: int = WIDTH) -> Names:
    """Return names as wide on a page as so many small letters, where capitals are wider.

    >>> names_on_page(["w" * 30, "greedy"]).short
    {'greedy': 'greedy', 'wwwwwwwwwwwwwwwwwwwwwwwwwwwwww': 'wwwwwww…wwwwww'}
    """
    return short_names(labels, width, _measure_letters)


def _measure_letters(text: str) -> int:
    """Return about how many small letters are as wide as a text in a proportional font."""
    capitals, wide = sum(map(str.isupper, text)), sum(char in _WIDE for char in text)
    return columns(text) + wide + (capitals + 1) // 2


def _families(texts: Sequence[str]) -> dict[str, dict[str, Sequence[str]]]:
    """Return the variants of each bot that has parameters: these, by label."""
    found: dict[str, dict[str, Sequence[str]]] = {}
    for text in texts:
        if match := _VARIANT.fullmatch(text):
            found.setdefault(match[1], {})[text] = _NEXT.split(match[2])
    return {name: {name: ()} | own if name in texts else own for name, own in found.items()}


def _shorten_variants(
    name: str, members: Mapping[str, Sequence[str]], width: int, measure: Callable[[str], int]
) -> tuple[dict[str, str], str]:
    """Return the names of a bot's variants without common parameters, and what is left out."""
    given = {label: parts for label, parts in members.items() if parts}
    first, *others = given.values()
    common = [part for part in first if all(part in parts for parts in others)]
    own = {
        label: [part.partition("=")[::2] for part in parts if part not in common]
        for label, parts in given.items()
    }
    styles = [*_write_styles(name, own)]
    fitting = (one for one in styles if max(map(measure, one[1].values())) <= width)
    head, made = next(fitting, styles[-1])
    if (over := max(map(measure, made.values())) - width) > 0:  # the bot's own name is cut
        kept = _take(measure, name, max(_LEAST, measure(name) - over - measure(_DOTS)))
        made = {label: f"{kept}{_DOTS}{text[len(name) :]}" for label, text in made.items()}
    every = "every " if others and not head else ""
    said = f"{every}{name}({', '.join(head) or _DOTS})"
    left = f" has {', '.join(common)}" if common else ""
    return made, f"{said}{left}" if left or head else ""


def _write_styles(
    name: str, own: Mapping[str, _Params]
) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Yield ways to write the names, by label, the longest first, each with what explains it."""
    keys = [*dict.fromkeys(tuple(key for key, _ in params) for params in own.values())]
    brief = _abbreviate({key for of in keys for key in of})
    styles = [
        ([], {key: f"{key}=" for key in brief}),
        ([f"{text}={key}" for key, text in brief.items()], {k: f"{b}=" for k, b in brief.items()}),
    ]
    if len(keys) == 1:
        styles.append(([*keys[0]], dict.fromkeys(brief, "")))
    for head, before in styles:
        for mark in (", ", ","):
            yield (
                head,
                {
                    label: f"{name}({mark.join(before[k] + v for k, v in params) or _DOTS})"
                    for label, params in own.items()
                },
            )


def _abbreviate(keys: Collection[str]) -> dict[str, str]:
    """Return the shortest beginning of each key that no other one has.

    >>> _abbreviate({"depth", "exploration", "exponent"})
    {'depth': 'd', 'exploration': 'expl', 'exponent': 'expo'}
    """
    return {
        key: next(
            (
                key[:size]
                for size in range(1, len(key))
                if not any(other.startswith(key[:size]) for other in keys if other != key)
            ),
            key,
        )
        for key in sorted(keys)
    }


def _leave_out_ends(texts: Sequence[str]) -> tuple[dict[str, str], str]:
    """Return texts without their common beginning and end, whole words, and what these are."""
    if len(texts) < 2:
        return {}, ""
    first = _PIECE.sub("", _common_start(texts))
    turned = [text[len(first) :][::-1] for text in texts]
    last = _PIECE.sub("", _common_start(turned))[::-1]
    if not all(turned) or any(len(text) == len(last) for text in turned):
        return {}, ""
    piece = _FIRST.match(first)
    kept = piece[0] if piece else ""
    start = f"{kept}{_DOTS}" if len(first) > len(kept) + 1 else first
    end = _DOTS if len(last) > _LEAST else last
    made = {text: f"{start}{text[len(first) : len(text) - len(last)]}{end}" for text in texts}
    said = [
        f"{start} stands for {first}" * (start != first),
        f"{_DOTS} at the end for {last}" * (end != last),
    ]
    return made, ", ".join(filter(None, said))


def _common_start(texts: Iterable[str]) -> str:
    """Return what all of some texts begin with.

    >>> _common_start(["run_of_may", "run_of_june"])
    'run_of_'
    """
    alike = takewhile(lambda chars: len({*chars}) == 1, zip(*texts, strict=False))
    return "".join(chars[0] for chars in alike)


def _cut_apart(
    short: Mapping[str, str], width: int, measure: Callable[[str], int]
) -> dict[str, str]:
    """Return new names for those that are too long: without a piece of the middle, or numbered."""
    long = {label: text for label, text in short.items() if measure(text) > width}
    taken = {*short, *(text for label, text in short.items() if label not in long)}
    room = width - measure(_DOTS)
    take = partial(_take, measure)
    for tail in sorted(range(room), key=lambda tail: abs(tail - room // 2)):
        made = {
            label: f"{take(text, room - tail)}{_DOTS}{take(text[::-1], tail)[::-1]}"
            for label, text in long.items()
        }
        names = {*made.values()}
        if len(names) == len(long) and not names & taken:
            return made
    numbers = count(1)
    made = {}
    for label, text in long.items():
        for number in numbers:
            name = take(f"{number}: {text}", max(room, len(f"{number}:"))) + _DOTS
            if name not in taken:
                break
        made[label] = name
    return made


def _take(measure: Callable[[str], int], text: str, width: int) -> str:
    """Return the beginning of a text that is at most so wide."""
    kept = text[:width]
    while measure(kept) > width:
        kept = kept[:-1]
    return kept
