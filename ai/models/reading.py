"""Sources and question as the extractive model reads them, by the rules of a version: sentences with their words and
years, and what the question asks of a sentence."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ai.intent.times import read_times
from ai.model import PromptSource
from ai.models.demands import REPEATS, SAYS_LITTLE, SAYS_NOTHING, Demands, alike
from ai.models.rows import Row, beside_question
from ai.text.amounts import HEAT, LENGTH, MASS, states_amount, wanted_amount
from ai.text.entries import abbreviation_of, spells_out
from ai.text.leaning import HANGING, leans_back, means_another, orders_it
from ai.text.markdown import plain
from ai.text.meaning import meant as meanings
from ai.text.meaning.kinds import place_of
from ai.text.parts import Part, parts_of
from ai.text.question_type import (
    WantedKind,
    asks_why,
    denies,
    excludes_reason,
    first_word,
    gives_reason,
    offers,
    role_of,
    topic_of,
    wanted_of,
)
from ai.text.sentences import FINER, LINED, Span, bare_sentences, is_item
from ai.text.support import WORD, carries, fold, folded_words
from retrieval.english.alike import ALIKE, EARLIER
from retrieval.english.lists import MONTHS, UNWEIGHED_WORDS, word_list
from retrieval.english.stems import IRREGULAR, root_of
from retrieval.model import Intent, Mention, TimeRange

VERSION = 13
"""Raised with every change of what is a candidate; earlier ones still run for entries that name them. 3: a sentence
could begin with a pronoun whose antecedent was not told, or say nothing of the role that is asked for; 4: a word that
no source holds, or that stands beside another deed alone, weighed no more than its share; 5: a word of like meaning
counted for nothing of the share, and a pronoun for nothing of what it means; 6: no sentence named a thing with a number
in its name (`IPv6`, `Route 66`), and none began with code; 7: the sentence with most of the
question's words came first, however much likelier the reader found another, and a question could be an answer; 8: of a
long title the reader was not shown who tells the passage; 9: a name without its accents was another one, a sentence
full of names was no prose, none that names nothing was about what its passage names, and a gold medal was won by who
won a silver one; 10: what the reader found was beside the point for what stood behind `before` and `after`, or for not
saying `the advantage`; and a row answered who asks for the way back, for another row's name, in another unit, or for
how many where it counts nothing; 11: who asks of the killed was told of the injured, of one group of another, of one
day of another, or what another `he` did; a line that stands alone was no sentence and no answer, a list of
abbreviations and the head of a letter told nothing, a question came back with its reply, and of two questions in one
that with more words was answered alone; 12: what the next sentence refutes answered, one thing for another that the
source tells apart, and who is named once was unknown in the next passage."""
BOUND_SINCE = 4
DEMANDS_SINCE = 5
MEANT_SINCE = 6
NUMBERED_SINCE = 7
LED_SINCE = 8
NARRATED_SINCE = 9
SPELT_SINCE = 10
RELATED_SINCE = 11
EXCHANGED_SINCE = 12
OTHERWISE_SINCE = 13
_RULES = (
    (OTHERWISE_SINCE, meanings.RULES),
    (EXCHANGED_SINCE, meanings.EXCHANGED_SINCE),
    (RELATED_SINCE, meanings.RELATED_SINCE),
    (SPELT_SINCE, meanings.QUALIFIED_SINCE),
    (NARRATED_SINCE, meanings.SHARED_SINCE),
    (LED_SINCE, meanings.DENIED_SINCE),
    (NUMBERED_SINCE, meanings.ROOTED_SINCE),
    (0, meanings.FIRST_RULES),
)
"""The rules of meaning since each of these versions."""
_YEAR = re.compile(r"(?<![\d,.])(1[5-9]\d\d|20\d\d)(?!\d|[,.]\d)")
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n")
_HEADING = re.compile(r"[^\W\d_][^\n.!?:;]{2,79}")
_TOKEN = re.compile(r"[^\W\d_]+")
_AFTER_NUMBERS = word_list(
    "st nd rd th s am pm a p m g h l d k w v c f km cm mm nm kg mg ml cl dl ft in mi mph kmh kph kw kwh mw gb mb tb hz "
    "khz mhz ghz lb oz ha yr min sec hr bn bc ad ce bce x"
)
_WHOLE = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+")
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_ASKING = word_list(
    "happen happened happening tell describe explain give list find show know say said information kind type name "
    "called mean please story first time year years day date place people person number amount lot anything something "
    "want wanted wants use used using do does did"
)
_BECAUSE = re.compile(r"\b(because(?:\s+of)?|due\s+to|owing\s+to|thanks\s+to|since|out\s+of)\b", re.IGNORECASE)
_FORBIDS = re.compile(r"\W*(?:never|do not|don['’]t|no)\b", re.IGNORECASE)
_HOW = re.compile(
    r"\b(?:how|(?:at|to|above|below)\s+(?:what|which))\s+(temperature|long|far|tall|high|deep|wide|thick|old|heavy|hot|cold"
    r"|warm|large|big|soon|often|frequently)\b",
    re.IGNORECASE,
)
"""The adjective of a question word: a sentence that says the amount need not say it, unless it is all that is asked."""
_ONLY_ASKS = re.compile(
    r"\b(?:since\swhen|how\smuch\smoney"
    r"|(?:take|takes|took|taking)\splace|(?<=day\s)of\sthe\s(?:week|month|year))\b",
    re.IGNORECASE,
)
_SHORTENED = re.compile(r"(?:i|you|he|she|it|we|they|that|there|who|what|where|when|how)['’](?:m|re|ve|ll|d|s)")
"""Words of the question that are shortened."""
_OF_MEETING = re.compile(r"\b(?:minutes|meeting|session|sitting|hearing|assembly|inspection)\b", re.IGNORECASE)
_A_MONTH = re.compile(r"\b(?:" + "|".join(month.title() for month in MONTHS) + r")\b")
_MEANT = 2
_LEANT_ON = 6
_WHOLLY = 1000


def asked_apart(question: str, intent: Intent) -> tuple[tuple[Part, Intent], ...]:
    """The questions that were asked in one, each with its own part of the intent: the names that it has, else those of
    the parts before it, and its own times. None where it is one question, or asks for an operation."""
    parts = () if intent.operations else parts_of(question)
    found: list[tuple[Part, Intent]] = []
    for place, part in enumerate(parts):
        own = tuple(each for each in intent.mentions if each.surface and each.surface in part.question)
        before = " ".join(each.said for each in parts[:place])
        earlier = tuple(each for each in intent.mentions if each.surface in before or not before)
        times = intent.times if intent.map_time else tuple(span.time for span in read_times(part.question))
        found.append((part, replace(intent, mentions=own or earlier, times=times)))
    return tuple(found)


def question_terms(question: str, intent: Intent) -> frozenset[str]:
    """The folded content words of the question without the words that only ask, and without the names and times that
    are checked apart."""
    named = {fold(w) for mention in intent.mentions for w in WORD.findall(mention.surface)}
    words = {fold(match[0]) for match in WORD.finditer(question) if not match[0][0].isdigit()}
    terms = frozenset(
        w for w in words if w not in UNWEIGHED_WORDS and w not in _ASKING and w not in named and len(w) > 1
    )
    return terms - {fold(found[1]) for found in _HOW.finditer(question)} or terms


def telling_terms(question: str, terms: frozenset[str]) -> frozenset[str]:
    """The terms without those that belong to how it is asked: `I'm`, `since when`, `take place`, `how much money`,
    `which day of the week`."""
    only_asks = {fold(word) for found in _ONLY_ASKS.finditer(question) for word in WORD.findall(found[0])}
    return frozenset(term for term in terms if term not in only_asks and not _SHORTENED.fullmatch(term)) or terms


def lined_since(version: int) -> int:
    """How sources are cut by a version."""
    return FINER if version >= OTHERWISE_SINCE else LINED if version >= EXCHANGED_SINCE else 0


def _rules_of(version: int) -> int:
    """The rules of meaning that belong to a version of these."""
    return next(rules for since, rules in _RULES if version >= since)


def names(surface: str, tokens: frozenset[str]) -> bool:
    """True if `tokens` carry every content word of a name, in any order and form."""
    words = {fold(word) for word in WORD.findall(surface)} - UNWEIGHED_WORDS
    return bool(words) and all(carries(tokens, word) for word in words)


def names_by_number(surface: str, tokens: frozenset[str]) -> bool:
    """The same of a name with numbers in it, of which each is the same, as a whole: H1N1 is not H5N1."""
    numbers = _numbers_in(surface)
    rest = " ".join(each for each in _WHOLE.findall(surface) if not _has_digit(each))
    return bool(numbers) and numbers <= tokens and (not rest or names(rest, tokens))


def tokens_of(source: PromptSource) -> frozenset[str]:
    """The folded words of title, statement and text, and what it is about."""
    text = " ".join((source.title, source.statement or "", source.text)).casefold()
    return tokens_in(text).union(_DIGITS.findall(text), _about(source))


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence as read once: its words, its years. `around` are its words, those of the two sentences before it,
    which its pronouns may mean, and the title's. `follows`: it continues the paragraph of the sentence before.
    `answers`: the question that stands right before it, as in a list of questions and answers. `item`: it is one of a
    list. `before`: the sentences before it, nearest last."""

    start: int
    text: str
    tokens: frozenset[str]
    around: frozenset[str]
    years: frozenset[int]
    follows: bool
    answers: str = ""
    item: bool = False
    before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadSource:
    """A source as read once. A row, cell or feature is its statement, and is of the types of what it is about."""

    source: PromptSource
    tokens: frozenset[str]
    title: frozenset[str]
    sentences: tuple[ReadSentence, ...]
    row: Row | None = None

    @classmethod
    def of(cls, source: PromptSource, *, lined: int = 0) -> ReadSource:
        """The source, read; `lined`: see `ai.text.sentences`."""
        return _read_source(source, lined)


