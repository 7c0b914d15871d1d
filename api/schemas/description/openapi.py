"""The description of the API as generators of clients read it: names given by hand, and what the framework cannot say.

Every operation and every schema has its name in a table here; `tests/api/test_openapi.py` fails for one that has none.
"""

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

OPERATIONS: Mapping[str, tuple[str, str]] = {
    "POST /api/v1/ai/query": ("askQuestion", "Ask"),
    "POST /api/v1/ai/stream": ("streamAnswer", "Ask and read the answer as it comes"),
    "GET /api/v1/ai/suggestions": ("suggestQuestions", "Suggest questions"),
    "POST /api/v1/retrieve/basic": ("retrieveBasic", "Search one knowledge base"),
    "POST /api/v1/retrieve/agentic": ("retrieveAgentic", "Search in steps, inside budgets"),
    "POST /retrieval/query": ("queryPassages", "Search passages"),
    "POST /retrieval/mget": ("getPassages", "Read passages by id"),
    "POST /retrieval/expand": ("expandQuery", "Other ways to say a query"),
    "POST /retrieval/feedback": ("giveFeedback", "Label a result"),
    "GET /retrieval/stats": ("getRetrievalStats", "What runs, and how fast"),
    "POST /retrieval/ablation": ("compareProfiles", "Compare ways of searching"),
    "POST /retrieval/pack": ("packContext", "Pack hits into one text"),
    "GET /api/v1/evidence/{document_id}": ("readEvidence", "Follow a citation"),
    "GET /api/v1/computations/{entry_id}/{n}": ("readComputation", "Read how a figure was computed"),
    "GET /api/v1/collections": ("listCollections", "List collections"),
    "GET /api/v1/corpus": ("getCorpus", "The corpus as its curators see it"),
    "GET /api/v1/documents/terms": ("getIngestTerms", "What may be sent, and under which labels"),
    "POST /api/v1/documents": ("sendDocuments", "Send files to be taken in"),
    "POST /api/v1/uploads": ("createUpload", "Begin to send a file in parts"),
    "GET /api/v1/uploads/{upload_id}": ("getUploadOffset", "How much of a file is here"),
    "PATCH /api/v1/uploads/{upload_id}": ("continueUpload", "Send the next part"),
    "DELETE /api/v1/uploads/{upload_id}": ("endUpload", "Give up an upload"),
    "GET /api/v1/jobs": ("listJobs", "List jobs of ingest"),
    "GET /api/v1/jobs/{job_id}": ("getJob", "A job with the fate of each file"),
    "GET /api/v1/jobs/{job_id}/events": ("followJob", "The progress of a job"),
    "POST /api/v1/jobs/{job_id}/cancel": ("cancelJob", "End a job"),
    "POST /api/v1/jobs/{job_id}/retry": ("retryJob", "Try again what was not taken in"),
    "GET /api/v1/layers": ("listLayers", "List layers"),
    "GET /api/v1/layers/{layer_id}": ("getLayer", "Describe a layer"),
    "GET /api/v1/layers/{layer_id}/features": ("listFeatures", "Read features of a layer"),
    "GET /api/v1/layers/{layer_id}/tiles": ("getTileSet", "Describe the vector tiles of a layer"),
    "GET /api/v1/layers/{layer_id}/tiles/{z}/{x}/{y}": ("getVectorTile", "Read a vector tile"),
    "GET /api/v1/features/{feature_id}": ("getFeature", "Read one feature"),
    "GET /api/v1/places": ("findPlaces", "Find places by name"),
    "POST /api/v1/registry/assets/query": ("queryAssets", "Query assets"),
    "POST /api/v1/registry/entities/query": ("queryContextEntities", "Query contextual entities"),
    "POST /api/v1/registry/relationships/query": ("queryRelationships", "Query relationships"),
    "GET /api/v1/registry/assets/{asset_id}": ("getAsset", "Read one asset"),
    "POST /api/v1/registry/feedback": ("giveRegistryFeedback", "Remark on what was shown"),
    "GET /api/v1/registry/feedback": ("listFeedback", "Remarks that wait for a curator"),
    "POST /api/v1/registry/feedback/{feedback_id}/settle": ("settleFeedback", "Settle a remark"),
    "GET /api/v1/registry/quality": ("getRegistryQuality", "How good retrieval is"),
    "GET /api/v1/ledger/entries": ("listEntries", "List or search ledger entries"),
    "GET /api/v1/ledger/facets": ("countEntries", "Count what a search finds"),
    "GET /api/v1/ledger/health": ("getLogHealth", "The health of the log"),
    "GET /api/v1/ledger/entries/{entry_id}": ("getEntry", "Read a ledger entry"),
    "GET /api/v1/ledger/entries/{entry_id}/receipt": ("getReceipt", "Read a receipt"),
    "GET /api/v1/ledger/entries/{entry_id}/package": ("getPackage", "Read a grounded answer as one file"),
    "POST /api/v1/ledger/entries/{entry_id}/replay": ("replayEntry", "Compute an entry again"),
    "GET /api/v1/ledger/entries/{entry_id}/prov": ("getProvenance", "Read a provenance document"),
    "GET /api/v1/ledger/entries/{entry_id}/parts/{name}": ("getPart", "Read a recorded part"),
    "GET /api/v1/ledger/entries/{entry_id}/changes": (
        "listAnswerChanges",
        "Since when a question is answered differently",
    ),
    "GET /api/v1/ledger/difference": ("compareEntries", "Compare two entries"),
    "GET /api/v1/ledger/checkpoint": ("getCheckpoint", "The latest checkpoint"),
    "GET /api/v1/ledger/checkpoints/{size}": ("getCheckpointOfSize", "An earlier checkpoint"),
    "GET /api/v1/ledger/vkey": ("getVerifierKey", "The verifier key"),
    "GET /api/v1/ledger/vkeys": ("listVerifierKeys", "All verifier keys"),
    "GET /api/v1/ledger/tile/entries/{path}": ("getEntryBundle", "An entry bundle"),
    "GET /api/v1/ledger/tile/{path}": ("getTile", "A hash tile"),
    "POST /api/v1/policy/evaluate": ("evaluatePolicy", "Try an input"),
    "GET /api/v1/policy/bundle": ("getPolicyBundle", "The bundle in force"),
    "GET /api/v1/policy/decisions/{entry_id}": ("listDecisions", "Decisions of an entry"),
    "GET /api/v1/policy/rules": ("listPolicyRules", "The rules, and how often each spoke"),
    "GET /api/v1/policy/matrix": ("getPolicyMatrix", "Roles against labels and tags"),
    "GET /api/v1/policy/data": ("getPolicyData", "The data of the bundle in force"),
    "GET /api/v1/policy/releases": ("listPolicyReleases", "Bundles, candidates and changes"),
    "GET /api/v1/policy/explanations/{entry_id}": ("explainEntry", "Why each candidate was kept or dropped"),
    "POST /api/v1/policy/candidates": ("draftPolicy", "Draft a candidate"),
    "POST /api/v1/policy/candidates/{name}/trial": ("tryPolicy", "Begin to try a candidate"),
    "GET /api/v1/policy/candidates/{name}/trial": ("getPolicyTrial", "How a trial goes"),
    "POST /api/v1/policy/publish": ("publishPolicy", "Let a candidate decide"),
    "POST /api/v1/policy/accept": ("acceptPolicy", "Accept what a second person proposed"),
    "POST /api/v1/policy/rollback": ("rollBackPolicy", "Let an earlier bundle decide again"),
    "POST /api/v1/identity/logout": ("endSession", "Back-channel logout of the identity provider"),
    "GET /livez": ("getLiveness", "The process runs"),
    "GET /readyz": ("getReadiness", "Each part and its state"),
    "GET /version": ("getVersion", "The version"),
    "GET /metrics": ("getMetrics", "Metrics in the exposition format"),
}
"""The id and the summary of each operation."""

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
    for key, operation in _operations(document):
        if key in OPERATIONS:
            operation["operationId"], operation["summary"] = OPERATIONS[key]
        for status, response in operation["responses"].items():
            _respond(operation["operationId"], status, response)
    describe_filters(document)
    document = _renamed(document)
    schemas = document["components"]["schemas"]
    _one_of_outcomes(schemas)
    describe_vocabularies(schemas)
    describe_properties(schemas)
    describe_parameters(operation for _, operation in _operations(document))
    describe_examples(schemas)
    describe_parameter_examples(operation for _, operation in _operations(document))
    return document


def _operations(document: Document) -> Iterator[tuple[str, Document]]:
    for path, offered in document["paths"].items():
        for method, operation in offered.items():
            yield f"{method.upper()} {path}", operation


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
