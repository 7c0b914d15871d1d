"""One meaning, two stores: the same corpus in a file and on a real Neo4j gives the same runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ai.intent import read_intent
from ai.intent.lexicon import Lexicon
from ai.model import MapContext
from retrieval.gazetteer import Gazetteer
from retrieval.index import IndexBatch
from retrieval.ingest.pipeline import Ingest
from retrieval.model import EntityRef, Intent, Mention, Query, Run, TimeRange
from retrieval.registry.sqlite import open_sqlite_store
from retrieval.scope import Scope
from tests.channel_backends import Backend, Opener
from tests.channel_backends import graph as sqlite_graph
from tests.corpora import COUNTIES, TENANT, YEARS, Corpus, corpus, hidden, probes
from tests.services.neo4j_backend import opener_on
from tests.services.neo4j_server import Address, neo4j_server  # noqa: F401  a fixture
from tests.shipped_terms import shipped_terms
from tests.structured import PUBLIC, SECRET, mention, naming, record, relation
from tests.unit.test_graph_channel import KANSA, KANSAS, OSAGE, SANTA_FE, graph
from tests.unit.test_random_row_plans import test_a_plan_over_rows_comes_to_what_plain_python_does  # noqa: F401

pytestmark = pytest.mark.services
KANSAS_FOLDER = Path(__file__).parents[2] / "examples" / "kansas"
QUESTIONS = (
    "Which treaties did the Kansa sign?",
    "Who signed with the Kansa in 1825?",
    "Which nations signed treaties in 1854?",
    "What treaties were signed at Council Grove?",
    "What happened in Kansas in 1854?",
    "What happened on April 14, 1935?",
    "What happened in Kansas in 1857?",
    "What did Governor Walker do in Kansas in 1857?",
    "What did Buchanan say about Lecompton and the Topeka government?",
    "What did Buffalo Bill Cody do at Fort Leavenworth?",
    "Where is Shawnee County located?",
    "Which counties lie in Kansas?",
    "Tell me of the Shawnee and the Delaware nations in 1829.",
    "What was the population of Shawnee County in 1930?",
    "Did Atlantis sign treaties in 1854?",
)


@pytest.fixture
def opener(neo4j_server: Address) -> Opener:  # noqa: F811
    return opener_on(neo4j_server)


async def runs(backend: Backend, queries: Sequence[Query]) -> list[Run]:
    return [replace(await backend.channel.search(query), store="any") for query in queries]


async def fill(backend: Backend, batches: Sequence[IndexBatch]) -> None:
    for batch in batches:
        await backend.index.add(batch)
    await backend.index.commit()


async def same(opener: Opener, folder: Path, batches: Sequence[IndexBatch], queries: Sequence[Query]) -> list[Run]:
    """The runs of both stores, which must be equal."""
    async with sqlite_graph(folder) as file, opener(folder) as server:
        await fill(file, batches)
        await fill(server, batches)
        expected = await runs(file, queries)
        assert await runs(server, queries) == expected
        return expected


@pytest.mark.parametrize("seed", range(4))
async def test_random_corpora_under_random_scopes(opener: Opener, tmp_path: Path, seed: int) -> None:
    content: Corpus = corpus(seed, documents=15) + hidden(seed, documents=9)
    scopes = [content.scope(), content.scope("other"), *(Scope.of(c.tenant, [c]) for c in content.classes)]
    queries = [q for scope in scopes for q in (*probes(content, scope=scope), *pairs(scope, seed))]
    assert any(run.hits for run in await same(opener, tmp_path, content.batches(), queries))


def pairs(scope: Scope, seed: int) -> list[Query]:
    """Two names, a year, and a word of relation."""
    found = []
    for number, one in enumerate(COUNTIES):
        other, year = COUNTIES[(number + seed + 1) % len(COUNTIES)], YEARS[number % len(YEARS)]
        for text in (f"Does {one.name} border {other.name}?", f"What of {one.name} and {other.name}?"):
            mentions = [_mention(text, one), _mention(text, other)]
            for times in ((), (TimeRange.year(year),)):
                found.append(Query(text, scope, 7, Intent(tuple(mentions), times)))
    return found


def _mention(text: str, place: EntityRef) -> Mention:
    start = text.index(place.name)
    return Mention(place.name, start, start + len(place.name), (place,))


async def test_relations_hops_hubs_and_times(opener: Opener, tmp_path: Path) -> None:
    hubs = [EntityRef(f"county:x{i}", f"County {i}", "county") for i in range(100)]
    edges = [relation(county, "located_in", KANSAS, f"c#{i}") for i, county in enumerate(hubs)]
    edges += [
        relation(KANSA, "signed", EntityRef(f"treaty:s{i}", "x", "treaty"), f"h#{i}", 1854, SECRET) for i in range(9)
    ]
    records = [record(f"c#{i}", _kind(), PUBLIC) for i in range(100)] + [
        record(f"h#{i}", _kind(), SECRET) for i in range(9)
    ]
    said = [mention(f"c#{i}", name) for i in range(100) for name in ("Kansas", "1857")]
    more = IndexBatch(TENANT, records, (), edges, said)
    wide = Scope.of(TENANT, [PUBLIC, SECRET])
    queries = [
        naming("Treaties of the Kansa", [KANSA]),
        naming("Treaties of the Kansa in 1825", [KANSA], [1825]),
        naming("Who signed with the Kansa in 1854?", [KANSA], [1854]),
        naming("Who signed with the Kansa in 1854?", [KANSA], [1854], scope=wide),
        naming("Which nations signed treaties in 1854?", [], [1854]),
        naming("What treaties were signed at Santa Fe?", [SANTA_FE]),
        naming("What happened in Kansas in 1825?", [KANSAS], [1825]),
        naming("What of Kansas in 1857?", [KANSAS], [1857]),
        naming("Where are the counties located?", [KANSAS, OSAGE]),
    ]
    found = await same(opener, tmp_path, [graph(), more], queries)
    assert sum(bool(run.hits) for run in found) >= 8


def _kind():  # type: ignore[no-untyped-def]
    from retrieval.model import RecordKind

    return RecordKind.PASSAGE


async def test_strings_that_no_index_takes(opener: Opener, tmp_path: Path) -> None:
    long = EntityRef("place:" + "x" * 9_000, "L" * 9_000, "place")
    named = EntityRef("place:東京🚜", "東京 🚜 Élan", "place")
    edges = [relation(long, "borders", named, "d#1", 1850)]
    batch = IndexBatch(TENANT, [record("d#1", _kind())], (), edges, [mention("d#1", long.name), mention("d#1", "1850")])
    queries = [
        naming(f"What borders {long.name}?", [long], [1850]),
        naming("What borders it?", [named]),
        naming("\ud800 borders \udfff?", [EntityRef("place:\ud800", "\ud800", "place"), named]),
        naming(
            "x' OR 1=1 // }) DETACH DELETE n", [EntityRef("a'}) MATCH (n) DETACH DELETE n //", "x'", "place"), named]
        ),
    ]
    assert (await same(opener, tmp_path, [batch], queries))[0].hits


async def test_the_sample_corpus(opener: Opener, tmp_path: Path) -> None:
    store = open_sqlite_store(tmp_path / "record.sqlite")
    async with sqlite_graph(tmp_path) as file, opener(tmp_path) as server:
        report = await Ingest(terms=shipped_terms, store=store, indexes=[file.index, server.index]).run(
            [KANSAS_FOLDER], tenant=TENANT
        )
        assert report.failed == ()
        assert await server.index.documents() == await file.index.documents()
        classes = await store.classes(TENANT)
        for scope in (Scope.of(TENANT, classes), Scope.of(TENANT, [c for c in classes if c.label == "public"])):
            names = Gazetteer(await store.gazetteer_entries(scope=scope))
            lexicon = Lexicon.of(names, await store.domain(scope=scope))
            queries = []
            for question in QUESTIONS:
                reading = read_intent(question, MapContext(), lexicon=lexicon)
                queries.append(Query(question, scope, 24, reading.intent))
            expected = await runs(file, queries)
            assert await runs(server, queries) == expected
            assert sum(bool(run.hits) for run in expected) >= len(QUESTIONS) - 4
    await store.aclose()
