"""Nouns for people and for many at once: what one of them is called, and by which other words questions ask for it."""

from __future__ import annotations

from collections.abc import Collection

from retrieval.english.lists import word_list

PERSONS = word_list("""
    actor applicant artist athlete author candidate captain child client colleague contestant customer director doctor
    donor driver employee engineer farmer friend guest man manager member nurse officer owner parent participant
    passenger patient person pilot player president pupil resident rider runner sailor singer soldier student swimmer
    teacher tenant trainee tutor visitor volunteer winner woman worker writer
    """)
"""Kinds of people, whom `who` asks for."""
MAY_BE_FIRMS = word_list("client customer donor member owner participant tenant")
"""Those of whom `people` says more than is known."""
CLASSES = word_list("""
    brand breed family job kind make occupation position post profession rank role species style trade type variety
    voice
    """)
"""Headers of columns that say what each thing is: their cells are nouns (`barista`, `oak`)."""
_STAFF = word_list("personnel staff workforce")
_CREWS = word_list("cast crew faculty")
_BODIES = word_list("band board choir chorus club committee council ensemble group jury orchestra panel squad team")
"""Words for people at once that may as well head a table of several such bodies."""
_HERDS = word_list("cattle livestock poultry")
_GOODS = word_list("inventory merchandise stock")
_ALIKE = word_list("aircraft deer fish sheep")
"""Nouns that are the same of one and of many."""
_OF_WORK = word_list("job position role trade") | {"job title"}
_OF_PEOPLE = word_list("hired nationality occupation profession salary wage wages") | {
    *("annual salary", "hourly wage", "marital status", "member since", "monthly salary"),
}
_BESIDE_WORK = word_list("department email hours joined since start started") | {
    *("date of birth", "hours a week", "hours per week", "hours/week", "start year", "weekly hours", "year of birth"),
}


def one_of(noun: str, headers: Collection[str] = ()) -> str | None:
    """The kind of one of those that a noun says: `staff_member` for `staff`, `head_of_cattle` for `cattle`; None for
    any other noun, and for `choir` unless headers say that the rows are people."""
    if noun in _STAFF:
        return "staff_member"
    if noun in _CREWS or (noun in _BODIES and (are_people(headers) or {"age", "instrument", "voice"} & set(headers))):
        return f"{noun}_member"
    if noun in _HERDS:
        return f"head_of_{noun}"
    if noun in _GOODS:
        return f"{noun}_item"
    return noun if noun in PERSONS or noun in _ALIKE else None


def is_collective(noun: str) -> bool:
    """True for `staff` and `choir`, which say many at once."""
    return noun in _STAFF | _CREWS | _BODIES | _HERDS


def are_people(headers: Collection[str]) -> bool:
    """True if the headers, in small letters, are those of a table of people: a salary, or a role and working hours."""
    said = set(headers)
    return bool(said & _OF_PEOPLE) or bool(said & _OF_WORK and said & _BESIDE_WORK)


def is_person(kind: str) -> bool:
    """True for a kind of people."""
    return kind.rpartition("_")[2] in PERSONS


def also_called(kind: str) -> frozenset[str]:
    """Other words for things of a kind, where it is one of many at once: `staff` and `employee` for `staff_member`."""
    first, _, last = kind.partition("_")
    if kind == "staff_member":
        return _STAFF | {"colleague", "employee", "member", "worker"}
    if last == "member" and first in _CREWS | _BODIES:
        return frozenset({first, last})
    if last == "item" and first in _GOODS:
        return frozenset({last})
    return frozenset({kind.removeprefix("head_of_")}) if kind.startswith("head_of_") else frozenset()
