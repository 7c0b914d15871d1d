"""Statements of rows about things without a place (treaties, nations, events): lists, counts, first and last, ranks.
Pure over the rows, so that a replay computes it again from the records alone."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from retrieval.algebra.json import plan_json, plan_of
from retrieval.algebra.plan import Had, Stated
from retrieval.algebra.wording import counted, listed, plural
from retrieval.english.dates import long_date
from retrieval.model import ChannelName, Computation, EntityRef, Hit, Query, Record, Run, SourcedRecord

OPERATION = "stated"
_NAMED, _LISTED, _RELATED = 20, 100, 3


def with_stated(run: Run, records: Mapping[str, SourcedRecord], query: Query) -> Run:
    """The run with what its rows come to before them, for every operation that asks what rows state; the rows are then
    no more than the query wants."""
    asked = [operation for operation in query.intent.operations if isinstance(operation, Stated)]
    if run.channel is not ChannelName.GRAPH or not asked:
        return run
    rows = [records[hit.record_id].record for hit in run.hits if hit.computed is None and hit.record_id in records]
    names = {e.entity_id: e.name for mention in query.intent.mentions for e in mention.candidates}
    names |= {e.entity_id: e.name for row in rows for e in row.entities}
    hits, shown = list[Hit](), set[str]()
    for plan in asked:
        named = {entity: names[entity] for entity in _named_in(plan) if entity in names}
        kept = [row for row in rows if _fits(row, plan)]
        shown |= {row.record_id for row in kept}
        if not kept and plan.entities:  # of what is named there may be none in these days
            kept = [row for row in rows if _fits(row, _undated(plan))]
        done = _answered(plan, named, kept)
        hits += [] if done is None else [Hit(0, done.record_id, 0.0, done)]
    rest = [hit for hit in run.hits if hit.computed is None and hit.record_id in shown]
    hits += rest[: max(0, query.top_k - len(hits))]
    return replace(run, hits=tuple(replace(hit, rank=i, score=1.0 / i) for i, hit in enumerate(hits, start=1)))


def _named_in(plan: Stated) -> Iterator[str]:
    """The ids that a statement says."""
    yield from (*plan.entities, *plan.without)
    for had in plan.having:
        yield from had.entities


def _answered(plan: Stated, names: Mapping[str, str], rows: Sequence[Record]) -> Computation | None:
    """The result over the rows; None where they answer nothing."""
    try:
        return compute_stated({"plan": plan_json(plan), "names": dict(names)}, rows) if rows else None
    except ValueError:
        return None


def _undated(plan: Stated) -> Stated:
    return replace(plan, from_day=None, to_day=None)


def _fits(row: Record, plan: Stated) -> bool:
    """True if a row is about the type, every entity and the days of the plan."""
    about = _about_ids(row)
    types = {entity.type for entity in row.entities}
    if not set(plan.entities) <= about or plan.type not in types or (plan.via is not None and plan.via not in types):
        return False
    if plan.having and not any(_has(row, had) for had in plan.having):
        return False
    return _in_days(row, plan)


def _about_ids(row: Record) -> set[str]:
    return {entity.entity_id for entity in row.entities}


def _has(row: Record, had: Had) -> bool:
    """True if it is a row of that part of `having`."""
    return set(had.entities) <= _about_ids(row) and _in_days(row, had)


def _in_days(row: Record, days: Stated | Had) -> bool:
    if days.from_day is None and days.to_day is None:
        return True
    first, last = days.from_day or "0001-01-01", days.to_day or "9999-12-31"
    return row.time is not None and row.time.start.isoformat() <= last and first <= row.time.end.isoformat()


def compute_stated(parameters: Mapping[str, object], records: Sequence[Record]) -> Computation:
    """The plan over its rows. Raises `ValueError` when the rows are not what it needs."""
    plan, names = plan_of(parameters.get("plan")), parameters.get("names")
    if not isinstance(plan, Stated) or not isinstance(names, Mapping):
        raise ValueError("not a plan over rows")
    rows = sorted(records, key=lambda record: record.record_id)
    fitting = [row for row in rows if _fits(row, plan)]
    if rows and not fitting and any(row.time is None for row in rows):
        raise ValueError("rows without a day may be of these days")
    tallies = _tallies(plan, fitting)
    result, statement = _told(plan, tallies, rows, {str(k): str(v) for k, v in names.items()})
    facts = [_canonical(row) for row in rows]
    text = json.dumps(facts, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return Computation(
        operation=OPERATION,
        parameters=dict(parameters),
        inputs=tuple(row.record_id for row in rows),
        input_digest="sha256:" + hashlib.sha256(text.encode()).hexdigest(),
        result=result,
        statement=statement,
    )


def _canonical(row: Record) -> dict[str, object]:
    return {
        "record_id": row.record_id,
        "entities": [[e.entity_id, e.name, e.type] for e in row.entities],
        "time": None if row.time is None else [row.time.start.isoformat(), row.time.end.isoformat()],
    }


@dataclass(slots=True)
class _Tally:
    """An entity of the type, with the rows' days and the things that it shares rows with."""

    entity: EntityRef
    days: set[tuple[str, str]]
    others: set[str]
    related: set[str]
    about: set[str]
    rows: list[Record]

    @property
    def day(self) -> str:
        """The first day that a row states of it; empty where none does."""
        return min((first for first, _ in self.days), default="")


