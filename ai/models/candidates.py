"""Sentences of the sources as candidates for an answer: what each covers of the question, and which are chosen."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ai.errors import ModelTimeout
from ai.intent.times import read_times
from ai.model import PromptSource
from ai.models.demands import REPEATS, SAYS_NOTHING, Demands, alike
from ai.text.markdown import plain
from ai.text.question_type import (
    WantedKind,
    defines,
    denies,
    first_word,
    gives_reason,
    offers,
    role_of,
    topic_of,
    wanted_of,
)
from ai.text.sentences import MARKER, Span, split_sentences, trimmed, word_list
from ai.text.support import WORD, carries, fold, words_of
from retrieval.english.alike import ALIKE, EARLIER
from retrieval.english.lists import UNWEIGHED_WORDS
from retrieval.english.stems import IRREGULAR, root_of
from retrieval.model import Intent, Mention, TimeRange

VERSION = 6
"""Raised with every change of what is a candidate; earlier ones still run for entries that name them. 3: a sentence
could begin with a pronoun whose antecedent was not told, or say nothing of the role that is asked for; 4: a word that
no source holds, or that stands beside another deed alone, weighed no more than its share; 5: a word of like meaning
counted for nothing of the share, and a pronoun for nothing of what it means."""
BOUND_SINCE = 4
DEMANDS_SINCE = 5
MEANT_SINCE = 6

_YEAR = re.compile(r"(?<![\d,.])(1[5-9]\d\d|20\d\d)(?!\d|[,.]\d)")
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n")
_HEADING = re.compile(r"[^\W\d_][^\n.!?:;]{2,79}")
_TOKEN = re.compile(r"[^\W\d_]+")
_FIGURE = re.compile(r"\b(?:population|inhabitants)\b", re.IGNORECASE)
"""A figure is no event: it answers nobody who asks only what happened."""

_ASKING = word_list(
    "happen happened happening tell describe explain give list find show know say said information kind type name "
    "called mean please story first time year years day date place people person number amount lot anything something "
    "want wanted wants use used using do does did"
)
_WHY = re.compile(r"\W*(?:why|for what reason)\b", re.IGNORECASE)
_FORBIDS = re.compile(r"\W*(?:never|do not|don['’]t|no)\b", re.IGNORECASE)
_HOW = re.compile(
    r"\bhow\s+(long|far|tall|high|deep|wide|thick|old|heavy|hot|cold|warm|large|big|soon|often|frequently)\b",
    re.IGNORECASE,
)
"""The adjective of a question word: a sentence that says the amount need not say it, unless it is all that is asked."""
_MEANT = 2
_MANY = 3
HANGING = word_list(
    "he she they it this that these those his her their its him them such here there but and so then thus therefore "
    "however moreover nevertheless accordingly meanwhile otherwise besides also yet or nor hence"
)
"""First words that lean on the sentence before."""
_MEANING = word_list("he she they it this that these those his her their its him them such")
"""First words that mean something named before: without it nobody knows who or what is spoken of."""
_MEANS_NOTHING = re.compile(
    r"\W*(?:it\s+(?:is|was|has\s+been|had\s+been|would\s+be|may\s+be|seems|seemed|appears|appeared)\s+(?:\w+\s+)?(?:that|"
    r"(?:true|clear|evident|certain|likely|probable|possible|impossible|necessary|important|said|believed|thought|known|"
    r"estimated|reported)\s+(?:that|to|for))|those\s+(?:who|whose|whom|which|of))\b",
    re.IGNORECASE,
)
"""`It is said that`, `Those who`: the word means nothing before it."""

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
    `row`: it is what a row, cell or feature states."""

    score: int
    index: int
    start: int
    text: str
    lead: str = ""
    row: bool = False

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
    reads = [ReadSource.of(source) for source in sources]
    asked = ReadQuestion.of(question, intent, reads, version=version)
    found: list[Candidate] = []
    for read in reads:
        if time.monotonic() > stop_at:
            raise ModelTimeout("the deadline passed before all sources were read")
        if asked.coverage(read.tokens) >= parameters.min_source_coverage:
            found += _of_source(read, asked, parameters)
    return sorted(found, key=lambda c: (-c.score, c.index, c.start))


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


