"""The graph of answers on the real server: what stands in it, and that retrieval never reads it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from neo4j import AsyncGraphDatabase

from api import wiring
from api.home.configuration import load
from retrieval.errors import ChannelUnavailable
from retrieval.graph import cypher
from retrieval.graph.answers import AnswerNote, CitedSource
from retrieval.graph.neo4j_answers import LABELS, Neo4jAnswers
from tests.api_world import POPULATION, make_world
from tests.corpora import corpus, probes
from tests.harness import ask
from tests.services.neo4j_backend import graph_of, opener_on
from tests.services.neo4j_server import Address, neo4j_server

pytestmark = pytest.mark.services
__all__ = ["neo4j_server"]
CONTENT = corpus(51, documents=6)
NOTE = AnswerNote(
    entry_id="e1",
    t_ms=1,
    tenant="t",
    commitment="c",
    model="m",
    model_digest="sha256:m",
    bundle_digest="sha256:b",
    effect="allow",
    reasons=("R1",),
    sources=(CitedSource("r1", "d1", "s1"), CitedSource("r2", "d1", "s1")),
)
SHAPE = (
    "MATCH (a:ExhibitAnswer {log: $log})-[:EXHIBIT_ANSWERED_BY]->(m:ExhibitAnswerModel)"
    " MATCH (a)-[:EXHIBIT_DECIDED_BY]->(d:ExhibitAnswerDecision)"
    " MATCH (a)-[:EXHIBIT_CITES]->(s:ExhibitAnswerSource)"
    " RETURN a.entry_id, m.digest, d.bundle, d.effect, s.record_id, s.document_id ORDER BY a.entry_id, s.record_id"
)


@pytest.fixture
async def answers(neo4j_server: Address) -> AsyncIterator[Neo4jAnswers]:
    opened = Neo4jAnswers.open(neo4j_server.uri, neo4j_server.user, neo4j_server.password, deadline_s=60.0)
    yield opened
    await opened.aclose()


@pytest.fixture
def log(tmp_path: Path) -> str:
    return graph_of(tmp_path)


async def rows(address: Address, statement: str, **values: Any) -> list[list[Any]]:
    driver = AsyncGraphDatabase.driver(address.uri, auth=(address.user, address.password))
    async with driver, driver.session() as session:
        return await (await session.run(statement, **values)).values()


async def test_notes_go_in_once_and_out_with_a_redaction(
    answers: Neo4jAnswers, neo4j_server: Address, log: str
) -> None:
    assert await answers.position(log) == -1
    other = replace(NOTE, entry_id="e2", sources=NOTE.sources[:1])
    for _ in range(2):
        await answers.put(log, [NOTE, other], erased=(), position=7)
    expected = [[e, "sha256:m", "sha256:b", "allow", r, "d1"] for e, r in (("e1", "r1"), ("e1", "r2"), ("e2", "r1"))]
    assert await rows(neo4j_server, SHAPE, log=log) == expected
    assert await answers.position(log) == 7
    await answers.put(log, [], erased=["e1"], position=3)  # a position never goes back
    assert await rows(neo4j_server, SHAPE, log=log) == expected[2:]
    assert await answers.position(log) == 7
    left = "MATCH (x {log: $log}) WHERE NOT x:ExhibitAnswerLog RETURN labels(x)[0] AS label ORDER BY label"
    of_one = ["ExhibitAnswer", "ExhibitAnswerDecision", "ExhibitAnswerModel", "ExhibitAnswerSource"]
    assert await rows(neo4j_server, left, log=log) == [[label] for label in of_one]


async def test_processes_that_publish_at_the_same_time_do_not_double(neo4j_server: Address, log: str) -> None:
    where = (neo4j_server.uri, neo4j_server.user, neo4j_server.password)
    several = [Neo4jAnswers.open(*where, deadline_s=60.0) for _ in range(4)]
    await several[0].put(log, [], erased=(), position=0)
    await asyncio.gather(*(each.put(log, [NOTE], erased=(), position=n) for n, each in enumerate(several)))
    assert len(await rows(neo4j_server, SHAPE, log=log)) == 2
    assert await several[0].position(log) == 3
    for each in several:
        await each.aclose()


async def test_a_server_that_is_not_there_says_so() -> None:
    absent = Neo4jAnswers.open("bolt://127.0.0.1:1", "neo4j", "secret", deadline_s=2.0)
    with pytest.raises(ChannelUnavailable):
        await absent.position("x")
    await absent.aclose()


async def test_retrieval_reads_nothing_of_it_even_where_it_looks_like_evidence(
    answers: Neo4jAnswers, neo4j_server: Address, tmp_path: Path
) -> None:
    """Nodes with every property that a search asks for, under the labels of answers, change no run."""
    graph = graph_of(tmp_path)
    queries = probes(CONTENT, top_k=30)
    async with opener_on(neo4j_server)(tmp_path) as backend:
        await backend.index.add(CONTENT.batch())
        await backend.index.commit()
        before = [await backend.channel.search(query) for query in queries]
        assert any(run.hits for run in before)
        await answers.put(graph, [NOTE], erased=(), position=0)
        for label in sorted(LABELS):
            for source in cypher.NODES:
                copied = (
                    f"MATCH (x:{source} {{graph: $graph}}) WITH x, properties(x) AS held"
                    f" CREATE (y:{label}) SET y = held, y.log = $graph + toString(elementId(x)) + $source,"
                    " y.entry_id = y.log, y.name = y.log, y.record_id = coalesce(y.record_id, '0') + '-answer',"
                    " y.rid = 0 RETURN count(*)"
                )
                assert (await rows(neo4j_server, copied, graph=graph, source=source))[0][0] > 0
        assert [await backend.channel.search(query) for query in queries] == before
        await backend.index.clear()
        await backend.index.commit()
        assert await rows(neo4j_server, SHAPE, log=graph) != []  # a rebuild of the index leaves the answers


async def test_a_question_is_noted_with_its_sources(neo4j_server: Address, tmp_path: Path) -> None:
    environment = {
        "NEO4J_URI": neo4j_server.uri,
        "NEO4J_USER": neo4j_server.user,
        "NEO4J_PASSWORD": neo4j_server.password,
        "EXHIBIT_RETRIEVAL__DEADLINE_MS__GRAPH": "30000",
    }
    world = await make_world(tmp_path, environment)
    async with wiring.open_system(load(environment, home=world.configuration.home)) as system:
        body = await ask(system, POPULATION)
        entry_id = body["provenance"]["entry_id"]
        found: list[list[Any]] = []
        async with asyncio.timeout(60):
            while not found:
                await asyncio.sleep(0.2)
                found = await rows(
                    neo4j_server,
                    "MATCH (a:ExhibitAnswer {entry_id: $id})-[:EXHIBIT_CITES]->(s) RETURN s.record_id, s.document_id",
                    id=entry_id,
                )
    assert body["outcome"] == "ANSWER"
    assert {row[0] for row in found} == {citation["chunk_id"] for citation in body["citations"].values()}
    everything = await rows(neo4j_server, "MATCH (x) WHERE x.entry_id = $id RETURN properties(x)", id=entry_id)
    assert "Shawnee" not in str(everything)
    assert "85,200" not in str(everything)
