"""Generated inputs: sound ones over the bundle's domain, each with some facts turned and, in about half, some damaged
(keys missing, wrong types, nulls, odd text). One seed gives the same inputs everywhere.

Facts are turned one kind at a time (`TURNS`), so that every rule of the shipped bundle speaks often and is silent
often, and enough inputs stay allowed to compare what is let through.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policy.authoring.lattice.domain import (
    GROUP,
    LIFECYCLES,
    NOW_MS,
    OTHER_GROUP,
    OTHER_TENANT,
    UNKNOWN,
    Document,
    Domain,
    allowed,
)
from policy.authoring.testing.canary import EMPTY
from policy.data import APPEAL_KINDS, CLAIM_KINDS
from policy.model import Point

ODD: tuple[object, ...] = (
    None, True, False, 0, -1, 2**53 - 1, "", "x", "日本 😀", "a\u0000b", "\u2028", "e\u0301", [], [None], ["g1"],
    [["k-open"]], {}, {"x": "g1"}, {"id": "e1"}, "public", "t1", "allow",
)  # fmt: skip
SIZES = (0, 1, 2, 5, 20, 60, 200)
_SIZE_WEIGHTS = (4, 14, 28, 28, 18, 6, 2)
_FINDINGS = ({"kind": "pii.email", "start": 0, "end": 9}, {"kind": "date", "start": 0, "end": 4})
_CONTRADICTED = {"kind": "prose", "verdict": "contradicted"}
_LEAK = {"kind": "canary", "start": 0, "end": 3}

Turn = Callable[[random.Random, Domain, Document], None]


def generated(point: Point, domain: Domain, *, count: int, seed: int = 0) -> Iterator[Any]:
    """`count` inputs for the point; JSON values, most of them objects."""
    draw = random.Random(f"{seed} {point}")  # noqa: S311  inputs that can be made again, no secrets
    for _ in range(count):
        if draw.random() < 0.005:
            yield draw.choice(EMPTY)
            continue
        document = _sized(point, domain, draw)
        for turn in draw.sample(TURNS[point], draw.choice((0, 1, 1, 2))):
            turn(draw, domain, document)
        damages = draw.choice((0, 0, 0, 1, 1, 2))
        if damages:
            document = json.loads(json.dumps(document))  # a copy: the values above are shared
        for _ in range(damages):
            _damage(draw, document)
        yield document


def _sized(point: Point, domain: Domain, draw: random.Random) -> Document:
    """The allowed input with as many records as drawn, their facts drawn over the domain."""
    document = allowed(point, domain)
    if draw.random() < 0.6:
        _asker(draw, domain, document)
    size = draw.choices(SIZES, _SIZE_WEIGHTS)[0]
    if point is Point.QUERY:
        document["classes"] = [_drawn(draw, domain, document["classes"], f"k{i}") for i in range(size)]
        return document
    document["evidence"] = [_drawn(draw, domain, document["evidence"], f"e{i}") for i in range(size)]
    if point is Point.ANSWER:
        ids = [item["id"] for item in document["evidence"]]
        document["prior"]["admit"] = [id for id in ids if draw.random() < 0.9]
        document["answer"]["sentences"] = [_sentence(draw, i, ids) for i in range(min(size, draw.choice((1, 4, 8))))]
    return document


def _drawn(draw: random.Random, domain: Domain, of: list[Document], id: str) -> Document:
    """A copy of one of the records; now and then with another label, tag, group, state or end."""
    record = draw.choice(of) | {"id": id}
    if draw.random() < 0.3:
        key = draw.choice(("label", "handling", "groups", "lifecycle", "valid_until_ms", "injection", "findings"))
        if key in record:
            record[key] = _value(draw, domain, key)
    return record


def _value(draw: random.Random, domain: Domain, key: str) -> object:
    if key == "handling":
        return draw.sample((*domain.tags, UNKNOWN), draw.choice((1, 1, 2)))
    values: Mapping[str, tuple[object, ...]] = {
        "label": (*domain.labels, UNKNOWN),
        "groups": ([], [GROUP], [OTHER_GROUP], [GROUP, OTHER_GROUP], [*domain.tag_groups]),
        "lifecycle": (*LIFECYCLES, UNKNOWN),
        "valid_until_ms": (None, 0, NOW_MS, NOW_MS + 1),
        "injection": tuple({"score_milli": score, "rules": []} for score in (0, 300, 301, 499, 500, 1_000)),
        "findings": ([], [_FINDINGS[0]], list(_FINDINGS), [_FINDINGS[1]]),
    }
    return draw.choice(values[key])


def _sentence(draw: random.Random, i: int, ids: list[str]) -> Document:
    cited = draw.sample(ids, min(len(ids), draw.choice((1, 1, 2, 3))))
    support = draw.choice((900, 900, 900, 500, 499, 0))
    findings = draw.choice(([], [], [], [], [_FINDINGS[0]], [_FINDINGS[1]]))
    claims = [_claim(draw) for _ in range(draw.choice((1, 1, 2, 3)))]
    said = {"i": i, "catalogue": None, "citations": cited, "support_milli": support, "findings": list(findings)}
    return said | {"claims": claims, "answers": draw.random() < 0.7, "appeals": _appeals(draw)}


def _appeals(draw: random.Random) -> Document:
    kinds = sorted(APPEAL_KINDS)
    return {
        "kinds": draw.sample(kinds, draw.choice((0, 0, 0, 1, 2))),
        "asked": draw.sample(kinds, draw.choice((0, 1, 3))),
        "collections": draw.choice((["official"], ["official"], ["census"], ["census", "official"])),
        "quoted": draw.random() < 0.1,
    }


def _claim(draw: random.Random) -> Document:
    verdict = draw.choice((*["borne_out"] * 16, "judged", "contradicted", "not_in_source", "not_checkable", UNKNOWN))
    return {"kind": draw.choice((*sorted(CLAIM_KINDS), UNKNOWN)), "verdict": verdict}


def _asker(draw: random.Random, domain: Domain, document: Document) -> None:
    role = draw.choice(domain.roles)
    groups = draw.sample((GROUP, OTHER_GROUP, *domain.tag_groups), draw.choice((0, 1, 2)))
    subject = domain.asker(role, groups)
    document["subject"] |= {
        "roles": list(subject.roles),
        "groups": list(subject.groups),
        "capabilities": list(subject.capabilities),
        "clearance": subject.clearance,
    }


def _set(*path: str, to: Callable[[random.Random, Domain], object]) -> Turn:
    """The value at a path of keys; a star picks one element, and nothing is turned where there is none."""

    def turn(draw: random.Random, domain: Domain, document: Document) -> None:
        place: Any = document
        for key in path[:-1]:
            if key == "*":
                if not place:
                    return
                place = draw.choice(place)
            else:
                place = place[key]
        place[path[-1]] = to(draw, domain)

    return turn


def _one_of(*values: object) -> Callable[[random.Random, Domain], object]:
    return lambda draw, _domain: draw.choice(values)


def _repeat(name: str) -> Turn:
    def turn(draw: random.Random, _domain: Domain, document: Document) -> None:
        if document[name]:
            document[name].append(dict(draw.choice(document[name])))

    return turn


_REQUEST: tuple[Turn, ...] = (
    _set("schema", to=_one_of("exhibit.policy.input/2")),
    _set("point", to=_one_of("elsewhere", "query", "answer")),
    _set("now_ms", to=_one_of(-1, "now", NOW_MS * 9)),
    _set("subject", "id", to=_one_of("", "u2")),
    _set("subject", "tenant", to=_one_of("", OTHER_TENANT)),
    _set("subject", "roles", to=_one_of([], ["root"], ["operator"])),
    _set("subject", "clearance", to=lambda draw, domain: draw.choice((*domain.labels, UNKNOWN))),
    _set("subject", "session_expires_ms", to=_one_of(NOW_MS, NOW_MS + 1, "never", 0)),
    _set("subject", "tenant_suspended", to=_one_of(True, False, "no")),
    _set("request", "purpose", to=lambda draw, domain: draw.choice((*domain.purposes, UNKNOWN))),
)
_PROMPT: tuple[Turn, ...] = (_set("prompt", "verdict", to=_one_of("SANITIZE", "SANITIZE", "REJECT", "MAYBE")),)
_ITEMS: tuple[Turn, ...] = (
    _repeat("evidence"),
    _set("evidence", "*", "class_id", to=_one_of("k-open", "k-other", "")),
    _set("evidence", "*", "tenant", to=_one_of(OTHER_TENANT)),
    _set("evidence", "*", "indexed_sha256", to=_one_of("bb", "")),
)

TURNS: Mapping[Point, tuple[Turn, ...]] = {
    Point.QUERY: (
        *_REQUEST,
        *_PROMPT * 2,
        _repeat("classes"),
        _set("request", "collections", to=_one_of(["census"], ["census", "notes"], ["nowhere"], "census", [1])),
        _set("request", "collections", to=_one_of(["census"], ["files"], ["日本"])),
        _set("classes", "*", "tenant", to=_one_of(OTHER_TENANT)),
        _set("classes", "*", "allow_list", to=_one_of(["u1"], ["u2"], {"x": "u1"})),
        _set("classes", "*", "owner_group", to=_one_of(GROUP, OTHER_GROUP, None)),
    ),
    Point.EVIDENCE: (
        *_REQUEST,
        *_PROMPT,
        *_ITEMS * 2,
        _set("prior", "query", to=_one_of("", 7)),
        _set("prior", "admit", to=_one_of([], ["k-open"], {"x": "k-open"})),
        _set("classes", "*", "label", to=lambda draw, domain: draw.choice((*domain.labels, UNKNOWN))),
        _set("evidence", to=_one_of({}, [])),
    ),
    Point.ANSWER: (
        *_REQUEST,
        *_ITEMS,
        _set("prior", "evidence", to=_one_of("", 7)),
        _set("prior", "admit", to=_one_of(["e0", "e1", "e2"], [])),
        _set("answer", "sentences", "*", "citations", to=_one_of(["e0"], ["e9999"], ["e1", "e9999"], [], "e1")),
        _set("answer", "sentences", "*", "findings", to=_one_of([_LEAK], [_LEAK, _FINDINGS[0]], None)),
        _set("answer", "sentences", "*", "catalogue", to=_one_of("ABSTAIN", "NOTICE_SENSITIVE", "")),
        _set("answer", "sentences", "*", "i", to=_one_of(7)),
        _set("answer", "sentences", "*", "claims", to=_one_of([], None, {}, [_CONTRADICTED])),
        _set("answer", "sentences", "*", "appeals", to=_one_of({}, None, {"kinds": ["link"]})),
        _set("answer", "sentences", "*", "answers", to=_one_of(False, None, "true")),
        _set("answer", "sentences", to=_one_of([], {})),
    ),
}
"""Properties that can be altered at each point."""


def _damage(draw: random.Random, document: Document) -> None:
    """One key deleted or one value replaced, anywhere."""
    places = list(_places(document))
    place, key = draw.choice(places)
    if draw.random() < 0.4:
        del place[key]
    else:
        place[key] = copy.deepcopy(draw.choice(ODD))


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])
