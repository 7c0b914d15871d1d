"""The description of the API has names given by hand, the right types, and says how an answer, an abstention and a denial differ."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ai.answer.parts import LIST_CUT, PART_NOT_ANSWERED
from ai.answer.release import APPEAL_WITHHELD
from ai.answer.unread import NOT_UNDERSTOOD
from ai.intent.map import UNKNOWN_PLACE
from ai.intent.spelling import SPELLING
from api.home.configuration import load
from api.http.app import create_app
from api.problems import MEANINGS
from api.schemas.description.descriptions import descriptions
from api.schemas.description.examples import examples
from api.schemas.description.openapi import SCHEMAS
from api.schemas.description.vocabularies import LIMITATIONS, VOCABULARIES
from retrieval.errors import ChannelError, EmbedModelMismatch, IndexNotReady
from tests.openapi_samples import asked_everything


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return create_app(load({})).openapi()


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        f"{method.upper()} {path}": operation
        for path, offered in document["paths"].items()
        for method, operation in offered.items()
    }


def test_every_operation_is_named_and_summarised_where_its_route_is() -> None:
    routes = [route for route in create_app(load({})).state.routes if getattr(route, "include_in_schema", False)]
    assert len(routes) > 70
    assert [route.path for route in routes if not route.operation_id or not route.summary] == []


def test_every_operation_has_a_name_of_its_own(document: dict[str, Any]) -> None:
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


def described(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Everything that has to have an example: properties, and the parameters of operations."""
    schemas, found = document["components"]["schemas"], {}
    for name, schema in schemas.items():
        found |= {f"{name}.{prop}": told for prop, told in schema.get("properties", {}).items()}
    for key, operation in operations(document).items():
        found |= {f"{key} {each['name']}": each["schema"] for each in operation.get("parameters", ())}
    return found


def test_every_property_and_parameter_has_an_example(document: dict[str, Any]) -> None:
    everything = described(document)
    assert len(everything) > 1_000
    assert [name for name, told in everything.items() if not told.get("examples")] == []


def test_examples_are_what_their_schemas_say(document: dict[str, Any]) -> None:
    for name, told in described(document).items():
        whole = Draft202012Validator({**told, "components": document["components"]})
        for example in told["examples"]:
            assert not list(whole.iter_errors(example)), (name, example)


def test_the_table_of_examples_names_nothing_else(document: dict[str, Any]) -> None:
    schemas, ids = document["components"]["schemas"], {}
    for operation in operations(document).values():
        ids[operation["operationId"]] = {each["name"] for each in operation.get("parameters", ())}
    for name, told in examples()["schemas"].items():
        assert set(told) <= set(schemas[name]["properties"]), name
    for operation_id, told in examples()["parameters"].items():
        assert set(told) <= ids[operation_id], operation_id


def test_closed_vocabularies_are_named(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    for (name, prop), words in VOCABULARIES.items():
        told = str(schemas[name]["properties"][prop])
        assert all(f"'{word}'" in told for word in words), (name, prop)


def channel_errors(error: type[ChannelError]) -> set[type[ChannelError]]:
    return {error}.union(*map(channel_errors, error.__subclasses__()))


def test_limitations_are_all_those_that_are_made() -> None:
    """Every code that a `Limitation` is made with where it is written, and those of the errors of channels."""
    made = {error.code for error in channel_errors(ChannelError)} | {EmbedModelMismatch.code, IndexNotReady.code}
    for path in (*Path("ai").rglob("*.py"), *Path("retrieval").rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
        for call in calls:
            if getattr(call.func, "id", "") == "Limitation" and isinstance(call.args[0], ast.Constant):
                made.add(str(call.args[0].value))
    made |= {SPELLING, UNKNOWN_PLACE, NOT_UNDERSTOOD, PART_NOT_ANSWERED, LIST_CUT, APPEAL_WITHHELD}
    assert made == set(LIMITATIONS)


async def test_bodies_are_what_the_description_says(tmp_path: Path, document: dict[str, Any]) -> None:
    """Everything is asked of a home with the example corpus; every body fits its schema and comes in a described form."""
    ask = await asked_everything(tmp_path)
    assert ask.problems == []
    assert set(operations(document)) - set(ask.keys) == {"POST /api/v1/identity/logout"}
