"""True if a sentence that is borne out says something of what was asked."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise

from ai.answer.claims.lexicon import ABSTAINING
from ai.answer.claims.numbers import read_numbers
from ai.answer.claims.shortened import is_cut_short, is_one_of_several, left_out, part_of
from ai.answer.claims.tokens import bare, sentences_of
from ai.intent.times import read_times
from ai.model import AdmittedItem, PromptSource, Sentence
from ai.models.context import prompt_source
from ai.models.prose import ReadSentences
from ai.models.reading.demands import SAYS_LITTLE, alike
from ai.models.reading.headed import Head
from ai.models.reading.lines import denied, replied, section_told, told_by_lines
from ai.models.reading.rows import Row, beside_question
from ai.models.reading.source import ReadSource
from ai.models.reading.terms import question_terms
from ai.models.reading.times import follows_day, is_of_titled_day
from ai.models.reading.tokens import names
from ai.text.denials import denies_another
from ai.text.entries import abbreviation_of, spells_out
from ai.text.markdown import plain
from ai.text.meaning.carried import Carried
from ai.text.meaning.meant import Meant
from ai.text.meaning.members import Members
from ai.text.question_type import WantedKind, asks_why, denies, offers, wanted_of
from ai.text.spelling import respelt, unaccented
from ai.text.support import WORD, carries, fold, folded_words, words_of
from ai.text.tables.numbered import named_by_number
from retrieval.english.pronouns import parted
from retrieval.english.stems import IRREGULAR, root_of
from retrieval.model import Intent

_BESIDE = re.compile(
    r"^\W*(?:if|when|where|because|since|although|though|unless|as|after|before|while)\b[^,]*,"
    r"|(?<=\w)\s(?:if|so that|that|who|whom|whose|which|because|although|though|unless|while|when|where)\b.*",
    re.IGNORECASE | re.DOTALL,
)
"""Clauses that are no part of what is asked for: `What happens if nobody comes?` asks not for what does not happen."""
_YES_OR_NO = re.compile(
    r"\W*(?:is|are|was|were|may|can|could|must|do|does|did|has|have|had|will|should|would)\b", re.IGNORECASE
)
_BECAUSE = re.compile(
    r"\b(?:because|due to|owing to|thanks to|since|on grounds? of|in order to|so that|so as to)\b", re.IGNORECASE
)
_LIKE = 0.75
"""The share that a word of like meaning counts for."""
_ENOUGH = 0.25
"""Of the question's own words by weight, half as the sentence has them and half as its document has them."""
_ENOUGH_UNNAMED = 0.35
"""The same where a place or thing that the question names is not in the document."""
_OF_NEAREST = 0.3
"""Of what the sentence of the items that says most of the question's own words says of them: what says less is beside
the point. Chosen on ten articles of SQuAD 2.0 train (ADR 0087)."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The wish of the question: the kind of thing, the places and things that it names, and the words that it uses,
    each with a weight: the rarer among the items, the more it says. `titles` and `texts` are the items' own words,
    `rows` the statements of those that are rows with a value in the column that is asked for, `passed_over` those
    that are about something else. `meant` refuses sentences of another day, rank, number, name or kind, and `members`
    those that name none of the things that are asked for. `nearest`: how much of the question's own words the sentence
    of the `passages` says that says most of them; 0 where an operation is asked for. `replies`: the sentences that
    stand right behind a question of a passage, without what sets them, with its words. `read`: by item, the sentences
    that a reader found to answer, without what sets them, which may say in other words which is the first or the
    largest; `beside` those that are beside what it found; `nothing`: it found no answer in prose. `set_out`: the
    sentences that answer by how they are set; `sentences`: by item those of its text; `headed`: by item its title,
    which may say the day of a meeting; `carried`: by item and sentence, without what sets it, whom that means."""

    question: str
    intent: Intent
    kind: WantedKind
    weights: Mapping[str, float]
    titles: Mapping[int, frozenset[str]]
    texts: Mapping[int, frozenset[str]]
    rows: frozenset[str]
    passed_over: frozenset[int]
    meant: Meant
    members: Members | None
    passages: frozenset[int]
    replies: Mapping[str, frozenset[str]]
    set_out: frozenset[str]
    sentences: Mapping[int, tuple[str, ...]]
    headed: Mapping[int, str]
    carried: Mapping[int, Mapping[str, Carried]]
    nearest: float = 0.0
    read: Mapping[int, frozenset[str]] = field(default_factory=dict)
    beside: Mapping[int, frozenset[str]] = field(default_factory=dict)
    nothing: bool = False

    @property
    def rephrases(self) -> bool:
        """True if what is said in other words is read as what it says, and something was read."""
        return bool(self.read or self.beside)

    @classmethod
    def of(cls, question: str, intent: Intent, items: Sequence[AdmittedItem]) -> Wanted:
        """The question as it was read, over the items that may answer it, before a reader reads them."""
        question, intent = respelt(question, intent, frozenset().union(*map(_as_written, items)))
        named = {fold(w) for mention in intent.mentions for w in WORD.findall(mention.surface)}
        terms = map(unaccented, question_terms(question, intent) | words_of(question).names | named)
        sources = [prompt_source(item, intent) for item in items]
        carried = _carried(sources)
        titles = {source.index: _title(parted(source.title)[0]) for source in sources}
        own = {item.index: _words(item) for item in items}
        texts = [own[item.index] | titles[item.index] for item in items]
        weights = {
            term: math.log(1 + len(texts) / (sum(carries(text, term) for text in texts) + 0.5))
            for term in sorted(terms)
        }
        held = frozenset[str]().union(*texts)
        # `How hot does the water get?`: who asks says `get`, and no source does
        weights = {t: w for t, w in weights.items() if t not in SAYS_LITTLE or carries(held, t)} or weights
        told = [(source, Row.of_source(source)) for source in sources]
        beside = beside_question(question, told)
        by_number = _named_by_number(question, told, beside)
        passages = [item for item in items if item.statement is None and item.evidence.computed is None]
        wanted = cls(
            question,
            intent,
            kind=wanted_of(question),
            weights=weights,
            titles=titles,
            texts=own,
            rows=frozenset(_row_texts(question, told, beside)),
            passed_over=beside,
            meant=Meant.of(question, held),
            members=Members.of(question),
            passages=frozenset(item.index for item in passages),
            replies=dict(_replies(passages)),
            set_out=frozenset((*_set_out(question, sources), *by_number)),
            sentences={item.index: sentences_of(item.text) for item in passages},
            headed={source.index: source.title for source in sources},
            carried=carried,
        )
        if intent.operations:
            return wanted
        return replace(wanted, nearest=max(map(wanted._nearest, passages), default=0.0))

    def read_by(self, read: ReadSentences) -> Wanted:
        """The same with what a reader made of the items' sentences."""
        return replace(self, read=_bare(read.answers), beside=_bare(read.beside), nothing=read.nothing)

    def is_answered(
        self,
        sentence: Sentence,
        direct: frozenset[int],
        behind: str = "",
        *,
        rephrased: frozenset[str] = frozenset(),
    ) -> bool:
        """True if the sentence, all of it borne out, is of the wanted kind and about the wanted subject: by an item
        that answers the question's operation, where it asks for one. Where a reader found that it answers, how many of
        the question's words it has is no matter. `behind`: the sentences that it leans on; `rephrased`: those of what
        it cites that it says in other words, without what sets them."""
        if not sentence.holds:
            return False
        if self.intent.operations:
            return not direct.isdisjoint(sentence.markers)
        return bare(sentence.text) in self.set_out or self._is_told(sentence, behind, rephrased)

    def _is_told(self, sentence: Sentence, behind: str, rephrased: frozenset[str]) -> bool:
        """True if the words of a sentence that is borne out, or a reader, say that it answers."""
        cited = [n for n in sentence.markers if n in self.titles]
        heads = [head for n in cited if (head := Head.of(self.headed[n])) is not None]
        behind_colon = sentence.text.partition(": ")[2]
        own = (
            sentence.text,
            *(head.without(sentence.text) for head in heads),
            *([behind_colon] if behind_colon else ()),
        )
        told = rephrased | set(map(bare, own))
        read = any(not told.isdisjoint(self.read.get(n, ())) for n in cited)
        said = _read(sentence.text).union(_read(behind), *(self.titles[n] for n in cited))
        carried = [self.carried[n][each] for n in cited for each in told if each in self.carried.get(n, ())]
        said = said.union(*(map(unaccented, each.tokens) for each in carried))
        passed_over = bool(cited) and self.passed_over.issuperset(cited)
        if passed_over or not (read or self._tells(sentence.text, said, told, cited)):
            return False
        if not self._is_meant(sentence.text, said, behind, cited, read=read):
            return False
        return not self._denies_another(sentence.text, said, cited)

    def _tells(self, text: str, said: frozenset[str], told: frozenset[str], cited: Sequence[int]) -> bool:
        """True if its words, no reader, say enough of what is asked."""
        if self._is_beside(told, cited):
            return False
        if self.passages.issuperset(cited) and not self._comes_near(text, said):
            return False
        around = said.union(*(self.texts[n] for n in cited))
        share = (self._share(said) + self._share(around)) / 2
        enough = _ENOUGH if self._concerns(around) else _ENOUGH_UNNAMED
        return share >= enough and self._offers(text) and not self._is_other_part(text, cited)

    def _is_other_part(self, text: str, cited: Sequence[int]) -> bool:
        """True if it is a part of a sentence of what is cited, and what was asked for stands in another part: of `The
        drill weighs 64 kg and needs 900 watts` the watts, for who asks what it weighs."""
        sentences = [_plain(each) for n in cited for each in self.sentences.get(n, ())]
        source = part_of(text, sentences)
        if source is None:
            return False
        if self.rephrases and not any(bare(source) in self.read.get(n, ()) for n in cited):
            return True
        if is_one_of_several(text, source, sentences) or (
            _YES_OR_NO.match(self.question) and is_cut_short(text, source)
        ):
            return True
        if asks_why(self.question) and _BECAUSE.search(source) and not _BECAUSE.search(text):
            return True
        of_kind = self.kind not in (WantedKind.PERSON, WantedKind.PLACE)
        offered = of_kind or offers(text, self.kind, self.question, loosely=True)
        roots = frozenset(map(root_of, self.weights))
        return not offered or any(root_of(token.key) in roots for token in left_out(text, source))

    def _is_meant(self, text: str, said: frozenset[str], behind: str, cited: Sequence[int], *, read: bool) -> bool:
        """True unless the sentence is about something else, of another time, or grants what is denied."""
        if not self.meant.agrees(text, said, read=read) or not self._names_members(text):
            return False
        if not spells_out(text, abbreviation_of(self.question)):
            return False
        times = () if self.intent.map_time else self.intent.times
        if not all(is_of_titled_day(text, self.headed.get(n, ""), times) for n in cited):
            return False
        if times and not read_times(text) and not all(follows_day(each, times) for each in self._before(text, cited)):
            return False
        return not (self._grants(text) or self._is_untimely(f"{behind} {text}"))

    def _denies_another(self, text: str, said: frozenset[str], cited: Sequence[int]) -> bool:
        around = said.union(*(self.texts[n] for n in cited))
        return self.passages.issuperset(cited) and denies_another(self.question, text, frozenset(map(root_of, around)))

    def _before(self, text: str, cited: Sequence[int]) -> Iterator[tuple[str, ...]]:
        """The sentences before this one, where a passage that is cited has it."""
        for n in cited:
            said = self.sentences.get(n, ())
            yield from (said[:at] for at, each in enumerate(said) if bare(each) == bare(text))

    def _grants(self, text: str) -> bool:
        """True if what the question asks for is denied or excepted, and the text does neither. Who asks why something
        is not so takes for granted that it is not."""
        return denies(_BESIDE.sub(" ", self.question)) and not asks_why(self.question) and not denies(text)

    def _is_untimely(self, text: str) -> bool:
        """True if the question names its time and the text is dated, but not by a time that meets it."""
        times = () if self.intent.map_time else self.intent.times
        told = [span.time for span in read_times(text)] if times else []
        return bool(told) and not any(time.overlaps(asked) for time in told for asked in times)

    def _is_beside(self, told: frozenset[str], cited: Sequence[int]) -> bool:
        """True if a reader finds that no prose answers, or that what is told does not."""
        nothing = self.nothing and self.passages.issuperset(cited)
        return nothing or any(not told.isdisjoint(self.beside.get(n, ())) for n in cited)

    def _comes_near(self, text: str, said: frozenset[str]) -> bool:
        """True if it says enough of what the passages' nearest sentence says of the question."""
        least = _OF_NEAREST * self.nearest
        reply = self.replies.get(bare(text), frozenset())
        return self._share(said) >= least or (bool(reply) and self._share(said | reply) >= least)

    def _nearest(self, item: AdmittedItem) -> float:
        """The greatest share of the question's own words, by weight, that one sentence of a passage says together with
        the title; what asks tells nothing."""
        title, whole = self.titles[item.index], sum(self.weights.values())
        by_title = {term: self._says(title, term) for term in self.weights}
        told = sum(w * by_title[term] for term, w in self.weights.items())
        left = {term: w for term, w in self.weights.items() if by_title[term] < 1}
        most = 0.0
        for said in sentences_of(item.text) if left else ():
            words = _read(said)
            gain = sum(w * max(0.0, self._says(words, term) - by_title[term]) for term, w in left.items())
            most = gain if gain > most and not _asks(said) else most
        return (told + most) / whole if whole else 1.0

    def _names_members(self, text: str) -> bool:
        """True unless the members of a kind in a place are asked for and the sentence, no row, names none."""
        return self.members is None or text.removesuffix(".") in self.rows or self.members.named_in(text)

    def _concerns(self, words: frozenset[str]) -> bool:
        return all(
            any(names(unaccented(name), words) for name in (m.surface, *(c.name for c in m.candidates)))
            for m in self.intent.mentions
        )

    def _share(self, words: frozenset[str]) -> float:
        """How much of the question's own words occurs, by weight."""
        whole = sum(self.weights.values())
        return sum(w * self._says(words, term) for term, w in self.weights.items()) / whole if whole else 1.0

    def _says(self, words: frozenset[str], term: str) -> float:
        if _says(words, term):
            return 1.0
        return _LIKE if alike(term, words) else 0.0

    def _offers(self, text: str) -> bool:
        if self.kind is WantedKind.TIME and any(number.may_be_year for number in read_numbers(text)):
            return True
        free = self.kind not in (WantedKind.TIME, WantedKind.NUMBER) or text.removesuffix(".") in self.rows
        return free or offers(text, self.kind, self.question, loosely=True)


