"""The policy that decided an entry, opened again from the archive, so that a replay is not judged by a bundle that came
later."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ai.case import Services
from api.wiring import OpenPolicy, System, open_embedded, releases_of
from ledger.errors import EntryNotFound, PartErased
from policy.errors import BundleNotFound, BundleRejected

_QUERY = "policy.query"


class RecordedPolicies:
    """The system's services, each time with the bundle that decided the entry; opened bundles are kept."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._opened: dict[str, OpenPolicy] = {}

    async def services_of(self, entry_id: str) -> Services:
        """The services to replay the entry with. Where its bundle is not archived, or its decision was erased, today's:
        the replay then says where it differs."""
        digest = await self._digest(entry_id)
        if digest is None or digest == self._system.policy.bundle.digest:
            return self._system.services
        if digest not in self._opened:
            archive = releases_of(self._system.chosen.policy).archive
            try:
                bundle = await asyncio.to_thread(archive.load, digest)
            except (BundleNotFound, BundleRejected):
                return self._system.services
            self._opened[digest] = OpenPolicy(bundle, await open_embedded(bundle), None)
        return self._system.with_policy(self._opened[digest]).services

    async def aclose(self) -> None:
        """Close what was opened."""
        for policy in self._opened.values():
            await policy.aclose()

    async def _digest(self, entry_id: str) -> str | None:
        """The bundle of the entry's query decision, which stands with the entry or with its intent."""
        ledger = self._system.services.ledger
        try:
            entry = await ledger.entry(entry_id)
            intents = [ref.id for ref in entry.leaf.refs if ref.rel == "intent"]
            holder = await ledger.entry(intents[0]) if intents else entry
            if _QUERY not in holder.leaf.parts:
                return None
            recorded = json.loads(await ledger.part(holder.leaf.entry_id, _QUERY) or b"[]")
        except (EntryNotFound, PartErased):
            return None
        return str(recorded[0]["stamp"]["bundle"]) if recorded else None


@asynccontextmanager
async def recorded_policies(system: System) -> AsyncIterator[RecordedPolicies]:
    """The recorded policies of the system's home, closed at the end."""
    made = RecordedPolicies(system)
    try:
        yield made
    finally:
        await made.aclose()
