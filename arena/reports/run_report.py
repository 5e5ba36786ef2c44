"""Make the report of one run, and write it; every report ends with a glossary."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from arena.differences.comparison import Compared, find_compared
from arena.differences.run_files import RunTables
from arena.errors import counted, cut
from arena.reports import games as game_blocks
from arena.reports import win_section
from arena.reports.blocks import Code, Report, Section, Table, Text, to_markdown
from arena.reports.comparison_sections import comparison_sections, lead_sections
from arena.reports.first_screen import Forfeiting, Opening, make_ladder, suggest_after, suggest_next
from arena.reports.games import Pick, Place, ShownFault, pick_games
from arena.reports.html import to_html
from arena.reports.lead_section import draw_lead
from arena.reports.standings_section import bots_section, pairings_section, standings_section
from arena.statistics.number_texts import as_sentence
from arena.store.columns import Columns
from arena.store.folder import REPORT_HTML, REPORT_MARKDOWN, Writer
from arena.store.manifest import read_manifest
from arena.store.store import Store
from arena.store.table_columns import Column
from arena.tables.findings import describe_city, describe_seat, share_of_city
from arena.tables.headline import Headline, headline_of
from arena.tables.losses import JudgedTables
from arena.tournament.fixed_deals import describe_deals
from arena.tournament.replay_command import replay_commands
from arena.tournament.rule_changes import describe_changes
from arena.tournament.tournament import Tournament

_REASON = 60  # characters of why a bot forfeits
_FAULTS = 2  # faults that are read for each pairing, bot and kind
_OPEN = (
    "What is sure holds at any number of games. All else may turn around with the games that are "
    "missing."
)


def make_report(
    tournament: Tournament,
    store: Store,
    files: RunTables,
    timings: Columns | None = None,
    judged: JudgedTables | None = None,
    *,
    state: str = "",
    ending: str = "",
) -> Report:
    """Return the report of a run; its store has all of its games.

    `timings` has the rows of timings.csv. Without them the report contains no measured times, so
    that the same games give the same bytes. `judged` are the results of `arena analyse`, `state`
    says how much of an unfinished run has been played, and `ending` is the last line.
    """
    made = _Sections(tournament, store, files, timings, judged or JudgedTables())
    title = f"{_name_run(tournament)}{' (not finished)' if state else ''}"
    sections, opening, headline = [*made.all()], None, list[str]()
    if files.counts.total and files.comparison:
        compared = find_compared(files.comparison, finished=not state)
        headline = [compared.statement, " ".join(compared.sentences())]
        more = [*_summary(tournament, files, state, headline[1:])]
        opening = made.compare_opening(compared, more, state)
    elif files.counts.total:
        found = headline_of(tournament, files, finished=not state)
        headline = [found.sentence(), " ".join(found.details())]
        more = [*_summary(tournament, files, state, headline[1:])]
        opening = made.opening(found, more, state)
    summary = [*_summary(tournament, files, state, headline)]
    report = Report(title, summary, sections, opening=opening, labels=made.labels, ending=ending)
    return with_glossary(report)


def make_opening(tournament: Tournament, store: Store, files: RunTables, state: str) -> Opening:
    """Return the first screen of a report, of a run that has a game."""
    made = _Sections(tournament, store, files, None, JudgedTables())
    if result := files.comparison:
        return made.compare_opening(find_compared(result, finished=not state), [], state)
    found = headline_of(tournament, files, finished=not state)
    return made.opening(found, [], state)


def _name_run(tournament: Tournament) -> str:
    """Return a name that distinguishes a run from others of its config by its bots and its seed.

    It does not contain the folder, so that the same games have the same report in any folder.
    """
    labels = tournament.labels
    who = " and ".join(labels) if len(labels) == 2 else counted(len(labels), "bot")
    return f"{tournament.name}: {who}, seed {tournament.seed}"


def _summary(
    tournament: Tournament, files: RunTables, state: str, headline: Sequence[str]
) -> Iterator[str]:
    """Yield the paragraphs of the summary, first those of the headline."""
    games = files.counts.total
    if state:
        yield f"{state.capitalize()}."
    yield from filter(None, headline)
    if games and state and not files.comparison:
        yield _OPEN
    said = describe_changes(tournament.rules), describe_deals(tournament.deals, tournament.pairs)
    yield from filter(None, said)
    count = counted(games, "game")
    yield f"{count} of {counted(len(files.standings), 'bot')}, {_format(tournament)}."
    if forfeits := int(files.standings["forfeits"].sum()):
        yield f"{forfeits:,} of the games were forfeited."
    if seat := files.findings.seat:
        yield as_sentence(describe_seat(seat, level=True))


def _describe_extent(tournament: Tournament, *parts: str) -> str:
    """Return what a report is of: its name, these parts, and the rules that were changed."""
    rules = ", ".join(f"{name}={value}" for name, value in tournament.rules.changes().items())
    changed = [f"changed rules: {cut(rules, _REASON)}"] * bool(rules)
    return " · ".join([tournament.name, *parts, *changed])


def _format(tournament: Tournament) -> str:
    """Return the format of the tournament in words."""
    if tournament.comparison:
        return "a comparison"
    if tournament.rounds:
        return f"a Swiss tournament of {counted(tournament.rounds, 'round')}"
    kind = "a gauntlet" if tournament.panel else "every bot against every other one"
    return f"{kind}, until there is a result" if tournament.stop else kind


class _Sections:
    """Makes the sections of one run's report."""

    def __init__(
        self,
        tournament: Tournament,
        store: Store,
        files: RunTables,
        timings: Columns | None,
        judged: JudgedTables,
    ) -> None:
        self.tournament = tournament
        self.store = store
        self.files = files
        self.timings = timings
        self.judged = judged
        self.labels = files.order
        self.faults = game_blocks.choose_faults(self._read_faults())
        self.margins = [win_section.Margin(*row) for row in store.count_margins()]
        self.ids: Collection[str] = ()  # of the games that have a replay on the page

    def all(self) -> Iterator[Section]:
        """Yield the sections in order, without the glossary."""
        tables, wins = self.files, self.files.won
        picks = [*self._picks()]
        games, ids = game_blocks.games_section(self.tournament, self.store, picks)
        self.ids = ids
        if comparison := tables.comparison:
            parts = self.files.lead_parts
            yield from lead_sections(comparison, parts, wins.takes, self.judged.decisions)
            yield games
            yield from comparison_sections(comparison, self.tournament, self.store, ids)
        else:
            yield from self._field_sections()
            yield games
        yield bots_section(tables.standings, wins.takes, self.timings, self.judged)
        yield self._faults_section()
        stored = self.store.manifest  # also an earlier version's
        yield _run_section(read_manifest(stored) if stored else self.tournament.manifest())

    def _field_sections(self) -> Iterator[Section]:
        """Yield the sections on all bots: standings, how games were won, and pairings."""
        tables, wins, labels = self.files, self.files.won, self.labels
        yield standings_section(tables.standings, tables.verdicts, tables.findings, self.timings)
        blocks = [
            *win_section.source_blocks(wins.wins, labels),
            *win_section.margin_blocks(self.margins),
            *win_section.take_blocks(wins.takes, wins.cards, labels),
        ]
        city = ""
        if len(labels) > 2:
            city = describe_city(
                share_of_city(self.tournament.pairings, labels, self.files.counts), labels
            )
        yield win_section.wins_section(blocks, tables.standings, tables.win_types, city)
        yield pairings_section(tables.head_to_head, tables.verdicts, labels, tables.findings)

    def _faults_section(self) -> Section:
        names = [game_blocks.replay_id(self._place(shown)) for shown in self.faults]
        return game_blocks.faults_section(
            self.files.counts.faults,
            self.tournament.pairings,
            self.faults,
            replay_commands(self.tournament),
            self.timings,
            [name if name in self.ids else None for name in names],
        )

    def compare_opening(self, found: Compared, more: Sequence[str], state: str) -> Opening:
        """Return the first screen of a comparison; `more` is shown with the test."""
        result = self.files.comparison
        assert result is not None
        games = counted(self.files.counts.total, "game")
        pairs = counted(result.evidence.pairs, "pair")
        extent = _describe_extent(self.tournament, state or games, pairs)
        word = "" if found.claim is None else result.word
        lead = draw_lead(result.new, result.old, result.elo, word)
        next_one = suggest_after(self.tournament, result, found)
        return Opening(
            extent,
            found.statement,
            more,
            None,
            [*self._forfeiting()],
            *next_one,
            lead=lead,
            beside="verdict",
        )

    def opening(self, found: Headline, more: Sequence[str], state: str) -> Opening:
        """Return the first screen; `more` is shown with the standings.

        `state` says how much of an unfinished run has been played.
        """
        tournament, tables = self.tournament, self.files
        bots = counted(len(tables.standings), "bot")
        extent = state or counted(self.files.counts.total, "game")
        return Opening(
            _describe_extent(tournament, bots, extent),
            found.sentence(),
            more,
            make_ladder(tables.standings, tables.verdicts, []),
            [*self._forfeiting()],
            *(("", "") if state else suggest_next(tournament, found)),
        )

    def _forfeiting(self) -> Iterator[Forfeiting]:
        """Yield the bots that forfeited games, who forfeited most first, with their first fault."""
        first = {shown.guilty: shown for shown in reversed(self.faults)}
        columns = ["bot", "games", "forfeits"]
        rows = self.files.standings.rows(columns)
        for label, games, forfeits in sorted(rows, key=lambda row: -row[2]):
            if not forfeits:
                return
            said = f"forfeits {forfeits:,} of {counted(games, 'game')}"
            shown = first.get(label)
            if shown is None:
                yield Forfeiting(label, said, "faults")
                continue
            reason = shown.message.splitlines()[0] if shown.message else ""
            said += f": {': '.join(filter(None, [shown.kind, cut(reason, _REASON)]))}"
            name = game_blocks.replay_id(self._place(shown))
            link = name if name in self.ids else "faults"
            yield Forfeiting(label, said, link)

    def _read_faults(self) -> Iterator[ShownFault]:
        if not self.files.counts.faults:
            return
        for number, result in self.store.first_faults(_FAULTS):
            fixture = self.tournament.fixture(number, result.pair, result.seat)
            assert result.fault is not None
            guilty = fixture.pairing[result.winner == 0]
            fault = result.fault
            said = fault.kind, fault.message, fault.traceback, fault.output
            yield ShownFault(fixture, result.plies, guilty, *said)

    def _place(self, shown: ShownFault) -> Place:
        number = self.tournament.pairings.index(shown.fixture.pairing)
        return Place(number, shown.fixture.pair, shown.fixture.seat)

    def _picks(self) -> Iterator[Pick]:
        comparison = self.files.comparison
        picks = list[Pick]()
        if comparison:
            picks += game_blocks.pick_shown(self.tournament, self.files.lead_parts)
        if comparison and comparison.paired:
            picks += game_blocks.pick_decided(self.tournament, comparison.paired.decided)
        yield from picks or pick_games(self.store, self.margins, self.files.counts.total)
        for shown in self.faults:
            yield Pick(self._place(shown), f"A forfeit of {shown.guilty}: {shown.kind}.")


