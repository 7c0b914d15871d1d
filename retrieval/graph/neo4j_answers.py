"""The graph of answers on Neo4j.

    (:ExhibitAnswer {entry_id, t_ms, tenant, commitment})
      -[:EXHIBIT_ANSWERED_BY]-> (:ExhibitAnswerModel {name, digest})
      -[:EXHIBIT_DECIDED_BY]->  (:ExhibitAnswerDecision {entry_id, bundle, effect, reasons})
      -[:EXHIBIT_CITES]->       (:ExhibitAnswerSource {record_id, document_id, source_id})
    (:ExhibitAnswerLog {position})                           how far the ledger has been taken in

Sources are joined to the graph that retrieval reads by `document_id` alone, never by a relationship.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from neo4j import AsyncDriver, AsyncTransaction

from retrieval.graph.answers import AnswerNote
from retrieval.graph.neo4j_server import driver_of, faults

_KEYS = {
    "ExhibitAnswer": ("log", "entry_id"),
    "ExhibitAnswerModel": ("log", "name", "digest"),
    "ExhibitAnswerDecision": ("log", "entry_id"),
    "ExhibitAnswerSource": ("log", "record_id"),
    "ExhibitAnswerLog": ("log",),
}
LABELS = frozenset(_KEYS)
RELATIONS = frozenset({"EXHIBIT_ANSWERED_BY", "EXHIBIT_DECIDED_BY", "EXHIBIT_CITES"})
_POSITION = "MATCH (l:ExhibitAnswerLog {log: $log}) RETURN l.position"
# First, so that it locks: two processes of one log follow each other, and neither moves it back.
_MOVE = (
    "MERGE (l:ExhibitAnswerLog {log: $log}) ON CREATE SET l.position = -1"
    " SET l.position = CASE WHEN l.position < $position THEN $position ELSE l.position END"
)
_PUT = (
    "UNWIND $notes AS note"
    " MERGE (a:ExhibitAnswer {log: $log, entry_id: note.entry_id})"
    " SET a.t_ms = note.t_ms, a.tenant = note.tenant, a.commitment = note.commitment"
    " MERGE (m:ExhibitAnswerModel {log: $log, name: note.model, digest: note.model_digest})"
    " MERGE (a)-[:EXHIBIT_ANSWERED_BY]->(m)"
    " MERGE (d:ExhibitAnswerDecision {log: $log, entry_id: note.entry_id})"
    " SET d.bundle = note.bundle_digest, d.effect = note.effect, d.reasons = note.reasons"
    " MERGE (a)-[:EXHIBIT_DECIDED_BY]->(d)"
)
_CITE = (
    "UNWIND $notes AS note UNWIND note.sources AS source"
    " MATCH (a:ExhibitAnswer {log: $log, entry_id: note.entry_id})"
    " MERGE (s:ExhibitAnswerSource {log: $log, record_id: source.record_id})"
    " SET s.document_id = source.document_id, s.source_id = source.source_id"
    " MERGE (a)-[:EXHIBIT_CITES]->(s)"
)
_ERASE = (
    "UNWIND $erased AS id MATCH (a:ExhibitAnswer {log: $log, entry_id: id})"
    " OPTIONAL MATCH (d:ExhibitAnswerDecision {log: $log, entry_id: id}) DETACH DELETE a, d"
)
_SWEEP = (
    "MATCH (s:ExhibitAnswerSource {log: $log}) WHERE NOT (s)<-[:EXHIBIT_CITES]-(:ExhibitAnswer) DELETE s",
    "MATCH (m:ExhibitAnswerModel {log: $log}) WHERE NOT (m)<-[:EXHIBIT_ANSWERED_BY]-(:ExhibitAnswer) DELETE m",
)


class Neo4jAnswers:
    """The graph of answers of one server. An `AnswerGraph`; no transaction is waited for longer than `deadline_s`, nor
    does it take longer on the server."""

    def __init__(self, driver: AsyncDriver, *, deadline_s: float) -> None:
        self._driver = driver
        self._deadline_s = deadline_s
        self._laid_out = False

    @classmethod
    def open(cls, uri: str, user: str, password: str, *, ca_file: Path | None = None, deadline_s: float = 10.0) -> Self:
        """The graph over a server, which is not asked before it is used. Raises ChannelUnavailable for an address or a
        file of authorities that is none."""
        return cls(driver_of(uri, user, password, ca_file=ca_file, deadline_s=deadline_s), deadline_s=deadline_s)

    async def position(self, log: str) -> int:
        """See `AnswerGraph`."""
        with faults():
            async with asyncio.timeout(self._deadline_s), self._driver.session() as session:
                found = await (await session.run(_POSITION, log=log)).values()
        return int(found[0][0]) if found else -1

    async def put(self, log: str, notes: Sequence[AnswerNote], *, erased: Collection[str], position: int) -> None:
        """See `AnswerGraph`."""
        written = {"notes": [_row(note) for note in notes], "erased": sorted(erased)}
        with faults():
            async with asyncio.timeout(self._deadline_s):
                await self._lay_out()
            async with (
                asyncio.timeout(self._deadline_s),
                self._driver.session() as session,
                await session.begin_transaction(timeout=self._deadline_s) as transaction,
            ):
                await _run(transaction, _MOVE, log=log, position=position)
                for statement in (_PUT, _CITE):
                    await _run(transaction, statement, log=log, notes=written["notes"])
                if erased:
                    await _run(transaction, _ERASE, log=log, erased=written["erased"])
                    for statement in _SWEEP:
                        await _run(transaction, statement, log=log)
                await transaction.commit()

    async def aclose(self) -> None:
        """See `AnswerGraph`."""
        await self._driver.close()

    async def _lay_out(self) -> None:
        if self._laid_out:
            return
        async with self._driver.session() as session:
            for label, key in _KEYS.items():
                named = ", ".join(f"x.{name}" for name in key)
                statement = (
                    f"CREATE CONSTRAINT {label}_unique IF NOT EXISTS FOR (x:{label}) REQUIRE ({named}) IS UNIQUE"
                )
                await (await session.run(statement)).consume()
        self._laid_out = True


def _row(note: AnswerNote) -> dict[str, Any]:
    return asdict(note) | {"reasons": list(note.reasons), "sources": [asdict(source) for source in note.sources]}


async def _run(transaction: AsyncTransaction, statement: str, **values: object) -> None:
    await (await transaction.run(statement, values)).consume()
