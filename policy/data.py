"""The policy's data: roles, clearances, handling rules, thresholds.

Editing it needs no compiler; its schema is `schemas/config.schema.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from policy.errors import BundleRejected

DATA_PATH = "kfm/config/data.json"


@dataclass(frozen=True, slots=True)
class Role:
    """What one role carries: a clearance (a label), permissions, capabilities."""

    clearance: str
    permissions: frozenset[str]
    capabilities: frozenset[str]


@dataclass(frozen=True, slots=True)
class PolicyData:
    """`labels` maps each label to its rank, ascending; `aliases` maps other names of roles to roles."""

    labels: Mapping[str, int]
    roles: Mapping[str, Role]
    aliases: Mapping[str, str]
    default_role: str
    default_purpose: str
    purposes: frozenset[str]
    lifecycle: frozenset[str]
    capabilities: frozenset[str]

    @classmethod
    def parse(cls, text: bytes) -> PolicyData:
        """Read `data.json`. Raises BundleRejected where roles, aliases and labels do not fit together."""
        try:
            return _checked(_read(json.loads(text)))
        except (ValueError, KeyError, TypeError, AttributeError) as exc:
            raise BundleRejected(f"{DATA_PATH}: {type(exc).__name__}: {exc}") from exc

    def resolve_roles(self, names: Iterable[str]) -> tuple[str, ...]:
        """Known roles, sorted, without repeats; an unknown name, or none at all, is the default role."""
        known = {self.aliases.get(name, name) for name in names}
        return tuple(
            sorted({name if name in self.roles else self.default_role for name in known} or {self.default_role})
        )

    def clearance(self, roles: Iterable[str]) -> str:
        """The highest label among the roles' clearances."""
        return max((self.roles[role].clearance for role in roles), key=lambda label: self.labels[label])


def _read(raw: Mapping[str, Any]) -> PolicyData:
    roles = {
        name: Role(str(role["clearance"]), frozenset(role["permissions"]), frozenset(role["capabilities"]))
        for name, role in raw["roles"].items()
    }
    return PolicyData(
        labels=dict(raw["labels"]),
        roles=roles,
        aliases=dict(raw["aliases"]),
        default_role=str(raw["default_role"]),
        default_purpose=str(raw["default_purpose"]),
        purposes=frozenset(raw["purposes"]),
        lifecycle=frozenset(raw["lifecycle"]),
        capabilities=frozenset(raw["capabilities"]),
    )


def _checked(data: PolicyData) -> PolicyData:
    if sorted(data.labels.values()) != list(range(len(data.labels))):
        raise ValueError("labels must have the ranks 0, 1, 2 ...")
    if data.default_role not in data.roles or not set(data.aliases.values()) <= set(data.roles):
        raise ValueError("the default role or an alias names no role")
    if data.default_purpose not in data.purposes:
        raise ValueError("the default purpose is not among the purposes")
    for name, role in data.roles.items():
        if role.clearance not in data.labels or not role.capabilities <= data.capabilities:
            raise ValueError(f"role {name} has an unknown clearance or capability")
    if data.labels[data.roles[data.default_role].clearance] != 0:
        raise ValueError("the default role must have the lowest clearance")
    return data
