"""`/api/v1/layers`, `/features` and `/places`: the corpus as a map."""

from __future__ import annotations

import gzip
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import JSONResponse, Response

from api.errors import NoSuchThing
from api.http.callers import SECURITY, Call, Calling, Meters
from api.http.map.features import Wanted, read_feature, read_page
from api.http.map.geojson import GEOJSON
from api.http.map.layers import ABSENT, Layer, MapView, map_of
from api.http.map.places import FoundPlace, PlaceNames, find_places
from api.http.map.shapes import MapIndex
from api.http.map.suggestions import Around, Suggestion, Suggestions, Trial
from api.http.map.tiles import MVT, TILE_FIELDS, TOP_ZOOM, TileAddress, read_tile
from api.http.metrics.process import Metrics
from api.http.promised import promised
from api.http.views.geojson import GeoJson
from api.schemas.errors import errors
from api.schemas.map import (
    FeaturePage,
    FeatureQuery,
    MapLayer,
    MapLayers,
    MapPlaces,
    PlaceQuery,
    QuestionSuggestions,
    SingleFeature,
    SuggestionQuery,
    TileSet,
    box_of,
    time_of,
)
from api.wiring import trial_model

router = APIRouter(prefix="/api/v1", tags=["map"], dependencies=SECURITY)
_HEADERS = {"vary": "authorization, x-api-key", "cache-control": "no-store"}
_MOST_FEATURES = 10
BYTES = "application/octet-stream"


class MapCaches:
    """State kept between requests: the shapes of documents and the names of scopes, neither with words of theirs."""

    def __init__(self) -> None:
        self.shapes = MapIndex()
        self.names = PlaceNames()
        self.suggestions = Suggestions()


def _caches_of(request: Request) -> MapCaches:
    caches: MapCaches = request.app.state.map
    return caches


Caches = Annotated[MapCaches, Depends(_caches_of)]


@router.get(
    "/layers",
    operation_id="listLayers",
    summary="List layers",
    response_model=None,
    responses={200: {"model": MapLayers}, **errors(401, 403, 503)},
)
async def layers(call: Calling, caches: Caches) -> JSONResponse:
    """The sources with shapes of which the caller may see something, by id; others answer as if they did not exist."""
    return JSONResponse({"layers": await layer_documents(call, caches)}, headers=_HEADERS)


async def layer_documents(call: Call, caches: MapCaches) -> list[dict[str, Any]]:
    """The layers as documents."""
    view = await _view(call, caches)
    return [_layer_json(layer) for layer in sorted(view.layers, key=lambda each: each.id)]


@router.get(
    "/layers/{layer_id}",
    operation_id="getLayer",
    summary="Describe a layer",
    response_model=None,
    responses={200: {"model": MapLayer}, **errors(401, 403, 404, 422, 503)},
)
async def layer(layer_id: str, call: Calling, caches: Caches) -> JSONResponse:
    """One layer."""
    view = await _view(call, caches)
    return JSONResponse(_layer_json(view.layer(layer_id)), headers=_HEADERS)


@router.get(
    "/layers/{layer_id}/features",
    operation_id="listFeatures",
    summary="Read features of a layer",
    response_model=None,
    response_class=GeoJson,
    responses={200: {"model": FeaturePage}, **errors(401, 403, 404, 422, 500, 503)},
)
async def features(
    layer_id: str, wanted: Annotated[FeatureQuery, Query()], call: Calling, caches: Caches
) -> JSONResponse:
    """A page of features by box and time (OGC API Features), decided over one by one and recorded before it is
    sent."""
    view = await _view(call, caches)
    found = view.layer(layer_id)
    page = await read_page(
        view,
        found,
        Wanted(
            box=None if wanted.bbox is None else box_of(wanted.bbox),
            time=None if wanted.datetime is None else time_of(wanted.datetime),
            after=wanted.after,
            limit=wanted.limit,
            zoom=wanted.zoom,
        ),
    )
    following = page.pop("next")
    page["links"] = _page_links(layer_id, wanted, following)
    return await _released(page, call)