def _tallies(plan: Stated, rows: Sequence[Record]) -> list[_Tally]:
    found: dict[str, _Tally] = {}
    for row in rows:
        for entity in row.entities:
            if entity.type != plan.type:
                continue
            tally = found.setdefault(entity.entity_id, _Tally(entity, set(), set(), set(), set(), []))
            tally.rows.append(row)
            tally.days |= {(row.time.start.isoformat(), row.time.end.isoformat())} if row.time is not None else set()
            tally.others |= {other.entity_id for other in row.entities if other.type == plan.via}
            tally.about |= {entity.entity_id} | {o.entity_id for o in row.entities if o.type != plan.type}
            tally.related |= {o.name for o in row.entities if o.type != plan.type and o.entity_id not in plan.entities}
    kept = (
        tally
        for tally in found.values()
        if not tally.about & set(plan.without) and _bounded(tally, plan) and _has_all(tally, plan)
    )
    return sorted(kept, key=lambda t: (t.day or "9999", t.entity.name, t.entity.entity_id))


def _has_all(tally: _Tally, plan: Stated) -> bool:
    return all(any(_has(row, had) for row in tally.rows) is had.holds for had in plan.having)


def _bounded(tally: _Tally, plan: Stated) -> bool:
    low, high = plan.at_least, plan.at_most
    return (low is None or len(tally.others) >= low) and (high is None or len(tally.others) <= high)


def _told(  # noqa: PLR0911 - one statement for each way
    plan: Stated, tallies: list[_Tally], rows: Sequence[Record], names: Mapping[str, str]
) -> tuple[dict[str, object], str]:
    about = _about(plan, names)
    among = f"{plural(plan.type)}{about}"
    if not tallies and plan.way in ("list", "count", "any"):
        of = counted(len(_tallies(_undated(plan), rows)), plan.type)
        among = "" if plan.having else f", of {of} in all"  # the rows are only those of its parts
        lead = "No: no" if plan.way == "any" else "No"
        return {"entities": [], "considered": 0, "count": 0}, f"{lead} {plan.type}{about} is on record{among}."
    match plan.way:
        case "earliest" | "latest":
            chosen = _edge(plan, tallies)
            said = listed([_dated(tally) for tally in chosen])
            verb = "is" if len(chosen) == 1 else "are"
            return _result(chosen, len(tallies)), f"The {plan.way} of {_count(tallies, plan)}{about} {verb} {said}."
        case "most" | "fewest":
            chosen = _ranked(plan, tallies)
            said = listed([f"{t.entity.name} ({counted(len(t.others), plan.via or '')})" for t in chosen])
            verb = "is" if len(chosen) == 1 else "are"
            statement = f"By {plural(plan.via or '')}{about}, the {plan.type} with the {plan.way} {verb} {said}"
            return _result(chosen, len(tallies)), f"{statement}, of {_count(tallies, plan)}."
        case "busiest":
            years, number_of = _busiest(tallies)
            noun, verb, each = ("year", "is", "") if len(years) == 1 else ("years", "are", " each")
            result: dict[str, object] = {"years": [int(year) for year in years], "count": number_of}
            lead = f"The {noun} with the most {among} {verb} {listed(years)} ({number_of}{each})"
            return result | {"considered": len(tallies)}, f"{lead}, of {_count(tallies, plan)}."
        case "any":
            said = listed([_dated(tally) for tally in tallies])
            return _result(tallies, len(tallies)), f"Yes: {among} on record, {said}."
        case _:
            verb = "is" if len(tallies) == 1 else "are"
            lead = f"There {verb} {_count(tallies, plan)}{about} on record"
            said = listed([_dated(t) if plan.via is None else t.entity.name for t in tallies], most=_LISTED)
            result = _result(tallies, len(tallies)) | {"count": len(tallies)}
            if plan.way == "count":
                return result, f"{lead}: {said}." if len(tallies) <= _NAMED else f"{lead}."
            return result, f"{among[:1].upper()}{among[1:]} on record: {said}."


