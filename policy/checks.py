"""An engine's reply -> a decision document that can be trusted, or the code of what is wrong with it.

An engine is believed in nothing: not that it answered, not that it answered once, not that the ids it names were asked
about, not that the obligations it asks for exist. Whatever is wrong is a denial with its own code, never a repaired
decision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from policy.canonical import encode_plain, parse_plain
from policy.engine import Reply
from policy.errors import InputRejected
from policy.model import Effect, Obligation, Point, Reason, Target

MAX_RESULT_BYTES = 4 * 1024 * 1024
INVALID = "POLICY_DECISION_INVALID"
SEVERITIES = frozenset({"deny", "drop"})

Document = dict[str, Any]
Params = Mapping[str, Any]


class Untrusted(Exception):
    """A reply that cannot be acted on; `code` says why. Stays inside the package: `points` makes a denial of it."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.code = f"{INVALID}.{problem}"


@dataclass(frozen=True, slots=True)
class Checked:
    """A decision whose shape, ids and effect have been checked.

    `classes` is the filter, empty but at the query point.
    """

    effect: Effect
    reasons: tuple[Reason, ...]
    obligations: tuple[Obligation, ...]
    admit: tuple[str, ...]
    classes: tuple[str, ...]
    document: Document


def check(reply: Reply, *, point: Point, asked: Document, bundle_digest: str) -> Checked:
    """Check `reply` against the input that was `asked`. Raises Untrusted."""
    if reply.bundle_digest != bundle_digest:
        raise Untrusted("BUNDLE_MISMATCH")
    document = decision_of(reply.results)
    admit = _ids(document["admit"])
    reasons = tuple(_reason(each) for each in document["reasons"])
    obligations = tuple(_obligation(each, point) for each in document["obligations"])
    _check_targets(reasons, obligations, asked)
    _check_admit(point, admit, asked)
    filters = [each for each in obligations if each.op == "filter"]
    others = tuple(each for each in obligations if each.op != "filter")
    effect = Effect(document["effect"])
    _check_effect(effect, reasons, obligations, others, admit)
    classes = _check_filter(point, effect, filters, asked)
    return Checked(effect, reasons, others, admit, classes, document)


def decision_of(results: bytes) -> Document:
    """The one decision of a result set, its arrays in canonical order; its ids are not checked. Raises Untrusted."""
    return _canonical_order(_decision(single_result(results)))


def single_result(results: bytes) -> object:
    """The one value of a result set. Raises Untrusted for none, several, or what is not plain JSON."""
    if len(results) > MAX_RESULT_BYTES:
        raise Untrusted("TOO_LARGE")
    try:
        found = parse_plain(results)
    except ValueError as exc:
        raise Untrusted("NOT_JSON") from exc
    if found == []:
        raise Untrusted("UNDEFINED")
    if not isinstance(found, list) or not all(isinstance(each, dict) and set(each) == {"result"} for each in found):
        raise Untrusted("SCHEMA")
    if len(found) != 1:
        raise Untrusted("SEVERAL_RESULTS")
    return found[0]["result"]


def _decision(value: object) -> Document:
    if not isinstance(value, dict) or set(value) != {"effect", "reasons", "obligations", "admit"}:
        raise Untrusted("SCHEMA")
    if value["effect"] not in [str(each) for each in Effect]:
        raise Untrusted("SCHEMA")
    if not all(isinstance(value[key], list) for key in ("reasons", "obligations", "admit")):
        raise Untrusted("SCHEMA")
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
        raise Untrusted("SCHEMA") from exc


def _filter_in_order(obligation: Any) -> Any:
    """The obligation; a filter with its class ids in order, which engines give in different ones."""
    match obligation:
        case {"op": "filter", "params": {"classes": list(classes)} as params}:
            return obligation | {"params": params | {"classes": sorted(classes, key=encode_plain)}}
        case _:
            return obligation


def _ids(values: list[Any]) -> tuple[str, ...]:
    if not all(isinstance(each, str) for each in values) or len(set(values)) != len(values):
        raise Untrusted("SCHEMA")
    return tuple(values)