@lru_cache(maxsize=128)  # the model, its reader and the checks of its draft read the same sources
def _read_source(source: PromptSource, lined: int) -> ReadSource:
    text = source.statement or source.text
    about = _about(source)
    spans = (Span(0, len(text)),) if source.statement else bare_sentences(text, lined=lined)
    heading = heading_of(text, spans[0]) if source.statement is None and spans else ""
    title = tokens_in(f"{source.title} {heading}".casefold()) | _numbers_in(f"{source.title} {heading}")
    sentences: list[ReadSentence] = []
    for span in spans:
        shown = " ".join(plain(text[span.start : span.end]).split())
        tokens = tokens_in(shown.casefold()) | _numbers_in(shown) | about
        around = title.union(tokens, *(each.tokens for each in sentences[-_MEANT:]))
        follows = bool(sentences) and not _PARAGRAPH.search(text, max(0, span.start - 4), span.start)
        before = sentences[-1].text if sentences else source.title.rpartition(" > ")[2].rpartition(" — ")[2]
        answers = before if before.endswith("?") and not shown.endswith("?") else ""
        sentences.append(
            ReadSentence(
                span.start,
                shown,
                tokens,
                around,
                _years(shown),
                follows,
                answers,
                is_item(text, span.start),
                tuple(each.text for each in sentences[-_LEANT_ON:]),
            )
        )
    words = title.union(*(each.tokens for each in sentences))
    return ReadSource(source, words, title, tuple(sentences), Row.of_source(source))


