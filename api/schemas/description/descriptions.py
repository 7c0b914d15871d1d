"""Descriptions of properties and parameters, for models whose fields say no more than their names."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

_ANYWHERE, _PARAMETERS = "any", "parameters"


def describe_properties(schemas: dict[str, Any]) -> None:
    """Give every property that has no description the one of the table, of its schema or of its name."""
    for name, schema in schemas.items():
        own = descriptions().get(name, {})
        for field, described in schema.get("properties", {}).items():
            told = own.get(field) or descriptions()[_ANYWHERE].get(field)
            if told is not None:
                described.setdefault("description", told)


def describe_parameters(operations: Iterable[Mapping[str, Any]]) -> None:
    """Give every parameter that has no description the one of its schema, or else of the table, by its name."""
    for operation in operations:
        for parameter in operation.get("parameters", ()):
            told = parameter["schema"].get("description") or descriptions()[_PARAMETERS].get(parameter["name"])
            if told is not None:
                parameter.setdefault("description", told)


@cache
def descriptions() -> Mapping[str, Mapping[str, str]]:
    """The table: `any`, `parameters`, and by the name of a schema."""
    table: dict[str, dict[str, str]] = tomllib.loads(
        (files("api.schemas.description") / "descriptions.toml").read_text(encoding="utf-8")
    )
    return table
