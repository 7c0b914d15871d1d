"""`read_intent`: the question first, the map for what it leaves out; total, or no operation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ai.intent.lexicon import Lexicon, Role
from ai.intent.map import Shown, pointed, read_map
from ai.intent.names import merged, readings, settle
from ai.intent.phrases import Phrases, Top
from ai.intent.plan_ids import ids_of
from ai.intent.planning.plans import read_plan
from ai.intent.planning.sets import Asked
from ai.intent.planning.short import shortened
from ai.intent.planning.units import in_named_units
from ai.intent.planning.untimed import rests_on_untimed
from ai.intent.scanning.implied import with_measures
from ai.intent.scanning.read import read_phrases
from ai.intent.spelling import respelt
from ai.intent.times import TimeSpan
from ai.intent.tokens import Item, read_items
from ai.intent.unread import keeps, may_leave, unread_words
from ai.intent.wording import reading_of
from ai.intent.words import NAMES_OF_UNITS, SQUARES, SUPERLATIVES
from ai.model import MapContext
from ai.text.parts import parts_of
from retrieval.algebra.operations import ContainedIn, Count, Lookup, Operation
from retrieval.algebra.wording import listed, plural
from retrieval.english.lists import REQUEST_WORDS
from retrieval.model import EntityRef, Intent, Limitation, Mention, TimeRange

_READ_CHARS = 4_000
_TERMS = 32
_ONE_BY_ONE = "Several things are asked at once; asked one at a time, each is read by itself."


@dataclass(frozen=True, slots=True)
class IntentReading:
    """The intent, and notes: what of the map did not count, overridden by the question (`CONTEXT_OVERRIDDEN`) or
    unknown (`UNKNOWN_PLACE`), what was misspelt (`SPELLING`), and names of several places (`SHARED_NAME`)."""

    intent: Intent
    overridden: tuple[Limitation, ...] = ()


def read_intent(
    question: str, context: MapContext, *, lexicon: Lexicon, untimed: Lexicon | None = None
) -> IntentReading:
    """Reads places, times, measures and operations, with the names and words of one scope only. Pure, and never raises
    on any text.

    Operations are given only where the reading is total: every word is consumed by the plan or changes nothing. The
    map fills in the place and the time that the question leaves out: a place so filled in is a mention of no
    characters at the end, and so is the name of one that nothing admitted answers to. A name of the question that
    nothing admitted answers to is no gap to fill. Only the first 4,000 characters are read.

    `untimed` knows the figures without a time too, and the names of what has no others. A question is read with it
    where every figure that it asks for is such a one, and else as if there were none.
    """
    if untimed is not None:
        reading = _read(question, context, lexicon=untimed, of_untimed=True)
        if rests_on_untimed(reading.intent.operations, untimed):
            return reading
    return _read(question, context, lexicon=lexicon)


def _read(question: str, context: MapContext, *, lexicon: Lexicon, of_untimed: bool = False) -> IntentReading:
    text = question[:_READ_CHARS]
    read, slips = respelt(read_items(text, lexicon), lexicon)
    shown = read_map(context, lexicon)
    items = pointed(settle(read, lexicon), shown)
    spoken: Sequence[Item] = merged(items, lexicon)
    if of_untimed:
        spoken = with_measures(spoken, lexicon)
    mentions = tuple(item.value for item in items if isinstance(item.value, Mention))
    asked = Asked(
        phrases=_phrases(spoken, context, lexicon, len(text)),
        lexicon=lexicon,
        opening=items[0].text.split()[0] if items and items[0].text else "",
        others=readings(items, lexicon),
        shown=None if mentions else shown.place,
        region=_region(context) if not mentions and shown.place is None else False,
    )
    whole = len(question) <= _READ_CHARS and not (shown.unknown and not mentions)
    plan = read_plan(asked) if whole else ()
    if whole and not plan and (stated := _stated_areas(spoken)):
        column = replace(asked, phrases=_phrases(stated, context, lexicon, len(text)))
        plan = read_plan(column)
        asked = column if plan else asked
    phrases = asked.phrases
    alike = tuple(_alike(plan, asked))
    shared = alike or _shared(plan, asked)
    plan, beside = in_named_units(() if alike else plan, spoken, phrases, lexicon)
    phrases.left += beside
    unread = tuple(item.text for item in beside) or (() if plan or alike else unread_words(phrases, spoken))
    parts = parts_of(text) if unread else ()
    if parts and all(_of_texts(part.question, context, lexicon) for part in parts):
        unread = ()
    if not mentions:
        mentions = shown.mentions(len(text))
    intent = Intent(
        mentions=mentions,
        times=tuple(dict.fromkeys(t.time for t in phrases.times)),
        measures=tuple(sorted({m for said in phrases.measures for m in said})),
        operations=tuple(_short(operation, lexicon, of_untimed=of_untimed) for operation in plan),
        terms=_terms(items),
        reading=reading_of(plan, lexicon.gazetteer, untimed=lexicon.domain if of_untimed else None),
        unread=unread,
        map_time=any(span.start_char == span.end_char for span in phrases.times),
        nearest=(_ONE_BY_ONE if parts else _nearest(spoken, asked, phrases)) if unread and whole else "",
    )
    return IntentReading(intent, (*shown.notes, *slips, *shared, *_overridden(items, phrases, context, shown, lexicon)))


def _short(operation: Operation, lexicon: Lexicon, *, of_untimed: bool) -> Operation:
    """The short form; of things counted by a figure without a time there is none, since it does not name them all, nor
    of those in a group, which has no outline."""
    short = shortened(operation, lexicon.counting)
    longer = isinstance(short, ContainedIn) or (isinstance(short, Count) and short.measure is not None)
    return operation if of_untimed and longer else short


def _of_texts(question: str, context: MapContext, lexicon: Lexicon) -> bool:
    """True if the question by itself asks for nothing but what texts say."""
    intent = read_intent(question, context, lexicon=lexicon).intent
    return not (intent.operations or intent.unread)


def _phrases(items: Sequence[Item], context: MapContext, lexicon: Lexicon, end: int) -> Phrases:
    """The phrases of the items, with the time of the map where the question says none."""
    phrases = read_phrases(items)
    if _in_own_unit(phrases, lexicon):
        phrases.units.clear()
    if not phrases.times and context.time is not None:
        phrases.times.append(_of_map(context.time, end))
    if top := _extreme_of_kind(items, phrases):
        phrases.tops.append(top)
    return phrases


def _extreme_of_kind(items: Sequence[Item], phrases: Phrases) -> Top | None:
    """The superlative that a column's own is as well: `Which station had the lowest temperature?`, by `Tmin`."""
    conditions = phrases.tops or phrases.bounds or phrases.aggregates or phrases.changes or phrases.compared
    if conditions or not phrases.kinds or "which" not in phrases.asked:
        return None
    for item in items:
        word = item.text.split()[0] if item.has(Role.MEASURE) and " " in item.text else ""
        if word in SUPERLATIVES and (phrases.singular or word in ("lowest", "highest")):
            return Top(SUPERLATIVES[word][0], "amount")
    return None


