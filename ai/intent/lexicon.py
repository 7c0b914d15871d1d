"""The words that a question of one corpus may use: those of English (`ai.intent.words`), and the corpus's own kinds,
measures, units and relations with their synonyms. Built once for a scope."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from ai.intent import words as w
from ai.intent.slips import Spelling
from ai.text.tables.conversion import factor
from retrieval.algebra.domain import Domain, FigureKind
from retrieval.algebra.wording import CALENDAR_YEAR, plural
from retrieval.english.collectives import MAY_BE_FIRMS, also_called, is_person
from retrieval.english.lists import word_list
from retrieval.english.stems import stem
from retrieval.gazetteer import Gazetteer
from retrieval.index import surface_key
from retrieval.model import EntityRef


class Role(StrEnum):
    """The roles of a word in a question."""

    PLACE = "place"
    THING = "thing"
    UNKNOWN_NAME = "unknown name"
    TIME = "time"
    NUMBER = "number"
    ORDINAL = "ordinal"
    SCALE = "scale"
    KIND = "kind of place"
    TYPE = "type of thing"
    MEASURE = "measure"
    AREA = "area"
    DENSITY = "density"
    LENGTH = "unit of length"
    UNIT = "unit of another kind"
    SQUARE = "unit of area"
    COMPARATOR = "comparator"
    OR_MORE = "comparator after a number"
    NEGATION = "negation"
    EXCEPTION = "exception"
    BORDER = "border"
    NEIGHBOUR = "neighbour"
    INSIDE = "containment"
    OUTSIDE = "outside"
    HOLDS = "containment of a place"
    SUPERLATIVE = "superlative"
    COMPARATIVE = "comparative"
    AGGREGATE = "aggregate"
    CHANGE = "change"
    RELATIVE = "relative"
    DIFFERENCE = "difference"
    RATIO = "ratio"
    SHARE = "share"
    SERIES = "series of years"
    PER_AREA = "unit of density"
    DISTANCE = "distance"
    WHICH = "question word"
    MANY = "count"
    MUCH = "amount"
    WHEN = "time asked for"
    WHO = "name asked for"
    WHERE = "place asked for"
    HERE = "what the map shows"
    RELATION = "relation"
    TO = "preposition of direction"
    FROM = "preposition of origin"
    AND = "conjunction"
    BETWEEN = "range"
    THAN = "comparison"
    DWELLING = "verb of dwelling"
    OCCURRING = "verb of what is dated"
    JOINTLY = "together with others"
    AS = "comparison with a multiple"
    NOTHING = "changes nothing"


Roles = Mapping[Role, object]
ENGLISH: Mapping[Role, Iterable[str] | Mapping[str, object]] = {
    Role.COMPARATOR: w.COMPARATORS,
    Role.OR_MORE: w.OR_MORE,
    Role.NEGATION: w.NEGATIONS,
    Role.EXCEPTION: w.EXCEPTIONS,
    Role.BORDER: w.BORDERS,
    Role.NEIGHBOUR: w.NEIGHBOURS,
    Role.INSIDE: w.INSIDE,
    Role.OUTSIDE: w.OUTSIDE,
    Role.HOLDS: w.HOLDS,
    Role.SUPERLATIVE: w.SUPERLATIVES,
    Role.COMPARATIVE: w.COMPARATIVES,
    Role.AGGREGATE: w.AGGREGATES,
    Role.CHANGE: w.CHANGES,
    Role.RELATIVE: w.RELATIVE,
    Role.DIFFERENCE: w.DIFFERENCE,
    Role.RATIO: w.RATIO,
    Role.SHARE: w.SHARE,
    Role.SERIES: w.SERIES,
    Role.AREA: w.AREA,
    Role.DENSITY: w.DENSITY,
    Role.PER_AREA: w.PER_AREA,
    Role.DISTANCE: w.DISTANCE,
    Role.LENGTH: w.LENGTHS,
    Role.SQUARE: w.SQUARES,
    Role.SCALE: w.SCALES,
    Role.NUMBER: w.NUMBERS,
    Role.ORDINAL: w.ORDINALS,
    Role.WHICH: w.WHICH,
    Role.MANY: w.MANY,
    Role.MUCH: w.MUCH,
    Role.WHEN: w.WHEN,
    Role.WHO: w.WHO,
    Role.WHERE: w.PLACE_ASKED,
    Role.HERE: w.HERE,
    Role.TO: ("to", "from", "of"),
    Role.FROM: ("from",),
    Role.AND: ("and", "or", "nor", ","),
    Role.BETWEEN: ("between",),
    Role.THAN: ("than",),
    Role.DWELLING: w.DWELLING,
    Role.OCCURRING: w.OCCURRING,
    Role.JOINTLY: w.JOINTLY,
    Role.AS: ("as",),
    Role.NOTHING: w.CHANGES_NOTHING,
}


@dataclass(frozen=True, slots=True)
class Entry:
    """The roles of a phrase of several words."""

    size: int
    roles: Roles


@dataclass(frozen=True)
class Lexicon:
    """Phrases by their first word, the longest first; the names and kinds that they come from."""

    gazetteer: Gazetteer
    domain: Domain
    entries: Mapping[tuple[str, ...], Roles] = field(default_factory=dict)
    longest: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, gazetteer: Gazetteer, domain: Domain) -> Lexicon:
        """The lexicon of a scope."""
        found: defaultdict[tuple[str, ...], dict[Role, object]] = defaultdict(dict)
        for role, phrases in ENGLISH.items():
            values = phrases.items() if isinstance(phrases, Mapping) else ((phrase, True) for phrase in phrases)
            for phrase, value in values:
                found[tuple(phrase.split())][role] = value
        for phrase, role, value in (*_kinds(gazetteer, domain), *_relations(domain)):
            found[tuple(phrase.split())][role] = value
        for phrase, measures in _measures(domain).items():
            found[tuple(phrase.split())][Role.MEASURE] = measures
        longest: dict[str, int] = {}
        for phrase_words in found:
            longest[phrase_words[0]] = max(len(phrase_words), longest.get(phrase_words[0], 0))
        return cls(gazetteer, domain, dict(found), longest)

    def at(self, said: list[str], first: int) -> Entry:
        """The longest entry that begins at a word; one of no role for a word that is not here."""
        for size in range(min(self.longest.get(said[first], 0), len(said) - first), 0, -1):
            roles = self.entries.get(tuple(said[first : first + size]))
            if roles is not None:
                return Entry(size, roles)
        return Entry(1, {})

    def is_group(self, ref: EntityRef) -> bool:
        """True for a group that a table without times puts things into: `Sales`, `diesel`."""
        return ref.listed and ref.type not in self._measured

    @cached_property
    def _measured(self) -> frozenset[str]:
        return frozenset(figure.kind for figure in self.domain.figures)

    @cached_property
    def kinds(self) -> Mapping[str, str]:
        """Every word for a kind of place, with the kind."""
        return {" ".join(p): str(r[Role.KIND]) for p, r in self.entries.items() if Role.KIND in r}

    def names_near(self, said: str) -> frozenset[str]:
        """The names, as keys, that are one slip of spelling from these words."""
        return self._names.meant(said)

    def words_near(self, said: str) -> frozenset[str]:
        """The words for measures, kinds and types that are one slip of spelling from this one."""
        return self._words.meant(said)

    @cached_property
    def _names(self) -> Spelling:
        gazetteer = self.gazetteer
        entities = (entity for kind in sorted(gazetteer.types) for entity in gazetteer.of_type(kind))
        names = (name for entity in entities for name in gazetteer.names(entity.entity_id) if "," not in name)
        return Spelling.of({surface_key(name) for name in names})

    @cached_property
    def _words(self) -> Spelling:
        content = {Role.MEASURE, Role.KIND, Role.TYPE}
        return Spelling.of(p[0] for p, roles in self.entries.items() if len(p) == 1 and content & set(roles))

    @cached_property
    def cues(self) -> frozenset[str]:
        """Words of relations and of what they relate: with these a name that a thing and a place share is the
        thing's."""
        return frozenset(p[0] for p, r in self.entries.items() if Role.TYPE in r or Role.RELATION in r)

    def only_measure(self, kind: str) -> str | None:
        """The one measure that is recorded of a kind of place; None where there are several."""
        held = {figure.measure for figure in self.domain.figures if figure.kind == kind}
        return held.pop() if len(held) == 1 else None

    @property
    def counting(self) -> frozenset[str]:
        """The measures that count people, in whole numbers."""
        counted = (f for f in self.domain.figures if {f.measure, f.unit} & w.PEOPLE)
        scaled = {f.measure for f in self.domain.figures if factor("", f.unit) is None}
        return frozenset(f.measure for f in counted) - scaled

    def size_of(self, kind: str) -> str | None:
        """The measure that `large` means of a kind of place; None where it has none, or several."""
        sized = {f.measure for f in self.domain.figures if f.kind == kind and {f.measure, f.unit} & w.SIZES}
        return sized.pop() if len(sized) == 1 else None


