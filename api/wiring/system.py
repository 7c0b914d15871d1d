"""A home, open: everything that answers questions or takes documents in, opened together and closed in reverse
order. Independent parts open at the same time, because a question on the command line waits for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from ai.case.case import Services
from ai.case.profiles import Profile, profile_named
from ai.errors import TemplateNotFound
from ai.gate import shipped_rules
from ai.intent.vocabulary import Vocabularies
from ai.models.context import ContextBudgets, template_of
from api.errors import HomeUnusable, SettingsInvalid
from api.home.archive import FOLDER as ARCHIVE
from api.home.archive import FolderArchive
from api.home.backends import Backends, backends_of
from api.home.configuration import Configuration
from api.home.folder import DIGEST_CACHE, KEYS_FILE, TENANTS_FILE, close_home, prepare_home
from api.home.identity.keys import KeyStore
from api.home.identity.tenants import TenantStore
from api.home.settings import ChannelDeadlines, ChannelWeights, Settings
from api.home.settings import Ingest as IngestSettings
from api.home.stores import Embedded
from api.home.version import VERSION
from api.wiring.agent import lazy_agent
from api.wiring.answers import publish_answers
from api.wiring.channels import sides_of
from api.wiring.circuits import Circuits
from api.wiring.clock import clock_ms, new_id
from api.wiring.ledger.log import kept_signed, open_log, open_log_to_write, open_next_shard
from api.wiring.models import (
    document_of,
    open_chat,
    open_embedder,
    open_fallback,
    open_reader,
    open_rerankers,
    remade,
)
from api.wiring.parts import only_ingest, open_jobs, open_records
from api.wiring.policy import OpenPolicy, access_terms, open_policy
from api.wiring.publications import finish_publication, require_published
from ledger.errors import LogForked
from ledger.ledger import Ledger
from policy.data import PolicyData
from policy.engine import PolicyEngine
from prompt_templates import PromptTemplate
from retrieval.bundle import BundleLimits, BundleRules
from retrieval.channels.channel import Channel
from retrieval.channels.fan_out import Slots
from retrieval.channels.run_cache import RunCache
from retrieval.embedding.embedder import Embedder
from retrieval.errors import ChannelError, IndexNotReady
from retrieval.index import ChannelIndex
from retrieval.model import ChannelName
from retrieval.ranking.fusion import FusionWeights
from retrieval.registry.jobs import SqlJobs
from retrieval.registry.sql_store import SqlRecordStore

if TYPE_CHECKING:
    from pathlib import Path

    from retrieval.ingest.explain import Explanation
    from retrieval.ingest.pipeline import Ingest
    from retrieval.ingest.quarantine.quarantine import ReadLimits
    from retrieval.ingest.upkeep.life import SourceLife

T = TypeVar("T")
C = TypeVar("C", Channel, ChannelIndex)
_IDENTITY_S = 5.0


@dataclass(frozen=True, slots=True)
class System:
    """An open home: the pipeline's services, and what the edge needs beside them."""

    configuration: Configuration
    services: Services
    policy: OpenPolicy
    keys: KeyStore
    tenants: TenantStore
    chosen: Backends
    circuits: Circuits

    @property
    def data(self) -> PolicyData:
        """Roles, labels and thresholds of the policy."""
        return self.policy.data

    @property
    def engine(self) -> PolicyEngine:
        """The parts that decide."""
        return self.policy.engine

    def with_policy(self, policy: OpenPolicy) -> System:
        """The same system, decided by another bundle; both can be in use at one time."""
        deadline_s = self.configuration.settings.policy.deadline_ms / 1000
        services = replace(self.services, points=policy.points(deadline_s))
        return replace(self, policy=policy, services=services)

    def profile(self, name: str) -> Profile:
        """The profile of that name under these settings. Raises UnknownProfile."""
        return profile_of(name, self.configuration.settings)


def key_store(configuration: Configuration) -> KeyStore:
    """The API keys of the home."""
    return KeyStore(configuration.home / KEYS_FILE, clock_ms=clock_ms)


def tenant_store(configuration: Configuration) -> TenantStore:
    """The tenants of the home, as they were set."""
    return TenantStore(configuration.home / TENANTS_FILE, clock_ms=clock_ms)


def has_corpus(configuration: Configuration) -> bool:
    """True if the store of record is there; a server's always is."""
    backend = backends_of(configuration).records
    return not isinstance(backend, Embedded) or backend.path.exists()


def require_corpus(configuration: Configuration) -> None:
    """Raise IndexNotReady for a folder that holds no corpus, so that reading never makes one."""
    if not has_corpus(configuration):
        raise IndexNotReady(
            f"there is no corpus in {configuration.home}; make one: exhibit ingest PATH, or exhibit demo"
        )


def require_ledger(configuration: Configuration) -> None:
    """Raise HomeUnusable for a folder that holds no log, so that reading never makes one."""
    if not backends_of(configuration).ledger.exists:
        raise HomeUnusable(f"there is no ledger in {configuration.home}: ask a question first")


