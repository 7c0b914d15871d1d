"""The run as facts of W3C PROV: which activities used and made what, and who answers for it. Ids and digests only, no
text of anyone."""

from __future__ import annotations

from collections import Counter

from ai.canonical import digest, digest_of
from ai.case import Case, Services
from ai.shell import Shell
from ledger.prov import ProvActivity, ProvAgent, ProvEntity, ProvFacts
from retrieval.model import Run

_STAGES = (
    ("gate", "PromptGate"),
    ("policy_query", "QueryPoint"),
    ("intent", "Plan"),
    ("retrieve", "Retrieval"),
    ("evidence", "EvidencePoint"),
    ("context", "ContextAssembly"),
    ("generate", "Generation"),
    ("policy_answer", "AnswerPoint"),
)


def run_facts(case: Case, shell: Shell, answer: bytes, services: Services) -> ProvFacts:
    """The provenance of one outcome, whose body is `answer` as canonical bytes. The question stands as an entity
    without attributes: what it said is the ledger's `question` part."""
    spans = {stage: (start, end) for stage, start, end in case.watch.spans}
    ran = [(stage, kind) for stage, kind in _STAGES if stage in spans]
    sources = tuple(_source_id(item.index) for item in shell.items)
    activities = [
        _activity(stage, kind, spans[stage], shell=shell, sources=sources, before=before)
        for (stage, kind), before in zip(ran, (None, *ran), strict=False)
    ]
    channels = () if shell.gathered is None else shell.gathered.runs
    activities += _planned(case)
    searched = spans.get("retrieve") or spans.get("tools")
    if searched is not None:
        before = Counter[str]()
        for run in channels:
            activities.append(_channel(before[run.channel], run, searched))
            before[run.channel] += 1
    cited = {quoted.index for sentence in shell.release.sentences for quoted in sentence.quotes}
    return ProvFacts(
        run_id=case.entry_id,
        answer=ProvEntity("answer", "Answer", {"outcome": str(shell.release.outcome), "sha256": digest_of(answer)}),
        entities=(ProvEntity("question", "Question"), *_sources(shell)),
        activities=tuple(activities),
        agents=_agents(case, shell, services),
        generated_by=f"activity/{ran[-1][0]}",
        derived_from=tuple(_source_id(item.index) for item in shell.items if item.index in cited),
        attributed_to=("agent/software",),
    )


def _source_id(index: int) -> str:
    return f"source/{index}"


def _sources(shell: Shell) -> list[ProvEntity]:
    return [
        ProvEntity(
            _source_id(item.index),
            "Computed" if item.evidence.computed is not None else "Source",
            {
                "record": item.evidence.record_id.replace(" ", "_"),
                "document": item.evidence.first.source.document_sha256,
            },
        )
        for item in shell.items
    ]


def _activity(
    stage: str,
    kind: str,
    span: tuple[int, int],
    *,
    shell: Shell,
    sources: tuple[str, ...],
    before: tuple[str, str] | None,
) -> ProvActivity:
    used: tuple[str, ...] = ("question",) if stage in {"gate", "intent", "retrieve", "context"} else ()
    # Each source once: the last stage that reads them in full is the one that the answer was made by.
    last = "policy_answer" if shell.call is not None else "evidence"
    used += sources if stage == last else ()
    agents = {
        "policy_query": "agent/policy",
        "evidence": "agent/policy",
        "policy_answer": "agent/policy",
        # A model that gave nothing in time is not known: the software asked.
        "generate": "agent/software" if shell.call is None else "agent/model",
    }
    acting = (agents.get(stage, "agent/software"),)
    return ProvActivity(
        f"activity/{stage}",
        kind,
        span[0],
        span[1],
        used=used,
        agents=("agent/principal", *acting) if stage == "gate" else acting,
        informed_by=() if before is None else (f"activity/{before[0]}",),
    )


_AGENT = {"plan": "Planning", "tools": "ToolCalls", "grade": "Grading"}


def _planned(case: Case) -> list[ProvActivity]:
    """The steps of an agentic run, each informed by the one before."""
    ran = [(stage, start, end) for stage, start, end in case.watch.spans if stage in _AGENT]
    return [
        ProvActivity(
            f"activity/agent/{n}",
            _AGENT[stage],
            start,
            end,
            used=("question",),
            agents=("agent/software",),
            informed_by=(f"activity/agent/{n - 1}" if n else "activity/intent",),
        )
        for n, (stage, start, end) in enumerate(ran)
    ]


def _channel(number: int, run: Run, span: tuple[int, int]) -> ProvActivity:
    attributes = {"store": run.store, "hits": str(len(run.hits)), "run": digest(_run_ids(run))}
    return ProvActivity(
        f"activity/channel/{run.channel}" + (f"/{number}" if number else ""),
        "ChannelSearch",
        span[0],
        span[1],
        used=("question",),
        agents=("agent/software",),
        informed_by=("activity/intent",),
        attributes=attributes,
    )


def _run_ids(run: Run) -> list[str]:
    return [hit.record_id for hit in run.hits]


def _agents(case: Case, shell: Shell, services: Services) -> tuple[ProvAgent, ...]:
    agents = [
        ProvAgent(
            "agent/principal",
            "Principal",
            is_person=True,
            attributes={"pseudonym": services.ledger.pseudonym("subject", case.ask.subject.id)},
        ),
        ProvAgent("agent/software", "Software", attributes={"version": services.software}),
        ProvAgent("agent/policy", "PolicyBundle", attributes={"digest": case.decided.stamp.bundle}),
    ]
    if shell.call is not None:
        agents.append(ProvAgent("agent/model", "Model", attributes={"digest": shell.call.model.digest}))
    return tuple(agents)
