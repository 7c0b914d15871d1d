"""The optional endpoints of requirement 002: mget, expand, feedback, stats, ablation, pack."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StrictInt

from ai.answer.shapes import WirePromise, WireReading
from api.schemas.answer import ClosedModel
from api.schemas.query import PLAIN, WHOLE, Question, StrictModel, Text, plain_text
from api.schemas.retrieval.search import Hybrid, RetrievalQuery

Id = Annotated[str, Field(min_length=1, max_length=300, json_schema_extra=PLAIN), AfterValidator(plain_text)]
EntryId = Annotated[str, Field(min_length=1, max_length=64)]


class MgetRequest(StrictModel):
    """Documents or chunks by id; a document gives all its passages."""

    ids: Annotated[list[Id], Field(min_length=1, max_length=100)]
    tenant: Text | None = None


class ExpandRequest(StrictModel):
    """A query whose words and names are to be said in other ways."""

    query: Question
    tenant: Text | None = None


class FeedbackRequest(StrictModel):
    """A label on a hit of a recorded request."""

    entry_id: EntryId
    chunk_id: Id
    label: Literal["relevant", "partly_relevant", "not_relevant", "wrong"]
    comment: Annotated[str, Field(max_length=2_000, json_schema_extra=PLAIN), AfterValidator(plain_text)] = ""
    tenant: Text | None = None


class FeedbackResponse(ClosedModel):
    """The entry that holds the label."""

    request_id: str
    about: str
    provenance: WireReading
    promise: WirePromise


class Latency(ClosedModel):
    """A cumulative histogram: how many requests took at most so many seconds."""

    count: int
    sum_seconds: float
    buckets: dict[str, int]


class StatsResponse(ClosedModel):
    """The running version, and how long it took since the process began."""

    software: str
    embedding_model: str
    index_version: str
    documents: int
    calibration: dict[str, str]
    rerankers: list[str]
    policy_bundle: str
    latency: dict[str, Latency]


class SavedQuery(StrictModel):
    """A query with the ids that answer it: chunks or documents."""

    query: Question
    relevant: Annotated[list[Id], Field(min_length=1, max_length=100)]


class AblationProfile(StrictModel):
    """One way of searching."""

    name: Text
    hybrid: Hybrid = Hybrid(bm25=0.67, vector=0.33)
    rerank: bool = False


class AblationRequest(StrictModel):
    """Saved queries and the profiles to compare on them; the first profile is the one that others are compared to."""

    queries: Annotated[list[SavedQuery], Field(min_length=1, max_length=50)]
    profiles: Annotated[list[AblationProfile], Field(min_length=1, max_length=5)]
    k: Annotated[StrictInt, Field(ge=1, le=50), WHOLE] = 10
    tenant: Text | None = None


class Interval(ClosedModel):
    """A mean with its 95 % bootstrap interval over the queries."""

    mean: float
    low: float
    high: float


class LeaderboardRow(ClosedModel):
    """One profile; `against_first` is the paired difference of nDCG to the first profile."""

    name: str
    ndcg: Interval
    recall: Interval
    mrr: Interval
    against_first: Interval


class AblationResponse(ClosedModel):
    """Profiles by nDCG, the best first."""

    request_id: str
    queries: int
    k: int
    leaderboard: list[LeaderboardRow]


class PackRequest(RetrievalQuery):
    """A search whose hits are packed into one text."""

    token_budget: Annotated[StrictInt, Field(ge=50, le=100_000), WHOLE] = 4_000
