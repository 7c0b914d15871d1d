"""The request of `POST /api/v1/ai/query`, and of `exhibit ask`: strict types, no unknown fields, every range stated."""

from __future__ import annotations

import json
import math
import re
from datetime import date, timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StrictInt,
    model_validator,
)
from pydantic_core import PydanticCustomError

QUESTION_CHARS = 4_000
GEOMETRY_VERTICES = 10_000
_GEOMETRIES = frozenset(
    {"Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon", "GeometryCollection"}
)
_DAY = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")


_CONTROL = r"\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f"
PLAIN: dict[str, JsonValue] = {"pattern": f"^[^{_CONTROL}]*$"}
SAID: dict[str, JsonValue] = {"minLength": 1, "pattern": rf"^[^{_CONTROL}]*[^\s{_CONTROL}][^{_CONTROL}]*$"}
"""The JSON schema that `plain_text` and `said_text` ask for."""
_FILLERS = "\u115f\u1160\u3164\uffa0"
"""The letters of Unicode that are not shown (Default_Ignorable_Code_Point)."""
_CONTROL_CHARACTER, _LONE_SURROGATE = re.compile(f"[{_CONTROL}]"), re.compile(r"[\ud800-\udfff]")


def plain_text(value: str) -> str:
    """Text that can be stored, shown and digested: no control characters but tab and line breaks."""
    if _CONTROL_CHARACTER.search(value):
        raise PydanticCustomError("control_character", "Text may not hold control characters")
    if _LONE_SURROGATE.search(value):
        raise PydanticCustomError("lone_surrogate", "Text may not hold lone surrogates")
    return value


def said_text(value: str) -> str:
    if not value.strip():
        raise PydanticCustomError("blank", "Text may not be empty")
    return value


def asked_text(value: str) -> str:
    """Text that can be a question: what nobody sees, and signs alone, ask nothing, and are no reason to abstain."""
    if not any(character.isalnum() and character not in _FILLERS for character in value):
        raise PydanticCustomError("blank", "A question holds a letter or a digit")
    return value


def _bbox(value: list[float]) -> list[float]:
    west, south, east, north = value
    if not all(math.isfinite(v) for v in value):
        raise PydanticCustomError("bbox_not_finite", "Coordinates must be finite numbers")
    if not (-180 <= west <= 180 and -180 <= east <= 180 and -90 <= south <= 90 and -90 <= north <= 90):
        raise PydanticCustomError("bbox_outside_world", "west and east lie in -180..180, south and north in -90..90")
    if south >= north or west == east:
        raise PydanticCustomError("bbox_empty", "south must be less than north, and west must differ from east")
    return value


def _ordered(value: list[int]) -> list[int]:
    if value[0] > value[1]:
        raise PydanticCustomError("range_reversed", "The range ends before it starts")
    return value


def _geometry(value: dict[str, Any]) -> dict[str, Any]:
    """A valid, non-empty GeoJSON geometry inside the world."""
    import shapely  # noqa: PLC0415 - few questions carry a geometry, and the library is slow to import

    try:
        shape = shapely.from_geojson(json.dumps(value, allow_nan=False))
    except (shapely.errors.ShapelyError, ValueError, RecursionError):
        raise PydanticCustomError("geometry_invalid", "Not a GeoJSON geometry") from None
    if value.get("type") not in _GEOMETRIES or shape.is_empty or not shape.is_valid:
        raise PydanticCustomError("geometry_invalid", "Not a valid, non-empty GeoJSON geometry")
    west, south, east, north = shape.bounds
    if west < -180 or east > 180 or south < -90 or north > 90:
        raise PydanticCustomError("geometry_outside_world", "Coordinates lie in -180..180 and -90..90")
    if shapely.get_num_coordinates(shape) > GEOMETRY_VERTICES:
        raise PydanticCustomError("geometry_too_large", "The geometry has too many vertices")
    return value


