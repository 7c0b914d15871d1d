"""Changes of API keys, each on the ledger: which key, who, when, from what to what. Never a token, and no name: keys
are named after people, and what is on the log outlives them; `exhibit key list` says whose key an id is."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any, Literal

from api.home.backends import backends_of
from api.home.configuration import Configuration
from api.home.identity.keys import ApiKey
from api.home.identity.principal import LOCAL_ID
from api.wiring import key_store, new_id, open_ledger
from api.wiring.ledger.log import log_to_write
from ledger.canonical import canonical_json
from ledger.ledger import Ledger
from ledger.model import Kind

Action = Literal["create", "rotate", "revoke"]
VERSION = "exhibit.api-key/1"


async def create_key(configuration: Configuration, drawn: tuple[ApiKey, str]) -> str:
    """Record a key that was drawn, then keep it; gives the entry. Raises LedgerUnavailable, HomeUnusable: then nobody
    can use it."""
    key, token = drawn
    async with log_to_write(configuration) as ledger:
        entry_id = await _record(ledger, "create", key)
    key_store(configuration).add(key, token)
    return entry_id


async def rotate_key(configuration: Configuration, key_id: str, drawn: tuple[ApiKey, str], *, overlap_ms: int) -> str:
    """Record that a drawn key takes the place of another, then keep it and let the other expire; gives the entry.
    Raises as `create_key`."""
    key, token = drawn
    keys = key_store(configuration)
    async with log_to_write(configuration) as ledger:
        entry_id = await _record(ledger, "rotate", key, replaces=key_id, overlap_ms=overlap_ms)
    keys.add(key, token)
    keys.expire(key_id, overlap_ms=overlap_ms)
    return entry_id


async def revoke_key(configuration: Configuration, key_id: str) -> tuple[ApiKey, str]:
    """Refuse a key from now on, then record it: a log that cannot be written keeps no stolen key alive, and the command
    given again records it. Raises NoSuchThing, LedgerUnavailable."""
    key = key_store(configuration).revoke(key_id)
    async with log_to_write(configuration) as ledger:
        return key, await _record(ledger, "revoke", key)


async def key_history(configuration: Configuration, key_id: str | None = None) -> list[dict[str, Any]]:
    """The changes that the ledger records, oldest first; of one key, or of all."""
    if not backends_of(configuration).ledger.exists:
        return []
    async with open_ledger(configuration) as ledger:
        return [each async for each in _changes(ledger) if key_id in {None, each["key_id"], each["replaces"]}]


async def _record(
    ledger: Ledger, action: Action, key: ApiKey, *, replaces: str | None = None, overlap_ms: int | None = None
) -> str:
    detail = {
        "v": VERSION,
        "action": action,
        "key_id": key.key_id,
        "roles": list(key.roles),
        "groups": list(key.groups),
        "capabilities": list(key.capabilities),
        "expires_ms": key.expires_ms,
        "replaces": replaces,
        "overlap_ms": overlap_ms,
        "who": LOCAL_ID,
    }
    recorded = await ledger.record(
        Kind.CONFIG, tenant=key.tenant, request_id=new_id(), parts={"detail": canonical_json(detail)}
    )
    return recorded.entry_id


async def _changes(ledger: Ledger) -> AsyncIterator[dict[str, Any]]:
    async for entry in ledger.every(kind=Kind.CONFIG):
        data = (await ledger.contents(entry, ("detail",))).get("detail")
        detail = json.loads(data) if data else {}
        if detail.get("v") == VERSION:
            yield {"entry_id": entry.leaf.entry_id, "t_ms": entry.leaf.t_ms, **detail}