def _stated_areas(items: Sequence[Item]) -> Sequence[Item]:
    """The items with `area` as the measure of a column; empty where there is no such column."""
    if not any(item.has(Role.AREA) and item.has(Role.MEASURE) for item in items):
        return ()
    return tuple(
        replace(item, roles={role: value for role, value in item.roles.items() if role is not Role.AREA})
        if item.has(Role.MEASURE)
        else item
        for item in items
    )


def _in_own_unit(phrases: Phrases, lexicon: Lexicon) -> bool:
    """True for `the orchard area, in hectares`, where that is the unit in which all its figures are."""
    if not phrases.measures or phrases.areas or phrases.densities or phrases.per:
        return False
    units = {unit for said in phrases.measures for measure in said for unit in lexicon.domain.units(measure)}
    scales = {SQUARES.get(name) for unit in units for name in NAMES_OF_UNITS.get(unit, (unit,))}
    return {role for role, _ in phrases.units} == {Role.SQUARE} and {scale for _, scale in phrases.units} == scales


def _region(context: MapContext) -> tuple[float, float, float, float] | bool:
    """The box of the map; true where it shows another shape."""
    return True if context.geometry else context.bbox or False


def _shared(plan: Sequence[Operation], asked: Asked) -> tuple[Limitation, ...]:
    """Names that several places of a kind bear, of which the plan takes the one at home, and those of places of
    several kinds."""
    return (*_of_one_kind(plan, asked), *_of_several_kinds(plan, asked))


