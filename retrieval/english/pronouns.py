"""Whom `he` and `she` mean from sentence to sentence, where that is certain: the person that a text begins with, or
that a paragraph begins with, up to where another may be meant.

Speech says nothing. Another person of the same pronoun who does something ends it until the name recurs; one who is
only named, or a new one without a name, until the next paragraph; and from paragraph to paragraph only whom the text
begins with is still meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from retrieval.english.lists import word_list
from retrieval.english.persons import PERSONS, Name, Named, People, Pronoun, is_verb, name_of, pronoun_of

_WORD = re.compile(r"(?<![\w'’-])[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_PRONOUNS: dict[str, Pronoun] = {
    **dict.fromkeys(("she", "her", "herself", "hers"), "she"),
    **dict.fromkeys(("he", "his", "him", "himself"), "he"),
}
_HAS_PRONOUN = re.compile(rf"\b(?:{'|'.join(_PRONOUNS)})\b", re.IGNORECASE)
_NOBODY = ("",)
_BOTH: tuple[Pronoun, ...] = ("he", "she")
_ACTING = word_list("he she")
_ENDS = _ACTING | word_list("of in at on to from for by with after before when while like as")
"""Words behind which a noun is no subject."""
_APPOSED = re.compile(r",\s(?:the|a|an)\s(?:[a-z-]+\s){0,3}\Z")
_NEW = word_list("a an one another")
_BEING = word_list("was is became become being been as remained were be")
_SHIP_FIRST = re.compile(
    r"\W*(?:the\s(?-i:[A-Z])|(?:[a-z]+\s){1,3}?(?:ship|vessel|boat|yacht|schooner|trawler|liner|steamer|brig|barque|sloop"
    r"|frigate|lifeboat|tug|ferry)\b)",
    re.IGNORECASE,
)
"""`The Lady Ann carried the mail. She was built at Fowey.`"""
_SPOKEN = re.compile(r"[“\"][^”\"]*+(?:[”\"]|\Z)")
_SAID = re.compile(r"(?: > | — )(?P<by>he|she) is (?P<name>[^\W\d_][^>—]*)\Z")
_NEAR = 40
"""Characters of an apposition before its noun."""
_BEGINNING = 3
"""Sentences, a line above the text among them, that say whom it is about."""
_BEFORE_NOUN = 4
"""Words of a subject before its noun: `The old, tired vicar`."""


def has_pronoun(text: str) -> bool:
    """True if a word of the text may mean somebody by `he` or `she`."""
    return _HAS_PRONOUN.search(text) is not None


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody by the full name as it is written, and the pronoun that means this person."""

    name: str
    pronoun: Pronoun

    @property
    def words(self) -> Name:
        """The words of the name."""
        return name_of(self.name)

    @property
    def said(self) -> str:
        """The last heading of a passage that means this person: `she is Elspeth Quayle`."""
        return f"{self.pronoun} is {self.name}"


def parted(title: str) -> tuple[str, Person | None]:
    """A title without the person who is its last heading, and that person."""
    found = _SAID.search(title)
    if found is None:
        return title, None
    return title[: found.start()], Person(found["name"], "she" if found["by"] == "she" else "he")


@dataclass(frozen=True, slots=True)
class Meaning:
    """The `persons` of a sentence, by name or pronoun. `pronouns`: those whom its pronouns mean; `spelt`: the sentence
    with names for the first pronouns."""

    persons: tuple[Person, ...] = ()
    pronouns: tuple[Person, ...] = ()
    spelt: str = ""


