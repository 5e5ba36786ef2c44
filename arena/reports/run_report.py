"""Make the report of one run, or of bots rated by lists of games, and write it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from arena.differences.comparison import Compared, find_compared
from arena.differences.run_files import RunTables
from arena.errors import counted, cut
from arena.reports import games as game_blocks
from arena.reports import win_section
from arena.reports.about import run_section, with_glossary
from arena.reports.blocks import Block, Report, Section, Table, Text, to_markdown
from arena.reports.comparison_sections import comparison_sections, lead_sections
from arena.reports.first_screen import Forfeiting, Opening, make_ladder, suggest_after, suggest_next
from arena.reports.games import Pick, Place, ShownFault, pick_games
from arena.reports.html import to_html
from arena.reports.lead_section import draw_lead
from arena.reports.standings_section import bots_section, pairings_section, standings_section
from arena.statistics.number_texts import as_sentence
from arena.store.columns import Columns, is_known
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

if TYPE_CHECKING:
    from arena.store.listed_games import GameList
    from arena.tables.rated_lists import RatedLists

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
        found = headline_of(tournament, files, files.counts, finished=not state)
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
    found = headline_of(tournament, files, files.counts, finished=not state)
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
        yield run_section(read_manifest(stored) if stored else self.tournament.manifest())

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


_LISTS = (
    Column("list", "Games of"),
    Column("games", "Games", "count", "So many games are in the list."),
)
_BOTS = (
    Column("bot", "Bot"),
    Column("list", "Games of"),
    Column("label", "Label", "text", "What the bot is called there."),
    Column("sha256", "sha256", "code", "The hash of its source, where a manifest says it."),
    Column("params", "Parameters", "code", "Those that it was called with there."),
)


def make_ratings_report(lists: Sequence[GameList], rated: RatedLists) -> Report:
    """Return the report of some lists that were rated together."""
    tables, found = rated.tables, rated.tables.findings
    labels = tables.order
    headline = rated.headline
    details = " ".join(headline.details())
    summary = [headline.sentence(), *filter(None, [details]), f"{rated.extent}."]
    if found.seat:
        summary.append(as_sentence(describe_seat(found.seat, level=True)))
    sections = [
        standings_section(tables.standings, tables.verdicts, found, None),
        pairings_section(tables.head_to_head, tables.verdicts, labels, found),
    ]
    typed = [one.where(is_known(one["forfeits"])) for one in (tables.win_types, tables.standings)]
    if len(typed[0]):
        sections.append(win_section.wins_section([], typed[1], typed[0]))
    sections += _list_sections(lists, rated)
    title = f"Ratings of {counted(len(labels), 'bot')}"
    ladder = make_ladder(tables.standings, tables.verdicts, [])
    opening = Opening(f"{title} · {rated.extent}", headline.sentence(), summary[1:], ladder)
    return with_glossary(Report(title, summary, sections, opening=opening, labels=labels))


def _list_sections(lists: Sequence[GameList], rated: RatedLists) -> Iterator[Section]:
    """Yield the sections on the lists of games, and on the identities of their bots."""
    from arena.tables.rated_lists import find_labels

    rows = [(one.name, len(one.games)) for one in lists]
    blocks: list[Block] = [Table("lists", "The lists of games", _LISTS, rows)]
    if rated.notes:
        blocks.insert(0, Text([*map(as_sentence, rated.notes)], warning=True))
    yield Section("games", "The games", blocks)
    bots = [
        (names[label], games.name, label, *games.identities.get(label, (None, None)))
        for games, names in zip(lists, rated.names, strict=True)
        for label in find_labels(games)
    ]
    table = Table("bots", "The bots in each list", _BOTS, bots)
    yield Section("run", "The bots in each list", [table], folded=True)
