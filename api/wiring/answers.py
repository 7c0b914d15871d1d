"""The graph of answers, where there is a graph server to keep it."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import assert_never

from ai.answer_notes import publishing
from api import backends
from ledger.ledger import Ledger


async def publish_answers(backend: backends.GraphBackend, ledger: Ledger, stack: AsyncExitStack) -> None:
    """Until the stack is closed, what the log records of answers is taken into the graph server, if there is one."""
    match backend:
        case backends.SqliteGraph() | backends.Neo4jGraph(answers=False):
            return
        case backends.Neo4jGraph(uri=uri, user=user, password=password, ca_file=ca_file):
            from retrieval.graph.neo4j_answers import Neo4jAnswers  # noqa: PLC0415

            await stack.enter_async_context(publishing(ledger, Neo4jAnswers.open(uri, user, password, ca_file=ca_file)))
        case _:
            assert_never(backend)
