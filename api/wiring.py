"""The composition root: the only importer of backends. Opens what the settings name, and closes it in reverse order.

Independent parts open at the same time, because a question on the command line waits for all of them. Every `match`
ends in `assert_never`: a new backend is a type error until it is handled here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NoReturn, TypeVar, assert_never

from ai.case import Services
from ai.chat_model import ChatModel
from ai.context import ContextBudgets, template_named
from ai.profiles import Profile, profile_named
from ai.prompt_gate import shipped_rules
from ai.vocabulary import Vocabularies
from api import backends
from api.backends import Backends, backends_of
from api.configuration import Configuration
from api.errors import BackendNotBuilt, HomeUnusable
from api.home import KEYS_FILE, only_writer, prepare_home
from api.keys import KeyStore
from api.settings import ChannelDeadlines, ChannelWeights, Settings
from api.version import VERSION
from ledger.ledger import Ledger
from policy.bundle import SHIPPED, Bundle, load_bundle
from policy.data import PolicyData
from policy.engine import PolicyEngine
from policy.points import PolicyPoints
from retrieval.bundle import BundleLimits, BundleRules
from retrieval.channel import Channel
from retrieval.embedding.embedder import Embedder
from retrieval.errors import IndexNotReady
from retrieval.fusion import FusionWeights
from retrieval.index import ChannelIndex
from retrieval.model import ChannelName
from retrieval.registry.sql_store import SqlRecordStore
from retrieval.registry.sqlite import open_sqlite_store

if TYPE_CHECKING:
    from retrieval.ingest.pipeline import Ingest

T = TypeVar("T")
C = TypeVar("C", Channel, ChannelIndex)
TEMPLATE = "focus_mode/v1"


@dataclass(frozen=True, slots=True)
class System:
    """An open home: the pipeline's services, and what the edge needs beside them."""

    configuration: Configuration
    services: Services
    data: PolicyData
    bundle: Bundle
    keys: KeyStore
    engine: PolicyEngine

    def profile(self, name: str) -> Profile:
        """The profile of that name under these settings. Raises UnknownProfile."""
        return profile_of(name, self.configuration.settings)


def clock_ms() -> int:
    """UTC milliseconds."""
    return time.time_ns() // 1_000_000


def new_id() -> str:
    """A UUID of version 7."""
    import uuid_utils  # noqa: PLC0415

    return str(uuid_utils.uuid7())


def key_store(configuration: Configuration) -> KeyStore:
    """The API keys of the home."""
    return KeyStore(configuration.home / KEYS_FILE, clock_ms=clock_ms)


def require_corpus(configuration: Configuration) -> None:
    """Raise IndexNotReady for a folder that holds no corpus, so that reading never makes one."""
    backend = backends_of(configuration).records
    if isinstance(backend, backends.SqliteRecords) and not backend.path.exists():
        raise IndexNotReady(
            f"there is no corpus in {backend.path.parent}; make one: exhibit ingest PATH, or exhibit demo"
        )


