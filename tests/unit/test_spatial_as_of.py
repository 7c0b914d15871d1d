"""A map with several editions: a question with a year is answered from the shapes that stood then."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import shapely

from retrieval.algebra.operations import ContainerOf, Neighbours, Operation
from retrieval.index import IndexBatch
from retrieval.model import EntityRef, Intent, Query, RecordKind, TimeRange
from retrieval.spatial.computing.compute import recompute
from retrieval.spatial.sqlite import SpatialChannel, SpatialIndex
from tests.structured import PUBLIC, SCOPE, TENANT, record

ALDER, BIRCH, CEDAR, ELM = (
    EntityRef(f"x:{n.lower()}", n, "city" if n == "Elm" else "county") for n in ("Alder", "Birch", "Cedar", "Elm")
)
EDITIONS: Sequence[tuple[EntityRef, tuple[float, float, float, float], TimeRange | None]] = (
    (ALDER, (-97.0, 39.0, -96.0, 40.0), TimeRange.year(1855, 1869)),
    (ALDER, (-97.0, 39.0, -96.5, 40.0), TimeRange.year(1870, 2000)),
    (BIRCH, (-96.0, 39.0, -95.0, 40.0), TimeRange.year(1855, 1900)),
    (CEDAR, (-96.5, 39.0, -96.0, 40.0), TimeRange.year(1870, 2000)),
    (ELM, (-96.25, 39.5, -96.24, 39.51), None),
)


@pytest.fixture
async def channel(tmp_path: Path) -> AsyncIterator[SpatialChannel]:
    records = [
        record(f"d{n}#f1", RecordKind.FEATURE, entities=(place,), geometry=shapely.to_wkb(shapely.box(*box)), time=time)
        for n, (place, box, time) in enumerate(EDITIONS)
    ]
    index = SpatialIndex.open(tmp_path / "spatial.sqlite")
    await index.add(IndexBatch(TENANT, records))
    await index.commit()
    opened = SpatialChannel.open(tmp_path / "spatial.sqlite")
    yield opened
    await opened.aclose()
    await index.aclose()


async def said(channel: SpatialChannel, operation: Operation, *years: int) -> tuple[set[str], str]:
    times = tuple(TimeRange.year(year) for year in years)
    run = await channel.search(Query("?", SCOPE, 20, Intent(times=times, operations=(operation,))))
    done = run.hits[0].computed
    assert done is not None
    return {place["name"] for place in done.result["places"]}, done.statement  # type: ignore[attr-defined]


@pytest.mark.parametrize(("year", "names"), [(1860, {"Birch"}), (1880, {"Cedar"}), (1950, {"Cedar"})])
async def test_neighbours_are_those_of_the_year(channel: SpatialChannel, year: int, names: set[str]) -> None:
    found, statement = await said(channel, Neighbours(ALDER.entity_id), year)
    assert found == names
    assert statement.endswith(f"(as drawn for {year}).")


@pytest.mark.parametrize(("year", "names"), [(1860, {"Alder"}), (1880, {"Cedar"})])
async def test_a_place_without_a_time_lies_in_what_stood_then(
    channel: SpatialChannel, year: int, names: set[str]
) -> None:
    assert (await said(channel, ContainerOf(ELM.entity_id, "county"), year))[0] == names


async def test_before_the_first_edition_there_is_no_answer(channel: SpatialChannel) -> None:
    asked = Query("?", SCOPE, 20, Intent(times=(TimeRange.year(1800),), operations=(Neighbours(ALDER.entity_id),)))
    run = await channel.search(asked)
    assert run.hits == ()
    assert run.limitations


async def test_it_is_computed_again_from_its_inputs_alone(channel: SpatialChannel) -> None:
    asked = Intent(times=(TimeRange.year(1880),), operations=(Neighbours(ALDER.entity_id),))
    done = (await channel.search(Query("?", SCOPE, 20, asked))).hits[0].computed
    assert done is not None
    records = {
        f"d{n}#f1": record(
            f"d{n}#f1", RecordKind.FEATURE, entities=(place,), geometry=shapely.to_wkb(shapely.box(*box)), time=time
        )
        for n, (place, box, time) in enumerate(EDITIONS)
    }
    assert recompute(done.operation, done.parameters, [records[each] for each in done.inputs]) == done
    assert PUBLIC.class_id in SCOPE.class_ids