@router.get(
    "/layers/{layer_id}/tiles",
    operation_id="getTileSet",
    summary="Describe the vector tiles of a layer",
    response_model=None,
    responses={200: {"model": TileSet}, **errors(401, 403, 404, 422, 503)},
)
async def tiles(layer_id: str, call: Calling, caches: Caches) -> JSONResponse:
    """The vector tiles of a layer as TileJSON 3.0, for whoever draws a layer that is larger than a page."""
    found = (await _view(call, caches)).layer(layer_id)
    return JSONResponse(_tiles_json(found), headers=_HEADERS)


@router.get(
    "/layers/{layer_id}/tiles/{z}/{x}/{y}",
    operation_id="getVectorTile",
    summary="Read a vector tile",
    response_model=None,
    response_class=Response,
    responses=errors(401, 403, 404, 422, 500, 503),
)
async def tile(
    layer_id: str,
    *,
    z: Annotated[int, Path(ge=0, le=TOP_ZOOM)],
    x: Annotated[int, Path(ge=0)],
    y: Annotated[int, Path(ge=0)],
    request: Request,
    call: Calling,
    caches: Caches,
) -> Response:
    """One tile (Mapbox Vector Tile 2.1), its features decided over one by one and recorded before it is sent."""
    try:
        address = TileAddress(z, x, y)
    except ValueError:
        raise NoSuchThing(ABSENT) from None
    view = await _view(call, caches)
    made = await read_tile(view, view.layer(layer_id), address)
    headers = _HEADERS | {"x-ledger-entry": made.entry_id, "x-features-omitted": str(made.omitted)}
    headers["vary"] += ", accept, accept-encoding"
    accepted = request.headers.get("accept", "")
    media_type = BYTES if BYTES in accepted and MVT not in accepted else MVT  # clients that know bytes alone
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(made.data, media_type=media_type, headers=headers)
    packed = gzip.compress(made.data, 6, mtime=0)
    return Response(packed, media_type=media_type, headers=headers | {"content-encoding": "gzip"})


@router.get(
    "/features/{feature_id}",
    operation_id="getFeature",
    summary="Read one feature",
    response_model=None,
    response_class=GeoJson,
    responses={200: {"model": SingleFeature}, **errors(401, 403, 404, 422, 500, 503)},
)
async def feature(feature_id: str, call: Calling, caches: Caches) -> JSONResponse:
    """One feature, decided over anew and recorded before it is sent."""
    view = await _view(call, caches)
    body = await read_feature(view, feature_id)
    return await _released(body, call)


@router.get(
    "/places",
    operation_id="findPlaces",
    summary="Find places by name",
    response_model=None,
    responses={200: {"model": MapPlaces}, **errors(401, 403, 422, 503)},
)
async def places(wanted: Annotated[PlaceQuery, Query()], call: Calling, caches: Caches) -> JSONResponse:
    """Places whose names begin with what is typed, or have a word that does; only those that the caller's corpus
    names."""
    view = await _view(call, caches)
    found = await find_places(
        wanted.q,
        view=view,
        names=caches.names,
        box=None if wanted.bbox is None else box_of(wanted.bbox),
        limit=wanted.limit,
    )
    return JSONResponse({"places": [_place_json(place) for place in found]}, headers=_HEADERS)


@router.get(
    "/ai/suggestions",
    operation_id="suggestQuestions",
    summary="Suggest questions",
    response_model=None,
    responses={200: {"model": QuestionSuggestions}, **errors(401, 403, 422, 500, 503)},
)
async def suggestions(
    wanted: Annotated[SuggestionQuery, Query()], call: Calling, caches: Caches, metrics: Meters
) -> JSONResponse:
    """Questions that would be answered now, for this caller and this place; each was tried before it is offered."""
    offered = await suggestion_documents(wanted, call, caches, metrics)
    return JSONResponse({"suggestions": offered}, headers=_HEADERS)


