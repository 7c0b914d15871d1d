"""The spatial channel on the made-up region: each operation, what is missing, what is hidden."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import shapely

from retrieval.algebra.operations import (
    Aggregate,
    Change,
    Compare,
    ContainedIn,
    ContainerOf,
    Count,
    Distance,
    Lookup,
    Nearest,
    Neighbours,
    Operation,
    Superlative,
    WithinDistance,
)
from retrieval.errors import ChannelFault
from retrieval.index import IndexBatch
from retrieval.model import Computation, EntityRef, Intent, Mention, Query, Run, TimeRange
from retrieval.scope import Scope
from retrieval.spatial.computing.compute import recompute
from retrieval.spatial.sqlite import SpatialChannel, SpatialIndex
from tests.structured import (
    ELM,
    FIR,
    GORSE,
    NORTHEAST,
    NORTHWEST,
    POP,
    SCOPE,
    SECRET,
    SOUTHEAST,
    SOUTHWEST,
    STATE,
    TENANT,
    asking,
    feature,
    naming,
    observation,
    region,
    relation,
)


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[SpatialIndex]:
    opened = SpatialIndex.open(tmp_path / "spatial.sqlite")
    await opened.add(region())
    await opened.commit()
    yield opened
    await opened.aclose()


@pytest.fixture
async def channel(index: SpatialIndex, tmp_path: Path) -> AsyncIterator[SpatialChannel]:
    opened = SpatialChannel.open(tmp_path / "spatial.sqlite")
    yield opened
    await opened.aclose()


async def computed(channel: SpatialChannel, operation: Operation) -> Computation:
    first = (await channel.search(asking(operation))).hits[0].computed
    assert first is not None
    return first


def ids(run: Run) -> list[str]:
    return [hit.record_id for hit in run.hits]


def named(done: Computation) -> list[str]:
    places = done.result["places"]
    assert isinstance(places, list)
    return [place["entity_id"] for place in places]


ANSWERS: list[tuple[Operation, str]] = [
    (
        Change(POP, (NORTHWEST.entity_id,), 1900, 1930),
        "Alder County grew from 1,000 in 1900 to 1,500 in 1930, a change of +500 (+50.0 %).",
    ),
    (
        Change(POP, (NORTHEAST.entity_id,), 1900, 1930),
        "Birch County fell from 2,000 in 1900 to 1,800 in 1930, a change of -200 (-10.0 %).",
    ),
    (
        Superlative(POP, "county", 1900, "smallest", STATE.entity_id),
        "Dogwood County had the smallest population in 1900, 500 inhabitants, of 4 counties in Fairland with a figure for 1900.",
    ),
    (
        Superlative(POP, "county", 1930, "largest"),
        "The counties with the largest population in 1930 were Birch County (1,800) and Cedar County (1,800), of 3 counties "
        "with a figure for 1930.",
    ),
    (
        Superlative(POP, "city", None, "largest", NORTHEAST.entity_id),
        "Fir had the largest population in 1930, 600 inhabitants, of 1 city in Birch County with a figure for 1930.",
    ),
    (Aggregate("sum", POP, "county", 1900), "The total population of 4 counties with a figure for 1900 was 5,500."),
    (Aggregate("mean", POP, "county", 1930), "The average population of 3 counties with a figure for 1930 was 1,700."),
    (Aggregate("median", POP, "county", 1900), "The median population of 4 counties with a figure for 1900 was 1,500."),
    (Aggregate("minimum", POP, "county", 1900), "The lowest population of 4 counties with a figure for 1900 was 500."),
    (
        Aggregate("maximum", POP, "county", 1900),
        "The highest population of 4 counties with a figure for 1900 was 2,000.",
    ),
    (
        Compare(POP, (NORTHWEST.entity_id, NORTHEAST.entity_id), 1930),
        "Birch County (1,800) had a larger population than Alder County (1,500) in 1930, a difference of 300.",
    ),
    (
        Compare(POP, (NORTHEAST.entity_id, SOUTHWEST.entity_id), None),
        "Birch County and Cedar County had the same population in 1930, 1,800.",
    ),
    (
        Neighbours(NORTHWEST.entity_id),
        "Alder County shares a border with 2 counties: Birch County and Cedar County.",
    ),
    (Nearest(ELM.entity_id, "city"), "The nearest city to Elm on the map is Fir, 86.0 km away."),
    (
        WithinDistance(FIR.entity_id, "city", 120.0),
        "2 cities lie within 120.0 km of Fir: Elm (86.0 km) and Gorse (111.0 km).",
    ),
    (WithinDistance(FIR.entity_id, "city", 50.0), "No other city on the map lies within 50.0 km of Fir."),
    (ContainedIn(NORTHEAST.entity_id, "city"), "1 city lies in Birch County: Fir."),
    (ContainedIn(SOUTHWEST.entity_id, "city"), "No city on the map lies in Cedar County."),
    (ContainedIn(STATE.entity_id, "city"), "3 cities lie in Fairland: Elm, Fir and Gorse."),
    (ContainerOf(GORSE.entity_id, "county"), "Gorse lies in Dogwood County."),
    (Count("county", STATE.entity_id), "There are 4 counties in Fairland on record."),
    (Count("county", None, 1930), "There are 3 counties with a figure for 1930 on record."),
    (
        Count("county", None, 1900, POP, 1000),
        "3 counties had at least 1,000 inhabitants in 1900, of 4 counties with a figure for 1900: "
        "Birch County (2,000), Cedar County (2,000) and Alder County (1,000).",
    ),
    (
        Count("county", None, 1900, POP, 9000),
        "0 counties had at least 9,000 inhabitants in 1900, of 4 counties with a figure for 1900.",
    ),
    (Distance(ELM.entity_id, FIR.entity_id), "Elm and Fir are 86.0 km (53.4 miles) apart."),
]


@pytest.mark.parametrize(
    ("operation", "statement"), ANSWERS, ids=[f"{type(o).__name__}{i}" for i, (o, _) in enumerate(ANSWERS)]
)
async def test_an_operation_is_answered_in_a_sentence(
    channel: SpatialChannel, operation: Operation, statement: str
) -> None:
    assert (await computed(channel, operation)).statement == statement


@pytest.mark.parametrize("operation", [o for o, _ in ANSWERS], ids=[type(o).__name__ for o, _ in ANSWERS])
async def test_a_computation_is_the_same_from_its_input_records_alone(
    channel: SpatialChannel, operation: Operation
) -> None:
    done = await computed(channel, operation)
    records = {r.record_id: r for r in region().records}
    inputs = [records[i] for i in reversed(done.inputs)]
    again = recompute(done.operation, done.parameters, inputs)
    assert again == done
    assert again.record_id == done.record_id


async def test_the_main_inputs_follow_the_computation(channel: SpatialChannel) -> None:
    run = await channel.search(asking(Change(POP, (NORTHWEST.entity_id,), 1900, 1930)))
    assert ids(run)[1:] == ["pop#county:0.1900", "pop#county:0.1930"]
    assert [hit.rank for hit in run.hits] == [1, 2, 3]


async def test_a_lookup_gives_the_figure_itself(channel: SpatialChannel) -> None:
    run = await channel.search(asking(Lookup(POP, (NORTHWEST.entity_id,), 1930)))
    assert ids(run) == ["pop#county:0.1930"]
    assert run.hits[0].computed is None
    assert run.limitations == ()


async def test_a_lookup_without_a_year_gives_all_the_latest_first(channel: SpatialChannel) -> None:
    operation = Lookup(POP, (NORTHWEST.entity_id,), None)
    assert ids(await channel.search(asking(operation))) == ["pop#county:0.1930", "pop#county:0.1900"]
    times = [TimeRange.year(1890, 1910)]
    assert ids(await channel.search(asking(operation, times=times))) == ["pop#county:0.1900"]


MISSING: list[tuple[Operation, str, str]] = [
    (
        Lookup(POP, (NORTHWEST.entity_id,), 1870),
        "NO_OBSERVATION",
        "Population of Alder County is recorded for 1900 and 1930.",
    ),
    (Lookup(POP, (GORSE.entity_id,), 1930), "NO_OBSERVATION", "Population of Gorse is not recorded."),
    (Lookup("rainfall", (NORTHWEST.entity_id,), 1930), "NO_OBSERVATION", "Rainfall of Alder County is not recorded."),
    (Lookup(POP, ("county:nowhere",), 1930), "NO_OBSERVATION", "Population of that place is not recorded."),
    (
        Change(POP, (SOUTHEAST.entity_id,), 1900, 1930),
        "NO_OBSERVATION",
        "Population of Dogwood County is recorded for 1900.",
    ),
    (
        Superlative(POP, "county", 1870, "largest"),
        "NO_OBSERVATION",
        "Population of counties is recorded for 1900 and 1930.",
    ),
    (Superlative(POP, "village", 1930, "largest"), "NO_OBSERVATION", "Population of villages is not recorded."),
    (
        Superlative(POP, "county", 1930, "largest", "state:nowhere"),
        "NO_OBSERVATION",
        "No county with a figure for 1930 is known to lie in that place.",
    ),
    (Aggregate("sum", POP, "city", 1900), "NO_OBSERVATION", "Population of cities is recorded for 1930."),
    (
        Compare(POP, (NORTHWEST.entity_id, SOUTHEAST.entity_id), 1930),
        "NO_OBSERVATION",
        "Population of Dogwood County is recorded for 1900.",
    ),
    (Neighbours(STATE.entity_id), "NO_GEOMETRY", "No position or outline is recorded for Fairland."),
    (
        Neighbours(ELM.entity_id),
        "NO_GEOMETRY",
        "No outline is recorded for Elm, so what borders it is not known.",
    ),
    (Nearest("city:nowhere", "city"), "NO_GEOMETRY", "No position or outline is recorded for that place."),
    (Nearest(ELM.entity_id, "fort"), "NO_GEOMETRY", "No fort that the question asks for is on the map."),
    (WithinDistance("city:nowhere", "city", 1.0), "NO_GEOMETRY", "No position or outline is recorded for that place."),
    (ContainedIn("county:nowhere", "city"), "NO_GEOMETRY", "No position or outline is recorded for that place."),
    (ContainerOf(ELM.entity_id, "state"), "NO_GEOMETRY", "No state that the question asks for is on the map."),
    (Count("fort"), "NO_GEOMETRY", "No fort that the question asks for is on the map."),
    (Count("county", None, 1870), "NO_GEOMETRY", "No county that the question asks for is on the map."),
    (Distance(ELM.entity_id, STATE.entity_id), "NO_GEOMETRY", "No position or outline is recorded for Fairland."),
]


@pytest.mark.parametrize(
    ("operation", "code", "message"), MISSING, ids=[f"{type(o).__name__}{i}" for i, (o, _, _) in enumerate(MISSING)]
)
async def test_what_is_not_recorded_is_said_and_nothing_is_put_in_its_place(
    channel: SpatialChannel, operation: Operation, code: str, message: str
) -> None:
    run = await channel.search(asking(operation))
    assert run.hits == ()
    assert [(x.code, x.message, x.channel) for x in run.limitations] == [(code, message, "postgis")]


async def test_two_sources_that_disagree_are_both_given_and_said(channel: SpatialChannel, index: SpatialIndex) -> None:
    await index.add(IndexBatch(TENANT, [observation("other#1", NORTHWEST, 1930, "1501")]))
    await index.commit()
    run = await channel.search(asking(Lookup(POP, (NORTHWEST.entity_id,), 1930)))
    assert ids(run) == ["other#1", "pop#county:0.1930"]
    assert [x.code for x in run.limitations] == ["CONFLICTING_OBSERVATIONS"]
    assert (
        run.limitations[0].message == "Records state different figures of population for Alder County: 1500 and 1501."
    )


async def test_hidden_figures_and_shapes_change_nothing(channel: SpatialChannel, index: SpatialIndex) -> None:
    before = [await channel.search(asking(operation)) for operation, *_ in (*ANSWERS, *MISSING)]
    hidden_county = EntityRef("county:9", "Elder County", "county")
    secret = [
        observation("hidden#1", NORTHWEST, 1870, "7", SECRET),
        observation("hidden#2", NORTHWEST, 1930, "999999", SECRET),
        observation("hidden#3", hidden_county, 1930, "999999", SECRET),
        feature("hidden#4", hidden_county, shapely.box(-98, 39, -97, 40), SECRET),
        feature("hidden#5", EntityRef("city:h", "Hemlock", "city"), shapely.Point(-96.5, 39.51), SECRET),
        feature("hidden#6", STATE, shapely.box(-97, 38, -95, 40), SECRET),
    ]
    inside = [relation(hidden_county, "located_in", STATE, "hidden#3", visible=SECRET)]
    await index.add(IndexBatch(TENANT, secret, (), inside))
    await index.add(IndexBatch("other", [observation("foreign#1", NORTHWEST, 1870, "7")]))  # our class id, their tenant
    await index.commit()
    assert [await channel.search(asking(operation)) for operation, *_ in (*ANSWERS, *MISSING)] == before
    both = Scope(TENANT, SCOPE.class_ids | {SECRET.class_id})
    seen = await channel.search(asking(Lookup(POP, (NORTHWEST.entity_id,), 1870), scope=both))
    assert ids(seen) == ["hidden#1"]


async def test_without_an_operation_the_named_places_are_shown_at_their_time(channel: SpatialChannel) -> None:
    run = await channel.search(naming("Alder County in 1930", [NORTHWEST], [1930]))
    assert ids(run) == ["map#county:0", "pop#county:0.1930"]


async def test_without_a_place_the_region_of_the_map_is_shown(channel: SpatialChannel) -> None:
    def around(box: tuple[float, float, float, float], **more: object) -> Query:
        return Query("what is here?", SCOPE, 20, bbox=box, **more)  # type: ignore[arg-type]

    assert ids(await channel.search(around((-95.6, 38.4, -95.4, 38.6)))) == ["map#county:3", "towns#city:gorse"]
    assert ids(await channel.search(around((-95.6, 38.4, -95.4, 38.6), layers=("source-towns",)))) == [
        "towns#city:gorse"
    ]
    assert ids(await channel.search(around((10.0, 10.0, 11.0, 11.0)))) == []
    everywhere_else = ids(await channel.search(around((-95.4, -90.0, -97.0, 90.0))))  # across the antimeridian
    assert "towns#city:elm" not in everywhere_else
    assert "map#county:3" in everywhere_else


async def test_a_figure_without_a_place_is_that_of_the_places_on_the_map(channel: SpatialChannel) -> None:
    def asked(year: int | None, *times: TimeRange, **shown: object) -> Query:
        intent = Intent(operations=(Lookup(POP, (), year),), measures=(POP,), times=times)
        return Query("the population here?", SCOPE, 20, intent, **shown)  # type: ignore[arg-type]

    box = (-96.6, 39.4, -96.4, 39.6)
    assert ids(await channel.search(asked(1930, bbox=box))) == ["pop#city:elm.1930", "pop#county:0.1930"]
    assert ids(await channel.search(asked(1930, bbox=box, layers=("source-towns",)))) == ["pop#city:elm.1930"]
    assert ids(await channel.search(asked(1900, bbox=box))) == ["pop#county:0.1900"]
    assert len(ids(await channel.search(asked(None, bbox=box)))) == 3
    assert ids(await channel.search(asked(None, TimeRange.year(1890, 1910), bbox=box))) == ["pop#county:0.1900"]
    triangle = '{"type":"Polygon","coordinates":[[[-97,38],[-96.01,38],[-97,38.99],[-97,38]]]}'
    assert ids(await channel.search(asked(1930, geometry=triangle))) == ["pop#county:2.1930"]
    for nothing in ({"bbox": (10.0, 10.0, 11.0, 11.0)}, {}):
        run = await channel.search(asked(1930, **nothing))
        assert (run.hits, run.limitations) == ((), ())


async def test_a_geometry_of_the_map_is_met_exactly(channel: SpatialChannel) -> None:
    triangle = '{"type":"Polygon","coordinates":[[[-97,38],[-96.01,38],[-97,38.99],[-97,38]]]}'
    run = await channel.search(Query("what is here?", SCOPE, 20, geometry=triangle))
    assert ids(run) == ["map#county:2"]


async def test_the_map_is_no_substitute_for_an_unknown_place(channel: SpatialChannel) -> None:
    intent = Intent((Mention("Atlantis", 0, 8, ()),), measures=(POP,))
    run = await channel.search(Query("Atlantis", SCOPE, 20, intent, bbox=(-97.0, 38.0, -95.0, 40.0)))
    assert run.hits == ()


async def test_a_figure_that_is_none_is_a_fault_of_the_index(channel: SpatialChannel, index: SpatialIndex) -> None:
    await index.add(
        IndexBatch(TENANT, [observation("bad#1", NORTHWEST, 1800, "many"), observation("bad#2", NORTHWEST, 1810, "2")])
    )
    await index.commit()
    with pytest.raises(ChannelFault):
        await channel.search(asking(Change(POP, (NORTHWEST.entity_id,), 1800, 1810)))


async def test_a_batch_that_fails_leaves_nothing_of_itself(channel: SpatialChannel, index: SpatialIndex) -> None:
    with pytest.raises(ValueError, match="geometry"):
        await index.add(
            IndexBatch(TENANT, [observation("half#1", NORTHWEST, 1870, "7"), feature("half#2", ELM, b"\x00")])
        )
    await index.commit()
    assert (await channel.search(asking(Lookup(POP, (NORTHWEST.entity_id,), 1870)))).hits == ()
    assert "half" not in await index.documents()
