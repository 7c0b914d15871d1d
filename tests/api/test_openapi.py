"""The description of the API has names given by hand, the right types, and says how an answer, an abstention and a denial differ."""

from __future__ import annotations

import re
from typing import Any

import pytest

from api.home.configuration import load
from api.http.app import create_app
from api.problems import MEANINGS
from api.schemas.descriptions import descriptions
from api.schemas.openapi import OPERATIONS, SCHEMAS


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return create_app(load({})).openapi()


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        f"{method.upper()} {path}": operation
        for path, offered in document["paths"].items()
        for method, operation in offered.items()
    }


def test_every_operation_has_a_name_of_its_own(document: dict[str, Any]) -> None:
    assert set(operations(document)) == set(OPERATIONS)
    ids = [operation["operationId"] for operation in operations(document).values()]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z][A-Za-z]+", each) for each in ids)


def test_no_schema_bears_the_name_of_a_module_or_a_prefix(document: dict[str, Any]) -> None:
    names = set(document["components"]["schemas"])
    assert not [name for name in names if "__" in name or name.startswith("Wire")]
    assert len(set(SCHEMAS.values())) == len(SCHEMAS)
    referred = set(re.findall(r"#/components/schemas/(\w+)", str(document)))
    assert referred <= names


def test_the_outcomes_are_told_apart(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    body = schemas["QueryResponse"]
    assert body["discriminator"]["propertyName"] == "outcome"
    told = {outcome: ref.rsplit("/", 1)[1] for outcome, ref in body["discriminator"]["mapping"].items()}
    assert set(told) == {"ANSWER", "ABSTAIN", "DENY"}
    for outcome, name in told.items():
        assert schemas[name]["properties"]["outcome"]["enum"] == [outcome]


def test_codes_of_errors_are_a_closed_list(document: dict[str, Any]) -> None:
    assert document["components"]["schemas"]["Error"]["properties"]["code"]["enum"] == sorted(MEANINGS)


@pytest.mark.parametrize(
    ("operation", "media_type"),
    [
        ("GET /metrics", "text/plain"),
        ("GET /api/v1/ledger/tile/{path}", "application/octet-stream"),
        ("GET /api/v1/layers/{layer_id}/features", "application/geo+json"),
        ("GET /api/v1/layers/{layer_id}/tiles/{z}/{x}/{y}", "application/vnd.mapbox-vector-tile"),
        ("POST /api/v1/ai/stream", "text/event-stream"),
    ],
)
def test_media_types_are_those_of_the_answers(document: dict[str, Any], operation: str, media_type: str) -> None:
    assert media_type in operations(document)[operation]["responses"]["200"]["content"]


def test_what_may_be_left_out_of_a_request_is_optional(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    assert schemas["QueryRequest"]["required"] == ["question"]
    assert "required" not in schemas["AnswerOptions"] and "required" not in schemas["MapContext"]


def test_properties_are_described_and_the_table_names_no_others(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    known = {
        (name, field): told for name, each in schemas.items() for field, told in each.get("properties", {}).items()
    }
    assert [place for place, told in known.items() if not told.get("description", "").strip()] == []
    apart = ("any", "parameters")
    tables = {(name, field) for name, table in descriptions().items() if name not in apart for field in table}
    assert tables <= set(known), tables - set(known)
    assert set(descriptions()["any"]) <= {field for _, field in known}


def test_a_description_says_more_than_the_name(document: dict[str, Any]) -> None:
    """At least a word that the name does not have, beside small ones; an id needs none."""
    small = {"a", "an", "the", "its", "of", "is", "it", "what", "which", "kind", "where", "there"}
    for name, schema in document["components"]["schemas"].items():
        for field, told in schema.get("properties", {}).items():
            said = set(re.findall(r"[a-z]+", told["description"].lower())) - small
            assert field.endswith(("id", "_ids")) or said - set(field.lower().split("_")), (name, field)


def test_parameters_are_described_and_the_table_names_no_others(document: dict[str, Any]) -> None:
    given = [(key, each) for key, operation in operations(document).items() for each in operation.get("parameters", ())]
    assert [(key, each["name"]) for key, each in given if not each.get("description", "").strip()] == []
    assert set(descriptions()["parameters"]) <= {each["name"] for _, each in given}
