"""The wire format of the corpus as its curators see it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from api.schemas.answer import ClosedModel


class HeldClass(ClosedModel):
    """A visibility class: the access facts that documents share, and the roles that see them."""

    class_id: str = Field(description="digest of the facts", examples=["sha256:0f3c…"])
    collection: str = Field(description="the collection that its documents are of", examples=["kansas"])
    label: str = Field(description="the sensitivity label", examples=["public"])
    handling: list[str] = Field(description="handling tags", examples=[["sensitive_location"]])
    groups: list[str] = Field(description="groups of which a reader must be in one", examples=[["tribal_review"]])
    owner_group: str | None = Field(description="the group that owns it", examples=["archive"])
    documents: int = Field(description="active documents", examples=[4])
    roles: list[str] = Field(
        description="roles for which the query point admits the class now, without any group",
        examples=[["admin", "public_viewer"]],
    )


class HeldCollection(ClosedModel):
    """A collection and the counts of its active documents."""

    name: str = Field(description="as requests name it", examples=["kansas"])
    title: str = Field(description="as readers are shown it", examples=["Kansas"])
    sources: int = Field(description="sources with an active document", examples=[6])
    records: dict[str, int] = Field(description="records by kind", examples=[{"passage": 120, "observation": 5417}])


class HeldSourceVersion(ClosedModel):
    """One version of one source, in any lifecycle."""

    source_id: str = Field(description="the source", examples=["county-population"])
    document_id: str = Field(description="this version of it", examples=["county-population@5f3a0714704a"])
    title: str = Field(description="empty where it was erased", examples=["Population of Kansas counties, 1900-1950"])
    lifecycle: str = Field(description="only an active version is searched", examples=["active", "superseded"])
    class_id: str = Field(description="its class, in `classes`", examples=["sha256:0f3c…"])
    collection: str = Field(description="the collection that it was stored in", examples=["kansas"])
    label: str = Field(description="its sensitivity label", examples=["public"])
    handling: list[str] = Field(description="its handling tags", examples=[[]])
    license: str = Field(description="licence", examples=["Public domain (U.S. Census Bureau)"])
    attribution: str | None = Field(description="whom to credit", examples=["U.S. Census Bureau"])
    uri: str | None = Field(description="where it was published", examples=["https://example.org/census.csv"])
    media_type: str = Field(description="of the file", examples=["text/csv"])
    source_sha256: str = Field(description="digest of the file", examples=["sha256:5f3a…"])
    stored_ms: int = Field(description="when it was stored, UTC milliseconds", examples=[1795354024124])
    valid_from_ms: int | None = Field(description="before then nobody sees it", examples=[None])
    valid_until_ms: int | None = Field(description="after then policy refuses it", examples=[None])
    records: dict[str, int] = Field(description="records by kind", examples=[{"passage": 106, "observation": 636}])


class IngestedFile(ClosedModel):
    """The fate of one file in one run."""

    source_id: str = Field(description="the source that it is", examples=["county-population"])
    document_id: str | None = Field(description="the version that it became", examples=["county-population@5f3a"])
    path: str = Field(description="as it was named; empty where it was erased", examples=["county-population.csv"])
    state: Literal["queued", "loading", "indexing", "done", "skipped", "failed"] = Field(
        description="how far it came", examples=["done"]
    )
    stage: str = Field(description="the last stage that it entered", examples=["index"])
    passages: int = Field(description="passages made of it", examples=[106])
    observations: int = Field(description="observations made of it", examples=[636])
    features: int = Field(description="features made of it", examples=[0])
    error_code: str | None = Field(description="why it failed", examples=["UNREADABLE"])
    error_message: str | None = Field(description="the same in words", examples=["the file is not UTF-8"])
    updated_ms: int = Field(description="when that was noted, UTC milliseconds", examples=[1795354024124])


class IngestRun(ClosedModel):
    """A run of `exhibit ingest`: its files that the caller may know of."""

    run_id: str = Field(description="names the run", examples=["1795354024124-97d5bcb8"])
    files: list[IngestedFile] = Field(description="in the order of the run")


class CorpusResponse(ClosedModel):
    """The corpus inside the caller's own scope. What lies outside is not counted, and answers as if it did not
    exist."""

    classes: list[HeldClass] = Field(description="by collection and label")
    collections: list[HeldCollection] = Field(description="by name")
    versions: list[HeldSourceVersion] = Field(description="by source and time")
    runs: list[IngestRun] = Field(description="the newest first, at most 20")
