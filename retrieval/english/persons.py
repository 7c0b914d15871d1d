"""Persons that a text names, and the pronoun that it says them to have: `her niece, Fiona Quayle`, `Mr Brand`.

Without a parser, only what is plain counts: a person is a name of several words, one behind a title or a relative
(`her brother Edwin`), one that does something, or a part of such a name; never one of a place or a thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Literal

from retrieval.english.lists import DATES, NOT_NAMES, STOP_WORDS, word_list
from retrieval.english.stems import is_past

Name = tuple[str, ...]
"""The words of a name, folded and without titles."""
Pronoun = Literal["he", "she", ""]
"""Which pronoun means somebody; empty where that is not said."""

_MEN_TITLED = word_list("mr sir lord father fr brother king prince duke baron count emperor pope monsieur herr uncle")
_WOMEN_TITLED = word_list(
    "mrs ms miss lady dame mother sister queen princess duchess baroness countess empress madame frau aunt"
)
TITLES = (
    _MEN_TITLED
    | _WOMEN_TITLED
    | word_list(
        "dr prof professor rev reverend captain capt colonel col major maj general gen lieutenant lieut lt sergeant "
        "sgt admiral commander commodore judge bishop saint st hon president chairman doctor inspector constable"
    )
)
"""Words before a name that are no part of it."""
WOMEN = word_list(
    "woman mother daughter sister wife widow aunt niece grandmother granddaughter stepmother stepdaughter girl lady "
    "bride mistress heroine actress nun queen waitress seamstress midwife housewife maid nurse sister-in-law "
    "mother-in-law daughter-in-law godmother schoolgirl governess landlady headmistress hostess abbess duchess princess"
)
MEN = word_list(
    "man father son brother husband widower uncle nephew grandfather grandson stepfather stepson boy gentleman groom "
    "monk king priest brother-in-law father-in-law son-in-law godfather schoolboy landlord headmaster duke prince abbot"
)
_ANYBODY = word_list(
    "friend cousin colleague neighbour neighbor supervisor teacher doctor vicar partner child baby twin orphan guest "
    "pupil student tutor patient servant employer lodger tenant clerk captain cook guide sibling parent infant spouse "
    "relative rival assistant apprentice successor predecessor secretary editor author artist poet composer architect "
    "engineer lawyer judge mayor bishop minister president director manager chairman owner farmer miller carrier "
    "merchant soldier sailor surgeon physician witness victim visitor stranger professor lecturer scholar biographer "
    "housekeeper gardener shepherd blacksmith smith carpenter constable inspector journalist photographer pianist "
    "violinist singer dancer chemist botanist scientist trustee deputy warden keeper foreman accomplice fiancé "
    "fiancée parson curate rector mentor agent publisher printer baker butcher grocer draper tailor weaver"
)
PERSONS = WOMEN | MEN | _ANYBODY
"""Nouns that mean one person."""
_THINGS = word_list(
    "company bank river county street road lane avenue university college school church chapel council parliament "
    "committee court army navy regiment museum hall house bridge castle abbey city town village island isle lake "
    "mountain valley club league party union association society institute act treaty war battle office department "
    "ministry railway line station hospital square park press times herald gazette post mail journal review north "
    "south east west northern southern eastern western upper lower great new old royal national congress senate "
    "assembly board commission agency service corporation inc ltd group team festival prize award medal order trust "
    "foundation library gallery theatre orchestra choir band academy port bay cape coast sea ocean moor forest wood "
    "hill mount farm mill cottage inn hotel works factory street cathedral fund world century"
)
_PLACES_BEHIND = word_list(
    "in at from near into around across outside towards toward through over between on onto above below beyond inside "
    "within off up down via under"
)
_REVEREND = word_list("rev reverend hon honourable right very")
_ARTICLES = word_list("the a an")
_NO_PERSON_BEHIND = _PLACES_BEHIND | word_list(
    "the a an this that these those every each its to of called named entitled titled nicknamed christened renamed"
)
_OPENERS = NOT_NAMES | STOP_WORDS | _PLACES_BEHIND
_NO_NAMES = _THINGS | DATES
_VERBS = word_list(
    "is was has had did does will would can could may might must should shall never later also soon once then first"
)
_CAPITAL = "[" + "".join(char for char in map(chr, range(0x41, 0x250)) if char.isupper()) + "]"
_PART = rf"(?:{_CAPITAL}\.|{_CAPITAL}[^\W\d_]*+(?:[-'’][^\W\d_]++)*+)"
_BETWEEN = r"(?:(?:de|da|del|della|du|la|le|van|von|der|den|bin|al|ap)\s){0,2}"
_NAME = re.compile(
    rf"(?<![\w'’-])(?:(?:Mr|Mrs|Ms|Dr|St|Rev|Prof|Capt|Col|Gen|Lt|Maj|Sgt)\.\s)?{_PART}(?:\s{_BETWEEN}{_PART}){{0,5}}"
)
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_LAST = re.compile(r"(?<![\w'’-])([\w'’-]+)\s\Z")
_OWNED = re.compile(r"['’]s?\Z")
_APART = re.compile(r",?\s(?:the\s)?(?:elder|younger|junior|senior|jr|sr|II|III|IV)\b")
_ANOTHER = word_list("another other second different")
_MOST_BEARERS = 50
"""Of one name, in a text that tells of so many that it says of none who that is."""
_BEFORE, _BEHIND = 4, 6
"""Words around a name that may say whose relative it is."""


@dataclass(frozen=True, slots=True)
class Named:
    """A name in a sentence, from `start` to `end`: its words, folded and without titles, as it is `written`, and the
    pronoun that the words around it give. `acts`: it is a subject; `owned`: somebody's relative, said before it;
    `sure`: it is a person's, or `maybe` that of a thing (`Coal came by water`); `apart`: it is one of two persons of
    that name."""

    start: int
    end: int
    words: Name
    written: str
    pronoun: Pronoun
    acts: bool
    owned: bool
    sure: bool
    maybe: bool
    apart: bool


def pronoun_of(noun: str) -> Pronoun:
    """The pronoun that a noun for a person has, empty for one that may be of either."""
    return "she" if noun in WOMEN else "he" if noun in MEN else ""


@lru_cache(maxsize=8192)  # a text is read for its names, and then from sentence to sentence
def names_in(sentence: str, lower: frozenset[str] = frozenset()) -> tuple[Named, ...]:
    """The names in a sentence that may be a person's. `lower`: words that the text also writes small, which are no
    name because they open a sentence."""
    read: list[Named | None] = []
    for found in _NAME.finditer(sentence):
        opens = not any(map(str.isalnum, sentence[: found.start()]))
        read.append(_named(sentence, found.start(), found[0], lower, opens=opens))
    return tuple(each for each in read if each is not None)


def _named(sentence: str, start: int, written: str, lower: frozenset[str], *, opens: bool) -> Named | None:
    parts = written.split()
    if _fold(parts[0]) in _ARTICLES and not (len(parts) > 2 and _fold(parts[1]) in _REVEREND):
        return None  # `The Small Hours`
    while parts and opens and _fold(parts[0]) in _OPENERS and len(parts[0]) > 1:
        if _fold(parts[0]) in TITLES:
            break
        start += sentence[start:].find(parts[0]) + len(parts[0]) + 1
        parts, opens = parts[1:], False
    if not parts:
        return None
    end = start + len(" ".join(parts))
    title: Pronoun = ""
    titles: list[str] = []
    while len(parts) > 1 and _fold(parts[0]) in TITLES:
        titles.append(parts[0])
        title, parts = title or _pronoun_of_title(_fold(parts[0])), parts[1:]
    titled = bool(titles)
    bare = [*parts[:-1], _OWNED.sub("", parts[-1])]
    words = tuple(map(_fold, bare))
    if not _may_be_person(bare, words, lower, opens=opens and not titled):
        return None
    before = [_fold(word) for word in _WORD.findall(sentence[max(0, start - 60) : start])][-_BEFORE:]
    after = sentence[end : end + 60]
    relative = _relative_before(before, sentence[:start])
    pronoun = title or (pronoun_of(relative) if relative else "") or _pronoun_behind(after, before)
    if not (titled or relative) and _is_placed(sentence[:start]):
        return None
    following = _WORD.match(after.lstrip())
    verb = bool(following) and after[:1] == " " and is_verb(_fold(following[0] if following else ""))
    acts = not _OWNED.search(parts[-1]) and (opens or verb or (bool(relative) and _is_first(sentence[:start])))
    if title and len(words) == 1:  # `Mrs Tildesley` is not `Amos Tildesley`
        bare, words = [titles[-1], *bare], (_fold(titles[-1]), *words)
    plain = titled or bool(relative) or len(words) > 1
    sure = plain or (acts and verb)
    apart = bool(_APART.match(after)) or (bool(before) and before[-1] in _ANOTHER)
    return Named(
        start, end, words, " ".join(bare), pronoun, acts, bool(relative), sure, sure and not plain and opens, apart
    )


def _is_placed(lead: str) -> bool:
    """True right behind a word that stands before places and things: `in`, `the`, `called`."""
    found = _LAST.search(lead)
    return found is not None and _fold(found[1]) in _NO_PERSON_BEHIND


def _fold(word: str) -> str:
    return word.casefold().rstrip(".").replace("’", "'")


def _pronoun_of_title(title: str) -> Pronoun:
    """The pronoun of whoever has a title, empty where either may have it."""
    return "she" if title in _WOMEN_TITLED else "he" if title in _MEN_TITLED else ""


def _may_be_person(bare: Sequence[str], words: Sequence[str], lower: frozenset[str], *, opens: bool) -> bool:
    """True unless a word is of a thing or a date, or in capitals, or it is a word of every day that only opens the
    sentence."""
    if not _NO_NAMES.isdisjoint(words) or any(len(part) > 2 and part.isupper() for part in bare):
        return False
    if len(words) > 1:
        return True
    word = bare[0]
    if len(word) < 2 or word.isupper() or words[0] in _OPENERS:
        return False
    return not (opens and (words[0] in lower or words[0].endswith(("s", "tion", "ment", "ness", "ing", "ity"))))


def _relative_before(before: Sequence[str], lead: str) -> str:
    """The noun right before a name that says who it is: `her niece, Fiona`, `the painter Tomas`."""
    if not before or before[-1] not in PERSONS:
        return ""
    return before[-1] if lead.rstrip(" ,").casefold().endswith(before[-1]) else ""


_IS_ONE = re.compile(
    r"(?:,\s(?:the|a|an|his|her|their|whose)|\s(?:was|is|became|remained)\s(?:the|a|an|his|her|their))\s"
    r"(?P<nouns>(?:[a-z'’-]+\s?){1,5})"
)


def _pronoun_behind(after: str, before: Sequence[str]) -> Pronoun:
    """By what is said of the name right behind it: `Ann Lee, the daughter of`, `became the first woman`; or by who
    married whom."""
    found = _IS_ONE.match(after)
    for noun in _WORD.findall(found["nouns"])[:_BEHIND] if found else ():
        if noun in WOMEN | MEN:
            return pronoun_of(noun)
        if noun in {"of", "who", "and", "with", "in", "at", "to", "for", "by"}:
            break
    if "married" in before and "he" in before:
        return "she"
    return "he" if "married" in before and "she" in before else ""


def is_verb(word: str) -> bool:
    """True for a folded word that may be the verb of a sentence."""
    return word in _VERBS or is_past(word)


def _is_first(lead: str) -> bool:
    """True if nothing but the owner and the noun stands before a name: `Her mother, Susan`."""
    words = [_fold(word) for word in _WORD.findall(lead)]
    return len(words) <= _BEFORE and not any(map(is_verb, words))


@dataclass(frozen=True, slots=True)
class People:
    """The persons of a text: the names of several words, `full`, by each word; those of one that are somebody's; the
    pronouns that the text gives them, `surely` by a title, a relative or what they were; how they are `written` and
    `since` which sentence. `lower` are its words in small letters."""

    full: dict[str, list[Name]]
    single: frozenset[str]
    pronouns: dict[Name, Pronoun]
    surely: frozenset[Name]
    written: dict[Name, str]
    since: dict[Name, int]
    lower: frozenset[str]

    @classmethod
    def of(cls, sentences: Sequence[str], known: str | None = None) -> People:
        """Reads the names of all sentences; `known`: one that stands elsewhere."""
        lower = frozenset(word for each in sentences for word in _WORD.findall(each) if word[0].islower())
        read = [names_in(each, lower) for each in sentences]
        people = cls({}, _alone(chain.from_iterable(read)), {}, frozenset(), {}, {}, lower)
        if known:
            people._know(name_of(known), known, -1)
        for at, names in enumerate(read):
            for each in names:
                people._know(each.words, each.written, at)
        for each in chain.from_iterable(read):
            people._give(people.resolved(each.words), each.pronoun)
        surely = frozenset(people.pronouns)
        for sentence, names in zip(sentences, read, strict=True):
            persons = [(each, name) for each in names if (name := people.resolved(each.words))]
            if len(persons) == 1 and persons[0][0].acts and persons[0][1] not in surely:
                people._give(persons[0][1], _said_behind(sentence[persons[0][0].end :]))
        return replace(people, surely=surely)

    def _know(self, name: Name, written: str, at: int) -> None:
        if name not in self.since and len(name) > 1:
            for word in dict.fromkeys(name):
                self.full.setdefault(word, []).append(name)
        self.written.setdefault(name, written)
        self.since.setdefault(name, at)

    def _give(self, name: Name, pronoun: Pronoun) -> None:
        if name and pronoun:
            held = self.pronouns.setdefault(name, pronoun)
            self.pronouns[name] = pronoun if held == pronoun else ""

    def resolved(self, words: Name, at: int | None = None) -> Name:
        """The longest name of somebody; nothing where two persons of the text may be meant, or it is none. `at`: the
        number of the sentence, behind which nobody was named yet."""
        bearers = self.full.get(words[0], ())
        if len(bearers) > _MOST_BEARERS:
            return ()
        known = [name for name in bearers if set(words) <= set(name) and (at is None or self.since[name] <= at)]
        longest = [name for name in known if not any(set(name) < set(other) for other in known)]
        if len(longest) == 1:
            return longest[0]
        return words if not longest and words[0] in self.single else ()

    def named_in(self, sentence: str) -> Iterator[Named]:
        """The persons that a sentence names."""
        for each in names_in(sentence, self.lower):
            if each.sure or each.words[0] in self.single or each.words[0] in self.full:
                yield each


def _alone(names: Iterable[Named]) -> frozenset[str]:
    return frozenset(each.words[0] for each in names if not each.words[1:] and each.sure)


def name_of(written: str) -> Name:
    """The words of a name as it is written."""
    words = tuple(_fold(part) for part in written.split())
    bare = tuple(word for word in words if word not in TITLES)
    return bare if len(bare) > 1 else words


def _said_behind(after: str) -> Pronoun:
    """The pronoun behind the only name of a sentence: `Brand moved to Cork, where he died`."""
    she, he = _SHE.search(after), _HE.search(after)
    return "" if bool(she) == bool(he) else "she" if she else "he"


_SHE = re.compile(r"\b(?:she|herself|her\sown)\b")
_HE = re.compile(r"\b(?:he|himself|his\sown)\b")
