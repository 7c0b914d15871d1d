"""The life of a tenant: made, suspended, resumed, given a quota, exported, erased; each change is on the ledger."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from api.audit.erasure.erasing import carry_out_all
from api.audit.erasure.erasure import KEPT_KINDS, ErasureReport, Order
from api.audit.life.keys import revoke_key
from api.errors import HomeInUse, NoSuchThing
from api.home.backends import backends_of
from api.home.configuration import Configuration
from api.home.identity.principal import LOCAL_ID
from api.home.identity.tenants import Tenant
from api.home.stores import Embedded
from api.wiring import key_store, new_id, open_ledger, tenant_store
from api.wiring.ledger.log import log_to_write
from api.wiring.parts import open_records
from ledger.canonical import canonical_json
from ledger.erasure.redaction import Target
from ledger.ledger import Ledger
from ledger.model import Kind
from retrieval.model import Lifecycle
from retrieval.registry.sql_store import SqlRecordStore

Action = Literal["create", "suspend", "resume", "quota", "export", "erase"]
VERSION = "exhibit.tenant/1"


async def create_tenant(configuration: Configuration, name: str, quota: str | None) -> str:
    """Record a new tenant, then keep it; gives the entry. Raises RequestRejected, LedgerUnavailable."""
    tenant = tenant_store(configuration).draw(name, quota=quota)
    return await _recorded(configuration, "create", tenant, "")


async def suspend_tenant(configuration: Configuration, name: str, why: str) -> str:
    """Refuse the tenant's callers from now on, then record it: a log that cannot be written lets nobody in. Given
    again, it records it. Raises NoSuchThing, LedgerUnavailable."""
    store = tenant_store(configuration)
    store.keep(tenant := store.changed(name, state="suspended"))
    return await _recorded(configuration, "suspend", tenant, why)


async def resume_tenant(configuration: Configuration, name: str, why: str) -> str:
    """Record that the tenant's callers are answered again, then answer them. Raises as `suspend_tenant`."""
    tenant = tenant_store(configuration).changed(name, state="active")
    return await _recorded(configuration, "resume", tenant, why)


async def set_quota(configuration: Configuration, name: str, quota: str | None) -> str:
    """Record how many requests the tenant may make, then hold it to that; None is the setting's limit. Raises
    NoSuchThing, RequestRejected, LedgerUnavailable."""
    tenant = tenant_store(configuration).changed(name, quota=quota)
    return await _recorded(configuration, "quota", tenant, "")


async def tenants_of(configuration: Configuration) -> list[dict[str, Any]]:
    """Every tenant that was set, has a key or has a document: state, quota, how many usable keys and documents."""
    held: dict[str, int] = {}
    async for store in _records(configuration):
        for name in await store.tenants():
            held[name] = len(await store.stored(name))
    keys = key_store(configuration).usable()
    known = {each.name: each for each in tenant_store(configuration).all()}
    return [
        {
            "name": name,
            "state": known[name].state if name in known else "active",
            "set": name in known,
            "quota": known[name].quota if name in known else None,
            "keys": sum(key.tenant == name for key in keys),
            "documents": held.get(name, 0),
        }
        for name in sorted({*held, *known, *(key.tenant for key in keys)})
    ]


async def export_tenant(configuration: Configuration, name: str, folder: Path) -> dict[str, int]:
    """Write everything that the home holds of a tenant below `folder`, which must not exist, for its owner alone:
    `tenant.json` (its row, its keys without tokens), `documents.jsonl` (facts and wording of every version),
    `entries.jsonl` (leaf and parts of every entry of the log that is written now). Gives how many of each. Raises
    NoSuchThing, HomeInUse, LedgerUnavailable: a part that was erased is not there."""
    await _require(configuration, name)
    await asyncio.to_thread(_make, folder)
    held = tenant_store(configuration).find(name)
    keys = [asdict(key) for key in key_store(configuration).all() if key.tenant == name]
    documents = await _written(folder / "documents.jsonl", _documents(configuration, name))
    entries = 0
    if backends_of(configuration).ledger.exists:
        async with open_ledger(configuration) as ledger:
            entries = await _written(folder / "entries.jsonl", _entries(ledger, name))
    told = {"tenant": held and asdict(held), "name": name, "keys": keys}
    (folder / "tenant.json").write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", "utf-8")
    await _recorded(configuration, "export", held or Tenant(name, "active", None, 0, 0), "", keep=False)
    return {"documents": documents, "entries": entries, "keys": len(keys)}


