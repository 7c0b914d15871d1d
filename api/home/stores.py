"""The products behind each boundary: the settings of every server and model, and the union that they are read into.

`api.wiring` matches on the union and opens it. A product is declared here and nowhere else: its settings as fields of a
section, its variant in the union of its role, and the method that reads one from the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, model_validator

from retrieval.files.seal import PLAIN, Seal


def _read_dsn(value: SecretStr) -> SecretStr:
    """An address that libpq cannot read is refused here: it would repeat part of it, in every attempt to connect."""
    from psycopg import ProgrammingError, conninfo  # noqa: PLC0415  which most homes do not need

    try:
        conninfo.conninfo_to_dict(value.get_secret_value())
    except ProgrammingError:
        said = "not an address of PostgreSQL (postgresql://user:password@host/database, both percent-encoded)"
        raise ValueError(said) from None
    return value


DeadlineMs = Annotated[int, Field(ge=1, le=600_000)]
Dsn = Annotated[SecretStr, AfterValidator(_read_dsn)]


def comma_separated(value: object) -> object:
    """The environment has no lists: names separated by commas."""
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


class Section(BaseModel):
    """One table of the settings file; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True)
class Embedded:
    """A file or folder of the home. The seal is for files; databases are encrypted where they are opened."""

    path: Path
    seal: Seal = PLAIN


@dataclass(frozen=True, slots=True)
class Postgres:
    """PostgreSQL; `deadline_ms` is for one read of a question."""

    dsn: str = field(repr=False)
    deadline_ms: int
    row_security: bool


@dataclass(frozen=True, slots=True)
class Neo4j:
    """Neo4j, and with `answers` the graph of what was answered."""

    uri: str
    user: str
    password: str = field(repr=False)
    ca_file: Path | None
    answers: bool
    deadline_ms: int


@dataclass(frozen=True, slots=True)
class OpenSearch:
    """OpenSearch."""

    url: str = field(repr=False)
    ca_file: Path | None
    index: str
    deadline_ms: int


@dataclass(frozen=True, slots=True)
class Opa:
    """An OPA server that serves the bundle. `fallback`: the embedded engine, with the same bundle, decides where the
    server does not."""

    url: str
    token: str | None = field(repr=False)
    ca_file: Path | None
    fallback: bool


@dataclass(frozen=True, slots=True)
class Wordllama:
    """Vectors from the weights in the package."""


@dataclass(frozen=True, slots=True)
class Extractive:
    """The model that selects sentences; without a `false_answer_milli` no reader judges prose."""

    min_coverage_milli: int
    max_sentences: int
    false_answer_milli: int | None = None


@dataclass(frozen=True, slots=True)
class OllamaModel:
    """A model that Ollama serves: it writes, makes vectors or judges passages."""

    model: str
    url: str = field(repr=False)
    token: str | None = field(repr=False)
    ca_file: Path | None
    threads: int | None
    context_tokens: int
    deadline_ms: int


@dataclass(frozen=True, slots=True)
class OpenAIModel:
    """A model on a server that speaks OpenAI's chat interface: it writes."""

    model: str
    url: str = field(repr=False)
    key: str | None = field(repr=False)
    key_file: Path | None
    ca_file: Path | None
    deadline_ms: int


SqlStore = Embedded | Postgres
GraphStore = Embedded | Neo4j
FulltextStore = Embedded | OpenSearch
EmbeddingModel = Wordllama | OllamaModel
ServedChat = OllamaModel | OpenAIModel
ChatSettings = Extractive | ServedChat


