"""Stores, engines and models, each opened as the settings name it."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, NoReturn, assert_never

from ai.chat_model import ChatModel
from api import backends
from api.errors import BackendNotBuilt
from api.settings import Settings
from api.wiring.circuits import Circuits
from api.wiring.clock import clock_ms, new_id
from ledger.ledger import Ledger
from ledger.store import LedgerStore
from retrieval.embedding.embedder import Embedder
from retrieval.registry.sql_store import SqlRecordStore
from retrieval.registry.sqlite import open_sqlite_store

if TYPE_CHECKING:
    pass

TEMPLATE = "focus_mode/v1"


async def open_embedder(backend: backends.EmbeddingBackend) -> Embedder:
    """What makes vectors."""
    match backend:
        case backends.WordllamaEmbedding():
            from retrieval.embedding.wordllama import WordllamaEmbedder  # noqa: PLC0415

            return await WordllamaEmbedder.load()
        case backends.OllamaEmbedding():
            not_built("FOCUS_MODE_EMBED_MODEL", "embeddings by Ollama")
        case _:
            assert_never(backend)


def open_records(backend: backends.RecordsBackend, stack: AsyncExitStack) -> SqlRecordStore:
    """The store of record for ingest; closed with the stack."""
    match backend:
        case backends.SqliteRecords(path=path):
            store = open_sqlite_store(path)
        case backends.PostgresRecords(dsn=dsn):
            from retrieval.registry.postgres import open_postgres_store  # noqa: PLC0415

            store = open_postgres_store(dsn)
        case _:
            assert_never(backend)
    stack.push_async_callback(store.aclose)
    return store


def open_served_records(backend: backends.RecordsBackend, stack: AsyncExitStack, circuits: Circuits) -> SqlRecordStore:
    """The store of record for questions, which never write to it; closed with the stack."""
    match backend:
        case backends.SqliteRecords(path=path):
            store = open_sqlite_store(path, writable=False)
        case backends.PostgresRecords(dsn=dsn, deadline_ms=deadline_ms):
            from retrieval.registry.postgres import open_guarded_store  # noqa: PLC0415

            store = open_guarded_store(dsn, breaker=circuits.of_records(), deadline_ms=deadline_ms)
        case _:
            assert_never(backend)
    stack.push_async_callback(store.aclose)
    return store


async def _open_log(backend: backends.LedgerBackend) -> LedgerStore:
    match backend:
        case backends.SqliteLedger(path=path):
            from ledger.sqlite import SqliteLedgerStore  # noqa: PLC0415

            return await SqliteLedgerStore.open(path)
        case backends.PostgresLedger(dsn=dsn):
            from ledger.postgres import PostgresLedgerStore  # noqa: PLC0415

            return await PostgresLedgerStore.open(dsn)
        case _:
            assert_never(backend)


async def open_ledger_store(backend: backends.LedgerBackend, settings: Settings) -> Ledger:
    from ledger.keys import open_key_ring  # noqa: PLC0415

    origin = settings.ledger.origin
    store = await _open_log(backend)
    try:
        # Keys are made for a log without entries only: new ones in the place of lost ones would go unnoticed.
        keys = await open_key_ring(backend.keys, origin=origin, create=await store.size() == 0)
        return await Ledger.open(
            store=store, keys=keys, origin=origin, replica=settings.ledger.replica, clock_ms=clock_ms, new_id=new_id
        )
    except BaseException:
        await store.aclose()
        raise


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


def not_built(setting: str, what: str) -> NoReturn:
    raise BackendNotBuilt(f"{setting} is set, but this version does not speak to {what}; unset it to run on the folder")
