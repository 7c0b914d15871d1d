"""From the ledger to the graph of answers: nothing is lost by a crash of either side, nothing doubled, ids only, and
what is redacted goes. And no statement of retrieval names a label of that graph."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import asdict, replace

import pytest

from ai.record.answer_notes import PAGE, name_of, publish, publishing
from ledger.erasure.redaction import Redaction, Target
from ledger.errors import VerificationFailed
from ledger.ledger import Ledger
from ledger.model import Kind
from ledger.stores.store import PartAt
from retrieval.errors import ChannelUnavailable
from retrieval.graph import cypher
from retrieval.graph.answers import AnswerGraph, AnswerNote, CitedSource
from retrieval.graph.neo4j_answers import LABELS, RELATIONS
from tests.ledger_doubles import MemoryLedgerStore, open_ledger

SECRET = "What did Esther Long write?"


class MemoryGraph(AnswerGraph):
    """As the server keeps it; `down` makes the next calls fail, `dies` loses the reply of the next put."""

    def __init__(self) -> None:
        self.notes: dict[str, AnswerNote] = {}
        self.at: dict[str, int] = {}
        self.puts = 0
        self.down = self.dies = False

    async def position(self, log: str) -> int:
        self._reached()
        return self.at.get(log, -1)

    async def put(self, log: str, notes: Sequence[AnswerNote], *, erased: Collection[str], position: int) -> None:
        self._reached()
        self.puts += 1
        self.notes |= {note.entry_id: note for note in notes}
        self.notes = {key: note for key, note in self.notes.items() if key not in erased}
        self.at[log] = max(position, self.at.get(log, -1))
        if self.dies:
            self.dies = False
            raise ChannelUnavailable("neo4j", "gone before it replied")

    async def aclose(self) -> None:
        self.down = True

    def _reached(self) -> None:
        if self.down:
            raise ChannelUnavailable("neo4j", "gone")


@pytest.fixture
async def ledger() -> AsyncIterator[Ledger]:
    opened = await open_ledger(MemoryLedgerStore())
    yield opened
    await opened.aclose()


def body(outcome: str = "ANSWER") -> bytes:
    citation = {"chunk_id": "d@1#c1", "document_id": "d@1", "source_id": "d", "quote": SECRET}
    return json.dumps(
        {
            "outcome": outcome,
            "answer": SECRET,
            "citations": {"1": citation},
            "policy": {"effect": "allow", "reasons": [{"code": "R1", "message": SECRET}], "bundle_digest": "sha256:b"},
            "provenance": {"model": "extractive", "model_digest": "sha256:m"},
        }
    ).encode()


async def recorded(ledger: Ledger, request_id: str, answer: bytes | None = None) -> str:
    parts = {"answer": body() if answer is None else answer}
    return (await ledger.record(Kind.OUTCOME, tenant="default", request_id=request_id, parts=parts)).entry_id


async def test_an_answer_becomes_a_note_of_ids(ledger: Ledger) -> None:
    graph = MemoryGraph()
    entry_id = await recorded(ledger, "r1")
    assert await publish(ledger, graph) == 0
    note = graph.notes[entry_id]
    entry = await ledger.entry(entry_id)
    assert (note.model, note.model_digest, note.bundle_digest) == ("extractive", "sha256:m", "sha256:b")
    assert (note.effect, note.reasons, note.tenant) == ("allow", ("R1",), ledger.pseudonym("tenant", "default"))
    assert note.commitment == entry.leaf.parts["answer"]
    assert note.sources == (CitedSource("d@1#c1", "d@1", "d"),)
    assert SECRET not in str(asdict(note))


@pytest.mark.parametrize("answer", [body("ABSTAIN"), body("DENY"), b'{"outcome": "FAULT"}'])
async def test_what_is_no_answer_has_no_note(ledger: Ledger, answer: bytes) -> None:
    graph = MemoryGraph()
    await recorded(ledger, "r1", answer)
    assert await publish(ledger, graph) == 0
    assert graph.notes == {}


async def test_every_page_is_taken_in_and_none_twice(ledger: Ledger) -> None:
    graph = MemoryGraph()
    made = {await recorded(ledger, f"r{n}") for n in range(PAGE + 3)}
    assert await publish(ledger, graph) == PAGE + 2
    assert (set(graph.notes), graph.puts) == (made, 2)
    await publish(ledger, graph)
    assert graph.puts == 2


async def test_a_graph_that_is_down_loses_nothing(ledger: Ledger) -> None:
    graph = MemoryGraph()
    first = await recorded(ledger, "r1")
    graph.down = True
    with pytest.raises(ChannelUnavailable):
        await publish(ledger, graph)
    second = await recorded(ledger, "r2")
    graph.down = False
    await publish(ledger, graph)
    assert set(graph.notes) == {first, second}


async def test_a_reply_that_is_lost_doubles_nothing(ledger: Ledger) -> None:
    graph = MemoryGraph()
    made = await recorded(ledger, "r1")
    graph.dies = True
    with pytest.raises(ChannelUnavailable):
        await publish(ledger, graph)
    await publish(ledger, graph)
    assert (set(graph.notes), graph.puts) == ({made}, 1)


async def test_an_answer_that_does_not_verify_keeps_no_other_waiting() -> None:
    store = MemoryLedgerStore()
    ledger, graph = await open_ledger(store), MemoryGraph()
    broken, fine = await recorded(ledger, "r1"), await recorded(ledger, "r2")
    first, second = store.entries
    [other] = [part for part in second.parts if part.name == "answer"]
    parts = tuple(replace(part, blob=other.blob) if part.name == "answer" else part for part in first.parts)
    store.entries[0] = replace(first, parts=parts)
    with pytest.raises(VerificationFailed):
        await ledger.part(broken, "answer")
    await publish(ledger, graph)
    assert set(graph.notes) == {fine}
    await ledger.aclose()


async def test_what_is_redacted_leaves_the_graph(ledger: Ledger) -> None:
    graph = MemoryGraph()
    gone, stays = await recorded(ledger, "r1"), await recorded(ledger, "r2")
    await publish(ledger, graph)
    redaction = Redaction(Target.ENTRY, gone, "request", (PartAt(gone, "answer"),))
    await ledger.redact(redaction, request_id="x1")
    await publish(ledger, graph)
    assert set(graph.notes) == {stays}
    fresh = MemoryGraph()  # the graph is made again from the ledger, without what was erased
    await publish(ledger, fresh)
    assert set(fresh.notes) == {stays}


async def test_while_it_publishes_and_once_more_at_the_end(ledger: Ledger) -> None:
    graph = MemoryGraph()
    async with publishing(ledger, graph):
        early = await recorded(ledger, "r1")
        await asyncio.sleep(0)
        late = await recorded(ledger, "r2")
    assert set(graph.notes) == {early, late}


async def test_a_graph_that_is_down_at_the_end_keeps_nobody(ledger: Ledger) -> None:
    graph = MemoryGraph()
    graph.down = True
    async with publishing(ledger, graph):
        await recorded(ledger, "r1")
    graph.down = False
    assert await publish(ledger, graph) == 0
    assert len(graph.notes) == 1


async def test_logs_of_other_keys_have_positions_of_their_own(ledger: Ledger) -> None:
    assert name_of(ledger).startswith(ledger.origin + "#")
    assert len(name_of(ledger)) > len(ledger.origin) + 16


def test_no_statement_of_retrieval_names_the_space_of_answers_or_leaves_a_label_out() -> None:
    texts = [value for value in vars(cypher).values() if isinstance(value, str | tuple | dict)]
    statements = [s for value in texts for s in ([value] if isinstance(value, str) else list(value)) if "MATCH" in s]
    statements += list(cypher.SCHEMA.values())
    assert len(statements) > 20
    for statement in statements:
        named = set(re.findall(r":(\w+)", statement))
        assert named, statement
        assert not named & (LABELS | RELATIONS), statement
        for pattern in re.findall(
            r"MATCH (.*?)(?: WHERE | WITH | RETURN | DETACH | SET | CREATE | USING |$)", statement
        ):
            assert _bound(pattern), statement


def _bound(pattern: str) -> bool:
    """Whether a pattern can only meet nodes or relations of ours: each node has a label, or is the unread end of a
    relation that has a type of ours, whose ends are entities."""
    typed = re.search(r"-\[\w*:EXHIBIT_\w+[^\]]*\]-", pattern)
    nodes = re.findall(r"\((\w*)(:\w+)?", pattern)
    return all(label or (typed and not name) for name, label in nodes)


@pytest.mark.parametrize(
    "pattern", ["(s)", "()", "(s)-[x]->()", "(s:ExhibitEntity)-[x]->()", "(s)-[x:EXHIBIT_STATES]->()"]
)
def test_a_pattern_that_could_meet_others_is_not_bound(pattern: str) -> None:
    assert not _bound(pattern)
