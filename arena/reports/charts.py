"""Draw charts as HTML and SVG from declared rows: bars, dots with intervals, a map, a line.

Places are in percent of a picture, so that it is as wide as there is room. Every text but those of
titles is HTML beside the picture, so a browser measures it, and none is cut or lies on another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from markupsafe import Markup
from markupsafe import escape as escape_html

from arena.reports.axis import Scale, add_title, draw_span, picture, sign, write_lines, write_ticks
from arena.tables.standings_text import Names

SIDES: Final = ("new", "old")
"""The classes of the two bots of a comparison, or of a game."""

_SQUEEZED = 3  # how many times as wide an axis is with its outliers
_OUT = 4  # at most one row in this many is an outlier
_TALL, _APART = 24, 14  # pixels of a row, and of one of several marks
_LEAST_APART = 24  # pixels between labels of a vertical axis
_ROOMY = 14  # bots in a map whose cells have numbers


class Mark(NamedTuple):
    """A number of a row with the ends of its interval: a bar if it has a `start`, else a dot.

    `sign` has the classes of its colour and its shape. An end of None is not known.
    """

    value: float
    low: float | None = None
    high: float | None = None
    sign: str = "ink"
    start: float | None = None
    is_known: bool = True
    """Whether it has an interval at all."""

    @property
    def ends(self) -> list[float]:
        """The numbers that its axis should hold."""
        known = self.value, self.low, self.high, self.start
        return [end for end in known if end is not None]


class Row(NamedTuple):
    """A row of bars or dots: its name, its marks, and texts before and behind the picture.

    A `strong` value is sure; the `whole` is the sum of the rows above. `said` is the row in words.
    """

    name: str
    marks: Sequence[Mark]
    said: str
    note: str = ""
    value: str = ""
    strong: bool = False
    whole: bool = False


@dataclass(frozen=True, kw_only=True)
class Chart:
    """What all charts have: a name that is unique in a report, a title, and what they show.

    `unit` is that of the axis, `signs` are the names of the signs by their classes, and `table` is
    the name of the table with the same numbers. A chart is "half" as wide as the page, or "full".
    """

    name: str
    title: str
    meaning: str
    unit: str = ""
    signs: Mapping[str, str] = field(default_factory=dict)
    table: str = ""
    size: str = "half"


@dataclass(frozen=True, kw_only=True)
class Rows(Chart):
    """Bars, or dots with intervals, on one axis, which holds `bounds` in any case.

    A label of the axis is a whole number, with a sign if the axis is one of differences; `suffix`
    follows it.
    """

    rows: Sequence[Row]
    bounds: Sequence[float] = ()
    is_signed: bool = False
    suffix: str = ""

    def label(self, value: float) -> str:
        """Return the label of a place on the axis."""
        text = f"{value:+,.0f}" if self.is_signed and value else f"{value:.0f}"
        return text + self.suffix


class Cell(NamedTuple):
    """A cell of a map: numbers of its row and column, a share, and what it says.

    `mark` is "more" or "less", for a triangle that points up or down, or empty.
    """

    row: int
    column: int
    share: float
    text: str
    said: str
    mark: str = ""


@dataclass(frozen=True, kw_only=True)
class Map(Chart):
    """A table with a row and a column for each label, and shares as shades in its cells."""

    labels: Sequence[str]
    cells: Sequence[Cell]


class Series(NamedTuple):
    """A line through points; `said` has the words of each point. Without `signs` it has no dots."""

    sign: str
    points: Sequence[tuple[float, float]]
    said: Sequence[str] = ()
    is_line: bool = True


@dataclass(frozen=True, kw_only=True)
class Lines(Chart):
    """Lines over a horizontal axis; `bounds` are horizontal lines with their names.

    `across` is the unit of the horizontal axis; a line of differences has a line at 0, and its
    labels have a sign. With a `span` the vertical axis is at least so long, and need not hold 0.
    """

    series: Sequence[Series]
    across: str = ""
    bounds: Sequence[tuple[float, str]] = ()
    is_signed: bool = False
    span: float = 0.0
    tall: int = 180
    """The height in pixels."""


@dataclass(frozen=True, kw_only=True)
class Panels(Chart):
    """Charts of lines beside each other, which share the vertical axis and the signs."""

    panels: Sequence[Lines]


def draw(chart: Chart, names: Names) -> Markup:
    """Return a chart as HTML; labels of bots have their short names."""
    if isinstance(chart, Panels):
        return Markup("".join(_draw_panels(chart.panels)))
    if isinstance(chart, Rows):
        return Markup("".join(_draw_rows(chart, names)))
    if isinstance(chart, Map):
        return Markup("".join(_draw_map(chart, names)))
    assert isinstance(chart, Lines)
    return Markup("".join(_draw_lines(chart)))


def _draw_rows(chart: Rows, names: Names) -> Iterator[str]:
    scale = Scale([*_find_ends(chart.rows), *chart.bounds])
    ticks = [(scale.place(value), chart.label(value)) for value in scale.round_values()]
    has_notes = any(row.note for row in chart.rows)
    lines = write_lines([(place, label == chart.label(0)) for place, label in ticks])
    yield f'<div class="bars{" noted" if has_notes else ""}" style="{lines}">'
    for row in chart.rows:
        name, whole = _shorten(row.name, names)
        note = f'<span class="of">{escape_html(row.note)}</span>' if has_notes else ""
        value = escape_html(row.value)
        yield (
            f'<div class="row{" whole" if row.whole else ""}"><span class="part"{whole}>'
            f"{name}</span>{note}{_draw_marks(row, scale)}"
            f'<span class="value">{f"<b>{value}</b>" if row.strong else value}</span></div>'
        )
    yield f'<div class="row axis" aria-hidden="true">{write_ticks(ticks)}</div></div>'


def _shorten(label: str, names: Names) -> tuple[Markup, str]:
    """Return the short name of a bot, and the attribute with its whole label if it is longer."""
    name = names.of(label)
    return escape_html(name), f' title="{escape_html(label)}"' if name != label else ""


def _draw_marks(row: Row, scale: Scale) -> Markup:
    """Return the picture of a row; several marks lie below each other."""
    tall = max(_TALL, _APART * len(row.marks))
    step = tall / (len(row.marks) or 1)
    parts = list[str]()
    for number, mark in enumerate(row.marks):
        y, place = step * (number + 0.5), scale.place(mark.value)
        if mark.start is not None:
            start = scale.place(mark.start)
            parts.append(
                f'<rect class="bar {mark.sign}" x="{min(start, place)}%" y="{y - 7:g}" '
                f'width="{abs(place - start):.2f}%" height="14"/>'
            )
        if mark.is_known:
            low = 0.0 if mark.low is None else scale.place(mark.low)
            parts.append(draw_span(low, 100.0 if mark.high is None else scale.place(mark.high), y))
        if mark.start is None:
            parts.append(_draw_dot(mark, scale, y))
    return picture(tall, f"{row.name}: {row.said}", parts)


def _draw_dot(mark: Mark, scale: Scale, y: float) -> str:
    """Return the sign of a mark, or an arrow at the end of the axis beyond which it is."""
    place = f"{scale.place(mark.value)}%"
    if scale.low <= mark.value <= scale.high:
        return sign(mark.sign, place, f"{y:g}")
    corners = "8,-5 0,0 8,5" if mark.value < scale.low else "-8,-5 0,0 -8,5"
    arrow = f'<polygon class="sign {mark.sign}" points="{corners}"/>'
    return f'<svg x="{place}" y="{y:g}" overflow="visible">{arrow}</svg>'


def _find_ends(rows: Sequence[Row]) -> list[float]:
    """Return the ends of an axis for rows, without outliers among dots that would squeeze it.

    At most a quarter of the rows are left out, and only if the axis would be three times as wide.
    No bar is cut.

    >>> marks = [Mark(value, value - 20, value + 20) for value in (60, 40, 10, -2900)]
    >>> _find_ends([Row("bot", [mark], "") for mark in marks])
    [-10, 80]
    """
    ends = sorted((min(own), max(own)) for row in rows if (own := _ends_of(row)))
    kept = left = ends
    has_bars = any(mark.start is not None for row in rows for mark in row.marks)
    for _ in range(0 if has_bars else len(ends) // _OUT):
        highest = max(range(len(left)), key=lambda n: left[n][1])
        left = min(left[1:], [*left[:highest], *left[highest + 1 :]], key=_width)
        if _width(kept) >= _SQUEEZED * _width(left) > 0:
            kept = left
    return [min(low for low, _ in kept), max(high for _, high in kept)] if kept else []


def _ends_of(row: Row) -> list[float]:
    return [end for mark in row.marks for end in mark.ends]


def _width(ends: Sequence[tuple[float, float]]) -> float:
    return max(high for _, high in ends) - min(low for low, _ in ends)


def _draw_map(chart: Map, names: Names) -> Iterator[str]:
    """Yield a table: a column is named by the number of its row, so names are never turned."""
    is_roomy = len(chart.labels) <= _ROOMY
    cells = {(cell.row, cell.column): cell for cell in chart.cells}
    places = range(len(chart.labels))
    heads = "".join(f'<th scope="col">{place + 1}</th>' for place in places)
    kind = "map" if is_roomy else "map dense"
    yield f'<div class="scroll" role="region" tabindex="0" aria-label="{escape_html(chart.title)}">'
    yield f'<table class="{kind}"><thead><tr><td></td>{heads}</tr></thead>'
    for row in places:
        name, whole = _shorten(chart.labels[row], names)
        yield (
            f'<tr><th scope="row"{whole}><span>{row + 1}</span> {name}</th>'
            f"{''.join(_draw_cell(cells.get((row, column)), is_roomy) for column in places)}</tr>"
        )
    yield "</table></div>"


def _draw_cell(cell: Cell | None, is_roomy: bool) -> str:
    if cell is None:
        return "<td>"
    kind = f" class={cell.mark}" if cell.mark else ""
    said = f"{cell.row + 1} - {cell.column + 1}: {cell.said}"
    text = cell.text if is_roomy else ""
    return f'<td{kind} style="--s:{cell.share:.2f}" title="{escape_html(said)}">{text}'


def _draw_panels(panels: Sequence[Lines]) -> Iterator[str]:
    heights = [y for panel in panels for one in panel.series for _, y in one.points]
    yield '<div class="panels">'
    for panel in panels:
        lines = "".join(_draw_lines(panel, heights))
        yield f"<div><b>{escape_html(panel.title)}</b>{lines}</div>"
    yield "</div>"


def _draw_lines(chart: Lines, others: Sequence[float] = ()) -> Iterator[str]:
    """Yield a chart of lines, whose vertical axis also holds the heights of `others`."""
    points = [point for one in chart.series for point in one.points]
    if not points:
        return
    across = Scale([x for x, _ in points])
    heights = [*others, *(y for _, y in points), *(height for height, _ in chart.bounds)]
    middle = (min(heights) + max(heights)) / 2 if chart.span else 0.0
    heights += [middle - chart.span / 2, middle + chart.span / 2]
    down = Scale(heights, max(2, chart.tall // _LEAST_APART))
    levels = {value: round(100 - down.place(value), 2) for value in down.round_values()}
    parts = [_level(y, "grid" if value else "zero") for value, y in levels.items()]
    parts += [_level(100 - down.place(height), "bound", name) for height, name in chart.bounds]
    for one in chart.series:
        places = [(across.place(x), round(100 - down.place(y), 2)) for x, y in one.points]
        parts += _draw_series(one, places)
    yield '<div class="lines">'
    yield from _write_heights(levels, is_signed=chart.is_signed)
    yield picture(chart.tall, f"{chart.title}. {chart.meaning}", parts)
    if chart.across:
        ticks = [(across.place(value), f"{value}") for value in across.round_values()]
        yield f'<div class="axis" aria-hidden="true">{write_ticks(ticks)}</div>'
        yield f'<p class="across">{escape_html(chart.across)}</p>'
    yield "</div>"


def _level(y: float, kind: str, said: str = "") -> str:
    title = add_title(said)
    return f'<line class="{kind}" x1="0" x2="100%" y1="{y:g}%" y2="{y:g}%">{title}</line>'


def _write_heights(levels: Mapping[int, float], *, is_signed: bool) -> Iterator[str]:
    """Yield the labels of the vertical axis, which is as wide as the longest one."""
    labels = {y: f"{value:{'+' if is_signed and value else ''}}" for value, y in levels.items()}
    longest = max(labels.values(), key=len).replace("-", "+")  # the wider one
    yield f'<div class="heights" aria-hidden="true"><i>{longest}</i>'
    yield from (f'<span style="top:{y}%">{label}</span>' for y, label in labels.items())
    yield "</div>"


def _draw_series(series: Series, places: Sequence[tuple[float, float]]) -> Iterator[str]:
    if series.is_line:
        path = " ".join(f"{x},{y}" for x, y in places)
        yield (
            '<svg viewBox="0 0 100 100" preserveAspectRatio="none">'
            f'<polyline class="line {series.sign}" points="{path}"/></svg>'
        )
    for (x, y), said in zip(places, series.said, strict=False):
        yield sign(series.sign, f"{x}%", f"{y}%", said)
