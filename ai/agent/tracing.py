"""Spans through the OpenTelemetry API. Without an SDK they cost next to nothing and go nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ai.canonical import digest_of

if TYPE_CHECKING:
    from opentelemetry.trace import Span

TRACER = "exhibit"


@contextmanager
def span(name: str, **attributes: str | int | bool) -> Iterator[Span]:
    """A span around a stage, child of the one that is open. Attributes are counts, names and digests."""
    from opentelemetry.trace import get_tracer  # noqa: PLC0415 - a plain question opens no span

    named = {f"exhibit.{key}": value for key, value in attributes.items()}
    with get_tracer(TRACER).start_as_current_span(name, attributes=named, record_exception=False) as opened:
        yield opened


def told(text: str, *, in_words: bool) -> str:
    """A text as a span carries it: its digest, or itself where the operator has asked for that."""
    return text if in_words else digest_of(text.encode("utf-8", "replace"))
