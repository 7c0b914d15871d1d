"""The parts beside the core's that follow from it: each source, and the provenance document.

The times of the activities are the only thing that the provenance holds and nothing else does; they are read from it,
checked against each other, and everything around them is made again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from ai.answer.core import CoreResult
from ai.case.case import Case, Services, Stopwatch
from ai.model import AdmittedItem
from ai.record.provenance import as_recorded, recorded_spans, run_facts, span_of
from ai.record.recording import source_parts
from ai.record.retrieval_record import Step, retrieval_prov
from ai.replay.comparison import Stage, compare
from ledger.entry.leaf import strict_object
from ledger.entry.parts import source_name, source_number
from ledger.errors import MalformedLeaf, MalformedProv
from ledger.provenance.check import check_prov
from ledger.provenance.document import prov_document
from policy.model import Decision, Subject
from retrieval.model import Run

PROV = "prov"


def derived_stages(case: Case, core: CoreResult, parts: Mapping[str, bytes], services: Services) -> tuple[Stage, ...]:
    """Sources and provenance of an outcome, compared; `services.software` is that of the record."""
    return (*compare_sources(parts, source_parts(core)), _compare_prov(case, core, parts, services))


def compare_sources(parts: Mapping[str, bytes], again: Sequence[bytes]) -> list[Stage]:
    """Each source by its number, one that is too few or too many included."""
    recorded = sorted((name for name in parts if source_number(name)), key=lambda name: source_number(name) or 0)
    stages = [
        compare(source_name(number), parts.get(name or "", b""), made or b"")
        for number, (name, made) in enumerate(zip_longest(recorded, again), start=1)
    ]
    return [*stages, Stage("sources", all(stage.same for stage in stages))]


def _compare_prov(case: Case, core: CoreResult, parts: Mapping[str, bytes], services: Services) -> Stage:
    recorded = parts.get(PROV, b"")
    try:
        check_prov(recorded)
        spans = recorded_spans(strict_object(recorded))
        timed = replace(case, watch=Stopwatch.of_spans(spans))
        content = as_recorded(recorded, services.ledger, case.entry_id)
        facts = run_facts(timed, core, parts.get("answer", b""), services, content=content)
        return compare(PROV, recorded, prov_document(facts))
    except (MalformedProv, MalformedLeaf, KeyError, ValueError, IndexError) as exc:
        return Stage(PROV, False, f"not the provenance of such a run: {exc}")


def recorded_steps(prov: bytes) -> list[Step]:
    """The steps of a retrieval as its provenance tells them, each after the one that informed it. Raises MalformedProv,
    KeyError or ValueError."""
    check_prov(prov)
    body = strict_object(prov)
    activities = {name: told for name, told in body["activity"].items() if "/channel/" not in name}
    before = {
        told["prov:informed"]: told["prov:informant"]
        for told in body.get("wasInformedBy", {}).values()
        if told["prov:informed"] in activities
    }
    ordered: list[str] = []
    while len(ordered) < len(activities):
        last = ordered[-1] if ordered else None
        ordered += [next(name for name in activities if before.get(name) == last and name not in ordered)]
    prefix = "run:activity/"
    return [
        Step(name.removeprefix(prefix), told["prov:type"]["$"].removeprefix("exhibit:"), *span_of(told))
        for name, told in ((name, activities[name]) for name in ordered)
    ]


@dataclass(frozen=True, slots=True)
class Shown:
    """Items that were shown without an answer, to whom, and what decided last."""

    items: Sequence[AdmittedItem]
    subject: Subject
    decision: Decision
    entry_id: str
    software: str
    runs: Sequence[Run] = ()


def prov_again(parts: Mapping[str, bytes], shown: Shown, services: Services) -> Stage:
    """The provenance of a retrieval made again around its recorded times, and compared."""
    recorded = parts.get(PROV, b"")
    try:
        again = retrieval_prov(
            entry_id=shown.entry_id,
            body=parts["answer"],
            items=shown.items,
            steps=recorded_steps(recorded),
            subject=shown.subject,
            decision=shown.decision,
            services=replace(services, software=shown.software),
            runs=shown.runs,
            content=as_recorded(recorded, services.ledger, shown.entry_id),
        )
    except (MalformedProv, MalformedLeaf, KeyError, ValueError, IndexError, StopIteration) as exc:
        return Stage(PROV, False, f"not the provenance of such a retrieval: {exc}")
    return compare(PROV, recorded, again)
