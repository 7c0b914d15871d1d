"""Questions that would be answered now, in a scope and a place. Each was put to the pipeline before it is offered.

Candidates come from what the scope holds: figures by place and year, kinds of place, dated records, headings. A trial
runs the stages of an answer up to the answer point, with the extractive model; nothing of it but "it would be answered"
leaves, so it has no ledger entry (ADR 0033).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal, TypeVar

from ai.answer.core import run_core
from ai.case.case import Case, Services
from ai.case.profiles import Profile
from ai.focus_pipeline import check_gate, decide_scope, narrow, read_question, search
from ai.model import Ask, Outcome
from ai.models.chat_model import ChatModel
from api.http.map.features import meets
from api.http.map.layers import MapView
from retrieval.english.stems import is_many
from retrieval.filters import EVERYTHING
from retrieval.model import EntityRef, TimeRange
from retrieval.registry.store import Coverage
from retrieval.spatial.facts import Box
from retrieval.withheld import personal_data

T = TypeVar("T")
Kind = Literal["figure", "change", "ranking", "event", "text"]
KEPT_MS = 300_000
"""Documents may begin or cease to be valid without a change of the corpus."""
_PLACES, _DOCUMENTS, _TRIED = 6, 8, 4


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A question, what kind it is of, and the place and year that it names."""

    question: str
    kind: Kind
    place: EntityRef | None = None
    year: int | None = None


@dataclass(frozen=True, slots=True)
class Around:
    """Where and when to suggest for; `place` is an id or a name, `layer` the id of one."""

    place: str | None = None
    box: Box | None = None
    time: TimeRange | None = None
    layer: str | None = None
    limit: int = 6


@dataclass(frozen=True, slots=True)
class Trial:
    """With what a candidate is tried."""

    profile: Profile
    model: ChatModel


class Suggestions:
    """Suggestions for an authority and a place, kept for a few minutes. The key holds everything that could change
    an answer but the time: scope, corpus, policy, and what the subject may. One event loop."""

    def __init__(self, capacity: int = 256) -> None:
        self._capacity = capacity
        self._kept: OrderedDict[object, tuple[int, tuple[Suggestion, ...]]] = OrderedDict()

    async def of(self, view: MapView, around: Around, trial: Trial) -> tuple[Suggestion, ...]:
        """At most `limit` questions, of every kind in turn. Raises `StoreUnavailable`, `PolicyError`."""
        subject, decision = view.reading.access.subject, view.reading.access.decision
        key = (
            *(view.reading.scope.digest, view.corpus_version, decision.stamp.bundle, around),
            *(subject.clearance, subject.roles, subject.groups, subject.capabilities),
        )
        now_ms = view.reading.access.now_ms
        known = self._kept.get(key)
        if known is None or now_ms - known[0] > KEPT_MS:
            known = self._kept[key] = now_ms, await _suggest(view, around, trial)
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return known[1]


async def _suggest(view: MapView, around: Around, trial: Trial) -> tuple[Suggestion, ...]:
    if not view.reading.classes:
        return ()
    by_kind = await _candidates(view, around)
    good: list[list[Suggestion]] = []
    for candidates in by_kind:
        answered: list[Suggestion] = []
        for candidate in [each for each in candidates if not personal_data(each.question)][: _TRIED * 2]:
            if len(answered) == min(_TRIED, around.limit):
                break
            if await _would_be_answered(candidate, view, trial):
                answered.append(candidate)
        good.append(answered)
    in_turn = (each for row in zip_longest(*good) for each in row if each is not None)
    return tuple(in_turn)[: around.limit]


async def _would_be_answered(candidate: Suggestion, view: MapView, trial: Trial) -> bool:
    """The stages of `ai.focus_pipeline.answer` up to the answer point; nothing is recorded, nothing released."""
    services: Services = replace(view.reading.services, model=trial.model)
    ask = Ask(services.new_id(), candidate.question, view.reading.access.subject)
    case = Case.of(ask, services=services, profile=trial.profile)
    case = await decide_scope(await check_gate(case, services), services)
    if not case.decided.allowed:
        return False
    case = await narrow(await read_question(case, services), services)
    core = await run_core(case, await search(case, services), services=services)
    return core.release.outcome is Outcome.ANSWER


# ---------------------------------------------------------------- candidates


