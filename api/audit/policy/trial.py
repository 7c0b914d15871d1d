"""One input put to one policy point, to see what would be decided: for authors of policy, on the command line and over
HTTP. Nothing is released on such a decision and nothing is recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from api.errors import RequestRejected
from policy.canonical import canonical, digest
from policy.checks import UntrustedReply, check
from policy.engine import MAX_INPUT_BYTES, PolicyEngine
from policy.errors import InputRejected
from policy.messages import text_of
from policy.model import Point
from policy.rules import RuleInfo

DEADLINE_S = 5.0
_LISTS = ("evidence", "classes")


def point_named(name: str) -> Point:
    """The point of that name. Raises RequestRejected."""
    try:
        return Point(name)
    except ValueError:
        raise RequestRejected(f"unknown policy point; known: {', '.join(Point)}") from None


async def tried(
    engine: PolicyEngine,
    point: Point,
    asked: object,
    *,
    rules: Sequence[RuleInfo],
    deadline_s: float = DEADLINE_S,
) -> dict[str, Any]:
    """The checked decision over `asked`, with the reader's text for each reason, and a stamp. What the engine decides
    wrongly is a denial, as it is for a request. Raises InputRejected, PolicyUnavailable."""
    text = canonical(asked)
    if len(text) > MAX_INPUT_BYTES:
        raise InputRejected(f"the input has more than {MAX_INPUT_BYTES:,} bytes")
    reply = await engine.evaluate(f"kfm/ai/{point}", text, deadline_s=deadline_s)
    stamp = {"bundle": reply.bundle_digest, "engine": reply.engine or engine.name, "input": digest(text)}
    texts = {rule.code: rule.reader for rule in rules}
    try:
        decision = check(reply, point=point, asked=_whole(asked), bundle_digest=engine.bundle_digest).document
    except UntrustedReply as exc:
        decision = _denied(exc.code)
    reasons = [each | {"text": texts.get(each["code"]) or text_of(each["code"])} for each in decision["reasons"]]
    return {"point": str(point), **decision, "reasons": reasons, "stamp": stamp}


def trace_of(point: Point, decision: Mapping[str, Any], rules: Sequence[RuleInfo]) -> list[dict[str, Any]]:
    """Every rule of a point in the order of their ids, with what it spoke of; the rules that several points share
    stand in the file of the request."""
    spoken: dict[str, list[Any]] = {}
    for each in (*decision["reasons"], *decision["obligations"]):
        spoken.setdefault(each["rule"], []).append(each["target"])
    files = (f"/{point}.rego", "/request.rego") if point is Point.QUERY else (f"/{point}.rego",)
    of_point = [rule for rule in rules if rule.file.endswith(files) or rule.id in spoken]
    names = ("code", "severity", "title")
    return [
        {"rule": rule.id, **{name: getattr(rule, name) for name in names}, "spoke": spoken.get(rule.id, [])}
        for rule in sorted(of_point)
    ]


def _whole(asked: object) -> dict[str, Any]:
    """The parts of its input that the check of a decision looks up, where they have the right shape."""
    found = dict(asked) if isinstance(asked, Mapping) else {}
    request = found.get("request")
    names = request.get("collections") if isinstance(request, Mapping) else None
    answer, prior = found.get("answer"), found.get("prior")
    sentences = answer.get("sentences") if isinstance(answer, Mapping) else None
    admit = prior.get("admit") if isinstance(prior, Mapping) else None
    return {
        "request": {"collections": _texts(names)},
        **{name: [{"id": each["id"]} for each in _records(found.get(name), "id")] for name in _LISTS},
        "answer": {"sentences": [{"i": each["i"]} for each in _records(sentences, "i")]},
        "prior": {"admit": _texts(admit)},
    }


def _records(value: object, key: str) -> list[Mapping[str, Any]]:
    found = value if isinstance(value, list) else []
    return [each for each in found if isinstance(each, Mapping) and isinstance(each.get(key), str | int)]


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _denied(code: str) -> dict[str, Any]:
    target = {"kind": "request", "ref": ""}
    reason = {"rule": "P00", "code": code, "severity": "deny", "target": target, "params": {}}
    return {"effect": "deny", "reasons": [reason], "obligations": [], "admit": []}
