"""Chat models and embedders, as the settings name them."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

from ai.case.archive import Archive
from ai.model import ModelIdentity
from ai.models.chat_model import ChatModel
from ai.models.context import template_named
from ai.replay.recovery import recovered
from api.errors import SettingsInvalid
from api.home.settings import Extractive as ExtractiveSettings
from api.home.stores import ChatSettings, EmbeddingModel, Extractive, OllamaModel, OpenAIModel, Wordllama
from api.wiring.circuits import Circuits
from retrieval.embedding.embedder import Embedder
from retrieval.ranking.reranker import Reranker

if TYPE_CHECKING:
    from ai.models.ollama_client import OllamaChat
    from ai.models.openai_client import OpenAIChat
    from ai.models.reader.lazy import LazyReader


async def open_embedder(backend: EmbeddingModel) -> Embedder:
    """The embedder in use. A server need not be there yet."""
    match backend:
        case Wordllama():
            from retrieval.embedding.wordllama import WordllamaEmbedder  # noqa: PLC0415

            return await WordllamaEmbedder.load()
        case OllamaModel(model, url, deadline_ms=deadline_ms):
            from retrieval.embedding.ollama import OllamaEmbedder  # noqa: PLC0415

            return OllamaEmbedder(url, model, deadline_s=deadline_ms / 1000, **_how_it_is_asked(backend))
        case _:
            assert_never(backend)


def open_reader(rate_milli: int | None, false_claims_milli: int = 0) -> LazyReader | None:
    """The trained reader for a rate of false answers and one of false claims; it loads when prose is first read."""
    if rate_milli is None:
        return None
    from ai.models.reader.lazy import LazyReader  # noqa: PLC0415

    return LazyReader(rate_milli, false_claims_milli=false_claims_milli)


def open_chat(
    backend: ChatSettings,
    stack: AsyncExitStack,
    circuits: Circuits | None = None,
    reader: LazyReader | None = None,
) -> ChatModel:
    """The model that writes the drafts; closed with the stack. A server need not be there yet; it stands behind a
    breaker of `circuits`. `reader` is the one of this process, if there is one already."""
    chat: ChatModel
    match backend:
        case Extractive(coverage, sentences, rate):
            from ai.models.candidates import Parameters  # noqa: PLC0415
            from ai.models.extractive import ExtractiveModel  # noqa: PLC0415

            chat = ExtractiveModel(
                Parameters(min_coverage=coverage, max_sentences=sentences), reader or open_reader(rate)
            )
        case OllamaModel() | OpenAIModel():
            from ai.models.guarded_model import GuardedModel  # noqa: PLC0415

            served = _served(backend) if isinstance(backend, OllamaModel) else _served_by_openai(backend)
            chat = GuardedModel(served, breaker=(circuits or Circuits()).of_model())
        case _:
            assert_never(backend)
    stack.push_async_callback(chat.aclose)
    return chat


def document_of(chat: ChatModel) -> tuple[bytes, ...]:
    """The document that a model without a server is made from, so that it can be made again."""
    from ai.models.extractive import ExtractiveModel  # noqa: PLC0415

    return (chat.document,) if isinstance(chat, ExtractiveModel) else ()


def remade(archive: Archive, identity: ModelIdentity, reader: LazyReader | None = None) -> ChatModel | None:
    """A model of the record that needs no server: from the archive; or, for a record older than it, with one parameter
    that is another now."""
    from ai.models.extractive import ExtractiveModel  # noqa: PLC0415

    if identity.name != ExtractiveModel.NAME:
        return None
    document = archive.load(identity.digest)
    for base in ExtractiveModel.documents():
        document = document or recovered(identity.digest, base, most=1_000)
    return None if document is None else ExtractiveModel.of(document, reader)


def trial_model(extractive: ExtractiveSettings) -> ChatModel:
    """The model that needs no server, for trials of which no word is shown."""
    from ai.models.candidates import Parameters  # noqa: PLC0415
    from ai.models.extractive import ExtractiveModel  # noqa: PLC0415

    return ExtractiveModel(
        Parameters(min_coverage=extractive.min_coverage_milli, max_sentences=extractive.max_sentences)
    )


def open_fallback(backend: ChatSettings, reader: LazyReader | None = None) -> ChatModel | None:
    """The model that fills in where nothing of a draft can be released: the default model, unless that is what
    drafts."""
    if isinstance(backend, Extractive):
        return None
    from ai.models.extractive import ExtractiveModel  # noqa: PLC0415

    return ExtractiveModel(reader=reader)


def open_rerankers(
    backend: OllamaModel | None, stack: AsyncExitStack, circuits: Circuits, reader: LazyReader | None = None
) -> Mapping[str, Reranker]:
    """The rerankers beside the heuristic one, by the name that a request gives them; closed with the stack."""
    made: dict[str, Reranker] = {}
    if reader is not None:
        from ai.models.reader.reranker import NAME, ReaderReranker  # noqa: PLC0415

        made[NAME] = ReaderReranker(reader)
    if backend is None:
        return made
    from ai.models.guarded_model import GuardedModel  # noqa: PLC0415
    from ai.models.model_reranker import TEMPLATE, ModelReranker  # noqa: PLC0415

    served = _served(backend)
    stack.push_async_callback(served.aclose)
    asked = ModelReranker(
        GuardedModel(served, breaker=circuits.of_reranker()),
        name=f"ollama/{backend.model}",
        template=template_named(TEMPLATE),
        deadline_s=backend.deadline_ms / 1000,
    )
    return made | {asked.name: asked}


def _served(backend: OllamaModel) -> OllamaChat:
    from ai.models.ollama_client import OllamaChat  # noqa: PLC0415

    return OllamaChat(backend.url, backend.model, num_ctx=backend.context_tokens, **_how_it_is_asked(backend))


def _served_by_openai(backend: OpenAIModel) -> OpenAIChat:
    from ai.models.openai_client import OpenAIChat  # noqa: PLC0415

    key = backend.key if backend.key_file is None else _key_in(backend.key_file)
    certificates = _certificates(backend.ca_file, "models.openai_ca_file")
    return OpenAIChat(backend.url, backend.model, key=key, certificates=certificates)


def _key_in(file: Path) -> str:
    """The key in a file; what cannot be a header is refused without being shown."""
    try:
        key = file.read_text("ascii").strip()
    except (OSError, UnicodeError):
        raise SettingsInvalid("models.openai_key_file cannot be read as a key") from None
    if not key or not key.isprintable() or " " in key:
        raise SettingsInvalid("models.openai_key_file does not hold one key")
    return key


def _how_it_is_asked(server: OllamaModel) -> dict[str, Any]:
    return {
        "options": {} if server.threads is None else {"num_thread": server.threads},
        "token": server.token,
        "certificates": _certificates(server.ca_file, "models.ollama_ca_file"),
    }


def _certificates(file: Path | None, setting: str) -> ssl.SSLContext | None:
    if file is None:
        return None
    try:
        return ssl.create_default_context(cafile=file)
    except OSError as exc:  # ssl.SSLError is one
        raise SettingsInvalid(f"{setting} cannot be read as certificates (PEM)") from exc