@asynccontextmanager
async def open_system(configuration: Configuration, *, empty: bool = False) -> AsyncIterator[System]:
    """Everything that answers questions, open. Raises the errors of the packages when a part cannot be opened; then
    nothing stays open."""
    chosen, settings = backends_of(configuration), configuration.settings
    if not empty:
        require_corpus(configuration)
    async with AsyncExitStack() as stack:
        store = _open_records(chosen.records, stack)
        bundle = await asyncio.to_thread(open_bundle, chosen.policy)
        # All three are waited for even if one fails, so that what did open is closed.
        parts = await asyncio.gather(
            open_engine(chosen.policy, bundle),
            open_embedder(chosen.embedding),
            _open_ledger(chosen.ledger, settings),
            return_exceptions=True,
        )
        for part in parts:
            if not isinstance(part, BaseException):
                stack.push_async_callback(part.aclose)
        engine, embedder, ledger = _opened(parts[0]), _opened(parts[1]), _opened(parts[2])
        channels = _entered(stack, [side.channel() for side in _sides(chosen, embedder)])
        chat = open_chat(chosen.chat, stack)
        services = Services(
            store=store,
            channels=channels,
            points=_points(engine, bundle.data, settings.policy.deadline_ms / 1000),
            model=chat,
            ledger=ledger,
            rules=shipped_rules(),
            template=template_named(TEMPLATE),
            bundle_rules=BundleRules(
                fusion=FusionWeights(settings.retrieval.fusion_k, _per_channel(settings.retrieval.weight_milli))
            ),
            bundle_limits=_bundle_limits(settings),
            budgets=_budgets(settings),
            vocabularies=Vocabularies(store=store),
            slots=asyncio.Semaphore(settings.retrieval.concurrent_searches),
            clock_ms=clock_ms,
            new_id=new_id,
            canary=ledger.pseudonym("canary", "prompt"),
            software=f"exhibit/{VERSION}",
        )
        yield System(configuration, services, bundle.data, bundle, key_store(configuration), engine)


@asynccontextmanager
async def open_ledger(configuration: Configuration) -> AsyncIterator[Ledger]:
    """The ledger alone, for commands that need nothing else."""
    chosen = backends_of(configuration).ledger
    if not chosen.path.exists():
        raise HomeUnusable(f"there is no ledger in {configuration.home}: ask a question first")
    async with AsyncExitStack() as stack:
        ledger = await _open_ledger(chosen, configuration.settings)
        stack.push_async_callback(ledger.aclose)
        yield ledger


@asynccontextmanager
async def open_indexes(
    configuration: Configuration,
) -> AsyncIterator[tuple[SqlRecordStore, Embedder, tuple[ChannelIndex, ...]]]:
    """The write side: store of record, embedder, and the four channels' indexes."""
    chosen = backends_of(configuration)
    async with AsyncExitStack() as stack:
        store = _open_records(chosen.records, stack, writable=True)
        embedder = await open_embedder(chosen.embedding)
        stack.push_async_callback(embedder.aclose)
        indexes = _entered(stack, [side.index() for side in _sides(chosen, embedder)])
        yield store, embedder, indexes


@asynccontextmanager
async def open_ingest(configuration: Configuration) -> AsyncIterator[Ingest]:
    """Ingest into the home, which is made if it is not there. One at a time: raises HomeBusy while another one runs."""
    from retrieval.ingest.chunk import ChunkSize  # noqa: PLC0415
    from retrieval.ingest.pipeline import Ingest  # noqa: PLC0415

    settings = configuration.settings.ingest
    prepare_home(configuration)
    with only_writer(configuration.home / "ingest.lock"):
        async with open_indexes(configuration) as (store, _, indexes):
            yield Ingest(
                store=store,
                indexes=indexes,
                chunk_size=ChunkSize(settings.chunk_words, settings.longest_sentence_words),
                default_labels=settings.default_labels,
            )


def profile_of(name: str, settings: Settings) -> Profile:
    """The profile of that name with the limits of the settings. Raises UnknownProfile."""
    deadlines = settings.retrieval.deadline_ms
    return replace(
        profile_named(name),
        channel_top_k=settings.retrieval.channel_top_k,
        channel_deadlines_s={name: ms / 1000 for name, ms in _per_channel(deadlines).items()},
        model_deadline_s=settings.models.deadline_ms / 1000,
    )


def open_bundle(backend: backends.PolicyBackend) -> Bundle:
    """The policy bundle that the settings name, or the shipped one. Raises BundleRejected."""
    match backend:
        case backends.WasmPolicy(folder=folder) | backends.OpaPolicy(folder=folder):
            return load_bundle(SHIPPED if folder is None else folder)
        case _:
            assert_never(backend)


