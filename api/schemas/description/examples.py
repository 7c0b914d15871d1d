"""Examples of properties and parameters, as a home with the example corpus answered. Objects are put together from
their parts, so that nothing is written down twice."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

Schemas = Mapping[str, Any]
REFERENCE = "#/components/schemas/"


def describe_examples(schemas: dict[str, Any]) -> None:
    """Give every property that has no example the one of the table, or that of its parts."""
    table = examples()["schemas"]
    for name, schema in schemas.items():
        for prop, told in schema.get("properties", {}).items():
            _lift(told)
            if "examples" not in told and prop in table.get(name, {}):
                told["examples"] = [table[name][prop]]
    for schema in schemas.values():
        for told in schema.get("properties", {}).values():
            if "examples" not in told and is_composite(told, schemas):
                told["examples"] = [_made(told, schemas)]


def describe_parameter_examples(operations: Iterable[Mapping[str, Any]]) -> None:
    """Give every parameter that has no example, and whose schema has none, the one of the table."""
    for operation in operations:
        table = examples()["parameters"].get(operation["operationId"], {})
        for parameter in operation.get("parameters", ()):
            _lift(parameter["schema"])
            if "examples" not in parameter["schema"] and parameter["name"] in table:
                parameter["schema"]["examples"] = [table[parameter["name"]]]


def _lift(schema: dict[str, Any]) -> None:
    """An example that one of the alternatives has is one of the whole."""
    for each in schema.get("anyOf", ()):
        if "examples" in each:
            schema.setdefault("examples", each.pop("examples"))


def is_composite(schema: Mapping[str, Any], schemas: Schemas) -> bool:
    """True for an object with properties of its own, and for a list or a map of such objects."""
    return _object_of(schema, schemas) is not None


def _object_of(schema: Mapping[str, Any], schemas: Schemas) -> str | None:
    """The name of the schema whose properties make up the value."""
    if "$ref" in schema:
        name = str(schema["$ref"]).removeprefix(REFERENCE)
        return name if "properties" in schemas[name] else None
    parts = [*schema.get("anyOf", ()), schema.get("items"), schema.get("additionalProperties")]
    found = (_object_of(each, schemas) for each in parts if isinstance(each, dict))
    return next((name for name in found if name is not None), None)


def _made(schema: Mapping[str, Any], schemas: Schemas) -> Any:
    if "$ref" in schema:
        return _whole(schemas[str(schema["$ref"]).removeprefix(REFERENCE)], schemas)
    for each in schema.get("anyOf", ()):
        if is_composite(each, schemas):
            return _made(each, schemas)
    if schema.get("type") == "array":
        return [_made(schema["items"], schemas)]
    return {"1": _made(schema["additionalProperties"], schemas)}


def _whole(schema: Mapping[str, Any], schemas: Schemas) -> Any:
    """The object with the examples of its properties; of what may be left out, with what is not empty."""
    needed = schema.get("required", ())
    made = {}
    for name, told in schema["properties"].items():
        value = (
            told["examples"][0] if "examples" in told else _made(told, schemas) if is_composite(told, schemas) else None
        )
        if name in needed or value is not None:
            made[name] = value
    return made


@cache
def examples() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """The table: `schemas` by name and property, `parameters` by operation and name."""
    table: dict[str, dict[str, dict[str, Any]]] = json.loads(
        (files("api.schemas.description") / "examples.json").read_text(encoding="utf-8")
    )
    return table
