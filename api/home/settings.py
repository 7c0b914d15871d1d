"""Every knob, its meaning and its default. Values only: `api.home.configuration` reads them from file, environment and
command line.

The field `retrieval.fusion_k` is `EXHIBIT_RETRIEVAL__FUSION_K` in the environment, and `fusion_k` under `[retrieval]`
in `exhibit.toml`.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from api.home.encryption.settings import Encryption
from api.home.server import Server
from api.home.stores import DeadlineMs, Dsn, Models, Section, Stores, comma_separated

Milli = Annotated[int, Field(ge=0, le=1000)]
Weight = Annotated[int, Field(ge=0, le=10_000)]
Tokens = Annotated[int, Field(ge=1, le=200_000)]


class ChannelDeadlines(Section):
    """Longest time for one search, per channel, in milliseconds."""

    graph: DeadlineMs = 2_000
    spatial: DeadlineMs = 2_000
    fulltext: DeadlineMs = 2_000
    vector: DeadlineMs = 2_000


class ChannelWeights(Section):
    """How much a channel's ranks count in fusion, in thousandths."""

    graph: Weight = 1_000
    spatial: Weight = 1_000
    fulltext: Weight = 1_000
    vector: Weight = 1_000


class Retrieval(Section):
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
    warned_shapes: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=64, description="access shapes of one request above which a warning is logged and counted"
    )
    max_tokens: Tokens = Field(default=4_000, description="tokens of one bundle")
    max_tokens_per_source: Tokens = Field(default=2_000, description="tokens of one source in a bundle")
    max_items_per_source: Annotated[int, Field(ge=1, le=100)] = Field(
        default=8, description="items of one source in a bundle"
    )


class Prompt(Section):
    """The template and the token budgets of the prompt."""

    template: str = Field(
        default="focus_mode/v2",
        pattern=r"^focus_((mode|select|compose)|(mode|select|select_base|compose)/v[1-9][0-9]*)$",
        description="template of the prompt that answers are written from, and with it what a chat model may write: "
        "`focus_mode` text with numbers of sources, `focus_compose` sentences with their sources as JSON, "
        "`focus_select` only which of the numbered sentences answer; without a version the one that "
        "`prompt_templates/families.toml` names for the family of the model",
    )
    max_tokens: Tokens = Field(default=3_600, description="tokens of the whole prompt")
    max_tokens_per_source: Tokens = Field(default=320, description="tokens of one source in the prompt")
    reserve_tokens: Tokens = Field(default=700, description="tokens kept free for the answer")


class Extractive(Section):
    """Thresholds of the model that needs no server."""

    min_coverage_milli: Milli = Field(default=560, description="least share of the question that a sentence must cover")
    max_sentences: Annotated[int, Field(ge=1, le=20)] = Field(default=3, description="most sentences of an answer")


class Answering(Section):
    """How the default model decides that prose answers a question."""

    reader: bool = Field(
        default=True,
        description="whether the reader in the package chooses the sentences of prose and decides whether any answers",
    )
    max_false_answer_rate: Annotated[float, Field(ge=0.08, le=0.5)] = Field(
        default=0.10,
        description="share of the questions without an answer in the sources that the reader may answer all the same; "
        "calibrated on documents that it was not trained on",
    )
    max_false_claim_rate: Annotated[float, Field(ge=0.0, le=0.1)] = Field(
        default=0.03,
        description="share of the false sentences in a model's own words that the reader may find borne out; 0: words "
        "alone decide",
    )

    @property
    def false_claim_milli(self) -> int:
        """The rate of false sentences in thousandths; 0 where words alone decide."""
        return _milli(self.max_false_claim_rate) if self.reader else 0

    @property
    def false_answer_milli(self) -> int | None:
        """The rate in thousandths; None where words alone decide."""
        return self.rate_milli if self.reader else None

    @property
    def rate_milli(self) -> int:
        """The rate in thousandths, whether the reader decides or not."""
        return _milli(self.max_false_answer_rate)


def _milli(rate: float) -> int:
    return int(1000 * rate + 1e-6)


