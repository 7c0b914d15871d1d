"""Haystack on the same passages and questions: BM25 and embedding retrieval in memory, reciprocal rank fusion, prompt.

It is given just what the asker may see, with our vectors computed beforehand, because it has no visibility classes; it
draws up no intent, asks no graph and no map, decides no policy, and records nothing. So it does less work than the
"four channels + bundle" that it is put beside.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from api.home.stores import Wordllama
from api.measure.bench.machine import peak_memory_mib
from api.measure.bench.model import Peer
from api.measure.bench.statistics import spread
from api.measure.bench.workload.corpus import admitted_passages
from api.measure.bench.workload.questions import Question
from api.measure.bench.workload.texts import Texts
from api.wiring import open_embedder
from retrieval.embedding.embedder import Embedder

TOP_K = 24
ITEMS = 8
TEMPLATE = """Answer from the numbered sources alone and cite them.
{% for document in documents %}[{{ loop.index }}] {{ document.content }}
{% endfor %}
Question: {{ question }}"""
WARM_UP = 3


def available() -> bool:
    """True if Haystack is installed."""
    os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
    try:
        import haystack  # noqa: F401, PLC0415
    except ImportError:
        return False
    return True


def measure(texts: Texts, questions: Sequence[Question], *, size: int, seed: int) -> Peer:
    """Index, then ask: from the question's text to the rendered prompt. Raises ImportError without Haystack."""
    os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
    return asyncio.run(_measure(texts, questions, size, seed))


async def _measure(texts: Texts, questions: Sequence[Question], size: int, seed: int) -> Peer:
    embedder = await open_embedder(Wordllama())
    passages = [passage.text for passage in admitted_passages(texts, size, seed)]
    started = time.perf_counter()
    pipeline = await _pipeline(passages, embedder)
    index_seconds = time.perf_counter() - started
    taken = []
    for number, question in enumerate([*questions[:WARM_UP], *questions]):
        started = time.perf_counter()
        await _ask(pipeline, embedder, question.text)
        if number >= WARM_UP:
            taken.append((time.perf_counter() - started) * 1000)
    await embedder.aclose()
    name = f"haystack-ai {version('haystack-ai')}"
    return Peer(name, len(passages), round(index_seconds, 2), spread(taken), peak_memory_mib())


async def _pipeline(passages: Sequence[str], embedder: Embedder) -> Any:
    from haystack import Document, Pipeline  # noqa: PLC0415
    from haystack.components.builders import PromptBuilder  # noqa: PLC0415
    from haystack.components.joiners import DocumentJoiner  # noqa: PLC0415
    from haystack.components.retrievers.in_memory import (  # noqa: PLC0415
        InMemoryBM25Retriever,
        InMemoryEmbeddingRetriever,
    )
    from haystack.document_stores.in_memory import InMemoryDocumentStore  # noqa: PLC0415

    vectors = await embedder.embed(passages)
    store = InMemoryDocumentStore(embedding_similarity_function="dot_product")
    store.write_documents(
        [
            Document(id=str(i), content=text, embedding=vector.tolist())
            for i, (text, vector) in enumerate(zip(passages, vectors, strict=True))
        ]
    )
    pipeline = Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(document_store=store, top_k=TOP_K))
    pipeline.add_component("vector", InMemoryEmbeddingRetriever(document_store=store, top_k=TOP_K))
    pipeline.add_component("join", DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=ITEMS))
    pipeline.add_component("prompt", PromptBuilder(template=TEMPLATE, required_variables=["documents", "question"]))
    pipeline.connect("bm25", "join")
    pipeline.connect("vector", "join")
    pipeline.connect("join", "prompt.documents")
    return pipeline


async def _ask(pipeline: Any, embedder: Embedder, question: str) -> None:
    vector = (await embedder.embed([question]))[0].tolist()
    result = pipeline.run(
        {"bm25": {"query": question}, "vector": {"query_embedding": vector}, "prompt": {"question": question}}
    )
    if not result["prompt"]["prompt"]:
        raise RuntimeError("no prompt")
