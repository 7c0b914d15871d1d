"""`/api/v1/layers`, `/features` and `/places`: what may be asked and what is answered, as clients read it."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, StrictInt, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from ai.answer.shapes import BoundingBox, WirePromise
from api.schemas.answer import ClosedModel
from api.schemas.query import PLAIN, SAID, StrictModel, Text, first_day, last_day, plain_text, said_text
from retrieval.model import TimeRange
from retrieval.spatial.facts import Box

_NUMBER = r"-?\d{1,3}(\.\d{1,12})?"
_DATE = r"(\d{4}(-\d{2}(-\d{2})?)?|\.\.)"
Bbox = Annotated[
    str,
    StringConstraints(pattern=rf"^{_NUMBER},{_NUMBER},{_NUMBER},{_NUMBER}$"),
    Field(
        description="west,south,east,north in degrees; west > east crosses the antimeridian",
        examples=["-96.2,38.8,-95.5,39.3"],
    ),
]
Datetime = Annotated[
    str,
    StringConstraints(pattern=rf"^{_DATE}(/{_DATE})?$"),
    Field(
        description="a day, month or year, or two of them as an interval with `..` for an open end",
        examples=["1854", "1850/1860-06", "1900/.."],
    ),
]
Limit = Annotated[int, Field(ge=1, le=500, description="most features of one page", examples=[100])]
Zoom = Annotated[
    int, Field(ge=0, le=24, description="level of the map for which lines are simplified; unset: as stored")
]
FeatureId = Annotated[
    str,
    Field(max_length=400, description="id of a feature", json_schema_extra=PLAIN),
    AfterValidator(plain_text),
]
Typed = Annotated[
    str,
    Field(max_length=200, json_schema_extra=SAID, description="the beginning of a name", examples=["shaw"]),
    AfterValidator(plain_text),
    AfterValidator(said_text),
]


def box_of(text: str) -> Box:
    """The box in a `bbox` parameter. Raises PydanticCustomError for an empty one, or one that leaves the world."""
    west, south, east, north = (float(part) for part in text.split(","))
    if not (-180 <= west <= 180 and -180 <= east <= 180 and -90 <= south <= 90 and -90 <= north <= 90):
        raise PydanticCustomError("bbox_outside_world", "west and east lie in -180..180, south and north in -90..90")
    if south >= north or west == east:
        raise PydanticCustomError("bbox_empty", "south must be less than north, and west must differ from east")
    return west, south, east, north


def time_of(text: str) -> TimeRange:
    """The days in a `datetime` parameter. Raises PydanticCustomError for what is no date, or ends before it starts."""
    first, _, last = text.partition("/")
    try:
        start = date.min if first == ".." else first_day(first)
        end = date.max if (last or first) == ".." else last_day(last or first)
    except ValueError:
        raise PydanticCustomError("date_invalid", "Dates are YYYY, YYYY-MM or YYYY-MM-DD") from None
    if end < start:
        raise PydanticCustomError("range_reversed", "The range ends before it starts")
    return TimeRange(start, end)


class FeatureQuery(StrictModel):
    """The features of a layer that are asked for."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)
    bbox: Bbox | None = None
    datetime: Datetime | None = None
    limit: Limit = 100
    after: FeatureId | None = Field(default=None, description="id of the feature that the page follows")
    zoom: Zoom | None = None

    @model_validator(mode="after")
    def _readable(self) -> Self:
        if self.bbox is not None:
            box_of(self.bbox)
        if self.datetime is not None:
            time_of(self.datetime)
        return self


