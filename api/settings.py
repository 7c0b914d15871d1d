"""Every knob, its meaning and its default. Values only: `api.configuration` reads them from file, environment and
command line.

The field `retrieval.fusion_k` is `EXHIBIT_RETRIEVAL__FUSION_K` in the environment, and `fusion_k` under `[retrieval]`
in `exhibit.toml`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr


def _read_dsn(value: SecretStr) -> SecretStr:
    """An address that libpq cannot read is refused here: it would repeat part of it, in every attempt to connect."""
    from psycopg import ProgrammingError, conninfo  # noqa: PLC0415  which most homes do not need

    try:
        conninfo.conninfo_to_dict(value.get_secret_value())
    except ProgrammingError:
        said = "not an address of PostgreSQL (postgresql://user:password@host/database, both percent-encoded)"
        raise ValueError(said) from None
    return value


Milli = Annotated[int, Field(ge=0, le=1000)]
DeadlineMs = Annotated[int, Field(ge=1, le=600_000)]
Weight = Annotated[int, Field(ge=0, le=10_000)]
Tokens = Annotated[int, Field(ge=1, le=200_000)]
Dsn = Annotated[SecretStr, AfterValidator(_read_dsn)]
Label = Literal["public", "internal", "confidential", "restricted"]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Models(_Section):
    """Who writes the answers and who makes the vectors."""

    chat: str | None = Field(
        default=None,
        min_length=1,
        description="Ollama model that writes answers; unset: the extractive model, which needs no server",
    )
    embed: str | None = Field(
        default=None, min_length=1, description="Ollama model that makes vectors; unset: the embedder in the package"
    )
    ollama_url: str = Field(
        default="http://127.0.0.1:11434",
        pattern=r"^https?://[^\s]+$",
        description="where Ollama listens; used only if a model is named",
    )
    ollama_token: SecretStr | None = Field(default=None, description="bearer token for a proxy in front of Ollama")
    ollama_ca_file: str | None = Field(
        default=None, min_length=1, description="certificate authorities (PEM) for Ollama; unset: the system's"
    )
    context_tokens: Annotated[int, Field(ge=512, le=1_048_576)] = Field(
        default=8_192, description="window of the chat model (num_ctx); a prompt and answer over it are an error"
    )
    threads: Annotated[int, Field(ge=1, le=256)] | None = Field(
        default=None, description="threads per model (num_thread); unset: Ollama decides"
    )
    deadline_ms: DeadlineMs = Field(default=60_000, description="longest time for one model call")
    rerank: str | None = Field(
        default=None,
        min_length=1,
        description="Ollama model that requirement 002's searches may name as reranker, `ollama/MODEL`; unset: none",
    )
    rerank_deadline_ms: DeadlineMs = Field(
        default=5_000, description="longest time for one list; after it the heuristic order stands in"
    )


class Stores(_Section):
    """Servers in place of the folder. One that this version does not speak to is refused by name, never ignored."""

    neo4j_uri: str | None = Field(default=None, description="graph channel on Neo4j")
    neo4j_user: str | None = Field(default=None, description="user at Neo4j")
    neo4j_password: SecretStr | None = Field(default=None, description="password at Neo4j")
    neo4j_ca_file: str | None = Field(
        default=None,
        min_length=1,
        description="certificate authorities (PEM) for the Neo4j server, with bolt+s or neo4j+s; unset: the system's",
    )
    neo4j_answers: bool = Field(
        default=True, description="note each answer, its model, decision and sources in Neo4j, by ids only"
    )
    postgis_dsn: Dsn | None = Field(
        default=None, description="store of record, spatial and vector channel on PostgreSQL"
    )
    deadline_ms: DeadlineMs = Field(
        default=2_000, description="longest time for one read of the store of record, where that is a server"
    )
    row_level_security: bool = Field(
        default=True, description="PostgreSQL itself shows a question only rows of the classes that it may see"
    )
    opensearch_url: SecretStr | None = Field(
        default=None, description="full-text channel on OpenSearch: http[s]://[user:password@]host[:port][/path]"
    )
    opensearch_ca_file: str | None = Field(
        default=None,
        min_length=1,
        description="certificate authorities (PEM) for the OpenSearch server; unset: the system's",
    )
    opensearch_index: str = Field(
        default="exhibit-fulltext",
        pattern=r"^[a-z][a-z0-9-]{0,60}$",
        description="what the names of its indexes begin with; one per home on a shared server",
    )
    opa_url: str | None = Field(
        default=None, description="policy decisions by an OPA server: http://, https:// or unix:///path"
    )
    opa_token: SecretStr | None = Field(default=None, description="bearer token for the OPA server")
    opa_ca_file: str | None = Field(
        default=None, min_length=1, description="certificate authorities (PEM) for the OPA server; unset: the system's"
    )


class ChannelDeadlines(_Section):
    """Longest time for one search, per channel, in milliseconds."""

    graph: DeadlineMs = 2_000
    spatial: DeadlineMs = 2_000
    fulltext: DeadlineMs = 2_000
    vector: DeadlineMs = 2_000


class ChannelWeights(_Section):
    """How much a channel's ranks count in fusion, in thousandths."""

    graph: Weight = 1_000
    spatial: Weight = 1_000
    fulltext: Weight = 1_000
    vector: Weight = 1_000


