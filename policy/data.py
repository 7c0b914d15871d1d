"""The policy's data: roles, clearances, handling rules, thresholds.

Editing it needs no compiler. Its schema is `schemas/config.schema.json`; what is read here is held to the same shape,
and beyond it to what a schema cannot say: that names lead somewhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, get_origin

import cattrs
from cattrs.cols import homogenous_tuple_structure_factory

from policy.errors import BundleRejected
from policy.obligations import EVIDENCE, MEETS_TAGS

APPEAL_KINDS = frozenset({"contact", "credentials", "imperative", "link", "payment"})
CLAIM_KINDS = frozenset({
    "figure", "event", "superlative", "comparison", "negation", "quotation", "prose", "paraphrase"
})  # fmt: skip
TOLERABLE = frozenset({"judged", "not_in_source", "not_checkable"})
"""Verdicts of claims that the data may tolerate."""
DATA_PATH = "kfm/config/data.json"
SCHEMA = "exhibit.policy.config/1"


@dataclass(frozen=True, slots=True)
class Role:
    """The content of one role: a clearance (a label), permissions, capabilities."""

    clearance: str
    permissions: frozenset[str]
    capabilities: frozenset[str]


@dataclass(frozen=True, slots=True)
class TagDuty:
    """The obligation that a handling tag can be met by, with its parameters."""

    op: str
    params: Mapping[str, object]

    @property
    def valid(self) -> bool:
        """True if a tag may ask for it, with these parameters."""
        return self.op in MEETS_TAGS and EVIDENCE[self.op].fits(self.params)


@dataclass(frozen=True, slots=True)
class Handling:
    """A handling tag: the capability or the group that satisfies it, else the obligation that it is met by; None
    refuses."""

    capability: str | None
    group: str | None
    obligation: TagDuty | None


@dataclass(frozen=True, slots=True)
class ToleratedClaim:
    """Claims that stay though no source says them in its words: by verdict, kinds, the highest label of what the
    sentence cites, and the purposes of the request."""

    verdict: str
    kinds: frozenset[str]
    label: str
    purposes: frozenset[str]


@dataclass(frozen=True, slots=True)
class PolicyData:
    """`labels` maps each label to its rank, ascending; `aliases` maps other names of roles to roles; `purposes` maps
    each purpose to the clearance that it asks for; `handling` maps each handling tag to what it asks for.
    `injection_milli` is the most that a text may look like an instruction; `trusted` are the collections whose appeals
    to the reader may be quoted, `tolerated` the kinds of appeal that any may make; `judged` says which claims stay by a
    reader's judgement; `second_person` are patterns of the names of widenings that need a second person."""

    labels: Mapping[str, int]
    roles: Mapping[str, Role]
    aliases: Mapping[str, str]
    default_role: str
    default_purpose: str
    purposes: Mapping[str, str]
    lifecycle: frozenset[str]
    capabilities: frozenset[str]
    handling: Mapping[str, Handling]
    injection_milli: int = 0
    trusted: frozenset[str] = frozenset()
    tolerated: frozenset[str] = frozenset()
    judged: tuple[ToleratedClaim, ...] = ()
    second_person: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: bytes) -> PolicyData:
        """Read `data.json`. Raises BundleRejected where it does not fit its schema, or roles, aliases, labels, purposes
        and capabilities do not fit together."""
        try:
            return _checked(_read(json.loads(text)))
        except cattrs.BaseValidationError as exc:
            raise BundleRejected(f"{DATA_PATH}: {'; '.join(cattrs.transform_error(exc, path='data'))}") from exc
        except ValueError as exc:
            raise BundleRejected(f"{DATA_PATH}: {exc}") from exc
        except (KeyError, TypeError, AttributeError) as exc:  # whose message alone says little
            raise BundleRejected(f"{DATA_PATH}: {type(exc).__name__}: {exc}") from exc

    @property
    def ascending(self) -> tuple[str, ...]:
        """The labels, from the one that all may see to the one that fewest may."""
        return tuple(sorted(self.labels, key=lambda label: self.labels[label]))

    def rank(self, label: str) -> int:
        """The rank of a label; one that is not known is above all."""
        return self.labels.get(label, len(self.labels))

    def may_judge(self, label: str, purpose: str) -> bool:
        """True if what a reader judges of an item with that label may stay; an empty `purpose` is the default one."""
        asked = purpose or self.default_purpose
        judged = [each for each in self.judged if "paraphrase" in each.kinds and asked in each.purposes]
        return any(self.rank(label) <= self.rank(each.label) for each in judged)

    def resolve_roles(self, names: Iterable[str]) -> tuple[str, ...]:
        """Known roles, sorted, without repeats; an unknown name, or none at all, is the default role."""
        known = {self.aliases.get(name, name) for name in names}
        return tuple(
            sorted({name if name in self.roles else self.default_role for name in known} or {self.default_role})
        )

    def clearance(self, roles: Iterable[str]) -> str:
        """The highest label among the roles' clearances."""
        return max((self.roles[role].clearance for role in roles), key=lambda label: self.labels[label])


@dataclass(frozen=True, slots=True)
class _Purpose:
    clearance: str


@dataclass(frozen=True, slots=True)
class _Limits:
    support_milli: int
    datamark_milli: int
    injection_milli: int


@dataclass(frozen=True, slots=True)
class _Claims:
    tolerated: tuple[ToleratedClaim, ...]


@dataclass(frozen=True, slots=True)
class _Appeals:
    tolerated: frozenset[str]
    least_trust: int
    trust: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Notice:
    label: str
    catalogue: str