async def open_engine(backend: backends.PolicyBackend, bundle: Bundle) -> PolicyEngine:
    """The engine that serves the bundle."""
    match backend:
        case backends.WasmPolicy():
            from policy.wasm import WasmEngine  # noqa: PLC0415

            return await asyncio.to_thread(WasmEngine.open, bundle)
        case backends.OpaPolicy(url=url, token=token, ca_file=ca_file):
            from policy.opa import OpaServerEngine  # noqa: PLC0415

            return OpaServerEngine.open(url, bundle_digest=bundle.digest, token=token, ca_file=ca_file)
        case _:
            assert_never(backend)


async def open_embedder(backend: backends.EmbeddingBackend) -> Embedder:
    """What makes vectors."""
    match backend:
        case backends.WordllamaEmbedding():
            from retrieval.embedding.wordllama import WordllamaEmbedder  # noqa: PLC0415

            return await WordllamaEmbedder.load()
        case backends.OllamaEmbedding():
            _not_built("FOCUS_MODE_EMBED_MODEL", "embeddings by Ollama")
        case _:
            assert_never(backend)


def _entered(stack: AsyncExitStack, parts: Sequence[C]) -> tuple[C, ...]:
    for part in parts:
        stack.push_async_callback(part.aclose)
    return tuple(parts)


def _opened(part: T | BaseException) -> T:
    if isinstance(part, BaseException):
        raise part
    return part


def _open_records(backend: backends.RecordsBackend, stack: AsyncExitStack, *, writable: bool = False) -> SqlRecordStore:
    match backend:
        case backends.SqliteRecords(path=path):
            store = open_sqlite_store(path, writable=writable)
            stack.push_async_callback(store.aclose)
            return store
        case backends.PostgresRecords(dsn=dsn):
            from retrieval.registry.postgres import open_postgres_store  # noqa: PLC0415

            store = open_postgres_store(dsn, writable=writable)
            stack.push_async_callback(store.aclose)
            return store
        case _:
            assert_never(backend)


async def _open_ledger(backend: backends.SqliteLedger, settings: Settings) -> Ledger:
    from ledger.keys import open_key_ring  # noqa: PLC0415
    from ledger.sqlite import SqliteLedgerStore  # noqa: PLC0415

    origin = settings.ledger.origin
    keys = await open_key_ring(backend.keys, origin=origin, create=not backend.path.exists())
    store = await SqliteLedgerStore.open(backend.path)
    try:
        return await Ledger.open(
            store=store, keys=keys, origin=origin, replica=settings.ledger.replica, clock_ms=clock_ms, new_id=new_id
        )
    except BaseException:
        await store.aclose()
        raise


@dataclass(frozen=True, slots=True)
class _Sides:
    """How to open the read side and the write side of one channel."""

    channel: Callable[[], Channel]
    index: Callable[[], ChannelIndex]


def _sides(chosen: Backends, embedder: Embedder) -> tuple[_Sides, ...]:
    return _graph(chosen.graph), _spatial(chosen.spatial), _fulltext(chosen.fulltext), _vector(chosen.vector, embedder)


def _graph(backend: backends.GraphBackend) -> _Sides:
    match backend:
        case backends.SqliteGraph(path=path):
            from retrieval.graph.sqlite import GraphChannel, GraphIndex  # noqa: PLC0415

            return _Sides(partial(GraphChannel.open, path), partial(GraphIndex.open, path))
        case backends.Neo4jGraph(uri=uri, user=user, password=password, deadline_ms=deadline_ms):
            from retrieval.graph.neo4j import Neo4jChannel  # noqa: PLC0415
            from retrieval.graph.neo4j_index import Neo4jIndex  # noqa: PLC0415

            return _Sides(
                partial(Neo4jChannel.open, uri, user, password, deadline_s=deadline_ms / 1000),
                partial(Neo4jIndex.open, uri, user, password),
            )
        case _:
            assert_never(backend)


