"""The parameters of every surface, each tried on what is withheld: filters by its fields, orders, pages and their cursors,
groups, times, names. A parameter is a question of its own: the same route with another one may read something else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.withheld import KANSAS, NOT_ASKED, Call

FERRY = "Who kept the ferry at Lecompton?"
_FIELDS = ("source_id", "title", "collection", "label", "year", "kind", "handling", "groups", "valid_until", "lang")
_WITHHELD = ("secret", "vault", "secret-forts", "mounds", "Secret", "restricted", "internal", "insiders", "esther")
_BOX = [-101.0, 37.0, -94.0, 46.0]
_AREA = {
    "type": "Polygon",
    "coordinates": [[[-96.3, 38.9], [-96.1, 38.9], [-96.1, 39.2], [-96.3, 39.2], [-96.3, 38.9]]],
}
_LOOKUP = {"_type": "Lookup", "measure": "population", "place_ids": ["county:1", "county:9"], "year": 1930}
_SPAN = {"start": "1856-01-01", "end": "1858-12-31"}


def _filters() -> Iterator[Mapping[str, Any]]:
    """Each operator, over fields and values that say something of what is withheld."""
    for n, field in enumerate(_FIELDS):
        value = _WITHHELD[n % len(_WITHHELD)]
        yield {"exists": {field: True}}
        yield {"eq": {field: value}}
    yield from ({"ne": {"source_id": each}} for each in ("secret", "ferry"))
    yield {"not": {"in": {"source_id": ["ferry", "mill", "counties", "forts"]}}}
    yield {"nin": {"source_id": ["ferry", "mill"]}}
    yield {"in": {"source_id": ["secret", "vault", "nowhere"]}}
    for operator in ("lt", "lte", "gt", "gte"):
        yield {operator: {"year": 1857}}
        yield {operator: {"source_id": "q"}}
    yield {"any": [{"eq": {"source_id": "ferry"}}, {"eq": {"source_id": "secret"}}]}
    yield {"all": [{"exists": {"source_id": True}}, {"gt": {"source_id": "m"}}]}
    yield {"contains_any": {"title": ["Secret", "Vault"]}}
    yield {"contains_all": {"groups": ["insiders"]}}


def _operators() -> Iterator[Mapping[str, Any]]:
    """One filter of each operator."""
    yield from {next(iter(each)): each for each in _filters()}.values()


def _questions() -> Iterator[Call]:
    """Questions with each part of their context and options."""
    contexts: Sequence[Mapping[str, Any]] = (
        {"place_id": "county:9"},
        {"place_id": "fort:f9"},
        {"geometry": _AREA},
        {"year_range": [1856, 1858]},
        {"time_range": _SPAN},
        {"active_layers": ["secret-forts", "mounds"]},
        {"story_node_id": "secret"},
        {"place": "Atlantis County", "bbox": _BOX, "year": 1930},
    )
    asked = {"question": FERRY}
    for path in ("/api/v1/ai/query", "/api/v1/ai/stream"):
        yield from (Call("POST", path, {**asked, "context": each}) for each in contexts)
        options: Sequence[Mapping[str, Any]] = (
            {"top_k": 1},
            {"top_k": 50, "seed": 7, "temperature": 0.5, "max_tokens": 60},
            {"profile": "focus"},
            {"collections": ["kansas", "vault"]},
            {"plan": [_LOOKUP]},
            {"plan": [{"_type": "Neighbours", "place_id": "county:9"}]},
            {"format": "FeatureCollection"},
        )
        yield from (Call("POST", path, {**asked, "options": each}) for each in options)
        yield Call("POST", path, {**asked, "purpose": "education", "session_id": "s1"})
        yield from (Call("POST", path, {**asked, name: "default"}) for name in ("tenant", "tenant_id"))
    told = [{"role": "user", "parts": [{"type": "text", "text": FERRY}]}]
    yield Call("POST", "/api/v1/ai/stream?format=ui-message-stream", {"messages": told})


def _passages() -> Iterator[Call]:
    own = {"query": "ferry mill flood of Alder County", "top_k": 10, "trace": True}
    yield from (Call("POST", "/retrieval/query", {**own, "filters": each}) for each in _filters())
    for more in (
        {"group_by": {"field": "source_id", "per_group": 1}},
        {"group_by": {"field": "collection", "per_group": 2}},
        {"hybrid": {"bm25": 1.0}},
        {"hybrid": {"bm25": 0.2, "vector": 0.8}},
        {"vector": {"embedding": [1.0] + [0.0] * 767, "model": "unknown"}},
        {"rerank": {"enabled": True, "model": "none", "top_n": 2}},
        {"span": {"window_tokens": 4, "surround_tokens": 4}},
        *({"collection": name} for name in ("kansas", "vault", "nowhere")),
        *({"tenant": name} for name in ("default", "other")),
        {"timeout_ms": 60_000},
    ):
        yield Call("POST", "/retrieval/query", {**own, **more})
        yield Call("POST", "/retrieval/pack", {**own, **more, "token_budget": 60})
    yield from (Call("POST", "/retrieval/pack", {**own, "filters": each}) for each in _operators())
    profiles = [{"name": "words", "hybrid": {"bm25": 1.0, "vector": 0.0}, "rerank": False}]
    queries = [{"query": FERRY, "relevant": ["secret", "vault", "ferry"]}]
    yield Call("POST", "/retrieval/ablation", {"queries": queries, "profiles": profiles, "k": 3, "tenant": "default"})
    for name in ("default", "other"):
        yield Call("POST", "/retrieval/mget", {"ids": ["secret", "vault"], "tenant": name})
        yield Call("POST", "/retrieval/expand", {"query": FERRY, "tenant": name})
    basic = {"query": FERRY, "tenant_id": "default", "kb_id": KANSAS, "similarity_threshold": 0}
    agentic = {"query": FERRY, "tenant_id": "default", "reasoning_effort": "low", "max_latency_ms": 60_000}
    yield Call("POST", "/api/v1/retrieve/basic", {**basic, "top_k": 2})
    for each in _operators():
        yield Call("POST", "/api/v1/retrieve/basic", {**basic, "filters": each})
    for n, each in enumerate(_operators()):
        more = {
            "max_steps": 2,
            "token_budget": 500,
            "mode": ("keyword", "vector", "hybrid")[n % 3],
            "top_k_per_step": 3,
        }
        yield Call("POST", "/api/v1/retrieve/agentic", {**agentic, **more, "kb_ids": [KANSAS], "filters": each})


def _maps() -> Iterator[Call]:
    for layer in ("forts", "mounds", "secret-forts"):
        path = f"/api/v1/layers/{layer}/features"
        for more in (
            "limit=1",
            "limit=1&after=forts%23f1",
            "after=forts%23f9",
            "after=fort:f9",
            "datetime=1850",
            "datetime=1849/..",
            "zoom=3",
        ):
            yield Call("GET", f"{path}?{more}")
    for name in ("fort", "a", "m", "w"):
        yield Call("GET", f"/api/v1/places?q={name}&limit=1")
    for more in ("place=county:9", "place=Atlantis%20County", "layer=secret-forts", "layer=mounds", "time=1857"):
        yield Call("GET", f"/api/v1/ai/suggestions?{more}&limit=3")
    for more in ("row=0&col=name", "feature=f9", "p=1", "c=0-20&mark=0-5", "c=0-20"):
        yield from (
            Call("GET", f"/api/v1/evidence/{id}?{more}") for id in ("secret@000000000000", "nowhere@000000000000")
        )
    for more in ("computations/{entry}/1?limit=1", "computations/{entry}/1?after=1&limit=2", "{prov}?format=jsonld"):
        yield Call("POST", "/api/v1/ai/query", {"question": "What was the total population of the counties in 1930?"})
        yield Call("GET", f"/api/v1/{more.replace('{prov}', 'ledger/entries/{entry}/prov')}")


def _registry() -> Iterator[Call]:
    assets, entities, relationships, paths = (
        f"/api/v1/registry/{kind}/query" for kind in ("assets", "entities", "relationships", "paths")
    )
    for field in ("asset_id", "title", "asset_type", "lifecycle", "created_at", "updated_at"):
        yield Call("POST", assets, {"sort_by": field, "sort_order": "desc", "limit": 2})
        yield Call("POST", assets, {"sort_by": field, "limit": 2, "offset": 2})
    yield Call("POST", assets, {"limit": 1})
    yield Call("POST", assets, {"limit": 1, "cursor": "{cursor}"})
    for more in (
        {"asset_types": ["features"]},
        *({"sensitivities": [each]} for each in ("public", "restricted", "internal")),
        *({name: ["secret", "archivists", "ada"]} for name in ("owners", "topics", "tags", "workflow_runs")),
        {"review_states": ["open", "reviewed"]},
        {"collections": ["vault"]},
        *({name: ["secret", "vault", "file"]} for name in ("source_systems", "source_names")),
        {"representation_kinds": ["extracted"]},
        {"created_from_ms": 1},
        {"created_until_ms": 1},
        {"updated_from_ms": 1},
        {"updated_until_ms": 4_000_000_000_000},
        *({"entities": [each]} for each in ("county:9", "county:1", "fort:f9")),
        {"related_assets": ["secret"]},
        {"predicates": ["mentions", "located_in"]},
        *({"metadata": each} for each in _filters()),
    ):
        yield Call("POST", assets, {"limit": 50, **more})
    for name in ("sort_by", "limit", "offset", "external_references", "name"):
        given: Any = {
            "sort_by": "name",
            "limit": 1,
            "offset": 3,
            "external_references": ["county:9"],
            "name": "Atlantis",
        }
        yield Call("POST", entities, {name: given[name], "sort_order": "desc"})
    yield Call("POST", entities, {"limit": 1})
    yield Call("POST", entities, {"limit": 1, "cursor": "{cursor}"})
    yield from (Call("POST", entities, {"metadata": each}) for each in _operators())
    for more in (
        {"sources": ["secret", "county:9"]},
        {"targets": ["county:9", "fort:f9"]},
        *({"entity": "county:1", "direction": each} for each in ("outgoing", "incoming", "both")),
        {"predicates": ["population"]},
        {"target_types": ["county"]},
        {"assets": ["secret", "vault"]},
        {"workflow_runs": ["secret"]},
        {"valid_on": "1930-01-01"},
        {"sort_by": "predicate", "sort_order": "desc", "offset": 1},
        {"limit": 1},
        {"limit": 1, "cursor": "{cursor}"},
    ):
        yield Call("POST", relationships, more)
    for more in (
        *({"direction": each} for each in ("outgoing", "incoming", "both")),
        {"entities": ["county:9", "fort:f9", "county:2"], "hops": 4},
        {"predicates": ["borders", "mentions"]},
        {"types": ["county", "fort"]},
        {"targets": ["county:9", "county:2"]},
        {"valid_on": "1930-01-01"},
        {"sort_by": "entity_id", "sort_order": "asc", "offset": 1},
        {"limit": 1},
        {"limit": 1, "cursor": "{cursor}"},
    ):
        yield Call("POST", paths, {"entities": ["county:1"], "hops": 3, **more})


def _log() -> Iterator[Call]:
    """What an auditor without clearance may ask of the log."""
    asked = {
        "kind": "outcome",
        "outcome": "ANSWER",
        "model": "extractive",
        "rule": "E07",
        "text": "Lecompton",
        "place": "Atlantis",
        "source": "secret",
        "cited": "secret",
        "subject": "anonymous",
        "actor": "0" * 32,
        "id": "{entry}",
        "hash": "0" * 64,
        "request_id": "none",
        "day": "2001-01-01",
        "since": "2001-01-01T00:00:00Z",
        "until": "2990-01-01T00:00:00Z",
    }
    for name, value in asked.items():
        yield Call("GET", f"/api/v1/ledger/entries?{name}={value}", key="auditor")
        yield Call("GET", f"/api/v1/ledger/facets?{name}={value}", key="auditor")
    for more in ("after=0&limit=1", "summary=true&format=csv", "parts=answer", "source=vault&limit=1"):
        yield Call("GET", f"/api/v1/ledger/entries?{more}", key="auditor")
    yield Call("GET", "/api/v1/ledger/facets?source=vault&format=csv", key="auditor")


def _remarks() -> Iterator[Call]:
    """Remarks on what was shown, on what is withheld, and on what is nowhere."""
    yield Call("POST", "/api/v1/ai/query", {"question": FERRY})
    for id in ("ferry", "secret", "secret@000000000000#c0", "vault", "nowhere", "county:9"):
        label = {"entry_id": "{entry}", "chunk_id": id, "label": "wrong", "comment": "x", "tenant": "default"}
        remark = {"entry_id": "{entry}", "kind": "wrong", "result": id, "notes": "x", "metadata": {"of": id}}
        yield Call("POST", "/retrieval/feedback", label)
        yield Call("POST", "/api/v1/registry/feedback", remark)


def varied() -> tuple[Call, ...]:
    """Every call, in order: `{cursor}` is that of the reply before."""
    return (*_questions(), *_passages(), *_maps(), *_registry(), *_remarks(), *_log())


NOT_VARIED: Mapping[str, str] = {
    "Idempotency-Key": "of the one who asks: his own reply again (tests/api/test_idempotency.py)",
    "Last-Event-ID": "of the one who asks: the rest of his own stream",
    "GET /api/v1/corpus": "closed to the reader, whatever is asked",
    "GET /api/v1/jobs": "about what the caller sent",
    "GET /api/v1/registry/feedback": "closed to the reader, whatever is asked",
    "GET /api/v1/policy/rules": "closed to the reader, whatever is asked",
}
"""Parameters by name, and routes with all of theirs, that are not tried, and why."""


def parameters(described: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(route, parameter) of an OpenAPI document: of path and header by name, of a body by the keys that lead there. A
    schema inside itself (a filter in a filter) is followed once."""
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            route = f"{method.upper()} {path}"
            for each in operation.get("parameters", ()):
                if each["in"] != "path":
                    yield route, each["name"]
            for content in operation.get("requestBody", {}).get("content", {}).values():
                schemas = described["components"]["schemas"]
                yield from ((route, key) for key in dict.fromkeys(_keys(content["schema"], schemas, ())))


