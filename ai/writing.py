"""From admitted items to a draft: the prompt inside its budgets, one call of the model, and for an agentic run the
bounds of requirement 000: evidence at most 70 % of the token budget, the answer at most half of what is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ai.agent_record import Cut, context_tokens, output_tokens
from ai.case import Case, Services
from ai.context import ContextBudgets, render_prompt
from ai.errors import ModelTimeout, PromptTooLong
from ai.generate import ModelCall, generate
from ai.model import AdmittedItem, Draft, Options, RenderedPrompt

_LEAST_OUTPUT = 16


@dataclass(frozen=True, slots=True)
class Written:
    """A draft, and how it came to be."""

    prompt: RenderedPrompt
    draft: Draft
    call: ModelCall


async def write(case: Case, items: Sequence[AdmittedItem], services: Services) -> Written | Cut:
    """Write a draft from the items; or, in an agentic run, the budget that left no room for one.

    Raises `ModelUnavailable`; outside agentic runs also `ModelTimeout` and `PromptTooLong`.
    """
    budgets = _budgets(case, services.budgets)
    try:
        if budgets is None:
            return "budget"
        with case.watch("context"):
            prompt = render_prompt(
                case.question,
                items,
                case.ask.context,
                intent=case.intent,
                template=services.template,
                budgets=budgets,
                canary=services.canary,
            )
        options = _options(case, prompt)
        if options is None or not prompt.sources:
            return "budget"
        with case.watch("generate"):
            draft, call = await generate(
                prompt,
                question=case.question,
                intent=case.intent,
                items=items,
                options=options,
                deadline_s=case.profile.model_deadline_s,
                model=services.model,
                canaries=(services.canary,),
                clock_ms=services.clock_ms,
                bounded=case.agent is not None,
            )
    except (ModelTimeout, PromptTooLong) as exc:
        if case.agent is None:
            raise
        return "latency" if isinstance(exc, ModelTimeout) else "budget"
    return Written(prompt, draft, call)


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