def _spatial(backend: backends.SpatialBackend) -> _Sides:
    match backend:
        case backends.SqliteSpatial(path=path):
            from retrieval.spatial.sqlite import SpatialChannel, SpatialIndex  # noqa: PLC0415

            return _Sides(partial(SpatialChannel.open, path), partial(SpatialIndex.open, path))
        case backends.PostgisSpatial(dsn=dsn, deadline_ms=deadline_ms):
            from retrieval.spatial.postgis import PostgisChannel, PostgisIndex  # noqa: PLC0415

            return _Sides(
                partial(PostgisChannel.open, dsn, statement_timeout_ms=deadline_ms), partial(PostgisIndex.open, dsn)
            )
        case _:
            assert_never(backend)


def _fulltext(backend: backends.FulltextBackend) -> _Sides:
    match backend:
        case backends.TantivyFulltext(path=path):
            from retrieval.fulltext.tantivy import TantivyChannel, TantivyIndex  # noqa: PLC0415

            return _Sides(partial(TantivyChannel, path), partial(TantivyIndex, path))
        case backends.OpenSearchFulltext():
            _not_built("OPENSEARCH_URL", "an OpenSearch channel")
        case _:
            assert_never(backend)


def _vector(backend: backends.VectorBackend, embedder: Embedder) -> _Sides:
    match backend:
        case backends.NumpyVector(path=path):
            from retrieval.vector.numpy import NumpyVectorChannel, NumpyVectorIndex  # noqa: PLC0415

            return _Sides(
                partial(NumpyVectorChannel, path, embedder=embedder), partial(NumpyVectorIndex, path, embedder=embedder)
            )
        case backends.PgvectorVector(dsn=dsn, deadline_ms=deadline_ms):
            from retrieval.vector.pgvector import PgvectorChannel, PgvectorIndex  # noqa: PLC0415

            return _Sides(
                partial(PgvectorChannel.open, dsn, embedder=embedder, statement_timeout_ms=deadline_ms),
                partial(PgvectorIndex.open, dsn, embedder=embedder),
            )
        case _:
            assert_never(backend)


def open_chat(backend: backends.ChatBackend, stack: AsyncExitStack) -> ChatModel:
    """What writes the drafts; closed with the stack."""
    chat: ChatModel
    match backend:
        case backends.ExtractiveChat(min_coverage_milli=coverage, max_sentences=sentences):
            from ai.candidates import Parameters  # noqa: PLC0415
            from ai.extractive import ExtractiveModel  # noqa: PLC0415

            chat = ExtractiveModel(Parameters(min_coverage=coverage, max_sentences=sentences))
        case backends.OllamaChatModel(url=url, model=model):
            from ai.ollama_client import OllamaChat  # noqa: PLC0415

            chat = OllamaChat(url, model)
        case _:
            assert_never(backend)
    stack.push_async_callback(chat.aclose)
    return chat


def _points(engine: PolicyEngine, data: PolicyData, deadline_s: float) -> Callable[[int], PolicyPoints]:
    """Policy points that see one time, whatever the clock does meanwhile."""
    return lambda now_ms: PolicyPoints(engine=engine, clock_ms=lambda: now_ms, deadline_s=deadline_s, data=data)


def _per_channel(values: ChannelDeadlines | ChannelWeights) -> dict[ChannelName, int]:
    return {
        ChannelName.GRAPH: values.graph,
        ChannelName.SPATIAL: values.spatial,
        ChannelName.FULLTEXT: values.fulltext,
        ChannelName.VECTOR: values.vector,
    }


def _bundle_limits(settings: Settings) -> BundleLimits:
    retrieval = settings.retrieval
    return BundleLimits(
        max_tokens=retrieval.max_tokens,
        max_tokens_per_source=retrieval.max_tokens_per_source,
        per_source_items=retrieval.max_items_per_source,
    )


def _budgets(settings: Settings) -> ContextBudgets:
    prompt = settings.prompt
    return ContextBudgets(
        max_tokens_per_source=prompt.max_tokens_per_source, max_tokens=prompt.max_tokens, reserve=prompt.reserve_tokens
    )


def _not_built(setting: str, what: str) -> NoReturn:
    raise BackendNotBuilt(f"{setting} is set, but this version does not speak to {what}; unset it to run on the folder")