async def erase_tenant(configuration: Configuration, name: str, basis: str) -> ErasureReport | None:
    """Suspend the tenant, revoke its keys, erase its sources and every entry that it made, search all files for what
    went (ADR 0069), and forget it; None where there was nothing to erase but the tenant itself. Raises NoSuchThing;
    as `carry_out`: then it stays suspended, and the order is given again."""
    await _require(configuration, name)
    store = tenant_store(configuration)
    held = store.find(name) or store.draw(name)
    store.keep(held)
    await suspend_tenant(configuration, name, basis)
    for key in key_store(configuration).usable():
        if key.tenant == name:
            await revoke_key(configuration, key.key_id)
    sources = sorted({each["source_id"] async for each in _documents(configuration, name, wording=False)})
    orders = [Order(Target.SOURCE, each, name, basis) for each in sources]
    async with open_ledger(configuration) as ledger:
        async for entry in ledger.every(tenant=name):
            if entry.leaf.kind not in KEPT_KINDS:
                orders.append(Order(Target.ENTRY, entry.leaf.entry_id, name, basis))
    report = await carry_out_all(configuration, orders) if orders else None
    await _recorded(configuration, "erase", store.changed(name), basis, keep=False)
    store.forget(name)
    return report


async def _require(configuration: Configuration, name: str) -> None:
    if all(each["name"] != name for each in await tenants_of(configuration)):
        raise NoSuchThing(f"there is no tenant {name}")


async def _recorded(
    configuration: Configuration, action: Action, tenant: Tenant, why: str, *, keep: bool = True
) -> str:
    """Append the change, then keep the tenant as it is now."""
    detail = {
        "tenant": {
            "v": VERSION,
            "action": action,
            "state": tenant.state,
            "quota": tenant.quota,
            "by": LOCAL_ID,
            "why": why,
        }
    }
    async with log_to_write(configuration) as ledger:
        entry = await ledger.record(
            Kind.CONFIG, tenant=tenant.name, request_id=new_id(), parts={"detail": canonical_json(detail)}
        )
    if keep:
        tenant_store(configuration).keep(tenant)
    return str(entry.entry_id)


async def _records(configuration: Configuration) -> AsyncIterator[SqlRecordStore]:
    """The store of record, where there is one."""
    chosen = backends_of(configuration).records
    if isinstance(chosen, Embedded) and not chosen.path.exists():
        return
    async with AsyncExitStack() as stack:
        yield open_records(chosen, stack)


async def _documents(configuration: Configuration, name: str, *, wording: bool = True) -> AsyncIterator[dict[str, Any]]:
    async for store in _records(configuration):
        for lifecycle in (each for each in Lifecycle if each is not Lifecycle.ERASED):
            for each in await store.stored(name, lifecycle):
                told: dict[str, Any] = {**asdict(each), "lifecycle": str(each.lifecycle)}
                if wording:
                    told["wording"] = [
                        text.decode("utf-8", "replace") for text in await store.wording([each.document_id])
                    ]
                yield told


async def _entries(ledger: Ledger, name: str) -> AsyncIterator[dict[str, Any]]:
    async for entry in ledger.every(tenant=name):
        parts = await ledger.contents(entry)
        yield {
            "entry_id": entry.leaf.entry_id,
            "index": entry.index,
            "kind": str(entry.leaf.kind),
            "t_ms": entry.leaf.t_ms,
            "parts": {part: data.decode("utf-8", "replace") for part, data in parts.items()},
        }


def _make(folder: Path) -> None:
    """The folder, for its owner alone."""
    try:
        folder.mkdir(mode=0o700, parents=True)
    except FileExistsError as exc:
        raise HomeInUse(f"{folder} already exists") from exc


async def _written(path: Path, rows: AsyncIterator[dict[str, Any]]) -> int:
    count = 0
    with await asyncio.to_thread(path.open, "x", encoding="utf-8") as file:
        async for row in rows:
            line = json.dumps(row, ensure_ascii=False) + "\n"
            await asyncio.to_thread(file.write, line)
            count += 1
    return count