@asynccontextmanager
async def open_system(
    configuration: Configuration, *, empty: bool = False, signing: bool = False
) -> AsyncIterator[System]:
    """Everything that answers questions, open; with `signing`, the log is signed at intervals as long. Raises the
    errors of the packages when a part cannot be opened; then nothing stays open."""
    chosen, settings = backends_of(configuration), configuration.settings
    if not empty:
        require_corpus(configuration)
    close_home(configuration)
    async with AsyncExitStack() as stack:
        circuits = Circuits()
        store = open_records(chosen.records, stack, served=circuits)
        # All three are waited for even if one fails, so that what did open is closed.
        parts = await asyncio.gather(
            open_policy(chosen.policy, circuits),
            open_embedder(chosen.embedding),
            open_log_to_write(configuration, circuits),
            return_exceptions=True,
        )
        for part in parts:
            if not isinstance(part, BaseException):
                stack.push_async_callback(part.aclose)
        policy, embedder, ledger = _opened(parts[0]), _opened(parts[1]), _opened(parts[2])
        if await finish_publication(configuration, ledger):
            policy = await open_policy(chosen.policy, circuits)
            stack.push_async_callback(policy.aclose)
        await require_published(configuration, ledger, policy.bundle.digest)
        if signing:
            ledger = await _kept_signed(configuration, ledger, stack)
        await publish_answers(chosen.graph, ledger, stack)
        channels = _entered(stack, [side.channel() for side in sides_of(chosen, embedder, circuits)])
        packaged = open_reader(settings.answering.rate_milli, settings.answering.false_claim_milli)
        reader = packaged if settings.answering.reader else None
        chat = open_chat(chosen.chat, stack, circuits, reader)
        archive = FolderArchive(configuration.home / ARCHIVE, configuration.seal)
        await archive.keep(document_of(chat))
        vocabularies = Vocabularies(store=store)
        stack.push_async_callback(vocabularies.aclose)
        services = Services(
            store=store,
            channels=channels,
            points=policy.points(settings.policy.deadline_ms / 1000),
            model=chat,
            ledger=ledger,
            archive=archive,
            rules=shipped_rules(),
            template=_template(settings.prompt.template, settings.models.chat or ""),
            bundle_rules=BundleRules(
                fusion=FusionWeights(settings.retrieval.fusion_k, _per_channel(settings.retrieval.weight_milli))
            ),
            bundle_limits=_bundle_limits(settings),
            budgets=_budgets(settings),
            vocabularies=vocabularies,
            slots=Slots(settings.retrieval.concurrent_searches),
            clock_ms=clock_ms,
            new_id=new_id,
            canary=ledger.pseudonym("canary", "prompt"),
            software=f"exhibit/{VERSION}",
            embedding_model=await _name_of(embedder),
            agent=lazy_agent,
            runs=RunCache(settings.retrieval.cached_searches),
            rerankers=open_rerankers(chosen.rerank, stack, circuits, packaged),
            fallback=open_fallback(chosen.chat, reader),
            judge=reader if settings.answering.false_claim_milli else None,
            repairs=settings.models.repair and settings.models.chat_served() is not None,
            remade=partial(remade, archive, reader=packaged),
        )
        yield System(
            configuration, services, policy, key_store(configuration), tenant_store(configuration), chosen, circuits
        )


async def _kept_signed(configuration: Configuration, ledger: Ledger, stack: AsyncExitStack) -> Ledger:
    """The log, signed at intervals until the stack is closed; the next shard if a witness has seen more of it."""
    try:
        await stack.enter_async_context(kept_signed(configuration, ledger))
    except LogForked as fork:
        ledger = await open_next_shard(configuration, ledger, fork)
        stack.push_async_callback(ledger.aclose)
        await stack.enter_async_context(kept_signed(configuration, ledger))
    return ledger


@asynccontextmanager
async def open_ledger(configuration: Configuration, *, shard: int | None = None) -> AsyncIterator[Ledger]:
    """The ledger alone, for commands that need nothing else: the last shard, or that one."""
    require_ledger(configuration)
    async with AsyncExitStack() as stack:
        ledger = await open_log(configuration, shard=shard)
        stack.push_async_callback(ledger.aclose)
        yield ledger


@asynccontextmanager
async def open_indexes(
    configuration: Configuration,
) -> AsyncIterator[tuple[SqlRecordStore, Embedder, tuple[ChannelIndex, ...]]]:
    """The write side: store of record, embedder, and the four channels' indexes."""
    chosen = backends_of(configuration)
    async with AsyncExitStack() as stack:
        store = open_records(chosen.records, stack)
        embedder = await open_embedder(chosen.embedding)
        stack.push_async_callback(embedder.aclose)
        indexes = _entered(stack, [side.index() for side in sides_of(chosen, embedder)])
        yield store, embedder, indexes


