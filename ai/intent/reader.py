"""`read_intent`: the question first, the map for what it leaves out."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from ai.intent.reading import Reading, read
from ai.intent.rules import Asked, read_operations
from ai.intent.times import TimeSpan, read_times
from ai.intent.words import MEASURES, STOP_WORDS
from ai.model import MapContext
from retrieval.gazetteer import Gazetteer
from retrieval.model import EntityRef, Intent, Limitation, Mention, TimeRange

_READ_CHARS = 4_000
_TERMS = 32


@dataclass(frozen=True, slots=True)
class IntentReading:
    """The intent, and where the question overrode the map (`CONTEXT_OVERRIDDEN`)."""

    intent: Intent
    overridden: tuple[Limitation, ...] = ()


def read_intent(
    question: str, context: MapContext, *, gazetteer: Gazetteer, measures: Collection[str] = ()
) -> IntentReading:
    """Reads places, times, measures and operations, with the names of one scope only. Pure, and never raises on any
    text.

    The map fills in the place and the time that the question leaves out: a place so filled in is a mention of no
    characters at the end. A name that nothing admitted answers to is no gap to fill. `measures` are those that the
    scope has figures for; the common ones are understood without. Only the first 4,000 characters are read.
    """
    text = question[:_READ_CHARS]
    reading = read(text, gazetteer.find(text), read_times(text), gazetteer)
    shown = _shown_place(context, gazetteer)
    asked = Asked(
        reading=_with_time(reading, context.time, len(text)),
        measures=_read_measures(reading.masked, measures),
        home=gazetteer.home("state"),
        around=None if reading.mentions else shown,
        region=not reading.mentions and shown is None and bool(context.bbox or context.geometry),
    )
    mentions = asked.reading.mentions
    if shown is not None and not mentions:
        mentions = (Mention(shown.name, len(text), len(text), (shown,)),)
    intent = Intent(
        mentions=mentions,
        times=tuple(dict.fromkeys(t.time for t in asked.reading.times)),
        measures=asked.measures,
        operations=read_operations(asked),
        terms=_terms(reading.masked),
    )
    return IntentReading(intent, tuple(_overridden(reading, context, shown)))


def _shown_place(context: MapContext, gazetteer: Gazetteer) -> EntityRef | None:
    """The place that the map names, if the scope knows it: by id, else by name."""
    if context.place_id is not None:
        return gazetteer.entity(context.place_id)
    found = gazetteer.find(context.place[:_READ_CHARS]) if context.place else ()
    return next((c for m in found for c in m.candidates), None)


def _with_time(reading: Reading, shown: TimeRange | None, end: int) -> Reading:
    if reading.times or shown is None:
        return reading
    years = (shown.start.year, shown.end.year)
    span = TimeSpan(end, end, shown, years if years[0] < years[1] else None)
    return Reading(reading.masked, reading.mentions, (span,), reading.kinds)


def _read_measures(masked: str, known: Collection[str]) -> tuple[str, ...]:
    """The measures that the question names, in alphabetical order."""
    found = {m for m, patterns in MEASURES.items() if any(re.search(rf"\b(?:{p})", masked) for p in patterns)}
    named = {m: m.replace("_", " ").casefold() for m in known if m not in MEASURES}
    found |= {m for m, words in named.items() if words and re.search(rf"\b{re.escape(words)}\b", masked)}
    return tuple(sorted(found))


def _terms(masked: str) -> tuple[str, ...]:
    """The words that carry meaning and are neither a name nor a time, in order."""
    words = [w for w in masked.split() if w[0] not in "@#" and w not in STOP_WORDS and len(w) > 1]
    return tuple(dict.fromkeys(words))[:_TERMS]


def _overridden(reading: Reading, context: MapContext, shown: EntityRef | None) -> list[Limitation]:
    found: list[Limitation] = []
    named = reading.places
    if shown is not None and named and shown not in named and not (shown.type == "state" and named[0].type != "state"):
        found.append(_override(f"the question names {named[0].name}, the map shows {shown.name}"))
    asked = [t.time for t in reading.times]
    if context.time is not None and asked and not any(t.overlaps(context.time) for t in asked):
        found.append(_override(f"the question names {_dated(asked[0])}, the map shows {_dated(context.time)}"))
    return found


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
