"""Write numbers for readers: estimates with their intervals, shares, and probabilities.

A number has its interval in brackets, `+77 Elo (61..93)`. If only one end is known, it is written
instead of both.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arena.statistics.intervals import Estimate

_SURE = 0.999  # the highest probability that is written
_MOST_PLACES = 2
_UNKNOWN = "unknown"


def signed(value: float, form: str) -> str:
    """Return a number in this form, without a minus if it is rounded to 0.

    >>> signed(-0.04, "+.1f"), signed(-0.06, "+.1f"), signed(-0.0001, ".2f")
    ('+0.0', '-0.1', '0.00')
    """
    text = f"{value:{form}}"
    return text if any(digit in text for digit in "123456789") else f"{0.0:{form}}"


def write_whole(share: float) -> str:
    """Return a share in whole per cent; with the rest, written so, it makes 100.

    >>> write_whole(0.575), write_whole(0.425), write_whole(0.5)
    ('58', '42', '50')
    """
    beyond = round(100 * share - 50, 6)
    return f"{50 + math.copysign(math.floor(abs(beyond) + 0.5), beyond):.0f}"


def write_ends(low: float | None, high: float | None, form: str = ".0f") -> str:
    """Return an interval as text, or the only end that is a finite number.

    >>> write_ends(61.2, 93.4), write_ends(-0.012, 0.031, "+.1%")
    ('61..93', '-1.2..+3.1')
    >>> write_ends(2040.4, None), write_ends(-math.inf, 871.6), write_ends(None, None)
    ('at least 2040', 'at most 872', 'unknown')
    """
    least, most = (
        "" if end is None or not math.isfinite(end) else signed(end, form).removesuffix("%")
        for end in (low, high)
    )
    return join_ends(least, most)


def join_ends(least: str, most: str) -> str:
    """Return an interval from the texts of its ends; an unknown end is "".

    >>> join_ends("51.3 %", "60.0 %"), join_ends("", "60.0 %")
    ('51.3..60.0 %', 'at most 60.0 %')
    """
    if least and most:
        return f"{least.removesuffix(' %')}..{most}"
    return f"at least {least}" if least else f"at most {most}" if most else _UNKNOWN


def write_cells(
    value: float | None, low: float | None, high: float | None, form: str
) -> tuple[str, str]:
    """Return a number and its interval as two cells of a table, "" if they are not known.

    >>> write_cells(0.0712, 0.031, 0.112, "+.1%"), write_cells(math.nan, None, None, ".0f")
    (('+7.1', '+3.1..+11.2'), ('', ''))
    """
    if value is None or math.isnan(value):
        return "", ""
    ends = write_ends(low, high, form)
    return signed(value, form).removesuffix("%"), "" if ends == _UNKNOWN else ends


def write_estimate(
    found: Estimate, form: str = ".0f", unit: str = "", *, level: bool = False
) -> str:
    """Return a number with its interval and optionally its `level`; or the only known end.

    `form` is the format of the number, with "%" for a share; ends are written without a plus.

    >>> from arena.statistics.intervals import Estimate
    >>> write_estimate(Estimate(77.3, 61.2, 93.4), "+.0f", " Elo")
    '+77 Elo (61..93)'
    >>> write_estimate(Estimate(0.47, 0.407, 0.534), ".0%", level=True)
    '47 % (95 %: 41..53)'
    >>> write_estimate(Estimate(math.inf, 210.3, math.inf), "+.0f", " Elo")
    'at least 210 Elo (95 %)'
    """
    unit = " %" if form.endswith("%") else unit
    ends = write_ends(found.low, found.high, form.removeprefix("+"))
    if ".." in ends:
        value = signed(found.value, form).removesuffix("%")
        return f"{value}{unit} ({'95 %: ' if level else ''}{ends})"
    return f"{ends}{unit} (95 %)" if ends.startswith("at") else f"{ends}{unit}"


def write_lead(lead: Estimate) -> str:
    """Return a lead in Elo; decimals are added until an interval above 0 is shown above 0.

    >>> from arena.statistics.intervals import Estimate
    >>> write_lead(Estimate(3.0, 0.3, 5.7)), write_lead(Estimate(0.2, -9.0, 9.4))
    ('+3.0 Elo (0.3..5.7)', '+0 Elo (-9..9)')
    """
    places = 0
    while lead.low > 0 and not round(lead.low, places) and places < _MOST_PLACES:
        places += 1
    return write_estimate(lead, f"+.{places}f", " Elo")


def write_chance(chance: float) -> str:
    """Return a probability in per cent, cut off near 0 and 100 %.

    >>> [write_chance(one) for one in (0.0, 0.0312, 0.84, 0.99996)]
    ['below 0.1 %', '3.1 %', '84.0 %', 'above 99.9 %']
    """
    if chance > _SURE:
        return f"above {100 * _SURE:.1f} %"
    if chance < 1 - _SURE:
        return f"below {100 * (1 - _SURE):.1f} %"
    return f"{100 * round(chance, 3):.1f} %"


def say_two(word: str, first: str, second: str, both: str = "") -> str:
    """Return the verdict on two bots in words; `both` names them where none leads.

    >>> say_two("leans", "ann", "bob"), say_two("open", "ann", "bob", "the two")
    ('ann is probably stronger than bob', 'the two are not told apart')
    """
    if word == "open":
        return f"{both or f'{first} and {second}'} are not told apart"
    return f"{first} is {'probably ' if word == 'leans' else ''}stronger than {second}"


def as_sentence(text: str) -> str:
    """Return a text with an initial capital and a full stop.

    >>> as_sentence("seat 0 scores 47 %")
    'Seat 0 scores 47 %.'
    """
    return f"{text[:1].upper()}{text[1:]}."
