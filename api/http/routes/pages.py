"""The pages for people, each with its data. A page holds nothing of the corpus: its scripts read the public API with
the key of the person who opened it. Its twins are the same as their routes of the API give, through the same scope and
authority, as JSON and, of every list, as a table.

A page is an entry of `TWINS`, its routes here, its words in `api/web/static/strings.json` and a script of its name
beside them. It needs a template of its own, `api/web/NAME.html.j2`, only where it begins with more than a lead
(`plain.html.j2`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel
from starlette.responses import HTMLResponse, Response

import api.web
from api.audit.entries.export import CSV, csv_text, documents_csv, found_json
from api.audit.entries.records import Reader
from api.http.callers import Calling, Meters
from api.http.routes import corpus as corpus_route
from api.http.routes import map as map_routes
from api.http.routes.ledger import changes as ledger_changes
from api.http.routes.ledger import difference as ledger_difference
from api.http.routes.ledger import entries as ledger
from api.http.routes.ledger import overview as ledger_overview
from api.http.routes.policy import author as policy_author
from api.http.routes.policy import reading as policy_route
from api.problems import Problem
from api.schemas.corpus import CorpusResponse
from api.schemas.evidence import EntriesResponse, EntryResponse
from api.schemas.ledger.difference import AnswerChanges, DifferenceResponse
from api.schemas.ledger.search import EntryFilters, FacetFilters, FacetsResponse, LogHealthResponse
from api.schemas.map import SuggestionQuery
from api.web.log_page import FORMS
from api.web.page import page, strings
from ledger.model import Kind
from policy.model import Point

router = APIRouter(include_in_schema=False)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_WEB = FilePath(api.web.__file__).parent
_NAV: Mapping[str, str] = {"/": "ask", "/audit": "audit", "/policy": "policy", "/corpus": "corpus"}
TWINS: Mapping[str, tuple[str, ...]] = {
    "/": ("/index.json", "/index/layers.csv", "/index/suggestions.csv"),
    "/audit": (
        *("/audit.json", "/audit.csv", "/audit/facets.json", "/audit/facets.csv"),
        *("/audit/log.json", "/audit/log.csv"),
    ),
    "/audit/compare": ("/audit/compare.json", "/audit/compare.csv"),
    "/audit/changes": ("/audit/changes.json", "/audit/changes.csv"),
    "/audit/{entry_id}": ("/audit/{entry_id}.json", "/audit/{entry_id}.csv"),
    "/corpus": ("/corpus.json", "/corpus.csv", "/corpus/collections.csv", "/corpus/classes.csv", "/corpus/runs.csv"),
    "/policy": ("/policy.json", "/policy/rules.csv", "/policy/matrix.csv", "/policy/changes.csv"),
    "/docs": ("/docs.json",),
}
"""The twins of every page: the first is the whole page, the others its lists."""
_Entry = Annotated[str, Path(pattern=r"^[0-9a-f-]{36}$")]
_COMPARED = ("name", "same", "one", "other")
_HEALTH = ("what", "name", "entries", "t_ms", "detail")
_CLASS = ("class_id", "collection", "label", "handling", "groups", "owner_group", "documents", "roles")
_COLLECTION = ("name", "title", "sources", "records")
_FILE = (
    *("run_id", "source_id", "document_id", "path", "state", "stage", "passages", "observations", "features"),
    *("error_code", "error_message", "updated_ms"),
)
_RULE = ("id", "code", "severity", "title", "reader", "owner", "file", "row", "spoke")
_CHANGE = ("t_ms", "action", "before", "after", "by", "why", "widenings", "entry_id")
_LAYER = ("id", "title", "kind", "geometry_types", "feature_count", "license", "attribution", "uri", "sensitivity")
_SUGGESTION = ("question", "kind", "place_id", "place", "year")


@router.get("/index.json", response_model=None)
async def index_json(call: Calling, caches: map_routes.Caches, metrics: Meters) -> dict[str, Any]:
    """The content that the page of questions begins with: layers and suggestions."""
    layers = await map_routes.layer_documents(call, caches)
    offered = await map_routes.suggestion_documents(SuggestionQuery(), call, caches, metrics)
    return {"layers": layers, "suggestions": offered}


@router.get("/index/layers.csv", response_model=None)
async def layers_csv(call: Calling, caches: map_routes.Caches) -> Response:
    """The layers as a table."""
    return _table(_LAYER, await map_routes.layer_documents(call, caches))


@router.get("/index/suggestions.csv", response_model=None)
async def suggestions_csv(
    wanted: Annotated[SuggestionQuery, Query()], call: Calling, caches: map_routes.Caches, metrics: Meters
) -> Response:
    """The suggestions as a table."""
    return _table(_SUGGESTION, await map_routes.suggestion_documents(wanted, call, caches, metrics))


@router.get("/audit.json", response_model=None)
async def audit_json(call: Calling, filters: Annotated[EntryFilters, Query()]) -> dict[str, Any]:
    """All that the page shows: the entries as `GET /api/v1/ledger/entries` gives them, the counts of the whole search
    as `/facets` does, and the log as `/health` does."""
    named = FacetFilters.model_validate(filters.model_dump(include={*FacetFilters.model_fields} - {"format"}))
    found = await ledger.entries(call, filters.model_copy(update={"format": "json"}))
    counted, log = await ledger_overview.facets(call, named), await ledger_overview.health(call)
    return {**_document(found), "facets": _document(counted), "log": _document(log)}


@router.get("/audit.csv", response_model=None)
async def audit_csv(call: Calling, filters: Annotated[EntryFilters, Query()]) -> EntriesResponse | Response:
    """The same as a table."""
    return await ledger.entries(call, filters.model_copy(update={"format": "csv"}))


@router.get("/audit/facets.json", response_model=None)
async def facets_json(call: Calling, filters: Annotated[FacetFilters, Query()]) -> FacetsResponse | Response:
    """The counts of a search, as `GET /api/v1/ledger/facets` gives them."""
    return await ledger_overview.facets(call, filters.model_copy(update={"format": "json"}))


@router.get("/audit/facets.csv", response_model=None)
async def facets_csv(call: Calling, filters: Annotated[FacetFilters, Query()]) -> FacetsResponse | Response:
    """The same as a table."""
    return await ledger_overview.facets(call, filters.model_copy(update={"format": "csv"}))


@router.get("/audit/log.json", response_model=None)
async def log_json(call: Calling) -> LogHealthResponse:
    """The health of the log, as `GET /api/v1/ledger/health` gives it."""
    return await ledger_overview.health(call)


@router.get("/audit/log.csv", response_model=None)
async def log_csv(call: Calling) -> Response:
    """Its lists as one table: witnesses, requests without an outcome, gaps."""
    log = await ledger_overview.health(call)
    rows: list[dict[str, Any]] = [
        {"what": "witness", "name": each.name, "entries": each.size, "t_ms": each.cosigned_ms, "detail": each.key}
        for each in log.witnesses
    ]
    rows += [{"what": "open request", "name": each.entry_id, "t_ms": each.t_ms} for each in log.open_requests]
    rows += [{"what": "gap", "name": each} for each in log.gaps]
    return _table(_HEALTH, rows)


@router.get("/audit/compare.json", response_model=None)
async def compare_json(call: Calling, a: ledger_difference.EntryId, b: ledger_difference.EntryId) -> DifferenceResponse:
    """The comparison, as `GET /api/v1/ledger/difference` gives it."""
    return await ledger_difference.compare(call, a, b)


@router.get("/audit/compare.csv", response_model=None)
async def compare_csv(call: Calling, a: ledger_difference.EntryId, b: ledger_difference.EntryId) -> Response:
    """The comparison as a table."""
    found = await ledger_difference.compare(call, a, b)
    return _table(_COMPARED, [each.model_dump() for each in found.rows])


@router.get("/audit/changes.json", response_model=None)
async def changes_json(call: Calling, entry: ledger_difference.EntryId) -> AnswerChanges | Response:
    """The changes, as `GET /api/v1/ledger/entries/{entry_id}/changes` gives them."""
    return await ledger_changes.changes(entry, call, "json")


@router.get("/audit/changes.csv", response_model=None)
async def changes_csv(call: Calling, entry: ledger_difference.EntryId) -> AnswerChanges | Response:
    """The same as a table."""
    return await ledger_changes.changes(entry, call, "csv")


@router.get("/audit/{entry_id}.json", response_model=None)
async def entry_json(entry_id: str, call: Calling) -> EntryResponse:
    """An entry, as `GET /api/v1/ledger/entries/{entry_id}` gives it."""
    return await ledger.entry(entry_id, call)


@router.get("/audit/{entry_id}.csv", response_model=None)
async def entry_csv(entry_id: _Entry, call: Calling) -> Response:
    """The same as a table of one row."""
    found = await Reader(call.caller, call.request_id, call.system.services).entry(entry_id)
    return Response(csv_text([found_json(found, None)]), media_type=CSV)


@router.get("/corpus.json", response_model=None)
async def corpus_json(call: Calling) -> CorpusResponse | Response:
    """The page's data, as `GET /api/v1/corpus` gives it."""
    return await corpus_route.corpus(call, "json")


