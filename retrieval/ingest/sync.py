"""A folder compared with what was ingested from it: what would be added, changed and withdrawn."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from retrieval.errors import LoadError, ManifestError
from retrieval.ingest.digest_cache import FileStatus, KnownDigests
from retrieval.ingest.formats.load import read_bytes
from retrieval.ingest.identity import places_of
from retrieval.ingest.sources import sources_of
from retrieval.registry.store import StoredFile


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """Files by their place, in order. `withdrawn` are the ids of sources whose files are gone. A file that was moved
    keeps its source, so it is among the changed ones."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    withdrawn: tuple[str, ...]


async def sync_plan(root: Path, held: Sequence[StoredFile], known: KnownDigests) -> SyncPlan:
    """The plan for a folder, given what the tenant holds; files whose digest is known are not read. Raises
    ManifestError for what is not a folder: a path that is missing by mistake must not withdraw everything below it."""
    if not await asyncio.to_thread(root.is_dir):
        raise ManifestError(f"{root.name}: not a folder that can be synchronised")
    return await asyncio.to_thread(_planned, root, held, known)


def _planned(root: Path, held: Sequence[StoredFile], digests: KnownDigests) -> SyncPlan:
    sources, _ = sources_of([root], None)
    places = dict(zip(places_of(sources), sources, strict=True))
    sums = {
        place: digests.sha256_of(place, FileStatus.of(source.path, follow=source.declared)) or _sha256(source.path)
        for place, source in places.items()
    }
    known = {each.path: each for each in held}
    inside = [each for each in held if each.path and Path(each.path).is_relative_to(root.resolve())]
    gone = [each for each in inside if each.path not in places]
    moved = {each.sha256 for each in gone} & {sums[place] for place in places if place not in known}
    added = [place for place in places if place not in known and sums[place] not in moved]
    unchanged = [place for place in places if place in known and known[place].sha256 == sums[place]]
    return SyncPlan(
        tuple(added),
        tuple(place for place in places if place not in added and place not in unchanged),
        tuple(unchanged),
        tuple(sorted(each.document.source_id for each in gone if each.sha256 not in moved)),
    )


def _sha256(path: Path) -> str:
    """The digest of a file; empty where it cannot be read, which the run will say."""
    try:
        return "sha256:" + hashlib.sha256(read_bytes(path)).hexdigest()
    except LoadError:
        return ""