def report_writers(
    tournament: Tournament,
    store: Store,
    files: RunTables,
    timings: Columns | None = None,
    judged: JudgedTables | None = None,
    ending: str = "",
) -> Mapping[str, Writer]:
    """Return a writer for each report of a run, by name."""

    @cache
    def report() -> Report:
        return make_report(tournament, store, files, timings, judged, ending=ending)

    return {
        REPORT_HTML: lambda file: file.write(to_html(report())),
        REPORT_MARKDOWN: lambda file: file.write(to_markdown(report())),
    }


_BOT_COLUMNS = (
    Column("label", "Bot"),
    Column("bot", "Spec", "code", "What the bot was loaded from."),
    Column("params", "Parameters", "code", "The parameters that it was called with."),
    Column("lane", "Lane", "text", "How it was executed: inproc, process or jail."),
    Column(
        "sha256",
        "sha256",
        "code",
        "The hash of its source and all that it imports of its own: bots with the same one are "
        "the same.",
    ),
)
_VERSION_COLUMNS = (Column("part", "Part"), Column("version", "Version", "code"))
_GLOSSARY_COLUMNS = (
    Column("figure", "Figure"),
    Column("where", "Where"),
    Column("meaning", "What it says"),
)


def _run_section(manifest: Mapping[str, Any]) -> Section:
    """Return the resolved config, the bots' identities and the versions."""
    bots = [
        (
            bot["label"],
            bot["bot"],
            json.dumps(bot["params"], ensure_ascii=False) if bot["params"] else "",
            bot["lane"],
            bot["sha256"],
        )
        for bot in manifest["bots"]
    ]
    config = {key: value for key, value in manifest.items() if key not in ("bots", "versions")}
    return Section(
        "run",
        "The run",
        [
            Code("Resolved config", json.dumps(config, indent=2, ensure_ascii=False), folded=False),
            Table("bots", "Bots", _BOT_COLUMNS, bots),
            Table("versions", "Versions", _VERSION_COLUMNS, [*manifest["versions"].items()]),
        ],
        folded=True,
    )


def with_glossary(report: Report) -> Report:
    """Return a report with one more section: a sentence for every figure of its tables."""
    rows: dict[tuple[str, str], tuple[str, str, str]] = {}
    for table in report.tables():
        for column in table.columns:
            if column.meaning:
                key = column.title, column.meaning
                rows.setdefault(key, (column.title, table.caption, column.meaning))
    text = (
        "An interval holds what endless play would show in about 95 of 100 cases. Its unit is the "
        "pair: one deal, played twice with the seats swapped, because both games share their luck. "
        "Whether two bots differ is not said by whether their intervals overlap: the interval of a "
        "difference is narrower than two intervals side by side. The verdict on two bots says it: "
        "apart, leans or open; the letters of the standings (Group) follow from it."
    )
    caption = "What every figure says"
    glossary = Table("glossary", caption, _GLOSSARY_COLUMNS, [*rows.values()])
    section = Section("glossary", "Glossary", [Text([text]), glossary], folded=True)
    return replace(report, sections=[*report.sections, section])
