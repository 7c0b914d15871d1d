"""The run as facts of W3C PROV: which activities used and made what, and who answers for it. Ids and digests only, no
text of anyone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from ai.answer.core import CoreResult
from ai.canonical import digest, digest_of
from ai.case.case import Case, Services
from ledger.ledger import Ledger
from ledger.provenance.document import CONTENT_DOMAIN, ProvActivity, ProvAgent, ProvEntity, ProvFacts, content_of
from policy.model import Decision, Subject
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
Content = Callable[[str, str], dict[str, str]]
"""The attribute that stands for content, by the name that it had once and the content's digest."""


def keyed(ledger: Ledger, entry_id: str) -> Content:
    """Content goes by a keyed commitment of its digest for this entry: once it is erased, nobody without the home's
    key can try guesses against it."""
    return lambda _, content: {"commitment": ledger.pseudonym(CONTENT_DOMAIN, content_of(entry_id, content))}


def as_recorded(document: bytes, ledger: Ledger, entry_id: str) -> Content:
    """As a recorded document names content: those of earlier versions by its bare digest."""
    return (lambda name, content: {name: content}) if b'"exhibit:sha256"' in document else keyed(ledger, entry_id)


def run_facts(
    case: Case, core: CoreResult, answer: bytes, services: Services, *, content: Content | None = None
) -> ProvFacts:
    """The provenance of one outcome, whose body is `answer` as canonical bytes. The question stands as an entity
    without attributes: what it said is the ledger's `question` part."""
    content = content or keyed(services.ledger, case.entry_id)
    spans = {stage: (start, end) for stage, start, end in case.watch.spans}
    ran = [(stage, kind) for stage, kind in _STAGES if stage in spans]
    sources = tuple(_source_id(item.index) for item in core.items)
    activities = [
        _activity(stage, kind, spans[stage], core=core, sources=sources, before=before)
        for (stage, kind), before in zip(ran, (None, *ran), strict=False)
    ]
    channels = () if core.gathered is None else core.gathered.runs
    activities += _planned(case)
    searched = spans.get("retrieve") or spans.get("tools")
    if searched is not None:
        activities += channel_searches(channels, searched, informed_by="activity/intent", used=("question",))
    cited = {quoted.index for sentence in core.release.sentences for quoted in sentence.quotes}
    return ProvFacts(
        run_id=case.entry_id,
        answer=ProvEntity(
            "answer", "Answer", {"outcome": str(core.release.outcome), **content("sha256", digest_of(answer))}
        ),
        entities=(ProvEntity("question", "Question"), *_sources(core, content)),
        activities=tuple(activities),
        agents=agents_of(
            case.ask.subject,
            case.decided,
            services,
            model_digest=None if core.call is None else core.call.model.digest,
        ),
        generated_by=f"activity/{ran[-1][0]}",
        derived_from=tuple(_source_id(item.index) for item in core.items if item.index in cited),
        attributed_to=("agent/software",),
    )


def _source_id(index: int) -> str:
    return f"source/{index}"


def _sources(core: CoreResult, content: Content) -> list[ProvEntity]:
    return [
        ProvEntity(
            _source_id(item.index),
            "Computed" if item.evidence.computed is not None else "Source",
            {
                "record": item.evidence.record_id.replace(" ", "_"),
                **content("document", item.evidence.first.source.document_sha256),
            },
        )
        for item in core.items
    ]


def _activity(
    stage: str,
    kind: str,
    span: tuple[int, int],
    *,
    core: CoreResult,
    sources: tuple[str, ...],
    before: tuple[str, str] | None,
) -> ProvActivity:
    used: tuple[str, ...] = ("question",) if stage in {"gate", "intent", "retrieve", "context"} else ()
    # Each source once: the last stage that reads them in full is the one that the answer was made by.
    last = "policy_answer" if core.call is not None else "evidence"
    used += sources if stage == last else ()
    agents = {
        "policy_query": "agent/policy",
        "evidence": "agent/policy",
        "policy_answer": "agent/policy",
        # A model that gave nothing in time is not known: the software asked.
        "generate": "agent/software" if core.call is None else "agent/model",
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


def recorded_spans(document: Mapping[str, Any]) -> list[tuple[str, int, int]]:
    """When each stage ran, read back from a provenance document of `run_facts`. Raises KeyError or ValueError."""
    activities = document["activity"]
    ran = [(stage, f"run:activity/{stage}") for stage, _ in _STAGES]
    steps = [name for name in activities if name.startswith("run:activity/agent/")]
    stages = {kind: stage for stage, kind in _AGENT.items()}
    for name in sorted(steps, key=lambda each: int(each.rpartition("/")[2])):
        ran.append((stages[activities[name]["prov:type"]["$"].removeprefix("exhibit:")], name))
    return [(stage, *span_of(activities[name])) for stage, name in ran if name in activities]


def span_of(activity: Mapping[str, Any]) -> tuple[int, int]:
    """Start and end of an activity in milliseconds. Raises KeyError or ValueError."""
    start, end = (datetime.fromisoformat(activity[f"prov:{name}Time"]) for name in ("start", "end"))
    return _milliseconds(start), _milliseconds(end)


def _milliseconds(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


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


def agents_of(
    subject: Subject, decision: Decision, services: Services, *, model_digest: str | None = None
) -> tuple[ProvAgent, ...]:
    """The agents responsible for an entry: the asker, by a pseudonym, the software, the policy, and the model where one
    wrote."""
    agents = [
        ProvAgent(
            "agent/principal",
            "Principal",
            is_person=True,
            attributes={"pseudonym": services.ledger.pseudonym("subject", subject.id)},
        ),
        ProvAgent("agent/software", "Software", attributes={"version": services.software}),
        ProvAgent("agent/policy", "PolicyBundle", attributes={"digest": decision.stamp.bundle}),
    ]
    if model_digest is not None:
        agents.append(ProvAgent("agent/model", "Model", attributes={"digest": model_digest}))
    return tuple(agents)


def channel_searches(
    runs: Sequence[Run], span: tuple[int, int], *, informed_by: str, used: tuple[str, ...] = ()
) -> list[ProvActivity]:
    """One activity per run; a channel may have several."""
    before = Counter[str]()
    made = []
    for run in runs:
        number = before[run.channel]
        before[run.channel] += 1
        made.append(
            ProvActivity(
                f"activity/channel/{run.channel}" + (f"/{number}" if number else ""),
                "ChannelSearch",
                span[0],
                span[1],
                used=used,
                agents=("agent/software",),
                informed_by=(informed_by,),
                attributes={
                    "store": run.store,
                    "hits": str(len(run.hits)),
                    "run": digest([hit.record_id for hit in run.hits]),
                },
            )
        )
    return made