def _synonyms(*said: str) -> set[str]:
    """Words that mean one of these."""
    return {word for group in w.SYNONYMS if group & set(said) for word in group}


def _kinds(gazetteer: Gazetteer, domain: Domain) -> Iterator[tuple[str, Role, object]]:
    measured = {figure.kind for figure in domain.figures}
    related = {end for relation in domain.relations for end in (relation.subject, relation.object)}
    kinds = {kind: kind.replace("_", " ").casefold() for kind in (gazetteer.types | measured | related) - {"date"}}
    for kind, name in sorted(kinds.items()):
        role = Role.TYPE if kind in domain.things else Role.KIND
        for word in sorted(
            {name, *_synonyms(name), *_also(kind, gazetteer, domain)} - (set(kinds.values()) - {name})
        ):  # a city is no town where both are
            yield word, role, kind
            yield plural(word), role, kind
            if role is Role.KIND:
                yield from ((f"{this} {word}", Role.HERE, kind) for this in ("this", "that"))


def _also(kind: str, gazetteer: Gazetteer, domain: Domain) -> set[str]:
    """The other words for things of a kind that only tables without times list: `staff`, and `people` where no other
    kind is of people and none are counted."""
    if not all(entity.listed for entity in gazetteer.of_type(kind)):
        return set()
    people = {figure.kind for figure in domain.figures if is_person(figure.kind)}
    counted = any({figure.measure, figure.unit} & w.PEOPLE for figure in domain.figures)
    return {*also_called(kind), *(["person"] if people == {kind} and not counted and kind not in MAY_BE_FIRMS else [])}


