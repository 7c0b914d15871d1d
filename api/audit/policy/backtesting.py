"""Runs a backtest over the ledger of a home: entries are read here, and judged in processes of their own where there
are many, since judging is what takes the time."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from collections import deque
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ai.backtest.difference import UNKNOWN, Difference
from ai.backtest.judge import Judge, JudgedRequest, Source
from ai.backtest.record import PARTS
from ai.backtest.report import SKIPPED, Backtest, summed_up
from ai.case.case import Services
from ai.model import Outcome
from ai.replay.asked_again import NOT_KNOWN, ask_again
from api.home.backends import backends_of
from api.home.configuration import Configuration
from api.wiring import OpenPolicy, bundle_folder, open_bundle, open_embedded, open_ledger, open_system, releases_of
from ledger.errors import EntryNotFound, PartErased
from ledger.ledger import Ledger
from ledger.model import Entry, Kind
from policy.bundles.archive import BundleArchive
from policy.bundles.bundle import SHIPPED, Bundle, load_bundle
from policy.errors import BundleNotFound
from retrieval.errors import IndexNotReady

_PAGE = 1_000
_CHUNK = 200
_IN_PROCESS = 400
"""Up to so many requests a process of their own would cost more than it saves."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where bundles are found by digest: the archive of the home, else the bundle in force, else the shipped one."""

    archive: Path
    folders: tuple[Path, ...]

    @classmethod
    def of(cls, configuration: Configuration) -> Shelf:
        """The shelf of a home."""
        policy = backends_of(configuration).policy
        return cls(releases_of(policy).archive.folder, (bundle_folder(policy), SHIPPED))

    def load(self, digest: str) -> Bundle:
        """The bundle of that digest. Raises BundleNotFound, BundleRejected."""
        try:
            return BundleArchive(self.archive).load(digest)
        except BundleNotFound:
            for folder in self.folders:
                if (bundle := load_bundle(folder)).digest == digest:
                    return bundle
            raise


async def run_backtest(configuration: Configuration, candidate: Bundle, *, since_ms: int, limit: int) -> Backtest:
    """The newest `limit` requests that were recorded at `since_ms` or later, put to `candidate`."""
    shelf = Shelf.of(configuration)
    async with open_ledger(configuration) as ledger:
        entries = await _newest(ledger, since_ms, limit)
        chunks = _chunks(ledger, entries)
        if len(entries) <= _IN_PROCESS:
            judged = await _judge_here(chunks, candidate, shelf)
        else:
            judged = await _judge_beside(chunks, candidate, shelf)
    if not any(one.unreproduced for one in judged):
        judged = await _asked_again(judged, configuration, candidate)
    return summed_up(judged, rules=(rule.id for rule in candidate.rules))


async def _asked_again(
    judged: Sequence[JudgedRequest], configuration: Configuration, candidate: Bundle
) -> list[JudgedRequest]:
    """Every question of which the decisions alone do not tell what becomes of it, asked again under the candidate:
    where anything changes or is unknown, and every one where tags have other duties, since these also decide what is
    searched at all."""
    active = await asyncio.to_thread(open_bundle, backends_of(configuration).policy)
    tags = active.data.handling != candidate.data.handling
    if not any(_open_question(one, tags=tags) for one in judged):
        return [*judged]
    try:
        async with open_system(configuration) as system:
            policy = OpenPolicy(candidate, await open_embedded(candidate), None)
            try:
                services = system.with_policy(policy).services
                return [await _foretold(one, services) if _open_question(one, tags=tags) else one for one in judged]
            finally:
                await policy.aclose()
    except IndexNotReady:
        return [_unforetold(one, "CORPUS_OTHER") if _open_question(one, tags=tags) else one for one in judged]


def _open_question(one: JudgedRequest, *, tags: bool) -> bool:
    """True for a question, not a search, whose outcome the decisions alone do not tell."""
    found = one.difference
    return found is not None and bool(found.outcome) and (tags or found.changes or bool(found.unknown))


async def _foretold(one: JudgedRequest, services: Services) -> JudgedRequest:
    if one.difference is None or one.asker is None:
        raise AssertionError("only what was judged is asked again")
    found = await ask_again(one.entry_id, subject=one.asker, services=services)
    if found.unknown:
        return _unforetold(one, found.unknown)
    told = replace(
        one.difference,
        becomes="" if found.outcome == one.difference.outcome else found.outcome,
        answers=found.text if found.changed else None,
        unknown=(),
    )
    return replace(one, difference=told)


def _unforetold(one: JudgedRequest, code: str) -> JudgedRequest:
    """The request with its outcome unknown; a denial at the query point is known all the same."""
    if one.difference is None or one.difference.becomes == Outcome.DENY:
        return one
    return replace(one, difference=replace(one.difference, becomes="", unknown=(*one.difference.unknown, code)))