def question_terms(question: str, intent: Intent) -> frozenset[str]:
    """The folded content words of the question without the words that only ask, and without the names and times that
    are checked apart."""
    named = {fold(w) for mention in intent.mentions for w in WORD.findall(mention.surface)}
    words = {fold(match[0]) for match in WORD.finditer(question) if not match[0][0].isdigit()}
    terms = frozenset(
        w for w in words if w not in UNWEIGHED_WORDS and w not in _ASKING and w not in named and len(w) > 1
    )
    return terms - {fold(found[1]) for found in _HOW.finditer(question)} or terms


def names(surface: str, tokens: frozenset[str]) -> bool:
    """True if `tokens` carry every content word of a name, in any order and form."""
    words = {fold(word) for word in WORD.findall(surface)} - UNWEIGHED_WORDS
    return bool(words) and all(carries(tokens, word) for word in words)


def holds_marker(text: str) -> bool:
    """True if the text has something that would be read as a citation of ours."""
    return ("[" in text or "【" in text or "［" in text) and MARKER.search(text) is not None


def tokens_of(source: PromptSource) -> frozenset[str]:
    """The folded words of title, statement and text, and what it is about."""
    return _tokens(" ".join((source.title, source.statement or "", source.text)).casefold()) | _about(source)


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence as read once: its words, its years. `around` are its words, those of the two sentences before it,
    which its pronouns may mean, and the title's. `follows`: it continues the paragraph of the sentence before."""

    start: int
    text: str
    tokens: frozenset[str]
    around: frozenset[str]
    years: frozenset[int]
    follows: bool


@dataclass(frozen=True, slots=True)
class ReadSource:
    """A source as read once. A row, cell or feature is its statement, and is of the types of what it is about."""

    source: PromptSource
    tokens: frozenset[str]
    title: frozenset[str]
    sentences: tuple[ReadSentence, ...]

    @classmethod
    def of(cls, source: PromptSource) -> ReadSource:
        text = source.statement or source.text
        about = _about(source)
        spans = (Span(0, len(text)),) if source.statement else _spans(text)
        heading = heading_of(text, spans[0]) if source.statement is None and spans else ""
        title = _tokens(f"{source.title} {heading}".casefold())
        sentences: list[ReadSentence] = []
        for span in spans:
            shown = " ".join(plain(text[span.start : span.end]).split())
            tokens = _tokens(shown.casefold()) | about
            around = title.union(tokens, *(before.tokens for before in sentences[-_MEANT:]))
            follows = bool(sentences) and not _PARAGRAPH.search(text, max(0, span.start - 4), span.start)
            sentences.append(ReadSentence(span.start, shown, tokens, around, _years(shown), follows))
        return cls(source, title.union(*(each.tokens for each in sentences)), title, tuple(sentences))


def heading_of(text: str, first: Span) -> str:
    """The line that a plain text opens with, where it has no stop: its title, whatever its file is called."""
    line = text[first.start : first.end]
    return line if _HEADING.fullmatch(line) and text[first.end : first.end + 1] == "\n" else ""


def _about(source: PromptSource) -> frozenset[str]:
    if source.statement is None:
        return frozenset()
    return _tokens(" ".join(f"{entity.type} {entity.name}" for entity in source.entities).casefold())