def heading_of(text: str, first: Span) -> str:
    """The line that a plain text opens with, where it has no stop: its title, whatever its file is called."""
    line = text[first.start : first.end]
    return line if _HEADING.fullmatch(line) and text[first.end : first.end + 1] == "\n" else ""


def _about(source: PromptSource) -> frozenset[str]:
    if source.statement is None:
        return frozenset()
    return tokens_in(" ".join(f"{entity.type} {entity.name}" for entity in source.entities).casefold())


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """The reading of the question. `weights` are BM25's idf of its terms over the sentences given, in thousandths,
    `forms` the words of the sources that are forms of each term; `labels` the words with letters and digits (`28B`);
    `beside` the sources that are rows about something else."""

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
    labels: frozenset[str] = frozenset()
    beside: frozenset[int] = frozenset()

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
        if version >= MEANT_SINCE:
            terms = telling_terms(question, terms)
        forms = {term: _forms(term, vocabulary) for term in sorted(terms)}
        families = ALIKE if version >= MEANT_SINCE else EARLIER
        like = {term: alike(term, vocabulary, families) for term in forms}
        demands = (
            Demands.of(
                question,
                forms,
                like,
                vocabulary,
                strict=version >= MEANT_SINCE,
                rules=_rules_of(version),
            )
            if version >= DEMANDS_SINCE
            else None
        )
        if version >= MEANT_SINCE:
            forms = {term: found or like[term] for term, found in forms.items()}
            nothing = SAYS_NOTHING | {place_of(question)}
            forms = {term: found for term, found in forms.items() if found or term not in nothing} or forms
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
            frozenset(_labels_in(question)) if version >= NUMBERED_SINCE else frozenset(),
            beside_question(
                question,
                ((read.source, read.row) for read in reads),
                ranked=version >= EXCHANGED_SINCE,
                numbered=version >= OTHERWISE_SINCE,
            )
            if version >= RELATED_SINCE
            else frozenset(),
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
        if not asks_why(self.question):
            return True
        return (
            gives_reason(text, strictly=self.version >= MEANT_SINCE)
            and not (_FORBIDS.match(text) or self._excludes(text))
            and (self.version < MEANT_SINCE or self._explains(text))
        )

    def forbids(self, text: str) -> bool:
        """True if the text forbids what the question asks the reason of, or the question denies or excepts something
        and the text does neither. Who asks why something is not so takes for granted that it is not."""
        if asks_why(self.question):
            return not self.denies and (_FORBIDS.match(text) is not None or self._excludes(text))
        return self.denies and not denies(text)

    def _excludes(self, text: str) -> bool:
        return self.version >= LED_SINCE and excludes_reason(text)

    def _explains(self, text: str) -> bool:
        """True unless a word of the question is said in the reason alone: `It was late because the lorry broke down`
        tells not why the lorry was late. A pronoun may mean it."""
        before, because, after = _BECAUSE.split(text, maxsplit=1) if _BECAUSE.search(text) else (text, "", "")
        if not because or means_another(text):
            return True
        if not before.strip():
            after, comma, before = after.partition(",")
            if not comma:
                return True
        told, reason = tokens_in(before.casefold()), tokens_in(after.casefold())
        return not any(not found.isdisjoint(reason) and found.isdisjoint(told) for found in self.forms.values())

    def offered(self, text: str, *, full: bool) -> bool:
        """True if the sentence has something of the wanted kind. `full`: it covers nearly the whole question, so that
        it need not name it."""
        finer = self.demands.finer if self.demands is not None else None
        loosely = (
            full or (finer is not None and finer.meant.contrast.names_day(text))
        ) and self.wanted is not WantedKind.NUMBER
        if offers(text, self.wanted, self.question, loosely=loosely):
            return True
        if self.wanted is WantedKind.TIME and finer is not None and finer.meant.stated.finer(text):
            return True
        return full and finer is not None and finer.offers(text, self.wanted)

    def repeats(self, question: str, title: frozenset[str]) -> bool:
        """True if it is the question that another one asks, in other words at most: all of its own words are there or
        in the title, and few others."""
        said = tokens_in(question.casefold())
        said |= title if self.version >= EXCHANGED_SINCE else frozenset()
        if self.version < MEANT_SINCE or self.coverage(said) < _WHOLLY or self.denies != denies(question):
            return False
        theirs, ours = wanted_amount(question), wanted_amount(self.question)
        if wanted_of(question) is not self.wanted or not self.concerns(said):
            return False
        if (theirs.word if theirs else "") != (ours.word if ours else ""):
            return False
        terms = question_terms(question, Intent())
        own = {root for found in self.forms.values() for root in map(root_of, found)}
        own.update(root_of(fold(word)) for word in WORD.findall(self.question))
        shared = sum(root_of(term) in own for term in terms)
        finer = self.demands.finer if self.demands is not None else None
        return 3 * shared >= 2 * len(terms) and (finer is None or finer.meant.agrees(question, said))

    def is_measured(self, text: str) -> bool:
        """True if the question asks for a temperature, a weight or a size, and the sentence states one: `It runs at
        65 °C.`"""
        amount = wanted_amount(self.question)
        if amount is None or not amount.dimensions or not amount.dimensions <= {HEAT, LENGTH, MASS}:
            return False
        return states_amount(text, amount, loosely=False)

    def is_for(self, read: ReadSource) -> bool:
        """True if the source is a row, and the question asks for a value of it."""
        if read.row is None or self.version < MEANT_SINCE or read.source.index in self.beside:
            return False
        return read.row.answers(self.question, numbered=self.version >= OTHERWISE_SINCE)

    def may_tell(self, read: ReadSource) -> bool:
        """True unless the source is a row that lacks a word of the question which others have (what a caravan costs
        is not its deposit), or has nothing of the kind that is wanted, or is about something else."""
        if read.row is None or self.version < MEANT_SINCE:
            return True
        if read.source.index in self.beside or not read.row.may_tell(self.question):
            return False
        telling = (found for term, found in self.forms.items() if found and term not in SAYS_LITTLE)
        return not any(found.isdisjoint(read.tokens) for found in telling)

    def hangs(self, text: str) -> bool:
        """True if the sentence begins with a word that leans on the one before."""
        if self.version < MEANT_SINCE:
            return first_word(text) in HANGING
        return leans_back(text) or self.means_another(text)

    def means_another(self, text: str) -> bool:
        """True if the sentence begins with a word that means something named before it, or with an order on it."""
        return means_another(text) or (self.version >= MEANT_SINCE and orders_it(text))

    def demanded(self, read: ReadSentence, within: ReadSource, meant: frozenset[str]) -> bool:
        """True if a sentence of prose, whose pronoun means one of the words `meant`, says what this question demands;
        versions before `DEMANDS_SINCE` demand nothing."""
        if self.demands is None:
            return True
        finer = self.demands.finer
        around = within.title | meant | read.around
        if finer is not None:
            own, known = read.tokens | meant, self._named_words
            if not finer.meant.contrast.lies(read.text, own, around, known):
                return False
            if not finer.meant.contrast.means(read.text, own | within.title, known, around):
                return False
        return self.follows(read, within) and self.demands.met(read.text, read.tokens, within.title | meant)

    def follows(self, read: ReadSentence, within: ReadSource) -> bool:
        """True unless the sentence means somebody or something else than the question, by those around it."""
        finer = self.demands.finer if self.demands is not None else None
        if finer is None:
            return True
        after = tuple(each.text for each in within.sentences if each.start > read.start)
        return finer.meant.follows(read.text, read.before, after)

    def spelt_out(self, text: str) -> bool:
        """True unless the question asks what an abbreviation stands for and the text does not say that."""
        return self.version < EXCHANGED_SINCE or spells_out(text, abbreviation_of(self.question))

    def may_mean(self, text: str, around: frozenset[str]) -> bool:
        """True unless a sentence is about something else by the rules of meaning that hold at the answer point, for
        one that a reader finds to answer. `around`: the words of its title, and of what it leans on."""
        finer = self.demands.finer if self.demands is not None else None
        words = folded_words(text) | around
        if not self.spelt_out(text):
            return False
        return finer is None or finer.meant.agrees(text, words, read=True, reworded=True)

    @property
    def _named_words(self) -> frozenset[str]:
        found = (mention.surface for mention in self.intent.mentions if mention.candidates)
        return frozenset(fold(word) for surface in found for word in WORD.findall(surface))

    def says_role(self, tokens: frozenset[str]) -> bool:
        """True unless the question asks who had a role, and the words say nothing of it."""
        forms = self.forms.get(fold(self.role)) if self.role else None
        return forms is None or not forms.isdisjoint(tokens)

    def names_one(self, tokens: frozenset[str]) -> bool:
        """True if the words name one of several places or things that the question names."""
        return len(self.intent.mentions) > 1 and any(self._named(m, tokens) for m in self.intent.mentions)

    def concerns(self, tokens: frozenset[str]) -> bool:
        """True if the words name every place or thing that the question names, by one of its names, and every label."""
        return self.labels <= tokens and all(self._named(mention, tokens) for mention in self.intent.mentions)

    def _named(self, mention: Mention, tokens: frozenset[str]) -> bool:
        known = (mention.surface, *(each.name for each in mention.candidates))
        return any(names(name, tokens) for name in known) or (
            self.version >= NUMBERED_SINCE and any(names_by_number(name, tokens) for name in known)
        )

    def is_timely(self, read: ReadSentence, source: PromptSource) -> bool:
        """True if the sentence stands under the times asked for: by its own years (and days, where a part of a year is
        asked for) or, undated, by the nearest year before it in its source, else by the title's. Where the
        question asks only what happened then, an undated sentence must name the place that is asked for."""
        times = self.intent.times
        if not times or read.years:
            in_year = _within(read.years, times) or not read.years.isdisjoint(_years(self.question))
            return not times or (in_year and _meets(read.text, times))
        if self.version >= EXCHANGED_SINCE and not (
            follows_day(read.before, times) and is_of_meeting(read.text, source.title, times)
        ):
            return False
        before = _YEAR.findall(source.text, 0, read.start)
        dated = frozenset({int(before[-1])}) if before else _years(source.title)
        says_what = bool(self.weights) or (bool(self.intent.mentions) and self.concerns(read.tokens))
        return says_what and _within(dated, times)


