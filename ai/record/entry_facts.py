"""Facts of an entry that an auditor can search, read from its recorded parts: who asked, how it ended, which model
wrote, which rules spoke, which places and sources it was about.

People, places and sources become the ledger's keyed pseudonyms here, and text a keyed signature; nothing else leaves a
part.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ledger.entry.parts import source_number
from ledger.ledger import Ledger
from ledger.model import Entry, Kind
from ledger.search.entry_index import ACTOR_DOMAIN, PLACE_DOMAIN, SOURCE_DOMAIN, TEXT_DOMAIN, EntryFacts
from ledger.search.signature import folded, signature_of
from retrieval.index import surface_key


async def entry_facts(entry: Entry, ledger: Ledger) -> EntryFacts:
    """The facts of one entry. What was erased of it is absent. Raises `LedgerError` for parts that do not verify."""
    leaf = entry.leaf
    contents = await ledger.contents(entry)
    parts = {name: _json(data) for name, data in contents.items() if name != "question"}
    answer = parts.get("answer")
    body: Mapping[str, Any] = answer if isinstance(answer, dict) and leaf.kind is Kind.OUTCOME else {}
    model = (body.get("provenance") or {}).get("model")
    sources = _sources(parts)
    return EntryFacts(
        index=entry.index,
        entry_id=leaf.entry_id,
        kind=leaf.kind,
        t_ms=leaf.t_ms,
        tenant=leaf.tenant,
        request_id=leaf.request_id,
        leaf_hash=entry.leaf_hash,
        outcome=body.get("outcome"),
        model=model or None,
        actor=await _actor(entry, parts, ledger),
        rules=tuple(sorted({*_rules(parts), *body.get("reason_codes", ())})),
        places=tuple(sorted({place_pseudonym(name, ledger) for name in _places(parts)})),
        sources=tuple(sorted({source_pseudonym(name, ledger) for name in sources})),
        held=tuple(sorted({source_pseudonym(name, ledger) for name in held_sources(parts) - sources})),
        cited=tuple(sorted({source_pseudonym(name, ledger) for name in cited_sources(body)})),
        signature=signature_of(searched_text(contents), text_key(leaf.tenant, ledger)),
    )


def searched_text(contents: Mapping[str, bytes]) -> str:
    """The words that a reader of the entry saw, folded: the question, the answer, its quotes and snippets."""
    found = [contents.get("question", b"").decode("utf-8", "replace")]
    body = _json(contents.get("answer", b""))
    if isinstance(body, dict):
        found += [str(body.get(name) or "") for name in ("answer", "text")]
        for sentence in body.get("sentences") or ():
            found += [sentence["text"], *(quoted["quote"] for quoted in sentence["citations"])]
        found += [str(item.get("snippet") or "") for item in body.get("evidence") or () if isinstance(item, dict)]
    return folded("\n".join(found))


def text_key(tenant: str, ledger: Ledger) -> bytes:
    """The key of a tenant's signatures; the tenant is named by its pseudonym, as leaves name it."""
    return bytes.fromhex(ledger.pseudonym(TEXT_DOMAIN, tenant))


def actor_pseudonym(subject: str, ledger: Ledger) -> str:
    """The pseudonym of a subject's id, as provenance documents name it."""
    return ledger.pseudonym(ACTOR_DOMAIN, subject)


def place_pseudonym(place: str, ledger: Ledger) -> str:
    """The pseudonym of a place's name or id; names compare as they do in a search."""
    return ledger.pseudonym(PLACE_DOMAIN, surface_key(place) or place)


def source_pseudonym(source: str, ledger: Ledger) -> str:
    """The pseudonym of a source's or document's id."""
    return ledger.pseudonym(SOURCE_DOMAIN, source)


def actor_of(decided: Any, ledger: Ledger) -> str | None:
    """The pseudonym of whom the query point decided for, from its recorded runs."""
    return actor_pseudonym(decided[0]["input"]["subject"]["id"], ledger) if decided else None


def held_sources(parts: Mapping[str, Any]) -> set[str]:
    """Ids of all sources and documents of which the parts (as JSON) hold words: everything that was found is kept for
    replay, admitted or not, and a remark may quote what it is about."""
    context = parts.get("context") or {}
    remarked = {str(context["chunk_id"]).partition("#")[0]} if context.get("surface") == "feedback" else set()
    remarked -= {""}  # a remark on the whole, or on what is missing
    return _with_sources({*_named(parts.get("replay"), "document_id"), *remarked})


def cited_sources(body: Mapping[str, Any]) -> set[str]:
    """Ids of the sources and documents that the body of an answer cites, those that a figure was computed from among
    them."""
    citations = list((body.get("citations") or {}).values())
    inputs = [each for cited in citations for each in (cited.get("computed") or {}).get("inputs", ())]
    documents = {cited["document_id"] for cited in citations}
    return _with_sources(documents | {str(each["chunk_id"]).partition("#")[0] for each in inputs})


def _with_sources(documents: set[str]) -> set[str]:
    """Ids of documents, and of their sources."""
    return documents | {document_id.rpartition("@")[0] or document_id for document_id in documents}


def _named(value: Any, key: str) -> Iterator[str]:
    """Values under that key, at any depth."""
    if isinstance(value, dict):
        if isinstance(value.get(key), str):
            yield value[key]
        for each in value.values():
            yield from _named(each, key)
    elif isinstance(value, list):
        for each in value:
            yield from _named(each, key)


async def _actor(entry: Entry, parts: Mapping[str, Any], ledger: Ledger) -> str | None:
    """Whom the query point decided for, in the entry itself or in the intent that it points to. Where none decided
    (its engine failed, or the caller only left a remark) the context tells."""
    for ref in entry.leaf.refs:
        if ref.rel == "intent":
            contents = await ledger.contents(await ledger.entry(ref.id), ("policy.query", "context"))
            parts = {name: _json(data) for name, data in contents.items()}
    subject = (parts.get("context") or {}).get("subject")
    return actor_of(parts.get("policy.query"), ledger) or (actor_pseudonym(subject, ledger) if subject else None)


def _sources(parts: Mapping[str, Any]) -> set[str]:
    """Ids of the admitted documents and of their sources."""
    return _with_sources({part["document_id"] for name, part in parts.items() if source_number(name) is not None})


def _rules(parts: Mapping[str, Any]) -> Iterator[str]:
    for name in ("policy.query", "policy.evidence", "policy.answer"):
        for run in parts.get(name) or ():
            for reason in run["decision"]["reasons"]:
                yield from (reason["rule"], reason["code"])
            yield from (obligation["rule"] for obligation in run["decision"]["obligations"])


def _places(parts: Mapping[str, Any]) -> Iterator[str]:
    context = (parts.get("context") or {}).get("context") or {}
    yield from (context[name] for name in ("place", "place_id") if context.get(name))
    intent = (parts.get("replay") or {}).get("intent") or {}
    for mention in intent.get("mentions", ()):
        yield mention["surface"]
        for candidate in mention["candidates"]:
            yield from (candidate["entity_id"], candidate["name"])


def _json(data: bytes) -> Any:
    return json.loads(data) if data else None
