"""Words that tell the sentence that is meant from one beside it: the day, the rank, the place, the name, and words that
have a contrary. A question for the south gate is not answered by what is said of the north gate, however much else
agrees."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ai.text.meaning.contrast.names import Names, alone_in, is_near, names_another, names_in, places_in
from ai.text.meaning.contrast.opposites import Opposites, small_roots
from ai.text.meaning.contrast.phrases import Phrase, is_of_another, phrases_in
from ai.text.meaning.contrast.ranks import days_in, ranks_in
from ai.text.meaning.deeds.clause import deed_of
from ai.text.meaning.deeds.done_to import done_to, has_done
from ai.text.support import WORD, all_roots, carries, fold
from retrieval.english.lists import DATES, UNWEIGHED_WORDS
from retrieval.english.stems import root_of

_DAILY = re.compile(r"\b(?:daily|(?:every|each|any) day|all (?:week|days))\b", re.IGNORECASE)
_SUBJECT = re.compile(
    r"(?:(?:The|Our|Its|His|Her|Their)\s(?P<one>(?:[A-Z][\w'’-]*+\s)+)|(?P<other>(?:[A-Z][\w'’-]*+\s){2,}))(?=[a-z])"
)
_SINGLE = re.compile(r"(?<=[\w,;:]\s)[A-Z][\w'’-]*+")
_FOR = re.compile(
    r"\b(sp[eo]a?k\w*|vot\w+|argu\w+|testif\w+|campaign\w+|decid\w+|rul(?:ed|ing)|plead\w*|petition\w*|f[io]ught|fight\w*"
    r"|wr[io]t\w+|is|are|was|were)\s(for|in\sfavou?r|against)\b",
    re.IGNORECASE,
)
_SUBJECT_AT = re.compile(
    r"(?:The|An?|Its|Our|His|Her|Their)\s(?P<subject>(?:[a-z]+\s){1,2})(?:at|in|near|of|from)\s(?:the\s)?"
    r"(?P<name>[A-Z][\w'’-]*(?:\s[A-Z][\w'’-]*)*)"
)
_FUNCTIONS = frozenset(map(root_of, UNWEIGHED_WORDS))
_NAMED_FIRST = re.compile(r"(?:the\s)?[A-Z][\w'’-]*\s[a-z]")
_CLAUSE = re.compile(r";\s+")
_DEAR = re.compile(r"\W*(?:my\s)?dear(?:est)?\s([A-Z][\w'’-]*(?:\s[A-Z][\w'’-]*)*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Contrast:
    """The words by which a question tells the sentence that it means from one beside it. `days`: days of the week;
    `ranks`: nouns, each with its rank (`first class`), its small number (`two keys`) or its label (`hive 3`); `places`:
    the last words of names behind `at`, `in` and the like, each with that word; `names`: the words of each name of
    several; `opposites`: its words that have a contrary; `sides`: the deeds for something
    and those against it; `single`: the words of its names, and `alone` those that stand for themselves (not `the
    Lecompton constitution`); `of_what`: what something is of, by or for (`the journey by ship`), as roots; `small`: the
    roots of its words that are no names; `done_to`: the deed and the name in `Who succeeded Ida Holm?`."""

    days: frozenset[str]
    ranks: frozenset[tuple[str, str]]
    places: frozenset[tuple[str, str]]
    names: Names
    opposites: Opposites
    sides: frozenset[tuple[str, bool]]
    single: frozenset[str]
    alone: frozenset[str]
    of_what: tuple[Phrase, ...]
    small: frozenset[str]
    done_to: tuple[str, ...]

    @classmethod
    def of(cls, question: str) -> Contrast:
        """Reads the question."""
        single = frozenset(fold(name) for name in _SINGLE.findall(question) if name.isalpha())
        single -= DATES | {"i"}
        named, opposites = names_in(question), Opposites.of(question)
        of_what = tuple(phrases_in(question, asks=True))
        days, places, sides = days_in(question), places_in(question), _sides(question)
        ranks = ranks_in(question)
        labels, deed = {rank for rank, noun in ranks if noun.endswith(" labelled")}, f"{deed_of(question)} counted"
        # of `What does code 2 mean?` nobody counts means
        ranks -= {(rank, noun) for rank, noun in ranks if noun == deed and rank in labels}
        small = frozenset(root for root in small_roots(question) if root not in _FUNCTIONS)
        return cls(
            days,
            ranks,
            places,
            named,
            opposites,
            sides,
            single,
            single & alone_in(question),
            of_what,
            small,
            done_to(question),
        )

    def agrees(self, text: str, tokens: frozenset[str], *, read: bool = False) -> bool:
        """True unless the sentence, whose words are `tokens` with those of its title, is of another day, rank, number
        or name, or says the contrary of a word that it lacks. `read`: a reader found that it answers."""
        if not (self.days <= days_in(text) | days_in(" ".join(tokens)) or _DAILY.search(text)):
            return False
        said = ranks_in(text)
        if any((rank, noun) not in said and noun in {each for _, each in said} for rank, noun in self.ranks):
            return False
        told = _sides(text) if self.sides else frozenset[tuple[str, bool]]()
        if any((deed, side) not in told and (deed, not side) in told for deed, side in self.sides):
            return False
        if self.names and names_another(text, self.names):
            return False
        if self.done_to and has_done(text, self.done_to):
            return False
        own = frozenset(map(root_of, tokens))
        return not (
            self.opposites.contradicted(text, own, read=read)
            or is_of_another(self.of_what, text, own)
            or self._only_names(text, own)
        )

    def lies(self, text: str, tokens: frozenset[str], around: frozenset[str], known: frozenset[str]) -> bool:
        """True if the sentence is of the places that the question names: one of them is said around it, and where the
        sentence itself, of the words `tokens`, does not say it, it names no other there (`at Brekke` for `at Tangen`).
        `known` are words of names that were read as places or things: those are looked for elsewhere."""
        for beside, name in self.places:
            if name in known or carries(tokens, name):
                continue
            if not carries(around, name) or any(where == beside for where, _ in places_in(text)):
                return False
        return True

    def means(self, text: str, own: frozenset[str], known: frozenset[str], around: frozenset[str]) -> bool:
        """True unless a name of the question is not said near the sentence (`around`), or the sentence is about another
        name, and its words `own`, with those of its title and of what its pronoun means, say nothing of the question's:
        `The Alma has run` for `has the Birgit run`."""
        asked = self.single - known
        subject, addressed = _SUBJECT.match(text), _DEAR.match(text)
        if addressed and not asked.isdisjoint(map(fold, WORD.findall(addressed[1]))):
            return False
        if asked and ";" in text and not self._means_clause(text, asked):
            return False
        if not all(is_near(name, around) for name in self.alone - known):
            return False
        if not asked or subject is None or any(carries(own, name) for name in asked):
            return True
        return not {fold(word) for word in WORD.findall(subject["one"] or subject["other"])}.isdisjoint(self.single)

    def names_day(self, text: str) -> bool:
        """True if the question is about a day of the week, and the sentence says it."""
        return bool(self.days) and self.days <= days_in(text)

    def _means_clause(self, text: str, asked: frozenset[str]) -> bool:
        """True unless all clauses that say a word of the question are about another name: of `Mo and Suki came in 2022;
        Suki had three cubs` the second."""
        said = [(clause, [fold(word) for word in WORD.findall(clause)]) for clause in _CLAUSE.split(text)]
        telling = [(clause, words) for clause, words in said if not self.small.isdisjoint(map(root_of, words))]
        other = [words for clause, words in telling if _NAMED_FIRST.match(clause) and asked.isdisjoint(words)]
        return not telling or len(other) < len(telling)

    def _only_names(self, text: str, own: frozenset[str]) -> bool:
        """True if a word of the question is said only where the subject is: `The museum at Castle Bray opens`."""
        found = _SUBJECT_AT.match(text)
        named = all_roots(found["name"]) if found else frozenset[str]()
        if found is None or self.small.isdisjoint(named):
            return False
        said = all_roots(text)
        besides = all_roots(f"{found['subject']} {text[found.end() :]}")
        return not self.small.isdisjoint(named - besides - (own - said))


def _sides(text: str) -> frozenset[tuple[str, bool]]:
    """The deeds that are for something (true) and against it."""
    return frozenset((root_of(fold(deed)), fold(side) != "against") for deed, side in _FOR.findall(text))