@lru_cache(maxsize=256)
def _spans(text: str) -> tuple[Span, ...]:
    return tuple(trimmed(text, span) for span in split_sentences(text))


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """The reading of the question. `weights` are BM25's idf of its terms over the sentences given, in thousandths,
    `forms` the words of the sources that are forms of each term."""

    question: str
    intent: Intent
    wanted: WantedKind
    topic: re.Pattern[str] | None
    weights: Mapping[str, int]
    forms: Mapping[str, frozenset[str]]
    documents: Mapping[str, frozenset[str]]
    denies: bool
    role: str | None
    demands: Demands | None
    version: int = VERSION

    @property
    def lenient(self) -> bool:
        """True by the rules that let a sentence lean on what nobody has told."""
        return self.version < BOUND_SINCE

    @classmethod
    def of(cls, question: str, intent: Intent, reads: Sequence[ReadSource], *, version: int = VERSION) -> ReadQuestion:
        """The question over its sources, by the rules of a version."""
        vocabulary = frozenset[str]().union(*(read.tokens for read in reads))
        terms = question_terms(question, intent)
        if version >= DEMANDS_SINCE:
            terms |= REPEATS & {fold(match[0]) for match in WORD.finditer(question)}
        forms = {term: _forms(term, vocabulary) for term in sorted(terms)}
        families = ALIKE if version >= MEANT_SINCE else EARLIER
        like = {term: alike(term, vocabulary, families) for term in forms}
        demands = (
            Demands.of(question, forms, like, vocabulary, strict=version >= MEANT_SINCE)
            if version >= DEMANDS_SINCE
            else None
        )
        if version >= MEANT_SINCE:
            forms = {term: found or like[term] for term, found in forms.items()}
            forms = {term: found for term, found in forms.items() if found or term not in SAYS_NOTHING} or forms
        sentences = [sentence.tokens for read in reads for sentence in read.sentences]
        weights = {}
        for term, words in forms.items():
            n = sum(not words.isdisjoint(tokens) for tokens in sentences)
            weights[term] = int(1000 * math.log(1 + (len(sentences) - n + 0.5) / (n + 0.5)))
        return cls(
            question,
            intent,
            wanted_of(question),
            topic_of(question),
            weights,
            forms,
            _documents(reads),
            denies(question),
            role_of(question),
            demands,
            version,
        )

    def coverage(self, tokens: frozenset[str]) -> int:
        """The share of the terms, by weight, that occur; 1000 for a question that has none."""
        total = sum(self.weights.values())
        held = sum(weight for term, weight in self.weights.items() if not self.forms[term].isdisjoint(tokens))
        return 1000 * held // total if total else 1000

    def agrees(self, text: str) -> bool:
        """True unless the question denies or excepts something and the text does neither, or it asks why something is
        so and the text gives no reason, or forbids it."""
        if self.denies:
            return denies(text)
        return not _WHY.match(self.question) or (gives_reason(text) and not _FORBIDS.match(text))

    def demanded(self, read: ReadSentence, within: ReadSource, meant: frozenset[str]) -> bool:
        """True if a sentence of prose, whose pronoun means one of the words `meant`, says what this question demands;
        versions before `DEMANDS_SINCE` demand nothing."""
        return self.demands is None or self.demands.met(read.text, read.tokens, within.title | meant)

    def says_role(self, tokens: frozenset[str]) -> bool:
        """True unless the question asks who had a role, and the words say nothing of it."""
        forms = self.forms.get(fold(self.role)) if self.role else None
        return forms is None or not forms.isdisjoint(tokens)

    def names_one(self, tokens: frozenset[str]) -> bool:
        """True if the words name one of several places or things that the question names."""
        return len(self.intent.mentions) > 1 and any(self._named(m, tokens) for m in self.intent.mentions)

    def concerns(self, tokens: frozenset[str]) -> bool:
        """True if the words name every place or thing that the question names, by one of its names."""
        return all(self._named(mention, tokens) for mention in self.intent.mentions)

    @staticmethod
    def _named(mention: Mention, tokens: frozenset[str]) -> bool:
        return names(mention.surface, tokens) or any(names(c.name, tokens) for c in mention.candidates)

    def is_timely(self, read: ReadSentence, source: PromptSource) -> bool:
        """True if the sentence stands under the times asked for: by its own years (and days, where a part of a year is
        asked for) or, undated, by the nearest year before it in its source, else by the title's. Where the
        question asks only what happened then, an undated sentence must name the place that is asked for."""
        times = self.intent.times
        if not times or read.years:
            in_year = _within(read.years, times) or not read.years.isdisjoint(_years(self.question))
            return not times or (in_year and _meets(read.text, times))
        before = _YEAR.findall(source.text, 0, read.start)
        dated = frozenset({int(before[-1])}) if before else _years(source.title)
        says_what = bool(self.weights) or (bool(self.intent.mentions) and self.concerns(read.tokens))
        return says_what and _within(dated, times)


