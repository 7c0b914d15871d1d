"""Which engine stands behind each boundary: tagged unions, read from the settings. `api.wiring` matches on them and
opens them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from api.configuration import Configuration
from api.settings import Models


@dataclass(frozen=True, slots=True)
class SqliteRecords:
    """The store of record in a file."""

    path: Path


@dataclass(frozen=True, slots=True)
class PostgresRecords:
    """The store of record in PostgreSQL; `deadline_ms` is for one read of a question."""

    dsn: str = field(repr=False)
    deadline_ms: int
    row_security: bool


@dataclass(frozen=True, slots=True)
class SqliteGraph:
    """The graph channel in a file."""

    path: Path


@dataclass(frozen=True, slots=True)
class Neo4jGraph:
    """The graph channel on Neo4j, and with `answers` the graph of what was answered."""

    uri: str
    user: str
    password: str = field(repr=False)
    ca_file: Path | None
    deadline_ms: int
    answers: bool


@dataclass(frozen=True, slots=True)
class SqliteSpatial:
    """The spatial channel in a file."""

    path: Path


@dataclass(frozen=True, slots=True)
class PostgisSpatial:
    """The spatial channel on PostGIS."""

    dsn: str = field(repr=False)
    deadline_ms: int
    row_security: bool


@dataclass(frozen=True, slots=True)
class TantivyFulltext:
    """The full-text channel in a folder."""

    path: Path


@dataclass(frozen=True, slots=True)
class OpenSearchFulltext:
    """The full-text channel on OpenSearch."""

    url: str = field(repr=False)
    ca_file: Path | None
    index: str
    deadline_ms: int


@dataclass(frozen=True, slots=True)
class NumpyVector:
    """The vector channel in a folder."""

    path: Path


@dataclass(frozen=True, slots=True)
class PgvectorVector:
    """The vector channel on pgvector."""

    dsn: str = field(repr=False)
    deadline_ms: int
    row_security: bool


@dataclass(frozen=True, slots=True)
class WordllamaEmbedding:
    """Vectors from the weights in the package."""


@dataclass(frozen=True, slots=True)
class OllamaServer:
    """Where Ollama listens, and how it is asked."""

    url: str = field(repr=False)
    token: str | None = field(repr=False)
    ca_file: Path | None
    threads: int | None
    deadline_ms: int


@dataclass(frozen=True, slots=True)
class OllamaEmbedding:
    """Vectors from Ollama."""

    server: OllamaServer
    model: str


@dataclass(frozen=True, slots=True)
class WasmPolicy:
    """The compiled bundle, in process. `folder` fixes the bundle; None takes the one that was published to `releases`,
    or the shipped one."""

    folder: Path | None
    releases: Path


@dataclass(frozen=True, slots=True)
class OpaPolicy:
    """An OPA server that serves the bundle, which is chosen as for `WasmPolicy`. `fallback`: the embedded engine, with
    the same bundle, decides where the server does not."""

    url: str
    folder: Path | None
    releases: Path
    token: str | None = field(repr=False)
    ca_file: Path | None
    fallback: bool


@dataclass(frozen=True, slots=True)
class ExtractiveChat:
    """The model that selects sentences."""

    min_coverage_milli: int
    max_sentences: int


@dataclass(frozen=True, slots=True)
class OllamaChatModel:
    """A model on Ollama."""

    server: OllamaServer
    model: str
    context_tokens: int


@dataclass(frozen=True, slots=True)
class OllamaRerank:
    """A model on Ollama that judges passages."""

    server: OllamaServer
    model: str
    context_tokens: int
    deadline_ms: int


@dataclass(frozen=True, slots=True)
class SqliteLedger:
    """The log in a file, its keys in a folder."""

    path: Path
    keys: Path

    @property
    def exists(self) -> bool:
        """Whether anything was ever recorded here."""
        return self.path.exists()


@dataclass(frozen=True, slots=True)
class PostgresLedger:
    """The log in PostgreSQL, shared by all replicas; its keys in a folder of which each replica has a copy.
    `deadline_ms` is for one entry, and for one read."""

    dsn: str = field(repr=False)
    keys: Path
    deadline_ms: int

    @property
    def exists(self) -> bool:
        """Whether this home has the keys of a log."""
        from ledger.keys import LOG_KEY  # noqa: PLC0415  cryptography, which most commands do not need

        return (self.keys / LOG_KEY).exists()


RecordsBackend = SqliteRecords | PostgresRecords
GraphBackend = SqliteGraph | Neo4jGraph
SpatialBackend = SqliteSpatial | PostgisSpatial
FulltextBackend = TantivyFulltext | OpenSearchFulltext
VectorBackend = NumpyVector | PgvectorVector
EmbeddingBackend = WordllamaEmbedding | OllamaEmbedding
PolicyBackend = WasmPolicy | OpaPolicy
ChatBackend = ExtractiveChat | OllamaChatModel
LedgerBackend = SqliteLedger | PostgresLedger


@dataclass(frozen=True, slots=True)
class Backends:
    """One choice per boundary."""

    records: RecordsBackend
    graph: GraphBackend
    spatial: SpatialBackend
    fulltext: FulltextBackend
    vector: VectorBackend
    embedding: EmbeddingBackend
    policy: PolicyBackend
    chat: ChatBackend
    rerank: OllamaRerank | None
    ledger: LedgerBackend


def backends_of(configuration: Configuration) -> Backends:
    """What the settings choose; everything that they do not name lies in the home folder."""
    home, settings = configuration.home, configuration.settings
    stores, models = settings.stores, settings.models
    dsn = None if stores.postgis_dsn is None else stores.postgis_dsn.get_secret_value()
    password = "" if stores.neo4j_password is None else stores.neo4j_password.get_secret_value()
    search = None if stores.opensearch_url is None else stores.opensearch_url.get_secret_value()
    graph_ca = _path(stores.neo4j_ca_file)
    search_ca = _path(stores.opensearch_ca_file)
    extractive, deadlines = settings.extractive, settings.retrieval.deadline_ms
    return Backends(
        records=SqliteRecords(home / "record.sqlite")
        if dsn is None
        else PostgresRecords(dsn, stores.deadline_ms, stores.row_level_security),
        graph=SqliteGraph(home / "graph.sqlite")
        if stores.neo4j_uri is None
        else Neo4jGraph(
            stores.neo4j_uri, stores.neo4j_user or "neo4j", password, graph_ca, deadlines.graph, stores.neo4j_answers
        ),
        spatial=SqliteSpatial(home / "spatial.sqlite")
        if dsn is None
        else PostgisSpatial(dsn, deadlines.spatial, stores.row_level_security),
        fulltext=TantivyFulltext(home / "fulltext")
        if search is None
        else OpenSearchFulltext(search, search_ca, stores.opensearch_index, deadlines.fulltext),
        vector=NumpyVector(home / "vector")
        if dsn is None
        else PgvectorVector(dsn, deadlines.vector, stores.row_level_security),
        embedding=WordllamaEmbedding() if models.embed is None else OllamaEmbedding(_ollama(models), models.embed),
        policy=_policy(configuration),
        chat=ExtractiveChat(extractive.min_coverage_milli, extractive.max_sentences)
        if models.chat is None
        else OllamaChatModel(_ollama(models), models.chat, models.context_tokens),
        rerank=None
        if models.rerank is None
        else OllamaRerank(_ollama(models), models.rerank, models.context_tokens, models.rerank_deadline_ms),
        ledger=SqliteLedger(home / "ledger.sqlite", home / "keys")
        if settings.ledger.dsn is None
        else PostgresLedger(settings.ledger.dsn.get_secret_value(), home / "keys", settings.ledger.deadline_ms),
    )


def _policy(configuration: Configuration) -> PolicyBackend:
    settings, stores = configuration.settings.policy, configuration.settings.stores
    folder = _path(settings.bundle)
    releases = configuration.home / "policy"
    if stores.opa_url is None:
        return WasmPolicy(folder, releases)
    token = None if stores.opa_token is None else stores.opa_token.get_secret_value()
    ca_file = _path(stores.opa_ca_file)
    return OpaPolicy(stores.opa_url, folder, releases, token, ca_file, settings.fallback)


def _ollama(models: Models) -> OllamaServer:
    return OllamaServer(
        url=models.ollama_url,
        token=None if models.ollama_token is None else models.ollama_token.get_secret_value(),
        ca_file=_path(models.ollama_ca_file),
        threads=models.threads,
        deadline_ms=models.deadline_ms,
    )


def _path(named: str | None) -> Path | None:
    """A file or folder that a setting names, where `~` is whoever runs this."""
    return None if named is None else Path(named).expanduser()