NOTHING = Meaning()
"""Nobody is meant."""


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence of a text; `opens`: it is the first of its paragraph."""

    text: str
    opens: bool = False


def meanings(sentences: Sequence[Told], known: Person | None = None, *, whole: bool = False) -> list[Meaning]:
    """Of each sentence the persons that its pronouns mean, and those that it names, in full. `known`: whom the text is
    about by what stands before it; `whole`: nothing does, and it is about whom it begins with."""
    texts = [_SPOKEN.sub(lambda said: " " * len(said[0]), each.text) for each in sentences]
    reading = _Reading(People.of(texts, known.name if known else None))
    if known is not None:
        reading.begin(known)
    elif not whole:
        reading.first = _NOBODY
    return [reading.read(text, each) for text, each in zip(texts, sentences, strict=True)]


@dataclass(frozen=True, slots=True)
class _Word:
    """A pronoun or a noun for a person in a sentence. `acts`: it is a subject; `new`: the noun brings somebody in;
    `aside`: it only says of whom something is."""

    start: int
    written: str
    pronoun: Pronoun
    acts: bool = False
    noun: bool = False
    new: bool = False
    aside: bool = False


@dataclass(slots=True)
class _Reading:
    """Whom each pronoun means as far as the text was read, up to the sentence of the number `at`. `held` are those that
    may now mean another, `ended` those that did; `waits` is a subject whose pronoun, none of its `rivals`', was not
    said yet; `first` and `main` are whom the text begins with."""

    people: People
    meant: dict[Pronoun, Name] = field(default_factory=dict)
    held: set[Pronoun] = field(default_factory=set)
    ended: set[Pronoun] = field(default_factory=set)
    waits: Name = ()
    rivals: set[Pronoun] = field(default_factory=set)
    first: Name = ()
    main: Name = ()
    at: int = -1

    def begin(self, known: Person) -> None:
        """The words before the text are about somebody."""
        self.first = self.main = name_of(known.name)
        self.people.pronouns[self.main] = known.pronoun
        self.meant[known.pronoun] = self.main

    def read(self, text: str, told: Told) -> Meaning:
        """The meaning of the next sentence; `text` is its words outside speech."""
        self.at += 1
        if told.opens:
            self._open()
        named = list(self.people.named_in(text))
        words = list(_words(text, named))
        found, others = dict[Name, Pronoun](), set[Pronoun]()
        spelt: list[tuple[_Word, Name]] = []
        by_pronoun = dict[Name, None]()
        said: list[Named | _Word] = sorted((*named, *words), key=lambda each: each.start)
        for each in said:
            name, pronoun = self._who(each) if isinstance(each, Named) else (self._meant_by(each, others), each.pronoun)
            if isinstance(each, _Word) and name and name not in found and (each.acts or not text[: each.start].strip()):
                spelt.append((each, name))
            if name and pronoun:
                found.setdefault(name, pronoun)
            if isinstance(each, _Word) and not each.noun:
                by_pronoun |= {name: None} if name else {}
            elif name not in self.meant.values():
                others |= _these(pronoun)
        self._close(text, named, words, opens=told.opens)
        persons = {name: Person(self.people.written[name], pronoun) for name, pronoun in found.items()}
        return Meaning(
            tuple(persons.values()),
            tuple(persons[name] for name in by_pronoun),
            self._spelt(told.text, spelt),
        )

    def _spelt(self, text: str, pronouns: Sequence[tuple[_Word, Name]]) -> str:
        for word, name in reversed(pronouns):
            written = self.people.written[name] + ("" if word.acts else "'s")
            text = text[: word.start] + written + text[word.start + len(word.written) :]
        return text

    def _who(self, named: Named) -> tuple[Name, Pronoun]:
        name = () if named.apart else self.people.resolved(named.words, self.at)
        return name, named.pronoun or self.people.pronouns.get(name, "")

    def _open(self) -> None:
        for pronoun in [each for each, name in self.meant.items() if name != self.main]:
            del self.meant[pronoun]
        self.held.clear()
        if self.waits != self.first:
            self.waits = ()

    def _meant_by(self, said: _Word, others: set[Pronoun]) -> Name:
        """Whom a pronoun means, if that is certain; one that acts while another may be meant leaves it to the other."""
        pronoun = said.pronoun
        if said.noun:
            return ()
        if self.waits and pronoun not in others:
            waited, self.waits = self.waits, ()
            if pronoun in self.meant or pronoun in self.ended:
                self._end(pronoun)
            elif pronoun not in self.rivals:
                self._means(waited, pronoun)
        if pronoun in self.held and said.acts:
            self._end(pronoun)
        return () if pronoun in others | self.held else self.meant.get(pronoun, ())

    def _means(self, name: Name, pronoun: Pronoun) -> None:
        self.meant[pronoun] = name
        self.people.pronouns.setdefault(name, pronoun)
        self.held.discard(pronoun)
        self.ended.discard(pronoun)
        if name == self.first:
            self.main = name

    def _end(self, *pronouns: Pronoun) -> None:
        for each in pronouns:
            if self.meant.pop(each, None) is not None:
                self.ended.add(each)
            self.held.discard(each)

    def _hold(self, pronoun: Pronoun) -> None:
        self.held |= {each for each in self.meant if pronoun in (each, "")}

    def _close(self, text: str, named: Sequence[Named], words: Sequence[_Word], *, opens: bool) -> None:
        """The persons that the sentence leaves for the pronouns of the next one."""
        actors = [each for each in named if each.acts]
        rivals = {word.pronoun for word in words if word.noun and not word.aside}
        if any(self._name_of(each) != self.waits for each in named) or any(each.noun and each.acts for each in words):
            self.waits = ()
        for each in actors:
            rivals |= {self._who(other)[1] for other in named if self._name_of(other) != self._name_of(each)}
            self._act(each, alone=len(actors) == 1, rivals=rivals, opens=opens and each is named[0])
        for each in named:
            if not each.acts and self._name_of(each) not in (*self.meant.values(), self.waits):
                self._hold(self._who(each)[1])
        for word in words:
            if word.noun and (word.new or word.acts):
                self._hold(word.pronoun)
        if _SHIP_FIRST.match(text):
            self._hold("she")

    def _name_of(self, named: Named) -> Name:
        return self._who(named)[0]

    def _act(self, named: Named, *, alone: bool, rivals: set[Pronoun], opens: bool) -> None:
        """Somebody named does something."""
        name, pronoun = self._who(named)
        ends = (pronoun,) if pronoun else _BOTH
        if named.maybe and len(name) == 1 and self.meant and name not in self.meant.values():
            self._hold("")
            return
        is_first = bool(name) and name == self.first
        if not self.first:
            begins = bool(name) and alone and self.at < _BEGINNING
            self.first, is_first = (name, True) if begins else (_NOBODY, False)
        if name and name in self.meant.values():
            if alone:
                self.held.discard(pronoun)
            else:
                self._hold(pronoun)
        elif not name or not alone:
            self._end(*ends)
        elif is_first or (opens and not named.owned):
            self._turn_to(name, pronoun, rivals, sure=named.pronoun != "" or name in self.people.surely)
        elif pronoun and pronoun not in self.meant and pronoun not in self.ended:
            self._means(name, pronoun)
        else:
            self._end(*ends)

    def _turn_to(self, name: Name, pronoun: Pronoun, rivals: set[Pronoun], *, sure: bool) -> None:
        """The text goes over to somebody, whose pronoun it says surely, or else comes next."""
        if pronoun and (sure or pronoun not in self.meant):
            self._means(name, pronoun)
            return
        free = not self.meant
        self._end(*((pronoun,) if pronoun else _BOTH))
        if free and "" not in rivals:
            self.waits, self.rivals = name, rivals


def _these(pronoun: Pronoun) -> set[Pronoun]:
    return {pronoun} if pronoun else set(_BOTH)


def _words(text: str, named: Sequence[Named]) -> Iterator[_Word]:
    """The pronouns and nouns for persons of a sentence, but for nouns that stand before a name (`her niece, Fiona`)
    or say what somebody is."""
    before: list[str] = []
    for found in _WORD.finditer(text):
        word = found[0].casefold()
        inside = (word in _PRONOUNS or word in PERSONS) and any(e.start <= found.start() < e.end for e in named)
        if word in _PRONOUNS and not inside:
            yield _Word(found.start(), found[0], _PRONOUNS[word], acts=word in _ACTING)
        elif word in PERSONS and not inside and not _says_who(text, found, before, named):
            acts = len(before) <= _BEFORE_NOUN and not any(each in _ENDS or is_verb(each) for each in before)
            brings = not _NEW.isdisjoint(before[-2:]) and pronoun_of(word) != ""
            aside = "of" in before[-3:]
            yield _Word(found.start(), found[0], pronoun_of(word), acts, noun=True, new=brings, aside=aside)
        before.append(word)


def _says_who(text: str, noun: re.Match[str], before: Sequence[str], named: Sequence[Named]) -> bool:
    """True for a noun that says what somebody is: `her niece, Fiona`, `she was a nurse`, `Ann Lee, the daughter of`."""
    if any(0 < each.start - noun.end() <= 2 for each in named) or not _BEING.isdisjoint(before[-4:]):
        return True
    return _APPOSED.search(text, max(0, noun.start() - _NEAR), noun.start()) is not None
