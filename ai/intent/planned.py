"""A plan that the asker sent, in place of what was read from the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ai.intent.lexicon import Lexicon
from ai.intent.map import UNKNOWN_PLACE
from ai.intent.plan_ids import ids_of
from ai.intent.reader import IntentReading
from ai.intent.wording import reading_of
from retrieval.algebra.operations import Operation
from retrieval.model import Limitation, Mention


def planned(reading: IntentReading, plan: Sequence[Operation], *, lexicon: Lexicon) -> IntentReading:
    """The reading with these operations. One that names what nothing admitted answers to asks for nothing, and says
    so: the same for what does not exist and for what is hidden."""
    ids = ids_of(plan)
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