def _reason(value: object) -> Reason:
    fields = _fields(value, {"rule": str, "code": str, "severity": str, "target": dict, "params": dict})
    if fields["severity"] not in SEVERITIES:
        raise Untrusted("SCHEMA")
    return Reason(fields["rule"], fields["code"], fields["severity"], _target(fields["target"]), fields["params"])


def _obligation(value: object, point: Point) -> Obligation:
    fields = _fields(value, {"op": str, "target": dict, "rule": str, "params": dict})
    if fields["op"] not in OBLIGATIONS[point]:
        raise Untrusted("UNKNOWN_OBLIGATION")
    kind, right = OBLIGATIONS[point][fields["op"]]
    target = _target(fields["target"])
    if target.kind != kind or not right(fields["params"]):
        raise Untrusted("OBLIGATION_INVALID")
    return Obligation(fields["op"], target, fields["rule"], fields["params"])


def _target(value: object) -> Target:
    fields = _fields(value, {"kind": str, "ref": str})
    return Target(fields["kind"], fields["ref"])


def _fields(value: object, kinds: Mapping[str, type]) -> Document:
    if not isinstance(value, dict) or value.keys() != kinds.keys():
        raise Untrusted("SCHEMA")
    if not all(type(value[key]) is kind for key, kind in kinds.items()):
        raise Untrusted("SCHEMA")
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
            raise Untrusted("TARGET_UNKNOWN")


def _check_admit(point: Point, admit: tuple[str, ...], asked: Document) -> None:
    allowed: set[str] = set()
    if point is not Point.QUERY:
        allowed = {each["id"] for each in asked["evidence"]}
    if point is Point.ANSWER:
        allowed &= set(asked["prior"]["admit"])
    if not set(admit) <= allowed:
        raise Untrusted("ADMIT_NOT_SUBSET")


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
        raise Untrusted("EFFECT_MISMATCH")


def _check_filter(point: Point, effect: Effect, filters: list[Obligation], asked: Document) -> tuple[str, ...]:
    if point is not Point.QUERY or effect is Effect.DENY:
        return ()
    if len(filters) != 1:
        raise Untrusted("FILTER_MISSING")
    classes = filters[0].params["classes"]
    if len(set(classes)) != len(classes) or not set(classes) <= {each["id"] for each in asked["classes"]}:
        raise Untrusted("FILTER_NOT_SUBSET")
    return tuple(sorted(classes))


def _nothing(params: Params) -> bool:
    return not params


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _whole(value: object, *, least: int) -> bool:
    return type(value) is int and value >= least


def _filter(params: Params) -> bool:
    return params.keys() == {"classes", "lifecycle"} and _texts(params["classes"]) and params["lifecycle"] == ["active"]


def _kinds(params: Params) -> bool:
    return params.keys() == {"kinds"} and _texts(params["kinds"]) and bool(params["kinds"])


def _geometry(params: Params) -> bool:
    right = params.keys() == {"metres", "decimals"}
    return right and _whole(params["metres"], least=1) and _whole(params["decimals"], least=0)


def _minimum(params: Params) -> bool:
    return params.keys() == {"minimum"} and _whole(params["minimum"], least=1)


def _span(params: Params) -> bool:
    right = params.keys() == {"kind", "start", "end"} and isinstance(params["kind"], str)
    return right and _whole(params["start"], least=0) and _whole(params["end"], least=params["start"] + 1)


def _catalogue(params: Params) -> bool:
    return params.keys() == {"catalogue"} and isinstance(params["catalogue"], str)


# What each point may ask for: operation -> (kind of its target, whether its parameters are right).
OBLIGATIONS: Mapping[Point, Mapping[str, tuple[str, Callable[[Params], bool]]]] = {
    Point.QUERY: {"filter": ("request", _filter), "neutralise_prompt": ("request", _nothing)},
    Point.EVIDENCE: {
        "drop": ("evidence", _nothing),
        "redact": ("evidence", _kinds),
        "generalise_geometry": ("evidence", _geometry),
        "aggregate_only": ("evidence", _minimum),
        "datamark": ("evidence", _nothing),
    },
    Point.ANSWER: {
        "drop_sentence": ("sentence", _nothing),
        "redact": ("sentence", _span),
        "append_notice": ("answer", _catalogue),
        "abstain": ("answer", _nothing),
    },
}
