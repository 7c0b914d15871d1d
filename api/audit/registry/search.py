"""Words sought in assets: passages that the full-text channel finds in the scope, as the evidence point admits them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from ai.answer.links import evidence_href
from ai.answer.render import locator_json, spans_json
from ai.model import AdmittedItem
from ai.search.passage_search import best_window
from api.audit.reauthorise import Reading
from api.audit.registry.alike import decided_one_by_one
from api.audit.registry.envelope import Diagnostic, JsonObject
from api.audit.registry.evidence import record_evidence
from policy.model import Decision
from retrieval.channels.fan_out import ask
from retrieval.english.words import content_beginnings, occurs
from retrieval.errors import ChannelUnavailable
from retrieval.model import ChannelName, Limitation, Query

MOST_PASSAGES = 1_000
STRATEGY = "bm25"
_DEADLINE_S = 10.0
_SNIPPET_TOKENS = 60
_SNIPPETS = 3


@dataclass(frozen=True, slots=True)
class Matches:
    """The admitted passages that hold the words, best first, by document; `ranks` is the place of a document among
    all."""

    by_document: Mapping[str, tuple[AdmittedItem, ...]]
    decisions: tuple[Decision, ...]
    cut: bool

    @property
    def ranks(self) -> Mapping[str, int]:
        """Documents in the order of their best passage, from 1."""
        return {document_id: n for n, document_id in enumerate(self.by_document, 1)}

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The diagnostics of the search that the reader needs to know."""
        told = f"More than {MOST_PASSAGES} passages hold the words; assets of the others are not counted."
        return (Diagnostic("MATCHES_CUT", told),) if self.cut else ()


async def find_words(text: str, documents: Collection[str], reading: Reading) -> Matches:
    """Passages of the documents that hold every word of the text that says something (`the` says nothing), in some form
    and in words that are shown. Raises ChannelUnavailable, PolicyUnavailable."""
    services = reading.services
    reading = replace(reading, access=replace(reading.access, asked=text))
    channel = next(each for each in services.channels if each.name is ChannelName.FULLTEXT)
    query = Query(text, reading.scope, MOST_PASSAGES, documents=frozenset(documents))
    run = await ask(channel, query, deadline_s=_DEADLINE_S, slots=services.slots)
    if isinstance(run, Limitation):
        raise ChannelUnavailable(ChannelName.FULLTEXT, run.message)
    records = await services.store.fetch([hit.record_id for hit in run.hits], scope=reading.scope)
    decided = await decided_one_by_one([record_evidence(each) for each in records.values()], reading)
    wanted = content_beginnings(text)
    found: dict[str, tuple[AdmittedItem, ...]] = {}
    for item in decided.items.values():
        words = _words(item)
        if not all(occurs(each, words) for each in wanted):
            continue
        document_id = item.evidence.first.record.document_id
        found[document_id] = (*found.get(document_id, ()), item)
    return Matches(found, decided.decisions, len(run.hits) >= MOST_PASSAGES)


def _words(item: AdmittedItem) -> str:
    return "\n".join(filter(None, (item.evidence.first.record.heading, item.text, item.statement))).casefold()


def relevance_json(text: str, document_id: str, matches: Matches) -> JsonObject:
    """How the words were found in an asset."""
    return {
        "strategy": STRATEGY,
        "query": text,
        "rank": matches.ranks[document_id],
        "match_count": len(matches.by_document[document_id]),
        "representation_ids": [document_id],
    }


def snippets_json(text: str, document_id: str, matches: Matches) -> list[JsonObject]:
    """The best passages of an asset, each cut to the window with most of the words. Offsets are those of the stored
    document."""
    return [_snippet(text, item) for item in matches.by_document[document_id][:_SNIPPETS]]


def _snippet(text: str, item: AdmittedItem) -> JsonObject:
    record, source = item.evidence.first.record, item.evidence.first.source
    start, end = best_window(item.text, text, _SNIPPET_TOKENS)
    first = record.locator.start_char
    return {
        "asset_id": source.source_id,
        "representation_id": source.document_id,
        "source_reference_id": source.source_id,
        "record_id": record.record_id,
        "storage_reference": evidence_href(record),
        "heading": record.heading,
        "text": item.shown[start:end],
        "match": {"start": first + start, "end": first + end},
        "locator": locator_json(record.locator),
        "redacted": spans_json(item.withheld),
    }