def _keys(schema: Mapping[str, Any], schemas: Mapping[str, Any], seen: tuple[str, ...]) -> Iterator[str]:
    if (name := schema.get("$ref", "").rpartition("/")[2]) in seen:
        return
    if name:
        seen, schema = (*seen, name), schemas[name]
    for part in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())):
        yield from _keys(part, schemas, seen)
    if "items" in schema:
        yield from _keys(schema["items"], schemas, seen)
    for key, value in schema.get("properties", {}).items():
        yield key
        yield from (f"{key}.{more}" for more in _keys(value, schemas, seen))


def given(call: Call) -> set[str]:
    """The parameters that a call states."""
    query = {each.partition("=")[0] for each in call.path.partition("?")[2].split("&")}
    return query | {*_stated(call.body or {})}


def _stated(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield key
            yield from (f"{key}.{more}" for more in _stated(each))
    if isinstance(value, list | tuple):
        for each in value:
            yield from _stated(each)


def fits(route: str, call: Call) -> bool:
    """True if the call is one of the route."""
    method, _, path = route.partition(" ")
    pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path))
    return call.method == method and re.fullmatch(pattern, call.path.partition("?")[0]) is not None


def untried(described: Mapping[str, Any], asked: Sequence[Call]) -> list[str]:
    """Parameters of the routes that are asked which no call states, and that are not left out with a reason."""
    found = []
    by_route: dict[str, set[str]] = {}
    for route, name in parameters(described):
        if route in NOT_ASKED or route in NOT_VARIED or name in NOT_VARIED:
            continue
        if route not in by_route:
            by_route[route] = set[str]().union(*(given(call) for call in asked if fits(route, call)))
        if name not in by_route[route]:
            found.append(f"{route}: {name}")
    return found
