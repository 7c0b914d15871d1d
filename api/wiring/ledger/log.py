"""The log of a home: opened as the settings name it, kept signed, and begun anew beside one that was put back.

A log that is behind a checkpoint held outside is never written again. The next shard is another log, `<origin>/2` and
so on, with a signing key of its own and the same keys of tenants; its first entry is an `incident` that names both.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from pathlib import Path
from typing import assert_never

from api.errors import HomeUnusable, SettingsInvalid
from api.home.backends import LedgerBackend, backends_of
from api.home.configuration import Configuration
from api.home.folder import prepare_home
from api.home.kept_file import KeptSchema, bring_up_to_date
from api.home.settings import Settings
from api.home.stores import Embedded, Postgres, SqlStore
from api.wiring.circuits import Circuits
from api.wiring.clock import clock_ms, new_id
from ledger.canonical import canonical_json
from ledger.checkpointer import Checkpointer
from ledger.errors import LedgerTablesMissing, LogForked, MalformedPolicy
from ledger.ledger import SYSTEM_TENANT, Ledger
from ledger.model import Kind
from ledger.notes.note import Signer, VerifierKey
from ledger.notes.trust import TrustPolicy, parse_policy
from ledger.outage import INCIDENT_VERSION, OutageWatch
from ledger.outside import CheckpointFile
from ledger.stores.store import LedgerStore
from ledger.witnesses.cosigning import Cosigner
from ledger.witnesses.witness import Witness

_LOG = logging.getLogger("exhibit.ledger")


async def open_log(
    configuration: Configuration, *, shard: int | None = None, circuits: Circuits | None = None
) -> Ledger:
    """A log of the home as it is: the last shard, or that one. One that was put back can be read; its `fork` says
    what is wrong. A server stands behind a breaker of `circuits`."""
    backend = backends_of(configuration).ledger
    last = await last_shard(backend)
    if shard is not None and shard > last:
        raise HomeUnusable(f"the home has {last} logs, not {shard}")
    return await _open(configuration, backend, shard or last, circuits)


async def open_log_to_write(configuration: Configuration, circuits: Circuits | None = None) -> Ledger:
    """The log that entries go to: the last shard, or a new one if the last one is behind a checkpoint held outside."""
    shard = await last_shard(backends_of(configuration).ledger)
    ledger = await open_log(configuration, shard=shard, circuits=circuits)
    if ledger.fork is not None:
        return await open_next_shard(configuration, ledger, ledger.fork)
    if shard > 1 and not await ledger.find(request_id=_incident_request(shard)):  # cut off before it could say why
        old = await open_log(configuration, shard=shard - 1)
        try:
            await _tell_incident(ledger, old, old.fork or LogForked("a witness contradicted it"), shard)
        finally:
            await old.aclose()
    return ledger


@asynccontextmanager
async def log_to_write(configuration: Configuration) -> AsyncIterator[Ledger]:
    """The log that entries go to while the context is open, for a command that writes one. The home is made if it is
    not there: its log may be the first thing in it."""
    prepare_home(configuration)
    ledger = await open_log_to_write(configuration)
    try:
        yield ledger
    finally:
        await ledger.aclose()


async def open_next_shard(configuration: Configuration, old: Ledger, fork: LogForked) -> Ledger:
    """Close a log that must not be written any more and begin the next one, whose first entry says why. Raises
    LogForked, with the command for an administrator, where the role may not make its tables."""
    try:
        backend = backends_of(configuration).ledger
        shard = await last_shard(backend) + 1
        ledger = await _open_new(configuration, backend, shard, fork)
        while ledger.fork is not None:  # this one, too, was once longer than it is
            await ledger.aclose()
            shard += 1
            ledger = await _open_new(configuration, backend, shard, fork)
        _LOG.error("%s; the log goes on as shard %d", fork, shard)
        await _tell_incident(ledger, old, fork, shard)
        return ledger
    finally:
        await old.aclose()


async def _open_new(configuration: Configuration, backend: LedgerBackend, shard: int, fork: LogForked) -> Ledger:
    try:
        return await _open(configuration, backend, shard)
    except LedgerTablesMissing as exc:
        command = f"exhibit ledger prepare --dsn ADMIN --writer ROLE --shard {shard}"
        raise LogForked(f"{fork}; a new log has to be prepared by an administrator: {command}", seen=fork.seen) from exc


async def _tell_incident(ledger: Ledger, old: Ledger, fork: LogForked, shard: int) -> None:
    """Record what happened to the log before, as the first entry of this one."""
    stored = await old.head.stored()
    body = {
        "v": INCIDENT_VERSION,
        "what": "rewound",
        "why": str(fork),
        "origin": old.origin,
        "vkeys": list(old.vkeys),
        "stored": {"size": stored.size, "root": stored.root.hex()},
        "seen": fork.seen or "",
    }
    await ledger.record(
        Kind.INCIDENT, tenant=SYSTEM_TENANT, request_id=_incident_request(shard), parts={"detail": canonical_json(body)}
    )


def _incident_request(shard: int) -> str:
    return f"incident:{shard}"


async def create_ledger(configuration: Configuration) -> str:
    """Make the log and its keys if the home has none; the verifier key."""
    configuration.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    ledger = await open_log(configuration)
    try:
        return ledger.vkey
    finally:
        await ledger.aclose()


@asynccontextmanager
async def kept_signed(configuration: Configuration, ledger: Ledger) -> AsyncIterator[Checkpointer]:
    """Checkpoints at intervals while the context is open, shown to the witnesses of the trust policy. Raises LogForked
    if one of them has seen more than is stored."""
    settings = configuration.settings.ledger
    if not settings.answer_unpublished:
        ledger.stop_unpublished(settings.longest_unpublished_ms)
    async with AsyncExitStack() as stack:
        cosigner = None
        policy = trust_policy(configuration.settings)
        if policy is not None and not policy.asks_none:
            cosigner = await stack.enter_async_context(open_cosigner(ledger, policy))
        checkpointer = ledger.checkpointer(
            cosigner, interval_s=settings.checkpoint_ms / 1000, entries=settings.checkpoint_entries
        )
        stack.push_async_callback(checkpointer.aclose)
        await checkpointer.start()
        watch = OutageWatch(ledger, after_ms=settings.longest_unpublished_ms, why=lambda: checkpointer.fault)
        stack.push_async_callback(watch.aclose)
        await watch.start()
        for entry in await ledger.dangling():
            _LOG.warning("intent %s has no outcome: its request was cut off", entry.leaf.entry_id)
        yield checkpointer


@asynccontextmanager
async def open_cosigner(ledger: Ledger, policy: TrustPolicy) -> AsyncIterator[Cosigner]:
    """Connections to the policy's witnesses that have an address."""
    from ledger.witnesses.http import HttpWitness  # noqa: PLC0415

    cosigner = ledger.cosigner(policy, [(each, HttpWitness(each.url)) for each in policy.witnesses if each.url])
    try:
        yield cosigner
    finally:
        await cosigner.aclose()


