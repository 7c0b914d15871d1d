"""The cost of recording: durable appends of whole entries, leaves of several writers on a server, verification, proofs,
and size; beside each rate a plain INSERT of the same bytes on the same disk in the same run."""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import apsw

from api.measure.bench.goals import Verdict
from api.measure.bench.log.filling import (
    CALLERS,
    ORIGIN,
    PART_BYTES,
    SOURCE_BYTES,
    SOURCES,
    Contents,
    by_callers,
    contents_of,
    fill,
    small,
)
from api.measure.bench.statistics import Percentiles, spread
from api.wiring import clock_ms, new_id
from api.wiring.ledger.bench_log import open_bench_log
from ledger.ledger import Ledger
from ledger.model import Kind
from ledger.proofs.proving import prove_inclusion

ENTRY_BYTES = sum(PART_BYTES.values()) + SOURCES * SOURCE_BYTES
PACE_PER_S = 50
WRITERS = 4


@dataclass(frozen=True, slots=True)
class Rates:
    """Entries a second, and the same bytes by a plain INSERT: each in a transaction of its own, and in those of the
    ledger's batches."""

    ledger: float
    plain_single: float
    plain_batched: float


@dataclass(frozen=True, slots=True)
class LedgerFigures:
    """Milliseconds unless named otherwise. `paced` is measured from the moment at which an append was due; `disk` is
    what a bare write and sync of as many bytes takes at the same pace, which no durable append can be faster than.
    `server_leaves_per_s` and `server_plain_per_s` None without a server."""

    paced: Percentiles
    disk: Percentiles
    embedded: Rates
    entry_bytes: int
    stored_bytes: float
    leaves: int
    verify_s: float
    proof: Percentiles
    server_leaves_per_s: float | None = None
    server_plain_per_s: float | None = None


