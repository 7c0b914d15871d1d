"""Every claim that there can be, put to the answer point: by role, label of what is cited, purpose, kind and verdict;
and the invariants over them (`[[unreleased]]` of `vectors/invariants.toml`), which no data may break.

    [[unreleased]]    no matching claim is released: `title`, `verdict = ["..."]`, and `kind = ["..."]` (absent: any)
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import orjson

from policy import facts
from policy.authoring.lattice.deciding import DEADLINE_S
from policy.authoring.lattice.domain import GROUP, NOW_MS, UNKNOWN, Domain, a_class, an_item
from policy.authoring.lattice.invariants import MAX_SHOWN, BrokenInvariant, InvariantsInvalid
from policy.canonical import encode_plain
from policy.data import CLAIM_KINDS
from policy.engine import PolicyEngine
from policy.errors import PolicyUnavailable
from policy.model import AnswerFacts, AppealFacts, ClaimFacts, Point, RequestFacts, SentenceFacts, Subject

VERDICTS = ("borne_out", "judged", "contradicted", "not_in_source", "not_checkable", UNKNOWN)
_CLAIMS = tuple(product((*sorted(CLAIM_KINDS), UNKNOWN), VERDICTS))


@dataclass(frozen=True, slots=True)
class ClaimCell:
    """One claim, alone in its sentence, and whether the sentence was released."""

    role: str
    label: str
    purpose: str
    kind: str
    verdict: str
    released: bool


@dataclass(frozen=True, slots=True)
class Unreleased:
    """An invariant over claims."""

    title: str
    verdicts: frozenset[str]
    kinds: frozenset[str]


def read_unreleased(path: Path) -> tuple[Unreleased, ...]:
    """The invariants over claims of the file. Raises InvariantsInvalid for one that would hold whatever the bundle
    does."""
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as exc:
        raise InvariantsInvalid(f"{path.name} cannot be read: {exc}") from exc
    return parse_unreleased(document)


def parse_unreleased(document: Mapping[str, Any]) -> tuple[Unreleased, ...]:
    """As `read_unreleased`, from the parsed file."""
    return tuple(_rule(table) for table in document.get("unreleased", ()))


def _rule(table: Mapping[str, Any]) -> Unreleased:
    title, verdicts = table.get("title"), frozenset(table.get("verdict", ()))
    kinds = frozenset(table.get("kind", CLAIM_KINDS))
    sound = bool(title) and table.keys() <= {"title", "verdict", "kind"}
    if not sound or not verdicts or not verdicts <= set(VERDICTS) or not kinds or not kinds <= CLAIM_KINDS:
        raise InvariantsInvalid(f"the invariant {title!r} names no verdict or kind that a claim can have")
    return Unreleased(str(title), verdicts, kinds)


async def decide_claims(engine: PolicyEngine, domain: Domain) -> tuple[ClaimCell, ...]:
    """Every cell decided, once for all names of roles that make the same asker. Raises PolicyUnavailable where the
    engine gives no decision."""
    askers = {role: domain.asker(role, (GROUP,)) for role in domain.roles}
    released: dict[tuple[Subject, str, str], list[bool]] = {}
    for asked in product(dict.fromkeys(askers.values()), domain.labels, domain.purposes):
        released[asked] = await _row(engine, *asked)
    return tuple(
        ClaimCell(role, label, purpose, kind, verdict, passed)
        for role, label, purpose in product(domain.roles, domain.labels, domain.purposes)
        for (kind, verdict), passed in zip(_CLAIMS, released[askers[role], label, purpose], strict=True)
    )


def broken_claims(cells: Sequence[ClaimCell], rules: Sequence[Unreleased]) -> tuple[BrokenInvariant, ...]:
    """The invariants that do not hold, each with counterexamples."""
    return tuple(broken for rule in rules for broken in _judged(cells, rule))


def _judged(cells: Sequence[ClaimCell], rule: Unreleased) -> Iterator[BrokenInvariant]:
    matching = [cell for cell in cells if cell.verdict in rule.verdicts and cell.kind in rule.kinds]
    wrong = [cell for cell in matching if cell.released]
    if wrong:
        examples = tuple((asdict(cell),) for cell in wrong[:MAX_SHOWN])
        yield BrokenInvariant(rule.title, "unreleased", len(matching), len(wrong), examples)


async def _row(engine: PolicyEngine, asker: Subject, label: str, purpose: str) -> list[bool]:
    """Which of _CLAIMS are released."""
    item = an_item("e1", a_class("k1", label=label))
    sentences = tuple(
        SentenceFacts(
            i, None, (item.id,), 1000, claims=(ClaimFacts(kind, verdict),), answers=True, appeals=AppealFacts()
        )
        for i, (kind, verdict) in enumerate(_CLAIMS)
    )
    document = facts.head(Point.ANSWER, NOW_MS, RequestFacts(id="r1", purpose=purpose), asker)
    document |= {
        "evidence": facts.evidence_wire((item,)),
        "answer": facts.answer_wire(AnswerFacts("m", (1,), sentences)),
        "prior": {"query": "sha256:q", "evidence": "sha256:e", "admit": [item.id]},
    }
    reply = await engine.evaluate("kfm/ai/answer", encode_plain(document), deadline_s=DEADLINE_S)
    results = orjson.loads(reply.results)
    if len(results) != 1 or not isinstance(results[0].get("result"), dict):
        raise PolicyUnavailable("the answer point gave no decision")
    decision = results[0]["result"]
    fallen = {each["target"]["ref"] for each in decision["obligations"] if each["op"] == "drop_sentence"}
    allowed = decision["effect"] != "deny"
    return [allowed and str(i) not in fallen for i in range(len(_CLAIMS))]