async def open_witness(path: Path, *, key: Signer, logs: Sequence[VerifierKey]) -> Witness:
    """A witness of other logs over the file at `path`."""
    from ledger.witnesses.sqlite import SCHEMA_VERSION, STEPS, SqliteWitness  # noqa: PLC0415

    await asyncio.to_thread(bring_up_to_date, path, KeptSchema("a witness's state", SCHEMA_VERSION, STEPS))
    by_origin: dict[str, list[VerifierKey]] = {}
    for each in logs:
        by_origin.setdefault(each.name, []).append(each)
    return await SqliteWitness.open(path, key=key, logs=by_origin, clock_s=lambda: time.time_ns() // 1_000_000_000)


def trust_policy(settings: Settings) -> TrustPolicy | None:
    """The trust policy that the settings name. Raises SettingsInvalid if it cannot be read, is none, or one operator
    alone makes its quorum."""
    path = settings.ledger.trust_policy
    if path is None:
        return None
    try:
        policy = parse_policy(Path(path).expanduser().read_bytes())
    except OSError as exc:
        raise SettingsInvalid(f"ledger.trust_policy: {path} cannot be read: {exc.strerror}") from exc
    except MalformedPolicy as exc:
        raise SettingsInvalid(f"ledger.trust_policy: {path}, {exc}") from exc
    if not policy.asks_none and settings.ledger.witness_operators > 1 and not policy.needs_two_operators():
        raise SettingsInvalid(
            "ledger.trust_policy: one operator alone makes the quorum; ask for two, or set ledger.witness_operators = 1"
        )
    return policy


async def last_shard(backend: LedgerBackend) -> int:
    """The number of the log that is written; 1 if nothing ever happened to it."""
    match backend.store:
        case Embedded(path):
            return next(shard for shard in count(1) if not _shard_path(path, shard + 1).exists())
        case Postgres(dsn, deadline_ms):
            from ledger.stores.postgres import store as postgres  # noqa: PLC0415

            return await postgres.last_shard(dsn, deadline_s=deadline_ms / 1000)
        case _:
            assert_never(backend.store)


def _shard_path(path: Path, shard: int) -> Path:
    return path if shard == 1 else path.with_stem(f"{path.stem}-{shard}")


async def _open(
    configuration: Configuration, backend: LedgerBackend, shard: int, circuits: Circuits | None = None
) -> Ledger:
    from ledger.keys import open_key_ring  # noqa: PLC0415

    settings = configuration.settings.ledger
    origin = settings.origin if shard == 1 else f"{settings.origin}/{shard}"
    store = await _open_store(backend.store, shard, circuits or Circuits())
    try:
        # Keys are made for a log without entries only: new ones in the place of lost ones would go unnoticed.
        keys = await open_key_ring(
            backend.keys,
            origin=origin,
            create=await store.size() == 0,
            base="log" if shard == 1 else f"shard-{shard}",
            seal=backend.seal,
        )
        return await Ledger.open(
            store=store,
            keys=keys,
            origin=origin,
            replica=settings.replica,
            clock_ms=clock_ms,
            new_id=new_id,
            outside=CheckpointFile(_outside(configuration, shard)),
            deadline_s=backend.store.deadline_ms / 1000 if isinstance(backend.store, Postgres) else None,
        )
    except BaseException:
        await store.aclose()
        raise


def _outside(configuration: Configuration, shard: int) -> Path:
    named = configuration.settings.ledger.outside_checkpoint
    path = configuration.home / "checkpoint.highest" if named is None else Path(named).expanduser()
    return path if shard == 1 else path.with_name(f"{path.name}-{shard}")


async def _open_store(backend: SqlStore, shard: int, circuits: Circuits) -> LedgerStore:
    match backend:
        case Embedded(path):
            from ledger.stores.sqlite.schema import SCHEMA_VERSION, STEPS  # noqa: PLC0415
            from ledger.stores.sqlite.store import SqliteLedgerStore  # noqa: PLC0415

            file = _shard_path(path, shard)
            await asyncio.to_thread(bring_up_to_date, file, KeptSchema("the ledger", SCHEMA_VERSION, STEPS))
            return await SqliteLedgerStore.open(file)
        case Postgres(dsn, deadline_ms):
            from ledger.stores.postgres.store import PostgresLedgerStore, shard_schema  # noqa: PLC0415

            return await PostgresLedgerStore.open(
                dsn, schema=shard_schema(shard), deadline_s=deadline_ms / 1000, guard=circuits.of_ledger()
            )
        case _:
            assert_never(backend)