def _documents(reads: Sequence[ReadSource]) -> dict[str, frozenset[str]]:
    """The words of all sources of one document."""
    found: dict[str, frozenset[str]] = {}
    for read in reads:
        found[document_of(read)] = found.get(document_of(read), frozenset()) | read.tokens
    return found


def document_of(read: ReadSource) -> str:
    """The title of the document that a source is a passage of."""
    return read.source.title.partition(" — ")[0]


def tokens_in(folded: str) -> frozenset[str]:
    """The words of a folded text."""
    return frozenset(_TOKEN.findall(folded))


def _numbers_in(text: str) -> frozenset[str]:
    """Numbers, and words with digits in them, as they stand among the words of a sentence, where only names ask for
    them: `#66`, `#ipv6`."""
    return frozenset(_number(each) for each in _WHOLE.findall(text) if _has_digit(each))


def _labels_in(text: str) -> Iterator[str]:
    """The words that name a thing by letters and digits; `3rd`, `5km`, `1990s` and `7pm` are amounts and times."""
    for word in _WHOLE.findall(text):
        letters = word.lstrip("0123456789").casefold()
        if _has_digit(word) and any(map(str.isalpha, word)) and letters not in _AFTER_NUMBERS:
            yield _number(word)


def _number(word: str) -> str:
    return f"#{word.casefold().removesuffix('s')}"


