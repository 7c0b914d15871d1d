"""Random plans over rows that state things (treaties, nations, places), and what they come to by plain Python."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from retrieval.algebra.plan import Had, Stated
from retrieval.index import IndexBatch
from retrieval.model import EntityRef, RecordKind, TimeRange
from tests.structured import PUBLIC, SECRET, TENANT, record, relation

NATIONS = tuple(EntityRef(f"nation:{i}", name, "nation") for i, name in enumerate(("Ash", "Birch", "Cedar", "Dogwood")))
TREATIES = tuple(EntityRef(f"treaty:{i}", f"Treaty {i}", "treaty") for i in range(9))
SITES = tuple(EntityRef(f"site:{i}", f"Site {i}", "site") for i in range(3))
YEARS = (1825, 1826, 1854, 1860)


@dataclass(frozen=True)
class Row:
    """One statement: a nation signed a treaty at a site in a year."""

    record_id: str
    nation: EntityRef
    treaty: EntityRef
    site: EntityRef
    year: int

    @property
    def entities(self) -> tuple[EntityRef, ...]:
        return self.nation, self.treaty, self.site

    @property
    def ids(self) -> set[str]:
        return {each.entity_id for each in self.entities}


def rows(seed: int) -> list[Row]:
    """Each treaty with one to three nations, at one site, in one year."""
    chance = random.Random(seed)
    made: list[Row] = []
    for treaty in TREATIES:
        site, year = chance.choice(SITES), chance.choice(YEARS)
        for nation in chance.sample(NATIONS, chance.randint(1, 3)):
            made.append(Row(f"t#{len(made):02}", nation, treaty, site, year))
    return made


def batch(seed: int) -> IndexBatch:
    """The rows as a channel takes them, beside as many of the same words that the asker may not see."""
    records, edges = [], []
    for visible, mark, made in ((PUBLIC, "", rows(seed)), (SECRET, "s", rows(seed + 1000))):
        for row in made:
            name, time = mark + row.record_id, TimeRange.year(row.year)
            records.append(
                record(name, RecordKind.PASSAGE, visible, statement="signed", time=time, entities=row.entities)
            )
            edges.append(relation(row.nation, "signed", row.treaty, name, row.year, visible))
            edges.append(relation(row.treaty, "signed_at", row.site, name, row.year, visible))
    return IndexBatch(TENANT, records, (), edges, ())


def plans(seed: int, number: int) -> Iterator[Stated]:
    """Plans of every way; a function of the seed."""
    chance = random.Random(seed)
    for _ in range(number):
        kind, via = chance.choice((("treaty", "nation"), ("nation", "treaty"), ("site", "treaty")))
        way = chance.choice(("list", "count", "any", "earliest", "latest", "most", "fewest"))
        others = [each for each in (*NATIONS, *SITES) if each.type != kind]
        named = tuple(each.entity_id for each in chance.sample(others, chance.choice((0, 1, 1))))
        left_out = [each.entity_id for each in others if each.entity_id not in named]
        first = chance.choice((None, *YEARS))
        last = None if first is None else chance.choice([year for year in YEARS if year >= first])
        ranks = way in ("most", "fewest")
        bounded = chance.random() < 0.3
        low = chance.choice((None, 1, 2)) if bounded else None
        yield Stated(
            kind,
            via=via if ranks or bounded else None,
            entities=named,
            from_day=None if first is None else f"{first}-01-01",
            to_day=None if last is None else f"{last}-12-31",
            way=way,  # type: ignore[arg-type]
            limit=chance.randint(1, 2),
            without=tuple(chance.sample(left_out, 1)) if chance.random() < 0.3 else (),
            at_least=low,
            at_most=chance.choice((2, 3)) if bounded and low is None else None,
            having=_having(chance) if chance.random() < 0.2 and first is None and not named else (),
        )


def _having(chance: random.Random) -> tuple[Had, ...]:
    year = chance.choice(YEARS)
    one = Had((), f"{year}-01-01", f"{year}-12-31", True)
    other = Had((chance.choice(NATIONS).entity_id,), None, None, chance.random() < 0.6)
    return (one, other) if chance.random() < 0.5 else (other,) if other.holds else (one, other)


def expected(plan: Stated, stated: Sequence[Row]) -> list[str] | None:
    """The things in the order of the answer; None where there is nothing to tell."""
    kept = [row for row in stated if set(plan.entities) <= row.ids and _in_days(row, plan.from_day, plan.to_day)]
    if plan.having:
        kept = [row for row in kept if any(_has(row, had) for had in plan.having)]
    of: dict[EntityRef, list[Row]] = {}
    for row in kept:
        of.setdefault(next(each for each in row.entities if each.type == plan.type), []).append(row)
    found = {thing: mine for thing, mine in of.items() if _fits(plan, mine)}
    if not found:
        return [] if plan.way in ("list", "count", "any") else None
    return [thing.entity_id for thing in _chosen(plan, found)]


def _in_days(row: Row, first: str | None, last: str | None) -> bool:
    return (first is None or row.year >= int(first[:4])) and (last is None or row.year <= int(last[:4]))


def _has(row: Row, had: Had) -> bool:
    return set(had.entities) <= row.ids and _in_days(row, had.from_day, had.to_day)


def _fits(plan: Stated, mine: Sequence[Row]) -> bool:
    others = len(_others(plan, mine))
    if any(set(plan.without) & row.ids for row in mine):
        return False
    if (plan.at_least is not None and others < plan.at_least) or (plan.at_most is not None and others > plan.at_most):
        return False
    return all(any(_has(row, had) for row in mine) is had.holds for had in plan.having)


def _others(plan: Stated, mine: Sequence[Row]) -> set[str]:
    return {each.entity_id for row in mine for each in row.entities if each.type == plan.via}


def _chosen(plan: Stated, found: Mapping[EntityRef, Sequence[Row]]) -> list[EntityRef]:
    first = {thing: min(row.year for row in mine) for thing, mine in found.items()}
    by_day = sorted(found, key=lambda thing: (first[thing], thing.name))
    match plan.way:
        case "earliest" | "latest":
            late = plan.way == "latest"
            days = sorted((first[thing] for thing in found), reverse=late)
            last = days[min(plan.limit, len(days)) - 1]
            ordered = sorted(by_day, key=lambda thing: -first[thing]) if late else by_day
            return [thing for thing in ordered if (first[thing] >= last if late else first[thing] <= last)]
        case "most" | "fewest":
            sign = -1 if plan.way == "most" else 1
            number = {thing: sign * len(_others(plan, mine)) for thing, mine in found.items()}
            last = sorted(number.values())[min(plan.limit, len(number)) - 1]
            ordered = sorted(found, key=lambda thing: (number[thing], thing.name))
            return [thing for thing in ordered if number[thing] <= last]
        case _:
            return by_day
