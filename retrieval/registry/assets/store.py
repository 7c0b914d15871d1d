"""Reading the asset registry, as a Protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from retrieval.registry.assets.model import (
    Asset,
    EntityFilters,
    EntityStatement,
    GraphNarrowing,
    RelationshipFilters,
    StatedRelationship,
)
from retrieval.scope import Scope

MOST_EDGES = 20_000
"""Most relationships that one query looks at."""


class AssetReads(Protocol):
    """The registry in the store of record, inside a scope: nothing of other classes or tenants enters, not even as a
    count. Documents are active ones but where a lifecycle is named. Raises `StoreUnavailable`."""

    async def assets(self, *, scope: Scope, lifecycles: Sequence[str]) -> tuple[Asset, ...]:
        """Every source with a version in one of the states, by id; of several versions the one stored last."""
        ...

    async def documents_of(self, wanted: GraphNarrowing, *, scope: Scope) -> frozenset[str]:
        """The documents that all parts of the narrowing hold for."""
        ...

    async def entity_statements(self, wanted: EntityFilters, *, scope: Scope) -> tuple[EntityStatement, ...]:
        """Entities as documents name them, by entity and document."""
        ...

    async def relationships(
        self, wanted: RelationshipFilters, *, scope: Scope, limit: int = MOST_EDGES
    ) -> tuple[StatedRelationship, ...]:
        """At most `limit` edges, by document and place in it."""
        ...
