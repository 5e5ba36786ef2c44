"""Make the report of one run, and write it; every report ends with a glossary."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from arena.differences.comparison import find_compared
from arena.differences.run_files import RunTables
from arena.errors import counted, cut
from arena.reports import games_section as game_blocks
from arena.reports import win_section
from arena.reports.axis import draw_lead
from arena.reports.blocks import Code, Report, Section, Table, Text, to_markdown
from arena.reports.comparison_sections import comparison_sections, lead_sections
from arena.reports.first_screen import Forfeiting, Opening, make_ladder, suggest_after, suggest_next
from arena.reports.games_section import Pick, Place, ShownFault, pick_games
from arena.reports.html import to_html
from arena.reports.standings_section import bots_section, pairings_section, standings_section
from arena.statistics.number_texts import as_sentence
from arena.store.column_titles import Column
from arena.store.columns import Columns
from arena.store.folder import REPORT_HTML, REPORT_MARKDOWN, Writer
from arena.store.manifest import read_manifest
from arena.store.store import Store
from arena.tables.findings import describe_city, describe_seat, share_of_city
from arena.tables.headline import headline_of
from arena.tables.losses import JudgedTables
from arena.tournament.fixed_deals import describe_deals
from arena.tournament.rule_changes import describe_changes
from arena.tournament.tournament import Tournament, replay_commands

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
    made = _Sections(tournament, store, files, state, timings, judged)
    title = f"{_name_run(tournament)}{' (not finished)' if state else ''}"
    sections = [*made.all()]
    opening = made.opening() if files.counts.total else None
    summary = [*opening.more] if opening else [*made.summary()]
    if opening:
        summary.insert(bool(state), opening.sentence)
    report = Report(title, summary, sections, opening=opening, labels=made.labels, ending=ending)
    return with_glossary(report)


def make_opening(tournament: Tournament, store: Store, files: RunTables, state: str) -> Opening:
    """Return the first screen of a report, of a run that has a game."""
    return _Sections(tournament, store, files, state).opening()


def _name_run(tournament: Tournament) -> str:
    """Return a name that distinguishes a run from others of its config by its bots and its seed.

    It does not contain the folder, so that the same games have the same report in any folder.
    """
    labels = tournament.labels
    who = " and ".join(labels) if len(labels) == 2 else counted(len(labels), "bot")
    return f"{tournament.name}: {who}, seed {tournament.seed}"


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
        state: str,
        timings: Columns | None = None,
        judged: JudgedTables | None = None,
    ) -> None:
        self.tournament = tournament
        self.store = store
        self.files = files
        self.state = state
        self.timings = timings
        self.judged = judged or JudgedTables()
        self.labels = files.order
        self.faults = game_blocks.choose_faults(self._read_faults())
        self.margins = [win_section.Margin(*row) for row in store.count_margins()]
        self.ids: Collection[str] = ()  # of the games that have a replay on the page

    def all(self) -> Iterator[Section]:
        """Yield the sections in order, without the glossary."""
        tables, wins = self.files, self.files.won
        games, ids = game_blocks.games_section(self.tournament, self.store, self._picks())
        self.ids = ids
        if comparison := tables.comparison:
            judged = self.judged.decisions
            yield from lead_sections(comparison, tables.lead_parts, wins.takes, judged)
            yield games
            yield from comparison_sections(comparison, self.tournament, self.store, ids)
        else:
            yield from self._field_sections()
            yield games
        yield bots_section(tables.standings, wins.takes, self.timings, self.judged)
        yield game_blocks.faults_section(
            tables.counts.faults,
            self.tournament.pairings,
            self.faults,
            replay_commands(self.tournament),
            self.timings,
            ids,
        )
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
            share = share_of_city(self.tournament.pairings, labels, tables.counts)
            city = describe_city(share, labels)
        yield win_section.wins_section(blocks, tables.standings, tables.win_types, city)
        yield pairings_section(tables.head_to_head, tables.verdicts, labels, tables.findings)

    def summary(self, details: str = "") -> Iterator[str]:
        """Yield the paragraphs of the summary without its sentence, which the `details` follow."""
        tournament, files = self.tournament, self.files
        games = files.counts.total
        if self.state:
            yield f"{self.state.capitalize()}."
        if details:
            yield details
        if games and self.state and not files.comparison:
            yield _OPEN
        rules, deals = tournament.rules, tournament.deals
        said = describe_changes(rules), describe_deals(deals, tournament.pairs)
        yield from filter(None, said)
        count = counted(games, "game")
        yield f"{count} of {counted(len(files.standings), 'bot')}, {_format(tournament)}."
        if forfeits := int(files.standings["forfeits"].sum()):
            yield f"{forfeits:,} of the games were forfeited."
        if seat := files.findings.seat:
            yield as_sentence(describe_seat(seat, level=True))

    def opening(self) -> Opening:
        """Return the first screen of a run with a game; `more` is the rest of the summary."""
        tournament, tables = self.tournament, self.files
        played = self.state or counted(tables.counts.total, "game")
        if result := tables.comparison:
            compared = find_compared(result, finished=not self.state)
            word = "" if compared.claim is None else result.word
            task, command = suggest_after(tournament, result, compared)
            return Opening(
                _describe_extent(tournament, played, counted(result.evidence.pairs, "pair")),
                compared.statement,
                [*self.summary(" ".join(compared.sentences()))],
                None,
                [*self._forfeiting()],
                task,
                command,
                draw_lead(result.new, result.old, result.elo, word),
                "verdict",
            )
        found = headline_of(tournament, tables, finished=not self.state)
        task, command = ("", "") if self.state else suggest_next(tournament, found)
        return Opening(
            _describe_extent(tournament, counted(len(tables.standings), "bot"), played),
            found.sentence(),
            [*self.summary(" ".join(found.details()))],
            make_ladder(tables.standings, tables.verdicts),
            [*self._forfeiting()],
            task,
            command,
        )

    def _forfeiting(self) -> Iterator[Forfeiting]:
        """Yield the bots that forfeited games, who forfeited most first, with their first fault."""
        first = {shown.guilty: shown for shown in reversed(self.faults)}
        rows = self.files.standings.rows(["bot", "games", "forfeits"])
        for label, games, forfeits in sorted(rows, key=lambda row: -row[2]):
            if not forfeits:
                return
            said = f"forfeits {forfeits:,} of {counted(games, 'game')}"
            shown = first.get(label)
            name = ""
            if shown:
                reason = cut(shown.fault.message.partition("\n")[0], _REASON)
                said += f": {': '.join(filter(None, [shown.fault.kind, reason]))}"
                name = game_blocks.replay_id(shown.place)
            yield Forfeiting(label, said, name if name in self.ids else "faults")

    def _read_faults(self) -> Iterator[ShownFault]:
        if not self.files.counts.faults:
            return
        for number, result in self.store.first_faults(_FAULTS):
            place = Place(number, result.pair, result.seat)
            fixture = self.tournament.fixture(*place)
            assert result.fault is not None
            guilty = fixture.pairing[result.winner == 0]
            yield ShownFault(place, fixture, result.plies, guilty, result.fault)

    def _picks(self) -> Iterator[Pick]:
        comparison = self.files.comparison
        picks = list[Pick]()
        if comparison:
            picks += game_blocks.pick_shown(self.tournament, self.files.lead_parts)
        if comparison and comparison.paired:
            picks += game_blocks.pick_decided(self.tournament, comparison.paired.decided)
        yield from picks or pick_games(self.store, self.margins, self.files.counts.total)
        for shown in self.faults:
            yield Pick(shown.place, f"A forfeit of {shown.guilty}: {shown.fault.kind}.")


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
