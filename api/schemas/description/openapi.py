"""The description of the API as generators of clients read it: names of schemas given by hand, and what the framework
cannot say. Operations are named where their routes are; `tests/api/test_openapi.py` fails for one that is not."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from typing import Any

from api.schemas.description.descriptions import describe_parameters, describe_properties
from api.schemas.description.examples import describe_examples, describe_parameter_examples
from api.schemas.description.filters import describe_filters
from api.schemas.description.vocabularies import describe_vocabularies

Document = dict[str, Any]

SCHEMAS: Mapping[str, str] = {
    "ErrorFields": "Error",
    "Detail": "ErrorDetail",
    "Span": "RedactedSpan",
    "Context": "MapContext",
    "Options": "AnswerOptions",
    "WireAgent": "AgentRun",
    "WireAgentSearch": "AgentSearch",
    "WireAgentStep": "AgentStep",
    "WireCitation": "Citation",
    "WireClaim": "Claim",
    "WireCollection": "Collection",
    "WireComputed": "Computation",
    "WireDecision": "PolicyDecision",
    "WireDuplicate": "Duplicate",
    "WireEvidence": "EvidenceItem",
    "WireHit": "PassageHit",
    "WireInput": "ComputationInput",
    "WireInputChange": "InputChange",
    "WireInterpretation": "Interpretation",
    "WireLimitation": "Limitation",
    "WireLocator": "Locator",
    "WireMeasurement": "Measurement",
    "WireMetadata": "EvidenceMetadata",
    "WireNoGeometry": "NoGeometry",
    "WireNote": "RetrievalNote",
    "WirePlace": "CitedPlace",
    "WirePolicy": "AnswerPolicy",
    "WirePromise": "LedgerPromise",
    "WireProvenance": "Provenance",
    "WireQuote": "Quote",
    "WireReading": "Reading",
    "WireRef": "EntryReference",
    "WireRelated": "RelatedPassages",
    "WireRelatedQuote": "RelatedQuote",
    "WireResult": "RetrievedPassage",
    "WireRule": "PolicyRule",
    "WireSentence": "AnswerSentence",
    "WireStamp": "DecisionStamp",
    "WireStep": "RetrievalStep",
    "WireSubQuery": "RetrievalSubQuery",
    "WireTarget": "DecisionTarget",
    "WireTime": "DayRange",
    "WireTokens": "AgentTokens",
    "WireToolCall": "ToolCall",
    "ai__answer__shapes__WireObligation": "AnswerObligation",
    "ai__answer__shapes__WireReading": "EvidenceReading",
    "ai__answer__shapes__WireReason": "AnswerReason",
    "api__schemas__map__WireReading": "MapReading",
    "api__schemas__policy__WireObligation": "DecisionObligation",
    "api__schemas__policy__WireReason": "DecisionReason",
}
"""Names of schemas that are others than those of the classes."""

_OUTCOMES = {"ANSWER": "Answer", "ABSTAIN": "Abstention", "DENY": "Denial"}
_BYTES = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
_TEXT = {"text/plain": {"schema": {"type": "string"}}}
_MEDIA: Mapping[str, Document] = {
    "getMetrics": _TEXT,
    "getTile": _BYTES,
    "getEntryBundle": _BYTES,
    "getVectorTile": {
        **_BYTES,
        "application/vnd.mapbox-vector-tile": {"schema": {"type": "string", "format": "binary"}},
    },
    "getPackage": {**_BYTES, "application/zip": {"schema": {"type": "string", "format": "binary"}}},
    "getProvenance": {
        "application/json": {"schema": {"type": "object", "additionalProperties": True, "description": "PROV-JSON"}},
        "application/ld+json": {"schema": {"type": "object", "additionalProperties": True, "description": "PROV-O"}},
        "text/provenance-notation": {"schema": {"type": "string", "description": "PROV-N"}},
    },
}
_CSV: Document = {"text/csv": {"schema": {"type": "string"}}}
_OTHER_FORMS: Mapping[str, Document] = {
    "listEntries": _CSV | {"application/x-ndjson": {"schema": {"type": "string"}}},
    "countEntries": _CSV,
    "listAnswerChanges": _CSV,
    "getPart": _TEXT,
}
"""Beside the first form, which the framework knows."""


def describe(document: Document) -> Document:
    """The framework's description, completed."""
    for operation in _operations(document):
        for status, response in operation["responses"].items():
            _respond(operation["operationId"], status, response)
    describe_filters(document)
    document = _renamed(document)
    schemas = document["components"]["schemas"]
    _one_of_outcomes(schemas)
    describe_vocabularies(schemas)
    describe_properties(schemas)
    describe_parameters(_operations(document))
    describe_examples(schemas)
    describe_parameter_examples(_operations(document))
    return document


def _operations(document: Document) -> Iterator[Document]:
    return (operation for offered in document["paths"].values() for operation in offered.values())


def _respond(operation_id: str, status: str, response: Document) -> None:
    """Errors are JSON whatever a route answers with; the framework takes the route's own type, and leaves the type of
    text beside a reference."""
    if int(status) >= 400 and "content" in response:
        response["content"] = {"application/json": next(iter(response["content"].values()))}
    elif status == "200" and operation_id in _MEDIA:
        response["content"] = copy.deepcopy(_MEDIA[operation_id])
    elif status == "200" and operation_id in _OTHER_FORMS:
        response["content"] |= copy.deepcopy(_OTHER_FORMS[operation_id])
    for content in response.get("content", {}).values():
        if "$ref" in content.get("schema", {}):
            content["schema"] = {"$ref": content["schema"]["$ref"]}


def _renamed(document: Document) -> Document:
    """Schemas under their names, where they are and where they are referred to."""
    text = json.dumps(document)
    for before, after in SCHEMAS.items():
        text = text.replace(f'"#/components/schemas/{before}"', f'"#/components/schemas/{after}"')
    renamed: Document = json.loads(text)
    schemas = renamed["components"]["schemas"]
    renamed["components"]["schemas"] = {SCHEMAS.get(name, name): schema for name, schema in schemas.items()}
    for name, schema in renamed["components"]["schemas"].items():
        schema["title"] = name
    return renamed


def _one_of_outcomes(schemas: Document) -> None:
    """The body of a question by its outcome: what an answer always has, others never do."""
    whole = schemas["QueryResponse"]
    for outcome, name in _OUTCOMES.items():
        body = copy.deepcopy(whole)
        body["title"] = name
        body["description"] = f"The body where `outcome` is {outcome}."
        body["properties"]["outcome"] = {"type": "string", "enum": [outcome], "title": "Outcome"}
        if outcome != "ANSWER":
            del body["properties"]["bbox"]  # nothing is cited that it could be around
        schemas[name] = body
    reference = "#/components/schemas/"
    schemas["QueryResponse"] = {
        "title": "QueryResponse",
        "description": whole.get("description", ""),
        "oneOf": [{"$ref": reference + name} for name in _OUTCOMES.values()],
        "discriminator": {
            "propertyName": "outcome",
            "mapping": {outcome: reference + name for outcome, name in _OUTCOMES.items()},
        },
    }
