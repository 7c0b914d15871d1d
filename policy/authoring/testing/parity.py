"""True if two evaluators of one bundle decide alike: the same inputs to both, the digests of what came back compared.

`publish` runs it between the module that will serve and OPA's own evaluator (or a running server) and activates nothing
where it finds a difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from policy.authoring.lattice.deciding import Decide, Outcome, is_denial, outcome_digest
from policy.authoring.lattice.domain import Domain
from policy.authoring.testing.generated import generated
from policy.canonical import canonical
from policy.model import Point

MAX_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Difference:
    """One input that two evaluators decide differently."""

    point: Point
    asked: Any
    one: Outcome
    other: Outcome


@dataclass(frozen=True, slots=True)
class Parity:
    """`spoke` counts, for every rule id, the decisions in which it spoke; `differences` shows at most MAX_SHOWN of
    `differing`. An id with a count between nothing and `decided` was seen both ways."""

    compared: int
    allowed: int
    differing: int
    differences: tuple[Difference, ...]
    spoke: Mapping[str, int]

    @property
    def equal(self) -> bool:
        """True if both decided everything alike, and there was something to compare."""
        return self.compared > 0 and self.differing == 0

    @property
    def allowed_milli(self) -> int:
        """The share of inputs that were not denied, in thousandths."""
        return 1_000 * self.allowed // max(1, self.compared)

    def one_sided(self, rules: Iterable[str]) -> tuple[str, ...]:
        """Those of the rule ids that never spoke, or always."""
        return tuple(sorted(rule for rule in rules if not 0 < self.spoke.get(rule, 0) < self.compared))


async def parity(one: Decide, other: Decide, domain: Domain, *, count: int = 3_000, seed: int = 0) -> Parity:
    """Compare two evaluators on `count` generated inputs, a third of them for each point."""
    compared = allowed = differing = 0
    shown: list[Difference] = []
    spoke: Counter[str] = Counter()
    for number, point in enumerate(Point):
        inputs = list(generated(point, domain, count=(count + number) // len(Point), seed=seed))
        texts = [canonical(each) for each in inputs]
        mine, theirs = await one(point, texts), await other(point, texts)
        for asked, a, b in zip(inputs, mine, theirs, strict=True):
            compared += 1
            allowed += not is_denial(a)
            spoke.update(_rules(a))
            if outcome_digest(a) != outcome_digest(b):
                differing += 1
                shown.append(Difference(point, asked, a, b))
    return Parity(compared, allowed, differing, tuple(shown[:MAX_SHOWN]), dict(spoke))


def _rules(outcome: Outcome) -> set[str]:
    if isinstance(outcome, str):
        return set()
    spoken = [each for key in ("reasons", "obligations") for each in outcome[key] if isinstance(each, dict)]
    return {str(each.get("rule", "")) for each in spoken}
