"""The policy according to the log: which bundle was published last, and its bytes. The bundle that decides must
be that one.

The n-th publication or rollback of a log is the entry of the request `policy:n`, so that the latest is found by a few
lookups, however long the log is. A log that goes on from an older one knows its publications too.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from api.home.backends import backends_of
from api.home.configuration import Configuration
from api.home.identity.principal import DEFAULT_TENANT
from api.wiring.clock import clock_ms
from api.wiring.ledger.log import last_shard, open_log
from api.wiring.policy import bundle_folder, releases_of
from ledger.errors import EntryConflict, PartErased
from ledger.ledger import Ledger
from ledger.model import Entry, Kind
from policy.bundles.archive import folder_digest
from policy.bundles.bundle import SHIPPED, load_bundle
from policy.canonical import canonical
from policy.errors import BundleUnpublished

PUBLISHED = "policy_publication"
ROLLED_BACK = "policy_rollback"
PROPOSED = "policy_proposal"
TAKEN_UP = "policy_bundle"
_RECENT = 500  # entries of a home of version 0.1, in which its bundle must have decided


@dataclass(frozen=True, slots=True)
class Publication:
    """One change of the bundle in force, as the log has it: digests of the bundles, and of their folders."""

    before: str
    after: str
    folder_digest: str
    before_folder_digest: str


async def record_publication(ledger: Ledger, action: str, detail: dict[str, Any]) -> str:
    """Append a publication or rollback; the id of its entry. Raises BundleUnpublished where another one was recorded at
    the same time, LedgerUnavailable."""
    number = await _count(ledger) + 1
    try:
        entry = await ledger.record(
            Kind.CONFIG,
            tenant=DEFAULT_TENANT,
            request_id=_request(number),
            parts={"detail": canonical({action: detail})},
        )
    except EntryConflict as exc:
        raise BundleUnpublished("another bundle was published at the same time; look, and try again") from exc
    return str(entry.entry_id)


async def record_proposal(ledger: Ledger, detail: dict[str, Any]) -> str:
    """Append what somebody would publish next, were it accepted; the id of its entry. The next publication, whichever,
    makes it void. Raises BundleUnpublished where somebody else has proposed it, LedgerUnavailable."""
    try:
        entry = await ledger.record(
            Kind.CONFIG,
            tenant=DEFAULT_TENANT,
            request_id=await _proposal_request(ledger, detail["folder_digest"]),
            parts={"detail": canonical({PROPOSED: detail})},
        )
    except EntryConflict as exc:
        raise BundleUnpublished("this bundle is proposed already, and waits for its acceptance") from exc
    return str(entry.entry_id)


async def open_proposal(ledger: Ledger, folder_digest: str) -> tuple[str, dict[str, Any]] | None:
    """The entry and the content of the proposal to publish the bundle of that folder next; None where there is none."""
    for entry in await ledger.find(request_id=await _proposal_request(ledger, folder_digest)):
        return str(entry.leaf.entry_id), (await _detail(ledger, entry))[PROPOSED]
    return None


async def _proposal_request(ledger: Ledger, folder_digest: str) -> str:
    return f"{_request(await _count(ledger) + 1)}:{folder_digest.removeprefix('sha256:')}"


async def latest_publication(configuration: Configuration, ledger: Ledger) -> Publication | None:
    """The change that the log says was the last; None where nothing was ever published. Raises BundleUnpublished where
    its content was erased."""
    async for each in publications(configuration, ledger):
        return each
    return None


async def publications(configuration: Configuration, ledger: Ledger) -> AsyncIterator[Publication]:
    """Every change of the bundle in force, the latest first; of older logs of the home too."""
    shard = await last_shard(backends_of(configuration).ledger)
    async for each in _of_log(ledger):
        yield each
    for number in range(shard - 1, 0, -1):
        older = await open_log(configuration, shard=number)
        try:
            async for each in _of_log(older):
                yield each
        finally:
            await older.aclose()


async def require_published(configuration: Configuration, ledger: Ledger, digest: str) -> None:
    """Raise BundleUnpublished unless the bundle of that digest, which is about to decide, is what was published last,
    byte for byte, module, tests and vectors included. What the settings name was not published, and is not held to
    it."""
    backend = backends_of(configuration).policy
    if backend.folder is not None:
        return
    latest = await latest_publication(configuration, ledger)
    if latest is None:
        active = releases_of(backend).state().active
        if active is not None and not await _decided_before(ledger, active):
            raise BundleUnpublished(
                f"nobody has published {active}, which {releases_of(backend).file} names; "
                f"the shipped bundle decides after: exhibit policy rollback {load_bundle().digest}"
            )
        return
    if latest.after != digest:
        raise BundleUnpublished(
            f"the bundle that was published last is {latest.after}, not {digest}; "
            f"put it in force again: exhibit policy rollback {latest.after}"
        )
    if await asyncio.to_thread(folder_digest, bundle_folder(backend)) != latest.folder_digest:
        raise BundleUnpublished(f"the files of {digest} are not those that were published; publish it again")


async def finish_publication(configuration: Configuration, ledger: Ledger) -> bool:
    """Put in force what is on the ledger and was announced, where its publisher was cut off between the two; whether
    anything was."""
    releases = releases_of(backends_of(configuration).policy)
    state = releases.state()
    if state.announced is None:
        return False
    latest = await latest_publication(configuration, ledger)
    if latest is None or latest.after != state.announced or latest.after == state.active:
        return False
    releases.publish(latest.after, replaced=latest.before, at_ms=clock_ms())
    return True


async def was_in_force(configuration: Configuration, ledger: Ledger, digest: str) -> str | None:
    """The digest of the folder with which a bundle last decided here, "" where the log does not say; None for a bundle
    that never did."""
    async for each in publications(configuration, ledger):
        if each.after == digest:
            return each.folder_digest
        if each.before == digest:
            return each.before_folder_digest
    if digest == load_bundle().digest:
        return folder_digest(SHIPPED)
    return "" if await _decided_before(ledger, digest) else None


async def _of_log(ledger: Ledger) -> AsyncIterator[Publication]:
    for number in range(await _count(ledger), 0, -1):
        [entry] = await ledger.find(request_id=_request(number))
        [told] = (await _detail(ledger, entry)).values()
        yield Publication(
            str(told["before"]),
            str(told["after"]),
            str(told["folder_digest"]),
            str(told.get("before_folder_digest", "")),
        )


async def _detail(ledger: Ledger, entry: Entry) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(await ledger.part(entry.leaf.entry_id, "detail"))
    except PartErased as exc:
        raise BundleUnpublished("what the log says of the policy was erased; roll back to a bundle by name") from exc
    return found


async def _count(ledger: Ledger) -> int:
    """How many publications the log has: doubled until there is none of that number, then halved."""
    none = 1
    while await ledger.find(request_id=_request(none)):
        none *= 2
    some = none // 2
    while none - some > 1:
        middle = (some + none) // 2
        if await ledger.find(request_id=_request(middle)):
            some = middle
        else:
            none = middle
    return some


def _request(number: int) -> str:
    return f"policy:{number}"


async def _decided_before(ledger: Ledger, digest: str) -> bool:
    """True if the log shows that a bundle has decided here: a server of version 0.1, which recorded no publication, has
    taken it up, or one of the newest entries was decided by it."""
    after = -1
    while page := await ledger.entries(after=after, limit=_RECENT, kind=Kind.CONFIG):
        after = page[-1].index
        for entry in page:
            detail = json.loads((await ledger.contents(entry, ("detail",))).get("detail", b"{}"))
            if detail.get(TAKEN_UP, {}).get("after") == digest:
                return True
    size = (await ledger.head.stored()).size
    for entry in await ledger.entries(after=size - 1 - _RECENT, limit=_RECENT):
        stamps = (await ledger.contents(entry, ("policy.query",))).get("policy.query", b"[]")
        if any(each["stamp"]["bundle"] == digest for each in json.loads(stamps)):
            return True
    return False
