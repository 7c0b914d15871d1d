"""Other ways to say a query (requirement 002), each with where it is stated. Names come from the caller's scope."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ai.case.case import Case, Services
from ai.search.abbreviations import ABBREVIATIONS
from retrieval.english.words import words
from retrieval.fulltext.spellings import SPELLINGS
from retrieval.gazetteer import Gazetteer
from retrieval.model import ChannelName

MOST = 50
_RELATED = 10


async def expansions(case: Case, services: Services) -> list[dict[str, str]]:
    """Names of the entities that the query mentions, spellings and short forms of its words, and entities that the
    graph relates to it. Raises `StoreUnavailable`."""
    vocabulary = await services.vocabularies.of(case.scope, corpus_version=case.corpus_version)
    found = [*_names(case, vocabulary.gazetteer), *_forms(case.question), *await _related(case, services)]
    spoken = case.question.casefold()
    told = {(each["text"], each["of"]): each for each in found if each["text"].casefold() not in spoken}
    return list(told.values())[:MOST]


def _names(case: Case, gazetteer: Gazetteer) -> Iterator[dict[str, str]]:
    for mention in case.intent.mentions:
        for entity in mention.candidates:
            for name in gazetteer.names(entity.entity_id):
                yield {"text": name, "kind": "name", "of": mention.surface, "source": f"gazetteer:{entity.entity_id}"}


def _forms(question: str) -> Iterator[dict[str, str]]:
    for word in dict.fromkeys(words(question)):
        for group in SPELLINGS:
            for other in group if word in group else ():
                yield {"text": other, "kind": "spelling", "of": word, "source": "spellings"}
        for short in ABBREVIATIONS.get(word, ()):
            yield {"text": short, "kind": "abbreviation", "of": word, "source": "abbreviations"}
        for long, shorts in ABBREVIATIONS.items():
            if f"{word}." in (short.casefold() for short in shorts):
                yield {"text": long, "kind": "abbreviation", "of": word, "source": "abbreviations"}


async def _related(case: Case, services: Services) -> list[dict[str, str]]:
    """Entities that the best hits of the graph channel are about, beside those that are asked for."""
    from ai.answer.evidence import search_query  # noqa: PLC0415
    from retrieval.bundle import gather  # noqa: PLC0415

    channels = [channel for channel in services.channels if channel.name == ChannelName.GRAPH]
    gathered = await gather(
        search_query(case),
        channels=channels,
        store=services.store,
        deadlines_s=case.profile.channel_deadlines_s,
        slots=services.slots,
    )
    asked = {entity.entity_id for entity in case.intent.entities}
    told: dict[str, dict[str, Any]] = {}
    for run in gathered.runs:
        for hit in run.hits:
            found = gathered.records.get(hit.record_id)
            for entity in found.record.entities if found else ():
                if entity.entity_id not in asked:
                    named = {"text": entity.name, "kind": "related", "of": case.question, "source": hit.record_id}
                    told.setdefault(entity.entity_id, named)
    return list(told.values())[:_RELATED]