def _documents(reads: Sequence[ReadSource]) -> dict[str, frozenset[str]]:
    """The words of all sources of one document."""
    found: dict[str, frozenset[str]] = {}
    for read in reads:
        found[_document(read)] = found.get(_document(read), frozenset()) | read.tokens
    return found


def _document(read: ReadSource) -> str:
    return read.source.title.partition(" — ")[0]


def _of_source(read: ReadSource, asked: ReadQuestion, parameters: Parameters) -> list[Candidate]:
    found = (_candidate(read, place, asked, parameters) for place in range(len(read.sentences)))
    return [each for each in found if each is not None]


def _candidate(  # noqa: PLR0911 - one refusal for each reason
    within: ReadSource, place: int, asked: ReadQuestion, parameters: Parameters
) -> Candidate | None:
    """The sentence as a candidate, with the one before it when it hangs on that or lacks what that offers; or None
    where it cannot answer."""
    read = within.sentences[place]
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
    if not (is_whole(read.text, within.source) and asked.is_timely(read, within.source)):
        return None
    hangs = first_word(read.text) in HANGING
    if not is_about(read, within, asked, parameters, hangs=hangs, covered=covered):
        return None
    loosely = covered >= parameters.well_covered and asked.wanted is not WantedKind.NUMBER
    offered = offers(read.text, asked.wanted, asked.question, loosely=loosely)
    lead = lead_of(within, place, parameters) if hangs or not offered else None
    if not asked.lenient and not asked.says_role(read.tokens):
        return None
    if within.source.statement is None and not asked.demanded(read, within, meant):
        return None
    if not (asked.lenient or lead or within.source.statement) and means_another(read.text):
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
    return Candidate(score, within.source.index, read.start, read.text, lead.text if lead else "", row)


def is_about(
    read: ReadSentence, within: ReadSource, asked: ReadQuestion, parameters: Parameters, *, hangs: bool, covered: int
) -> bool:
    """True if the sentence concerns what the question names: in its own words or its title's; in the two sentences
    before, when it leans on them or says more than one word of the question; or elsewhere in its source, when it
    names some of it, tells it in the first person, or says several words of the question and all but all of
    them; or, for three words and more, in another passage of the same document. What a question denies or excepts is
    never told by a sentence that does neither."""
    if within.source.statement is None and not asked.agrees(read.text):
        return False
    several, told = len(asked.weights) > 1 or bool(asked.intent.times), not _FIRST_PERSON.isdisjoint(read.tokens)
    if asked.concerns(read.tokens | within.title) or ((hangs or several) and asked.concerns(read.around)):
        return True
    full = covered >= parameters.well_covered
    if not asked.concerns(within.tokens):
        return full and len(asked.weights) >= _MANY and asked.concerns(asked.documents[_document(within)])
    return told or (len(asked.weights) > 1 and full) or asked.names_one(read.tokens)


def means_another(text: str) -> bool:
    """True if a sentence begins with a word that means something named before it."""
    return first_word(text) in _MEANING and not _MEANS_NOTHING.match(text)


