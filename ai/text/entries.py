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

from ai.text.lines import Entry
from ai.text.question_type import WantedKind, offers, wanted_of
from ai.text.tables.words import roots
from retrieval.english.alike import and_alike
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
            "a an the this that these of in on at for to from by with it its there is are was were be been do does did "
            "has have had which what who whom whose when where how much many give tell me us show name list please "
            "you can could number get gets got need needs needed require required contain contains"
        ),
    )
)
_NEUTRAL = frozenset(map(root_of, word_list("about regarding concerning document paper article sheet page file text")))
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


def _rooted(words: str) -> frozenset[str]:
    return frozenset(map(root_of, word_list(words)))


@dataclass(frozen=True, slots=True)
class _Field:
    """A label that heads of minutes and letters have, in its forms, and the words by which it is asked for.
    `of_meeting`: those that mean it only at the head of minutes, where the question may also say nothing of it (`When
    was the meeting?`). `to`: what is asked for must be, or must not be, whom something is addressed to."""

    labels: frozenset[tuple[str, ...]]
    kind: WantedKind
    words: frozenset[str]
    of_meeting: frozenset[str] = frozenset()
    to: bool | None = None

    @classmethod
    def of(cls, labels: str, kind: WantedKind, words: str, of_meeting: str = "", to: bool | None = None) -> _Field:
        forms = frozenset(tuple(roots(label)) for label in labels.split(","))
        return cls(forms, kind, _rooted(words), _rooted(of_meeting), to)


_HELD = "hold held meet met meeting take took place assemble convene"
_FIELDS = (
    _Field.of(
        "chair,chairs,chairman,chairwoman,chairperson,chaired by,in the chair,presiding,presided by,chairing",
        WantedKind.PERSON,
        "chair chaired chairing chairman chairwoman chairperson preside presided",
        "meeting",
    ),
    _Field.of(
        "present,attendees,attendance,in attendance,attending,attended by,participants,members present,those present",
        WantedKind.PERSON,
        "present attend attended attending attendee attendance participate participant",
        "meeting member",
    ),
    _Field.of(
        "apologies,apologies for absence,apologies received,apologies from,regrets",
        WantedKind.PERSON,
        "apology apologies apologise apologised regrets send sent receive received give gave offer offered absence",
        "meeting",
    ),
    _Field.of("absent,absentees,not present", WantedKind.PERSON, "absent absence absentee missing", "meeting"),
    _Field.of(
        "minutes,minutes by,minutes taken by,minute taker,taken by,recorded by,note taker,notes by",
        WantedKind.PERSON,
        "minute minutes note notes take took taken taker record recorded keep kept write wrote",
        "meeting",
    ),
    _Field.of(
        "from,author,authors,by,written by,sender,sent by,prepared by,signed,signed by",
        WantedKind.PERSON,
        "write wrote written author send sent sender prepare prepared sign signed",
        to=False,
    ),
    _Field.of(
        "to,recipient,recipients,addressee,addressed to,attention,attn",
        WantedKind.PERSON,
        "write wrote written send sent address addressed addressee receive received recipient",
        to=True,
    ),
    _Field.of(
        "date,dated,date of meeting,meeting date,date and time,held on",
        WantedKind.TIME,
        "date dated write wrote written send sent day",
        f"{_HELD} year",
    ),
    _Field.of("time,start,start time,starts,begins", WantedKind.TIME, "time start begin", _HELD),
    _Field.of(
        "venue,location,place,held at,where,place of meeting",
        WantedKind.PLACE,
        "venue location locate located",
        _HELD,
    ),
    _Field.of("subject,re,topic,regarding,concerning", WantedKind.ANY, "subject topic about regarding concerning"),
)
_BY_LABEL = {label: field for field in _FIELDS for label in field.labels}
_OF_MINUTES = frozenset().union(*(field.labels for field in _FIELDS[:5])) | {("agenda",), ("quorum",)}
_MEETING = _rooted("meeting minutes")
_WRITING = _rooted("memo memorandum letter email message note")
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
        for entry in entries:
            if (self.term and _is_named(entry.label, self.term)) or self._asks_for(entry, named, minutes):
                yield entry

    def defined_by(self, cells: Mapping[str, str]) -> bool:
        """True if a row of a table says what the term means: its first cell is the term."""
        first = next(iter(cells.values()), "")
        means = any(tuple(roots(header)) in _MEANS for header in cells)
        return bool(self.term) and means and _is_named(first, self.term)

    def _asks_for(self, entry: Entry, named: frozenset[str], minutes: bool) -> bool:
        label = tuple(roots(entry.label))
        field = _BY_LABEL.get(label)
        said = frozenset(roots(entry.value)) - _ASKS
        if not label or (said and said <= self.words):
            return False
        if field is not None and self._asks_field(field, entry, named, minutes):
            return True
        told = frozenset(label) - _ASKS
        meant = and_alike(told)
        whole = bool(told) and all(not and_alike([each]).isdisjoint(self.words) for each in told)
        return whole and self.words <= meant | named | _NEUTRAL and self._is_offered(entry)

    def _asks_field(self, field: _Field, entry: Entry, named: frozenset[str], minutes: bool) -> bool:
        if self.kind not in (field.kind, WantedKind.ANY):
            return False
        if field.to is not None and field.to != bool(_TO.search(self.text)):
            return False
        words = field.words | field.of_meeting if minutes else field.words
        least = field.words if self.kind is WantedKind.ANY or not (minutes and field.of_meeting) else words | named
        if field.kind is WantedKind.PERSON:
            least = field.words
        directed = field.to is not None and bool((_TO if field.to else _FROM).search(self.text))
        left = self.words - words - named - _NEUTRAL
        return (
            not left and (directed or not self.words.isdisjoint(least)) and _is_of(field.kind, entry.value, self.text)
        )

    def _is_offered(self, entry: Entry) -> bool:
        if self.kind is not WantedKind.NUMBER:
            return _is_of(self.kind, entry.value, self.text)
        if not any(map(str.isdigit, entry.value)):
            return False
        counted = f" how many {entry.label} ", f" how much {entry.label} "
        asked = f" {self.text} ".casefold()
        said = f"{entry.label}: {entry.value}"  # the label says of what the amount is: `Weight: 4.1 kg`
        return any(each.casefold() in asked for each in counted) or _is_of(self.kind, said, self.text)


def _is_of(kind: WantedKind, value: str, question: str) -> bool:
    """True if what an entry says may be of the kind that is asked for."""
    match kind:
        case WantedKind.TIME:
            return any(map(str.isdigit, value)) or offers(value, kind, question, loosely=True)
        case WantedKind.NUMBER:
            return offers(value, kind, question)
        case WantedKind.PERSON:
            return _CAPITAL.search(value) is not None
        case WantedKind.PLACE:
            return any(map(str.isalpha, value))
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
