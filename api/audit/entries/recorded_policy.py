"""The policy that decided an entry, opened again from the archive, so that a replay is not judged by a bundle that came
later.

What an OPA server decided is decided again by the module of the same bundle: every decision must come out byte for
byte, and the server need not be there. Who decided is told by the record and not by the replay, so the engine's name in
a stamp is that of the record where the input is the very one of the record.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from ai.case.case import Services
from api.wiring import OpenPolicy, System, open_embedded, releases_of
from ledger.errors import EntryNotFound, PartErased
from policy.bundles.bundle import Bundle
from policy.canonical import digest
from policy.engine import PolicyEngine, Reply, WrappedEngine
from policy.errors import BundleNotFound, BundleRejected

_QUERY = "policy.query"
_PARTS = (_QUERY, "policy.evidence", "policy.answer")


class RecordedPolicies:
    """The system's services, each time with the bundle that decided the entry; opened bundles are kept."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._opened: dict[str, OpenPolicy] = {}

    async def services_of(self, entry_id: str) -> Services:
        """The services to replay the entry with. Where its bundle is not archived, or its decision was erased, today's:
        the replay then says where it differs."""
        stamps = await self._stamps(entry_id)
        if not stamps:
            return self._system.services
        bundle, today = str(stamps[0]["bundle"]), self._system.policy
        engines = {str(each["input"]): str(each["engine"]) for each in stamps}
        if bundle == today.bundle.digest and set(engines.values()) == {today.engine.name}:
            return self._system.services
        try:
            policy = await self._open(bundle)
        except (BundleNotFound, BundleRejected):
            return self._system.services
        decided = replace(policy, engine=_PriorDecisions(policy.engine, engines))
        return self._system.with_policy(decided).services

    async def _open(self, digest: str) -> OpenPolicy:
        if digest not in self._opened:
            bundle = await asyncio.to_thread(self._load, digest)
            self._opened[digest] = OpenPolicy(bundle, await open_embedded(bundle), None)
        return self._opened[digest]

    def _load(self, digest: str) -> Bundle:
        today = self._system.policy.bundle
        return today if digest == today.digest else releases_of(self._system.chosen.policy).archive.load(digest)

    async def aclose(self) -> None:
        """Close what was opened."""
        for policy in self._opened.values():
            await policy.aclose()

    async def _stamps(self, entry_id: str) -> list[dict[str, Any]]:
        """The stamps of the entry's decisions, that of the query point first; it stands with the entry or with its
        intent. None where that one cannot be read."""
        ledger = self._system.services.ledger
        stamps: list[dict[str, Any]] = []
        try:
            entry = await ledger.entry(entry_id)
            intents = [ref.id for ref in entry.leaf.refs if ref.rel == "intent"]
            holder = await ledger.entry(intents[0]) if intents else entry
            for name in _PARTS:
                place = holder if name == _QUERY else entry
                if name in place.leaf.parts:
                    recorded = json.loads(await ledger.part(place.leaf.entry_id, name) or b"[]")
                    stamps += [each["stamp"] for each in recorded]
                elif name == _QUERY:
                    return []
        except EntryNotFound:
            return []
        except PartErased:
            return stamps
        return stamps


class _PriorDecisions(WrappedEngine):
    """Decides anew, and names who decided before where the input, by its digest, is one of before."""

    def __init__(self, engine: PolicyEngine, engines: Mapping[str, str]) -> None:
        super().__init__(engine)
        self._engines = engines

    async def evaluate(self, entrypoint: str, input: bytes, *, deadline_s: float) -> Reply:
        """See PolicyEngine."""
        reply = await super().evaluate(entrypoint, input, deadline_s=deadline_s)
        return replace(reply, engine=self._engines.get(digest(input), reply.engine))


@asynccontextmanager
async def recorded_policies(system: System) -> AsyncIterator[RecordedPolicies]:
    """The recorded policies of the system's home, closed at the end."""
    made = RecordedPolicies(system)
    try:
        yield made
    finally:
        await made.aclose()