async def suggestion_documents(
    wanted: SuggestionQuery, call: Call, caches: MapCaches, metrics: Metrics
) -> list[dict[str, Any]]:
    """The suggestions as documents."""
    view = await _view(call, caches)
    around = Around(
        place=wanted.place,
        box=None if wanted.bbox is None else box_of(wanted.bbox),
        time=None if wanted.time is None else time_of(wanted.time),
        layer=wanted.layer,
        limit=wanted.limit,
    )
    trial = Trial(call.system.profile("focus"), trial_model(call.system.configuration.settings.extractive))
    found = await caches.suggestions.of(view, around, trial)
    metrics.count_outcome(surface="ai.suggestions", outcome="OFFERED" if found else "NONE")
    return [_suggestion_json(each) for each in found]


async def _released(body: dict[str, Any], call: Call) -> JSONResponse:
    told = await promised(body, body["provenance"]["entry_id"], call.system.services)
    return GeoJson(told, headers=_HEADERS)


async def _view(call: Call, caches: MapCaches) -> MapView:
    return await map_of(
        call.caller.subject, request_id=call.request_id, index=caches.shapes, services=call.system.services
    )


def _layer_json(layer: Layer) -> dict[str, Any]:
    source, time = layer.source, layer.time
    interval = None if time is None else {"interval": [[time.start.isoformat(), time.end.isoformat()]]}
    return {
        "id": layer.id,
        "title": source.title,
        "kind": "features",
        "collection": source.collection,
        "sensitivity": source.visibility.label,
        "geometry_types": list(layer.kinds),
        "extent": {"spatial": {"bbox": [list(layer.bounds)]}, "temporal": interval},
        "count": len(layer.shapes),
        "license": source.license,
        "attribution": source.attribution,
        "uri": source.uri,
        "links": [
            _link(f"{_path(layer.id)}/features", "items"),
            _link(f"{_path(layer.id)}/tiles", "tiles", "application/json"),
        ],
    }


def _path(layer_id: str) -> str:
    return f"/api/v1/layers/{quote(layer_id, safe='')}"


def _tiles_json(layer: Layer) -> dict[str, Any]:
    return {
        "tilejson": "3.0.0",
        "name": layer.source.title,
        "attribution": layer.source.attribution,
        "license": layer.source.license,
        "tiles": [f"{_path(layer.id)}/tiles/{{z}}/{{x}}/{{y}}"],
        "scheme": "xyz",
        "bounds": list(layer.bounds),
        "minzoom": 0,
        "maxzoom": TOP_ZOOM,
        "vector_layers": [{"id": layer.id, "fields": dict.fromkeys(TILE_FIELDS, "String")}],
    }


def _page_links(layer_id: str, wanted: FeatureQuery, following: str | None) -> list[dict[str, str]]:
    """The page itself, its layer and the next page. Relative, since whoever sends a Host header could send any."""
    base = _path(layer_id)
    asked = wanted.model_dump(exclude_none=True)
    links = [
        _link(f"{base}/features?{urlencode(asked)}", "self"),
        _link(base, "collection", "application/json"),
    ]
    if following is not None:
        links.append(_link(f"{base}/features?{urlencode(asked | {'after': following})}", "next"))
    return links


def _link(href: str, rel: str, media_type: str = GEOJSON) -> dict[str, str]:
    return {"href": href, "rel": rel, "type": media_type}


def _place_json(found: FoundPlace) -> dict[str, Any]:
    return {
        "place_id": found.place.entity_id,
        "name": found.place.name,
        "type": found.place.type,
        "matched": found.matched,
        "bbox": None if found.bounds is None else list(found.bounds),
        "features": [
            {"layer": layer_id, "feature": feature_id, "href": f"/api/v1/features/{quote(feature_id, safe='')}"}
            for layer_id, feature_id in found.features[:_MOST_FEATURES]
        ],
    }


def _suggestion_json(found: Suggestion) -> dict[str, Any]:
    return {
        "question": found.question,
        "kind": found.kind,
        "place_id": None if found.place is None else found.place.entity_id,
        "place": None if found.place is None else found.place.name,
        "year": found.year,
    }
