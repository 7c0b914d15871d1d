"""Entries and sections that a question asks for, by the label or the name that they stand under.

The reading is total, as that of a row is: every word of the question belongs to the label, names the text that the
entry stands in, or only asks. `Who chaired the meeting?` is not told by who was present, nor `What does RFID stand
for?` by what another abbreviation does; and who names another meeting than the title gets nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ai.text.labels.fields import FIELDS, Field, asked_by, fields_of, measured_by, rooted
from ai.text.labels.hours import (
    ASK_HOURS,
    COMES,
    are_hours,
    days_of,
    first_part,
    has_clock,
    may_ask_hours,
    without_days,
)
from ai.text.lines import Entry
from ai.text.question_type import WantedKind, offers, wanted_of
from ai.text.tables.words import roots
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import root_of

_CLOSING = " \t\n?.!\"'“”‘’"
_KIND_OF_TERM = r"(?:(?:abbreviation|acronym|initials|letters|term|word|phrase|expression)\s)?"
_MEANING = re.compile(
    rf"\W*(?:what\s(?:does|do|did)\s(?:the\s)?{_KIND_OF_TERM}(?P<stands>[^?\n]{{1,80}}?)\s(?:stand\sfor|mean|signify|refer\sto)"
    rf"|what(?:['’]s|\sis|\sare)\s(?:the\s)?(?:meaning|definition|full\s(?:form|name)|expansion)\sof\s(?:the\s)?{_KIND_OF_TERM}"
    r"(?P<meant>[^?\n]{1,80}?)"
    rf"|what\s(?:is|are)\smeant\sby\s(?:the\s)?{_KIND_OF_TERM}(?P<by>[^?\n]{{1,80}}?)"
    r"|what\sis\s(?P<short>[^?\n]{1,80}?)\s(?:short|an?\sabbreviation|an?\sacronym)\s(?:for|of)"
    r"|what\s(?:is|are|was|were)\s(?P<named>[^?\n]{1,80}?)"
    rf"|(?:please\s)?define\s(?:the\s)?{_KIND_OF_TERM}(?P<defined>[^?\n]{{1,80}}?))[\s?.!]{{0,8}}",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"(?:an?|the)\s", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"(?P<before>[^()]{1,60}?)\s?\((?P<inside>[^()]{1,60})\)")
_ASKS = frozenset(
    map(
        root_of,
        word_list(
            "a an the this that these of in on at for to from by with and between it its there is are was were be "
            "been do does did has have had which what who whom whose when where how much many give tell me us "
            "show name list please you i we can could must should number get gets got need needs needed require "
            "required contain contains per often"
        ),
    )
)
_TELL = frozenset(map(root_of, word_list("give contain number name when where")))
"""Those of them that are asked for where they stand alone as a label: `Given by`, `When`."""
_NEUTRAL = frozenset(
    map(root_of, word_list("about regarding concerning document paper article sheet page file text product"))
)
"""Words that only say that a text is meant, and what follows names it."""
_TO = re.compile(
    r"\bto[\s?.!]{0,4}\Z|^\W*to\swhom?\b|^\W*whom?\s(?:was|were|is|are)\s(?:sent|addressed)\b"
    r"|\b(?:receiv\w{1,4}|recipients?|addressees?|addressed)\b",
    re.IGNORECASE,
)
_FROM = re.compile(r"\b(?:from|by)[\s?.!]{0,4}\Z|^\W*(?:from|by)\swhom?\b", re.IGNORECASE)
_TOKEN = re.compile(r"[\w&/-]+")
_BESIDE = 60
_SET_BEFORE = re.compile(
    r"(?:[(\[][^()\[\]]{0,50}|[\"“‘']|\b(?:abbreviat\w{1,5}|short|known|called|or)\s(?:\w{1,4}\s)?)\Z", re.IGNORECASE
)
_SET_BEHIND = re.compile(
    r"[\"”’*]{0,3}\s?(?:[(:=–—]|(?:stands?|is\s(?:short|an?\s(?:abbreviation|acronym))|means?|refers?|denotes?)\b)",
    re.IGNORECASE,
)
"""Signs and words that set an abbreviation beside its words: `Regional Commission (RFC)`, `RFC stands for`."""
_LETTERED = re.compile(r"[^\W\d_]+")
_BRACKETED = re.compile(r"\((?P<inside>[^()]{1,120})\)")
_PARTED = re.compile(r"\s?[,:=–—]\s?|\s-\s|\s(?:for|short\sfor)\s")
_HAS_ROLE = re.compile(r"(?P<name>\b[^\W\d_a-z][^,;()]{1,60}?)\s\((?P<role>[a-z][^\d(),;]{2,40})\)")
_MEANS = frozenset(
    tuple(roots(label))
    for label in (
        "meaning",
        "means",
        "definition",
        "description",
        "explanation",
        "expansion",
        "stands for",
        "full name",
        "full form",
        "long form",
    )
)
"""Headers of the column that says what a term means."""
_CAPITAL = re.compile(r"\b[^\W\d_a-z]")
_PER = re.compile(r"(?<=\d)[ \t]?/[ \t]?(?=[a-z])")
_CODED = re.compile(r"[^\s\d]*+\d\S*+")
_WHETHER = re.compile(r"\W*(?:is|are|was|were|do|does|did|can|could|may|must|has|have|had)\b", re.IGNORECASE)
_NUMBERED_LABEL = re.compile(r"[^\W\d_]+[ \t]\d{1,3}[a-z]?")
_OPENING = frozenset(
    map(root_of, word_list("visit visitor contact find information practical price ticket location address"))
)
"""Words of headings under which a text says when it is open itself."""
_USERS = frozenset(map(root_of, word_list("guest visitor customer people person member patient")))
"""Words for whoever may do something: `When can guests check in?`"""


_OF_MINUTES = frozenset().union(*(field.labels for field in FIELDS[:5])) | {("agenda",), ("quorum",)}
_MEETING = rooted("meeting minutes")
_WRITING = rooted("memo memorandum letter email message note")
_SUBJECTS = frozenset(
    tuple(roots(label)) for label in ("subject", "re", "regarding", "title", "model", "product", "name")
)


def term_of(question: str) -> str:
    """The word or abbreviation that the question asks the meaning of, as written; empty where it asks for none."""
    found = _MEANING.fullmatch(question)
    if found is None:
        return ""
    term = next(filter(None, found.groups()), "").strip(_CLOSING)
    return _ARTICLE.sub("", term, count=1) if _ARTICLE.match(term) else term


@lru_cache(maxsize=128)
def abbreviation_of(question: str) -> str:
    """The abbreviation that the question asks what it stands for; empty where it asks for none."""
    found = _MEANING.fullmatch(question)
    if found is None or not (found["stands"] or found["meant"] or found["by"] or found["short"]):
        return ""
    term = term_of(question)
    return term if sum(map(str.isupper, term)) > 1 and " " not in term else ""


def spells_out(text: str, abbreviation: str) -> bool:
    """True if the text says what an abbreviation stands for: it sets it in brackets, in quotes or behind `or`, says
    what it means, or has words in a row that begin with its letters."""
    if not abbreviation:
        return True
    for found in _TOKEN.finditer(text):
        if found[0].casefold() != abbreviation.casefold():
            continue
        before = text[max(0, found.start() - _BESIDE) : found.start()]
        if _SET_BEFORE.search(before) or _SET_BEHIND.match(text, found.end()):
            return True
    initials = "".join(word[0] for word in _LETTERED.findall(text.replace(abbreviation, " "))).casefold()
    return abbreviation.casefold() in initials


def gives_words_of(text: str, abbreviation: str) -> bool:
    """True if the words that an abbreviation is short for stand beside it, one of the two in brackets or both: `a red
    tag (LOTO, lockout-tagout)`, `LOTO (lockout-tagout)`, `lockout-tagout (LOTO)`."""
    for found in _BRACKETED.finditer(text):
        inside = found["inside"]
        first, comma, words = _PARTED.split(inside, maxsplit=1)[0], _PARTED.search(inside), ""
        if comma is not None and first.strip() == abbreviation:
            words = inside[comma.end() :]
        elif text[: found.start()].rstrip().endswith(abbreviation):
            words = inside
        if words and _is_short_for(abbreviation, words):
            return True
        before = text[max(0, found.start() - _BESIDE) : found.start()].split()
        if inside.strip() == abbreviation and any(
            _is_short_for(abbreviation, " ".join(before[at:])) for at in range(len(before))
        ):
            return True
    return False


def _is_short_for(abbreviation: str, words: str) -> bool:
    """True if its letters stand in the words in their order, the first at the beginning, and as many as there are words
    that weigh, but half of them at least, at the beginning of words."""
    said = [word.casefold() for word in _LETTERED.findall(words)]
    letters = [letter for letter in abbreviation.casefold() if letter.isalpha()]
    if not said or len(letters) < 2 or said[0][0] != letters[0] or len(said) > 2 * len(letters):
        return False
    opening, place, at = 0, 0, 0
    for letter in letters:
        here = said[place].find(letter, at) if place < len(said) else -1
        opens = next((n for n in range(place + (at > 0), len(said)) if said[n][0] == letter), None)
        if opens is not None:
            place, at, opening = opens, 1, opening + 1
        elif here >= 0:
            at = here + 1
        else:
            return False
    left = [word for word in said[place + 1 :] if word not in UNWEIGHED_WORDS]
    return not left and 2 * opening >= len(letters)


def roles_in(entries: Sequence[Entry]) -> Iterator[Entry]:
    """The roles that a list of people gives in brackets, as entries of their line: `Present: Ann Orr (chair), ...`."""
    for entry in entries:
        for found in _HAS_ROLE.finditer(entry.value):
            yield Entry(entry.start, entry.end, found["role"], found["name"])


@dataclass(frozen=True, slots=True)
class EntryQuestion:
    """A question as entries are asked: the roots of its words without those that only ask, what kind of thing it wants,
    and the term that it asks the meaning of."""

    text: str
    words: frozenset[str]
    kind: WantedKind
    term: str

    @property
    def asks_whether(self) -> bool:
        """True if yes or no would answer."""
        return _WHETHER.match(self.text) is not None

    @classmethod
    @lru_cache(maxsize=128)
    def of(cls, question: str) -> EntryQuestion:
        """The question, read."""
        return cls(question, frozenset(roots(question)) - _ASKS, wanted_of(question), term_of(question))

    def answered_by(self, entries: Sequence[Entry], title: str) -> Iterator[Entry]:
        """The entries of one text that answer. `title`: all that names the text."""
        if not entries or not (self.words or self.term):
            return
        minutes = _is_of_minutes(entries, title)
        named = frozenset(roots(" ".join((title, *(e.value for e in entries if tuple(roots(e.label)) in _SUBJECTS)))))
        if minutes:
            named |= _MEETING
        if not named.isdisjoint(_WRITING):
            named |= _WRITING
        first, _, path = title.partition(" — ")
        of_first = frozenset(roots(first)) - frozenset(roots(path)) if path else frozenset[str]()
        headed = frozenset[str]()
        for entry in entries:
            if _NUMBERED_LABEL.fullmatch(entry.label):
                headed = frozenset(roots(f"{entry.label} {entry.value}"))
            told = self._asks_for(entry, named | headed, of_first, minutes)
            told = told or self._asks_hours(entry, (named - of_first) | headed, title)
            if told or (self.term and _is_named(entry.label, self.term)):
                yield entry

    def defined_by(self, cells: Mapping[str, str]) -> bool:
        """True if a row of a table says what the term means: its first cell is the term."""
        first = next(iter(cells.values()), "")
        means = any(tuple(roots(header)) in _MEANS for header in cells)
        return bool(self.term) and means and _is_named(first, self.term)

    def _asks_for(self, entry: Entry, named: frozenset[str], of_first: frozenset[str], minutes: bool) -> bool:
        """True if the question asks for what the label says. `of_first`: the names of the first heading of the text
        where the entry does not stand below that; they name the entry only for who asks nothing but its label."""
        label = tuple(roots(entry.label))
        told = frozenset(label) - _ASKS or frozenset(label) & _TELL
        said = frozenset(roots(entry.value)) - _ASKS
        if not label or (said and said <= self.words and not self.asks_whether):
            return False
        beside = (named - of_first) | _NEUTRAL | self._told_by(entry.value)
        if any(self._asks_field(field, entry, named, beside, minutes) for field in fields_of(label)):
            return True
        meant = frozenset[str]().union(*map(asked_by, told))
        asked = self.words | (_TELL & frozenset(roots(self.text)))
        whole = bool(told) and all(not asked_by(each).isdisjoint(asked) for each in told)
        left = self.words - meant
        return whole and (left <= beside or left <= named | _NEUTRAL) and self._is_offered(entry)

    def _told_by(self, value: str) -> frozenset[str]:
        """The roots of words that the question may say beside the label, as the value tells of them: of what it
        measures, and, where a number is asked for or whether something is so, all that it says."""
        match self.kind:
            case WantedKind.NUMBER:
                return measured_by(_spaced(value)) | frozenset(roots(value))
            case WantedKind.ANY:
                return measured_by(_spaced(value)) | (frozenset(roots(value)) if self.asks_whether else frozenset())
            case WantedKind.TIME:
                return _USERS
            case _:
                return frozenset()

    def _asks_hours(self, entry: Entry, named: frozenset[str], title: str) -> bool:
        """True if the question asks when something is open or closed, and the entry says so of it and of the day that
        is asked for, if one is. In a section that has a name, that too is asked."""
        if self.kind not in (WantedKind.TIME, WantedKind.ANY) or not may_ask_hours(self.text):
            return False
        value, words = first_part(entry.value), without_days(self.text) - _ASKS
        label = without_days(entry.label) - _ASKS - ASK_HOURS
        asked, days = days_of(self.text), days_of(entry.label)
        timed = bool(label or asked) and self.kind is WantedKind.TIME
        if not (label <= words and (timed or not words.isdisjoint(ASK_HOURS))):
            return False
        _, deeper, part = title.rpartition(" > ")
        own = without_days(part) - _ASKS - _NEUTRAL - ASK_HOURS - _OPENING
        if deeper and own and not label and own.isdisjoint(words):
            return False
        of_day = not asked.isdisjoint(days | days_of(value)) if asked else bool(days) or has_clock(value)
        if not asked and "closed" in self.text.casefold() and "closed" not in f"{entry.label} {value}".casefold():
            return False
        return of_day and are_hours(entry.label, value) and words <= label | ASK_HOURS | COMES | named

    def _asks_field(
        self, field: Field, entry: Entry, named: frozenset[str], beside: frozenset[str], minutes: bool
    ) -> bool:
        if self.kind not in (field.kind, WantedKind.ANY):
            return False
        if field.to is not None and field.to != bool(_TO.search(self.text)):
            return False
        words = field.words | field.of_meeting if minutes else field.words
        least = field.words if self.kind is WantedKind.ANY or not (minutes and field.of_meeting) else words | named
        if field.kind is WantedKind.PERSON:
            least = field.words
        directed = field.to is not None and bool((_TO if field.to else _FROM).search(self.text))
        left = self.words - words - field.beside
        if not (left <= beside or (field.kind is not WantedKind.NUMBER and left <= named | _NEUTRAL)):
            return False
        if field.kind is WantedKind.NUMBER:
            return not self.words.isdisjoint(least) and any(map(str.isdigit, entry.value))
        only = field.located and self.kind is WantedKind.PLACE and self.words <= named and named.isdisjoint(_WRITING)
        return (only or directed or not self.words.isdisjoint(least)) and _is_of(field.kind, entry.value, self.text)

    def _is_offered(self, entry: Entry) -> bool:
        if self.kind is not WantedKind.NUMBER:
            return _is_of(self.kind, entry.value, self.text)
        if not any(map(str.isdigit, entry.value)):
            return _is_of(self.kind, entry.value, self.text)
        counted = f" how many {entry.label} ", f" how much {entry.label} "
        asked = f" {self.text} ".casefold()
        said = f"{entry.label}: {_spaced(entry.value)}"  # the label says of what the amount is: `Weight: 4.1 kg`
        return any(each.casefold() in asked for each in counted) or _is_of(self.kind, said, self.text)


def _spaced(value: str) -> str:
    """The value of an entry, with `£8 a night` for `£8/night`."""
    return _PER.sub(" a ", value)


def _is_of(kind: WantedKind, value: str, question: str) -> bool:
    """True if what an entry says may be of the kind that is asked for."""
    match kind:
        case WantedKind.TIME:
            return any(map(str.isdigit, value)) or offers(value, kind, question, loosely=True)
        case WantedKind.NUMBER:
            return offers(value, kind, question)
        case WantedKind.PERSON:
            return _CAPITAL.search(value) is not None and _CODED.fullmatch(value) is None
        case WantedKind.PLACE:
            return any(map(str.isalpha, value)) and not are_hours("", value)
        case _:
            return True


def _is_of_minutes(entries: Sequence[Entry], title: str) -> bool:
    labels = {tuple(roots(each.label)) for each in entries}
    return not labels.isdisjoint(_OF_MINUTES) or root_of("minutes") in set(roots(title))


def _is_named(label: str, term: str) -> bool:
    """True if the label is the term, or has it beside or in brackets: `VLAN (virtual local area network)`."""
    found = _IN_BRACKETS.fullmatch(label.strip())
    names = (label,) if found is None else (found["before"], found["inside"])
    return any(_same(name, term) for name in names)


def _same(name: str, term: str) -> bool:
    one, other = name.strip(_CLOSING), term.strip(_CLOSING)
    if any(map(str.isupper, other[1:])) or any(map(str.isupper, one[1:])):
        return one.casefold() == other.casefold()
    return bool(one) and tuple(roots(one)) == tuple(roots(other))
