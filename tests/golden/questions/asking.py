"""Asks a corpus through the wire's own request and judges what comes back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ai.focus_pipeline import answer
from api import wiring
from api.schemas.ask import ask_of, parse_query
from tests.golden.questions.bank import Question
from tests.golden.questions.judge import Judgement, Verdict, judge
from tests.golden.questions.world import World
from tests.harness import subject


@dataclass(frozen=True)
class Result:
    question: Question
    body: Mapping[str, Any]
    judgement: Judgement

    @property
    def said(self) -> str:
        return " ".join(s["text"] for s in self.body["sentences"])


async def asked(system: wiring.System, text: str, context: Mapping[str, Any]) -> dict[str, Any]:
    """The wire body for a question, asked by a public viewer, with the map's context as the wire has it."""
    request = ask_of(
        parse_query({"question": text, "context": dict(context)}),
        subject=subject(system),
        request_id=wiring.new_id(),
    )
    answered = await answer(request, services=system.services, profile=system.profile(request.options.profile))
    return dict(answered.body)


async def results(system: wiring.System, questions: Sequence[Question], world: World) -> list[Result]:
    """Every question asked and judged."""
    found = []
    for question in questions:
        body = await asked(system, question.text, question.context)
        may_abstain = question.may_abstain is not None
        verdict = judge(body, question.golds(world), world=world, question=question.text, may_abstain=may_abstain)
        found.append(Result(question, body, verdict))
    return found


def table(found: Sequence[Result]) -> str:
    """The verdicts by group, and the share that is right or rightly abstained."""
    verdicts = list(Verdict)
    head = ("group", "asked", *verdicts, "good")
    rows = [head]
    groups = sorted({r.question.group for r in found})
    for group in [*groups, "all"]:
        of_group = [r for r in found if group in {"all", r.question.group}]
        counts = Counter(r.judgement.verdict for r in of_group)
        good = sum(r.judgement.good for r in of_group) / max(1, len(of_group))
        rows.append((group, str(len(of_group)), *(str(counts[v]) for v in verdicts), f"{good:.3f}"))
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows)


def listed(found: Sequence[Result], *verdicts: Verdict) -> str:
    """The results with one of the verdicts, each with what was said and the reason."""
    lines = []
    for result in found:
        if result.judgement.verdict in verdicts:
            asked_with = f"  {dict(result.question.context)}" if result.question.context else ""
            lines.append(f"{result.judgement.verdict}  {result.question.id}  {result.question.text}{asked_with}")
            lines.append(f"    {result.judgement.reason or '-'} | {result.said[:400]}")
    return "\n".join(lines)
