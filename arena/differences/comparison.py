"""Summarise a comparison of two bots by a sequential test: its result, its text and its files."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from arena.differences import sentences
from arena.differences.common_deals import PairedGames, make_paired_games
from arena.differences.lead_parts import LeadParts
from arena.differences.sentences import FEWEST_PAIRS, Claim, make_claim
from arena.errors import arena_command, counted, pad
from arena.statistics.counts import BY_RULE
from arena.statistics.intervals import Estimate
from arena.statistics.number_texts import as_sentence, signed, write_ends, write_lead
from arena.statistics.verdicts import LEANS, Word
from arena.store.column_titles import DECIDED, DIFFERENCES, LEAD_PARTS, VERDICTS
from arena.store.columns import Columns
from arena.store.counting import Counts
from arena.store.csv_files import csv_writer
from arena.store.folder import COMPARISON, DETAILS, Writer
from arena.store.store import Store
from arena.tables.standings_text import plain_rows, short_names, write_row
from arena.tournament.config_keys import MAX_FAULTS
from arena.tournament.schedule import find_out
from arena.tournament.sprt_rounds import Evidence, Verdict, decide, weigh
from arena.tournament.stop import Sprt
from arena.tournament.tournament import Tournament, common_options, name_bots
from arena.tournament.until_rounds import describe_cost

_OPTIONS = "elo0", "elo1", "alpha", "beta"
_NAME_WIDTH = 14  # at least
_OTHERS = 66  # columns of a line beside the name
_HEAD = f"{'new':>6} {'old':>6} {'diff':>7} {'95 %':>14} {'elo':>5} {'95 %':>12}"


class SprtResult(NamedTuple):
    """The verdict of a sequential test, and the estimate after it.

    `counts` are the pairs by each of `values`, `ratio` their log-likelihood ratio, and `elo`
    the Elo difference with its interval; `games` is the number of all games that were played,
    not forfeited by rule, and `out` are the bots that had too many faults. `command` plays it
    again. `paired` is there for two versions that met the bots `against`. The new one is the
    stronger one with the probability `likely`, nan where one of both cannot be judged; `lead` is
    that of its score, from -1 to 1.
    """

    new: str
    old: str
    against: tuple[str, ...]
    stop: Sprt
    evidence: Evidence
    verdict: Verdict
    elo: Estimate
    games: int
    out: tuple[str, ...]
    command: str
    paired: PairedGames | None
    likely: float = math.nan
    lead: Estimate = Estimate()

    @property
    def word(self) -> Word:
        """The verdict on both bots: they are apart where the test and its interval say so."""
        claim = make_claim(self.verdict, self.elo, self.stop, self.evidence.pairs)
        if math.isnan(self.likely):
            return "open"
        if claim in ("better", "weaker"):
            return "apart"
        return "leans" if self.likely_ahead >= LEANS else "open"

    @property
    def likely_ahead(self) -> float:
        """How likely the one ahead is the stronger one."""
        return self.likely if self.elo.value >= 0 else 1 - self.likely

    @property
    def sentence(self) -> str:
        """Which of the two is stronger, as far as the interval and the test say it together."""
        found = self.verdict, self.elo, self.stop, self.evidence.pairs
        two = self.new, self.old
        return sentences.make_sentence(two, self.against, self.out, found, self.word)

    @property
    def statement(self) -> str:
        """What may be said of the two without an interval, and what they scored, as a sentence."""
        evidence = self.evidence
        if {*self.out} & {self.new, self.old} or not evidence.pairs:
            return as_sentence(self.sentence)
        claim = make_claim(self.verdict, self.elo, self.stop, evidence.pairs)
        two, is_ahead = (self.new, self.old), self.elo.value >= 0
        said = sentences.state_claim(claim, two, self.stop, self.word, is_ahead=is_ahead)
        it = "it" if claim in ("better", "weaker") else self.new
        if not self.paired:
            total = sum(map(operator.mul, evidence.counts, evidence.values))
            return f"{said}: {it} scored {50 * total / evidence.pairs:.1f} %."
        new, old = (100 * share for share in self.paired.differences[["new", "old"]].iloc[0])
        scored = f"{it} scored {new:.1f} % and {self.old} {old:.1f} %"
        opponents = counted(len(self.against), "opponent")
        return f"{said}: {scored} against {opponents}."

    def document(self) -> dict[str, Any]:
        """Return it as plain data, rounded where it is estimated."""
        evidence, stop = self.evidence, self.stop
        document: dict[str, Any] = {
            "verdict": self.verdict,
            "word": self.word,
            "sentence": self.sentence,
            "new": self.new,
            "old": self.old,
            "against": [*self.against],
            "pairs": evidence.pairs,
            "counts": [*evidence.counts],
            "values": [*evidence.values],
            "llr": round(evidence.ratio, 4) + 0.0,
            "llr_low": round(evidence.ends.low, 4),
            "llr_high": round(evidence.ends.high, 4),
            **dict(zip(("elo", "elo_low", "elo_high"), self.elo, strict=False)),
            **{name: getattr(stop, name) for name in (*_OPTIONS, "max_pairs")},
            "games": self.games,
            "out": [*self.out],
            "command": self.command,
        }
        if self.paired:
            document["same_games"] = self.paired.same_games
            document["separate_games"] = self.paired.separate_games
            document["decided"] = len(self.paired.decided)
            document["differences"] = plain_rows(self.paired.differences)
        return document

    def lines(self) -> Iterator[str]:
        """Yield the statement, the Elo difference, the counts, and what the test says."""
        evidence, elo, stop = self.evidence, self.elo, self.stop
        low, high = evidence.ends
        yield self.statement
        interval = (
            f"95 % interval {write_ends(elo.low, elo.high, '.1f')} (corrected for early stopping)"
        )
        yield f"Elo difference {signed(elo.value, '+.1f')}, {interval}"
        by_value = zip(evidence.values, evidence.counts, strict=True)
        seen = ", ".join(f"{sentences.name_value(value)}: {count:,}" for value, count in by_value)
        pairs = counted(evidence.pairs, "pair")
        if self.paired:
            yield f"{pairs} played by both; by how much {self.new} had more:"
        else:
            yield f"{pairs}, by the score of {self.new}:"
        yield f"  {seen}"
        hypotheses = f"{stop.elo0:g} (H0) against {stop.elo1:g} (H1)"
        yield f"test of an Elo difference of {hypotheses}: {evidence.verdict}"
        ratio = signed(evidence.ratio, ".2f")
        yield f"log-likelihood ratio {ratio}, bounds {low:.2f} and {high:.2f}"

    def difference_lines(self, room: int | None = None) -> Iterator[str]:
        """Yield what differs between two versions on the same deals, nothing for two opponents.

        The lines of the table have at most `room` columns, and without it whole labels.
        """
        if not (paired := self.paired):
            return
        yield ""
        if paired.differences.empty:
            yield "no game is left to compare"
            return
        rows = plain_rows(paired.differences)
        most = room and max(room - _OTHERS, _NAME_WIDTH)
        names = short_names((str(row["name"]) for row in rows), most)
        width, write_name = names.column(_NAME_WIDTH)
        yield f"{'part':<8} {pad('name', width)} {_HEAD}"
        yield from (_line(row, write_name(row["name"])) for row in rows)
        yield ""
        yield from describe_paired(paired)
        decided = len(paired.decided)
        if decided:
            where = f"{DETAILS}/{DECIDED.file}"
            yield f"the change decided {counted(decided, 'game')} ({where}); the first of them:"
        else:
            yield "the change decided no game"


def make_comparison(
    tournament: Tournament, stop: Sprt, store: Store, counted: Counts, verdicts: Columns
) -> SprtResult:
    """Return the results of the games of a comparison, all of which are in the store.

    `counted` is what they are counted into, and `verdicts` are those without the test.
    """
    new, old, *against = tournament.labels
    found = find_out(tournament.pairings, counted.faults, tournament.max_faults)
    out = tuple(label for label in tournament.labels if label in found)
    seen = sentences.count_observations(tournament, store, 0, tournament.most_pairs)
    evidence = weigh(tournament, stop, seen, out)
    mean = evidence.estimate()
    paired = make_paired_games(tournament, store, mean, out) if tournament.paired else None
    ends = Estimate(mean.value - 1, mean.low - 1, mean.high - 1, mean.error)
    likely = math.nan
    for bot, opponent, chance in verdicts.rows(["bot", "opponent", "likely"]):
        if {bot, opponent} == {new, old} and chance is not None:
            likely = chance if bot == new else 1 - chance
    return SprtResult(
        new,
        old,
        tuple(against),
        stop,
        evidence,
        decide(evidence, new, old, out),
        Estimate(*map(evidence.elo, mean[:3])).scaled(1, 1),
        counted.total - sum(fault.games for fault in counted.faults if fault.kind == BY_RULE),
        out,
        comparison_command(tournament, stop),
        paired,
        likely,
        mean.scaled(0.5) if paired else ends,
    )


def judge_compared(verdicts: Columns, found: SprtResult) -> Columns:
    """Return the verdicts of a comparison, whose two bots have the word and lead of its test."""
    ahead, behind, elo = found.new, found.old, found.elo
    if elo.value < 0:
        ahead, behind, elo = behind, ahead, Estimate(-elo.value, -elo.high, -elo.low)
    judged = ahead, behind, *elo.cells, round(found.likely_ahead, 4), found.word
    return VERDICTS.make(
        [judged if {*row[:2]} == {ahead, behind} else row for row in verdicts.rows()]
    )


class Compared(NamedTuple):
    """What a comparison of two bots has found, in a sentence, and what would show more.

    The `statement` is the sentence without its interval, with the scores. `claim` is what may be
    said of the lead, None where faults decide, or nothing yet. About so
    many `further_pairs` would show which of the two is stronger, if the difference stays what it
    seems; None if that cannot be said.
    """

    sentence: str
    claim: Claim | None
    further_pairs: int | None
    statement: str
    finished: bool = True

    def sentences(self, where: str = "") -> Iterator[str]:
        """Yield the sentences, the most important one first; it begins with `where`."""
        yield as_sentence(f"{where}{self.sentence}")
        if self.claim and self.claim not in ("better", "weaker"):
            supposed = ", if the difference stays what it seems" if self.further_pairs else ""
            cost = describe_cost(self.further_pairs)
            yield f"What would tell which of the two is stronger: {cost}{supposed}."


def find_compared(result: SprtResult, *, finished: bool = True) -> Compared:
    """Return what may be said of a comparison; before its end nothing is said to be decided."""
    elo, pairs, new = result.elo, result.evidence.pairs, result.new
    faulty = {*result.out} & {result.new, result.old}
    if faulty or (result.against and {*result.against} <= {*result.out}):
        return Compared(result.sentence, None, None, result.statement)
    if not finished:
        sentence = f"undecided so far: {new} is at {write_lead(elo)}, and the test has not ended"
        said = "Undecided so far: the test has not ended."
        return Compared(sentence, None, None, said, finished=False)
    claim = make_claim(result.verdict, elo, result.stop, pairs)
    return Compared(result.sentence, claim, count_further(elo, pairs), result.statement)


def count_further(elo: Estimate, pairs: int) -> int | None:
    """Return about how many further pairs would leave 0 out of the interval of a difference.

    None where the difference is 0, as it is shown, or nothing was played.

    >>> count_further(Estimate(10.0, -10.0, 30.0), 500), count_further(Estimate(0.3, -9, 9), 500)
    (1500, None)
    """
    if not pairs or not round(elo.value):
        return None
    growth = ((elo.high - elo.low) / 2 / elo.value) ** 2
    return max(1, FEWEST_PAIRS - pairs, math.ceil(pairs * (growth - 1)))


def comparison_command(tournament: Tournament, stop: Sprt) -> str:
    """Return the command that plays a comparison again, nothing if only a program can."""
    if tournament.max_faults != MAX_FAULTS:
        return ""
    if (found := name_bots(tournament.entries)) is None:
        return ""
    specs, lane = found
    words = [word for spec in specs[2:] for word in ("--against", spec)]
    for option in _OPTIONS:
        words += [f"--{option}", f"{getattr(stop, option):.12g}"]
    words += ["--max-pairs", str(stop.max_pairs), *common_options(tournament)]
    return arena_command("compare", specs[:2], words + lane)


def comparison_writers(
    comparison: SprtResult, lead_parts: Callable[[], LeadParts]
) -> Mapping[str, Writer]:
    """Return the writers of a comparison's files."""
    text = json.dumps(comparison.document(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    writers: dict[str, Writer] = {
        COMPARISON: lambda file: file.write(text),
        LEAD_PARTS.file: lambda file: csv_writer(lead_parts().table())(file),
    }
    if paired := comparison.paired:
        writers[DIFFERENCES.file] = csv_writer(paired.differences)
        writers[DECIDED.file] = csv_writer(paired.decided)
    return writers


def describe_paired(paired: PairedGames) -> Iterator[str]:
    """Yield how much two versions have in common on the same deals, and what that saves."""
    games, separate = paired.games, paired.separate_games
    same = f"{2 * paired.same_games:,} of {games:,} games"
    yield f"{same} are the same move by move for both versions"
    times = separate / games if games else 0
    yield f"two separate round robins would need {separate:,} games, {times:.1f} times as many"


def _line(row: Mapping[str, Any], name: str) -> str:
    """Return a row of the table of differences; without Elo points, these are left out."""
    new, old = (f"{row[key]:.1%}" for key in ("new", "old"))
    gap = signed(float(new[:-1]) - float(old[:-1]), "+.1f")  # of what stands beside it
    _, ends = write_row(row, "difference", "+.1%", prefix="")
    line = f"{row['part']:<8} {name} {new:>6} {old:>6} {gap + '%':>7} {ends:>14}"
    elo, ends = write_row(row, "elo", "+.0f")
    return f"{line} {elo:>5} {ends:>12}".rstrip()
