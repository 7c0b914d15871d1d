"""The forms in which a scope shows a class, asked of every backend: positions on a grid, and figures in aggregates only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.algebra.operations import (
    Aggregate,
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
from retrieval.coarse import on_grid
from retrieval.index import IndexBatch
from retrieval.model import ChannelName, EntityRef, Query, Record, Run
from retrieval.scope import Scope, VisibilityClass
from tests.channel_backends import BACKENDS, Opener
from tests.structured import (
    ELM,
    NORTHEAST,
    NORTHWEST,
    POP,
    PUBLIC,
    STATE,
    TENANT,
    asking,
    feature,
    naming,
    observation,
    region,
)

MOUND = EntityRef("mound:1", "Mound", "city")
WARDS = tuple(EntityRef(f"ward:{n}", f"Ward {n}", "county") for n in range(10, 22))
CLOSED = VisibilityClass(TENANT, "kansas", "public", handling=("a_tag",))
METRES, DECIMALS, LEAST = 10_000, 1, 10
COARSE = Scope(
    TENANT, frozenset({PUBLIC.class_id, CLOSED.class_id}), coarse=frozenset({(CLOSED.class_id, METRES, DECIMALS)})
)
AGGREGATED = Scope(TENANT, frozenset({PUBLIC.class_id}), aggregates=frozenset({(CLOSED.class_id, LEAST)}))
SHOWN = on_grid(-96.21, 39.43, metres=METRES, decimals=DECIMALS)
FIGURES: tuple[Operation, ...] = (
    *(
        Aggregate(function, POP, "county", year)
        for function in ("sum", "mean", "median")
        for year in (1900, 1930, None)
    ),
    *(Aggregate(function, POP, "county", 1930) for function in ("minimum", "maximum")),
    Aggregate("sum", POP, "county", 1930, STATE.entity_id),
    *(Count("county", minimum=least, measure=POP, year=1930) for least in (1, 50, 105, 1500)),
    Superlative(POP, "county", 1930, "largest", None, 3),
    Superlative(POP, "county", 1930, "smallest", None, 3),
    Compare(POP, (WARDS[0].entity_id, WARDS[1].entity_id), 1930),
    Lookup(POP, (WARDS[0].entity_id,), 1930),
)


@pytest.fixture(params=BACKENDS)
def opener(request: pytest.FixtureRequest) -> Opener:
    return BACKENDS[request.param]


def near_the_mound(scope: Scope) -> list[Query]:
    """Every way to ask for where something is: boxes that close in on it from all sides, regions, operations."""
    around = [Query("what is there", scope, 50, bbox=box) for box in _boxes()]
    drawn = [replace(query, bbox=None, geometry=shapely.to_geojson(shapely.box(*query.bbox or ()))) for query in around]
    operations: tuple[Operation, ...] = (
        *(Nearest(place.entity_id, "city", limit) for place in (ELM, MOUND) for limit in (1, 3)),
        *(WithinDistance(ELM.entity_id, "city", km) for km in (20, 26, 27, 28, 40)),
        *(ContainedIn(place.entity_id, "city") for place in (NORTHWEST, NORTHEAST, STATE)),
        *(ContainerOf(MOUND.entity_id, "county"), Distance(ELM.entity_id, MOUND.entity_id), Count("city")),
        Neighbours(MOUND.entity_id),
    )
    return [*around, *drawn, *(asking(each, scope=scope) for each in operations), naming("Mound", [MOUND], scope=scope)]


def _boxes() -> list[tuple[float, float, float, float]]:
    x, y = SHOWN
    halves = [x - 0.3 + 0.05 * n for n in range(13)]
    found = [(west, y - 1, -90.0, y + 1) for west in halves]
    found += [(x - 1, south, x + 1, 60.0) for south in (y - 0.3 + 0.05 * n for n in range(13))]
    return [*found, (170.0, -80.0, x, 80.0), (x - 0.001, y - 0.001, x + 0.001, y + 0.001)]


async def runs_of(opener: Opener, folder: Path, records: Sequence[Record], queries: Sequence[Query]) -> list[Run]:
    async with opener(folder) as backend:
        await backend.index.add(region())
        if records:
            await backend.index.add(IndexBatch(TENANT, list(records)))
        await backend.index.commit()
        return [await backend.channel.search(query) for query in queries]


def mound(x: float, y: float) -> Record:
    return feature("mounds#1", MOUND, shapely.Point(x, y), CLOSED)


async def test_where_a_coarse_place_really_lies_changes_no_run(opener: Opener, tmp_path: Path) -> None:
    places = [(-96.21, 39.43), (-96.22, 39.405), (-96.235, 39.44)]
    assert {on_grid(x, y, metres=METRES, decimals=DECIMALS) for x, y in places} == {SHOWN}
    queries = near_the_mound(COARSE)
    told = [await runs_of(opener, tmp_path / str(n), [mound(*at)], queries) for n, at in enumerate(places)]
    assert told[0] == told[1] == told[2]


async def test_a_coarse_place_is_met_where_it_is_shown(opener: Opener, tmp_path: Path) -> None:
    x, y = SHOWN
    tight = Query("what is there", COARSE, 50, bbox=(x - 0.001, y - 0.001, x + 0.001, y + 0.001))
    real = Query("what is there", COARSE, 50, bbox=(-96.211, 39.429, -96.209, 39.431))
    shown, beside = await runs_of(opener, tmp_path / "index", [mound(-96.21, 39.43)], [tight, real])
    if shown.channel is ChannelName.SPATIAL and shown.store != "scan":
        assert "mounds#1" in {hit.record_id for hit in shown.hits}
        assert "mounds#1" not in {hit.record_id for hit in beside.hits}


def wards(values: Sequence[int]) -> list[Record]:
    return [
        observation(f"wards#{place.entity_id}", place, 1930, str(value), CLOSED)
        for place, value in zip(WARDS, values, strict=False)
    ]


async def test_single_figures_behind_an_aggregate_change_no_run(opener: Opener, tmp_path: Path) -> None:
    queries = [asking(each, scope=AGGREGATED) for each in FIGURES]
    values = list(range(100, 112))
    one = await runs_of(opener, tmp_path / "one", wards(values), queries)
    other = await runs_of(opener, tmp_path / "other", wards(values[5:] + values[:5]), queries)
    assert [told(run) for run in one] == [told(run) for run in other]
    hits = {hit.record_id for run in one for hit in run.hits}
    assert not any(record_id.startswith("wards#") for record_id in hits)


async def test_too_few_figures_are_as_if_there_were_none(opener: Opener, tmp_path: Path) -> None:
    queries = [asking(each, scope=AGGREGATED) for each in FIGURES]
    none = await runs_of(opener, tmp_path / "none", [], queries)
    few = await runs_of(opener, tmp_path / "few", wards(range(100, 109)), queries)
    assert none == few


async def test_a_group_enters_whole_or_not_at_all(opener: Opener, tmp_path: Path) -> None:
    """Beside an open figure of one of its places a group is left out: else two sums would tell that place's."""
    total = asking(Aggregate("sum", POP, "county", 1930), scope=AGGREGATED)
    beside = observation("open#1", WARDS[0], 1930, "5")
    (alone,) = await runs_of(opener, tmp_path / "alone", wards(range(100, 112)), [total])
    (mixed,) = await runs_of(opener, tmp_path / "mixed", [*wards(range(100, 112)), beside], [total])
    if alone.store in {"sqlite", "postgis"} and alone.channel is ChannelName.SPATIAL:
        assert [considered(run) for run in (alone, mixed)] == [3 + 12, 3 + 1]


def considered(run: Run) -> object:
    computed = run.hits[0].computed
    return None if computed is None else computed.result["considered"]


def told(run: Run) -> object:
    """The run as a reader learns of it: a computed figure's inputs are told apart by their digest alone."""
    return [(hit.rank, hit.computed.result if hit.computed else hit.record_id) for hit in run.hits], run.limitations


@settings(max_examples=60)
@given(
    x=st.floats(-179, 179),
    y=st.floats(-80, 80),
    metres=st.sampled_from((1, 500, 10_000, 100_000)),
    decimals=st.integers(0, 3),
)
def test_a_point_is_shown_within_a_cell_of_where_it_is(x: float, y: float, metres: int, decimals: int) -> None:
    shown = on_grid(x, y, metres=metres, decimals=decimals)
    assert abs(shown[1] - y) <= metres / 111_320 + 10**-decimals


def test_the_scope_names_its_shapes() -> None:
    plain = Scope(TENANT, COARSE.class_ids)
    assert len({plain.digest, COARSE.digest, AGGREGATED.digest, AGGREGATED.with_aggregated.digest}) == 4
