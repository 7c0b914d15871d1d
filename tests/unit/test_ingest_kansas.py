"""The sample corpus says what its sources say."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
import shapely

from retrieval.index import GazetteerEntry, IndexBatch
from retrieval.ingest.pipeline import Ingest
from retrieval.ingest.report import IngestReport
from retrieval.ingest.upkeep.upkeep import IngestStore
from retrieval.model import Record, RecordKind
from retrieval.registry.sqlite import open_sqlite_store
from retrieval.scope import Scope
from tests.shipped_terms import shipped_terms

CORPUS = Path(__file__).parents[2] / "examples" / "kansas"
T = "default"


class Kansas:
    """The corpus, taken in."""

    def __init__(self, store: IngestStore, report: IngestReport, batch: IndexBatch, scope: Scope) -> None:
        self.store, self.report, self.batch, self.scope = store, report, batch, scope
        self.documents = {f.source_id: f.document_id or "" for f in report.files}

    def of(self, source_id: str, kind: RecordKind) -> list[Record]:
        return [r for r in self.batch.records if r.source_id == source_id and r.kind is kind]

    def named(self, name: str) -> set[str]:
        return {e.entity.entity_id for e in self.batch.entries if name in e.names}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kansas(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Kansas]:
    store: IngestStore = open_sqlite_store(tmp_path_factory.mktemp("kansas") / "record.sqlite")
    report = await Ingest(terms=shipped_terms, store=store, indexes=[]).run([CORPUS], tenant=T)
    batch = await store.batch(T, [f.document_id or "" for f in report.files])
    yield Kansas(store, report, batch, Scope.of(T, await store.classes(T)))
    await store.aclose()


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_every_source_is_taken_in(kansas: Kansas) -> None:
    assert [f.source_id for f in kansas.report.files if f.state == "done"] == [
        *("county-population", "counties", "city-population", "treaties"),
        *("dust-bowl-story", "buchanan-messages", "cody-life", "kansas-narratives"),
    ]


async def test_the_census_figure_is_found_by_row_and_column(kansas: Kansas) -> None:
    found = await kansas.store.resolve(kansas.documents["county-population"], "row=89&col=1930", scope=kansas.scope)
    assert found.cell == "85200"
    assert found.text == "20177,Shawnee County,53727,61874,69159,85200,91247,105418"
    assert found.measurement is not None and found.measurement.place.entity_id == "county:20177"


async def test_every_figure_is_a_cell_of_the_file_and_every_cell_is_one(kansas: Kansas) -> None:
    for source_id, name, empty in (
        ("county-population", "county-population.csv", ("",)),
        ("city-population", "cities.csv", ("", "0")),
    ):
        rows = list(csv.DictReader((CORPUS / name).read_text().splitlines()))
        cells = {(i, c): v for i, row in enumerate(rows) for c, v in row.items() if c.isdigit() and v not in empty}
        figures = {
            (r.locator.row, r.locator.column): r.measurement.value
            for r in kansas.of(source_id, RecordKind.OBSERVATION)
            if r.measurement
        }
        assert figures == cells


async def test_one_county_has_one_id_in_all_sources(kansas: Kansas) -> None:
    population = {r.entities[0].entity_id for r in kansas.of("county-population", RecordKind.PASSAGE)} - {"state:20"}
    shapes = {r.entities[0].entity_id for r in kansas.of("counties", RecordKind.FEATURE)}
    assert len(population) == 105
    assert population == shapes
    homes = {e.object.entity_id for e in kansas.batch.relationships if e.predicate == "located_in"} & shapes
    assert {"county:20177", "county:20045"} <= homes
    for name in ("Shawnee County", "Shawnee County, Kansas", "Shawnee Co."):
        assert kansas.named(name) == {"county:20177"}
    assert kansas.named("Shawnee") == {"county:20177", "city:ks-shawnee", "city:ok-shawnee", "nation:shawnee"}


async def test_topeka_lies_in_shawnee_county(kansas: Kansas) -> None:
    edges = [e for e in kansas.batch.relationships if e.subject.entity_id == "city:ks-topeka"]
    assert {(e.predicate, e.object.entity_id) for e in edges} == {
        ("located_in", "county:20177"),
        ("located_in", "state:20"),
    }
    stated = next(r for r in kansas.batch.records if r.record_id == edges[0].record_id)
    assert stated.statement == "Topeka is a city in Kansas, Shawnee County."
    point = next(
        r for r in kansas.of("city-population", RecordKind.FEATURE) if r.entities[0].entity_id == "city:ks-topeka"
    )
    county = next(r for r in kansas.of("counties", RecordKind.FEATURE) if r.locator.feature == "20177")
    assert point.geometry and county.geometry
    assert shapely.contains(shapely.from_wkb(county.geometry), shapely.from_wkb(point.geometry))


async def test_treaties_say_nation_place_and_day(kansas: Kansas) -> None:
    rows = kansas.of("treaties", RecordKind.PASSAGE)
    assert rows[1].statement == "The Apache signed a treaty (10 Stat. 979) at Santa Fe on July 1, 1852."
    edges = {
        (e.subject.name, e.predicate, e.object.name)
        for e in kansas.batch.relationships
        if e.record_id == rows[1].record_id
    }
    assert edges == {
        ("Apache", "signed", "Treaty 10 Stat. 979"),
        ("Treaty 10 Stat. 979", "signed_at", "Santa Fe"),
        ("Treaty 10 Stat. 979", "signed_on", "July 1, 1852"),
    }
    assert all(r.statement and r.statement.endswith(".") and "{" not in r.statement for r in rows)
    # Without a date in the source there is no date in the sentence, and no edge to one.
    undated = next(r for r in rows if r.text.startswith("Cayuga\t2 Kappler 1027"))
    assert undated.time is None and " on " not in (undated.statement or "")


async def test_one_nation_has_one_id_however_it_is_spelled(kansas: Kansas) -> None:
    assert kansas.named("Kansas") == {"state:20"}
    assert kansas.named("Kanza") == kansas.named("Kansas Nation") == {"nation:kansa"}
    assert kansas.named("Sac and Fox") == kansas.named("Sauk & Fox") == {"nation:sauk-and-fox"}
    signed = [e for e in kansas.batch.relationships if (e.subject.entity_id, e.predicate) == ("nation:kansa", "signed")]
    assert len(signed) == 6
    assert kansas.named("Ft. Atkinson") == kansas.named("Fort Atkinson") == {"place:fort-atkinson"}


async def test_black_sunday_is_an_event_with_a_day(kansas: Kansas) -> None:
    (edge,) = [e for e in kansas.batch.relationships if e.subject.entity_id == "event:black-sunday"]
    assert (edge.predicate, edge.object.entity_id) == ("occurred_on", "date:1935-04-14")
    passage = next(r for r in kansas.batch.records if r.record_id == edge.record_id)
    assert "one of the defining days of the Dust Bowl" in passage.text
    story = " ".join(r.text for r in kansas.of("dust-bowl-story", RecordKind.PASSAGE))
    for junk in ("img.shields.io", "```", "json", "Map cue", "[^ndmc-overview]: ", "Definition of Done", "</div>"):
        assert junk not in story


async def test_who_may_see_what(kansas: Kansas) -> None:
    classes = {(c.collection, c.label, c.handling, c.groups) for c in await kansas.store.classes(T)}
    assert classes == {
        ("kansas", "public", (), ()),
        ("memoirs", "internal", (), ()),
        ("oral-histories", "confidential", ("culturally_sensitive",), ("archivists",)),
    }
    assert [c.name for c in await kansas.store.collections(T)] == ["kansas", "memoirs", "oral-histories"]


async def test_names_come_only_from_the_scope(kansas: Kansas) -> None:
    for visibility in await kansas.store.classes(T):
        entries: list[GazetteerEntry] = list(await kansas.store.gazetteer_entries(scope=Scope.of(T, [visibility])))
        assert {e.class_id for e in entries} <= {visibility.class_id}


async def test_every_record_is_an_exact_slice(kansas: Kansas) -> None:
    for document_id in kansas.documents.values():
        whole = await kansas.store.document(document_id, scope=kansas.scope)
        encoded = whole.text.encode()
        for record in (r for r in kansas.batch.records if r.document_id == document_id):
            at = record.locator
            assert whole.text[at.start_char : at.end_char] == record.text
            assert encoded[at.start_byte : at.end_byte] == record.text.encode()


async def test_the_texts_carry_no_distributor() -> None:
    for path in sorted(CORPUS.glob("*.txt")):
        text = path.read_text().casefold()
        for word in ("gutenberg", "ebook", "proofread", "project g", "www."):
            assert word not in text, (path.name, word)


async def test_the_kinds_are_what_the_readme_says(kansas: Kansas) -> None:
    kinds = Counter(r.kind for r in kansas.batch.records)
    assert kinds[RecordKind.FEATURE] == 105 + 668
    assert kinds[RecordKind.OBSERVATION] == 636 + 4781
