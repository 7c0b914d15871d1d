"""Questions on the sample corpus, from the words to the facts: ingested, read, searched, and computed again from the
stored records."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ai.intent import read_intent
from ai.intent.lexicon import Lexicon
from ai.model import MapContext
from retrieval.gazetteer import Gazetteer
from retrieval.graph.sqlite import GraphChannel, GraphIndex
from retrieval.ingest.pipeline import Ingest
from retrieval.model import Query, Run
from retrieval.registry.sql_store import SqlRecordStore
from retrieval.registry.sqlite import open_sqlite_store
from retrieval.scope import Scope
from retrieval.spatial.computing.compute import recompute
from retrieval.spatial.sqlite import SpatialChannel, SpatialIndex
from tests.shipped_terms import shipped_terms

KANSAS = Path(__file__).parents[2] / "examples" / "kansas"


@dataclass(frozen=True)
class Corpus:
    store: SqlRecordStore
    spatial: SpatialChannel
    graph: GraphChannel
    scope: Scope
    lexicon: Lexicon

    def query(self, question: str, context: MapContext) -> Query:
        reading = read_intent(question, context, lexicon=self.lexicon)
        return Query(question, self.scope, 20, reading.intent)

    async def ask(self, question: str, context: MapContext = MapContext()) -> tuple[list[str], Run]:  # noqa: B008
        """What the spatial channel states, best first, and its run."""
        run = await self.spatial.search(self.query(question, context))
        return await self.stated(run), run

    async def relate(self, question: str) -> list[str]:
        """What the graph channel finds, best first."""
        return await self.stated(await self.graph.search(self.query(question, MapContext())))

    async def stated(self, run: Run) -> list[str]:
        found = await self.store.fetch([h.record_id for h in run.hits if not h.computed], scope=self.scope)
        said = [h.computed.statement if h.computed else found[h.record_id].record.statement for h in run.hits]
        return [s or found[h.record_id].record.text for s, h in zip(said, run.hits, strict=True)]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import asyncio

    folder = tmp_path_factory.mktemp("kansas")
    asyncio.run(_ingest(folder))
    return folder


async def _ingest(folder: Path) -> None:
    store = open_sqlite_store(folder / "record.sqlite")
    indexes = [SpatialIndex.open(folder / "spatial.sqlite"), GraphIndex.open(folder / "graph.sqlite")]
    report = await Ingest(terms=shipped_terms, store=store, indexes=indexes).run([KANSAS], tenant="default")
    assert report.failed == ()
    for opened in (*indexes, store):
        await opened.aclose()


@pytest.fixture
async def corpus(home: Path) -> AsyncIterator[Corpus]:
    store = open_sqlite_store(home / "record.sqlite")
    spatial, graph = SpatialChannel.open(home / "spatial.sqlite"), GraphChannel.open(home / "graph.sqlite")
    scope = Scope.of("default", [c for c in await store.classes("default") if c.label == "public"])
    gazetteer = Gazetteer(await store.gazetteer_entries(scope=scope))
    yield Corpus(store, spatial, graph, scope, Lexicon.of(gazetteer, await store.domain(scope=scope)))
    for opened in (spatial, graph, store):
        await opened.aclose()


FACTS = {
    "What was the population of Shawnee County in 1930?": "Shawnee County had a population of 85,200 in 1930.",
    "How many people lived in Topeka in 1900?": "Topeka, Kansas, had a population of 33,608 in 1900.",
    "What was the population of Kansas in 1930?": "Kansas had a population of 1,880,999 in 1930.",
    "How did the population of Shawnee County change between 1900 and 1930?": (
        "Shawnee County grew from 53,727 in 1900 to 85,200 in 1930, a change of +31,473 (+58.6 %)."
    ),
    "What was the largest county in 1930?": (
        "Wyandotte County had the largest population in 1930, 141,211 inhabitants, of 105 counties in Kansas with a figure for 1930."
    ),
    "Which county had the fewest inhabitants in 1950?": (
        "Greeley County had the smallest population in 1950, 2,010 inhabitants, of 105 counties in Kansas with a figure for 1950."
    ),
    "largest city in Missouri in 1930": (
        "St. Louis had the largest population in 1930, 821,960 inhabitants, of 72 cities in Missouri with a figure for 1930."
    ),
    "What was the total population of all counties in 1930?": (
        "The total population of 105 counties in Kansas with a figure for 1930 was 1,880,999."
    ),
    "Was Topeka or Wichita larger in 1930?": (
        "Wichita (111,110) had a larger population than Topeka (64,120) in 1930, a difference of 46,990."
    ),
    "Which counties border Shawnee County?": (
        "Shawnee County shares a border with 6 counties: Douglas County, Jackson County, Jefferson County, Osage County, "
        "Pottawatomie County and Wabaunsee County."
    ),
    "Which towns are within 50 km of Topeka?": (
        "4 cities lie within 50.0 km of Topeka: St. Marys (36.5 km), Lawrence (38.3 km), Osage (46.0 km) and Holton (48.3 km)."
    ),
    "What is the nearest town to Topeka?": "The nearest city to Topeka on the map is St. Marys, 36.5 km away.",
    "Which cities are in Douglas County?": "3 cities lie in Douglas County: Baldwin City, Eudora and Lawrence.",
    "In which county is Topeka?": "Topeka lies in Shawnee County.",
    "How many counties are there in Kansas?": "There are 105 counties in Kansas on record.",
    "How far is it from Topeka to Wichita?": "Topeka and Wichita are 207.5 km (128.9 miles) apart.",
}


@pytest.mark.parametrize("question", FACTS)
async def test_a_question_gets_its_fact_first(corpus: Corpus, question: str) -> None:
    said, run = await corpus.ask(question)
    assert said[0] == FACTS[question]
    assert run.limitations == ()


@pytest.mark.parametrize("question", FACTS)
async def test_a_computed_fact_is_the_same_from_the_stored_records(corpus: Corpus, question: str) -> None:
    _, run = await corpus.ask(question)
    for done in (hit.computed for hit in run.hits if hit.computed):
        stored = await corpus.store.fetch(done.inputs, scope=corpus.scope)
        assert set(stored) == set(done.inputs)
        assert recompute(done.operation, done.parameters, [s.record for s in stored.values()]) == done


async def test_all_six_neighbours_in_both_directions(corpus: Corpus) -> None:
    for name in ("Jackson", "Jefferson", "Douglas", "Osage", "Wabaunsee", "Pottawatomie"):
        said, _ = await corpus.ask(f"Which counties border {name} County?")
        assert "Shawnee County" in said[0]


async def test_a_year_without_a_figure_says_what_there_is_and_no_other_place_speaks(corpus: Corpus) -> None:
    said, run = await corpus.ask("What was the population of Shawnee County in 1870?")
    assert said == []
    assert [(x.code, x.message) for x in run.limitations] == [
        ("NO_OBSERVATION", "Population of Shawnee County is recorded for 1900, 1910, 1920, 1930, 1940 and 1950.")
    ]


@pytest.mark.parametrize(
    "question",
    [
        "What was the population of Atlantis County in 1930?",
        "What was the population of Topeka County in 1930?",
        "What was the population of Atlantis, Kansas in 1930?",
        "Which counties border Atlantis County?",
        "What is the largest city in Atlantis?",
    ],
)
async def test_a_place_that_does_not_exist_has_no_figure(corpus: Corpus, question: str) -> None:
    context = MapContext(place_id="county:20177")
    assert (await corpus.ask(question, context))[0] == []


async def test_the_map_answers_for_what_the_question_leaves_out(corpus: Corpus) -> None:
    from retrieval.model import TimeRange

    said, _ = await corpus.ask(
        "What was the population?", MapContext(place_id="county:20177", time=TimeRange.year(1930))
    )
    assert said == ["Shawnee County had a population of 85,200 in 1930."]


async def test_treaties_by_nation_place_and_date(corpus: Corpus) -> None:
    assert (await corpus.relate("Which treaties did the Kansa sign in 1825?"))[0].startswith(
        "The Kansa signed a treaty (7 Stat. 244) at St. Louis on June 3, 1825."
    )
    assert await corpus.relate("What treaties were signed at Santa Fe?") == [
        "The Apache signed a treaty (10 Stat. 979) at Santa Fe on July 1, 1852."
    ]
    dated = await corpus.relate("Which nations signed treaties in 1854?")
    assert len(dated) > 10
    assert all("1854" in said for said in dated)


async def test_an_event_by_its_day_and_by_its_name(corpus: Corpus) -> None:
    for question in ("What happened on April 14, 1935?", "What happened on Black Sunday?"):
        assert "April 14, 1935" in (await corpus.relate(question))[0]


async def test_what_happened_in_kansas_in_1850_gives_what_is_dated_so(corpus: Corpus) -> None:
    assert "April 1, 1850" in (await corpus.relate("What happened in Kansas in 1850?"))[0]


def documented() -> list[tuple[str, str]]:
    """The questions of the guide and the operation that each is said to ask for."""
    lines = (KANSAS.parents[1] / "docs" / "questions.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return [(row[0], row[1]) for row in rows if row[1].isalpha() and row[1][0].isupper()]


@pytest.mark.parametrize(("question", "operation"), documented())
async def test_the_guide_says_what_is_understood(corpus: Corpus, question: str, operation: str) -> None:
    query = corpus.query(question, MapContext())
    assert [type(o).__name__ for o in query.intent.operations] == [operation]
    found = (await corpus.spatial.search(query)).hits or (await corpus.graph.search(query)).hits
    assert found


def test_the_guide_names_every_operation() -> None:
    from typing import get_args

    from retrieval.algebra.operations import Operation

    assert {name for _, name in documented()} == {kind.__name__ for kind in get_args(Operation)}
