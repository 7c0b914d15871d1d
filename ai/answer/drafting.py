"""From admitted items to a draft: the prompt inside its budgets, one call of the model, and for an agentic run the
bounds of requirement 000: evidence at most 70 % of the token budget, the answer at most half of what is left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from ai.answer.generate import ModelCall, generate
from ai.case.agent_record import Cut, context_tokens, output_tokens
from ai.case.case import Case, Services
from ai.errors import ModelTimeout, PromptTooLong
from ai.model import AdmittedItem, Draft, Options, RenderedPrompt, Sentence
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
                canary=case.canary or services.canary,
            )
    except PromptTooLong:
        if case.agent is None:
            raise
        return "budget"
    options = _options(case, prompt)
    return "budget" if options is None or not prompt.sources else (prompt, options)


async def draft_answer(
    case: Case, items: Sequence[AdmittedItem], prompt: RenderedPrompt, options: Options, services: Services
) -> tuple[Draft, ModelCall] | Cut:
    """The model's draft and its call; or, in an agentic run, the bound that the model went over.

    Raises `ModelUnavailable`; outside agentic runs also `ModelTimeout` and `PromptTooLong`.
    """
    write = partial(
        generate,
        prompt,
        question=case.question,
        intent=case.intent,
        items=items,
        options=options,
        deadline_s=case.profile.model_deadline_s,
        canaries=(case.canary or services.canary,),
        clock_ms=services.clock_ms,
        bounded=case.agent is not None,
        claims_version=case.claims_version,
    )
    try:
        with case.watch("generate"):
            drafted, call = await write(model=services.model)
            if services.fallback is None or case.claims_version == 0:
                return drafted, call
            return await _filled(drafted, partial(write, model=services.fallback)), call
    except (ModelTimeout, PromptTooLong) as exc:
        if case.agent is None:
            raise
        return "latency" if isinstance(exc, ModelTimeout) else "budget"


async def _filled(drafted: Draft, by_default: Callable[[], Awaitable[tuple[Draft, ModelCall]]]) -> Draft:
    """The draft; or, where nothing of it can be released, what the default model writes over the same prompt: a model
    never lowers what the default would have answered."""
    if any(map(_may_stay, drafted.sentences)):
        return drafted
    draft, _ = await by_default()
    if not any(map(_may_stay, draft.sentences)):
        return drafted
    sentences = tuple(replace(sentence, attribution="system") for sentence in draft.sentences)
    return Draft(sentences, drafted.completion, draft.completion)


def _may_stay(sentence: Sentence) -> bool:
    """True if the answer point could release the sentence as an answer."""
    leaks = any(each.kind.startswith(("canary", "system_prompt")) for each in sentence.findings)
    borne_out = bool(sentence.claims) and all(claim.verdict == "borne_out" for claim in sentence.claims or ())
    welcome = sentence.appeals is None or sentence.appeals.welcome
    return borne_out and welcome and sentence.answers and bool(sentence.markers) and not leaks


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
