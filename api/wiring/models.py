"""Chat models and embedders, as the settings name them."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any, assert_never

from ai.chat_model import ChatModel
from ai.context import template_named
from api import backends
from api.errors import SettingsInvalid
from api.wiring.circuits import Circuits
from retrieval.embedding.embedder import Embedder
from retrieval.reranker import Reranker


async def open_embedder(backend: backends.EmbeddingBackend) -> Embedder:
    """What makes vectors. A server need not be there yet."""
    match backend:
        case backends.WordllamaEmbedding():
            from retrieval.embedding.wordllama import WordllamaEmbedder  # noqa: PLC0415

            return await WordllamaEmbedder.load()
        case backends.OllamaEmbedding(server=server, model=model):
            from retrieval.embedding.ollama import OllamaEmbedder  # noqa: PLC0415

            return OllamaEmbedder(server.url, model, deadline_s=server.deadline_ms / 1000, **_how_it_is_asked(server))
        case _:
            assert_never(backend)


def open_chat(backend: backends.ChatBackend, stack: AsyncExitStack, circuits: Circuits | None = None) -> ChatModel:
    """What writes the drafts; closed with the stack. A server need not be there yet; it stands behind a breaker of
    `circuits`."""
    chat: ChatModel
    match backend:
        case backends.ExtractiveChat(min_coverage_milli=coverage, max_sentences=sentences):
            from ai.candidates import Parameters  # noqa: PLC0415
            from ai.extractive import ExtractiveModel  # noqa: PLC0415

            chat = ExtractiveModel(Parameters(min_coverage=coverage, max_sentences=sentences))
        case backends.OllamaChatModel(server=server, model=model, context_tokens=window):
            from ai.guarded_model import GuardedModel  # noqa: PLC0415
            from ai.ollama_client import OllamaChat  # noqa: PLC0415

            served = OllamaChat(server.url, model, num_ctx=window, **_how_it_is_asked(server))
            chat = GuardedModel(served, breaker=(circuits or Circuits()).of_model())
        case _:
            assert_never(backend)
    stack.push_async_callback(chat.aclose)
    return chat


def open_rerankers(
    backend: backends.OllamaRerank | None, stack: AsyncExitStack, circuits: Circuits
) -> Mapping[str, Reranker]:
    """The rerankers beside the heuristic one, by the name that a request gives them; closed with the stack."""
    if backend is None:
        return {}
    from ai.guarded_model import GuardedModel  # noqa: PLC0415
    from ai.model_reranker import TEMPLATE, ModelReranker  # noqa: PLC0415
    from ai.ollama_client import OllamaChat  # noqa: PLC0415

    served = OllamaChat(
        backend.server.url, backend.model, num_ctx=backend.context_tokens, **_how_it_is_asked(backend.server)
    )
    stack.push_async_callback(served.aclose)
    made = ModelReranker(
        GuardedModel(served, breaker=circuits.of_reranker()),
        name=f"ollama/{backend.model}",
        template=template_named(TEMPLATE),
        deadline_s=backend.deadline_ms / 1000,
    )
    return {made.name: made}


def _how_it_is_asked(server: backends.OllamaServer) -> dict[str, Any]:
    return {
        "options": {} if server.threads is None else {"num_thread": server.threads},
        "token": server.token,
        "certificates": _certificates(server),
    }


def _certificates(server: backends.OllamaServer) -> ssl.SSLContext | None:
    if server.ca_file is None:
        return None
    try:
        return ssl.create_default_context(cafile=server.ca_file)
    except OSError as exc:  # ssl.SSLError is one
        raise SettingsInvalid("models.ollama_ca_file cannot be read as certificates (PEM)") from exc
