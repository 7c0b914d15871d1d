"""What a rule says of itself in its METADATA: id, code, severity, title, owner, and the text for readers.

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

    `file` and `row` (from 1) are where the rule stands below the bundle's root.
    """

    id: str
    code: str
    severity: str
    title: str
    owner: str
    reader: str
    file: str
    row: int

    def wire(self) -> dict[str, object]:
        """As the manifest holds it."""
        return asdict(self)


def rules_from(documents: Iterable[object]) -> tuple[RuleInfo, ...]:
    """The inverse of `wire`, by id. Raises BundleRejected for what is no rule, or an id that stands twice."""
    rules = tuple(sorted(_rule(each) for each in documents))
    if len({each.id for each in rules}) != len(rules):
        raise BundleRejected("two rules have one id")
    return rules


def _rule(document: object) -> RuleInfo:
    kinds = {each.name: int if each.name == "row" else str for each in fields(RuleInfo)}
    if not isinstance(document, Mapping) or document.keys() != kinds.keys():
        raise BundleRejected("a rule of the manifest is not one")
    if not all(type(document[name]) is kind for name, kind in kinds.items()) or document["severity"] not in SEVERITIES:
        raise BundleRejected("a rule of the manifest is not one")
    return RuleInfo(**document)