def _count(tallies: Sequence[_Tally], plan: Stated) -> str:
    return counted(len(tallies), plan.type)


def _result(chosen: Sequence[_Tally], considered: int) -> dict[str, object]:
    named = [
        {
            "entity_id": t.entity.entity_id,
            "name": t.entity.name,
            "days": [list(days) for days in sorted(t.days)],
            "count": len(t.others),
        }
        for t in chosen
    ]
    return {"entities": named, "considered": considered}


def _edge(plan: Stated, tallies: Sequence[_Tally]) -> list[_Tally]:
    """The first or the last `limit` by day, and those of the same day as the last of these."""
    dated = sorted((t for t in tallies if t.days), key=lambda t: t.day, reverse=plan.way == "latest")
    if not dated:
        raise ValueError("no row is dated")
    last = dated[min(plan.limit, len(dated)) - 1].day
    return [t for t in dated if (t.day >= last if plan.way == "latest" else t.day <= last)]


def _busiest(tallies: Sequence[_Tally]) -> tuple[list[str], int]:
    """The years in which most begin, and how many do."""
    years = Counter(t.day[:4] for t in tallies if t.days)
    if not years:
        raise ValueError("no row is dated")
    most = max(years.values())
    return sorted(year for year, number_of in years.items() if number_of == most), most


def _ranked(plan: Stated, tallies: Sequence[_Tally]) -> list[_Tally]:
    sign = -1 if plan.way == "most" else 1
    ranked = sorted(tallies, key=lambda t: (sign * len(t.others), t.entity.name, t.entity.entity_id))
    if not ranked:
        raise ValueError("nothing to rank")
    last = len(ranked[min(plan.limit, len(ranked)) - 1].others)
    return [t for t in ranked if sign * len(t.others) <= sign * last]


def _dated(tally: _Tally) -> str:
    days = listed([_spoken(*days) for days in sorted(tally.days)]) if tally.days else "no day recorded"
    names = f"; {listed(sorted(tally.related))}" if 0 < len(tally.related) <= _RELATED else ""
    return f"{tally.entity.name} ({days}{names})"


def _spoken(first: str, last: str) -> str:
    """A day, or the years of a span."""
    if first == last:
        return long_date(first)
    return first[:4] if first[:4] == last[:4] else f"{first[:4]} to {last[:4]}"


def _about(plan: Stated, names: Mapping[str, str]) -> str:
    """`concerning Kansa, dated 1825`."""
    named = [names.get(entity, "that name") for entity in plan.entities]
    words = f" concerning {listed(named)}" if named else ""
    if plan.via is not None and plan.way not in ("most", "fewest"):
        words += f" with {_at(plan)}{plural(plan.via)}"
    if plan.without:
        words += f", without {listed([names.get(entity, 'that name') for entity in plan.without])}"
    return words + _having(plan, names) + _span(plan)


def _having(plan: Stated, names: Mapping[str, str]) -> str:
    """`both dated 1865 and dated 1867`, `dated 1867 and none dated 1865`."""
    held, denied = ([_had_words(had, names) for had in plan.having if had.holds is holds] for holds in (True, False))
    both = "both " if len(held) > 1 else ""
    said = [both + " and ".join(held)] if held else []
    return f" {' and '.join((*said, *(f'none {words}' for words in denied)))}" if said or denied else ""


def _had_words(had: Had, names: Mapping[str, str]) -> str:
    about = f"concerning {listed([names.get(entity, 'that name') for entity in had.entities])}" if had.entities else ""
    return (about + _span(had)).strip()


def _at(plan: Stated) -> str:
    low, high = plan.at_least, plan.at_most
    if low is None:
        return "" if high is None else f"at most {high} "
    return f"more than {low - 1} " if high is None else f"{low} to {high} "


def _span(plan: Stated | Had) -> str:
    first, last = plan.from_day, plan.to_day
    if first is None and last is None:
        return ""
    if first is not None and last is not None and (first[4:], last[4:]) == ("-01-01", "-12-31"):
        return f" dated {first[:4]}" if first[:4] == last[:4] else f" dated {first[:4]} to {last[:4]}"
    if first is None:
        return f" dated up to {long_date(last or '')}"
    if last is None:
        return f" dated {long_date(first)} or later"
    return f" dated {long_date(first)}" if first == last else f" dated {long_date(first)} to {long_date(last)}"