async def measure_ledger(folder: Path, *, entries: int, leaves: int, seconds: int, dsn: str | None) -> LedgerFigures:
    """Everything in that folder, and on the server if a DSN is given: a schema of its own there, which is dropped."""
    contents = [contents_of(seed) for seed in range(32)]
    ledger, _ = await open_bench_log(folder / "paced", origin=ORIGIN)
    await _record(ledger, contents, CALLERS)
    paced = await _paced(lambda number: _one(ledger, contents[number % len(contents)]), seconds)
    await ledger.aclose()
    disk = await _disk(folder / "disk", seconds)
    ledger, _ = await open_bench_log(folder / "embedded", origin=ORIGIN)
    began = time.perf_counter()
    await _record(ledger, contents, entries)
    rate = entries / (time.perf_counter() - began)
    await ledger.aclose()
    size = sum(path.stat().st_size for path in (folder / "embedded").glob("ledger.sqlite*"))
    plain = [_plain(folder / f"plain-{batch}.sqlite", entries, size // entries, batch) for batch in (1, CALLERS)]
    verify_s, proof = await _large(folder / "large", leaves)
    server = (None, None) if dsn is None else await _server(folder, dsn, leaves=max(leaves // 5, 1_000))
    return LedgerFigures(
        paced=paced,
        disk=disk,
        embedded=Rates(rate, *plain),
        entry_bytes=ENTRY_BYTES,
        stored_bytes=size / entries,
        leaves=leaves,
        verify_s=verify_s,
        proof=proof,
        server_leaves_per_s=server[0],
        server_plain_per_s=server[1],
    )


def ledger_goals(figures: LedgerFigures) -> tuple[Verdict, ...]:
    """The goal of a figure; a figure that was not measured counts as missed."""
    return (
        Verdict(f"durable append at {PACE_PER_S} a second, p99", "ms", 10, figures.paced.p99),
        Verdict("whole entries embedded, a second", "/s", 400, figures.embedded.ledger, at_least=True),
        Verdict(f"leaves on PostgreSQL, {WRITERS} writers", "/s", 2_000, figures.server_leaves_per_s, at_least=True),
        Verdict(f"verify {figures.leaves} leaves", "s", 5 * figures.leaves / 100_000, figures.verify_s),
        Verdict("inclusion proof, p50", "ms", 1, figures.proof.p50),
    )


def ledger_json(figures: LedgerFigures) -> dict[str, Any]:
    """The figures as a document, with the goals."""
    goals = [{"goal": goal.says, "met": goal.met} for goal in ledger_goals(figures)]
    return {**asdict(figures), "goals": goals}


def ledger_rows(figures: LedgerFigures) -> list[list[object]]:
    """The leading text of a page."""
    rates = figures.embedded
    return [
        [f"append at {PACE_PER_S}/s, p50 / p99 ms", f"{figures.paced.p50:.2f} / {figures.paced.p99:.2f}"],
        ["of that the disk: write and sync, p50 / p99 ms", f"{figures.disk.p50:.2f} / {figures.disk.p99:.2f}"],
        ["whole entries embedded, /s", f"{rates.ledger:.0f}"],
        ["plain INSERT of the same bytes, /s: single, batched", f"{rates.plain_single:.0f}, {rates.plain_batched:.0f}"],
        ["bytes of an entry: in the clear, stored", f"{figures.entry_bytes}, {figures.stored_bytes:.0f}"],
        [f"verify {figures.leaves} leaves, s", f"{figures.verify_s:.2f}"],
        ["inclusion proof, p50 / p99 ms", f"{figures.proof.p50:.3f} / {figures.proof.p99:.3f}"],
        [f"leaves on PostgreSQL, {WRITERS} writers, /s", _or_not(figures.server_leaves_per_s)],
        ["plain INSERT there, /s", _or_not(figures.server_plain_per_s)],
    ]


def _or_not(value: float | None) -> str:
    return "not measured: --dsn" if value is None else f"{value:.0f}"


async def _one(ledger: Ledger, contents: Contents) -> None:
    parts, sources = contents
    await ledger.record(Kind.OUTCOME, tenant="bench", request_id=new_id(), parts=parts, sources=sources)


async def _record(ledger: Ledger, contents: Sequence[Contents], count: int) -> None:
    await by_callers(count, lambda number: _one(ledger, contents[number % len(contents)]))


async def _paced(work: Callable[[int], Awaitable[None]], seconds: int) -> Percentiles:
    """Work at a fixed pace, whatever the answers take: milliseconds from when each was due."""
    taken: list[float] = []
    started = time.perf_counter()

    async def due(number: int) -> None:
        at = started + number / PACE_PER_S
        await asyncio.sleep(max(0.0, at - time.perf_counter()))
        began = max(at, time.perf_counter() - 0.001)  # the timer's own slack is not the ledger's
        await work(number)
        taken.append((time.perf_counter() - began) * 1000)

    await asyncio.gather(*(due(number) for number in range(seconds * PACE_PER_S)))
    return spread(taken)


async def _disk(path: Path, seconds: int) -> Percentiles:
    """The bytes of an entry written and synced, in a thread, over a file that is there: as the write-ahead log is."""
    filling, places = random.Random(2).randbytes(ENTRY_BYTES), 64  # noqa: S311
    with path.open("w+b", buffering=0) as file, ThreadPoolExecutor(1) as thread:
        file.write(bytes(ENTRY_BYTES * places))
        os.fsync(file.fileno())

        def write(number: int) -> None:
            os.pwrite(file.fileno(), filling, number % places * ENTRY_BYTES)
            os.fdatasync(file.fileno())

        async def one(number: int) -> None:
            await asyncio.get_running_loop().run_in_executor(thread, write, number)

        return await _paced(one, seconds)


def _plain(path: Path, rows: int, size: int, batch: int) -> float:
    """Rows a second of one table with the same durability and bytes."""
    with closing(apsw.Connection(str(path))) as db:
        db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        db.execute("CREATE TABLE plain (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)")
        filling = random.Random(1).randbytes(size)  # noqa: S311
        began = time.perf_counter()
        for start in range(0, rows, batch):
            with db:
                db.executemany("INSERT INTO plain (bytes) VALUES (?)", [(filling,)] * min(batch, rows - start))
        return rows / (time.perf_counter() - began)


async def _large(folder: Path, leaves: int) -> tuple[float, Percentiles]:
    """Seconds to verify a log of that many leaves, and milliseconds for a proof of one of them."""
    ledger, store = await open_bench_log(folder, origin=ORIGIN)
    await fill(ledger, leaves)
    await ledger.checkpoint()
    head = (await ledger.latest_checkpoint()).head
    began = time.perf_counter()
    report = await ledger.verify(contents=False)
    taken = time.perf_counter() - began
    if not report.ok or report.entries != leaves:
        raise AssertionError(f"the log of the benchmark does not verify: {report.problems[:3]}")
    proofs = []
    for stored in await store.scan(after=leaves // 2, limit=200):
        began = time.perf_counter()
        await prove_inclusion(store, leaf_hash=stored.leaf_hash, index=stored.index, head=head)
        proofs.append((time.perf_counter() - began) * 1000)
    await ledger.aclose()
    return taken, spread(proofs)


async def _server(folder: Path, dsn: str, *, leaves: int) -> tuple[float, float]:
    """Leaves a second of several processes on one log, and rows a second of as many that only INSERT."""
    schema = f"exhibit_bench_{clock_ms()}"
    ledger, _ = await open_bench_log(folder / "server", origin=ORIGIN, dsn=dsn, schema=schema)
    await small(ledger)  # the tenant's key is there before the writers are
    await _plain_table(dsn, schema)
    try:
        each = leaves // WRITERS
        arguments = [str(folder / "server"), dsn, schema, str(each)]
        return await _together("ledger", arguments, each), await _together("plain", arguments, each)
    finally:
        await ledger.aclose()
        await _drop(dsn, schema)


async def _together(what: str, arguments: Sequence[str], each: int) -> float:
    """Processes that begin at the same moment; what they write a second, all together."""
    processes = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "api.measure.bench.log.writer", what, f"w{n}", *arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        for n in range(WRITERS)
    ]
    for process in processes:
        if process.stdout is not None:
            await process.stdout.readline()  # it is ready
    began = time.perf_counter()
    for process in processes:
        if process.stdin is not None:
            process.stdin.close()
    codes = [await process.wait() for process in processes]
    if any(codes):
        raise AssertionError(f"writers of the benchmark ended with {codes}")
    return WRITERS * each / (time.perf_counter() - began)


async def _plain_table(dsn: str, schema: str) -> None:
    import psycopg  # noqa: PLC0415

    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        await connection.execute(f'CREATE TABLE "{schema}".plain (id bigserial PRIMARY KEY, bytes bytea)'.encode())


async def _drop(dsn: str, schema: str) -> None:
    import psycopg  # noqa: PLC0415

    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        await connection.execute(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE'.encode())
