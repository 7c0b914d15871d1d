"""The question over its sources: what it asks of a sentence, by the rules of a version."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ai.model import PromptSource
from ai.models.reading.demands import REPEATS, SAYS_LITTLE, SAYS_NOTHING, Demands, alike
from ai.models.reading.headed import under_head
from ai.models.reading.reasons import explains, forbids
from ai.models.reading.rows import beside_question
from ai.models.reading.source import ReadSentence, ReadSource, words_by_document
from ai.models.reading.terms import place_of, question_terms, telling_terms
from ai.models.reading.times import are_long, follows_day, is_of_titled_day, is_within, meets, years_before, years_in
from ai.models.reading.tokens import forms_of, labels_in, names, names_by_number, tokens_in
from ai.models.reading.versions import RELEASED, VERSION
from ai.text.amounts import HEAT, LENGTH, MASS, states_amount, wanted_amount
from ai.text.entries import abbreviation_of, spells_out
from ai.text.leaning import HANGING, leans_back, means_another, orders_it
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
from ai.text.support import WORD, fold, folded_words
from retrieval.english.stems import root_of
from retrieval.model import Intent, Mention

_WHOLLY = 1000


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
        """True by the rules of release 0.1.0, which demanded nothing of a sentence but its share of the words."""
        return self.version <= RELEASED

    @classmethod
    def of(cls, question: str, intent: Intent, reads: Sequence[ReadSource], *, version: int = VERSION) -> ReadQuestion:
        """The question over its sources, by the rules of a version."""
        vocabulary = frozenset[str]().union(*(read.tokens for read in reads))
        later, terms, demands = version > RELEASED, question_terms(question, intent), None
        if later:
            terms |= REPEATS & {fold(match[0]) for match in WORD.finditer(question)}
            terms = telling_terms(question, terms)
        forms = {term: forms_of(term, vocabulary) for term in sorted(terms)}
        if later:
            like = {term: alike(term, vocabulary) for term in forms}
            demands = Demands.of(question, forms, like, vocabulary)
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
            words_by_document(reads),
            denies(question),
            role_of(question),
            demands,
            version,
            frozenset(labels_in(question)) if later else frozenset(),
            beside_question(question, ((read.source, read.row) for read in reads)) if later else frozenset(),
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
            gives_reason(text, strictly=not self.lenient)
            and not (forbids(text) or (not self.lenient and excludes_reason(text)))
            and (self.lenient or explains(text, self.forms.values()))
        )

    def forbids(self, text: str) -> bool:
        """True if the text forbids what the question asks the reason of, or the question denies or excepts something
        and the text does neither. Who asks why something is not so takes for granted that it is not."""
        if asks_why(self.question):
            return not self.denies and (forbids(text) or (not self.lenient and excludes_reason(text)))
        return self.denies and not denies(text)

    def offered(self, text: str, *, full: bool) -> bool:
        """True if the sentence has something of the wanted kind. `full`: it covers nearly the whole question, so that
        it need not name it."""
        finer = None if self.demands is None else self.demands.finer
        free = full or (finer is not None and finer.meant.contrast.names_day(text))
        if offers(text, self.wanted, self.question, loosely=free and self.wanted is not WantedKind.NUMBER):
            return True
        if finer is None:
            return False
        by_date = self.wanted is WantedKind.TIME and finer.meant.stated.finer(text)
        return by_date or (full and finer.offers(text, self.wanted))

    def repeats(self, question: str, title: frozenset[str]) -> bool:
        """True if it is the question that another one asks, in other words at most: all of its own words are there or
        in the title, and few others."""
        said = tokens_in(question.casefold()) | title
        if self.demands is None or self.coverage(said) < _WHOLLY or self.denies != denies(question):
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
        return 3 * shared >= 2 * len(terms) and self.demands.finer.meant.agrees(question, said)

    def is_measured(self, text: str) -> bool:
        """True if the question asks for a temperature, a weight or a size, and the sentence states one: `It runs at
        65 °C.`"""
        amount = wanted_amount(self.question)
        if amount is None or not amount.dimensions or not amount.dimensions <= {HEAT, LENGTH, MASS}:
            return False
        return states_amount(text, amount, loosely=False)

    def is_for(self, read: ReadSource) -> bool:
        """True if the source is a row, and the question asks for a value of it."""
        if read.row is None or self.lenient or read.source.index in self.beside:
            return False
        return read.row.answers(self.question)

    def may_tell(self, read: ReadSource) -> bool:
        """True unless the source is a row that lacks a word of the question which others have (what a caravan costs
        is not its deposit), or has nothing of the kind that is wanted, or is about something else."""
        if read.row is None or self.lenient:
            return True
        if read.source.index in self.beside or not read.row.may_tell(self.question):
            return False
        telling = (found for term, found in self.forms.items() if found and term not in SAYS_LITTLE)
        return not any(found.isdisjoint(read.tokens) for found in telling)

    def hangs(self, text: str, *, reply: bool = False) -> bool:
        """True if the sentence begins with a word that leans on the one before. `reply`: to the same question, which
        completes it."""
        if self.lenient:
            return first_word(text) in HANGING
        return leans_back(text) or (means_another(text) or orders_it(text) if reply else self.means_another(text))

    def means_another(self, text: str) -> bool:
        """True if the sentence begins with a word that means something named before it, or with an order on it."""
        return means_another(text) or (not self.lenient and orders_it(text))

    def demanded(self, read: ReadSentence, within: ReadSource, meant: frozenset[str]) -> bool:
        """True if a sentence of prose, whose pronoun means one of the words `meant`, says what is demanded."""
        if self.demands is None:
            return True
        contrast, around = self.demands.finer.meant.contrast, within.title | meant | read.around
        own, known = read.tokens | meant, self._named_words
        if not contrast.lies(read.text, own, around, known):
            return False
        if not contrast.means(read.text, own | within.title, known, around):
            return False
        return self.demands.met(read.text, read.tokens, within.title | meant)

    def spelt_out(self, text: str) -> bool:
        """True unless the question asks what an abbreviation stands for and the text does not say that."""
        return self.lenient or spells_out(text, abbreviation_of(self.question))

    def may_mean(self, text: str, around: frozenset[str]) -> bool:
        """True unless a sentence is about something else by the rules of meaning that hold at the answer point, for
        one that a reader finds to answer. `around`: the words of its title, and of what it leans on."""
        if not self.spelt_out(text):
            return False
        words = folded_words(text) | around
        return self.demands is None or self.demands.finer.meant.agrees(text, words, read=True)

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
            not self.lenient and any(names_by_number(name, tokens) for name in known)
        )

    def under_head(self, text: str, source: PromptSource) -> str:
        """The sentence as it is told: behind the heading of its section, where the question asks for that."""
        return text if self.lenient else under_head(self.question, source.title, text)

    def is_timely(self, read: ReadSentence, source: PromptSource) -> bool:
        """True if the sentence stands under the times asked for: by its own years (and days, where a part of a year is
        asked for) or, undated, by the nearest year before it in its source, else by the title's; a source without any
        year may be of the century that is asked for. Where the question asks only what happened then, an undated
        sentence must name the place that is asked for."""
        times = self.intent.times
        if not times or read.years:
            in_year = is_within(read.years, times) or not read.years.isdisjoint(years_in(self.question))
            return not times or (in_year and meets(read.text, times))
        if not self.lenient and not (
            follows_day(read.before, times) and is_of_titled_day(read.text, source.title, times)
        ):
            return False
        dated = years_before(source.text, read.start) or years_in(source.title)
        says_what = bool(self.weights) or (bool(self.intent.mentions) and self.concerns(read.tokens))
        of_no_time = not dated and are_long(times) and not years_in(source.text)
        return says_what and (of_no_time or is_within(dated, times))