def _alike(plan: Sequence[Operation], asked: Asked) -> Iterator[Limitation]:
    """Names in the plan of one of several places of a kind that nothing tells apart: nobody knows which is meant."""
    taken, names = set(ids_of(plan)), asked.lexicon.gazetteer.names
    for ref in asked.others:
        same = [one for one in asked.namesakes(ref) if set(names(one.entity_id)) == set(names(ref.entity_id))]
        if ref.entity_id in taken and any(one.entity_id not in taken for one in same):
            told = f"“{ref.name}” is the name of several {plural(ref.type)}, and nothing says which is meant."
            yield Limitation("SHARED_NAME", told)


def _of_one_kind(plan: Sequence[Operation], asked: Asked) -> Iterator[Limitation]:
    told = "“{}” is the name of several {}; the one at home was taken."
    if plan and not all(isinstance(operation, Lookup) for operation in plan):
        for ref in asked.others:
            if asked.namesakes(ref):
                yield Limitation("SHARED_NAME", told.format(ref.name, plural(ref.type)))


def _of_several_kinds(plan: Sequence[Operation], asked: Asked) -> Iterator[Limitation]:
    taken = set(ids_of(plan))
    for ref in asked.others:
        bearing = (ref, *asked.other_kinds(ref))
        kinds = [one.type.replace("_", " ") for one in bearing if one.entity_id in taken]
        if len(bearing) > 1 and ref.entity_id in taken:
            every = listed(sorted({one.type.replace("_", " ") for one in bearing}))
            used = "each is answered" if len(kinds) == len(bearing) else f"the {listed(kinds)} was taken"
            yield Limitation("SHARED_NAME", f"“{ref.name}” is the name of places of several kinds, {every}; {used}.")


def _nearest(items: Sequence[Item], asked: Asked, phrases: Phrases) -> str:
    """The nearest question that would be answered without the words left over; where that is nothing, or another
    question, what is on record."""
    left = {(item.start_char, item.end_char) for item in phrases.left}
    kept = [item for item in items if (item.start_char, item.end_char) not in left]
    if may_leave(items, phrases.left):
        again = read_phrases(kept)
        again.times = again.times or phrases.times
        plan = read_plan(replace(asked, phrases=again))
        said = reading_of(plan, asked.lexicon.gazetteer)
        if said and keeps(kept, said, ids_of(plan)):
            return f"This would be answered: {said}."
    held = dict.fromkeys((f.measure, f.kind) for f in asked.lexicon.domain.figures)
    listing = listed([f"{measure.replace('_', ' ')} of {plural(kind)}" for measure, kind in held]) if held else ""
    return f"On record are figures of {listing}." if listing else ""


def _of_map(time: TimeRange, end: int) -> TimeSpan:
    years = (time.start.year, time.end.year)
    return TimeSpan(end, end, time, years if years[0] < years[1] else None)


def _terms(items: Sequence[Item]) -> tuple[str, ...]:
    """The words that carry meaning and are neither a name nor a time, in order."""
    words = [word for item in items if item.value is None for word in item.text.split()]
    return tuple(dict.fromkeys(w for w in words if w not in REQUEST_WORDS and len(w) > 1))[:_TERMS]


def _overridden(
    items: Sequence[Item], phrases: Phrases, context: MapContext, shown: Shown, lexicon: Lexicon
) -> tuple[Limitation, ...]:
    found: list[Limitation] = []
    named = [ref for item in items if isinstance(ref := item.roles.get(Role.PLACE), EntityRef)]
    place = shown.place
    if place is not None and named and place not in named and not _wider(place, named[0], lexicon):
        found.append(_override(f"the question names {named[0].name}, the map shows {place.name}"))
    asked = [t.time for t in phrases.times if t.end_char > t.start_char]
    if context.time is not None and asked and not any(t.overlaps(context.time) for t in asked):
        found.append(_override(f"the question names {_dated(asked[0])}, the map shows {_dated(context.time)}"))
    return tuple(found)


def _wider(one: EntityRef, other: EntityRef, lexicon: Lexicon) -> bool:
    """True if the map shows what the named place may lie in."""
    return one.type in lexicon.domain.around(other.type)


def _override(disagreement: str) -> Limitation:
    return Limitation("CONTEXT_OVERRIDDEN", f"The question went before the map: {disagreement}.")


def _dated(time: TimeRange) -> str:
    first, last = time.start, time.end
    if time == TimeRange.year(first.year):
        return str(first.year)
    if first.year == 1:
        return f"the time before {last.isoformat()}"
    if last.year == 9999:
        return f"the time from {first.isoformat()} on"
    return first.isoformat() if first == last else f"{first.isoformat()} to {last.isoformat()}"
