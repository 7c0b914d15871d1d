"""From admitted items to a draft: the prompt inside its budgets, one call of the model, and for an agentic run the
bounds of requirement 000: evidence at most 70 % of the token budget, the answer at most half of what is left.

A draft of which nothing can be released is tried once more by its model, and then filled by the default model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ai.answer.draft.generate import ModelCall, generate
from ai.answer.draft.paraphrases import Judge
from ai.answer.draft.repair import needs_repair, repaired
from ai.answer.draft.staying import filled
from ai.case.agent_record import Cut, context_tokens, output_tokens
from ai.case.case import Case, Services
from ai.errors import ModelTimeout, PromptTooLong
from ai.model import (
    BESIDE_SINCE,
    BOUND_SINCE,
    JUDGED_SINCE,
    OTHERWISE_SINCE,
    AdmittedItem,
    Draft,
    Options,
    RenderedPrompt,
    mode_of,
)
from ai.models.chat_model import StructuredModel
from ai.models.context import ContextBudgets, render_prompt

_LEAST_OUTPUT = 16


def prompt_for(case: Case, items: Sequence[AdmittedItem], services: Services) -> tuple[RenderedPrompt, Options] | Cut:
    """The prompt over the items and the options of the call; or, in an agentic run, the budget that left no room.

    Raises `PromptTooLong` outside agentic runs.
    """
    budgets = _budgets(case, services.budgets)
    if budgets is None:
        return "budget"
    try:
        with case.watch("context"):
            prompt = render_prompt(
                case.question,
                items,
                case.ask.context,
                intent=case.intent,
                template=services.template,
                budgets=budgets,
                canary=_mark(case, services),
            )
    except PromptTooLong:
        if case.agent is None:
            raise
        return "budget"
    options = _options(case, prompt)
    return "budget" if options is None or not prompt.sources else (prompt, options)


def _mark(case: Case, services: Services) -> str | None:
    """The mark of the prompt; none where the model can answer with numbers alone, and so gives nothing away: then equal
    questions have equal prompts."""
    picks = mode_of(services.template.name) == "select" and isinstance(services.model, StructuredModel)
    return None if picks else case.canary or services.canary


async def draft_answer(
    case: Case, items: Sequence[AdmittedItem], prompt: RenderedPrompt, options: Options, services: Services
) -> tuple[Draft, ModelCall] | Cut:
    """The model's draft and its call; or, in an agentic run, the bound that the model went over.

    Raises `ModelUnavailable`; outside agentic runs also `ModelTimeout` and `PromptTooLong`.
    """
    write = partial(
        generate,
        question=case.question,
        intent=case.intent,
        items=items,
        options=options,
        canaries=(case.canary or services.canary,),
        clock_ms=services.clock_ms,
        bounded=case.agent is not None,
        claims_version=case.claims_version,
    )
    try:
        with case.watch("generate"):
            deadline_s, fallback = case.profile.model_deadline_s, services.fallback
            by_default = reading = judge = None
            if fallback is not None and case.claims_version:
                by_default, _ = await write(prompt, model=fallback, deadline_s=deadline_s)
                reading = by_default.completion.reading if case.claims_version >= BESIDE_SINCE else None
                judge = _judge(case, items, services)
            began = time.monotonic()
            drafted, call = await write(
                prompt, model=services.model, deadline_s=deadline_s, reading=reading, judge=judge
            )
            if case.claims_version == 0:
                return drafted, call
            spent = time.monotonic() - began
            if services.repairs and case.agent is None and 2 * spent <= deadline_s and needs_repair(drafted):

                async def again(second: RenderedPrompt) -> Draft:
                    left = deadline_s - spent
                    tried = write(second, model=services.model, deadline_s=left, reading=reading, judge=judge)
                    return (await tried)[0]

                drafted = await repaired(drafted, prompt, call.mode, again)
            if by_default is not None:
                drafted = filled(
                    drafted,
                    by_default,
                    question=case.question,
                    every=bool(case.intent.operations),
                    grouped=case.claims_version >= BOUND_SINCE,
                    leading=case.claims_version >= BESIDE_SINCE,
                    elliptical=case.claims_version >= OTHERWISE_SINCE,
                )
            return drafted, call
    except (ModelTimeout, PromptTooLong) as exc:
        if case.agent is None:
            raise
        return "latency" if isinstance(exc, ModelTimeout) else "budget"


def _judge(case: Case, items: Sequence[AdmittedItem], services: Services) -> Judge | None:
    """The judge of what a model says in its own words; none for figures, and for entries of before there was one."""
    if services.judge is None or case.claims_version < JUDGED_SINCE or case.intent.operations:
        return None
    data, purpose = services.points(case.now_ms).data, case.asked.purpose
    return Judge(services.judge, frozenset(item.index for item in items if data.may_judge(item.label, purpose)))


def _left(case: Case) -> int | None:
    """Tokens that an agentic run may still spend; None where there is no such budget."""
    agent = case.agent
    return None if agent is None else case.ask.options.agent.token_budget - agent.spent


def _budgets(case: Case, usual: ContextBudgets) -> ContextBudgets | None:
    """The budgets of the prompt; None where there is no room for any."""
    left = _left(case)
    if left is None:
        return usual
    most = min(left, usual.max_tokens)
    if most <= _LEAST_OUTPUT:
        return None
    return replace(
        usual,
        max_tokens=most,
        reserve=max(_LEAST_OUTPUT, most // 10),
        max_context_tokens=context_tokens(case.ask.options.agent.token_budget),
    )


def _options(case: Case, prompt: RenderedPrompt) -> Options | None:
    """How to generate: an answer of an agentic run takes at most half of what the prompt leaves."""
    options, left = case.ask.options, _left(case)
    if left is None:
        return options
    most = min(options.max_tokens, output_tokens(left - prompt.tokens))
    return replace(options, max_tokens=most) if most > 0 else None
