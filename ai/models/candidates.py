"""Sentences of the sources as candidates for an answer: what each covers of the question, and which are chosen."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

from ai.errors import ModelTimeout
from ai.model import PromptSource
from ai.models.reading.lines import denied, replied, section_told, told_by_lines
from ai.models.reading.question import ReadQuestion
from ai.models.reading.source import ReadSentence, ReadSource, document_of
from ai.models.reading.tokens import tokens_in
from ai.models.reading.versions import RELEASED, VERSION
from ai.text.leaning import leans_back
from ai.text.lines import is_timed
from ai.text.markdown import code_blocks
from ai.text.question_type import (
    WantedKind,
    defines,
    first_word,
    offers,
)
from ai.text.sentences import MARKER, split_sentences
from ai.text.support import words_of
from retrieval.english.lists import word_list
from retrieval.model import Intent

_FIGURE = re.compile(r"\b(?:population|inhabitants)\b", re.IGNORECASE)
"""A figure is no event: it answers nobody who asks only what happened."""
_MANY = 3
SET_OUT = 2_000
"""The score of what answers by how it is set: more than any sentence has by its words."""
_CODED = re.compile(r"``(?:(?!``).)++``|`[^`]++`")
_FIRST_PERSON = word_list("i my me we our us mine")


@dataclass(frozen=True, slots=True)
class Parameters:
    """Thresholds and weights, in thousandths where not said otherwise."""

    min_coverage: int = 560
    min_source_coverage: int = 500
    rank_slope: int = 60
    well_covered: int = 900
    near_best: int = 800
    max_sentences: int = 3
    max_rows: int = 8
    max_words: int = 120
    min_words: int = 4
    alike: int = 700
    year_bonus: int = 250
    entity_bonus: int = 100
    wanted_bonus: int = 150
    defining_bonus: int = 200
    hanging_penalty: int = 100
    lead_penalty: int = 50
    long_penalty: int = 100
    long_words: int = 60


PARAMETERS = Parameters()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence of a source that may answer, with its score, and the sentence before it where it needs that one.
    `row`: it is what a row, cell or feature states. `beside`: by the rules of meaning it answers another question."""

    score: int
    index: int
    start: int
    text: str
    lead: str = ""
    row: bool = False
    beside: bool = False

    @property
    def lines(self) -> tuple[str, ...]:
        """The sentences, in order, each with its marker."""
        return tuple(f"{text} [{self.index}]" for text in (self.lead, self.text) if text)


def candidates(
    question: str,
    intent: Intent,
    sources: Sequence[PromptSource],
    parameters: Parameters,
    stop_at: float,
    *,
    version: int = VERSION,
) -> list[Candidate]:
    """All candidates, best first, ties by source and place, by the rules of a version. Raises `ModelTimeout` when
    `stop_at` (monotonic seconds) passes between two sources."""
    later = version > RELEASED
    reads = [ReadSource.of(source, lined=later) for source in sources]
    asked = ReadQuestion.of(question, intent, reads, version=version)
    found: list[Candidate] = []
    replies = {**denied(question, reads), **replied(question, reads)} if later else {}
    sectioned = False
    for read in reads:
        if time.monotonic() > stop_at:
            raise ModelTimeout("the deadline passed before all sources were read")
        if asked.is_for(read):
            row = read.sentences[0]
            found.append(Candidate(1000 + parameters.wanted_bonus, read.source.index, row.start, row.text, row=True))
            continue
        told = told_by_lines(question, read) if later else ()
        section = section_told(question, read) if later and not sectioned else ()
        section = section or replies.get(read.source.index, ())
        if section:
            sectioned = True
            found += [Candidate(SET_OUT, read.source.index, each.start, each.text) for each in section]
        elif told:
            found += [Candidate(SET_OUT, read.source.index, each.start, _stopped(each.text), row=True) for each in told]
        elif asked.may_tell(read) and asked.coverage(read.tokens) >= parameters.min_source_coverage:
            found += _of_source(read, asked, parameters)
    return sorted(found, key=lambda c: (-c.score, c.index, c.start))


