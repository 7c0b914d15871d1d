"""The wire format of documents that are sent in, and of the jobs that take them in."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from api.schemas.answer import ClosedModel

JobId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
JobEventId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f-]{36}\.[0-9]{1,15}$")]
State = Literal["arriving", "queued", "running", "done", "failed", "cancelled"]
JOB_EXAMPLE = _ID = "01a20628-4023-733f-8dc8-d436de356da4"


class JobFile(ClosedModel):
    """The fate of one file of a job."""

    name: str = Field(
        description="the file's name, without its place; empty after its source was erased", examples=["ferry.md"]
    )
    source_id: str = Field(description="the source that it is", examples=["ferry.md.3fa2b1c9d0e4"])
    state: Literal["queued", "loading", "indexing", "done", "skipped", "failed"] = Field(
        description="how far it has come; `skipped`: it is stored already as it is", examples=["done"]
    )
    stage: str = Field(description="the last step that it entered", examples=["index"])
    document_id: str | None = Field(
        description="the version that it became; null where it became none",
        examples=["ferry.md.3fa2b1c9d0e4@46ff5d415f6f"],
    )
    passages: int = Field(description="passages that were made of it", examples=[1])
    observations: int = Field(description="figures that were made of it", examples=[0])
    features: int = Field(description="features of a map that were made of it", examples=[0])
    error_code: str | None = Field(
        description="why it was not ingested, or (`LEFT_OUT`, `NOTE`) what else is to be known",
        examples=["VALIDATION_FAILED"],
    )
    error_message: str | None = Field(
        description="the same in a sentence", examples=["c.bin: files of this kind are not read (.bin)"]
    )
    updated_ms: int = Field(description="when this was last written, UTC milliseconds", examples=[1795399631231])


class JobSummary(ClosedModel):
    """A job without its files."""

    job_id: str = Field(description="the job", examples=[_ID])
    origin: Literal["paths", "upload"] = Field(
        description="whether its files were named on the machine or sent", examples=["upload"]
    )
    collection: str | None = Field(description="the collection that its files go into", examples=["default"])
    label: str | None = Field(description="the sensitivity label that they get", examples=["public"])
    groups: list[str] = Field(description="groups of which their readers must be in one", examples=[[]])
    state: State = Field(description="how far it has come; the last three are final", examples=["done"])
    cancelled: bool = Field(description="whether somebody asked that it be ended", examples=[False])
    file_count: int = Field(description="how many files it has", examples=[2])
    error_code: str | None = Field(
        description="why the whole job failed; null where it did not", examples=["INDEX_NOT_READY"]
    )
    entry_id: str | None = Field(
        description="ledger entry of who sent what under which access facts",
        examples=["01a2062f-bb7c-75fa-8b71-8149526f20db"],
    )
    created_ms: int = Field(description="when it was made, UTC milliseconds", examples=[1795399630934])
    updated_ms: int = Field(description="when its state last changed, UTC milliseconds", examples=[1795399631251])


class JobResponse(JobSummary):
    """A job with the fate of each file."""

    files: list[JobFile] = Field(description="its files in order; empty while it arrives in parts elsewhere")


class JobList(ClosedModel):
    """Jobs, the newest first."""

    jobs: list[JobSummary] = Field(description="at most as many as were asked for")


class IngestTerms(ClosedModel):
    """The terms of ingest for the caller: what may be sent, and under which labels."""

    collection: str = Field(description="the collection where none is named", examples=["default"])
    labels: list[str] = Field(
        description="labels under which the caller may send into that collection, decided now",
        examples=[["public", "internal"]],
    )
    default_label: str | None = Field(
        description="the label where none is named; null: one must be", examples=["public"]
    )
    kinds: list[str] = Field(description="endings of names that are taken", examples=[[".csv", ".md", ".pdf"]])
    file_bytes: int = Field(description="largest file", examples=[268435456])
    request_bytes: int = Field(description="largest form; a larger file is sent in parts", examples=[33554432])
    request_files: int = Field(description="most files of one form", examples=[100])


class JobEvent(ClosedModel):
    """One event of a job's progress: `file` with the fate of a file, or `job` with the job's state; the last is a `job`
    that is final, unless the stream was cut."""

    event: Literal["file", "job"] = Field(description="what changed", examples=["file"])
    id: str = Field(description="to be given back as `Last-Event-ID`", examples=[f"{_ID}.1795399631231"])
    data: JobFile | JobSummary = Field(description="how it is now")
