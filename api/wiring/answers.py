"""The graph of answers, where there is a graph server to keep it."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import assert_never

from ai.record.answer_notes import publishing
from api.home.stores import Embedded, GraphStore, Neo4j
from ledger.ledger import Ledger


async def publish_answers(backend: GraphStore, ledger: Ledger, stack: AsyncExitStack) -> None:
    """Until the stack is closed, what the log records of answers is taken into the graph server, if there is one."""
    match backend:
        case Embedded() | Neo4j(answers=False):
            return
        case Neo4j(uri, user, password, ca_file):
            from retrieval.graph.neo4j_answers import Neo4jAnswers  # noqa: PLC0415

            await stack.enter_async_context(publishing(ledger, Neo4jAnswers.open(uri, user, password, ca_file=ca_file)))
        case _:
            assert_never(backend)