def backtest_document(found: Backtest, digest: str) -> dict[str, Any]:
    """The report as JSON values."""
    flips = [(flip, each) for each in found.differences for flip in each.flips]
    return {
        "policy": digest,
        "requests": found.requests,
        "decisions_reproduced": found.reproduced,
        "refused": found.refused,
        "unreproduced": [asdict(each) for each in found.unreproduced],
        "deny_to_allow": [_flip(each, flip.point, flip.codes) for flip, each in flips if flip.to_allow],
        "allow_to_deny": [_flip(each, flip.point, flip.codes) for flip, each in flips if not flip.to_allow],
        "differences": [asdict(each) for each in found.differences],
        "rules_never_hit": list(found.silent_rules),
        "not_replayable": {
            code: {"why": {**SKIPPED, **UNKNOWN, **NOT_KNOWN}[code], "entries": list(entries)}
            for code, entries in {**found.skipped, **found.unknown}.items()
        },
    }


def _flip(each: Difference, point: str, codes: tuple[str, ...]) -> dict[str, Any]:
    return {"entry_id": each.entry_id, "point": point, "codes": list(codes)}


async def _newest(ledger: Ledger, since_ms: int, limit: int) -> Sequence[Entry]:
    """The newest entries of the kinds that policy decided over, by index."""
    found: list[Entry] = []
    for kind in (Kind.OUTCOME, Kind.RETRIEVAL):
        newest: deque[Entry] = deque(maxlen=limit)
        after = -1
        while page := await ledger.entries(after=after, limit=_PAGE, kind=kind):
            newest.extend(entry for entry in page if entry.leaf.t_ms >= since_ms)
            after = page[-1].index
        found.extend(newest)
    return sorted(found, key=lambda entry: entry.index)[-limit:]


async def _chunks(ledger: Ledger, entries: Sequence[Entry]) -> AsyncIterator[list[Source]]:
    for start in range(0, len(entries), _CHUNK):
        yield [await _source(ledger, entry) for entry in entries[start : start + _CHUNK]]


async def _source(ledger: Ledger, entry: Entry) -> Source:
    """The parts that policy had to do with, the intent's among them."""
    leaf = entry.leaf
    try:
        parts = await ledger.parts(leaf.entry_id, [name for name in PARTS if name in leaf.parts])
        if "policy.query" not in parts:
            intents = [ref.id for ref in leaf.refs if ref.rel == "intent"]
            parts |= await ledger.parts(intents[0], ("policy.query",)) if intents else {}
    except PartErased:
        return Source(leaf.entry_id, leaf.t_ms, {}, "ERASED")
    except EntryNotFound:
        return Source(leaf.entry_id, leaf.t_ms, {}, "UNREADABLE")
    if not parts.get("policy.query") or b'"outcome":"FAULT"' in parts.get("answer", b""):
        return Source(leaf.entry_id, leaf.t_ms, {}, "FAULT")
    return Source(leaf.entry_id, leaf.t_ms, parts)


async def _judge_here(chunks: AsyncIterator[list[Source]], candidate: Bundle, shelf: Shelf) -> list[JudgedRequest]:
    judge = Judge(candidate=candidate, load=shelf.load, open_engine=open_embedded)
    try:
        return [await judge.judge(source) async for chunk in chunks for source in chunk]
    finally:
        await judge.aclose()


async def _judge_beside(chunks: AsyncIterator[list[Source]], candidate: Bundle, shelf: Shelf) -> list[JudgedRequest]:
    """Chunks judged by as many processes as there are cores, in order; few are read ahead."""
    loop, workers = asyncio.get_running_loop(), os.cpu_count() or 1
    pending: deque[asyncio.Future[list[JudgedRequest]]] = deque()
    judged: list[JudgedRequest] = []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, initializer=_prepare, initargs=(candidate, shelf)) as pool:
        async for chunk in chunks:
            pending.append(loop.run_in_executor(pool, _judge_chunk, chunk))
            while len(pending) > 2 * workers:
                judged += await pending.popleft()
        for each in pending:
            judged += await each
    return judged


class _Worker:
    """State that one process keeps between chunks."""

    judge: Judge | None = None


def _prepare(candidate: Bundle, shelf: Shelf) -> None:
    _Worker.judge = Judge(candidate=candidate, load=shelf.load, open_engine=open_embedded)


def _judge_chunk(chunk: Sequence[Source]) -> list[JudgedRequest]:
    judge = _Worker.judge
    if judge is None:
        raise AssertionError("the process was not prepared")

    async def run() -> list[JudgedRequest]:
        return [await judge.judge(source) for source in chunk]

    return asyncio.run(run())
