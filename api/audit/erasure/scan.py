"""The search for what was erased: in every file of the home and every row of its servers, by the keyed fingerprints
that redactions record.

What other sources say in the same words stays and is no finding: their wording is read first, and the fingerprints
that stand in it are left out. `redact` records what the search found, `doctor` and `ledger verify` repeat it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from api.audit.erasure.decoded import decoded, readings
from api.home.backends import backends_of
from api.home.configuration import Configuration
from api.home.stores import Embedded
from api.wiring import open_ledger
from api.wiring.ledger.log import last_shard
from api.wiring.parts import open_records
from api.wiring.served_rows import served_rows
from ledger.erasure.fingerprint import Fingerprinter, Wanted, unpack
from ledger.erasure.redaction import Scan, parse_detail
from ledger.errors import LedgerError
from ledger.ledger import Ledger
from ledger.model import Kind
from retrieval.errors import ChannelError, StoreUnavailable
from retrieval.model import Lifecycle

if TYPE_CHECKING:
    from retrieval.registry.sql_store import SqlRecordStore

_SEALED_STEP = 1024  # ciphertext: nothing else has even one window of it
_SETTLE_S = 10.0
_DOCUMENTS = 50
_GATHERED_BYTES = 1024 * 1024
_WORDED = ("question", "context")


def fingerprinter(ledger: Ledger) -> Fingerprinter:
    """The one of this home: its key follows from the key of pseudonyms."""
    return Fingerprinter(bytes.fromhex(ledger.pseudonym("fingerprint", "exhibit.redaction/2")))


async def prints_of_parts(ledger: Ledger, parts: Mapping[str, Collection[str]], sources: Collection[str]) -> set[bytes]:
    """The fingerprints of parts, by entry id: of salts, keys and contents as they are stored, of question and
    context in words, and of the sources in these parts that are of the documents or sources of these names."""
    made: set[bytes] = set()
    maker = fingerprinter(ledger)
    for entry_id, names in parts.items():
        sealed = [part for part in await ledger.sealed_parts(entry_id) if part.name in names]
        contents = await ledger.contents(await ledger.entry(entry_id), tuple(names))

        def work(sealed: Any = sealed, contents: Any = contents) -> None:
            for part in sealed:
                made.update(maker.of(part.salt), maker.of(part.key), maker.of(part.blob, step=_SEALED_STEP))
            for name, data in contents.items():
                for text in _words(name, data, sources):
                    made.update(maker.of(text))

        await asyncio.to_thread(work)
    return made


async def prints_of_source(configuration: Configuration, name: str, tenant: str, ledger: Ledger) -> set[bytes]:
    """The fingerprints of what the store of record holds of a source or document."""
    maker, made = fingerprinter(ledger), set[bytes]()
    async for wording in _wordings(configuration, of=(tenant, name)):
        made |= await asyncio.to_thread(_all_of, maker, wording)
    return made


async def scan_home(configuration: Configuration, maker: Fingerprinter, prints: Collection[bytes]) -> Scan:
    """Search for the text of these fingerprints; the scan names no redaction yet."""
    shared: frozenset[bytes] = frozenset()
    everything = Wanted(prints)
    async for wording in _wordings(configuration, of=None):
        shared |= await asyncio.to_thread(_found, maker, everything, wording)
    wanted = Wanted(everything.values - shared)
    look = await asyncio.to_thread(_look_at, configuration, maker, wanted)
    servers, hits, unread = await _look_at_servers(configuration, maker, wanted)
    return Scan(
        redactions=(),
        files=look.files,
        bytes=look.bytes,
        servers=servers,
        prints=len(everything.values),
        shared=len(shared),
        hits=(*look.hits, *hits),
        unread=(*look.unread, *unread),
    )


def settle(home: Path) -> None:
    """Copy the write-ahead log of every SQLite file of the home into it and empty the log: while other processes have
    the file open, nobody else would, and both would keep the bytes from before. Where one of them is in the way for too
    long, the search tells what is left."""
    for log in sorted(home.rglob("*-wal")):
        until = time.monotonic() + _SETTLE_S
        with suppress(apsw.Error, OSError), closing(_opened(log)) as db:
            while log.stat().st_size and time.monotonic() < until:
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                if log.stat().st_size:
                    time.sleep(0.05)


def _opened(log: Path) -> apsw.Connection:
    db = apsw.Connection(str(log).removesuffix("-wal"), flags=apsw.SQLITE_OPEN_READWRITE)
    db.set_busy_timeout(1000)
    db.pragma("journal_mode")  # a connection that has read nothing knows of no log
    return db


async def search_again(configuration: Configuration) -> Scan | None:
    """Search for everything that any redaction of any log of the home records; None where none records anything."""
    prints: set[bytes] = set()
    maker = None
    for shard in range(1, await last_shard(backends_of(configuration).ledger) + 1):
        async with open_ledger(configuration, shard=shard) as ledger:
            maker = fingerprinter(ledger)
            prints |= await recorded_prints(ledger)
    return await scan_home(configuration, maker, prints) if maker is not None and prints else None


async def recorded_prints(ledger: Ledger) -> set[bytes]:
    """Every fingerprint that a redaction of the log records. What does not open or is no redaction records none: what
    is wrong with it, verification names."""
    found: set[bytes] = set()
    async for entry in ledger.every(kind=Kind.REDACTION):
        with suppress(LedgerError, KeyError, ValueError):
            redaction = parse_detail((await ledger.contents(entry, ("detail",)))["detail"])
            found |= unpack(redaction.prints or b"")
    return found


@dataclass(frozen=True, slots=True)
class _Look:
    files: int
    bytes: int
    hits: tuple[tuple[str, int], ...]
    unread: tuple[str, ...]


def _look_at(configuration: Configuration, maker: Fingerprinter, wanted: Wanted) -> _Look:
    home, files, size = configuration.home, 0, 0
    hits: list[tuple[str, int]] = []
    unread: list[str] = []
    for path in sorted(path for path in home.rglob("*") if path.is_file() and not path.is_symlink()):
        where = path.relative_to(home).as_posix()
        try:
            found = _found(maker, wanted, readings(path, configuration.seal)) if wanted.values else frozenset()
            size += path.stat().st_size
            files += 1
        except FileNotFoundError:
            continue  # it went while others were read
        except OSError:
            unread.append(where)
            continue
        if found:
            hits.append((where, len(found)))
    return _Look(files, size, tuple(hits), tuple(unread))


async def _look_at_servers(
    configuration: Configuration, maker: Fingerprinter, wanted: Wanted
) -> tuple[tuple[str, ...], tuple[tuple[str, int], ...], tuple[str, ...]]:
    """The servers that were read, where something is left on them, and what could not be read."""
    servers, unread, found = list[str](), list[str](), dict[str, frozenset[bytes]]()
    for server in served_rows(backends_of(configuration)) if wanted.values else ():
        try:
            async for place, rows in _gathered(server.read()):
                where = f"{server.name}: {place}"
                if rows is None:
                    unread.append(where)
                    continue
                hits = await asyncio.to_thread(_found, maker, wanted, decoded(rows))
                found[where] = found.get(where, frozenset()) | hits
            servers.append(server.name)
        except (ChannelError, StoreUnavailable):
            unread.append(server.name)
    left = tuple((where, len(hits)) for where, hits in found.items() if hits)
    return tuple(servers), left, tuple(unread)


async def _gathered(rows: AsyncIterator[tuple[str, bytes | None]]) -> AsyncIterator[tuple[str, bytes | None]]:
    """Rows of one place together, up to a size: each look into bytes has a cost of its own."""
    at, held = "", bytearray()
    async for where, row in rows:
        if held and (where != at or row is None or len(held) > _GATHERED_BYTES):
            yield at, bytes(held)
            held.clear()
        at = where
        if row is None:
            yield where, None
        else:
            held += row + b"\n"
    if held:
        yield at, bytes(held)


def _found(maker: Fingerprinter, wanted: Wanted, pieces: Iterable[bytes]) -> frozenset[bytes]:
    found: set[bytes] = set()
    for piece in pieces:
        found |= maker.found(piece, wanted)
    return frozenset(found)


def _all_of(maker: Fingerprinter, wording: Iterable[bytes]) -> frozenset[bytes]:
    return frozenset(each for text in wording for each in maker.of(text))


async def _wordings(configuration: Configuration, *, of: tuple[str, str] | None) -> AsyncIterator[list[bytes]]:
    """The words that the store of record holds: of the source or document that is named with its tenant, or of all that
    are not erased. With what stands under escapes in it."""
    chosen = backends_of(configuration).records
    if isinstance(chosen, Embedded) and not chosen.path.exists():
        return
    async with AsyncExitStack() as stack:
        store = open_records(chosen, stack)
        ids = [each async for each in _documents(store, of)]
        for start in range(0, len(ids), _DOCUMENTS):
            held = await store.wording(ids[start : start + _DOCUMENTS])
            yield [reading for text in held for reading in decoded(text)]


async def _documents(store: SqlRecordStore, of: tuple[str, str] | None) -> AsyncIterator[str]:
    for tenant in await store.tenants() if of is None else (of[0],):
        for lifecycle in Lifecycle:
            if of is not None or lifecycle is not Lifecycle.ERASED:
                for each in await store.stored(tenant, lifecycle):
                    if of is None or of[1] in (each.document_id, each.source_id):
                        yield each.document_id


def _words(name: str, data: bytes, sources: Collection[str]) -> Iterator[bytes]:
    """The texts of a part that nothing but its subject or source brings: values in words, not names of fields, ids or
    digests."""
    if name == "question":
        yield data
    elif name in _WORDED:
        yield from _strings(_parsed(data))
    elif name.startswith("sources/") and sources:
        body = _parsed(data)
        held = body.get("document_id", "") if isinstance(body, dict) else ""
        if {held, held.rpartition("@")[0]} & set(sources):
            yield from _strings(body)


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data) if data else None
    except ValueError:
        return None


def _strings(value: Any) -> Iterator[bytes]:
    if isinstance(value, str):
        if " " in value:
            yield value.encode("utf-8", "replace")
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
