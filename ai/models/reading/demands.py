"""Demands on a sentence of prose that is to answer, beside enough of the question's words: the deed that is asked
about, the numbers, and no denial of it. A question with a word that no source holds in any form is answered by none of
them.

How many words agree cannot tell `How long do wheat loaves cool?` from how long they bake: all but one do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ai.intent.times import read_times
from ai.models.reading.clause import TURN, asks_doer, clause_of
from ai.text.amounts import amounts_of
from ai.text.meaning.contrast.ranks import labelled
from ai.text.meaning.meant import Meant
from ai.text.meaning.members import Members
from ai.text.question_type import WantedKind, denies, wanted_of
from ai.text.spelling import unaccented
from ai.text.support import WORD, fold, weighed_roots, words_of
from retrieval.english.alike import ALIKE, WE, WRITERS
from retrieval.english.lists import DATES, MONTHS, UNWEIGHED_WORDS, word_list
from retrieval.english.stems import root_of

REPEATS = word_list("again once twice")
"""Words that weigh in a question, though function words elsewhere: who asks `again` asks about the second time."""
Forms = Mapping[str, frozenset[str]]

SAYS_LITTLE = word_list(
    "located situated placed found take takes taken took taking place occur occurs occurred according considered "
    "present current currently major main whole entire total overall various several multiple different other another "
    "particular specific certain exact exactly approximate approximately about around prior previous previously also "
    "relation kind type sort form example case fact thing part end percentage percent proportion "
    "share quantity figure value rate level following recent recently latest known become became becoming get gets "
    "got make makes made give gives given go goes went come comes came involve involved include included includes "
    "contain contains contained consist exist exists existed serve serves served put set able allow allowed need "
    "needs needed require required requires supposed usually normally typically generally often always actually "
    "really ever still yet please best better good well new old large big small high low long short many much "
    "someone somebody anybody anyone everyone everybody one ones"
)
"""Words that a sentence that answers often lacks, since they say how something is asked."""
SAYS_NOTHING = word_list("take takes took get gets got go goes happens per") | frozenset(MONTHS)
"""Words that weigh nothing where no source holds them: a span of months is of those that it does not name."""
_BEGINS = word_list("begin begins began begun beginning start starts started")
"""As a verb, these say little too."""
_TYPE = re.compile(r"\b(?:what|which)\s+((?:[\w'’-]+\s+){0,2}?[\w'’-]+)(?=\s|$|\W)", re.IGNORECASE)
_DENIED = re.compile(r"\b(?:not|never|n['’]t|cannot)\s+(?!only\b|until\b|just\b|merely\b)(?:be(?:en)?\s+)?([a-z]+)")
_DENIES_ALL = re.compile(
    r"\b(?:no(?!\.)|nobody|none|neither|nor|forbid\w*|forbade|prohibit\w*|bann?(?:ed|s)?|refus\w+|except"
    r"|(?:not|never)\s(?:to|by|in|for|with|from|at|on|the|an?))\b",
    re.IGNORECASE,
)
_DEFINITE = (WantedKind.TIME, WantedKind.NUMBER, WantedKind.PERSON, WantedKind.PLACE)
_FEW = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_SPELT = {word: str(number) for number, word in enumerate(_FEW, 2)}
_NAME = re.compile(r"(?<![\w'’-])[A-Z][\w'’-]*+(?:\s++[A-Z][\w'’-]*+)+")
_PASSIVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being|gets?|got)(?:\s(?:[a-z]+ly|not|never|also|first|then|later))?\s\Z"
)
_DONE_BY = re.compile(r"[^.;:,]*?\bby\b(?P<doer>(?:\s[\w'’.-]++){0,4})")
_BESIDE = re.compile(
    r"\b(?:next to|opposite|in front of|across from|above|below|between|outside|along|beyond|left of|right of"
    r"|at the (?:back|front|top|bottom|end|foot|side|edge|corner) of)\s(?:an?|the|their|his|her|our|its)\s[a-z]"
    r"|\b(?:at|in|on)\s(?!about\b|some\b|only\b|over\b|under\b)[a-z]{3,}\s\d{1,3}[a-z]?(?=[.,;)]|\s(?:of|in|on|and|by|next)\b|\Z)"
)
_WHICH = re.compile(r"\W*(?:which|that|whom)\b", re.IGNORECASE)
_TO_IT = re.compile(r"\s(?:it|them|him|her)\b")
_WHOLE = word_list("everyone everybody anyone anybody nobody people men women children staff members")
_NO_DOER = word_list("votes points goals times means way help use end time side beginning middle then now")
_ARTICLES = word_list("the a an its his her their our my your each any")
_HE = word_list("he she they it we i you")
_CLAUSE = re.compile(r"[,;:()]\s|\b(?:and|but|or)\s")
_PART = 5
"""Letters from which a word within a longer one counts as a form of it: `quake` in `earthquake`."""


@dataclass(frozen=True, slots=True)
class Finer:
    """The further demands of a question. `done`: forms of the verb whose doer is asked for; `besides`: the roots of its
    other words; `denied`: the roots of what it denies; `meant`: what tells a sentence from one beside it; `members`:
    the kind and the place of which it wants the members."""

    done: frozenset[str]
    besides: frozenset[str]
    denied: frozenset[str]
    meant: Meant
    members: Members | None

    @classmethod
    def of(cls, question: str, deed: frozenset[str], vocabulary: frozenset[str]) -> Finer:
        """The demands of a question whose verb, in the words of the sources, is `deed`."""
        done = deed if asks_doer(question) else frozenset[str]()
        return cls(
            done,
            weighed_roots(question) - {root_of(word) for word in done},
            _denied(question),
            Meant.of(question, vocabulary),
            Members.of(question),
        )

    def met(self, text: str, tokens: frozenset[str]) -> bool:
        """True if the sentence does not leave out who did it (`it was built in 1971`), denies what the question does,
        names the members that are asked for, and is of no other day, rank, name or contrary."""
        if self.done and not self._tells_doer(text):
            return False
        if not (self.denied <= _denied(text.casefold()) or _DENIES_ALL.search(text)):
            return False
        if self.members is not None and not self.members.named_in(text):
            return False
        return self.meant.agrees(text, tokens)

    def offers(self, text: str, wanted: WantedKind) -> bool:
        """True if the sentence has what is wanted though it names nobody and no place: whoever did it (`by the guild`,
        `Guests cannot open it`), or where something is beside another (`next to the door`)."""
        if wanted is WantedKind.PLACE:
            return _BESIDE.search(text) is not None
        if wanted is not WantedKind.PERSON:
            return False
        party = self.meant.roles.party
        return any(self._has_doer(text, found) for found in self._deeds(text)) or (
            party is not None and party.does and party.tells_whom(text)
        )

    def _deeds(self, text: str) -> Iterator[re.Match[str]]:
        return (found for found in WORD.finditer(text) if fold(found[0]) in self.done)

    def _tells_doer(self, text: str) -> bool:
        said = [*self._deeds(text)]
        return not said or any(
            not _PASSIVE.search(text, 0, found.start()) or self._done_by(text, found.end()) for found in said
        )

    def _done_by(self, text: str, end: int) -> bool:
        """True if it goes on by whom: somebody, or a name that is no month."""
        by = _DONE_BY.match(text, end)
        if by is None:
            return False
        named = any(word[0].isupper() and fold(word) not in DATES for word in WORD.findall(by["doer"]))
        return named or self._is_somebody(by["doer"])

    def _has_doer(self, text: str, deed: re.Match[str]) -> bool:
        """True if the words that say who did it have one that the question lacks."""
        if _PASSIVE.search(text, 0, deed.start()):
            return self._done_by(text, deed.end())
        before = _CLAUSE.split(text[: deed.start()])[-1]
        done_to = self.besides - weighed_roots(before)
        if _WHICH.match(before):  # `a day card, which the harbour master issues`
            done_to -= weighed_roots(text[: deed.start() - len(before)])
        said = [fold(word) for word in WORD.findall(before)]
        after = text[deed.end() :]
        if not _HE.isdisjoint(said) or not done_to <= weighed_roots(text if _TO_IT.match(after) else after):
            return False
        return bool(weighed_roots(before) - self.besides)

    def _is_somebody(self, phrase: str) -> bool:
        words = TURN.split(phrase, maxsplit=1)[0]
        said = [fold(word) for word in WORD.findall(words)]
        if not said or not _NO_DOER.isdisjoint(said):
            return False
        if any(amount.dimension is not None or amount.dated for amount in amounts_of(words)):
            return False
        some = said[0] in _ARTICLES or any(w in _WHOLE or (w.endswith("s") and len(w) > 3) for w in said)
        return some and bool(weighed_roots(words) - self.besides)


@dataclass(frozen=True, slots=True)
class Demands:
    """The demands of one question over some sources. `unheld` are its words that no source holds, `deed` the forms of
    its verb, `clause` those of each word of the clause, `names` the words of each name of several words, `asked` the
    roots of all words; `definite`: it takes for granted what it asks about; `finer`: what it demands further."""

    unheld: frozenset[str]
    deed: frozenset[str] | None
    clause: tuple[frozenset[str], ...]
    numbers: frozenset[str]
    names: tuple[frozenset[str], ...]
    asked: frozenset[str]
    definite: bool
    finer: Finer

    @classmethod
    def of(cls, question: str, forms: Forms, like: Forms, vocabulary: frozenset[str]) -> Demands:
        """The demands of a question, given the words of the sources that are forms of its words, or say nearly the
        same: a word that they say only by such a one, the sentence says so too."""
        light = SAYS_LITTLE | SAYS_NOTHING | _type_words(question)
        wanting = [term for term, found in forms.items() if not found and term not in light]
        unheld = frozenset(term for term in wanting if not like[term] and not _within(term, vocabulary))
        clause = clause_of(question)
        deed, told = clause[-1] if clause else None, None
        if deed is not None and deed not in SAYS_LITTLE | _BEGINS and deed in forms:
            told = forms[deed] | like[deed]
        return cls(
            unheld,
            told or None,
            tuple(
                found | like[term] | (WE if found and term in WRITERS else frozenset())
                for term, found in forms.items()
                if term not in light and (term in clause if found else like[term])
            ),
            _numbers(question),
            tuple(_names(question)),
            frozenset(root_of(term) for term in forms),
            wanted_of(question) in _DEFINITE and not denies(question),
            Finer.of(question, told or forms.get(deed or "", frozenset()), vocabulary),
        )

    def met(self, text: str, tokens: frozenset[str], title: frozenset[str]) -> bool:
        """True if the sentence says the deed and the numbers, names nothing by a part of a name that is asked for
        (`Day Line` for `Night Line`), and does not deny what a question for a time, a number, a person or a place takes
        for granted."""
        if self.unheld or (self.deed is not None and self.deed.isdisjoint(tokens)):
            return False
        if any(words.isdisjoint(tokens) and words.isdisjoint(title) for words in self.clause):
            return False
        if not self.numbers <= _numbers_in(text) or any(_names_another(text, name) for name in self.names):
            return False
        if not self.finer.met(text, tokens | title):
            return False
        return not self.definite or _denied(text).isdisjoint(self.asked)


def _names(question: str) -> Iterator[frozenset[str]]:
    for found in _NAME.findall(question):
        words = frozenset(fold(word) for word in WORD.findall(found)) - UNWEIGHED_WORDS
        if len(words) > 1:
            yield words


def _names_another(text: str, name: frozenset[str]) -> bool:
    """True if a name in the text shares a word with that name and has one of its own in place of another."""
    said = [found - UNWEIGHED_WORDS for found in (frozenset(map(fold, WORD.findall(n))) for n in _NAME.findall(text))]
    if any(name <= found for found in said) or name <= frozenset(map(fold, WORD.findall(text))):
        return False
    return any(found & name and found - name for found in said)


def _denied(text: str) -> frozenset[str]:
    return frozenset(root_of(fold(word)) for word in _DENIED.findall(text))


def _type_words(question: str) -> frozenset[str]:
    """The words after `what` and `which`, which say of what kind the answer is: it need not say so itself."""
    return frozenset(fold(word) for found in _TYPE.findall(question) for word in WORD.findall(found))


def _within(term: str, vocabulary: frozenset[str]) -> bool:
    """True if a word of the sources is the term with other accents, or one of them is in the other."""
    bare = unaccented(term)
    root = root_of(bare)
    return any(
        (not word.isascii() and root_of(unaccented(word)) == root)
        or (len(bare) >= _PART and bare in word)
        or (len(word) >= _PART and word in bare)
        for word in vocabulary
    )


def alike(term: str, vocabulary: frozenset[str]) -> frozenset[str]:
    """The words of the sources that say nearly the same."""
    roots = ALIKE.get(root_of(term), frozenset())
    return frozenset(word for word in vocabulary if root_of(word) in roots) if roots else frozenset()


def _numbers(question: str) -> frozenset[str]:
    """The numbers that are no time: a year or a day is held against the sentence elsewhere."""
    rest, at = "", 0
    for span in read_times(question):
        rest, at = rest + question[at : span.start_char] + " ", span.end_char
    return words_of(rest + question[at:]).numbers


def _numbers_in(text: str) -> frozenset[str]:
    spelt = (_SPELT[word] for word in WORD.findall(text.casefold()) if word in _SPELT)
    return words_of(text).numbers.union(spelt, (label for label, _ in labelled(text)))