def whole(value: object) -> object:
    """JSON does not tell 5.0 from 5, and JSON schema calls both integers."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(whole)
Text = Annotated[
    str, Field(max_length=200, json_schema_extra=SAID), AfterValidator(plain_text), AfterValidator(said_text)
]
Year = Annotated[StrictInt, Field(ge=1, le=9999)]
Number = Annotated[float, Field(allow_inf_nan=False)]


Question = Annotated[
    str,
    Field(max_length=QUESTION_CHARS, json_schema_extra=SAID),
    AfterValidator(plain_text),
    AfterValidator(asked_text),
]


class StrictModel(BaseModel):
    """Wire values: no coercion, no unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def first_day(text: str) -> date:
    """The first day of `YYYY`, `YYYY-MM` or `YYYY-MM-DD`. Raises ValueError."""
    year, month, day = _parts(text)
    return date(year, month or 1, day or 1)


def last_day(text: str) -> date:
    """The last day of `YYYY`, `YYYY-MM` or `YYYY-MM-DD`. Raises ValueError."""
    year, month, day = _parts(text)
    if day:
        return date(year, month or 1, day)
    if month in (None, 12):
        return date(year, 12, 31)
    return date(year, month + 1, 1) - timedelta(days=1)


def _parts(text: str) -> tuple[int, int | None, int | None]:
    match = _DAY.fullmatch(text)
    if not match:
        raise ValueError("not a date")
    year, month, day = (int(group) if group else None for group in match.groups())
    return year or 0, month, day


class TimeSpan(StrictModel):
    """Days, both inclusive: `YYYY`, `YYYY-MM` or `YYYY-MM-DD`; a year or month means all of it."""

    start: Annotated[str, Field(max_length=10)]
    end: Annotated[str, Field(max_length=10)]

    @model_validator(mode="after")
    def _check(self) -> Self:
        try:
            start, end = first_day(self.start), last_day(self.end)
        except ValueError:
            raise PydanticCustomError("date_invalid", "Dates are YYYY, YYYY-MM or YYYY-MM-DD") from None
        if end < start:
            raise PydanticCustomError("range_reversed", "The range ends before it starts")
        return self


class Context(StrictModel):
    """The view of the map. `bbox` is west, south, east, north in degrees; west > east crosses the antimeridian."""

    place: Text | None = None
    place_id: Text | None = None
    bbox: Annotated[list[Number], Field(min_length=4, max_length=4), AfterValidator(_bbox)] | None = None
    geometry: Annotated[dict[str, JsonValue], AfterValidator(_geometry)] | None = Field(
        default=None, description="GeoJSON geometry in WGS 84"
    )
    year: Year | None = None
    year_range: Annotated[list[Year], Field(min_length=2, max_length=2), AfterValidator(_ordered)] | None = None
    time_range: TimeSpan | None = None
    active_layers: Annotated[list[Text], Field(max_length=50)] = []
    story_node_id: Text | None = None

    @model_validator(mode="after")
    def _one_time(self) -> Self:
        if sum(value is not None for value in (self.year, self.year_range, self.time_range)) > 1:
            raise PydanticCustomError("time_ambiguous", "Give one of year, year_range and time_range")
        return self


class Options(StrictModel):
    """How to answer."""

    profile: Literal["basic", "agentic", "focus"] = "focus"
    top_k: Annotated[StrictInt, Field(ge=1, le=100)] = 8
    max_tokens: Annotated[StrictInt, Field(ge=1, le=4_096)] = 700
    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] = 0
    format: Literal["json", "FeatureCollection"] = Field(
        default="json",
        description="FeatureCollection: the answer as GeoJSON, as with `Accept: application/geo+json`",
    )
    seed: Annotated[StrictInt, Field(ge=0, le=2**31 - 1)] | None = None
    collections: Annotated[list[Text], Field(max_length=50)] = []
    plan: Annotated[list[dict[str, JsonValue]], Field(max_length=8)] = Field(
        default=[], description="operations in the form of `interpretation.plan`, asked in place of what is read"
    )


class QueryRequest(StrictModel):
    """A question; everything else is optional."""

    question: Question
    context: Context = Context()
    options: Options = Options()
    purpose: Text = "research"
    session_id: Text | None = Field(default=None, description="opaque; nothing is remembered")
    tenant: Text | None = Field(default=None, description="if given, it must be the credential's")
    tenant_id: Text | None = Field(default=None, description="the same as tenant")

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        json_schema_extra={"examples": [{"question": "What was the population of Shawnee County in 1930?"}]},
    )
