"""Visibility classes and the scope: what a search may see, as a set of class ids."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import rfc8785


@dataclass(frozen=True)
class VisibilityClass:
    """The access facts that a record carries, as one value; two records with equal facts share one class.

    `label` is one of those that the policy orders; `handling`, `groups`
    and `allow_list` are sorted and free of duplicates, so that equal facts give an equal `class_id`. Records that may
    be seen for a time only (UTC, from inclusive, until exclusive) are in a class of their own: what has expired is in
    no index that a search reads.
    """

    tenant: str
    collection: str
    label: str
    handling: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    owner_group: str | None = None
    allow_list: tuple[str, ...] = ()
    valid_from_ms: int | None = None
    valid_until_ms: int | None = None

    def __post_init__(self) -> None:
        for name in ("handling", "groups", "allow_list"):
            object.__setattr__(self, name, tuple(sorted(set(getattr(self, name)))))

    @cached_property
    def class_id(self) -> str:
        """`sha256:<hex>` over the RFC 8785 bytes of the tuple."""
        return digest(self.facts())

    def facts(self) -> dict[str, object]:
        """The canonical form, as JSON values; times are part of it only where there are some."""
        times = {"valid_from_ms": self.valid_from_ms, "valid_until_ms": self.valid_until_ms}
        return {
            **{name: moment for name, moment in times.items() if moment is not None},
            "tenant": self.tenant,
            "collection": self.collection,
            "label": self.label,
            "handling": list(self.handling),
            "groups": list(self.groups),
            "owner_group": self.owner_group,
            "allow_list": list(self.allow_list),
        }

    def in_force(self, now_ms: int) -> bool:
        """True if its records may be seen at that moment."""
        begun = self.valid_from_ms is None or self.valid_from_ms <= now_ms
        return begun and (self.valid_until_ms is None or now_ms < self.valid_until_ms)


@dataclass(frozen=True)
class Scope:
    """The classes that one request may see, and in which form. An empty set sees nothing; there is no value that means
    "everything".

    Records of `class_ids` may be searched and shown; the geometries of those in `coarse` (class, metres, decimals) only
    as points on a grid. Records of `aggregates` (class, least number of places) are in no `class_ids`: they may only
    enter into a figure over at least so many.
    """

    tenant: str
    class_ids: frozenset[str]
    coarse: frozenset[tuple[str, int, int]] = frozenset()
    aggregates: frozenset[tuple[str, int]] = frozenset()

    @classmethod
    def of(cls, tenant: str, classes: Iterable[VisibilityClass]) -> Scope:
        """The scope of `classes` as they are; a class of another tenant is left out, whatever the caller says."""
        return cls(tenant, frozenset(c.class_id for c in classes if c.tenant == tenant))

    @cached_property
    def digest(self) -> str:
        """Identity of the scope, for caches and the ledger."""
        shapes = {"coarse": sorted(map(list, self.coarse)), "aggregates": sorted(map(list, self.aggregates))}
        told = {name: shape for name, shape in shapes.items() if shape}
        return digest({"tenant": self.tenant, "classes": sorted(self.class_ids), **told})

    @property
    def shapes(self) -> int:
        """How many access shapes the request meets: classes, in whatever form. A search costs more with each."""
        return len(self.class_ids) + len(self.aggregates)

    @cached_property
    def with_aggregated(self) -> Scope:
        """The same with the records behind aggregates: for the inputs of a computed figure, never for a search."""
        return replace(self, class_ids=self.class_ids | {class_id for class_id, _ in self.aggregates})


def digest(value: object) -> str:
    """`sha256:<hex>` over the RFC 8785 bytes of a JSON value."""
    return "sha256:" + hashlib.sha256(rfc8785.dumps(value)).hexdigest()  # type: ignore[arg-type]
