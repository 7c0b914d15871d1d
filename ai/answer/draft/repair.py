"""The second try: a draft of which nothing can be released goes back to its model once, with what fell and why."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from ai.answer.draft.staying import leaks, may_stay
from ai.errors import ModelTimeout, ModelUnavailable, PromptTooLong
from ai.model import Draft, DraftingMode, RenderedPrompt, Repair, Sentence
from ai.models.context import neutralise
from ai.text.catalogue import ABSTAIN
from prompt_templates.loader import PromptTemplate, load_template

if TYPE_CHECKING:
    from jinja2 import Template as JinjaTemplate

TEMPLATE = "repair/v1"
_MOST_TOLD = 4
_MOST_CHARS = 300


def needs_repair(draft: Draft) -> bool:
    """True if nothing of the draft can be released, though it tried to answer."""
    abstains = any(sentence.catalogue == ABSTAIN for sentence in draft.sentences)
    return not abstains and not any(map(may_stay, draft.sentences))


async def repaired(
    draft: Draft,
    prompt: RenderedPrompt,
    mode: DraftingMode,
    again: Callable[[RenderedPrompt], Awaitable[Draft]],
) -> Draft:
    """The draft after its second try: what that made of it where something can be released now, else what it was. A
    model that fails now has had its say before."""
    template = load_template(TEMPLATE)
    second = replace(prompt, prompt=_told(draft, prompt, mode, template))
    try:
        tried = await again(second)
    except (ModelTimeout, ModelUnavailable, PromptTooLong):
        return draft
    repair = Repair(second.prompt, template.name, template.digest, tried.completion)
    better = tried if any(map(may_stay, tried.sentences)) else draft
    return replace(better, completion=draft.completion, repair=repair)


def _told(draft: Draft, prompt: RenderedPrompt, mode: DraftingMode, template: PromptTemplate) -> str:
    """The prompt, and after it what fell with the reason; no words that must not leave."""
    fallen = [(_short(sentence.text), _short(_reason(sentence))) for sentence in draft.sentences if not leaks(sentence)]
    if draft.fault or not fallen:
        fallen = [("", draft.fault or "there was nothing in it that could be used")]
    values = {"prompt": prompt.prompt, "fallen": fallen[:_MOST_TOLD], "form": "ANSWER" if mode == "free" else "JSON"}
    return _rendered(template, values)


def _reason(sentence: Sentence) -> str:
    return "; ".join(dict.fromkeys(_reasons(sentence)))


def _reasons(sentence: Sentence) -> Iterator[str]:
    told = [claim.reason for claim in sentence.claims or () if not claim.holds and claim.reason]
    yield from told
    if sentence.appeals is not None and not sentence.appeals.welcome:
        yield "it asks something of its reader that the question does not ask for"
    elif not told:
        yield "it does not answer the question" if not sentence.answers else "no source says it"


def _short(text: str) -> str:
    return neutralise(text[:_MOST_CHARS]).replace("\n", " ")


def _rendered(template: PromptTemplate, values: Mapping[str, object]) -> str:
    compiled = _compiled(template)
    return "".join(compiled.blocks["prompt"](compiled.new_context(dict(values))))


@cache
def _compiled(template: PromptTemplate) -> JinjaTemplate:
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415  only a second try needs it

    return Environment(autoescape=False, undefined=StrictUndefined).from_string(template.text)  # noqa: S701  plain text; values pass `neutralise`
