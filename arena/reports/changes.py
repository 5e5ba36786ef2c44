"""Changes: the report that compares runs with a first one, the base."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena.reports.document import Block, Cell, Chart, Column, Report, Section, Table, Text
from arena.reports.dots import MOST_DOTS, Dot, dot_chart, verdict_of
from arena.reports.frames import MOST_ROWS, note_of, plain_rows
from arena.results.changes import Changes

if TYPE_CHECKING:
    import pandas as pd

    from arena.tournament.tournament import Tournament

_INTERVAL = (
    "The 95 % interval of the difference, by pairs of games, and by deal where both runs have "
    "played one: where it leaves out 0, the difference is more than luck, one time in twenty "
    "wrongly."
)
_SURE = (
    "Whether the difference is beyond chance when all differences of this table are looked at "
    "together (Benjamini and Hochberg 1995, at 5 %). Where both bots and the rules are the same, "
    "nothing but luck can differ, and nothing is tested."
)
_SHARE_ENDS = (
    Column("difference", "Change, % points", "change", "The other run less the base."),
    Column("difference_low", "Change, low", "change", _INTERVAL),
    Column("difference_high", "Change, high", "change", _INTERVAL),
    Column("verdict", "Verdict", "text", _SURE),
)
_BOT = Column("bot", "Bot", "text", "The label; two labels where the same bot has two.")
_STATUS = Column(
    "status",
    "In both runs",
    "text",
    "The same, if the sha256 of the source and the parameters are equal; else changed.",
)
_BASE, _OTHER = "In the base, by the same opponents", "In the other run, by the same opponents"
RATING_COLUMNS = (
    _BOT,
    _STATUS,
    Column("base", "Elo, base", "elo", "The rating in the base."),
    Column(
        "other", "Elo, other", "elo", "The rating in the other run, moved to the scale of the base."
    ),
    Column("difference", "Change", "change", "Elo in the other run less Elo in the base."),
    *_SHARE_ENDS[1:],
)
HEAD_TO_HEAD_COLUMNS = (
    _BOT,
    Column("opponent", "Opponent", "text", "The other bot of the pairing."),
    Column("bots", "Bots", "text", "Whether both bots are the same in both runs."),
    Column("base_pairs", "Pairs, base", "count", "Deals, each played twice, in the base."),
    Column("other_pairs", "Pairs, other", "count", "Deals in the other run."),
    Column("shared_deals", "Shared deals", "count", "Deals that both runs have played."),
    Column(
        "same_games", "Same games", "count", "Games on these deals that are equal in every move."
    ),
    Column("base", "Score, base", "share", "The share of the points of the first bot."),
    Column("other", "Score, other", "share", "The same in the other run."),
    *_SHARE_ENDS,
)
WIN_COLUMNS = (
    _BOT,
    _STATUS,
    Column("part", "Of its games", "text", "The score, or how games were won or lost."),
    Column("pairings", "Opponents", "count", "Opponents in both runs; each weighs the same."),
    Column("base", "Base", "share", "The share in the base."),
    Column("other", "Other", "share", "The share in the other run."),
    *_SHARE_ENDS,
)
TOTAL_COLUMNS = (
    Column("part", "Of all games", "text", "How games ended, or what seat 0 has scored."),
    Column("pairings", "Pairings", "count", "Pairings in both runs; each weighs the same."),
    *WIN_COLUMNS[4:],
)


@dataclass(frozen=True)
class RunFacts:
    """A run as a report of several names it: a unique title, and how much of it is played."""

    title: str
    tournament: Tournament
    played: int
    total: int


def make_changes_report(base: RunFacts, others: Sequence[tuple[RunFacts, Changes]]) -> Report:
    """Return the report of what is different from the base to each other run."""
    sections = [_runs_section([base, *(facts for facts, _ in others)])]
    if len(others) == 1:
        (facts, changes), title = others[0], others[0][0].title
        sections += _sections(changes, "", "")
        title = f"{title}, compared with {base.title}"
    else:
        title = f"{len(others)} runs, compared with {base.title}"
        for number, (facts, changes) in enumerate(others, 1):
            sections += _sections(changes, f"-{number}", f"{facts.title}: ")
    summary = [
        f"The base is {base.title}. A difference is the other run less the base, with its 95 % "
        "interval."
    ]
    return Report(title, summary, sections)


def _runs_section(runs: Sequence[RunFacts]) -> Section:
    """Return what the runs were, and which bots they had."""
    rows = [_run_row(run) for run in runs]
    blocks: list[Block] = [Table("runs", "Runs, the base first", _RUN_COLUMNS, rows)]
    unfinished = [run.title for run in runs if run.played < run.total]
    if unfinished:
        text = f"Not finished, so as far as it was played: {', '.join(unfinished)}."
        blocks.insert(0, Text([text], warning=True))
    blocks.append(_bots_table(runs))
    return Section("runs", "Runs and bots", blocks)


_RUN_COLUMNS = (
    Column("run", "Run"),
    Column("name", "Name", "text", "The name in its manifest."),
    Column("bots", "Bots", "count"),
    Column("games", "Games", "count", "Finished games; each deal is played twice."),
    Column("seed", "Seed", "text", "Runs of one seed have the same deals between the same labels."),
    Column("pairs", "Pairs", "count", "Deals of each pairing, at most."),
    Column("rules", "Rules", "text", "What of the published rules is changed."),
)


def _run_row(run: RunFacts) -> tuple[Cell, ...]:
    tournament = run.tournament
    rules = ", ".join(f"{name}={value}" for name, value in tournament.rules.changes().items())
    bots = len(tournament.entries)
    pairs = tournament.most_pairs
    return run.title, tournament.name, bots, run.played, str(tournament.seed), pairs, rules


def _bots_table(runs: Sequence[RunFacts]) -> Table:
    """Return the identity of each label in each run."""
    labels = dict.fromkeys(label for run in runs for label in run.tournament.labels)
    columns = [
        Column("bot", "Bot", "text", "The label."),
        *(
            Column(f"run_{number}", run.title, "code", _IDENTITY)
            for number, run in enumerate(runs, 1)
        ),
    ]
    rows = [(label, *(_identity(run, label) for run in runs)) for label in labels]
    return Table("bots", "Bots and their identity in each run", columns, rows)


_IDENTITY = (
    "The bot's parameters and the beginning of the sha256 of its source: where both are equal, "
    "it is the same bot, whatever its label."
)


def _identity(run: RunFacts, label: str) -> str | None:
    entry = run.tournament.by_label.get(label)
    if entry is None:
        return None
    params = ", ".join(f"{name}={value!r}" for name, value in sorted(entry.params.items()))
    return f"{entry.sha256[:10]}{f' ({params})' if params else ''}"


def _sections(changes: Changes, ending: str, prefix: str) -> Iterator[Section]:
    """Yield the sections about one other run; `ending` makes their names unique."""
    ratings = [*_ratings(changes, ending)]
    yield Section(f"ratings{ending}", f"{prefix}Ratings", ratings)
    if len(changes.head_to_head):
        yield Section(f"win-types{ending}", f"{prefix}How games end", [*_wins(changes, ending)])
        meetings = [*_meetings(changes, ending)]
        yield Section(f"head-to-head{ending}", f"{prefix}Head to head", meetings)


def _ratings(changes: Changes, ending: str) -> Iterator[Block]:
    if changes.warnings:
        yield Text(changes.warnings, warning=True)
    table = changes.ratings
    if changes.scale:
        yield Text([_describe_scale(changes)])
    yield from _change_chart(
        f"rating-changes{ending}",
        "Changes of ratings",
        f"ratings{ending}",
        [_dot(row, [row["bot"]]) for row in _known(table)],
        "Change of Elo",
    )
    rows = _rows(table, RATING_COLUMNS, 1)
    if rows:
        caption = "Ratings in both runs, on the scale of the base"
        yield Table(f"ratings{ending}", caption, RATING_COLUMNS, rows)
        yield Text([_describe_many(table, "ratings")])


def _describe_scale(changes: Changes) -> str:
    names = [one.name for one in changes.scale]
    if len(names) == 1:
        return (
            f"Ratings of two runs have no common zero. Here the other run is moved so that "
            f"{names[0]}, the only bot that is the same in both, has the same rating. So it has "
            "no change of its own, and an interval is that of the difference to it."
        )
    shown = ", ".join(names[:6]) + (f" and {len(names) - 6:,} more" if len(names) > 6 else "")
    return (
        f"Ratings of two runs have no common zero. Here the other run is moved so that the mean of "
        f"the {len(names):,} bots that are the same in both ({shown}) is the same. An interval has "
        "the errors of both runs, less what deals that both have played have in common."
    )


def _describe_many(table: pd.DataFrame, things: str) -> str:
    """Return how many differences of a table are tested, and how many are beyond chance."""
    tested = table["sure"].notna()
    sure = int((table["sure"] == True).sum())  # noqa: E712: it may be None
    count = int(tested.sum())
    if not count:
        return f"Nothing that could change these {things} is different, so what differs is luck."
    by_luck = count / 20
    return (
        f"{sure:,} of {count:,} changes are beyond chance when all of them are looked at together. "
        f"Of their {count:,} intervals, each of which holds for itself, about {by_luck:.1f} leave "
        "out 0 where nothing has changed."
    )


def _wins(changes: Changes, ending: str) -> Iterator[Block]:
    yield Text(
        [
            "Only pairings that both runs have are counted, and each of them weighs the same. So "
            "a new opponent changes nothing here."
        ]
    )
    yield from _change_chart(
        f"ending-changes{ending}",
        "Changes of all games",
        f"endings{ending}",
        [_dot(row, [row["part"]], 100) for row in _known(changes.totals)],
        "Change, % points of all games",
    )
    rows = _rows(changes.totals, TOTAL_COLUMNS, 100)
    yield Table(f"endings{ending}", "How games end in all pairings of both", TOTAL_COLUMNS, rows)
    yield Text([_describe_many(changes.totals, "shares")])
    table = changes.win_types
    yield from _change_chart(
        f"win-changes{ending}",
        "Changes by bot",
        f"win-types{ending}",
        [_dot(row, [row["bot"], row["part"]], 100) for row in _largest(table)],
        "Change, % points of the bot's games",
    )
    rows = _rows(table, WIN_COLUMNS, 100)
    note = note_of(len(table), "")
    caption = "Scores and win types against the opponents of both runs"
    yield Table(f"win-types{ending}", caption, WIN_COLUMNS, rows[:MOST_ROWS], note=note)
    yield Text([_describe_many(table, "shares")])


def _meetings(changes: Changes, ending: str) -> Iterator[Block]:
    table = changes.head_to_head
    yield Text([_describe_deals(changes)])
    yield from _change_chart(
        f"pairing-changes{ending}",
        "Changes of scores",
        f"head-to-head{ending}",
        [_dot(row, [row["bot"], row["opponent"]], 100) for row in _largest(table)],
        "Change of the first bot's score, % points",
    )
    rows = _rows(table, HEAD_TO_HEAD_COLUMNS, 100)
    note = note_of(len(table), "")
    caption = "Pairings that both runs have"
    yield Table(f"head-to-head{ending}", caption, HEAD_TO_HEAD_COLUMNS, rows[:MOST_ROWS], note=note)
    yield Text([_describe_many(table, "scores")])


def _describe_deals(changes: Changes) -> str:
    if not changes.shared_deals:
        return (
            "The runs share no deals, because their seeds or their labels differ. So they are "
            "independent, and an interval has the errors of both."
        )
    games = 2 * changes.shared_deals
    return (
        f"Both runs have played {changes.shared_deals:,} deals between the same two labels, with "
        f"the same luck: {changes.same_games:,} of these {games:,} games are the same in every "
        "move. There the difference is taken deal by deal, so that the luck of a deal does not "
        "count."
    )


def _change_chart(
    name: str, title: str, table: str, dots: Sequence[Dot], axis: str
) -> Iterator[Chart]:
    """Yield the chart of some changes, nothing where there are none."""
    if not dots:
        return
    sure = [dot.name for dot in dots if dot.sure]
    found = f"beyond chance: {', '.join(sure[:5])}" if sure else "none is beyond chance"
    more = f" and {len(sure) - 5} more" if len(sure) > 5 else ""
    cut = f" The {MOST_DOTS} clearest." if len(dots) == MOST_DOTS else ""
    description = f"The other run less the base, with 95 % intervals; {found}{more}.{cut}"
    yield Chart(name, title, description, dot_chart(dots, axis, "change"), table)


def _known(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows that have a difference, the largest change first."""
    known = table[table["difference"].notna()]
    order = known["difference"].abs().sort_values(ascending=False, kind="stable").index
    return [_plain(row) for row in known.loc[order].head(MOST_DOTS).to_dict("records")]


