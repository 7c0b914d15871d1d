"""A plan that the asker sent, in place of what was read from the question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace

from ai.intent.lexicon import Lexicon
from ai.intent.map import UNKNOWN_PLACE
from ai.intent.reader import IntentReading
from ai.intent.wording import reading_of
from retrieval.algebra.operations import Operation
from retrieval.model import Limitation, Mention

_IDS = frozenset({"place_id", "place_ids", "place", "within", "from_id", "to_id", "entities"})


def planned(reading: IntentReading, plan: Sequence[Operation], *, lexicon: Lexicon) -> IntentReading:
    """The reading with these operations. One that names what nothing admitted answers to asks for nothing, and says
    so: the same for what does not exist and for what is hidden."""
    ids = tuple(dict.fromkeys(_ids("", tuple(plan))))
    unknown = [entity for entity in ids if lexicon.gazetteer.entity(entity) is None]
    if unknown:
        told = f"The plan names {unknown[0]}, which is not known; nothing was asked in its stead."
        mention = Mention(unknown[0], 0, 0, ())
        intent = replace(reading.intent, mentions=(mention,), operations=(), reading="", unread=(), nearest="")
        return IntentReading(intent, (*reading.overridden, Limitation(UNKNOWN_PLACE, told)))
    intent = replace(
        reading.intent,
        operations=tuple(plan),
        reading=reading_of(plan, lexicon.gazetteer),
        unread=(),
        nearest="",
        mentions=tuple(mention for mention in reading.intent.mentions if mention.candidates),
    )
    return IntentReading(intent, reading.overridden)


def _ids(name: str, value: object) -> Iterator[str]:
    """Every entity that a plan names."""
    if is_dataclass(value):
        for f in fields(value):
            yield from _ids(f.name, getattr(value, f.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from _ids(name, item)
    elif isinstance(value, str) and name in _IDS:
        yield value
