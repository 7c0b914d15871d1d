"""The store of record over any SQL engine: reads inside a scope, writes for ingest."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence

from retrieval.algebra.domain import Domain
from retrieval.filters import Filter, Metadata
from retrieval.index import GazetteerEntry, IndexBatch
from retrieval.model import Lifecycle, SourcedRecord, SourceFacts
from retrieval.registry import asset_reads, fields, reads, sums, writes
from retrieval.registry.assets.model import (
    Asset,
    EntityFilters,
    EntityStatement,
    GraphNarrowing,
    RelationshipFilters,
    StatedRelationship,
)
from retrieval.registry.assets.store import MOST_EDGES
from retrieval.registry.erase import erase, wording
from retrieval.registry.overview import CorpusOverview, overview
from retrieval.registry.sql.engine import Engine
from retrieval.registry.store import (
    CorpusManifest,
    Coverage,
    Description,
    Document,
    FileJob,
    Holdings,
    KnowledgeBase,
    Slice,
    StoredDocument,
    StoredFile,
)
from retrieval.scope import Scope, VisibilityClass


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class SqlRecordStore:
    """`RecordStore` and `RecordWriter` in one, on the engine it is given (which it closes)."""

    def __init__(self, *, engine: Engine) -> None:
        self._engine = engine

    async def holdings(self, tenant: str) -> Holdings:
        return await self._engine.read(lambda s: reads.holdings(s, tenant), scope=None)

    async def classes(self, tenant: str) -> tuple[VisibilityClass, ...]:
        return await self._engine.read(lambda s: reads.classes(s, tenant), scope=None)

    async def collections(self, tenant: str) -> tuple[KnowledgeBase, ...]:
        return await self._engine.read(lambda s: reads.collections(s, tenant), scope=None)

    async def corpus_version(self, tenant: str) -> int:
        return await self._engine.read(lambda s: reads.corpus_version(s, tenant), scope=None)

    async def fetch(self, record_ids: Collection[str], *, scope: Scope) -> Mapping[str, SourcedRecord]:
        return await self._engine.read(lambda s: reads.fetch(s, record_ids, scope, _now_ms()), scope=scope)

    async def matching(self, wanted: Filter, *, scope: Scope) -> frozenset[str]:
        return await self._engine.read(lambda s: fields.matching(s, wanted, scope, _now_ms()), scope=scope)

    async def metadata(self, document_ids: Collection[str], *, scope: Scope) -> Mapping[str, Metadata]:
        return await self._engine.read(lambda s: reads.metadata(s, document_ids, scope, _now_ms()), scope=scope)

    async def document(self, document_id: str, *, scope: Scope) -> Document:
        return await self._engine.read(lambda s: reads.document(s, document_id, scope, _now_ms()), scope=scope)

    async def passages(self, document_id: str, *, scope: Scope) -> tuple[str, ...]:
        return await self._engine.read(lambda s: reads.passages(s, document_id, scope, _now_ms()), scope=scope)

    async def shaped(self, *, scope: Scope) -> Mapping[str, tuple[str, ...]]:
        return await self._engine.read(lambda s: reads.shaped(s, scope, _now_ms()), scope=scope)

    async def drawn(self, place_ids: Collection[str], *, scope: Scope) -> Mapping[str, tuple[str, ...]]:
        return await self._engine.read(lambda s: reads.drawn(s, place_ids, scope, _now_ms()), scope=scope)

    async def resolve(self, document_id: str, locator: str, *, scope: Scope) -> Slice:
        return await self._engine.read(lambda s: reads.resolve(s, document_id, locator, scope, _now_ms()), scope=scope)

    async def gazetteer_entries(self, *, scope: Scope) -> Sequence[GazetteerEntry]:
        return await self._engine.read(lambda s: reads.gazetteer_entries(s, scope, _now_ms()), scope=scope)

    async def domain(self, *, scope: Scope) -> Domain:
        return await self._engine.read(lambda s: reads.domain(s, scope, _now_ms()), scope=scope.with_aggregated)

    async def coverage(
        self, *, scope: Scope, measures: Collection[str], place_ids: Collection[str]
    ) -> tuple[Coverage, ...]:
        return await self._engine.read(lambda s: reads.coverage(s, scope, measures, place_ids, _now_ms()), scope=scope)

    async def overview(self, *, scope: Scope, unlabelled: bool) -> CorpusOverview:
        return await self._engine.read(lambda s: overview(s, scope, unlabelled=unlabelled), scope=scope)

    async def assets(self, *, scope: Scope, lifecycles: Sequence[str]) -> tuple[Asset, ...]:
        return await self._engine.read(lambda s: asset_reads.assets(s, scope, lifecycles, _now_ms()), scope=scope)

    async def documents_of(self, wanted: GraphNarrowing, *, scope: Scope) -> frozenset[str]:
        return await self._engine.read(lambda s: asset_reads.documents_of(s, wanted, scope, _now_ms()), scope=scope)

    async def entity_statements(self, wanted: EntityFilters, *, scope: Scope) -> tuple[EntityStatement, ...]:
        return await self._engine.read(
            lambda s: asset_reads.entity_statements(s, wanted, scope, _now_ms()), scope=scope
        )

    async def relationships(
        self, wanted: RelationshipFilters, *, scope: Scope, limit: int = MOST_EDGES
    ) -> tuple[StatedRelationship, ...]:
        return await self._engine.read(
            lambda s: asset_reads.relationships(s, wanted, scope, _now_ms(), limit), scope=scope
        )

    async def put(self, document: Document, batch: IndexBatch, *, lifecycle: Lifecycle) -> None:
        await self.put_all([document], batch, lifecycle=lifecycle)

    async def put_all(self, documents: Sequence[Document], batch: IndexBatch, *, lifecycle: Lifecycle) -> None:
        await self._engine.write(lambda s: writes.put(s, documents, batch, lifecycle, _now_ms()))

    async def put_collection(self, collection: KnowledgeBase) -> None:
        await self._engine.write(lambda s: writes.put_collection(s, collection))

    async def activate(self, document_ids: Collection[str]) -> frozenset[str]:
        return await self._engine.write(lambda s: writes.activate(s, document_ids))

    async def set_lifecycle(self, document_ids: Collection[str], lifecycle: Lifecycle) -> None:
        await self._engine.write(lambda s: writes.set_lifecycle(s, document_ids, lifecycle))

    async def discard(self, document_ids: Collection[str]) -> None:
        await self._engine.write(lambda s: writes.discard(s, document_ids))

    async def stored(self, tenant: str, lifecycle: Lifecycle = Lifecycle.ACTIVE) -> tuple[StoredDocument, ...]:
        return await self._engine.read(lambda s: writes.stored(s, tenant, lifecycle), scope=None)

    async def places(self, tenant: str) -> tuple[GazetteerEntry, ...]:
        return await self._engine.read(lambda s: writes.places(s, tenant), scope=None)

    async def stored_files(self, tenant: str) -> tuple[StoredFile, ...]:
        return await self._engine.read(lambda s: writes.stored_files(s, tenant), scope=None)

    async def versions(self, tenant: str, source_id: str) -> tuple[SourceFacts, ...]:
        return await self._engine.read(lambda s: writes.versions(s, tenant, source_id), scope=None)

    async def relabel(self, document_ids: Collection[str], visibility: VisibilityClass) -> None:
        await self._engine.write(lambda s: writes.relabel(s, document_ids, visibility))

    async def tenants(self) -> tuple[str, ...]:
        return await self._engine.read(writes.tenants, scope=None)

    async def facts_of(self, document_id: str) -> SourceFacts | None:
        return await self._engine.read(lambda s: reads.facts(s, document_id), scope=None)

    async def set_facts(self, facts: SourceFacts) -> None:
        await self._engine.write(lambda s: writes.set_facts(s, facts))

    async def set_metadata(self, document_id: str, metadata: Metadata) -> None:
        await self._engine.write(lambda s: writes.set_metadata(s, document_id, metadata))

    async def batch(self, tenant: str, document_ids: Collection[str]) -> IndexBatch:
        return await self._engine.read(lambda s: writes.batch(s, tenant, document_ids), scope=None)

    async def put_files(self, files: Sequence[FileJob]) -> None:
        await self._engine.write(lambda s: writes.put_files(s, files, _now_ms()))

    async def files(self, tenant: str, run_id: str | None = None) -> tuple[FileJob, ...]:
        return await self._engine.read(lambda s: writes.files(s, tenant, run_id), scope=None)

    async def manifest_hash(self, tenant: str) -> str:
        return (await self.manifest(tenant, {})).hash

    async def manifest(self, tenant: str, known: Mapping[str, str]) -> CorpusManifest:
        return await self._engine.read(lambda s: writes.manifest(s, tenant, known), scope=None)

    async def descriptions(self, tenant: str) -> Mapping[str, Description]:
        return await self._engine.read(lambda s: writes.descriptions(s, tenant), scope=None)

    async def erase(self, name: str, *, tenant: str) -> tuple[str, ...]:
        """Erases every version of the source of that id, or the document of that id, to the last byte of the files.
        Gives the documents."""
        gone = await self._engine.write(lambda s: erase(s, tenant, name))
        await self._engine.compact()
        return gone

    async def damage(self) -> tuple[sums.Damage, ...]:
        """Everything in the store, of all tenants, that is not what was stored. Raises `StoreDamaged` where so much is
        damaged that it cannot be told apart."""
        return await self._engine.read(lambda s: tuple(sums.damage(s)), scope=None)

    async def wording(self, document_ids: Collection[str]) -> tuple[bytes, ...]:
        """Everything that the store holds of the documents in words, in UTF-8."""
        return await self._engine.read(lambda s: wording(s, document_ids), scope=None)

    async def aclose(self) -> None:
        await self._engine.aclose()