@router.get("/corpus.csv", response_model=None)
async def corpus_csv(call: Calling) -> CorpusResponse | Response:
    """The versions as a table."""
    return await corpus_route.corpus(call, "csv")


@router.get("/corpus/collections.csv", response_model=None)
async def collections_csv(call: Calling) -> Response:
    """The collections as a table."""
    return _table(_COLLECTION, (await _corpus(call))["collections"])


@router.get("/corpus/classes.csv", response_model=None)
async def classes_csv(call: Calling) -> Response:
    """The visibility classes as a table."""
    return _table(_CLASS, (await _corpus(call))["classes"])


@router.get("/corpus/runs.csv", response_model=None)
async def runs_csv(call: Calling) -> Response:
    """The files of the ingest runs as a table."""
    runs = (await _corpus(call))["runs"]
    return _table(_FILE, [{"run_id": run["run_id"], **file} for run in runs for file in run["files"]])


async def _corpus(call: Calling) -> dict[str, Any]:
    found: dict[str, Any] = _document(await corpus_route.corpus(call, "json"))
    return found


@router.get("/policy.json", response_model=None)
async def policy_json(call: Calling) -> dict[str, Any]:
    """All that the page shows: the bundle in force as `GET /api/v1/policy/bundle` gives it, its rules as `/rules`, and
    `/matrix` and `/releases`."""
    rules = _document(await policy_author.rules(call))
    shown = {"matrix": await policy_author.matrix(call), "releases": await policy_author.releases(call)}
    bundle = _document(await policy_route.bundle(call))
    return {**bundle, **rules, **{name: _document(each) for name, each in shown.items()}}