_plain = lru_cache(maxsize=4096)(plain)


def _carried(sources: Iterable[PromptSource]) -> dict[int, dict[str, Carried]]:
    """By item its sentences, without what sets them, each with whom it means."""
    read = (ReadSource.of(each, lined=True, carried=True) for each in sources if each.statement is None)
    return {each.source.index: {bare(said.text): said.carried for said in each.sentences} for each in read}


def _bare(said: Mapping[int, Sequence[str]]) -> dict[int, frozenset[str]]:
    return {index: frozenset(map(bare, each)) for index, each in said.items()}


def _row_texts(
    question: str, sources: Sequence[tuple[PromptSource, Row | None]], beside: frozenset[int]
) -> Iterator[str]:
    """The statements of the rows that answer a question, without the stop."""
    for source, row in sources:
        if row is not None and source.index not in beside and row.answers(question):
            yield " ".join((source.statement or "").split()).removesuffix(".")


def _named_by_number(
    question: str, sources: Sequence[tuple[PromptSource, Row | None]], beside: frozenset[int]
) -> Iterator[str]:
    """The rows that answer and that the question names by a number, without what sets them."""
    named = [(source, row) for source, row in sources if row is not None and named_by_number(question, row.cells)]
    return map(bare, _row_texts(question, named, beside))