@asynccontextmanager
async def open_ingest(configuration: Configuration) -> AsyncIterator[Ingest]:
    """Ingest into the home, which is made if it is not there. One at a time: raises HomeBusy while another one runs."""
    from retrieval.ingest.digest_cache import DigestCache  # noqa: PLC0415
    from retrieval.ingest.pipeline import Ingest  # noqa: PLC0415
    from retrieval.ingest.quarantine.quarantine import Quarantine  # noqa: PLC0415
    from retrieval.ingest.records.chunk import ChunkSize  # noqa: PLC0415

    settings = configuration.settings.ingest
    prepare_home(configuration)
    async with only_ingest(configuration), open_indexes(configuration) as (store, _, indexes):
        with Quarantine(_read_limits(settings)) as quarantine:
            yield Ingest(
                store=store,
                indexes=indexes,
                chunk_size=ChunkSize(settings.chunk_words, settings.longest_sentence_words),
                terms=partial(access_terms, backends_of(configuration).policy, settings.default_labels),
                digests=DigestCache(configuration.home / DIGEST_CACHE, seal=configuration.seal),
                read=quarantine.read,
            )


@asynccontextmanager
async def open_job_store(configuration: Configuration) -> AsyncIterator[SqlJobs]:
    """The jobs of ingest. Opening does no I/O."""
    async with AsyncExitStack() as stack:
        yield open_jobs(backends_of(configuration).records, stack)


def explain_files(
    configuration: Configuration,
    paths: Sequence[Path],
    *,
    manifest: Path | None,
    collection: str | None,
    label: str | None,
    tenant: str,
) -> tuple[Explanation, ...]:
    """Explanations of what ingest would make of the files under these settings. Writes nothing; the home need not be
    there. Raises ManifestError."""
    from retrieval.ingest.explain import explain  # noqa: PLC0415
    from retrieval.ingest.quarantine.quarantine import Quarantine  # noqa: PLC0415
    from retrieval.ingest.records.chunk import ChunkSize  # noqa: PLC0415
    from retrieval.ingest.sources import sources_of  # noqa: PLC0415

    settings = configuration.settings.ingest
    sources, _ = sources_of(paths, manifest)
    with Quarantine(_read_limits(settings)) as quarantine:
        return tuple(
            explain(
                sources,
                tenant=tenant,
                collection=collection,
                label=label,
                terms=access_terms(backends_of(configuration).policy, settings.default_labels),
                size=ChunkSize(settings.chunk_words, settings.longest_sentence_words),
                read=quarantine.read,
            )
        )


def _read_limits(settings: IngestSettings) -> ReadLimits:
    from retrieval.ingest.quarantine.quarantine import ReadLimits  # noqa: PLC0415

    return ReadLimits(settings.file_memory_mb, settings.file_cpu_s)


@asynccontextmanager
async def open_source_life(configuration: Configuration) -> AsyncIterator[SourceLife]:
    """Changes of sources in the home. One at a time, and not while documents are taken in: raises HomeBusy then,
    IndexNotReady where there is no corpus."""
    from retrieval.ingest.upkeep.life import SourceLife  # noqa: PLC0415

    require_corpus(configuration)
    terms = access_terms(backends_of(configuration).policy, configuration.settings.ingest.default_labels)
    async with only_ingest(configuration), open_indexes(configuration) as (store, _, indexes):
        yield SourceLife(store=store, indexes=indexes, terms=terms)


def profile_of(name: str, settings: Settings) -> Profile:
    """The profile of that name with the limits of the settings. Raises UnknownProfile."""
    deadlines = settings.retrieval.deadline_ms
    return replace(
        profile_named(name),
        channel_top_k=settings.retrieval.channel_top_k,
        channel_deadlines_s={name: ms / 1000 for name, ms in _per_channel(deadlines).items()},
        model_deadline_s=settings.models.deadline_ms / 1000,
    )


def _entered(stack: AsyncExitStack, parts: Sequence[C]) -> tuple[C, ...]:
    for part in parts:
        stack.push_async_callback(part.aclose)
    return tuple(parts)


def _opened(part: T | BaseException) -> T:
    if isinstance(part, BaseException):
        raise part
    return part


async def _name_of(embedder: Embedder) -> str:
    """The model that makes vectors; one that does not answer now is no reason not to start, and has no name yet."""
    try:
        async with asyncio.timeout(_IDENTITY_S):
            return (await embedder.identity()).name
    except (ChannelError, TimeoutError):
        return ""


def _per_channel(values: ChannelDeadlines | ChannelWeights) -> dict[ChannelName, int]:
    return {name: getattr(values, name.name.lower()) for name in ChannelName}


def _template(name: str, model: str) -> PromptTemplate:
    try:
        return template_of(name, model)
    except TemplateNotFound as exc:
        raise SettingsInvalid(f"prompt.template: {exc}") from exc


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