@dataclass(frozen=True, slots=True)
class _File:
    """The whole file, key by key; data of version 0.1 tolerate no claim that is not borne out. Data without `appeals`
    tolerate none and trust no collection."""

    schema: str
    labels: Mapping[str, int]
    aliases: Mapping[str, str]
    default_role: str
    capabilities: frozenset[str]
    roles: Mapping[str, Role]
    default_purpose: str
    purposes: Mapping[str, _Purpose]
    handling: Mapping[str, Handling]
    lifecycle: frozenset[str]
    limits: _Limits
    leaks: frozenset[str]
    notice: _Notice
    claims: _Claims = _Claims(())
    appeals: _Appeals = _Appeals(frozenset(), 1, MappingProxyType({}))
    second_person: frozenset[str] = frozenset()


def _read(raw: object) -> _File:
    if not isinstance(raw, dict):
        raise TypeError("the data are not an object")
    return _codec().structure(raw, _File)


@cache
def _codec() -> cattrs.Converter:
    """Nothing is converted on the way: a number in quotes is no number, a text is no list of letters. Made once, since
    it writes code for each class."""
    made = cattrs.Converter(forbid_extra_keys=True)

    def exact(kind: type) -> Any:
        def same(value: object, _: object) -> object:
            if type(value) is not kind:
                raise TypeError(f"{kind.__name__} is wanted, not {type(value).__name__}")
            return value

        return same

    for kind in (int, str):
        made.register_structure_hook(kind, exact(kind))
    made.register_structure_hook_func(lambda kind: kind == frozenset[str], _names)
    made.register_structure_hook_func(lambda kind: kind == Mapping[str, object], exact(dict))

    @made.register_structure_hook_factory(_is_tuple)
    def listed(kind: Any) -> Any:
        structured = homogenous_tuple_structure_factory(kind, made)

        def each(value: object, wanted: Any) -> object:
            if not isinstance(value, list):
                raise TypeError(f"a list is expected, not {type(value).__name__}")
            return structured(value, wanted)

        return each

    return made


def _is_tuple(kind: Any) -> bool:
    return get_origin(kind) is tuple


def _names(value: object, _: object) -> frozenset[str]:
    if not isinstance(value, list) or not all(type(each) is str for each in value):
        raise TypeError("a list of names is expected")
    if len(set(value)) != len(value):
        raise ValueError("a name occurs twice")
    return frozenset(value)


def _checked(file: _File) -> PolicyData:
    """Raises ValueError for what a schema would refuse beyond shape, and for names that lead nowhere."""
    _require(file.schema == SCHEMA, f"the schema is not {SCHEMA}")
    _require(len(file.labels) >= 2, "there must be two labels at least")
    _require(sorted(file.labels.values()) == list(range(len(file.labels))), "labels must have the ranks 0, 1, 2 ...")
    _require(
        {file.default_role, *file.aliases.values()} <= file.roles.keys(), "the default role or an alias is not a role"
    )
    _require(file.default_purpose in file.purposes, "the default purpose is not among the purposes")
    _require(file.lifecycle == {"active"}, "only active items may be retrieved")
    for name, role in file.roles.items():
        right = role.clearance in file.labels and role.capabilities <= file.capabilities
        _require(right, f"role {name} has an unknown clearance or capability")
    lowest = file.labels[file.roles[file.default_role].clearance] == 0
    _require(lowest, "the default role must have the lowest clearance")
    _check_rest(file)
    return PolicyData(
        labels=file.labels,
        roles=file.roles,
        aliases=file.aliases,
        default_role=file.default_role,
        default_purpose=file.default_purpose,
        purposes={name: purpose.clearance for name, purpose in file.purposes.items()},
        lifecycle=file.lifecycle,
        capabilities=file.capabilities,
        handling=file.handling,
        injection_milli=file.limits.injection_milli,
        trusted=frozenset(n for n, rank in file.appeals.trust.items() if rank >= file.appeals.least_trust),
        tolerated=file.appeals.tolerated,
        judged=tuple(each for each in file.claims.tolerated if each.verdict == "judged"),
        second_person=tuple(sorted(file.second_person)),
    )


def _check_rest(file: _File) -> None:
    for name, purpose in file.purposes.items():
        _require(purpose.clearance in file.labels, f"purpose {name} has an unknown clearance")
    for tag, handling in file.handling.items():
        known = handling.capability is None or handling.capability in file.capabilities
        _require(known, f"handling tag {tag} names an unknown capability")
        _require(handling.obligation is None or handling.obligation.valid, f"handling tag {tag} has a wrong obligation")
    limits = (file.limits.support_milli, file.limits.datamark_milli, file.limits.injection_milli)
    _require(all(0 <= each <= 1_000 for each in limits), "a limit is not within 0 and 1000")
    for each in file.claims.tolerated:
        _require(each.verdict in TOLERABLE, f"{each.verdict} is not tolerated of a claim")
        known = each.label in file.labels and each.purposes <= file.purposes.keys() and each.kinds <= CLAIM_KINDS
        _require(known, "a tolerated claim has an unknown kind, label or purpose")
    _require(file.appeals.tolerated <= APPEAL_KINDS, "an unknown kind of appeal is tolerated")
    _require(file.appeals.least_trust >= 1, "the least trust must be 1 at least, since an unlisted collection has none")
    _require(file.notice.label in file.labels, "the notice has an unknown label")


def _require(right: bool, what: str) -> None:
    if not right:
        raise ValueError(what)