def _set_out(question: str, sources: Iterable[PromptSource]) -> Iterator[str]:
    """The sentences that answer by how they are set, without what sets them."""
    reads = [ReadSource.of(source, lined=True) for source in sources]
    for told in (*replied(question, reads).values(), *denied(question, reads).values()):
        yield from (bare(each.text) for each in told)
    for read in reads:
        told = (*told_by_lines(question, read), *section_told(question, read))
        yield from (bare(each.text) for each in told)


def _replies(passages: Sequence[AdmittedItem]) -> Iterator[tuple[str, frozenset[str]]]:
    for item in passages:
        if "?" in item.text:
            said = pairwise(sentences_of(item.text))
            yield from ((bare(b), _read(a)) for a, b in said if _asks(a))


def _asks(text: str) -> bool:
    return bare(text).endswith("?")


def abstains(text: str) -> bool:
    """True if a sentence says that there is no answer, in whatever words."""
    plain = " ".join(text.casefold().split())
    return any(phrase in plain for phrase in ABSTAINING)


def _words(item: AdmittedItem) -> frozenset[str]:
    named = " ".join(f"{e.name} {e.type}" for e in item.evidence.first.record.entities)
    text = "" if item.evidence.computed is not None else item.text
    return _read(f"{item.statement or ''} {text} {named}")


def _as_written(item: AdmittedItem) -> frozenset[str]:
    """Its folded words, with their accents."""
    first = item.evidence.first
    return folded_words(f"{first.source.title} {first.record.heading or ''} {item.statement or ''} {item.text}")


@lru_cache(maxsize=512)
def _title(title: str) -> frozenset[str]:
    """The words of a title, and its initials: people write NYC."""
    words = _read(title)
    initials = "".join(word[0] for word in WORD.findall(title)).casefold()
    return words | {initials}


@lru_cache(maxsize=512)
def _read(text: str) -> frozenset[str]:
    return folded_words(unaccented(text))


def _says(words: frozenset[str], term: str) -> bool:
    """True if a form of the term is among the words, an irregular one too: `wrote`, `written`."""
    return carries(words, term) or (term in IRREGULAR and root_of(term) in _irregular(words))


@lru_cache(maxsize=512)
def _irregular(words: frozenset[str]) -> frozenset[str]:
    return frozenset(root_of(word) for word in words if word in IRREGULAR)