class Models(Section):
    """The models that write the answers and make the vectors."""

    chat: str | None = Field(
        default=None,
        min_length=1,
        description="model that writes answers, on Ollama or at models.openai_url; unset: the extractive model, "
        "which needs no server",
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
    openai_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^\s]+$",
        description="server with OpenAI's chat interface, up to and with `/v1`, that models.chat is asked on; "
        "unset: Ollama",
    )
    openai_key: SecretStr | None = Field(default=None, description="key for that server")
    openai_key_file: str | None = Field(
        default=None, min_length=1, description="file that holds the key for that server, in place of models.openai_key"
    )
    openai_ca_file: str | None = Field(
        default=None, min_length=1, description="certificate authorities (PEM) for that server; unset: the system's"
    )
    context_tokens: Annotated[int, Field(ge=512, le=1_048_576)] = Field(
        default=8_192, description="window of the chat model (num_ctx); a prompt and answer over it are an error"
    )
    threads: Annotated[int, Field(ge=1, le=256)] | None = Field(
        default=None, description="threads per model (num_thread); unset: Ollama decides"
    )
    deadline_ms: DeadlineMs = Field(default=60_000, description="longest time for one model call")
    repair: bool = Field(
        default=True,
        description="whether the chat model gets one more try, within the same time and told what was dropped and why, "
        "if nothing of its draft can be released",
    )
    rerank: str | None = Field(
        default=None,
        min_length=1,
        description="Ollama model that requirement 002's searches may name as reranker, `ollama/MODEL`; unset: none",
    )
    rerank_deadline_ms: DeadlineMs = Field(
        default=5_000, description="longest time for one list; after that the heuristic order is used"
    )

    @model_validator(mode="after")
    def _one_key(self) -> Self:
        if self.openai_key is not None and self.openai_key_file is not None:
            raise ValueError("models.openai_key and models.openai_key_file are two keys; set one")
        return self

    def chat_served(self) -> ServedChat | None:
        """The model that writes the answers, where a server has it."""
        if self.chat is None or self.openai_url is None:
            return self.ollama(self.chat, self.deadline_ms)
        return OpenAIModel(
            model=self.chat,
            url=self.openai_url,
            key=revealed(self.openai_key),
            key_file=path_of(self.openai_key_file),
            ca_file=path_of(self.openai_ca_file),
            deadline_ms=self.deadline_ms,
        )

    def ollama(self, model: str | None, deadline_ms: int) -> OllamaModel | None:
        """The model of that name on Ollama."""
        if model is None:
            return None
        return OllamaModel(
            model=model,
            url=self.ollama_url,
            token=revealed(self.ollama_token),
            ca_file=path_of(self.ollama_ca_file),
            threads=self.threads,
            context_tokens=self.context_tokens,
            deadline_ms=deadline_ms,
        )


class Stores(Section):
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
        description="prefix of the names of its indexes; one per home on a shared server",
    )
    opa_url: str | None = Field(
        default=None, description="policy decisions by an OPA server: http://, https:// or unix:///path"
    )
    opa_token: SecretStr | None = Field(default=None, description="bearer token for the OPA server")
    opa_ca_file: str | None = Field(
        default=None, min_length=1, description="certificate authorities (PEM) for the OPA server; unset: the system's"
    )

    def sql(self, here: Embedded, deadline_ms: int) -> SqlStore:
        """The PostgreSQL server if one is named, else that file or folder of the home."""
        dsn = revealed(self.postgis_dsn)
        return here if dsn is None else Postgres(dsn, deadline_ms, self.row_level_security)

    def graph(self, here: Embedded, deadline_ms: int) -> GraphStore:
        """The Neo4j server if one is named, else that file."""
        if self.neo4j_uri is None:
            return here
        user, password = self.neo4j_user or "neo4j", revealed(self.neo4j_password) or ""
        return Neo4j(self.neo4j_uri, user, password, path_of(self.neo4j_ca_file), self.neo4j_answers, deadline_ms)

    def fulltext(self, here: Embedded, deadline_ms: int) -> FulltextStore:
        """The OpenSearch server if one is named, else that folder."""
        url = revealed(self.opensearch_url)
        if url is None:
            return here
        return OpenSearch(url, path_of(self.opensearch_ca_file), self.opensearch_index, deadline_ms)

    def opa(self, *, fallback: bool) -> Opa | None:
        """The OPA server, if one is named."""
        if self.opa_url is None:
            return None
        return Opa(self.opa_url, revealed(self.opa_token), path_of(self.opa_ca_file), fallback)


def revealed(secret: SecretStr | None) -> str | None:
    """The value of a secret."""
    return None if secret is None else secret.get_secret_value()


def path_of(named: str | None) -> Path | None:
    """A file or folder that a setting names, where `~` is whoever runs this."""
    return None if named is None else Path(named).expanduser()
