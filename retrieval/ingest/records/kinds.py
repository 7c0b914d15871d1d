"""The kind of a place as files tell it that no manifest describes: by a property or column of kinds, by the file's
name, by the header of its name. Where nothing tells it, the kind is `place`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from retrieval.algebra.wording import plural
from retrieval.english.lists import word_list
from retrieval.ingest.records.templates import slug
from retrieval.ingest.values import EntitySpec

UNTOLD = "place"
"""The kind of a place of which nobody says more."""
KNOWN = word_list("""
    airport arrondissement atoll bay beach borough bridge canal canton cape castle cave cemetery church city coast
    commune constituency continent country county creek dam department desert district duchy emirate estuary farm fjord
    forest garden glacier governorate hamlet harbor harbour hill hospital island kingdom lagoon lake library lighthouse
    market marsh mine monument mountain municipality museum nation neighborhood neighbourhood oblast ocean parish park
    peak peninsula port prefecture province quarter rayon reef region republic reserve reservoir river school sea
    settlement shire spring square stadium state station street suburb summit swamp town township tract tributary
    university valley village volcano voivodeship ward waterfall watershed well wetland wharf wood zone
    """)
"""Words for kinds of places, as a file may be called by them."""
_SINGULAR = {plural(kind): kind for kind in KNOWN} | {kind: kind for kind in KNOWN}
FORM_WORDS = word_list("""
    area areas border borders boundary boundaries census data dataset export features figure figures final geo layer
    layers list location locations map name names outline outlines point points polygon polygons population populations
    register shape shapes simplified stats statistics table title values
    """)
"""Words of a file's name that say how it tells of places, not of which."""
_APART = frozenset(
    ("and", "at", "by", "for", "from", "in", "near", "of", "on", "per", "to", "with", "within", "without")
)
_KIND_COLUMN = re.compile(
    r"(?:(?:place|feature|settlement|admin|location|site|area|region|geo)[ _]?)?(?:kind|type|category|class|level)"
    r"(?:[ _]?name)?|fclass|featurecla|entity[ _]type|types?[ _]of[ _]place|kind[ _]of[ _]place",
    re.IGNORECASE,
)
_SURE_COLUMN = re.compile(r"(?:place|settlement)[ _]?(?:kind|type|class)|kinds?[ _]of[ _]place", re.IGNORECASE)
"""Columns that tell kinds of places even in words that are not known for it."""
_WORDS = re.compile(r"[^\W\d_]{3,}(?:[ _-][^\W\d_]+){0,2}")
_MOST_KINDS = 20
_LONGEST = 30
_NO_KIND = frozenset(
    (
        *("administrative", "area", "boundary", "feature", "line", "multipolygon", "place", "point", "polygon"),
        *("false", "none", "other", "private", "public", "rural", "true", "unknown", "urban", "yes"),
    )
)


def kind_of_word(word: str) -> str | None:
    """The kind that one word names, in the singular: `Counties` is `county`; None for any other word."""
    return _SINGULAR.get(word.strip().casefold())


def kind_of_header(header: str) -> str | None:
    """The kind that the header of a name says: `district`, `Town name`, `NAME_OF_COUNTY`."""
    words = words_of_header(header)
    return kind_of_word(words[0]) if len(words) == 1 else None


def words_of_header(header: str) -> list[str]:
    """The words of a header or a file's name, in small letters, without those that say that it is a name."""
    return [word for word in _split(header) if word not in ("name", "title", "of", "the")]


def kind_of_file(stem: str) -> str | None:
    """The kind of place that a file is of, by its name: `districts`, `us-counties-2020`, `town_figures`; None for
    `district_managers`, `mayors_of_towns` and `data`."""
    words: list[str] = []
    for word in _split(stem):
        if word in _APART:
            break
        words.append(word)
    while words and words[-1] in FORM_WORDS:
        words.pop()
    return kind_of_word(words[-1]) if words else None


def _split(text: str) -> list[str]:
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return [word.casefold() for word in re.findall(r"[^\W\d_]+", apart)]


def may_tell_kinds(header: str) -> bool:
    """True for the header of a column or property that may hold kinds."""
    return _KIND_COLUMN.fullmatch(header) is not None


def kind_column(values: Mapping[str, Sequence[str]], *, apart: str) -> str | None:
    """The column or property whose values are kinds of places: few short words, known ones unless its header leaves no
    doubt. `values` are those of each column that may tell kinds, in every row, empty ones too; `apart` is the column
    of names."""
    for header, told in values.items():
        if header != apart and _are_kinds(header, told):
            return header
    return None


def _are_kinds(header: str, told: Sequence[str]) -> bool:
    said = {each.strip() for each in told} - {""}
    if not said or len(said) > min(_MOST_KINDS, max(1, len(told) // 2, 2)):
        return False
    if not all(len(each) <= _LONGEST and _WORDS.fullmatch(each) for each in said):
        return False
    types = {type_of(each) for each in said}
    if types & _NO_KIND:
        return False
    return bool(_SURE_COLUMN.fullmatch(header)) or all(kind_of_word(each.rpartition("_")[2]) for each in types)


def type_of(said: str) -> str:
    """A kind as the type of an entity: `Market Towns` is `market_town`."""
    words = _split(said)
    return "_".join((*words[:-1], kind_of_word(words[-1]) or words[-1]))


def named_place(column: str, kind: str | None = None) -> EntitySpec:
    """The place that a column or property names: equal names of one kind are one place, in tables and on maps."""
    told = kind or UNTOLD
    return EntitySpec(role="place", type=told, id=f"{told}:{{{column}|slug}}", name=f"{{{column}}}")


def named_places(column: str, kinds: str | None, values: Sequence[str], kind: str | None) -> tuple[EntitySpec, ...]:
    """The places that a column names, each of the kind that the column `kinds` gives it; without that column all of
    one kind."""
    if kinds is None:
        return (named_place(column, kind),)
    of_kind = [(said, type_of(said)) for said in sorted(set(values)) if said.strip()]
    made = [
        EntitySpec("place", told, f"{told}:{{{column}|slug}}", f"{{{column}}}", when={kinds: said})
        for said, told in of_kind
    ]
    return (*made, named_place(column))


def is_untold(entity_id: str, name: str) -> bool:
    """True for the id of a place of that name whose kind nobody told."""
    return entity_id == f"{UNTOLD}:{slug(name)}"


def is_kind(entity_type: str) -> bool:
    """True for a type of entity that is known as a kind of place."""
    return kind_of_word(entity_type.rpartition("_")[2]) is not None
