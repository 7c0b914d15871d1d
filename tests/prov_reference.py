"""The provenance document as the `prov` library builds and serialises it: the reference for our own writer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import rfc8785
from prov.model import ProvDocument
from prov.serializers.provjson import encode_json_document

from ledger.provenance.check import RUN, VOCABULARY
from ledger.provenance.document import ProvFacts


def reference(facts: ProvFacts) -> bytes:
    """Canonical bytes of the library's PROV-JSON."""
    body = encode_json_document(_build(facts))
    for record in body.get("agent", {}).values():
        record["prov:type"].sort(key=rfc8785.dumps)  # the library keeps two types in no fixed order
    return rfc8785.dumps(body)


def _build(facts: ProvFacts) -> ProvDocument:
    document = ProvDocument()
    term = document.add_namespace("exhibit", VOCABULARY)
    run = document.add_namespace("run", RUN.format(run_id=facts.run_id))
    names = {item.id: run[item.id] for item in (facts.answer, *facts.entities, *facts.activities, *facts.agents)}

    def described(type_name: str, attributes: Mapping[str, str], *more: tuple[str, Any]) -> list[tuple[Any, Any]]:
        return [("prov:type", term[type_name]), *more, *((term[key], value) for key, value in attributes.items())]

    def relate(relation: Callable[..., Any], name: str, subject: str, target: str, **extra: Any) -> None:
        relation(names[subject], names[target], identifier=run[f"{name}/{subject}/{target}"], **extra)

    for entity in (facts.answer, *facts.entities):
        document.entity(names[entity.id], described(entity.type, entity.attributes))
    for agent in facts.agents:
        kind = document.valid_qualified_name("prov:Person" if agent.is_person else "prov:SoftwareAgent")
        document.agent(names[agent.id], described(agent.type, agent.attributes, ("prov:type", kind)))
    for act in facts.activities:
        document.activity(names[act.id], _time(act.start_ms), _time(act.end_ms), described(act.type, act.attributes))
        for entity_id in act.used:
            relate(document.used, "used", act.id, entity_id)
        for agent_id in act.agents:
            relate(document.wasAssociatedWith, "associated", act.id, agent_id)
        for earlier in act.informed_by:
            relate(document.wasInformedBy, "informed", act.id, earlier)
    made_ms = next(act.end_ms for act in facts.activities if act.id == facts.generated_by)
    relate(document.wasGeneratedBy, "generated", facts.answer.id, facts.generated_by, time=_time(made_ms))
    for source_id in facts.derived_from:
        relate(document.wasDerivedFrom, "derived", facts.answer.id, source_id)
    for agent_id in facts.attributed_to:
        relate(document.wasAttributedTo, "attributed", facts.answer.id, agent_id)
    return document


def _time(ms: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)
