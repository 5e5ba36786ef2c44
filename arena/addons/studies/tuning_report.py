"""Make the report of a tuning: what was found, the landscape, the candidates, and the proof."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from arena.addons.studies.tuned import FAILED, KEPT, Map, Tuned, describe, describe_search
from arena.differences.comparison import find_compared
from arena.differences.difference_columns import CANDIDATES, CONTOURS, DIFFERENCES, LANDSCAPE
from arena.reports.about import run_section, with_glossary
from arena.reports.blocks import Block, Cell, Chart, Code, Report, Section, Table, Text
from arena.reports.charts import (
    BLUE,
    ELO_AXIS,
    GREY,
    Spec,
    chart,
    cut_table,
    nominal,
    quantity,
    tips,
)
from arena.statistics.wording import as_sentence
from arena.store.folder import REPORT_HTML
from arena.tables.table_columns import Column

_HEIGHT = 220
_ELO_TITLES = ("Elo", "Elo, low", "Elo, high")
_BEST: Spec = {
    "type": "point",
    "filled": True,
    "size": 110,
    "opacity": 1,
    "color": "#ffffff",
    "stroke": "#000000",
    "strokeWidth": 1.5,
}
_NOTE = (
    "Elo differences of the search are from its best setting, with the other parameters as in it. "
    "The same games chose that setting, so it looks better here than it is: the gain is that of "
    "the proof, on deals that the search has not seen."
)


def make_tuning_report(tuned: Tuned) -> Report:
    """Return the report of a tuning; it links to the report of the proof in its folder."""
    found = find_compared(tuned.proof)
    summary = [f"On fresh deals {found.statement}", " ".join(found.sentences())]
    summary += map(as_sentence, describe_search(tuned))
    summary += [f"{tuned.describe_parameter(name)}." for name in tuned.curves]
    sections = [
        Section("proof", "The proof", [*_proof(tuned)]),
        Section("landscape", "The landscape", [*_landscape(tuned)]),
        Section("candidates", "Candidates", [*_candidates(tuned)]),
        run_section(tuned.tuning.manifest()),
    ]
    return with_glossary(Report(f"{tuned.tuning.bot.label}: tuned parameters", summary, sections))


def _proof(tuned: Tuned) -> Iterator[Block]:
    """Yield the blocks that compare the best setting with the unchanged bot."""
    if warnings := [f"{line}." for line in tuned.warnings()]:
        yield Text(warnings, warning=True)
    columns = (
        Column("setting", "Setting", "code", "The best setting that was found."),
        Column("claim", "What is said", "text", "Of the best setting beside the bot as it is."),
        Column("pairs", "Pairs", "count", "Deals against the panel that both have played."),
        *(
            replace(column, title=title)
            for column, title in zip(DIFFERENCES.columns[8:11], _ELO_TITLES, strict=True)
        ),
    )
    proof = tuned.proof
    claim, _, _ = proof.sentence.partition(":")
    elos = [round(one, 1) for one in proof.elo[:3]]
    row: list[Cell] = [describe(tuned.best), claim, proof.evidence.pairs, *elos]
    links = [f"./proof/{REPORT_HTML}"]
    yield Table("proof-result", "On fresh deals; the report of these games", columns, [row], links)
    if tuned.proof.command:
        yield Code("The command that plays it again", tuned.proof.command, folded=False)


def _landscape(tuned: Tuned) -> Iterator[Block]:
    yield Text([_NOTE])
    for name in tuned.curves:
        yield _curve(tuned, name)
    for one in tuned.maps:
        yield _map(tuned, one)
    rows = [
        (name, json.dumps(spot.value), *spot.elo.cells)
        for name, spots in tuned.curves.items()
        for spot in spots
    ]
    yield Table("landscape", "Each parameter by itself", LANDSCAPE.shown, rows, folded=True)
    if tuned.maps:
        cells = [
            (one.first, json.dumps(x), one.second, json.dumps(y), elo)
            for one in tuned.maps
            for x, y, elo in one.cells
        ]
        named = "contours", "Two parameters", CONTOURS.shown
        yield cut_table(*named, cells, CONTOURS.file, folded=True)


def _curve(tuned: Tuned, name: str) -> Chart:
    """Return the chart of a parameter: the expected Elo with its band, and the best value."""
    one = next(one for one in tuned.tuning.space.parameters if one.name == name)
    rows = [
        {"x": spot.value if one.is_number else json.dumps(spot.value)}
        | dict(zip(("value", "low", "high"), spot.elo.cells, strict=True))
        for spot in tuned.curves[name]
    ]
    best = tuned.best[name] if one.is_number else json.dumps(tuned.best[name])
    scale: Spec = {"type": "log"} if one.log else {"zero": False}
    if one.is_number:
        x = quantity("x", name, scale=scale | {"nice": False})
        band, line = Spec(type="area"), Spec(type="line", strokeWidth=2.5)
    else:
        x = nominal("x", title=name)
        band, line = Spec(type="rule", strokeWidth=4), Spec(type="point", filled=True, size=70)
    y = quantity("value", "Elo from the best setting", axis=ELO_AXIS)
    hint = [
        *tips(("x", name)),
        *tips(("value", "Elo"), ("low", "low"), ("high", "high"), form="+.0f"),
    ]
    ends = {"y": y | {"field": "low"}, "y2": {"field": "high"}}
    layers: list[Spec] = [
        {"mark": band | {"opacity": 0.3, "color": BLUE}, "encoding": {"x": x, **ends}},
        {"mark": line | {"color": BLUE}, "encoding": {"x": x, "y": y, "tooltip": hint}},
        {
            "data": {"values": [{"x": best}]},
            "mark": {"type": "rule", "strokeDash": [4, 3], "color": GREY, "strokeWidth": 2},
            "encoding": {"x": x},
        },
    ]
    what = (
        f"{tuned.describe_parameter(name)}. The band has the 95 % intervals; that of the worst "
        "value is wider, because the games chose which one it is."
    )
    return Chart(
        f"curve-{name}", name, what, chart(rows, height=_HEIGHT, layer=layers), "landscape"
    )


def _map(tuned: Tuned, one: Map) -> Chart:
    """Return the chart of two parameters: darker is nearer to the best setting."""
    rows = [{"x": x, "y": y, "value": elo} for x, y, elo in one.cells]
    axis = {"labelOverlap": True, "labelAngle": 0}
    across, up = (
        {"field": field, "type": "ordinal", "title": name, "axis": axis, "sort": order}
        for field, name, order in (("x", one.first, "ascending"), ("y", one.second, "descending"))
    )
    low = min(row["value"] for row in rows)
    best = {"x": tuned.best[one.first], "y": tuned.best[one.second]}
    colour = quantity(
        "value",
        "Elo",
        bin={"step": max(1.0, round(-low / 10)), "extent": [low, 0]},
        scale={"scheme": "blues"},
        legend={"format": "+.0f"},
    )
    hint = [*tips(("x", one.first), ("y", one.second)), *tips(("value", "Elo"), form="+.0f")]
    layers: list[Spec] = [
        {"mark": {"type": "rect"}, "encoding": {"color": colour, "tooltip": hint}},
        {"data": {"values": [best]}, "mark": _BEST},
    ]
    spec = chart(rows, height=_HEIGHT, layer=layers, encoding={"x": across, "y": up})
    what = (
        f"Elo from the best setting by {one.first} and {one.second}, in steps of one colour; the "
        f"circle has {describe({n: tuned.best[n] for n in (one.first, one.second)})}."
    )
    return Chart(
        f"map-{one.first}-{one.second}", f"{one.first} and {one.second}", what, spec, "contours"
    )


def _candidates(tuned: Tuned) -> Iterator[Block]:
    kept = sum(row.status == KEPT for row in tuned.rows)
    failed = sum(row.status == FAILED for row in tuned.rows)
    yield Text(
        [
            f"Of {len(tuned.rows):,} settings {kept:,} may be the best, {failed:,} failed, and the "
            "others are behind. A setting is dropped when no draw from what is known has it as "
            "the best one; its last round is in the table.",
        ]
    )
    rows = [(*row[:6], *row.elo.cells, row.status) for row in tuned.rows]
    caption = "Settings, the best first"
    yield cut_table("candidates", caption, CANDIDATES.shown, rows, CANDIDATES.file)
