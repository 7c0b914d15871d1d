"""The filter language (requirement 002) as JSON schema, for the description of the API.

What a schema cannot say, the depth and the number of conditions, is refused by `retrieval.filters`.
"""

from __future__ import annotations

from typing import Any

from retrieval.filters import FIELD, MAX_CHARS, MAX_OPERANDS, OPERATORS

FILTER, SHORT_FILTER = "Filter", "ShortFilter"
_GREATEST = 1.7976931348623157e308
_NAMES = f"^{FIELD.pattern}$"
_NO_OPERATOR = f"^(?!(?:{'|'.join((*OPERATORS, 'any', 'all', 'not'))})$){FIELD.pattern}$"
_SCALAR: dict[str, Any] = {
    "anyOf": [
        {"type": "string", "maxLength": MAX_CHARS},
        {"type": "number", "minimum": -_GREATEST, "maximum": _GREATEST},
        {"type": "boolean"},
    ]
}
_SCALARS: dict[str, Any] = {"type": "array", "maxItems": MAX_OPERANDS, "items": _SCALAR}
_USES = {
    ("BasicRequest", "filters"): SHORT_FILTER,
    ("AgenticRequest", "filters"): SHORT_FILTER,
    ("RetrievalQuery", "filters"): FILTER,
    ("PackRequest", "filters"): FILTER,
    ("AssetQueryRequest", "metadata"): FILTER,
    ("ContextEntityQueryRequest", "metadata"): FILTER,
}


def describe_filters(document: dict[str, Any]) -> None:
    """Put the language into the components of an OpenAPI document, where the fields of requests name it."""
    schemas = document["components"]["schemas"]
    schemas[FILTER] = _language(FILTER)
    schemas[SHORT_FILTER] = _language(SHORT_FILTER) | {"patternProperties": {_NO_OPERATOR: _either(_SCALAR, _SCALARS)}}
    for (request, name), language in _USES.items():
        field = schemas[request]["properties"][name]
        kept = {key: field[key] for key in ("description", "default") if key in field}
        schemas[request]["properties"][name] = {**kept, "$ref": f"#/components/schemas/{language}"}


def _language(name: str) -> dict[str, Any]:
    itself = {"$ref": f"#/components/schemas/{name}"}
    several = {"type": "array", "minItems": 1, "items": itself}
    operators = {operator: _of_fields(_operand(operator)) for operator in OPERATORS}
    properties: dict[str, Any] = {"any": several, "all": several, "not": itself, **operators}
    return {
        "type": "object",
        "properties": {name: {**told, "examples": [_example(name)]} for name, told in properties.items()},
        "additionalProperties": False,
    }


def _example(name: str) -> Any:
    """A condition with that operator."""
    if name in {"any", "all"}:
        return [{"eq": _example("eq")}, {"gte": _example("gte")}]
    if name == "not":
        return {"in": _example("in")}
    if name == "exists":
        return {"uri": True}
    if name in {"lt", "lte", "gt", "gte"}:
        return {"year": 1935}
    several = _operand(name) is _SCALARS
    return {"source_id": ["dust-bowl-story", "treaties"] if several else "dust-bowl-story"}


def _operand(operator: str) -> dict[str, Any]:
    if operator == "exists":
        return {"type": "boolean"}
    return _SCALARS if operator in {"in", "nin", "contains_any", "contains_all"} else _SCALAR


def _of_fields(operand: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"pattern": _NAMES},
        "additionalProperties": operand,
    }


def _either(*schemas: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": list(schemas)}