async def _candidates(view: MapView, around: Around) -> tuple[list[Suggestion], ...]:
    store, scope = view.reading.services.store, view.reading.scope
    places = await _places(view, around)
    wanted = [place.entity_id for place in places]
    held = await store.coverage(scope=scope, measures=(), place_ids=wanted) if wanted or not _placed(around) else ()
    measured = [each for each in (_in_time(each, around.time) for each in held) if each.years]
    untimed = [each for each in held if not each.years] if around.time is None else []
    if not places:
        measured = _spread(measured, _PLACES)
        places = list(dict.fromkeys(each.place for each in measured))
    else:
        order = {place.entity_id: n for n, place in enumerate(places)}
        measured.sort(key=lambda each: (order[each.place.entity_id], each.measure))
    # Headings are of the whole scope: they say nothing of where they are.
    texts = [] if _placed(around) or around.time is not None else await _texts(view)
    return (
        list(_figures(measured)),
        list(_changes(measured)),
        [*_rankings(measured), *_untimed_rankings(untimed)],
        list(_events(places, measured, around.time)),
        texts,
    )


def _placed(around: Around) -> bool:
    return around.place is not None or around.box is not None or around.layer is not None


async def _places(view: MapView, around: Around) -> list[EntityRef]:
    """The places to ask about: the named one, else those that are drawn in the box and the layer."""
    vocabulary = await view.reading.services.vocabularies.of(view.reading.scope, corpus_version=view.corpus_version)
    if around.place is not None:
        known = vocabulary.gazetteer.entity(around.place)
        return [known] if known is not None else list(vocabulary.gazetteer.named(around.place))[:_PLACES]
    if around.box is None and around.layer is None:
        return []
    drawn = {
        shape.place: None
        for layer in view.layers
        if around.layer in (None, layer.id)
        for shape in layer.shapes
        if shape.place is not None and (around.box is None or meets(shape.bounds, around.box))
    }
    return _spread(list(drawn), _PLACES)


def _in_time(held: Coverage, time: TimeRange | None) -> Coverage:
    if time is None:
        return held
    return replace(held, years=tuple(year for year in held.years if time.start.year <= year <= time.end.year))


def _spread(found: Sequence[T], most: int) -> list[T]:
    """At most so many, from all over the list."""
    if len(found) <= most:
        return list(found)
    return [found[n * len(found) // most] for n in range(most)]


def _figures(measured: Sequence[Coverage]) -> Iterator[Suggestion]:
    for held in measured:
        year = held.years[-1]
        yield Suggestion(f"What was the {_said(held)} of {held.place.name} in {year}?", "figure", held.place, year)


def _changes(measured: Sequence[Coverage]) -> Iterator[Suggestion]:
    for held in measured:
        if len(held.years) > 1:
            first, last = held.years[0], held.years[-1]
            question = f"How did the {_said(held)} of {held.place.name} change from {first} to {last}?"
            yield Suggestion(question, "change", held.place, last)


def _rankings(measured: Sequence[Coverage]) -> Iterator[Suggestion]:
    seen = set[tuple[str, str, int]]()
    for held in measured:
        for year in (held.years[-1], held.years[0]):
            kind = held.place.type.replace("_", " ")
            if (kind, held.measure, year) not in seen:
                seen.add((kind, held.measure, year))
                yield Suggestion(f"Which {kind} had the largest {_said(held)} in {year}?", "ranking", None, year)


def _untimed_rankings(untimed: Sequence[Coverage]) -> Iterator[Suggestion]:
    """For figures without a time; which year was the largest nobody asks."""
    for kind, measure in dict.fromkeys((held.place.type.replace("_", " "), _said(held)) for held in untimed):
        if "year" not in measure.split():
            most = "most" if is_many(measure.rpartition(" ")[2]) else "largest"
            yield Suggestion(f"Which {kind} has the {most} {measure}?", "ranking")


def _events(places: Sequence[EntityRef], measured: Sequence[Coverage], time: TimeRange | None) -> Iterator[Suggestion]:
    years = [time.start.year] if time is not None and time.start.year > 1 else []
    years = years or sorted({year for held in measured for year in held.years})[:2]
    for place in places:
        for year in years:
            yield Suggestion(f"What happened in {place.name} in {year}?", "event", place, year)


def _said(held: Coverage) -> str:
    return held.measure.replace("_", " ")


async def _texts(view: MapView) -> list[Suggestion]:
    """Headings of passages, from documents all over the scope."""
    store, scope = view.reading.services.store, view.reading.scope
    documents = _spread(sorted(await store.matching(EVERYTHING, scope=scope)), _DOCUMENTS)
    wanted = [id for document in documents for id in _spread(await store.passages(document, scope=scope), _TRIED)]
    records = await store.fetch(wanted, scope=scope)
    headings = dict.fromkeys(
        sourced.record.heading.strip().rstrip(".?!")
        for sourced in records.values()
        if sourced.record.heading and len(sourced.record.heading) <= 80
    )
    return [Suggestion(f"What is said about {heading}?", "text") for heading in headings if heading]