def lead_of(within: ReadSource, place: int, parameters: Parameters) -> ReadSentence | None:
    """The sentence before, when it stands in the same paragraph and alone."""
    if not within.sentences[place].follows:
        return None
    before = within.sentences[place - 1]
    fits = before.text.count(" ") < parameters.long_words and first_word(before.text) not in HANGING
    return before if fits and is_whole(before.text, within.source) else None


def _bonus(read: ReadSentence, named: bool, asked: ReadQuestion, parameters: Parameters) -> int:
    bonus = parameters.wanted_bonus * (asked.wanted is not WantedKind.ANY) + parameters.entity_bonus * named
    bonus += parameters.year_bonus * bool(asked.intent.times and read.years)
    return bonus + parameters.defining_bonus * (asked.topic is not None and defines(read.text, asked.topic))


def _covered(read: ReadSentence, within: ReadSource, asked: ReadQuestion, meant: frozenset[str]) -> int:
    """How much of the question the sentence covers, with what its pronoun means; what its title or heading adds counts
    half."""
    alone = asked.coverage(read.tokens)
    said = read.tokens | meant
    return (asked.coverage(said) + asked.coverage(said | within.title)) // 2 if alone else 0


def _meant(within: ReadSource, place: int, asked: ReadQuestion, parameters: Parameters) -> frozenset[str]:
    """The words of the sentence before, where this one begins with a word for something named there."""
    if asked.version < MEANT_SINCE or not means_another(within.sentences[place].text):
        return frozenset()
    lead = lead_of(within, place, parameters)
    return lead.tokens if lead is not None else frozenset()


def is_whole(text: str, source: PromptSource) -> bool:
    """It starts like a sentence, ends like one, is one, and holds nothing that would be read as a marker. Rows and
    cells speak through their statement."""
    if holds_marker(text) or len(split_sentences(text)) != 1:
        return False
    if source.statement is not None:
        return True
    starts = text[0].isupper() or text[0].isdigit() or text[0] in "\"'“‘(”"
    if not starts:  # a name that is written small: `tideq stores messages`
        starts = first_word(text) in _tokens(source.title.casefold())
    return starts and text.rstrip("\"'”’)")[-1:] in {".", "!", "?"}


def _repeats(candidate: Candidate, chosen: Sequence[Candidate], parameters: Parameters) -> bool:
    if candidate.row:
        return any(candidate.text == each.text for each in chosen)
    return any(_alike(candidate, each) >= parameters.alike for each in chosen)


def _alike(one: Candidate, other: Candidate) -> int:
    a, b = words_of(one.text).content, words_of(other.text).content
    return 1000 * len(a & b) // max(1, min(len(a), len(b)))


def _tokens(folded: str) -> frozenset[str]:
    return frozenset(_TOKEN.findall(folded))


def _forms(term: str, vocabulary: frozenset[str]) -> frozenset[str]:
    """The words of the vocabulary that are forms of the term; only what shares three letters, or is irregular, is
    looked at."""
    if len(term) < 3:
        return frozenset({term}) & vocabulary
    heads, root = (term[:3], IRREGULAR.get(term, term)[:3]), root_of(term)
    return frozenset(w for w in vocabulary if (w.startswith(heads) or w in IRREGULAR) and root_of(w) == root)


def _years(text: str) -> frozenset[int]:
    return frozenset(int(year) for year in _YEAR.findall(text))


def _within(years: Iterable[int], times: Sequence[TimeRange]) -> bool:
    return any(time_range.start.year <= year <= time_range.end.year for year in years for time_range in times)


def _meets(text: str, times: Sequence[TimeRange]) -> bool:
    """True if a date that the text gives shares a day with a time asked for; years are told apart before."""
    if all(asked == TimeRange.year(asked.start.year, asked.end.year) for asked in times):
        return True
    told = [span.time for span in read_times(text)]
    return not told or any(date.overlaps(asked) for date in told for asked in times)
