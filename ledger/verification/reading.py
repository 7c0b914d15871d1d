"""Reading parts back: sealed content of one entry opened and checked against the leaf."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass

from ledger.entry.leaf import parse_leaf
from ledger.entry.parts import OpenedPart, open_part, parse_source_commitments, source_name, source_number
from ledger.errors import EntryNotFound, KeyUnusable, MalformedLeaf, PartErased, VerificationFailed
from ledger.keys import KeyRing
from ledger.merkle.tree import hash_leaf
from ledger.model import SOURCES, DamagedEntry, Entry, Leaf
from ledger.stores.store import LedgerStore, StoredLeaf


@dataclass(frozen=True, slots=True)
class PartReader:
    """Opens parts of the entries of one log."""

    store: LedgerStore
    keys: KeyRing

    async def open(self, entry: Entry, names: Collection[str]) -> dict[str, OpenedPart]:
        """The named parts; a source brings the array of their commitments with it. Raises EntryNotFound for a name that
        the entry does not have, PartErased, VerificationFailed."""
        if not names:
            return {}
        leaf = entry.leaf
        numbered = any(source_number(name) is not None for name in names)
        wanted = sorted({*names, SOURCES}) if numbered else sorted(names)
        tenant_key = await tenant_key_of(leaf, store=self.store, keys=self.keys)
        sealed = {part.name: part for part in await self.store.parts(leaf.entry_id, wanted)}

        def work() -> dict[str, OpenedPart]:
            committed = dict(leaf.parts)
            opened = {}
            for name in sorted(wanted, key=lambda name: (source_number(name) or 0, name)):
                if name not in committed:
                    raise EntryNotFound(f"entry {leaf.entry_id} has no part {name}")
                if name not in sealed:
                    raise PartErased(f"part {name} of entry {leaf.entry_id} was erased")
                opened[name] = open_part(
                    sealed[name], entry_id=leaf.entry_id, tenant_key=tenant_key, committed=committed[name]
                )
                if name == SOURCES and numbered:
                    each = parse_source_commitments(opened[name].data)
                    committed |= {source_name(number): item for number, item in enumerate(each, start=1)}
            return opened

        return await asyncio.to_thread(work)

    async def contents(self, entry: Entry, names: Collection[str] | None) -> dict[str, bytes]:
        """The named parts that are not erased; all parts and sources if None. Raises VerificationFailed."""
        wanted = None if names is None else sorted({*names, SOURCES} & {*names, *entry.leaf.parts})
        stored = {part.name for part in await self.store.parts(entry.leaf.entry_id, wanted)}
        if SOURCES not in stored:
            stored = {name for name in stored if source_number(name) is None}
        opened = await self.open(entry, stored)
        return {name: part.data for name, part in opened.items() if names is None or name in names}

    async def sources(self, entry: Entry) -> tuple[bytes, ...]:
        """Every source in order. Raises as `open` does."""
        if SOURCES not in entry.leaf.parts:
            return ()
        count = len(parse_source_commitments((await self.open(entry, (SOURCES,)))[SOURCES].data))
        names = [source_name(number) for number in range(1, count + 1)]
        opened = await self.open(entry, names)
        return tuple(opened[name].data for name in names)


async def tenant_key_of(leaf: Leaf, *, store: LedgerStore, keys: KeyRing) -> bytes:
    """The key of an entry's tenant. One that another replica made after this one's keys were copied is made here too,
    once it has opened a part of the entry; a lost key is never replaced. Raises KeyUnusable."""
    try:
        return await keys.tenant_key(leaf.tenant, create=False)
    except KeyUnusable:
        likely = keys.likely_key(leaf.tenant)
        for part in await store.parts(leaf.entry_id):
            if part.name in leaf.parts:
                with suppress(VerificationFailed):
                    open_part(part, entry_id=leaf.entry_id, tenant_key=likely, committed=leaf.parts[part.name])
                    return await keys.tenant_key(leaf.tenant, create=True)
        raise


def listed_entry(stored: StoredLeaf) -> Entry | DamagedEntry:
    """The entry, or what the store still tells of one that was changed."""
    try:
        return entry_of(stored)
    except (VerificationFailed, MalformedLeaf) as exc:
        return DamagedEntry(stored.index, stored.entry_id, str(exc))


def entry_of(stored: StoredLeaf) -> Entry:
    """The entry, its hash taken from its bytes. Raises VerificationFailed if that or its id is not the stored one,
    MalformedLeaf for bytes that are no leaf."""
    leaf_hash = hash_leaf(stored.leaf_bytes)
    if leaf_hash != stored.leaf_hash:
        raise VerificationFailed("leaf-hash", f"the bytes of leaf {stored.index} do not have the stored hash")
    leaf = parse_leaf(stored.leaf_bytes)
    if leaf.entry_id != stored.entry_id:
        raise VerificationFailed("leaf", f"leaf {stored.index} is that of another entry")
    return Entry(stored.index, leaf, stored.leaf_bytes, leaf_hash.hex())