def _measures(domain: Domain) -> dict[str, tuple[str, ...]]:
    """Measures by their own words, their units and their synonyms; a word of several measures names them all."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    deeds = {(figure.kind, _deed(figure.measure)) for figure in domain.figures if figure.unit == CALENDAR_YEAR}
    for figure in domain.figures:
        name, unit = _said(figure.measure), _said(figure.unit)
        own = _names_of(name) | _extremes_of(name, unit) | _measured_in(name, w.NAMES_OF_UNITS.get(unit, ()))
        if unit == CALENDAR_YEAR:
            other = w.STARTS if _deed(name) in w.STARTS else ()
            own |= {_deed(name), *(word for word in other if (figure.kind, word) not in deeds)}
        own |= _one_of(name) | _shorter(name) if figure.undated else set()
        for word in own | unit_names(figure):
            found[word].add(figure.measure)
    return {word: tuple(sorted(measures)) for word, measures in found.items()}


def unit_names(figure: FigureKind) -> frozenset[str]:
    """The phrases that name the unit of a figure and are no name of its measure: `bushels`, `hectares of orchards`."""
    name, unit = _said(figure.measure), _said(figure.unit)
    found = {f"{each} of {name}" for each in w.NAMES_OF_UNITS.get(unit, ())}
    if unit and unit != CALENDAR_YEAR and unit not in w.LENGTHS and unit not in w.SQUARES:
        found |= {unit, *_synonyms(unit)}
    return frozenset(found - _names_of(name))


def _names_of(measure: str) -> set[str]:
    return {measure, plural(measure)} | _synonyms(measure)


def _deed(measure: str) -> str:
    """`built` of the figures of `year built`, `start` of those of `start year`."""
    return measure.removeprefix("year ").removesuffix(" year")


def _one_of(measure: str) -> set[str]:
    """`moon` for a count of `moons`."""
    return {measure[:-1]} if plural(measure[:-1]) == measure else set()


def _shorter(measure: str) -> set[str]:
    """`hours` and `hours a week` for `hours per week`, `hours` for `weekly hours`."""
    head, per, unit = measure.partition(" per ")
    period, _, rest = measure.partition(" ")
    shorter = {rest} if rest and period in _PERIODS else set[str]()
    return shorter | ({head, f"{head} {'an' if unit == 'hour' else 'a'} {unit}"} if per else set())


_PERIODS = word_list("annual daily hourly monthly weekly yearly")


def _said(name: str) -> str:
    return name.replace("_", " ").casefold()


_EXTREMES: Mapping[str, tuple[str, ...]] = {"min": ("minimum", "lowest"), "max": ("maximum", "highest")}
_OF_HEAT = ("c", "f", "k", "celsius", "fahrenheit", "kelvin")


def _extremes_of(measure: str, unit: str) -> set[str]:
    """The phrases for a column of lowest or highest temperatures: `Tmin (°C)`, `Max (°F)`, `Min temp`."""
    said = measure.removesuffix("temperature").removesuffix("temp").strip()
    heat = said != measure or unit.lstrip("° ").removeprefix("deg").strip(" .") in _OF_HEAT
    if not heat:
        return set()
    for short, words in _EXTREMES.items():
        if said in (short, f"t{short}", f"t {short}", *words):
            return {f"{word} {noun}" for word in (short, *words) for noun in ("temperature", "temperatures")}
    return set()


def _measured_in(measure: str, names: Iterable[str]) -> set[str]:
    """The phrases for a measure whose unit has these names: `hectares of orchards`, and of what is so large `orchard
    area`."""
    found = {f"{name} of {measure}" for name in names}
    if set(names) & w.SQUARES.keys():
        one = measure[:-1] if plural(measure[:-1]) == measure else measure
        found |= {f"{one} area", f"{one} land", f"area of {measure}", f"land under {measure}"}
    return found


def _relations(domain: Domain) -> Iterator[tuple[str, Role, object]]:
    """The verbs of the relations, in their forms: `signed_at` gives sign, signs, signed, signing."""
    from retrieval.algebra.domain import CONTAINMENT  # noqa: PLC0415

    for relation in domain.relations:
        verb = relation.predicate.split("_")[0].casefold()
        if relation.predicate == CONTAINMENT or not verb:
            continue
        base = stem(verb)
        for form in {verb, base, base + "s", base + "ed", base + "ing", base + "d"} | _synonyms(verb):
            yield form, Role.RELATION, verb
