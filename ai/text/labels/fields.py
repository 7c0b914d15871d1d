"""Fields: labels that texts of many kinds have, in their forms, and the words by which they are asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from ai.text.amounts import HEAT, MONEY, TIME, amounts_of
from ai.text.question_type import WantedKind
from ai.text.tables.words import roots
from retrieval.english.alike import and_alike
from retrieval.english.lists import word_list
from retrieval.english.stems import root_of


def rooted(words: str) -> frozenset[str]:
    """The roots of a list of words."""
    return frozenset(map(root_of, word_list(words)))


@dataclass(frozen=True, slots=True)
class Field:
    """A label that texts of a kind have, in its forms, and the words by which it is asked for. `of_meeting`: those that
    mean it only at the head of minutes, where the question may also say nothing of it (`When was the meeting?`). `to`:
    what is asked for must be, or must not be, whom something is addressed to. `beside`: words that a question may say
    as well. `located`: it says where that is which the text is about."""

    labels: frozenset[tuple[str, ...]]
    kind: WantedKind
    words: frozenset[str]
    of_meeting: frozenset[str] = frozenset()
    to: bool | None = None
    beside: frozenset[str] = frozenset()
    located: bool = False

    @classmethod
    def of(
        cls,
        labels: str,
        kind: WantedKind,
        words: str,
        of_meeting: str = "",
        *,
        to: bool | None = None,
        beside: str = "",
        located: bool = False,
    ) -> Field:
        """The field, its forms divided by commas and its words by spaces."""
        forms = frozenset(tuple(roots(label)) for label in labels.split(","))
        return cls(forms, kind, rooted(words), rooted(of_meeting), to, rooted(beside), located)


_SHORT_DOER = 4
_HELD = "hold held meet met meeting take took place assemble convene"
FIELDS = (
    Field.of(
        "chair,chairs,chairman,chairwoman,chairperson,chaired by,in the chair,presiding,presided by,chairing",
        WantedKind.PERSON,
        "chair chaired chairing chairman chairwoman chairperson preside presided",
        "meeting",
    ),
    Field.of(
        "present,attendees,attendance,in attendance,attending,attended by,participants,members present,those present",
        WantedKind.PERSON,
        "present attend attended attending attendee attendance participate participant",
        "meeting member",
    ),
    Field.of(
        "apologies,apologies for absence,apologies received,apologies from,regrets",
        WantedKind.PERSON,
        "apology apologies apologise apologised regrets send sent receive received give gave offer offered absence",
        "meeting",
    ),
    Field.of("absent,absentees,not present", WantedKind.PERSON, "absent absence absentee missing", "meeting"),
    Field.of(
        "minutes,minutes by,minutes taken by,minute taker,taken by,recorded by,note taker,notes by",
        WantedKind.PERSON,
        "minute minutes note notes take took taken taker record recorded keep kept write wrote",
        "meeting",
    ),
    Field.of(
        "from,author,authors,by,written by,sender,sent by,prepared by,signed,signed by",
        WantedKind.PERSON,
        "write wrote written author send sent sender prepare prepared sign signed",
        to=False,
    ),
    Field.of(
        "to,recipient,recipients,addressee,addressed to,attention,attn",
        WantedKind.PERSON,
        "write wrote written send sent address addressed addressee receive received recipient",
        to=True,
    ),
    Field.of(
        "date,dated,date of meeting,meeting date,date and time,held on",
        WantedKind.TIME,
        "date dated write wrote written send sent day",
        f"{_HELD} year",
    ),
    Field.of("time,start,start time,starts,begins", WantedKind.TIME, "time start begin", _HELD),
    Field.of(
        "venue,location,place,held at,where,place of meeting",
        WantedKind.PLACE,
        "venue location locate located",
        _HELD,
    ),
    Field.of("subject,re,topic,regarding,concerning", WantedKind.ANY, "subject topic about regarding concerning"),
    Field.of("address,location", WantedKind.PLACE, "address located situated", located=True),
    Field.of(
        "serves,servings,portions,feeds",
        WantedKind.NUMBER,
        "serve servings feed portion",
        beside="people person guest eater",
    ),
    Field.of(
        "att,attendance,spectators,crowd",
        WantedKind.NUMBER,
        "attendance attend spectator watch crowd",
        beside="people person spectator match game",
    ),
    Field.of("ref,referee,umpire", WantedKind.PERSON, "referee refereed umpire", beside="match game"),
    Field.of(
        "admission,entry,entrance,entrance fee,admission fee",
        WantedKind.NUMBER,
        "admission admit entry enter entrance pay",
        beside="cost price charge fee pay ticket",
    ),
)
_BY_LABEL = {
    label: tuple(field for field in FIELDS if label in field.labels) for each in FIELDS for label in each.labels
}
_SHORT = {
    root_of(short): rooted(words)
    for short, words in {
        "att": "attendance",
        "max": "maximum",
        "min": "minimum",
        "prep": "preparation",
        "qty": "quantity",
        "ref": "referee reference",
        "tel": "telephone phone",
        "temp": "temperature",
    }.items()
}
_FREE = re.compile(r"\bfree\b", re.IGNORECASE)
_MEASURES: Mapping[str | None, frozenset[str]] = {
    TIME: rooted("long time take last duration"),
    MONEY: rooted("cost price charge pay fee"),
    HEAT: rooted("temperature"),
}


def fields_of(label: tuple[str, ...]) -> tuple[Field, ...]:
    """The fields that a label, given by its roots, may be."""
    return _BY_LABEL.get(label, ())


@lru_cache(maxsize=2048)
def asked_by(word: str) -> frozenset[str]:
    """The roots by which a word of a label, given by its root, is asked for: those of like meaning, those that it is
    short for (`Prep`), and the deed of who does it (`supervised` for `Supervisor`)."""
    deed = frozenset({root_of(f"{word[:-2]}e"), word[:-2]} if word.endswith("or") and len(word) > _SHORT_DOER else ())
    return and_alike({word} | deed | _SHORT.get(word, frozenset()))


def measured_by(value: str) -> frozenset[str]:
    """The roots of words for the kind of amount that a value states: `cost` of `£8/night`, `time` of `20 min`."""
    stated = {each.dimension for each in amounts_of(value)} | ({MONEY} if _FREE.search(value) else set())
    return frozenset().union(*(words for kind, words in _MEASURES.items() if kind in stated))