class PlaceQuery(StrictModel):
    """The places that are asked for."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)
    q: Typed
    bbox: Bbox | None = None
    limit: Annotated[int, Field(ge=1, le=50, description="most places", examples=[10])] = 10

    @model_validator(mode="after")
    def _readable(self) -> Self:
        if self.bbox is not None:
            box_of(self.bbox)
        return self


class SuggestionQuery(StrictModel):
    """Where and when to suggest questions for; without any of them, for everything."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)
    place: Text | None = Field(default=None, description="id or name of a place", examples=["Shawnee County"])
    bbox: Bbox | None = None
    time: Datetime | None = None
    layer: Text | None = Field(default=None, description="id of a layer", examples=["counties"])
    limit: Annotated[int, Field(ge=1, le=20, description="most questions", examples=[6])] = 6

    @model_validator(mode="after")
    def _readable(self) -> Self:
        if self.bbox is not None:
            box_of(self.bbox)
        if self.time is not None:
            time_of(self.time)
        return self


class QuestionSuggestion(ClosedModel):
    """A question that would be answered."""

    question: str = Field(
        description="to be asked as it is", examples=["What was the population of Shawnee County in 1950?"]
    )
    kind: Literal["figure", "change", "ranking", "event", "text"] = Field(description="what kind of question it is")
    place_id: str | None = Field(description="the place that it names", examples=["county:20177"])
    place: str | None = Field(description="the name of that place", examples=["Shawnee County"])
    year: int | None = Field(description="the year that it names", examples=[1950])


class QuestionSuggestions(ClosedModel):
    """Questions, of every kind in turn."""

    suggestions: list[QuestionSuggestion] = Field(description="at most `limit`; none where nothing would be answered")


GeometryType = Literal[
    "Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon", "GeometryCollection"
]


class Geometry(ClosedModel):
    """A GeoJSON geometry in WGS 84, longitude first."""

    model_config = ConfigDict(
        extra="allow", json_schema_extra={"examples": [{"type": "Point", "coordinates": [-95.7, 39.0]}]}
    )
    type: GeometryType = Field(description="the GeoJSON type")


class Link(ClosedModel):
    """A link; `href` is relative to the server."""

    href: str = Field(description="where it leads", examples=["/api/v1/layers/counties/features"])
    rel: Literal["self", "next", "items", "tiles", "collection", "about"] = Field(
        description="what it is to this document"
    )
    type: str = Field(description="media type of what is there", examples=["application/geo+json"])


class SpatialExtent(ClosedModel):
    """Where it lies."""

    bbox: list[BoundingBox] = Field(description="one box around everything")


class TemporalExtent(ClosedModel):
    """When it stands."""

    interval: list[list[str | None]] = Field(
        description="one interval, first and last day", examples=[[["1854-01-01", "1860-12-31"]]]
    )


class Extent(ClosedModel):
    """Extent in space and time, as OGC API Features has it."""

    spatial: SpatialExtent = Field(description="in degrees, WGS 84")
    temporal: TemporalExtent | None = Field(description="null where nothing is dated")


class MapLayer(ClosedModel):
    """A source with shapes, as the caller may see it."""

    id: str = Field(description="the source's id; `context.active_layers` names it", examples=["counties"])
    title: str = Field(description="title of the source", examples=["Counties of Kansas"])
    kind: Literal["features"] = Field(description="what the layer holds")
    collection: str = Field(description="collection of the source", examples=["kansas"])
    sensitivity: str = Field(description="label of the source", examples=["public"])
    geometry_types: list[GeometryType] = Field(description="types of geometry in it, in alphabetical order")
    extent: Extent = Field(description="where and when its features are")
    count: int = Field(description="how many features the caller may see", examples=[105])
    license: str = Field(description="licence of the source", examples=["CC0-1.0"])
    attribution: str | None = Field(description="whom to credit beside it")
    uri: str | None = Field(description="where the source comes from")
    links: list[Link] = Field(description="`items` leads to the features, `tiles` to them as vector tiles")


class MapLayers(ClosedModel):
    """The layers that the caller may see, by id."""

    layers: list[MapLayer] = Field(description="in alphabetical order of id")


class TiledLayer(ClosedModel):
    """The one layer in the tiles."""

    id: str = Field(description="id of the layer", examples=["counties"])
    fields: dict[str, str] = Field(description="the properties of its features, and their types")


