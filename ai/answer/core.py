"""The deterministic core of an answer: the stages between what the channels found and what is released.

Given the same runs, records, settings, clock and model output they give the same bytes; that is grade R1 of replay, and
replay runs this very code. Nothing here reads a store, a channel or the time. Each stage takes the work so far and
leaves it as it is where an earlier stage has ended it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ai.answer.draft.drafting import draft_answer, prompt_for
from ai.answer.draft.generate import ModelCall
from ai.answer.evidence import admit_bundle, make_bundle
from ai.answer.located import PlacedItem
from ai.answer.release import abstention, bundle_release, refusal, release_draft
from ai.answer.unread import answering
from ai.case.agent_record import AgentRecord, Cut
from ai.case.case import Case, Services
from ai.governance.admission import Admission
from ai.model import AdmittedItem, Draft, Options, Release, RenderedPrompt
from policy.model import Decision
from retrieval.bundle import GatheredRuns, count_tokens
from retrieval.model import EvidenceBundle


@dataclass(frozen=True, slots=True)
class CoreResult:
    """Everything that a request produced, for the ledger; `release` is the part that may leave. `options` are those of
    the model call, `placed` the cited items with their places (`ai.answer.places`), `rows` those that may be
    quoted of what was computed, by record id."""

    gathered: GatheredRuns | None = None
    bundle: EvidenceBundle | None = None
    admission: Admission | None = None
    prompt: RenderedPrompt | None = None
    options: Options | None = None
    call: ModelCall | None = None
    draft: Draft | None = None
    answer_decisions: tuple[Decision, ...] = ()
    agent: AgentRecord | None = None
    ended: Release | None = None
    placed: tuple[PlacedItem, ...] | None = None
    place_decisions: tuple[Decision, ...] = ()
    rows: Mapping[str, AdmittedItem] = field(default_factory=dict)

    @property
    def release(self) -> Release:
        """How it ended; asking before the last stage is a bug."""
        if self.ended is None:
            raise AssertionError("the stages have not run to their end")
        return self.ended

    @property
    def uncited_sentences(self) -> int:
        """How many sentences of the draft fell because they cited nothing."""
        reasons = (reason for decision in self.answer_decisions for reason in decision.reasons)
        return sum(reason.code == "UNCITED_SENTENCE" for reason in reasons)

    @property
    def refused_late(self) -> int:
        """How many found records the evidence point had to refuse, though the scope should have kept them out."""
        return 0 if self.admission is None else len(self.admission.excluded)

    @property
    def written_tokens(self) -> int:
        """Tokens of prompt and answer, by the one counter; 0 where nothing was written."""
        if self.prompt is None or self.draft is None:
            return 0
        repair = self.draft.repair
        second = 0 if repair is None else count_tokens(repair.prompt) + count_tokens(repair.completion.text)
        return self.prompt.tokens + count_tokens(self.draft.completion.text) + second

    @property
    def items(self) -> tuple[AdmittedItem, ...]:
        """The admitted items, none for a question that ended before."""
        return () if self.admission is None else self.admission.items


async def run_core(case: Case, gathered: GatheredRuns | None, *, services: Services) -> CoreResult:
    """All stages, as `ai.focus_pipeline.answer` has them. Raises `PolicyError` and `AIError` when a point or the model
    fails."""
    core = begin(case, gathered)
    core = bundle_evidence(case, core, services)
    core = await admit_evidence(case, core, services)
    core = write_prompt(case, core, services)
    core = await ask_model(case, core, services)
    return await decide_answer(case, core, services)


def begin(case: Case, gathered: GatheredRuns | None) -> CoreResult:
    """The work at its start; at its end already where the query point denied."""
    if gathered is None:
        return CoreResult(ended=refusal(case))
    return CoreResult(gathered=gathered, agent=case.agent)


def bundle_evidence(case: Case, core: CoreResult, services: Services) -> CoreResult:
    """The runs fused into one numbered bundle."""
    if core.ended is not None or core.gathered is None:
        return core
    return replace(core, bundle=make_bundle(case, core.gathered, services))


async def admit_evidence(case: Case, core: CoreResult, services: Services) -> CoreResult:
    """The evidence point over the bundle; the end where nothing is admitted, or nothing is to be written."""
    if core.ended is not None or core.gathered is None:
        return core
    admission = await admit_bundle(case, core.gathered, services, bundle=core.bundle)
    core = replace(core, admission=admission)
    writes = case.profile.generates and (case.agent is None or case.agent.synthesize)
    return core if writes and admission.items else replace(core, ended=bundle_release(case, admission))


def write_prompt(case: Case, core: CoreResult, services: Services) -> CoreResult:
    """The prompt over the admitted items, inside its budgets."""
    if core.ended is not None or core.admission is None:
        return core
    items = answering(core.admission.items, case.intent)
    if not items:
        return replace(core, ended=abstention(case, core.admission))
    written = prompt_for(case, items, services)
    return (
        replace(core, prompt=written[0], options=written[1])
        if isinstance(written, tuple)
        else _cut(case, core, written)
    )


async def ask_model(case: Case, core: CoreResult, services: Services) -> CoreResult:
    """The model's words, read as a draft with citations."""
    if core.ended is not None or core.prompt is None or core.options is None:
        return core
    drafted = await draft_answer(case, core.items, core.prompt, core.options, services)
    if not isinstance(drafted, tuple):
        return _cut(case, replace(core, prompt=None), drafted)
    return replace(core, draft=drafted[0], call=drafted[1])


async def decide_answer(case: Case, core: CoreResult, services: Services) -> CoreResult:
    """The answer point over the draft: only what it allows is released."""
    if core.ended is not None or core.admission is None or core.draft is None:
        return core
    with case.watch("policy_answer"):
        release, decisions = await release_draft(case, core.admission, core.draft, services)
    return replace(core, ended=release, answer_decisions=decisions)


def _cut(case: Case, core: CoreResult, cut: Cut) -> CoreResult:
    """The end where a budget left no room to write: the admitted bundle, and on the agent's record, so that replay does
    not write either."""
    if core.admission is None:
        raise AssertionError("nothing has been admitted")
    agent = None if case.agent is None else replace(case.agent, synthesize=False, cut=case.agent.cut or cut)
    return replace(core, agent=agent, ended=bundle_release(case, core.admission))
