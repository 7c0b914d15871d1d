"""A reranker that asks a chat model, held to a JSON schema. Its output is untrusted: numbers that are not whole, not in
range or not as many as the passages are no scores."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from ai.errors import ModelTimeout, ModelUnavailable
from ai.model import PromptSource
from ai.models.chat_model import Message, StructuredModel, StructuredRequest
from ai.models.context import neutralise
from prompt_templates.loader import PromptTemplate
from retrieval.model import Query
from retrieval.ranking.reranker import Passage

if TYPE_CHECKING:
    from jinja2 import Template

TEMPLATE = "rerank/v1"
MOST_AT_ONCE = 20
"""Passages in one call; a longer shortlist is several calls."""
PASSAGE_CHARS = 700
MOST_POINTS = 10
_MILLI_PER_POINT = 100
_TOKENS_BESIDE, _TOKENS_EACH = 64, 8
"""Room for the numbers and for the white space that a schema leaves to the model."""
_OUTPUT_CHARS = 4_000


class ModelReranker:
    """A `Reranker` on a `StructuredModel`: one number for each passage, 0 to 1000. All calls of one list share
    `deadline_s`. Raises `ModelTimeout`, `ModelUnavailable` (also for output that holds no scores), `PromptTooLong`."""

    def __init__(self, model: StructuredModel, *, name: str, template: PromptTemplate, deadline_s: float) -> None:
        self.name = name
        self._model, self._template, self._deadline_s = model, template, deadline_s

    async def score(self, query: Query, passages: Sequence[Passage]) -> list[int]:
        """See `Reranker`."""
        until = time.monotonic() + self._deadline_s
        scores: list[int] = []
        for start in range(0, len(passages), MOST_AT_ONCE):
            left = until - time.monotonic()
            if left <= 0:
                raise ModelTimeout(f"{self.name} did not score all passages in time")
            scores += await self._some(query.text, passages[start : start + MOST_AT_ONCE], left)
        return scores

    async def _some(self, question: str, passages: Sequence[Passage], left_s: float) -> list[int]:
        system, prompt = render(self._template, question, passages)
        completion = await self._model.structured(
            StructuredRequest(
                messages=(Message("system", system), Message("user", prompt)),
                schema=schema_for(len(passages)),
                max_tokens=_TOKENS_BESIDE + _TOKENS_EACH * len(passages),
                temperature_milli=0,
                seed=0,
                deadline_s=left_s,
            )
        )
        points = None if completion.truncated else read_points(completion.text, len(passages))
        if points is None:
            raise ModelUnavailable(f"{self.name} wrote no scores")
        return [each * _MILLI_PER_POINT for each in points]


def schema_for(count: int) -> Mapping[str, object]:
    """As many whole numbers from 0 to 10 as there are passages."""
    point = {"type": "integer", "minimum": 0, "maximum": MOST_POINTS}
    scores = {"type": "array", "items": point, "minItems": count, "maxItems": count}
    return {"type": "object", "properties": {"scores": scores}, "required": ["scores"]}


def read_points(text: str, count: int) -> list[int] | None:
    """The numbers that a model wrote; None for anything but exactly so many whole ones in range."""
    if len(text) > _OUTPUT_CHARS:
        return None
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None
    points = said.get("scores") if isinstance(said, dict) else None
    if not isinstance(points, list) or len(points) != count:
        return None
    whole = [each for each in points if isinstance(each, int) and not isinstance(each, bool)]
    return whole if len(whole) == count and all(0 <= each <= MOST_POINTS for each in whole) else None


def render(template: PromptTemplate, question: str, passages: Sequence[Passage]) -> tuple[str, str]:
    """System and user part; nothing of others can close its block."""
    compiled = _compiled(template)
    sources = [
        PromptSource(n, "passage", neutralise(each.heading), neutralise(each.text[:PASSAGE_CHARS]), None)
        for n, each in enumerate(passages, start=1)
    ]
    values = compiled.new_context({"question": neutralise(question), "sources": sources})
    return "".join(compiled.blocks["system"](values)), "".join(compiled.blocks["prompt"](values))


@cache
def _compiled(template: PromptTemplate) -> Template:
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415

    return Environment(autoescape=False, undefined=StrictUndefined).from_string(template.text)  # noqa: S701  plain text; values pass `neutralise`