def _largest(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows whose difference is largest in its own errors, with what may have changed."""
    width = (table["high"] - table["low"]).clip(lower=1e-9)
    clear = (table["difference"] / width).abs()
    order = clear.sort_values(ascending=False, kind="stable").index
    return [_plain(row) for row in table.loc[order].head(MOST_DOTS).to_dict("records")]


def _plain(row: Any) -> dict[str, Any]:
    return {str(key): value for key, value in row.items()}


def _dot(row: dict[str, Any], names: Sequence[str], factor: float = 1) -> Dot:
    """Return the dot of a row; bounds that are missing are those of a value without an interval."""
    value, low, high = (factor * row[name] for name in ("difference", "low", "high"))
    return Dot(" - ".join(names), value, low, high, row["sure"])


def _rows(table: pd.DataFrame, columns: Sequence[Column], factor: float) -> list[list[Cell]]:
    """Return the rows of a table for these columns; differences are times `factor`."""
    table = table.rename(columns={"low": "difference_low", "high": "difference_high"})
    for name in ("difference", "difference_low", "difference_high"):
        table[name] = (factor * table[name]).round(2) + 0.0
    table["verdict"] = [verdict_of(sure) for sure in table["sure"]]
    table.loc[table["difference"].isna(), "verdict"] = None
    return [[*row] for row in plain_rows(table, [column.name for column in columns])]
