"""A batch as vectors: what every vector store indexes of it, document by document."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from retrieval.embedding.embedder import Embedder, EmbedModel
from retrieval.errors import EmbedModelMismatch
from retrieval.index import IndexBatch
from retrieval.index_text import index_text
from retrieval.model import Query
from retrieval.vector.segment import Rows


async def embedded(batch: IndexBatch, embedder: Embedder) -> dict[str, tuple[str, Rows]]:
    """Class and rows of each document of the batch, also of those that contribute no text. Raises `ValueError` for a
    document in two classes, and what the embedder raises."""
    texts = [(record, text) for record in batch.records if (text := index_text(record)) is not None]
    vectors = await embedder.embed([text for _, text in texts])
    classes: dict[str, str] = {}
    for record in batch.records:
        if classes.setdefault(record.document_id, record.class_id) != record.class_id:
            raise ValueError(f"document {record.document_id} has records in two classes")
    rows_of: dict[str, list[int]] = {document_id: [] for document_id in classes}
    for row, (record, _) in enumerate(texts):
        rows_of[record.document_id].append(row)
    found: dict[str, tuple[str, Rows]] = {}
    for document_id, numbers in rows_of.items():
        ids = [texts[row][0].record_id for row in numbers]
        found[document_id] = classes[document_id], Rows(ids, [document_id] * len(ids), vectors[numbers])
    return found


async def question_vector(query: Query, embedder: Embedder) -> NDArray[np.float32]:
    """The unit vector that is searched for: the caller's own, or that of the text. Raises `EmbedModelMismatch` for a
    vector of another dimension."""
    if query.embedding is None:
        found: NDArray[np.float32] = (await embedder.embed([query.text]))[0]
        return found
    own, dimension = np.asarray(query.embedding, np.float64), (await embedder.identity()).dimension
    if own.shape != (dimension,):
        raise EmbedModelMismatch(f"the index holds vectors of {dimension} dimensions, not of {len(own)}")
    norm = float(np.linalg.norm(own))
    return (own / norm if norm > 0 else own).astype(np.float32)


def require_same(stored: EmbedModel | None, model: EmbedModel) -> None:
    """Raises `EmbedModelMismatch` where an index holds vectors of another model; None holds none."""
    if stored is not None and stored != model:
        raise EmbedModelMismatch(
            f"the index holds vectors of {stored.name} ({stored.dimension} dimensions), the embedder makes those of "
            f"{model.name} ({model.dimension}); embed them again: exhibit index reembed"
        )