def _stopped(text: str) -> str:
    """A line with a stop at its end, so that the next one is another sentence."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def choose(found: Sequence[Candidate], parameters: Parameters) -> list[Candidate]:
    """The best candidate, and others that are nearly as good and say something else: of rows, which are all alike,
    all that are as good."""
    chosen: list[Candidate] = []
    said = set[str]()
    for candidate in found:
        rows = candidate.row and bool(chosen) and chosen[0].row
        if len(chosen) == (parameters.max_rows if rows else parameters.max_sentences):
            break
        if chosen and 1000 * candidate.score < (1000 if rows else parameters.near_best) * chosen[0].score:
            break
        if said.isdisjoint((candidate.lead, candidate.text)) and not _repeats(candidate, chosen, parameters):
            chosen.append(candidate)
            said |= {candidate.text, candidate.lead} - {""}
    return chosen


def holds_marker(text: str) -> bool:
    """True if the text has something that would be read as a citation of ours."""
    return ("[" in text or "【" in text or "［" in text) and MARKER.search(text) is not None


def _of_source(read: ReadSource, asked: ReadQuestion, parameters: Parameters) -> list[Candidate]:
    found = (_candidate(read, place, asked, parameters) for place in range(len(read.sentences)))
    return [each for each in found if each is not None]


def _candidate(  # noqa: PLR0911 - one refusal for each reason
    within: ReadSource, place: int, asked: ReadQuestion, parameters: Parameters
) -> Candidate | None:
    """The sentence as a candidate, with the one before it when it hangs on that or lacks what that offers; or None
    where it cannot answer."""
    read = within.sentences[place]
    if read.answers and asked.repeats(read.answers, within.title):
        return _replied(within, place, asked, parameters)
    if read.item if asked.lenient else read.text.endswith("?"):
        return None
    meant = _meant(within, place, asked, parameters)
    covered, words = _covered(read, within, asked, meant), read.text.count(" ") + 1
    behind = 0 if within.source.statement is not None else parameters.rank_slope * (within.source.index - 1)
    # a denial is the whole of what is said: a sentence that lacks a word of it denies something else
    least = parameters.well_covered if asked.denies and within.source.statement is None else 0
    if (
        covered < max(least, parameters.min_coverage + behind)
        or not parameters.min_words <= words <= parameters.max_words
    ):
        return None
    if not (is_whole(read.text, within.source, coded=not asked.lenient) and asked.is_timely(read, within.source)):
        return None
    if not asked.spelt_out(read.text):
        return None
    # what a question denies or excepts is never told by a sentence that does neither
    if within.source.statement is None and not asked.agrees(read.text):
        return None
    hangs = asked.hangs(read.text)
    if not is_about(read, within, asked, parameters, hangs=hangs, covered=covered):
        return None
    said = asked.under_head(read.text, within.source)
    offered = asked.offered(said, full=covered >= parameters.well_covered)
    lead = lead_of(within, place, parameters, coded=not asked.lenient) if hangs or not offered else None
    if not asked.lenient and not asked.says_role(read.tokens):
        return None
    if within.source.statement is None and not asked.demanded(read, within, meant):
        return None
    if not (asked.lenient or lead or within.source.statement) and asked.means_another(read.text):
        return None
    if not offered and not (
        lead and asked.wanted is WantedKind.TIME and offers(lead.text, asked.wanted, asked.question)
    ):
        return None
    named = bool(asked.intent.mentions) and asked.concerns(read.tokens)
    if not asked.weights and (_FIGURE.search(read.text) or not (named or asked.intent.times)):
        return None
    score = covered + _bonus(read, named, asked, parameters) - parameters.long_penalty * (words > parameters.long_words)
    score -= behind + (parameters.lead_penalty if lead else parameters.hanging_penalty * hangs)
    row = within.source.statement is not None
    return Candidate(score, within.source.index, read.start, said, lead.text if lead else "", row)


def _replied(within: ReadSource, place: int, asked: ReadQuestion, parameters: Parameters) -> Candidate | None:
    """The sentence that follows the same question in the source, behind that question where it is in the text and the
    sentence begins with a word for what it asks about."""
    read = within.sentences[place]
    before = within.sentences[place - 1].text if place else ""
    told = before == read.answers and asked.hangs(read.text, reply=True)
    lead = before if told else ""
    if read.text.count(" ") >= parameters.max_words or holds_marker(read.text) or holds_marker(lead):
        return None
    if not asked.is_timely(read, within.source) or (not lead and asked.hangs(read.text, reply=True)):
        return None
    score = 1000 + parameters.wanted_bonus + parameters.defining_bonus
    return Candidate(score, within.source.index, read.start, read.text, lead)


def is_about(
    read: ReadSentence, within: ReadSource, asked: ReadQuestion, parameters: Parameters, *, hangs: bool, covered: int
) -> bool:
    """True if the sentence concerns what the question names: in its own words or its title's; in the two sentences
    before, when it leans on them or says more than one word of the question; or elsewhere in its source, when it
    names some of it, tells it in the first person, or says several words of the question and all but all of
    them; or, for three words and more, in another passage of the same document."""
    several, told = len(asked.weights) > 1 or bool(asked.intent.times), not _FIRST_PERSON.isdisjoint(read.tokens)
    if asked.concerns(read.tokens | within.title) or ((hangs or several) and asked.concerns(read.around)):
        return True
    full = covered >= parameters.well_covered
    if not asked.concerns(within.tokens):
        return full and len(asked.weights) >= _MANY and asked.concerns(asked.documents[document_of(within)])
    return told or (len(asked.weights) > 1 and full) or asked.names_one(read.tokens)


def lead_of(within: ReadSource, place: int, parameters: Parameters, *, coded: bool) -> ReadSentence | None:
    """The sentence before, when it stands in the same paragraph and alone. `coded`: see `is_whole`."""
    if not within.sentences[place].follows:
        return None
    before = within.sentences[place - 1]
    fits = before.text.count(" ") < parameters.long_words and not leans_back(before.text)
    return before if fits and is_whole(before.text, within.source, coded=coded) else None


def _bonus(read: ReadSentence, named: bool, asked: ReadQuestion, parameters: Parameters) -> int:
    bonus = parameters.wanted_bonus * (asked.wanted is not WantedKind.ANY) + parameters.entity_bonus * named
    bonus += parameters.year_bonus * bool(asked.intent.times and read.years)
    return bonus + parameters.defining_bonus * (asked.topic is not None and defines(read.text, asked.topic))


def _covered(read: ReadSentence, within: ReadSource, asked: ReadQuestion, meant: frozenset[str]) -> int:
    """How much of the question the sentence covers, with what its pronoun means; what its title or heading adds counts
    half."""
    said = read.tokens | meant
    measured = bool(meant) and asked.is_measured(read.text)
    alone = asked.coverage(said if measured else read.tokens)
    if alone and not asked.lenient and not _FIRST_PERSON.isdisjoint(read.tokens):
        return asked.coverage(said | within.title)  # who writes `we` is who the title names
    return (asked.coverage(said) + asked.coverage(said | within.title)) // 2 if alone else 0


def _meant(within: ReadSource, place: int, asked: ReadQuestion, parameters: Parameters) -> frozenset[str]:
    """The words of the sentence before, where this one begins with a word for something named there."""
    if asked.lenient or not asked.means_another(within.sentences[place].text):
        return frozenset()
    lead = lead_of(within, place, parameters, coded=True)
    return lead.tokens if lead is not None else frozenset()


def is_whole(text: str, source: PromptSource, *, coded: bool = True) -> bool:
    """It starts like a sentence or, where `coded`, with code, ends like one, is one, and holds nothing that would be
    read as a marker. Rows and cells speak through their statement."""
    if holds_marker(text) or len(split_sentences(text)) != 1:
        return False
    if source.statement is not None:
        return True
    starts = text[0].isupper() or text[0].isdigit() or text[0] in "\"'“‘(”"
    starts = starts or (coded and text[0] == "`")
    if not starts:  # a name that is written small: `tideq stores messages`
        starts = first_word(text) in tokens_in(source.title.casefold())
    ends = text.rstrip("\"'”’)")[-1:] in {".", "!", "?"}
    return starts and (ends or (coded and (is_timed(text) or ends_in_code(text, source.text))))


def is_code(said: str) -> bool:
    """True for what is nothing but code."""
    return said.startswith("`") and said.endswith("`") and not _CODED.sub("", said).strip()


def ends_in_code(said: str, text: str) -> bool:
    """True if what is said of a text ends with a block of code."""
    return said.endswith("`") and bool(code_blocks(text))


def _repeats(candidate: Candidate, chosen: Sequence[Candidate], parameters: Parameters) -> bool:
    if candidate.row:
        return any(candidate.text == each.text for each in chosen)
    return any(_alike(candidate, each) >= parameters.alike for each in chosen)


def _alike(one: Candidate, other: Candidate) -> int:
    a, b = words_of(one.text).content, words_of(other.text).content
    return 1000 * len(a & b) // max(1, min(len(a), len(b)))