@router.get("/policy/rules.csv", response_model=None)
async def rules_csv(call: Calling) -> Response:
    """The rules as a table."""
    return _table(_RULE, _document(await policy_author.rules(call))["rules"])


@router.get("/policy/matrix.csv", response_model=None)
async def matrix_csv(call: Calling) -> Response:
    """Roles against labels and tags, as a table."""
    found = await policy_author.matrix(call)
    columns = (*found.labels, *found.tags)
    rows = [{"role": role, **dict(zip(columns, cells, strict=True))} for role, cells in found.cells.items()]
    return _table(("role", *columns), rows)


@router.get("/policy/changes.csv", response_model=None)
async def policy_changes_csv(call: Calling) -> Response:
    """The changes of policy as a table."""
    return _table(_CHANGE, _document(await policy_author.releases(call))["changes"])


@router.get("/docs.json", response_model=None)
async def docs_json(request: Request) -> dict[str, Any]:
    """The description of the API, as `/openapi.json` gives it."""
    described: dict[str, Any] = request.app.openapi()
    return described


@router.get("/")
async def ask() -> HTMLResponse:
    """Ask on the map."""
    return _page("/", "ask", layout="ask", forms=FORMS)


@router.get("/audit")
async def audit() -> HTMLResponse:
    """Search the ledger."""
    return _page("/audit", "audit", layout="columns", kinds=[str(kind) for kind in Kind])


@router.get("/audit/compare")
async def compare() -> HTMLResponse:
    """Two entries beside each other."""
    return _page("/audit", "compare", layout="record", path="/audit/compare")


@router.get("/audit/changes")
async def changes() -> HTMLResponse:
    """Since when a question is answered differently."""
    return _page("/audit", "changes", layout="record", path="/audit/changes")


@router.get("/audit/{entry_id}")
async def entry(entry_id: _Entry) -> HTMLResponse:
    """One entry: its page says no more than the id, whether there is such an entry or not."""
    return _page("/audit", "entry", layout="record", path="/audit/{entry_id}", entry_id=entry_id, forms=FORMS)


@router.get("/evidence/{document_id}")
async def piece(document_id: str) -> HTMLResponse:
    """A piece of evidence: its page is the same for every document, whether there is such a document or not."""
    return _page("", "piece", layout="record")


@router.get("/corpus")
async def corpus() -> HTMLResponse:
    """Sources, labels and ingest runs."""
    return _page("/corpus", "corpus", layout="wide")


@router.get("/policy")
async def policy() -> HTMLResponse:
    """The policy in force, and candidates."""
    return _page("/policy", "policy", layout="wide", points=[str(point) for point in Point])


def _page(here: str, name: str, *, layout: str, path: str | None = None, **values: Any) -> HTMLResponse:
    """A page below `here` of the navigation; `path` is its own where it is another."""
    words = strings()
    nav = [(path, getattr(words.site, each)) for path, each in _NAV.items()]
    own = getattr(words, name)
    twins = [each.format_map(values) for each in TWINS.get(path or here, ())]
    template = f"{name}.html.j2" if (_WEB / f"{name}.html.j2").exists() else "plain.html.j2"
    frame = {"title": own.title, "layout": layout, "here": here, "nav": nav, "twins": twins}
    html = page(template, name=name, words=own, **frame, **values)
    return HTMLResponse(html, headers={"content-security-policy": POLICY, "cache-control": "no-cache"})


def problem_page(problem: Problem, request_id: str, headers: Mapping[str, str]) -> HTMLResponse:
    """A failed request, told to a person: what its JSON says."""
    found = _page("", "problem", layout="record", problem=problem, request_id=request_id)
    found.status_code = problem.status
    found.headers.update({**headers, "vary": "accept"})
    return found


def _table(columns: tuple[str, ...], documents: list[dict[str, Any]]) -> Response:
    return Response(documents_csv(columns, documents), media_type=CSV)


def _document(answer: BaseModel | Response) -> Any:
    """An answer of a route as JSON; of one that was asked for JSON."""
    assert isinstance(answer, BaseModel)  # noqa: S101 - narrows the type of a route that has other formats
    return answer.model_dump(mode="json")
