"""The METADATA of a rule: id, code, severity, title, owner, the text for readers, what it reads.

The compiled module holds no METADATA, so the build writes them into the manifest, where every reader of a bundle finds
them without the `opa` program.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields

from policy.errors import BundleRejected

SEVERITIES = ("deny", "drop", "oblige")


@dataclass(frozen=True, slots=True, order=True)
class RuleInfo:
    """One rule. `severity` is deny (the whole request), drop (one target) or oblige (an obligation).

    `file` and `row` (from 1) are where the rule stands below the bundle's root. `reads` are the facts that it is about
    (`label`, `subject.clearance`), as the METADATA state them under `reads`.
    """

    id: str
    code: str
    severity: str
    title: str
    owner: str
    reader: str
    file: str
    row: int
    reads: tuple[str, ...] = ()

    def wire(self) -> dict[str, object]:
        """As the manifest holds it."""
        told = asdict(self)
        return told if self.reads else {key: told[key] for key in told if key != "reads"}

    @property
    def facts(self) -> tuple[str, ...]:
        """The facts that the rule is about; for one that does not state them, those that are known of its code."""
        return self.reads or _READS.get(self.code, OF_AN_OBLIGATION)


OF_AN_OBLIGATION = ("handling", "findings", "injection", "subject.capabilities", "subject.groups")
_READS: Mapping[str, tuple[str, ...]] = {
    "ID_INVALID": ("id",),
    "CLASS_OUT_OF_SCOPE": ("class_id",),
    "TENANT_MISMATCH": ("tenant", "subject.tenant"),
    "LABEL_ABOVE_CLEARANCE": ("label", "subject.clearance"),
    "GROUP_REQUIRED": ("groups", "subject.groups"),
    "HANDLING_REFUSED": ("handling", "subject.capabilities", "subject.groups"),
    "NOT_ACTIVE": ("lifecycle",),
    "EXPIRED": ("valid_until_ms",),
    "CHANGED_SINCE_INDEXING": ("sha256", "indexed_sha256"),
    "INJECTION_SUSPECTED": ("injection",),
}
"""Rules of bundles whose METADATA do not state what they read."""


def rules_from(documents: Iterable[object]) -> tuple[RuleInfo, ...]:
    """The inverse of `wire`, by id. Raises BundleRejected for what is no rule, or an id that stands twice."""
    rules = tuple(sorted(_rule(each) for each in documents))
    if len({each.id for each in rules}) != len(rules):
        raise BundleRejected("two rules have one id")
    return rules


def _rule(document: object) -> RuleInfo:
    kinds = {each.name: int if each.name == "row" else str for each in fields(RuleInfo) if each.name != "reads"}
    if not isinstance(document, Mapping) or document.keys() - {"reads"} != kinds.keys():
        raise BundleRejected("a rule of the manifest is not one")
    reads = names_of(document.get("reads", []))
    if not all(type(document[name]) is kind for name, kind in kinds.items()) or document["severity"] not in SEVERITIES:
        raise BundleRejected("a rule of the manifest is not one")
    return RuleInfo(**{**document, "reads": reads})


def names_of(value: object) -> tuple[str, ...]:
    """A list of names of facts. Raises BundleRejected for what is not one."""
    if not isinstance(value, list) or not all(type(each) is str and each for each in value):
        raise BundleRejected("what a rule reads is not a list of names")
    return tuple(value)