class Retrieval(_Section):
    """How the four channels are asked, and how their runs become one bundle."""

    channel_top_k: Annotated[int, Field(ge=1, le=200)] = Field(
        default=24, description="hits that each channel may return"
    )
    deadline_ms: ChannelDeadlines = Field(default=ChannelDeadlines(), description="longest time for one search")
    weight_milli: ChannelWeights = Field(default=ChannelWeights(), description="weight in fusion, in thousandths")
    fusion_k: Annotated[int, Field(ge=0, le=1_000)] = Field(default=60, description="k of reciprocal rank fusion")
    cached_searches: Annotated[int, Field(ge=0, le=100_000)] = Field(
        default=0, description="searches whose runs are kept, per scope, policy and state of the corpus; 0 keeps none"
    )
    concurrent_searches: Annotated[int, Field(ge=1, le=64)] = Field(
        default=8, description="searches of one channel that run at one time"
    )
    max_tokens: Tokens = Field(default=4_000, description="tokens of one bundle")
    max_tokens_per_source: Tokens = Field(default=2_000, description="tokens of one source in a bundle")
    max_items_per_source: Annotated[int, Field(ge=1, le=100)] = Field(
        default=8, description="items of one source in a bundle"
    )


class Prompt(_Section):
    """Token budgets of the prompt."""

    max_tokens: Tokens = Field(default=3_600, description="tokens of the whole prompt")
    max_tokens_per_source: Tokens = Field(default=320, description="tokens of one source in the prompt")
    reserve_tokens: Tokens = Field(default=700, description="tokens kept free for the answer")


class Extractive(_Section):
    """Thresholds of the model that needs no server."""

    min_coverage_milli: Milli = Field(default=560, description="least share of the question that a sentence must cover")
    max_sentences: Annotated[int, Field(ge=1, le=20)] = Field(default=3, description="most sentences of an answer")


class Policy(_Section):
    """How policy is asked."""

    bundle: str | None = Field(
        default=None,
        min_length=1,
        description="folder of the policy bundle, which must pass the canary; "
        "unset: the one that was published to this home, or the shipped one",
    )
    fallback: bool = Field(
        default=False,
        description="whether the embedded engine, with the same bundle, decides where the OPA server does not",
    )
    deadline_ms: DeadlineMs = Field(
        default=2_000, description="longest time for one decision; none in time is a refusal"
    )


class Ingest(_Section):
    """How documents are taken in."""

    chunk_words: Annotated[int, Field(ge=20, le=1_000)] = Field(
        default=120, description="words at which a passage is closed"
    )
    longest_sentence_words: Annotated[int, Field(ge=20, le=2_000)] = Field(
        default=240, description="words after which a sentence is cut"
    )
    default_labels: dict[str, Label] = Field(
        default_factory=dict, description="label per collection for documents whose manifest and options name none"
    )


class Ledger(_Section):
    """Who the log says it is, and where it is kept. Origin and replica are fixed by the first entry; another origin is
    another log."""

    dsn: Dsn | None = Field(default=None, description="log in PostgreSQL; unset: a file in the home")
    deadline_ms: DeadlineMs = Field(
        default=5_000, description="longest wait for an entry to be durable, where the log is in PostgreSQL"
    )
    origin: str = Field(
        default="exhibit.local/ledger",
        pattern=r"^[a-z0-9][a-z0-9./-]{2,99}$",
        description="name of the log in its checkpoints",
    )
    replica: str = Field(
        default="r1", pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$", description="name of this process in the log"
    )
    checkpoint_ms: Annotated[int, Field(ge=20, le=3_600_000)] = Field(
        default=1_000, description="how often `serve` signs a checkpoint, if there are new entries"
    )
    checkpoint_entries: Annotated[int, Field(ge=1, le=65_536)] = Field(
        default=256, description="entries after which `serve` signs one earlier"
    )
    trust_policy: str | None = Field(
        default=None, description="file of the witnesses that cosign (C2SP tlog-policy); unset: nobody does"
    )
    witness_operators: Annotated[int, Field(ge=1, le=2)] = Field(
        default=2, description="operators that a quorum of witnesses needs; 1 for a network of one's own"
    )
    outside_checkpoint: str | None = Field(
        default=None,
        description="file that keeps the highest checkpoint, best on another disk than the log; unset: in the home",
    )


class Server(_Section):
    """The HTTP server."""

    host: str = Field(default="127.0.0.1", description="address to listen on; beyond loopback only with API keys")
    port: Annotated[int, Field(ge=0, le=65_535)] = Field(
        default=8484, description="port to listen on; 0 takes a free one"
    )
    body_bytes: Annotated[int, Field(ge=1_024, le=16_777_216)] = Field(
        default=262_144, description="largest request body"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="least severity that is logged"
    )


class Settings(_Section):
    """All settings. An unknown key is an error."""

    models: Models = Models()
    stores: Stores = Stores()
    retrieval: Retrieval = Retrieval()
    prompt: Prompt = Prompt()
    extractive: Extractive = Extractive()
    policy: Policy = Policy()
    ingest: Ingest = Ingest()
    ledger: Ledger = Ledger()
    server: Server = Server()


# Names that requirements and other tools gave; everything else is EXHIBIT_<SECTION>__<FIELD>.
ENVIRONMENT_NAMES = {
    "FOCUS_MODE_MODEL": "models.chat",
    "FOCUS_MODE_EMBED_MODEL": "models.embed",
    "OLLAMA_API_URL": "models.ollama_url",
    "NEO4J_URI": "stores.neo4j_uri",
    "NEO4J_USER": "stores.neo4j_user",
    "NEO4J_PASSWORD": "stores.neo4j_password",
    "POSTGIS_DSN": "stores.postgis_dsn",
    "OPENSEARCH_URL": "stores.opensearch_url",
    "OPA_URL": "stores.opa_url",
}
