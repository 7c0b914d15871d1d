"""Visibility classes and the scope: what a search may see, as a set of class ids."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import rfc8785


@dataclass(frozen=True)
class VisibilityClass:
    """The access facts that a record carries, as one value; two records with equal facts share one class.

    `label` is one of public, internal, confidential, restricted as the policy data orders them; `handling`, `groups`
    and `allow_list` are sorted and free of duplicates, so that equal facts give an equal `class_id`.
    """

    tenant: str
    collection: str
    label: str
    handling: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    owner_group: str | None = None
    allow_list: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("handling", "groups", "allow_list"):
            object.__setattr__(self, name, tuple(sorted(set(getattr(self, name)))))

    @cached_property
    def class_id(self) -> str:
        """`sha256:<hex>` over the RFC 8785 bytes of the tuple."""
        return digest(self.facts())

    def facts(self) -> dict[str, object]:
        """The canonical form, as JSON values."""
        return {
            "tenant": self.tenant,
            "collection": self.collection,
            "label": self.label,
            "handling": list(self.handling),
            "groups": list(self.groups),
            "owner_group": self.owner_group,
            "allow_list": list(self.allow_list),
        }


@dataclass(frozen=True)
class Scope:
    """The classes that one request may see. An empty set sees nothing; there is no value that means "everything"."""

    tenant: str
    class_ids: frozenset[str]

    @classmethod
    def of(cls, tenant: str, classes: Iterable[VisibilityClass]) -> Scope:
        """The scope of `classes`; a class of another tenant is left out, whatever the caller says."""
        return cls(tenant, frozenset(c.class_id for c in classes if c.tenant == tenant))

    @cached_property
    def digest(self) -> str:
        """Identity of the scope, for caches and the ledger."""
        return digest({"tenant": self.tenant, "classes": sorted(self.class_ids)})


def digest(value: object) -> str:
    """`sha256:<hex>` over the RFC 8785 bytes of a JSON value."""
    return "sha256:" + hashlib.sha256(rfc8785.dumps(value)).hexdigest()  # type: ignore[arg-type]
