"""Values of the policy package: the facts that are put to a point, and the checked decision that comes back.

Facts are ids, labels, integers and findings, never text. A decision carries the input it was made from, because the
ledger keeps both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from policy.canonical import digest, encode_plain
from policy.data import PolicyData


class Point(StrEnum):
    """The three places where policy decides."""

    QUERY = "query"
    EVIDENCE = "evidence"
    ANSWER = "answer"


class Effect(StrEnum):
    """The effect of a decision."""

    ALLOW = "allow"
    ALLOW_WITH_OBLIGATIONS = "allow_with_obligations"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Subject:
    """The asker.

    `clearance` is the highest label that the roles may read; `session_expires_ms` is UTC, None = no end. Whoever
    belongs to a suspended tenant is refused at every point, and holds no capability (`suspended`).
    """

    id: str
    tenant: str
    roles: tuple[str, ...]
    groups: tuple[str, ...]
    capabilities: tuple[str, ...]
    clearance: str
    session_expires_ms: int | None = None
    tenant_suspended: bool = False

    @classmethod
    def of(
        cls,
        *,
        id: str,
        tenant: str,
        roles: tuple[str, ...],
        data: PolicyData,
        groups: tuple[str, ...] = (),
        extra_capabilities: tuple[str, ...] = (),
        session_expires_ms: int | None = None,
    ) -> Subject:
        """Resolve aliases, unknown roles (to the default role) and role bundles; drop unknown capabilities."""
        known = data.resolve_roles(roles)
        held = set(extra_capabilities) & data.capabilities
        held.update(*(data.roles[role].capabilities for role in known))
        return cls(
            id=id,
            tenant=tenant,
            roles=known,
            groups=tuple(sorted(set(groups))),
            capabilities=tuple(sorted(held)),
            clearance=data.clearance(known),
            session_expires_ms=session_expires_ms,
        )

    def suspended(self) -> Subject:
        """The same asker while the tenant is suspended."""
        return replace(self, capabilities=(), tenant_suspended=True)


@dataclass(frozen=True, slots=True)
class RequestFacts:
    """The request.

    An empty `purpose` means the policy's default; `collections` are names as the caller wrote them.
    """

    id: str
    purpose: str = ""
    profile: str = "focus"
    collections: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptClass:
    """One class of finding in the prompt: name, score in thousandths, the gate's rules that spoke."""

    name: str
    score_milli: int
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptFacts:
    """The gate's result: `verdict` ALLOW, SANITIZE or REJECT; `risk` 0-100."""

    chars: int
    verdict: str
    risk: int
    classes: tuple[PromptClass, ...] = ()


@dataclass(frozen=True, slots=True)
class ClassFacts:
    """A visibility class: `id` is the digest of the other seven."""

    id: str
    tenant: str
    collection: str
    label: str
    handling: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    owner_group: str | None = None
    allow_list: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """Something found in a text: `kind` such as `pii.email`, `canary`, `system_prompt_leak`; characters start..end."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Injection:
    """How much a stored text looks like an instruction, in thousandths, and the rules that spoke."""

    score_milli: int
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvidenceFacts:
    """One found item. `valid_until_ms` None = never ends; owner and allow list stand with the item's class."""

    id: str
    class_id: str
    tenant: str
    label: str
    handling: tuple[str, ...]
    groups: tuple[str, ...]
    lifecycle: str
    valid_until_ms: int | None
    sha256: str
    indexed_sha256: str
    injection: Injection
    precision_m: int | None = None
    aggregate_n: int | None = None
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimFacts:
    """One claim of a sentence: its kind, and what the evidence says to it."""

    kind: str
    verdict: str


@dataclass(frozen=True, slots=True)
class AppealFacts:
    """The kinds of appeal to the reader in a sentence (a link, a contact, a payment, credentials, an imperative), those
    that the question asked for, the collections of what it cites, and whether it is marked as a quotation."""

    kinds: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class SentenceFacts:
    """One sentence of a draft: `catalogue` is the id of a fixed phrase or None; `citations` are evidence ids. `claims`
    None: they were not checked, as in records of earlier versions, and nothing is said of what it answers; `appeals`
    None likewise: they were not looked for."""

    i: int
    catalogue: str | None
    citations: tuple[str, ...]
    support_milli: int
    findings: tuple[Finding, ...] = ()
    claims: tuple[ClaimFacts, ...] | None = None
    answers: bool = False
    appeals: AppealFacts | None = None


@dataclass(frozen=True, slots=True)
class AnswerFacts:
    """A draft: the model's name, the markers it used, its sentences numbered from 0."""

    model: str
    markers: tuple[int, ...]
    sentences: tuple[SentenceFacts, ...]


@dataclass(frozen=True, slots=True)
class Target:
    """The subject of a reason or obligation:

    `kind` request, collection, evidence, sentence or answer; `ref` names it.
    """

    kind: str
    ref: str


@dataclass(frozen=True, slots=True)
class Reason:
    """A rule that spoke: `severity` deny (the whole request) or drop (one target)."""

    rule: str
    code: str
    severity: str
    target: Target
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Obligation:
    """Something that must be done before the decision holds; carried out by the caller."""

    op: str
    target: Target
    rule: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Stamp:
    """Which bundle decided, on which engine, over which input (digests)."""

    bundle: str
    engine: str
    input: str


@dataclass(frozen=True, slots=True)
class Decision:
    """A checked decision. `admit` are evidence ids, `classes` the scope (query point only), both sorted.

    `document` is the decision as recorded: effect, reasons, obligations (the filter among them) and admit, arrays in
    canonical order. `obligations` leaves the filter out, since `classes` is its result.
    """

    point: Point
    effect: Effect
    reasons: tuple[Reason, ...]
    obligations: tuple[Obligation, ...]
    admit: tuple[str, ...]
    classes: tuple[str, ...]
    stamp: Stamp
    input: Mapping[str, Any]
    document: Mapping[str, Any]

    @property
    def allowed(self) -> bool:
        """True if the effect is not a denial."""
        return self.effect is not Effect.DENY

    @property
    def digest(self) -> str:
        """Digest of the decision without its stamp; later points are bound by it."""
        return digest(encode_plain(self.document))

    def record(self) -> dict[str, Any]:
        """The ledger's copy beside the input: input digest, decision, decision digest, stamp."""
        stamp = {"bundle": self.stamp.bundle, "engine": self.stamp.engine, "input": self.stamp.input}
        return {"point": str(self.point), "decision": dict(self.document), "digest": self.digest, "stamp": stamp}
