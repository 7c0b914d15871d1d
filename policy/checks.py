"""An engine's reply -> a decision document that can be trusted, or the code of what is wrong with it.

An engine is believed in nothing: not that it answered, not that it answered once, not that the ids it names were asked
about, not that the obligations it asks for exist. Whatever is wrong is a denial with its own code, never a repaired
decision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from policy.canonical import encode_plain, parse_plain
from policy.engine import Reply
from policy.errors import InputRejected
from policy.model import Effect, Obligation, Point, Reason, Target
from policy.obligations import ANSWER, EVIDENCE, FILTER, QUERY

MAX_RESULT_BYTES = 4 * 1024 * 1024
INVALID = "POLICY_DECISION_INVALID"
SEVERITIES = frozenset({"deny", "drop"})

Document = dict[str, Any]
_DUTIES = {Point.QUERY: QUERY, Point.EVIDENCE: EVIDENCE, Point.ANSWER: ANSWER}


class UntrustedReply(Exception):
    """A reply that cannot be acted on; `code` says why. Stays inside the package: `points` makes a denial of it."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.code = f"{INVALID}.{problem}"


@dataclass(frozen=True, slots=True)
class CheckedDecision:
    """A decision whose shape, ids and effect have been checked.

    `classes` is the filter, empty but at the query point.
    """

    effect: Effect
    reasons: tuple[Reason, ...]
    obligations: tuple[Obligation, ...]
    admit: tuple[str, ...]
    classes: tuple[str, ...]
    document: Document


def check(reply: Reply, *, point: Point, asked: Document, bundle_digest: str) -> CheckedDecision:
    """Check `reply` against the input that was `asked`. Raises Untrusted."""
    if reply.bundle_digest != bundle_digest:
        raise UntrustedReply("BUNDLE_MISMATCH")
    document = decision_of(reply.results)
    admit = _ids(document["admit"])
    reasons = tuple(_reason(each) for each in document["reasons"])
    obligations = tuple(_obligation(each, point) for each in document["obligations"])
    _check_targets(reasons, obligations, asked)
    _check_admit(point, admit, asked)
    filters = [each for each in obligations if each.op == FILTER]
    others = tuple(each for each in obligations if each.op != FILTER)
    effect = Effect(document["effect"])
    _check_effect(effect, reasons, obligations, others, admit)
    classes = _check_filter(point, effect, filters, asked)
    return CheckedDecision(effect, reasons, others, admit, classes, document)


def decision_of(results: bytes) -> Document:
    """The one decision of a result set, its arrays in canonical order; its ids are not checked. Raises Untrusted."""
    return _canonical_order(_decision(single_result(results)))


def single_result(results: bytes) -> object:
    """The one value of a result set. Raises Untrusted for none, several, or what is not plain JSON."""
    if len(results) > MAX_RESULT_BYTES:
        raise UntrustedReply("TOO_LARGE")
    try:
        found = parse_plain(results)
    except ValueError as exc:
        raise UntrustedReply("NOT_JSON") from exc
    if found == []:
        raise UntrustedReply("UNDEFINED")
    if not isinstance(found, list) or not all(isinstance(each, dict) and set(each) == {"result"} for each in found):
        raise UntrustedReply("SCHEMA")
    if len(found) != 1:
        raise UntrustedReply("SEVERAL_RESULTS")
    return found[0]["result"]


def _decision(value: object) -> Document:
    if not isinstance(value, dict) or set(value) != {"effect", "reasons", "obligations", "admit"}:
        raise UntrustedReply("SCHEMA")
    if value["effect"] not in [str(each) for each in Effect]:
        raise UntrustedReply("SCHEMA")
    if not all(isinstance(value[key], list) for key in ("reasons", "obligations", "admit")):
        raise UntrustedReply("SCHEMA")
    return value


def _canonical_order(document: Document) -> Document:
    try:
        return {
            "effect": document["effect"],
            "reasons": sorted(document["reasons"], key=encode_plain),
            "obligations": sorted(map(_filter_in_order, document["obligations"]), key=encode_plain),
            "admit": sorted(document["admit"], key=encode_plain),
        }
    except InputRejected as exc:
        raise UntrustedReply("SCHEMA") from exc