class TileSet(ClosedModel):
    """The vector tiles of a layer (TileJSON 3.0)."""

    tilejson: Literal["3.0.0"] = Field(description="version of the format")
    name: str = Field(description="title of the source", examples=["Counties of Kansas"])
    attribution: str | None = Field(description="whom to credit beside it")
    license: str = Field(description="licence of the source", examples=["CC0-1.0"])
    tiles: list[str] = Field(
        description="path of a tile, relative to the server", examples=[["/api/v1/layers/counties/tiles/{z}/{x}/{y}"]]
    )
    scheme: Literal["xyz"] = Field(description="rows are counted from the north")
    bounds: BoundingBox = Field(description="box around everything in it")
    minzoom: int = Field(description="first level with tiles", examples=[0])
    maxzoom: int = Field(description="last level with tiles; closer ones are drawn from it", examples=[14])
    vector_layers: list[TiledLayer] = Field(description="what is in the tiles")


class FeatureProperties(ClosedModel):
    """The properties of a feature."""

    layer: str = Field(description="id of its layer", examples=["counties"])
    name: str = Field(
        description="name of the place that it draws, else the source's title", examples=["Shawnee County"]
    )
    place_id: str | None = Field(description="id of that place", examples=["county:20177"])
    place_type: str | None = Field(description="type of that place", examples=["county"])
    statement: str | None = Field(description="what it states, as a sentence")
    start: str | None = Field(description="first day of its time", examples=["1854-05-30"])
    end: str | None = Field(description="last day of its time", examples=["1861-01-29"])
    href: str = Field(description="the exact place in its document, authorised again at every read")
    fields: dict[str, Any] = Field(description="the source's own fields, after obligations")


class WireReading(ClosedModel):
    """Where the record of this reading is."""

    entry_id: str = Field(description="id of the ledger entry")
    receipt: str = Field(description="path of what proves the reading")


class MapFeature(ClosedModel):
    """A GeoJSON feature."""

    type: Literal["Feature"] = Field(description="always `Feature`")
    id: str = Field(description="id of the feature", examples=["counties@bb1b4264c441#f12"])
    geometry: Geometry | None = Field(description="after obligations, so perhaps generalised to a point")
    bbox: BoundingBox = Field(description="box around the geometry")
    properties: FeatureProperties = Field(description="what it says")


class SingleFeature(MapFeature):
    """A feature, read on its own."""

    request_id: str = Field(description="id of the request")
    provenance: WireReading = Field(description="where the reading is recorded")
    promise: WirePromise = Field(description="the log's signed word that a checkpoint will cover the entry")


class FeaturePage(ClosedModel):
    """A page of a layer, as a GeoJSON FeatureCollection."""

    type: Literal["FeatureCollection"] = Field(description="always `FeatureCollection`")
    features: list[MapFeature] = Field(description="in the order of the source")
    numberReturned: StrictInt = Field(description="how many features are in this page", examples=[100])
    links: list[Link] = Field(description="`next` leads to the next page; none on the last one")
    request_id: str = Field(description="id of the request")
    provenance: WireReading = Field(description="where the reading is recorded")
    promise: WirePromise = Field(description="the log's signed word that a checkpoint will cover the entry")


class DrawnBy(ClosedModel):
    """A feature that draws a place."""

    layer: str = Field(description="id of the layer", examples=["counties"])
    feature: str = Field(description="id of the feature")
    href: str = Field(description="where the feature is")


class MapPlace(ClosedModel):
    """A place that answers to what was typed."""

    place_id: str = Field(description="what `context.place_id` takes", examples=["county:20177"])
    name: str = Field(description="as the corpus has it", examples=["Shawnee County"])
    type: str = Field(description="such as county, state or nation", examples=["county"])
    matched: str = Field(description="the name that matches what was typed", examples=["Shawnee County, Kansas"])
    bbox: BoundingBox | None = Field(description="box around everything that draws it; null where nothing does")
    features: list[DrawnBy] = Field(description="what draws it, at most ten")


class MapPlaces(ClosedModel):
    """Places, the best answer first."""

    places: list[MapPlace] = Field(description="best first")
