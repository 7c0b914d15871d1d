"""The life of a source after it was taken in: another label, withdrawal, restoration, and being superseded.

Every change is one transaction of the store, from which on no reader sees what it took away; the channels follow.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from retrieval.errors import ManifestError, SourceConflict
from retrieval.index import ChannelIndex
from retrieval.ingest.label import AccessTerms
from retrieval.ingest.upkeep.upkeep import IngestStore, Upkeep
from retrieval.model import Lifecycle, SourceFacts
from retrieval.scope import VisibilityClass


@dataclass(frozen=True, slots=True)
class AccessChange:
    """The access facts that change; None leaves what is there."""

    label: str | None = None
    groups: tuple[str, ...] | None = None
    handling: tuple[str, ...] | None = None

    def applied_to(self, held: VisibilityClass, terms: AccessTerms) -> VisibilityClass:
        """The class that a document is in after the change. Raises ManifestError for a label or handling tag that
        policy does not know."""
        if self.label is not None and self.label not in terms.labels:
            raise ManifestError(f"{self.label!r} is not a label ({', '.join(terms.labels)})")
        for tag in sorted(set(self.handling or ()) - set(terms.handling)):
            raise ManifestError(f"{tag!r} is not a handling tag ({', '.join(terms.handling)})")
        return replace(
            held,
            label=self.label or held.label,
            groups=held.groups if self.groups is None else self.groups,
            handling=held.handling if self.handling is None else self.handling,
        )


class SourceLife:
    """Changes of sources in the store and every channel. One at a time per store, and not while documents are taken
    in. Each takes versions as `versions` gives them; a change of nothing does nothing."""

    def __init__(self, *, store: IngestStore, indexes: Sequence[ChannelIndex], terms: AccessTerms) -> None:
        self._store = store
        self._indexes = tuple(indexes)
        self._terms = terms
        self._upkeep = Upkeep(store=store, indexes=indexes, terms=lambda: terms)

    async def versions(self, tenant: str, source_id: str) -> tuple[SourceFacts, ...]:
        """Every version of a source, the first stored first."""
        return await self._store.versions(tenant, source_id)

    def planned(self, held: Sequence[SourceFacts], change: AccessChange) -> VisibilityClass:
        """The class that the change would give to the version that counts. Raises ManifestError."""
        current = (_in(held, Lifecycle.ACTIVE) or held)[-1]
        return change.applied_to(current.visibility, self._terms)

    async def label(self, held: Sequence[SourceFacts], change: AccessChange) -> None:
        """Moves every version that is not erased to another class, the active one and those that old answers cite
        alike. Raises ManifestError."""
        moved: dict[VisibilityClass, list[str]] = {}
        for each in held:
            if each.lifecycle is not Lifecycle.ERASED:
                moved.setdefault(change.applied_to(each.visibility, self._terms), []).append(each.document_id)
        for visibility, document_ids in moved.items():
            await self._store.relabel(document_ids, visibility)
        await self._renew(_in(held, Lifecycle.ACTIVE))

    async def withdraw(self, held: Sequence[SourceFacts]) -> tuple[str, ...]:
        """Takes the active version out of every answer; gives the documents."""
        return await self._end(held, Lifecycle.WITHDRAWN)

    async def supersede(self, held: Sequence[SourceFacts]) -> tuple[str, ...]:
        """Marks the active version as replaced by another source; gives the documents."""
        return await self._end(held, Lifecycle.SUPERSEDED)

    def restorable(self, held: Sequence[SourceFacts], document_id: str | None = None) -> SourceFacts:
        """The last withdrawn version (else the last superseded one), or the one that is named. Raises SourceConflict
        where there is none, or where none is named and one is active."""
        ended = [*_in(held, Lifecycle.SUPERSEDED), *_in(held, Lifecycle.WITHDRAWN)]
        chosen = [each for each in ended if document_id in (None, each.document_id)]
        if not chosen or (document_id is None and _in(held, Lifecycle.ACTIVE)):
            raise SourceConflict("the source is active, or has no such version to restore")
        return chosen[-1]

    async def restore(self, held: Sequence[SourceFacts], document_id: str | None = None) -> str:
        """Makes a version active again; gives it. Raises SourceConflict."""
        chosen = self.restorable(held, document_id)
        await self._store.activate([chosen.document_id])
        await self._upkeep.repair(chosen.visibility.tenant)  # what it supersedes leaves the channels
        return chosen.document_id

    async def _end(self, held: Sequence[SourceFacts], state: Lifecycle) -> tuple[str, ...]:
        gone = tuple(each.document_id for each in _in(held, Lifecycle.ACTIVE))
        await self._store.set_lifecycle(gone, state)
        await self._take_out(gone)
        return gone

    async def _renew(self, held: Sequence[SourceFacts]) -> None:
        """The documents in their new class, in every channel."""
        if held:
            await self._take_out([each.document_id for each in held])
            await self._upkeep.repair(held[0].visibility.tenant)

    async def _take_out(self, document_ids: Collection[str]) -> None:
        if document_ids:
            for index in self._indexes:
                await index.remove(document_ids)
                await index.commit()


def _in(held: Sequence[SourceFacts], state: Lifecycle) -> list[SourceFacts]:
    return [each for each in held if each.lifecycle is state]