def _filter_in_order(obligation: Any) -> Any:
    """The obligation; a filter with its class ids in order, which engines give in different ones."""
    match obligation:
        case {"op": "filter", "params": {"classes": list(classes)} as params}:
            return obligation | {"params": params | {"classes": sorted(classes, key=encode_plain)}}
        case _:
            return obligation


def _ids(values: list[Any]) -> tuple[str, ...]:
    if not all(isinstance(each, str) for each in values) or len(set(values)) != len(values):
        raise UntrustedReply("SCHEMA")
    return tuple(values)


def _reason(value: object) -> Reason:
    fields = _fields(value, {"rule": str, "code": str, "severity": str, "target": dict, "params": dict})
    if fields["severity"] not in SEVERITIES:
        raise UntrustedReply("SCHEMA")
    return Reason(fields["rule"], fields["code"], fields["severity"], _target(fields["target"]), fields["params"])


def _obligation(value: object, point: Point) -> Obligation:
    fields = _fields(value, {"op": str, "target": dict, "rule": str, "params": dict})
    duty = _DUTIES[point].get(fields["op"])
    if duty is None:
        raise UntrustedReply("UNKNOWN_OBLIGATION")
    target = _target(fields["target"])
    if target.kind != duty.target or not duty.fits(fields["params"]):
        raise UntrustedReply("OBLIGATION_INVALID")
    return Obligation(fields["op"], target, fields["rule"], fields["params"])


def _target(value: object) -> Target:
    fields = _fields(value, {"kind": str, "ref": str})
    return Target(fields["kind"], fields["ref"])


def _fields(value: object, kinds: Mapping[str, type]) -> Document:
    if not isinstance(value, dict) or value.keys() != kinds.keys():
        raise UntrustedReply("SCHEMA")
    if not all(type(value[key]) is kind for key, kind in kinds.items()):
        raise UntrustedReply("SCHEMA")
    return value


def _check_targets(reasons: tuple[Reason, ...], obligations: tuple[Obligation, ...], asked: Document) -> None:
    known = {
        "request": {""},
        "answer": {""},
        "collection": set(asked["request"]["collections"]),
        "evidence": {each["id"] for each in asked.get("evidence", ())},
        "sentence": {str(each["i"]) for each in asked.get("answer", {}).get("sentences", ())},
    }
    targets = [each.target for each in reasons] + [each.target for each in obligations]
    for target in targets:
        if target.ref not in known.get(target.kind, ()):
            raise UntrustedReply("TARGET_UNKNOWN")


def _check_admit(point: Point, admit: tuple[str, ...], asked: Document) -> None:
    allowed: set[str] = set()
    if point is not Point.QUERY:
        allowed = {each["id"] for each in asked["evidence"]}
    if point is Point.ANSWER:
        allowed &= set(asked["prior"]["admit"])
    if not set(admit) <= allowed:
        raise UntrustedReply("ADMIT_NOT_SUBSET")


def _check_effect(
    effect: Effect,
    reasons: tuple[Reason, ...],
    obligations: tuple[Obligation, ...],
    others: tuple[Obligation, ...],
    admit: tuple[str, ...],
) -> None:
    denied = any(each.severity == "deny" for each in reasons)
    if denied:
        right = effect is Effect.DENY and not obligations and not admit
    else:
        right = effect is (Effect.ALLOW_WITH_OBLIGATIONS if others else Effect.ALLOW)
    if not right:
        raise UntrustedReply("EFFECT_MISMATCH")


def _check_filter(point: Point, effect: Effect, filters: list[Obligation], asked: Document) -> tuple[str, ...]:
    if point is not Point.QUERY or effect is Effect.DENY:
        return ()
    if len(filters) != 1:
        raise UntrustedReply("FILTER_MISSING")
    classes = filters[0].params["classes"]
    if len(set(classes)) != len(classes) or not set(classes) <= {each["id"] for each in asked["classes"]}:
        raise UntrustedReply("FILTER_NOT_SUBSET")
    return tuple(sorted(classes))