def _has_digit(word: str) -> bool:
    return any(map(str.isdecimal, word))


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


def follows_day(before: Sequence[str], times: Sequence[TimeRange]) -> bool:
    """True unless the nearest date of a day before a sentence, which gives none itself, is not of the time asked for,
    where that is less than a year."""
    if all(map(_is_years, times)):
        return True
    for said in reversed(before):
        days = [span.time for span in read_times(said) if not _is_years(span.time)] if _YEAR.search(said) else []
        if days:
            return any(days[-1].overlaps(asked) for asked in times)
    return True


def is_of_meeting(text: str, title: str, times: Sequence[TimeRange]) -> bool:
    """True unless the text names no month and its title says that it is of a meeting on another day than asked for."""
    if not _OF_MEETING.search(title) or all(map(_is_years, times)) or _A_MONTH.search(text):
        return True
    held = [span.time for span in read_times(title) if not _is_years(span.time)] if _YEAR.search(title) else []
    return not held or any(day.overlaps(asked) for day in held for asked in times)


def _is_years(time_range: TimeRange) -> bool:
    return time_range == TimeRange.year(time_range.start.year, time_range.end.year)


def _meets(text: str, times: Sequence[TimeRange]) -> bool:
    """True if a date that the text gives shares a day with a time asked for; years are told apart before."""
    if all(map(_is_years, times)):
        return True
    told = [span.time for span in read_times(text)]
    return not told or any(date.overlaps(asked) for date in told for asked in times)
