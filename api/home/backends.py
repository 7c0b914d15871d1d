"""Which product is behind each boundary, as the settings choose it. `api.wiring` opens them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from api.home.configuration import Configuration
from api.home.stores import (
    ChatSettings,
    Embedded,
    EmbeddingModel,
    Extractive,
    FulltextStore,
    GraphStore,
    OllamaModel,
    Opa,
    Postgres,
    SqlStore,
    Wordllama,
    path_of,
    revealed,
)
from retrieval.files.seal import PLAIN, Seal


@dataclass(frozen=True, slots=True)
class PolicyBackend:
    """The engine, in process where there is no `server`, and its bundle: that of `folder`; None takes the one that was
    published to `releases`, or the shipped one. Unless `keys` is None, only a bundle decides that one of the keys in
    that file signed."""

    folder: Path | None
    releases: Path
    server: Opa | None
    keys: Path | None = None


@dataclass(frozen=True, slots=True)
class LedgerBackend:
    """The log in a file, or in PostgreSQL for all replicas. Its keys are in a folder, of which each replica has a
    copy."""

    store: SqlStore
    keys: Path
    seal: Seal = PLAIN

    @property
    def exists(self) -> bool:
        """True if anything was ever recorded here; on a server, whether this home has the keys of a log."""
        from ledger.keys import LOG_KEY  # noqa: PLC0415  cryptography, which most commands do not need

        return (self.store.path if isinstance(self.store, Embedded) else self.keys / LOG_KEY).exists()


@dataclass(frozen=True, slots=True)
class Backends:
    """One choice per boundary."""

    records: SqlStore
    graph: GraphStore
    spatial: SqlStore
    fulltext: FulltextStore
    vector: SqlStore
    embedding: EmbeddingModel
    policy: PolicyBackend
    chat: ChatSettings
    rerank: OllamaModel | None
    ledger: LedgerBackend


def backends_of(configuration: Configuration) -> Backends:
    """The backends that the settings choose; everything that they do not name lies in the home folder."""
    home, settings = configuration.home, configuration.settings
    stores, models, policy, ledger = settings.stores, settings.models, settings.policy, settings.ledger
    extractive, deadlines = settings.extractive, settings.retrieval.deadline_ms
    log = revealed(ledger.dsn)

    def here(name: str) -> Embedded:
        return Embedded(home / name, configuration.seal)

    return Backends(
        records=stores.sql(here("record.sqlite"), stores.deadline_ms),
        graph=stores.graph(here("graph.sqlite"), deadlines.graph),
        spatial=stores.sql(here("spatial.sqlite"), deadlines.spatial),
        fulltext=stores.fulltext(here("fulltext"), deadlines.fulltext),
        vector=stores.sql(here("vector"), deadlines.vector),
        embedding=models.ollama(models.embed, models.deadline_ms) or Wordllama(),
        policy=PolicyBackend(
            path_of(policy.bundle),
            home / "policy",
            stores.opa(fallback=policy.fallback),
            path_of(policy.verification_keys),
        ),
        chat=models.chat_served()
        or Extractive(extractive.min_coverage_milli, extractive.max_sentences, settings.answering.false_answer_milli),
        rerank=models.ollama(models.rerank, models.rerank_deadline_ms),
        ledger=LedgerBackend(
            store=here("ledger.sqlite") if log is None else Postgres(log, ledger.deadline_ms, row_security=False),
            keys=home / "keys",
            seal=configuration.seal,
        ),
    )