class Policy(Section):
    """How policy is asked."""

    bundle: str | None = Field(
        default=None,
        min_length=1,
        description="folder of the policy bundle, which must pass the canary; "
        "unset: the one that was published to this home, or the shipped one",
    )
    verification_keys: str | None = Field(
        default=None,
        min_length=1,
        description="PEM file of public keys: no bundle but the shipped one decides that none of them signed; "
        "unset: bundles need no signature",
    )
    fallback: bool = Field(
        default=False,
        description="whether the embedded engine, with the same bundle, decides where the OPA server does not",
    )
    deadline_ms: DeadlineMs = Field(
        default=2_000, description="longest time for one decision; none in time is a refusal"
    )


class Ingest(Section):
    """How documents are taken in."""

    chunk_words: Annotated[int, Field(ge=20, le=1_000)] = Field(
        default=120, description="words at which a passage is closed"
    )
    longest_sentence_words: Annotated[int, Field(ge=20, le=2_000)] = Field(
        default=240, description="words after which a sentence is cut"
    )
    file_memory_mb: Annotated[int, Field(ge=128, le=65_536)] = Field(
        default=448, description="MiB of memory that reading one file may take"
    )
    file_cpu_s: Annotated[int, Field(ge=1, le=3_600)] = Field(
        default=19, description="seconds of processor time that reading one file may take; the kernel rounds up to 20"
    )
    default_labels: dict[str, str] = Field(
        default_factory=dict, description="label per collection for documents whose manifest and options name none"
    )


class Uploads(Section):
    """The files that may be sent in over HTTP."""

    work: bool = Field(default=True, description="whether `serve` takes in what was sent; else `exhibit job work` does")
    file_bytes: Annotated[int, Field(ge=1, le=1_099_511_627_776)] = Field(
        default=268_435_456, description="largest file that may be sent"
    )
    request_bytes: Annotated[int, Field(ge=1_024, le=1_073_741_824)] = Field(
        default=33_554_432, description="largest request; larger files are sent in parts"
    )
    request_files: Annotated[int, Field(ge=1, le=10_000)] = Field(default=100, description="most files of one request")
    waiting_bytes: Annotated[int, Field(ge=1_024, le=1_099_511_627_776)] = Field(
        default=2_147_483_648, description="bytes that may wait to be ingested, of all callers together"
    )
    kinds: Annotated[tuple[str, ...], BeforeValidator(comma_separated)] = Field(
        default=(), description="endings of names that may be sent, such as `.pdf`; empty: every kind that is read"
    )
    kept_s: Annotated[int, Field(ge=1, le=31_536_000)] = Field(
        default=86_400, description="seconds for which an unfinished upload, or a file that was not ingested, is kept"
    )


class Ledger(Section):
    """The identity of a log, and where it is kept. Origin and replica are fixed by the first entry; another origin is
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
    publish_within_s: Annotated[int, Field(ge=1, le=86_400)] = Field(
        default=3_600, description="seconds by which a published checkpoint may be late before `serve` is degraded"
    )
    answer_unpublished: bool = Field(
        default=True, description="answer even then; otherwise questions and searches are 503"
    )
    outside_checkpoint: str | None = Field(
        default=None,
        description="file that keeps the highest checkpoint, preferably not on the disk of the log; unset: in the home",
    )

    @property
    def longest_unpublished_ms(self) -> int:
        """After so long without a published checkpoint `serve` is degraded."""
        return self.checkpoint_ms + self.publish_within_s * 1000


class Settings(Section):
    """All settings. An unknown key is an error."""

    models: Models = Models()
    stores: Stores = Stores()
    retrieval: Retrieval = Retrieval()
    prompt: Prompt = Prompt()
    extractive: Extractive = Extractive()
    answering: Answering = Answering()
    policy: Policy = Policy()
    ingest: Ingest = Ingest()
    uploads: Uploads = Uploads()
    ledger: Ledger = Ledger()
    server: Server = Server()
    encryption: Encryption = Encryption()


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
